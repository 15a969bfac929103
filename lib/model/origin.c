// SPDX-License-Identifier: GPL-2.0-or-later
/* origin.c - collects what a model came from (origin.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/names.h"
#include "model/origin.h"

static const char *numbered(const struct names *x, const char *label, size_t i)
{
	char key[32];

	snprintf(key, sizeof(key), "%s.%zu", label, i);
	return names_label(x, key);
}

/* List the labels "label.0", "label.1", and so on. */
static const char *const *list_labels(struct names *x, const char *label, size_t *nr)
{
	const char **list;
	size_t i;

	for (*nr = 0; numbered(x, label, *nr); ++*nr)
		;
	list = arena_alloc(&x->text, *nr * sizeof(*list));
	for (i = 0; i < *nr; i++)
		list[i] = numbered(x, label, i);
	return list;
}

bool origin_knows(const struct origin *origin, const char *what)
{
	return !origin->unknown || !strstr(origin->unknown, what);
}

/* List the shares; the amount and the count of a source have one switch. */
static void list_shares(struct origin *origin, const struct names *x, struct arena *a, uint64_t from_ns,
			uint64_t to_ns)
{
	struct origin_share *list;
	uint32_t event, nr = 0;

	for (nr = 0; names_event(x, nr, ""); nr++)
		;
	if (!x->nr_recorded)
		return;
	list = arena_alloc(a, (nr + 1) * sizeof(*list));
	for (event = 0; event < nr; event++) {
		uint64_t on_ns;

		on_ns = names_recorded_ns(x, names_event_of(x, event), from_ns, to_ns);
		if (on_ns < to_ns - from_ns)
			list[origin->nr_shares++] = (struct origin_share){ names_event(x, event, ""), on_ns };
	}
	if (names_label(x, "callflow")) {
		uint64_t on_ns = names_recorded_ns(x, "calls", from_ns, to_ns);

		if (on_ns < to_ns - from_ns)
			list[origin->nr_shares++] = (struct origin_share){ "calls", on_ns, true };
	}
	origin->shares = list;
}

const struct origin_share *origin_share(const struct origin *origin, const char *metric, bool is_calls)
{
	size_t i;

	for (i = 0; i < origin->nr_shares; i++)
		if (origin->shares[i].is_calls == is_calls &&
		    (is_calls || !strcmp(origin->shares[i].metric, metric)))
			return &origin->shares[i];
	return NULL;
}

/*
 * Note, for a recording of live objects, the bytes that no collection has decided: they are in no sum of
 * live.
 */
static void note_unknown(struct origin *origin, struct names *x)
{
	uint32_t event = names_find_event(x, "live");
	const char *live = event == UINT32_MAX ? NULL : names_event(x, event, ".count");
	uint64_t unknown = names_label_u64(x, "live.unknown_bytes");
	struct buf b = BUF_INIT;
	const char **list;

	if (event == UINT32_MAX || !unknown)
		return;
	buf_fmt(&b, "%s bytes are known to be live, as of the last collection; %" PRIu64 " bytes were allocated since, of which nothing is known yet (%s--live-gc collects in the end)",
		live ? live : "0", unknown,
		names_find_event(x, "live-unknown") == UINT32_MAX ? "record " : "metric live-unknown; record ");
	list = arena_alloc(&x->text, (origin->nr_notes + 1) * sizeof(*list));
	memcpy(list, origin->notes, origin->nr_notes * sizeof(*list));
	list[origin->nr_notes++] = arena_strndup(&x->text, b.data, b.len);
	origin->notes = list;
	buf_release(&b);
}

void origin_fill(struct origin *origin, struct names *x, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t start = names_label_u64(x, "start.mono_ns"), end = names_label_u64(x, "end.mono_ns");
	uint64_t begin = MAX(start ? start : first_ns, names_label_u64(x, "reset.mono_ns"));

	if (!end)
		end = last_ns;
	*origin = (struct origin){
		.is_trace = true,
		.command = names_label(x, "command"),
		.host = names_label(x, "host"),
		.jvm_events = names_label(x, "jvm_events"),
		.has_labels = names_has_labels(x),
		.has_dispatches = names_label(x, "sched.scope"),
		.machine = names_label(x, "arch"),
		.start_ns = names_label_u64(x, "start.realtime_ns"),
		.duration_ns = end > begin ? end - begin : 0,
		.lost = x->lost,
		.stopped_ns = names_stopped_ns(x),
		.nr_after = x->nr_after,
		.nr_local_modules = x->nr_local_modules,
		.modules = x->modules,
		.nr_modules = x->nr_modules,
		.threads = x->threads,
		.nr_threads = x->nr_threads,
		.triggers = x->triggers,
		.nr_triggers = x->nr_triggers,
		.filters = x->filters,
		.nr_filters = x->nr_filters,
		.begin_ns = start ? start : first_ns,
		.nr_virtual = names_label_u64(x, "virtual.threads"),
		.virtual_ns = names_label_u64(x, "virtual.life_ns"),
		.mounted_ns = names_label_u64(x, "virtual.mounted_ns"),
		.hprof = names_label(x, "hprof"),
		.imported = names_label(x, "import"),
		.unknown = names_label(x, "import.unknown"),
		.modes_unknown = names_label(x, "import.modes"),
	};
	origin->notes = list_labels(x, "import.note", &origin->nr_notes);
	note_unknown(origin, x);
	if (end > begin)
		list_shares(origin, x, &x->text, begin, end);
}

void origin_fill_recorded(struct origin *origin, struct names *x, uint32_t event)
{
	const char *rate = names_event(x, event, ".rate_hz"), *period = names_event(x, event, ".period");
	const char *sampler = names_label(x, "sampler");

	origin->throttled = x->throttled;
	origin->skipped = x->skipped;
	origin->rate_hz = rate ? strtod(rate, NULL) : 0;
	origin->rate_mode = names_event(x, event, ".mode");
	origin->tick_bound = sampler && !strcmp(sampler, "timers");
	origin->period = period ? strtoull(period, NULL, 10) : 0;
	origin->period_event = names_event(x, event, "");
	origin->period_unit = names_event(x, event, ".unit");
	origin->nr_cpus = names_label_u64(x, "cpus");
	origin->deadlocks = list_labels(x, "deadlock", &origin->nr_deadlocks);
	origin->refused = list_labels(x, "refused", &origin->nr_refused);
	origin->outside = list_labels(x, "outside", &origin->nr_outside);
}
