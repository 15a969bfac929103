// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - the Firefox Profiler's processed profile format, gzipped JSON: the samples of one metric,
 * thread by thread, each with its time, and markers (write_markers.c).
 *
 * Tables are columns: an object of arrays.  Those of stacks, frames and functions are shared by all
 * threads, and come last.  A stack is its innermost frame and the stack of the caller, which comes
 * before it; what is inlined is a frame of its own.  Times and durations are in milliseconds.
 *
 * Source: src/types/profile.ts and docs-developer/CHANGELOG-formats.md of firefox-devtools/profiler, at
 * version 70 of the format.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/gzip.h"
#include "base/mem.h"
#include "base/quote.h"
#include "formats/firefox/write.h"
#include "version.h"

enum { PROCESSED_VERSION = 70, GECKO_VERSION = 30 };
enum { RESOURCE_LIBRARY = 1 };

/* the colours of the timeline; the first one, grey, is the default */
enum { CATEGORY_OTHER, CATEGORY_JAVA, CATEGORY_NATIVE, CATEGORY_KERNEL, CATEGORY_NR };
static const struct firefox_category {
	const char *name, *color;
	const char *const subcategories[6];	/* ends with NULL */
} categories[] = {
	[CATEGORY_OTHER] = { "Other", "grey", { "Other", "Stub" } },
	[CATEGORY_JAVA] = { "Java", "green", { "Other", "Interpreted", "Compiled", "C1", "C2" } },
	[CATEGORY_NATIVE] = { "Native", "blue", { "Other" } },
	[CATEGORY_KERNEL] = { "Kernel", "orange", { "Other" } },
};

struct firefox {
	struct view *v;
	struct json j;
	struct export x;
	struct map function_of;		/* function and module of the export -> index */
	struct firefox_function {
		uint32_t function, module;
	} *functions;
	size_t nr_functions, alloc_functions;
	struct map source_of;		/* name of a file -> index */
	uint32_t *sources;
	size_t nr_sources, alloc_sources;
	struct export_stacks stacks;
	struct firefox_markers markers;
	struct map tids;		/* -> how many threads had it so far */
};

/* ---- tables ---- */

static uint32_t function(struct firefox *x, const struct export_location *l)
{
	uint32_t *at = map_put(&x->function_of, (uint64_t)l->function << 32 | l->module);

	if (*at == MAP_NONE) {
		VEC_GROW(x->functions, x->nr_functions, x->alloc_functions);
		*at = x->nr_functions;
		x->functions[x->nr_functions++] = (struct firefox_function){ l->function, l->module };
	}
	return *at;
}

static uint32_t source(struct firefox *x, uint32_t file)
{
	uint32_t *at = map_put(&x->source_of, file);

	if (*at == MAP_NONE) {
		VEC_GROW(x->sources, x->nr_sources, x->alloc_sources);
		*at = x->nr_sources;
		x->sources[x->nr_sources++] = file;
	}
	return *at;
}

static void categorize(uint32_t kind, unsigned int *category, unsigned int *subcategory)
{
	bool java = kind_is(kind, KIND_JAVA);

	*category = java ? CATEGORY_JAVA : kind == CONSUMER_KERNEL ? CATEGORY_KERNEL :
		    kind_is(kind, KIND_NATIVE) ? CATEGORY_NATIVE :
		    CATEGORY_OTHER;
	*subcategory = kind == CONSUMER_JAVA_INTERPRETED || kind == CONSUMER_STUB ? 1 :
		       kind == CONSUMER_JAVA_COMPILED || kind == CONSUMER_JAVA_INLINED ? 2 :
		       kind == CONSUMER_JAVA_C1 ? 3 : kind == CONSUMER_JAVA_C2 ? 4 : 0;
}

/* Write a column of nr equal numbers. */
static void put_same(struct firefox *x, const char *key, size_t nr, int64_t value)
{
	json_array(&x->j, key);
	while (nr--)
		json_i64(&x->j, NULL, value);
	json_end(&x->j);
}

static void put_nulls(struct firefox *x, const char *key, size_t nr)
{
	json_array(&x->j, key);
	while (nr--)
		json_null(&x->j, NULL);
	json_end(&x->j);
}

static void put_falses(struct firefox *x, const char *key, size_t nr)
{
	json_array(&x->j, key);
	while (nr--)
		json_bool(&x->j, NULL, false);
	json_end(&x->j);
}

static void put_stacks(struct firefox *x)
{
	size_t i;

	json_object(&x->j, "stackTable");
	json_array(&x->j, "frame");
	for (i = 0; i < x->stacks.nr_list; i++)
		json_u64(&x->j, NULL, x->stacks.list[i].location - 1);
	json_end(&x->j);
	json_array(&x->j, "prefixOffset");	/* how far before it the caller is */
	for (i = 0; i < x->stacks.nr_list; i++)
		json_u64(&x->j, NULL, x->stacks.list[i].caller ? i + 1 - x->stacks.list[i].caller : 0);
	json_end(&x->j);
	json_u64(&x->j, "length", x->stacks.nr_list);
	json_end(&x->j);
}

static unsigned int inline_depth(const struct firefox *x, const struct export_location *l)
{
	unsigned int depth = 0;

	for (; l->caller; l = &x->x.locations[l->caller - 1])
		depth++;
	return depth;
}

static void put_frame_numbers(struct firefox *x)
{
	const struct export_location *l = x->x.locations;
	size_t nr = x->x.nr_locations, i;

	json_array(&x->j, "lib");
	for (i = 0; i < nr; i++)
		json_i64(&x->j, NULL, (int64_t)l[i].module - 1);
	json_end(&x->j);
	json_array(&x->j, "inlineDepth");
	for (i = 0; i < nr; i++)
		json_u64(&x->j, NULL, inline_depth(x, &l[i]));
	json_end(&x->j);
	json_array(&x->j, "func");
	for (i = 0; i < nr; i++)
		json_u64(&x->j, NULL, function(x, &l[i]));
	json_end(&x->j);
	json_array(&x->j, "line");
	for (i = 0; i < nr; i++)
		json_u64_known(&x->j, NULL, l[i].line, l[i].line);
	json_end(&x->j);
}

static void put_frame_categories(struct firefox *x, const char *key, bool sub)
{
	const struct export_location *l = x->x.locations;
	unsigned int category, subcategory;
	size_t i;

	json_array(&x->j, key);
	for (i = 0; i < x->x.nr_locations; i++) {
		categorize(l[i].kind, &category, &subcategory);
		json_u64(&x->j, NULL, sub ? subcategory : category);
	}
	json_end(&x->j);
}

static void firefox_put_frames(struct firefox *x)
{
	size_t nr = x->x.nr_locations;

	json_object(&x->j, "frameTable");
	put_same(x, "address", nr, -1);
	put_frame_numbers(x);
	put_frame_categories(x, "category", false);
	put_frame_categories(x, "subcategory", true);
	put_nulls(x, "nativeSymbol", nr);
	put_nulls(x, "innerWindowID", nr);
	put_nulls(x, "column", nr);
	put_nulls(x, "originalLocation", nr);
	json_u64(&x->j, "length", nr);
	json_end(&x->j);
}

static void put_functions(struct firefox *x)
{
	const struct firefox_function *f = x->functions;
	uint32_t file;
	size_t i;

	json_object(&x->j, "funcTable");
	json_array(&x->j, "name");
	for (i = 0; i < x->nr_functions; i++)
		json_u64(&x->j, NULL, x->x.functions[f[i].function - 1].name);
	json_end(&x->j);
	put_falses(x, "isJS", x->nr_functions);
	put_falses(x, "relevantForJS", x->nr_functions);
	json_array(&x->j, "resource");		/* one for each module */
	for (i = 0; i < x->nr_functions; i++)
		json_i64(&x->j, NULL, (int64_t)f[i].module - 1);
	json_end(&x->j);
	json_array(&x->j, "source");
	for (i = 0; i < x->nr_functions; i++) {
		file = x->x.functions[f[i].function - 1].file;
		json_u64_known(&x->j, NULL, file, file ? source(x, file) : 0);
	}
	json_end(&x->j);
	put_nulls(x, "lineNumber", x->nr_functions);
	put_nulls(x, "columnNumber", x->nr_functions);
	put_nulls(x, "originalLocation", x->nr_functions);
	json_u64(&x->j, "length", x->nr_functions);
	json_end(&x->j);
}

/* "libjvm.so" of its path. */
static const char *short_name(const struct firefox *x, const struct export_module *m)
{
	const char *path = export_str(&x->x, m->path), *name = strrchr(path, '/');

	return name && name[1] ? name + 1 : path;
}

static void put_resources(struct firefox *x)
{
	size_t nr = x->x.nr_modules, i;

	json_object(&x->j, "resourceTable");
	json_array(&x->j, "name");
	for (i = 0; i < nr; i++)
		json_u64(&x->j, NULL, export_string(&x->x, short_name(x, &x->x.modules[i])));
	json_end(&x->j);
	put_nulls(x, "host", nr);
	put_same(x, "type", nr, RESOURCE_LIBRARY);
	json_u64(&x->j, "length", nr);
	json_end(&x->j);
}

static void put_sources(struct firefox *x)
{
	size_t i;

	json_object(&x->j, "sources");
	put_nulls(x, "id", x->nr_sources);
	json_array(&x->j, "filename");
	for (i = 0; i < x->nr_sources; i++)
		json_u64(&x->j, NULL, x->sources[i]);
	json_end(&x->j);
	put_same(x, "startLine", x->nr_sources, 1);
	put_same(x, "startColumn", x->nr_sources, 1);
	put_nulls(x, "sourceMapURL", x->nr_sources);
	put_nulls(x, "content", x->nr_sources);
	json_u64(&x->j, "length", x->nr_sources);
	json_end(&x->j);
}

static void put_empty(struct firefox *x, const char *key, const char *const *columns)
{
	json_object(&x->j, key);
	for (; *columns; columns++)
		put_nulls(x, *columns, 0);
	json_u64(&x->j, "length", 0);
	json_end(&x->j);
}

/*
 * Write the shared tables. Frames number functions, and these number sources, so the order matters; strings
 * come last.
 */
static void put_shared(struct firefox *x)
{
	static const char *const symbols[] = { "libIndex", "address", "name", "functionSize", NULL };
	static const char *const places[] = { "source", "line", "column", NULL };
	size_t i;

	json_object(&x->j, "shared");
	put_stacks(x);
	firefox_put_frames(x);
	put_functions(x);
	put_resources(x);
	put_sources(x);
	put_empty(x, "nativeSymbols", symbols);
	put_empty(x, "sourceLocationTable", places);
	json_array(&x->j, "stringArray");
	for (i = 0; i < x->x.strings.nr_entries; i++)
		json_str(&x->j, NULL, export_str(&x->x, i));
	json_end(&x->j);
	json_end(&x->j);
}

/* ---- modules ---- */

/* Write a build-id as Breakpad does: its first 16 bytes as a GUID, whose first three numbers are reversed. */
static void breakpad_id(const char *build_id, char *out)
{
	static const unsigned char order[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	size_t i, nr = 0;

	for (i = 0; i < sizeof(order) && strlen(build_id) >= 2 * sizeof(order); i++) {
		out[nr++] = toupper((unsigned char)build_id[2 * order[i]]);
		out[nr++] = toupper((unsigned char)build_id[2 * order[i] + 1]);
	}
	if (nr)
		out[nr++] = '0';
	out[nr] = '\0';
}

static void put_libs(struct firefox *x)
{
	char id[34];
	size_t i;

	json_array(&x->j, "libs");
	for (i = 0; i < x->x.nr_modules; i++) {
		const struct export_module *m = &x->x.modules[i];
		const char *path = export_str(&x->x, m->path), *name = short_name(x, m);

		breakpad_id(m->build_id, id);
		json_object(&x->j, NULL);
		json_str(&x->j, "arch", "");
		json_str(&x->j, "name", name);
		json_str(&x->j, "path", path);
		json_str(&x->j, "debugName", name);
		json_str(&x->j, "debugPath", path);
		json_str(&x->j, "breakpadId", id);
		json_str(&x->j, "codeId", *m->build_id ? m->build_id : NULL);
		json_end(&x->j);
	}
	json_end(&x->j);
}

/* ---- threads ---- */

static const char *weight_type(const struct firefox *x, const struct export_samples *s)
{
	const struct model *m = x->v->m;
	const char *unit = model_str(m, m->metrics[x->v->o->sort_metric].unit);

	if (s->by_n)
		return "samples";
	return !strcmp(unit, "ns") ? "tracing-ms" : !strcmp(unit, "bytes") ? "bytes" : "samples";
}

static void put_times(struct firefox *x, const struct export_samples *s, const struct export_track *t,
		      bool ns)
{
	uint64_t at = 0;
	size_t i;

	json_array(&x->j, "time");
	for (i = t->first; i < t->first + t->nr; i++) {
		/* what has no times goes on one after the other */
		json_decimal(&x->j, NULL, s->timed ? export_sample(s, i).time_ns : at, FIREFOX_NS_DECIMALS);
		at += ns ? export_sample(s, i).weight : 1000000;
	}
	json_end(&x->j);
}

/*
 * Write the CPU time since the previous sample, which the timeline draws. Only weights of a CPU clock are
 * that.
 */
static void put_cpu_deltas(struct firefox *x, const struct export_samples *s, const struct export_track *t)
{
	const struct model *m = x->v->m;
	const char *metric = model_str(m, m->metrics[x->v->o->sort_metric].name);
	size_t i;

	if (!s->timed || (strcmp(metric, "cpu-clock") && strcmp(metric, "task-clock")))
		return;
	json_array(&x->j, "threadCPUDelta");
	for (i = t->first; i < t->first + t->nr; i++)
		json_u64(&x->j, NULL, export_sample(s, i).weight);
	json_end(&x->j);
}

static void firefox_put_samples(struct firefox *x, const struct export_samples *s,
				const struct export_track *t)
{
	const char *type = weight_type(x, s);
	bool ns = !strcmp(type, "tracing-ms");
	size_t i, end = t->first + t->nr;

	json_object(&x->j, "samples");
	json_array(&x->j, "stack");
	for (i = t->first; i < end; i++)
		json_u64(&x->j, NULL, export_stack(&x->stacks, export_sample(s, i).node) - 1);
	json_end(&x->j);
	put_times(x, s, t, ns);
	json_array(&x->j, "weight");
	for (i = t->first; i < end; i++)
		json_decimal(&x->j, NULL, export_sample(s, i).weight, ns ? FIREFOX_NS_DECIMALS : 0);
	json_end(&x->j);
	json_str(&x->j, "weightType", type);
	put_cpu_deltas(x, s, t);
	json_u64(&x->j, "length", t->nr);
	json_end(&x->j);
}

static const char *root_name(struct firefox *x, uint32_t node)
{
	const struct model *m = x->v->m;

	return quote_str(&x->x.escaped, model_str(m, m->consumers.items[m->flow.nodes[node].consumer].name));
}

/* Write a unique number of a thread: one that was used again, or by threads without one, gets a suffix. */
static void put_tid(struct firefox *x, uint32_t tid)
{
	uint32_t *nr = map_put(&x->tids, tid);
	char text[32];

	*nr = *nr == MAP_NONE ? 0 : *nr + 1;
	snprintf(text, sizeof(text), "%u.%u", tid, *nr);
	if (*nr)
		json_str(&x->j, "tid", text);
	else
		json_u64(&x->j, "tid", tid);
}

static void put_thread_head(struct firefox *x, uint32_t root)
{
	const struct model *m = x->v->m;
	uint32_t process = export_process(x->v, root);
	const struct consumer *p = &m->consumers.items[m->flow.nodes[process].consumer];
	const struct consumer *t = &m->consumers.items[m->flow.nodes[root].consumer];
	bool is_thread = root && t->kind == CONSUMER_THREAD;
	char pid[16];

	snprintf(pid, sizeof(pid), "%u", process ? export_pid(p) : 0);
	json_str(&x->j, "name", root ? root_name(x, root) : "all");
	json_str(&x->j, "processName", process ? root_name(x, process) : "");
	json_str(&x->j, "processType", "default");
	json_str(&x->j, "pid", pid);
	put_tid(x, is_thread ? export_tid(t) : process ? export_pid(p) : 0);
	json_bool(&x->j, "isMainThread", !is_thread || export_tid(t) == export_pid(p));
	json_u64(&x->j, "processStartupTime", 0);
	json_null(&x->j, "processShutdownTime");
	json_u64(&x->j, "registerTime", 0);
	json_null(&x->j, "unregisterTime");
	put_nulls(x, "pausedRanges", 0);
}

static void put_threads(struct firefox *x, const struct export_samples *s)
{
	size_t i;

	json_array(&x->j, "threads");
	for (i = 0; i < s->nr_tracks; i++) {
		json_object(&x->j, NULL);
		put_thread_head(x, s->tracks[i].root);
		json_bool(&x->j, "showMarkersInTimeline", firefox_markers_of(&x->markers, i));
		firefox_put_samples(x, s, &s->tracks[i]);
		firefox_put_markers(&x->markers, &x->j, &x->x, i);
		json_end(&x->j);
	}
	json_end(&x->j);
}

/* ---- the profile ---- */

static void put_categories(struct firefox *x)
{
	size_t i, k;

	json_array(&x->j, "categories");
	for (i = 0; i < CATEGORY_NR; i++) {
		json_object(&x->j, NULL);
		json_str(&x->j, "name", categories[i].name);
		json_str(&x->j, "color", categories[i].color);
		json_array(&x->j, "subcategories");
		for (k = 0; categories[i].subcategories[k]; k++)
			json_str(&x->j, NULL, categories[i].subcategories[k]);
		json_end(&x->j);
		json_end(&x->j);
	}
	json_end(&x->j);
}

static void put_extra(struct firefox *x, const char *label, const char *format, const char *text)
{
	if (!text)
		return;
	json_object(&x->j, NULL);
	json_str(&x->j, "label", label);
	json_str(&x->j, "format", format);
	json_str(&x->j, "value", quote_str(&x->x.escaped, text));
	json_end(&x->j);
}

static void put_extras(struct firefox *x)
{
	const struct origin *origin = x->v->origin;
	const struct model *m = x->v->m;
	char lost[24];

	snprintf(lost, sizeof(lost), "%" PRIu64, origin->lost);
	json_array(&x->j, "extra");
	json_object(&x->j, NULL);
	json_str(&x->j, "label", "Recording");
	json_array(&x->j, "entries");
	put_extra(x, "Command", "string", origin->command);
	put_extra(x, "Host", "string", origin->host);
	put_extra(x, "Metric", "string", model_str(m, m->metrics[x->v->o->sort_metric].name));
	put_extra(x, "Lost samples", "string", lost);
	json_end(&x->j);
	json_end(&x->j);
	json_end(&x->j);
}

static void put_meta(struct firefox *x)
{
	const struct origin *origin = x->v->origin;
	bool ns = origin->period && origin->period_unit && !strcmp(origin->period_unit, "ns");

	json_object(&x->j, "meta");
	json_decimal(&x->j, "interval", ns ? origin->period : 1000000, FIREFOX_NS_DECIMALS);
	json_decimal(&x->j, "startTime", origin->start_ns, FIREFOX_NS_DECIMALS);
	json_u64(&x->j, "processType", 0);
	json_str(&x->j, "product", origin->command ? quote_str(&x->x.escaped, origin->command) : "arcprof");
	json_u64(&x->j, "stackwalk", 1);
	json_u64(&x->j, "version", GECKO_VERSION);
	json_u64(&x->j, "preprocessedProfileVersion", PROCESSED_VERSION);
	put_categories(x);
	json_str(&x->j, "importedFrom", "arcprof " ARCPROF_VERSION);
	json_bool(&x->j, "symbolicated", true);
	json_bool(&x->j, "symbolicationNotSupported", true);
	json_bool(&x->j, "usesOnlyOneStackType", true);
	json_bool(&x->j, "sourceCodeIsNotOnSearchfox", true);
	json_bool(&x->j, "keepProfileThreadOrder", true);
	json_object(&x->j, "sampleUnits");
	json_str(&x->j, "time", "ms");
	json_str(&x->j, "eventDelay", "ms");
	json_str(&x->j, "threadCPUDelta", "ns");
	json_end(&x->j);
	firefox_put_schema(&x->j);
	put_extras(x);
	json_end(&x->j);
}

static void say_lacks(struct view *v)
{
	const struct model *m = v->m;
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (i != v->o->sort_metric)
			export_lacks(v, "%s, which --metric shows", model_str(m, m->metrics[i].name));
	export_lacks(v, "addresses");
}

int firefox_print(struct view *v, FILE *out, struct err *e)
{
	FILE *packed = gzip_open(out, e);
	struct firefox x = { .v = v };
	struct export_samples s;
	int r;

	if (!packed)
		return -ENOMEM;
	json_init(&x.j, packed);
	export_init(&x.x, v);
	export_stacks_init(&x.stacks, &x.x);
	export_samples_init(&s, v, v->o->sort_metric);
	r = firefox_markers_init(&x.markers, v, &s, e);
	if (!r) {
		json_object(&x.j, NULL);
		put_meta(&x);
		put_threads(&x, &s);
		put_libs(&x);
		put_shared(&x);
		json_end(&x.j);
		say_lacks(v);
	}
	fclose(packed);
	firefox_markers_release(&x.markers);
	export_samples_release(&s);
	export_stacks_release(&x.stacks);
	export_release(&x.x);
	map_release(&x.function_of);
	map_release(&x.source_of);
	map_release(&x.tids);
	free(x.functions);
	free(x.sources);
	return r;
}
