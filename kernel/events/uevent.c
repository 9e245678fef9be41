// SPDX-License-Identifier: GPL-2.0
/*
 * Userspace events: a task's own data in the perf stream. They have nothing to
 * do with the uevents of kobjects.
 *
 * prctl(PR_TASK_PERF_UEVENT) turns a payload from user memory into one
 * PERF_RECORD_UEVENT for every event that was opened with attr.uevent and that
 * watches the calling task or the CPU that it runs on.
 *
 * The record is built once, header to padding, in memory that only this call
 * sees, and then copied to each ring buffer, where the sample_id follows. It
 * lives on the stack or, above PERF_UEVENT_STACK_SIZE, in memory that is
 * charged to the caller, and is gone when the call returns.
 *
 * All runs in process context. Whatever may sleep (allocation, page faults on
 * the payload) is done before perf_iterate_sb(), which disables preemption. The
 * task may move to another CPU in between: the record goes to those who watch
 * where the task is when it is written, but a task that nobody watches when the
 * call starts emits nothing.
 */

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/overflow.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include "internal.h"

/* Larger payloads are allocated: most messages are a line of text or less. */
#define PERF_UEVENT_STACK_SIZE		256

/* What perf_event__id_header_size() comes to with everything selected. */
#define PERF_UEVENT_MAX_ID_SIZE		(6 * sizeof(u64))

/*
 * PERF_RECORD_UEVENT up to its sample_id, as it stands in the ring buffer. Not
 * __counted_by(size), as the padding follows the payload.
 */
struct perf_uevent_record {
	struct perf_event_header	header;
	u32				type;
	u32				size;
	u8				data[];
};

/* The padding has to fit the stack buffer, too. */
static_assert(IS_ALIGNED(sizeof(struct perf_uevent_record) + PERF_UEVENT_STACK_SIZE,
			 sizeof(u64)));

/* perf_event_header::size has 16 bits. */
static_assert(ALIGN(sizeof(struct perf_uevent_record) + PERF_UEVENT_MAX_SIZE, sizeof(u64)) +
	      PERF_UEVENT_MAX_ID_SIZE <= U16_MAX);

atomic_t nr_uevent_events __read_mostly;

static u16 perf_uevent_record_size(u32 size)
{
	return ALIGN(sizeof(struct perf_uevent_record) + size, sizeof(u64));
}

/*
 * Apart from perf_uevent_output(), so that events without the bit cost no more
 * than its test: compilers may have to clear the sample data on entry.
 */
static noinline void perf_uevent_write(struct perf_event *event,
				       struct perf_uevent_record *rec)
{
	u16 size = perf_uevent_record_size(rec->size);
	struct perf_output_handle handle;
	struct perf_sample_data sample;

	perf_event_header__init(&rec->header, &sample, PERF_RECORD_UEVENT,
				PERF_RECORD_MISC_USER, size, event);

	if (perf_output_begin(&handle, &sample, event, rec->header.size))
		return;

	__output_copy(&handle, rec, size);
	perf_event__output_id_sample(event, &handle, &sample);

	perf_output_end(&handle);
}

static bool perf_uevent_match(struct perf_event *event)
{
	return event->attr.uevent;
}

static void perf_uevent_output(struct perf_event *event, void *data)
{
	if (perf_uevent_match(event))
		perf_uevent_write(event, data);
}

static void perf_uevent_note_watcher(struct perf_event *event, void *data)
{
	bool *watched = data;

	if (perf_uevent_match(event))
		*watched = true;
}

/* Spares those who are not watched the copy when somebody else is. */
static bool perf_uevent_watched(void)
{
	bool watched = false;

	if (!atomic_read(&nr_uevent_events))
		return false;

	perf_iterate_sb(perf_uevent_note_watcher, &watched, NULL);

	return watched;
}

static int perf_uevent_emit(struct perf_uevent_record *rec, u32 type, u32 size,
			    const void __user *data)
{
	u16 padding = perf_uevent_record_size(size) - sizeof(*rec) - size;

	rec->type = type;
	rec->size = size;
	if (copy_from_user(rec->data, data, size))
		return -EFAULT;
	memset(rec->data + size, 0, padding);

	perf_iterate_sb(perf_uevent_output, rec, NULL);

	return 0;
}

static noinline_for_stack int perf_uevent_emit_small(u32 type, u32 size,
						     const void __user *data)
{
	DEFINE_RAW_FLEX(struct perf_uevent_record, rec, data, PERF_UEVENT_STACK_SIZE);

	return perf_uevent_emit(rec, type, size, data);
}

static int perf_uevent_emit_large(u32 type, u32 size, const void __user *data)
{
	/* At its cgroup's limit the task gets an error, not the OOM killer. */
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN;
	struct perf_uevent_record *rec __free(kvfree) =
		kvmalloc(perf_uevent_record_size(size), gfp);

	if (!rec)
		return -ENOMEM;

	return perf_uevent_emit(rec, type, size, data);
}

/**
 * perf_event_uevent - Emit a userspace event for the current task
 * @type: what the payload holds, PERF_UEVENT_TYPE_*; not interpreted here
 * @size: number of payload bytes, at most %PERF_UEVENT_MAX_SIZE
 * @data: the payload; not looked at where @size is 0 or nobody watches
 * @flags: reserved, must be 0
 *
 * Implements prctl(PR_TASK_PERF_UEVENT). A reader whose buffer is full finds a
 * PERF_RECORD_LOST in it; the emitting task does not get to know, since being
 * watched must not change what a program does.
 *
 * Context: Process context of the emitting task. May sleep.
 * Return: 0 once the event was offered to those who watch, of whom there may be
 * none, %-EINVAL for unknown @flags, %-E2BIG for too large a @size, %-EFAULT for
 * an unreadable payload, %-ENOMEM; nothing is emitted on error.
 */
int perf_event_uevent(u32 type, unsigned long size, const void __user *data,
		      unsigned long flags)
{
	if (flags)
		return -EINVAL;
	if (size > PERF_UEVENT_MAX_SIZE)
		return -E2BIG;
	if (!perf_uevent_watched())
		return 0;
	if (size > PERF_UEVENT_STACK_SIZE)
		return perf_uevent_emit_large(type, size, data);

	return perf_uevent_emit_small(type, size, data);
}
