// SPDX-License-Identifier: GPL-2.0-or-later
/* formats.c - the list of output formats. */
#include "base/mem.h"
#include "flow/input.h"
#include "report/format.h"
#include "report/report.h"
#include "report/sheet.h"

static int tree_print(struct view *v, FILE *out, struct err *e)
{
	output_tree(v->m, out);
	return 0;
}

static const char *const facts[FACT_NR] = {
	[FACT_METRICS] = "metrics beside the first",
	[FACT_TIMES] = "times of samples",
	[FACT_CALLS] = "numbers of calls",
	[FACT_JVM] = "events of JVMs",
	[FACT_MARKS] = "marks and phases",
	[FACT_LABELS] = "labels of threads",
	[FACT_LINES] = "source lines",
	[FACT_BUILD_IDS] = "build-ids",
	[FACT_DISPATCHES] = "dispatches",
};

#define LACKS_EVENTS (FACT_BIT(FACT_JVM) | FACT_BIT(FACT_MARKS) | FACT_BIT(FACT_DISPATCHES))

/* first in the order of enum format_id, then as help shows them */
static const struct format formats[] = {
	[FORMAT_TEXT] = { "text", .begin = sheet_text_begin, .row = sheet_text_row },
	[FORMAT_HEX] = { "hex", .row = sheet_hex_row },
	[FORMAT_DEC] = { "dec", .row = sheet_dec_row },
	[FORMAT_JSON] = { "json", .row = sheet_json_row },
	[FORMAT_CSV] = { "csv", .begin = sheet_csv_begin, .row = sheet_csv_row },
	[FORMAT_JUNIT] = { "junit" },
	[FORMAT_MARKDOWN] = { "markdown", .begin = sheet_markdown_begin, .row = sheet_markdown_row },
	[FORMAT_SVG] = { "svg" },
	[FORMAT_TREE] = { "tree", .print_tree = tree_print },
	[FORMAT_HTML] = { "html", .print_tree = html_print, .binary = true, .detailed = true,
	  .timed = true },
	[FORMAT_HPROF] = { "hprof", .print_tree = hprof_print, .lines = true, .events = hprof_events,
	  .lacks = LACKS_EVENTS | FACT_BIT(FACT_TIMES) | FACT_BIT(FACT_LABELS) | FACT_BIT(FACT_BUILD_IDS) },
	[FORMAT_JFR] = { "jfr", .print_tree = jfr_print, .binary = true, .detailed = true, .timed = true,
	  .all_events = true, .signatures = true,
	  .lacks = FACT_BIT(FACT_CALLS) | FACT_BIT(FACT_DISPATCHES) },
	[FORMAT_CHROME] = { "chrome", .print_tree = chrome_print, .binary = true, .detailed = true,
	  .timed = true, .all_events = true, .lacks = FACT_BIT(FACT_LINES) | FACT_BIT(FACT_BUILD_IDS) },
	{ "folded", .print_tree = folded_print,
	  .lacks = LACKS_EVENTS | FACT_BIT(FACT_METRICS) | FACT_BIT(FACT_TIMES) | FACT_BIT(FACT_CALLS) |
		   FACT_BIT(FACT_LABELS) | FACT_BIT(FACT_LINES) | FACT_BIT(FACT_BUILD_IDS) },
	{ "pprof", .print_tree = pprof_print, .binary = true, .detailed = true, .all_events = true,
	  .labels = true, .lacks = LACKS_EVENTS | FACT_BIT(FACT_TIMES) },
	{ "speedscope", .print_tree = speedscope_print, .detailed = true, .timed = true, .all_events = true,
	  .lacks = LACKS_EVENTS | FACT_BIT(FACT_CALLS) | FACT_BIT(FACT_LABELS) | FACT_BIT(FACT_LINES) |
		   FACT_BIT(FACT_BUILD_IDS) },
	{ "callgrind", .print_tree = callgrind_print, .detailed = true,
	  .lacks = LACKS_EVENTS | FACT_BIT(FACT_METRICS) | FACT_BIT(FACT_TIMES) | FACT_BIT(FACT_LABELS) |
		   FACT_BIT(FACT_BUILD_IDS) },
	{ "otlp", .print_tree = otlp_print, .binary = true, .detailed = true, .timed = true,
	  .all_events = true, .labels = true, .lacks = LACKS_EVENTS | FACT_BIT(FACT_CALLS) },
	{ "otlp-json", .print_tree = otlp_json_print, .detailed = true, .timed = true, .all_events = true,
	  .labels = true, .lacks = LACKS_EVENTS | FACT_BIT(FACT_CALLS) },
	{ "firefox", .print_tree = firefox_print, .binary = true, .detailed = true, .timed = true,
	  .lacks = FACT_BIT(FACT_METRICS) | FACT_BIT(FACT_CALLS) | FACT_BIT(FACT_DISPATCHES) },
};

const struct format *format_get(int id)
{
	return &formats[id];
}

const char *format_fact_name(enum format_fact fact)
{
	return facts[fact];
}

const char *format_name(unsigned int id)
{
	return id < ARRAY_SIZE(formats) ? formats[id].name : NULL;
}
