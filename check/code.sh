#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel side as code: warnings, sparse, kernel-doc, and the builds that are
# easily forgotten (32 bits, no perf events).
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. check/lib.sh

objects="kernel/events/ kernel/sys.o"
touched=$(series_paths 'kernel/*.[ch]' 'include/*.h')

kmake() { make -s -C "$SOURCE" CC="$CC" -j"$(nproc)" "$@"; }

# configured DIR ARCH [SYMBOL...]: a build folder of its own for odd kernels.
configured() {
	local dir=$BUILD/$1 arch=$2

	shift 2
	mkdir -p "$dir"
	[ -e "$dir/.config" ] || kmake ARCH="$arch" O="$dir" tinyconfig || return
	[ $# -eq 0 ] || "$SOURCE/scripts/config" --file "$dir/.config" "$@"
	kmake ARCH="$arch" O="$dir" olddefconfig prepare
}

# about_ours: keeps what compilers and sparse say of the files that the series touches.
about_ours() { grep -E "($(echo "$touched" | paste -sd'|')):[0-9]+"; }

silent() {
	local said

	said=$("$@" 2>&1) || { echo "$said"; return 1; }
	said=$(about_ours <<<"$said") && { echo "$said"; return 1; }
	return 0
}

rebuild() { (cd "$1" && rm -f kernel/sys.o kernel/events/*.o); }

w1() {
	configured "$1" "$2" "${@:3}" || return
	rebuild "$BUILD/$1"
	# shellcheck disable=SC2086 # several words
	silent kmake ARCH="$2" O="$BUILD/$1" W=1 $objects
}

no_perf_events() {
	configured um um || return
	! grep -q PERF_EVENTS=y "$BUILD/um/.config" || { echo "this kernel has perf events"; return 1; }
	rm -f "$BUILD/um/kernel/sys.o"
	silent kmake ARCH=um O="$BUILD/um" W=1 kernel/sys.o
}

# What sparse says of lines that the series did not write is not ours.
sparse_adds_nothing() {
	local said line

	# shellcheck disable=SC2086 # several words
	said=$(make -C "$SOURCE" CC="$CC" O="$BUILD/kernel-plain" C=2 CHECK="$(workshop/sparse)" $objects 2>&1) ||
		{ echo "$said"; return 1; }
	grep -q '^  CHECK .*kernel/events/uevent.c' <<<"$said" || { echo "sparse was not run"; return 1; }
	! about_ours <<<"$said" | while IFS=: read -r file line _; do
		git -C "$SOURCE" blame -s -L "$line,$line" "$BASE.." -- "${file#"$SOURCE"/}" | grep -v '^\^' && echo "$file:$line"
	done | grep .
}

sparse_finds() {
	printf 'static void f(void *p) { int __attribute__((noderef)) *q = p; *q = 1; }\n' >"$BUILD/bad.c"
	$(workshop/sparse) "$BUILD/bad.c" 2>&1 | grep -q dereference
}

documented() {
	local file

	for file in $(series_paths 'kernel/events/uevent.c'); do
		"$SOURCE/scripts/kernel-doc" -none -Werror "$SOURCE/$file" || return
	done
}

# A UAPI header has to compile alone, in the oldest dialects that programs use.
header_alone() {
	printf '#include <linux/%s.h>\nint x = PERF_UEVENT_MAX_SIZE;\n' perf_event |
		$CC -x "$1" -std="$2" -Wall -Wextra -Werror -I "$BUILD/kernel-plain/usr/include" -fsyntax-only -
}

check "W=1 says nothing: x86-64" w1 w1-x86_64 x86_64 -e PRINTK
check "W=1 says nothing: a 32-bit kernel" w1 w1-i386 i386 -e PRINTK
check "W=1 says nothing: no PERF_EVENTS" no_perf_events
check "sparse finds a mistake" sparse_finds
check "sparse finds nothing in the series" sparse_adds_nothing
check "kernel-doc is complete" documented
check "perf_event.h compiles alone as C99" header_alone c gnu99
check "perf_event.h compiles alone as C++" header_alone c++ c++11
done_checking
