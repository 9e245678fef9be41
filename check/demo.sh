#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The demo shows what the README says it does: markers between the right samples.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. check/lib.sh

export RESULTS=$CACHE/check/demo
mkdir -p "$RESULTS"
rm -f "$RESULTS"/*
perf=$BUILD/perf/perf

demo() { workshop/demo >"$RESULTS/output"; }

script() { "$perf" script -i "$RESULTS/$1.data" "${@:2}"; }

# share FILE FROM TO FUNCTION: of the samples between two markers, at least nine
# in ten have FUNCTION in their call chain, and elsewhere at most one in ten.
share() {
	script "$1" | awk -v from="$2" -v to="$3" -v name="$4" '
		/PERF_RECORD_UEVENT/ { if (index($0, from)) on = 1; if (index($0, to)) on = 0; next }
		/ cpu-clock/ { n[on + 0]++; seen = 0; next }
		!seen && index($0, " " name "+") { seen = 1; hit[on + 0]++ }
		END {
			printf "between the markers %d of %d samples, elsewhere %d of %d\n", hit[1], n[1], hit[0], n[0]
			exit !(n[1] >= 10 && hit[1] >= 0.9 * n[1] && hit[0] <= 0.1 * n[0])
		}'
}

in_order() {
	local times

	times=$(script "$1" -F time,event --hide-call-graph --show-uevents | grep -oE '[0-9]+\.[0-9]{6}')
	[ "$(wc -l <<<"$times")" -gt 50 ] && sort -n -C <<<"$times"
}

# The markers' texts up to their values, in order and nothing else.
markers() {
	local want

	want=$(for ((i = 0; i < $2; i++)); do printf '%s: start\n%s: end\n' \
		"$3" "$3" "$4" "$4" "$5" "$5" "$6" "$6"; done)
	diff <(echo "$want") <(script "$1" | sed -nE 's/.*PERF_RECORD_UEVENT.*"([a-z]+: [a-z]+).*/\1/p')
}

counted() { "$perf" report -i "$RESULTS/$1.data" --stats | grep -qE "UEVENT events: +$2( |$)"; }

check "demo: runs" demo
check "demo: the markers of the C program are all there, in order" markers c 2 read sort compress verify
check "demo: perf report --stats counts them" counted c 16
check "demo: samples and markers are in the order of time" in_order c
check "demo: the samples between the markers of sort are in sort_lines()" share c "sort: start" "sort: end" sort_lines
check "demo: the samples between the markers of compress are in compress_text()" \
	share c "compress: start" "compress: end" compress_text
check "demo: the markers of the Python program are all there, in order" markers python 1 read count compress verify
check "demo: perf report --stats counts those, too" counted python 8
done_checking
