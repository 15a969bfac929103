// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-outside.c - a JVM whose memory is anything, and changes while it is walked from outside.
 *
 * An input is a list of changes to the world (world.h), registers and stack among it: a byte, of which two
 * bits say what is put there and the others when; three bytes of where; the value. The walker gets to the
 * end of the world as it was made, so it reads what is changed. Whatever it answers is well-formed, it never
 * waits for room that it will not get, and it reads no memory of its own that it has not got.
 *
 * The walker is a second copy (t/Makefile.inc), whose system calls are the functions below.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/span.h"
#include "jvm/reserve.h"
#include "jvm/wire.h"
#include "world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
	MAX_CHANGES = 64,
	READS_PER_STEP = 4,		/* of when a change comes */
	MAX_NAPS = 6,			/* while it waits for a VM to come up */
	MAX_MAPPINGS = 64,
	RING_BYTES = 1 << 20,
	NR_ASKS = 3,
	MAX_DEPTH = 24,
	PAGE = 4096,
};

/* ---- the world, and what becomes of it ---- */

static struct world made, now;

static struct change {
	uint32_t after, where, len;
	uint64_t value;
} changes[MAX_CHANGES];
static size_t nr_changes;
static uint32_t nr_reads;

static void take_changes(const uint8_t *data, size_t len)
{
	enum { A_BYTE, A_HALF, A_WORD, AN_ADDRESS };
	static const uint8_t bytes[] = { 1, 4, 8, 4 };
	struct span s = span_init(data, len);

	for (nr_changes = 0; span_left(&s) && nr_changes < MAX_CHANGES; nr_changes++) {
		struct change *c = &changes[nr_changes];
		uint8_t op = span_u8(&s);

		c->after = (op >> 2) * READS_PER_STEP;
		c->where = span_le(&s, 3) % sizeof(now);
		c->value = span_le(&s, bytes[op & 3]);
		c->len = bytes[op & 3];
		if ((op & 3) == AN_ADDRESS) {
			c->value += WORLD_BASE;
			c->len = 8;
		}
		c->len = MIN(c->len, (uint32_t)sizeof(now) - c->where);
	}
}

static void change_what_is_due(void)
{
	size_t i;

	for (i = 0; i < nr_changes; i++)
		if (changes[i].after == nr_reads)
			memcpy((uint8_t *)&now + changes[i].where, &changes[i].value, changes[i].len);
}

/* ---- what the walker's copy calls in place of the system ---- */

ssize_t fuzz_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nr_local,
			      const struct iovec *remote, unsigned long nr_remote, unsigned long flags);
void fuzz__exit(int status) __attribute__((noreturn));
int fuzz_usleep(useconds_t us);
void *fuzz_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);
int fuzz_setitimer(int which, const struct itimerval *next, struct itimerval *last);
int fuzz_io_slurp(const char *path, struct buf *b);

static jmp_buf end;
static int nr_naps;
static struct iovec mappings[MAX_MAPPINGS];
static size_t nr_mappings;

ssize_t fuzz_process_vm_readv(pid_t pid, const struct iovec *local, unsigned long nr_local,
			      const struct iovec *remote, unsigned long nr_remote, unsigned long flags)
{
	ssize_t done = 0;
	unsigned long i;

	change_what_is_due();
	nr_reads++;
	for (i = 0; i < nr_local; i++) {
		uint64_t at = (uint64_t)(uintptr_t)remote[i].iov_base - WORLD_BASE;

		if (nr_remote != nr_local || local[i].iov_len != remote[i].iov_len)
			abort();
		if (at >= WORLD_BYTES || remote[i].iov_len > WORLD_BYTES - at)
			break;
		memcpy(local[i].iov_base, now.memory + at, local[i].iov_len);
		done += local[i].iov_len;
	}
	if (done || !nr_local)
		return done;
	errno = EFAULT;
	return -1;
}

void fuzz__exit(int status)
{
	longjmp(end, 1);
}

/* It sleeps until a VM comes up, or there is room in its ring, which there always is. */
int fuzz_usleep(useconds_t us)
{
	if (us < 1000)
		abort();
	if (++nr_naps > MAX_NAPS)
		longjmp(end, 1);
	return 0;
}

void *fuzz_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p = nr_mappings < MAX_MAPPINGS ? mmap(addr, len, prot, flags, fd, off) : MAP_FAILED;

	if (p != MAP_FAILED)
		mappings[nr_mappings++] = (struct iovec){ p, len };
	return p;
}

int fuzz_setitimer(int which, const struct itimerval *next, struct itimerval *last)
{
	return 0;
}

/* Its mappings. */
int fuzz_io_slurp(const char *path, struct buf *b)
{
	buf_add(b, now.maps, strnlen(now.maps, sizeof(now.maps)));
	return 0;
}

/* ---- a new process ---- */

/* All variables of the copy are in these sections; where there is no walker, there are none. */
extern char __start_walker_data[] __attribute__((weak)), __stop_walker_data[] __attribute__((weak));
extern char __start_walker_bss[] __attribute__((weak)), __stop_walker_bss[] __attribute__((weak));

/* By words, and without the sanitizer, which has put bytes of its own between the variables. */
__attribute__((no_sanitize("address"))) static void copy_words(volatile uint64_t *to, const uint64_t *from,
								size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes / 8; i++)
		to[i] = from ? from[i] : 0;
}

static void begin_anew(void)
{
	static uint64_t *initial;
	size_t bytes = __stop_walker_data - __start_walker_data;

	if (!initial) {
		initial = xcalloc(1, bytes + 8);
		copy_words(initial, (const uint64_t *)(void *)__start_walker_data, bytes);
	}
	copy_words((uint64_t *)(void *)__start_walker_data, initial, bytes);
	copy_words((uint64_t *)(void *)__start_walker_bss, NULL, __stop_walker_bss - __start_walker_bss);
	nr_naps = 0;
	nr_reads = 0;
}

static void unmap_all(void)
{
	while (nr_mappings) {
		nr_mappings--;
		munmap(mappings[nr_mappings].iov_base, mappings[nr_mappings].iov_len);
	}
}

/* ---- what is asked, and what it answers ---- */

static void put_asks(struct outside_share *share)
{
	int i;

	share->ring.head = share->ring.tail = 0;
	for (i = 0; i < NR_ASKS; i++) {
		uint32_t bytes = MIN(now.ask.stack_bytes, (uint32_t)WORLD_STACK_BYTES) & ~7u;
		size_t size = sizeof(struct outside_ask) + bytes;
		struct outside_ask *a = jvm_ring_reserve(&share->ring, OUTSIDE_RING_BYTES, size);

		if (!a)
			abort();
		now.ask.h = a->h;
		*a = now.ask;
		a->stack_bytes = bytes;
		memcpy(a + 1, now.stack, bytes);
		jvm_ring_commit(a, OUTSIDE_RING_BYTES, size, JVM_REC_SAMPLE);
	}
}

static struct answers {
	size_t nr_whole, nr_methods, nr_codes, nr_stubs;
} answers;
static volatile uint64_t sum;

static void on_sample(void *ctx, const struct jvm_sample *s)
{
	size_t i, k;
	bool whole = s->nr_frames;

	for (i = 0; i < s->nr_frames; i++)
		whole &= s->frames[i].kind != JVM_MARK;
	for (i = 0; i < s->nr_segments; i++)
		for (k = 0; k < s->segments[i].len; k++)
			sum += s->segments[i].stack[k];
	answers.nr_whole += whole;
}

static void on_record(void *ctx, enum jvm_rec_type type, union jvm_record *r)
{
	answers.nr_methods += type == JVM_REC_method;
	answers.nr_codes += type == JVM_REC_code;
	answers.nr_stubs += type == JVM_REC_stub;
}

static void take_answers(struct jvm_ring *ring)
{
	static struct wire_scratch scratch;
	static uint64_t copy[RING_BYTES / 8];
	const struct wire_sink sink = { on_sample, on_record, NULL };
	uint64_t at;
	struct err e;

	answers = (struct answers){ 0 };
	if (ring->head > RING_BYTES)
		abort();
	for (at = 0; at < ring->head;) {
		const struct jvm_rec *r = (const void *)((const char *)ring + JVM_PAGE + at);
		struct jvm_rec h = { r->size, r->type & 0xff };

		if (h.size < sizeof(h) || h.size > ring->head - at)
			abort();
		memcpy(copy, r, h.size);
		memcpy(copy, &h, sizeof(h));
		if (wire_record(copy, h.size, &sink, &scratch, &e))
			abort();
		at += h.size;
	}
}

static void *pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct outside_share *share;
	static struct jvm_ctl *ctl;
	static int nothing = -1;

	if (!outside_possible())
		return 0;
	if (nothing < 0) {
		nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
		share = pages(OUTSIDE_SHARE_BYTES);
		ctl = pages(JVM_PAGE + sizeof(struct jvm_root) * JVM_NR_ROOTS + JVM_PAGE + RING_BYTES);
		world_make(&made);
	}
	memcpy(&now, &made, sizeof(now));
	begin_anew();
	take_changes(data, len);
	change_what_is_due();
	*ctl = (struct jvm_ctl){
		.nr_rings = 1, .ring_bytes = RING_BYTES, .max_depth = MAX_DEPTH, .max_stack = 1 << 16,
	};
	memset(jvm_ring_of(ctl, 1, RING_BYTES, 0), 0, sizeof(struct jvm_ring));
	share->state = OUTSIDE_STARTS;
	put_asks(share);
	if (!setjmp(end))
		outside_run(1, ctl, share, nothing);
	unmap_all();
	take_answers(jvm_ring_of(ctl, 1, RING_BYTES, 0));
	if (!len && (answers.nr_whole != NR_ASKS || answers.nr_methods != 2 || answers.nr_codes != 2 ||
		     !answers.nr_stubs))
		abort();
	return 0;
}
