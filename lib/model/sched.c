// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched.c - from dispatches and interrupts to the times of threads and CPUs (sched.h).
 *
 * Invariants:
 *  [1] a thread's since_ns never goes back, and each moment of its life is put in one bucket;
 *  [2] time that does not fit the previous record is unknown and counted in odd, never guessed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/sched.h"

/* ---- what the trace says of processes and threads, beside their names ---- */

static struct sched_exec *get_exec(struct sched_model *m, uint32_t proc)
{
	uint32_t *at = map_put(&m->exec_of, proc);

	if (*at == MAP_NONE) {
		*at = m->nr_execs;
		*VEC_ADD(m->execs, m->nr_execs, m->alloc_execs) = (struct sched_exec){ 0 };
	}
	return &m->execs[*at];
}

static struct sched_thread *sched_model_get_thread(struct sched_model *m, uint32_t number)
{
	uint32_t *at = map_put(&m->by_number, number);

	if (*at == MAP_NONE) {
		*at = m->nr_threads;
		VEC_GROW(m->threads, m->nr_threads, m->alloc_threads);
		m->threads[m->nr_threads++] = (struct sched_thread){ .number = number, .name = "", .comm = "",
			.cpu = -1 };
	}
	return &m->threads[*at];
}

static int sched_model_take_label(void *ctx, const char *key, size_t key_len, const char *val, size_t val_len)
{
	struct sched_model *m = ctx;

	return names_sink.label(&m->names, key, key_len, val, val_len);
}

static int sched_model_take_proc(void *ctx, const struct rec_proc *r)
{
	struct sched_model *m = ctx;

	if (r->exec || map_get(&m->exec_of, r->proc) != MAP_NONE)
		get_exec(m, r->proc)->made = r->exec;
	if (r->exec && r->parent)
		get_exec(m, r->parent)->replaced_ns = r->time_ns;
	return names_sink.proc(&m->names, r);
}

static int sched_model_take_thread(void *ctx, const struct rec_thread *r)
{
	struct sched_model *m = ctx;
	struct sched_thread *t = sched_model_get_thread(m, r->thread);

	if (!t->born_ns)
		t->born_ns = r->time_ns;
	return names_sink.thread(&m->names, r);
}

static int sched_model_take_end(void *ctx, const struct rec_end *r)
{
	struct sched_model *m = ctx;

	if (r->thread)
		sched_model_get_thread(m, r->thread)->gone_ns = r->time_ns;
	return 0;
}

static int sched_model_take_lost(void *ctx, const struct rec_lost *r)
{
	struct sched_model *m = ctx;

	if (r->cause == LOST_SCHED_STOPPED) {	/* from the last that was stored to the end */
		*VEC_ADD(m->losses, m->nr_losses, m->alloc_losses) =
			(struct sched_loss){ UINT64_MAX, UINT32_MAX };
		m->nr_after += r->count;
		return names_sink.lost(&m->names, r);
	}
	if (r->cause != LOST_SCHED)
		return 0;
	m->nr_lost += r->count;
	*VEC_ADD(m->losses, m->nr_losses, m->alloc_losses) = (struct sched_loss){ r->time_ns, r->stream };
	return 0;
}

static int take_sched_at(void *ctx, const struct rec_sched_at *r)
{
	struct sched_model *m = ctx;

	*VEC_ADD(m->begun, m->nr_begun, m->alloc_begun) = *r;
	return 0;
}

/* ---- time ---- */

static uint64_t clip(const struct sched_model *m, uint64_t from, uint64_t to)
{
	from = MAX(from, m->start_ns);
	to = MIN(to, m->end_ns);
	return to > from ? to - from : 0;
}

/* Puts what passed since the last record into bucket b, and goes on in state next. */
static uint64_t sched_model_pass(struct sched_model *m, struct sched_thread *t, uint64_t now,
				 enum sched_bucket b, enum sched_bucket next)
{
	uint64_t from = t->since_ns, ns, most;

	now = MAX(now, from);		/* [1] */
	ns = clip(m, from, now);
	t->times[b] += ns;
	if (ns && m->opts.state)
		m->opts.state(m->opts.state_ctx, t, b, MAX(from, m->start_ns), MIN(now, m->end_ns));
	/* Interrupts are a part of the time on a CPU, and only of that. */
	most = b == SCHED_ON_CPU ? ns : 0;
	if (t->intr_run_ns > most)
		t->intr_ns -= t->intr_run_ns - most;
	t->intr_run_ns = 0;
	t->since_ns = now;
	t->state = next;
	return now - from;
}

/* Set what the thread did from its birth, or the start, until its first record. */
static void first_seen(struct sched_model *m, struct sched_thread *t, uint64_t now, bool loses_cpu)
{
	bool made = t->born_ns > m->trace_start_ns;

	t->seen = true;
	if (!t->born_ns || t->born_ns > now)
		t->born_ns = now;
	t->since_ns = MAX(t->born_ns, m->trace_start_ns);
	t->since_ns = MIN(t->since_ns, now);
	if (loses_cpu || (made && t->by_exec))
		t->state = SCHED_ON_CPU;
	else
		t->state = made ? SCHED_WAITS : SCHED_UNKNOWN;
}

static bool sched_model_in_window(const struct sched_model *m, uint64_t now)
{
	return now >= m->start_ns && now < m->end_ns;
}

static void odd(struct sched_model *m, struct sched_thread *t)
{
	t->odd++;
	m->nr_odd++;
}

/* Return a thread, NULL for number 0. */
static struct sched_thread *sched_model_thread_at(struct sched_model *m, uint32_t number, uint64_t now,
						  bool loses_cpu)
{
	struct sched_thread *t;

	if (!number)
		return NULL;
	t = sched_model_get_thread(m, number);
	if (!t->seen)
		first_seen(m, t, now, loses_cpu);
	if (t->gone) {		/* it cannot come back */
		t->gone = false;
		t->gone_ns = 0;
		t->state = SCHED_UNKNOWN;
		odd(m, t);
	}
	return t;
}

static enum sched_bucket sched_model_bucket_of(enum sched_state s)
{
	if (s == SCHED_RUNNABLE)
		return SCHED_WAITS;
	if (s == SCHED_UNTOLD)
		return SCHED_UNKNOWN;
	return s == SCHED_DISK ? SCHED_IN_DISK : SCHED_ASLEEP;
}

static void lose_cpu(struct sched_model *m, struct sched_thread *t, const struct rec_sched *r,
		     struct sched_line *l)
{
	bool fits = t->state == SCHED_ON_CPU;

	if (!fits || r->state == SCHED_UNTOLD)
		odd(m, t);	/* [2] */
	t->cpu = r->cpu;	/* where it was until now, too: before its first record that is not known */
	l->ran_ns = sched_model_pass(m, t, r->time_ns, fits ? SCHED_ON_CPU : SCHED_UNKNOWN,
				     sched_model_bucket_of(r->state));
	l->ran_known = fits;
	if (r->state == SCHED_DEAD) {
		t->gone_ns = t->since_ns;
		t->gone = true;
	}
	if (!sched_model_in_window(m, r->time_ns))
		return;
	if (r->state == SCHED_RUNNABLE)
		t->nr_preempted++;
	else if (r->state != SCHED_UNTOLD)
		t->nr_voluntary++;
}

static void get_cpu(struct sched_model *m, struct sched_thread *t, const struct rec_sched *r,
		    struct sched_line *l)
{
	bool waits = t->state == SCHED_WAITS, blocked = t->state == SCHED_ASLEEP || t->state == SCHED_IN_DISK;
	enum sched_bucket was = t->state;
	uint64_t ns;

	/* if wakeups are recorded, a blocked thread cannot run without one */
	if (t->state == SCHED_ON_CPU || (blocked && m->states)) {
		odd(m, t);
		was = SCHED_UNKNOWN;
	}
	ns = sched_model_pass(m, t, r->time_ns, was, SCHED_ON_CPU);
	l->waited_known = waits;
	l->waited_ns = waits ? ns : 0;
	if (sched_model_in_window(m, r->time_ns)) {
		t->nr_dispatches++;
		m->nr_dispatches += t->tid != 0;
		t->nr_migrations += t->cpu >= 0 && t->cpu != r->cpu;
		if (waits) {
			t->nr_waits++;
			t->wait_sum_ns += ns;
			t->wait_max_ns = MAX(t->wait_max_ns, ns);
		}
	}
	t->cpu = r->cpu;
}

/* ---- CPUs ---- */

static struct sched_cpu *get_cpu_at(struct sched_model *m, uint32_t cpu)
{
	if (cpu >= m->nr_cpus) {
		m->cpus = xrealloc(m->cpus, (cpu + 1) * sizeof(*m->cpus));
		memset(m->cpus + m->nr_cpus, 0, (cpu + 1 - m->nr_cpus) * sizeof(*m->cpus));
		m->nr_cpus = cpu + 1;
	}
	return &m->cpus[cpu];
}

static bool is_idle(const struct sched_model *m, uint32_t number)
{
	uint32_t at = map_get(&m->by_number, number);

	return at != MAP_NONE && !m->threads[at].tid;
}

static void cpu_passes(struct sched_model *m, struct sched_cpu *c, uint64_t now, uint32_t thread, bool fits)
{
	uint64_t ns;

	now = MAX(now, c->since_ns);
	ns = clip(m, c->since_ns, now);
	c->intr_in_ns = MIN(c->intr_in_ns, ns);
	c->intr_ns += c->intr_in_ns;
	ns -= c->intr_in_ns;
	if (!thread || !fits)
		c->unknown_ns += ns;
	else if (is_idle(m, thread))
		c->idle_ns += ns;
	else
		c->busy_ns += ns;
	c->intr_in_ns = 0;
	c->since_ns = now;
}

/* Return whether thread a has been b since an exec. */
static bool became(const struct sched_model *m, uint32_t a, uint32_t b)
{
	uint32_t i = map_get(&m->by_number, a), k = map_get(&m->by_number, b);

	return i != MAP_NONE && k != MAP_NONE && m->threads[k].by_exec && m->threads[i].gone_ns &&
	       m->threads[i].gone_ns == m->threads[k].born_ns;
}

/* Note that the CPU has left the thread at an unknown time [2]. */
static void sched_model_has_left(struct sched_model *m, uint32_t number, const struct rec_sched *r)
{
	uint32_t at = map_get(&m->by_number, number);
	struct sched_thread *t = at == MAP_NONE ? NULL : &m->threads[at];

	if (!t || !t->tid || t->state != SCHED_ON_CPU || t->cpu != r->cpu)
		return;
	odd(m, t);
	sched_model_pass(m, t, r->time_ns, SCHED_UNKNOWN, SCHED_UNKNOWN);
}

static void cpu_switch(struct sched_model *m, const struct rec_sched *r)
{
	struct sched_cpu *c = get_cpu_at(m, r->cpu);

	if (!c->seen)
		c->since_ns = m->trace_start_ns;
	if (c->seen && became(m, c->thread, r->thread))
		c->thread = r->thread;
	cpu_passes(m, c, r->time_ns, r->thread, !c->seen || c->thread == r->thread);
	if (c->seen && c->thread != r->thread)
		sched_model_has_left(m, c->thread, r);
	c->seen = true;
	c->thread = r->arg;
	c->depth = 0;
	c->nr_dispatches += sched_model_in_window(m, r->time_ns) && !is_idle(m, r->arg);
}

static bool soft_of_its_own(const struct sched_model *m, const struct rec_sched *r)
{
	uint32_t at = map_get(&m->by_number, r->thread);

	/* The thread that is there for soft interrupts does its own work in them. */
	return r->arg >> 24 == SCHED_INTR_SOFT && at != MAP_NONE && m->threads[at].softirqd;
}

static void interrupt(struct sched_model *m, const struct rec_sched *r)
{
	struct sched_cpu *c = get_cpu_at(m, r->cpu);
	struct sched_thread *t = sched_model_thread_at(m, r->thread, r->time_ns, !c->seen);
	bool soft = r->arg >> 24 == SCHED_INTR_SOFT;

	if (soft_of_its_own(m, r))
		return;
	if (!c->depth++) {
		c->intr_since_ns = r->time_ns;
		c->intr = r->arg;
	}
	if (!sched_model_in_window(m, r->time_ns))
		return;
	m->nr_intr++;
	c->nr_intr++;
	if (t && soft)
		t->nr_soft++;
	else if (t)
		t->nr_intr++;
}

static void interrupt_ends(struct sched_model *m, const struct rec_sched *r)
{
	struct sched_cpu *c = get_cpu_at(m, r->cpu);
	struct sched_thread *t = sched_model_thread_at(m, r->thread, r->time_ns, !c->seen);
	struct sched_line l = { .time_ns = r->time_ns, .cpu = r->cpu, .out = t, .is_intr = true,
		.ran_known = true };
	uint64_t ns;

	if (soft_of_its_own(m, r) || !c->depth || --c->depth)
		return;
	ns = clip(m, c->intr_since_ns, r->time_ns);
	c->intr_in_ns += ns;
	if (t && t->state == SCHED_ON_CPU) {
		ns = clip(m, MAX(c->intr_since_ns, t->since_ns), r->time_ns);
		t->intr_ns += ns;
		t->intr_run_ns += ns;
	}
	l.intr = c->intr;
	l.ran_ns = r->time_ns - MIN(c->intr_since_ns, r->time_ns);
	if (m->opts.line && sched_model_in_window(m, r->time_ns))
		m->opts.line(m->opts.line_ctx, &l);
}

/* ---- the beginning of one file of several ---- */

static void cpu_at(struct sched_model *m, const struct rec_sched_at *r)
{
	struct sched_cpu *c = get_cpu_at(m, r->cpu - 1);

	c->seen = true;
	c->thread = r->thread;
	c->since_ns = m->trace_start_ns;
}

static void intr_at(struct sched_model *m, const struct rec_sched_at *r)
{
	const struct rec_sched s = { .thread = r->thread, .arg = r->arg };
	struct sched_cpu *c = get_cpu_at(m, r->cpu - 1);

	if (soft_of_its_own(m, &s) || c->depth++)
		return;
	c->intr_since_ns = MIN(r->time_ns, m->trace_start_ns);
	c->intr = r->arg;
}

static void thread_begins(struct sched_model *m, const struct rec_sched_at *r)
{
	static const enum sched_bucket buckets[] = {
		[SCHED_AT_RUNS] = SCHED_ON_CPU, [SCHED_AT_WAITS] = SCHED_WAITS,
		[SCHED_AT_SLEEPS] = SCHED_ASLEEP, [SCHED_AT_DISK] = SCHED_IN_DISK,
		[SCHED_AT_UNKNOWN] = SCHED_UNKNOWN,
	};
	struct sched_thread *t;

	if (!r->thread || r->what > SCHED_AT_UNKNOWN)
		return;
	t = sched_model_get_thread(m, r->thread);
	t->seen = true;
	t->since_ns = MIN(r->time_ns, m->trace_start_ns);
	t->born_ns = t->born_ns ? MIN(t->born_ns, t->since_ns) : t->since_ns;
	t->state = buckets[r->what];
	t->cpu = r->cpu && r->cpu <= UINT16_MAX ? (int)r->cpu - 1 : -1;
}

static void begin_with(struct sched_model *m, const struct rec_sched_at *r)
{
	if (r->what > SCHED_AT_INTR)
		thread_begins(m, r);
	else if (!r->cpu || r->cpu > UINT16_MAX)
		return;
	else if (r->what == SCHED_AT_CPU)
		cpu_at(m, r);
	else
		intr_at(m, r);
}

/* ---- records ---- */

static void dispatch(struct sched_model *m, const struct rec_sched *r)
{
	struct sched_line l = { .time_ns = r->time_ns, .cpu = r->cpu, .state = r->state };
	bool first = !get_cpu_at(m, r->cpu)->seen;	/* who loses it had it since the start */
	struct sched_thread *out, *in;

	cpu_switch(m, r);
	if (sched_model_thread_at(m, r->thread, r->time_ns, first))
		sched_model_thread_at(m, r->arg, r->time_ns, false);	/* may move the others */
	out = is_idle(m, r->thread) ? NULL : sched_model_thread_at(m, r->thread, r->time_ns, first);
	in = is_idle(m, r->arg) ? NULL : sched_model_thread_at(m, r->arg, r->time_ns, false);
	if (out)
		lose_cpu(m, out, r, &l);
	if (in)
		get_cpu(m, in, r, &l);
	l.out = r->thread ? sched_model_get_thread(m, r->thread) : NULL;
	l.in = r->arg ? sched_model_get_thread(m, r->arg) : NULL;
	if (m->opts.line && sched_model_in_window(m, r->time_ns))
		m->opts.line(m->opts.line_ctx, &l);
}

static void wake(struct sched_model *m, const struct rec_sched *r)
{
	struct sched_thread *t = sched_model_thread_at(m, r->thread, r->time_ns, false);

	if (!t || !t->tid || t->state == SCHED_ON_CPU || t->state == SCHED_WAITS)
		return;
	sched_model_pass(m, t, r->time_ns, t->state, SCHED_WAITS);
}

/* Lose all states: any thread may have done anything meanwhile [2]. */
static void lose(struct sched_model *m, const struct sched_loss *l)
{
	size_t i;

	for (i = 0; i < m->nr_threads; i++) {
		struct sched_thread *t = &m->threads[i];

		if (t->seen && !t->gone && t->since_ns < l->time_ns)
			sched_model_pass(m, t, l->time_ns, SCHED_UNKNOWN, SCHED_UNKNOWN);
	}
	for (i = 0; i < m->nr_cpus; i++) {
		struct sched_cpu *c = &m->cpus[i];

		if ((l->cpu != i && l->cpu != UINT32_MAX) || !c->seen)
			continue;
		cpu_passes(m, c, l->time_ns, 0, false);
		c->thread = 0;
		c->depth = 0;
	}
}

static void lose_until(struct sched_model *m, uint64_t time_ns)
{
	while (m->next_loss < m->nr_losses && m->losses[m->next_loss].time_ns <= time_ns)
		lose(m, &m->losses[m->next_loss++]);
}

static int sched_model_take_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	struct sched_model *m = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		m->last_ns = MAX(m->last_ns, r[i].time_ns);
		lose_until(m, r[i].time_ns);
		switch (r[i].kind) {
		case SCHED_SWITCH:
			dispatch(m, &r[i]);
			break;
		case SCHED_WAKE:
			wake(m, &r[i]);
			break;
		case SCHED_INTR:
			interrupt(m, &r[i]);
			break;
		case SCHED_INTR_END:
			interrupt_ends(m, &r[i]);
			break;
		}
	}
	return 0;
}

/* ---- reading ---- */

/* Complete a thread by what only all records together show. */
static void complete_thread(struct sched_model *m, struct sched_thread *t)
{
	const struct names *x = &m->names;
	uint32_t at = map_get(&x->thread_of, t->number), proc, exec;

	if (at == MAP_NONE)
		return;
	t->tid = x->threads[at].tid;
	t->name = model_str(&m->strings, x->threads[at].name);
	t->softirqd = !strncmp(t->name, "ksoftirqd/", 10);
	proc = map_get(&x->proc_of, x->threads[at].proc);
	if (proc != MAP_NONE) {
		t->pid = x->procs[proc].pid;
		t->comm = model_str(&m->strings, x->procs[proc].comm);
	}
	exec = map_get(&m->exec_of, x->threads[at].proc);
	if (exec == MAP_NONE)
		return;
	t->by_exec = m->execs[exec].made && t->tid == t->pid;
	if (m->execs[exec].replaced_ns && !t->gone_ns)
		t->gone_ns = m->execs[exec].replaced_ns;
}

static int set_window(struct sched_model *m, struct trace_reader *t, struct err *e)
{
	static const struct selection all;
	const struct selection *s = m->opts.select ? m->opts.select : &all;
	const struct names *x = &m->names;
	const char *scope = names_label(x, "sched.scope"), *states = names_label(x, "sched.states");
	const char *irq = names_label(x, "sched.irq");
	uint64_t mono, real, zero = 0;
	int r;

	if (!scope) {
		err_set(e, ENODATA, "the trace has no dispatches");
		err_hint(e, "record them: 'arcprof record --sched ...', or --irq for interrupts as well");
		return -ENODATA;
	}
	trace_reader_start(t, &mono, &real);
	m->system = !strcmp(scope, "system");
	m->states = states && !strcmp(states, "yes");
	m->irq = irq && !strcmp(irq, "yes");
	m->start_ns = names_label_u64(x, "sched.start_ns");
	m->end_ns = names_label_u64(x, "sched.end_ns");
	if (!m->start_ns)
		m->start_ns = mono;
	if (!m->end_ns)		/* cut off: as far as it goes */
		m->end_ns = UINT64_MAX;
	m->trace_start_ns = m->start_ns;
	if (s->to_ns)
		m->end_ns = MIN(m->end_ns, m->start_ns + s->to_ns);
	if (s->from_zero && (r = names_zero(x, &zero, e)))
		return r;
	m->start_ns = s->from_zero ? MAX(m->start_ns, zero) : m->start_ns + s->from_ns;
	m->start_ns = MAX(m->start_ns, names_label_u64(x, "reset.mono_ns"));
	m->end_ns = MAX(m->end_ns, m->start_ns);	/* also of a trace that says nonsense */
	return 0;
}

/* Finish an interrupt that is open at the end. */
static void finish_interrupt(struct sched_model *m, struct sched_cpu *c)
{
	uint32_t at = c->thread ? map_get(&m->by_number, c->thread) : MAP_NONE;
	struct sched_thread *t = at == MAP_NONE ? NULL : &m->threads[at];
	uint64_t ns;

	if (!c->depth)
		return;
	c->intr_in_ns += clip(m, c->intr_since_ns, m->end_ns);
	if (t && t->state == SCHED_ON_CPU && !t->gone) {
		ns = clip(m, MAX(c->intr_since_ns, t->since_ns), m->end_ns);
		t->intr_ns += ns;
		t->intr_run_ns += ns;
	}
	c->depth = 0;
}

static void sched_model_finish(struct sched_model *m)
{
	size_t i;

	if (m->end_ns == UINT64_MAX)
		m->end_ns = MAX(m->last_ns, m->start_ns);
	for (; m->next_loss < m->nr_losses; m->next_loss++) {
		m->losses[m->next_loss].time_ns = MIN(m->losses[m->next_loss].time_ns, m->end_ns);
		lose(m, &m->losses[m->next_loss]);
	}
	for (i = 0; i < m->nr_cpus; i++)
		finish_interrupt(m, &m->cpus[i]);
	for (i = 0; i < m->nr_threads; i++) {
		struct sched_thread *t = &m->threads[i];
		uint64_t end = m->end_ns;

		if (!t->seen)
			continue;
		if (t->gone) {		/* when it was switched out for good, whatever its end record says */
			t->gone_ns = t->since_ns;
			continue;
		}
		if (t->gone_ns)
			end = t->gone_ns = MAX(t->gone_ns, t->since_ns);
		sched_model_pass(m, t, MAX(end, t->since_ns), t->state, t->state);
	}
	for (i = 0; i < m->nr_cpus && m->system; i++) {
		struct sched_cpu *c = &m->cpus[i];

		if (!c->seen)
			c->since_ns = m->trace_start_ns;
		cpu_passes(m, c, MAX(m->end_ns, c->since_ns), c->thread, true);
	}
}

int sched_read(struct sched_model *m, struct trace_reader *t, const struct sched_opts *opts, struct err *e)
{
	static const struct trace_sink names = {
		.label = sched_model_take_label, .proc = sched_model_take_proc,
		.thread = sched_model_take_thread, .end = sched_model_take_end,
		.lost = sched_model_take_lost, .sched_at = take_sched_at,
	};
	static const struct trace_sink records = { .sched = sched_model_take_sched };
	size_t i;
	int r;

	memset(m, 0, sizeof(*m));
	model_init(&m->strings, 1, FLOW_CALLS);
	names_init(&m->names, &m->strings, &(struct resolve_opts){ .no_files = true });
	if (opts)
		m->opts = *opts;
	r = trace_read(t, &names, m, e);
	if (!r)
		r = set_window(m, t, e);
	if (r)
		return r;
	for (i = 0; i < m->nr_threads; i++)
		complete_thread(m, &m->threads[i]);
	for (i = 0; i < m->nr_begun; i++)
		begin_with(m, &m->begun[i]);
	r = trace_read(t, &records, m, e);
	if (!r)
		sched_model_finish(m);
	return r;
}

void sched_release(struct sched_model *m)
{
	names_release(&m->names);
	model_release(&m->strings);
	map_release(&m->by_number);
	map_release(&m->exec_of);
	free(m->threads);
	free(m->execs);
	free(m->cpus);
	free(m->losses);
	free(m->begun);
	memset(m, 0, sizeof(*m));
}

void sched_intr_name(const struct sched_model *m, uint32_t intr, struct buf *b)
{
	static const char *const soft[] = {	/* include/linux/interrupt.h */
		"HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU",
	};
	uint32_t class = intr >> 24, number = intr & 0xffffff;
	const char *name;
	char key[32];

	if (class == SCHED_INTR_SOFT) {
		if (number < ARRAY_SIZE(soft))
			buf_fmt(b, "softirq %s", soft[number]);
		else
			buf_fmt(b, "softirq %" PRIu32, number);
		return;
	}
	if (class == SCHED_INTR_IPI) {
		buf_str(b, "ipi");
		return;
	}
	snprintf(key, sizeof(key), "%s.%" PRIu32, class == SCHED_INTR_VECTOR ? "vector" : "irq", number);
	name = names_label(&m->names, key);
	buf_fmt(b, "%s %" PRIu32, class == SCHED_INTR_VECTOR ? "vector" : "irq", number);
	if (name)
		buf_fmt(b, " %s", name);
}

void sched_check(const struct sched_model *m, struct sums_check *out)
{
	uint64_t elapsed = m->end_ns > m->start_ns ? m->end_ns - m->start_ns : 0;
	size_t i, b;

	*out = (struct sums_check){ 0 };
	for (i = 0; i < m->nr_threads; i++) {
		const struct sched_thread *t = &m->threads[i];
		uint64_t sum = 0, life = sched_life_ns(m, t);

		if (!t->seen || !t->tid)
			continue;
		for (b = 0; b < SCHED_NR_BUCKETS; b++)
			sum += t->times[b];
		sums_check_that(out, sum == life && t->intr_ns <= t->times[SCHED_ON_CPU],
				"thread %" PRIu32 ": %" PRIu64 " of %" PRIu64 " ns", t->tid, sum, life);
	}
	for (i = 0; i < m->nr_cpus && m->system; i++) {
		const struct sched_cpu *c = &m->cpus[i];
		uint64_t sum = c->busy_ns + c->idle_ns + c->intr_ns + c->unknown_ns;

		sums_check_that(out, sum == elapsed, "CPU %zu: %" PRIu64 " of %" PRIu64 " ns", i, sum,
				elapsed);
	}
}

const char *sched_state_letter(enum sched_state s)
{
	static const char *const names[SCHED_NR_STATES] = { "R", "S", "D", "T", "X", "I", "B", "?" };

	return s < SCHED_NR_STATES ? names[s] : "?";
}
