// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * aboveidle.c - "arcprof aboveidle": how much of each CPU's time is idle, busy, and in interrupts,
 * interval by interval, in the forms of Performance Inspector's aboveidle.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "cmd.h"
#include "pmu/idle.h"
#include "report/sheet.h"

enum { LINES_A_HEAD = 20 };
#define NS_PER_S 1000000000ull

struct aboveidle_opts {
	uint64_t duration_ns;
	bool timestamp, summary, per_cpu;
	const char *log;
	int format;
	struct sheet_choice choice;
};

#define O struct aboveidle_opts
static const struct opt aboveidle_table[] = {
	OPT_GROUP("How long"),
	OPT_SPAN('d', "duration", O, duration_ns, "time", NULL, "stop after this long, instead of after <count> intervals"),
	OPT_OLD_SPAN('r', "run", O, duration_ns),
	OPT_GROUP("What to print"),
	OPT_FLAG('s', "summary", O, summary, "show only the mean over the CPUs, in words"),
	OPT_FLAG('P', "per-cpu", O, per_cpu, "with --summary: also show each CPU on a line of its own"),
	OPT_FLAG('t', "timestamp", O, timestamp, "print the time of day before each line"),
	OPT_STR('l', "log", O, log, "file", NULL, "also print to <file>"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_CHOICE(O, choice),
	OPT_END
};
#undef O

struct aboveidle {
	const struct aboveidle_opts *o;
	uint64_t interval_ns, nr_samples;	/* nr_samples 0: until interrupted */
	struct tee tee;
	struct ticker ticker;
	struct sheet sheet;
	struct idle_stat first, before, now, diff;	/* first: the CPUs that have a column */
	uint64_t nr_printed;
};

/* The table of all formats but text, which is that of Performance Inspector. */
static const struct sheet_column columns[] = {
	{ "unix_ns", .outer = true }, { "elapsed_ns", .outer = true }, { "cpu" },
	{ "idle_ticks" }, { "busy_ticks" }, { "intr_ticks" }, { "steal_ticks" },
	{ "idle_percent" }, { "busy_percent" }, { "intr_percent" },
};

static int check_choice(const struct aboveidle_opts *o, struct err *e)
{
	if (o->format == FORMAT_TEXT && (o->choice.columns.nr_items || o->choice.sort))
		return err_set(e, EINVAL, "--%s: text is that of Performance Inspector; --format=csv and json have columns",
			       o->choice.sort ? "sort" : "columns");
	return sheet_check(&o->choice, o->format, columns, ARRAY_SIZE(columns), e);
}

static int parse_operands(struct aboveidle *a, int nr, char **operands, struct err *e)
{
	uint64_t tick_ns = idle_tick_ns();

	a->interval_ns = NS_PER_S;
	if (nr > 2)
		return err_set(e, EINVAL, "unexpected argument '%s'", operands[2]);
	if (nr > 0 && opt_parse_time(operands[0], &a->interval_ns, e))
		return err_wrap(e, "interval");
	if (nr > 1 && opt_parse_u64(operands[1], &a->nr_samples, e))
		return err_wrap(e, "count");
	if (a->interval_ns < tick_ns)
		return err_set(e, EINVAL,
			       "interval '%s' is shorter than a tick of /proc/stat, %" PRIu64 " ms",
			       operands[0], tick_ns / 1000000);
	if (nr > 1 && !a->nr_samples)
		return err_set(e, EINVAL, "count '%s': at least one interval", operands[1]);
	if (nr > 1 && a->o->duration_ns)
		return err_set(e, EINVAL, "cannot be combined: --duration and a count");
	if (a->o->per_cpu && !a->o->summary)
		return err_set(e, EINVAL, "--per-cpu is only valid with --summary; each CPU is shown without it");
	if (check_choice(a->o, e))
		return -e->code;
	if (a->o->duration_ns)
		a->nr_samples = MAX((a->o->duration_ns + a->interval_ns / 2) / a->interval_ns, 1);
	return 0;
}

/* ---- text ---- */

/* "1 Minute", "90 Seconds": the largest unit that divides it. */
static void print_run_time(FILE *out, uint64_t ns)
{
	static const struct { const char *name; uint64_t s; } units[] = {
		{ "Day", 86400 }, { "Hour", 3600 }, { "Minute", 60 }, { "Second", 1 },
	};
	size_t i = 0;
	double n;

	while (units[i].s > 1 && (ns < units[i].s * NS_PER_S || ns % (units[i].s * NS_PER_S)))
		i++;
	n = (double)ns / (units[i].s * NS_PER_S);
	fprintf(out, "%g %s%s", n, units[i].name, n == 1 ? "" : "s");
}

static void aboveidle_print_start(struct aboveidle *a)
{
	FILE *out = a->tee.out;
	time_t now = time(NULL);
	struct tm tm;
	char date[64];

	localtime_r(&now, &tm);
	strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	fprintf(out, "**        Processors: %zu\n", a->first.nr_cpus);
	fprintf(out, "**   Sample interval: %g Second(s)\n", (double)a->interval_ns / NS_PER_S);
	if (a->nr_samples) {
		fprintf(out, "** Number of samples: %" PRIu64 " (Run time: ", a->nr_samples);
		print_run_time(out, a->nr_samples * a->interval_ns);
		fputs(")\n", out);
	} else {
		fputs("** Number of samples: until interrupted\n", out);
	}
	fprintf(out, "**            Source: /proc/stat, in ticks of %" PRIu64 " ms: one is %.2f%% of an interval\n",
		idle_tick_ns() / 1000000, 100.0 * idle_tick_ns() / a->interval_ns);
	fprintf(out, "** Data collection started on %s\n", date);
}

static void print_time(const struct aboveidle *a)
{
	uint64_t ns = clock_real_ns();
	time_t s = ns / NS_PER_S;
	struct tm tm;

	if (!a->o->timestamp)
		return;
	localtime_r(&s, &tm);
	fprintf(a->tee.out, "%02d:%02d:%02d.%03d ", tm.tm_hour, tm.tm_min, tm.tm_sec,
		(int)(ns / 1000000 % 1000));
}

static void aboveidle_print_head(const struct aboveidle *a)
{
	FILE *out = a->tee.out;
	int indent = a->o->timestamp ? 13 : 0;
	size_t i;

	fprintf(out, "%*s%-19s", indent, "", "System Summary");
	for (i = 0; i < a->first.nr_cpus; i++)
		fprintf(out, i + 1 < a->first.nr_cpus ? " processor #%-8u" : " processor #%u",
			a->first.cpus[i].cpu);
	fprintf(out, "\n%*s", indent, "");
	for (i = 0; i <= a->first.nr_cpus; i++)
		fprintf(out, "%s(idle%%,busy%%,intr%%)", i ? " " : "");
	putc('\n', out);
}

static void print_cell(FILE *out, const struct idle_share *s)
{
	if (s->known)
		fprintf(out, "(%5.2f,%5.2f,%5.2f)", s->idle, s->busy, s->intr);
	else
		fputs("(    -,    -,    -)", out);
}

static struct idle_share share_of(const struct aboveidle *a, uint32_t cpu)
{
	const struct idle_cpu *c = idle_find(&a->diff, cpu);

	return c ? idle_share(c) : (struct idle_share){ 0 };
}

static void aboveidle_print_row(const struct aboveidle *a)
{
	struct idle_share s = idle_mean(&a->diff);
	size_t i;

	if (a->nr_printed % LINES_A_HEAD == 0)
		aboveidle_print_head(a);
	print_time(a);
	print_cell(a->tee.out, &s);
	for (i = 0; i < a->first.nr_cpus; i++) {
		s = share_of(a, a->first.cpus[i].cpu);
		putc(' ', a->tee.out);
		print_cell(a->tee.out, &s);
	}
	putc('\n', a->tee.out);
}

static void print_words(const struct aboveidle *a, const struct idle_share *s)
{
	if (s->known)
		fprintf(a->tee.out, " idle: %5.2f%%  busy: %5.2f%%  intr: %5.2f%%\n", s->idle, s->busy,
			s->intr);
	else
		fputs(" idle:     -   busy:     -   intr:     -\n", a->tee.out);
}

static void print_summary(const struct aboveidle *a)
{
	struct idle_share s = idle_mean(&a->diff);
	size_t i;

	print_time(a);
	fputs("System", a->tee.out);
	print_words(a, &s);
	for (i = 0; i < a->first.nr_cpus && a->o->per_cpu; i++) {
		s = share_of(a, a->first.cpus[i].cpu);
		print_time(a);
		fprintf(a->tee.out, "CPU %-2u", a->first.cpus[i].cpu);
		print_words(a, &s);
	}
}

/* ---- rows of the other formats ---- */

static void start_rows(struct aboveidle *a)
{
	struct json *j = &a->sheet.json;

	json_object(j, NULL);
	json_str(j, "source", "/proc/stat");
	json_u64(j, "tick_ns", idle_tick_ns());
	json_u64(j, "interval_ns", a->interval_ns);
	json_u64(j, "processors", a->first.nr_cpus);
	json_u64(j, "started_unix_ns", clock_real_ns());
	json_array(j, "samples");
	sheet_columns(&a->sheet, columns, ARRAY_SIZE(columns));
}

/* Add a row; c NULL: the mean over the CPUs. */
static void aboveidle_add_row(struct aboveidle *a, uint64_t unix_ns, const struct idle_cpu *c)
{
	struct idle_share s = c ? idle_share(c) : idle_mean(&a->diff);

	sheet_row(&a->sheet, c ? NULL : "system", (const struct cell[]){
		cell_u64(unix_ns),
		cell_u64(a->diff.time_ns),
		c ? cell_u64(c->cpu) : cell_label("all"),
		c ? cell_u64(c->idle) : cell_absent,
		c ? cell_u64(c->busy) : cell_absent,
		c ? cell_u64(c->intr) : cell_absent,
		c ? cell_u64(c->steal) : cell_absent,
		cell_real(s.known ? s.idle : NAN),
		cell_real(s.known ? s.busy : NAN),
		cell_real(s.known ? s.intr : NAN),
	});
}

static void aboveidle_print_rows(struct aboveidle *a)
{
	uint64_t unix_ns = clock_real_ns();
	struct json *j = &a->sheet.json;
	size_t i;

	json_object(j, NULL);
	json_u64(j, "unix_ns", unix_ns);
	json_u64(j, "elapsed_ns", a->diff.time_ns);
	aboveidle_add_row(a, unix_ns, NULL);
	if (!a->o->summary || a->o->per_cpu) {
		json_array(j, "cpus");
		for (i = 0; i < a->diff.nr_cpus; i++)
			aboveidle_add_row(a, unix_ns, &a->diff.cpus[i]);
		sheet_end_rows(&a->sheet);
		json_end(j);
	}
	json_end(j);
}

/* ---- the measurement ---- */

static void aboveidle_print_sample(struct aboveidle *a)
{
	if (!sheet_is_text(&a->sheet))
		aboveidle_print_rows(a);
	else if (a->o->summary)
		print_summary(a);
	else
		aboveidle_print_row(a);
	a->nr_printed++;
	tee_flush(&a->tee);
}

static void print_end(struct aboveidle *a, bool interrupted)
{
	sheet_end(&a->sheet);
	json_end(&a->sheet.json);
	json_bool(&a->sheet.json, "interrupted", interrupted);
	json_end(&a->sheet.json);
	if (sheet_is_text(&a->sheet))
		fprintf(a->tee.out, "** %s  Ending.\n",
			interrupted ? "Interrupted." : "Requested number of samples reached.");
}

/* Measure; the first reading prints nothing, as shares are those of the time between two. */
static int aboveidle_measure(struct aboveidle *a, struct err *e)
{
	int r = idle_read(&a->before, e), sig = 0;

	if (!r)
		r = idle_read(&a->first, e);
	if (r)
		return r;
	sheet_init(&a->sheet, a->o->format, a->tee.out);
	sheet_choose(&a->sheet, &a->o->choice);
	if (sheet_is_text(&a->sheet))
		aboveidle_print_start(a);
	else
		start_rows(a);
	tee_flush(&a->tee);
	ticker_start(&a->ticker);
	while (!r && !ferror(stdout) && (!a->nr_samples || a->nr_printed < a->nr_samples)) {
		struct idle_stat spare = a->before;

		sig = ticker_wait(&a->ticker, ticker_next(&a->ticker, a->interval_ns, clock_mono_ns()));
		if (sig)
			break;
		r = idle_read(&a->now, e);
		if (r)
			break;
		idle_diff(&a->before, &a->now, &a->diff);
		a->before = a->now;
		a->now = spare;
		aboveidle_print_sample(a);
	}
	print_end(a, sig != 0);
	return r;
}

static int aboveidle_run(void *opts, int nr_operands, char **operands)
{
	struct aboveidle a = { .o = opts };
	struct err e = { 0 };
	int r, status = 0;

	if (parse_operands(&a, nr_operands, operands, &e)) {
		log_err(&e);
		return EXIT_USAGE;
	}
	if (tee_open(&a.tee, a.o->log, &e))
		return log_err(&e);
	ticker_init(&a.ticker, false);
	r = aboveidle_measure(&a, &e);
	if (r)
		status = log_err(&e);
	if (tee_close(&a.tee, &e))
		status = log_err(&e);
	ticker_release(&a.ticker);
	idle_release(&a.first);
	idle_release(&a.before);
	idle_release(&a.now);
	idle_release(&a.diff);
	return status;
}

const struct command cmd_aboveidle = {
	.name = "aboveidle",
	.summary = "show how much of each CPU's time is idle, busy, and in interrupts",
	.operands = "[<interval> [<count>]]",
	.opts = aboveidle_table,
	.opts_size = sizeof(struct aboveidle_opts),
	.run = aboveidle_run,
};
