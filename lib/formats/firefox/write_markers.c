// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_markers.c - markers of the Firefox Profiler: events of JVMs, marks and phases, and labels of threads
 * for as long as a thread had them.
 *
 * Source: src/types/markers.ts and docs-developer/markers.md of firefox-devtools/profiler.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "formats/firefox/write.h"

enum { PHASE_INSTANT, PHASE_INTERVAL };

#define MARKER_TYPE "arcprof"

/* ---- tracks ---- */

static uint64_t process_key(uint32_t pid)
{
	return names_pair(pid, UINT32_MAX);
}

/* Map pid and tid, and the first track of a pid, to the index of a track. */
static void map_tracks(struct map *tracks, const struct view *v, const struct export_samples *s)
{
	const struct model *m = v->m;
	size_t i;

	for (i = 0; i < s->nr_tracks; i++) {
		uint32_t root = s->tracks[i].root, process = export_process(v, root), *first;
		const struct consumer *t = &m->consumers.items[m->flow.nodes[root].consumer];
		uint32_t pid = process ? export_pid(&m->consumers.items[m->flow.nodes[process].consumer]) : 0;

		if (root && t->kind == CONSUMER_THREAD)
			*map_put(tracks, names_pair(pid, export_tid(t))) = i;
		first = map_put(tracks, process_key(pid));
		*first = *first == MAP_NONE ? i : *first;
	}
}

static size_t track_of(const struct map *tracks, const struct events *v, const struct event *x)
{
	uint32_t pid = v->strings.consumers.items[x->process].key >> 32;
	uint32_t at = map_get(tracks, names_pair(pid, x->tid ? x->tid : pid));

	if (at == MAP_NONE)
		at = map_get(tracks, process_key(pid));
	return at == MAP_NONE ? 0 : at;
}

static void add(struct firefox_markers *m, const struct map *tracks, const struct event *x, bool is_labels)
{
	*VEC_ADD(m->list, m->nr, m->alloc) =
		(struct firefox_marker){ track_of(tracks, &m->v, x), is_labels, *x };
}

static int compare_marker_times(const void *a, const void *b)
{
	const struct firefox_marker *x = a, *y = b;

	return COMPARE(x->track, y->track) ?: COMPARE(x->x.time_ns, y->x.time_ns) ?:
	       (int)x->is_labels - (int)y->is_labels;
}

int firefox_markers_init(struct firefox_markers *m, struct view *v, const struct export_samples *s,
			 struct err *e)
{
	const struct events_opts o = { .kinds = EVENT_KINDS_HAPPEN, .select = &v->o->select, .labels = true };
	struct map tracks = { 0 };
	struct event x;
	size_t i;
	int r;

	*m = (struct firefox_markers){ .start_ns = v->m->times.start_ns };
	if (!v->trace)
		return 0;
	r = events_read(&m->v, v->trace, &o, e);
	m->has_events = true;
	if (r)
		return r == -ENODATA ? 0 : r;
	map_tracks(&tracks, v, s);
	for (i = 0; i < m->v.nr; i++)
		add(m, &tracks, &m->v.list[i], false);
	for (i = 0; events_labels(&m->v, &i, &x);)
		add(m, &tracks, &x, true);
	map_release(&tracks);
	if (m->nr && (!s->timed || !s->nr_tracks)) {
		export_lacks(v, "events, marks and labels, as there are no samples with times beside them");
		m->nr = 0;
	}
	if (m->nr)
		qsort(m->list, m->nr, sizeof(*m->list), compare_marker_times);
	return 0;
}

void firefox_markers_release(struct firefox_markers *m)
{
	if (m->has_events)
		events_release(&m->v);
	free(m->list);
}

size_t firefox_markers_of(const struct firefox_markers *m, size_t track)
{
	size_t nr = 0;

	while (m->at + nr < m->nr && m->list[m->at + nr].track == track)
		nr++;
	return nr;
}

/* ---- the table ---- */

static const char *name_of(const struct firefox_markers *m, const struct firefox_marker *k)
{
	return events_str(&m->v, k->is_labels ? k->x.labels : k->x.what);
}

static bool lasts(const struct firefox_marker *k)
{
	return k->x.duration_ns != EVENT_UNKNOWN;
}

static void marker_put_text(struct json *j, struct export *x, const char *key, const char *text)
{
	if (text && *text)
		json_str(j, key, quote_str(&x->escaped, text));
}

static void put_data(struct firefox_markers *m, struct json *j, struct export *x,
		     const struct firefox_marker *k)
{
	const struct event *e = &k->x;
	char *values;
	size_t i;

	json_object(j, NULL);
	json_str(j, "type", MARKER_TYPE);
	if (k->is_labels) {
		json_str(j, "kind", "labels");
	} else {
		values = events_fields_json(&m->v, e);
		json_str(j, "kind", event_kinds[e->kind].name);
		marker_put_text(j, x, "cause", events_str(&m->v, e->cause));
		marker_put_text(j, x, "by", events_str(&m->v, e->by));
		marker_put_text(j, x, "source", events_str(&m->v, e->source));
		marker_put_text(j, x, "last", events_str(&m->v, e->last));
		marker_put_text(j, x, "values", values);
		for (i = 1; i < VALUE_NR; i++)
			if (event_value(e, i) != EVENT_UNKNOWN)
				json_u64(j, event_value_keys[i], event_value(e, i));
		free(values);
	}
	json_end(j);
}

static void put_ms(struct json *j, const struct firefox_markers *m, uint64_t time_ns)
{
	json_decimal(j, NULL, time_ns > m->start_ns ? time_ns - m->start_ns : 0, FIREFOX_NS_DECIMALS);
}

static void put_end(struct json *j, const struct firefox_markers *m, const struct firefox_marker *k)
{
	if (lasts(k))
		put_ms(j, m, k->x.time_ns + k->x.duration_ns);
	else
		json_null(j, NULL);
}

void firefox_put_markers(struct firefox_markers *m, struct json *j, struct export *x, size_t track)
{
	size_t nr = firefox_markers_of(m, track), i;
	const struct firefox_marker *k = nr ? m->list + m->at : NULL;

	json_object(j, "markers");
	json_array(j, "data");
	for (i = 0; i < nr; i++)
		put_data(m, j, x, &k[i]);
	json_end(j);
	json_array(j, "name");
	for (i = 0; i < nr; i++)
		json_u64(j, NULL, export_string(x, name_of(m, &k[i])));
	json_end(j);
	json_array(j, "startTime");
	for (i = 0; i < nr; i++)
		put_ms(j, m, k[i].x.time_ns);
	json_end(j);
	json_array(j, "endTime");
	for (i = 0; i < nr; i++)
		put_end(j, m, &k[i]);
	json_end(j);
	json_array(j, "phase");
	for (i = 0; i < nr; i++)
		json_u64(j, NULL, lasts(&k[i]) ? PHASE_INTERVAL : PHASE_INSTANT);
	json_end(j);
	json_array(j, "category");
	for (i = 0; i < nr; i++)
		json_u64(j, NULL, 0);
	json_end(j);
	json_u64(j, "length", nr);
	json_end(j);
	m->at += nr;
}

/* ---- what they mean ---- */

static void put_field(struct json *j, const char *key, const char *format)
{
	json_object(j, NULL);
	json_str(j, "key", key);
	json_str(j, "format", format);
	json_end(j);
}

static bool marker_ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), n = strlen(end);

	return len >= n && !strcmp(s + len - n, end);
}

void firefox_put_schema(struct json *j)
{
	static const char *const texts[] = { "kind", "cause", "by", "source", "last", "values" };
	static const char *const display[] = { "marker-chart", "marker-table", "timeline-overview" };
	size_t i;

	json_array(j, "markerSchema");
	json_object(j, NULL);
	json_str(j, "name", MARKER_TYPE);
	json_str(j, "tooltipLabel", "{marker.name}");
	json_str(j, "tableLabel", "{marker.data.kind}");
	json_str(j, "chartLabel", "{marker.name}");
	json_array(j, "display");
	for (i = 0; i < ARRAY_SIZE(display); i++)
		json_str(j, NULL, display[i]);
	json_end(j);
	json_array(j, "fields");
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		put_field(j, texts[i], "string");
	for (i = 1; i < VALUE_NR; i++)
		put_field(j, event_value_keys[i], marker_ends_with(event_value_keys[i], "_bytes") ? "bytes" :
						  marker_ends_with(event_value_keys[i], "_ns") ? "nanoseconds" : "integer");
	json_end(j);
	json_end(j);
	json_end(j);
}
