// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpi.c - "arcprof cpi": cycles per instruction and utilisation, of the machine or of a program.
 * What cannot be counted is n/a, with the reason; the rest is reported all the same.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/spawn.h"
#include "cmd.h"
#include "pmu/cpi.h"
#include "pmu/idle.h"
#include "report/sheet.h"

struct cpi_opts {
	uint64_t interval_ns, start_ns, duration_ns;
	bool all_cpus, summary, timestamp;
	const char *file;
	int format;
	struct sheet_choice choice;
};

#define O struct cpi_opts
static const struct opt cpi_table[] = {
	OPT_GROUP("What to measure"),
	OPT_FLAG('a', "all-cpus", O, all_cpus, "with a program: measure all CPUs while it runs"),
	OPT_TIME('s', "start", O, start_ns, "time", NULL, "wait this long before the start"),
	OPT_SPAN('d', "duration", O, duration_ns, "time", NULL, "stop after this long"),
	OPT_OLD_SPAN('r', "run", O, duration_ns),
	OPT_GROUP("What to print"),
	OPT_SPAN('t', "interval", O, interval_ns, "time", NULL, "print a result every <time> (default: one at the end)"),
	OPT_FLAG(0, "summary", O, summary, "show only the whole machine"),
	OPT_FLAG(0, "timestamp", O, timestamp, "print the time of day before each line"),
	OPT_STR('f', "file", O, file, "file", NULL, "also print to <file>"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_CHOICE(O, choice),
	OPT_END
};
#undef O

/* what was read at one time; counts: one for each CPU, or one for the program */
struct reading {
	uint64_t time_ns, unix_ns;
	struct idle_stat idle;			/* of the machine */
	struct cpi_counts *counts;
	uint64_t busy_ns;			/* of the program: CPU time */
	bool busy_known;
};

struct cpi {
	const struct cpi_opts *o;
	char **argv;				/* of the program, or NULL */
	bool machine;				/* all CPUs, not the program alone */
	struct spawn child;
	bool child_gone, forwarded;
	int status;				/* of the child, as wait4() gives it */
	uint64_t child_cpu_ns;			/* when it is gone */
	struct cpus cpus;
	struct cpi_set counters, clock;		/* clock: the program's CPU time */
	struct err why;				/* why counters are unavailable */
	struct ticker ticker;
	struct tee tee;
	struct sheet sheet;
	struct reading before, now;
	uint64_t nr_printed;
};

/* ---- reading ---- */

static int cpi_read_all(struct cpi *c, struct reading *r, struct err *e)
{
	struct cpi_counts clock;
	int ret = 0;
	size_t i;

	for (i = 0; i < c->counters.nr_pairs && !ret; i++)
		ret = cpi_read(&c->counters, i, &r->counts[i], e);
	if (!ret && c->machine)
		ret = idle_read(&r->idle, e);
	if (!ret && c->clock.nr_pairs) {
		ret = cpi_read(&c->clock, 0, &clock, e);
		r->busy_ns = clock.cycles.value;
		r->busy_known = true;
	} else if (!c->machine) {
		r->busy_ns = c->child_gone ? c->child_cpu_ns : 0;
		r->busy_known = c->child_gone;
	}
	r->time_ns = clock_mono_ns();
	return ret;
}

/* ---- output: one row for the machine, a CPU, or the program ---- */

struct row {
	int cpu;				/* -1: all, -2: the program */
	double elapsed_s, idle, busy;		/* percent; NaN: not known */
	uint64_t busy_ns;
	struct cpi_sum sum;
};

/* Cells of a row, in the order of columns[]. */
enum {
	CPI_TIME, CPI_UNIX_NS, CPI_CPU, CPI_ELAPSED, CPI_CPU_TIME, CPI_IDLE, CPI_BUSY, CPI_CYCLES,
	CPI_INSTRUCTIONS, CPI_RATIO, CPI_SHARE, CPI_NOTE,
};

static const struct sheet_column columns[] = {
	[CPI_TIME] = { .head = "", .width = -8 },	/* with --timestamp */
	[CPI_UNIX_NS] = { "unix_ns", .outer = true },
	[CPI_CPU] = { "cpu", "CPU", -8 },
	[CPI_ELAPSED] = { "elapsed_ns", "Seconds", 10, 3, .unit = UNIT_S, .outer = true },
	[CPI_CPU_TIME] = { "cpu_time_ns" },
	[CPI_IDLE] = { "idle_percent", "Idle%", 7, 2 },
	[CPI_BUSY] = { "busy_percent", "Busy%", 7, 2 },
	[CPI_CYCLES] = { "cycles", "Cycles", 16 },
	[CPI_INSTRUCTIONS] = { "instructions", "Instructions", 16 },
	[CPI_RATIO] = { "cpi", "CPI", 8, 3 },
	[CPI_SHARE] = { "share_counted" },
	[CPI_NOTE] = { .before = "  ", .note = true },
};

/* Return why one or both are not counted, or NULL when they are. */
static const char *why_missing(const struct cpi *c)
{
	const struct cpi_set *s = &c->counters;

	return !s->nr_pairs ? c->why.msg : s->no_cycles.code ? s->no_cycles.msg :
	       s->no_instructions.code ? s->no_instructions.msg : NULL;
}

static void print_counters(const struct cpi *c)
{
	const struct cpi_set *s = &c->counters;
	const char *missing = why_missing(c);

	if (!s->nr_pairs) {
		fprintf(c->tee.out, "** Counters: n/a: %s\n", missing);
		return;
	}
	fprintf(c->tee.out, "** Counters: %s%s\n", s->no_instructions.code ? "cycles" :
		s->no_cycles.code ? "instructions" : "cycles, instructions",
		s->user_only ? ", in user mode only: this user may not count the kernel's" : "");
	if (missing)
		fprintf(c->tee.out, "** %s, CPI: n/a: %s\n", s->no_cycles.code ? "Cycles" : "Instructions",
			missing);
}

static void cpi_print_start(struct cpi *c)
{
	size_t first = c->o->timestamp ? CPI_TIME : CPI_UNIX_NS;
	struct json *j = &c->sheet.json;
	FILE *out = c->tee.out;

	sheet_init(&c->sheet, c->o->format, out);
	sheet_choose(&c->sheet, &c->o->choice);
	json_object(j, NULL);
	json_str(j, "measured", c->machine ? "machine" : "program");
	json_u64(j, "processors", c->cpus.nr_cpu);
	json_bool(j, "counters", c->counters.nr_pairs > 0);
	json_str(j, "counters_missing_because", why_missing(c));
	json_bool(j, "user_mode_only", c->counters.user_only);
	json_array(j, "samples");
	if (sheet_is_text(&c->sheet)) {
		print_counters(c);
		fprintf(out, "** Utilisation: %s\n", c->machine ? "/proc/stat" :
			"CPU time of the program and its children, in percent of one CPU");
	}
	sheet_columns(&c->sheet, columns + first, ARRAY_SIZE(columns) - first);
}

static struct cell cpi_cell_known(bool known, uint64_t val)
{
	return known ? cell_u64(val) : cell_none;
}

static void cpi_print_row(struct cpi *c, const struct row *r)
{
	bool program = r->cpu == -2;
	double share = r->sum.cycles_known || r->sum.instructions_known ? r->sum.share_counted : NAN;
	char time_of_day[16], note[64];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(time_of_day, sizeof(time_of_day), "%H:%M:%S", &tm);
	snprintf(note, sizeof(note), "counted %.0f%% of the time", 100 * share);
	const struct cell cells[] = {
		[CPI_TIME] = cell_text(time_of_day),
		[CPI_UNIX_NS] = cell_u64(c->now.unix_ns),
		[CPI_CPU] = r->cpu >= 0 ? cell_u64(r->cpu) : cell_label(program ? "program" : "all"),
		[CPI_ELAPSED] = cell_u64(c->now.time_ns - c->before.time_ns),
		[CPI_CPU_TIME] = program ? cpi_cell_known(!isnan(r->busy), r->busy_ns) : cell_absent,
		[CPI_IDLE] = program ? cell_absent : cell_real(r->idle),
		[CPI_BUSY] = cell_real(r->busy),
		[CPI_CYCLES] = cpi_cell_known(r->sum.cycles_known, r->sum.cycles),
		[CPI_INSTRUCTIONS] = cpi_cell_known(r->sum.instructions_known, r->sum.instructions),
		[CPI_RATIO] = cell_real(cpi_ratio(&r->sum)),
		[CPI_SHARE] = cell_real(share),
		[CPI_NOTE] = cell_text(share < 0.999 ? note : NULL),
	};

	sheet_row(&c->sheet, program ? "program" : r->cpu == -1 ? "system" : NULL,
		  cells + (c->o->timestamp ? CPI_TIME : CPI_UNIX_NS));
}

static struct row cpi_row(struct cpi *c, int cpu, const struct idle_share *s)
{
	return (struct row){
		.cpu = cpu,
		.elapsed_s = (c->now.time_ns - c->before.time_ns) / 1e9,
		.idle = s && s->known ? s->idle : NAN,
		.busy = s && s->known ? s->busy + s->intr : NAN,
		.sum = CPI_SUM_INIT,
	};
}

static void add_counts(struct cpi *c, struct row *r, size_t i)
{
	struct cpi_counts d = cpi_diff(&c->before.counts[i], &c->now.counts[i]);

	cpi_add(&r->sum, &d);
}

static void print_machine(struct cpi *c)
{
	struct idle_stat diff = { 0 };
	struct idle_share s;
	struct row r;
	size_t i;

	idle_diff(&c->before.idle, &c->now.idle, &diff);
	s = idle_mean(&diff);
	r = cpi_row(c, -1, &s);
	for (i = 0; i < c->cpus.nr_cpu; i++)
		add_counts(c, &r, i);
	cpi_print_row(c, &r);
	if (!c->o->summary)
		json_array(&c->sheet.json, "cpus");
	for (i = 0; i < c->cpus.nr_cpu && !c->o->summary; i++) {
		const struct idle_cpu *cpu = idle_find(&diff, c->cpus.cpu[i]);

		s = cpu ? idle_share(cpu) : (struct idle_share){ 0 };
		r = cpi_row(c, c->cpus.cpu[i], &s);
		add_counts(c, &r, i);
		cpi_print_row(c, &r);
	}
	sheet_end_rows(&c->sheet);
	if (!c->o->summary)
		json_end(&c->sheet.json);
	idle_release(&diff);
}

static void print_program(struct cpi *c)
{
	struct row r = cpi_row(c, -2, NULL);

	r.busy_ns = c->now.busy_ns - c->before.busy_ns;
	if (c->now.busy_known && r.elapsed_s > 0)
		r.busy = 100 * r.busy_ns / 1e9 / r.elapsed_s;
	add_counts(c, &r, 0);
	cpi_print_row(c, &r);
}

static void cpi_print_sample(struct cpi *c)
{
	struct reading spare = c->before;

	c->now.unix_ns = clock_real_ns();
	json_object(&c->sheet.json, NULL);
	json_u64(&c->sheet.json, "unix_ns", c->now.unix_ns);
	json_u64(&c->sheet.json, "elapsed_ns", c->now.time_ns - c->before.time_ns);
	if (c->machine)
		print_machine(c);
	else
		print_program(c);
	json_end(&c->sheet.json);
	tee_flush(&c->tee);
	c->nr_printed++;
	c->before = c->now;
	c->now = spare;
}

/* ---- the measurement ---- */

static void reap(struct cpi *c, int flags)
{
	struct rusage u;

	if (!c->argv || c->child_gone || wait4(c->child.pid, &c->status, flags, &u) != c->child.pid)
		return;
	c->child_gone = true;
	c->child_cpu_ns = ((uint64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
			  ((uint64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

/*
 * Return whether to end: a first signal is the program's business, as in record; the second one, or any
 * without a program, ends.
 */
static bool cpi_is_over(struct cpi *c, int sig)
{
	if (sig == SIGCHLD) {
		reap(c, WNOHANG);
		return c->child_gone;
	}
	if (!c->argv || c->forwarded)
		return true;
	c->forwarded = true;
	if (c->ticker.last.si_code != SI_KERNEL)	/* the terminal sent that to both */
		kill(c->child.pid, sig);
	return false;
}

/* Wait; return false if the measurement ends before that time. */
static bool wait_until(struct cpi *c, uint64_t until_ns)
{
	int sig;

	while ((sig = ticker_wait(&c->ticker, until_ns)))
		if (cpi_is_over(c, sig))
			return false;
	return c->argv || !ferror(stdout);
}

/*
 * Take the first reading. A program starts right after it, or before --start; *over: the measurement ended
 * before.
 */
static int cpi_begin(struct cpi *c, bool *over, struct err *e)
{
	bool late = c->o->start_ns;
	int r = 0;

	ticker_start(&c->ticker);
	if (c->argv && late)
		r = spawn_go(&c->child, c->argv[0], e);
	if (!r && late && !wait_until(c, c->ticker.start_ns + c->o->start_ns)) {
		*over = true;
		return c->child_gone ? err_set(e, ECHILD, "the program ended before --start") : 0;
	}
	ticker_start(&c->ticker);
	if (!r)
		r = cpi_read_all(c, &c->before, e);
	if (!r && c->argv && !late)
		r = spawn_go(&c->child, c->argv[0], e);
	return r;
}

static int cpi_measure(struct cpi *c, struct err *e)
{
	uint64_t end_ns, next_ns;
	bool over = false;
	int r = cpi_begin(c, &over, e);

	if (r)
		return r;
	cpi_print_start(c);
	end_ns = c->o->duration_ns ? c->ticker.start_ns + c->o->duration_ns : UINT64_MAX;
	while (!r && !over) {
		next_ns = c->o->interval_ns ? ticker_next(&c->ticker, c->o->interval_ns, clock_mono_ns()) :
					      UINT64_MAX;
		over = !wait_until(c, MIN(next_ns, end_ns)) || clock_mono_ns() >= end_ns;
		r = cpi_read_all(c, &c->now, e);
		if (!r)
			cpi_print_sample(c);
	}
	sheet_end(&c->sheet);
	json_end(&c->sheet.json);
	json_end(&c->sheet.json);
	return r;
}

/* Open the counters. Unavailable ones are not a failure: c->why says what is missing. */
static void open_counters(struct cpi *c)
{
	static const struct cpi_events clock = { "task-clock", "task-clock" };
	struct err ignored;
	size_t nr = c->machine ? c->cpus.nr_cpu : 1;

	if (c->machine) {
		cpi_open_cpus(&c->counters, &CPI_EVENTS, &c->cpus, &c->why);
	} else {
		cpi_open_program(&c->counters, &CPI_EVENTS, c->child.pid, &c->why);
		cpi_open_program(&c->clock, &clock, c->child.pid, &ignored);
	}
	if (!c->counters.nr_pairs && (c->why.code == EACCES || c->why.code == EPERM))
		log_info("%s", c->why.hint);
	c->before.counts = xcalloc(nr, sizeof(*c->before.counts));
	c->now.counts = xcalloc(nr, sizeof(*c->now.counts));
}

static void cpi_close_all(struct cpi *c)
{
	cpi_close(&c->counters);
	cpi_close(&c->clock);
	cpus_release(&c->cpus);
	idle_release(&c->before.idle);
	idle_release(&c->now.idle);
	free(c->before.counts);
	free(c->now.counts);
	ticker_release(&c->ticker);
}

/* Return the program's status; one that outlives --duration is asked to end, as in record. */
static int program_status(struct cpi *c)
{
	if (!c->child_gone)
		kill(c->child.pid, SIGTERM);
	while (!c->child_gone)
		reap(c, 0);
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

/* Do everything between the opened output and its end; return the exit status. */
static int cpi_measure_loop(struct cpi *c)
{
	struct err e = { 0 };

	if (c->argv && spawn_start(&c->child, c->argv, &e)) {
		log_err(&e);
		return EXIT_ARCPROF_FAILED;
	}
	open_counters(c);
	if (!cpi_measure(c, &e))
		return c->argv ? program_status(c) : 0;
	log_err(&e);
	if (!c->argv)
		return 1;
	if (e.kind != ERR_EXEC && !c->child_gone) {	/* spawn_go() has reaped what it could not run */
		kill(c->child.pid, SIGKILL);
		reap(c, 0);
	}
	return command_failure(&e);
}

static int cpi_run(void *opts, int nr_operands, char **operands)
{
	struct cpi c = { .o = opts, .argv = nr_operands ? operands : NULL };
	struct err e = { 0 };
	int status;

	if (c.o->interval_ns && c.o->interval_ns < idle_tick_ns()) {
		log_error("--interval: shorter than a tick of the utilisation, %" PRIu64 " ms",
			  idle_tick_ns() / 1000000);
		return EXIT_USAGE;
	}
	if (sheet_check(&c.o->choice, c.o->format, columns, ARRAY_SIZE(columns), &e)) {
		log_err(&e);
		return EXIT_USAGE;
	}
	c.machine = !c.argv || c.o->all_cpus;
	if (tee_open(&c.tee, c.o->file, &e)) {
		log_err(&e);
		return c.argv ? EXIT_ARCPROF_FAILED : 1;
	}
	cpus_online(&c.cpus);
	ticker_init(&c.ticker, c.argv != NULL);
	status = cpi_measure_loop(&c);
	if (tee_close(&c.tee, &e)) {
		log_err(&e);
		status = c.argv ? EXIT_ARCPROF_FAILED : 1;
	}
	cpi_close_all(&c);
	return status;
}

const struct command cmd_cpi = {
	.name = "cpi",
	.summary = "show cycles per instruction and utilisation of the machine or of a program",
	.operands = "[--] [<program> [<arg>...]]",
	.flags = CMD_RUNS_PROGRAM,
	.opts = cpi_table,
	.opts_size = sizeof(struct cpi_opts),
	.run = cpi_run,
};
