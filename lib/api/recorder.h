/* SPDX-License-Identifier: MIT */
/*
 * recorder.h - the recorder of the program that this is linked into: whether there is one, and its rings. For
 * mark.c and label.c. Where nobody records, to ask is a load and a branch.
 */
#ifndef API_RECORDER_H
#define API_RECORDER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "jvm/encode.h"
#include "jvm/reserve.h"

/* Initial-exec: no call to find it. */
#define ARCPROF_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

enum arcprof_recorder_state {
	RECORDER_UNKNOWN,	/* not asked yet, or wiped by fork() */
	RECORDER_OFF,
	RECORDER_ON,
};

/* A page of its own, zeroes in a forked child. */
struct arcprof_recorder {
	pthread_mutex_t lock;	/* held while connecting; zeroes are a free one */
	uint32_t state;
	uint32_t nr_rings;
	uint64_t ring_bytes;
	uint64_t tell;		/* what it wants to be told: enum jvm_tell */
	int pid;		/* its process; 0: in another pid namespace */
	struct jvm_ctl *ctl;
};

struct arcprof_recorder_self {
	uint32_t generation;	/* in which the number was asked for */
	uint32_t tid;
};

extern struct arcprof_recorder *arcprof_recorder;
extern uint32_t arcprof_recorder_generation;	/* of connections: one per process */
extern ARCPROF_THREAD_LOCAL struct arcprof_recorder_self arcprof_recorder_self;

/* Connect if that was not tried yet; return NULL if no recorder listens. Not in a signal handler. */
struct arcprof_recorder *arcprof_recorder_find(void);

/* Return the recorder if it records these, else NULL. */
static inline struct arcprof_recorder *arcprof_recorder_of(uint64_t tell)
{
	struct arcprof_recorder *m = load_acquire(&arcprof_recorder);
	uint32_t state = m ? load_acquire(&m->state) : RECORDER_UNKNOWN;

	if (state == RECORDER_OFF)
		return NULL;
	if (state == RECORDER_UNKNOWN)
		m = arcprof_recorder_find();
	return m && m->tell & tell ? m : NULL;
}

static inline uint64_t arcprof_recorder_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline uint32_t arcprof_recorder_tid(void)
{
	if (arcprof_recorder_self.generation != load_relaxed(&arcprof_recorder_generation)) {
		arcprof_recorder_self.tid = (uint32_t)syscall(SYS_gettid);
		arcprof_recorder_self.generation = load_relaxed(&arcprof_recorder_generation);
	}
	return arcprof_recorder_self.tid;
}

/* Reserve room for a record of the calling thread; NULL: the ring is full, which is counted. */
static inline void *arcprof_recorder_reserve(const struct arcprof_recorder *m, size_t size)
{
	struct jvm_ring *ring = jvm_ring_of(m->ctl, m->nr_rings, m->ring_bytes, arcprof_recorder_tid());
	void *rec = jvm_ring_reserve(ring, m->ring_bytes, size);

	if (!rec)
		add_relaxed(&ring->lost, 1);
	return rec;
}

#endif
