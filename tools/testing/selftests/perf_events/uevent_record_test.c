// SPDX-License-Identifier: GPL-2.0
/*
 * Test for userspace events: the bytes of the record.
 */

#define _GNU_SOURCE

#include <time.h>

#include "uevent.h"

#define MAX_SIZE	PERF_UEVENT_MAX_SIZE

/* All that a sample_id can hold. */
#define SAMPLE_ID_ALL	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
			 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | \
			 PERF_SAMPLE_IDENTIFIER)

static char payload[MAX_SIZE];
static char ones[8192];

/* A clock that this program can read, and that nobody sets or slews. */
static __u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);

	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static struct perf_event_attr sample_id_attr(__u64 sample_type)
{
	struct perf_event_attr attr = uevent_attr();

	attr.sample_type = sample_type;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;

	return attr;
}

/* The record that is expected, put together byte by byte. */
struct expected {
	size_t size;
	/* Where the time stands in it; 0 if it does not. */
	size_t time;
	char bytes[1 << 16];
};

static void append(struct expected *rec, const void *bytes, size_t size)
{
	memcpy(rec->bytes + rec->size, bytes, size);
	rec->size += size;
}

static void append_u32(struct expected *rec, __u32 value)
{
	append(rec, &value, sizeof(value));
}

static void append_u64(struct expected *rec, __u64 value)
{
	append(rec, &value, sizeof(value));
}

static void append_sample_id(struct expected *rec, __u64 sample_type, __u64 id, int cpu)
{
	if (sample_type & PERF_SAMPLE_TID) {
		append_u32(rec, getpid());
		append_u32(rec, syscall(__NR_gettid));
	}
	if (sample_type & PERF_SAMPLE_TIME) {
		rec->time = rec->size;
		append_u64(rec, 0);
	}
	if (sample_type & PERF_SAMPLE_ID)
		append_u64(rec, id);
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		append_u64(rec, id);
	if (sample_type & PERF_SAMPLE_CPU) {
		append_u32(rec, cpu);
		append_u32(rec, 0);
	}
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		append_u64(rec, id);
}

static void append_uevent(struct expected *rec, __u32 type, const void *data, __u32 size)
{
	static const char zeroes[8];

	append(rec, zeroes, sizeof(struct perf_event_header));
	append_u32(rec, type);
	append_u32(rec, size);
	append(rec, data, size);
	append(rec, zeroes, -size & 7);
}

static void set_header(struct expected *rec)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_UEVENT,
		.misc = PERF_RECORD_MISC_USER,
		.size = rec->size,
	};

	memcpy(rec->bytes, &header, sizeof(header));
}

static size_t first_difference(const char *a, const char *b, size_t size)
{
	size_t i = 0;

	while (i < size && a[i] == b[i])
		i++;

	return i;
}

static void expect_time(struct __test_metadata *_metadata, struct ring *ring,
			struct expected *rec, __u64 before, __u64 after)
{
	__u64 time;

	if (!rec->time)
		return;

	memcpy(&time, ring->record.bytes + rec->time, sizeof(time));
	EXPECT_LE(before, time);
	EXPECT_GE(after, time);
	memcpy(rec->bytes + rec->time, &time, sizeof(time));
}

/*
 * Emits one event and expects that the ring of an event with @sample_type gets
 * exactly one record, which is right in every byte.
 */
static void expect_record(struct __test_metadata *_metadata, struct ring *ring,
			  __u64 sample_type, int cpu, const void *data, __u32 size)
{
	struct expected rec = {};
	__u64 before, after;

	append_uevent(&rec, 7, data, size);
	append_sample_id(&rec, sample_type, event_id(ring), cpu);
	set_header(&rec);

	before = now();
	ASSERT_EQ(0, emit(7, size, data));
	after = now();

	ASSERT_TRUE(ring_next(ring));
	expect_time(_metadata, ring, &rec, before, after);
	EXPECT_EQ(rec.size, ring->record.header.size);
	EXPECT_EQ(rec.size, first_difference(rec.bytes, ring->record.bytes, rec.size)) {
		TH_LOG("sample_type %#llx, payload of %u bytes: wrong from there on",
		       (unsigned long long)sample_type, size);
	}
	EXPECT_FALSE(ring_next(ring));
}

FIXTURE(record)
{
	int cpu;
};

FIXTURE_SETUP(record)
{
	fill_pattern(payload, sizeof(payload));
	self->cpu = nth_cpu(0);
	run_on_cpu(_metadata, self->cpu);
}

FIXTURE_TEARDOWN(record)
{
}

/* Every combination of sample_id fields follows the payload, in its order. */
TEST_F(record, sample_id)
{
	static const __u64 bits[] = {
		PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
		PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER,
	};
	unsigned int combination, i;

	for (combination = 0; combination < 1 << ARRAY_SIZE(bits); combination++) {
		struct perf_event_attr attr;
		__u64 sample_type = 0;
		struct ring *ring;

		for (i = 0; i < ARRAY_SIZE(bits); i++) {
			if (combination & 1 << i)
				sample_type |= bits[i];
		}
		attr = sample_id_attr(sample_type);
		ring = ring_open(_metadata, &attr, 0, -1);
		expect_record(_metadata, ring, sample_type, self->cpu, payload, 13);
		ring_close(ring);
	}
}

/* Without sample_id_all the record ends with the payload. */
TEST_F(record, no_sample_id)
{
	struct perf_event_attr attr = sample_id_attr(SAMPLE_ID_ALL);
	struct ring *ring;

	attr.sample_id_all = 0;
	ring = ring_open(_metadata, &attr, 0, -1);
	expect_record(_metadata, ring, 0, self->cpu, payload, 13);
	ring_close(ring);
}

static void emit_ones(struct __test_metadata *_metadata, struct ring *ring, size_t size)
{
	ASSERT_LE(size, sizeof(ones));
	ASSERT_EQ(0, emit(0, size, ones));
	ASSERT_TRUE(ring_next_uevent(ring));
}

/*
 * What follows the payload is zeroes, although the ring buffer and the memory
 * that the record is put together in were full of ones just before.
 */
TEST_F(record, padding)
{
	/* By way of the stack and of allocations, each with 7 to 1 bytes left. */
	static const __u32 first[] = { 1, 249, 257, 4089 };
	struct perf_event_attr attr = uevent_attr();
	struct ring *ring = ring_open(_metadata, &attr, 0, -1);

	memset(ones, 0xff, sizeof(ones));
	for (unsigned int i = 0; i < ARRAY_SIZE(first); i++) {
		for (__u32 size = first[i]; size < first[i] + 7; size++) {
			for (size_t filled = 0; filled < ring->size; filled += sizeof(ones))
				emit_ones(_metadata, ring, sizeof(ones));
			emit_ones(_metadata, ring, first[i] + 7);
			expect_record(_metadata, ring, 0, self->cpu, ones, size);
		}
	}
	ring_close(ring);
}

/* The bit is where the ABI says, and what is reserved after it is still refused. */
TEST_F(record, attr_bit)
{
	const size_t offset = offsetof(struct perf_event_attr, read_format) + sizeof(__u64);
	const bool big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct perf_event_attr attr = { .uevent = 1 };
	__u64 bits;
	int fd;

	memcpy(&bits, (char *)&attr + offset, sizeof(bits));
	EXPECT_EQ(1ULL << (big_endian ? 63 - 40 : 40), bits);

	attr = uevent_attr();
	fd = event_open(&attr, 0, -1, 0);
	EXPECT_LE(0, fd);
	close(fd);

	for (bits = 1; attr.__reserved_1 = bits, attr.__reserved_1; bits <<= 1)
		EXPECT_EQ(-EINVAL, event_open(&attr, 0, -1, 0));
}

FIXTURE(record_size)
{
	int cpu;
};

FIXTURE_VARIANT(record_size)
{
	__u32 size;
};

FIXTURE_VARIANT_ADD(record_size, 0)
{
	.size = 0,
};

FIXTURE_VARIANT_ADD(record_size, 1)
{
	.size = 1,
};

FIXTURE_VARIANT_ADD(record_size, 7)
{
	.size = 7,
};

FIXTURE_VARIANT_ADD(record_size, 8)
{
	.size = 8,
};

FIXTURE_VARIANT_ADD(record_size, 9)
{
	.size = 9,
};

/* Up to 256 bytes the kernel needs no allocation. */
FIXTURE_VARIANT_ADD(record_size, 255)
{
	.size = 255,
};

FIXTURE_VARIANT_ADD(record_size, 256)
{
	.size = 256,
};

FIXTURE_VARIANT_ADD(record_size, 257)
{
	.size = 257,
};

FIXTURE_VARIANT_ADD(record_size, 4096)
{
	.size = 4096,
};

FIXTURE_VARIANT_ADD(record_size, max_minus_1)
{
	.size = MAX_SIZE - 1,
};

FIXTURE_VARIANT_ADD(record_size, max)
{
	.size = MAX_SIZE,
};

FIXTURE_SETUP(record_size)
{
	fill_pattern(payload, sizeof(payload));
	self->cpu = nth_cpu(0);
	run_on_cpu(_metadata, self->cpu);
}

FIXTURE_TEARDOWN(record_size)
{
}

/* The record is right in every byte, up to the largest with all its fields. */
TEST_F(record_size, bytes)
{
	struct perf_event_attr attr = sample_id_attr(SAMPLE_ID_ALL);
	struct ring *ring = ring_open(_metadata, &attr, 0, -1);

	expect_record(_metadata, ring, SAMPLE_ID_ALL, self->cpu, payload, variant->size);
	ring_close(ring);
}

int main(int argc, char **argv)
{
	return uevent_test_run(argc, argv);
}
