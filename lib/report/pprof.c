// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof.c - a gzipped profile.proto, for pprof and compatible tools: a sample for each context
 * with a base.
 *
 * A location is a function together with the functions inlined into it.  It has no address, because
 * the tree of contexts has none.  Process and thread are labels of a sample, not frames.
 *
 * A message is written when it is first referred to; readers accept the fields of a profile in any
 * order, so the table of strings comes last.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/quote.h"
#include "model/names.h"
#include "report/report.h"
#include "version.h"

/* Numbers of the fields, by message. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM };
enum { MAPPING_ID = 1, MAPPING_FILENAME = 5, MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_LINE = 4 };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };

enum { WIRE_VARINT = 0, WIRE_BYTES = 2 };
enum { GZIP_WINDOW_BITS = 15 + 16, GZIP_MEMORY = 8 };

struct pprof {
	const struct view *v;
	FILE *out;
	z_stream z;
	struct strtab strings;
	struct map mapping_of, function_of, location_of;	/* -> id, from 1 */
	struct location {
		uint32_t caller;	/* id of the location that it is inlined in; 0: in none */
		uint32_t consumer;
		bool written;
	} *locations;			/* [id - 1] */
	size_t nr_locations, alloc_locations;
	uint32_t *location_at;		/* [node]: id */
	struct buf sample, part, escaped;
};

/* ---- the wire ---- */

static void put_tag(struct buf *b, unsigned int field, unsigned int type)
{
	buf_varint(b, field << 3 | type);
}

/* A field that has its default is left out. */
static void put_number(struct buf *b, unsigned int field, uint64_t v)
{
	if (!v)
		return;
	put_tag(b, field, WIRE_VARINT);
	buf_varint(b, v);
}

/* What is in part becomes a field of b; part is empty after. */
static void put_part(struct buf *b, unsigned int field, struct buf *part)
{
	put_tag(b, field, WIRE_BYTES);
	buf_varint(b, part->len);
	if (part->len)
		buf_add(b, part->data, part->len);
	buf_reset(part);
}

static void compress_bytes(struct pprof *p, const void *data, size_t len, int flush)
{
	char chunk[16384];

	p->z.next_in = (void *)data;
	p->z.avail_in = len;
	do {
		p->z.next_out = (void *)chunk;
		p->z.avail_out = sizeof(chunk);
		deflate(&p->z, flush);
		fwrite(chunk, 1, sizeof(chunk) - p->z.avail_out, p->out);
	} while (!p->z.avail_out);
}

/* Fields of the profile itself; b is empty after. */
static void emit(struct pprof *p, struct buf *b)
{
	if (b->len)
		compress_bytes(p, b->data, b->len, Z_NO_FLUSH);
	buf_reset(b);
}

/* The message that is a field of the profile; it is released. */
static void emit_message(struct pprof *p, unsigned int field, struct buf *message)
{
	struct buf b = BUF_INIT;

	put_part(&b, field, message);
	emit(p, &b);
	buf_release(&b);
	buf_release(message);
}

/* Index in the table of strings: 0 is the empty one, there as here. */
static uint64_t string(struct pprof *p, const char *s)
{
	return strtab_adds(&p->strings, quote_str(&p->escaped, s));
}

/* ---- what samples refer to ---- */

/* NULL when the build-id is not known. */
static const struct name_module *find_module(const struct pprof *p, const char *path)
{
	const struct origin *origin = p->v->origin;
	size_t i;

	for (i = 0; i < origin->nr_modules; i++)
		if (origin->modules[i].build_id_len && !strcmp(origin->modules[i].path, path))
			return &origin->modules[i];
	return NULL;
}

/* The id; 0 of what is in no module. */
static uint32_t mapping(struct pprof *p, uint32_t module)
{
	const char *path = model_str(p->v->m, module);
	struct buf b = BUF_INIT, hex = BUF_INIT;
	const struct name_module *m;
	uint32_t *at, id;
	size_t i;

	if (!module)
		return 0;
	at = map_put(&p->mapping_of, module);
	if (*at != MAP_NONE)
		return *at;
	id = *at = p->mapping_of.nr;
	put_number(&b, MAPPING_ID, id);
	put_number(&b, MAPPING_FILENAME, string(p, path));
	m = find_module(p, path);
	for (i = 0; m && i < m->build_id_len; i++)
		buf_fmt(&hex, "%02x", m->build_id[i]);
	put_number(&b, MAPPING_BUILD_ID, string(p, hex.data ? hex.data : ""));
	put_number(&b, MAPPING_HAS_FUNCTIONS, 1);	/* the reader need not look for the file */
	emit_message(p, PROFILE_MAPPING, &b);
	buf_release(&hex);
	return id;
}

static uint32_t function(struct pprof *p, uint64_t name, uint64_t file)
{
	uint32_t *at = map_put(&p->function_of, name << 32 | file), id;
	struct buf b = BUF_INIT;

	if (*at != MAP_NONE)
		return *at;
	id = *at = p->function_of.nr;
	put_number(&b, FUNCTION_ID, id);
	put_number(&b, FUNCTION_NAME, name);
	put_number(&b, FUNCTION_SYSTEM_NAME, name);
	put_number(&b, FUNCTION_FILENAME, file);
	emit_message(p, PROFILE_FUNCTION, &b);
	return id;
}

/*
 * Of "file:line" the file goes to *file; returns the line.  Of a method without lines the place is
 * "file bci N": then it is 0.
 */
static uint64_t split_place(const char *place, struct buf *file)
{
	static const char digits[] = "0123456789", bci[] = " bci ";
	size_t end = strlen(place), nr = end;

	while (nr && strchr(digits, place[nr - 1]))
		nr--;
	if (nr && nr < end && place[nr - 1] == ':') {
		buf_add(file, place, nr - 1);
		return strtoull(place + nr, NULL, 10);
	}
	if (nr < end && nr >= strlen(bci) && !memcmp(place + nr - strlen(bci), bci, strlen(bci)))
		end = nr - strlen(bci);
	buf_add(file, place, end);
	return 0;
}

static bool is_root(const struct pprof *p, uint32_t consumer)
{
	uint32_t kind = p->v->m->consumers.items[consumer].kind;

	return kind == CONSUMER_PROCESS || kind == CONSUMER_THREAD || kind == CONSUMER_HOST;
}

static void put_line(struct pprof *p, struct buf *location, uint32_t consumer)
{
	const struct consumer *c = &p->v->m->consumers.items[consumer];
	struct buf b = BUF_INIT, text = BUF_INIT;
	uint64_t name, line;

	if (is_root(p, consumer))
		view_name(p->v, consumer, &text);
	else
		buf_str(&text, model_str(p->v->m, c->name));
	name = string(p, text.data);
	buf_reset(&text);
	line = split_place(model_str(p->v->m, c->detail), &text);
	put_number(&b, LINE_FUNCTION_ID, function(p, name, string(p, text.data)));
	put_number(&b, LINE_LINE, line);
	put_part(location, LOCATION_LINE, &b);
	buf_release(&text);
	buf_release(&b);
}

/* Lines go from the innermost function to that of the code itself, which says where the code is. */
static void write_location(struct pprof *p, uint32_t id)
{
	struct buf b = BUF_INIT, lines = BUF_INIT;
	uint32_t at, outermost = id;

	if (p->locations[id - 1].written)
		return;
	p->locations[id - 1].written = true;
	for (at = id; at; at = p->locations[at - 1].caller) {
		put_line(p, &lines, p->locations[at - 1].consumer);
		outermost = at;
	}
	put_number(&b, LOCATION_ID, id);
	put_number(&b, LOCATION_MAPPING_ID,
		   mapping(p, p->v->m->consumers.items[p->locations[outermost - 1].consumer].module));
	buf_add(&b, lines.data, lines.len);
	emit_message(p, PROFILE_LOCATION, &b);
	buf_release(&lines);
}

static bool is_inlined(uint32_t kind)
{
	return kind == CONSUMER_NATIVE_INLINED || kind == CONSUMER_JAVA_INLINED;
}

/* Its parent has one already. */
static void locate(struct pprof *p, uint32_t node)
{
	const struct flow_node *n = &p->v->m->flow.nodes[node];
	bool has_caller = n->parent && !is_root(p, p->v->m->flow.nodes[n->parent].consumer);
	uint32_t caller = has_caller && is_inlined(p->v->m->consumers.items[n->consumer].kind) ?
			  p->location_at[n->parent] : 0;
	uint32_t *at = map_put(&p->location_of, names_pair(caller, n->consumer));

	if (*at == MAP_NONE) {
		VEC_GROW(p->locations, p->nr_locations, p->alloc_locations);
		p->locations[p->nr_locations++] = (struct location){ caller, n->consumer, false };
		*at = p->nr_locations;
	}
	p->location_at[node] = *at;
}

/* ---- samples ---- */

static void put_location(struct pprof *p, uint32_t id)
{
	write_location(p, id);
	buf_varint(&p->part, id);
}

static void put_label(struct pprof *p, const char *key, const char *str, uint64_t num)
{
	if (!*str && !num)
		return;
	put_number(&p->part, LABEL_KEY, string(p, key));
	put_number(&p->part, LABEL_STR, string(p, str));
	put_number(&p->part, LABEL_NUM, num);
	put_part(&p->sample, SAMPLE_LABEL, &p->part);
}

/* Labels of a node that is a process or a thread. */
static void put_labels(struct pprof *p, uint32_t consumer)
{
	const struct consumer *c = &p->v->m->consumers.items[consumer];
	const char *name = model_str(p->v->m, c->name);

	if (c->kind == CONSUMER_PROCESS) {
		put_label(p, "process", name, 0);
		put_label(p, "pid", "", c->key >> 32);
	} else if (c->kind == CONSUMER_THREAD) {
		put_label(p, "thread", name, 0);
		put_label(p, "tid", "", (uint32_t)c->key);
	}
}

/*
 * The stack, innermost first; a thread that is in no function is one itself.  Returns the first node
 * above it.
 */
static uint32_t put_stack(struct pprof *p, uint32_t node)
{
	const struct flow *f = &p->v->m->flow;
	uint32_t at = node, id;

	if (is_root(p, f->nodes[node].consumer))
		put_location(p, p->location_at[node]);
	while (at && !is_root(p, f->nodes[at].consumer)) {
		put_location(p, p->location_at[at]);
		for (id = p->location_at[at]; id; id = p->locations[id - 1].caller)
			at = f->nodes[at].parent;
	}
	put_part(&p->sample, SAMPLE_LOCATION_ID, &p->part);
	return at;
}

/* That a thread began is a 1 at its root in the calls of a trace: nothing that was called. */
static uint64_t count_of(const struct pprof *p, uint32_t node)
{
	const struct flow_node *n = &p->v->m->flow.nodes[node];
	bool calls = p->v->m->flow.n_means == FLOW_CALLS && p->v->origin->is_trace;

	return calls && is_root(p, n->consumer) ? 0 : n->n;
}

/* Metrics, and n of all sources but the first; what calibration took is not there. */
static unsigned int nr_values(const struct pprof *p)
{
	return p->v->m->flow.nr_metrics - p->v->m->nr_deltas;
}

/* Where the first metric is the number of calls or samples, n says no more. */
static bool n_is_shown(const struct pprof *p)
{
	const struct model *m = p->v->m;

	return strcmp(model_kind_name(m->flow.n_means), model_str(m, m->metrics[0].name)) != 0;
}

static void write_sample(struct pprof *p, uint32_t node)
{
	const uint64_t *base = flow_base(&p->v->m->flow, node);
	uint64_t n = count_of(p, node), any = n;
	unsigned int i;
	uint32_t at;

	for (i = 0; i < nr_values(p); i++)
		any |= base[i];
	if (!any)
		return;
	at = put_stack(p, node);
	if (n_is_shown(p))
		buf_varint(&p->part, n);
	for (i = 0; i < nr_values(p); i++)
		buf_varint(&p->part, base[i]);
	put_part(&p->sample, SAMPLE_VALUE, &p->part);
	for (; at; at = p->v->m->flow.nodes[at].parent)
		put_labels(p, p->v->m->flow.nodes[at].consumer);
	put_part(&p->part, PROFILE_SAMPLE, &p->sample);
	emit(p, &p->part);
}

/* ---- the profile ---- */

static const char *pprof_unit(const char *unit)
{
	return !strcmp(unit, "ns") ? "nanoseconds" :
	       !*unit || !strcmp(unit, "events") || !strcmp(unit, "samples") ? "count" : unit;
}

static void write_value_type(struct pprof *p, unsigned int field, const char *name, const char *unit)
{
	struct buf b = BUF_INIT;

	put_number(&b, VALUE_TYPE_TYPE, string(p, name));
	put_number(&b, VALUE_TYPE_UNIT, string(p, unit));
	emit_message(p, field, &b);
}

static void write_comment(struct pprof *p, const char *what, const char *text)
{
	struct buf b = BUF_INIT;

	if (text)
		buf_fmt(&b, "%s: %s", what, text);
	if (text)
		put_number(&p->part, PROFILE_COMMENT, string(p, b.data));
	emit(p, &p->part);
	buf_release(&b);
}

static void write_head(struct pprof *p)
{
	const struct origin *origin = p->v->origin;
	const struct model *m = p->v->m;
	char lost[24];
	unsigned int i;

	if (n_is_shown(p))
		write_value_type(p, PROFILE_SAMPLE_TYPE, model_kind_name(m->flow.n_means), "count");
	for (i = 0; i < nr_values(p); i++)
		write_value_type(p, PROFILE_SAMPLE_TYPE, model_str(m, m->metrics[i].name),
				 pprof_unit(model_str(m, m->metrics[i].unit)));
	put_number(&p->part, PROFILE_DEFAULT_SAMPLE_TYPE,
		   string(p, model_str(p->v->m, p->v->m->metrics[p->v->o->sort_metric].name)));
	put_number(&p->part, PROFILE_TIME_NANOS, origin->start_ns);
	put_number(&p->part, PROFILE_DURATION_NANOS, origin->duration_ns);
	put_number(&p->part, PROFILE_PERIOD, origin->period);
	emit(p, &p->part);
	if (origin->period && origin->period_event)
		write_value_type(p, PROFILE_PERIOD_TYPE, origin->period_event,
				 pprof_unit(origin->period_unit ? origin->period_unit : ""));
	write_comment(p, "arcprof", ARCPROF_VERSION);
	write_comment(p, "command", origin->command);
	write_comment(p, "host", origin->host);
	snprintf(lost, sizeof(lost), "%" PRIu64, origin->lost);
	write_comment(p, "lost", origin->lost ? lost : NULL);
}

static void write_strings(struct pprof *p)
{
	size_t i;

	for (i = 0; i < p->strings.nr_entries; i++) {
		put_tag(&p->part, PROFILE_STRING_TABLE, WIRE_BYTES);
		buf_varint(&p->part, p->strings.entries[i].len);
		buf_add(&p->part, p->strings.entries[i].s, p->strings.entries[i].len);
		emit(p, &p->part);
	}
}

int pprof_print(struct view *v, FILE *out, struct err *e)
{
	struct pprof p = { .v = v, .out = out };
	const struct flow *f = &v->m->flow;
	uint32_t i;

	if (deflateInit2(&p.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(e, ENOMEM, "no memory to compress the profile");
	strtab_init(&p.strings);
	p.location_at = xcalloc(f->nr_nodes, sizeof(*p.location_at));
	write_head(&p);
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		locate(&p, i);
		write_sample(&p, i);
	}
	write_strings(&p);
	compress_bytes(&p, NULL, 0, Z_FINISH);
	deflateEnd(&p.z);
	strtab_release(&p.strings);
	map_release(&p.mapping_of);
	map_release(&p.function_of);
	map_release(&p.location_of);
	free(p.locations);
	free(p.location_at);
	buf_release(&p.sample);
	buf_release(&p.part);
	buf_release(&p.escaped);
	return 0;
}
