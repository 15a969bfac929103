// SPDX-License-Identifier: GPL-2.0-or-later
/* ptt.c - "arcprof ptt": what each thread consumed, with interrupts set apart. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/spawn.h"
#include "cmd.h"
#include "pmu/mpevt.h"
#include "ptt/ptt.h"
#include "report/format.h"
#include "show/ptt.h"

enum { NS_PER_MS = 1000000, MIN_SLOTS = 64, MAX_SLOTS = 65536 };

struct ptt_opts {
	struct opt_list events, pids, metrics;
	const char *backend, *sort, *file;
	uint64_t threads, interval_ns, duration_ns;
	bool noints, all_users, alive, cpi, cpus;
	struct sheet_choice choice;
	int format;
};

#define O struct ptt_opts
static const struct opt ptt_table[] = {
	OPT_GROUP("With init and run"),
	OPT_LIST_OF('e', "event", O, events, pmu_event_generic, "event", "also count these events; init takes them as arguments as well"),
	OPT_FLAG(0, "noints", O, noints, "charge interrupts to the thread they hit"),
	OPT_STR(0, "backend", O, backend, "name", NULL, "bpf, module or proc (default: the best that works)"),
	OPT_COUNT(0, "threads", O, threads, "n", "16384", "number of threads to make room for; new threads replace ended ones"),
	OPT_FLAG(0, "all-users", O, all_users, "let other users read the session"),
	OPT_GROUP("With init and dump"),
	OPT_LIST('p', "pid", O, pids, "pid", "only these processes; with init, also their future children"),
	OPT_GROUP("With dump"),
	OPT_SPAN('t', "interval", O, interval_ns, "time", NULL, "show what was consumed at this interval"),
	OPT_SPAN('d', "duration", O, duration_ns, "time", NULL, "with --interval: stop after this long"),
	OPT_OLD_SPAN('r', "run", O, duration_ns),
	OPT_FLAG(0, "alive", O, alive, "hide threads that have ended"),
	OPT_GROUP("With dump and run"),
	OPT_STR('s', "sort", O, sort, "key", "task-clock", "sort by pid, tid, name, or a metric, largest first"),
	OPT_LIST(0, "metric", O, metrics, "metric", "show only these metrics"),
	OPT_COLUMNS(O, choice),
	OPT_FLAG(0, "cpi", O, cpi, "show cycles per instruction, if the session counts both"),
	OPT_FLAG(0, "cpus", O, cpus, "also show where the time of each CPU went"),
	OPT_STR('f', "file", O, file, "file", NULL, "also print to <file>"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_END
};
#undef O

struct request {			/* a session to begin, from option texts */
	struct ptt_config c;
	struct pmu_event counters[PTT_MAX_COUNTERS];
	int *pids;
};

/* ---- beginning a session ---- */

static int parse_pids(const struct opt_list *l, int **out, struct err *e)
{
	size_t i;

	*out = xcalloc(l->nr_items + 1, sizeof(**out));
	for (i = 0; i < l->nr_items; i++) {
		char *end;
		long v = strtol(l->items[i], &end, 10);

		if (*end || end == l->items[i] || v <= 0 || v > INT32_MAX)
			return err_set(e, EINVAL, "--pid: '%s' is not a number of a process", l->items[i]);
		(*out)[i] = v;
	}
	return 0;
}

static int check_pids(const struct opt_list *l, struct err *e)
{
	char path[64];
	size_t i;

	for (i = 0; i < l->nr_items; i++) {
		snprintf(path, sizeof(path), "/proc/%s/task", l->items[i]);
		if (access(path, F_OK))
			return err_set(e, ESRCH, "--pid: no process %s", l->items[i]);
	}
	return 0;
}

/* Add an event; one that cannot be counted is left out with a message, and the rest measured. */
static int ptt_add_event(struct request *q, const char *name, struct err *e)
{
	struct pmu_event *ev = &q->counters[q->c.nr_counters];
	struct err why = { 0 };
	int r;

	if (ptt_field_named(name) >= 0)		/* measured anyway */
		return 0;
	if (q->c.nr_counters == PTT_MAX_COUNTERS)
		return err_set(e, E2BIG, "'%s' is one event too many (at most %d besides the time)", name,
			       PTT_MAX_COUNTERS);
	r = pmu_event_parse(name, ev, e);
	if (r)
		return r;
	if (mpevt_try(name, &why)) {
		log_warn("n/a: %s", why.msg);
		if (why.hint[0])
			log_hint("%s", why.hint);
		return 0;
	}
	q->c.nr_counters++;
	return 0;
}

static int fill_request(struct request *q, const struct ptt_opts *o, int nr_names, char **names,
			struct err *e)
{
	size_t i;
	int k, r = 0;

	q->c.backend = o->backend;
	q->c.nr_slots = o->threads + 1;
	q->c.interrupts = !o->noints;
	q->c.all_users = o->all_users;
	q->c.counters = q->counters;
	if (o->threads < MIN_SLOTS || o->threads >= MAX_SLOTS)
		return err_set(e, EINVAL, "--threads: from %d to %d", MIN_SLOTS, MAX_SLOTS - 1);
	for (i = 0; i < o->events.nr_items && !r; i++)
		r = ptt_add_event(q, o->events.items[i], e);
	for (k = 0; k < nr_names && !r; k++)
		r = ptt_add_event(q, names[k], e);
	return r;
}

static void say_limits(const struct ptt_backend *b, const struct request *q, const struct err *why)
{
	if (why->msg[0])
		log_info("not better, because: %s", why->msg);
	if (why->hint[0])
		log_hint("%s", why->hint);
	if (!b->counts_events && q->c.nr_counters)
		log_warn("events are n/a: '%s' does not count them", b->name);
}

static void say_started(const struct ptt_backend *b, const struct request *q, const struct err *why)
{
	log_info("measuring %s with %s", q->c.nr_pids ? "these processes" : "all threads", b->name);
	say_limits(b, q, why);
}

static int do_init(const struct ptt_opts *o, int nr_names, char **names)
{
	const struct ptt_backend *b = NULL;
	struct request q = { 0 };
	struct err e = { 0 };
	int r = fill_request(&q, o, nr_names, names, &e), status = 0;

	if (!r)
		r = parse_pids(&o->pids, &q.pids, &e);
	if (!r)
		r = check_pids(&o->pids, &e);
	if (r) {
		log_err(&e);
		status = EXIT_USAGE;
	}
	q.c.pids = q.pids;
	q.c.nr_pids = o->pids.nr_items;
	if (!r && ptt_start(&q.c, &b, &e))
		status = log_err(&e);
	else if (!r)
		say_started(b, &q, &e);
	free(q.pids);
	return status;
}

/* ---- showing ---- */

static int set_up_show(struct ptt_show *sh, const struct ptt_opts *o, struct ptt *p,
		       const struct ptt_snapshot *s, struct err *e)
{
	sh->format = o->format;
	sh->choice = o->choice;
	sh->cpi = o->cpi;
	sh->cpus = o->cpus;
	sh->alive = o->alive;
	return ptt_show_init(sh, p, s, &o->metrics, o->sort, e);
}

static int repeat(struct ptt_show *sh, const struct ptt_opts *o, struct ptt *p, struct tee *tee,
		  struct ptt_snapshot *before, struct err *e)
{
	struct ptt_snapshot now = { 0 }, diff = { 0 };
	uint64_t end_ns, next_ns;
	bool over = false;
	struct ticker t;
	int r = 0;

	ticker_init(&t, false);
	end_ns = o->duration_ns ? t.start_ns + o->duration_ns : UINT64_MAX;
	while (!r && !over && !ferror(stdout)) {
		struct ptt_snapshot spare = *before;

		next_ns = ticker_next(&t, o->interval_ns, clock_mono_ns());
		if (ticker_wait(&t, MIN(next_ns, end_ns)))
			break;
		over = clock_mono_ns() >= end_ns;
		r = ptt_read(p, &now, e);
		if (r)
			break;
		ptt_snapshot_copy(&diff, &now);
		ptt_snapshot_diff(&diff, before);
		ptt_show_snapshot(sh, &diff);
		tee_flush(tee);
		*before = now;
		now = spare;
	}
	ticker_release(&t);
	ptt_snapshot_release(&now);
	ptt_snapshot_release(&diff);
	return r;
}

static int ptt_show_report(const struct ptt_opts *o, struct ptt *p, struct ptt_show *sh,
			   struct ptt_snapshot *s, struct err *e)
{
	struct tee tee;
	int r = set_up_show(sh, o, p, s, e), closed;

	if (r)
		return r;
	r = tee_open(&tee, o->file, e);
	if (r)
		return r;
	sh->out = tee.out;
	ptt_show_start(sh);
	if (o->interval_ns)
		r = repeat(sh, o, p, &tee, s, e);
	else
		ptt_show_snapshot(sh, s);
	ptt_show_end(sh);
	if (r)
		tee_close(&tee, &(struct err){ 0 });
	closed = r ? 0 : tee_close(&tee, e);
	return r ? r : closed;
}

static int do_dump(const struct ptt_opts *o)
{
	struct ptt_snapshot s = { 0 };
	struct ptt_show sh = { 0 };
	struct err e = { 0 };
	int *pids = NULL, status = 0;
	struct ptt p;

	if (parse_pids(&o->pids, &pids, &e)) {
		log_err(&e);
		free(pids);
		return EXIT_USAGE;
	}
	sh.pids = pids;
	sh.nr_pids = o->pids.nr_items;
	if (ptt_open(&p, &e)) {
		status = log_err(&e);
	} else {
		if (ptt_read(&p, &s, &e) || ptt_show_report(o, &p, &sh, &s, &e))
			status = log_err(&e);
		ptt_close(&p);
	}
	ptt_show_release(&sh);
	ptt_snapshot_release(&s);
	free(pids);
	return status;
}

/* ---- info, term ---- */

static void print_info(const struct ptt *p, const struct ptt_snapshot *s)
{
	char name[PTT_NAME_LEN];
	size_t i, alive = 0;
	int f;

	for (i = 0; i < s->nr_threads; i++)
		alive += s->threads[i].alive;
	printf("Back end:    %s\n", p->backend->name);
	printf("Running for: %.3f s\n", s->session_ns / 1e9);
	printf("Threads:     %zu alive, %zu ended, %" PRIu64 " ended before and no longer listed\n", alive,
	       s->nr_threads - alive, s->nr_gone);
	if (s->nr_refused)
		printf("Missing:     %" PRIu64 " dispatches of threads without a place; see --threads\n",
		       s->nr_refused);
	printf("Metrics:    ");
	for (f = 0; f < PTT_COUNTER; f++)
		if (s->known & 1u << f)
			printf(" %s", ptt_field_name(f));
	for (i = 0; p->backend->counter(p->session, i, name, sizeof(name)); i++)
		printf(" %s", name);
	printf("\nInterrupts:  %s\n", s->known & 1u << PTT_IRQ_TIME ? "set apart" : "in the threads' time");
}

static void print_backends(void)
{
	size_t i;

	for (i = 0; ptt_backends[i]; i++) {
		struct err e = { 0 };

		if (!ptt_backends[i]->check(&e))
			printf("  %-7s works here\n", ptt_backends[i]->name);
		else
			printf("  %-7s n/a: %s\n", ptt_backends[i]->name, e.msg);
	}
}

static int do_info(void)
{
	struct ptt_snapshot s = { 0 };
	struct err e = { 0 };
	int status = 0, r;
	struct ptt p;

	r = ptt_open(&p, &e);
	if (r == -ENOENT) {
		printf("No session is running.  Back ends:\n");
		print_backends();
		return 0;
	}
	if (r)
		return log_err(&e);
	if (ptt_read(&p, &s, &e))
		status = log_err(&e);
	else
		print_info(&p, &s);
	ptt_close(&p);
	ptt_snapshot_release(&s);
	return status;
}

static int do_term(void)
{
	struct err e = { 0 };

	return ptt_stop(&e) ? log_err(&e) : 0;
}

/* ---- run ---- */

/*
 * Waits until the program is gone but for its remains, which /proc still shows.  The first signal is
 * passed on to it unless the terminal did, a second one ends the wait.
 */
static void ptt_wait_for(const struct spawn *child, struct ticker *t)
{
	bool forwarded = false;
	siginfo_t info = { 0 };
	int sig;

	while (!waitid(P_PID, child->pid, &info, WEXITED | WNOWAIT | WNOHANG) && !info.si_pid) {
		sig = ticker_wait(t, UINT64_MAX);
		if (sig == SIGCHLD)
			continue;
		if (forwarded) {
			kill(child->pid, SIGTERM);
			continue;
		}
		forwarded = true;
		if (t->last.si_code != SI_KERNEL)
			kill(child->pid, sig);
	}
}

/* Add what "proc" cannot see any more: threads and children that ended before the program did. */
static void add_ended(struct ptt_snapshot *s, const struct rusage *u)
{
	uint64_t all = ((uint64_t)u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000 +
		       ((uint64_t)u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
	size_t i;

	for (i = 0; i < s->nr_threads; i++)
		all -= MIN(all, s->threads[i].v[PTT_TIME]);
	s->gone[PTT_TIME] = all;
}

/* Lets the program run in the session that was begun for it; *status is what it ended with. */
static int run_in_session(const struct ptt_opts *o, struct spawn *child, char **argv, struct ticker *t,
			  int *status, struct err *e)
{
	struct ptt_snapshot s = { 0 };
	struct ptt_show sh = { .all_ended = true };
	struct rusage usage = { 0 };
	struct ptt p;
	int r = ptt_open(&p, e);

	if (r)
		return r;
	r = spawn_go(child, argv[0], e);
	if (!r) {
		ptt_wait_for(child, t);
		r = ptt_read(&p, &s, e);
		wait4(child->pid, status, 0, &usage);
		child->pid = 0;
		if (!p.backend->counts_events)
			add_ended(&s, &usage);
	} else {
		child->pid = 0;
	}
	ptt_stop(&(struct err){ 0 });
	if (!r)
		r = ptt_show_report(o, &p, &sh, &s, e);
	ptt_close(&p);
	ptt_show_release(&sh);
	ptt_snapshot_release(&s);
	return r;
}

static int run_program(const struct ptt_opts *o, struct request *q, char **argv, struct err *e)
{
	const struct ptt_backend *b;
	struct err why = { 0 };
	struct spawn child;
	struct ticker t;
	int status = 0, r, pid;

	if (spawn_start(&child, argv, e)) {
		log_err(e);
		return EXIT_ARCPROF_FAILED;
	}
	pid = child.pid;
	q->c.pids = &pid;
	q->c.nr_pids = 1;
	ticker_init(&t, true);
	r = ptt_start(&q->c, &b, &why);
	if (r) {
		*e = why;
	} else {
		say_limits(b, q, &why);
		r = run_in_session(o, &child, argv, &t, &status, e);
		if (r && child.pid)
			ptt_stop(&(struct err){ 0 });
	}
	if (child.pid) {
		kill(child.pid, SIGKILL);
		waitpid(child.pid, NULL, 0);
	}
	ticker_release(&t);
	if (!r)
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	log_err(e);
	return command_failure(e);
}

static int do_run(const struct ptt_opts *o, char **argv)
{
	struct request q = { 0 };
	struct err e = { 0 };

	if (fill_request(&q, o, 0, NULL, &e)) {
		log_err(&e);
		return EXIT_USAGE;
	}
	return run_program(o, &q, argv, &e);
}

/* ---- the verbs ---- */

enum verb { VERB_INIT, VERB_DUMP, VERB_INFO, VERB_TERM, VERB_RUN, NR_VERBS };
static const char *const verbs[] = { "init", "dump", "info", "term", "run" };

static int check_usage(const struct ptt_opts *o, int nr, char **operands, enum verb *verb, struct err *e)
{
	int v = 0;

	while (nr && v < NR_VERBS && strcmp(operands[0], verbs[v]))
		v++;
	if (!nr || v == NR_VERBS)
		return err_set(e, EINVAL, "init, dump, info, term or run comes first");
	*verb = v;
	if (nr > 1 && v != VERB_INIT && v != VERB_RUN)
		return err_set(e, EINVAL, "%s takes no argument '%s'", verbs[v], operands[1]);
	if (nr == 1 && v == VERB_RUN)
		return err_set(e, EINVAL, "run needs a program");
	if ((o->interval_ns || o->duration_ns) && v != VERB_DUMP)
		return err_set(e, EINVAL, "--interval and --duration are only valid with dump");
	if (o->duration_ns && !o->interval_ns)
		return err_set(e, EINVAL, "--duration needs --interval");
	if (o->interval_ns && o->interval_ns < NS_PER_MS)
		return err_set(e, EINVAL, "--interval: at least 1 ms");
	if (o->pids.nr_items && v != VERB_INIT && v != VERB_DUMP)
		return err_set(e, EINVAL, "--pid is only valid with init and dump");
	if (o->alive && v != VERB_DUMP)
		return err_set(e, EINVAL, "--alive is only valid with dump");
	if ((o->events.nr_items || o->backend || o->all_users || o->noints) && v != VERB_INIT &&
	    v != VERB_RUN)
		return err_set(e, EINVAL, "--event, --backend, --all-users and --noints are only valid with init and run");
	return 0;
}

static int ptt_run(void *opts, int nr_operands, char **operands)
{
	const struct ptt_opts *o = opts;
	struct err e = { 0 };
	enum verb verb = NR_VERBS;

	if (check_usage(o, nr_operands, operands, &verb, &e)) {
		log_err(&e);
		return EXIT_USAGE;
	}
	switch (verb) {
	case VERB_INIT:
		return do_init(o, nr_operands - 1, operands + 1);
	case VERB_DUMP:
		return do_dump(o);
	case VERB_INFO:
		return do_info();
	case VERB_TERM:
		return do_term();
	default:
		return do_run(o, operands + 1);
	}
}

const struct command cmd_ptt = {
	.name = "ptt",
	.summary = "show what each thread consumed, with interrupts set apart",
	.operands = "(init [<event>...] | dump | info | term | run [--] <program>...)",
	.opts = ptt_table,
	.opts_size = sizeof(struct ptt_opts),
	.run = ptt_run,
};
