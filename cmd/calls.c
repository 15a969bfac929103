// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calls.c - turns the options about call trees into settings, with the costs that calibrate measured
 * (calls.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/inputs.h"
#include "base/log.h"
#include "base/mem.h"
#include "calibrate/table.h"
#include "calls.h"
#include "jvm/inject.h"
#include "pmu/event.h"

enum {
	MAX_CONFIG_BYTES = 1 << 20, MAX_THREADS = 1 << 16, MAX_FUNCTIONS = 1 << 20, NR_RINGS = 8,
	RING_EVENTS = 1 << 17
};

static const struct {
	const char *name;		/* the same in options, in the trace and in reports */
	uint32_t kind;
	const char *unit;
} metrics[] = {
	/* in their order in the trees */
	{ "cpu", CALLFLOW_CPU, "ns" },
	{ "wall", CALLFLOW_WALL, "ns" },
	{ "alloc", CALLFLOW_ALLOC_BYTES, "bytes" },
	{ "objects", CALLFLOW_ALLOC_OBJECTS, "objects" },
	{ "dispatches", CALLFLOW_DISPATCHES, "dispatches" },
	{ "thrown", CALLFLOW_THROWN, "exits" },		/* an exception leaves many methods */
	{ "bytecodes", CALLFLOW_BYTECODES, "bytecodes" },
};

static bool is_asked(const struct opt_list *l, const char *word)
{
	size_t i;

	for (i = 0; i < l->nr_items; i++)
		if (!strcmp(l->items[i], word))
			return true;
	return false;
}

static int add_metric(struct callflow_opts *o, const struct callflow_metric *m, const char *name,
		      const char *unit, struct err *e)
{
	struct callflow_layout *l = &o->layout;

	if (l->nr_metrics == CALLFLOW_MAX_METRICS)
		return err_set(e, EINVAL, "--metric: more than %d", CALLFLOW_MAX_METRICS);
	o->names[l->nr_metrics] = name;
	o->units[l->nr_metrics] = unit;
	l->metrics[l->nr_metrics++] = *m;
	return 0;
}

/* Return whether a program can read the counter by itself, without a system call. */
static bool is_readable(const struct callflow_metric *m)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = m->type, .config = m->config, .config1 = m->config1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	const struct perf_event_mmap_page *p;
	bool can;

	if (fd < 0)
		return false;
	p = mmap(NULL, CALLFLOW_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	can = p != MAP_FAILED && p->cap_user_rdpmc;
	if (p != MAP_FAILED)
		munmap((void *)p, CALLFLOW_PAGE);
	close(fd);
	return can;
}

/* Hint at the setting of Linux on arm64, which lets no process read the counters by default. */
static void hint_access(struct err *e)
{
	struct buf b = BUF_INIT;

	if (!io_slurp("/proc/sys/kernel/perf_user_access", &b) && b.len && b.data[0] == '0')
		err_hint(e, "kernel.perf_user_access is 0; 'sudo sysctl kernel.perf_user_access=1' allows it");
	buf_release(&b);
}

static int add_counter(struct callflow_opts *o, const char *name, struct err *e)
{
	struct callflow_metric m = { .kind = CALLFLOW_COUNTER };
	struct pmu_event ev;

	if (pmu_event_parse(name, &ev, e)) {
		err_set(e, EINVAL, "--metric: unknown metric '%s' (available: calls, cpu, wall, alloc, objects, dispatches, thrown, "
			"bytecodes, hardware counters)", name);
		return -EINVAL;
	}
	m.type = ev.attr.type;
	m.config = ev.attr.config;
	m.config1 = ev.attr.config1 | arch_own_counter_config1;
	if (m.type == PERF_TYPE_SOFTWARE || m.type == PERF_TYPE_TRACEPOINT || !is_readable(&m)) {
		err_set(e, ENOTSUP, "--metric: '%s' cannot be read by a program itself on this machine",
			name);
		hint_access(e);
		return -ENOTSUP;
	}
	o->layout.flags |= CALLFLOW_LATE_READ;
	return add_metric(o, &m, name, "events", e);
}

static bool is_known(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		if (!strcmp(metrics[i].name, word))
			return true;
	return !strcmp(word, "calls");
}

static int choose_metrics(const struct opt_list *asked, struct callflow_opts *o, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < ARRAY_SIZE(metrics) && !r; i++) {
		struct callflow_metric m = { .kind = metrics[i].kind };
		bool by_default = m.kind == CALLFLOW_CPU || m.kind == CALLFLOW_WALL;

		if (asked->nr_items ? is_asked(asked, metrics[i].name) : by_default)
			r = add_metric(o, &m, metrics[i].name, metrics[i].unit, e);
	}
	for (i = 0; i < asked->nr_items && !r; i++)
		if (!is_known(asked->items[i]))
			r = add_counter(o, asked->items[i], e);
	return r;
}

int calls_load_config(struct calls_opts *c, struct err *e)
{
	int r = c->config ? inputs_read_text(c->config, &c->config_text, MAX_CONFIG_BYTES, e) : 0;

	return r ? err_wrap(e, "--config") : 0;
}

int calls_take_rules(const struct calls_opts *c, struct callrules *rules, struct err *e)
{
	const struct buf *b = &c->config_text;
	int r = callrules_file(rules, c->config, b->data ? b->data : "", b->len, e);

	return r ? err_wrap(e, "--config") : 0;
}

int calls_read_config(const char *path, struct callrules *rules, struct err *e)
{
	struct calls_opts c = { .config = path, .config_text = BUF_INIT };
	int r = calls_load_config(&c, e);

	if (!r)
		r = calls_take_rules(&c, rules, e);
	buf_release(&c.config_text);
	return r;
}

/* Write the set of the recording's metrics as the table names it for calls of that tier. */
static void put_set(const struct callflow_opts *o, enum calibration_tier tier,
		    char set[static CALIBRATION_NAME])
{
	uint32_t m;

	*set = '\0';
	for (m = 0; m < o->layout.nr_metrics; m++)
		snprintf(set + strlen(set), CALIBRATION_NAME - strlen(set), "%s%s", m ? "," : "",
			 o->names[m]);
	if (o->layout.flags & CALLFLOW_PRECISE)
		snprintf(set + strlen(set), CALIBRATION_NAME - strlen(set), "%s", CALIBRATION_PRECISE);
	if (o->layout.flags & CALLFLOW_EVENTS)
		snprintf(set + strlen(set), CALIBRATION_NAME - strlen(set), "%s", CALIBRATION_TRACE);
	if (o->layout.flags & CALLFLOW_SITES)
		snprintf(set + strlen(set), CALIBRATION_NAME - strlen(set), "%s", CALIBRATION_SITES);
	if (tier)
		snprintf(set + strlen(set), CALIBRATION_NAME - strlen(set), " %s",
			 calibration_tier_name(tier));
}

/* whose costs are looked up in the table */
struct measured {
	const struct calibration *table;
	const char *client, *cpu, *environment;
};

/* Take the cost of each metric in this set; return false if it was not measured here. */
static bool take_costs(struct callflow_opts *o, const struct measured *x, enum calibration_tier tier,
		       struct callflow_costs *out)
{
	char set[CALIBRATION_NAME], *other = o->measured_in[out != o->calibration];
	const struct calibration_row *r;
	struct buf text = BUF_INIT;
	bool any = false;
	uint32_t m;

	put_set(o, tier, set);
	for (m = 0; m < o->layout.nr_metrics; m++) {
		r = calibration_find(x->table, x->client, x->cpu, set, o->names[m]);
		if (!r)
			continue;
		any = true;
		if (*r->environment && strcmp(r->environment, x->environment) != 0)
			snprintf(other, sizeof(o->measured_in[0]), "%s", r->environment);
		buf_reset(&text);
		if (r->used)
			calibration_put_cost(&text, &r->cost);
		else
			buf_str(&text, "unstable");
		snprintf(out->costs[tier][m], sizeof(out->costs[tier][m]), "%s", text.data);
	}
	buf_release(&text);
	return any;
}

/* Take the costs of each tier. Calls whose tier is not known are of compiled code, but for a few. */
static bool take_java_costs(struct callflow_opts *o, const struct measured *x, struct callflow_costs *out)
{
	bool any = false;
	int tier;

	if (!(o->layout.flags & CALLFLOW_TIERS))
		return take_costs(o, x, CALIBRATION_ANY_TIER, out);
	for (tier = CALIBRATION_INTERPRETED; tier < CALIBRATION_NR_TIERS; tier++)
		any |= take_costs(o, x, tier, out);
	memcpy(out->costs[CALIBRATION_ANY_TIER], out->costs[CALIBRATION_C2],
	       sizeof(out->costs[CALIBRATION_ANY_TIER]));
	return any;
}

/* Take the costs of all JVMs that were measured with this agent: which will run is not known yet. */
static void take_jvms(struct callflow_opts *o, const struct measured *m)
{
	const struct calibration *table = m->table;
	struct measured x = *m;
	struct buf agent = BUF_INIT;
	size_t i;
	uint32_t k;

	inject_build_id(&agent);
	for (i = 0; i < table->nr_rows && o->nr_calibrated_jvms < CALIBRATION_JVMS; i++) {
		struct callflow_costs *c = &o->calibration[1 + o->nr_calibrated_jvms];
		const char *jvm = calibration_jvm(table->rows[i].client, agent.data);

		for (k = 0; jvm && k < o->nr_calibrated_jvms; k++)
			if (!strcmp(o->calibration[1 + k].jvm, jvm))
				jvm = NULL;
		x.client = table->rows[i].client;
		if (!jvm || !take_java_costs(o, &x, c))
			continue;
		snprintf(c->jvm, sizeof(c->jvm), "%s", jvm);
		o->nr_calibrated_jvms++;
	}
	buf_release(&agent);
}

/*
 * Set why the table has no costs for clients whose names begin with client: those of their kind are of
 * another arcprof, another processor, or other metrics.
 */
static void say_why(struct callflow_opts *o, const struct calibration *table, bool of_java,
		    const char *client, const char *cpu)
{
	const char *kind = of_java ? "java-" : "hookit-", *java = of_java ? " --java" : "";
	const char *precise = o->layout.flags & CALLFLOW_PRECISE ? " --precise-time" : "";
	const char *trace = o->layout.flags & CALLFLOW_EVENTS ? " --calltrace" : "";
	const char *tier = of_java && o->layout.flags & CALLFLOW_TIERS ? " --call-tier" : "";
	const char *sites = o->layout.flags & CALLFLOW_SITES ? " --call-sites" : "";
	const char *other_cpu = NULL;
	bool other_hooks = false, other_metrics = false;
	char set[CALIBRATION_NAME], *why = o->uncalibrated[of_java];
	const size_t size = sizeof(o->uncalibrated[0]);
	size_t i;

	put_set(o, CALIBRATION_ANY_TIER, set);
	set[strcspn(set, " ")] = '\0';
	for (i = 0; i < table->nr_rows; i++) {
		const struct calibration_row *r = &table->rows[i];

		if (strncmp(r->client, kind, strlen(kind)) != 0)
			continue;
		if (strncmp(r->client, client, strlen(client)) != 0)
			other_hooks = true;
		else if (strcmp(r->cpu, cpu) != 0)
			other_cpu = r->cpu;
		else
			other_metrics = true;
	}
	if (other_metrics)
		snprintf(why, size, "measured for other metrics or options; 'arcprof calibrate%s%s%s%s%s --metric %s' before a recording measures these",
			 java, precise, trace, sites, tier, set);
	else if (other_cpu)
		snprintf(why, size, "measured on another processor (%s); 'arcprof calibrate%s%s%s%s%s' measures on this one",
			 other_cpu, java, precise, trace, sites, tier);
	else if (other_hooks)
		snprintf(why, size, "measured with another arcprof; 'arcprof calibrate%s%s%s%s%s' measures with this one", java,
			 precise, trace, sites, tier);
}

static void take_calibration(struct callflow_opts *o, const struct calibration *table)
{
	char client[CALIBRATION_NAME], cpu[CALIBRATION_NAME], environment[CALIBRATION_NAME];
	const struct measured x = { table, client, cpu, environment };
	struct buf agent = BUF_INIT;

	calibration_hookit(client);
	calibration_cpu(cpu);
	calibration_environment(environment);
	if (!take_costs(o, &x, CALIBRATION_ANY_TIER, o->calibration))
		say_why(o, table, false, client, cpu);
	if (!inject_possible())
		return;
	take_jvms(o, &x);
	inject_build_id(&agent);
	snprintf(client, sizeof(client), "java-%.16s-", agent.data);
	buf_release(&agent);
	if (!o->nr_calibrated_jvms)
		say_why(o, table, true, client, cpu);
}

static void leave_uncalibrated(struct callflow_opts *o, const char *why)
{
	snprintf(o->uncalibrated[0], sizeof(o->uncalibrated[0]), "%s", why);
	snprintf(o->uncalibrated[1], sizeof(o->uncalibrated[1]), "%s", why);
}

/* Take costs from the table; one that cannot be read is reported, but is not an error. */
static void calibrate(struct callflow_opts *o)
{
	struct calibration table = { 0 };
	struct buf path = BUF_INIT;
	struct err e = { 0 };

	if (o->layout.flags & CALLFLOW_SITES && o->layout.flags & CALLFLOW_EVENTS)
		leave_uncalibrated(o, "with call sites the events of a call trace cost something else, which is not measured");
	else if (calibration_path(&path, &e))
		leave_uncalibrated(o, e.msg);
	else if (calibration_load(&table, path.data, &e))
		leave_uncalibrated(o, e.msg);
	else
		take_calibration(o, &table);
	if (e.msg[0] && path.data)
		log_warn("%s: nothing is calibrated", e.msg);
	calibration_release(&table);
	buf_release(&path);
}

bool calls_wanted(const struct calls_opts *c)
{
	return c->callflow || c->calltrace || c->traces.nr_items;
}

static void trace_events(struct callflow_layout *l)
{
	l->flags |= CALLFLOW_EVENTS;
	l->nr_rings = NR_RINGS;
	l->ring_events = RING_EVENTS;
}

/* Parse "10" or "10/500ms": prune contexts with no more than that part of their callers, at that interval. */
static int parse_prune(const char *text, struct callflow_layout *l, struct err *e)
{
	double percent;
	char *end;
	int r = 0;

	l->prune_ns = 1000000000;
	percent = strtod(text, &end);
	if (*end == '/')
		r = opt_parse_time(end + 1, &l->prune_ns, e);
	if (r)
		return err_wrap(e, "--call-prune '%s'", text);
	if (end == text || (*end && *end != '/') || !(percent > 0 && percent < 100))
		return err_set(e, EINVAL, "--call-prune '%s': more than 0 and less than 100 percent, as in 1 or 0.1/500ms",
			       text);
	l->prune_share = (uint32_t)(percent / 100 * 4294967296.0);
	l->prune_share += !l->prune_share;
	return 0;
}

int calls_prepare(const struct calls_opts *c, struct callflow_opts *o, struct callrules *rules,
		  struct slow_rules *slow, struct err *e)
{
	size_t i;
	int r;

	if (c->call_depth < 8 || c->call_depth > 1 << 20)
		return err_set(e, EINVAL, "--call-depth: 8 to %d", 1 << 20);
	if (c->call_memory < 1 << 20 || c->call_memory > 32ull << 30)
		return err_set(e, EINVAL, "--call-memory: 1 MiB to 32 GiB");
	o->on = true;
	o->snapshot_ns = c->snapshot_ns;
	o->layout = (struct callflow_layout){
		.flags = CALLFLOW_TREES, .max_depth = c->call_depth, .nr_threads = MAX_THREADS,
		.nr_functions = MAX_FUNCTIONS, .pool_bytes = c->call_memory,
	};
	o->layout.flags |= c->precise_time ? CALLFLOW_PRECISE : 0;
	o->layout.flags |= c->call_tier ? CALLFLOW_TIERS : 0;
	o->layout.flags |= c->call_sites ? CALLFLOW_SITES : 0;
	if (c->calltrace || c->traces.nr_items)
		trace_events(&o->layout);
	o->slow = c->traces.nr_items ? slow : NULL;
	r = c->call_prune ? parse_prune(c->call_prune, &o->layout, e) : 0;
	if (!r)
		r = choose_metrics(&c->metrics, o, e);
	for (i = 0; !r && i < c->traces.nr_items; i++)
		r = slow_rules_add(slow, c->traces.items[i], e);
	if (!r && c->callflow && *c->callflow) {
		r = callrules_list(rules, c->callflow, e);
		if (r)
			err_wrap(e, "--callflow");
	}
	if (!r && c->config)
		r = calls_take_rules(c, rules, e);
	callrules_end(rules);
	if (!r)
		calibrate(o);
	o->layout.rules = rules->b.data;
	o->layout.rules_bytes = rules->b.len;
	return r;
}
