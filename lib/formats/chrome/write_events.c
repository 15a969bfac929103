// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write_events.c - events of JVMs as Chrome's trace events: what lasts is a bar on the track of its thread,
 * what happens a mark.
 */
#include <errno.h>

#include "base/fields.h"
#include "base/quote.h"
#include "formats/chrome/write.h"
#include "model/events.h"

static void put_text(struct chrome *c, const struct events *v, const char *key, uint32_t string)
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
	put_text(c, v, "by", x->by);
	put_text(c, v, "source", x->source);
	put_text(c, v, "last", x->last);
	for (k = 1; k < VALUE_NR; k++)
		if (event_value(x, k) != EVENT_UNKNOWN)
			json_u64(&c->j, event_value_keys[k], event_value(x, k));
	fields_put_json(&c->j, events_fields(v, x), x->fields_len);
	json_end(&c->j);
}

static void put_event(struct chrome *c, const struct events *v, const struct event *x)
{
	const struct consumers *names = &v->strings.consumers;
	uint32_t pid = names->items[x->process].key >> 32, tid = x->tid ? x->tid : pid;
	bool lasts = x->duration_ns != EVENT_UNKNOWN;

	chrome_name_process(c, pid, consumer_name(names, x->process));
	if (x->thread)
		chrome_name_thread(c, pid, tid, consumer_name(names, x->thread));
	chrome_event(c, lasts ? "X" : "i", pid, tid);
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

int chrome_put_events(struct chrome *c, struct err *e)
{
	const struct events_opts o = { .kinds = EVENT_KINDS_HAPPEN, .select = &c->v->o->select };
	struct events v;
	size_t i;
	int r = events_read(&v, c->v->trace, &o, e);

	for (i = 0; !r && i < v.nr; i++)
		put_event(c, &v, &v.list[i]);
	events_release(&v);
	return r == -ENODATA ? 0 : r;
}
