// SPDX-License-Identifier: GPL-2.0-or-later
/* mpevt.c - "arcprof mpevt": counts events on all CPUs until stopped, even after this command ends. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "cmd.h"
#include "pmu/event.h"
#include "pmu/mpevt.h"
#include "report/sheet.h"

enum { NS_PER_MS = 1000000 };

struct mpevt_opts {
	uint64_t interval_ns, duration_ns;
	bool summary;
	const char *file;
	int format;
	struct sheet_choice choice;
};

#define O struct mpevt_opts
static const struct opt mpevt_table[] = {
	OPT_GROUP("With query"),
	OPT_SPAN('t', "interval", O, interval_ns, "time", "1", "print a result every <time>"),
	OPT_SPAN('d', "duration", O, duration_ns, "time", NULL, "stop after this long"),
	OPT_OLD_SPAN('r', "run", O, duration_ns),
	OPT_GROUP("What to print"),
	OPT_FLAG(0, "summary", O, summary, "show only the sum over the CPUs"),
	OPT_STR('f', "file", O, file, "file", NULL, "also print to <file>"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_CHOICE(O, choice),
	OPT_END
};
#undef O

struct mpevt {
	const struct mpevt_opts *o;
	const char *dir;
	char **names;
	size_t nr_names;
	struct tee tee;
	struct sheet sheet;
	uint64_t unix_ns;			/* of now */
	struct mpevt_counts before, now;
};

/* ---- list ---- */

static void list_one(void *ctx, const char *name, const char *what)
{
	struct mpevt *m = ctx;
	struct buf text = BUF_INIT;
	struct err no = { 0 };
	int r = mpevt_try(name, &no);
	/* "name: reason" */
	const char *said = strncmp(no.msg, name, strlen(name)) ? no.msg : no.msg + strlen(name) + 2;
	const char *why = r ? said : NULL;

	buf_fmt(&text, why ? "n/a: %s" : "yes", why);
	sheet_row(&m->sheet, NULL, (const struct cell[]){ cell_text(name), cell_text(what),
							  cell_text(text.data), cell_bool(!r),
							  cell_text(why) });
	buf_release(&text);
}

static int do_list(struct mpevt *m, struct err *e)
{
	static const struct sheet_column columns[] = {
		{ "event", "Event", -26 },
		{ "description", "What it counts", -64 },
		{ .head = "Can be counted on all CPUs" },
		{ "works" },
		{ "because" },
	};

	if (sheet_check(&m->o->choice, m->o->format, columns, ARRAY_SIZE(columns), e))
		return -e->code;
	sheet_init(&m->sheet, m->o->format, m->tee.out);
	sheet_choose(&m->sheet, &m->o->choice);
	json_object(&m->sheet.json, NULL);
	json_array(&m->sheet.json, "events");
	sheet_columns(&m->sheet, columns, ARRAY_SIZE(columns));
	pmu_list("/sys", list_one, m);
	sheet_end(&m->sheet);
	json_end(&m->sheet.json);
	json_end(&m->sheet.json);
	return 0;
}

/* ---- start ---- */

static int do_start(struct mpevt *m, struct err *e)
{
	int r = mpevt_start(m->dir, m->names, m->nr_names, &m->now, e);
	size_t i;

	for (i = 0; !r && i < m->now.nr_missing; i++)
		log_warn("n/a: %s", m->now.missing[i]);
	if (!r && m->now.hint[0])
		log_hint("%s", m->now.hint);
	return r;
}

/* ---- read and query ---- */

static const struct sheet_column count_columns[] = {
	{ "unix_ns", .outer = true },
	{ "event", "Event", -32 },
	{ "cpu", "CPU", -4 },
	{ "counted_for_ns", "Seconds", 12, 3, .unit = UNIT_S },
	{ "count", "Count", 20 },
	{ "unit", "Unit" },
	{ "share_counted" },
	{ .before = "  ", .note = true },	/* the same in words */
};

static int check_columns(const struct mpevt *m, struct err *e)
{
	return sheet_check(&m->o->choice, m->o->format, count_columns, ARRAY_SIZE(count_columns), e);
}

static void start_output(struct mpevt *m)
{
	sheet_init(&m->sheet, m->o->format, m->tee.out);
	sheet_choose(&m->sheet, &m->o->choice);
	json_object(&m->sheet.json, NULL);
	json_array(&m->sheet.json, "samples");
	sheet_columns(&m->sheet, count_columns, ARRAY_SIZE(count_columns));
}

static void end_output(struct mpevt *m)
{
	sheet_end(&m->sheet);
	json_end(&m->sheet.json);
	json_end(&m->sheet.json);
}

/* Print a row; all: the sum over the CPUs, whose time is that of the last one. */
static void mpevt_print_row(struct mpevt *m, const struct mpevt_count *c, const char *all,
			    const struct cpi_sum *s)
{
	bool in_part = s->cycles_known && s->share_counted < 0.999;
	char note[64];

	snprintf(note, sizeof(note), "counted %.0f%% of the time", 100 * s->share_counted);
	sheet_row(&m->sheet, NULL, (const struct cell[]){
		cell_u64(m->unix_ns),
		cell_text(c->event),
		all ? cell_text(all) : cell_u64(c->cpu),
		cell_u64(c->count.enabled_ns),
		s->cycles_known ? cell_u64(c->count.value) : cell_none,
		cell_text(c->unit),
		cell_real(s->share_counted),
		cell_text(in_part ? note : NULL),
	});
}

static struct mpevt_count difference(const struct mpevt *m, const struct mpevt_count *now)
{
	struct mpevt_count d = *now;
	size_t i;

	for (i = 0; i < m->before.nr_c; i++) {
		const struct mpevt_count *b = &m->before.c[i];

		/* Less time than before: it was stopped and restarted meanwhile. */
		if (b->cpu != now->cpu || strcmp(b->event, now->event) ||
		    b->count.enabled_ns > now->count.enabled_ns)
			continue;
		d.count.value -= b->count.value;
		d.count.enabled_ns -= b->count.enabled_ns;
		d.count.running_ns -= b->count.running_ns;
		break;
	}
	return d;
}

/* Print an event; one that took turns with others is scaled to the whole time, as in cpi.h. */
static void print_one(struct mpevt *m, struct mpevt_count *c, const char *all, struct cpi_sum *sum)
{
	struct cpi_counts pair = { c->count, c->count };
	struct cpi_sum s = CPI_SUM_INIT;

	if (all) {
		c->count.value = sum->cycles;
		s = *sum;
	} else {
		cpi_add(&s, &pair);
		cpi_add(sum, &pair);
		c->count.value = s.cycles;
		if (m->o->summary)
			return;
	}
	mpevt_print_row(m, c, all, &s);
}

static void print_counts(struct mpevt *m)
{
	struct cpi_sum sum = CPI_SUM_INIT;
	size_t i;

	m->unix_ns = clock_real_ns();
	json_object(&m->sheet.json, NULL);
	json_u64(&m->sheet.json, "unix_ns", m->unix_ns);
	json_array(&m->sheet.json, "counts");
	for (i = 0; i < m->now.nr_c; i++) {
		struct mpevt_count d = difference(m, &m->now.c[i]);

		print_one(m, &d, NULL, &sum);
		if (i + 1 < m->now.nr_c && !strcmp(m->now.c[i + 1].event, d.event))
			continue;
		print_one(m, &d, "all", &sum);
		sum = CPI_SUM_INIT;
	}
	sheet_end_rows(&m->sheet);
	json_end(&m->sheet.json);
	json_end(&m->sheet.json);
	tee_flush(&m->tee);
}

static int do_read(struct mpevt *m, struct err *e)
{
	int r = check_columns(m, e);

	if (!r)
		r = mpevt_read(m->dir, m->names, m->nr_names, &m->now, e);
	if (r)
		return r;
	start_output(m);
	print_counts(m);
	end_output(m);
	return 0;
}

static int do_query(struct mpevt *m, struct err *e)
{
	int r = check_columns(m, e);
	uint64_t end_ns, next_ns;
	struct ticker t;
	bool over = false;

	if (!r)
		r = mpevt_read(m->dir, m->names, m->nr_names, &m->before, e);
	if (r)
		return r;
	start_output(m);
	tee_flush(&m->tee);
	ticker_init(&t, false);
	end_ns = m->o->duration_ns ? t.start_ns + m->o->duration_ns : UINT64_MAX;
	while (!r && !over && !ferror(stdout)) {
		struct mpevt_counts spare = m->before;

		next_ns = ticker_next(&t, m->o->interval_ns, clock_mono_ns());
		if (ticker_wait(&t, MIN(next_ns, end_ns)))
			break;
		over = clock_mono_ns() >= end_ns;
		r = mpevt_read(m->dir, m->names, m->nr_names, &m->now, e);
		if (r)
			break;
		print_counts(m);
		m->before = m->now;
		m->now = spare;
	}
	end_output(m);
	ticker_release(&t);
	return r;
}

/* ---- the verbs ---- */

static int run_verb(struct mpevt *m, const char *verb, struct err *e)
{
	if (!strcmp(verb, "list"))
		return do_list(m, e);
	if (!strcmp(verb, "start"))
		return do_start(m, e);
	if (!strcmp(verb, "stop"))
		return mpevt_stop(m->dir, m->names, m->nr_names, e);
	if (!strcmp(verb, "read"))
		return do_read(m, e);
	return do_query(m, e);
}

static int check_usage(const struct mpevt_opts *o, int nr, char **operands, struct err *e)
{
	static const char *const verbs[] = { "list", "start", "read", "query", "stop" };
	size_t i;

	for (i = 0; nr && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(operands[0], verbs[i]))
			break;
	if (!nr || i == ARRAY_SIZE(verbs))
		return err_set(e, EINVAL, "list, start, read, query or stop comes first");
	if (i == 0 && nr > 1)
		return err_set(e, EINVAL, "list takes no event");
	if (i == 1 && nr == 1)
		return err_set(e, EINVAL, "start needs an event");
	if (o->duration_ns && strcmp(operands[0], "query"))
		return err_set(e, EINVAL, "--duration is only valid with query");
	if (o->interval_ns < NS_PER_MS)
		return err_set(e, EINVAL, "--interval: at least 1 ms");
	for (i = 1; i < (size_t)nr; i++)
		if (strpbrk(operands[i], "\n\t") || !operands[i][0])
			return err_set(e, EINVAL, "'%s' is not an event", operands[i]);
	return 0;
}

static int mpevt_run(void *opts, int nr_operands, char **operands)
{
	struct mpevt m = { .o = opts };
	struct err e = { 0 };
	int status = 0;
	char *dir;

	if (check_usage(m.o, nr_operands, operands, &e)) {
		log_err(&e);
		return EXIT_USAGE;
	}
	m.names = operands + 1;
	m.nr_names = nr_operands - 1;
	dir = strcmp(operands[0], "list") ? mpevt_dir(&e) : xstrdup("");
	if (!dir || tee_open(&m.tee, m.o->file, &e)) {
		free(dir);
		return log_err(&e);
	}
	m.dir = dir;
	if (run_verb(&m, operands[0], &e))
		status = log_err(&e);
	if (tee_close(&m.tee, &e))
		status = log_err(&e);
	mpevt_counts_release(&m.before);
	mpevt_counts_release(&m.now);
	free(dir);
	return status;
}

const struct command cmd_mpevt = {
	.name = "mpevt",
	.summary = "count events on all CPUs until stopped, even after this command has ended",
	.operands = "(list | start <event>... | (read | query | stop) [<event>...])",
	.opts = mpevt_table,
	.opts_size = sizeof(struct mpevt_opts),
	.run = mpevt_run,
};
