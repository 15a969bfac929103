// SPDX-License-Identifier: GPL-2.0-or-later
/* budget.c - prints verdicts about limits (budget.h). */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/quote.h"
#include "report/budget.h"
#include "report/report.h"
#include "report/sheet.h"

static const char *const states[] = { "kept", "violated", "not decided", "error" };

static size_t budget_count(const struct budget *b, enum verdict_state state)
{
	size_t i, nr = 0;

	for (i = 0; i < b->nr; i++)
		nr += b->list[i].state == state;
	return nr;
}

bool budget_fails(const struct budget *b)
{
	return budget_count(b, VERDICT_VIOLATED) || budget_count(b, VERDICT_ERROR) ||
	       (b->strict && budget_count(b, VERDICT_UNDECIDED));
}

/* Append four digits, but whole numbers in full. */
static void budget_put_number(struct buf *b, double v)
{
	if (v >= 1e15)
		buf_fmt(b, "%.4g", v);
	else if (v >= 1000 || v == (double)(uint64_t)v)
		buf_fmt(b, "%.0f", v);
	else
		buf_fmt(b, "%.4g", v);
}

/* Write the value, with more digits when it would look like the limit that it exceeds. */
static void budget_put_value(struct buf *b, const struct verdict *v)
{
	struct buf value = BUF_INIT, bound = BUF_INIT;

	budget_put_number(&value, v->value);
	budget_put_number(&bound, v->limit->value);
	if (v->value != v->limit->value && !strcmp(value.data, bound.data))
		buf_fmt(b, "%.15g", v->value);
	else
		buf_str(b, value.data);
	buf_release(&value);
	buf_release(&bound);
}

static void budget_put_unit(struct buf *b, const struct limit *l)
{
	if (*l->unit->name)
		buf_fmt(b, "%s%s", l->unit->kind == LIMIT_COUNT ? "" : " ", l->unit->name);
}

/* "47.3 % (45.1 to 49.6), limit <= 40 %", or why there is none. */
static void put_finding(struct buf *b, const struct verdict *v)
{
	const struct limit *l = v->limit;

	if (v->state == VERDICT_ERROR) {
		quote_add(b, v->error);
		return;
	}
	buf_str(b, l->grows ? "by " : "is ");
	if (isinf(v->value)) {
		buf_str(b, "any factor: the baseline has none");
	} else {
		budget_put_value(b, v);
		budget_put_unit(b, l);
	}
	if (!v->exact) {
		buf_str(b, " (");
		budget_put_number(b, v->low);
		buf_str(b, " to ");
		budget_put_number(b, v->high);
		buf_putc(b, ')');
	}
	buf_fmt(b, ", limit %s ", limit_op_name(l->op));
	budget_put_number(b, l->value);
	budget_put_unit(b, l);
}

/* Return what the value is divided by, or NULL. */
static const char *per_word(const struct limit *l)
{
	static const char *const words[] = { NULL, "call", NULL, "second", "total" };

	return l->per == LIMIT_PER_FUNCTION ? l->per_function : words[l->per];
}

static void put_subject(struct buf *b, const struct limit *l)
{
	static const char *const ofs[] = { "base", "cum", "n" };

	quote_add(b, l->function ? l->function : "[total]");
	buf_fmt(b, " %s", ofs[l->of]);
	if (l->metric) {
		buf_putc(b, ' ');
		quote_add(b, l->metric);
	}
	if (l->per != LIMIT_PER_NOTHING && l->per != LIMIT_PER_FUNCTION)
		buf_fmt(b, " per %s", per_word(l));
	if (l->per == LIMIT_PER_FUNCTION) {
		buf_str(b, " per ");
		quote_add(b, l->per_function);
	}
	if (l->grows)
		buf_str(b, " grows");
}

static void budget_put_line(struct buf *b, const struct verdict *v)
{
	put_subject(b, v->limit);
	buf_str(b, v->state == VERDICT_ERROR ? ": " : " ");
	put_finding(b, v);
}

static void budget_print_text(const struct budget *b, FILE *out)
{
	struct buf line = BUF_INIT;
	const char *sep = ": ";
	size_t i;

	for (i = 0; i < b->nr; i++) {
		const struct verdict *v = &b->list[i];

		if (v->state == VERDICT_KEPT && !b->all)
			continue;
		buf_reset(&line);
		quote_add(&line, b->limits);
		buf_fmt(&line, ":%zu: %s: ", v->limit->line, states[v->state]);
		budget_put_line(&line, v);
		fprintf(out, "%s\n", line.data);
	}
	fprintf(out, "%zu limit%s", b->nr, plural(b->nr));
	for (i = 0; i < VERDICT_NR; i++) {
		if (i && !budget_count(b, i))
			continue;
		fprintf(out, "%s%zu %s%s", sep, budget_count(b, i), states[i],
			i == VERDICT_ERROR && budget_count(b, i) > 1 ? "s" : "");
		sep = ", ";
	}
	putc('\n', out);
	buf_release(&line);
}

/* ---- JSON and CSV ---- */

enum {
	AT_LINE, AT_STATE, AT_LIMIT, AT_WHAT, AT_FUNCTION, AT_METRIC, AT_PER, AT_OPERATOR, AT_BOUND, AT_UNIT,
	AT_LATE_STATE, AT_VALUE, AT_LOW, AT_HIGH, AT_ERROR, NR_CELLS
};

static const struct sheet_column columns[NR_CELLS] = {
	[AT_LINE] = { "line" }, [AT_STATE] = { "state", .json = "" }, [AT_LIMIT] = { .json = "limit" },
	[AT_WHAT] = { "what" }, [AT_FUNCTION] = { .json = "function" }, [AT_METRIC] = { .json = "metric" },
	[AT_PER] = { .json = "per" }, [AT_OPERATOR] = { "operator" }, [AT_BOUND] = { "bound" },
	[AT_UNIT] = { "unit" }, [AT_LATE_STATE] = { .json = "state" },
	[AT_VALUE] = { "value" }, [AT_LOW] = { "low" }, [AT_HIGH] = { "high" }, [AT_ERROR] = { "error" },
};

static void print_verdict(struct sheet *s, const struct verdict *v)
{
	const struct limit *l = v->limit;
	bool known = v->state != VERDICT_ERROR;
	struct buf subject = BUF_INIT;

	put_subject(&subject, l);
	sheet_row(s, NULL, (const struct cell[NR_CELLS]){
		[AT_LINE] = cell_u64(l->line),
		[AT_STATE] = cell_text(states[v->state]), [AT_LATE_STATE] = cell_text(states[v->state]),
		[AT_LIMIT] = cell_text(l->text), [AT_WHAT] = cell_text(subject.data),
		[AT_FUNCTION] = cell_text(l->function), [AT_METRIC] = cell_text(l->metric),
		[AT_PER] = cell_text(per_word(l)),
		[AT_OPERATOR] = cell_text(limit_op_name(l->op)), [AT_BOUND] = cell_real(l->value),
		[AT_UNIT] = cell_text(*l->unit->name ? l->unit->name : NULL),
		[AT_VALUE] = cell_real(known ? v->value : (double)NAN),
		[AT_LOW] = cell_real(known ? v->low : (double)NAN),
		[AT_HIGH] = cell_real(known ? v->high : (double)NAN),
		[AT_ERROR] = cell_text(known ? NULL : v->error) });
	buf_release(&subject);
}

static void budget_print_data(const struct budget *b, int format, FILE *out)
{
	struct sheet s;
	struct json *j = &s.json;
	size_t i;

	sheet_init(&s, format, out);
	report_json_begin(j, "budget");
	json_str(j, "trace", b->trace);
	json_str(j, "limits", b->limits);
	json_bool(j, "passed", !budget_fails(b));
	json_object(j, "counts");
	for (i = 0; i < VERDICT_NR; i++)
		json_u64(j, states[i], budget_count(b, i));
	json_end(j);
	json_array(j, "verdicts");
	sheet_columns(&s, columns, NR_CELLS);
	for (i = 0; i < b->nr; i++)
		print_verdict(&s, &b->list[i]);
	json_end(j);
	json_end(j);
}

/* ---- JUnit ---- */

static void put_attribute(struct buf *b, const char *name, const char *value)
{
	buf_fmt(b, " %s=\"", name);
	quote_add_xml(b, value);
	buf_putc(b, '"');
}

/* Return the element in the test case that says what is wrong, or NULL if nothing is. */
static const char *element_of(const struct budget *b, const struct verdict *v)
{
	static const char *const elements[] = { NULL, "failure", "skipped", "error" };

	return v->state == VERDICT_UNDECIDED && b->strict ? "failure" : elements[v->state];
}

static void junit_case(const struct budget *b, const struct verdict *v, FILE *out)
{
	struct buf line = BUF_INIT, finding = BUF_INIT;
	const char *element = element_of(b, v);

	buf_str(&line, "    <testcase");
	put_attribute(&line, "classname", b->limits);
	put_attribute(&line, "name", v->limit->text);
	buf_str(&line, " time=\"0\"");
	if (element) {
		budget_put_line(&finding, v);
		buf_fmt(&line, ">\n      <%s", element);
		put_attribute(&line, "type", states[v->state]);
		put_attribute(&line, "message", finding.data);
		buf_fmt(&line, ">%zu: ", v->limit->line);
		quote_add_xml(&line, finding.data);
		buf_fmt(&line, "</%s>\n    </testcase>\n", element);
	} else {
		buf_str(&line, "/>\n");
	}
	fwrite(line.data, 1, line.len, out);
	buf_release(&line);
	buf_release(&finding);
}

static void put_timestamp(struct buf *b, uint64_t realtime_ns)
{
	time_t t = realtime_ns / 1000000000;
	char text[32];
	struct tm tm;

	if (realtime_ns && gmtime_r(&t, &tm) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
		put_attribute(b, "timestamp", text);
}

static void print_junit(const struct budget *b, FILE *out)
{
	size_t undecided = budget_count(b, VERDICT_UNDECIDED), i;
	struct buf line = BUF_INIT;

	buf_str(&line, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"arcprof budget\"");
	put_attribute(&line, "package", b->trace);
	buf_fmt(&line, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"0\"", b->nr,
		budget_count(b, VERDICT_VIOLATED) + (b->strict ? undecided : 0),
		budget_count(b, VERDICT_ERROR), b->strict ? 0 : undecided);
	put_timestamp(&line, b->origin->start_ns);
	put_attribute(&line, "hostname", b->origin->host ? b->origin->host : "unknown");
	fprintf(out, "%s>\n", line.data);
	for (i = 0; i < b->nr; i++)
		junit_case(b, &b->list[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
	buf_release(&line);
}

void budget_print(const struct budget *b, int format, FILE *out)
{
	if (format == FORMAT_TEXT)
		budget_print_text(b, out);
	else if (format == FORMAT_JUNIT)
		print_junit(b, out);
	else
		budget_print_data(b, format, out);
}
