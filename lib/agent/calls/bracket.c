// SPDX-License-Identifier: MIT
/*
 * bracket.c - traces single calls of methods (flow.h): asks the tracer of this process, as
 * arcprof_itrace_on() does, when an outermost call begins and when it ends.
 *
 * The call trees are built as usual, without metrics: they tell which call is outermost, also across
 * exceptions and with virtual threads.
 */
#include <asm/siginfo.h>
#include <asm/signal.h>

#include "agent/calls/flow.h"
#include "agent/ring.h"
#include "agent/sys.h"
#include "api/itrace_request.h"

/* Send a request to the tracer. Returns false if there is none. */
static bool ask(uint32_t what)
{
	struct itrace_request r = { ITRACE_REQUEST_MAGIC, what, 0 };
	siginfo_t si;

	if (load_relaxed(&callflow_area()->bracket_closed) || log_closed())
		return false;
	memset(&si, 0, sizeof(si));
	si.si_code = SI_QUEUE;
	si.si_pid = sys(__NR_getpid);
	si.si_value.sival_ptr = &r;
	sys(__NR_rt_tgsigqueueinfo, si.si_pid, sys_tid(), SIGURG, &si);
	__asm__ volatile("" : : : "memory");
	r.magic = 0;
	return load_relaxed(&r.answer) == ITRACE_ANSWER_DONE;
}

static bool is_open(const struct callflow_kthread *k)
{
	return k->cur && k->cur->flags & CALLFLOW_THREAD_BRACKET;
}

/* Name the method before its trace: interpreted code has no name of its own. */
static void announce(const struct callflow_thread *t)
{
	const struct callflow_open *outermost = (const struct callflow_open *)(uintptr_t)t->stack + 1;
	const struct jvm_bracket b = {
		.time_ns = sys_now(), .thread = sys_tid(), .method = outermost->consumer & CALLFLOW_VALUE,
	};

	send_bracket(NULL, &b);
}

static void begin_trace(struct callflow_thread *t)
{
	t->flags |= CALLFLOW_THREAD_BRACKET;
	announce(t);
	if (ask(ITRACE_REQUEST_ON))
		return;
	t->flags &= ~CALLFLOW_THREAD_BRACKET;
	callflow_bracket_over(false);
}

static void end_trace(struct callflow_thread *t)
{
	t->flags &= ~CALLFLOW_THREAD_BRACKET;
	ask(callflow_bracket_over(true) ? ITRACE_REQUEST_LAST : ITRACE_REQUEST_OFF);
}

void JNICALL bracket_enter(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = probe_own_kthread(env);
	bool outermost = k && k->cur && !callflow_depth(k);

	if (!k)
		return;
	callflow_enter(k, CALLFLOW_METHOD | (uint32_t)method);
	if (outermost && callflow_bracket_due())
		begin_trace(k->cur);
}

/* End the trace before callflow's work if this call is known to be the last one open. */
static void leave_call(struct callflow_kthread *k, uint32_t method,
		       void (*step)(struct callflow_kthread *, uint32_t))
{
	if (is_open(k) && callflow_depth(k) == 1)
		end_trace(k->cur);
	step(k, CALLFLOW_METHOD | method);
	if (is_open(k) && !callflow_depth(k))
		end_trace(k->cur);
}

void JNICALL bracket_exit(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = probe_own_kthread(env);

	if (k)
		leave_call(k, method, callflow_leave);
}

void JNICALL bracket_thrown(JNIEnv *env, jclass cls, jint method)
{
	struct callflow_kthread *k = probe_own_kthread(env);

	if (k)
		leave_call(k, method, callflow_thrown);
}

void bracket_mounted(const struct callflow_kthread *k)
{
	if (is_open(k)) {
		announce(k->cur);
		ask(ITRACE_REQUEST_ON);
	}
}

void bracket_unmounting(const struct callflow_kthread *k)
{
	if (is_open(k))
		ask(ITRACE_REQUEST_OFF);
}

void bracket_thread_end(struct callflow_kthread *k)
{
	if (is_open(k))
		end_trace(k->cur);
}
