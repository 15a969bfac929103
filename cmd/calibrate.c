// SPDX-License-Identifier: GPL-2.0-or-later
/* calibrate.c - "arcprof calibrate": measures what counting calls costs by itself, and keeps it. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "jvm/jdk.h"
#include "report/sheet.h"
#include "train.h"

struct calibrate_opts {
	bool show, accept_unstable, native, precise_time;
	const char *java;
	struct opt_list metrics;
	int format;
};

#define O struct calibrate_opts
static const struct opt calibrate_table[] = {
	OPT_GROUP("What to measure"),
	OPT_LIST(0, "metric", O, metrics, "name",
		 "metrics to calibrate together, as for record (default: cpu, wall, and both)"),
	OPT_FLAG(0, "precise-time", O, precise_time, "calibrate for recordings with --precise-time"),
	OPT_FLAG(0, "native", O, native, "measure C and C++ functions (default: these, and Java methods if there is a java)"),
	OPT_STR_OPTARG(0, "java", O, java, "jvm", "measure Java methods, in the JVM of this JDK or command (default: java in PATH)"),
	OPT_FLAG(0, "accept-unstable", O, accept_unstable, "use results that vary much between repetitions as well"),
	OPT_GROUP("What to print"),
	OPT_FLAG(0, "show", O, show, "show earlier results without measuring"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_END
};
#undef O

/* What the user's "java" is: in PATH, else in JAVA_HOME; false: neither. */
static bool find_java(char *out, size_t size)
{
	const char *home = getenv("JAVA_HOME");
	struct jdk_list l;
	size_t i;

	jdk_list_find(&l);
	for (i = 0; i < l.nr_jdks; i++)
		if (l.jdks[i].on_path)
			home = l.jdks[i].home;
	snprintf(out, size, "%s/bin/java", home ? home : "");
	jdk_list_release(&l);
	return home && *home && !access(out, X_OK);
}

/* java: a JDK's folder, a command, or "" for the user's own. */
static int choose_java(const char *java, char *out, size_t size, struct err *e)
{
	if (!*java && !find_java(out, size)) {
		err_set(e, ENOENT, "no java found in PATH or JAVA_HOME");
		err_hint(e, "name a JDK: --java=<folder>");
		return -ENOENT;
	}
	if (*java)
		snprintf(out, size, "%s%s", java, io_is_folder(java) ? "/bin/java" : "");
	return 0;
}

/* java NULL: native functions. What was measured is kept at once. */
static int measure_one(const struct calibrate_opts *o, const char *java, struct calibration *table,
		       const char *path, struct err *e)
{
	static const char *const sets[] = { "cpu", "wall", "cpu,wall", NULL };
	struct buf asked = BUF_INIT;
	struct training t;
	size_t i;
	int r;

	for (i = 0; i < o->metrics.nr_items; i++)
		buf_fmt(&asked, "%s%s", i ? "," : "", o->metrics.items[i]);
	r = train_start(&t, java, e);
	t.precise = o->precise_time;
	for (i = 0; sets[i] && !r; i++) {
		r = train_set(&t, asked.len ? asked.data : sets[i], o->accept_unstable, table, e);
		if (asked.len)
			break;
	}
	train_end(&t);
	buf_release(&asked);
	return r ? r : calibration_store(table, path, e);
}

static int measure(const struct calibrate_opts *o, struct calibration *table, const char *path, struct err *e)
{
	bool all = !o->native && !o->java;
	char java[PATH_MAX];
	int r = 0;

	if (o->native || all)
		r = measure_one(o, NULL, table, path, e);
	if (!r && o->java) {
		r = choose_java(o->java, java, sizeof(java), e);
		if (!r)
			r = measure_one(o, java, table, path, e);
	} else if (!r && all && !train_no_java() && find_java(java, sizeof(java))) {
		r = measure_one(o, java, table, path, e);
	}
	return r;
}

static void print_text(const struct calibration *t, const char *path)
{
	bool any_java = false;
	size_t i;

	if (!t->nr_rows) {
		printf("nothing is calibrated (%s)\n", path);
		return;
	}
	printf("%s: thousandths a call\n\n", path);
	printf("  %-20s %-12s %10s %10s %10s %8s  %s\n", "metrics", "metric", "within", "between", "doubt", "spread", "used");
	for (i = 0; i < t->nr_rows; i++) {
		const struct calibration_row *r = &t->rows[i];
		bool named = !i || strcmp(r->client, r[-1].client) || strcmp(r->cpu, r[-1].cpu);

		any_java |= !strncmp(r->client, "java-", 5);
		if (named)
			printf("%s on %s\n", r->client, r->cpu);
		printf("  %-20s %-12s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %6" PRIu64 ".%" PRIu64
		       "%%  %s\n",
		       r->metrics, r->metric, r->cost.within, r->cost.between, r->cost.doubt,
		       r->cost.spread / 10, r->cost.spread % 10,
		       !r->used					    ? "no: unstable" :
			       r->cost.spread <= CALIBRATION_STABLE ? "yes" :
								      "yes, though unstable");
	}
	if (!any_java)
		puts("\nJava methods are not calibrated.");
}

static void print_rows(const struct calibration *t, const char *path, int format)
{
	static const struct sheet_column columns[] = {
		{ "client" }, { "cpu" }, { "metrics" }, { "metric" }, { "within" }, { "between" }, { "doubt" },
		{ "spread" }, { "stable" }, { "used" },
	};
	struct sheet s;
	size_t i;

	sheet_init(&s, format, stdout);
	json_object(&s.json, NULL);
	json_str(&s.json, "file", path);
	json_array(&s.json, "rows");
	sheet_columns(&s, columns, ARRAY_SIZE(columns));
	for (i = 0; i < t->nr_rows; i++) {
		const struct calibration_row *r = &t->rows[i];

		sheet_row(&s, NULL, (const struct cell[]){
			cell_text(r->client),
			cell_text(r->cpu),
			cell_text(r->metrics),
			cell_text(r->metric),
			cell_real(r->cost.within / 1000.0),
			cell_real(r->cost.between / 1000.0),
			cell_real(r->cost.doubt / 1000.0),
			cell_real(r->cost.spread / 1000.0),
			cell_bool(r->cost.spread <= CALIBRATION_STABLE),
			cell_bool(r->used),
		});
	}
	json_end(&s.json);
	json_end(&s.json);
}

static int calibrate_run(void *opts, int nr_operands, char **operands)
{
	const struct calibrate_opts *o = opts;
	struct calibration table = { 0 };
	struct buf path = BUF_INIT;
	struct err e = { 0 };
	int r;

	if (o->show && (o->metrics.nr_items || o->accept_unstable || o->native || o->java ||
			o->precise_time)) {
		log_error("--show can only be combined with --format");
		return EXIT_USAGE;
	}
	r = calibration_path(&path, &e);
	if (!r)
		r = calibration_load(&table, path.data, &e);
	if (!r && !o->show)
		r = measure(o, &table, path.data, &e);
	if (r)
		r = log_err(&e);
	else if (o->format == FORMAT_TEXT)
		print_text(&table, path.data);
	else
		print_rows(&table, path.data, o->format);
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
