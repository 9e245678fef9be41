#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kselftests in the guest, as 64-bit and as 32-bit programs.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. check/lib.sh

folder=tools/testing/selftests/perf_events
programs=$(series_paths "$folder/*_test.c" | sed 's,.*/,,; s,\.c$,,')

build() {
	# shellcheck disable=SC2086 # a list
	make -s -C "$SOURCE/$folder" OUTPUT="$BUILD/kselftest-$1" CC="$CC -m$1 -Werror" \
		KHDR_INCLUDES="-isystem $BUILD/kernel-plain/usr/include" $(printf "$BUILD/kselftest-$1/%s " $programs)
}

# Each ends with its totals; a program that died half way has reported no failure yet.
run_all() {
	local program

	for program in $programs; do
		"$BUILD/kselftest-$1/$program" 2>&1 | sed -E "s/^((not )?ok [0-9]+)/\1 $1 bits, $program:/"
		[ "${PIPESTATUS[0]}" -eq 0 ] && echo "ok $program ($1 bits) ended well" || echo "not ok $program ($1 bits) ended with an error"
	done
}

if [ "${1-}" = inside ]; then
	run_all 64
	run_all 32
	exit 0
fi

for bits in 64 32; do
	mkdir -p "$BUILD/kselftest-$bits"
	check "the tests build with -m$bits" build $bits
done
vm/run -t 900 -- "$0" inside 2>&1
check "the guest ended well" test $? -eq 0
done_checking
