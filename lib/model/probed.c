// SPDX-License-Identifier: GPL-2.0-or-later
/* probed.c - finds functions whose entries and returns were both sampled (probed.h). */
#include <string.h>

#include "model/probed.h"
#include "trace/calls.h"

static const char entry[] = "uprobe:", leave[] = "uprobe-return:";

/* Check whether each hit was to be a sample, and not one of several (record -c). */
static bool is_each(const struct names *x, uint32_t event)
{
	const char *period = names_event(x, event, ".period");

	return !period || !strcmp(period, "1");
}

/* Return the event of that name, which begins with entry; PROBED_MAX_EVENTS: there is none. */
static uint32_t entry_of(const struct names *x, const char *function)
{
	const char *name;
	uint32_t i;

	for (i = 0; i < PROBED_MAX_EVENTS && (name = names_event(x, i, "")); i++)
		if (!strncmp(name, entry, strlen(entry)) && !strcmp(name + strlen(entry), function))
			return i;
	return PROBED_MAX_EVENTS;
}

void probed_find(struct probed *p, const struct names *x)
{
	const char *name;
	uint32_t i, at;

	memset(p, 0, sizeof(*p));
	if (names_label(x, "callflow"))
		return;
	for (i = 0; i < PROBED_MAX_EVENTS && (name = names_event(x, i, "")); i++) {
		if (strncmp(name, leave, strlen(leave)) != 0)
			continue;
		at = entry_of(x, name + strlen(leave));
		if (at == PROBED_MAX_EVENTS || p->events[at].function || !is_each(x, at) || !is_each(x, i))
			continue;
		p->functions[p->nr_functions++] = name + strlen(leave);
		p->events[at] = (struct probed_event){ p->nr_functions, CALL_ENTERED };
		p->events[i] = (struct probed_event){ p->nr_functions, CALL_LEFT };
	}
}

uint32_t probed_consumer(const struct probed *p, struct names *x, uint32_t function)
{
	const char *text = p->functions[function - 1], *colon = strchr(text, ':');
	struct consumers *c = &x->m->consumers;
	struct consumer k = { .kind = CONSUMER_NATIVE };

	k.name = strtab_adds(&c->names, colon ? colon + 1 : text);
	if (colon)
		k.module = strtab_add(&c->names, text, colon - text);
	return consumer_add(c, &k);
}
