# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For all scripts: where things are, and how to talk. To be sourced, from any
# folder; sets no shell options.
# shellcheck disable=SC2034 # used where this is sourced

TOP=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

say() { printf '%s\n' "$*" >&2; }
die() { printf 'error: %s\n' "$1" >&2; [ $# -lt 2 ] || printf '       %s\n' "${@:2}" >&2; exit 1; }

# base_field NAME: what series/base says of it.
base_field() { awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' "$TOP/series/base"; }

# absolute PATH: relative ones count from the checkout, as under make.
absolute() { (cd "$TOP" && realpath -ms -- "$1"); }

CACHE=$(absolute "${PERF_UEVENT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perf-uevent}")

# BASE_ID names the folder of one base. That of LINUX= is one per path, not per
# commit there, so that a new commit means an incremental build.
if [ -n "${LINUX-}" ]; then
	LINUX=$(absolute "$LINUX")
	BASE_ID=$(basename -- "$LINUX" | tr -c '[:alnum:]\n' -)-$(printf %s "$LINUX" | sha256sum | head -c 8)
	export LINUX
else
	BASE_ID=$(base_field version | tr -c '[:alnum:].\n' -)
fi

REPO=$CACHE/linux.git
# The base as git names it, in $REPO, $SOURCE and nowhere else.
BASE=refs/bases/$BASE_ID
SOURCE=$CACHE/$BASE_ID/source
BUILD=$CACHE/$BASE_ID/build
TREE=$(absolute "${TREE:-$CACHE/tree}")
MAILS=$(absolute "${MAILS:-$CACHE/mails}")

CC=gcc
! command -v ccache >/dev/null || CC='ccache gcc'

# slugs: the patches, in order.
slugs() { grep -v '^[[:space:]]*\(#\|$\)' "$TOP/series/order" 2>/dev/null || true; }

# message SLUG, paths SLUG: the two parts of a series/SLUG.txt.
message() { sed '/^---$/,$d' "$TOP/series/$1.txt"; }
paths() { sed '1,/^---$/d' "$TOP/series/$1.txt"; }

# series_paths [GLOB...]: the in-tree paths that the series touches.
series_paths() {
	local slug path glob

	[ $# -gt 0 ] || set -- '*'
	for slug in $(slugs); do paths "$slug"; done | sort -u | while IFS= read -r path; do
		for glob; do
			# shellcheck disable=SC2053 # a glob is meant
			[[ $path != $glob ]] || { printf '%s\n' "$path"; break; }
		done
	done
}

# kernel_image KERNEL: where workshop/kernel leaves it.
kernel_image() { printf '%s\n' "$BUILD/kernel-$1/arch/x86/boot/bzImage"; }
