// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include "../tests.h"

/* We want to check these symbols in perf script, before and after the events */
noinline void uevent_before(double sec);
noinline void uevent_after(double sec);

static double cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);

	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Inlined, so that all samples outside of clock_gettime() are in the caller. */
static __always_inline void spin(double sec)
{
	double end = cpu_time() + sec;

	do {
		for (int i = 0; i < 100000; i++)
			;
	} while (cpu_time() < end);
}

noinline void uevent_before(double sec)
{
	spin(sec);
}

noinline void uevent_after(double sec)
{
	spin(sec);
}

static void emit(unsigned int type, const void *data, unsigned long size)
{
	if (prctl(PR_TASK_PERF_UEVENT, type, size, data, 0L)) {
		perror("prctl(PR_TASK_PERF_UEVENT)");
		exit(1);
	}
}

/* Text that would control a terminal or hide from its user, and bytes. */
static int uevent(int argc, const char **argv)
{
	static const char text[] = "caf\xc3\xa9 \x1b]0;title\a\xc2\x9b\xe2\x80\xae\xff\\\n";
	double sec = argc > 0 ? atof(argv[0]) : 0.1;
	unsigned char data[100];

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = i;

	/* In this name, too. */
	prctl(PR_SET_NAME, "uevent\x1b[1m");

	uevent_before(sec);
	emit(PERF_UEVENT_TYPE_TEXT, text, sizeof(text));
	emit(PERF_UEVENT_TYPE_PRIVATE + 1, data, sizeof(data));
	emit(PERF_UEVENT_TYPE_TEXT, NULL, 0);
	uevent_after(sec);

	return 0;
}

DEFINE_WORKLOAD(uevent);
