/* SPDX-License-Identifier: MIT */
/* timers.h - samples by timers on threads' CPU time, where perf events are forbidden. */
#ifndef AGENT_TIMERS_H
#define AGENT_TIMERS_H

#include <asm/siginfo.h>
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* Every thread there is gets a timer; call timers_live() as soon as the VM is up, for those that come. */
void timers_on(uint64_t period_ns);
void timers_off(void);
void timers_live(JNIEnv *env);
void timers_add_this_thread(void);

/* Called in the signal handler: return whether the signal is one of ours, and of how many periods. */
bool timers_raised(const siginfo_t *si);
uint32_t timers_nr_periods(const siginfo_t *si);

#endif
