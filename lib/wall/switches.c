// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * switches.c - fills slots from records of switches (switches.h).
 *
 * Invariants:
 *  [1] what is in a slot's totals stays there: time off CPUs goes into them when it is known how much of it
 *      was waiting for a CPU;
 *  [2] the states of a slot follow each other without a gap, whatever records are missing, and a record that
 *      is older than the state counts as being of its beginning.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "wall/inner.h"
#include "wall/slots.h"
#include "wall/switches.h"
#include "wall/syscalls.h"

enum { MOST_OPEN = 1 << 16 };

/* ---- memory ---- */

/* Open shared memory that others can only read. */
static void *open_shared(const char *name, size_t bytes, int *fd)
{
	void *p = MAP_FAILED;

	*fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd >= 0 && !ftruncate(*fd, bytes))
		p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (!fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
		return p;
	munmap(p, bytes);
	return NULL;
}

/* Return half of what may be open at once, as others need some. */
static size_t most_open(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_NOFILE, &r) ? 0 : MIN(r.rlim_cur / 2, (rlim_t)MOST_OPEN);
}

static void close_files(struct switches *s, struct thread *t)
{
	int i;

	for (i = 0; i < NR_PROC_FILES; i++) {
		if (!t->files.fd[i])
			continue;
		close(t->files.fd[i]);
		s->nr_open--;
	}
	t->files = (struct proc_files){ .known = false };
}

int wall_open_switches(struct wall **wall, const struct wall_opts *o, struct err *e)
{
	struct wall *w = xcalloc(1, sizeof(*w));
	struct switches *s = w->switches = xcalloc(1, sizeof(*s));

	w->nr_slots = o->nr_slots ? o->nr_slots : WALL_DEFAULT_SLOTS;
	s->long_ns = o->interval_ns / 2;
	s->most_open = most_open();
	w->slots_fd = w->stamps_fd = w->marks_fd = -1;
	w->control = xcalloc(1, sizeof(*w->control));
	w->control->next_slot = 1;
	s->threads = xcalloc(w->nr_slots, sizeof(*s->threads));
	w->slots = s->slots = open_shared("arcprof-wall-slots", w->nr_slots * sizeof(*s->slots),
					  &w->slots_fd);
	w->stamps = s->stamps = open_shared("arcprof-wall-stamps", w->nr_slots * sizeof(*s->stamps),
					    &w->stamps_fd);
	*wall = w;
	if (s->slots && s->stamps)
		return 0;
	err_errno(e, "memory for the states of threads");
	wall_close(w);
	*wall = NULL;
	return -e->code;
}

void switches_close(struct wall *w)
{
	struct switches *s = w->switches;
	uint32_t i;

	for (i = 1; i < w->control->next_slot; i++)
		close_files(s, &s->threads[i]);
	if (s->slots)
		munmap(s->slots, w->nr_slots * sizeof(*s->slots));
	if (s->stamps)
		munmap(s->stamps, w->nr_slots * sizeof(*s->stamps));
	if (w->slots_fd >= 0)
		close(w->slots_fd);
	if (w->stamps_fd >= 0)
		close(w->stamps_fd);
	map_release(&s->by_tid);
	free(s->threads);
	free(s->free);
	free(s);
	free(w->control);
}

/* ---- /proc ---- */

static int open_proc(int pid, int tid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Read from the beginning; return the bytes read, at least one, or -errno. */
static int switches_read_text(int fd, char *text, size_t size)
{
	ssize_t len = pread(fd, text, size - 1, 0);

	text[MAX(len, (ssize_t)0)] = '\0';
	return len < 0 ? -errno : len ? (int)len : -ESRCH;
}

int slots_read_proc(int pid, int tid, const char *name, char *text, size_t size)
{
	int fd = open_proc(pid, tid, name), r;

	if (fd < 0)
		return fd;
	r = switches_read_text(fd, text, size);
	close(fd);
	return r;
}

static int switches_read_file(const struct asked *a, const struct wall_slot *s, enum proc_file file,
			      char *text, size_t size)
{
	static const char *const names[] = { "schedstat", "syscall", "wchan" };
	int *fd = a ? &a->thread->files.fd[file] : NULL, r;

	if (!a || (!*fd && (!a->thread->files.known || a->switches->nr_open >= a->switches->most_open)))
		return slots_read_proc(s->pid, s->tid, names[file], text, size);
	if (!*fd) {
		r = open_proc(s->pid, s->tid, names[file]);
		if (r <= 0)
			return r ? r : -EBADF;
		*fd = r;
		a->switches->nr_open++;
	}
	return switches_read_text(*fd, text, size);
}

int slots_read_counts(const struct asked *a, const struct wall_slot *s, struct run_counts *counts)
{
	unsigned long long ran, waited, runs;
	char text[96];

	if (switches_read_file(a, s, PROC_SCHEDSTAT, text, sizeof(text)) < 0 ||
	    sscanf(text, "%llu %llu %llu", &ran, &waited, &runs) != 3)
		return -ESRCH;
	*counts = (struct run_counts){ .ran_ns = ran, .waited_ns = waited, .nr_runs = runs };
	return 0;
}

/* Get how long it waited for CPUs so far; return false if it has ended, or the kernel does not count that. */
static bool read_delay(const struct asked *a, const struct wall_slot *s, uint64_t *ns)
{
	struct run_counts counts;

	if (slots_read_counts(a, s, &counts))
		return false;
	*ns = counts.waited_ns;
	return true;
}

/* We have been given a CPU before: where that is counted, it is not 0 times. */
bool wall_counts_delays(void)
{
	unsigned long long ran, waited, times;
	char text[96];

	return slots_read_proc(getpid(), getpid(), "schedstat", text, sizeof(text)) > 0 &&
	       sscanf(text, "%llu %llu %llu", &ran, &waited, &times) == 3 && times;
}

/* Return the state as one letter, after the name, which may be anything. */
static char read_state(int pid, int tid)
{
	char text[512], *end;

	if (slots_read_proc(pid, tid, "stat", text, sizeof(text)) < 0)
		return '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : '\0';
}

enum wall_class wall_class_of_call(int nr)
{
	const struct wall_syscall *call = wall_syscall(nr);

	return nr < 0 ? WALL_CLASS_FAULT : call ? call->class : WALL_CLASS_OTHER;
}

/* Read memory where a container's system call filter forbids process_vm_readv(2). */
static ssize_t read_mem(int pid, uint64_t addr, void *buf, size_t len)
{
	char path[32];
	ssize_t r;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = pread(fd, buf, len, (off_t)addr);
	r = r < 0 ? -errno : r;
	close(fd);
	return r;
}

ssize_t wall_read_memory(int pid, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)addr, len };
	ssize_t r = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (r >= 0)
		return r;
	return errno == EPERM || errno == ENOSYS ? read_mem(pid, addr, buf, len) : -errno;
}

/* Replace a list of one file by that file, as BPF does. */
static void read_list(struct wall_slot *copy)
{
	const struct wall_syscall *call = wall_syscall(copy->syscall);
	uint32_t file;

	if (!call || call->files != WALL_LIST || copy->args[1] != 1)
		return;
	if (wall_read_memory(copy->pid, copy->args[0], &file, sizeof(file)) == sizeof(file))
		copy->args[0] = file;
	else
		copy->args[1] = 0;
}

/* "202 0x7f.. (six arguments) SP PC", "-1 SP PC", or "running". */
static int ask_kernel(const struct asked *a, struct wall_slot *copy)
{
	char text[256], *p = text, *next;
	uint64_t word[9];
	int nr = 0, r = switches_read_file(a, copy, PROC_SYSCALL, text, sizeof(text));

	if (r == -EPERM || r == -EACCES)
		return -EACCES;
	if (r < 0 || text[0] == 'r')
		return -EAGAIN;
	copy->syscall = strtol(p, &next, 10);
	for (p = next; nr < (int)ARRAY_SIZE(word) - 1; p = next) {
		word[nr] = strtoull(p, &next, 16);
		if (next == p)
			break;
		nr++;
	}
	if (nr != 2 && nr != 8)
		return -EAGAIN;
	memset(copy->args, 0, sizeof(copy->args));
	memcpy(copy->args, word, nr == 8 ? sizeof(copy->args) : 0);
	read_list(copy);
	copy->regs = (struct wall_regs){ .sp = word[nr - 2], .pc = word[nr - 1] };
	copy->class = wall_class_of_call(copy->syscall);
	/* the call that a signal interrupted to stop it is still there */
	if (switches_read_file(a, copy, PROC_WCHAN, text, sizeof(text)) > 0 &&
	    (!strcmp(text, "do_signal_stop") || !strcmp(text, "ptrace_stop")))
		copy->class = WALL_CLASS_STOPPED;
	return 0;
}

void wall_ask_where(struct wall_slot *copy)
{
	static const struct { const char *in; enum wall_class class; } where[] = {
		{ "futex", WALL_CLASS_FUTEX }, { "nanosleep", WALL_CLASS_SLEEP }, { "poll", WALL_CLASS_POLL },
		{ "select", WALL_CLASS_POLL }, { "do_wait", WALL_CLASS_CHILD },
		{ "do_signal_stop", WALL_CLASS_STOPPED }, { "ptrace_stop", WALL_CLASS_STOPPED },
		{ "sigsuspend", WALL_CLASS_SIGNAL }, { "sigtimedwait", WALL_CLASS_SIGNAL },
		{ "pipe_read", WALL_CLASS_READ },
	};
	char text[256];
	size_t i;

	copy->syscall = -1;
	copy->class = WALL_CLASS_OTHER;
	if (switches_read_file(NULL, copy, PROC_WCHAN, text, sizeof(text)) <= 0)
		return;
	for (i = 0; i < ARRAY_SIZE(where); i++) {
		if (!strstr(text, where[i].in))
			continue;
		copy->class = where[i].class;
		return;
	}
}

int wall_ask_kernel(struct wall_slot *copy)
{
	return ask_kernel(NULL, copy);
}

int wall_ask_again(struct wall *w, uint32_t slot, struct wall_slot *copy)
{
	struct asked a = { w->switches, &w->switches->threads[slot] };
	int r = ask_kernel(&a, copy);

	a.thread->files.known = true;
	return r;
}

/* ---- slots ---- */

uint32_t wall_slot_of(const struct wall *w, int tid)
{
	uint32_t slot = map_get(&w->switches->by_tid, (uint32_t)tid);

	return slot == MAP_NONE ? 0 : slot;
}

static struct wall_slot *switches_slot_of(const struct wall *w, int tid, uint32_t *slot)
{
	*slot = wall_slot_of(w, tid);
	return *slot ? &w->switches->slots[*slot] : NULL;
}

void slots_stamp(struct wall *w, uint32_t slot)
{
	store_relaxed(&w->switches->stamps[slot], clock_mono_ns());
}

static uint32_t switches_take(struct wall *w)
{
	struct switches *s = w->switches;

	if (s->nr_free)
		return s->free[--s->nr_free];
	if (w->control->next_slot < w->nr_slots)
		return w->control->next_slot++;
	w->control->nr_refused++;
	return 0;
}

void switches_give_back(struct wall *w, uint32_t slot)
{
	struct switches *s = w->switches;

	*VEC_ADD(s->free, s->nr_free, s->alloc_free) = slot;
}

/* Return the process's own number: the last of "NSpid:\t4711\t17". */
static uint32_t own_number(int pid, int tid)
{
	char text[4096], *line, *end, *last;

	if (slots_read_proc(pid, tid, "status", text, sizeof(text)) < 0 || !(line = strstr(text, "\nNSpid:")))
		return tid;
	end = strchr(line + 1, '\n');
	if (end)
		*end = '\0';
	last = strrchr(line, '\t');
	return last ? strtoul(last + 1, NULL, 10) : (unsigned long)tid;
}

/* Set the numbers; if the first thread is in no namespace of its own, nor are the others. */
static void name_slot(const struct wall *w, struct wall_slot *s)
{
	uint32_t leader = s->tid == s->pid ? 0 : wall_slot_of(w, s->pid);

	if (leader && w->slots[leader].own_pid == s->pid) {
		s->own_tid = s->tid;
		s->own_pid = s->pid;
	} else {
		s->own_pid = own_number(s->pid, s->pid);
		s->own_tid = s->tid == s->pid ? s->own_pid : own_number(s->pid, s->tid);
	}
}

static struct wall_slot *new_slot(struct wall *w, int pid, int tid, uint32_t *slot, uint64_t time_ns)
{
	struct switches *x = w->switches;
	struct wall_slot *s;
	uint32_t nr;

	*slot = switches_take(w);
	if (!*slot)
		return NULL;
	s = &x->slots[*slot];
	nr = (s->block_nr + 3) & ~1u;
	*s = (struct wall_slot){
		.tid = tid, .pid = pid, .block_nr = nr, .syscall = -1,
		.since_ns = time_ns, .born_ns = time_ns, .state = WALL_NEW,
	};
	name_slot(w, s);
	close_files(x, &x->threads[*slot]);
	x->threads[*slot] = (struct thread){ .nr_past = 0 };
	*map_put(&x->by_tid, (uint32_t)tid) = *slot;
	return s;
}

void wall_thread_begins(struct wall *w, int pid, int tid, uint64_t time_ns)
{
	struct wall_slot *s;
	uint32_t slot;

	wall_thread_ends(w, tid, time_ns);	/* the end of the number's previous thread was not reported */
	s = new_slot(w, pid, tid, &slot, time_ns);
	if (!s)
		return;
	store_release(&s->state, WALL_PREEMPTED);
	slots_stamp(w, slot);
}

static void set_state(struct wall_slot *s, enum wall_state state, uint64_t time_ns)
{
	s->since_ns = time_ns;
	if (state == WALL_BLOCKED) {
		s->syscall = -1;
		s->class = WALL_CLASS_OTHER;
		s->regs = (struct wall_regs){ .pc = 0 };
		store_release(&s->block_nr, s->block_nr + 1);
	}
	store_release(&s->state, state);
}

void wall_thread_found(struct wall *w, int pid, int tid)
{
	uint64_t now_ns = clock_mono_ns();	/* before its state: a record in between agrees with it */
	struct wall_slot *s;
	uint32_t slot;
	char state;

	if (wall_slot_of(w, tid))
		return;
	s = new_slot(w, pid, tid, &slot, now_ns);
	if (!s)
		return;
	read_delay(NULL, s, &w->switches->threads[slot].delay_ns);
	state = read_state(pid, tid);
	set_state(s, state && state != 'R' ? WALL_BLOCKED : WALL_ON_CPU, now_ns);
	if (w->switches->polls)
		polls_begin(w, slot, now_ns);
	slots_stamp(w, slot);
}

static void switches_end_block(struct wall *w, struct wall_slot *s, struct thread *t, uint64_t time_ns)
{
	uint64_t len = time_ns - s->since_ns;

	t->off_ns += len;
	t->nr_off++;
	if (len >= w->switches->long_ns || s->since_ns < w->look_ns)
		t->past[t->nr_past++ % NR_PAST] = (struct wall_block){
			.nr = s->block_nr, .since_ns = s->since_ns, .end_ns = time_ns,
		};
	s->nr_blocks++;
	s->woken_ns = time_ns;
	store_release(&s->block_nr, s->block_nr + 1);
}

/* End the state at time_ns. */
static void close_state(struct wall *w, struct wall_slot *s, uint32_t slot, uint64_t time_ns)
{
	struct thread *t = &w->switches->threads[slot];
	uint64_t len = time_ns - s->since_ns;

	switch (s->state) {
	case WALL_ON_CPU:
		s->cpu_ns += len;
		break;
	case WALL_BLOCKED:
		switches_end_block(w, s, t, time_ns);
		break;
	default:
		s->preempted_ns += len;
		t->preempted_ns += len;
	}
}

static void switches_change(struct wall *w, int tid, enum wall_state state, uint64_t time_ns)
{
	struct wall_slot *s;
	uint32_t slot;

	s = switches_slot_of(w, tid, &slot);
	if (!s)
		return;
	time_ns = MAX(time_ns, s->since_ns);	/* [2] */
	close_state(w, s, slot, time_ns);
	set_state(s, state, time_ns);
	slots_stamp(w, slot);
}

void wall_switch_out(struct wall *w, int tid, bool preempted, uint64_t time_ns)
{
	switches_change(w, tid, preempted ? WALL_PREEMPTED : WALL_BLOCKED, time_ns);
}

void wall_switch_in(struct wall *w, int tid, uint64_t time_ns)
{
	switches_change(w, tid, WALL_ON_CPU, time_ns);
}

/* Of what is not in the totals, owed_ns was waiting for a CPU, after each block alike. [1] */
void slots_settle(struct wall *w, uint32_t slot)
{
	struct thread *t = &w->switches->threads[slot];
	struct wall_slot *s = &w->switches->slots[slot];
	uint64_t queued = MIN(t->owed_ns, t->off_ns), each = queued / MAX(t->nr_off, (uint64_t)1);

	if (t->nr_past - t->nr_settled > NR_PAST)
		t->nr_settled = t->nr_past - NR_PAST;
	for (; t->nr_settled < t->nr_past; t->nr_settled++) {
		struct wall_block *b = &t->past[t->nr_settled % NR_PAST];

		b->end_ns -= MIN(each, b->end_ns - b->since_ns);
		s->done[s->nr_done++ % WALL_NR_DONE] =
			(struct wall_done){ .nr = b->nr, .ns = b->end_ns - b->since_ns };
	}
	s->queued_ns[0] += queued;
	s->blocked_ns[0] += t->off_ns - queued;
	t->owed_ns -= queued;
	t->off_ns = t->nr_off = 0;
}

void wall_settle(struct wall *w, uint32_t slot)
{
	struct thread *t = &w->switches->threads[slot];
	const struct wall_slot *s = &w->switches->slots[slot];
	struct asked a = { w->switches, t };
	uint64_t delay_ns, more;

	if (w->switches->polls || (!t->off_ns && !t->preempted_ns))
		return;
	if (s->state != WALL_GONE && read_delay(&a, s, &delay_ns)) {
		more = delay_ns > t->delay_ns ? delay_ns - t->delay_ns : 0;
		/* clocks that differ, or a wait that is counted and whose record is still to come */
		t->owed_ns += more > t->preempted_ns ? more - t->preempted_ns : 0;
		t->preempted_ns -= MIN(more, t->preempted_ns);
		t->delay_ns = delay_ns;
	}
	slots_settle(w, slot);
}

void wall_cut(struct wall *w, uint32_t slot, uint64_t now_ns)
{
	struct thread *t = &w->switches->threads[slot];
	struct wall_slot *s = &w->switches->slots[slot];
	uint64_t len = now_ns > s->since_ns ? now_ns - s->since_ns : 0;

	if (w->switches->polls || s->state == WALL_FREE || s->state == WALL_GONE)
		return;
	if (s->state == WALL_ON_CPU)
		s->cpu_ns += len;
	else if (s->state == WALL_BLOCKED)
		t->off_ns += len;
	else
		s->preempted_ns += len;
	if (s->state == WALL_PREEMPTED)
		t->preempted_ns += len;
	s->since_ns += len;
	wall_settle(w, slot);
}

void wall_thread_ends(struct wall *w, int tid, uint64_t time_ns)
{
	struct wall_slot *s;
	uint32_t slot;

	s = switches_slot_of(w, tid, &slot);
	if (!s)
		return;
	time_ns = MAX(time_ns, s->since_ns);
	/*
	 * /proc has a thread for a while after its end was recorded, and what a look found there was reported
	 */
	if (w->switches->polls) {
		time_ns = MAX(time_ns, w->switches->threads[slot].polled_ns);
		polls_end(w, slot, time_ns);
	}
	close_state(w, s, slot, time_ns);
	s->own_tid = s->own_pid = 0;
	set_state(s, WALL_GONE, time_ns);
	slots_settle(w, slot);
	close_files(w->switches, &w->switches->threads[slot]);
	*map_put(&w->switches->by_tid, (uint32_t)tid) = 0;
	slots_stamp(w, slot);
}

void wall_execs(struct wall *w, int pid, uint64_t time_ns)
{
	struct thread *threads = w->switches->threads;
	uint32_t i, slot = wall_slot_of(w, pid);
	struct thread before = { .nr_past = 0 };

	for (i = 1; i < w->control->next_slot; i++) {
		const struct wall_slot *s = &w->switches->slots[i];

		if ((int)s->pid == pid && (int)s->tid != pid && s->own_tid)
			wall_thread_ends(w, s->tid, time_ns);
	}
	if (slot) {
		if (w->switches->polls)
			polls_exec(w, slot, time_ns);
		wall_settle(w, slot);
		before = threads[slot];
	}
	wall_thread_begins(w, pid, pid, time_ns);
	wall_switch_in(w, pid, time_ns);
	slot = wall_slot_of(w, pid);
	if (!slot)
		return;
	/* the kernel goes on counting for the thread */
	threads[slot].last = before.last;
	threads[slot].charged = before.charged;
	threads[slot].polled_ns = time_ns;
	threads[slot].delay_ns = before.delay_ns;
	threads[slot].preempted_ns += before.preempted_ns;
	threads[slot].owed_ns = before.owed_ns;
}

bool wall_block_at(const struct wall *w, uint32_t slot, uint64_t time_ns, struct wall_block *b)
{
	const struct thread *t = &w->switches->threads[slot];
	const struct wall_slot *s = &w->switches->slots[slot];
	size_t i;

	if (s->state == WALL_BLOCKED && time_ns >= s->since_ns) {
		*b = (struct wall_block){ .nr = s->block_nr, .since_ns = s->since_ns };
		return true;
	}
	for (i = 0; i < MIN(t->nr_past, (uint64_t)NR_PAST); i++) {
		if (time_ns < t->past[i].since_ns || time_ns >= t->past[i].end_ns)
			continue;
		*b = t->past[i];
		return true;
	}
	return false;
}
