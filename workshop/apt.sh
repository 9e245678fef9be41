# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Packages of other suites of Debian than the system's: they are downloaded, never
# installed, by an apt that has its own state in the cache and the system's own
# mirrors. To be sourced; see lib.sh for the rest.

apt_state=$CACHE/apt

# apt SUITE COMMAND...: apt-get and the like with lists, cache and sources of their
# own. The user's configuration for proxies and such still counts.
apt() {
	"$2" -q -o Dir::State::lists="$apt_state/lists" -o Dir::Cache="$apt_state/cache" \
		-o Dir::Etc::sourcelist="$apt_state/$1.list" -o Dir::Etc::sourceparts=- \
		-o Acquire::Languages=none -o Acquire::Retries=3 \
		-o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false \
		-o APT::Sandbox::User="$(id -un)" "${@:3}"
}

# mirrors: where this system gets Debian from.
mirrors() {
	local lists=()

	# Which sources are Debian's only their lists tell. Where there are none (a
	# container image), they are got into the private state.
	[ -n "$(apt-get indextargets 'Origin: Debian' 2>/dev/null)" ] || {
		lists=(-o Dir::State::lists="$apt_state/system" -o APT::Sandbox::User="$(id -un)")
		mkdir -p "$apt_state/system/partial"
		apt-get update -q "${lists[@]}" -o Acquire::Languages=none >/dev/null 2>&1 || true
	}
	# shellcheck disable=SC2016 # apt's own placeholders
	apt-get indextargets "${lists[@]}" --format '$(REPO_URI) $(LABEL)' 'Created-By: Packages' 'Origin: Debian' |
		awk '$2 == "Debian" { print $1 }' | sort -u
}

# update SUITE: gets the lists of a suite. Fails only where there is no mirror at all.
update() {
	local key=/usr/share/keyrings/debian-archive-keyring.gpg uris uri

	[ -e "$key" ] || key=''
	mkdir -p "$apt_state"/{lists,cache/archives}/partial
	uris=$(mirrors)
	[ -n "$uris" ] || { say "this system's apt configuration names no Debian mirror"; return 1; }
	for uri in $uris; do
		echo "deb ${key:+[signed-by=$key] }$uri $1 main"
	done >"$apt_state/$1.list"
	apt "$1" apt-get update >"$apt_state/log" 2>&1 ||
		{ say "no answer for $1:"; grep '^[EW]:' "$apt_state/log" >&2 || true; }
}

# download_from SUITE FOLDER PACKAGE...: the packages as files in an empty folder.
download_from() {
	rm -rf "$2"
	mkdir -p "$2"
	(cd "$2" && apt "$1" apt-get download "${@:3}" >&2)
}
