// SPDX-License-Identifier: GPL-2.0-or-later
/* sequences.c - computes the cost of counting from one event to the next (sequences.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/calibrate.h"
#include "model/sequences.h"

static bool read_sequences(const struct names *x, const char *key, struct calibration_cost *out)
{
	const char *text = names_label(x, key);

	return text && calibration_cost(text, out) && out->has_sequences;
}

/* Read the costs of the last kind from labels with the metric's number inside and a tier at the end. */
static void read_costs(struct sequences *s, const char *before, const char *after)
{
	struct sequences_kind *k = &s->kinds[s->nr_kinds - 1];
	unsigned int m;
	char key[80];
	int tier;

	for (m = 0; m < CALL_MAX_METRICS; m++) {
		for (tier = 0; tier < CALIBRATION_NR_TIERS; tier++) {
			struct calibration_cost cost = { 0 };
			bool has;

			snprintf(key, sizeof(key), "%s%u%s%s%s", before, m, after, tier ? "." : "",
				 calibration_tier_name(tier));
			has = read_sequences(s->names, key, &cost);
			k->has[m] |= has;
			k->of[tier][m] = has ? cost : k->of[CALIBRATION_ANY_TIER][m];
		}
		s->any |= k->has[m];
	}
}

void sequences_init(struct sequences *s, const struct names *x)
{
	const char *text;
	char key[48], *end;
	int i;

	*s = (struct sequences){ .names = x, .nr_kinds = 1 };
	read_costs(s, "call.metric.", ".calibration");
	for (i = 0; i < CALIBRATION_JVMS; i++) {
		struct sequences_kind *k = &s->kinds[s->nr_kinds];

		snprintf(key, sizeof(key), "call.java.%d", i);
		text = names_label(x, key);
		if (!text)
			break;
		k->jvm = strtoull(text, &end, 16);
		k->version = *end == ' ' ? end + 1 : end;
		snprintf(key, sizeof(key), "call.java.%d.metric.", i);
		s->nr_kinds++;
		read_costs(s, key, "");
	}
}

static uint64_t jvm_of(const struct names *x, uint32_t proc)
{
	size_t i;

	for (i = 0; i < x->nr_procs; i++)
		if (x->procs[i].number == proc)
			return x->procs[i].jvm;
	return 0;
}

/* Return the kind of calls of a consumer in a process. */
static int kind_of_calls(const struct sequences *s, uint32_t consumer_kind, uint32_t proc)
{
	uint64_t jvm;
	int i;

	if (kind_is(consumer_kind, KIND_NATIVE))
		return 0;
	if (!kind_is(consumer_kind, KIND_JAVA) || s->nr_kinds == 1)
		return SEQUENCES_NONE;
	jvm = jvm_of(s->names, proc);
	for (i = 1; i < s->nr_kinds; i++)
		if (jvm && s->kinds[i].jvm == jvm)
			return i;
	return SEQUENCES_NONE;
}

struct sequence_step sequences_step(const struct sequences *s, const struct consumer *c, uint32_t proc,
				    uint32_t event)
{
	return (struct sequence_step){ kind_of_calls(s, c->kind, proc), event, calibrate_tier(c) };
}

uint64_t sequences_cost(const struct sequences *s, unsigned int metric, struct sequence_step before,
			struct sequence_step now, uint64_t measured)
{
	const struct calibration_cost *a, *b;
	uint64_t cost;

	if (now.kind < 0 || now.kind != before.kind || before.event >= CALIBRATION_STEPS ||
	    now.event >= CALIBRATION_STEPS || metric >= CALL_MAX_METRICS || !s->kinds[now.kind].has[metric])
		return 0;
	a = &s->kinds[now.kind].of[before.tier][metric];
	b = &s->kinds[now.kind].of[now.tier][metric];
	cost = MIN(a->sequences[before.event][now.event], b->sequences[before.event][now.event]);
	cost = (cost + 500) / 1000;
	return MIN(cost, measured);
}
