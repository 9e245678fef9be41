// SPDX-License-Identifier: GPL-2.0
/*
 * Test for userspace events: namespaces and users.
 */

#define _GNU_SOURCE

#include <grp.h>

#include "uevent_emitter.h"

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

/* Nobody in particular, as on most systems. */
#define OTHER_UID	65534
#define THIRD_UID	65533

/* A reader outside of a pid namespace finds the ids by which it knows the task. */
TEST(pid_namespace_from_outside)
{
	struct perf_event_attr attr = source_attr();
	struct emitter process;
	struct source source;
	struct ring *ring;

	if (unshare(CLONE_NEWPID))
		SKIP(return, "no pid namespace");
	start_process(_metadata, &process);
	ring = ring_open(_metadata, &attr, process.pid, -1);
	finish_emitter(_metadata, &process, true);

	source = expect_text(_metadata, ring, "emitted");
	EXPECT_EQ(process.pid, source.pid);
	EXPECT_EQ(process.pid, source.tid);
	ring_close(ring);
}

/* A reader inside finds those of the namespace, and 0 for who is not in it. */
TEST(pid_namespace_from_inside)
{
	struct perf_event_attr attr = source_attr();
	int opened[2], emitted[2], status;
	int cpu = nth_cpu(0);
	char byte;
	pid_t pid;

	run_on_cpu(_metadata, cpu);
	ASSERT_EQ(0, pipe(opened));
	ASSERT_EQ(0, pipe(emitted));
	if (unshare(CLONE_NEWPID))
		SKIP(return, "no pid namespace");

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		struct ring *ring = ring_open(_metadata, &attr, -1, cpu);
		struct source source;

		close(emitted[1]);
		EXPECT_EQ(0, emit_text("inside"));
		ASSERT_EQ(1, write(opened[1], "", 1));
		ASSERT_EQ(1, read(emitted[0], &byte, 1));

		source = expect_text(_metadata, ring, "inside");
		EXPECT_EQ(1, source.pid);
		EXPECT_EQ(1, source.tid);
		source = expect_text(_metadata, ring, "outside");
		EXPECT_EQ(0, source.pid);
		EXPECT_EQ(0, source.tid);
		_exit(_metadata->exit_code);
	}
	close(opened[1]);
	ASSERT_EQ(1, read(opened[0], &byte, 1));
	EXPECT_EQ(0, emit_text("outside"));
	ASSERT_EQ(1, write(emitted[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

static void become(uid_t uid)
{
	/* Dumpable again, so that only the user decides on who may watch. */
	if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	    prctl(PR_SET_DUMPABLE, 1))
		_exit(254);
}

static void become_third(void)
{
	become(THIRD_UID);
}

FIXTURE(unprivileged)
{
	int paranoid;
	bool changed;
	struct emitter stranger;
};

FIXTURE_VARIANT(unprivileged)
{
	enum { OWN_TASK, OWN_CHILD, STRANGER, WHOLE_CPU } target;
	bool kernel_too;
	int err;
};

FIXTURE_VARIANT_ADD(unprivileged, own_task)
{
	.target = OWN_TASK,
};

FIXTURE_VARIANT_ADD(unprivileged, own_child)
{
	.target = OWN_CHILD,
};

FIXTURE_VARIANT_ADD(unprivileged, other_users_task)
{
	.target = STRANGER,
	.err = -EACCES,
};

FIXTURE_VARIANT_ADD(unprivileged, cpu)
{
	.target = WHOLE_CPU,
	.err = -EACCES,
};

FIXTURE_VARIANT_ADD(unprivileged, own_task_with_kernel)
{
	.target = OWN_TASK,
	.kernel_too = true,
	.err = -EACCES,
};

static int read_paranoid(void)
{
	FILE *file = fopen(PARANOID, "r");
	int value;

	if (!file || fscanf(file, "%d", &value) != 1)
		value = -2;
	if (file)
		fclose(file);

	return value;
}

static bool write_paranoid(int value)
{
	FILE *file = fopen(PARANOID, "w");

	return file && fprintf(file, "%d", value) > 0 && !fclose(file);
}

FIXTURE_SETUP(unprivileged)
{
	self->paranoid = read_paranoid();
	ASSERT_NE(-2, self->paranoid);
	ASSERT_TRUE(write_paranoid(2));
	self->changed = true;
	run_on_cpu(_metadata, nth_cpu(0));

	emitter_prepare = become_third;
	start_process(_metadata, &self->stranger);
	emitter_prepare = NULL;
	become(OTHER_UID);
}

/* In the parent, which is still root. */
FIXTURE_TEARDOWN_PARENT(unprivileged)
{
	if (self->changed)
		write_paranoid(self->paranoid);
}

/*
 * To watch takes what it always took: one's own tasks without the kernel, with
 * perf_event_paranoid=2. To emit takes nothing.
 */
TEST_F(unprivileged, watch)
{
	struct perf_event_attr attr = source_attr();
	struct emitter process;
	pid_t pid = -1;
	int fd;

	attr.exclude_kernel = !variant->kernel_too;
	start_process(_metadata, &process);
	switch (variant->target) {
	case OWN_TASK:
		pid = 0;
		break;
	case OWN_CHILD:
		pid = process.pid;
		break;
	case STRANGER:
		pid = self->stranger.pid;
		break;
	case WHOLE_CPU:
		break;
	}
	fd = event_open(&attr, pid, pid == -1 ? nth_cpu(0) : -1, 0);
	if (variant->err) {
		EXPECT_EQ(variant->err, fd);
		finish_emitter(_metadata, &process, true);
	} else {
		struct ring *ring = ring_map(_metadata, fd, 1, false);

		if (variant->target == OWN_TASK)
			EXPECT_EQ(0, emit_text("emitted"));
		finish_emitter(_metadata, &process, variant->target == OWN_CHILD);
		EXPECT_EQ(pid ?: getpid(), expect_text(_metadata, ring, "emitted").pid);
		ring_close(ring);
	}
	finish_emitter(_metadata, &self->stranger, false);
}

/* What an unprivileged task emits reaches root's event. */
TEST(unprivileged_emits)
{
	struct perf_event_attr attr = source_attr();
	struct emitter process;
	struct ring *ring;

	emitter_prepare = become_third;
	start_process(_metadata, &process);
	ring = ring_open(_metadata, &attr, process.pid, -1);
	finish_emitter(_metadata, &process, true);

	EXPECT_EQ(process.pid, expect_text(_metadata, ring, "emitted").pid);
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

int main(int argc, char **argv)
{
	if (geteuid())
		skip_all("has to be run as root");

	return uevent_test_run(argc, argv);
}
