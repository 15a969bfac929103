// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - Chrome's trace events, gzipped JSON, for Perfetto, chrome://tracing and speedscope: what has
 * a time.  Samples (write_profile.c), threads on CPUs, calls (write_calls.c) and events of JVMs
 * (write_events.c).
 *
 * Samples of one metric that is time are profiles of their threads.  One of another metric is an instant on
 * the track of its thread, with its stack.  A CPU is a track of a process of its own.
 *
 * Source: "Trace Event Format", the document of the Chromium project.
 */
#include <errno.h>
#include <string.h>

#include "base/gzip.h"
#include "base/quote.h"
#include "formats/chrome/write.h"
#include "model/sched.h"
#include "version.h"

enum { US_DECIMALS = 3 };		/* of a number of microseconds that is one of nanoseconds */
enum { CPUS_PID = INT32_MAX };		/* no process has it */

/* ---- events ---- */

void chrome_event(struct chrome *c, const char *phase, uint32_t pid, uint32_t tid)
{
	json_object(&c->j, NULL);
	json_str(&c->j, "ph", phase);
	json_u64(&c->j, "pid", pid);
	json_u64(&c->j, "tid", tid);
	c->nr_events++;
}

static void put_us(struct chrome *c, const char *key, uint64_t ns)
{
	json_decimal(&c->j, key, ns, US_DECIMALS);
}

void chrome_time(struct chrome *c, const char *key, uint64_t ns)
{
	put_us(c, key, ns > c->start_ns ? ns - c->start_ns : 0);
}

void chrome_duration(struct chrome *c, uint64_t ns)
{
	put_us(c, "dur", ns);
}

static void put_name(struct chrome *c, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	chrome_event(c, "M", pid, tid);
	json_str(&c->j, "cat", "__metadata");	/* some programs look for it in the first event */
	json_str(&c->j, "name", what);
	json_u64(&c->j, "ts", 0);
	json_object(&c->j, "args");
	json_str(&c->j, "name", quote_str(&c->x.escaped, name));
	json_end(&c->j);
	json_end(&c->j);
	c->nr_events--;		/* says nothing of what happened */
}

void chrome_name_process(struct chrome *c, uint32_t pid, const char *name)
{
	uint32_t *named = map_put(&c->named, (uint64_t)pid << 32 | UINT32_MAX);

	if (*named == MAP_NONE)
		put_name(c, "process_name", pid, 0, name);
	*named = 1;
}

void chrome_name_thread(struct chrome *c, uint32_t pid, uint32_t tid, const char *name)
{
	uint32_t *named = map_put(&c->named, (uint64_t)pid << 32 | tid);

	if (*named == MAP_NONE)
		put_name(c, "thread_name", pid, tid, name);
	*named = 1;
}

/* ---- samples ---- */

static void name_place(struct chrome *c, uint32_t root, struct chrome_place x)
{
	const struct model *m = c->v->m;
	uint32_t process = export_process(c->v, root);

	if (process)
		chrome_name_process(c, x.pid,
				    consumer_name(&m->consumers, m->flow.nodes[process].consumer));
	if (root)
		chrome_name_thread(c, x.pid, x.tid,
				   consumer_name(&m->consumers, m->flow.nodes[root].consumer));
}

struct chrome_place chrome_place(struct chrome *c, uint32_t root)
{
	const struct model *m = c->v->m;
	uint32_t process = export_process(c->v, root);
	const struct consumer *p = &m->consumers.items[m->flow.nodes[process].consumer];
	const struct consumer *t = &m->consumers.items[m->flow.nodes[root].consumer];
	struct chrome_place x = { process ? export_pid(p) : 0, 0 };

	x.tid = x.pid;
	if (root && t->kind == CONSUMER_THREAD)
		x.tid = export_tid(t) ? export_tid(t) : CHROME_UNNUMBERED + (CHROME_UNNUMBERED >> 1) + root;
	name_place(c, root, x);
	return x;
}

const char *chrome_frame_name(const struct chrome *c, uint32_t stack)
{
	const struct export_location *l = &c->x.locations[c->stacks.list[stack - 1].location - 1];

	return export_str(&c->x, c->x.functions[l->function - 1].name);
}

static void put_instant(struct chrome *c, const struct export_sample *s, struct chrome_place at,
			const char *metric)
{
	uint32_t number = export_stack(&c->stacks, s->node);

	chrome_event(c, "i", at.pid, at.tid);
	put_us(c, "ts", s->time_ns);
	json_str(&c->j, "s", "t");
	json_str(&c->j, "cat", metric);
	json_str(&c->j, "name", chrome_frame_name(c, number));
	json_u64(&c->j, "sf", number);
	json_object(&c->j, "args");
	json_u64(&c->j, metric, s->weight);
	json_end(&c->j);
	json_end(&c->j);
}

static bool is_time(const struct model *m, unsigned int metric)
{
	size_t i;

	for (i = 0; i < m->times.nr_list && m->times.list[i].metric != metric; i++)
		;
	return i < m->times.nr_list && !strcmp(model_str(m, m->metrics[metric].unit), "ns");
}

/* Return the metric to show as profiles: the wanted one if it is a time, else the first that is. */
static unsigned int profiled_metric(const struct model *m, unsigned int wanted)
{
	unsigned int i;

	if (is_time(m, wanted))
		return wanted;
	for (i = 0; i < m->nr_shown && !is_time(m, i); i++)
		;
	return i;
}

static void put_instants(struct chrome *c, const struct export_samples *s, const char *metric)
{
	size_t i, k;

	for (i = 0; i < s->nr_tracks; i++) {
		const struct export_track *t = &s->tracks[i];
		struct chrome_place at = chrome_place(c, t->root);

		for (k = t->first; k < t->first + t->nr; k++) {
			const struct export_sample x = export_sample(s, k);

			put_instant(c, &x, at, metric);
		}
	}
}

static void chrome_put_samples(struct chrome *c)
{
	const struct model *m = c->v->m;
	unsigned int profiled = profiled_metric(m, c->v->o->sort_metric), metric;
	struct export_samples s;

	for (metric = 0; metric < m->nr_shown; metric++) {
		const char *name = model_str(m, m->metrics[metric].name);

		export_samples_init(&s, c->v, metric);
		if (!s.timed)
			export_lacks(c->v, "%s, which has no samples", name);
		else if (metric == profiled)
			chrome_put_profiles(c, &s);
		else
			put_instants(c, &s, name);
		c->has_instants |= s.timed && metric != profiled;
		export_samples_release(&s);
	}
	if (c->has_instants && profiled == m->nr_shown)
		export_lacks(c->v, "weights, for programs that show profiles, as no metric is time");
}

static void chrome_put_frames(struct chrome *c)
{
	char key[24];
	size_t i;

	json_object(&c->j, "stackFrames");
	for (i = 0; i < c->stacks.nr_list; i++) {
		const struct export_stack *s = &c->stacks.list[i];

		snprintf(key, sizeof(key), "%zu", i + 1);
		json_object(&c->j, key);
		json_str(&c->j, "name", chrome_frame_name(c, i + 1));
		json_str(&c->j, "category", consumer_kind_name(c->x.locations[s->location - 1].kind));
		if (s->caller) {
			snprintf(key, sizeof(key), "%u", s->caller);
			json_str(&c->j, "parent", key);
		}
		json_end(&c->j);
	}
	json_end(&c->j);
}

/* ---- dispatches ---- */

/* Show when a thread was on a CPU: the CPU's track has the thread's name. */
static void take_state(void *ctx, const struct sched_thread *t, enum sched_bucket b, uint64_t from_ns,
		       uint64_t to_ns)
{
	struct chrome *c = ctx;
	char name[16];

	if (b != SCHED_ON_CPU || t->cpu < 0 || to_ns <= from_ns ||
	    !selection_has_names(&c->v->o->select, t->pid, t->tid, t->comm, t->name))
		return;
	snprintf(name, sizeof(name), "CPU %d", t->cpu);
	chrome_name_process(c, CPUS_PID, "CPUs");
	chrome_name_thread(c, CPUS_PID, t->cpu + 1, name);
	chrome_event(c, "X", CPUS_PID, t->cpu + 1);
	chrome_time(c, "ts", from_ns);
	put_us(c, "dur", to_ns - from_ns);
	json_str(&c->j, "cat", "dispatch");
	json_str(&c->j, "name", quote_str(&c->x.escaped, t->name));
	json_object(&c->j, "args");
	json_u64(&c->j, "pid", t->pid);
	json_u64(&c->j, "tid", t->tid);
	json_end(&c->j);
	json_end(&c->j);
}

static int put_dispatches(struct chrome *c, struct err *e)
{
	const struct sched_opts opts = { .select = &c->v->o->select, .state = take_state, .state_ctx = c };
	struct sched_model m;
	int r = sched_read(&m, c->v->trace, &opts, e);

	sched_release(&m);
	return r == -ENODATA ? 0 : r;
}

/* ---- the file ---- */

static void chrome_put_head(struct chrome *c)
{
	const struct origin *origin = c->v->origin;

	json_str(&c->j, "displayTimeUnit", "ns");
	json_object(&c->j, "otherData");
	json_str(&c->j, "version", "arcprof " ARCPROF_VERSION);
	json_str(&c->j, "command", origin->command ? quote_str(&c->x.escaped, origin->command) : NULL);
	json_str(&c->j, "host", origin->host ? quote_str(&c->x.escaped, origin->host) : NULL);
	json_u64(&c->j, "start_unix_ns", origin->start_ns);
	json_u64(&c->j, "lost", origin->lost);
	json_end(&c->j);
}

static int chrome_put_all(struct chrome *c, struct err *e)
{
	int r = 0;

	json_object(&c->j, NULL);
	chrome_put_head(c);
	json_array(&c->j, "traceEvents");
	chrome_put_samples(c);
	if (c->v->trace)
		r = put_dispatches(c, e);
	if (!r && c->v->trace && !c->v->o->profile->samples)
		r = chrome_put_calls(c, e);
	if (!r && c->v->trace)
		r = chrome_put_events(c, e);
	json_end(&c->j);
	if (c->has_instants)
		chrome_put_frames(c);
	json_end(&c->j);
	if (!r && !c->nr_events)
		r = err_set(e, ENODATA, "trace events consist of what has a time, and this has none: samples, "
			    "dispatches (record --sched), calls (record --calltrace), or events of JVMs "
			    "(record -e jvm)");
	return r;
}

int chrome_print(struct view *v, FILE *out, struct err *e)
{
	struct chrome c = { .v = v, .start_ns = v->m->times.start_ns };
	FILE *packed = gzip_open(out, e);
	int r;

	if (!packed)
		return -ENOMEM;
	json_init(&c.j, packed);
	export_init(&c.x, v);
	export_stacks_init(&c.stacks, &c.x);
	r = chrome_put_all(&c, e);
	fclose(packed);
	export_stacks_release(&c.stacks);
	export_release(&c.x);
	map_release(&c.named);
	return r;
}
