// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sourceconf.c - which sources a recording was asked for, and how: for all who look one up.
 */
#include <string.h>

#include "collect/engine/recording.h"

size_t sources_find(const struct collect *c, const char *name)
{
	size_t i;

	for (i = 0; i < c->o->nr_sources && strcmp(c->o->sources[i].kind->name, name); i++)
		;
	return i;
}

size_t sources_find_jvm(const struct collect *c, uint32_t jvm_source)
{
	size_t i;

	for (i = 0; i < c->o->nr_sources && c->o->sources[i].kind->jvm != jvm_source; i++)
		;
	return i;
}

uint64_t sources_interval(const struct collect *c, uint32_t jvm_source)
{
	size_t i = sources_find_jvm(c, jvm_source);

	return i < c->o->nr_sources ? c->o->sources[i].interval : 0;
}

bool sources_is_recorded(const struct collect *c, uint32_t jvm_source)
{
	return sources_find_jvm(c, jvm_source) < c->o->nr_sources;
}
