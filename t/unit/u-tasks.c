// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/engine/tasks.h"
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

enum { SHELL = 5000000, FIRST = 5000001 };	/* numbers that no process has */

static const uint64_t second = 1000000000;

/*
 * A shell that starts n programs, one every 10 ms, each of which lives for 5 ms; what is late is
 * forgotten.
 */
static uint64_t run_programs(struct recording *r, int n, uint64_t now, size_t *most)
{
	int i;

	*most = 0;
	tasks_fork(&r->tasks, SHELL, 1, SHELL, 1, now);
	for (i = 0; i < n; i++, now += second / 100) {
		int pid = FIRST + i % 1000;	/* numbers come again */

		tasks_fork(&r->tasks, pid, SHELL, pid, SHELL, now);
		tasks_comm(&r->tasks, pid, pid, "program", true, now + 1000);
		tasks_exit(&r->tasks, pid, pid, now + second / 200);
		tasks_forget(&r->tasks, now);
		if (r->tasks.nr_all > *most)
			*most = r->tasks.nr_all;
	}
	return now;
}

static size_t nr_procs(const struct tasks *t)
{
	const struct proc *p;
	size_t nr = 0;

	for (p = t->procs; p; p = p->next)
		nr++;
	return nr;
}

TEST(tasks_that_ended_long_ago_are_forgotten)
{
	struct recording r;
	uint64_t now;
	size_t most;

	begin(&r);
	now = run_programs(&r, 20000, second, &most);
	/* Two seconds' worth of threads, before and after their exec, and as many until it pays. */
	CHECK(most < 2000);
	CHECK(nr_procs(&r.tasks) < 2000);
	CHECK_U64(r.tasks.nr_procs, 40002);	/* the parent of all was found in /proc */
	CHECK(tasks_find(&r.tasks, SHELL));
	CHECK(!tasks_find(&r.tasks, FIRST));
	CHECK(!tasks_any(&r.tasks, FIRST));
	/* What ended just now is still there. */
	CHECK_STR(tasks_any(&r.tasks, FIRST + 999)->comm, "program");
	CHECK(tasks_any(&r.tasks, FIRST + 999)->dead_ns + second > now);
	end(&r);
}

TEST(tasks_keep_what_is_held_and_what_a_live_one_was)
{
	enum { HELD = SHELL + 100000, EXECED };
	struct recording r;
	struct thread *before, *held;
	struct proc *p;
	uint64_t now;
	size_t most;

	begin(&r);
	before = tasks_fork(&r.tasks, EXECED, 1, EXECED, 1, 10);
	tasks_comm(&r.tasks, EXECED, EXECED, "image", true, 20);
	held = tasks_fork(&r.tasks, HELD, 1, HELD, 1, 10);
	p = held->proc;
	p->nr_thread_holders++;
	tasks_exit(&r.tasks, HELD, HELD, 20);
	now = run_programs(&r, 3000, second, &most);
	CHECK(tasks_find(&r.tasks, EXECED)->older == before);
	CHECK(tasks_any(&r.tasks, HELD) == held && held->proc == p);
	p->nr_thread_holders--;
	tasks_exit(&r.tasks, EXECED, EXECED, now);
	run_programs(&r, 3000, now, &most);
	CHECK(!tasks_any(&r.tasks, HELD) && !tasks_any(&r.tasks, EXECED));
	end(&r);
}

/* A thread of a JVM ends in it; what is left of it 10 and 60 s later. */
static void end_in_jvm(bool keeps, bool *soon, bool *later)
{
	enum { JVM = SHELL + 200000, ENDS };
	struct recording r;
	uint64_t now;
	size_t most;

	begin(&r);
	r.tasks.keeps_ended = keeps;
	tasks_fork(&r.tasks, JVM, 1, JVM, 1, 10)->proc->nr_holders++;
	tasks_fork(&r.tasks, JVM, JVM, ENDS, JVM, 10);
	tasks_exit(&r.tasks, JVM, ENDS, second);
	now = run_programs(&r, 1000, second, &most);
	*soon = tasks_any(&r.tasks, ENDS);
	run_programs(&r, 5000, now, &most);
	*later = tasks_any(&r.tasks, ENDS);
	CHECK(tasks_find(&r.tasks, JVM));
	tasks_find(&r.tasks, JVM)->proc->nr_holders--;
	end(&r);
}

TEST(tasks_that_ended_in_a_jvm_are_forgotten_later)
{
	bool soon, later;

	end_in_jvm(false, &soon, &later);
	CHECK(soon && !later);
	end_in_jvm(true, &soon, &later);
	CHECK(soon && later);
}

/* Whoever asks to take part is identified by number and time of start. */
TEST(tasks_a_leader_is_the_process_that_was_seen)
{
	const uint64_t second_ns = 1000000000;
	struct recording r;
	struct thread *th;
	int pid = getpid();

	begin(&r);
	CHECK(!tasks_leader(&r.tasks, pid + 1, 0));
	th = tasks_fork(&r.tasks, pid + 1, pid, pid + 1, pid, 10 * second_ns);
	CHECK(tasks_leader(&r.tasks, pid + 1, 10 * second_ns + 9999999) == th);	/* ticks of 10 ms */
	/* Its exit was lost, and an outsider has the number. */
	CHECK(!tasks_leader(&r.tasks, pid + 1, 11 * second_ns));
	/* A thread is not a process; an exec keeps the time of the start. */
	tasks_fork(&r.tasks, pid + 1, pid + 1, pid + 2, pid + 1, 12 * second_ns);
	CHECK(!tasks_leader(&r.tasks, pid + 2, 12 * second_ns));
	tasks_comm(&r.tasks, pid + 1, pid + 1, "image", true, 20 * second_ns);
	th = tasks_leader(&r.tasks, pid + 1, 10 * second_ns);
	CHECK(th && th->proc->execed);
	tasks_exit(&r.tasks, pid + 1, pid + 1, 30 * second_ns);
	CHECK(!tasks_leader(&r.tasks, pid + 1, 10 * second_ns));
	end(&r);
}

/* Who ends a wait may be of the kernel, or of another program; others start processes meanwhile. */
TEST(tasks_know_who_descends_from_the_program)
{
	struct recording r;
	int pid = getpid(), other = getppid();

	begin(&r);
	r.tasks.program = pid;
	CHECK(!tasks_get(&r.tasks, pid, pid, 100)->proc->descends);
	CHECK(!tasks_get(&r.tasks, other, other, 100)->proc->descends);
	CHECK(tasks_fork(&r.tasks, pid + 1, pid, pid + 1, pid, 200)->proc->descends);
	CHECK(tasks_fork(&r.tasks, pid + 2, pid + 1, pid + 2, pid + 1, 300)->proc->descends);
	CHECK(!tasks_fork(&r.tasks, pid + 3, other, pid + 3, other, 300)->proc->descends);
	tasks_comm(&r.tasks, pid + 1, pid + 1, "image", true, 400);
	CHECK(tasks_find(&r.tasks, pid + 1)->proc->descends);
	tasks_comm(&r.tasks, pid + 3, pid + 3, "image", true, 400);
	CHECK(!tasks_find(&r.tasks, pid + 3)->proc->descends);
	end(&r);
}

/* What an agent says of a thread that is another process's costs that process nothing. */
TEST(tasks_an_agent_cannot_take_another_process_s_thread)
{
	struct thread *theirs, *ours;
	struct recording r;
	/* pid + 1 may be a thread of an emulator */
	int pid = getpid(), other = getppid();

	begin(&r);
	ours = tasks_get(&r.tasks, pid, pid, 100);
	theirs = tasks_fork(&r.tasks, other, pid, other, pid, 100);
	CHECK(tasks_get_at(&r.tasks, ours->proc, other, 200) == ours);
	CHECK(tasks_find(&r.tasks, other) == theirs && !theirs->dead);
	end(&r);
}

TEST(tasks_descent_is_read_from_proc)
{
	CHECK(tasks_descends(getpid(), getpid()) && tasks_descends(getpid(), getppid()));
	CHECK(!tasks_descends(getppid(), getpid()) && !tasks_descends(getpid(), 0) && !tasks_descends(1, 0));
}

TEST(tasks_virtual_threads_are_forgotten_with_their_process_and_by_their_last_use)
{
	struct map procs = MAP_INIT;
	struct recording r;
	struct proc *one, *two;
	uint32_t fixed, other;
	uint64_t i;

	begin(&r);
	one = tasks_get(&r.tasks, getpid(), getpid(), 1)->proc;
	two = tasks_fork(&r.tasks, 1 << 22, getpid(), 1 << 22, getpid(), 2)->proc;
	fixed = tasks_pseudo(&r.tasks, one, ~0ull, "[nobody]", 3);
	other = tasks_virtual(&r.tasks, two, 7, "seven", 4);
	for (i = 1; i <= 100; i++)
		tasks_virtual(&r.tasks, one, i, NULL, 10 + i);
	tasks_virtual(&r.tasks, one, 1, NULL, 1000);		/* again, and last of all */
	*map_put(&procs, one->id) = 1;
	*map_put(&procs, two->id) = 1;
	tasks_forget_virtual(&r.tasks, &procs, 102);
	CHECK_U64(r.tasks.nr_virtuals, 102);
	tasks_forget_virtual(&r.tasks, &procs, 100);
	CHECK_U64(r.tasks.nr_virtuals, 51);			/* half of 100, and the one that stays */
	CHECK_U64(tasks_find_virtual(&r.tasks, one->id, ~0ull), fixed);
	CHECK(tasks_find_virtual(&r.tasks, one->id, 1));
	CHECK(!tasks_find_virtual(&r.tasks, one->id, 2));
	CHECK(tasks_find_virtual(&r.tasks, one->id, 100));
	CHECK(!tasks_find_virtual(&r.tasks, two->id, 7));
	CHECK(tasks_virtual(&r.tasks, two, 7, NULL, 2000) > other);
	map_reset(&procs);
	*map_put(&procs, two->id) = 1;
	tasks_forget_virtual(&r.tasks, &procs, 100);
	CHECK_U64(r.tasks.nr_virtuals, 1);
	CHECK(!tasks_find_virtual(&r.tasks, one->id, ~0ull));
	CHECK(tasks_find_virtual(&r.tasks, two->id, 7));
	map_release(&procs);
	end(&r);
}

TEST(tasks_know_who_has_ended_though_its_record_was_lost)
{
	struct second s = { .tid = 0 };
	struct recording r;
	int pid = getpid();

	begin(&r);
	start_second(&s);
	tasks_get(&r.tasks, pid, pid, 10);
	tasks_get(&r.tasks, pid, s.tid, 10);
	tasks_look_again(&r.tasks, 20);
	CHECK(tasks_find(&r.tasks, pid) && tasks_find(&r.tasks, s.tid));
	end_second(&s);
	while (!syscall(SYS_tgkill, pid, s.tid, 0))	/* joined is a moment before it is gone */
		usleep(1000);
	tasks_look_again(&r.tasks, 30);
	CHECK(tasks_find(&r.tasks, pid));
	CHECK(!tasks_find(&r.tasks, s.tid));
	end(&r);
}
