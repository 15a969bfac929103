// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "reader/arcprof-trace.h"

enum { MEMORY = 8 << 20, FRAMES = 64 };

static void need(int ok)
{
	if (!ok)
		abort();
}

/* Texts are there, or are NULL where that may be. */
static void need_text(const char *s)
{
	need(s && strlen(s) < SIZE_MAX);
}

static void read_names(struct arcprof_trace *t, int64_t *nr)
{
	struct arcprof_label label;
	struct arcprof_metric metric;
	struct arcprof_process process;
	struct arcprof_thread_row thread;
	struct arcprof_module module;
	int64_t i;

	for (i = 0; i < nr[ARCPROF_TABLE_LABELS]; i++) {
		need(!arcprof_trace_label(t, i, &label));
		need_text(label.key);
		need_text(label.value);
	}
	for (i = 0; i < nr[ARCPROF_TABLE_METRICS]; i++) {
		need(!arcprof_trace_metric(t, i, &metric));
		need_text(metric.name);
	}
	for (i = 0; i < nr[ARCPROF_TABLE_PROCESSES]; i++)
		need(!arcprof_trace_process(t, i, &process));
	for (i = 0; i < nr[ARCPROF_TABLE_THREADS]; i++)
		need(!arcprof_trace_thread(t, i, &thread));
	for (i = 0; i < nr[ARCPROF_TABLE_MODULES]; i++)
		need(!arcprof_trace_module(t, i, &module));
}

static void read_model(struct arcprof_trace *t, int64_t *nr)
{
	struct arcprof_function f;
	struct arcprof_node n, parent;
	int64_t i;

	for (i = 0; i < nr[ARCPROF_TABLE_FUNCTIONS]; i++) {
		need(!arcprof_trace_function(t, i + 1, &f));
		need_text(f.name);
	}
	for (i = 0; i < nr[ARCPROF_TABLE_NODES]; i++) {
		need(!arcprof_trace_node(t, i, &n));
		need(n.last >= i && n.last < nr[ARCPROF_TABLE_NODES]);
		need(!arcprof_trace_function(t, n.function, &f) || !nr[ARCPROF_TABLE_FUNCTIONS]);
		if (n.parent == ARCPROF_NONE)
			continue;
		need(n.parent < i && !arcprof_trace_node(t, n.parent, &parent));
		need(parent.level + 1 == n.level && parent.last >= n.last);
	}
}

static void read_samples(struct arcprof_trace *t, int64_t *nr)
{
	struct arcprof_frame frames[FRAMES];
	struct arcprof_sample s;
	uint64_t time_ns = 0;
	int64_t i, k, nr_frames;

	for (i = 0; i < nr[ARCPROF_TABLE_SAMPLES]; i++) {
		need(!arcprof_trace_sample(t, i, &s));
		need(s.time_ns >= time_ns && s.node < nr[ARCPROF_TABLE_NODES]);
		need(s.metric < nr[ARCPROF_TABLE_METRICS]);
		time_ns = s.time_ns;
		if (s.stack && nr[ARCPROF_TABLE_STACKS])
			need(s.stack <= nr[ARCPROF_TABLE_STACKS]);
	}
	/* a deep stack for each of many nodes is quadratic, but that is the caller's */
	for (i = 1; i <= nr[ARCPROF_TABLE_STACKS]; i += 1 + nr[ARCPROF_TABLE_STACKS] / 256) {
		nr_frames = arcprof_trace_stack(t, i, frames, FRAMES);
		need(nr_frames >= 0);
		for (k = 0; k < nr_frames && k < FRAMES; k++) {
			need_text(frames[k].name);
			need_text(frames[k].kind);
			need_text(frames[k].code);
		}
	}
}

static void read_events(struct arcprof_trace *t, int64_t *nr)
{
	struct arcprof_call c;
	struct arcprof_event e;
	struct arcprof_dispatch d;
	int64_t i;

	for (i = 0; i < nr[ARCPROF_TABLE_CALLS]; i++) {
		need(!arcprof_trace_call(t, i, &c));
		need(c.parent == ARCPROF_NONE || c.parent < i);
	}
	for (i = 0; i < nr[ARCPROF_TABLE_EVENTS]; i++)
		need(!arcprof_trace_event(t, i, &e));
	for (i = 0; i < nr[ARCPROF_TABLE_DISPATCHES]; i++)
		need(!arcprof_trace_dispatch(t, i, &d));
}

static void read_mappings(struct arcprof_trace *t, int64_t *nr)
{
	struct arcprof_frame frames[FRAMES];
	struct arcprof_address a;
	struct arcprof_mapping m;
	int64_t i, k, nr_frames;

	for (i = 0; i < nr[ARCPROF_TABLE_MAPPINGS]; i += 1 + nr[ARCPROF_TABLE_MAPPINGS] / 256) {
		need(!arcprof_trace_mapping(t, i, &m));
		a = (struct arcprof_address){ m.process, m.time_ns, m.address };
		nr_frames = arcprof_trace_a2n(t, &a, frames, FRAMES, NULL);
		need(nr_frames >= 0);
		for (k = 0; k < nr_frames && k < FRAMES; k++) {
			need_text(frames[k].name);
			need_text(frames[k].kind);
			need_text(frames[k].code);
		}
	}
}

void library_read(const uint8_t *data, size_t len)
{
	const struct arcprof_options o = { .memory_bytes = MEMORY };
	int64_t nr[ARCPROF_NR_TABLES];
	struct arcprof_error e;
	struct arcprof_trace *t;
	int i;

	if (arcprof_trace_open_memory(&t, data, len, &o, &e)) {
		need(!t && e.code && *e.text);
		return;
	}
	for (i = 0; i < ARCPROF_NR_TABLES; i++) {
		nr[i] = arcprof_trace_rows(t, i, &e);
		need(nr[i] >= 0 || *e.text);
		nr[i] = nr[i] < 0 ? 0 : nr[i];
	}
	read_names(t, nr);
	read_model(t, nr);
	read_samples(t, nr);
	read_events(t, nr);
	read_mappings(t, nr);
	arcprof_trace_close(t);
}
