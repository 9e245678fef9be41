#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf script userspace events

set -e

shelldir=$(dirname "$0")
# shellcheck source=lib/perf_has_symbol.sh
. "${shelldir}"/lib/perf_has_symbol.sh

if ! perf test -w uevent 0.01 > /dev/null 2>&1; then
	echo "The kernel has no userspace events - skipping test"
	exit 2
fi
skip_test_missing_symbol uevent_before

temp_dir=$(mktemp -d /tmp/perf-test-uevent.XXXXXXXXXX)
data="${temp_dir}/perf.data"
out="${temp_dir}/out"
err=0

cleanup()
{
	trap - EXIT TERM INT
	rm -rf "${temp_dir}"
}

trap_cleanup()
{
	echo "Unexpected exit or signal"
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

fail()
{
	echo "FAIL: $*"
	[ -f "${out}" ] && head -n 20 "${out}" | cat -v
	err=1
}

# count EXPECTED PATTERN WHAT: lines of the output that match
count()
{
	local found

	found=$(LC_ALL=C grep -a -c -e "$2" "${out}") || true
	[ "${found}" = "$1" ] || fail "$3: ${found} lines match '$2' instead of $1"
}

# The events of "perf test -w uevent", as they are shown from the name on.
expected_lines()
{
	local hex

	hex=$(printf ' %02x' $(seq 0 63))
	cat <<-'END'
	PERF_RECORD_UEVENT type 0 text, size 25: "café \x1b]0;title\a\xc2\x9b\xe2\x80\xae\xff\\\n"
	END
	echo "PERF_RECORD_UEVENT type 0x80000001 private, size 100:${hex} ..."
	echo 'PERF_RECORD_UEVENT type 0 text, size 0: ""'
}

check_lines()
{
	grep -a -o "PERF_RECORD_UEVENT type .*" "${out}" > "${temp_dir}/lines" || true
	expected_lines > "${temp_dir}/expected"
	cmp -s "${temp_dir}/lines" "${temp_dir}/expected" || fail "$1: not the expected lines"
}

record()
{
	perf record -F 500 -o "${data}" "$@" -- perf test -w uevent > "${out}" 2>&1 ||
		fail "perf record $*"
}

test_script()
{
	echo "perf script"
	record -e cpu-clock/uevent=1/u

	perf script -i "${data}" > "${out}" 2>&1
	check_lines "perf script"
	# comm, escaped, then tid and time
	count 3 '^ *uevent\\x1b\[1m  *[0-9][0-9]*  *\[[0-9]*\] *[0-9]*\.[0-9]*: PERF_RECORD_UEVENT' "start"

	# Control characters other than the end of line, C1, right-to-left override
	grep -a "PERF_RECORD_UEVENT" "${out}" > "${temp_dir}/lines" || true
	rc=0
	LC_ALL=C grep -a -q -P '[\x00-\x1f\x7f\xff]|\xc2[\x80-\x9f]|\xe2\x80' \
		"${temp_dir}/lines" || rc=$?
	# 0: there are some, 2: grep cannot tell
	[ "${rc}" -eq 1 ] || fail "raw control characters: grep says ${rc}"

	perf script -i "${data}" -F comm,tid,cpu,time --no-show-uevents > "${out}" 2>&1
	count 0 PERF_RECORD_UEVENT "--no-show-uevents"
}

# All samples of what ran before the events come before them, and the others after
test_order()
{
	echo "Order"
	perf script -i "${data}" > "${out}" 2>&1
	awk '
		/PERF_RECORD_UEVENT/	{ uevents++; next }
		/uevent_before\+/	{ before++; if (uevents > 0) bad = 1 }
		/uevent_after\+/	{ after++; if (uevents < 3) bad = 1 }
		END			{ exit bad || !before || !after || uevents != 3 }
	' "${out}" || fail "order of events and samples"
}

test_filters()
{
	local tid time

	echo "Filters"
	perf script -i "${data}" > "${out}" 2>&1
	tid=$(awk '/PERF_RECORD_UEVENT/ { print $2; exit }' "${out}")
	# The CPU stands before the time.
	time=$(awk '/PERF_RECORD_UEVENT/ { print substr($4, 1, length($4) - 1); exit }' "${out}")

	perf script -i "${data}" --tid "${tid}" > "${out}" 2>&1
	count 3 PERF_RECORD_UEVENT "--tid of the workload"
	perf script -i "${data}" --tid $((tid + 1)) > "${out}" 2>&1
	count 0 PERF_RECORD_UEVENT "--tid of another"
	perf script -i "${data}" --comms nobody > "${out}" 2>&1
	count 0 PERF_RECORD_UEVENT "--comms"
	perf script -i "${data}" --time ",${time%.*}" > "${out}" 2>&1
	count 0 PERF_RECORD_UEVENT "--time up to the second of the first"
	perf script -i "${data}" --time "${time%.*}," > "${out}" 2>&1
	count 3 PERF_RECORD_UEVENT "--time from the second of the first"
}

test_other_readers()
{
	echo "Other readers"
	perf report -i "${data}" --stats > "${out}" 2>&1
	count 1 'UEVENT events: *3 ' "perf report --stats"

	perf report -i "${data}" -D > "${out}" 2>&1
	check_lines "perf report -D"

	perf evlist -i "${data}" -v > "${out}" 2>&1
	count 1 'uevent: 1' "perf evlist -v"
}

test_inject()
{
	local opts

	echo "perf inject"
	for opts in "" "-b" "--sched-stat"; do
		# shellcheck disable=SC2086
		perf inject ${opts} -i "${data}" -o "${data}.inject" > "${out}" 2>&1 ||
			fail "perf inject ${opts}"
		perf script -i "${data}.inject" > "${out}" 2>&1
		check_lines "perf inject ${opts}"
	done

	perf inject --aslr -i "${data}" -o "${data}.inject" > "${out}" 2>&1 ||
		fail "perf inject --aslr"
	count 1 "Dropping userspace events" "perf inject --aslr"
	perf script -i "${data}.inject" > "${out}" 2>&1
	count 0 PERF_RECORD_UEVENT "perf inject --aslr"
}

test_pipe()
{
	echo "Pipe"
	perf record -F 500 -o - -e cpu-clock/uevent=1/u -- perf test -w uevent 2> /dev/null |
		perf script -i - > "${out}" 2>&1
	check_lines "pipe"
}

# The lines of events must not pass for a part of a callchain, which are indented.
test_callchains()
{
	echo "Callchains"
	record -g -e cpu-clock:u -e dummy/uevent=1/u
	perf script -i "${data}" > "${out}" 2>&1
	check_lines "callchains"
	count 3 '^uevent\\x1b\[1m .*PERF_RECORD_UEVENT' "left edge"
}

# The file offset of the first event
first_offset()
{
	perf report -i "${data}" -D 2> /dev/null |
		sed -n 's/.*\(0x[0-9a-f]*\) \[0x[0-9a-f]*\]: PERF_RECORD_UEVENT.*/\1/p' | head -n 1
}

# An error, and not the end by a signal, which a shell reports as 128 + its number
refused()
{
	local rc=0

	perf script -i "${bad}" > "${out}" 2>&1 || rc=$?
	[ "${rc}" -gt 0 ] && { [ "${rc}" -le 128 ] || [ "${rc}" -gt 192 ]; } ||
		fail "$1: status ${rc}"
}

test_malformed()
{
	local offset bad="${data}.bad"

	echo "Malformed files"
	record -e cpu-clock/uevent=1/u
	offset=$(first_offset)

	# The size follows header and type.
	cp "${data}" "${bad}"
	printf '\xff\xff\xff\xff' |
		dd of="${bad}" bs=1 seek=$((offset + 12)) conv=notrunc status=none
	perf script -i "${bad}" > "${out}" 2>&1 || fail "perf script of a wrong size"
	count 1 "at offset ${offset}: PERF_RECORD_UEVENT: size 4294967295" "wrong size"
	count 2 "PERF_RECORD_UEVENT type " "wrong size"

	# In the middle of the payload
	head -c $((offset + 20)) "${data}" > "${bad}"
	refused "cut file"
	count 0 "PERF_RECORD_UEVENT type " "cut file"

	# Without the features that stood behind the data, the events are read.
	dd if=/dev/zero of="${bad}" bs=1 seek=72 count=32 conv=notrunc status=none
	refused "cut file without features"
}

test_script
test_order
test_filters
test_other_readers
test_inject
test_pipe
test_callchains
test_malformed

cleanup
exit ${err}
