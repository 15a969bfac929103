// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_tables.c - recordings in the spool as tables for ClickHouse (fleet/push.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "fleet/push.h"
#include "spool.h"

/* Write both tables, without headers; s->nr_rows 0: the trace has nothing. Returns as add(). */
static int write_tables(struct packed *p, const struct fleet_opts *o, const struct export_source *from,
			struct segment *s, struct err *e)
{
	const struct same_opts same = { .thread_digits = o->merge_numbers, .labels = true, .groups = true };
	static const struct opt_list all;
	struct fleet_recording rec;
	struct fleet_table t;
	int status, r = 0;

	p->sync = from->received;	/* a torn file has not the length that its name says */
	fleet_table_init(&t, p->out, &same);
	status = export_trace(&t, from, &all, true, &rec, e);
	pack_part_end(p);
	*s = (struct segment){ .id = rec.id, .start_s = rec.start_s, .nr_rows = t.nr_rows,
			       .nodes_len = p->len };
	if (status >= 0 && !(r = pack_part(p, e))) {
		fleet_table_names(&t, p->out);
		pack_part_end(p);
	}
	s->len = p->len;
	fleet_table_release(&t);
	return r ? r : status;
}

static int tables_add_trace(const struct fleet_opts *o, const char *spool, const struct export_source *from,
			    uint64_t *len, struct err *e)
{
	struct segment s = { 0 };
	struct packed p;
	int r = pack_begin(&p, spool, "tables", e), ended;
	struct err ignored;
	char *to = NULL;

	if (!r)
		r = write_tables(&p, o, from, &s, e);
	if (r >= 0 && s.nr_rows)
		to = segment_path(spool, &s);
	else if (r >= 0 && !from->received)
		log_warn("%s has no samples and no calls; nothing of it is sent", from->path);
	ended = pack_end(&p, to, r < 0 ? &ignored : e);
	if (to && !ended)
		*len += p.len;
	free(to);
	return ended && r >= 0 ? ended : r;
}

static void drop_segment(const char *spool, const struct segment *s)
{
	char *path = segment_path(spool, s);

	unlink(path);
	free(path);
}

static void say_that_it_differs(const struct segment *s)
{
	log_error("the server has %" PRIu64 " of the %" PRIu64 " rows of recording %" PRId64, s->nr_there,
		  s->nr_rows, s->id);
	log_hint("ALTER TABLE nodes DELETE WHERE trace = %" PRId64 " removes them; then push again", s->id);
}

static int send_segments(const struct http_server *server, const char *spool, struct segment *s, size_t nr,
			 uint64_t *wait_s, struct err *e)
{
	int r = segments_push(server, spool, s, nr, e);
	size_t i;

	*wait_s = 0;
	for (i = 0; i < nr; i++)
		if (s[i].fate == SEGMENT_DIFFERS)
			say_that_it_differs(&s[i]);
	return r;
}

const struct spool_kind spool_tables = {
	.ask = segments_ask,
	.add = tables_add_trace,
	.parse = segment_parse,
	.batch = segments_batch,
	.send = send_segments,
	.drop = drop_segment,
};
