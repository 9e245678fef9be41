// SPDX-License-Identifier: GPL-2.0
/*
 * Test for userspace events: the call and its arguments.
 */

#define _GNU_SOURCE

#include <limits.h>

#include "uevent.h"

#define MAX_SIZE	PERF_UEVENT_MAX_SIZE

static char payload[MAX_SIZE + 8];

FIXTURE(type)
{
	struct ring *ring;
};

FIXTURE_VARIANT(type)
{
	unsigned long arg;
	__u32 expected;
};

FIXTURE_VARIANT_ADD(type, text)
{
	.arg = PERF_UEVENT_TYPE_TEXT,
	.expected = 0,
};

FIXTURE_VARIANT_ADD(type, largest_assigned)
{
	.arg = 0x7fffffff,
	.expected = 0x7fffffff,
};

FIXTURE_VARIANT_ADD(type, private)
{
	.arg = PERF_UEVENT_TYPE_PRIVATE,
	.expected = 0x80000000,
};

/* As a compiler makes it of an int argument, on some ABIs. */
FIXTURE_VARIANT_ADD(type, private_sign_extended)
{
	.arg = (long)(int)(PERF_UEVENT_TYPE_PRIVATE | 5),
	.expected = 0x80000005,
};

FIXTURE_VARIANT_ADD(type, all_bits)
{
	.arg = ULONG_MAX,
	.expected = 0xffffffff,
};

#if __SIZEOF_LONG__ == 8
FIXTURE_VARIANT_ADD(type, higher_bits)
{
	.arg = 0x1234567800000005,
	.expected = 5,
};
#endif

FIXTURE_SETUP(type)
{
	struct perf_event_attr attr = uevent_attr();

	self->ring = ring_open(_metadata, &attr, 0, -1);
}

FIXTURE_TEARDOWN(type)
{
	ring_close(self->ring);
}

/* The type is the lower 32 bits of its argument, whatever stands above them. */
TEST_F(type, lower_32_bits)
{
	struct uevent *uevent = &self->ring->record.uevent;

	EXPECT_EQ(0, emit(variant->arg, 4, "type"));
	ASSERT_TRUE(ring_next_uevent(self->ring));
	EXPECT_EQ(variant->expected, uevent->type);
	EXPECT_EQ(4, uevent->size);
	EXPECT_EQ(0, memcmp(uevent->data, "type", 4));
}

enum pointer {
	READABLE,
	NULL_POINTER,
	UNMAPPED,
	KERNEL,
};

FIXTURE(call)
{
	void *unmapped;
	const void *data;
};

FIXTURE_VARIANT(call)
{
	enum pointer data;
	unsigned long size;
	unsigned long flags;
	/* With a watcher and without one: the data is not looked at then. */
	int watched;
	int unwatched;
};

FIXTURE_VARIANT_ADD(call, empty)
{
	.data = READABLE,
	.size = 0,
};

FIXTURE_VARIANT_ADD(call, empty_null)
{
	.data = NULL_POINTER,
	.size = 0,
};

FIXTURE_VARIANT_ADD(call, empty_unmapped)
{
	.data = UNMAPPED,
	.size = 0,
};

FIXTURE_VARIANT_ADD(call, one_byte)
{
	.data = READABLE,
	.size = 1,
};

FIXTURE_VARIANT_ADD(call, one_byte_null)
{
	.data = NULL_POINTER,
	.size = 1,
	.watched = -EFAULT,
};

FIXTURE_VARIANT_ADD(call, small_unmapped)
{
	.data = UNMAPPED,
	.size = 256,
	.watched = -EFAULT,
};

FIXTURE_VARIANT_ADD(call, large_unmapped)
{
	.data = UNMAPPED,
	.size = 257,
	.watched = -EFAULT,
};

FIXTURE_VARIANT_ADD(call, kernel_address)
{
	.data = KERNEL,
	.size = 8,
	.watched = -EFAULT,
};

FIXTURE_VARIANT_ADD(call, max)
{
	.data = READABLE,
	.size = MAX_SIZE,
};

FIXTURE_VARIANT_ADD(call, max_plus_1)
{
	.data = READABLE,
	.size = MAX_SIZE + 1,
	.watched = -E2BIG,
	.unwatched = -E2BIG,
};

FIXTURE_VARIANT_ADD(call, u16_max_plus_1)
{
	.data = READABLE,
	.size = 1 << 16,
	.watched = -E2BIG,
	.unwatched = -E2BIG,
};

FIXTURE_VARIANT_ADD(call, u32_max)
{
	.data = READABLE,
	.size = UINT_MAX,
	.watched = -E2BIG,
	.unwatched = -E2BIG,
};

FIXTURE_VARIANT_ADD(call, ulong_max)
{
	.data = READABLE,
	.size = ULONG_MAX,
	.watched = -E2BIG,
	.unwatched = -E2BIG,
};

#if __SIZEOF_LONG__ == 8
FIXTURE_VARIANT_ADD(call, u32_max_plus_1)
{
	.data = READABLE,
	.size = 1UL << 32,
	.watched = -E2BIG,
	.unwatched = -E2BIG,
};

/* Fine in its lower 32 bits only. */
FIXTURE_VARIANT_ADD(call, u32_max_plus_9)
{
	.data = READABLE,
	.size = (1UL << 32) + 8,
	.watched = -E2BIG,
	.unwatched = -E2BIG,
};

FIXTURE_VARIANT_ADD(call, flags_bit_32)
{
	.data = READABLE,
	.size = 8,
	.flags = 1UL << 32,
	.watched = -EINVAL,
	.unwatched = -EINVAL,
};
#endif

FIXTURE_VARIANT_ADD(call, flags_first_bit)
{
	.data = READABLE,
	.size = 8,
	.flags = 1,
	.watched = -EINVAL,
	.unwatched = -EINVAL,
};

FIXTURE_VARIANT_ADD(call, flags_last_bit)
{
	.data = READABLE,
	.size = 8,
	.flags = 1UL << (__SIZEOF_LONG__ * 8 - 1),
	.watched = -EINVAL,
	.unwatched = -EINVAL,
};

FIXTURE_SETUP(call)
{
	fill_pattern(payload, sizeof(payload));
	self->unmapped = mmap(NULL, sizeof(payload), PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->unmapped != MAP_FAILED);

	switch (variant->data) {
	case READABLE:
		self->data = payload;
		break;
	case NULL_POINTER:
		self->data = NULL;
		break;
	case UNMAPPED:
		self->data = self->unmapped;
		break;
	case KERNEL:
		self->data = (void *)-4096L;
		break;
	}
}

FIXTURE_TEARDOWN(call)
{
	munmap(self->unmapped, sizeof(payload));
}

/* An error is returned and leaves nothing behind, or all of it arrives. */
TEST_F(call, watched)
{
	struct perf_event_attr attr = uevent_attr();
	struct ring *ring = ring_open(_metadata, &attr, 0, -1);

	EXPECT_EQ(variant->watched, emit_flags(0, variant->size, self->data, variant->flags));
	if (!variant->watched) {
		struct uevent *uevent = &ring->record.uevent;

		ASSERT_TRUE(ring_next_uevent(ring));
		EXPECT_EQ(variant->size, uevent->size);
		EXPECT_EQ(0, memcmp(uevent->data, payload, uevent->size));
	}
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

/*
 * Where nobody watches, arguments are checked all the same, but the payload is
 * not looked at.
 */
TEST_F(call, unwatched)
{
	EXPECT_EQ(variant->unwatched, emit_flags(0, variant->size, self->data, variant->flags));
}

/* That another task is watched is none of this task's business. */
TEST_F(call, other_task_watched)
{
	struct perf_event_attr attr = uevent_attr();
	int alive[2], status, fd;
	pid_t pid;
	char byte;

	ASSERT_EQ(0, pipe(alive));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(alive[1]);
		_exit(read(alive[0], &byte, 1));
	}
	fd = event_open(&attr, pid, -1, 0);
	ASSERT_LE(0, fd);

	EXPECT_EQ(variant->unwatched, emit_flags(0, variant->size, self->data, variant->flags));

	close(fd);
	close(alive[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);
}

FIXTURE(memory)
{
	size_t page_size;
	/* Two pages, between which the payload lies. */
	char *pages;
	char *expected;
	struct ring *ring;
};

FIXTURE_VARIANT(memory)
{
	bool from_file;
	bool untouched;
	bool discarded;
	/* Of the first and the second page. */
	int prot[2];
	bool expect_zeroes;
	int err;
};

FIXTURE_VARIANT_ADD(memory, touched)
{
	.prot = { PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE },
};

FIXTURE_VARIANT_ADD(memory, read_only)
{
	.prot = { PROT_READ, PROT_READ },
};

FIXTURE_VARIANT_ADD(memory, untouched)
{
	.prot = { PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE },
	.untouched = true,
	.expect_zeroes = true,
};

FIXTURE_VARIANT_ADD(memory, discarded)
{
	.prot = { PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE },
	.discarded = true,
	.expect_zeroes = true,
};

FIXTURE_VARIANT_ADD(memory, file)
{
	.from_file = true,
	.untouched = true,
	.prot = { PROT_READ, PROT_READ },
};

FIXTURE_VARIANT_ADD(memory, file_discarded)
{
	.from_file = true,
	.discarded = true,
	.prot = { PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE },
};

FIXTURE_VARIANT_ADD(memory, first_inaccessible)
{
	.prot = { PROT_NONE, PROT_READ },
	.err = -EFAULT,
};

FIXTURE_VARIANT_ADD(memory, second_inaccessible)
{
	.prot = { PROT_READ, PROT_NONE },
	.err = -EFAULT,
};

static int pattern_file(struct __test_metadata *_metadata, const char *pattern, size_t size)
{
	FILE *file = tmpfile();

	ASSERT_TRUE(!!file);
	ASSERT_EQ(size, pwrite(fileno(file), pattern, size, 0));

	return fileno(file);
}

FIXTURE_SETUP(memory)
{
	struct perf_event_attr attr = uevent_attr();
	int flags = MAP_PRIVATE, fd = -1;
	char *pattern;
	size_t size;

	self->page_size = sysconf(_SC_PAGESIZE);
	size = 2 * self->page_size;
	pattern = malloc(size);
	self->expected = calloc(2, self->page_size);
	ASSERT_TRUE(!!pattern);
	ASSERT_TRUE(!!self->expected);
	fill_pattern(pattern, size);
	if (!variant->expect_zeroes)
		memcpy(self->expected, pattern, size);

	if (variant->from_file)
		fd = pattern_file(_metadata, pattern, size);
	else
		flags |= MAP_ANONYMOUS;
	self->pages = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);
	ASSERT_TRUE(self->pages != MAP_FAILED);
	if (variant->discarded) {
		memset(self->pages, 0xff, size);
		ASSERT_EQ(0, madvise(self->pages, size, MADV_DONTNEED));
	} else if (!variant->untouched) {
		memcpy(self->pages, pattern, size);
	}
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, mprotect(self->pages + i * self->page_size, self->page_size,
				      variant->prot[i]));

	free(pattern);
	self->ring = ring_open(_metadata, &attr, 0, -1);
}

FIXTURE_TEARDOWN(memory)
{
	ring_close(self->ring);
	munmap(self->pages, 2 * self->page_size);
	free(self->expected);
}

/* Emits @data and expects @err, or what arrives to be as @expected. */
static void expect_payload(struct __test_metadata *_metadata, struct ring *ring,
			   const char *data, const char *expected, size_t size, int err)
{
	struct uevent *uevent = &ring->record.uevent;

	EXPECT_EQ(err, emit(0, size, data));
	if (!err) {
		ASSERT_TRUE(ring_next_uevent(ring));
		EXPECT_EQ(size, uevent->size);
		EXPECT_EQ(0, memcmp(uevent->data, expected, size));
	}
	EXPECT_FALSE(ring_next(ring));
}

/* A payload may lie in memory that has to be faulted in, across two pages. */
TEST_F(memory, small_payload)
{
	size_t start = self->page_size - 32;

	expect_payload(_metadata, self->ring, self->pages + start, self->expected + start,
		       64, variant->err);
}

/* The same for one that the kernel allocates memory for. */
TEST_F(memory, large_payload)
{
	size_t start = self->page_size - 2048;

	expect_payload(_metadata, self->ring, self->pages + start, self->expected + start,
		       4096, variant->err);
}

int main(int argc, char **argv)
{
	return uevent_test_run(argc, argv);
}
