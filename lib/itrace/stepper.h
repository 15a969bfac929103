/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stepper.h - the process that steps the traced threads by ptrace; shared by its files.
 *
 * It is a process of its own because a tracer that is killed leaves its tracees with the
 * trap flag set, and they die of it.  This one is small, ignores what a terminal sends, and when
 * arcprof is gone lets all go in order.
 *
 *	stepper.c	the process: attaching, the loop over stops, letting go
 *	tracee.c	one thread: from stop to stop, what was executed
 *	trail.c		how far it can run to breakpoints; steady.c in which code; probe.c on this machine
 *	report.c	what is reported to arcprof
 *	ptrace.c	arcprof's side
 */
#ifndef ITRACE_STEPPER_H
#define ITRACE_STEPPER_H

#include <signal.h>
#include <stdint.h>

#include "arch/insn.h"
#include "arch/user.h"
#include "base/hash.h"
#include "itrace/engine.h"
#include "itrace/trail.h"

/* ---- what the stepper tells arcprof, through a pipe: heads, each followed by len bytes ---- */
enum wire_type {
	WIRE_THREAD = 1,	/* a = parent process */
	WIRE_EXEC,		/* a = tid it had; bytes: name */
	WIRE_MAPS,		/* bytes: /proc/PID/maps */
	WIRE_GONE,
	WIRE_CODE,		/* a = address; bytes: instructions */
	WIRE_RUN,		/* a = start, b = branches; bytes: as branch.h has them */
	WIRE_STOPPED,		/* bytes: struct itrace_totals */
	WIRE_ENDED,		/* the same, and the program has ended or does not concern us */
	WIRE_FAILED,		/* a = errno, b = enum err_kind; bytes: message */
};

struct wire {
	uint32_t type;
	uint32_t len;
	uint64_t time_ns;
	int32_t pid, tid;
	uint64_t a, b;
};

enum { WIRE_MAX = 16 << 20 };

/* ---- the stepper ---- */

enum { BLOCK_MAX = 4096 };

struct tracee {
	int tid, pid;
	bool alive;
	bool stopped;		/* by ptrace, and not resumed since */
	bool stepping;		/* false: it runs freely until something is asked (bracket) */
	bool known;		/* it was reported to arcprof */
	bool attached;		/* it ran before; its maps are reported at its first stop */
	bool maps_told;
	bool starting;		/* waits for its first stop */
	bool leaving;		/* to be let go at its next stop */
	bool restart;		/* goes back to the system call before pc, unless a handler runs */
	bool injected;		/* a signal was handed to it: a handler may begin */
	bool rearm;		/* the kernel must forget that it stepped, before it steps again */
	bool quiet;		/* resumed without a step, to stop at once */
	/* the next trap may come before anything is executed (exec, arm64: system calls) */
	bool idle_trap;
	int deliver;		/* signal for the next resume */
	bool held;		/* not resumed while breakpoints are in its process, or before they can be */
	bool in_exclusive;	/* runs to the breakpoints of excl */
	struct exclusive excl;
	bool on_trail;		/* runs to the breakpoints of trail */
	bool watched;		/* it had to stop soon at a tick, and has not stopped since; */
	uint64_t watched_ns;	/* what it had run then */
	bool stale_trap;	/* a trap will come of a breakpoint that no longer matters */
	struct trail trail;
	struct user_breakpoints breakpoints;
	uint64_t sp;
	bool passes;		/* a breakpoint at pc will not stop it */
	uint64_t pc;		/* of the next instruction */
	struct insn insn;	/* at pc; len 0: cannot be read */
	uint64_t call_nr, call_arg[3];
	uint8_t code[INSN_MAX + 1];
	/* The block being executed. */
	uint64_t start, end, nr_insns;
	uint8_t block[BLOCK_MAX];
	uint32_t block_len;	/* UINT32_MAX: longer than BLOCK_MAX */
	/* The run of branches being gathered. */
	struct buf run;
	uint64_t run_start, run_ns, run_nr;
};

struct stepper {
	const struct itrace_opts *o;
	int out_fd;
	int own_pid, child_pid;	/* child: the program, 0 none or ended */
	bool broken;		/* arcprof is gone */
	bool has_exclusive;	/* a CPU with load-exclusive */
	bool trails;		/* not only single steps */
	struct steady steady;
	bool letting_go;
	bool last_bracket;	/* has ended: nothing more will be asked */
	bool over;		/* nothing is traced any more, and arcprof knows */
	struct itrace_totals t;
	struct tracee **tracees;
	size_t nr_tracees, alloc_tracees;
	size_t nr_alive, nr_held;
	struct map by_tid;	/* -> index in tracees */
	struct map seen_code;	/* process, address and length of a block -> hash of the reported bytes */
	struct buf out;
};

/* report.c */
/* Write the head and the len bytes at p. t: whose it is, or NULL. Its time is now, if head has none. */
void report(struct stepper *s, const struct tracee *t, struct wire head, const void *p);
void report_run(struct stepper *s, struct tracee *t);
void report_maps(struct stepper *s, struct tracee *t);
void report_flush(struct stepper *s);

/* tracee.c: each after a stop; false when the thread is gone. */
enum trap {
	TRAP_STEP,	/* an instruction was executed, or a round of one */
	TRAP_IDLE,	/* none was: the signal may be the program's own */
	TRAP_GONE,
};
bool tracee_begin(struct tracee *t);		/* steps from here on */
enum trap tracee_stepped(struct stepper *s, struct tracee *t);
/* Return whether what it executes next sends signals: a SIGTRAP to itself takes the place of the step's. */
bool tracee_may_signal(const struct tracee *t);
bool tracee_handler(struct stepper *s, struct tracee *t);	/* a handler is about to run */
void tracee_exec(struct stepper *s, struct tracee *t);
void tracee_exit(struct stepper *s, struct tracee *t);	/* at its exit stop */
void tracee_pause(struct stepper *s, struct tracee *t);	/* stepping ends here */
/* At a stop that is not a trap, note what the kernel will do when the thread is resumed. */
void tracee_note_restart(struct tracee *t);
/* Note that nothing was executed after a quiet resume, but a handler may be about to run. */
void tracee_rearmed(struct stepper *s, struct tracee *t);
/* Return whether what comes next must run at one go; t->excl then says to where. */
bool tracee_exclusive(struct tracee *t);
/* Note that the stretch was left; return whether by one of its exits, rather than a signal. */
bool tracee_left_exclusive(struct stepper *s, struct tracee *t);

/*
 * tracee_trail() returns whether the thread can run to breakpoints from here, and sets them; if not, none
 * is in the way of a step. tracee_left_trail() is called when it has stopped, for that or another reason,
 * and returns true if at a breakpoint.
 */
bool tracee_trail(struct stepper *s, struct tracee *t);
bool tracee_left_trail(struct stepper *s, struct tracee *t, bool trapped);

/* probe.c: return whether hardware breakpoints work on this machine as trails need; tried on a child. */
bool probe_breakpoints(void);

/*
 * stepper.c: the life of that process; never returns.  The signal STEPPER_STOP makes it let all go; it comes
 * blocked.
 */
enum { STEPPER_STOP = SIGUSR1 };
void stepper_run(const struct itrace_opts *o, int out_fd, int parent_pid) __attribute__((noreturn));

#endif
