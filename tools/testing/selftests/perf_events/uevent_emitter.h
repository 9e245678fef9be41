/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Other tasks that emit userspace events, and records that tell their source.
 */
#ifndef __SELFTEST_PERF_EVENTS_UEVENT_EMITTER_H
#define __SELFTEST_PERF_EVENTS_UEVENT_EMITTER_H

#include <pthread.h>

#include "uevent.h"

/* A sample_id with everything that tells where a record comes from. */
struct source {
	__u32 pid;
	__u32 tid;
	__u64 id;
	__u64 stream_id;
	__u32 cpu;
	__u32 reserved;
};

static struct perf_event_attr source_attr(void)
{
	struct perf_event_attr attr = uevent_attr();

	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			   PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;

	return attr;
}

/* Takes the next record, which has to be @text, and tells where it comes from. */
static struct source expect_text(struct __test_metadata *_metadata, struct ring *ring,
				 const char *text)
{
	struct uevent *uevent = &ring->record.uevent;
	struct source source;
	size_t size;

	ASSERT_TRUE(ring_next_uevent(ring));
	ASSERT_EQ(strlen(text), uevent->size);
	EXPECT_EQ(0, memcmp(uevent->data, text, uevent->size));

	size = sizeof(*uevent) + ((uevent->size + 7) & ~7);
	ASSERT_EQ(size + sizeof(source), uevent->header.size);
	memcpy(&source, ring->record.bytes + size, sizeof(source));

	return source;
}

static pid_t own_tid(void)
{
	return syscall(__NR_gettid);
}

/* A thread or a process that emits one event, where it is told to, and ends. */
struct emitter {
	bool is_thread;
	pthread_t thread;
	pid_t pid;
	pid_t tid;
	/* Pipes: it tells its tid when it is ready, and is told whether to emit. */
	int ready[2];
	int order[2];
	int err;
};

/* Called first by a process that is started. */
static void (*emitter_prepare)(void);

static void *run_emitter(void *arg)
{
	struct emitter *emitter = arg;
	pid_t tid = own_tid();
	bool emits;

	emitter->err = EIO;
	if (write(emitter->ready[1], &tid, sizeof(tid)) != sizeof(tid))
		return NULL;
	if (read(emitter->order[0], &emits, sizeof(emits)) != sizeof(emits))
		return NULL;
	emitter->err = emits ? -emit_text("emitted") : 0;

	return NULL;
}

static void __maybe_unused start_thread(struct __test_metadata *_metadata,
					struct emitter *emitter)
{
	emitter->is_thread = true;
	emitter->pid = getpid();
	ASSERT_EQ(0, pipe(emitter->ready));
	ASSERT_EQ(0, pipe(emitter->order));
	ASSERT_EQ(0, pthread_create(&emitter->thread, NULL, run_emitter, emitter));
	ASSERT_EQ(sizeof(emitter->tid),
		  read(emitter->ready[0], &emitter->tid, sizeof(emitter->tid)));
}

static void __maybe_unused start_process(struct __test_metadata *_metadata,
					 struct emitter *emitter)
{
	pid_t pid, tid;

	emitter->is_thread = false;
	ASSERT_EQ(0, pipe(emitter->ready));
	ASSERT_EQ(0, pipe(emitter->order));

	/* Not into *emitter at once, which the child may share. */
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(emitter->order[1]);
		if (emitter_prepare)
			emitter_prepare();
		run_emitter(emitter);
		_exit(emitter->err);
	}
	close(emitter->order[0]);
	close(emitter->ready[1]);
	ASSERT_EQ(sizeof(tid), read(emitter->ready[0], &tid, sizeof(tid)));
	emitter->pid = pid;
	/* What it told may be its name in another namespace. */
	emitter->tid = pid;
}

static void finish_emitter(struct __test_metadata *_metadata, struct emitter *emitter,
			   bool emits)
{
	int status;

	ASSERT_EQ(sizeof(emits), write(emitter->order[1], &emits, sizeof(emits)));
	close(emitter->order[1]);

	if (emitter->is_thread) {
		ASSERT_EQ(0, pthread_join(emitter->thread, NULL));
		EXPECT_EQ(0, emitter->err);
		return;
	}
	ASSERT_EQ(emitter->pid, waitpid(emitter->pid, &status, 0));
	EXPECT_EQ(0, status);
}

#endif
