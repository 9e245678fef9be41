/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of userspace events have in common: emitting one, opening an
 * event that watches for them, and reading its ring buffer.
 */
#ifndef __SELFTEST_PERF_EVENTS_UEVENT_H
#define __SELFTEST_PERF_EVENTS_UEVENT_H

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "kselftest_harness.h"

#ifndef READ_ONCE
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))
#endif

/* PERF_RECORD_UEVENT */
struct uevent {
	struct perf_event_header header;
	__u32 type;
	__u32 size;
	char data[];
};

/* PERF_RECORD_LOST */
struct lost {
	struct perf_event_header header;
	__u64 id;
	__u64 lost;
};

/* An event, its ring buffer and the record that was read from it last. */
struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	char *data;
	/* Of the data, in bytes; a power of two. */
	size_t size;
	/* Where the next record starts. */
	__u64 pos;
	/* Mapped read-only: the kernel does not wait for the reader. */
	bool overwrite;
	/* Written towards lower addresses, so that the newest record is first. */
	bool backward;
	union {
		struct perf_event_header header;
		struct uevent uevent;
		struct lost lost;
		char bytes[1 << 16];
	} record;
};

/* Calls the kernel with exactly these arguments; returns 0 or -errno. */
static int __maybe_unused emit_flags(unsigned long type, unsigned long size,
				     const void *data, unsigned long flags)
{
	if (syscall(__NR_prctl, (unsigned long)PR_TASK_PERF_UEVENT, type, size,
		    data, flags))
		return -errno;
	return 0;
}

static int __maybe_unused emit(unsigned long type, unsigned long size, const void *data)
{
	return emit_flags(type, size, data, 0);
}

static int __maybe_unused emit_text(const char *text)
{
	return emit(PERF_UEVENT_TYPE_TEXT, strlen(text), text);
}

/* Fills @data so that a byte out of its place shows. */
static void __maybe_unused fill_pattern(char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		data[i] = 1 + i % 251;
}

/* An event that does nothing else: it counts nothing and takes no samples. */
static struct perf_event_attr __maybe_unused uevent_attr(void)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_DUMMY,
		.exclude_kernel	= 1,
		.uevent		= 1,
	};

	return attr;
}

/* Returns a file descriptor or -errno. */
static int __maybe_unused event_open(struct perf_event_attr *attr, pid_t pid, int cpu,
				     unsigned long flags)
{
	int fd = syscall(__NR_perf_event_open, attr, pid, cpu, -1,
			 flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static struct ring *__maybe_unused ring_map(struct __test_metadata *_metadata, int fd,
					    unsigned int nr_pages, bool overwrite)
{
	size_t page_size = sysconf(_SC_PAGESIZE);
	struct ring *ring = calloc(1, sizeof(*ring));

	ASSERT_TRUE(!!ring);
	ASSERT_LE(0, fd) {
		TH_LOG("perf_event_open: %s", strerror(-fd));
	}
	ring->fd = fd;
	ring->size = nr_pages * page_size;
	ring->overwrite = overwrite;
	ring->page = mmap(NULL, page_size + ring->size,
			  overwrite ? PROT_READ : PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);
	ASSERT_TRUE(ring->page != MAP_FAILED) {
		TH_LOG("mmap: %s", strerror(errno));
	}
	ring->data = (char *)ring->page + page_size;

	return ring;
}

/* For records of any size, though not for many of the largest at a time. */
static struct ring *__maybe_unused ring_open(struct __test_metadata *_metadata,
					     struct perf_event_attr *attr, pid_t pid, int cpu)
{
	size_t size = 2 * sizeof(((struct ring *)NULL)->record);

	return ring_map(_metadata, event_open(attr, pid, cpu, 0),
			size / sysconf(_SC_PAGESIZE), false);
}

static void __maybe_unused ring_close(struct ring *ring)
{
	if (!ring)
		return;

	munmap(ring->page, ring->data - (char *)ring->page + ring->size);
	close(ring->fd);
	free(ring);
}

/* Pairs with the barrier before the kernel's update of data_head. */
static __u64 __maybe_unused ring_head(struct ring *ring)
{
	__u64 head = READ_ONCE(ring->page->data_head);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);

	return head;
}

/* What was read may be written over from now on. */
static void __maybe_unused ring_set_tail(struct ring *ring, __u64 tail)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	WRITE_ONCE(ring->page->data_tail, tail);
}

static void __maybe_unused ring_copy(struct ring *ring, void *to, __u64 pos, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = ring->data[(pos + i) & (ring->size - 1)];
}

/* Starts with the newest record of a ring that is written backward. */
static void __maybe_unused ring_rewind(struct ring *ring)
{
	if (ring->backward)
		ring->pos = ring_head(ring);
}

static bool __maybe_unused ring_at_end(struct ring *ring)
{
	/* Written from 0 downward in as many bits as a long of the kernel has. */
	if (ring->backward)
		return !(__u32)ring->pos;

	return ring->pos == ring_head(ring);
}

/* Takes the next record out of the ring; false if there is none. */
static bool __maybe_unused ring_next(struct ring *ring)
{
	struct perf_event_header *header = &ring->record.header;

	if (ring_at_end(ring))
		return false;

	ring_copy(ring, header, ring->pos, sizeof(*header));
	ring_copy(ring, header, ring->pos, header->size);
	ring->pos += header->size;
	if (!ring->overwrite)
		ring_set_tail(ring, ring->pos);

	return true;
}

static bool __maybe_unused ring_next_uevent(struct ring *ring)
{
	return ring_next(ring) && ring->record.header.type == PERF_RECORD_UEVENT;
}

static __u64 __maybe_unused event_id(struct ring *ring)
{
	__u64 id = 0;

	ioctl(ring->fd, PERF_EVENT_IOC_ID, &id);

	return id;
}

/* Returns a CPU that this task may use, the @nth one, or -1. */
static int __maybe_unused nth_cpu(int nth)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &cpus) && !nth--)
			return cpu;
	}

	return -1;
}

static void __maybe_unused run_on_cpu(struct __test_metadata *_metadata, int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(cpus), &cpus));
}

static void __maybe_unused skip_all(const char *why)
{
	ksft_print_header();
	ksft_exit_skip("%s\n", why);
}

/* Kernels that are older than the feature know neither the prctl nor the bit. */
static int __maybe_unused uevent_test_run(int argc, char **argv)
{
	struct perf_event_attr attr = uevent_attr();

	if (emit(0, 0, NULL) == -EINVAL && event_open(&attr, 0, -1, 0) == -EINVAL)
		skip_all("no userspace events in this kernel");

	return test_harness_run(argc, argv);
}

#endif
