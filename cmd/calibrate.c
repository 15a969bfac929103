// SPDX-License-Identifier: GPL-2.0-or-later
/* calibrate.c - "arcprof calibrate": measures what counting calls costs by itself, and keeps it. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
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
	bool show, sequences, verify, accept_unstable, native, precise_time, calltrace, call_tier, call_sites;
	const char *java;
	struct opt_list metrics;
	struct sheet_choice choice;
	int format;
};

#define O struct calibrate_opts
static const struct opt calibrate_table[] = {
	OPT_GROUP("What to measure"),
	OPT_LIST(0, "metric", O, metrics, "name",
		 "metrics to calibrate together, as for record (default: cpu, wall, and both)"),
	OPT_FLAG(0, "precise-time", O, precise_time, "calibrate for recordings with --precise-time"),
	OPT_FLAG(0, "calltrace", O, calltrace, "calibrate for recordings with --calltrace"),
	OPT_FLAG(0, "call-tier", O, call_tier,
		 "calibrate for recordings with --call-tier: Java methods by how their code runs"),
	OPT_FLAG(0, "call-sites", O, call_sites, "calibrate for recordings with --call-sites"),
	OPT_FLAG(0, "native", O, native, "measure C and C++ functions (default: these, and Java methods if there is a java)"),
	OPT_STR_OPTARG(0, "java", O, java, "jvm", "measure Java methods, in the JVM of this JDK or command (default: java in PATH)"),
	OPT_FLAG(0, "accept-unstable", O, accept_unstable, "also use results that vary much between repetitions"),
	OPT_GROUP("What to print"),
	OPT_FLAG(0, "show", O, show, "show earlier results without measuring"),
	OPT_FLAG(0, "sequences", O, sequences, "show earlier results for pairs of successive events: entry, exit, exception"),
	OPT_FLAG(0, "verify", O, verify, "test earlier results on functions of several lengths, and show the errors"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_CHOICE(O, choice),
	OPT_END
};
#undef O

/* Find the user's "java": in PATH, else in JAVA_HOME; return false if there is neither. */
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

/* Find the java to measure. java: a JDK's folder, a command, or "" for the user's own. */
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

/* Measure one set of metrics, of Java methods of each tier if that is asked for. */
static int measure_set(const struct calibrate_opts *o, struct training *t, const char *metrics,
		       struct calibration *table, struct err *e)
{
	int r = 0;

	if (!o->call_tier)
		return train_set(t, metrics, o->accept_unstable, table, e);
	for (t->tier = CALIBRATION_INTERPRETED; t->tier < CALIBRATION_NR_TIERS && !r; t->tier++)
		r = train_set(t, metrics, o->accept_unstable, table, e);
	return r;
}

/* Measure one java, or native functions if java is NULL; keep the result at once. */
static int measure_one(const struct calibrate_opts *o, const char *java, struct calibration *table,
		       const char *path, unsigned int *nr_refused, struct err *e)
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
	t.events = o->calltrace;
	t.sites = o->call_sites;
	for (i = 0; sets[i] && !r; i++) {
		r = measure_set(o, &t, asked.len ? asked.data : sets[i], table, e);
		if (asked.len)
			break;
	}
	train_end(&t);
	*nr_refused += t.nr_refused;
	buf_release(&asked);
	return r ? r : calibration_store(table, path, e);
}

static int measure(const struct calibrate_opts *o, struct calibration *table, const char *path,
		   unsigned int *nr_refused, struct err *e)
{
	bool all = !o->native && !o->java && !o->call_tier;
	char java[PATH_MAX];
	int r = 0;

	if (o->native || all)
		r = measure_one(o, NULL, table, path, nr_refused, e);
	if (!r && (o->java || o->call_tier)) {
		r = choose_java(o->java ? o->java : "", java, sizeof(java), e);
		if (!r)
			r = measure_one(o, java, table, path, nr_refused, e);
	} else if (!r && all && !train_no_java() && find_java(java, sizeof(java))) {
		r = measure_one(o, java, table, path, nr_refused, e);
	}
	return r;
}

/* Text has thousandths, and a line where rows of another client or CPU begin, if they are in their order. */
static const struct sheet_column columns[] = {
	{ "client" }, { "cpu" },
	{ "metrics", "metrics", -26, .before = "  " }, { "metric", "metric", -12 },
	{ "within", "within", 10, .unit = .001 }, { "between", "between", 10, .unit = .001 },
	{ "doubt", "doubt", 10, .unit = .001 },
	{ "thrown" }, { "site", "site", 10, .unit = .001 },
	{ "spread" }, { "stable" }, { "used" }, { "environment" },
	{ NULL, "spread", 8 }, { NULL, "used", .before = "  " },
};

static void name_client(const struct calibration *t, size_t i, struct sheet *s)
{
	const struct calibration_row *r = &t->rows[i];
	const bool named = !i || strcmp(r->client, r[-1].client) || strcmp(r->cpu, r[-1].cpu) ||
			   strcmp(r->environment, r[-1].environment);

	if (sheet_is_text(s) && !s->chosen && named)
		fprintf(s->out, "%s on %s%s%s\n", r->client, r->cpu, *r->environment ? ", " : "",
			r->environment);
}

static void print_row(const struct calibration *t, size_t i, struct sheet *s)
{
	const struct calibration_row *r = &t->rows[i];
	const bool stable = r->cost.spread <= CALIBRATION_STABLE;
	struct cell percent = { .type = CELL_WORD };

	name_client(t, i, s);
	snprintf(percent.word, sizeof(percent.word), "%6" PRIu64 ".%" PRIu64 "%%", r->cost.spread / 10,
		 r->cost.spread % 10);
	sheet_row(s, NULL, (const struct cell[]){
		cell_text(r->client), cell_text(r->cpu), cell_text(r->metrics), cell_text(r->metric),
		cell_real(r->cost.within / 1000.0), cell_real(r->cost.between / 1000.0),
		cell_real(r->cost.doubt / 1000.0), cell_real(r->cost.thrown / 1000.0),
		cell_real(r->cost.site / 1000.0), cell_real(r->cost.spread / 1000.0),
		cell_bool(stable), cell_bool(r->used), cell_text(r->environment), percent,
		cell_text(!r->used ? "no: unstable" : stable ? "yes" : "yes, though unstable"),
	});
}

static int print_costs(const struct calibrate_opts *o, const struct calibration *t, const char *path,
		       struct err *e)
{
	bool text = o->format == FORMAT_TEXT, any_java = false;
	struct sheet_held held;
	struct sheet s;
	size_t i;

	if (text && !t->nr_rows) {
		printf("nothing is calibrated (%s)\n", path);
		return 0;
	}
	sheet_init(&s, o->format, sheet_hold(&held, &o->choice, stdout));
	sheet_choose(&s, &held.choice);
	if (text)
		fprintf(s.out, "%s: thousandths a call\n\n", path);
	json_object(&s.json, NULL);
	json_str(&s.json, "file", path);
	json_array(&s.json, "rows");
	sheet_columns(&s, columns, ARRAY_SIZE(columns));
	for (i = 0; i < t->nr_rows; i++) {
		any_java |= !strncmp(t->rows[i].client, "java-", 5);
		print_row(t, i, &s);
	}
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	if (text && !any_java)
		fputs("\nJava methods are not calibrated.\n", s.out);
	return sheet_let_go(&held, 0, e);
}

/* --- --sequences --- */

static const struct sheet_column sequence_columns[] = {
	{ "client" }, { "cpu" },
	{ "metrics", "metrics", -26, .before = "  " }, { "metric", "metric", -12 },
	{ "from", "from", -10 }, { "to", "to", -10 }, { "cost", "cost", 10, .unit = .001 },
};

static void print_sequence(const struct calibration_row *r, int from, int to, uint64_t cost, struct sheet *s)
{
	static const char *const names[] = { "entry", "exit", "exception", "site" };

	sheet_row(s, NULL, (const struct cell[]){
		cell_text(r->client), cell_text(r->cpu), cell_text(r->metrics), cell_text(r->metric),
		cell_text(names[from]), cell_text(names[to]), cell_real(cost / 1000.0),
	});
}

/*
 * Trees have what is within a call, and between two, the first of which an exception may have ended. A cost
 * of 0 does not happen, or was not measured.
 */
static void print_sequences_of(const struct calibration_row *r, struct sheet *s)
{
	int from, to;

	if (!r->cost.has_sequences) {
		print_sequence(r, 0, 1, r->cost.within, s);
		print_sequence(r, 1, 0, r->cost.between, s);
		if (r->cost.thrown)
			print_sequence(r, 2, 0, r->cost.between + r->cost.thrown, s);
		if (r->cost.site)
			print_sequence(r, CALIBRATION_STEPS, CALIBRATION_STEPS, r->cost.site, s);
		return;
	}
	for (from = 0; from < CALIBRATION_STEPS; from++)
		for (to = 0; to < CALIBRATION_STEPS; to++)
			if (r->cost.sequences[from][to])
				print_sequence(r, from, to, r->cost.sequences[from][to], s);
}

static int print_sequences(const struct calibrate_opts *o, const struct calibration *t, const char *path,
			   struct err *e)
{
	struct sheet_held held;
	struct sheet s;
	size_t i;

	if (o->format == FORMAT_TEXT && !t->nr_rows) {
		printf("nothing is calibrated (%s)\n", path);
		return 0;
	}
	sheet_init(&s, o->format, sheet_hold(&held, &o->choice, stdout));
	sheet_choose(&s, &held.choice);
	if (sheet_is_text(&s))
		fprintf(s.out, "%s: thousandths from one event to the next\n\n", path);
	json_object(&s.json, NULL);
	json_str(&s.json, "file", path);
	json_array(&s.json, "rows");
	sheet_columns(&s, sequence_columns, ARRAY_SIZE(sequence_columns));
	for (i = 0; i < t->nr_rows; i++) {
		name_client(t, i, &s);
		if (t->rows[i].used)
			print_sequences_of(&t->rows[i], &s);
	}
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	return sheet_let_go(&held, 0, e);
}

/* --- --verify --- */

enum { MOST_OFF = 5 };		/* percent, of a value that is not marked */

static const struct sheet_column verify_columns[] = {
	{ "calls", "calls of", -18 }, { "work", "work", -7 }, { "steps", "steps", 6 },
	{ "own", "own", 10, .decimals = 1 }, { "measured", "measured", 10, .decimals = 1 },
	{ "calibrated", "calibrated", 11, .decimals = 1 }, { "off_percent", "off %", 8, .decimals = 1 },
	{ "marked" },
};

static double off_percent(const struct train_length *l)
{
	return l->own > 0 ? (l->calibrated - l->own) / l->own * 100 : NAN;
}

/* The result for calls of one kind, native functions or Java methods. */
struct verified {
	const char *calls;
	struct train_length lengths[TRAIN_LENGTHS];
};

static int verify_one(const struct calibrate_opts *o, const char *java, struct verified *v, struct err *e)
{
	struct training t;
	int r = train_start(&t, java, e);

	t.precise = o->precise_time;
	t.sites = o->call_sites;
	v->calls = java ? "Java methods" : "native functions";
	if (!r)
		r = train_verify(&t, o->metrics.nr_items ? o->metrics.items[0] : "cpu", v->lengths, e);
	train_end(&t);
	return r;
}

static int verify(const struct calibrate_opts *o, struct verified v[static 2], size_t *nr, struct err *e)
{
	bool all = !o->native && !o->java;
	char java[PATH_MAX];
	int r = 0;

	if (o->native || all)
		r = verify_one(o, NULL, &v[(*nr)++], e);
	if (!r && o->java)
		r = choose_java(o->java, java, sizeof(java), e);
	if (!r && (o->java || (all && !train_no_java() && find_java(java, sizeof(java)))))
		r = verify_one(o, java, &v[(*nr)++], e);
	return r;
}

static void print_length(const char *calls, const struct train_length *l, struct sheet *s)
{
	struct cell calibrated = cell_real(l->calibrated);

	calibrated.marked = l->marked;
	sheet_row(s, NULL, (const struct cell[]){
		cell_text(calls), cell_text(l->work), cell_u64(l->steps), cell_real(l->own),
		cell_real(l->measured), calibrated,
		cell_real(off_percent(l)), cell_bool(l->marked),
	});
}

/* Returns how many values are off and not marked as such; negative: an error. */
static int print_verified(const struct calibrate_opts *o, const struct verified *v, size_t nr, struct err *e)
{
	struct sheet_held held;
	struct sheet s;
	int nr_off = 0, k, r;
	size_t i;

	sheet_init(&s, o->format, sheet_hold(&held, &o->choice, stdout));
	sheet_choose(&s, &held.choice);
	json_object(&s.json, NULL);
	json_array(&s.json, "rows");
	sheet_columns(&s, verify_columns, ARRAY_SIZE(verify_columns));
	for (i = 0; i < nr; i++)
		for (k = 0; k < TRAIN_LENGTHS; k++) {
			const struct train_length *l = &v[i].lengths[k];

			print_length(v[i].calls, l, &s);
			nr_off += !l->marked && fabs(off_percent(l)) > MOST_OFF;
		}
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	r = sheet_let_go(&held, 0, e);
	return r ? r : nr_off;
}

static int run_verify(const struct calibrate_opts *o)
{
	struct verified v[2];
	struct err e = { 0 };
	size_t nr = 0;
	int nr_off;

	if (o->show || o->sequences || o->accept_unstable || o->calltrace || o->call_tier ||
	    o->metrics.nr_items > 1) {
		log_error("--verify can only be combined with --native, --java, --precise-time, --call-sites, one --metric, --format, --columns and --sort");
		return EXIT_USAGE;
	}
	if (verify(o, v, &nr, &e))
		return log_err(&e);
	nr_off = print_verified(o, v, nr, &e);
	if (nr_off < 0)
		return log_err(&e);
	if (nr_off)
		log_warn("%d value%s off by more than %d %%, and reports do not mark %s", nr_off,
			 nr_off == 1 ? " is" : "s are", MOST_OFF, nr_off == 1 ? "it" : "them");
	return nr_off ? 1 : 0;
}

static int calibrate_run(void *opts, int nr_operands, char **operands)
{
	const struct calibrate_opts *o = opts;
	struct calibration table = { 0 };
	struct buf path = BUF_INIT;
	unsigned int nr_refused = 0;
	struct err e = { 0 };
	int r;

	if (o->verify)
		return run_verify(o);
	if ((o->show || o->sequences) && (o->metrics.nr_items || o->accept_unstable || o->native || o->java ||
					  o->precise_time || o->calltrace || o->call_tier || o->call_sites)) {
		log_error("%s can only be combined with --format, --columns and --sort",
			  o->show ? "--show" : "--sequences");
		return EXIT_USAGE;
	}
	if (o->call_tier && o->native) {
		log_error("cannot be combined: --call-tier and --native: only Java methods have tiers");
		return EXIT_USAGE;
	}
	if (o->calltrace && o->call_sites) {
		log_error("cannot be combined: --calltrace and --call-sites: call traces with call sites are not calibrated");
		return EXIT_USAGE;
	}
	r = calibration_path(&path, &e);
	if (!r)
		r = calibration_load(&table, path.data, &e);
	if (!r && !o->show && !o->sequences)
		r = measure(o, &table, path.data, &nr_refused, &e);
	if (nr_refused)
		log_hint("measure again while the machine has nothing else to do; --accept-unstable uses such results as well");
	if (r)
		r = log_err(&e);
	else if ((o->sequences ? print_sequences : print_costs)(o, &table, path.data, &e))
		r = log_err(&e);
	else
		r = nr_refused ? 1 : 0;
	calibration_release(&table);
	buf_release(&path);
	return r;
}

const struct command cmd_calibrate = {
	.name = "calibrate",
	.summary = "measure what counting calls costs, so that reports can subtract it",
	.opts = calibrate_table,
	.opts_size = sizeof(struct calibrate_opts),
	.run = calibrate_run,
};
