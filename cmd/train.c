// SPDX-License-Identifier: GPL-2.0-or-later
/* train.c - measures the cost of counting a call, by recording a program that does little else (train.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "calibrate/cost.h"
#include "callflow/area.h"
#include "cmd.h"
#include "jvm/inject.h"
#include "model/profile.h"
#include "train.h"
#include "train_trace.h"

enum { CALLS = 2000, MIN_TURNS = 20, RUNS = 7, TRACES = 3, AGREED = 2 };	/* CALLS: both trainers' */

extern char **environ;

const char *train_no_java(void)
{
	size_t len;

	if (!inject_possible())
		return "this arcprof has no JVM agent: there is none for this CPU yet";
	calibration_java_trainer(&len);
	return len ? NULL : "this arcprof was built without the class that is measured";
}

static int write_program(const struct training *t, struct err *e)
{
	size_t len;
	const void *bytes = t->java ? calibration_java_trainer(&len) : calibration_trainer(&len);
	int fd = open(t->program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700), r;

	if (fd < 0)
		return err_set(e, errno, "cannot create %s: %s", t->program, strerror(errno));
	r = io_write_all(fd, bytes, len);
	close(fd);
	return r ? err_set(e, -r, "cannot write %s: %s", t->program, strerror(-r)) : 0;
}

int train_start(struct training *t, const char *java, struct err *e)
{
	const char *why = java ? train_no_java() : NULL;

	*t = (struct training){ .java = java };
	if (why)
		return err_set(e, ENOTSUP, "%s", why);
	if (java && strlen(java) >= sizeof(t->command))
		return err_set(e, ENAMETOOLONG, "%s: name too long", java);
	snprintf(t->command, sizeof(t->command), "%s", java ? java : "");
	snprintf(t->dir, sizeof(t->dir), "/tmp/arcprof-calibrate.XXXXXX");
	if (!mkdtemp(t->dir)) {
		*t->dir = '\0';
		return err_set(e, errno, "cannot make a folder in /tmp: %s", strerror(errno));
	}
	snprintf(t->program, sizeof(t->program), "%s/%s", t->dir, java ? "Trainer.class" : "trainer");
	snprintf(t->trace, sizeof(t->trace), "%s/trace", t->dir);
	snprintf(t->output, sizeof(t->output), "%s/output", t->dir);
	snprintf(t->messages, sizeof(t->messages), "%s/messages", t->dir);
	return write_program(t, e);
}

void train_end(const struct training *t)
{
	char old[112];

	if (!*t->dir)
		return;
	snprintf(old, sizeof(old), "%s.old", t->trace);
	unlink(old);
	unlink(t->trace);
	unlink(t->output);
	unlink(t->messages);
	unlink(t->program);
	rmdir(t->dir);
}

/* --- recording --- */

static int run(const struct training *t, char **argv, int *status, struct err *e)
{
	posix_spawn_file_actions_t files;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, t->output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&files, 2, t->messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	r = posix_spawn(&pid, "/proc/self/exe", &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (r)
		return err_set(e, r, "cannot run arcprof record: %s", strerror(r));
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "arcprof record: %s", strerror(errno));
	return 0;
}

/* Print what the recorder and the program printed, to show what is wrong. */
static void pass_on_messages(const struct training *t)
{
	struct buf b = BUF_INIT;

	if (!io_slurp(t->messages, &b) && b.len)
		fwrite(b.data, 1, b.len, stderr);
	buf_release(&b);
}

enum { MAX_ARGS = 32 };

struct args {
	char *list[MAX_ARGS + 1];
	size_t nr;
};

static void add_arg(struct args *a, const char *arg)
{
	if (arg && a->nr < MAX_ARGS)
		a->list[a->nr++] = (char *)arg;
}

/* Add what starts the JVM: compiled code is there when it is asked for, and not some time later. */
static void add_jvm(struct args *a, const struct training *t)
{
	static const char alone[] = "-XX:CompileCommand=dontinline,Trainer::*";
	static const char *const options[CALIBRATION_NR_TIERS][2] = {
		[CALIBRATION_INTERPRETED] = { "-XX:CompileCommand=exclude,Trainer::*" },
		[CALIBRATION_C1] = { alone, "-XX:TieredStopAtLevel=1" },
		[CALIBRATION_C2] = { alone },
	};

	add_arg(a, t->command);
	add_arg(a, "-Xbatch");
	add_arg(a, "-XX:CompileCommand=quiet");
	add_arg(a, options[t->tier][0]);
	add_arg(a, options[t->tier][1]);
	add_arg(a, "-cp");
	add_arg(a, t->dir);
	add_arg(a, "Trainer");
}

/* Record as a user would. */
static int record(const struct training *t, const char *metrics, struct err *e)
{
	struct args a = { .list = {
		"arcprof", "record", "--quiet", t->java ? "--callflow=Trainer.*,-Trainer.bare_*" : "--callflow",
		"--metric", (char *)metrics, t->precise ? "--precise-time" : "--no-precise-time",
		t->events ? "--calltrace" : "--no-calltrace", t->tier ? "--call-tier" : "--no-call-tier",
		t->sites ? "--call-sites" : "--no-call-sites", "-o", (char *)t->trace, "--",
	} };
	int status, r;

	while (a.list[a.nr])
		a.nr++;
	if (t->java)
		add_jvm(&a, t);
	else
		add_arg(&a, t->program);
	add_arg(&a, t->verify ? "verify" : t->events ? "trace" :
		    t->tier == CALIBRATION_INTERPRETED ? "interpreted" : NULL);
	r = run(t, a.list, &status, e);

	if (r || !status)
		return r;
	pass_on_messages(t);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE)
		return err_set(e, EINVAL, "--metric=%s cannot be recorded", metrics);
	return err_set(e, EIO, "the recording%s%s failed", t->java ? " of " : "", t->command);
}

/* --- reading the tree --- */

/* A loop of calls of a function, in a turn. NULL: of one without hooks, which is part of the loop. */
struct loop {
	const char *name, *function;
};

static const struct loop trained[CALIBRATION_LOOPS] = {
	[LOOP_PLAIN_EMPTY] = { "plain_empty", NULL }, [LOOP_EMPTY] = { "hooked_empty", "empty" },
	[LOOP_PLAIN_CHAIN] = { "plain_chain", NULL }, [LOOP_CHAIN] = { "hooked_chain", "chain" },
	[LOOP_PLAIN_LONG] = { "plain_long", NULL }, [LOOP_LONG] = { "hooked_long", "long_chain" },
	[LOOP_PLAIN_STORES] = { "plain_stores", NULL }, [LOOP_STORES] = { "hooked_stores", "stores" },
	[LOOP_PLAIN_CALLER] = { "plain_caller", NULL }, [LOOP_CALLER] = { "hooked_caller", "empty" },
	[LOOP_PLAIN_THROWN] = { "plain_thrown", NULL }, [LOOP_THROWN] = { "hooked_thrown", "thrown" },
};

static bool is_named(const struct training *t, const struct model *m, uint32_t node, const char *name)
{
	const char *has = model_str(m, m->consumers.items[m->flow.nodes[node].consumer].name);
	const char *prefix = t->java ? "Trainer." : "";

	return !strncmp(has, prefix, strlen(prefix)) && !strcmp(has + strlen(prefix), name);
}

static uint32_t child_called(const struct training *t, const struct model *m, uint32_t parent,
			     const char *name)
{
	uint32_t c = m->flow.nodes[parent].child;

	while (c && !is_named(t, m, c, name))
		c = m->flow.nodes[c].sibling;
	return c;
}

/* Return the context of calls of that function, which is below that of a call site if there are such. */
static uint32_t child_named(const struct training *t, const struct model *m, uint32_t parent,
			    const char *name)
{
	uint32_t site, c = t->sites ? 0 : child_called(t, m, parent, name);

	for (site = m->flow.nodes[parent].child; t->sites && site && !c; site = m->flow.nodes[site].sibling)
		c = child_called(t, m, site, name);
	return c;
}

bool train_has_tier(const struct training *t, uint32_t kind)
{
	static const uint32_t kinds[CALIBRATION_NR_TIERS] = {
		[CALIBRATION_INTERPRETED] = CONSUMER_JAVA_INTERPRETED, [CALIBRATION_C1] = CONSUMER_JAVA_C1,
		[CALIBRATION_C2] = CONSUMER_JAVA_C2, [CALIBRATION_INLINED] = CONSUMER_JAVA_INLINED,
	};

	return !t->tier || kind == kinds[t->tier];
}

static uint32_t train_kind_of(const struct model *m, uint32_t node)
{
	return m->consumers.items[m->flow.nodes[node].consumer].kind;
}

/*
 * Find the contexts of a loop in a turn, and of the function that it calls. Return false if calls are
 * missing, or are of another tier.
 */
static bool find_loop(const struct training *t, const struct model *m, uint32_t turn, const struct loop *l,
		      uint32_t *loop, uint32_t *callee)
{
	*loop = child_named(t, m, turn, l->name);
	*callee = *loop && l->function ? child_named(t, m, *loop, l->function) : 0;
	return *loop && (!l->function || (*callee && m->flow.nodes[*callee].n == CALLS &&
					  train_has_tier(t, train_kind_of(m, *callee))));
}

static bool read_turn(const struct training *t, const struct model *m, uint32_t turn, unsigned int metric,
		      struct calibration_turn *out)
{
	const int nr_loops = t->java ? CALIBRATION_LOOPS : LOOP_PLAIN_THROWN;
	uint32_t loop, callee;
	int i;

	for (i = 0; i < nr_loops; i++) {
		struct calibration_looped *x = &out->of[i];

		if (!find_loop(t, m, turn, &trained[i], &loop, &callee))
			return false;
		x->within = callee ? flow_base(&m->flow, callee)[metric] : 0;
		x->site = callee && t->sites ? flow_base(&m->flow, m->flow.nodes[callee].parent)[metric] : 0;
		x->both = x->within + x->site + flow_base(&m->flow, loop)[metric];
	}
	return true;
}

/* Check whether recordings of these metrics count exits by exceptions. */
static bool knows_thrown(const struct model *m)
{
	unsigned int i;

	for (i = 0; i < m->flow.nr_metrics; i++)
		if (!strcmp(model_str(m, m->metrics[i].name), "thrown"))
			return true;
	return false;
}

/*
 * Check whether counting calls consumes of the metric: time, or what a counter counts. Of others loops with
 * hooks may have more, too, such as bytecodes, which are counted where hooks are.
 */
static bool costs_something(const struct model *m, unsigned int metric)
{
	const char *unit = model_str(m, m->metrics[metric].unit);

	return !strcmp(unit, "ns") || !strcmp(unit, "events");
}

static int derive(const struct training *t, const struct model *m, unsigned int metric,
		  struct calibration_cost *out, struct err *e)
{
	struct calibration_turn *turns = NULL;
	size_t nr = 0, alloc = 0, i;

	for (i = 1; i < m->flow.nr_nodes; i++) {
		if (!is_named(t, m, i, "turn"))
			continue;
		VEC_GROW(turns, nr, alloc);
		nr += read_turn(t, m, i, metric, &turns[nr]);
	}
	if (nr >= MIN_TURNS)
		calibration_derive(turns, nr, CALLS, t->precise, out);
	if (nr >= MIN_TURNS && t->java && knows_thrown(m))
		calibration_derive_thrown(turns, nr, CALLS, out);
	if (!costs_something(m, metric))
		*out = (struct calibration_cost){ 0 };
	free(turns);
	return nr >= MIN_TURNS ? 0 : err_set(e, ENODATA, "the measured program's calls are not in its trace");
}

/* what the runs found out about a set of metrics */
struct findings {
	char client[CALIBRATION_NAME];
	char names[CALLFLOW_MAX_METRICS][CALIBRATION_NAME], set[CALIBRATION_NAME];
	unsigned int nr_metrics;
	struct calibration_cost costs[CALLFLOW_MAX_METRICS][RUNS];
};

/* The last line that the JVM printed is its version. */
static int name_jvm(const struct training *t, const struct names *x, char *client, struct err *e)
{
	struct buf agent = BUF_INIT, b = BUF_INIT;
	char *version;
	uint64_t jvm = 0;
	size_t i;

	for (i = 0; i < x->nr_procs; i++)
		jvm = x->procs[i].jvm ? x->procs[i].jvm : jvm;
	if (!jvm)
		return err_set(e, ENODATA, "%s started no JVM", t->command);
	inject_build_id(&agent);
	io_slurp(t->output, &b);
	while (b.len && b.data[b.len - 1] == '\n')
		b.data[--b.len] = '\0';
	version = b.len ? strrchr(b.data, '\n') : NULL;
	calibration_java(client, agent.data, jvm, version ? version + 1 : b.len ? b.data : "?");
	buf_release(&agent);
	buf_release(&b);
	return 0;
}

static int read_run(const struct training *t, struct findings *f, int run, struct err *e)
{
	struct profile_opts po = { .names = { .hide_inlined = true, .by_kind = t->tier } };
	struct calibration_cost of_events[CALL_MAX_METRICS] = { 0 };
	struct origin origin = { 0 };
	struct trace_reader *reader = NULL;
	struct names x = { 0 };
	struct model m = { 0 };
	unsigned int i;
	int r = trace_reader_open(&reader, t->trace, e);

	if (r)
		return r;
	r = profile_read(&x, &m, &origin, reader, &po, e);
	if (!r && t->java)
		r = name_jvm(t, &x, f->client, e);
	else
		calibration_hookit(f->client);
	if (!r && t->events)
		r = train_read_trace(t, reader, CALLS, of_events, e);
	*f->set = '\0';
	f->nr_metrics = r ? 0 : m.flow.nr_metrics;
	for (i = 0; i < f->nr_metrics && !r; i++) {
		snprintf(f->names[i], CALIBRATION_NAME, "%s", model_str(&m, m.metrics[i].name));
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), "%s%s", i ? "," : "",
			 f->names[i]);
		if (t->events)
			f->costs[i][run] = of_events[i];
		else
			r = derive(t, &m, i, &f->costs[i][run], e);
	}
	if (t->precise)
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), "%s",
			 CALIBRATION_PRECISE);
	if (t->events)
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), "%s", CALIBRATION_TRACE);
	if (t->sites)
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), "%s", CALIBRATION_SITES);
	if (t->tier)
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), " %s",
			 calibration_tier_name(t->tier));
	names_release(&x);
	model_release(&m);
	trace_reader_close(reader);
	return r;
}

/* --- all runs together --- */

static bool same_cost(const struct calibration_cost *a, const struct calibration_cost *b)
{
	return a->within + a->between + a->site == b->within + b->between + b->site;
}

/* The first runs say the same of every metric: counters that are exact. */
static bool agree(const struct findings *f)
{
	unsigned int i;
	int run;

	for (i = 0; i < f->nr_metrics; i++)
		for (run = 1; run < AGREED; run++)
			if (!same_cost(&f->costs[i][0], &f->costs[i][run]))
				return false;
	return true;
}

static void conclude(struct training *t, struct findings *f, int nr_runs, bool accept,
		     struct calibration *table)
{
	const char *whose = t->java ? "Java methods" : "native functions";
	struct calibration_row row = { .client = "" };
	unsigned int i;

	snprintf(row.client, sizeof(row.client), "%s", f->client);
	calibration_cpu(row.cpu);
	calibration_environment(row.environment);
	snprintf(row.metrics, sizeof(row.metrics), "%s", f->set);
	for (i = 0; i < f->nr_metrics; i++) {
		snprintf(row.metric, sizeof(row.metric), "%s", f->names[i]);
		row.cost = calibration_cheapest(f->costs[i], nr_runs);
		row.used = accept || row.cost.spread <= CALIBRATION_STABLE;
		if (row.cost.spread > CALIBRATION_UNCERTAIN) {
			log_warn("%s of %s, of %s: not kept: the runs differ by more than a call costs", row.metric,
				 row.metrics, whose);
		} else if (!calibration_offer(table, &row)) {
			log_warn("%s of %s, of %s: not used: the runs differ by %" PRIu64 " %%, and %d %% is the most", row.metric,
				 row.metrics, whose, row.cost.spread / 10, CALIBRATION_STABLE / 10);
		} else {
			continue;
		}
		t->nr_refused++;
	}
}

int train_set(struct training *t, const char *metrics, bool accept, struct calibration *table, struct err *e)
{
	const int nr_runs = t->events ? TRACES : RUNS;
	struct progress progress;
	char what[64];
	struct findings f;
	int run, r = 0;

	snprintf(what, sizeof(what), "measuring %s%s%s", t->java ? "Java methods" : "native functions",
		 t->tier ? ", " : "", calibration_tier_name(t->tier));
	progress_start(&progress, what, nr_runs);
	for (run = 0; run < nr_runs && !r && !(run == AGREED && agree(&f)); run++) {
		r = record(t, metrics, e);
		if (!r)
			r = read_run(t, &f, run, e);
		progress_update(&progress, run);
	}
	progress_end(&progress);
	if (!r)
		conclude(t, &f, run, accept, table);
	return r;
}

/* --- verifying --- */

/* The value of a metric that the model has beside the first: "delta" or "doubt" of it. */
static uint64_t beside(const struct model *m, size_t node, const char *what)
{
	char name[160];
	unsigned int i;

	snprintf(name, sizeof(name), "%s.%s", model_str(m, m->metrics[0].name), what);
	for (i = 1; i < m->flow.nr_metrics; i++)
		if (!strcmp(model_str(m, m->metrics[i].name), name))
			return flow_base(&m->flow, node)[i];
	return 0;
}

/* The times of calls of one length, a sum for each turn. */
struct lasting {
	int64_t *own;			/* without hooks */
	int64_t *more, *left;		/* above that, as measured and as calibrated */
	uint64_t base, delta, doubt;	/* of all turns */
	size_t nr;
};

/* Return what a loop took in a turn as measured: with what calibration subtracts from it. */
static int64_t measured(const struct model *m, uint32_t node)
{
	return flow_base(&m->flow, node)[0] + beside(m, node, "delta");
}

/* Add what the turn says of a length: nothing, if it lacks one of the loops. */
static void read_length(const struct training *t, const struct model *m, uint32_t turn, const char *length,
			struct lasting *out)
{
	char plain[32], hooked[32];
	uint32_t empty, loop, callee, none;
	int64_t own;

	snprintf(plain, sizeof(plain), "plain_%s", length);
	snprintf(hooked, sizeof(hooked), "hooked_%s", length);
	if (!find_loop(t, m, turn, &(struct loop){ "plain_empty", NULL }, &empty, &none) ||
	    !find_loop(t, m, turn, &(struct loop){ plain, NULL }, &loop, &none))
		return;
	own = measured(m, loop) - measured(m, empty);
	if (!find_loop(t, m, turn, &(struct loop){ hooked, length }, &loop, &callee))
		return;
	out->own[out->nr] = own;
	out->more[out->nr] = measured(m, callee) - own;
	out->left[out->nr] = (int64_t)flow_base(&m->flow, callee)[0] - own;
	out->nr++;
	out->base += flow_base(&m->flow, callee)[0];
	out->delta += beside(m, callee, "delta");
	out->doubt += beside(m, callee, "doubt");
}

static int look_at_length(const struct training *t, const struct model *m, struct train_length *l,
			  struct err *e)
{
	size_t nr = m->flow.nr_nodes, i;
	struct lasting x = { .own = xcalloc(3 * nr, sizeof(*x.own)) };
	char length[24];

	x.more = x.own + nr;
	x.left = x.more + nr;
	snprintf(length, sizeof(length), "%s_%u", l->work, l->steps);
	for (i = 1; i < nr; i++)
		if (is_named(t, m, i, "lengths"))
			read_length(t, m, i, length, &x);
	if (x.nr >= MIN_TURNS) {
		l->own = (double)calibration_median(x.own, x.nr) / CALLS;
		l->measured = l->own + (double)calibration_median(x.more, x.nr) / CALLS;
		l->calibrated = l->own + (double)calibration_median(x.left, x.nr) / CALLS;
		l->marked = (x.delta && x.delta >= x.base) || (x.doubt && x.doubt >= x.base);
	}
	free(x.own);
	return x.nr >= MIN_TURNS ? 0 : err_set(e, ENODATA, "the measured program's calls are not in its trace");
}

static int look_at_lengths(const struct training *t, struct train_length *out, struct err *e)
{
	static const struct train_length lengths[TRAIN_LENGTHS] = {	/* as the trainers */
		{ "chain", 8 }, { "chain", 25 }, { "chain", 75 }, { "chain", 250 }, { "chain", 750 },
		{ "stores", 20 }, { "stores", 60 }, { "stores", 200 }, { "stores", 600 }, { "stores", 2000 },
	};
	struct profile_opts po = { .names = { .hide_inlined = true }, .calibrate = true, .deltas = true };
	struct origin origin = { 0 };
	struct trace_reader *reader = NULL;
	struct names x = { 0 };
	struct model m = { 0 };
	int i, r = trace_reader_open(&reader, t->trace, e);

	if (r)
		return r;
	r = profile_read(&x, &m, &origin, reader, &po, e);
	if (!r && (!origin.calibration || strncmp(origin.calibration, "calibrated", 10)))
		r = err_set(e, ENODATA, "nothing to verify: %s",
			    origin.calibration ? origin.calibration : "the metric is not calibrated");
	for (i = 0; i < TRAIN_LENGTHS && !r; i++) {
		out[i] = lengths[i];
		r = look_at_length(t, &m, &out[i], e);
	}
	names_release(&x);
	model_release(&m);
	trace_reader_close(reader);
	return r;
}

int train_verify(struct training *t, const char *metric, struct train_length out[static TRAIN_LENGTHS],
		 struct err *e)
{
	int r;

	t->verify = true;
	r = record(t, metric, e);
	return r ? r : look_at_lengths(t, out, e);
}
