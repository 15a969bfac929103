// SPDX-License-Identifier: GPL-2.0-or-later
/* rotate.c - one file of a recording ends, and the next begins. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/files/labels.h"
#include "collect/files/rotate.h"

void collect_end_file(struct collect *c, bool last)
{
	size_t nr_refused = c->refused.nr_lines;

	labels_end(c, last);
	collect_count_strange(c);
	collect_name_anonymous_hits(c);
	agents_write_lines(c);
	/* nobody who watches, and no next file, is kept waiting for a server */
	collect_name_hits(c, true, last && !c->o->watcher);
	if (!c->res->cut_names)
		trace_write_label(c->w, "symbols", "complete");
	refused_labels(&c->refused, c->w, collect_kernel_refused(c) || (c->timer_ns && !c->o->ev.nr_aside));
	if (!last)
		refused_cut(&c->refused, nr_refused);
}

/* Write samples of what is alive at the end of the file. */
static void write_standing(struct collect *c)
{
	c->is_standing = true;
	trace_writer_standing(c->w, true);
	parts_stand(c);
	c->is_standing = false;
	trace_writer_standing(c->w, false);
}

static void rotate_begin_file(struct collect *c, const struct clocks *at)
{
	c->since.begun_ns = at->mono_ns;
	c->nr_code_left = JAVACODE_TRACE_MAX;
	labels_clocks(c, "start", at);
	trace_write_label(c->w, "segment", "%" PRIu64, ++c->since.number);
	switches_next_file(c, at->mono_ns);
	filters_begin_file(c, at->mono_ns);
	parts_next_file(c, at->mono_ns);
	trace_writer_flush(c->w);
}

int collect_rotate(struct collect *c, const char *path, bool *opened, struct err *e)
{
	/* what comes between that and the file's end is counted for the next file */
	enum { COUNTS_MS = 100 };
	struct clocks now;
	uint64_t took_ns;
	int r;

	collect_ask_counts(c, COUNTS_MS);
	now = clocks_now();
	labels_read_counts(c);
	collect_take_in(c, now.mono_ns);
	parts_cut(c, now.mono_ns);
	callflows_end_file(&c->calls);
	write_standing(c);
	parts_end_file(c, now.mono_ns, false);
	trace_writer_keep(c->w, false);
	labels_clocks(c, "end", &now);
	callflows_label_file(&c->calls);
	collect_end_file(c, false);
	cleanup_at_change(c, now.mono_ns);
	r = trace_writer_next(c->w, path, opened, e);
	callflows_next_file(&c->calls, now.mono_ns);
	if (*opened)
		rotate_begin_file(c, &now);
	trace_writer_keep(c->w, true);
	took_ns = clock_mono_ns() - now.mono_ns;
	c->res->nr_changes++;
	c->res->change_ns += took_ns;
	c->res->longest_change_ns = MAX(c->res->longest_change_ns, took_ns);
	return r;
}
