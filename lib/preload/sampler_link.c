// SPDX-License-Identifier: MIT
/*
 * sampler_link.c - the way of samples to the recorder: the records and rings of a JVM's agent (jvm/proto.h),
 * one segment of native stack a sample. The socket is closed as soon as the shared memory is there, so that
 * the program has no descriptor that it did not open; the recorder sees by itself when the process has ended.
 */
#include <linux/mman.h>

#include "agent/ring.h"
#include "client/client.h"
#include "jvm/encode.h"
#include "jvm/waiting.h"
#include "preload/sampler.h"

struct sampler_wishes sampler_wishes;

enum { TABLES = sizeof(struct waiting_table) + sizeof(struct memory_table) };	/* at its end */
/* Map the area so that a child of fork(), which would write into it, does not get it. */
static void *map_area(int fd, uint64_t bytes)
{
	long p = sys(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (p < 0 && p > -4096)
		return NULL;
	if (!sys(__NR_madvise, p, bytes, MADV_DONTFORK) && bytes > TABLES &&
	    ring_init((void *)p, bytes - TABLES, -1, -1))
		return (void *)p;
	sys(__NR_munmap, p, bytes);
	return NULL;
}

struct memory_table *sampler_connect(const char *path, const struct memory_hook *hook)
{
	int fds[JVM_MAX_FDS];
	struct jvm_ctl *ctl = NULL;
	struct client recorder;
	struct jvm_msg setup;
	uint64_t bytes = 0;

	sys_forked();		/* perhaps */
	if (client_open(&recorder, path, JVM_GO_TIMEOUT_MS) &&
	    client_greet(&recorder, JVM_MEMORY, (uintptr_t)hook, &setup, fds)) {
		bytes = setup.setup.area_bytes;
		ctl = map_area(fds[0], bytes);
		sys(__NR_close, fds[0]);
	}
	client_close(&recorder);
	if (!ctl)
		return NULL;
	sampler_wishes = (struct sampler_wishes){
		.interval = ctl->intervals[JVM_SOURCE_MEMORY], .wait_ns = ctl->intervals[JVM_SOURCE_LOCK],
		.bytes = bytes, .max_stack = ctl->max_stack,
	};
	return (void *)((char *)ctl + bytes - sizeof(struct memory_table));
}

/* ---- samples ---- */

__attribute__((weak)) extern void *__libc_stack_end;	/* glibc's: of the first thread */

/* Return how much of the stack there is above sp, as far as is known. */
static size_t stack_above(uintptr_t sp, uint32_t most)
{
	enum { LARGEST = 1 << 30 };
	uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
	uintptr_t first = &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;

	if (thread - sp < most)		/* a C library places a thread's stack below its data */
		return thread - sp;
	if (first - sp < LARGEST && first - sp < most)
		return first - sp;
	return most;
}

void sampler_send(const struct memory_regs *r, enum jvm_source source, uint64_t value, uint32_t leaf,
		  uint32_t id)
{
	struct jvm_rec_sample head = {
		.time_ns = sys_now(), .tid = sys_tid(), .event = source, .nr_frames = 1,
		.nr_segments = 1, .flags = JVM_SAMPLE_SOURCE, .value = value, .leaf = leaf, .id = id,
	};
	size_t len = stack_above(r->sp, sampler_wishes.max_stack) & ~(size_t)7, got;
	size_t bytes = sizeof(head) + sizeof(struct jvm_rec_frame) + sizeof(struct jvm_rec_segment) + len;
	struct jvm_ring *ring = ring_of(head.tid);
	struct jvm_rec_frame *f;
	struct jvm_rec_segment *s;
	char *rec = ring_reserve(ring, bytes);

	if (!rec) {
		ring_count_lost(ring);
		return;
	}
	memcpy(rec + sizeof(head.h), (char *)&head + sizeof(head.h), sizeof(head) - sizeof(head.h));
	f = (void *)(rec + sizeof(head));
	*f = (struct jvm_rec_frame){ .kind_pc = (uint64_t)JVM_NATIVE << JVM_FRAME_PC_BITS | r->pc };
	s = (void *)(f + 1);
	*s = (struct jvm_rec_segment){
		.pc = r->pc, .sp = r->sp, .fp = r->fp, .rbx = r->rbx, .r12 = r->r12, .r13 = r->r13,
		.r14 = r->r14, .r15 = r->r15, .len = len,
		.flags = JVM_SEG_VALID | JVM_SEG_EXACT | JVM_SEG_TO_ROOT,
	};
	got = sys_peek(s + 1, r->sp, len);
	memset((char *)(s + 1) + got, 0, len - got);
	ring_commit(rec, bytes, JVM_REC_SAMPLE);
}

void sampler_send_wait(const struct memory_regs *r, const struct memory_wait *w)
{
	struct jvm_native_wait x = {
		.time_ns = sys_now(), .addr = w->addr, .ns = w->ns, .thread = sys_tid(), .kind = w->kind,
		.owner = w->owner, .weight_ns = w->weight_ns, .blamed_ns = w->blamed_ns,
		.given_back = w->given_back,
	};
	struct jvm_ring *ring = ring_of(x.thread);
	size_t bytes = jvm_size_native_wait(&x);
	char *rec = ring_reserve(ring, bytes);

	if (!rec) {
		ring_count_lost(ring);
		return;
	}
	jvm_encode_native_wait(rec, bytes, &x);
	ring_commit(rec, bytes, JVM_REC_native_wait);
	if (w->weight_ns)
		sampler_send(r, JVM_SOURCE_LOCK, w->ns, 0, w->given_back);
}
