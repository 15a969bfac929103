// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * agents.c - the JVMs of a recording: messages from their agents, and how a JVM's threads pass
 * from the recorder's events to their own (evset.h says why and which).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/control/control.h"
#include "collect/engine/clocks.h"
#include "collect/engine/recording.h"
#include "collect/jvm/jvmevents.h"
#include "collect/jvm/outside.h"
#include "collect/wall/wall.h"
#include "jvm/facts.h"
#include "jvm/inject.h"
#include "jvm/invite.h"
#include "jvm/replay.h"
#include "jvm/target.h"
#include "outside/outside.h"

static void emit_sample(void *ctx, const struct thread *th, struct rec_sample *s,
			const struct frame *frames, size_t nr_frames)
{
	collect_sample(ctx, th, s, frames, nr_frames);
}

/*
 * Set old is closed; its tasks go on in two new ones: the JVMs' threads asleep until a child of
 * theirs execs, all others sampled as before.
 */
static void split_set(struct collect *c, uint32_t old)
{
	uint32_t awake = evset_new(&c->ev, EVSET_MAIN), latent = evset_new(&c->ev, EVSET_LATENT);
	struct err e;
	size_t i;

	for (i = 0; i < c->tasks.nr_all; i++) {
		struct thread *th = c->tasks.threads[i];

		if (th->dead || th->evset != old)
			continue;
		th->evset = th->proc->java && th->proc->java->sampled ? latent : awake;
		evset_add(&c->ev, th->evset, th->tid, false, &e);
		th->evset_ns = clock_mono_ns();
	}
	evset_close(&c->ev, old);
	if (collect_is_on(c))
		evset_enable(&c->ev, awake, true);
}

/*
 * Sets that sample threads of the process, or may when one executes a program. Which these are is settled
 * before the first is split: its threads are then in another, which is not to be split again.
 */
static void hand_over(struct collect *c, struct proc *p)
{
	const size_t nr_sets = c->ev.nr_sets;
	bool *wanted = xcalloc(nr_sets + 1, sizeof(*wanted));
	size_t i;

	for (i = 0; i < c->tasks.nr_all; i++) {
		const struct thread *th = c->tasks.threads[i];

		if (!th->dead && th->proc == p && th->evset)
			wanted[th->evset] = true;
	}
	for (i = 1; i <= nr_sets; i++)
		if (wanted[i] && !c->ev.sets[i - 1].closed && c->ev.sets[i - 1].kind != EVSET_TRAP)
			split_set(c, i);
	free(wanted);
}

static bool has_traps_of_cpus(const struct collect *c)
{
	size_t i;

	for (i = 0; i < c->ev.nr_sets; i++)
		if (c->ev.sets[i].kind == EVSET_TRAP && !c->ev.sets[i].proc && !c->ev.sets[i].closed)
			return true;
	return false;
}

/*
 * Take the process's samples from the clocks of the CPUs, as those of programs; return false if that is
 * impossible.
 */
static bool trap_by_cpus(struct collect *c, const struct proc *p)
{
	uint32_t traps;
	struct err e;

	if (!c->ev.conf.trapped_fd || !c->ev.conf.filter_fd)
		return false;
	if (!has_traps_of_cpus(c)) {
		traps = evset_new(&c->ev, EVSET_TRAP);
		if (evset_add(&c->ev, traps, -1, false, &e)) {
			evset_close(&c->ev, traps);
			return false;
		}
		if (collect_is_on(c))
			evset_enable(&c->ev, traps, true);
	}
	return parts_trap(c, p->pid);
}

static struct proc *agents_proc_of(const struct jvm *jvm)
{
	const struct java *j = jvm_user(jvm);

	return j->proc;
}

/*
 * Admit a process: any on the whole machine, or one with our events, inherited from its parent. If there are
 * no events, or the record of a fork was lost, it must be below the program.
 */
static bool on_admit(void *ctx, int pid, uint64_t start_ns)
{
	struct collect *c = ctx;
	const struct thread *th;

	if (c->o->system_wide)
		return !c->o->groups || cgroups_have(c->o->groups, pid);
	collect_merge(c, clock_mono_ns());	/* its fork comes first */
	th = tasks_leader(&c->tasks, pid, start_ns);
	return (th && th->evset) || tasks_descends(pid, c->child_pid);
}

static bool on_hello(void *ctx, struct jvm *jvm, int pid, int tid)
{
	struct collect *c = ctx;
	struct thread *th;
	struct java *j;
	struct err e;
	bool by_cpus;

	collect_merge(c, clock_mono_ns());
	th = tasks_get(&c->tasks, pid, tid, clock_mono_ns());
	j = java_new(jvm, th->proc);
	j->next = c->javas;
	c->javas = j;
	th->proc->had_agent = true;
	/* samples may have come before it */
	c->res->nr_strange_jvms -= th->proc->strange;
	th->proc->strange = false;
	jvm_set_user(jvm, j);
	c->res->nr_jvms++;
	triggers_jvm(c, pid);
	j->walls = c->walls && jvm_has_wall_maps(jvm);
	if (c->walls && !j->walls)
		refused_source(&c->refused, "Java frames of wall", j->proc->pid,
			       "its user may not look at the other processes that are recorded");
	if (c->only_jvms) {
		j->sampled = true;
		return true;
	}
	if (c->o->java != JAVA_SAMPLE)
		return false;
	by_cpus = trap_by_cpus(c, th->proc);
	if (!by_cpus && !traps_open(c, th->proc, &e)) {
		refused_source(&c->refused, "Java stacks", pid, e.msg);
		snprintf(c->res->no_traps, sizeof(c->res->no_traps), "%s", e.msg);
		return false;
	}
	j->sampled = true;
	j->since_ns = by_cpus ? UINT64_MAX : clock_mono_ns();
	if (!by_cpus && !clocks_leave_out(c, pid) && !c->o->system_wide)
		hand_over(c, th->proc);
	return true;
}

static void on_marks(void *ctx, struct jvm *jvm, int pid)
{
	struct collect *c = ctx;
	struct java *j;

	collect_merge(c, clock_mono_ns());	/* its exec comes first */
	j = java_new_program(jvm, tasks_get(&c->tasks, pid, pid, clock_mono_ns())->proc);
	j->program = false;
	j->marks = true;
	j->next = c->javas;
	c->javas = j;
	jvm_set_user(jvm, j);
}

/*
 * Merge what was mapped and forked before a record of a process. The record may claim any time: one in
 * the future would stop reading the rings until then.
 */
static void merge_before(struct collect *c, uint64_t time_ns)
{
	collect_merge(c, MIN(time_ns, clock_mono_ns()));
}

static void take_of_source(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
			   size_t nr)
{
	const struct part *p = parts_of_source(c, s->event);

	if (p)
		p->java_sample(c, j, s, thread, nr);
	else if (sources_sample(c, j, s, thread, c->frames, nr))
		parts_sampled(c, j, s);
}

static void on_java_sample(void *ctx, struct jvm *jvm, const struct jvm_sample *s)
{
	struct collect *c = ctx;
	struct java *j = jvm_user(jvm);
	struct thread *th;
	uint32_t vthread;
	size_t nr;

	if (j->program) {
		memory_program_sample(c, j, s);
		return;
	}
	merge_before(c, s->time_ns);
	th = tasks_get_at(&c->tasks, j->proc, s->tid, s->time_ns);
	nr = stack_java(c, j, s, c->frames);
	vthread = s->vthread ? tasks_virtual(&c->tasks, j->proc, s->vthread, NULL, s->time_ns) : 0;
	if (s->wall) {
		walls_java(c, th, s, vthread ? vthread : th->id, c->frames, nr);
		return;
	}
	if (s->of_source) {
		take_of_source(c, j, s, vthread ? vthread : th->id, nr);
		return;
	}
	if (s->nr_periods) {
		j->nr_throttled += s->skipped;
		timers_sample(c, th, s, vthread ? vthread : th->id, c->frames, nr);
		return;
	}
	java_user_half(j, th,
		       &(struct rec_sample){ .time_ns = s->time_ns, .event = s->event, .thread = vthread },
		       (struct java_hit){ s->late, s->skipped }, c->frames, nr);
}

static void on_method(void *ctx, struct jvm *jvm, const struct jvm_method *m)
{
	struct collect *c = ctx;
	struct java *j = jvm_user(jvm);

	javatrace_method(c, jvm, m);
	callflows_method(&c->calls, jvm, m);
	timedcalls_method(c, jvm, m);
	if (c->o->lines && m->lines_len)
		javalines_method(&j->lines, m->method, m->lines, m->lines_len);
}

static void agents_on_code(void *ctx, struct jvm *jvm, const struct jvm_code *code)
{
	struct collect *c = ctx;
	struct java *j = jvm_user(jvm);
	struct javacode_to to = java_code_to(c, j);

	javatrace_code(c, jvm, code);
	if (c->o->code)
		javacode_add(&j->code, code, &to);
	if (c->o->lines)
		javalines_code(&j->lines, code);
	if (c->o->java == JAVA_NAMES || c->o->system_wide)
		java_add_code(j, code);
}

static void on_code_gone(void *ctx, struct jvm *jvm, const struct jvm_code_gone *gone)
{
	struct java *j = jvm_user(jvm);

	javatrace_code_gone(ctx, jvm, gone);
	java_code_gone(j, gone->addr);
	javalines_code_gone(&j->lines, gone->addr);
	javacode_gone(&j->code, gone->addr);
}

static void on_refused(void *ctx, struct jvm *jvm, const struct jvm_refused *x)
{
	struct collect *c = ctx;
	struct java *j = jvm_user(jvm);
	const struct rec_call_refused r = {
		.time_ns = x->time_ns, .proc = j->proc->id,
		.class_name = x->class_name, .class_len = x->class_len,
		.name = x->name, .name_len = x->name_len,
		.sig = x->sig, .sig_len = x->sig_len,
		.why = x->why, .why_len = x->why_len,
	};

	refused_add(&c->refused, c->w, &r);
}

static void on_leaf(void *ctx, struct jvm *jvm, const struct jvm_leaf *leaf)
{
	parts_leaf(ctx, jvm_user(jvm), leaf);
}

static void on_lacks(void *ctx, struct jvm *jvm, const struct jvm_lacks *r)
{
	static const char *const names[FACTS_NR] = {
#define FEATURE(id, since, uses, name) [FACTS_##id] = name,
#include "jvm/facttable.h"
	};
	struct collect *c = ctx;
	struct java *j = jvm_user(jvm);
	char *why;

	if (r->feature >= FACTS_NR)
		return;
	c->res->nr_lacking += !j->lacks;
	j->lacks = true;
	why = xasprintf("this JVM has no %s", r->fact);
	refused_source(&c->refused, names[r->feature], j->proc->pid, why);
	free(why);
}

/* Reports deadlocks that the record completes, once each. */
static void add_stuck(struct collect *c, struct jvm *jvm, enum jvm_rec_type type, const union jvm_record *r)
{
	struct java *j = jvm_user(jvm);
	double seconds = c->begun_ns ? (clock_mono_ns() - c->begun_ns) / 1e9 : 0;
	struct buf text = BUF_INIT;
	size_t at;

	deadlocks_add(&j->deadlocks, type, r, &text);
	for (at = 0; at < text.len; at += strlen(text.data + at) + 1) {
		char key[32];

		snprintf(key, sizeof(key), "deadlock.%" PRIu64, c->res->nr_deadlocks++);
		trace_writer_keep(c->w, false);
		trace_write_label(c->w, key, "process %d, seen after %.1f s: %s", j->proc->pid, seconds,
				  text.data + at);
		trace_writer_keep(c->w, true);
		if (c->o->deadlock)
			c->o->deadlock(j->proc->pid, text.data + at);
	}
	buf_release(&text);
}

#define ON_DUMP(kind) \
	static void on_dump_##kind(void *ctx, struct jvm *jvm, const struct jvm_dump_##kind *r) \
	{ \
		const union jvm_record any = { .dump_##kind = *r }; \
\
		add_stuck(ctx, jvm, JVM_REC_dump_##kind, &any); \
	}
ON_DUMP(begin)
ON_DUMP(thread)
ON_DUMP(frame)
ON_DUMP(lock)
ON_DUMP(edge)
ON_DUMP(end)

static void on_no_event(void *ctx, struct jvm *jvm, const struct jvm_no_event *r)
{
	const struct java *j = jvm_user(jvm);
	struct collect *c = ctx;

	jvmevents_refused(&c->refused, j->proc->pid, r);
}

/* Note that the trace needs the labels that the thread, or its virtual thread, had at that time. */
static void note_labels(struct collect *c, struct jvm *jvm, uint32_t tid, uint64_t vthread, uint64_t time_ns)
{
	struct proc *p = agents_proc_of(jvm);

	if (!c->labels || !tid || !switches_tell(c, JVM_TELL_LABEL, time_ns))
		return;
	threadlabels_sample(c->labels, vthread ? tasks_virtual(&c->tasks, p, vthread, NULL, time_ns) :
			    tasks_get_at(&c->tasks, p, tid, time_ns)->id, time_ns);
}

static bool wants_event(struct collect *c, struct proc *p, const struct jvm_event *r)
{
	bool asks = r->thread && filters_have_rules(c, r->time_ns);

	return filters_want_event(c, asks ? tasks_get_at(&c->tasks, p, r->thread, r->time_ns)->id : 0, r);
}

static void agents_on_event(void *ctx, struct jvm *jvm, const struct jvm_event *r)
{
	struct collect *c = ctx;

	if (r->kind == JVM_EVENT_MARK || r->kind == JVM_EVENT_PHASE)
		switches_mark(c, r->what, r->what_len);
	/* Classes that are there come when a JVM is asked for them, before all have said that they tell. */
	if (r->kind != JVM_EVENT_CLASS_PRESENT && !switches_tell(c, jvmevents_of(r->kind), r->time_ns))
		return;
	merge_before(c, r->time_ns);
	if (wants_event(c, agents_proc_of(jvm), r)) {
		javatrace_event(c, jvm, r);
		c->res->tallies[JVM_TALLY_PAUSES].recorded += r->kind == JVM_EVENT_GC;
		note_labels(c, jvm, r->thread, r->vthread, r->time_ns);
		c->res->nr_jvm_events += r->kind != JVM_EVENT_CLASS_TIME;	/* there is the load itself */
	}
	triggers_event(c, r, agents_proc_of(jvm)->id);
}

static bool wants_mark(struct collect *c, struct jvm *jvm, const struct jvm_marked *r)
{
	return wants_event(c, agents_proc_of(jvm), &(struct jvm_event){
		.time_ns = r->time_ns, .thread = r->thread, .vthread = r->vthread,
		.duration_ns = r->duration_ns,
		.kind = r->duration_ns == UINT64_MAX ? JVM_EVENT_MARK : JVM_EVENT_PHASE,
	});
}

static void on_marked(void *ctx, struct jvm *jvm, const struct jvm_marked *r)
{
	struct collect *c = ctx;

	if (!switches_tell(c, JVM_TELL_MARK, r->time_ns))
		return;
	merge_before(c, r->time_ns);
	if (!wants_mark(c, jvm, r))
		return;
	javatrace_marked(c, jvm, r);
	note_labels(c, jvm, r->thread, r->vthread, r->time_ns);
	c->res->nr_jvm_events++;
}

static void on_lost(void *ctx, struct jvm *jvm, uint64_t nr)
{
	struct collect *c = ctx;

	javatrace_lost(c, jvm, nr);
	c->res->nr_lost += nr;
}

static void on_gone(void *ctx, struct jvm *jvm)
{
	struct java *j = jvm_user(jvm);

	if (j->program) {
		openwaits_tell(ctx, j, clock_mono_ns());
		memory_end_program(ctx, j);
	}
	j->gone = true;
	j->jvm = NULL;
}

static int on_callflow(void *ctx, struct jvm *jvm, int pid, bool program, uint64_t *bytes)
{
	struct collect *c = ctx;
	struct proc *p;

	if (c->timed && program)
		return -1;		/* methods only */
	collect_merge(c, clock_mono_ns());	/* its exec comes first */
	p = tasks_get(&c->tasks, pid, pid, clock_mono_ns())->proc;
	return c->timed ? timedcalls_new(c, jvm, p, bytes) : callflows_new(&c->calls, jvm, p, bytes);
}

static bool on_function(void *ctx, struct jvm *jvm, uint64_t addr)
{
	struct collect *c = ctx;

	collect_merge(c, clock_mono_ns());	/* what was mapped before */
	return callflows_function(&c->calls, jvm, addr);
}

static void on_callflow_gone(void *ctx, struct jvm *jvm)
{
	struct collect *c = ctx;

	collect_merge(c, clock_mono_ns());	/* what it mapped last */
	if (c->timed)
		timedcalls_gone(c, jvm);
	else
		callflows_end(&c->calls, jvm);
}

/* Drain rings and answer "arcprof ctl" meanwhile, as this can take seconds. */
static bool on_meanwhile(void *ctx)
{
	enum { LATE_NS = 10000000 };
	struct collect *c = ctx;

	collect_merge(c, clock_mono_ns() - LATE_NS);
	if (c->serve)
		c->serve(c->serve_ctx);
	return !c->stop_asked;
}

static const struct jvm_callbacks callbacks = {
	.meanwhile = on_meanwhile,
	.admit = on_admit,
	.callflow = on_callflow,
	.function = on_function,
	.callflow_gone = on_callflow_gone,
	.hello = on_hello,
	.marks = on_marks,
	.sample = on_java_sample,
	.method = on_method,
	.code = agents_on_code,
	.code_gone = on_code_gone,
	.refused = on_refused,
	.dump_begin = on_dump_begin,
	.dump_thread = on_dump_thread,
	.dump_frame = on_dump_frame,
	.dump_lock = on_dump_lock,
	.dump_edge = on_dump_edge,
	.dump_end = on_dump_end,
	.leaf = on_leaf,
	.lacks = on_lacks,
	.event = agents_on_event,
	.marked = on_marked,
	.no_event = on_no_event,
	.lost = on_lost,
	.gone = on_gone,
};

/*
 * Return the bytes that a JVM's threads write in a tenth of a second, in which the recorder does get a
 * CPU. A sample takes up to 16 KiB, because where there is no Java frame yet the copied stack can be 64.
 */
static uint64_t agent_ring_bytes(const struct collect *c)
{
	uint64_t want = collect_expected_hz(&c->o->ev) / 10 * 16384, bytes = 1 << 20;
	const uint32_t max_depth = c->o->java_depth;

	/* of sources: they have Java frames alone, and come in bursts */
	want += sources_expected_hz(c) / 4 * 1024;
	/* some of the deepest, at least */
	want = MAX(want, 4 * max_depth * sizeof(struct jvm_rec_frame));
	while (bytes < want && bytes < 64 << 20)
		bytes *= 2;
	return bytes;
}

static bool any_jvm(const struct collect_opts *o)
{
	size_t i;

	for (i = 0; i < o->nr_pids; i++)
		if (target_is_jvm(o->pids[i]))
			return true;
	return o->all_jvms;
}

/*
 * Tells the programs that the command starts where we are. A program needs no JVM, and one without
 * a JVM no agent: where that is impossible, it is reported at the end, if there was a JVM.
 */
static int invite(struct collect *c, struct err *e)
{
	int r = jvm_server_listen(c->jvm, e);

	/* libarcprof-hookit looks there. */
	if (!r && c->o->callflow.on && setenv("ARCPROF_CALLFLOW", jvm_server_path(c->jvm), 1))
		r = err_errno(e, "setenv ARCPROF_CALLFLOW");
	/* lib/api/recorder.c looks there. */
	if (!r && c->o->jvm_events & JVM_TELL_BY_PROGRAM &&
	    setenv("ARCPROF_MARKS", jvm_server_path(c->jvm), 1))
		r = err_errno(e, "setenv ARCPROF_MARKS");
	if (r && (c->o->callflow.on || c->o->jvm_events & JVM_TELL_BY_PROGRAM))
		return r;
	if (!r)
		r = jvm_server_setenv(c->jvm, e);
	if (r)
		snprintf(c->res->no_agent, sizeof(c->res->no_agent), "%s", e->msg);
	return 0;
}

static int open_server(struct collect *c, const struct jvm_server_opts *o, struct err *e)
{
	struct jvm_callbacks cb = callbacks;

	c->javatrace = (struct javatrace){ .w = c->w, .tasks = &c->tasks, .proc = agents_proc_of };
	parts_take(c, &cb);
	javatrace_complete(&cb);
	return jvm_server_open(&c->jvm, o, &cb, c, e);
}

struct jvm *agents_replay(struct collect *c, int pid, struct err *e)
{
	const struct jvm_server_opts o = { .sample = true, .places = true };
	struct jvm *j = open_server(c, &o, e) ? NULL : jvm_replay_begin(c->jvm, pid);

	if (c->jvm && !j)
		err_set(e, ENOMEM, "no memory for the journal");
	return j;
}

/* Return whether running programs are to report marks. */
static bool has_programs(const struct collect_opts *o)
{
	return o->nr_pids && o->jvm_events & JVM_TELL_BY_PROGRAM;
}

/* Walk stacks from outside on kernels where no sample can have the agent walk. */
static void do_without_traps(struct collect *c)
{
	if (c->o->java_by != JAVA_AUTO || c->o->java != JAVA_SAMPLE || !c->o->ev.nr_events ||
	    c->o->ev.nr_aside || !outside_possible() || outside_lacks(c) || traps_possible())
		return;
	c->opts.java_by = JAVA_OUTSIDE;
	c->why_outside = "this kernel cannot signal the sampled thread (needs Linux 5.13)";
}

int agents_open(struct collect *c, struct err *e)
{
	struct jvm_server_opts o = {
		.sample = c->o->java == JAVA_SAMPLE,
		/* what is sampled without the agent's help gets its name from the code's range */
		.places = (c->o->java == JAVA_SAMPLE || c->o->jvm_events) && !c->o->system_wide,
		.live_gc = c->o->live_gc || c->o->live_histogram,
		.stuck = true,
		.max_depth = c->o->java_depth,
		.max_stack_bytes = SEGMENT_BYTES,
		.ring_bytes = agent_ring_bytes(c),
		.callflow = c->o->callflow.on || c->timed,
		.programs = c->o->java == JAVA_OFF || !inject_possible(),
		.kernels_clock = true,
	};
	const char *lacks;
	int r;

	if (memory_check_program(c, e))
		return -ENOTSUP;
	do_without_traps(c);
	if (collect_from_outside(c) && (lacks = outside_lacks(c)))
		return err_set(e, ENOTSUP, "%s need the agent: Java stacks alone are known from outside", lacks);
	if ((o.programs && !o.callflow && !(o.tell & JVM_TELL_BY_PROGRAM)) ||
	    !(c->o->argv || any_jvm(c->o) || has_programs(c->o)))
		return 0;
	switches_ask(c, &o);
	r = open_server(c, &o, e);
	if (!r && has_programs(c->o) && !c->o->argv)
		return jvm_server_listen(c->jvm, e);
	return r || !c->o->argv || collect_from_outside(c) ? r : invite(c, e);
}

/* Walk a JVM from outside; why: no agent came; "": none was to. */
static int attach_outside(struct collect *c, int pid, bool wait, const char *why, struct err *e)
{
	struct proc *p;
	int r;

	collect_merge(c, clock_mono_ns());
	p = tasks_get(&c->tasks, pid, pid, clock_mono_ns())->proc;
	p->nr_thread_holders++;		/* records come in meanwhile */
	r = outside_begin(c, p, wait, why, e);
	p->nr_thread_holders--;
	return r;
}

static bool may_do_without(const struct collect *c)
{
	return c->jvm && c->o->java_by == JAVA_AUTO && !outside_lacks(c);
}

/* Try to walk a process from outside which an agent cannot enter, as *e says; return 0 if that works. */
static int do_without(struct collect *c, int pid, bool wait, int r, struct err *e)
{
	struct err ignored;

	if (!may_do_without(c) || !target_is_jvm(pid) || r == -EINTR || r == -EBUSY)
		return r;
	return attach_outside(c, pid, wait, e->msg, &ignored) ? r : 0;
}

static int attach(struct collect *c, int pid, struct err *e)
{
	bool is_jvm = target_is_jvm(pid), other_clock = is_jvm && clock_ahead_ns(pid);

	if (is_jvm && c->jvm && collect_from_outside(c))
		return attach_outside(c, pid, true, c->why_outside ? c->why_outside : "", e);
	if (other_clock && may_do_without(c) && !attach_outside(c, pid, true, OUTSIDE_OTHER_CLOCK, e))
		return 0;
	if (other_clock && c->jvm && c->o->java != JAVA_OFF)
		return err_set(e, ENOTSUP, "process %d: " OUTSIDE_OTHER_CLOCK, pid);
	if (is_jvm && c->jvm && c->o->java != JAVA_OFF && inject_possible())
		return jvm_server_attach(c->jvm, pid, e);
	if (!c->o->callflow.on)
		return 0;
	err_set(e, ENOTSUP, "process %d: calls of a running process can be counted in JVMs only", pid);
	if (!is_jvm)
		err_hint(e, "C and C++ are counted from the start: arcprof record --callflow -- program");
	return -ENOTSUP;
}

static void refuse_program(struct collect *c, int pid, uint32_t events, const char *why)
{
	struct buf what = BUF_INIT;

	buf_str(&what, "events ");
	jvmevents_names(events, &what);
	refused_source(&c->refused, what.data, pid, why);
	buf_release(&what);
}

/* Invite the process to connect to us at its next mark or label. */
static void invite_running(struct collect *c, int pid)
{
	uint32_t events = c->o->jvm_events & JVM_TELL_BY_PROGRAM;
	struct err e;

	if (events & JVM_TELL_LABEL && target_is_jvm(pid)) {
		refuse_program(c, pid, JVM_TELL_LABEL,
			       "labels of Java code are known of JVMs that the recorder has started");
		events &= ~(uint32_t)JVM_TELL_LABEL;
	}
	if (events && !foreign_has_our_files(pid))
		refuse_program(c, pid, events,
			       "its files are not ours (a container, or chroot(1)), so it cannot find the recorder's socket: record it from there");
	else if (events && invite_process(pid, jvm_server_path(c->jvm), &e))
		refuse_program(c, pid, events, e.msg);
}

/* Add to the error which recorder the agent works for. */
static void name_recorder(const struct collect *c, int pid, struct err *e)
{
	int recorder = control_recorder_of(pid);

	if (!recorder)
		return;
	err_set(e, EBUSY, "process %d is being recorded already, by process %d", pid, recorder);
	err_hint(e, "'arcprof ctl -p %d' says what it records, 'arcprof ctl -p %d stop' ends it%s", recorder,
		 recorder, outside_lacks(c) ? "" : "; --java=outside records beside it");
}

int agents_attach(struct collect *c, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; has_programs(c->o) && c->jvm && i < c->o->nr_pids; i++)
		invite_running(c, c->o->pids[i]);
	for (i = 0; i < c->o->nr_pids && !r; i++) {
		r = attach(c, c->o->pids[i], e);
		if (r == -EBUSY)
			name_recorder(c, c->o->pids[i], e);
		if (r)
			r = do_without(c, c->o->pids[i], true, r, e);
		if (c->o->pids_may_end && r != -EINTR)
			r = 0;		/* its Java stacks are missing, which the summary says */
	}
	if (c->o->all_jvms)
		agents_attach_jvms(c);
	return r;
}

/* Attach to a process, and try again later if it is too young, or works for another recorder. */
static void attach_to(struct collect *c, struct proc *p)
{
	enum { MAX_TRIES = 6 };
	struct err e;
	int r;

	p->nr_thread_holders++;		/* records come in meanwhile */
	r = attach(c, p->pid, &e);
	p->nr_thread_holders--;
	c->stop_asked |= r == -EINTR;
	if ((r == -EBUSY || r == -ENOTSUP || r == -EIO) && p->nr_tries + 1 < MAX_TRIES)
		p->try_ns = clock_mono_ns() + (1000000000ull << p->nr_tries++);
	else if (!r || do_without(c, p->pid, false, r, &e))
		p->try_ns = UINT64_MAX;
}

/*
 * A JVM that refuses for good, such as another user's, has no Java names if its memory may not be read. A
 * signal to end that came meanwhile is not reported again.
 */
void agents_attach_jvms(struct collect *c)
{
	struct proc *p;

	for (p = c->tasks.procs; p; p = p->next) {
		if (!p->has_libjvm || p->had_agent || !p->nr_live || clock_mono_ns() < p->try_ns ||
		    collect_from_outside(c))
			continue;
		if (c->child_pid && tasks_descends(p->pid, c->child_pid))
			p->try_ns = UINT64_MAX;		/* it knows where we are */
		else
			attach_to(c, p);
		if (c->stop_asked)
			break;
	}
}

static void hit(void *ctx, const struct frame *f)
{
	struct collect *c = ctx;
	struct java *j;

	for (j = c->javas; j; j = j->next)
		if (j->proc->id == f->proc)
			javalines_hit(&j->lines, f);
}

void agents_watch_frames(struct collect *c)
{
	if (c->o->lines)
		trace_writer_on_java(c->w, hit, c);
}

void agents_write_lines(struct collect *c)
{
	struct java *j;

	for (j = c->javas; j; j = j->next)
		javalines_write(&j->lines, j->proc->id, clock_mono_ns(), c->w);
}

void agents_drain(struct collect *c, bool all)
{
	struct java *j;

	if (!c->jvm)
		return;
	if (c->only_jvms)
		timers_look_at_maps(c);
	if (all)
		outside_wait(c);
	jvm_server_poll(c->jvm);
	jvm_server_drain(c->jvm, all);
	for (j = c->javas; j; j = j->next)
		lives_drained(c, j);
}

int agents_turn_ms(const struct collect *c)
{
	enum { USUAL_MS = 20, RARE_MS = 100, RARE_HZ = 150 };
	const struct collect_opts *o = c->o;
	/* what was asked for, which timers take where there are no events, and what it was changed to */
	uint64_t hz = MAX(collect_expected_hz(&o->ev), collect_expected_hz(&c->ev.conf));

	/*
	 * With a hundred JVMs each turn costs some hundred microseconds. What so many samples take in a
	 * tenth of a second is a quarter of the smallest ring; other records come in bursts.
	 */
	if (o->nr_sources || o->jvm_events || o->callflow.on || c->timed || c->walls ||
	    o->live_gc || o->live_histogram || hz > RARE_HZ)
		return USUAL_MS;
	return RARE_MS;
}

static uint64_t patience_ns(void *ctx, uint64_t usual_ns)
{
	return collect_patience_ns(ctx, usual_ns);
}

void agents_end_waits(struct collect *c, uint64_t now_ns)
{
	size_t nr = c->jvm ? jvm_server_end_waits(c->jvm, now_ns, patience_ns) : 0;
	struct java *j;

	for (j = c->programs; j; j = j->next)
		openwaits_tell(c, j, now_ns);
	if (nr)
		refused_text(&c->refused, "waits that went on at the end: %zu JVM%s did not answer in time", nr,
			     plural(nr));
}

/* Return whether all that the kernel and the agent had to say of it is here. */
static bool is_over(const struct java *j, uint64_t until_ns)
{
	return j->gone && !j->proc->nr_live && j->proc->dead_ns + TASKS_LATE_NS < until_ns;
}

static void free_java(struct java *j)
{
	memory_release(&j->blocks);
	lives_free(j->lives);
	java_free(j);
}

static void forget_programs(struct collect *c)
{
	struct java **at = &c->programs, *j;

	while ((j = *at)) {
		if (!j->gone) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		free_java(j);
	}
}

static void forget_over(struct collect *c, uint64_t until_ns)
{
	struct java **at = &c->javas, *j;

	forget_programs(c);

	while ((j = *at)) {
		if (!is_over(j, until_ns)) {
			at = &j->next;
			continue;
		}
		*at = j->next;
		lives_end(c, j);
		javalines_write(&j->lines, j->proc->id, clock_mono_ns(), c->w);
		free_java(j);
	}
}

static void tell_lost(struct collect *c, const struct java *j, enum lost_cause cause, uint64_t count,
		      uint64_t until_ns)
{
	if (count)
		trace_write_lost(c->w, &(struct rec_lost){
			.time_ns = until_ns == UINT64_MAX ? clock_mono_ns() : until_ns,
			.cause = cause, .stream = j->proc->id, .count = count,
		});
}

void agents_join(struct collect *c, uint64_t until_ns, bool last)
{
	struct java *j;

	for (j = c->javas; j; j = j->next) {
		bool over = last || is_over(j, until_ns);

		java_join(j, over ? UINT64_MAX : until_ns, over, emit_sample, c);
		tell_lost(c, j, LOST_UNPAIRED, j->nr_unpaired, until_ns);
		tell_lost(c, j, LOST_SKIPPED, j->nr_throttled, until_ns);
		c->res->nr_lost += j->nr_unpaired;
		c->res->nr_throttled += j->nr_throttled;
		j->nr_unpaired = j->nr_throttled = 0;
	}
	if (!last)
		forget_over(c, until_ns);
}

/* Tell running programs that they need not connect any more. */
static void dismiss_running(struct collect *c)
{
	struct err ignored;
	size_t i;

	for (i = 0; c->jvm && has_programs(c->o) && i < c->o->nr_pids; i++)
		invite_process(c->o->pids[i], "", &ignored);
}

void agents_close(struct collect *c)
{
	dismiss_running(c);
	if (c->jvm)
		jvm_server_close(c->jvm);
	c->jvm = NULL;
	forget_programs(c);
	while (c->javas) {
		struct java *j = c->javas;

		c->javas = j->next;
		free_java(j);
	}
}
