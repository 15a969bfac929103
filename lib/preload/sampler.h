/* SPDX-License-Identifier: MIT */
/*
 * sampler.h - which allocations become samples, and which sampled blocks were freed (jvm/memory.h). For any
 * thread, also in signal handlers and in the child of a fork(): nothing here takes a lock or allocates.
 */
#ifndef PRELOAD_SAMPLER_H
#define PRELOAD_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/memory.h"
#include "jvm/proto.h"

/* The state of the calling thread. */
struct sampler_thread {
	int64_t left;			/* bytes until the next sample */
	bool seeded;			/* left was drawn at random */
	bool inside;			/* the C library's own calls of its functions are not counted */
};
/* static TLS, as __tls_get_addr() may call malloc() */
extern __thread struct sampler_thread sampler_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* State that a child of fork() finds empty: it has a recorder and a table of its own. */
struct sampler_state {
	uint32_t phase;
	struct memory_table *table;	/* NULL: nothing is sampled (yet) */
	struct memory_hook hook;
};
extern struct sampler_state *sampler_state;

/*
 * Begin, when the library is loaded. The option for a JVM's agent has where the recorder listens:
 * "-agentpath:<file>=<path>".
 */
void sampler_begin(const char *option);
/* Return whether there is a recorder; a child of fork() asks for it now. */
bool sampler_is_on(void);
/*
 * Begin in a running program; leave is for the agent, to end it. Returns false if the recorder does not
 * answer. sampler_detach(): nothing is sampled from now on.
 */
bool sampler_attach(const char *path, void (*leave)(void));
void sampler_detach(void);
/* Sample the block at p, by which left has become negative. */
void sampler_hit(enum memory_call call, void *p, size_t size);
/*
 * Take the sample of the block at p, which is about to be freed or moved, out of the table; 0: none.
 * sampler_put() enters it again.
 */
uint32_t sampler_take(void *p);
void sampler_put(void *p, uint32_t id);
/* Note that what was mapped from p on no longer is; or that it has moved by that many bytes. */
void sampler_unmap(uintptr_t p, size_t size);
void sampler_move(uintptr_t p, size_t size, intptr_t by);

static inline void sampler_count(enum memory_call call, void *p, size_t size)
{
	struct sampler_thread *t = &sampler_thread;

	if (!p)
		return;
	t->left -= size;
	if (__builtin_expect(t->left < 0, 0))
		sampler_hit(call, p, size);
}

static inline bool sampler_may_have(const void *p)
{
	const struct sampler_state *s = sampler_state;
	const struct memory_table *t = s ? s->table : NULL;

	return t && t->filter[memory_filter(memory_hash((uintptr_t)p))];
}

/* ---- in a running program: attach.c, memory.c ---- */

struct elf_swap;
enum { MEMORY_SWAPS = 14 };
/*
 * Fill in which functions to call in place of which, after finding the C library's. Returns false if they
 * are not there.
 */
bool memory_find_running(struct elf_swap *swaps);
/* Look at objects that may have been loaded since; called at a sample. */
__attribute__((weak, visibility("hidden"))) void attach_look_again(void);

/* ---- where samples and waits go: sampler_link.c ---- */

struct sampler_wishes {
	uint64_t interval, wait_ns;	/* of memory, in bytes; of waits */
	uint64_t bytes;			/* of what is shared */
	uint32_t max_stack;
};
extern struct sampler_wishes sampler_wishes;

/* Asks the recorder at that path for shared memory; NULL: there is none. Leaves no descriptor behind. */
struct memory_table *sampler_connect(const char *path, const struct memory_hook *hook);
/* Send a sample; parameters are as in struct jvm_rec_sample. */
void sampler_send(const struct memory_regs *r, enum jvm_source source, uint64_t value, uint32_t leaf,
		  uint32_t id);
void sampler_send_wait(const struct memory_regs *r, const struct memory_wait *w);

#endif
