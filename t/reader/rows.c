// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rows.c - prints all rows that libarcprof.a gives of a trace, as lines of JSON, in the names and units of
 * "arcprof query": t/cli/reader.bats builds it with an installed library and compares.
 *
 *	rows <trace> <table> [<option>...]		options: samples, replay, metrics=<list>
 */
#include <arcprof-trace.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct arcprof_trace *t;
static uint32_t nr_metrics;

static void number(const char *key, uint64_t v)
{
	printf("\"%s\":%" PRIu64 ",", key, v);
}

/* null, when it is that value */
static void number_or(const char *key, uint64_t v, uint64_t none)
{
	if (v == none)
		printf("\"%s\":null,", key);
	else
		number(key, v);
}

static void text(const char *key, const char *s)
{
	printf("\"%s\":", key);
	if (!s) {
		fputs("null,", stdout);
		return;
	}
	putchar('"');
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == '"' || *s == '\\')
			printf("\\u%04x", *s);
		else
			putchar(*s);
	fputs("\",", stdout);
}

static void numbers(const char *key, const uint64_t *v)
{
	uint32_t i;

	printf("\"%s\":[", key);
	for (i = 0; i < nr_metrics; i++)
		printf("%s%" PRIu64, i ? "," : "", v[i]);
	fputs("],", stdout);
}

static void print_label(uint32_t i)
{
	struct arcprof_label x;

	arcprof_trace_label(t, i, &x);
	text("key", x.key);
	text("value", x.value);
}

static void print_metric(uint32_t i)
{
	struct arcprof_metric x;

	arcprof_trace_metric(t, i, &x);
	text("name", x.name);
	text("unit", x.unit);
	text("source", x.source);
	text("counts", x.counts);
	number("n", x.n);
	number("total", x.total);
}

static void print_process(uint32_t i)
{
	struct arcprof_process x;

	arcprof_trace_process(t, i, &x);
	number("id", x.number);
	number("pid", x.pid);
	text("name", *x.name ? x.name : NULL);
	number_or("parent", x.parent, 0);
	number_or("started", x.start_ns, ARCPROF_UNKNOWN);
	number_or("ended", x.end_ns, ARCPROF_UNKNOWN);
	number_or("function", x.function, 0);
}

static void print_thread(uint32_t i)
{
	struct arcprof_thread_row x;

	arcprof_trace_thread(t, i, &x);
	number("id", x.number);
	number_or("process", x.process, 0);
	number("tid", x.tid);
	text("name", x.name);
	number("java", x.is_java);
	number_or("started", x.start_ns, ARCPROF_UNKNOWN);
	number_or("ended", x.end_ns, ARCPROF_UNKNOWN);
	number("function", x.function);
}

static void print_module(uint32_t i)
{
	struct arcprof_module x;
	char hex[129] = "";
	uint32_t k;

	arcprof_trace_module(t, i, &x);
	for (k = 0; k < x.build_id_len && k < 64; k++)
		sprintf(hex + 2 * k, "%02x", x.build_id[k]);
	number("id", x.number);
	text("path", x.path);
	text("build_id", x.build_id_len ? hex : NULL);
	number("kernel", x.is_kernel);
}

static void print_function(uint32_t i)
{
	struct arcprof_function x;

	arcprof_trace_function(t, i + 1, &x);
	number("id", i + 1);
	text("name", x.name);
	text("kind", x.kind);
	text("module", x.module);
	text("detail", x.detail);
	number("pid", x.pid);
	number("tid", x.tid);
	number("nodes", x.nr_nodes);
	numbers("n", x.n);
	numbers("base", x.base);
	numbers("cum", x.cum);
	numbers("cum_recursive", x.cum_recursive);
}

static void print_node(uint32_t i)
{
	struct arcprof_node x;

	arcprof_trace_node(t, i, &x);
	number("id", i);
	number_or("parent", x.parent, ARCPROF_NONE);
	number("last", x.last);
	number("level", x.level);
	number("rl", x.recursion);
	number("function", x.function);
	text("name", x.name);
	number_or("process", x.process, 0);
	number_or("thread", x.thread, 0);
	numbers("n", x.n);
	numbers("base", x.base);
	numbers("cum", x.cum);
}

static void print_sample(uint32_t i)
{
	struct arcprof_sample x;

	arcprof_trace_sample(t, i, &x);
	number("id", i + 1);
	number("time", x.time_ns);
	number("thread", x.thread);
	number("cpu", x.cpu);
	number("user", x.is_user);
	number("metric", x.metric + 1);
	number("weight", x.weight);
	number("node", x.node);
	number_or("stack", x.stack, 0);
}

static void print_stack(uint32_t i)
{
	struct arcprof_frame frames[300];
	int64_t nr = arcprof_trace_stack(t, i + 1, frames, 300), k;

	number("id", i + 1);
	printf("\"frames\":[");
	for (k = 0; k < nr && k < 300; k++) {
		printf(k ? ",{" : "{");
		text("name", frames[k].name);
		text("code", frames[k].code);
		text("file", frames[k].file);
		number_or("line", frames[k].line, 0);
		number("address", frames[k].address);
		number_or("function", frames[k].function, 0);
		printf("\"inlined\":%d}", frames[k].is_inlined);
	}
	printf("],");
}

static void print_call(uint32_t i)
{
	struct arcprof_call x;

	arcprof_trace_call(t, i, &x);
	number("id", i + 1);
	number("time", x.time_ns);
	number_or("duration", x.duration_ns, ARCPROF_UNKNOWN);
	number_or("thread", x.thread, 0);
	text("thread_name", x.thread_name);
	number_or("function", x.function, 0);
	text("name", x.name);
	number_or("parent", x.parent == ARCPROF_NONE ? 0 : (uint64_t)x.parent + 1, 0);
	number("level", x.level);
	text("how", x.how);
	number("base", x.base);
	number("cum", x.cum);
}

static void print_event(uint32_t i)
{
	struct arcprof_event x;

	arcprof_trace_event(t, i, &x);
	number("id", i + 1);
	number("time", x.time_ns);
	text("kind", x.kind);
	number_or("thread", x.thread, 0);
	text("thread_name", x.thread_name);
	number_or("function", x.function, 0);
	text("name", x.name);
	text("state", x.state);
	if (strcmp(x.kind, "off") && strcmp(x.kind, "on"))
		number("consumed", x.consumed);
	else
		number("cpu", x.cpu);
}

static void print_dispatch(uint32_t i)
{
	struct arcprof_dispatch x;

	arcprof_trace_dispatch(t, i, &x);
	number("id", i + 1);
	number("time", x.time_ns);
	number("cpu", x.cpu);
	text("kind", x.interrupt ? "interrupt" : "dispatch");
	number_or("out", x.out, 0);
	text("state", x.state);
	number_or("ran", x.ran_ns, ARCPROF_UNKNOWN);
	number_or("next", x.in, 0);
	number_or("waited", x.waited_ns, ARCPROF_UNKNOWN);
	number_or("blocked", x.blocked_ns, ARCPROF_UNKNOWN);
	text("class", x.interrupt);
	if (x.interrupt)
		number("number", x.number);
}

static const struct {
	const char *name;
	enum arcprof_table table;
	void (*print)(uint32_t row);
} tables[] = {
	{ "labels", ARCPROF_TABLE_LABELS, print_label },
	{ "metrics", ARCPROF_TABLE_METRICS, print_metric },
	{ "processes", ARCPROF_TABLE_PROCESSES, print_process },
	{ "threads", ARCPROF_TABLE_THREADS, print_thread },
	{ "modules", ARCPROF_TABLE_MODULES, print_module },
	{ "functions", ARCPROF_TABLE_FUNCTIONS, print_function },
	{ "nodes", ARCPROF_TABLE_NODES, print_node },
	{ "samples", ARCPROF_TABLE_SAMPLES, print_sample },
	{ "stacks", ARCPROF_TABLE_STACKS, print_stack },
	{ "calls", ARCPROF_TABLE_CALLS, print_call },
	{ "events", ARCPROF_TABLE_EVENTS, print_event },
	{ "dispatches", ARCPROF_TABLE_DISPATCHES, print_dispatch },
};

static int print_table(const char *name)
{
	struct arcprof_error e;
	int64_t nr, row;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(tables[i].name, name))
			continue;
		nr = arcprof_trace_rows(t, tables[i].table, &e);
		if (*e.text)
			fprintf(stderr, "%s: %s\n", name, e.text);
		for (row = 0; row < nr; row++) {
			printf("{\"table\":\"%s\",", name);
			tables[i].print(row);
			printf("\"row\":%" PRId64 "}\n", row);
		}
		return nr < 0;
	}
	fprintf(stderr, "no table %s\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	struct arcprof_options o = { 0 };
	struct arcprof_error e;
	int i, failed = 0;

	if (argc < 3)
		return 2;
	for (i = 3; i < argc; i++) {
		o.flags |= strcmp(argv[i], "samples") ? 0 : ARCPROF_SAMPLES;
		o.flags |= strcmp(argv[i], "replay") ? 0 : ARCPROF_REPLAY;
		if (!strncmp(argv[i], "metrics=", 8))
			o.metrics = argv[i] + 8;
	}
	if (arcprof_trace_open(&t, argv[1], &o, &e)) {
		fprintf(stderr, "%s\n", e.text);
		return 1;
	}
	nr_metrics = arcprof_trace_rows(t, ARCPROF_TABLE_METRICS, &e);
	if (!strcmp(argv[2], "all"))
		for (i = 0; i < (int)(sizeof(tables) / sizeof(tables[0])); i++)
			failed |= print_table(tables[i].name);
	else
		failed = print_table(argv[2]);
	if (arcprof_trace_damage(t))
		fprintf(stderr, "damage: %s\n", arcprof_trace_damage(t));
	arcprof_trace_close(t);
	return failed;
}
