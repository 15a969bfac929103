// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_tables.c - recordings in the spool as tables for ClickHouse (fleet/push.h). */
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "export.h"
#include "fleet/push.h"
#include "spool.h"

/* Names first: a segment is there once its nodes are. */
static int write_tables(struct packed *nodes, const char *spool, const struct fleet_table *t,
			const struct segment *s, struct err *e)
{
	char *nodes_path = segment_nodes(spool, s), *names_path = segment_names(spool, s);
	struct packed names;
	int r = pack_begin(&names, spool, "names", e);

	if (!r)
		fleet_table_names(t, names.out);
	r = r ? (pack_end(&names, NULL, e), r) : pack_end(&names, names_path, e);
	r = r ? (pack_end(nodes, NULL, e), r) : pack_end(nodes, nodes_path, e);
	free(nodes_path);
	free(names_path);
	return r;
}

/* Puts a trace into the spool: 0, 1 if it was damaged, or -errno. */
static int add_trace(const struct fleet_opts *o, const char *spool, const char *path, struct err *e)
{
	const struct same_opts same = { .thread_digits = o->merge_numbers, .labels = true, .groups = true };
	static const struct opt_list all;
	struct fleet_table t;
	struct segment s;
	struct packed nodes;
	struct err ignored;
	int r = pack_begin(&nodes, spool, "nodes", e), status;

	if (r) {
		pack_end(&nodes, NULL, &ignored);
		return r;
	}
	fleet_table_init(&t, nodes.out, &same);
	status = export_trace(&t, path, &all, true, &s.id, e);
	s.nr_rows = t.nr_rows;
	if (status < 0 || !s.nr_rows)
		pack_end(&nodes, NULL, &ignored);
	else
		r = write_tables(&nodes, spool, &t, &s, e);
	if (status >= 0 && !s.nr_rows)
		log_warn("%s has no samples and no calls; nothing of it is sent", path);
	fleet_table_release(&t);
	return r ? r : status;
}

static void drop_segment(const char *spool, const struct segment *s)
{
	char *nodes = segment_nodes(spool, s), *names = segment_names(spool, s);
	char *tried = segment_tried(spool, s);

	unlink(nodes);		/* last in, first out: without its nodes there is no segment */
	unlink(names);
	unlink(tried);
	free(tried);
	free(nodes);
	free(names);
}

static int send_segment(const struct http_server *server, const char *spool, const struct segment *s,
			uint64_t *wait_s, struct err *e)
{
	int r = segment_push(server, spool, s, e);

	*wait_s = 0;
	return r == 1 ? SPOOL_KNOWN : r;
}

const struct spool_kind spool_tables = {
	.add = add_trace,
	.parse = segment_parse,
	.send = send_segment,
	.drop = drop_segment,
};
