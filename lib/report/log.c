// SPDX-License-Identifier: GPL-2.0-or-later
/* log.c - events in order of time, a line each. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/fields.h"
#include "base/mem.h"
#include "base/quote.h"
#include "model/threadlabels.h"
#include "report/events.h"

/* the last is the note of text */
enum { AT_FIELDS = 10, AT_VALUES, AT_LABELS = AT_VALUES + VALUE_NR - 1, NR_CELLS = AT_LABELS + 2 };

static void log_set_columns(struct sheet_column *c)
{
	enum event_value v;

	c[0] = (struct sheet_column){ "time_ns", "Time", 13, 6, .unit = UNIT_S };
	c[1] = (struct sheet_column){ "duration_ns", "Duration", 11, 6, .unit = UNIT_S };
	c[2] = (struct sheet_column){ "kind", "Kind", -12 };
	c[3] = (struct sheet_column){ "thread", "Thread", -24 };
	c[4] = (struct sheet_column){ "tid", NULL };
	c[5] = (struct sheet_column){ "what", NULL };
	c[6] = (struct sheet_column){ "cause", NULL };
	c[7] = (struct sheet_column){ "by", NULL };
	c[8] = (struct sheet_column){ "source", NULL };
	c[9] = (struct sheet_column){ "last", NULL };
	c[AT_FIELDS] = (struct sheet_column){ "fields", NULL };
	for (v = 1; v < VALUE_NR; v++)
		c[AT_VALUES + v - 1] = (struct sheet_column){ event_value_keys[v], NULL };
	c[AT_LABELS] = (struct sheet_column){ "labels", NULL };
	c[NR_CELLS - 1] = (struct sheet_column){ NULL, "What", -1 };
}

static void log_put_value(struct buf *b, const char *before, uint64_t v, const char *after)
{
	if (v != EVENT_UNKNOWN)
		buf_fmt(b, "%s%" PRIu64 "%s", before, v, after);
}

static void put_heap(struct buf *b, const struct event *x)
{
	uint64_t capacity = event_value(x, VALUE_CAPACITY);

	if (event_value(x, VALUE_BEFORE) == EVENT_UNKNOWN)
		return;
	buf_str(b, ": ");
	event_put_bytes(b, event_value(x, VALUE_BEFORE));
	buf_str(b, " -> ");
	event_put_bytes(b, event_value(x, VALUE_AFTER));
	if (capacity != EVENT_UNKNOWN) {
		buf_str(b, " of ");
		event_put_bytes(b, capacity);
	}
}

/* Return the labels of its thread; "" for none, or if they are not known. */
static const char *labels_of(const struct events *v, const struct event *x)
{
	return x->labels == THREADLABELS_UNKNOWN ? "" : events_str(v, x->labels);
}

static void log_put_text(const struct events *v, struct buf *b, const char *before, uint32_t string)
{
	if (!*events_str(v, string))
		return;
	buf_str(b, before);
	quote_add(b, events_str(v, string));
}

static struct cell text_or_absent(const struct events *v, uint32_t string)
{
	return *events_str(v, string) ? cell_text(events_str(v, string)) : cell_absent;
}

static bool is_loaded(const struct event *x)
{
	return x->kind == EVENT_CLASS_LOAD || x->kind == EVENT_CLASS_PRESENT;
}

/* Append what text shows of an event behind the thread. */
static void put_note(const struct events *v, const struct event *x, struct buf *b)
{
	const char *cause = events_str(v, x->cause);

	quote_add(b, events_str(v, x->what));
	log_put_value(b, " = ", event_value(x, VALUE_VALUE), "");
	if (x->fields_len)
		buf_str(b, ": ");
	fields_put_text(b, events_fields(v, x), x->fields_len);
	log_put_value(b, " @ ", event_value(x, VALUE_BCI), "");
	if (*cause) {
		buf_str(b, x->kind == EVENT_EXCEPTION ? " in " : is_loaded(x) ? " by " : ", ");
		quote_add(b, cause);
	}
	if (event_value(x, VALUE_CAUGHT) == 0)
		buf_str(b, ", not caught by Java code");
	log_put_value(b, ", tier ", event_value(x, VALUE_TIER), "");
	log_put_value(b, ", ", event_value(x, VALUE_BYTECODE), " bytes");
	if (event_value(x, VALUE_REACH) != EVENT_UNKNOWN) {
		buf_str(b, ", reached in ");
		report_put_duration(b, event_value(x, VALUE_REACH));
	}
	log_put_text(v, b, ", last ", x->last);
	log_put_text(v, b, " for ", x->by);
	log_put_text(v, b, " from ", x->source);
	put_heap(b, x);
	if (*labels_of(v, x)) {
		buf_str(b, " [");
		quote_add(b, labels_of(v, x));
		buf_str(b, "]");
	}
}

static struct cell cell_known(bool has, uint64_t v)
{
	return !has ? cell_absent : v == EVENT_UNKNOWN ? cell_none : cell_u64(v);
}

static void log_put_row(const struct events *v, const struct event *x, struct sheet *s)
{
	const char *thread = x->thread ? consumer_name(&v->strings.consumers, x->thread) : NULL;
	const char *cause = events_str(v, x->cause);
	struct buf note = BUF_INIT;
	struct cell c[NR_CELLS];
	enum event_value k;

	put_note(v, x, &note);
	c[0] = cell_u64(x->time_ns - MIN(x->time_ns, v->trace_start_ns));
	c[1] = cell_known(event_kinds[x->kind].lasts, x->duration_ns);
	c[2] = cell_text(event_kinds[x->kind].name);
	c[3] = thread ? cell_text(thread) : cell_absent;
	c[4] = x->tid ? cell_u64(x->tid) : cell_absent;
	c[5] = cell_text(events_str(v, x->what));
	c[6] = *cause ? cell_text(cause) : cell_absent;
	c[7] = text_or_absent(v, x->by);
	c[8] = text_or_absent(v, x->source);
	c[9] = text_or_absent(v, x->last);
	c[AT_FIELDS] = cell_fields(events_fields(v, x), x->fields_len);
	for (k = 1; k < VALUE_NR; k++)
		c[AT_VALUES + k - 1] = cell_known(event_has_value(x->kind, k), event_value(x, k));
	c[AT_LABELS] = *labels_of(v, x) ? cell_text(labels_of(v, x)) : cell_absent;
	c[NR_CELLS - 1] = cell_text(note.data);
	sheet_row(s, NULL, c);
	buf_release(&note);
}

/* List the groups that kinds are recorded by, each once; what takes part in a load is shown with it. */
static void put_groups(struct buf *b)
{
	size_t i;

	for (i = 0; i < EVENT_NR; i++) {
		const char *group = event_kinds[i].group;

		if (i != EVENT_CLASS_TIME && __builtin_ctz(event_kinds_named(group, strlen(group))) == (int)i)
			buf_fmt(b, "%s%s", i ? ", " : "", group);
	}
}

/* Parse names of kinds and groups, separated by commas; an empty text means all. */
static uint32_t parse_kinds(const char *text, struct err *e)
{
	uint32_t kinds = 0, k;
	struct buf known = BUF_INIT;
	size_t len, i;

	for (; *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		k = event_kinds_named(text, len);
		kinds |= k;
		if (k || !len)
			continue;
		for (i = 0; i < EVENT_NR; i++)
			buf_fmt(&known, "%s%s", i ? ", " : "", event_kinds[i].name);
		err_set(e, EINVAL, "--log: unknown kind of event '%.*s'", (int)MIN(len, (size_t)60), text);
		buf_str(&known, "; or what they were recorded by: ");
		put_groups(&known);
		err_hint(e, "kinds: %s", known.data);
		buf_release(&known);
		return 0;
	}
	return kinds ? kinds : EVENT_KINDS_HAPPEN;
}

static int log_check(const struct report_opts *o, struct err *e)
{
	return parse_kinds(o->argument, e) ? 0 : -EINVAL;
}

static int log_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct sheet_column columns[NR_CELLS];
	struct events_opts eo;
	struct events v;
	struct sheet s;
	uint64_t nr_hidden;
	size_t i, nr;
	int r = event_report_read(&v, &eo, parse_kinds(o->argument, e), t, o, e);

	if (r)
		return r;
	nr = o->limit ? MIN(v.nr, (size_t)o->limit) : v.nr;
	log_set_columns(columns);
	sheet_init(&s, o->format, out);
	sheet_choose(&s, &o->choice);
	event_report_json(&v, &s.json, "log");
	json_array(&s.json, "events");
	if (o->format == FORMAT_TEXT) {
		event_report_head(&v, out);
		fputs(" Units :: s\n\n", out);
	}
	sheet_columns(&s, columns, NR_CELLS);
	for (i = 0; i < nr; i++)
		log_put_row(&v, &v.list[i], &s);
	sheet_end_rows(&s);
	nr_hidden = v.nr - nr + sheet_nr_hidden(&s);
	json_end(&s.json);
	report_json_hidden(&s.json, nr_hidden);
	json_end(&s.json);
	if (o->format == FORMAT_TEXT && nr_hidden)
		fprintf(out, "... %" PRIu64 " more\n", nr_hidden);
	sheet_end(&s);
	r = !v.nr;
	events_release(&v);
	return r;
}

const struct report report_log = {
	.name = "log",
	.help = "list events of JVMs in time order: all kinds, or these",
	.argument = "kinds",
	.argument_optional = true,
	.formats = FORMATS_TABLE,
	.check = log_check,
	.needs = "a trace with events of JVMs",
	.follows = FOLLOWS_EVENTS FOLLOWS_CHOICE "limit",
	.reasons = event_reasons,
	.print_trace = log_print,
	.filters = RULES_ALL,
};
