// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blocks.c - the records of a thread's ring become runs of branches, with the code that was executed.
 *
 * The module lets a thread wait (ARCPROF_ITRACE_SYNC) where what addresses mean changes, until all its
 * records are consumed: here its process is looked at.  What other threads of the process did before
 * is reported first.  Code is read when a block is met first, and again after such a change; bytes that a
 * program writes anew in between are not seen.
 */
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

#include "arch/insn.h"
#include "base/atomic.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "itrace/module.h"

enum {
	RUN_MAX = 4096, RUN_NS = 5000000, CONSUME_EVERY = 1024, BLOCK_MAX = 4096, CODES_MAX = 1 << 22,
	SYSCALL_LEN = 2,
};

_Static_assert((int)ARCPROF_BRANCH_CALL == BRANCH_CALL && (int)ARCPROF_BRANCH_OTHER == BRANCH_OTHER &&
		       (int)ARCPROF_BRANCH_COND == BRANCH_COND && (int)ARCPROF_BRANCH_STOP == BRANCH_STOP,
	       "kinds of branches have one numbering");

/* ---- runs ---- */

static void tell_run(struct itrace *it, struct track *t)
{
	struct rec_branches run = {
		.time_ns = t->run_ns, .cpu = UINT16_MAX, .start = t->run_start, .nr = t->run_nr,
		.bytes = (uint8_t *)t->run.data, .len = t->run.len,
	};

	if (t->run_nr)
		it->sink->branches(it->ctx, t->tid, &run);
	buf_reset(&t->run);
	t->run_nr = 0;
}

static void track_add_block(struct itrace *it, struct track *t, const struct branch *b)
{
	if (!t->run_nr) {
		t->run_start = b->start;
		t->run_ns = t->time_ns;
	}
	branch_put(&t->run, b);
	it->totals.nr_insns += b->nr_insns;
	it->totals.nr_branches += b->len || b->kind == BRANCH_INTERRUPT;
	if (++t->run_nr >= RUN_MAX)
		tell_run(it, t);
}

/* ---- the process ---- */

static bool block_read_code(const struct track *t, uint64_t addr, void *out, size_t len)
{
	struct iovec local = { out, len }, remote = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(t->tid, &local, 1, &remote, 1, 0) == (ssize_t)len ||
	       process_vm_readv(t->pid, &local, 1, &remote, 1, 0) == (ssize_t)len;
}

/* Return what was reported of the block's bytes: their hash and epoch, 0 at first. */
static struct told_code *code_of(struct itrace *it, const struct track *t, uint64_t start, uint64_t len)
{
	uint32_t *at = map_put(&it->code_at, hash_pair(hash_pair(start, (uint64_t)t->pid), len));

	if (*at == MAP_NONE) {
		*at = (uint32_t)it->nr_code;
		*VEC_ADD(it->code, it->nr_code, it->alloc_code) = (struct told_code){ 0 };
	}
	return &it->code[*at];
}

static bool is_recent(struct itrace *it, uint64_t start, uint64_t end, int pid)
{
	size_t i = (start ^ start >> 10) % NR_RECENT;
	bool known = it->recent[i].start == start && it->recent[i].end == end && it->recent[i].pid == pid;

	it->recent[i].start = start;
	it->recent[i].end = end;
	it->recent[i].pid = pid;
	return known;
}

static void tell_code(struct itrace *it, struct track *t, uint64_t start, uint64_t end)
{
	uint8_t bytes[BLOCK_MAX];
	struct rec_branch_code code = { .time_ns = t->time_ns, .addr = start, .bytes = bytes,
		.len = end - start };
	uint32_t epoch, hash;
	struct told_code *told;

	if (is_recent(it, start, end, t->pid) || end - start - 1 >= BLOCK_MAX || it->nr_code > CODES_MAX)
		return;
	epoch = map_get(&it->epochs, (uint64_t)t->pid);
	told = code_of(it, t, start, end - start);
	if (told->epoch == epoch)
		return;
	told->epoch = epoch;
	if (!block_read_code(t, start, bytes, end - start))
		return;
	hash = (uint32_t)hash_bytes(bytes, end - start) | 1;
	if (told->hash == hash)
		return;
	if (told->hash)		/* what ran before ran other bytes */
		tell_run(it, t);
	told->hash = hash;
	it->sink->code(it->ctx, t->tid, &code);
}

/* Report what the threads of its process did until now. */
static void tell_process(struct itrace *it, const struct track *t)
{
	size_t i;

	for (i = 0; i < NR_RINGS; i++) {
		struct track *other = &it->track[i];

		if (!other->open || other->pid != t->pid)
			continue;
		blocks_read(it, other);
		tell_run(it, other);
	}
}

void process_changed(struct itrace *it, int pid)
{
	*map_put(&it->epochs, (uint64_t)pid) = ++it->epoch;
	memset(it->recent, 0, sizeof(it->recent));
}

/* Report the mappings: the process's addresses mean something else from now on. */
static void tell_maps(struct itrace *it, struct track *t)
{
	struct buf b = BUF_INIT;
	char path[64];

	process_changed(it, t->pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", t->tid);
	if (!io_slurp(path, &b) && b.len)
		it->sink->maps(it->ctx, t->time_ns, t->pid, b.data);
	buf_release(&b);
}

static void tell_exec(struct itrace *it, struct track *t)
{
	struct buf comm = BUF_INIT;
	int old_tid = t->tid;
	char path[64];

	tell_process(it, t);	/* the other threads have ended */
	t->execs = false;
	t->tid = t->ring->tid;
	t->pid = t->ring->tgid;
	snprintf(path, sizeof(path), "/proc/%d/comm", t->tid);
	io_slurp(path, &comm);
	buf_putc(&comm, '\n');
	comm.data[strcspn(comm.data, "\n")] = '\0';
	it->sink->exec(it->ctx, t->time_ns, t->pid, old_tid, comm.data);
	buf_release(&comm);
}

/* ---- records ---- */

static void block_begin(struct itrace *it, struct track *t, const struct arcprof_branch *r)
{
	bool is_new = t->execs || it->o->bracket || map_get(&it->epochs, (uint64_t)t->pid) == MAP_NONE;

	t->time_ns = r->from;
	t->at = r->to;
	if (t->execs)
		tell_exec(it, t);
	if (is_new)
		tell_maps(it, t);
}

/* Return where a block's first nr instructions end, or 0 if its bytes are not known. */
static uint64_t block_end(const struct track *t, uint64_t start, uint64_t end, uint64_t nr)
{
	uint8_t bytes[BLOCK_MAX];
	struct insn in;
	size_t at = 0;

	if (end - start > BLOCK_MAX || !block_read_code(t, start, bytes, end - start))
		return 0;
	for (; nr; nr--, at += in.len)
		if (!insn_decode(bytes + at, end - start - at, &in))
			return 0;
	return start + at;
}

/* End the thread's trace with nr instructions of this block, as the limit is reached. */
static void block_cut(struct itrace *it, struct track *t, uint64_t end, uint64_t nr)
{
	struct branch b = { .kind = BRANCH_STOP, .start = t->at, .end = t->at };

	it->cut = t->cut = true;
	if (nr && (b.end = block_end(t, t->at, end, nr))) {
		tell_code(it, t, b.start, b.end);
		b.nr_insns = nr;
	} else {
		b.end = t->at;
	}
	b.to = b.end;
	track_add_block(it, t, &b);
	tell_run(it, t);
}

static void branched(struct itrace *it, struct track *t, const struct arcprof_branch *r)
{
	uint64_t left = it->o->limit - it->totals.nr_insns;
	struct branch b = {
		.kind = (enum branch_kind)r->kind, .len = r->len, .start = t->at, .end = r->from + r->len,
		.to = r->to,
		.nr_insns = r->nr_insns,
	};

	if (it->cut || (it->o->limit && b.nr_insns > left)) {
		block_cut(it, t, b.end, it->cut ? 0 : left);
		return;
	}
	tell_code(it, t, b.start, b.end);
	track_add_block(it, t, &b);
	t->at = b.to;
}

static void block_on_branch(struct itrace *it, struct track *t, const struct arcprof_branch *r)
{
	if (r->kind == ARCPROF_BRANCH_EXIT)
		t->exited = true;
	if (t->cut)
		return;
	switch (r->kind) {
	case ARCPROF_BRANCH_START:
		block_begin(it, t, r);
		return;
	case ARCPROF_BRANCH_TIME:
		t->time_ns = r->from;
		if (t->run_nr && t->time_ns - t->run_ns > RUN_NS)
			tell_run(it, t);
		return;
	case ARCPROF_BRANCH_MAPS:
		t->time_ns = r->from;
		tell_process(it, t);
		tell_maps(it, t);
		return;
	case ARCPROF_BRANCH_LAST:
		t->time_ns = r->from;
		tell_code(it, t, t->at, r->to + SYSCALL_LEN);
		return;
	}
	branched(it, t, r);
	if (r->kind == ARCPROF_BRANCH_EXEC)
		t->execs = true;
	if (r->kind == ARCPROF_BRANCH_EXEC || r->kind == ARCPROF_BRANCH_EXIT ||
	    r->kind == ARCPROF_BRANCH_STOP)
		tell_run(it, t);
}

static void consume(const struct itrace *it, const struct track *t)
{
	struct arcprof_itrace_consume c = { .size = sizeof(c), .ring = (uint32_t)(t - it->track),
		.tail = t->tail };

	ioctl(it->device, ARCPROF_IOC_ITRACE_CONSUME, &c);
}

static bool is_last(const struct itrace *it, const struct track *t)
{
	size_t i;

	for (i = 0; i < NR_RINGS; i++)
		if (it->track[i].open && it->track[i].pid == t->pid)
			return false;
	return true;
}

static void close_track(struct itrace *it, struct track *t)
{
	tell_run(it, t);
	t->open = false;
	if (t->ring->flags & ARCPROF_RING_REFUSED)
		it->totals.nr_foreign++;
	/* another thread may take the first one's number, by an exec */
	if ((t->exited || !t->tail) && (t->tid != t->pid || is_last(it, t)))
		it->sink->gone(it->ctx, clock_mono_ns(), t->pid, t->tid);
}

void blocks_read(struct itrace *it, struct track *t)
{
	bool ended;
	uint64_t head;

	if (t->busy)
		return;
	t->busy = true;
	ended = load_acquire(&t->ring->flags) & ARCPROF_RING_ENDED;
	head = load_acquire(&t->ring->head);
	while (t->tail < head) {
		block_on_branch(it, t, &t->records[t->tail % NR_RECORDS]);
		if (++t->tail % CONSUME_EVERY == 0 && t->tail < head)
			consume(it, t);
	}
	if (ended)
		close_track(it, t);	/* first: the ring may be another's as soon as all is consumed */
	consume(it, t);
	t->busy = false;
}
