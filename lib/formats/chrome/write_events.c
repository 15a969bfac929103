// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_events.c - writes events of JVMs as Chrome's trace events: one with a duration is a bar on the
 * track of its thread, others are marks.  Labels of threads begin and end on a track of their own
 * (asynchronous events): they need not nest with what the thread does.
 */
#include <errno.h>

#include "base/fields.h"
#include "base/labels.h"
#include "base/quote.h"
#include "formats/chrome/write.h"
#include "model/events.h"

static void chrome_put_text(struct chrome *c, const struct events *v, const char *key, uint32_t string)
{
	if (*events_str(v, string))
		json_str(&c->j, key, quote_str(&c->x.escaped, events_str(v, string)));
}

static void put_args(struct chrome *c, const struct events *v, const struct event *x)
{
	const char *cause = events_str(v, x->cause);
	enum event_value k;

	json_object(&c->j, "args");
	if (*cause)
		json_str(&c->j, "cause", quote_str(&c->x.escaped, cause));
	chrome_put_text(c, v, "by", x->by);
	chrome_put_text(c, v, "source", x->source);
	chrome_put_text(c, v, "last", x->last);
	for (k = 1; k < VALUE_NR; k++)
		if (event_value(x, k) != EVENT_UNKNOWN)
			json_u64(&c->j, event_value_keys[k], event_value(x, k));
	fields_put_json(&c->j, events_fields(v, x), x->fields_len);
	json_end(&c->j);
}

/* Return where an event is shown, after naming the process and thread. */
static struct chrome_place place_of(struct chrome *c, const struct events *v, const struct event *x)
{
	const struct consumers *names = &v->strings.consumers;
	uint32_t pid = names->items[x->process].key >> 32, tid = x->tid ? x->tid : pid;

	chrome_name_process(c, pid, consumer_name(names, x->process));
	if (x->thread)
		chrome_name_thread(c, pid, tid, consumer_name(names, x->thread));
	return (struct chrome_place){ pid, tid };
}

static void put_event(struct chrome *c, const struct events *v, const struct event *x)
{
	struct chrome_place at = place_of(c, v, x);
	bool lasts = x->duration_ns != EVENT_UNKNOWN;

	chrome_event(c, lasts ? "X" : "i", at.pid, at.tid);
	chrome_time(c, "ts", x->time_ns);
	if (lasts)
		chrome_duration(c, x->duration_ns);
	else
		json_str(&c->j, "s", "t");
	json_str(&c->j, "cat", event_kinds[x->kind].name);
	json_str(&c->j, "name", quote_str(&c->x.escaped, events_str(v, x->what)));
	put_args(c, v, x);
	json_end(&c->j);
}

static void put_labels_end(struct chrome *c, struct chrome_place at, const char *phase, uint64_t time_ns,
			   const char *labels)
{
	char id[24];

	snprintf(id, sizeof(id), "0x%x", at.tid);
	chrome_event(c, phase, at.pid, at.tid);
	chrome_time(c, "ts", time_ns);
	json_str(&c->j, "cat", "labels");
	json_str(&c->j, "id", id);
	json_str(&c->j, "name", quote_str(&c->x.escaped, labels));
}

static void chrome_put_labels(struct chrome *c, const struct events *v, const struct event *x)
{
	const char *labels = events_str(v, x->labels), *next = labels;
	struct chrome_place at = place_of(c, v, x);
	struct buf key = BUF_INIT, value = BUF_INIT;

	put_labels_end(c, at, "b", x->time_ns, labels);
	json_object(&c->j, "args");
	while (labels_next(&next, &key, &value))
		json_str(&c->j, key.data, quote_str(&c->x.escaped, value.data));
	json_end(&c->j);
	json_end(&c->j);
	put_labels_end(c, at, "e", x->time_ns + x->duration_ns, labels);
	json_end(&c->j);
	buf_release(&key);
	buf_release(&value);
}

int chrome_put_events(struct chrome *c, struct err *e)
{
	const struct events_opts o = {
		.kinds = EVENT_KINDS_HAPPEN, .select = &c->v->o->select, .labels = true,
	};
	struct event x;
	struct events v;
	size_t i;
	int r = events_read(&v, c->v->trace, &o, e);

	for (i = 0; !r && i < v.nr; i++)
		put_event(c, &v, &v.list[i]);
	for (i = 0; !r && events_labels(&v, &i, &x);)
		chrome_put_labels(c, &v, &x);
	events_release(&v);
	return r == -ENODATA ? 0 : r;
}
