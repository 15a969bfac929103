/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * consumer.h - what the ids in a flow tree mean: the table of consumers.
 */
#ifndef FLOW_CONSUMER_H
#define FLOW_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strtab.h"

enum consumer_kind {
#define KIND(kind, ...) CONSUMER_##kind,
#include "trace/kinds.h"
	CONSUMER_NR
};

/* traits of kinds, by which code distinguishes them */
enum kind_trait {
	KIND_PLACE = 1 << 0,	/* what stands above functions: processes, threads, labels of these */
	KIND_CODE = 1 << 1,	/* a function that runs */
	KIND_NATIVE = 1 << 2,
	KIND_JAVA = 1 << 3,
	KIND_JVM = 1 << 4,	/* Java, or what its virtual machine generates */
	KIND_INLINED = 1 << 5,
	KIND_FOLDS = 1 << 6,	/* is CONSUMER_FOLDED when functions are folded by class, package or module */
};

/* Check whether the kind has that trait, or one of several. */
bool kind_is(uint32_t kind, unsigned int traits);
/* Return the kind of a function in a trace (enum function_kind); CONSUMER_ANY for an unknown number. */
enum consumer_kind consumer_kind_of(uint32_t function);
/* Return "process", "thread", "native", "native-inlined", "kernel", "java-interpreted", ... */
const char *consumer_kind_name(uint32_t kind);
/* Return what has one colour on the page: "java", "kernel", ...; "other" for a number that is not known. */
const char *consumer_kind_family(uint32_t kind);
/* Return the kind with that name, CONSUMER_NR for an unknown one. */
enum consumer_kind consumer_kind_parse(const char *name, size_t len);

struct consumer {
	uint32_t name;		/* strtab ids */
	uint32_t module;
	uint32_t detail;	/* Java: signature; native: file:line of the call when asked; else 0 */
	uint32_t kind;
	uint64_t key;		/* tells apart consumers of equal name: (pid, tid) of process and thread */
};

struct consumers {
	struct consumer *items;	/* [0] is none */
	size_t nr_items, alloc_items;
	uint32_t *slots;
	size_t alloc_slots;
	struct strtab names;
};

void consumers_init(struct consumers *c);
void consumers_release(struct consumers *c);
uint32_t consumer_add(struct consumers *c, const struct consumer *x);	/* interned; never 0 */
uint32_t consumer_add_name(struct consumers *c, uint32_t kind, const char *name, size_t len);

/*
 * Gives consumer id another kind and key, under the same id.  The caller knows that no
 * other consumer becomes its equal; consumers_rehash() must follow before the next add.
 */
void consumer_change(struct consumers *c, uint32_t id, uint32_t kind, uint64_t key);
void consumers_rehash(struct consumers *c);

static inline const char *consumer_name(const struct consumers *c, uint32_t id)
{
	return strtab_get(&c->names, c->items[id].name);
}

#endif
