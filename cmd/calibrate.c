// SPDX-License-Identifier: GPL-2.0-or-later
/* calibrate.c - "arcprof calibrate": measures what counting calls costs by itself, and keeps it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "calibrate/table.h"
#include "callflow/area.h"
#include "cmd.h"
#include "report/profile.h"

struct calibrate_opts {
	bool show, accept;
	struct opt_list metrics;
	int format;
};

enum { FORMAT_IS_TEXT, FORMAT_IS_JSON };
static const char *const formats[] = { "text", "json", NULL };

#define O struct calibrate_opts
static const struct opt calibrate_table[] = {
	OPT_GROUP("What to measure"),
	OPT_LIST(0, "metric", O, metrics, "name",
		 "this set of metrics, as record has it (default: cpu, wall, and both)"),
	OPT_FLAG(0, "accept-unstable", O, accept, "use also what differs much from one repetition to the next"),
	OPT_GROUP("What to print"),
	OPT_FLAG(0, "show", O, show, "what is known already; nothing is measured"),
	OPT_ENUM(0, "format", O, format, formats, "text", "output format"),
	OPT_END
};
#undef O

enum { CALLS = 10000, MIN_REPETITIONS = 20, RUNS = 7 };	/* CALLS: the trainer's */

extern char **environ;

/* A folder with the trainer and its trace. */
struct training {
	char dir[64], program[80], trace[80];
};

static int training_start(struct training *t, struct err *e)
{
	size_t len;
	const void *bytes = calibration_trainer(&len);
	int fd, r;

	if (!len)
		return err_set(e, ENOTSUP, "this arcprof was built without the program that is measured");
	snprintf(t->dir, sizeof(t->dir), "/tmp/arcprof-calibrate.XXXXXX");
	if (!mkdtemp(t->dir))
		return err_set(e, errno, "cannot make a folder in /tmp: %s", strerror(errno));
	snprintf(t->program, sizeof(t->program), "%s/trainer", t->dir);
	snprintf(t->trace, sizeof(t->trace), "%s/trace", t->dir);
	fd = open(t->program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0)
		return err_set(e, errno, "cannot create %s: %s", t->program, strerror(errno));
	r = io_write_all(fd, bytes, len);
	close(fd);
	return r ? err_set(e, -r, "cannot write %s: %s", t->program, strerror(-r)) : 0;
}

static void training_end(const struct training *t)
{
	char old[96];

	if (!*t->dir)
		return;
	snprintf(old, sizeof(old), "%s.old", t->trace);
	unlink(old);
	unlink(t->trace);
	unlink(t->program);
	rmdir(t->dir);
}

/* Just as a user's recording is made. */
static int record(const struct training *t, const char *metrics, struct err *e)
{
	char *argv[] = { "arcprof", "record", "--quiet", "--callflow", "--metric", (char *)metrics,
			 "-o", (char *)t->trace, "--", (char *)t->program, NULL };
	int status, r;
	pid_t pid;

	r = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ);
	if (r)
		return err_set(e, r, "cannot run arcprof record: %s", strerror(r));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "arcprof record: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE)
		return err_set(e, EINVAL, "--metric=%s cannot be recorded", metrics);
	return status ? err_set(e, EIO, "the recording failed") : 0;
}

/* Thousandths a call, of each repetition. */
struct costs {
	uint64_t *items;
	size_t nr, alloc;
};

/* The contexts of a function, each a repetition. */
static void gather(const struct model *m, const char *function, unsigned int metric, struct costs *c)
{
	const struct flow *f = &m->flow;
	size_t i;

	c->nr = 0;
	for (i = 1; i < f->nr_nodes; i++) {
		if (strcmp(model_str(m, m->consumers.items[f->nodes[i].consumer].name), function) != 0)
			continue;
		VEC_GROW(c->items, c->nr, c->alloc);
		c->items[c->nr++] = flow_base(f, i)[metric] / (CALLS / 1000);
	}
}

static int compare_u64(const void *p, const void *q)
{
	uint64_t a = *(const uint64_t *)p, b = *(const uint64_t *)q;

	return a < b ? -1 : a > b;
}

/*
 * The lowest tenth's upper end. The lowest of all would be too low: a clock that was set right
 * after the hypervisor took the CPU stands still for a while.
 */
static uint64_t lowest(struct costs *c)
{
	qsort(c->items, c->nr, sizeof(*c->items), compare_u64);
	return c->items[c->nr / 10];
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Each body's cost is what it took with hooks less what it took without; the cheaper one is what hooks
 * cost at least.
 */
static int derive(const struct model *m, unsigned int metric, struct calibration_cost *out, struct err *e)
{
	enum { PLAIN_EMPTY, HOOKED_EMPTY, EMPTY, PLAIN_CHAIN, HOOKED_CHAIN, CHAIN, NR };
	static const char *const functions[] = {
		"plain_empty", "hooked_empty", "empty", "plain_chain", "hooked_chain", "chain"
	};
	struct calibration_cost chain = { 0 };
	struct costs c = { 0 };
	uint64_t low[NR];
	int i;

	for (i = 0; i < NR; i++) {
		gather(m, functions[i], metric, &c);
		if (c.nr < MIN_REPETITIONS) {
			free(c.items);
			return err_set(e, ENODATA, "the measured program's calls are not in its trace");
		}
		low[i] = lowest(&c);
	}
	free(c.items);
	out->within = low[EMPTY];
	out->between = above(low[HOOKED_EMPTY], low[PLAIN_EMPTY]);
	chain.within = above(low[CHAIN], above(low[PLAIN_CHAIN], low[PLAIN_EMPTY]));
	chain.between = above(low[HOOKED_CHAIN], low[PLAIN_EMPTY]);
	if (chain.within + chain.between < out->within + out->between)
		*out = chain;
	return 0;
}

/* What the runs said of a set of metrics. */
struct findings {
	char names[CALLFLOW_MAX_METRICS][CALIBRATION_NAME], set[CALIBRATION_NAME];
	unsigned int nr_metrics;
	struct calibration_cost costs[CALLFLOW_MAX_METRICS][RUNS];
};

static int read_run(const struct training *t, struct findings *f, int run, struct err *e)
{
	struct profile_opts po = { .names = { .no_inline = true } };
	struct report_source src = { 0 };
	struct trace_reader *reader = NULL;
	struct profile p = { 0 };
	struct model m = { 0 };
	unsigned int i;
	int r = trace_reader_open(&reader, t->trace, e);

	if (r)
		return r;
	r = profile_read(&p, &m, &src, reader, &po, e);
	*f->set = '\0';
	f->nr_metrics = r ? 0 : m.flow.nr_metrics;
	for (i = 0; i < f->nr_metrics && !r; i++) {
		snprintf(f->names[i], CALIBRATION_NAME, "%s", model_str(&m, m.metrics[i].name));
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), "%s%s", i ? "," : "", f->names[i]);
		r = derive(&m, i, &f->costs[i][run], e);
	}
	profile_release(&p);
	model_release(&m);
	trace_reader_close(reader);
	return r;
}

static int compare_costs(const void *p, const void *q)
{
	const struct calibration_cost *a = p, *b = q;
	uint64_t x = a->within + a->between, y = b->within + b->between;

	return x < y ? -1 : x > y;
}

/* The cheapest run is what counts; the one in the middle says how far that can be relied on. */
static void conclude(struct findings *f, bool accept, struct calibration *table)
{
	struct calibration_row row = { .client = "" };
	unsigned int i;

	calibration_hookit(row.client);
	calibration_cpu(row.cpu);
	snprintf(row.metrics, sizeof(row.metrics), "%s", f->set);
	for (i = 0; i < f->nr_metrics; i++) {
		struct calibration_cost *c = f->costs[i];
		uint64_t low, middle;

		qsort(c, RUNS, sizeof(*c), compare_costs);
		low = c[0].within + c[0].between;
		middle = c[RUNS / 2].within + c[RUNS / 2].between;
		snprintf(row.metric, sizeof(row.metric), "%s", f->names[i]);
		row.cost = c[0];
		row.cost.spread = low ? (middle - low) * 1000 / low : 0;
		row.used = accept || row.cost.spread <= CALIBRATION_STABLE;
		calibration_put(table, &row);
	}
}

static int measure_set(const struct training *t, const char *metrics, bool accept, struct calibration *table,
		       struct err *e)
{
	struct findings f;
	int run, r = 0;

	for (run = 0; run < RUNS && !r; run++) {
		r = record(t, metrics, e);
		if (!r)
			r = read_run(t, &f, run, e);
	}
	if (!r)
		conclude(&f, accept, table);
	return r;
}

static int measure(const struct calibrate_opts *o, struct calibration *table, struct err *e)
{
	static const char *const sets[] = { "cpu", "wall", "cpu,wall", NULL };
	struct training t = { "" };
	struct buf asked = BUF_INIT;
	size_t i;
	int r;

	for (i = 0; i < o->metrics.nr_items; i++)
		buf_fmt(&asked, "%s%s", i ? "," : "", o->metrics.items[i]);
	r = training_start(&t, e);
	for (i = 0; sets[i] && !r; i++) {
		r = measure_set(&t, asked.len ? asked.data : sets[i], o->accept, table, e);
		if (asked.len)
			break;
	}
	training_end(&t);
	buf_release(&asked);
	return r;
}

static void print_text(const struct calibration *t, const char *path)
{
	size_t i;

	if (!t->nr_rows) {
		printf("nothing is calibrated (%s)\n", path);
		return;
	}
	printf("%s: thousandths a call\n\n", path);
	printf("  %-20s %-12s %10s %10s %8s  %s\n", "metrics", "metric", "within", "between", "spread", "used");
	for (i = 0; i < t->nr_rows; i++) {
		const struct calibration_row *r = &t->rows[i];
		bool named = !i || strcmp(r->client, r[-1].client) || strcmp(r->cpu, r[-1].cpu);

		if (named)
			printf("%s on %s\n", r->client, r->cpu);
		printf("  %-20s %-12s %10" PRIu64 " %10" PRIu64 " %6" PRIu64 ".%" PRIu64 "%%  %s\n", r->metrics,
		       r->metric, r->cost.within, r->cost.between, r->cost.spread / 10, r->cost.spread % 10,
		       !r->used ? "no: unstable" : r->cost.spread <= CALIBRATION_STABLE ? "yes" :
		       "yes, though unstable");
	}
	puts("\nJava methods are not calibrated.");
}

static void print_json(const struct calibration *t, const char *path)
{
	struct json j;
	size_t i;

	json_init(&j, stdout);
	json_object(&j, NULL);
	json_str(&j, "file", path);
	json_array(&j, "rows");
	for (i = 0; i < t->nr_rows; i++) {
		const struct calibration_row *r = &t->rows[i];

		json_object(&j, NULL);
		json_str(&j, "client", r->client);
		json_str(&j, "cpu", r->cpu);
		json_str(&j, "metrics", r->metrics);
		json_str(&j, "metric", r->metric);
		json_double(&j, "within", r->cost.within / 1000.0);
		json_double(&j, "between", r->cost.between / 1000.0);
		json_double(&j, "spread", r->cost.spread / 1000.0);
		json_bool(&j, "stable", r->cost.spread <= CALIBRATION_STABLE);
		json_bool(&j, "used", r->used);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static int calibrate_run(void *opts, int nr_operands, char **operands)
{
	const struct calibrate_opts *o = opts;
	struct calibration table = { 0 };
	struct buf path = BUF_INIT;
	struct err e = { 0 };
	int r;

	if (o->show && (o->metrics.nr_items || o->accept)) {
		log_error("--show measures nothing: --metric and --accept-unstable do not go with it");
		return EXIT_USAGE;
	}
	r = calibration_path(&path, &e);
	if (!r)
		r = calibration_load(&table, path.data, &e);
	if (!r && !o->show)
		r = measure(o, &table, &e);
	if (!r && !o->show)
		r = calibration_store(&table, path.data, &e);
	if (r)
		r = log_err(&e);
	else if (o->format == FORMAT_IS_JSON)
		print_json(&table, path.data);
	else
		print_text(&table, path.data);
	calibration_release(&table);
	buf_release(&path);
	return r;
}

const struct command cmd_calibrate = {
	.name = "calibrate",
	.summary = "measure what counting calls costs, so that reports leave it out",
	.opts = calibrate_table,
	.opts_size = sizeof(struct calibrate_opts),
	.run = calibrate_run,
};
