// SPDX-License-Identifier: GPL-2.0
/*
 * Test for userspace events: who gets them.
 */

#define _GNU_SOURCE

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "uevent_emitter.h"

enum task {
	SELF,
	THREAD,
	PROCESS,
};

FIXTURE(task)
{
	int cpu;
};

FIXTURE_VARIANT(task)
{
	enum task watched;
	enum task emitter;
	bool inherit;
	bool inherit_thread;
	bool expected;
};

FIXTURE_VARIANT_ADD(task, self)
{
	.watched = SELF,
	.emitter = SELF,
	.expected = true,
};

FIXTURE_VARIANT_ADD(task, sibling_thread)
{
	.watched = THREAD,
	.emitter = THREAD,
	.expected = true,
};

FIXTURE_VARIANT_ADD(task, other_process)
{
	.watched = PROCESS,
	.emitter = PROCESS,
	.expected = true,
};

FIXTURE_VARIANT_ADD(task, self_but_thread_emits)
{
	.watched = SELF,
	.emitter = THREAD,
};

FIXTURE_VARIANT_ADD(task, self_but_child_emits)
{
	.watched = SELF,
	.emitter = PROCESS,
};

FIXTURE_VARIANT_ADD(task, thread_but_self_emits)
{
	.watched = THREAD,
	.emitter = SELF,
};

FIXTURE_VARIANT_ADD(task, process_but_self_emits)
{
	.watched = PROCESS,
	.emitter = SELF,
};

FIXTURE_VARIANT_ADD(task, thread_inherits)
{
	.watched = SELF,
	.inherit = true,
	.emitter = THREAD,
	.expected = true,
};

FIXTURE_VARIANT_ADD(task, child_inherits)
{
	.watched = SELF,
	.inherit = true,
	.emitter = PROCESS,
	.expected = true,
};

FIXTURE_VARIANT_ADD(task, inherited_but_self_emits)
{
	.watched = SELF,
	.inherit = true,
	.emitter = SELF,
	.expected = true,
};

FIXTURE_VARIANT_ADD(task, only_threads_inherit)
{
	.watched = SELF,
	.inherit = true,
	.inherit_thread = true,
	.emitter = THREAD,
	.expected = true,
};

FIXTURE_VARIANT_ADD(task, only_threads_inherit_but_child_emits)
{
	.watched = SELF,
	.inherit = true,
	.inherit_thread = true,
	.emitter = PROCESS,
};

FIXTURE_SETUP(task)
{
	self->cpu = nth_cpu(0);
	run_on_cpu(_metadata, self->cpu);
}

FIXTURE_TEARDOWN(task)
{
}

/* The watched task's event arrives, under its ids, and nobody else's does. */
TEST_F(task, watch)
{
	struct perf_event_attr attr = source_attr();
	struct emitter thread, process;
	pid_t pid, tid, watched;
	struct ring *ring = NULL;

	attr.inherit = variant->inherit;
	attr.inherit_thread = variant->inherit_thread;

	/* What watches this task is there before others may inherit it. */
	if (variant->watched == SELF)
		ring = ring_open(_metadata, &attr, 0, variant->inherit ? self->cpu : -1);
	start_thread(_metadata, &thread);
	start_process(_metadata, &process);
	if (variant->watched != SELF) {
		watched = variant->watched == THREAD ? thread.tid : process.pid;
		ring = ring_open(_metadata, &attr, watched, -1);
	}

	if (variant->emitter == SELF)
		EXPECT_EQ(0, emit_text("emitted"));
	finish_emitter(_metadata, &thread, variant->emitter == THREAD);
	finish_emitter(_metadata, &process, variant->emitter == PROCESS);

	pid = variant->emitter == PROCESS ? process.pid : getpid();
	tid = variant->emitter == SELF ? pid :
	      variant->emitter == THREAD ? thread.tid : process.tid;
	if (variant->expected) {
		struct source source = expect_text(_metadata, ring, "emitted");

		EXPECT_EQ(pid, source.pid);
		EXPECT_EQ(tid, source.tid);
		EXPECT_EQ(self->cpu, source.cpu);
		EXPECT_EQ(event_id(ring), source.id);
	}
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

FIXTURE(cpu)
{
	int cpus[2];
};

FIXTURE_VARIANT(cpu)
{
	/* -1 for all tasks, 0 for this one. */
	pid_t pid;
	/* Index of a CPU, below. */
	int emits_on;
	int watches;
	bool expected;
};

FIXTURE_VARIANT_ADD(cpu, same)
{
	.pid = -1,
	.watches = 1,
	.emits_on = 1,
	.expected = true,
};

FIXTURE_VARIANT_ADD(cpu, another)
{
	.pid = -1,
	.watches = 1,
	.emits_on = 0,
};

FIXTURE_VARIANT_ADD(cpu, task_on_same)
{
	.pid = 0,
	.watches = 1,
	.emits_on = 1,
	.expected = true,
};

FIXTURE_VARIANT_ADD(cpu, task_on_another)
{
	.pid = 0,
	.watches = 1,
	.emits_on = 0,
};

FIXTURE_SETUP(cpu)
{
	self->cpus[0] = nth_cpu(0);
	self->cpus[1] = nth_cpu(1);
	if (self->cpus[1] < 0)
		SKIP(return, "needs two CPUs");
}

FIXTURE_TEARDOWN(cpu)
{
}

/*
 * An event on a CPU, which has no other bit set that would bring it side-band
 * records, gets what is emitted there, and only there.
 */
TEST_F(cpu, watch)
{
	struct perf_event_attr attr = source_attr();
	struct ring *ring;

	run_on_cpu(_metadata, self->cpus[variant->emits_on]);
	ring = ring_open(_metadata, &attr, variant->pid, self->cpus[variant->watches]);

	EXPECT_EQ(0, emit_text("here"));
	if (variant->expected) {
		struct source source = expect_text(_metadata, ring, "here");

		EXPECT_EQ(getpid(), source.pid);
		EXPECT_EQ(own_tid(), source.tid);
		EXPECT_EQ(self->cpus[variant->emits_on], source.cpu);
	}
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

/* A task that moves is seen by the event of the CPU that it is on. */
TEST(cpu_changes)
{
	static const char *const text[] = { "first", "second" };
	int cpus[2] = { nth_cpu(0), nth_cpu(1) };
	struct perf_event_attr attr = source_attr();
	struct ring *rings[2];
	int i;

	if (cpus[1] < 0)
		SKIP(return, "needs two CPUs");

	for (i = 0; i < 2; i++)
		rings[i] = ring_open(_metadata, &attr, -1, cpus[i]);
	for (i = 0; i < 2; i++) {
		run_on_cpu(_metadata, cpus[i]);
		EXPECT_EQ(0, emit_text(text[i]));
	}
	for (i = 0; i < 2; i++) {
		expect_text(_metadata, rings[i], text[i]);
		EXPECT_FALSE(ring_next(rings[i]));
		ring_close(rings[i]);
	}
}

FIXTURE(cgroup)
{
	char mount[32];
	char watched[64];
	char child[64];
	char other[64];
	char controller[32];
	bool mounted;
};

FIXTURE_VARIANT(cgroup)
{
	enum { WATCHED, BELOW_IT, ANOTHER, UNMOVED } place;
	bool expected;
};

FIXTURE_VARIANT_ADD(cgroup, watched)
{
	.place = WATCHED,
	.expected = true,
};

FIXTURE_VARIANT_ADD(cgroup, below_it)
{
	.place = BELOW_IT,
	.expected = true,
};

FIXTURE_VARIANT_ADD(cgroup, another)
{
	.place = ANOTHER,
};

FIXTURE_VARIANT_ADD(cgroup, unmoved)
{
	.place = UNMOVED,
};

static void make_group(struct __test_metadata *_metadata, char path[64], const char *parent,
		       const char *name)
{
	snprintf(path, 64, "%.40s/%s", parent, name);
	ASSERT_EQ(0, mkdir(path, 0755)) {
		TH_LOG("%s: %s", path, strerror(errno));
	}
}

static bool read_word(const char *dir, const char *name, char word[32])
{
	char path[80];
	FILE *file;
	bool found;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	if (!file)
		return false;
	found = fscanf(file, "%31s", word) == 1;
	fclose(file);

	return found;
}

static bool write_words(const char *dir, const char *name, const char *first, const char *second)
{
	char path[80];
	bool written;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file)
		return false;
	written = fprintf(file, "%s%s", first, second) > 0;

	return !fclose(file) && written;
}

/*
 * The groups of cgroup2 have events, unasked, but only once some controller was
 * asked for. Returns its name if it took that.
 */
static void use_controller(const char *mount, char controller[32])
{
	char used[32];

	if (!read_word(mount, "cgroup.subtree_control", used) &&
	    read_word(mount, "cgroup.controllers", controller))
		write_words(mount, "cgroup.subtree_control", "+", controller);
}

FIXTURE_SETUP(cgroup)
{
	char name[16];

	if (unshare(CLONE_NEWNS))
		SKIP(return, "not allowed to mount");
	ASSERT_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
	snprintf(self->mount, sizeof(self->mount), "/tmp/uevent_test.XXXXXX");
	ASSERT_TRUE(!!mkdtemp(self->mount));
	if (mount("none", self->mount, "cgroup2", 0, NULL)) {
		rmdir(self->mount);
		SKIP(return, "no cgroup2");
	}
	self->mounted = true;
	use_controller(self->mount, self->controller);

	snprintf(name, sizeof(name), "uevent%d", getpid());
	make_group(_metadata, self->watched, self->mount, name);
	make_group(_metadata, self->child, self->watched, "child");
	strcat(name, "b");
	make_group(_metadata, self->other, self->mount, name);
}

FIXTURE_TEARDOWN(cgroup)
{
	if (!self->mounted)
		return;
	rmdir(self->child);
	rmdir(self->watched);
	rmdir(self->other);
	if (self->controller[0])
		write_words(self->mount, "cgroup.subtree_control", "-", self->controller);
	umount(self->mount);
	rmdir(self->mount);
}

/* An event on a cgroup gets what its tasks emit, and those of the groups below. */
TEST_F(cgroup, watch)
{
	const char *const path[] = {
		[WATCHED]	= self->watched,
		[BELOW_IT]	= self->child,
		[ANOTHER]	= self->other,
	};
	struct perf_event_attr attr = source_attr();
	struct emitter process;
	int cpu = nth_cpu(0);
	struct ring *ring;
	int fd, group;
	char pid[16];

	run_on_cpu(_metadata, cpu);
	group = open(self->watched, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_LE(0, group);

	attr.uevent = 0;
	fd = event_open(&attr, group, cpu, PERF_FLAG_PID_CGROUP);
	if (fd < 0)
		SKIP(return, "no events for cgroup2: %s", strerror(-fd));
	close(fd);
	attr.uevent = 1;
	ring = ring_map(_metadata, event_open(&attr, group, cpu, PERF_FLAG_PID_CGROUP),
			1, false);

	start_process(_metadata, &process);
	snprintf(pid, sizeof(pid), "%d", process.pid);
	if (variant->place != UNMOVED)
		ASSERT_TRUE(write_words(path[variant->place], "cgroup.procs", pid, ""));
	finish_emitter(_metadata, &process, true);

	if (variant->expected)
		EXPECT_EQ(process.pid, expect_text(_metadata, ring, "emitted").pid);
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
	close(group);
}

/* An event gets records only while it is enabled. */
TEST(enabled_by_ioctl)
{
	struct perf_event_attr attr = source_attr();
	struct ring *ring;

	attr.disabled = 1;
	ring = ring_open(_metadata, &attr, 0, -1);
	EXPECT_EQ(0, emit_text("before"));
	EXPECT_FALSE(ring_next(ring));

	ASSERT_EQ(0, ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0));
	EXPECT_EQ(0, emit_text("while"));
	expect_text(_metadata, ring, "while");

	ASSERT_EQ(0, ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0));
	EXPECT_EQ(0, emit_text("after"));
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

/* Nor while a task has turned its events off. */
TEST(enabled_by_prctl)
{
	struct perf_event_attr attr = source_attr();
	struct ring *ring = ring_open(_metadata, &attr, 0, -1);

	ASSERT_EQ(0, prctl(PR_TASK_PERF_EVENTS_DISABLE));
	EXPECT_EQ(0, emit_text("off"));
	EXPECT_FALSE(ring_next(ring));

	ASSERT_EQ(0, prctl(PR_TASK_PERF_EVENTS_ENABLE));
	EXPECT_EQ(0, emit_text("on"));
	expect_text(_metadata, ring, "on");
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

static void emit_and_exec(int order)
{
	char byte;

	if (read(order, &byte, 1) != 1)
		_exit(1);
	if (emit_text("before exec"))
		_exit(2);
	execl("/proc/self/exe", "exec_child", NULL);
	_exit(3);
}

static int exec_child(void)
{
	return -emit_text("after exec");
}

/* With enable_on_exec, records start with the new program. */
TEST(enabled_on_exec)
{
	struct perf_event_attr attr = source_attr();
	int order[2], status;
	struct ring *ring;
	pid_t pid;

	ASSERT_EQ(0, pipe(order));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		close(order[1]);
		emit_and_exec(order[0]);
	}

	attr.disabled = 1;
	attr.enable_on_exec = 1;
	ring = ring_open(_metadata, &attr, pid, -1);
	ASSERT_EQ(1, write(order[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, status);

	EXPECT_EQ(pid, expect_text(_metadata, ring, "after exec").pid);
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

/*
 * Each watcher gets one copy, and goes on getting one when another is gone;
 * once all are, payloads are not looked at any more.
 */
TEST(two_watchers)
{
	struct perf_event_attr attr = source_attr();
	struct ring *rings[2];

	for (int i = 0; i < 2; i++)
		rings[i] = ring_open(_metadata, &attr, 0, -1);

	EXPECT_EQ(0, emit_text("to both"));
	for (int i = 0; i < 2; i++) {
		struct source source = expect_text(_metadata, rings[i], "to both");

		EXPECT_EQ(event_id(rings[i]), source.id);
		EXPECT_FALSE(ring_next(rings[i]));
	}

	ring_close(rings[0]);
	EXPECT_EQ(0, emit_text("to one"));
	expect_text(_metadata, rings[1], "to one");
	EXPECT_FALSE(ring_next(rings[1]));

	ring_close(rings[1]);
	EXPECT_EQ(0, emit(PERF_UEVENT_TYPE_TEXT, 1, NULL));
}

/* However many others come and go, a watcher gets each event. */
TEST(many_watchers)
{
	struct perf_event_attr attr = source_attr();
	struct ring *ring = ring_open(_metadata, &attr, 0, -1);
	int fds[64];

	for (int i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = event_open(&attr, 0, -1, 0);
		ASSERT_LE(0, fds[i]);
		EXPECT_EQ(0, emit_text("come"));
		expect_text(_metadata, ring, "come");
	}
	for (int i = 0; i < ARRAY_SIZE(fds); i++) {
		close(fds[i]);
		EXPECT_EQ(0, emit_text("gone"));
		expect_text(_metadata, ring, "gone");
	}
	EXPECT_FALSE(ring_next(ring));
	ring_close(ring);
}

/* Watchers that differ in their sample_id each get the record that they asked for. */
TEST(different_watchers)
{
	struct perf_event_attr attr = source_attr(), plain = uevent_attr();
	struct ring *rings[3];

	rings[0] = ring_open(_metadata, &plain, 0, -1);
	rings[1] = ring_open(_metadata, &attr, 0, -1);
	rings[2] = ring_open(_metadata, &plain, 0, -1);

	EXPECT_EQ(0, emit_text("16 bytes of text"));
	expect_text(_metadata, rings[1], "16 bytes of text");
	for (int i = 0; i < 3; i += 2) {
		ASSERT_TRUE(ring_next_uevent(rings[i]));
		EXPECT_EQ(sizeof(struct uevent) + 16, rings[i]->record.header.size);
		EXPECT_FALSE(ring_next(rings[i]));
	}
	for (int i = 0; i < 3; i++)
		ring_close(rings[i]);
}

/* An event without the bit gets none, beside one with it and alone. */
TEST(bit_not_set)
{
	struct perf_event_attr attr = source_attr();
	struct ring *with, *without;

	with = ring_open(_metadata, &attr, 0, -1);
	attr.uevent = 0;
	attr.comm = 1;
	without = ring_open(_metadata, &attr, 0, -1);

	EXPECT_EQ(0, emit_text("text"));
	expect_text(_metadata, with, "text");
	EXPECT_FALSE(ring_next(without));

	ring_close(with);
	EXPECT_EQ(0, emit_text("text"));
	EXPECT_FALSE(ring_next(without));
	ring_close(without);
}

int main(int argc, char **argv)
{
	if (!strcmp(argv[0], "exec_child"))
		return exec_child();
	if (geteuid())
		skip_all("has to be run as root");

	return uevent_test_run(argc, argv);
}
