// SPDX-License-Identifier: GPL-2.0-or-later
/* replay.c - turns a journal into a trace (replay.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/files/labels.h"
#include "collect/jvm/replay.h"
#include "jvm/journal_read.h"
#include "jvm/replay.h"

struct replay {
	struct collect *c;
	struct journal j;
	struct jvm *jvm;
	struct pmu_event event;		/* of samples of CPU time */
	struct ev_rate rate;
	struct collect_result res;
	bool damaged;
	struct err damage;
};

/* --- as if it were recorded --- */

static void choose_sources(struct collect *c, const struct journal_header *h)
{
	const struct source_kind *k;
	size_t i;

	for (i = 0; (k = source_kind_at(i)); i++)
		if (k->jvm != JVM_NR_SOURCES && k->jvm != JVM_SOURCE_MEMORY && h->sources >> k->jvm & 1)
			c->source_room[c->opts.nr_sources++] =
				(struct source_conf){ k, h->intervals[k->jvm] };
	c->opts.sources = c->source_room;
}

static int choose_event(struct replay *r, struct err *e)
{
	struct evconf *ev = &r->c->opts.ev;

	ev->callgraph = CALLGRAPH_DWARF;
	ev->exclude_kernel = true;
	if (!r->j.h.timer_ns)
		return 0;
	r->rate.period = r->j.h.timer_ns;
	ev->events = &r->event;
	ev->rates = &r->rate;
	ev->nr_events = 1;
	return pmu_event_parse("cpu-clock", &r->event, e);
}

static int choose_opts(struct replay *r, const struct replay_opts *o, struct err *e)
{
	struct collect *c = r->c;

	c->opts = (struct collect_opts){
		.java = JAVA_SAMPLE, .lines = true, .cache = o->cache, .output = o->output,
		.trace = o->trace, .version = o->version, .command_line = r->j.h.command,
		.jvm_events = (uint32_t)r->j.h.tell & JVM_TELL_ALL,
	};
	c->o = &c->opts;
	c->res = &r->res;
	c->only_jvms = true;
	c->timer_ns = r->j.h.timer_ns;
	choose_sources(c, &r->j.h);
	return choose_event(r, e);
}

enum { HPROF_DEPTH = 4 };	/* what it showed of a stack when it was not told */

/* Return whether the journal is from this kernel: then the vdso is the same, too. */
static bool is_our_kernel(const struct journal_header *h)
{
	struct utsname u;

	return !uname(&u) && !strcmp(u.nodename, h->host) && !strcmp(u.release, h->release);
}

static void replay_write_labels(struct replay *r)
{
	const struct journal_header *h = &r->j.h;
	struct collect *c = r->c;

	labels_origin_of(c->w, c->o->version, h->command,
			 &(struct labels_machine){ h->host, h->release, h->machine });
	labels_recording(c);
	labels_events(c);
	if (h->timer_ns) {
		trace_write_label(c->w, "sampler", "timers");
		trace_write_label(c->w, "refused.0", "kernel code: the JVM's agent sampled it, without a recorder");
	}
	if (h->hprof)
		trace_write_label(c->w, "hprof", "thread=%c,depth=%u", h->hprof_threads ? 'y' : 'n',
				  h->hprof_depth ? h->hprof_depth : HPROF_DEPTH);
	labels_clocks(c, "start", &(struct clocks){ h->start_ns, h->start_real_ns, h->start_tsc });
}

/* Write the end; a journal that was not closed ended with its last record. */
static void write_end(struct replay *r)
{
	const struct journal_header *h = &r->j.h;
	const uint64_t ns = r->j.time_ns - h->start_ns;

	if (h->end_ns)
		labels_clocks(r->c, "end", &(struct clocks){ h->end_ns, h->end_real_ns, h->end_tsc });
	else
		labels_clocks(r->c, "end", &(struct clocks){ r->j.time_ns, h->start_real_ns + ns, 0 });
}

/* --- what is in it --- */

static void take_threads(struct replay *r, const struct journal_part *p)
{
	struct tasks *t = &r->c->tasks;
	const int pid = (int)r->j.h.pid;
	struct journal_thread th;
	size_t at;

	for (at = 0; at + sizeof(th) <= p->len; at += sizeof(th)) {
		memcpy(&th, p->data + at, sizeof(th));
		th.name[sizeof(th.name) - 1] = '\0';
		if (!th.tid || th.tid > INT32_MAX || !th.name[0])
			continue;
		tasks_get(t, pid, (int)th.tid, r->j.time_ns);
		if (!tasks_find(t, (int)th.tid)->java)
			tasks_comm(t, pid, (int)th.tid, th.name, false, r->j.time_ns);
	}
}

static void take_maps(struct replay *r, const struct journal_part *p)
{
	struct tasks *t = &r->c->tasks;
	struct thread *leader = tasks_find(t, (int)r->j.h.pid);
	char *text = xstrndup((const char *)p->data, p->len);

	tasks_maps_again(t, leader->proc, text, r->j.time_ns);
	free(text);
}

static int take_part(struct replay *r, const struct journal_part *p, struct err *e)
{
	switch (p->kind) {
	case JOURNAL_ITEMS:		/* which are records by now */
	case JOURNAL_RECORDS:
		return jvm_replay_records(r->jvm, p->data, p->len, e);
	case JOURNAL_VM_LOG:
		return jvm_replay_vm_log(r->jvm, p->data, p->len, e);
	case JOURNAL_MAPS:
		take_maps(r, p);
		break;
	case JOURNAL_THREADS:
		take_threads(r, p);
		break;
	}
	return 0;
}

/* Read it up to its end, or to a contradiction. */
static void take_all(struct replay *r)
{
	struct journal_part p;
	int got;

	while ((got = journal_next(&r->j, &p, &r->damage)) > 0) {
		clock_replayed_ns = r->j.time_ns;
		if ((got = take_part(r, &p, &r->damage)))
			break;
		collect_drain(r->c, r->j.time_ns, false);
	}
	r->damaged = got < 0;
	jvm_replay_end(r->jvm);
}

/* Note why there are fewer samples than the intervals say, though nothing is missing. */
static void say_left_out(struct replay *r)
{
	const struct journal_header *h = &r->j.h;

	if (h->left_out)
		trace_write_label(r->c->w, "import.note.0",
				  "bounded: %" PRIu64 " samples were left out, as the journal was to take %u a second of each source; those that were taken stand for them (rate= is another bound)",
				  h->left_out, h->rate);
}

static void say_what_is_missing(struct replay *r)
{
	const struct journal_header *h = &r->j.h;
	struct refused *f = &r->c->refused;
	const struct rec_lost lost = {
		.time_ns = r->j.time_ns, .cause = LOST_AGENT,
		.stream = tasks_find(&r->c->tasks, (int)h->pid)->proc->id, .count = h->lost,
	};

	if (h->lost)
		trace_write_lost(r->c->w, &lost);
	if (h->error)
		refused_text(f, "%" PRIu64 " records of the journal: %s", h->lost, strerror((int)h->error));
	else if (h->full)
		refused_text(f, "%" PRIu64 " records of the journal: it had reached its limit", h->lost);
	if (r->damaged)
		refused_text(f, "everything from %.3f s on: %s", (double)(r->j.time_ns - h->start_ns) / 1e9,
			     r->damage.msg);
	else if (r->j.truncated && h->end_ns)
		refused_text(f, "everything from %.3f s on: the journal is truncated",
			     (double)(r->j.time_ns - h->start_ns) / 1e9);
	else if (r->j.truncated)
		refused_text(f, "everything from %.3f s on: the journal was not closed, because the JVM was killed or still runs",
			     (double)(r->j.time_ns - h->start_ns) / 1e9);
}

static int record(struct replay *r, struct err *e)
{
	struct collect *c = r->c;

	replay_write_labels(r);
	c->begun_ns = c->drained_ns = r->j.h.start_ns;
	switches_begin(c, r->j.h.start_ns);
	r->jvm = agents_replay(c, (int)r->j.h.pid, e);
	if (!r->jvm)
		return -e->code;
	jvm_replay_code_cache(r->jvm, r->j.h.code_lo, r->j.h.code_hi);
	take_all(r);
	write_end(r);
	if (r->j.h.end_ns)
		clock_replayed_ns = r->j.h.end_ns;
	collect_drain(c, clock_replayed_ns, true);
	parts_ended(c, clock_replayed_ns);
	say_what_is_missing(r);
	say_left_out(r);
	collect_finish(c);
	return 0;
}

static int make_trace(struct replay *r, const struct replay_opts *o, struct err *e)
{
	struct collect *c = r->c;
	int ret = choose_opts(r, o, e);

	if (!ret)
		ret = switches_init(c, e);
	if (!ret)
		ret = trace_writer_open(&c->w, o->output, &o->trace, e);
	if (ret)
		return ret;
	parts_init(c);
	c->record = collect_record;
	c->hear_agents = agents_drain;
	agents_watch_frames(c);
	modules_init(&c->modules, c->w, o->cache);
	tasks_init(&c->tasks, c->w, &c->modules);
	c->tasks.replayed_ns = r->j.h.start_real_ns ? r->j.h.start_real_ns : 1;
	c->tasks.replayed_name = r->j.h.name;
	c->tasks.other_kernel = !is_our_kernel(&r->j.h);
	evsets_init_empty(&c->ev, &c->o->ev);
	c->ev.nr_sampled = c->ev.nr_cpus = r->j.h.nr_cpus;
	ret = record(r, e);
	agents_close(c);
	parts_close(c);
	c->ev.nr_sampled = c->ev.nr_cpus = 0;
	evsets_close(&c->ev);
	if (ret)
		trace_writer_discard(c->w);
	else
		ret = trace_writer_close(c->w, e);
	tasks_release(&c->tasks);
	modules_release(&c->modules);
	return ret;
}

int replay_journal(const struct replay_opts *o, struct err *e)
{
	struct replay r = { .c = NULL };
	int ret = journal_open(&r.j, o->data, o->len, e);

	if (ret) {
		journal_release(&r.j);
		return ret;
	}
	r.c = xcalloc(1, sizeof(*r.c));
	clock_replayed_ns = r.j.h.start_ns;
	ret = make_trace(&r, o, e);
	clock_replayed_ns = 0;
	refused_release(&r.c->refused);
	switches_release(&r.c->switches);
	filters_release(&r.c->filters);
	free(r.c->since.counts);
	free(r.c->since.next_counts);
	free(r.c);
	journal_release(&r.j);
	return ret;
}
