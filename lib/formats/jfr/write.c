// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - a recording of Java Flight Recorder, for JDK Mission Control, "jfr" and compatible tools: an
 * event for each sample, and the events of JVMs.
 *
 * The file is one chunk: a header, the description of types, events, and tables that they refer to.
 * The header says where the others are; so all is made twice, and the first time only counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/quote.h"
#include "formats/jfr/write.h"
#include "report/export.h"
#include "version.h"

struct jfr {
	const struct view *v;
	struct jfr_writer w;
	struct jfr_pools pools;
	struct jfr_metric metrics[FLOW_MAX_METRICS];
	unsigned int nr_metrics;
	uint32_t type_of[FLOW_MAX_METRICS];	/* 0: has no samples */
	const struct flow_time *samples;	/* by time */
	size_t nr_samples;
	struct events events;			/* of JVMs */
	bool has_events;
	struct buf text;
};

void jfr_put(struct buf *b, uint64_t v)
{
	int i;

	for (i = 0; i < 8 && v > 0x7f; i++, v >>= 7)
		buf_u8(b, v | 0x80);
	buf_u8(b, v);
}

void jfr_put_text(struct buf *b, const char *s)
{
	enum { NO_STRING = 0, UTF8 = 3 };

	buf_u8(b, s ? UTF8 : NO_STRING);
	if (!s)
		return;
	jfr_put(b, strlen(s));
	buf_add(b, s, strlen(s));
}

static void write_bytes(struct jfr_writer *w, const void *data, size_t len)
{
	if (w->out && len)
		fwrite(data, 1, len, w->out);
	w->len += len;
}

/* Write an event. Its size, in four bytes as from the JVM, includes these. */
void jfr_write_event(struct jfr_writer *w, uint32_t type, const struct buf *content)
{
	struct buf *b = &w->event;
	uint64_t size;
	int i;

	buf_reset(b);
	jfr_put(b, type);
	size = content->len + b->len;
	buf_reset(b);
	if (size + 1 <= 0x7f) {
		jfr_put(b, size + 1);
	} else {
		size += 4;
		for (i = 0; i < 4; i++)
			buf_u8(b, (size >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
	}
	jfr_put(b, type);
	write_bytes(w, b->data, b->len);
	write_bytes(w, content->data, content->len);
}

/* ---- the header ---- */

static void put_big(struct buf *b, uint64_t v, int nr_bytes)
{
	while (nr_bytes--)
		buf_u8(b, v >> 8 * nr_bytes);
}

/* Write the header; len, checkpoint: of the whole file. */
static void write_header(struct jfr *x, uint64_t len, uint64_t checkpoint)
{
	enum { MAJOR = 2, MINOR = 1, COMPRESSED_INTS = 1, LAST_CHUNK = 2 };
	struct buf b = BUF_INIT;

	buf_add(&b, "FLR", 4);
	put_big(&b, MAJOR, 2);
	put_big(&b, MINOR, 2);
	put_big(&b, len, 8);
	put_big(&b, checkpoint, 8);
	put_big(&b, JFR_HEADER_SIZE, 8);	/* where the metadata is */
	put_big(&b, x->v->origin->start_ns, 8);
	put_big(&b, x->v->origin->duration_ns, 8);
	put_big(&b, x->w.start_ticks, 8);
	put_big(&b, 1000000000, 8);		/* ticks per second */
	put_big(&b, COMPRESSED_INTS | LAST_CHUNK, 4);
	write_bytes(&x->w, b.data, b.len);
	buf_release(&b);
}

static void write_metadata(struct jfr *x)
{
	struct buf b = BUF_INIT;

	jfr_put(&b, x->w.start_ticks);
	jfr_put(&b, 0);		/* duration */
	jfr_metadata(&b, x->metrics, x->nr_metrics);
	jfr_write_event(&x->w, JFR_METADATA, &b);
	buf_release(&b);
}

/* ---- events ---- */

static void write_setting(struct jfr *x, uint32_t of, const char *name, const char *value)
{
	struct buf b = BUF_INIT;

	if (!value)
		return;
	jfr_put(&b, x->w.start_ticks);
	jfr_put(&b, of);
	jfr_put_text(&b, name);
	jfr_put_text(&b, quote_str(&x->text, value));
	jfr_write_event(&x->w, JFR_ACTIVE_SETTING, &b);
	buf_release(&b);
}

static void write_settings(struct jfr *x)
{
	const struct origin *o = x->v->origin;
	unsigned int i;
	char text[64];

	write_setting(x, JFR_ACTIVE_RECORDING, "command", o->command);
	write_setting(x, JFR_ACTIVE_RECORDING, "host", o->host);
	snprintf(text, sizeof(text), "%" PRIu64, o->lost);
	write_setting(x, JFR_ACTIVE_RECORDING, "lost samples", text);
	for (i = 0; i < x->nr_metrics; i++)
		write_setting(x, x->metrics[i].type, "event", x->metrics[i].name);
	if (o->period && x->metrics[0].type == JFR_EXECUTION_SAMPLE) {
		snprintf(text, sizeof(text), "%" PRIu64 " %s", o->period, o->period_unit ? o->period_unit : "");
		write_setting(x, JFR_EXECUTION_SAMPLE, "period", text);
	}
}

static void write_about(struct jfr *x)
{
	const struct origin *o = x->v->origin;
	struct buf b = BUF_INIT;

	jfr_put(&b, x->w.start_ticks);
	jfr_put(&b, 1);
	jfr_put_text(&b, "arcprof " ARCPROF_VERSION);
	jfr_put(&b, o->start_ns / 1000000);
	jfr_put(&b, o->duration_ns / 1000000);
	jfr_write_event(&x->w, JFR_ACTIVE_RECORDING, &b);
	write_settings(x);
	if (o->nr_cpus) {
		buf_reset(&b);
		jfr_put(&b, x->w.start_ticks);
		jfr_put_text(&b, o->machine);
		jfr_put(&b, o->nr_cpus);
		jfr_write_event(&x->w, JFR_CPU_INFORMATION, &b);
	}
	buf_release(&b);
}

/* Write the weight of the samples that follow. */
static void write_weight(struct jfr *x, uint32_t type, const struct flow_time *s)
{
	struct buf b = BUF_INIT;

	jfr_put(&b, s->time_ns);
	jfr_put(&b, s->weight);
	jfr_write_event(&x->w, type, &b);
	buf_release(&b);
}

static void write_samples(struct jfr *x)
{
	struct buf b = BUF_INIT;
	uint64_t weight[2] = { 0, 0 };
	size_t i;

	for (i = 0; i < x->nr_samples; i++) {
		const struct flow_time *s = &x->samples[i];
		uint32_t type = x->type_of[s->metric];
		bool is_wall = type == JFR_WALL_CLOCK;

		if ((is_wall || type == JFR_EXECUTION_SAMPLE) && s->weight != weight[is_wall]) {
			weight[is_wall] = s->weight;
			write_weight(x, is_wall ? JFR_WALL_WEIGHT : JFR_WEIGHT, s);
		}
		buf_reset(&b);
		type = jfr_put_sample(&x->pools, type, s, &b);
		jfr_write_event(&x->w, type, &b);
	}
	buf_release(&b);
}

static bool has_type(const struct jfr *x, uint32_t type)
{
	unsigned int i;

	for (i = 0; i < x->nr_metrics; i++)
		if (x->metrics[i].type == type)
			return true;
	return false;
}

/* ---- the whole ---- */

/* Return whether the metric is of time, or of events while code runs, rather than of objects. */
static bool is_of_execution(const struct model *m, unsigned int metric)
{
	const char *unit = model_str(m, m->metrics[metric].unit);

	return strcmp(unit, "bytes") != 0 && strcmp(unit, "objects") != 0;
}

/* Return the type of a metric's events; *taken: another metric has jdk.ExecutionSample. */
static uint32_t choose_type(const struct model *m, unsigned int metric, bool *taken)
{
	bool only_own;
	uint32_t type = jfr_sample_type(model_str(m, m->metrics[metric].name), &only_own);

	if (type)
		return type;
	if (*taken || only_own || !is_of_execution(m, metric))
		return JFR_SAMPLE + metric;
	*taken = true;
	return JFR_EXECUTION_SAMPLE;
}

/* Choose types of events for the metrics that have samples: the first of execution gets the JVM's own. */
static void choose_types(struct jfr *x)
{
	const struct model *m = x->v->m;
	bool seen[FLOW_MAX_METRICS] = { false }, taken = false;
	unsigned int i;
	size_t k;

	for (k = 0; k < x->nr_samples; k++)
		seen[x->samples[k].metric] = true;
	for (i = 0; i < m->nr_shown; i++) {
		if (!seen[i])
			continue;
		x->type_of[i] = choose_type(m, i, &taken);
		x->metrics[x->nr_metrics++] = (struct jfr_metric){ x->type_of[i],
			model_str(m, m->metrics[i].name), model_str(m, m->metrics[i].unit) };
	}
}

static void say_what_lacks(struct jfr *x, struct view *v)
{
	const struct flow_time *first = NULL, *s;
	bool differ = false;
	unsigned int i;
	size_t k;

	for (i = 0; i < v->m->nr_shown; i++)
		if (!x->type_of[i])
			export_lacks(v, "%s, which has no samples", model_str(v->m, v->m->metrics[i].name));
	for (k = 0; k < x->nr_samples; k++) {
		s = &x->samples[k];
		if (x->type_of[s->metric] != JFR_EXECUTION_SAMPLE)
			continue;
		first = first ? first : s;
		differ |= s->weight != first->weight;
	}
	if (differ)
		export_lacks(v, "that weights differ, in programs that count the events");
	export_lacks(v, "CPUs, idle time, and bytecode indexes where lines are known");
}

static void write_all(struct jfr *x, FILE *out, uint64_t len, uint64_t checkpoint)
{
	x->w.out = out;
	x->w.len = x->w.checkpoint = 0;
	write_header(x, len, checkpoint);
	write_metadata(x);
	write_about(x);
	write_samples(x);
	if (x->has_events) {
		jfr_write_jvm(&x->w, &x->pools, &x->events, !has_type(x, JFR_EXCEPTION));
		jfr_write_labels(&x->w, &x->pools, &x->events);
	}
	jfr_pools_write(&x->pools, &x->w);
}

/* Read the events; having none is not an error. */
static int read_events(struct jfr *x, const struct events_opts *o, struct err *e)
{
	int r;

	if (!x->v->trace)
		return 0;
	r = events_read(&x->events, x->v->trace, o, e);
	x->has_events = !r && (x->events.nr || x->events.names.thread_labels.nr);
	if (!x->has_events)
		events_release(&x->events);
	return r == -ENODATA ? 0 : r;
}

int jfr_print(struct view *v, FILE *out, struct err *e)
{
	const struct events_opts eo = { .kinds = UINT32_MAX, .select = &v->o->select, .labels = true };
	struct flow_times *t = &v->m->times;
	struct jfr x = { .v = v };
	int r = read_events(&x, &eo, e);

	if (r)
		return r;
	if (!t->nr_list && !x.has_events)
		return err_set(e, ENODATA, "a JFR file consists of samples and events with their times, and there are none");
	flow_times_sort_by_time(t);
	x.w.start_ticks = t->start_ns;
	x.nr_samples = t->nr_list;
	x.samples = t->list;
	choose_types(&x);
	jfr_pools_init(&x.pools, v);
	write_all(&x, NULL, 0, 0);
	write_all(&x, out, x.w.len, x.w.checkpoint);
	say_what_lacks(&x, v);
	jfr_pools_release(&x.pools);
	if (x.has_events)
		events_release(&x.events);
	buf_release(&x.w.event);
	buf_release(&x.text);
	return 0;
}
