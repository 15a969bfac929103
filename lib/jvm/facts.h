/* SPDX-License-Identifier: MIT */
/* facts.h - the features that rest on what is known of a HotSpot JVM, by the rows of facttable.h. */
#ifndef JVM_FACTS_H
#define JVM_FACTS_H

enum facts_feature {
#define FEATURE(id, since, uses, name) FACTS_##id,
#include "jvm/facttable.h"
	FACTS_NR
};

enum facts_probe {
#define PROBE(feature, id, name) FACTS_PROBE_##id,
#include "jvm/facttable.h"
	FACTS_NR_PROBES
};

enum facts_use {		/* what is recorded, or whatever is */
	FACTS_STACKS = 1 << 0,	/* stacks of samples */
	FACTS_LOCK = 1 << 1,	/* -e lock */
	FACTS_WALL = 1 << 2,	/* -e wall */
	FACTS_CALLS = 1 << 3,	/* --callflow */
	FACTS_ALL = ~0,
};

#endif
