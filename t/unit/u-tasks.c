// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/tasks.h"
#include "traces.h"
#include "unit.h"

struct second {
	pthread_t thread;
	int tid, go[2], ready[2];
};

static void *wait_for_end(void *arg)
{
	struct second *s = arg;
	char c;

	s->tid = syscall(SYS_gettid);
	CHECK(write(s->ready[1], "", 1) == 1);
	CHECK(read(s->go[0], &c, 1) == 0);
	return NULL;
}

static void start_second(struct second *s)
{
	char c;

	CHECK(!pipe(s->go) && !pipe(s->ready));
	CHECK(!pthread_create(&s->thread, NULL, wait_for_end, s));
	CHECK(read(s->ready[0], &c, 1) == 1);
}

static void end_second(struct second *s)
{
	close(s->go[1]);
	pthread_join(s->thread, NULL);
	close(s->go[0]);
	close(s->ready[0]);
	close(s->ready[1]);
}

struct recording {
	struct trace_writer *w;
	struct modules modules;
	struct tasks tasks;
};

static void begin(struct recording *r)
{
	const struct trace_writer_opts o = { .compress = true };

	r->w = traces_create(&o);
	modules_init(&r->modules, r->w, false);
	tasks_init(&r->tasks, r->w, &r->modules);
}

static void end(struct recording *r)
{
	struct buf b;

	tasks_release(&r->tasks);
	modules_release(&r->modules);
	b = traces_close(r->w);
	buf_release(&b);
}

TEST(tasks_a_thread_that_proc_showed_too_early_is_of_the_new_image)
{
	struct second s;
	struct recording r;
	struct thread *leader, *th;
	int pid = getpid();

	start_second(&s);
	begin(&r);
	/* The recorder is late: what it reads of the process before the exec is what came after it. */
	leader = tasks_get(&r.tasks, pid, pid, 100);
	th = tasks_get(&r.tasks, pid, s.tid, 150);
	CHECK(th->proc == leader->proc);
	tasks_comm(&r.tasks, pid, pid, "image", true, 200);
	CHECK(tasks_find(&r.tasks, pid)->proc != leader->proc);
	CHECK(tasks_get(&r.tasks, pid, s.tid, 150) == th);
	CHECK(tasks_get(&r.tasks, pid, s.tid, 300)->proc == tasks_find(&r.tasks, pid)->proc);
	/* The record of its start comes last, and does not make it two. */
	th = tasks_find(&r.tasks, s.tid);
	CHECK(tasks_fork(&r.tasks, pid, pid, s.tid, pid, 250) == th);
	CHECK_U64(r.tasks.nr_procs, 2);
	end(&r);
	end_second(&s);
}

TEST(tasks_a_number_in_use_again_is_another_process)
{
	struct recording r;
	struct thread *th;
	int pid = getpid();

	begin(&r);
	th = tasks_fork(&r.tasks, pid + 1, pid, pid + 1, pid, 100);
	CHECK_U64(th->proc->pid, pid + 1);
	/* Its exit was lost: the number is a thread of this process now. */
	th = tasks_get(&r.tasks, pid, pid + 1, 200);
	CHECK_U64(th->proc->pid, pid);
	CHECK(tasks_get(&r.tasks, pid, pid + 1, 300) == th);
	end(&r);
}
