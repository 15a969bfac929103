/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * consumer.h - what the ids in a flow tree mean: the table of consumers.
 */
#ifndef FLOW_CONSUMER_H
#define FLOW_CONSUMER_H

#include "base/strtab.h"

enum consumer_kind {
	CONSUMER_ANY,		/* from text input: no kind known */
	CONSUMER_HOST,
	CONSUMER_GROUP,		/* a control group or a container, above its processes */
	CONSUMER_PROCESS,
	CONSUMER_THREAD,
	CONSUMER_NATIVE,
	CONSUMER_NATIVE_INLINED,
	CONSUMER_KERNEL,
	CONSUMER_JAVA,		/* a method, however it runs */
	CONSUMER_JAVA_INTERPRETED,
	CONSUMER_JAVA_COMPILED,
	CONSUMER_JAVA_C1,	/* these two only when the tiers are kept apart */
	CONSUMER_JAVA_C2,
	CONSUMER_JAVA_INLINED,
	CONSUMER_STUB,		/* HotSpot stub, adapter, interpreter */
	CONSUMER_CLASS,		/* objects of a class */
	CONSUMER_REASON,	/* why a thread waits */
	CONSUMER_UNRESOLVED,	/* address without a name */
	CONSUMER_FOLDED,	/* a module, class or package that stands for what is in it */
	CONSUMER_MARK,		/* [unwalkable: ...], [truncated ...], [pruned] */
	CONSUMER_LABEL,		/* what a thread worked for: "endpoint=/cart" */
	CONSUMER_FILE,		/* for which file it waits, or which other end of a socket */
	CONSUMER_NR
};

/* "process", "thread", "native", "native-inlined", "kernel", "java-interpreted", ... */
const char *consumer_kind_name(uint32_t kind);
/* CONSUMER_NR for an unknown name. */
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
