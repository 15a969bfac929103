// SPDX-License-Identifier: GPL-2.0-or-later
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
#include "callflow/area.h"
#include "cmd.h"
#include "jvm/inject.h"
#include "model/profile.h"
#include "train.h"

enum { CALLS = 10000, MIN_REPETITIONS = 20, RUNS = 7, AGREED = 2 };	/* CALLS: both trainers' */

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

/* What the recorder and the program said, for the user to see what is wrong. */
static void pass_on_messages(const struct training *t)
{
	struct buf b = BUF_INIT;

	if (!io_slurp(t->messages, &b) && b.len)
		fwrite(b.data, 1, b.len, stderr);
	buf_release(&b);
}

/* Just as a user's recording is made. */
static int record(const struct training *t, const char *metrics, struct err *e)
{
	char *verify = t->verify ? "verify" : NULL;
	char *argv[] = {
		"arcprof", "record", "--quiet", t->java ? "--callflow=Trainer.*,-Trainer.bare_*" : "--callflow",
		"--metric", (char *)metrics, t->precise ? "--precise-time" : "--no-precise-time", "-o",
		(char *)t->trace, "--",
		t->java ? (char *)t->command : (char *)t->program,
		/* compiled code is there when it is asked for, and not some time later */
		t->java ? "-Xbatch" : verify, t->java ? "-cp" : NULL, (char *)t->dir, "Trainer", verify, NULL
	};
	int status, r = run(t, argv, &status, e);

	if (r || !status)
		return r;
	pass_on_messages(t);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_USAGE)
		return err_set(e, EINVAL, "--metric=%s cannot be recorded", metrics);
	return err_set(e, EIO, "the recording%s%s failed", t->java ? " of " : "", t->command);
}

/* --- reading the tree --- */

/* Of 10,000 calls: in them and their caller together, and in them alone. */
struct repetition {
	uint64_t both, within;
};

struct repetitions {
	struct repetition *items;
	size_t nr, alloc;
};

/* A function, and who calls it many times; NULL: it is looked at for itself. */
struct trained {
	const char *function, *caller;
};

static bool is_named(const struct training *t, const struct model *m, uint32_t node, const char *function)
{
	const char *name = model_str(m, m->consumers.items[m->flow.nodes[node].consumer].name);
	const char *prefix = t->java ? "Trainer." : "";

	return !strncmp(name, prefix, strlen(prefix)) && !strcmp(name + strlen(prefix), function);
}

/* The contexts of a function, each a repetition; with those of its caller, when calls are looked for. */
static void gather(const struct training *t, const struct model *m, struct trained what, unsigned int metric,
		   struct repetitions *out)
{
	const struct flow *f = &m->flow;
	size_t i;

	out->nr = 0;
	for (i = 1; i < f->nr_nodes; i++) {
		const struct flow_node *n = &f->nodes[i];
		uint64_t base = flow_base(f, i)[metric];

		if (!is_named(t, m, i, what.function) ||
		    (what.caller && (n->n != CALLS || !is_named(t, m, n->parent, what.caller))))
			continue;
		VEC_GROW(out->items, out->nr, out->alloc);
		out->items[out->nr++] = (struct repetition){
			base + (what.caller ? flow_base(f, n->parent)[metric] : 0), base
		};
	}
}

static int compare_repetitions(const void *p, const void *q)
{
	const struct repetition *a = p, *b = q;

	return a->both < b->both ? -1 : a->both > b->both;
}

/*
 * The lowest tenth's upper end. The lowest of all would be too low: a clock that was set right
 * after the hypervisor took the CPU stands still for a while.
 */
static struct repetition lowest(struct repetitions *c)
{
	qsort(c->items, c->nr, sizeof(*c->items), compare_repetitions);
	return c->items[c->nr / 10];
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * What calls took with hooks less what they took without. How it is split between callee and caller
 * is uncertain where a processor still does the callee's work when the caller's time has begun: what both
 * have together is kept.
 */
static struct calibration_cost cost_of(const struct repetition *hooked, uint64_t plain, uint64_t body)
{
	uint64_t both = above(hooked->both, plain), within = MIN(above(hooked->within, body), both);

	return (struct calibration_cost){
		.within = within / (CALLS / 1000), .between = (both - within) / (CALLS / 1000),
	};
}

enum { PLAIN_EMPTY, EMPTY, PLAIN_CHAIN, CHAIN, PLAIN_LONG, LONG, PLAIN_CALLER, CALLER, NR_TRAINED };

static const struct trained trained[NR_TRAINED] = {
	[PLAIN_EMPTY] = { "plain_empty", NULL }, [EMPTY] = { "empty", "hooked_empty" },
	[PLAIN_CHAIN] = { "plain_chain", NULL }, [CHAIN] = { "chain", "hooked_chain" },
	[PLAIN_LONG] = { "plain_long", NULL }, [LONG] = { "long_chain", "hooked_long" },
	[PLAIN_CALLER] = { "plain_caller", NULL }, [CALLER] = { "empty", "hooked_caller" },
};

/*
 * Of two bodies, the one whose calls cost less: that is what hooks cost at least. A call of any length may
 * keep the difference, and lack what of a chain was not done yet when its exit was read: five percent
 * is what that may be of it.
 */
static struct calibration_cost usual_cost(const struct repetition *low)
{
	uint64_t body = above(low[PLAIN_CHAIN].both, low[PLAIN_EMPTY].both);
	uint64_t long_body = above(low[PLAIN_LONG].both, low[PLAIN_EMPTY].both);
	uint64_t missing = MAX(above(body, low[CHAIN].within), above(long_body, low[LONG].within));
	struct calibration_cost a = cost_of(&low[EMPTY], low[PLAIN_EMPTY].both, 0);
	struct calibration_cost b = cost_of(&low[CHAIN], low[PLAIN_CHAIN].both, body);
	struct calibration_cost out = b.within + b.between < a.within + a.between ? b : a;
	uint64_t differ = distance(a.within + a.between, b.within + b.between);

	out.doubt = 20 * MAX(differ, missing / (CALLS / 1000));
	return out;
}

/*
 * With precise time, hooks overlap only with the work behind them. So the cost is that in a function which
 * has some, and in a caller which has. As long as both together, and twice by how much they disagree with an
 * empty one: no call that is as long keeps a part of it.
 */
static struct calibration_cost precise_cost(const struct repetition *low)
{
	uint64_t body = above(low[PLAIN_CHAIN].both, low[PLAIN_EMPTY].both);
	struct calibration_cost a = cost_of(&low[EMPTY], low[PLAIN_EMPTY].both, 0);
	struct calibration_cost out = {
		.within = above(low[CHAIN].within, body) / (CALLS / 1000),
		.between = above(low[CALLER].both - low[CALLER].within, low[PLAIN_CALLER].both) /
			   (CALLS / 1000),
	};

	out.doubt = MAX(out.within + out.between, 2 * MAX(distance(a.within, out.within),
							   distance(a.between, out.between)));
	return out;
}

static int derive(const struct training *t, const struct model *m, unsigned int metric,
		  struct calibration_cost *out, struct err *e)
{
	struct repetition low[NR_TRAINED];
	struct repetitions c = { 0 };
	int i;

	for (i = 0; i < NR_TRAINED; i++) {
		gather(t, m, trained[i], metric, &c);
		if (c.nr < MIN_REPETITIONS) {
			free(c.items);
			return err_set(e, ENODATA, "the measured program's calls are not in its trace");
		}
		low[i] = lowest(&c);
	}
	free(c.items);
	*out = t->precise ? precise_cost(low) : usual_cost(low);
	return 0;
}

/* What the runs said of a set of metrics. */
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
	struct profile_opts po = { .names = { .hide_inlined = true } };
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
	*f->set = '\0';
	f->nr_metrics = r ? 0 : m.flow.nr_metrics;
	for (i = 0; i < f->nr_metrics && !r; i++) {
		snprintf(f->names[i], CALIBRATION_NAME, "%s", model_str(&m, m.metrics[i].name));
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), "%s%s", i ? "," : "",
			 f->names[i]);
		r = derive(t, &m, i, &f->costs[i][run], e);
	}
	if (t->precise)
		snprintf(f->set + strlen(f->set), CALIBRATION_NAME - strlen(f->set), "%s",
			 CALIBRATION_PRECISE);
	names_release(&x);
	model_release(&m);
	trace_reader_close(reader);
	return r;
}

/* --- all runs together --- */

static int compare_costs(const void *p, const void *q)
{
	const struct calibration_cost *a = p, *b = q;
	uint64_t x = a->within + a->between, y = b->within + b->between;

	return x < y ? -1 : x > y;
}

/* The first runs say the same of every metric: counters that are exact. */
static bool agree(const struct findings *f)
{
	unsigned int i;
	int run;

	for (i = 0; i < f->nr_metrics; i++)
		for (run = 1; run < AGREED; run++)
			if (compare_costs(&f->costs[i][0], &f->costs[i][run]) != 0)
				return false;
	return true;
}

/*
 * The cheapest run is what counts; the one in the middle says how far that can be relied on: a program's
 * calls may cost as much more, and five percent is what that may be of them.
 */
static void conclude(struct training *t, struct findings *f, int nr_runs, bool accept,
		     struct calibration *table)
{
	struct calibration_row row = { .client = "" };
	unsigned int i;

	snprintf(row.client, sizeof(row.client), "%s", f->client);
	calibration_cpu(row.cpu);
	snprintf(row.metrics, sizeof(row.metrics), "%s", f->set);
	for (i = 0; i < f->nr_metrics; i++) {
		struct calibration_cost *c = f->costs[i];
		uint64_t low, middle;

		qsort(c, nr_runs, sizeof(*c), compare_costs);
		low = c[0].within + c[0].between;
		middle = c[nr_runs / 2].within + c[nr_runs / 2].between;
		snprintf(row.metric, sizeof(row.metric), "%s", f->names[i]);
		row.cost = c[0];
		row.cost.doubt = MAX(row.cost.doubt, 20 * (middle - low));
		row.cost.spread = low ? (middle - low) * 1000 / low : 0;
		row.used = accept || row.cost.spread <= CALIBRATION_STABLE;
		if (calibration_offer(table, &row))
			continue;
		t->nr_refused++;
		log_warn("%s of %s, of %s: not used: the runs differ by %" PRIu64 " %%, and %d %% is the most", row.metric,
			 row.metrics, t->java ? "Java methods" : "native functions", row.cost.spread / 10,
			 CALIBRATION_STABLE / 10);
	}
}

int train_set(struct training *t, const char *metrics, bool accept, struct calibration *table, struct err *e)
{
	struct progress progress;
	struct findings f;
	int run, r = 0;

	progress_start(&progress, t->java ? "measuring Java methods" : "measuring native functions", RUNS);
	for (run = 0; run < RUNS && !r && !(run == AGREED && agree(&f)); run++) {
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

/* A context: what is left, what was taken away, and what must be left to be certain. */
struct calibrated {
	uint64_t base, delta, doubt;
};

static int compare_calibrated(const void *p, const void *q)
{
	const struct calibrated *a = p, *b = q;
	uint64_t x = a->base + a->delta, y = b->base + b->delta;

	return x < y ? -1 : x > y;
}

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

/* Find the figures of the context at the upper end of the lowest tenth, as lowest() does. */
static int find_call(const struct training *t, const struct model *m, struct trained what,
		     struct calibrated *out, struct err *e)
{
	const struct flow *f = &m->flow;
	struct calibrated *all = xcalloc(f->nr_nodes, sizeof(*all));
	size_t i, nr = 0;

	for (i = 1; i < f->nr_nodes; i++) {
		const struct flow_node *n = &f->nodes[i];

		if (!is_named(t, m, i, what.function) ||
		    (what.caller && (n->n != CALLS || !is_named(t, m, n->parent, what.caller))))
			continue;
		all[nr++] = (struct calibrated){
			flow_base(f, i)[0], beside(m, i, "delta"), beside(m, i, "doubt"),
		};
	}
	qsort(all, nr, sizeof(*all), compare_calibrated);
	if (nr >= MIN_REPETITIONS)
		*out = all[nr / 10];
	free(all);
	return nr >= MIN_REPETITIONS ? 0 : err_set(e, ENODATA, "the measured program's calls are not in its trace");
}

static int look_at_length(const struct training *t, const struct model *m, uint64_t empty,
			  struct train_length *l, struct err *e)
{
	struct calibrated plain, call;
	char bare[32], of[32], hooked[32];
	int r;

	snprintf(bare, sizeof(bare), "plain_%u", l->steps);
	snprintf(of, sizeof(of), "of_%u", l->steps);
	snprintf(hooked, sizeof(hooked), "hooked_%u", l->steps);
	r = find_call(t, m, (struct trained){ bare, NULL }, &plain, e);
	if (!r)
		r = find_call(t, m, (struct trained){ of, hooked }, &call, e);
	if (r)
		return r;
	l->own = (double)above(plain.base + plain.delta, empty) / CALLS;
	l->measured = (double)(call.base + call.delta) / CALLS;
	l->calibrated = (double)call.base / CALLS;
	l->marked = (call.delta && call.delta >= call.base) || (call.doubt && call.doubt >= call.base);
	return 0;
}

static int look_at_lengths(const struct training *t, struct train_length *out, struct err *e)
{
	static const unsigned int steps[TRAIN_LENGTHS] = { 8, 25, 75, 250, 750 };	/* as the trainers */
	struct profile_opts po = { .names = { .hide_inlined = true }, .calibrate = true, .deltas = true };
	struct calibrated empty;
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
	if (!r)
		r = find_call(t, &m, (struct trained){ "plain_empty", NULL }, &empty, e);
	for (i = 0; i < TRAIN_LENGTHS && !r; i++) {
		out[i].steps = steps[i];
		r = look_at_length(t, &m, empty.base + empty.delta, &out[i], e);
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
