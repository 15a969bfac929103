// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stepper.c - the process that steps: attaches, waits for stops, resumes, and lets go.
 *
 * Invariants, cited below as [n]:
 *  [1] a thread is let go only at a stop with no trap of ours pending, and without a trap flag;
 *  [2] a signal that is not ours is handed on exactly once.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/itrace_request.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "itrace/stepper.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

enum { PEEK_MAX = 64 };

enum { TICK_S = 1, LOST_NS = 10000000, LOST_STEP_NS = 100000000 };

static volatile sig_atomic_t asked_to_stop, ticked;

/* ---- threads ---- */

static struct tracee *find_tracee(struct stepper *s, int tid)
{
	uint32_t at = map_get(&s->by_tid, (uint32_t)tid);

	return at == MAP_NONE || !s->tracees[at]->alive ? NULL : s->tracees[at];
}

static struct tracee *add_tracee(struct stepper *s, int tid, int pid)
{
	uint32_t *at = map_put(&s->by_tid, (uint32_t)tid);
	struct tracee *t;

	if (*at == MAP_NONE) {
		*at = s->nr_tracees;
		*VEC_ADD(s->tracees, s->nr_tracees, s->alloc_tracees) = xcalloc(1, sizeof(*t));
	}
	t = s->tracees[*at];
	buf_release(&t->run);
	*t = (struct tracee){ .tid = tid, .pid = pid, .alive = true, .starting = true };
	s->nr_alive++;
	return t;
}

static void drop_tracee(struct stepper *s, struct tracee *t)
{
	report_run(s, t);
	t->alive = false;
	s->nr_alive--;
}

static void gone(struct stepper *s, struct tracee *t)
{
	tracee_pause(s, t);
	report(s, t, (struct wire){ .type = WIRE_GONE }, NULL);
	drop_tracee(s, t);
	if (t->tid == t->pid)
		steady_forget(&s->steady, t->pid);
}

/* Return the process and its parent, from /proc; 0: the thread has ended. */
static int tracee_process(int tid, int *ppid)
{
	struct buf b = BUF_INIT;
	char path[64], *tgid, *parent;
	int pid = 0;

	*ppid = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	if (!io_slurp(path, &b) && b.len && (tgid = strstr(b.data, "\nTgid:")) && (parent = strstr(b.data, "\nPPid:"))) {
		pid = atoi(tgid + 6);
		*ppid = atoi(parent + 6);
	}
	buf_release(&b);
	return pid;
}

static void introduce(struct stepper *s, struct tracee *t, int ppid)
{
	if (t->known)
		return;
	t->known = true;
	s->t.nr_threads++;
	report(s, t, (struct wire){ .type = WIRE_THREAD, .a = ppid }, NULL);
}

/* ---- resuming and letting go ---- */

/*
 * Whoever steps over popf may set the trap flag by it, thinks the kernel, and from then on takes the
 * flag for the program's: it would be in the frames of signal handlers, and stay.  So it is made
 * to forget, by a resume without a step that executes nothing; the same before a handler whose
 * frame would be made at a popf.
 */
static bool resume_quietly(struct tracee *t, int sig)
{
	if (!t->stepping || !(t->rearm || (sig && t->insn.flags & INSN_POPS_FLAGS)))
		return false;
	t->rearm = t->injected = false;
	t->quiet = true;
	user_clear_trap_flag(t->tid);	/* a signal came when it had begun to step over a popf */
	ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	ptrace(PTRACE_CONT, t->tid, NULL, (void *)(intptr_t)sig);
	return true;
}

/* Return whether another thread of the process could meet breakpoints, or has set some. */
static bool others_run(const struct stepper *s, const struct tracee *t, bool any)
{
	size_t i;

	for (i = 0; i < s->nr_tracees; i++) {
		const struct tracee *x = s->tracees[i];

		if (x == t || !x->alive || x->pid != t->pid)
			continue;
		/* a thread in a system call stops behind it before it executes anything */
		if (x->in_exclusive || (any && !x->stopped && x->insn.kind != INSN_SYSCALL))
			return true;
	}
	return false;
}

/* Return whether it was resumed to breakpoints, or has to wait (t->held). */
static bool resume_exclusive(struct stepper *s, struct tracee *t)
{
	bool exclusive = !t->deliver && tracee_exclusive(t);

	if (others_run(s, t, exclusive)) {
		s->nr_held += !t->held;
		t->held = true;
		return true;
	}
	if (!exclusive || !exclusive_arm(&t->excl, t->tid))
		return false;
	t->stopped = false;
	t->in_exclusive = true;
	ptrace(PTRACE_CONT, t->tid, NULL, NULL);
	return true;
}

static void resume_tracee(struct stepper *s, struct tracee *t)
{
	int sig = t->deliver;
	bool step;

	s->nr_held -= t->held;
	t->held = false;
	if (t->stepping && s->has_exclusive && resume_exclusive(s, t))
		return;
	step = t->stepping && !tracee_trail(s, t);
	t->deliver = 0;		/* [2] */
	t->stopped = false;
	if (!resume_quietly(t, sig))
		ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, t->tid, NULL, (void *)(intptr_t)sig);
}

static void let_tracee_go(struct stepper *s, struct tracee *t)
{
	s->nr_held -= t->held;
	t->held = false;
	tracee_pause(s, t);
	user_clear_trap_flag(t->tid);	/* [1] */
	user_breakpoints_off(t->tid, &t->breakpoints);
	ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->deliver);
	drop_tracee(s, t);
}

/* Return whether a step has ended that was not reported yet. */
static bool trap_pending(int tid)
{
	siginfo_t list[PEEK_MAX];
	struct __ptrace_peeksiginfo_args args = { .nr = PEEK_MAX };
	long i, nr = ptrace(PTRACE_PEEKSIGINFO, tid, &args, list);

	for (i = 0; i < nr; i++)
		if (list[i].si_signo == SIGTRAP && list[i].si_code > 0)
			return true;
	return false;
}

/* Let all threads go: from now on every stop of one is its last. */
static void let_all_go(struct stepper *s, enum itrace_stop why)
{
	size_t i;

	if (s->letting_go)
		return;
	s->letting_go = true;
	s->t.why = why;
	for (i = 0; i < s->nr_tracees; i++) {
		struct tracee *t = s->tracees[i];

		if (!t->alive)
			continue;
		t->leaving = true;
		if (t->stopped)
			let_tracee_go(s, t);
		else
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	}
}

/* ---- stops ---- */

enum trap_cause { CAUSE_STEP, CAUSE_HANDLER, CAUSE_PROGRAM };

/*
 * Return who caused the trap. The one at the end of a system call says TRAP_BRKPT on x86-64 and SI_USER
 * without a sender on arm64; int3 says SI_KERNEL, and brk TRAP_BRKPT.
 */
static enum trap_cause trap_cause(const struct tracee *t)
{
	bool trap_insn = t->insn.kind == INSN_TRAP;
	siginfo_t si;

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) < 0)
		return CAUSE_STEP;
	if (si.si_code == SIGTRAP)
		return CAUSE_HANDLER;
	if (si.si_code == SI_KERNEL || (si.si_code == TRAP_BRKPT && trap_insn))
		return CAUSE_PROGRAM;
	return si.si_code > 0 || (si.si_code == SI_USER && !si.si_pid) ? CAUSE_STEP : CAUSE_PROGRAM;
}

static bool is_foreign(int tid)
{
	struct user_regs u;

	return !user_regs_get(tid, &u) && u.foreign;
}

static void begin_tracee(struct stepper *s, struct tracee *t)
{
	if (is_foreign(t->tid)) {
		s->t.nr_foreign++;
		t->leaving = true;
	} else {
		tracee_begin(t);
	}
}

/* Return whether the mappings were reported; a child has its parent's. */
static bool maps_told(const struct stepper *s, const struct tracee *t)
{
	size_t i;

	for (i = 0; i < s->nr_tracees && t->attached; i++)
		if (s->tracees[i]->pid == t->pid && s->tracees[i]->maps_told)
			return true;
	return !t->attached;
}

/* Handle a new thread, one that was attached to, or one that was interrupted to be let go. */
static void on_first_stop(struct stepper *s, struct tracee *t)
{
	int ppid, pid = tracee_process(t->tid, &ppid);

	t->starting = false;
	if (pid)
		t->pid = pid;
	introduce(s, t, ppid);
	if (!maps_told(s, t))
		report_maps(s, t);
	t->maps_told = true;
	if (!t->leaving && !s->o->bracket)
		begin_tracee(s, t);
}

static void on_exec(struct stepper *s, struct tracee *t)
{
	unsigned long old_tid = t->tid;
	struct buf comm = BUF_INIT;
	struct tracee *old;
	bool stepping;
	char path[64];

	ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &old_tid);
	old = find_tracee(s, old_tid);
	if (!old)
		old = t;
	stepping = !s->o->bracket && (old->stepping || s->child_pid == t->pid);
	tracee_exec(s, old);
	if (old != t)
		drop_tracee(s, old);
	t->stepping = false;
	t->starting = false;
	t->breakpoints = (struct user_breakpoints){ 0 };
	t->deliver = 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", t->pid);
	io_slurp(path, &comm);
	report(s, t, (struct wire){ .type = WIRE_EXEC, .len = comm.len, .a = old_tid },
	       comm.data ? comm.data : "");
	buf_release(&comm);
	report_maps(s, t);
	if (stepping && !t->leaving) {
		begin_tracee(s, t);
		t->idle_trap = true;
	}
}

/* Handle an event; return false if the thread was resumed in another way. */
static bool on_ptrace_event(struct stepper *s, struct tracee *t, int event, int sig)
{
	switch (event) {
	case PTRACE_EVENT_EXEC:
		on_exec(s, t);
		break;
	case PTRACE_EVENT_EXIT:
		tracee_exit(s, t);
		break;
	case PTRACE_EVENT_STOP:
		if (t->starting)
			on_first_stop(s, t);
		if (t->leaving && trap_pending(t->tid)) {	/* [1] */
			t->stopped = false;
			ptrace(PTRACE_CONT, t->tid, NULL, NULL);
			return false;
		}
		if (t->leaving)
			break;
		if (sig != SIGTRAP) {	/* stopped as by ^Z, until SIGCONT */
			t->stopped = false;
			ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
			return false;
		}
		if (t->quiet)
			tracee_rearmed(s, t);
		else if (t->stepping)
			tracee_note_restart(t);
		break;
	}
	return true;
}

static void on_trap(struct stepper *s, struct tracee *t)
{
	bool doubtful = t->injected || t->insn.kind == INSN_TRAP || tracee_may_signal(t);
	enum trap_cause cause = doubtful ? trap_cause(t) : CAUSE_STEP;

	t->injected = false;
	if (cause == CAUSE_HANDLER) {
		tracee_handler(s, t);
		return;
	}
	if (tracee_stepped(s, t) == TRAP_IDLE && !doubtful)
		cause = trap_cause(t);
	if (cause == CAUSE_PROGRAM) {	/* kill(), int3 */
		t->deliver = SIGTRAP;
		t->injected = true;
	}
}

/*
 * Return whether the signal is arcprof_itrace_on() or _off(). If so, it is handled here, and the signal is
 * dropped.
 */
static bool on_request(struct stepper *s, struct tracee *t)
{
	struct itrace_request r;
	siginfo_t si;
	struct iovec local = { &r, sizeof(r) }, remote = { NULL, sizeof(r) };

	if (ptrace(PTRACE_GETSIGINFO, t->tid, NULL, &si) < 0 || si.si_code != SI_QUEUE)
		return false;
	remote.iov_base = si.si_value.sival_ptr;
	if (process_vm_readv(t->tid, &local, 1, &remote, 1, 0) != sizeof(r) ||
	    r.magic != ITRACE_REQUEST_MAGIC)
		return false;
	r.answer = ITRACE_ANSWER_DONE;
	if (process_vm_writev(t->tid, &local, 1, &remote, 1, 0) != sizeof(r))
		return false;
	if (r.what == ITRACE_REQUEST_ON && !t->stepping && !t->leaving) {
		report_maps(s, t);
		begin_tracee(s, t);
	} else if (r.what == ITRACE_REQUEST_OFF || r.what == ITRACE_REQUEST_LAST) {
		tracee_pause(s, t);
		user_clear_trap_flag(t->tid);
		user_breakpoints_off(t->tid, &t->breakpoints);
		s->last_bracket |= r.what == ITRACE_REQUEST_LAST;
	}
	return true;
}

static void on_tracee_signal(struct stepper *s, struct tracee *t, int sig)
{
	if (sig == SIGURG && s->o->bracket && on_request(s, t))
		return;
	if (sig == SIGTRAP && t->stepping) {
		on_trap(s, t);
		return;
	}
	t->deliver = sig;
	t->injected = t->stepping;
	if (t->stepping)
		tracee_note_restart(t);
}

static void resume_held(struct stepper *s)
{
	size_t i;

	for (i = 0; i < s->nr_tracees && s->nr_held; i++)
		if (s->tracees[i]->alive && s->tracees[i]->held)
			resume_tracee(s, s->tracees[i]);
}

/*
 * Return true if the thread has only left a trail. A breakpoint that was met at the same time as what
 * stopped the thread is reported at its next stop, and belongs to no trail by then.
 */
static bool on_trail_stop(struct stepper *s, struct tracee *t, int event, int sig)
{
	bool trapped = !event && sig == SIGTRAP, stale = trapped && t->stale_trap;

	if (stale)
		t->stale_trap = t->on_trail = false;
	if (stale || !t->on_trail)
		return stale;
	if (tracee_left_trail(s, t, trapped))
		return true;
	if (!trapped) {
		t->stale_trap = trap_pending(t->tid);
		return false;
	}
	t->deliver = SIGTRAP;		/* the program's own */
	t->injected = true;
	return true;
}

static void on_stop(struct stepper *s, struct tracee *t, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	t->stopped = true;
	t->watched = false;
	t->on_trail &= event != PTRACE_EVENT_EXEC;	/* of the image before */
	s->t.nr_stops += t->stepping;
	if (on_trail_stop(s, t, event, sig))
		;
	else if (t->in_exclusive && tracee_left_exclusive(s, t) && !event && sig == SIGTRAP)
		;	/* our breakpoint */
	else if (!event)
		on_tracee_signal(s, t, sig);
	else if (!on_ptrace_event(s, t, event, sig))
		return;
	if (s->o->limit && s->t.nr_insns >= s->o->limit && !s->letting_go)
		let_all_go(s, ITRACE_LIMIT);	/* it among them */
	else if (t->leaving)
		let_tracee_go(s, t);
	else
		resume_tracee(s, t);
	if (s->nr_held)
		resume_held(s);
	if (s->last_bracket)
		let_all_go(s, ITRACE_LAST_BRACKET);
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Handle one status of one thread. */
static void on_status(struct stepper *s, int tid, int status)
{
	struct tracee *t = find_tracee(s, tid);
	int ppid;

	if (WIFSTOPPED(status)) {
		if (!t) {	/* a child: its stop may come before its parent's event */
			t = add_tracee(s, tid, tracee_process(tid, &ppid));
			t->leaving = s->letting_go || (!s->o->forks && !find_tracee(s, t->pid));
		}
		on_stop(s, t, status);
		return;
	}
	if (t)
		gone(s, t);
	if (tid == s->child_pid) {
		s->t.status = shell_status(status);
		s->child_pid = 0;
	}
}

/* ---- beginning ---- */

static long options(const struct stepper *s)
{
	long o = PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;

	if (!s->o->nr_tids)
		o |= PTRACE_O_TRACECLONE;
	return s->o->forks ? o | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : o;
}

static void __attribute__((noreturn)) fail_as(struct stepper *s, enum err_kind kind, int code,
					      const char *fmt, const char *what)
{
	char msg[256];
	int len = snprintf(msg, sizeof(msg), fmt, what);
	const struct wire head = {
		.type = WIRE_FAILED, .len = MIN((size_t)len, sizeof(msg) - 1), .a = code, .b = kind,
	};

	report(s, NULL, head, msg);
	report_flush(s);
	_exit(1);
}

static void __attribute__((noreturn)) stepper_fail(struct stepper *s, int code, const char *fmt,
						   const char *what)
{
	fail_as(s, ERR_ANY, code, fmt, what);
}

static int seize(struct stepper *s, int tid, int pid)
{
	struct tracee *t;

	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)options(s)) < 0)
		return -errno;
	t = add_tracee(s, tid, pid);
	t->known = false;
	return 0;
}

static void start_program(struct stepper *s)
{
	const char *name = s->o->argv[0];
	struct spawn child;
	struct tracee *t;
	struct err e;
	int r = spawn_start(&child, s->o->argv, &e);

	if (r)
		stepper_fail(s, -r, "cannot start '%s'", name);
	s->child_pid = child.pid;
	r = seize(s, child.pid, child.pid);
	if (r)
		stepper_fail(s, -r, "cannot trace '%s'", name);
	t = find_tracee(s, child.pid);
	t->starting = false;
	introduce(s, t, 0);
	r = spawn_go(&child, name, &e);
	if (r)
		fail_as(s, e.kind, -r, "cannot run '%s'", name);
}

/* Attach to all threads. New ones appear meanwhile: until a scan finds no new one. */
static int attach_process(struct stepper *s, int pid)
{
	bool again = true, any = false;
	int tid, r;

	while (again) {
		DIR *dir = io_open_threads(pid);

		again = false;
		while ((tid = io_next_number(dir))) {
			if (find_tracee(s, tid))
				continue;
			r = seize(s, tid, pid);
			if (r == -ESRCH)
				continue;
			if (r) {
				closedir(dir);
				/* attached itself: a child of one we have */
				return any && r == -EPERM ? 0 : r;
			}
			again = any = true;
		}
		io_close_folder(dir);
	}
	return any ? 0 : -ESRCH;
}

static void stepper_attach(struct stepper *s)
{
	char what[64];
	uint32_t k;
	size_t i;
	int r, ppid;

	for (k = 0; k < s->o->nr_pids; k++) {
		snprintf(what, sizeof(what), "process %d", s->o->pids[k]);
		if ((r = attach_process(s, s->o->pids[k])))
			stepper_fail(s, -r, "cannot attach to %s", what);
	}
	for (k = 0; k < s->o->nr_tids; k++) {
		snprintf(what, sizeof(what), "thread %d", s->o->tids[k]);
		if ((r = seize(s, s->o->tids[k], tracee_process(s->o->tids[k], &ppid))))
			stepper_fail(s, -r, "cannot attach to %s", what);
	}
	for (i = 0; i < s->nr_tracees; i++) {
		struct tracee *t = s->tracees[i];

		t->attached = true;
		introduce(s, t, 0);
		ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	}
}

/* ---- the process ---- */

/* Note the request. The signal may come just before a long wait: it is sent again until it was seen. */
static void on_stop_signal(int sig)
{
	asked_to_stop = 1;
	alarm(1);
}

static void on_tick(int sig)
{
	ticked = 1;
}

/* Ends a wait now and then, for watch_tracees(). */
static void begin_ticks(void)
{
	const struct itimerspec each = { .it_interval.tv_sec = TICK_S, .it_value.tv_sec = TICK_S };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct sigaction sa = { .sa_handler = on_tick };
	timer_t timer;

	sigaction(SIGRTMIN, &sa, NULL);
	if (!timer_create(CLOCK_MONOTONIC, &event, &timer))
		timer_settime(timer, 0, &each, NULL);
}

/* Return the CPU time of a thread; UINT64_MAX: not known. */
static uint64_t cpu_time_ns(int tid)
{
	uint64_t ns = UINT64_MAX;
	char path[48];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	f = fopen(path, "re");
	if (!f)
		return ns;
	if (fscanf(f, "%" SCNu64, &ns) != 1)
		ns = UINT64_MAX;
	fclose(f);
	return ns;
}

/* Return how long a thread has run user code, in clock ticks; UINT64_MAX: not known. */
static uint64_t user_ticks(int tid)
{
	uint64_t ticks = UINT64_MAX;
	char path[48], line[1024];
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	f = fopen(path, "re");
	if (!f)
		return ticks;
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	if (!end || sscanf(end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1)
		ticks = UINT64_MAX;
	fclose(f);
	return ticks;
}

/*
 * Return what a thread has run that is to stop soon; 0: it may run for long. On a trail that is all that it
 * runs. In a single step the kernel may work for long, and is not to be interrupted there; user code cannot.
 */
static uint64_t ran_ns(const struct tracee *t)
{
	uint64_t ticks;

	if (!t->alive || t->stopped || !(t->on_trail || t->stepping || t->leaving))
		return 0;
	if (t->on_trail)
		return cpu_time_ns(t->tid);
	ticks = user_ticks(t->tid);
	return ticks == UINT64_MAX ? 0 : ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK)) + 1;
}

/*
 * A virtual machine may lose a breakpoint or the trap of a step, and a thread that has passed the end of its
 * trail would run on unseen. A trail is some tens of instructions: a thread that takes 10 ms for one has lost
 * its way, and stops where it is; so does one that takes 100 ms for a step. One that gets no CPU is left
 * alone.
 */
static void watch_tracees(struct stepper *s)
{
	size_t i;

	ticked = 0;
	for (i = 0; i < s->nr_tracees; i++) {
		struct tracee *t = s->tracees[i];
		uint64_t ns = ran_ns(t), lost_ns = t->on_trail ? LOST_NS : LOST_STEP_NS;
		bool runs = ns > 0;

		if (runs && t->watched && ns != UINT64_MAX && ns - t->watched_ns < lost_ns)
			continue;
		if (runs && t->watched) {
			s->t.nr_gaps++;
			ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		}
		t->watched = runs && !t->watched;
		t->watched_ns = ns;
	}
}

static void set_signals(int parent_pid)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTOU, SIGTTIN, SIGPIPE,
		SIGUSR2 };
	struct sigaction sa = { .sa_handler = on_stop_signal };
	sigset_t none;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigaction(STEPPER_STOP, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	prctl(PR_SET_PDEATHSIG, STEPPER_STOP);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent_pid)
		raise(STEPPER_STOP);
}

static void loop(struct stepper *s, int parent_pid)
{
	int status, tid;

	while (s->nr_alive) {
		if ((asked_to_stop || s->broken) && !s->letting_go) {
			alarm(0);
			let_all_go(s, ITRACE_ASKED);
			continue;
		}
		tid = waitpid(-1, &status, __WALL);
		if (tid > 0)
			on_status(s, tid, status);
		else if (errno != EINTR)
			break;
		if (ticked)
			watch_tracees(s);
	}
	s->broken |= getppid() != parent_pid;
}

/* Wait for the started program, which runs on; its status is arcprof's. */
static void await_program(struct stepper *s, int parent_pid)
{
	int status, tid;

	while (s->child_pid && getppid() == parent_pid) {
		tid = waitpid(s->child_pid, &status, 0);
		if (tid == s->child_pid) {
			s->t.status = shell_status(status);
			s->child_pid = 0;
		} else if (errno != EINTR) {
			break;
		}
	}
}

void stepper_run(const struct itrace_opts *o, int out_fd, int parent_pid)
{
	struct stepper s = { .o = o, .out_fd = out_fd, .t.status = -1, .has_exclusive = arch_has_exclusive };

	prctl(PR_SET_NAME, ITRACE_STEPPER_COMM);
	s.t.breakpoints = s.trails = !o->single_steps && probe_breakpoints();
	if (o->argv)
		start_program(&s);
	setpgid(0, 0);
	set_signals(parent_pid);
	if (!o->argv)
		stepper_attach(&s);
	begin_ticks();
	loop(&s, parent_pid);
	report(&s, NULL, (struct wire){ .type = WIRE_STOPPED, .len = sizeof(s.t) }, &s.t);
	report_flush(&s);
	await_program(&s, parent_pid);
	report(&s, NULL, (struct wire){ .type = WIRE_ENDED, .len = sizeof(s.t) }, &s.t);
	report_flush(&s);
	_exit(0);
}
