/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calldump.h - what the files of callflow.h share: the memory of one process, and what is being
 * written of it.
 */
#ifndef COLLECT_CALLDUMP_H
#define COLLECT_CALLDUMP_H

#include "base/atomic.h"
#include "base/hash.h"
#include "collect/calls/callflow.h"
#include "collect/calls/slowcalls.h"
#include "trace/calls.h"

static const uint32_t area_page_words = CALLFLOW_PAGE / 8;

struct callflow_proc {
	struct callflow_proc *next;
	struct jvm *jvm;
	struct proc *proc;
	struct callflow_area *area;	/* mapped */
	struct callflow_area own;	/* its head as we made it */
	uint32_t nr_slots;		/* of trees, that were ever in use */
	struct tree {
		uint32_t number;	/* 0: not written yet */
		uint32_t nr_nodes;
		uint32_t thread;	/* in the trace */
		const struct thread *task;	/* of the kernel; NULL: none for itself */
		uint32_t root;		/* number of the node that has what came before the tree */
		/* wall time from the thread's start to the tree's: CPU time also counts from the former */
		uint64_t before_tsc;
		uint32_t looked_tid;	/* the kernel thread last looked at, as the process numbers it */
		uint64_t looked_ns;	/* and its CPU time then, */
		uint64_t looked_at_ns;	/* which was at that time */
		uint32_t *up;		/* [number - 1]: parent; of nodes that a snapshot has */
		size_t nr_up, alloc_up;
		/* parent -> row of owed: what its [pruned] got although it was written already */
		struct map owes;
		uint64_t *owed;		/* [row][1 + metrics] */
		size_t nr_owed, alloc_owed;
		uint64_t nr_folded, lost_events;	/* as already reported */
		uint64_t last_ns, charged[CALLFLOW_MAX_METRICS];	/* of its last event */
		uint64_t told[CALLFLOW_MAX_METRICS];	/* and what was sent since, at the end of a file */
		/* in several files: */
		struct tree_node {
			uint32_t consumer;	/* as the process numbers it */
			uint32_t file, number;	/* the last file that has it, and its number there */
		} *nodes;		/* [number - 1] */
		size_t nr_nodes_known, alloc_nodes;
		uint32_t file, nr_in_file;	/* the last file that has values; nodes in the current one */
		struct callflow_counts counts, before;	/* as written last; what earlier files have of them */
		uint64_t end_ns;	/* as written last */
		/* of events: the last file that has any; and in several, the calls open by those stored */
		uint32_t events_file;
		uint32_t *open;		/* consumers as the process numbers them, outermost first */
		size_t nr_open, alloc_open;
		uint64_t stored[CALLFLOW_MAX_METRICS];	/* charged by the last of them */
		struct slow_tree slow;	/* with slow rules */
	} *trees;			/* [thread slot] */
	size_t nr_trees;
	struct page {
		uint32_t *numbers;	/* [node of the page]: number in its tree, 0 not defined */
		uint16_t *uses;		/* [node]: CALLFLOW_USES when it got its number */
		uint64_t *before;	/* [node][1 + metrics]: values as written; snapshots only */
	} *pages;			/* [nr_pages] */
	uint64_t *tails;		/* [ring]: events read */
	struct map consumers;		/* as the process numbers them -> number in the trace */
	struct map slow;		/* the same -> rule of f->o->slow, 0 none */
};

/* The state of writing one process. */
struct dump {
	struct callflows *f;
	struct callflow_proc *p;
	uint64_t time_ns, tsc;		/* the same moment */
	uint64_t ns_ratio;		/* ns per cycle, times 2^32 */
	uint64_t tsc_ratio;		/* cycles per ns, times 2^32 */
	bool last, ends_file;
	uint32_t slot;
	struct tree *tree;
	uint64_t nr_steps;
	int waited_ms;
	uint32_t open_ref;		/* node of the tree's innermost open call, 0 none */
	uint64_t open_base[CALLFLOW_MAX_METRICS];	/* what it has consumed and was not charged yet */
	uint64_t cut_ns;		/* the tree holds what its thread consumed until then */
	struct call_node nodes[CALL_RECORD_NODES];
	uint32_t nr_nodes;
	struct call_value values[CALL_RECORD_VALUES];
	uint32_t nr_values;
	struct call_event events[CALL_RECORD_EVENTS];
	uint32_t nr_events;
	/* nodes as they were read: threads go on while they are written */
	struct read_node {
		uint32_t page, i;
		uint64_t base[CALLFLOW_MAX_METRICS];
		struct callflow_node n;		/* last: its own base has no room here */
	} *read;
	size_t nr_read, alloc_read;
	uint32_t *chain;		/* of references, innermost first */
	size_t nr_chain, alloc_chain;
};

/* Pages of one thread, in a list. */
struct page_list {
	uint32_t *first;	/* [slot]: page, 0 none */
	uint32_t *next;		/* [page] */
};

static inline bool callflows_have_events(const struct callflows *f)
{
	return f->o->layout.flags & CALLFLOW_EVENTS;
}

static inline bool callflows_has_files(const struct callflows *f)
{
	return f->file;
}

static inline bool metric_is_tsc(uint32_t kind)
{
	return kind == CALLFLOW_WALL || kind == CALLFLOW_CPU;
}

static inline uint64_t dump_ns(const struct dump *d, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)cycles * d->ns_ratio >> 32);
}

static inline uint64_t dump_tsc(const struct dump *d, uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * d->tsc_ratio >> 32);
}

/*
 * Convert a time to the trace's clock. The ratio is accurate to some parts in a million, so this counts
 * from the dump, not from the start, which may be hours ago.
 */
static inline uint64_t dump_time(const struct dump *d, uint64_t tsc)
{
	uint64_t since;

	if ((int64_t)(tsc - d->tsc) >= 0)
		return d->time_ns + dump_ns(d, tsc - d->tsc);
	since = dump_ns(d, d->tsc - tsc);
	return since < d->time_ns ? d->time_ns - since : 0;
}

/* Return a value of metric m in the trace's units. */
static inline uint64_t dump_value(const struct dump *d, uint32_t m, uint64_t v)
{
	return metric_is_tsc(d->p->own.metrics[m].kind) ? dump_ns(d, v) : v;
}

static inline const void *area_at(const struct callflow_proc *p, uint64_t off)
{
	return (const uint8_t *)p->area + off;
}

/* Return the slot of the thread that owns the page, plus 1, or 0. */
static inline uint32_t area_owner(const struct callflow_proc *p, uint32_t page)
{
	return load_relaxed((const uint32_t *)area_at(p, p->own.owners_off) + page);
}

static inline uint32_t area_node_words(const struct callflow_proc *p)
{
	return p->own.node_bytes / 8;
}

static inline uint32_t area_page_nodes(const struct callflow_proc *p)
{
	return area_page_words / area_node_words(p);
}

static inline const struct callflow_thread *area_thread(const struct callflow_proc *p, uint32_t slot)
{
	return (const struct callflow_thread *)area_at(p, p->own.threads_off) + slot;
}

/* callread.c: read the contents of the area, checking them. */
int area_host_tid(const struct callflow_proc *p, uint32_t tid);
/* Read a node; return false if there is none yet. base is for nr_metrics values. */
bool area_read_node(const struct callflow_proc *p, uint32_t ref, struct callflow_node *n, uint64_t *base);
/* Copy the area's own account of a thread; return false without one. */
bool area_read_thread(const struct callflow_proc *p, uint32_t slot, struct callflow_thread *t);
/* Return the number of the node at ref, 0 not defined yet; NULL: no node of the current tree can be there. */
uint32_t *dump_number_of(struct dump *d, uint32_t ref);
/* Return its number in the trace, which it defines; 0 is the thread itself. */
uint32_t dump_consumer(struct dump *d, uint32_t consumer);
/* Return the rule of f->o->slow that the consumer falls under; ctx is a struct dump. */
uint32_t dump_slow_rule(void *ctx, uint32_t consumer);
/*
 * Note that the tree begins before its first call: CPU time from before that is in it, so wall time must be
 * too.
 */
void dump_note_birth(struct dump *d, const struct callflow_thread *t);
/*
 * Charges what the tree's open call has consumed since the last step. A thread that takes steps all the time
 * has nothing left to charge. Counters and allocations are known only to the process.
 */
void dump_charge_open(struct dump *d, struct callflow_thread *t);
/* Return whether the thread has taken no step since t was read, which dump_charge_open() did. */
bool dump_stands(const struct dump *d, const struct callflow_thread *t);
/* Check whether the CPU time that the kernel told is all: the thread goes on, or ended right after that. */
bool dump_looked_last(const struct dump *d);
/* Return whether the CPU time of threads is counted. */
bool callflows_have_cpu(const struct callflows *f);
/* Notes the CPU time of all threads. */
void area_look_at_all(const struct callflow_proc *p);
/* Read the counters of all threads; those of a killed process keep the values read last. */
void callflows_look(struct callflows *f);

/* calltrees.c: make the tree of that slot the current one, and return a copy of the process's entry. */
struct callflow_thread dump_begin_tree(struct dump *d, uint32_t slot);
/* Write a record of the current tree, as it is now. */
void dump_name_tree(struct dump *d);
/* Write the current tree with all that was added to it. */
void dump_tree(struct dump *d, uint32_t slot, const struct page_list *l);

/* callevents.c: write the events of ring i. */
void dump_drain_ring(struct dump *d, uint32_t i);
/*
 * Store, with events, what an open call consumed since the last one in one more event, which ends no
 * call: at the end of the recording, and of a file.
 */
void dump_tell_open(struct dump *d, const struct callflow_thread *t);

#endif
