# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# For the checks: where things are, and result lines.

# shellcheck source=../workshop/lib.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../workshop/lib.sh"

failures=0

# check NAME COMMAND...: one test; the output of a failed one is shown as comments.
check() {
	local name=$1 output

	shift
	if output=$("$@" 2>&1); then
		echo "ok $name"
	else
		printf '%s\n' "$output" | tail -n 60 | sed 's/^/# /'
		echo "not ok $name"
		failures=$((failures + 1))
	fi
}

# done_checking: the exit status of a check script.
done_checking() { [ "$failures" -eq 0 ]; }
