// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - a gzipped profile.proto, for pprof and compatible tools: a sample for each context
 * with a base.
 *
 * Process and thread are labels of a sample, not frames, as are the labels that they have.  Readers accept
 * the fields of a profile in any order: the tables of what samples refer to come after them.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/gzip.h"
#include "base/labels.h"
#include "base/protobuf.h"
#include "formats/pprof/fields.h"
#include "report/export.h"
#include "version.h"

struct pprof {
	const struct view *v;
	FILE *out;			/* compresses */
	struct export x;
	struct buf sample, part;
};

/* Write fields of the profile itself, and empty b. */
static void emit(struct pprof *p, struct buf *b)
{
	if (b->len)
		fwrite(b->data, 1, b->len, p->out);
	buf_reset(b);
}

/* Write the message as a field of the profile, and empty it. */
static void emit_message(struct pprof *p, unsigned int field, struct buf *message)
{
	struct buf b = BUF_INIT;

	protobuf_part(&b, field, message);
	emit(p, &b);
	buf_release(&b);
}

/* ---- samples ---- */

static void put_label(struct pprof *p, const char *key, const char *str, uint64_t num)
{
	if (!*str && !num)
		return;
	protobuf_number(&p->part, LABEL_KEY, export_string(&p->x, key));
	protobuf_number(&p->part, LABEL_STR, export_string(&p->x, str));
	protobuf_number(&p->part, LABEL_NUM, num);
	protobuf_part(&p->sample, SAMPLE_LABEL, &p->part);
}

/* Write labels of a node that is a process or a thread. */
static void put_labels(struct pprof *p, uint32_t consumer)
{
	const struct consumer *c = &p->v->m->consumers.items[consumer];
	const char *name = model_str(p->v->m, c->name);

	if (c->kind == CONSUMER_PROCESS) {
		put_label(p, "process", name, 0);
		put_label(p, "pid", "", export_pid(c));
	} else if (c->kind == CONSUMER_THREAD) {
		put_label(p, "thread", name, 0);
		put_label(p, "tid", "", export_tid(c));
	}
}

/*
 * Write the labels that the program or the recording gave, once each: a thread's take precedence over its
 * process's.
 */
static void put_thread_labels(struct pprof *p, uint32_t root)
{
	struct buf had = BUF_INIT, value = BUF_INIT;
	struct export_labels l;

	export_labels_init(&l, p->v, root, false);
	while (export_labels_next(&l)) {
		if (labels_value(had.data ? had.data : "", l.key.data, &value))
			continue;
		labels_add(&had, l.key.data, l.value.data);
		put_label(p, l.key.data, l.value.data, 0);
	}
	export_labels_release(&l);
	buf_release(&had);
	buf_release(&value);
}

/*
 * Write the stack, innermost first; for a thread that is in no function, itself. Returns the first node above
 * it.
 */
static uint32_t put_stack(struct pprof *p, uint32_t node)
{
	const struct flow_node *nodes = p->v->m->flow.nodes;
	uint32_t at = node, above;

	if (export_is_root(p->v, nodes[node].consumer))
		buf_varint(&p->part, export_location(&p->x, node, &above));
	while (at && !export_is_root(p->v, nodes[at].consumer))
		buf_varint(&p->part, export_location(&p->x, at, &at));
	protobuf_part(&p->sample, SAMPLE_LOCATION_ID, &p->part);
	return at;
}

static void pprof_write_sample(struct pprof *p, uint32_t node)
{
	const uint64_t *base = flow_base(&p->v->m->flow, node);
	uint64_t n = export_n(p->v, node), any = n;
	unsigned int i;
	uint32_t at;

	for (i = 0; i < export_nr_values(p->v); i++)
		any |= base[i];
	if (!any)
		return;
	at = put_stack(p, node);
	if (export_has_n(p->v))
		buf_varint(&p->part, n);
	for (i = 0; i < export_nr_values(p->v); i++)
		buf_varint(&p->part, base[i]);
	protobuf_part(&p->sample, SAMPLE_VALUE, &p->part);
	put_thread_labels(p, at);
	for (; at; at = p->v->m->flow.nodes[at].parent)
		put_labels(p, p->v->m->flow.nodes[at].consumer);
	emit_message(p, PROFILE_SAMPLE, &p->sample);
}

/* ---- what samples refer to ---- */

static void write_mappings(struct pprof *p)
{
	const struct export_module *m = p->x.modules;
	size_t i;

	for (i = 0; i < p->x.nr_modules; i++) {
		protobuf_number(&p->part, MAPPING_ID, i + 1);
		protobuf_number(&p->part, MAPPING_FILENAME, m[i].path);
		protobuf_number(&p->part, MAPPING_BUILD_ID, export_string(&p->x, m[i].build_id));
		/* the reader need not look for the file */
		protobuf_number(&p->part, MAPPING_HAS_FUNCTIONS, 1);
		emit_message(p, PROFILE_MAPPING, &p->part);
	}
}

/*
 * Write the locations; their lines go from the innermost function to the one that the others are inlined in.
 */
static void write_locations(struct pprof *p)
{
	const struct export_location *l = p->x.locations;
	struct buf line = BUF_INIT;
	uint32_t id, at;

	for (id = 1; id <= p->x.nr_locations; id++) {
		protobuf_number(&p->part, LOCATION_ID, id);
		protobuf_number(&p->part, LOCATION_MAPPING_ID, l[id - 1].module);
		for (at = id; at; at = l[at - 1].caller) {
			protobuf_number(&line, LINE_FUNCTION_ID, l[at - 1].function);
			protobuf_number(&line, LINE_LINE, l[at - 1].line);
			protobuf_part(&p->part, LOCATION_LINE, &line);
		}
		emit_message(p, PROFILE_LOCATION, &p->part);
	}
	buf_release(&line);
}

static void write_functions(struct pprof *p)
{
	const struct export_function *f = p->x.functions;
	size_t i;

	for (i = 0; i < p->x.nr_functions; i++) {
		protobuf_number(&p->part, FUNCTION_ID, i + 1);
		protobuf_number(&p->part, FUNCTION_NAME, f[i].name);
		protobuf_number(&p->part, FUNCTION_SYSTEM_NAME, f[i].name);
		protobuf_number(&p->part, FUNCTION_FILENAME, f[i].file);
		emit_message(p, PROFILE_FUNCTION, &p->part);
	}
}

/* ---- the profile ---- */

static void write_value_type(struct pprof *p, unsigned int field, const char *name, const char *unit)
{
	struct buf b = BUF_INIT;

	protobuf_number(&b, VALUE_TYPE_TYPE, export_string(&p->x, name));
	protobuf_number(&b, VALUE_TYPE_UNIT, export_string(&p->x, unit));
	emit_message(p, field, &b);
	buf_release(&b);
}

static void write_comment(struct pprof *p, const char *what, const char *text)
{
	struct buf b = BUF_INIT;

	if (text)
		buf_fmt(&b, "%s: %s", what, text);
	if (text)
		protobuf_number(&p->part, PROFILE_COMMENT, export_string(&p->x, b.data));
	emit(p, &p->part);
	buf_release(&b);
}

static void write_head(struct pprof *p)
{
	const struct origin *origin = p->v->origin;
	const struct model *m = p->v->m;
	char lost[24];
	unsigned int i;

	if (export_has_n(p->v))
		write_value_type(p, PROFILE_SAMPLE_TYPE, model_kind_name(m->flow.n_means), "count");
	for (i = 0; i < export_nr_values(p->v); i++)
		write_value_type(p, PROFILE_SAMPLE_TYPE, model_str(m, m->metrics[i].name),
				 export_unit(model_str(m, m->metrics[i].unit)));
	protobuf_number(&p->part, PROFILE_DEFAULT_SAMPLE_TYPE,
			export_string(&p->x, model_str(m, m->metrics[p->v->o->sort_metric].name)));
	protobuf_number(&p->part, PROFILE_TIME_NANOS, origin->start_ns);
	protobuf_number(&p->part, PROFILE_DURATION_NANOS, origin->duration_ns);
	protobuf_number(&p->part, PROFILE_PERIOD, origin->period);
	emit(p, &p->part);
	if (origin->period && origin->period_event)
		write_value_type(p, PROFILE_PERIOD_TYPE, origin->period_event,
				 export_unit(origin->period_unit ? origin->period_unit : ""));
	write_comment(p, "arcprof", ARCPROF_VERSION);
	write_comment(p, "command", origin->command);
	write_comment(p, "host", origin->host);
	snprintf(lost, sizeof(lost), "%" PRIu64, origin->lost);
	write_comment(p, "lost", origin->lost ? lost : NULL);
}

static void write_strings(struct pprof *p)
{
	const struct strtab *t = &p->x.strings;
	size_t i;

	for (i = 0; i < t->nr_entries; i++) {
		protobuf_bytes(&p->part, PROFILE_STRING_TABLE, t->entries[i].s, t->entries[i].len);
		emit(p, &p->part);
	}
}

int pprof_print(struct view *v, FILE *out, struct err *e)
{
	struct pprof p = { .v = v, .out = gzip_open(out, e) };
	const struct flow *f = &v->m->flow;
	uint32_t i;

	if (!p.out)
		return -ENOMEM;
	export_init(&p.x, v);
	write_head(&p);
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i))
		pprof_write_sample(&p, i);
	write_mappings(&p);
	write_locations(&p);
	write_functions(&p);
	write_strings(&p);
	fclose(p.out);
	export_release(&p.x);
	buf_release(&p.sample);
	buf_release(&p.part);
	return 0;
}
