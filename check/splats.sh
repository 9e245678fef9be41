#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest and its verdict: what vm/run returns, and that no splat gets by.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. check/lib.sh

found() { vm/splats "$1" | grep -q "$2"; }
not_found() { ! vm/splats "$1"; }

for log in check/splats/bad-*; do
	name=${log##*/bad-}
	check "splat is found: $name" found "$log" "$(head -n 1 "$log" | sed -n 's/^# finds: //p')"
done
for log in check/splats/good-*; do
	check "no splat is seen in: ${log##*/good-}" not_found "$log"
done

gives() {
	local want=$1 got=0

	shift
	vm/run "$@" || got=$?
	[ "$got" -eq "$want" ] || { echo "status $got instead of $want"; return 1; }
}

prints() { [ "$(vm/run -- "$@" 2>/dev/null)" = hello ]; }
complains() { [ "$(vm/run -- "$@" 2>&1 >/dev/null)" = hello ]; }
keeps() {
	vm/run -- bash -c "echo $1 >\"\$RESULTS\"/$1 && ! echo $1 >/proc/1/root/etc/$1-nope/x" 2>/dev/null
	[ "$(cat "${RESULTS:-$CACHE/results}/$1")" = "$1" ] && rm "${RESULTS:-$CACHE/results}/$1"
}
writes_nothing_here() {
	vm/run -- bash -c 'echo scratch >here-$PPID-scratch && cat here-*-scratch' && ! ls here-*-scratch
}

check "vm/run: status 0" gives 0 -- true
check "vm/run: status of the command" gives 42 -- sh -c 'exit 42'
check "vm/run: arguments arrive as they are" gives 0 -- test "a  'b' \$c" = "a  'b' \$c"
check "vm/run: standard output" prints echo hello
check "vm/run: standard error" complains sh -c 'echo hello >&2'
check "vm/run: results are kept" keeps "kept-$$"
check "vm/run: other writes stay in the guest" writes_nothing_here
check "vm/run: a time limit" gives 124 -t 15 -- sleep 1000
check "vm/run: a guest that is lost" gives 125 -- sh -c 'echo b >/proc/sysrq-trigger; sleep 100'
check "vm/run: a kernel that warns fails a command that passed" \
	gives 123 -- sh -c 'echo "<4>WARNING: kernel/made-up.c:1 at nothing" >/dev/kmsg'
check "vm/run: a panic" gives 123 -- sh -c 'echo c >/proc/sysrq-trigger; sleep 100'
check "vm/run: no kernel" gives 126 -K /nonexistent -- true
done_checking
