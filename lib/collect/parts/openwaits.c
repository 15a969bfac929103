// SPDX-License-Identifier: GPL-2.0-or-later
/* openwaits.c - waits for locks of native code that are open at the end (locks.h). */
#include <inttypes.h>
#include <sys/uio.h>

#include "base/atomic.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "jvm/waiting.h"

enum { MOST_STACK = 64 * 1024 };	/* as much as samples have (agents.c) */

/* Return how much could be read. The memory is that of the wait as long as the wait's slot is. */
static size_t read_process_stack(int pid, uint64_t sp, uint8_t *buf, size_t size)
{
	struct iovec local = { buf, size }, remote = { (void *)(uintptr_t)sp, size };
	ssize_t r = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return r > 0 ? r & ~7ul : 0;
}

/* Return when the wait ended: the thread may have ended in it, by pthread_cancel() or with its process. */
static uint64_t wait_end(struct collect *c, int tid, uint64_t began_ns, uint64_t now_ns)
{
	const struct thread *th = tasks_at(&c->tasks, tid, began_ns);

	return th && th->dead ? MIN(th->dead_ns, now_ns) : now_ns;
}

static struct jvm_segment segment_of(const struct memory_regs *r, const uint8_t *stack, size_t len)
{
	return (struct jvm_segment){
		.pc = r->pc, .sp = r->sp, .fp = r->fp, .rbx = r->rbx, .r12 = r->r12, .r13 = r->r13,
		.r14 = r->r14, .r15 = r->r15, .valid = 0x1f, .exact = true, .to_root = true,
		.stack = stack, .len = len,
	};
}

static void openwait_tell(struct collect *c, struct java *program, struct waiting *at, uint64_t now_ns)
{
	static uint8_t stack[MOST_STACK];
	const struct jvm_frame frame = { .kind = JVM_NATIVE };
	struct jvm_segment segment;
	const uint64_t lock = load_acquire(&at->lock);
	uint64_t expected = lock;
	struct waiting w = *at;
	struct jvm_native_wait r;

	if (lock < WAITING_FIRST || w.began_ns >= now_ns)
		return;
	w.tid = jvm_host_tid(program->jvm, w.tid);
	w.owner = w.owner ? jvm_host_tid(program->jvm, w.owner) : 0;
	segment = segment_of(&w.regs, stack,
			     read_process_stack(program->proc->pid, w.regs.sp, stack, sizeof(stack)));
	if (!__atomic_compare_exchange_n(&at->lock, &expected, WAITING_TOLD, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		return;		/* over: it reports itself */
	/* another wait for the lock has just begun here: what was copied is of both */
	if (load_relaxed(&at->began_ns) != w.began_ns)
		return;
	r = (struct jvm_native_wait){
		.time_ns = wait_end(c, w.tid, w.began_ns, now_ns), .addr = lock, .thread = w.tid,
		.kind = w.kind, .owner = w.owner, .blamed_ns = load_acquire(&at->blamed_ns),
	};
	r.ns = r.time_ns - MIN(w.began_ns, r.time_ns);
	if (r.ns)
		locks_native_open(c, program, &r, &(struct jvm_sample){
			.time_ns = r.time_ns, .tid = w.tid, .frames = &frame, .nr_frames = 1,
			.segments = &segment, .nr_segments = 1,
		});
}

void openwaits_tell(struct collect *c, struct java *program, uint64_t now_ns)
{
	struct waiting_table *t = program->jvm ? jvm_waiting_table(program->jvm) : NULL;
	size_t block, i;

	if (!t)
		return;
	for (block = 0; block < WAITING_BLOCKS; block++)
		for (i = 0; load_relaxed(&t->used[block]) && i < WAITING_BLOCK; i++)
			openwait_tell(c, program, &t->slots[block * WAITING_BLOCK + i], now_ns);
	if (load_relaxed(&t->nr_elsewhere) && load_relaxed(&t->nr_elsewhere) <= INT32_MAX)
		refused_text(&c->refused, "waits that went on at the end: %" PRIu64 " of process %d had no place",
			     load_relaxed(&t->nr_elsewhere), program->proc->pid);
}
