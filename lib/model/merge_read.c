// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * merge_read.c - reads the tree of a merged trace.
 *
 * The file may be damaged.  Where a record of nodes is missing, what follows it is below [unwalkable: damaged
 * part of the trace] until a root comes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/span.h"
#include "flow/ops.h"
#include "model/merge.h"
#include "model/profile.h"

enum { MAX_LOST_LEVEL = 1 << 20 };

struct in {
	struct names *names;
	struct model *m;
	bool begun;			/* sources and metrics are complete */
	struct map consumers;		/* number -> id */
	uint32_t *path;			/* [level]: the open node */
	size_t nr_path, alloc_path;
	uint32_t nr_nodes;		/* so far */
	uint32_t damaged;		/* consumer: of what the path to is not known */
	struct recording *parts;
	size_t nr_parts, alloc_parts;
	struct err *e;
};

bool merged_is(const struct names *x)
{
	return names_label(x, "merged");
}

static const char *merge_read_text_of(struct in *in, const char *s, size_t len)
{
	return len ? arena_strndup(&in->names->text, s, len) : NULL;
}

static int merge_read_take_part(void *ctx, const struct rec_tree_part *r)
{
	struct in *in = ctx;

	*VEC_ADD(in->parts, in->nr_parts, in->alloc_parts) = (struct recording){
		r->start_ns, r->duration_ns, r->lost, merge_read_text_of(in, r->host, r->host_len),
		merge_read_text_of(in, r->command, r->command_len),
	};
	return 0;
}

static int merge_read_bad(struct in *in, const char *what)
{
	return err_set(in->e, EINVAL, "%s", what);
}

static int take_source(void *ctx, const struct rec_tree_source *r)
{
	struct in *in = ctx;
	struct model *m = in->m;
	bool calls = r->kind_len == 5 && !memcmp(r->kind, "calls", 5);
	const char *name = arena_strndup(&in->names->text, r->name, r->name_len);

	if (in->begun || r->source != m->nr_sources + 1)
		return merge_read_bad(in, "the sources of the merged tree are not in order");
	if (calls && m->nr_sources)
		return merge_read_bad(in, "the merged tree has calls behind another source");
	if (!model_has_room(m->nr_shown, m->nr_sources + 1) || m->nr_sources == FLOW_MAX_METRICS)
		return merge_read_bad(in, "the merged tree has too many sources");
	model_add_source(m, calls ? FLOW_CALLS : FLOW_SAMPLES, name);
	return 0;
}

static int take_metric(void *ctx, const struct rec_tree_metric *r)
{
	struct in *in = ctx;
	struct model *m = in->m;

	if (in->begun || r->metric != m->nr_shown + 1 || r->source > m->nr_sources)
		return merge_read_bad(in, "the metrics of the merged tree are not in order");
	if (!model_has_room(m->nr_shown + 1, m->nr_sources))
		return merge_read_bad(in, "the merged tree has too many metrics");
	model_add_metric(m, r->source - 1, arena_strndup(&in->names->text, r->name, r->name_len),
			 arena_strndup(&in->names->text, r->unit, r->unit_len));
	return 0;
}

static int take_consumer(void *ctx, const struct rec_tree_consumer *r)
{
	struct in *in = ctx;
	struct consumers *c = &in->m->consumers;
	enum consumer_kind kind = consumer_kind_parse(r->kind, r->kind_len);
	struct consumer x = {
		.name = strtab_add(&c->names, r->name, r->name_len),
		.module = strtab_add(&c->names, r->module, r->module_len),
		.detail = strtab_add(&c->names, r->detail, r->detail_len),
		.kind = kind == CONSUMER_NR ? CONSUMER_ANY : kind,
		.key = r->key,
	};
	uint32_t id = consumer_add(c, &x);

	*map_put(&in->consumers, r->consumer) = id;
	if (x.kind == CONSUMER_MARK && !strcmp(strtab_get(&c->names, x.name), OWN_NAME))
		in->m->own = id;
	return 0;
}

static int merge_begin_tree(struct in *in)
{
	if (in->begun)
		return 0;
	if (!in->m->nr_sources || !in->m->nr_shown)
		return merge_read_bad(in, "the merged tree has no metrics");
	model_begin(in->m);
	in->begun = true;
	return 0;
}

/* Let levels up to that one lead to a node of which nothing else is known. */
static void lose_path(struct in *in, uint32_t level)
{
	uint32_t node = level ? flow_child(&in->m->flow, FLOW_NONE, in->damaged) : FLOW_NONE;
	size_t i;

	in->nr_path = 0;
	for (i = 0; i < level; i++)
		*VEC_ADD(in->path, in->nr_path, in->alloc_path) = node;
}

/* Read one node, with its consumer and values, below the last of the path. */
static void take_node(struct in *in, struct span *s)
{
	struct model *m = in->m;
	uint32_t id = map_get(&in->consumers, span_varint(s)), node;
	uint64_t base[FLOW_MAX_METRICS] = { 0 }, n;
	unsigned int i;

	n = span_varint(s);
	for (i = 1; i < m->nr_sources; i++)
		base[model_counter(m, i)] = span_varint(s);
	for (i = 0; i < m->nr_shown; i++)
		base[i] = span_varint(s);
	if (s->bad)
		return;
	node = flow_child(&m->flow, in->nr_path ? in->path[in->nr_path - 1] : FLOW_NONE,
			  id == MAP_NONE ? in->damaged : id);
	flow_add(&m->flow, node, n, base);
	*VEC_ADD(in->path, in->nr_path, in->alloc_path) = node;
}

static int merge_read_take_nodes(void *ctx, const struct rec_tree_nodes *r)
{
	struct in *in = ctx;
	struct span s = span_init(r->nodes, r->len);
	uint64_t up;
	uint32_t i;
	int ret = merge_begin_tree(in);

	if (ret)
		return ret;
	if (r->level > (r->first == in->nr_nodes + 1 ? in->nr_path : MAX_LOST_LEVEL) || r->nr > r->len)
		return merge_read_bad(in, "nodes of the merged tree have no path");
	if (r->first != in->nr_nodes + 1)
		lose_path(in, r->level);
	for (i = 0; i < r->nr; i++) {
		up = span_varint(&s);
		if (i && up > in->nr_path)
			return merge_read_bad(in, "nodes of the merged tree have no path");
		in->nr_path = i ? in->nr_path - up : MIN(in->nr_path, r->level);
		take_node(in, &s);
		if (s.bad)
			return merge_read_bad(in, "nodes of the merged tree are cut off");
	}
	in->nr_nodes = r->first + r->nr - 1;
	return 0;
}

/* Return the sampled events beside the first; NULL: there are none. */
static const char *list_not_shown(const struct in *in, unsigned int samples)
{
	const struct model *m = in->m;
	uint64_t total[FLOW_MAX_METRICS], n = flow_totals(&m->flow, total);
	struct buf b = BUF_INIT;
	const char *text = NULL;
	unsigned int s;

	for (s = samples + 1; s < m->nr_sources; s++)
		buf_fmt(&b, "%s%" PRIu64 " sample%s of %s", b.len ? ", " : "", model_n(m, s, n, total),
			plural(model_n(m, s, n, total)), model_str(m, m->sources[s].name));
	if (b.len)
		text = arena_strndup(&in->names->text, b.data, b.len);
	buf_release(&b);
	return text;
}

/*
 * Choose the metrics without --metric: all that calls consumed, and the first sampled event, as of any
 * trace.
 */
static int merge_pick(struct in *in, const struct profile_opts *o, struct origin *origin)
{
	struct model *m = in->m;
	char *names[FLOW_MAX_METRICS];
	unsigned int i, nr = 0, samples = model_first_samples(m);

	if (o->metrics.nr_items)
		return model_pick_metrics(m, o->metrics.items, o->metrics.nr_items, in->e);
	if (o->all_events)
		return 0;
	origin->not_shown = o->no_samples ? NULL : list_not_shown(in, samples);
	for (i = 0; i < m->nr_shown; i++)
		if (m->metrics[i].source <= samples && !(o->no_samples && m->metrics[i].source == samples))
			names[nr++] = (char *)model_str(m, m->metrics[i].name);
	return nr && nr < m->nr_shown ? model_pick_metrics(m, names, nr, in->e) : 0;
}

static void fill_origin(struct in *in, struct origin *origin)
{
	const char *host = in->nr_parts ? in->parts[0].host : NULL;
	const char *command = in->nr_parts ? in->parts[0].command : NULL;
	size_t i;

	origin->parts = in->parts;
	origin->nr_parts = in->nr_parts;
	origin->merged_by = names_label(in->names, "merged.op");
	origin->below_zero = names_label_u64(in->names, "merged.below_zero");
	origin->start_ns = in->nr_parts ? in->parts[0].start_ns : 0;
	origin->duration_ns = 0;
	for (i = 0; i < in->nr_parts; i++) {
		const struct recording *p = &in->parts[i];

		origin->duration_ns += p->duration_ns;
		origin->lost += p->lost;
		host = host && p->host && !strcmp(host, p->host) ? host : NULL;
		command = command && p->command && !strcmp(command, p->command) ? command : NULL;
	}
	origin->host = host;
	origin->command = command;
}

/* Move the list to the memory of the names, which the owner of the origin keeps. */
static void keep_parts(struct in *in)
{
	struct recording *kept = arena_alloc(&in->names->text, in->nr_parts * sizeof(*kept));

	if (in->nr_parts)
		memcpy(kept, in->parts, in->nr_parts * sizeof(*kept));
	free(in->parts);
	in->parts = kept;
}

static int merge_check_opts(const struct profile_opts *o, struct err *e)
{
	if (o->select && selection_has_window(o->select))
		return err_set(e, ENODATA, "a merged trace does not say when its samples were taken");
	if (o->select && o->select->cpus.nr_items)
		return err_set(e, ENODATA, "a merged trace does not say on which CPU its samples were taken");
	if (o->replay)
		return err_set(e, ENODATA, "a merged trace has no events");
	return 0;
}

int merged_read(struct names *x, struct origin *origin, struct trace_reader *t, const struct profile_opts *o,
		struct err *e)
{
	static const struct trace_sink sink = {
		.tree_part = merge_read_take_part,
		.tree_source = take_source,
		.tree_metric = take_metric,
		.tree_consumer = take_consumer,
		.tree_nodes = merge_read_take_nodes,
	};
	struct in in = { .names = x, .m = x->m, .e = e };
	const char *damaged = frame_mark_name(MARK_DAMAGED);
	int r = merge_check_opts(o, e);

	model_clear(x->m);
	in.damaged = consumer_add_name(&x->m->consumers, CONSUMER_MARK, damaged, strlen(damaged));
	if (!r)
		r = trace_read(t, &sink, &in, e);
	if (!r)
		r = merge_begin_tree(&in);
	if (!in.begun) {
		model_clear(x->m);
		model_add_metric(x->m, model_add_source(x->m, FLOW_SAMPLES, "samples"), "samples", "samples");
		model_begin(x->m);
	}
	if (!r && o->samples && x->m->sources[0].kind == FLOW_CALLS)
		r = err_set(e, ENODATA, "a merged trace has its samples in the tree of its calls; --metric chooses");
	model_finish(x->m);
	origin_fill(origin, x, 0, 0);
	keep_parts(&in);
	fill_origin(&in, origin);
	if (!r)
		r = merge_pick(&in, o, origin);
	map_release(&in.consumers);
	free(in.path);
	return r;
}
