#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# perf record userspace events test
# Test the uevent event term: what it refuses, what it sets in the attributes,
# and that each userspace event is recorded once, whatever is observed.

set -e

# The workload emits this many userspace events, from a thread of this name.
nr_uevents=3
workload=(perf test -w uevent 0.01)

err=0
dir=$(mktemp -d /tmp/__perf_test.record_uevent.XXXXX)
perfdata="${dir}/perf.data"
log="${dir}/log"

cleanup()
{
	rm -rf "${dir}"
	trap - EXIT TERM INT
}

trap_cleanup()
{
	echo "Unexpected signal in ${FUNCNAME[1]}"
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

record()
{
	perf record -BN --no-bpf-event -o "${perfdata}" "$@" > "${log}" 2>&1
}

fail()
{
	echo "$1 [Failed $2]"
	cat "${log}"
	err=1
}

# Expect the command after the text to fail and to say that text.
refused()
{
	local name=$1 text=$2

	shift 2
	if "$@" > "${log}" 2>&1
	then
		fail "${name}" "not refused"
	elif ! grep -q -F "${text}" "${log}"
	then
		fail "${name}" "did not say '${text}'"
	else
		echo "${name} [Success]"
	fi
}

# Record the workload with the given options, and expect each of its userspace
# events once, with the thread that emitted it and the time.
recorded_once()
{
	local name=$1

	shift
	if ! record "$@"
	then
		fail "${name}" "to record"
		return
	fi
	check_recorded "${name}"
}

check_recorded()
{
	local name=$1 nr

	perf script -i "${perfdata}" -F comm,tid,time > "${dir}/script" 2> "${log}" || true
	grep PERF_RECORD_UEVENT "${dir}/script" > "${dir}/uevents" || true
	cat "${dir}/uevents" >> "${log}"

	nr=$(wc -l < "${dir}/uevents")
	if [ "${nr}" -ne ${nr_uevents} ]
	then
		fail "${name}" "with ${nr} userspace events instead of ${nr_uevents}"
		return
	fi

	nr=$(grep -c -E "^ *uevent[^ ]* +[1-9][0-9]* +[0-9]+\.[0-9]+:" "${dir}/uevents" || true)
	if [ "${nr}" -ne ${nr_uevents} ]
	then
		fail "${name}" "without thread or time"
		return
	fi

	echo "${name} [Success]"
}

# Leave the attributes of the events, a line for each, in the log.
record_attr()
{
	record "$@" true
	perf evlist -v -i "${perfdata}" > "${log}" 2>&1
}

test_unsupported()
{
	refused "Kernel without userspace events" \
		"The kernel does not support userspace events (attr.uevent)" \
		perf record -o "${perfdata}" -e cpu-clock/uevent/ true

	refused "Kernel without userspace events, other events" \
		"Failure to open any event that records userspace events" \
		perf record -o "${perfdata}" -e cpu-clock/uevent/,cpu-clock true
}

test_refused()
{
	refused "Invalid value" "expected 0 or 1" \
		perf record -o "${perfdata}" -e cpu-clock/uevent=2/ true

	refused "perf stat" "'uevent' is not usable in 'perf stat'" \
		perf stat -e cpu-clock/uevent/ true
}

test_attr()
{
	local name="Attributes"

	record_attr -e cpu-clock,dummy/uevent=1/,task-clock/uevent=0/

	if [ "$(grep -c "uevent: 1" "${log}")" -ne 1 ] ||
	   ! grep "^dummy" "${log}" | grep -q "uevent: 1"
	then
		fail "${name}" "attr.uevent"
	else
		echo "${name} [Success]"
	fi
}

# Events have no time stamps here by default. A userspace event needs its own,
# and those of the samples that it is to be sorted in with.
test_time()
{
	local name="Time stamps" opt nr

	for opt in --per-thread --no-inherit --no-timestamp
	do
		record_attr ${opt} -e cpu-clock,dummy/uevent/
		nr=$(grep "sample_type: [^,]*TIME" "${log}" |
		     grep "sample_type: [^,]*TID" | grep -c "sample_id_all: 1" || true)
		if [ "${nr}" -ne 2 ]
		then
			fail "${name}" "with ${opt}"
			return
		fi
	done

	echo "${name} [Success]"
}

test_targets()
{
	local event=cpu-clock/uevent=1/

	recorded_once "Task" -e "${event}" "${workload[@]}"
	recorded_once "Task, dummy event" -e dummy/uevent/ "${workload[@]}"
	recorded_once "Task, one buffer" --per-thread -e "${event}" "${workload[@]}"
	recorded_once "Task without children" -i -e "${event}" "${workload[@]}"
	recorded_once "Task, several events" -e "${event}" -e dummy/uevent/ \
		-e '{task-clock,cpu-clock/uevent/}' "${workload[@]}"
	recorded_once "Task, several events, one buffer" --per-thread -e cpu-clock \
		-e "${event}" -e dummy/uevent/ "${workload[@]}"
	# The second event does not see the child that emits.
	recorded_once "Child, several events" -e task-clock \
		-e cpu-clock/uevent,no-inherit/ -e dummy/uevent/ \
		sh -c 'perf test -w uevent 0.01; true'
	# Without a hardware PMU, the next event has to take over.
	recorded_once "Task, event that may not open" -e branch-misses/uevent/ \
		-e "${event}" "${workload[@]}"
}

# Observe a task that runs already. It waits for the recording to be on, and
# perf ends with it.
test_attach()
{
	local name=$1 ack pid perf_pid

	shift
	mkfifo "${dir}/ctl" "${dir}/ack" "${dir}/go"

	(
		read -r < "${dir}/go"
		exec "${workload[@]}"
	) &
	pid=$!

	record --control "fifo:${dir}/ctl,${dir}/ack" -e cpu-clock/uevent/ "$@" ${pid} &
	perf_pid=$!

	# Opened for both directions, or perf gone early would block here.
	exec 3<> "${dir}/ctl" 4<> "${dir}/ack"
	echo ping >&3
	if read -r -t 60 ack <&4 && [ "${ack}" = ack ]
	then
		echo > "${dir}/go"
		wait ${pid}
		wait ${perf_pid}
		check_recorded "${name}"
	else
		fail "${name}" "to attach"
		kill ${pid} 2> /dev/null || true
		wait
	fi
	exec 3>&- 4>&-
	rm -f "${dir}/ctl" "${dir}/ack" "${dir}/go"
}

test_cpus()
{
	if ! record -a -e cpu-clock true
	then
		echo "CPUs [Skipped no permission]"
		return
	fi

	recorded_once "All CPUs" -a -e cpu-clock/uevent/ "${workload[@]}"
	recorded_once "All CPUs, several events" -a -e cpu-clock/uevent/ \
		-e dummy/uevent/ "${workload[@]}"

	if ! taskset --cpu-list 0 true 2> /dev/null
	then
		echo "One CPU [Skipped no taskset or no CPU 0]"
		return
	fi

	recorded_once "One CPU" -C 0 -e cpu-clock/uevent/ \
		taskset --cpu-list 0 "${workload[@]}"
	recorded_once "One CPU, dummy event" -C 0 -e dummy/uevent/ \
		taskset --cpu-list 0 "${workload[@]}"

	if ! taskset --cpu-list 1 true 2> /dev/null
	then
		echo "Another CPU [Skipped no CPU 1]"
		return
	fi

	if ! record -C 0 -e cpu-clock/uevent/ taskset --cpu-list 1 "${workload[@]}" ||
	   ! perf script -i "${perfdata}" --show-mmap-events > "${dir}/script" 2>> "${log}" ||
	   ! [ -s "${dir}/script" ]
	then
		fail "Another CPU" "to record"
	elif grep -q PERF_RECORD_UEVENT "${dir}/script"
	then
		fail "Another CPU" "with events of a CPU that is not observed"
	else
		echo "Another CPU [Success]"
	fi
}

test_refused

# Ask the kernel, not perf record, which would hide that this does not work.
if ! "${workload[@]}" > "${log}" 2>&1
then
	test_unsupported
	cleanup
	[ ${err} -ne 0 ] || { echo "The kernel has no userspace events"; exit 2; }
	exit ${err}
fi

test_attr
test_time
test_targets
test_attach "Running process" -p
test_attach "Running thread" -t
test_cpus

cleanup
exit ${err}
