#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perf's own tests that the series adds or extends, in the guest. The exit status
# of "perf test" does not tell of failures, so its lines are read.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. check/lib.sh

suites=("Parse event definition strings" "userspace events")

# The guest has no hardware PMU, whose aliases this test would read.
baseline='Parsing of aliased events from sysfs'

results() {
	sed -nE \
		-e 's/^ *([0-9.]+): (.*[^ ]) *: Ok.*/ok \1 \2/p' \
		-e 's/^ *([0-9.]+): (.*[^ ]) *: FAILED.*/not ok \1 \2/p' \
		-e 's/^ *([0-9.]+): (.*[^ ]) *: Skip(.*)/ok \1 \2 # SKIP\3/p' \
		-e 's/^(---- start|---- end|test child|.*Error|.*rror:|.*FAIL).*/# &/p'
}

for suite in "${suites[@]}"; do
	output=$(vm/run -t 600 -- env PATH="$BUILD/perf:$PATH" sh -c \
		"cd '$SOURCE/tools/perf' && '$BUILD/perf/perf' test -v '$suite'" 2>&1)
	lines=$(results <<<"$output" | sed -E "s/^ok [0-9.]+ ($baseline) # SKIP/# not counted: \1/")
	echo "$lines"
	grep -qE '^(not )?ok ' <<<"$lines" || { printf '%s\n' "$output" | tail -n 20 | sed 's/^/# /'; echo "not ok perf test $suite: no result"; failures=1; }
	! grep -q '^not ok' <<<"$lines" || failures=1
done
done_checking
