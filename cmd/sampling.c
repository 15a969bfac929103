// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sampling.c - turns the options of record, top and tprof into a recording, and reports its result
 * (sampling.h).
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/chance.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/progress.h"
#include "base/secrets.h"
#include "cmd.h"
#include "collect/control/control.h"
#include "collect/control/rates.h"
#include "collect/engine/runtimes.h"
#include "collect/jvm/jvmevents.h"
#include "jvm/inject.h"
#include "jvm/proto.h"
#include "pmu/probe.h"
#include "pmu/uprobe.h"
#include "sampling.h"
#include "version.h"

#define ID_SPACES " \t\n"

enum { DEFAULT_HZ = 999, TIMERS_HZ = 100000, MAX_NAMED_IDS = 5 };
/* A sample with its stack takes up to 40 us: at 100 kHz of a clock, programs nearly stand still. */
enum { MAX_CLOCK_HZ = 20000 };
#define MAX_FREQ UINT64_MAX	/* "max" */

static const char *const callgraphs[] = { "dwarf", "fp", "no", NULL };	/* as enum callgraph */
static const char *const javas[] = { "auto", "agent", "outside", NULL };	/* as enum java_choice */
static const char *const clocks[] = { "auto", "cpu", "thread", NULL };	/* as enum clock_choice */

/* Return the i-th name that --event knows; NULL behind the last. */
static const char *event_word(unsigned int i)
{
	static const char *const own[] = {
		"cpu", "jvm",
#define TELL(what, name, with) name,
#include "base/eventkinds.h"
	};
	unsigned int nr_sources = 0;

	if (i < ARRAY_SIZE(own))
		return own[i];
	while (source_kind_at(nr_sources))
		nr_sources++;
	i -= ARRAY_SIZE(own);
	return i < nr_sources ? source_kind_at(i)->name : pmu_event_generic(i - nr_sources);
}

const struct opt sampling_target_opts[] = {
	OPT_GROUP("What to record"),
	OPT_LIST('p', "pid", struct sampling_opts, pids, "pid", "record running processes"),
	OPT_LIST('t', "tid", struct sampling_opts, tids, "tid", "record running threads"),
	OPT_STR('u', "user", struct sampling_opts, user, "user", NULL,
		"record all running processes of a user"),
	OPT_FLAG('a', "all-cpus", struct sampling_opts, all_cpus, "record the whole system"),
	OPT_LIST('C', "cpu", struct sampling_opts, cpus, "cpus", "record only on these CPUs, such as 0,2-3"),
	OPT_END
};

const struct opt sampling_event_opts[] = {
	OPT_GROUP("Events and how often they are sampled"),
	OPT_LIST_OF('e', "event", struct sampling_opts, events, event_word, "event",
		 "event to sample (default: cycles, or cpu-clock without hardware counters)"),
	OPT_END
};

const struct opt sampling_rate_opts[] = {
	OPT_COUNT('c', "count", struct sampling_opts, count, "n", NULL, "take a sample every <n> events, or <n> ns of a clock"),
	OPT_FLAG(0, "all-user", struct sampling_opts, all_user, "sample user code only"),
	OPT_FLAG(0, "all-kernel", struct sampling_opts, all_kernel, "sample kernel code only"),
	OPT_END
};

const struct opt sampling_stack_opts[] = {
	OPT_GROUP("Call stacks"),
	OPT_SET('g', NULL, struct sampling_opts, call_graph, CALLGRAPH_DWARF,
		"record call stacks (the default): short for --call-graph=dwarf"),
	OPT_ENUM(0, "call-graph", struct sampling_opts, call_graph, callgraphs, "dwarf",
		 "how to find native callers: by unwind rules, by frame pointers, or not at all"),
	OPT_SIZE(0, "stack-size", struct sampling_opts, stack_size, "bytes", "65528",
		 "stack to copy with each sample for --call-graph=dwarf"),
	OPT_ENUM_OPTARG(0, "java", struct sampling_opts, java, javas, "auto",
		 "who walks Java stacks: an agent in each JVM, or the recorder from outside"),
	OPT_SET(0, "no-java", struct sampling_opts, no_java, true, "leave JVMs alone, and record native code only"),
	OPT_U64(0, "java-depth", struct sampling_opts, c.java_depth, "n", "2048", "maximum number of Java frames per sample; of deeper stacks both ends are kept"),
	OPT_END
};

const struct opt sampling_when_opts[] = {
	OPT_TIME('D', "delay", struct sampling_opts, c.delay_ns, "time", NULL, "wait this long before sampling starts"),
	OPT_SPAN('d', "duration", struct sampling_opts, c.duration_ns, "time", NULL, "stop after this long"),
	OPT_END
};

const struct opt sampling_means_opts[] = {
	OPT_LEAST(OPT_TYPE_SIZE, 64 << 10, 'm', "ring-size", struct sampling_opts, c.ring_size, "bytes", NULL,
		 "size of the per-CPU kernel buffer (default: depends on the rate)"),
	OPT_ENUM(0, "clock", struct sampling_opts, c.clock, clocks, "auto",
		 "open clocks and counters on each CPU, or on each thread"),
	OPT_ON("cache", struct sampling_opts, c.cache, "use the cache of symbols, and add to it"),
	OPT_END
};

int sampling_check(const struct sampling_opts *o, int nr_operands, struct err *e)
{
	bool running = o->pids.nr_items || o->tids.nr_items || o->user;

	if (nr_operands && running)
		return err_set(e, EINVAL, "cannot be combined: a program to run and --pid, --tid or --user");
	if (!nr_operands && !running && !o->all_cpus && !o->cgroups.nr_items)
		return err_set(e, EINVAL, "nothing to record: name a program, --pid, --tid, --user or --all-cpus");
	if (o->cgroups.nr_items && running)
		return err_set(e, EINVAL, "cannot be combined: --cgroup and --pid, --tid or --user");
	if (o->all_cpus && running)
		return err_set(e, EINVAL, "cannot be combined: --all-cpus and --pid, --tid or --user");
	if (o->user && (o->pids.nr_items || o->tids.nr_items))
		return err_set(e, EINVAL, "cannot be combined: --user and --pid or --tid");
	if (o->all_user && o->all_kernel)
		return err_set(e, EINVAL, "cannot be combined: --all-user and --all-kernel");
	if (o->stack_size < 512 || o->stack_size > 65528)
		return err_set(e, EINVAL, "--stack-size: the kernel copies 512 to 65528 bytes");
	if (o->c.java_depth < 8 || o->c.java_depth > JVM_MAX_DEPTH)
		return err_set(e, EINVAL, "--java-depth: must be between 8 and %u", JVM_MAX_DEPTH);
	return 0;
}

void sampling_release(struct sampling *s)
{
	free(s->events);
	free(s->rates);
	free(s->sources);
	while (s->nr_conditions)
		condition_release(&s->conditions[--s->nr_conditions]);
	free(s->conditions);
	while (s->nr_times)
		free(s->times[--s->nr_times].event);
	free(s->times);
	free(s->pids.id);
	free(s->tids.id);
	cgroups_close(&s->groups);
	cpus_release(&s->c.cpus);
	free(s->command_line);
	callrules_release(&s->rules);
	rules_release(&s->filter);
	slow_rules_release(&s->slow);
}

static size_t count_char(const char *s, char c)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == c;
	return n;
}

/* Return whether terms of "pmu/term,term/" are still open; paths elsewhere have other slashes. */
static bool has_open_terms(const char *name)
{
	return count_char(name, '/') % 2 && strncmp(name, "mem:", 4) && !uprobe_is_named(name);
}

/* Join a name that the option parser split at commas inside "pmu/term,term/". */
static size_t join_name(const struct opt_list *names, size_t i, struct buf *b)
{
	buf_reset(b);
	buf_str(b, names->items[i++]);
	while (has_open_terms(b->data) && i < names->nr_items)
		buf_fmt(b, ",%s", names->items[i++]);
	return i;
}

/* Return whether software counts these one by one: the kernel's estimate of a period is far off for them. */
static bool is_counted_singly(const struct pmu_event *ev)
{
	uint32_t type = ev->attr.type;

	return !ev->clock &&
	       (type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT || type == PERF_TYPE_BREAKPOINT);
}

/*
 * Return the highest rate of the kernel's timers or, where that is less, the rate that the kernel lets
 * through within the administrator's limit or its own. Intervals of clocks are bounded when they are all
 * known: sampling_bound_rates().
 */
static uint64_t highest_freq(void)
{
	struct perf_limits l;
	uint64_t least;

	perf_limits_read(&l);
	least = perf_shortest_ns(l.max_rate, perf_tick_ns());
	return least ? MIN((1000000000 + least / 2) / least, (uint64_t)TIMERS_HZ) : TIMERS_HZ;
}

/* Return the frequency within the limit, beyond which the kernel refuses. */
static uint64_t capped_freq(uint64_t freq)
{
	struct perf_limits l;

	perf_limits_read(&l);
	if (freq <= TIMERS_HZ && (l.max_rate <= 0 || freq <= (uint64_t)l.max_rate))
		return freq;
	return MIN(freq, highest_freq());
}

/*
 * Return the rate: in Hz it is a period in ns for a clock, which has no adaptive rate, but not for a counter.
 */
static struct ev_rate rate_of(const struct pmu_event *ev, uint64_t freq, uint64_t period)
{
	if (period)
		return (struct ev_rate){ .period = period };
	if (is_counted_singly(ev))
		return (struct ev_rate){ .period = 1 };
	if (freq == MAX_FREQ)
		freq = ev->clock ? MIN(highest_freq(), (uint64_t)MAX_CLOCK_HZ) : highest_freq();
	if (!freq)
		freq = DEFAULT_HZ;
	if (ev->clock)
		return (struct ev_rate){ .period = MAX((1000000000 + freq / 2) / freq, (uint64_t)1) };
	return (struct ev_rate){ .freq_hz = capped_freq(freq) };
}

static const struct source_conf *sampling_find_source(const struct sampling *s, const char *name)
{
	size_t i;

	for (i = 0; i < s->c.nr_sources; i++)
		if (!strcmp(s->sources[i].kind->name, name))
			return &s->sources[i];
	return NULL;
}

static void sampling_set_rates(struct sampling *s, uint64_t freq, uint64_t period)
{
	struct evconf *ev = &s->c.ev;
	uint64_t capped = 0;
	size_t i;

	s->rates = xcalloc(ev->nr_events, sizeof(*s->rates));
	for (i = 0; i < ev->nr_events; i++) {
		s->rates[i] = rate_of(&ev->events[i], freq, period);
		capped = s->rates[i].freq_hz ? s->rates[i].freq_hz : capped;
	}
	freq = freq ? freq : DEFAULT_HZ;
	if (capped && freq != MAX_FREQ && capped < freq)
		log_warn("%" PRIu64 " samples per second are capped at %" PRIu64 "%s", freq, capped,
			 capped < TIMERS_HZ ? " (kernel.perf_event_max_sample_rate)" :
			 ", what the kernel's timers do");
	if (ev->nr_aside)
		s->rates[i - 1] = (struct ev_rate){ .period = sampling_find_source(s, "wall")->interval };
	ev->rates = s->rates;
}

/* Parse a frequency; *freq is 0 for the default, or MAX_FREQ. */
static int parse_freq(const char *text, uint64_t *freq, struct err *e)
{
	*freq = text ? MAX_FREQ : 0;
	if (!text || !strcmp(text, "max"))
		return 0;
	if (opt_parse_u64(text, freq, e))
		return err_wrap(e, "--freq");
	if (!*freq)
		return err_set(e, EINVAL, "--freq: must be at least 1");
	return 0;
}

static int add_source(struct sampling *s, const char *name, struct err *e)
{
	struct source_conf *new = &s->sources[s->c.nr_sources];
	int r = source_parse(name, new, e);
	size_t i;

	for (i = 0; !r && i < s->c.nr_sources; i++)
		if (s->sources[i].kind == new->kind)
			return err_set(e, EINVAL, "event '%s' is there twice", new->kind->name);
	s->c.nr_sources += !r;
	if (!r && new->kind[1].arg == SOURCE_FOLLOWS) {
		s->sources[s->c.nr_sources] = (struct source_conf){ &new->kind[1], new->interval };
		s->c.nr_sources++;
	}
	return r;
}

/* Add a clock, which says where threads are while they run: one that is recorded anyway, or one aside. */
static int add_clock(struct sampling *s, struct err *e)
{
	size_t i;

	if (!sampling_find_source(s, "live") && sampling_find_source(s, "lifetime"))
		return err_set(e, EINVAL, "event 'lifetime': it needs live, as in -e live,lifetime");
	if (!sampling_find_source(s, "wall") && sampling_find_source(s, "wakers"))
		return err_set(e, EINVAL, "event 'wakers': it needs wall, as in -e wall,wakers");
	if (!sampling_find_source(s, "wall") && sampling_find_source(s, "virtual"))
		return err_set(e, EINVAL, "event 'virtual': it needs wall, as in -e wall,virtual");
	if (!sampling_find_source(s, "wall"))
		return 0;
	for (i = 0; i < s->c.ev.nr_events; i++)
		if (s->events[i].clock)
			return 0;
	s->c.ev.nr_aside = 1;
	return pmu_event_parse("cpu-clock", &s->events[s->c.ev.nr_events++], e);
}

/* Parse an event of perf's. If the name is unknown, the hint has the nearest name of all kinds. */
static int parse_perf_event(const char *name, struct pmu_event *ev, struct err *e)
{
	struct near near = near_init(name);
	int r = uprobe_is_named(name) ? uprobe_parse(name, ev, e) : pmu_event_parse(name, ev, e);
	unsigned int i;

	if (!r || strpbrk(name, ":/"))
		return r;
	for (i = 0; event_word(i); i++)
		near_try(&near, event_word(i));
	if (near.best)
		err_hint(e, "did you mean '%s'? See arcprof-record(1)", near.best);
	return r;
}

static int add_events(struct sampling *s, const struct opt_list *names, struct err *e)
{
	struct buf b = BUF_INIT;
	size_t i = 0;
	int r = 0;

	s->c.sources = s->sources = xcalloc(2 * names->nr_items + 1, sizeof(*s->sources));
	s->c.ev.events = s->events = xcalloc(names->nr_items + 1, sizeof(*s->events));
	while (i < names->nr_items && !r) {
		i = join_name(names, i, &b);
		if (jvmevents_named(b.data))
			s->c.jvm_events |= jvmevents_with(jvmevents_named(b.data));
		else if (source_is_named(b.data))
			r = add_source(s, b.data, e);
		else if (!strcmp(b.data, "cpu"))
			pmu_event_default(&s->events[s->c.ev.nr_events++]);
		else
			r = parse_perf_event(b.data, &s->events[s->c.ev.nr_events++], e);
	}
	buf_release(&b);
	for (i = 0; i < s->c.nr_sources; i++)
		if (source_sets_labels(s->sources[i].kind))
			s->c.jvm_events |= JVM_TELL_LABEL;
	/* labels alone are those of samples */
	if (!s->c.ev.nr_events && !s->c.nr_sources && !(s->c.jvm_events & ~JVM_TELL_LABEL))
		pmu_event_default(&s->events[s->c.ev.nr_events++]);
	return r ? r : add_clock(s, e);
}

int sampling_events(struct sampling *s, const struct opt_list *names, const char *freq_text, uint64_t period,
		    struct err *e)
{
	uint64_t freq;
	int r;

	if (freq_text && period)
		return err_set(e, EINVAL, "cannot be combined: --freq and --count");
	if (parse_freq(freq_text, &freq, e))
		return -EINVAL;
	r = add_events(s, names, e);
	if (!r)
		sampling_set_rates(s, freq, period);
	return r;
}

int sampling_no_sources(const struct sampling *s, const char *command, struct err *e)
{
	if (s->c.jvm_events)
		return err_set(e, EINVAL, "events of JVMs are for arcprof record, not for arcprof %s",
			       command);
	if (!s->c.nr_sources)
		return 0;
	err_set(e, EINVAL, "event '%s' is for arcprof record, not for arcprof %s", s->sources[0].kind->name,
		command);
	return -EINVAL;
}

static void ids_add(struct ids *l, int id)
{
	*VEC_ADD(l->id, l->nr_id, l->alloc_id) = id;
}

/* Parse numbers. The list is split at commas; spaces and newlines separate as well, for "$(pgrep java)". */
static int parse_ids(const struct opt_list *l, const char *what, struct ids *out, struct err *e)
{
	size_t i;

	for (i = 0; i < l->nr_items; i++) {
		const char *s = l->items[i] + strspn(l->items[i], ID_SPACES);

		do {
			char *end;
			long v = strtol(s, &end, 10);

			if (end == s || (*end && !strchr(ID_SPACES, *end)) || v <= 0 || v > INT32_MAX)
				return err_set(e, EINVAL, "--%s: invalid %s '%s'", what,
					       *what == 'p' ? "process ID" : "thread ID", l->items[i]);
			ids_add(out, v);
			s = end + strspn(end, ID_SPACES);
		} while (*s);
	}
	return 0;
}

/* Find a user's number, given or in /etc/passwd; other directories would require the C library's plug-ins. */
static int parse_user(const char *name, uid_t *uid, struct err *e)
{
	size_t len = strlen(name);
	struct buf b = BUF_INIT;
	const char *line;
	uint64_t v = UINT64_MAX;
	struct err ignored;

	if (opt_parse_u64(name, &v, &ignored) && !io_slurp("/etc/passwd", &b) && b.len)
		for (line = b.data; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
			if (!strncmp(line, name, len) && line[len] == ':')
				sscanf(line + len, ":%*[^:]:%" SCNu64, &v);
	buf_release(&b);
	*uid = v;
	if (v < UINT32_MAX)
		return 0;
	err_set(e, EINVAL, "--user: unknown user '%s'", name);
	err_hint(e, "users who are not in /etc/passwd can be named by number");
	return -EINVAL;
}

/* Add all processes that the user, a name or a number, runs now. */
static int sampling_user(struct sampling *s, const char *name, struct err *e)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	uid_t uid;

	if (!dir)
		return err_errno(e, "/proc");
	if (parse_user(name, &uid, e)) {
		closedir(dir);
		return -e->code;
	}
	while ((d = readdir(dir))) {
		int pid = atoi(d->d_name);
		struct stat st;

		if (pid > 0 && pid != getpid() && !fstatat(dirfd(dir), d->d_name, &st, 0) && st.st_uid == uid)
			ids_add(&s->pids, pid);
	}
	closedir(dir);
	if (!s->pids.nr_id)
		return err_set(e, ESRCH, "--user: no process of '%s' is running", name);
	s->c.pids = s->pids.id;
	s->c.nr_pids = s->pids.nr_id;
	s->c.pids_may_end = true;
	return 0;
}

int sampling_prepare(struct sampling *s, const struct sampling_opts *o, bool samples, struct err *e)
{
	int r = samples ? sampling_events(s, &o->events, o->freq, o->count, e) : 0;

	/* events of JVMs alone are not sampled */
	samples &= s->c.ev.nr_events || s->c.nr_sources;
	if (!r && s->c.jvm_events && !samples && (o->freq || o->count))
		r = err_set(e, EINVAL, "--freq and --count need an event that is sampled, such as -e cpu-clock");
	if (!r && s->c.jvm_events && o->no_java)
		r = err_set(e, EINVAL, "cannot be combined: --no-java and events of JVMs");
	if (!r)
		r = sampling_targets(s, &o->pids, &o->tids, &o->cpus, e);
	if (!r && o->user)
		r = sampling_user(s, o->user, e);
	if (!r && o->cgroups.nr_items && !(r = cgroups_open(&s->groups, &o->cgroups, e)))
		s->c.groups = &s->groups;
	s->c.system_wide = o->all_cpus || o->cgroups.nr_items;
	s->c.ev.callgraph = samples ? o->call_graph : CALLGRAPH_NO;
	s->c.ev.stack_bytes = o->stack_size & ~7ull;
	s->c.ev.exclude_kernel = o->all_user;
	s->c.ev.exclude_user = o->all_kernel;
	s->c.java_by = (enum java_choice)o->java;
	s->c.java = o->no_java ? JAVA_OFF : samples ? JAVA_SAMPLE : JAVA_NAMES;
	return r;
}

int sampling_targets(struct sampling *s, const struct opt_list *pids, const struct opt_list *tids,
		     const struct opt_list *cpus, struct err *e)
{
	size_t i;
	int r = parse_ids(pids, "pid", &s->pids, e);

	if (!r)
		r = parse_ids(tids, "tid", &s->tids, e);
	for (i = 0; i < cpus->nr_items && !r; i++)
		if ((r = cpus_add(&s->c.cpus, cpus->items[i], e)))
			err_wrap(e, "--cpu");
	s->c.pids = s->pids.id;
	s->c.nr_pids = s->pids.nr_id;
	s->c.tids = s->tids.id;
	s->c.nr_tids = s->tids.nr_id;
	return r;
}

void sampling_command(struct sampling *s, const char *command, int nr_operands, char **operands)
{
	struct buf b = BUF_INIT;
	int i;

	if (nr_operands)
		s->c.argv = operands;
	else
		buf_fmt(&b, "(%s)", s->c.groups ? "control groups" : s->c.system_wide ? "system-wide" : "attached");
	for (i = 0; i < nr_operands; i++) {
		buf_str(&b, i ? " " : "");
		if (s->masks_secrets)
			secrets_add(&b, operands[i], i ? operands[i - 1] : NULL);
		else
			buf_str(&b, operands[i]);
	}
	s->command_line = buf_take(&b);
	s->c.command_line = s->command_line;
	s->c.version = ARCPROF_VERSION;
}

/* Say what is recorded, where no program on the command line does. */
static void targets_phrase(const struct collect_opts *c, struct buf *b)
{
	size_t i, nr = c->nr_pids ? c->nr_pids : c->nr_tids;
	const int *ids = c->nr_pids ? c->pids : c->tids;

	for (i = 0; c->groups && i < c->groups->nr; i++)
		buf_fmt(b, "%s%s", i ? ", " : c->groups->nr == 1 ? "control group " : "control groups ",
			c->groups->paths[i]);
	if (c->groups)
		return;
	if (c->system_wide || c->argv) {
		buf_str(b, c->system_wide ? "all processes" : c->command_line);
		return;
	}
	buf_fmt(b, "%s%s ", c->nr_pids ? "process" : "thread", nr == 1 ? "" : c->nr_pids ? "es" : "s");
	for (i = 0; i < nr && i < MAX_NAMED_IDS; i++)
		buf_fmt(b, "%s%d", i ? ", " : "", ids[i]);
	if (nr > MAX_NAMED_IDS)
		buf_fmt(b, " and %zu more", nr - MAX_NAMED_IDS);
}

void sampling_targets_text(const struct sampling *s, char *text, size_t size)
{
	struct buf b = BUF_INIT;

	targets_phrase(&s->c, &b);
	snprintf(text, size, "%s", b.data);
	buf_release(&b);
}

/* Report the status, once at the beginning, then on terminals. */
static void on_status(void *ctx, const struct collect_status *st)
{
	struct sampling *s = ctx;
	struct buf b = BUF_INIT;

	if (!s->progress.what) {
		targets_phrase(&s->c, &b);
		if (s->c.duration_ns)
			log_info("recording %s for %.6g s", b.data, s->c.duration_ns / 1e9);
		else
			log_info("recording %s; press Ctrl-C to stop", b.data);
		progress_start(&s->progress, "recording", 0);
	} else {
		buf_fmt(&b, "%.1f s, %" PRIu64 " samples, %" PRIu64 " lost, %.1f KiB", st->elapsed_ns / 1e9,
			st->nr_samples, st->nr_lost, st->nr_bytes / 1024.0);
		progress_text(&s->progress, b.data);
	}
	buf_release(&b);
}

static void on_lack(const char *what, const char *hint)
{
	log_info("not recorded: %s", what);
	if (hint[0])
		log_hint("%s", hint);
}

static void on_deadlock(int pid, const char *text)
{
	log_warn("process %d: deadlock of %s; 'arcprof threads -p %d' shows more", pid, text, pid);
}

/* Bound the rates, so that a program does not spend its time on being sampled. */
void sampling_bound_rates(struct sampling *s)
{
	struct evconf *ev = &s->c.ev;
	uint64_t least = ev->nr_events ? rates_shortest_ns(ev) : 0;
	bool raised = false;
	size_t i;

	for (i = 0; i < ev->nr_events; i++) {
		if (!ev->events[i].clock || s->rates[i].period >= least)
			continue;
		s->rates[i].period = least;
		raised = true;
	}
	if (!raised)
		return;
	if (rates_kernel_bounds(ev, least))
		log_warn("a sample is taken every %.1f us: more often is more than the kernel takes (kernel.perf_event_max_sample_rate)",
			 (double)least / 1e3);
	else
		log_warn("a sample is taken every %.1f us: it takes %.1f us of the program on this machine, and more than a fifth of its time would slow it down too much",
			 (double)least / 1e3, (double)ev->hit_ns / 1e3);
}

int sampling_run(struct sampling *s, struct collect_result *res, struct err *e)
{
	struct err taken;
	int r;

	if (!s->c.argv) {
		s->c.status = on_status;
		s->c.status_ctx = s;
	}
	s->c.deadlock = on_deadlock;
	s->c.lacks = on_lack;
	sampling_bound_rates(s);
	if (control_check(&taken))
		log_warn("%s", taken.msg);
	r = collect_run(&s->c, res, e);
	if (s->progress.what)
		progress_end(&s->progress);
	return r;
}

static void incomplete_summary(const struct collect_result *r)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < MARK_NR; i++)
		if (r->nr_marks[i])
			buf_fmt(&b, "%s%s %" PRIu64, b.len ? ", " : "", frame_mark_name(i), r->nr_marks[i]);
	if (b.len)
		log_verbose("incomplete stacks: %s", b.data);
	buf_release(&b);
}

/*
 * Append the share of complete stacks: nothing without samples, and never "100 %" when something is missing.
 */
static void complete_phrase(const struct collect_result *r, struct buf *b)
{
	double percent = r->nr_samples ? 100.0 * (r->nr_samples - r->nr_incomplete) / r->nr_samples : 0;

	if (!r->nr_samples)
		return;
	if (r->nr_incomplete && percent >= 99.95)
		buf_str(b, ", > 99.9 % complete stacks");
	else
		buf_fmt(b, ", %.1f %% complete stacks", percent);
}

static void calls_phrase(const struct callflow_result *c, struct buf *b)
{
	buf_fmt(b, "%" PRIu64 " calls in %" PRIu64 " contexts of %" PRIu64 " thread%s", c->nr_calls,
		c->nr_nodes,
		c->nr_trees, plural(c->nr_trees));
	if (c->nr_events)
		buf_fmt(b, ", %" PRIu64 " events, %" PRIu64 " lost", c->nr_events, c->told_events);
}

/* Warn of rules that no call matched, which most likely have a misspelt name. */
static void slow_warnings(const struct slow_rules *s)
{
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		if (!s->rules[i].nr_calls)
			log_warn("--trace: no call of '%s' has ended; --callflow says which methods are looked at",
				 s->rules[i].text);
	if (s->nr_cut)
		log_warn("%" PRIu64 " events of slow calls are missing, as there were too many to keep",
			 s->nr_cut);
}

static void calls_warnings(const struct sampling *s, const struct collect_result *r)
{
	const struct callflow_result *c = &r->calls;

	if (r->nr_foreign)
		log_warn("%" PRIu64
			 " program%s turned away: libarcprof-hookit of another version; link again",
			 r->nr_foreign, r->nr_foreign == 1 ? " was" : "s were");
	if (!c->nr_procs && !r->nr_unknown_jvms) {
		log_warn("nothing was instrumented: no JVM, and no program with libarcprof-hookit");
		log_hint("build C and C++ with -finstrument-functions and link libarcprof-hookit.a");
	} else if (c->nr_procs && !c->nr_calls) {
		log_warn("no selected function was called");
		log_hint("--callflow and --config select by whole names: com.example.Class.method, com.example, *.method");
	}
	if (c->nr_folded && s->c.callflow.layout.prune_share)
		log_warn("%" PRIu64 " calls are counted in merged contexts, by --call-prune or as --call-memory or --call-depth was reached",
			 c->nr_folded);
	else if (c->nr_folded)
		log_warn("%" PRIu64 " calls are counted in merged contexts: --call-memory or --call-depth was reached",
			 c->nr_folded);
	if (c->lost_calls)
		log_warn("%" PRIu64 " calls are missing: too many threads were alive at once",
			 c->lost_calls);
	if (c->nr_damaged)
		log_warn("%" PRIu64 " damaged parts of the call trees were left out", c->nr_damaged);
}

/* Say what there is beside samples, or instead of them. */
static void other_phrases(const struct sampling *s, const struct collect_result *r, struct buf *b)
{
	if (s->c.callflow.on) {
		buf_fmt(b, "%s", b->len ? ", " : "");
		calls_phrase(&r->calls, b);
	}
	if (s->c.jvm_events & ~JVM_TELL_LABEL)
		buf_fmt(b, "%s%" PRIu64 " JVM events", b->len ? ", " : "", r->nr_jvm_events);
	if (s->c.sched)
		buf_fmt(b, "%s%" PRIu64 " dispatches, %" PRIu64 " lost", b->len ? ", " : "", r->nr_dispatches,
			r->nr_lost_sched);
	if (r->nr_after_sched)
		buf_fmt(b, " (those after %.2f s, when --max-size was reached, are not stored)",
			r->stopped_ns / 1e9);
	if (r->nr_interrupts)
		buf_fmt(b, ", %" PRIu64 " interrupts", r->nr_interrupts);
}

/* Samples of different events are not added up. */
static void sample_counts(const struct sampling *s, const struct collect_result *r, struct buf *b)
{
	size_t nr = s->c.ev.nr_events - s->c.ev.nr_aside, i;

	for (i = 0; i < MIN(nr, (size_t)COLLECT_COUNTED_EVENTS); i++)
		buf_fmt(b, "%s%" PRIu64 "%s of %s", i ? ", " : "", r->nr_of_event[i], i ? "" : " samples",
			s->events[i].name);
	if (r->rate_hz > 0)
		buf_fmt(b, " at %.1f Hz", r->rate_hz);
	if (r->rate_hz > 0 && r->rate_mode)
		buf_fmt(b, " in %s code", r->rate_mode);
	for (i = 0; i < s->c.nr_sources; i++)
		if (!s->sources[i].kind->into)
			buf_fmt(b, "%s%" PRIu64 "%s of %s", b->len ? ", " : "", r->nr_of_source[i],
				b->len ? "" : " samples", s->sources[i].kind->name);
}

static void sampled_phrase(const struct collect_result *r, struct buf *b)
{
	if (r->charged_ns)
		buf_fmt(b, ", %.1f %% of CPU time sampled",
			100. * (double)MIN(r->sampled_ns, r->charged_ns) / (double)r->charged_ns);
}

static void unsampled_warning(const struct collect_result *r)
{
	uint64_t weight = r->nr_of_event[0] ? r->sampled_ns / r->nr_of_event[0] : 1;

	if (r->no_samples || !chance_is_short(r->charged_ns, r->sampled_ns, weight))
		return;
	log_warn("%.2f of %.2f s of CPU time were not sampled: %s", (r->charged_ns - r->sampled_ns) / 1e9,
		 r->charged_ns / 1e9, r->why_unsampled);
}

/* Return what runs the processes of a program, if these are not its children; else NULL. */
static const char *runs_elsewhere(const struct sampling *s, const char *program)
{
	static const struct {
		const char *program, *by, *unless;	/* unless: an option to run it as a child */
	} all[] = {
		{ "systemd-run", "systemd", "--scope" }, { "systemctl", "systemd", NULL },
		{ "machinectl", "systemd", NULL }, { "docker", "the Docker daemon", NULL },
		{ "nerdctl", "containerd", NULL }, { "kubectl", "Kubernetes", NULL },
		{ "ssh", "another machine", NULL }, { "at", "the at daemon", NULL },
		{ "batch", "the at daemon", NULL }, { "srun", "Slurm", NULL }, { "sbatch", "Slurm", NULL },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (strcmp(all[i].program, program))
			continue;
		for (k = 0; all[i].unless && s->c.argv[k]; k++)
			if (strstr(s->c.argv[k], all[i].unless))
				return NULL;
		return all[i].by;
	}
	return NULL;
}

/* Warn of processes that were not recorded, or not to their end, though the program started them. */
static void left_warnings(const struct sampling *s, const struct collect_result *r)
{
	const char *by = runs_elsewhere(s, r->program_name);

	if (by) {
		log_warn("what '%s' has %s run is not recorded: it is not a child of the program",
			 r->program_name, by);
		log_hint("record it where it runs, by --pid, --cgroup or --all-cpus");
	}
	if (!r->nr_left)
		return;
	log_warn("'%s' has ended, but %" PRIu32 " process%s that it started %s on, such as %d (%s): recorded until now",
		 s->c.argv[0], r->nr_left, plural_es(r->nr_left), r->nr_left == 1 ? "goes" : "go",
		 r->a_left_pid, r->a_left_name);
	if (!s->c.wait)
		log_hint("--wait records until they have ended");
}

static void headline(const struct sampling *s, const struct collect_result *r)
{
	struct buf b = BUF_INIT;

	if (!s->c.ev.nr_events && !s->c.nr_sources) {
		other_phrases(s, r, &b);
		buf_fmt(&b, " in %.2f s", r->duration_ns / 1e9);
	} else {
		sample_counts(s, r, &b);
		buf_fmt(&b, " in %.2f s, %" PRIu64 " lost", r->duration_ns / 1e9, r->nr_lost);
		if (r->nr_after)
			buf_fmt(&b, ", %" PRIu64 " not stored as they came after %.2f s, when --max-size was reached",
				r->nr_after, r->stopped_ns / 1e9);
		if (r->nr_throttled)
			buf_fmt(&b, ", %" PRIu64 " throttled", r->nr_throttled);
		if (s->c.ev.callgraph != CALLGRAPH_NO)
			complete_phrase(r, &b);
		sampled_phrase(r, &b);
		if (r->nr_jvms)
			buf_fmt(&b, ", %" PRIu64 " JVM%s", r->nr_jvms, plural(r->nr_jvms));
		other_phrases(s, r, &b);
	}
	if (r->nr_turned_away)
		buf_fmt(&b, ", %" PRIu64 " foreign connection%s refused", r->nr_turned_away,
			plural(r->nr_turned_away));
	if (!strcmp(s->c.output, "-"))
		log_info("%s; wrote %.1f KiB to standard output", b.data, r->nr_bytes / 1024.0);
	else if (r->kept_ns)
		log_info("%s; wrote the last %.1f s to %s (%.1f KiB)", b.data, r->kept_ns / 1e9, s->c.output,
			 r->nr_bytes / 1024.0);
	else if (s->c.segment.length_ns)
		log_info("%s; wrote %" PRIu64 " trace%s to %s (%.1f KiB)", b.data, r->nr_files,
			 plural(r->nr_files), s->c.output, r->nr_bytes / 1024.0);
	else
		log_info("%s; wrote %s (%.1f KiB)", b.data, s->c.output, r->nr_bytes / 1024.0);
	buf_release(&b);
	if (r->left_pid)
		log_warn("'%s' did not end after the signal: it runs on as process %d, and is not recorded any more",
			 s->c.argv[0], r->left_pid);
	else if (r->ended_program)
		log_info("'%s' was still running, so it was sent SIGTERM; exit status %d", s->c.argv[0],
			 r->status);
	else if (s->c.argv)
		left_warnings(s, r);
}
void sampling_summary(const struct sampling *s, const struct collect_result *r)
{
	headline(s, r);
	if (r->nr_changes)
		log_verbose("%" PRIu64 " changes of files: %.2f ms on average, %.2f ms at most",
			    r->nr_changes, (double)r->change_ns / 1e6 / (double)r->nr_changes,
			    (double)r->longest_change_ns / 1e6);
	if (s->c.callflow.on)
		calls_warnings(s, r);
	slow_warnings(&s->slow);
	sampling_warnings(s, r);
}

bool sampling_failed(const struct sampling *s, const struct collect_result *r)
{
	bool no_calls = s->c.callflow.on && !r->calls.nr_procs && r->nr_unknown_jvms;

	if (r->write_error)
		log_error("%s is not complete: %s", s->c.output, strerror(r->write_error));
	if (r->no_memory)
		log_error("JVMs could tell nothing: there is no memory to share with them (memfd_create): %s",
			  strerror(r->no_memory));
	if (r->no_samples)
		log_error("no samples of %.2f s of CPU time: %s", r->charged_ns / 1e9, r->why_unsampled);
	if (no_calls)
		log_error("nothing was instrumented: the agent knows too little of the JVM%s",
			  plural(r->nr_unknown_jvms));
	return r->write_error || r->no_memory || r->no_samples || no_calls;
}

/* Warn of sources without a program or JVM that could record them, and of JVMs that do not. */
static void source_warnings(const struct sampling *s, const struct collect_result *r)
{
	size_t i;

	if (s->c.jvm_events & ~(uint32_t)JVM_TELL_BY_PROGRAM && !r->nr_jvms && !r->nr_jvm_events)
		log_warn("no events of JVMs: no JVM was recorded with the agent%s%s", *r->no_agent ? ": " : "",
			 r->no_agent);
	if (r->nr_lacking)
		log_warn("%" PRIu64 " JVM%s unlike those that arcprof knows: each report says what is missing, and why; so does 'arcprof doctor --jvm JAVA_HOME'",
			 r->nr_lacking, r->nr_lacking == 1 ? " is" : "s are");
	for (i = 0; i < s->c.nr_sources; i++) {
		const struct source_kind *k = s->sources[i].kind;

		if (k->jvm == JVM_SOURCE_MEMORY && !r->nr_programs)
			log_warn("no samples of %s: no program was recorded with the library", k->name);
		else if (k->jvm != JVM_NR_SOURCES && k->jvm != JVM_SOURCE_MEMORY && !r->nr_jvms &&
			 (k->jvm != JVM_SOURCE_LOCK || !r->nr_programs))
			log_warn("no samples of %s: no JVM was recorded with the agent%s%s", k->name,
				 *r->no_agent ? ": " : "", r->no_agent);
		else if (r->nr_no_source[i] && r->nr_of_source[i])
			log_warn("not all of %s was recorded in %" PRIu64 " JVM%s: each report says what is missing, and why",
				 k->name, r->nr_no_source[i], plural(r->nr_no_source[i]));
		else if (r->nr_no_source[i])
			log_warn("no samples of %s from %" PRIu64 " JVM%s: each report says why", k->name,
				 r->nr_no_source[i], plural(r->nr_no_source[i]));
	}
}

/* Return whether all was recorded, ignoring less than a hundredth. */
static bool counted_all_recorded(uint64_t counted, uint64_t recorded)
{
	return (double)recorded >= .99 * (double)counted;
}

/* Warns where others than those who sample count more than was recorded. */
static void account_warnings(const struct sampling *s, const struct collect_result *r)
{
	static const char *const tallies[] = {
		[JVM_TALLY_PAUSES] = "pauses of garbage collectors", [JVM_TALLY_ENTERS] = "waits for monitors",
	};
	size_t i;

	for (i = 0; i < s->c.nr_sources; i++) {
		uint64_t counted = r->counted_of_source[i], sampled = r->sampled_of_source[i];
		uint64_t weight = r->nr_of_source[i] ? sampled / r->nr_of_source[i] : s->sources[i].interval;

		if (r->uncounted_source[i] || counted_all_recorded(counted, sampled) ||
		    !chance_is_too_few(counted, sampled, weight))
			continue;
		log_warn("%.1f %% of %s was not sampled%s: 'arcprof report --account --metric %s' has it thread by thread",
			 100 - 100. * (double)sampled / (double)counted, s->sources[i].kind->name,
			 r->nr_lost ? ", as samples were lost" : "", s->sources[i].kind->name);
	}
	for (i = 0; i < ARRAY_SIZE(tallies); i++) {
		const struct collect_tally *t = &r->tallies[i];

		if (!t->uncounted && !counted_all_recorded(t->counted, t->recorded) &&
		    t->counted > t->recorded + 2)
			log_warn("%" PRIu64 " of %" PRIu64 " %s that JVMs counted were not recorded",
				 t->counted - t->recorded, t->counted, tallies[i]);
	}
}

/* Warn of throttling, unless there are few, as when a thread begins or names are new. */
static void throttle_warnings(const struct collect_result *r)
{
	if (r->nr_throttled > r->nr_samples / 4) {
		log_warn("%" PRIu64 " hits of JVMs were throttled: they have no sample of their own, and the next one has their weight, as walking stacks may take a fifth of a thread's time",
			 r->nr_throttled);
		log_hint("a longer interval (--freq, --count) or fewer frames (--java-depth) avoid it");
	}
	if (r->nr_held_back)
		log_warn("the kernel held sampling back %" PRIu64 " time%s (kernel.perf_event_max_sample_rate): what ran meanwhile is missing",
			 r->nr_held_back, plural(r->nr_held_back));
}

/*
 * Warn of JVMs without names. An interpreter in C++ leaves no samples in code without a file: such a JVM has
 * reported that itself.
 */
static void agent_warnings(const struct sampling *s, const struct collect_result *r)
{
	uint64_t nr = MAX(r->nr_strange_jvms, r->nr_unknown_jvms);

	if (r->no_traps[0])
		log_warn("Java methods that ran are unknown: %s", r->no_traps);
	if (!nr || s->c.java != JAVA_SAMPLE || s->c.system_wide)
		return;
	log_warn("%" PRIu64 " JVM%s ran without the agent: %s Java stacks are unknown", nr, plural(nr),
		 nr == 1 ? "its" : "their");
	if (r->no_agent[0])
		log_hint("%s", r->no_agent);
	else if (r->nr_unknown_jvms)
		log_hint("the agent knows too little of %s: another version than it was written for, or another VM than HotSpot with its compilers",
			 r->nr_unknown_jvms == 1 ? "it" : "them");
	else if (!inject_possible())
		log_hint("this CPU has no JVM agent yet: native code has names, Java code has none");
	else
		log_hint("a program that clears its environment, as sudo and su do, loads none: put arcprof behind it, as in 'sudo arcprof record ...', or attach with --pid");
}

/* Print how runtimes are asked for names, each once. */
static void runtime_hints(const struct collect_result *r)
{
	int i;

	for (i = 1; i < RUNTIMES_MAX; i++)
		if (r->unnamed >> i & 1)
			log_hint(runtime_interprets(i) ? "functions of the interpreted program have names with: %s" :
							 "code in anonymous memory has names with: %s",
				 runtime_how_named(i));
}

void sampling_warnings(const struct sampling *s, const struct collect_result *r)
{
	incomplete_summary(r);
	if (r->nr_died)
		log_warn("%s%s while it was recorded", r->died, r->nr_died > 1 ? " (and others)" : "");
	throttle_warnings(r);
	unsampled_warning(r);
	source_warnings(s, r);
	account_warnings(s, r);
	agent_warnings(s, r);
	if (!s->c.system_wide)
		runtime_hints(r);
	if (r->no_records.code) {
		log_warn("wall: states of threads were read from /proc, every %.1f ms, and native code that ran has no stacks: %s",
			 (double)r->wall_interval_ns / 1e6, r->no_records.msg);
		if (r->no_records.hint[0])
			log_hint("%s", r->no_records.hint);
	}
	if (r->no_perf.code) {
		log_warn("JVMs were sampled by CPU timers, at most once per tick of the kernel, and nothing else was: %s",
			 r->no_perf.msg);
		if (r->no_perf.hint[0])
			log_hint("%s", r->no_perf.hint);
	}
	if (r->user_only) {
		log_warn("user code only: kernel.perf_event_paranoid keeps this user from sampling the kernel");
		log_hint("sudo sysctl kernel.perf_event_paranoid=1, or run as root");
	}
	if (r->kernel_hidden) {
		log_warn("kernel functions have no names: kernel.kptr_restrict hides their addresses");
		log_hint("sudo sysctl kernel.kptr_restrict=0, or run as root");
	}
}
