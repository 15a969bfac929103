// SPDX-License-Identifier: GPL-2.0-or-later
/* log.c - the table of what happened in time: events of JVMs, marks and phases, as in report --log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fields.h"
#include "base/json.h"
#include "query/table.h"

void query_log_release(struct query_data *d)
{
	if (d->has_log)
		events_release(&d->log);
	d->has_log = false;
}

static int load_log(struct query_data *d, struct err *e)
{
	int r;

	if (d->has_log)
		return 0;
	d->log_opts = (struct events_opts){
		.kinds = UINT32_MAX, .select = d->profile->select,
	};
	r = events_read(&d->log, d->t, &d->log_opts, e);
	if (!r && d->log.nr >= UINT32_MAX)
		r = err_set(e, ENOMEM, "more than 4 G events");
	if (!r)
		r = query_data_charge(d, d->log.nr * sizeof(*d->log.list) + d->log.fields.len, e);
	if (r)
		events_release(&d->log);
	d->has_log = !r;
	return r;
}

enum {
	LOG_ID, LOG_TIME, LOG_DURATION, LOG_KIND, LOG_PROCESS, LOG_THREAD, LOG_THREAD_NAME, LOG_WHAT,
	LOG_CAUSE, LOG_VALUE, LOG_FIELDS
};

static const struct query_column log_columns[] = {
	[LOG_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "number in order of time" },
	[LOG_TIME] = { "time", COLUMN_ASCENDS, "ns since the start: when it was, or began" },
	[LOG_DURATION] = { "duration", 0, "ns; NULL: it does not last, or that is not known" },
	[LOG_KIND] = { "kind", COLUMN_TEXT, "as report --log has it: pause, compile, mark, phase and so on" },
	[LOG_PROCESS] = { "process", COLUMN_INDEX, "its number in processes; NULL: none is known" },
	[LOG_THREAD] = { "thread", COLUMN_INDEX, "its number in threads; NULL: none is known" },
	[LOG_THREAD_NAME] = { "thread_name", COLUMN_TEXT, "its name" },
	[LOG_WHAT] = { "what", COLUMN_TEXT, "phase, operation, method, class, or name of the mark" },
	[LOG_CAUSE] = { "cause", COLUMN_TEXT, "cause, reason, class loader, or method that throws" },
	[LOG_VALUE] = { "value", 0, "of a mark; NULL: it has none" },
	[LOG_FIELDS] = { "fields", COLUMN_TEXT, "named values of an event of arcprof_emit(): a JSON object" },
};

static bool query_log_known(uint64_t value, uint64_t *v)
{
	*v = value;
	return value != EVENT_UNKNOWN;
}

static bool log_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct event *x = &d->log.list[c->row];

	switch (c->column) {
	case LOG_ID:
		*v = c->row + 1;
		return true;
	case LOG_TIME:
		*v = x->time_ns - MIN(x->time_ns, d->log.trace_start_ns);
		return true;
	case LOG_DURATION:
		return query_log_known(x->duration_ns, v);
	case LOG_PROCESS:
		return query_data_id(x->proc_number, v);
	case LOG_THREAD:
		return query_data_id(x->thread_number, v);
	default:
		return query_log_known(event_value(x, VALUE_VALUE), v);
	}
}

static const char *fields_of(struct query_data *d, const struct event *x)
{
	char *text = NULL;
	struct json j;
	size_t len;
	FILE *f;

	if (!x->fields_len || !(f = open_memstream(&text, &len)))
		return NULL;
	json_init(&j, f);
	j.one_line = true;
	json_object(&j, NULL);
	fields_put_json(&j, events_fields(&d->log, x), x->fields_len);
	json_end(&j);
	fclose(f);
	buf_reset(&d->scratch);
	while (len && text[len - 1] == '\n')
		len--;
	buf_add(&d->scratch, text, len);
	free(text);
	return d->scratch.data;
}

static const char *text_or_null(const char *s)
{
	return *s ? s : NULL;
}

static const char *log_text(struct query_data *d, const struct query_cell *c)
{
	const struct event *x = &d->log.list[c->row];

	switch (c->column) {
	case LOG_KIND:
		return event_kinds[x->kind].name;
	case LOG_THREAD_NAME:
		return x->thread ? consumer_name(&d->log.strings.consumers, x->thread) : NULL;
	case LOG_WHAT:
		return events_str(&d->log, x->what);
	case LOG_CAUSE:
		return text_or_null(events_str(&d->log, x->cause));
	default:
		return fields_of(d, x);
	}
}

static uint32_t nr_logged(const struct query_data *d)
{
	return d->has_log ? d->log.nr : 0;
}

const struct query_table query_log = {
	.name = "log", .what = "what happened in time: events of JVMs, marks and phases of programs",
	QUERY_COLUMNS(log_columns),
	.load = load_log, .nr_rows = nr_logged, .number = log_number, .text = log_text,
};
