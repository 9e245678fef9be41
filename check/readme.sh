#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The README's examples as they stand there: what is marked as they say has to
# show in what is recorded as they say.
set -uo pipefail
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. check/lib.sh

readme=$PWD/README.md
export RESULTS=$CACHE/check/readme

# block LANGUAGE: the example in that language.
block() { sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$readme" | sed '1d;$d'; }

# commands PATTERN: the commands that match, without what explains them.
commands() { sed -nE "s,^    ($1)\$,\1,p" "$readme" | sed "s,  *# .*,," | grep .; }

# The program that the README records: it runs one marked program in each language.
build() {
	local gcc

	cd "$RESULTS" || return
	{ block c; echo 'int main(void) { mark("hello from C"); }'; } >program.c
	{ block python; echo 'mark("hello from Python")'; } >program.py
	{ block sh; echo 'mark hello from Shell'; } >program.sh

	gcc=$(commands 'gcc .*program\.c .*') && eval "${gcc//\~\/.cache\/perf-uevent/$CACHE}" || return
	mv program program.c.out
	printf '#!/bin/sh\n./program.c.out; /usr/bin/python3 program.py; sh program.sh\n' >program
	chmod +x program
}

# In the guest, which has no hardware counters.
record() {
	local line n=0

	cd "$RESULTS" || return
	commands 'perf record -e (cpu-clock|dummy).* \./program.*' | while IFS= read -r line; do
		n=$((n + 1))
		eval "${line/record/record -o $n.data}" </dev/null || return
	done
}

all_marked() {
	diff <(printf 'hello from %s\n' C Python Shell) \
		<("$BUILD/perf/perf" script -i "$RESULTS/$1" | sed -nE 's/.*PERF_RECORD_UEVENT.*"(.*)"$/\1/p')
}

try_out() {
	local line shown

	line=$(commands 'vm/run -- .*') && shown=$(eval "${line/\/path\/to\/program/.\/program}") &&
		[ "$(grep -c 'PERF_RECORD_UEVENT.*"hello from ' <<<"$shown")" = 3 ]
}

[ $# -eq 0 ] || { "$@"; exit; }

rm -rf "$RESULTS" && mkdir -p "$RESULTS"
check "readme: the C example compiles" "$0" build
check "readme: the programs run and are recorded" vm/run -t 300 -- "$0" record
check "readme: samples and messages" all_marked 1.data
check "readme: messages only" all_marked 2.data
check "readme: the line for the guest" try_out
done_checking
