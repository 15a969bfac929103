// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * part.c - calls the hooks of a recording's parts, in the order that part.h promises.
 */
#include "collect/part.h"
#include "collect/state.h"

void parts_take(const struct collect *c, struct jvm_callbacks *cb)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++) {
		const struct jvm_callbacks *p = c->parts[i]->agent;

		if (!p)
			continue;
		if (p->program)
			cb->program = p->program;
#define RECORD(s, ...) \
		if (p->s) \
			cb->s = p->s;
#include "jvm/table.h"
	}
}

const struct part *parts_of_source(const struct collect *c, uint32_t source)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		if (c->parts[i]->java_sample && c->parts[i]->source == source)
			return c->parts[i];
	return NULL;
}

void parts_turn(struct collect *c, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		if (c->parts[i]->turn)
			c->parts[i]->turn(c, now_ns);
}

void parts_end(struct collect *c, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		if (c->parts[i]->ends)
			c->parts[i]->ends(c, now_ns);
}

void parts_ended(struct collect *c, uint64_t now_ns)
{
	size_t i;

	for (i = c->nr_parts; i--;)
		if (c->parts[i]->ended)
			c->parts[i]->ended(c, now_ns);
}

void parts_stand(struct collect *c)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		if (c->parts[i]->stand)
			c->parts[i]->stand(c);
}

void parts_next_file(struct collect *c, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		if (c->parts[i]->next_file)
			c->parts[i]->next_file(c, now_ns);
}

void parts_forget(struct collect *c, const struct map *procs)
{
	size_t i;

	for (i = 0; i < c->nr_parts; i++)
		if (c->parts[i]->forget)
			c->parts[i]->forget(c, procs);
}

void parts_close(struct collect *c)
{
	size_t i;

	for (i = c->nr_parts; i--;)
		if (c->parts[i]->close)
			c->parts[i]->close(c);
}
