// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - reads events, and prints the first lines of their reports (events.h). */
#include <inttypes.h>

#include "base/quote.h"
#include "report/events.h"
#include "report/report.h"

const struct report_reason event_reasons[] = {
	{ "cpu", "events do not say on which CPU they were" },
	{ "module symbol", "events of JVMs have no stacks" },
	{ NULL, NULL },
};

int event_report_read(struct events *v, struct events_opts *eo, uint32_t kinds, struct trace_reader *t,
		      const struct report_opts *o, struct err *e)
{
	int r;

	*eo = (struct events_opts){
		.kinds = kinds, .select = &o->select,
	};
	r = events_read(v, t, eo, e);
	if (r)
		events_release(v);
	return r;
}

enum { MAX_REFUSED = 1000 };

void event_put_refused(const struct names *x, FILE *out)
{
	struct buf b = BUF_INIT;
	char key[32];
	unsigned int i;

	for (i = 0; i < MAX_REFUSED; i++) {
		const char *text;

		snprintf(key, sizeof(key), "refused.%u", i);
		text = names_label(x, key);
		if (!text)
			break;
		fprintf(out, "not recorded: %s\n", quote_str(&b, text));
	}
	buf_release(&b);
}

static void json_refused(const struct names *x, struct json *j)
{
	const char *text;
	char key[32];
	unsigned int i;

	json_array(j, "refused");
	for (i = 0; i < MAX_REFUSED; i++) {
		snprintf(key, sizeof(key), "refused.%u", i);
		text = names_label(x, key);
		if (!text)
			break;
		json_str(j, NULL, text);
	}
	json_end(j);
}

/* Copy the next name of a list separated by commas; return what follows, or NULL at the end. */
static const char *next_name(const char *list, char *name, size_t size)
{
	size_t len = strcspn(list, ",");

	if (!len)
		return NULL;
	snprintf(name, size, "%.*s", (int)len, list);
	return list + len + (list[len] == ',');
}

/* Append for how much of the time events were recorded, where that is not all. */
static void put_covered(const struct events *v, const char *recorded, struct buf *b)
{
	uint64_t all_ns = v->end_ns - v->start_ns, on_ns;
	char name[32];

	while (recorded && (recorded = next_name(recorded, name, sizeof(name)))) {
		on_ns = names_recorded_ns(&v->names, name, v->start_ns, v->end_ns);
		if (on_ns >= all_ns)
			continue;
		buf_str(b, ", ");
		quote_add(b, name);
		buf_str(b, " recorded for ");
		report_put_duration(b, on_ns);
		buf_fmt(b, " (%.1f %%)", 100.0 * (double)on_ns / (double)all_ns);
	}
}

/* Loads that have no time, of a recording that has times. */
static bool nr_untimed(const struct events *v, const char *recorded, uint64_t *nr)
{
	bool wanted = false;
	char name[32];
	size_t i;

	*nr = 0;
	while (recorded && (recorded = next_name(recorded, name, sizeof(name))))
		wanted |= !strcmp(name, "class-time");
	for (i = 0; wanted && i < v->nr; i++)
		*nr += v->list[i].kind == EVENT_CLASS_LOAD && v->list[i].duration_ns == EVENT_UNKNOWN;
	return *nr;
}

static void put_untimed(const struct events *v, const char *recorded, struct buf *b)
{
	uint64_t nr;

	if (nr_untimed(v, recorded, &nr))
		buf_fmt(b, ", %" PRIu64 " load%s without time (by native code, or begun when "
			"class-time was off)", nr, plural(nr));
}

void event_report_head(const struct events *v, FILE *out)
{
	const char *recorded = names_label(&v->names, "jvm_events");
	const char *command = names_label(&v->names, "command");
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%zu of %" PRIu64 " events", v->nr, v->nr_all);
	if (recorded) {
		buf_str(&b, " (");
		quote_add(&b, recorded);
		buf_putc(&b, ')');
	}
	buf_str(&b, " over ");
	report_put_duration(&b, v->end_ns - v->start_ns);
	put_covered(v, recorded, &b);
	buf_str(&b, ", ");
	report_put_lost_of(&v->names, &b);
	put_untimed(v, recorded, &b);
	if (v->nr_strange)
		buf_fmt(&b, ", %" PRIu64 " of kinds unknown to this version", v->nr_strange);
	if (command) {
		buf_str(&b, "; ");
		quote_add(&b, command);
	}
	buf_putc(&b, '\n');
	report_put_filters(v->names.filters, v->names.nr_filters, v->trace_start_ns, &b);
	report_put_filter(v->o->select->filter, v->nr_left_out, "event", &b);
	fwrite(b.data, 1, b.len, out);
	event_put_refused(&v->names, out);
	buf_release(&b);
}

static void json_covered(const struct events *v, struct json *j)
{
	const char *recorded = names_label(&v->names, "jvm_events");
	char name[32];

	json_object(j, "recorded_ns");
	while (recorded && (recorded = next_name(recorded, name, sizeof(name))))
		json_u64(j, name, names_recorded_ns(&v->names, name, v->start_ns, v->end_ns));
	json_end(j);
}

void event_report_json(const struct events *v, struct json *j, const char *report)
{
	uint64_t nr;

	report_json_source(j, report, &v->names);
	json_str(j, "recorded", names_label(&v->names, "jvm_events"));
	json_u64(j, "elapsed_ns", v->end_ns - v->start_ns);
	json_covered(v, j);
	report_json_lost_of(&v->names, j);
	json_refused(&v->names, j);
	if (nr_untimed(v, names_label(&v->names, "jvm_events"), &nr))
		json_u64(j, "loads_without_time", nr);
	json_u64(j, "events", v->nr_all);
	json_u64(j, "selected", v->nr);
	report_json_filters(v->names.filters, v->names.nr_filters, v->trace_start_ns, j);
	report_json_filter(v->o->select->filter, v->nr_left_out, j);
	json_end(j);
}

void event_put_bytes(struct buf *b, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double v = bytes;
	size_t i;

	for (i = 0; v >= 1024 && i < 4; i++)
		v /= 1024;
	buf_fmt(b, i ? "%.1f %s" : "%.0f %s", v, units[i]);
}

static bool is_selected(const struct tally *y, uint32_t kind, const struct selection *select)
{
	return y->kind == kind && (!select || select_number(&select->pids, y->pid));
}

static void put_one(struct buf *b, const struct tally *y)
{
	buf_fmt(b, "the JVM's own count, of process %" PRIu32 ": ", y->pid);
	if (*y->why) {
		buf_str(b, "n/a: ");
		quote_add(b, y->why);
	} else if (y->kind == TALLY_PAUSES) {
		buf_fmt(b, "%" PRIu64 " pause%s in ", y->n, plural(y->n));
		report_put_duration(b, y->ns);
		buf_fmt(b, ", of which %" PRIu64 " in ", y->recorded_n);
		report_put_duration(b, y->recorded_ns);
		buf_str(b, " were recorded");
	} else {
		buf_fmt(b, "%" PRIu64 " wait%s for monitors, and %" PRIu64 " recorded", y->n, plural(y->n),
			y->recorded_n);
	}
	buf_putc(b, '\n');
}

void tallies_put(const struct tallies *t, uint32_t kind, const struct selection *select, FILE *out)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		const struct tally *y = &t->list[i];

		if (is_selected(y, kind, select) && (*y->why || y->n || y->recorded_n))
			put_one(&b, y);
	}
	fputs(b.data ? b.data : "", out);
	buf_release(&b);
}

void tallies_json(const struct tallies *t, uint32_t kind, const struct selection *select, struct json *j)
{
	size_t i;

	json_array(j, "counted");
	for (i = 0; i < t->nr; i++) {
		const struct tally *y = &t->list[i];

		if (!is_selected(y, kind, select))
			continue;
		json_object(j, NULL);
		json_u64(j, "pid", y->pid);
		json_u64_known(j, kind == TALLY_PAUSES ? "pauses" : "enters", !*y->why, y->n);
		if (kind == TALLY_PAUSES)
			json_u64_known(j, "pauses_ns", !*y->why, y->ns);
		json_u64(j, "recorded", y->recorded_n);
		if (kind == TALLY_PAUSES)
			json_u64(j, "recorded_ns", y->recorded_ns);
		json_str(j, "why", *y->why ? y->why : NULL);
		json_end(j);
	}
	json_end(j);
}
