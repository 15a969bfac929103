// SPDX-License-Identifier: GPL-2.0-or-later
/* sequences.c - computes the cost of counting from one event to the next (sequences.h). */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/sequences.h"

/* Read the costs of the last kind from labels whose names have the metric's number in the middle. */
static void read_costs(struct sequences *s, const char *before, const char *after)
{
	struct sequences_kind *k = &s->kinds[s->nr_kinds - 1];
	unsigned int m;
	char key[64];

	for (m = 0; m < CALL_MAX_METRICS; m++) {
		const char *text;

		snprintf(key, sizeof(key), "%s%u%s", before, m, after);
		text = names_label(s->names, key);
		k->has[m] = text && calibration_cost(text, &k->of[m]) && k->of[m].has_sequences;
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

int sequences_kind(const struct sequences *s, uint32_t consumer_kind, uint32_t proc)
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

uint64_t sequences_cost(const struct sequences *s, unsigned int metric, struct sequence_step before,
			struct sequence_step now, uint64_t measured)
{
	uint64_t cost;

	if (now.kind < 0 || now.kind != before.kind || before.event >= CALIBRATION_STEPS ||
	    now.event >= CALIBRATION_STEPS || metric >= CALL_MAX_METRICS || !s->kinds[now.kind].has[metric])
		return 0;
	cost = (s->kinds[now.kind].of[metric].sequences[before.event][now.event] + 500) / 1000;
	return MIN(cost, measured);
}
