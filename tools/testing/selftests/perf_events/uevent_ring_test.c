// SPDX-License-Identifier: GPL-2.0
/*
 * Test for userspace events: the ring buffer that they go to.
 */

#define _GNU_SOURCE

#include <poll.h>

#include "uevent.h"

#define UEVENT_SIZE	sizeof(struct uevent)

static char payload[PERF_UEVENT_MAX_SIZE + 256];

/* Emits what makes a record of @size bytes; the type numbers the events. */
static int emit_record(unsigned int nr, size_t size)
{
	return emit(nr, size - UEVENT_SIZE, payload + nr % 251);
}

static void expect_record(struct __test_metadata *_metadata, struct ring *ring,
			  unsigned int nr, size_t size)
{
	struct uevent *uevent = &ring->record.uevent;

	ASSERT_TRUE(ring_next_uevent(ring));
	EXPECT_EQ(nr, uevent->type);
	EXPECT_EQ(size, uevent->header.size);
	ASSERT_EQ(size - UEVENT_SIZE, uevent->size);
	EXPECT_EQ(0, memcmp(uevent->data, payload + nr % 251, uevent->size));
}

static void expect_lost(struct __test_metadata *_metadata, struct ring *ring, __u64 nr_lost)
{
	struct lost *lost = &ring->record.lost;

	ASSERT_TRUE(ring_next(ring));
	ASSERT_EQ(PERF_RECORD_LOST, lost->header.type);
	EXPECT_EQ(sizeof(*lost), lost->header.size);
	EXPECT_EQ(event_id(ring), lost->id);
	EXPECT_EQ(nr_lost, lost->lost);
}

/* What read() tells of an event that was opened with PERF_FORMAT_LOST. */
static __u64 lost_of_event(struct __test_metadata *_metadata, struct ring *ring)
{
	struct {
		__u64 value;
		__u64 lost;
	} count;

	ASSERT_EQ(sizeof(count), read(ring->fd, &count, sizeof(count)));

	return count.lost;
}

FIXTURE(ring)
{
	size_t page_size;
	struct perf_event_attr attr;
	struct ring *ring;
};

FIXTURE_SETUP(ring)
{
	fill_pattern(payload, sizeof(payload));
	self->page_size = sysconf(_SC_PAGESIZE);
	self->attr = uevent_attr();
	self->attr.read_format = PERF_FORMAT_LOST;
	self->ring = ring_map(_metadata, event_open(&self->attr, 0, -1, 0), 1, false);
}

FIXTURE_TEARDOWN(ring)
{
	ring_close(self->ring);
}

/*
 * What does not fit any more is counted, not reported to the emitting task; once
 * there is room again, the reader gets the number and then the next event.
 */
TEST_F(ring, full)
{
	const size_t size = self->page_size / 8;
	/* A ring is never filled up to its last byte. */
	const unsigned int nr_fitting = 7, nr_lost = 5;
	unsigned int nr;

	for (nr = 0; nr < nr_fitting + nr_lost; nr++)
		EXPECT_EQ(0, emit_record(nr, size));
	EXPECT_EQ(nr_lost, lost_of_event(_metadata, self->ring));

	for (nr = 0; nr < nr_fitting; nr++)
		expect_record(_metadata, self->ring, nr, size);
	EXPECT_FALSE(ring_next(self->ring));

	EXPECT_EQ(0, emit_record(100, size));
	expect_lost(_metadata, self->ring, nr_lost);
	expect_record(_metadata, self->ring, 100, size);

	EXPECT_EQ(0, emit_record(101, size));
	expect_record(_metadata, self->ring, 101, size);
	EXPECT_FALSE(ring_next(self->ring));
	EXPECT_EQ(nr_lost, lost_of_event(_metadata, self->ring));
}

/* One reader's full ring takes nothing away from another one. */
TEST_F(ring, full_of_another)
{
	struct ring *other = ring_open(_metadata, &self->attr, 0, -1);
	const size_t size = self->page_size / 2;

	for (unsigned int nr = 0; nr < 3; nr++) {
		EXPECT_EQ(0, emit_record(nr, size));
		expect_record(_metadata, other, nr, size);
	}
	EXPECT_FALSE(ring_next(other));

	expect_record(_metadata, self->ring, 0, size);
	EXPECT_EQ(0, emit_record(3, size / 2));
	expect_lost(_metadata, self->ring, 2);
	expect_record(_metadata, self->ring, 3, size / 2);
	ring_close(other);
}

/* What was emitted while output was paused is counted as lost. */
TEST_F(ring, paused)
{
	ASSERT_EQ(0, ioctl(self->ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	EXPECT_EQ(0, emit_record(0, 64));
	EXPECT_EQ(0, emit_record(1, 64));
	EXPECT_FALSE(ring_next(self->ring));

	ASSERT_EQ(0, ioctl(self->ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0));
	EXPECT_EQ(0, emit_record(2, 64));
	expect_lost(_metadata, self->ring, 2);
	expect_record(_metadata, self->ring, 2, 64);
	EXPECT_FALSE(ring_next(self->ring));
}

/* An event without a ring buffer does no harm, and gets none from before it had one. */
TEST_F(ring, none_yet)
{
	int fd = event_open(&self->attr, 0, -1, 0);
	struct ring *late;

	EXPECT_EQ(0, emit_record(0, 64));
	expect_record(_metadata, self->ring, 0, 64);

	late = ring_map(_metadata, fd, 1, false);
	EXPECT_FALSE(ring_next(late));
	EXPECT_EQ(0, emit_record(1, 64));
	expect_record(_metadata, late, 1, 64);
	EXPECT_FALSE(ring_next(late));
	ring_close(late);
}

/* Two events that share a ring buffer each put their own record there. */
TEST_F(ring, shared)
{
	struct perf_event_attr attr = uevent_attr();
	struct ring *ring = self->ring;
	int fd, nr_with_id = 0;
	__u64 id, seen_id;

	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER;
	fd = event_open(&attr, 0, -1, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ID, &id));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd));

	EXPECT_EQ(0, emit_record(0, 64));
	for (int nr = 0; nr < 2; nr++) {
		ASSERT_TRUE(ring_next_uevent(ring));
		EXPECT_EQ(0, memcmp(ring->record.uevent.data, payload, 64 - UEVENT_SIZE));
		/* Only the other event has a sample_id. */
		if (ring->record.header.size == 64)
			continue;
		nr_with_id++;
		EXPECT_EQ(64 + sizeof(id), ring->record.header.size);
		memcpy(&seen_id, ring->record.bytes + 64, sizeof(seen_id));
		EXPECT_EQ(id, seen_id);
	}
	EXPECT_EQ(1, nr_with_id);
	EXPECT_FALSE(ring_next(ring));
	close(fd);
}

/* A reader that waits for data is woken up by an event. */
TEST_F(ring, wakes_reader)
{
	struct perf_event_attr attr = uevent_attr();
	struct pollfd poll_ring = { .events = POLLIN };
	struct ring *ring;

	attr.watermark = 1;
	attr.wakeup_watermark = 1;
	ring = ring_open(_metadata, &attr, 0, -1);
	poll_ring.fd = ring->fd;

	EXPECT_EQ(0, poll(&poll_ring, 1, 0));
	EXPECT_EQ(0, emit_record(0, 64));
	EXPECT_EQ(1, poll(&poll_ring, 1, 10000));
	EXPECT_EQ(POLLIN, poll_ring.revents);
	ring_close(ring);
}

FIXTURE(wrap)
{
	struct ring *ring;
};

FIXTURE_VARIANT(wrap)
{
	/* The ring is of one page, or takes two of the largest records. */
	bool one_page;
	/* Of a record, as a fraction of the ring and a difference to that. */
	unsigned int fraction;
	int more;
	unsigned int nr_records;
};

/* Goes round often enough to start at every multiple of 8 in 4096 bytes. */
FIXTURE_VARIANT_ADD(wrap, small)
{
	.one_page = true,
	.fraction = 4,
	.more = -8,
	.nr_records = 512,
};

FIXTURE_VARIANT_ADD(wrap, nearly_all_of_it)
{
	.one_page = true,
	.fraction = 1,
	.more = -8,
	.nr_records = 512,
};

FIXTURE_VARIANT_ADD(wrap, large)
{
	.fraction = 2,
	.more = 16 - 256,
	.nr_records = 32,
};

FIXTURE_SETUP(wrap)
{
	struct perf_event_attr attr = uevent_attr();

	fill_pattern(payload, sizeof(payload));
	if (variant->one_page)
		self->ring = ring_map(_metadata, event_open(&attr, 0, -1, 0), 1, false);
	else
		self->ring = ring_open(_metadata, &attr, 0, -1);
}

FIXTURE_TEARDOWN(wrap)
{
	ring_close(self->ring);
}

/* A record that goes on at the start of the ring buffer is whole. */
TEST_F(wrap, whole)
{
	size_t size = self->ring->size / variant->fraction + variant->more;

	if (size > UEVENT_SIZE + PERF_UEVENT_MAX_SIZE)
		SKIP(return, "pages are larger than any record");

	for (unsigned int nr = 0; nr < variant->nr_records; nr++) {
		ASSERT_EQ(0, emit_record(nr, size));
		expect_record(_metadata, self->ring, nr, size);
		ASSERT_FALSE(ring_next(self->ring));
	}
}

FIXTURE(larger)
{
	struct ring *ring;
};

FIXTURE_VARIANT(larger)
{
	bool overwrite;
	bool backward;
	/* By how much the record exceeds the ring, as far as records can. */
	int excess;
	bool fits;
};

FIXTURE_VARIANT_ADD(larger, not_quite)
{
	.excess = -8,
	.fits = true,
};

/* Full and empty would be the same: the last byte is never used. */
FIXTURE_VARIANT_ADD(larger, equal)
{
	.excess = 0,
};

FIXTURE_VARIANT_ADD(larger, a_little)
{
	.excess = 8,
};

FIXTURE_VARIANT_ADD(larger, far)
{
	.excess = PERF_UEVENT_MAX_SIZE,
};

FIXTURE_VARIANT_ADD(larger, overwrite_equal)
{
	.overwrite = true,
	.excess = 0,
	.fits = true,
};

FIXTURE_VARIANT_ADD(larger, overwrite_a_little)
{
	.overwrite = true,
	.excess = 8,
};

FIXTURE_VARIANT_ADD(larger, overwrite_far)
{
	.overwrite = true,
	.excess = PERF_UEVENT_MAX_SIZE,
};

FIXTURE_VARIANT_ADD(larger, backward_equal)
{
	.overwrite = true,
	.backward = true,
	.excess = 0,
	.fits = true,
};

FIXTURE_VARIANT_ADD(larger, backward_a_little)
{
	.overwrite = true,
	.backward = true,
	.excess = 8,
};

FIXTURE_VARIANT_ADD(larger, backward_far)
{
	.overwrite = true,
	.backward = true,
	.excess = PERF_UEVENT_MAX_SIZE,
};

FIXTURE_SETUP(larger)
{
	struct perf_event_attr attr = uevent_attr();

	fill_pattern(payload, sizeof(payload));
	attr.write_backward = variant->backward;
	self->ring = ring_map(_metadata, event_open(&attr, 0, -1, 0), 1, variant->overwrite);
	self->ring->backward = variant->backward;
}

FIXTURE_TEARDOWN(larger)
{
	ring_close(self->ring);
}

/*
 * A record that is larger than the ring buffer is counted as lost, also where
 * new records replace old ones, and leaves the ring as it was.
 */
TEST_F(larger, is_lost)
{
	const size_t max = UEVENT_SIZE + PERF_UEVENT_MAX_SIZE;
	size_t size = self->ring->size + variant->excess;

	if (size > max)
		size = max;
	if (self->ring->size + 8 > max)
		SKIP(return, "pages are larger than any record");

	EXPECT_EQ(0, emit_record(1, size));
	if (variant->fits) {
		ring_rewind(self->ring);
		expect_record(_metadata, self->ring, 1, size);
	} else {
		EXPECT_EQ(0, ring_head(self->ring));
	}

	EXPECT_EQ(0, emit_record(2, 64));
	ring_rewind(self->ring);
	if (!variant->fits)
		expect_lost(_metadata, self->ring, 1);
	expect_record(_metadata, self->ring, 2, 64);
}

/* A ring buffer that is written over, backward, holds the newest ones, each whole. */
TEST(newest_are_kept)
{
	struct perf_event_attr attr = uevent_attr();
	struct ring *ring;
	unsigned int nr;
	size_t size;

	fill_pattern(payload, sizeof(payload));
	attr.write_backward = 1;
	ring = ring_map(_metadata, event_open(&attr, 0, -1, 0), 1, true);
	ring->backward = true;
	size = ring->size / 8;

	for (nr = 0; nr < 100; nr++)
		EXPECT_EQ(0, emit_record(nr, size));

	ring_rewind(ring);
	while (nr-- > 100 - 8)
		expect_record(_metadata, ring, nr, size);
	ring_close(ring);
}

int main(int argc, char **argv)
{
	return uevent_test_run(argc, argv);
}
