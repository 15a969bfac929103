/* SPDX-License-Identifier: GPL-2.0-or-later */
/* user.h - the registers of a thread that ptrace stopped, as far as the stepper needs them. */
#ifndef ARCH_USER_H
#define ARCH_USER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct user_regs {
	uint64_t pc, sp;
	uint64_t nr;		/* the system call that a system call instruction at pc would make */
	uint64_t arg[3];
	/* interrupted in a system call that is made again when nothing else happens */
	bool restarts;
	bool trap_flag;		/* set by the program, not by ptrace */
	bool passes;		/* a breakpoint at pc will not stop it: it has already */
	bool foreign;		/* in a mode we do not decode: 32-bit code */
};

/* Set if a trap can break atomic instructions that come in pairs (LDXR and STXR). */
extern const bool arch_has_exclusive;

/* whether a step over a system call is followed by a second trap, at which nothing more was executed */
extern const bool arch_call_traps_twice;

/* 0 or -errno. */
int user_regs_get(pid_t tid, struct user_regs *u);
/* Takes the trap flag out of the flags that were just pushed at u->sp, and that the program would see. */
void user_clean_pushed_flags(pid_t tid, const struct user_regs *u);
/* Takes a trap flag out that would outlive ptrace. */
void user_clear_trap_flag(pid_t tid);

/* The number of hardware breakpoints on instructions, or 0 if the CPU has none or we cannot set them. */
enum { USER_BREAKPOINTS = 4 };
extern const unsigned int arch_nr_breakpoints;

/* The breakpoints of a stopped thread, all zero at first and after an exec. */
struct user_breakpoints {
	uint32_t on;		/* as the CPU has it; 0: none */
	uint64_t addr[USER_BREAKPOINTS];
};

/*
 * Set these nr breakpoints (1 to arch_nr_breakpoints) and clear all others. On failure (-errno) none is
 * set.
 */
int user_breakpoints_on(pid_t tid, struct user_breakpoints *b, const uint64_t *addr, unsigned int nr);
void user_breakpoints_off(pid_t tid, struct user_breakpoints *b);
/* Execute the instruction at pc although a breakpoint is there. */
int user_pass_breakpoint(pid_t tid);

#endif
