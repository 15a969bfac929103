// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sched.c - dispatches and interrupts (sched.h).
 *
 * Invariants:
 *  [1] a wakeup is recorded only for a thread that is neither running nor waiting for a CPU;
 *  [2] threads that the recording does not cover are 0;
 *  [3] no record is older than the file that it is in.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/span.h"
#include "collect/engine/recording.h"
#include "pmu/probe.h"
#include "pmu/tracepoint.h"

enum { MAX_INTRS = 8 };		/* open on a CPU at a time */
enum { RING_BYTES = 8 << 20, ALL_RINGS_BYTES = 256 << 20, MIN_RING_BYTES = 64 << 10, IRQ_NAME_BYTES = 64 };

/* what a tracepoint reports */
enum duty { TP_SWITCH, TP_WAKE, TP_INTR, TP_INTR_END };

struct source {
	const char *name;
	enum duty duty;
	enum sched_intr_class class;
	const char *number;		/* the field with the interrupt's number, or NULL */
};

static const struct source sources[] = {
	{ "sched/sched_switch", TP_SWITCH, 0, NULL },
	{ "sched/sched_wakeup", TP_WAKE, 0, NULL },
	{ "sched/sched_wakeup_new", TP_WAKE, 0, NULL },
	{ "irq/irq_handler_entry", TP_INTR, SCHED_INTR_DEVICE, "irq" },
	{ "irq/irq_handler_exit", TP_INTR_END, SCHED_INTR_DEVICE, "irq" },
	{ "irq/softirq_entry", TP_INTR, SCHED_INTR_SOFT, "vec" },
	{ "irq/softirq_exit", TP_INTR_END, SCHED_INTR_SOFT, "vec" },
	/* arm64's; its timer is a device. */
	{ "ipi/ipi_entry", TP_INTR, SCHED_INTR_IPI, NULL },
	{ "ipi/ipi_exit", TP_INTR_END, SCHED_INTR_IPI, NULL },
	/* irq_work is left out: the kernel forbids sampling its end, as taking a sample may raise it */
#define VECTOR(name) \
	{ "irq_vectors/" name "_entry", TP_INTR, SCHED_INTR_VECTOR, "vector" }, \
	{ "irq_vectors/" name "_exit", TP_INTR_END, SCHED_INTR_VECTOR, "vector" }
	VECTOR("local_timer"), VECTOR("reschedule"), VECTOR("call_function"), VECTOR("call_function_single"),
	VECTOR("x86_platform_ipi"), VECTOR("thermal_apic"), VECTOR("threshold_apic"),
	VECTOR("deferred_error_apic"), VECTOR("error_apic"), VECTOR("spurious_apic"),
#undef VECTOR
};

struct event {			/* one of the sources, as this kernel has it */
	const struct source *src;
	uint64_t id;
	struct tracepoint_field current, prev, state, next, woken, number, text;
};

/* The tracepoint of a switch comes just before the record. */
struct sched_cpu_now {
	bool told;			/* prev, next and state are of the switch that comes */
	int64_t prev, next;
	enum sched_state state;
	int64_t runs;			/* who got the CPU last; -1 unknown */
	/* The state that the trace has recorded: */
	bool seen;
	uint32_t thread;		/* that has it, 0: none that is covered, */
	int tid;			/* and its number */
	uint64_t since_ns;
	unsigned int nr_intrs;		/* open ones, also those for which there was no room */
	struct { uint64_t time_ns; uint32_t thread, number; } intrs[MAX_INTRS];
};

struct sched {
	bool irq, system_wide, stopped;
	int child;			/* not covered before its exec; 0: none */
	struct event *events;
	size_t nr_events;
	struct map by_id;		/* sample identifier -> index into events */
	int *fds;
	size_t nr_fds, alloc_fds;
	struct sched_cpu_now *cpus;
	size_t nr_cpus;
	const char *no_states;		/* why there are none */
	struct map named;		/* interrupts that have a label */
	uint64_t begun_ns;		/* the recording, */
	uint64_t file_ns;		/* and the current file, if there are several */
	uint64_t lost_ns;		/* the last record that was lost */
};

/* thread->sched_state */
enum { UNSEEN, ON_CPU, WAITING, OFF, GONE };

static void sched_keep_field(struct tracepoint_field *to, const struct tracepoint *t, const char *name)
{
	const struct tracepoint_field *f = name ? tracepoint_field(t, name) : NULL;

	if (f)
		*to = *f;
}

static void sched_add_event(struct sched *s, const struct source *src, const struct tracepoint *t)
{
	struct event *v = &s->events[s->nr_events++];

	memset(v, 0, sizeof(*v));
	v->src = src;
	v->id = t->id;
	sched_keep_field(&v->current, t, "common_pid");
	sched_keep_field(&v->prev, t, "prev_pid");
	sched_keep_field(&v->state, t, "prev_state");
	sched_keep_field(&v->next, t, "next_pid");
	sched_keep_field(&v->woken, t, "pid");
	sched_keep_field(&v->number, t, src->number);
	if (src->class == SCHED_INTR_DEVICE)
		sched_keep_field(&v->text, t, "name");
}

static void event_attr(const struct event *v, struct perf_event_attr *a)
{
	memset(a, 0, sizeof(*a));
	a->type = PERF_TYPE_TRACEPOINT;
	a->config = v->id;
	a->sample_period = 1;
	a->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW;
	evset_common_attr(a);
}

static const char *sched_why_not(int code)
{
	if (code == -EACCES || code == -EPERM)
		return "tracepoints take CAP_PERFMON and a readable /sys/kernel/tracing";
	if (code == -ENOENT || code == -ENODEV)
		return "tracefs is not mounted on /sys/kernel/tracing";
	if (code == -EMFILE || code == -ENFILE)
		return "too many open files ('ulimit -n')";
	return "this kernel does not have the tracepoints";
}

/* Reads what there is; the first, sched_switch, decides whether tracepoints can be had at all. */
static void find_events(struct sched *s)
{
	struct perf_event_attr a;
	struct tracepoint t;
	int dir = tracefs_events(), r;
	size_t i;

	s->events = xcalloc(ARRAY_SIZE(sources), sizeof(*s->events));
	r = dir < 0 ? dir : tracepoint_read(dir, sources[0].name, &t);
	if (!r) {
		sched_add_event(s, &sources[0], &t);
		event_attr(&s->events[0], &a);
		r = probe_perf(&a, -1, 0);
	}
	if (r) {
		s->no_states = sched_why_not(r);
		s->nr_events = 0;
	}
	for (i = 1; !r && i < ARRAY_SIZE(sources); i++)
		if ((s->irq || sources[i].duty < TP_INTR) && !tracepoint_read(dir, sources[i].name, &t))
			sched_add_event(s, &sources[i], &t);
	if (dir >= 0)
		close(dir);
}

/* Return a power of two. */
size_t sched_ring_bytes(size_t asked_bytes, size_t nr_cpus)
{
	size_t most = asked_bytes ? asked_bytes : MIN((size_t)RING_BYTES, ALL_RINGS_BYTES / nr_cpus),
	       bytes = MIN_RING_BYTES;

	while (2 * bytes <= most)
		bytes *= 2;
	return bytes;
}

/* Find out what can be recorded. */
static void sched_configure(struct collect *c, size_t nr_cpus, struct evconf *conf)
{
	struct sched *s;

	if (!c->o->sched)
		return;
	s = c->sched = xcalloc(1, sizeof(*s));
	s->irq = c->o->irq;
	s->system_wide = conf->all_cpus;
	find_events(s);
	conf->sched_ring_bytes = sched_ring_bytes(c->o->ring_size, nr_cpus);
	conf->switch_records = !s->nr_events;
}

static int open_one(struct sched *s, const struct perf_event_attr *a, int tid, const struct ring *ring,
		    uint64_t *id)
{
	int fd = syscall(SYS_perf_event_open, a, tid, ring->cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0 || ioctl(fd, PERF_EVENT_IOC_ID, id) < 0) {
		close(fd);
		return -errno;
	}
	*VEC_ADD(s->fds, s->nr_fds, s->alloc_fds) = fd;
	return 0;
}

/* Records of switches of one task, or (-1) of each CPU. */
static int open_records(struct sched *s, struct evsets *ev, int tid, struct err *e)
{
	struct perf_event_attr a;
	uint64_t id;
	size_t i;
	int r = 0;

	evset_dummy_attr(&a, ev->conf.exclude_kernel, ev->sched_rings[0].mask + 1);
	a.context_switch = 1;
	a.inherit = tid != -1;
	for (i = 0; i < ev->nr_sched && !r; i++)
		r = open_one(s, &a, tid, &ev->sched_rings[i], &id);
	return !r || r == -ESRCH ? 0 : perf_open_err(e, -r, &a, tid, ev->sched_rings[i - 1].cpu);
}

/* Open the events. The program's own count from its exec, if that is still to come. */
static int open_events(struct collect *c, struct err *e)
{
	struct evsets *ev = &c->ev;
	struct sched *s = c->sched;
	size_t i, k;
	int err;

	if (!s)
		return 0;
	if (s->irq && s->no_states)
		return err_set(e, EACCES, "--irq: interrupts cannot be recorded: %s", s->no_states);
	err = s->nr_events ? open_records(s, ev, -1, e) : 0;
	if (err)
		return err;
	s->child = c->child_pid;
	for (k = 0; k < s->nr_events; k++) {
		struct perf_event_attr a;

		event_attr(&s->events[k], &a);
		a.read_format = ev->tells_lost ? PERF_FORMAT_LOST : 0;
		for (i = 0; i < ev->nr_sched; i++) {
			uint64_t id;
			int r = open_one(s, &a, -1, &ev->sched_rings[i], &id);

			if (r) {
				perf_open_err(e, -r, &a, -1, ev->sched_rings[i].cpu);
				return err_wrap(e, "tracepoint %s", s->events[k].src->name);
			}
			*map_put(&s->by_id, id) = k;
		}
	}
	return 0;
}

static int sched_watch(struct collect *c, int tid, struct err *e)
{
	return !c->sched || c->sched->nr_events ? 0 : open_records(c->sched, &c->ev, tid, e);
}

static uint64_t close_events(struct sched *s)
{
	uint64_t v[2], nr_lost = 0;
	size_t i;

	for (i = 0; i < s->nr_fds; i++) {
		if (read(s->fds[i], v, sizeof(v)) == sizeof(v))
			nr_lost += v[1];
		close(s->fds[i]);
	}
	free(s->fds);
	s->fds = NULL;
	s->nr_fds = s->alloc_fds = 0;
	return nr_lost;
}

static void free_sched(struct sched *s)
{
	if (!s)
		return;
	close_events(s);
	map_release(&s->by_id);
	map_release(&s->named);
	free(s->events);
	free(s->cpus);
	free(s);
}

/* ---- into the trace ---- */

static void sched_labels(struct collect *c)
{
	const struct sched *s = c->sched;

	if (!s)
		return;
	trace_write_label(c->w, "sched.scope", "%s", s->system_wide ? "system" : "threads");
	trace_write_label(c->w, "sched.states", "%s", s->no_states ? "no" : "yes");
	trace_write_label(c->w, "sched.irq", "%s", s->irq ? "yes" : "no");
	if (s->no_states)
		trace_write_label(c->w, "refused.sched", "wakeups, and how threads were blocked: %s",
				  s->no_states);
}

static void sampling_begins(struct collect *c, uint64_t time_ns)
{
	if (!c->sched)
		return;
	c->sched->begun_ns = time_ns;
	trace_write_label(c->w, "sched.start_ns", "%llu", (unsigned long long)time_ns);
}

static void label_end(struct collect *c, uint64_t time_ns)
{
	trace_write_label(c->w, "sched.end_ns", "%llu", (unsigned long long)time_ns);
}

static struct sched_cpu_now *cpu_now(struct sched *s, uint32_t cpu)
{
	cpu = MIN(cpu, (uint32_t)UINT16_MAX);
	for (; cpu >= s->nr_cpus; s->nr_cpus++) {
		s->cpus = xrealloc(s->cpus, (s->nr_cpus + 1) * sizeof(*s->cpus));
		s->cpus[s->nr_cpus] = (struct sched_cpu_now){ .runs = -1 };
	}
	return &s->cpus[cpu];
}

static void sched_note(struct thread *th, unsigned int state, uint64_t time_ns, uint32_t cpu)
{
	th->sched_state = state;
	th->sched_ns = time_ns;
	th->sched_cpu = MIN(cpu + 1, (uint32_t)UINT16_MAX);
}

/* Note that a thread has lost the CPU without a record: since when is not known. */
static void sched_has_left(struct collect *c, const struct sched_cpu_now *now, uint64_t time_ns, uint32_t cpu)
{
	struct thread *th = tasks_any(&c->tasks, now->tid);

	if (!th || !th->tid || th->id != now->thread || th->sched_state != ON_CPU || th->sched_cpu != cpu + 1)
		return;
	sched_note(th, OFF, time_ns, cpu);
	th->sched_how = SCHED_UNTOLD;
}

static void put_switch(struct collect *c, uint64_t time_ns, uint32_t cpu, struct thread *out,
		       struct thread *in, enum sched_state state)
{
	struct sched_cpu_now *now = cpu_now(c->sched, cpu);
	struct rec_sched r = { .cpu = cpu, .kind = SCHED_SWITCH };

	r.time_ns = time_ns = MAX(time_ns, c->sched->file_ns);		/* [3] */
	if (now->thread && (!out || out->id != now->thread))
		sched_has_left(c, now, time_ns, cpu);
	if (out) {
		r.thread = out->id;
		r.state = state;
		sched_note(out, state == SCHED_RUNNABLE ? WAITING : state == SCHED_DEAD ? GONE : OFF, time_ns,
			   cpu);
		out->sched_how = state;
	}
	if (in) {
		r.arg = in->id;
		sched_note(in, ON_CPU, time_ns, cpu);
	}
	now->seen = true;
	now->thread = r.arg;
	now->tid = in ? in->tid : -1;
	now->since_ns = time_ns;
	now->nr_intrs = 0;
	trace_write_sched(c->w, &r);
	c->res->nr_dispatches += !!in;
}

static void put_wake(struct collect *c, uint64_t time_ns, uint32_t cpu, struct thread *th,
		     const struct thread *by)
{
	struct rec_sched r = { .cpu = cpu, .kind = SCHED_WAKE };

	if (!th || th->sched_state == ON_CPU || th->sched_state == WAITING)	/* [1] */
		return;
	r.time_ns = time_ns = MAX(time_ns, c->sched->file_ns);		/* [3] */
	th->sched_state = WAITING;
	th->sched_ns = time_ns;
	r.thread = th->id;
	r.arg = by ? by->id : 0;
	trace_write_sched(c->w, &r);
}

/*
 * Return the state at the beginning of a file, as the model finds it from records up to here (model/sched.c).
 */
static enum sched_at state_at(const struct sched *s, const struct thread *th)
{
	if (s->lost_ns > th->sched_ns)
		return SCHED_AT_UNKNOWN;
	if (th->sched_state == ON_CPU)
		return SCHED_AT_RUNS;
	if (th->sched_state == WAITING)
		return SCHED_AT_WAITS;
	if (th->sched_how == SCHED_UNTOLD)
		return SCHED_AT_UNKNOWN;
	return th->sched_how == SCHED_DISK ? SCHED_AT_DISK : SCHED_AT_SLEEPS;
}

static void write_thread_at(struct collect *c, const struct thread *th, uint64_t time_ns)
{
	enum { LATE_NS = 1000000 };		/* its last switch comes soon after its end */
	const struct sched *s = c->sched;
	struct rec_sched_at r = { .time_ns = th->sched_ns, .thread = th->id, .cpu = th->sched_cpu };

	if (!th->tid || th->sched_state == GONE || (th->dead && th->proc->replaced_ns) ||
	    (th->dead && th->dead_ns + LATE_NS < time_ns))
		return;
	r.what = state_at(s, th);
	if (r.what == SCHED_AT_UNKNOWN)
		r.time_ns = MAX(th->sched_ns, s->lost_ns);
	if (th->sched_state == UNSEEN) {
		if (th->born_ns <= s->begun_ns || s->lost_ns > th->born_ns)
			return;
		r.time_ns = th->born_ns;
		r.what = th->proc->execed && th->tid == th->proc->pid ? SCHED_AT_RUNS : SCHED_AT_WAITS;
	}
	trace_write_sched_at(c->w, &r);
}

static void write_cpu_at(struct collect *c, const struct sched_cpu_now *now, uint32_t cpu)
{
	const struct thread *th = now->thread ? tasks_any(&c->tasks, now->tid) : NULL;
	struct rec_sched_at r = { now->since_ns, now->thread, SCHED_AT_CPU, cpu + 1, 0 };
	unsigned int i;

	if (!now->seen)
		return;
	if (th && th->sched_state == UNSEEN && th->proc->execed)
		r.thread = th->id;		/* what was another program's until just now */
	trace_write_sched_at(c->w, &r);
	r.what = SCHED_AT_INTR;
	for (i = 0; i < now->nr_intrs; i++) {
		r.time_ns = now->intrs[MIN(i, (unsigned int)MAX_INTRS - 1)].time_ns;
		r.thread = now->intrs[MIN(i, (unsigned int)MAX_INTRS - 1)].thread;
		r.arg = now->intrs[MIN(i, (unsigned int)MAX_INTRS - 1)].number;
		trace_write_sched_at(c->w, &r);
	}
}

static void sched_begin_file(struct collect *c, uint64_t time_ns)
{
	struct sched *s = c->sched;
	size_t i;

	s->file_ns = time_ns;
	trace_write_label(c->w, "sched.start_ns", "%llu", (unsigned long long)time_ns);
	for (i = 0; i < s->nr_cpus; i++)
		write_cpu_at(c, &s->cpus[i], i);
	for (i = 0; i < c->tasks.nr_all; i++)
		write_thread_at(c, c->tasks.threads[i], time_ns);
}

static void records_lost(struct collect *c, uint32_t cpu, uint64_t time_ns)
{
	struct sched_cpu_now *now;

	if (!c->sched)
		return;			/* these rings are of the source "wall" */
	now = cpu_now(c->sched, cpu);
	c->sched->lost_ns = MAX(c->sched->lost_ns, time_ns);
	now->thread = 0;
	now->since_ns = time_ns;
	now->nr_intrs = 0;
}

/* ---- tracepoints ---- */

struct raw_sample {
	uint64_t id, ip, time_ns, cpu;
	uint32_t pid, tid, len;
	const uint8_t *raw;
};

static bool read_raw(const struct perf_event_header *h, struct raw_sample *r)
{
	struct span s = span_init(h + 1, h->size - sizeof(*h));

	r->id = span_u64(&s);
	r->ip = span_u64(&s);
	r->pid = span_u32(&s);
	r->tid = span_u32(&s);
	r->time_ns = span_u64(&s);
	r->cpu = span_u64(&s) & UINT32_MAX;
	r->len = span_u32(&s);
	r->raw = span_bytes(&s, r->len);
	return !s.bad;
}

/*
 * Return the state of prev_state: its bit, and above the reported bits one that means "preempted"
 * (include/trace/events/sched.h, __trace_sched_switch_state()).
 */
static enum sched_state sched_state_of(int64_t state)
{
	switch (state & 0xff) {
	case 0:
		return SCHED_RUNNABLE;
	case 0x01:
		return SCHED_SLEEP;
	case 0x02:
		return SCHED_DISK;
	case 0x04:
	case 0x08:
	case 0x40:
		return SCHED_STOPPED;
	case 0x10:
	case 0x20:
		return SCHED_DEAD;
	case 0x80:
		return SCHED_IDLE_KTHREAD;
	}
	return SCHED_BLOCKED;
}

/*
 * Return the thread of the recording with that number, NULL for another [2]: the number of one that has
 * been switched out for good may be in use again.
 */
static struct thread *sched_thread_of(struct collect *c, int64_t tid, uint64_t time_ns)
{
	struct thread *th;

	if (c->sched->system_wide)
		return tasks_by_tid(&c->tasks, tid, time_ns);
	th = tasks_any(&c->tasks, tid);
	if (!th || (th->dead && th->sched_state == GONE))
		return NULL;
	return c->sched->child && th->tid == c->sched->child && !th->proc->execed ? NULL : th;
}

static void on_switch(struct collect *c, const struct event *v, const struct raw_sample *r)
{
	struct sched_cpu_now *now = cpu_now(c->sched, r->cpu);

	now->told = true;
	now->prev = tracepoint_value(&v->prev, r->raw, r->len);
	now->next = tracepoint_value(&v->next, r->raw, r->len);
	now->state = sched_state_of(tracepoint_value(&v->state, r->raw, r->len));
}

/* Label the interrupt's name, with the first record of its number. */
static void name_intr(struct collect *c, const struct event *v, const struct raw_sample *r, uint32_t number)
{
	uint32_t *named = map_put(&c->sched->named, sched_intr(v->src->class, number)), loc, len;
	const char *name = strchr(v->src->name, '/') + 1;
	char key[32];

	if (*named != MAP_NONE)
		return;
	*named = 1;
	snprintf(key, sizeof(key), "%s.%u", v->src->class == SCHED_INTR_DEVICE ? "irq" : "vector", number);
	if (v->src->class == SCHED_INTR_VECTOR) {
		trace_write_label(c->w, key, "%.*s", (int)(strlen(name) - strlen("_entry")), name);
	} else if (v->src->class == SCHED_INTR_DEVICE && v->text.len == 4) {
		loc = tracepoint_value(&v->text, r->raw, r->len);	/* __data_loc: length and offset */
		len = loc >> 16;
		loc &= 0xffff;
		if (loc < r->len && len <= r->len - loc)
			trace_write_label(c->w, key, "%.*s", (int)MIN(len, (uint32_t)IRQ_NAME_BYTES),
					  r->raw + loc);
	}
}

static void note_intr(struct sched_cpu_now *now, const struct rec_sched *r)
{
	if (r->kind == SCHED_INTR_END) {
		now->nr_intrs -= now->nr_intrs > 0;
		return;
	}
	if (now->nr_intrs < MAX_INTRS) {
		now->intrs[now->nr_intrs].time_ns = r->time_ns;
		now->intrs[now->nr_intrs].thread = r->thread;
		now->intrs[now->nr_intrs].number = r->arg;
	}
	now->nr_intrs++;
}

static void on_intr(struct collect *c, const struct event *v, const struct raw_sample *r, uint64_t time_ns)
{
	struct thread *th = sched_thread_of(c, tracepoint_value(&v->current, r->raw, r->len), time_ns);
	uint32_t number = tracepoint_value(&v->number, r->raw, r->len);
	struct rec_sched rec = {
		.time_ns = MAX(time_ns, c->sched->file_ns),		/* [3] */
		.cpu = r->cpu, .arg = sched_intr(v->src->class, number),
		.kind = v->src->duty == TP_INTR ? SCHED_INTR : SCHED_INTR_END,
	};

	if (!th)
		return;
	rec.thread = th->id;
	note_intr(cpu_now(c->sched, r->cpu), &rec);
	if (rec.kind == SCHED_INTR) {
		name_intr(c, v, r, number);
		c->res->nr_interrupts++;
	}
	trace_write_sched(c->w, &rec);
}

/*
 * Return whether the tracepoint's numbers are of another pid namespace: they are the kernel's own, and would
 * name other threads.
 */
static bool foreign(struct collect *c, const struct event *v, const struct raw_sample *r)
{
	if ((int32_t)r->tid < 0 || r->tid == (uint32_t)tracepoint_value(&v->current, r->raw, r->len))
		return false;
	c->sched->stopped = true;
	trace_write_label(c->w, "refused.sched",
			  "dispatches: arcprof ran in a pid namespace of its own, where threads have other numbers");
	return true;
}

static void on_tracepoint(struct collect *c, const struct perf_event_header *h, uint64_t time_ns)
{
	const struct event *v;
	struct raw_sample r;
	uint32_t at;

	if (c->sched->stopped || !read_raw(h, &r) || (at = map_get(&c->sched->by_id, r.id)) == MAP_NONE)
		return;
	v = &c->sched->events[at];
	if (foreign(c, v, &r))
		return;
	switch (v->src->duty) {
	case TP_SWITCH:
		on_switch(c, v, &r);
		break;
	case TP_WAKE:
		put_wake(c, time_ns, r.cpu,
			 sched_thread_of(c, tracepoint_value(&v->woken, r.raw, r.len), time_ns),
			 tasks_find(&c->tasks, r.tid));
		break;
	default:
		on_intr(c, v, &r, time_ns);
	}
}

/* ---- records of switches ---- */

bool sched_read_switch(const struct perf_event_header *h, struct switch_record *r)
{
	const struct { uint32_t pid, tid; uint64_t time; uint32_t cpu, res; uint64_t id; } *last;
	const struct { struct perf_event_header h; uint32_t pid, tid; } *wide = (const void *)h;

	if (h->size < sizeof(*h) + sizeof(*last) + (h->type == PERF_RECORD_SWITCH_CPU_WIDE ? 8 : 0))
		return false;
	last = (const void *)((const uint8_t *)h + h->size - sizeof(*last));
	*r = (struct switch_record){
		.h = h, .pid = last->pid, .tid = last->tid, .cpu = last->cpu,
		.out = h->misc & PERF_RECORD_MISC_SWITCH_OUT,
		.other = h->type == PERF_RECORD_SWITCH_CPU_WIDE ? wide->tid : 0,
		.state = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SCHED_RUNNABLE : SCHED_BLOCKED,
	};
	return true;
}

/*
 * Note that a thread got the CPU. The record of the thread that lost it has the same; this one matters only
 * if that is missing.
 */
static void on_cpu_switch_in(struct collect *c, const struct switch_record *r, uint64_t time_ns)
{
	struct sched_cpu_now *now = cpu_now(c->sched, r->cpu);
	int64_t from = (int32_t)r->other, to = (int32_t)r->tid;
	struct thread *out, *in;

	if (now->runs == to || to < 0)
		return;
	out = from < 0 ? NULL : sched_thread_of(c, from, time_ns);
	in = sched_thread_of(c, to, time_ns);
	if (out || in)
		put_switch(c, time_ns, r->cpu, out, in, SCHED_UNTOLD);
	now->told = false;
	now->runs = to;
}

/*
 * Note that a thread is switched out, with events of all CPUs, as the tracepoint described it. A thread that
 * has exited has no number any more (-1).
 */
static void on_cpu_switch(struct collect *c, const struct switch_record *r, uint64_t time_ns)
{
	struct sched_cpu_now *now = cpu_now(c->sched, r->cpu);
	int64_t from = (int32_t)r->tid, to = (int32_t)r->other;
	struct thread *out, *in;

	if (from < 0)
		from = now->told ? now->prev : now->runs;
	if (now->told && now->prev != from)
		now->told = false;
	if (to < 0)
		to = now->told ? now->next : -1;
	out = from < 0 ? NULL : sched_thread_of(c, from, time_ns);
	in = to < 0 ? NULL : sched_thread_of(c, to, time_ns);
	if (out || in)
		put_switch(c, time_ns, r->cpu, out, in, now->told ? now->state : r->state);
	now->told = false;
	now->runs = to;
}

static void on_switch_record(struct collect *c, const struct perf_event_header *h, uint64_t time_ns)
{
	struct switch_record r;
	struct thread *th;

	if (!c->sched || c->sched->stopped || !sched_read_switch(h, &r))
		return;
	if (h->type == PERF_RECORD_SWITCH_CPU_WIDE) {
		if (r.out)
			on_cpu_switch(c, &r, time_ns);
		else
			on_cpu_switch_in(c, &r, time_ns);
		return;
	}
	th = tasks_get(&c->tasks, r.pid, r.tid, time_ns);
	put_switch(c, time_ns, r.cpu, r.out ? th : NULL, r.out ? NULL : th, r.state);
}

/* ---- the part ---- */

/* Records of these rings were lost: of threads that this or the source "wall" watches. */
static void sched_on_lost(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
			  uint64_t time_ns)
{
	const struct { struct perf_event_header h; uint64_t id, lost; } *r = (const void *)h;

	trace_write_lost(c->w, &(struct rec_lost){
		.time_ns = time_ns, .cause = LOST_SCHED, .stream = ring->cpu, .count = r->lost,
	});
	records_lost(c, ring->cpu, time_ns);
	c->res->nr_lost_sched += r->lost;
}

static bool sched_take_record(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
			      uint64_t time_ns)
{
	const bool is_ours = c->ev.nr_sched && ring >= c->ev.sched_rings;

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		if (is_ours && c->sched)
			on_tracepoint(c, h, time_ns);
		return is_ours;
	case PERF_RECORD_LOST:
		if (is_ours)
			sched_on_lost(c, ring, h, time_ns);
		return is_ours;
	default:
		on_switch_record(c, h, time_ns);
		return false;		/* the source "wall" takes it, too */
	}
}

static void sched_recording_ends(struct collect *c, uint64_t now_ns)
{
	if (c->sched)
		label_end(c, now_ns);
}

static void sched_stop(struct collect *c)
{
	struct rec_lost r = { .time_ns = clock_mono_ns(), .cause = LOST_SCHED, .stream = UINT32_MAX };
	uint64_t lost = close_events(c->sched);

	if (lost > c->res->nr_lost_sched) {
		r.count = lost - c->res->nr_lost_sched;
		trace_write_lost(c->w, &r);
		c->res->nr_lost_sched = lost;
	}
}

static void sched_recording_has_ended(struct collect *c, uint64_t now_ns)
{
	if (c->sched)
		sched_stop(c);
}

/* Label the end; what was read after the file's own end is in it, too. */
static void sched_sums(struct collect *c, bool last)
{
	if (c->sched && !last)
		label_end(c, c->merged_ns);
}

static void sched_next_file(struct collect *c, uint64_t now_ns)
{
	if (c->sched)
		sched_begin_file(c, c->merged_ns);
}

static void sched_close_part(struct collect *c)
{
	free_sched(c->sched);
}

const struct part sched_part = {
	.configure = sched_configure, .open_events = open_events, .watch = sched_watch,
	.labels = sched_labels,
	.begins = sampling_begins, .record = sched_take_record, .ends = sched_recording_ends,
	.ended = sched_recording_has_ended, .sums = sched_sums, .next_file = sched_next_file,
	.close = sched_close_part,
};
