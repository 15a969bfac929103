// SPDX-License-Identifier: MIT
/*
 * sample.c - the SIGTRAP handler: a perf event overflowed in this thread; its stack is
 * walked and written to a ring.
 *
 * The kernel raises TRAP_PERF synchronously, where the event fired, or when the thread
 * unblocks the signal (then flagged as late). The handler runs with SIGTRAP blocked, so it
 * never nests; it takes a work area from a pool, for a signal stack is not a place for one.
 */
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>

#include "agent/agent.h"
#include "agent/cpu.h"
#include "agent/elf.h"
#include "agent/hotspot/facts.h"
#include "agent/hotspot/oops.h"
#include "agent/hotspot/reason.h"
#include "agent/hotspot/scopes.h"
#include "agent/hotspot/vm.h"
#include "agent/hotspot/walk.h"
#include "agent/hotspot/walk_native.h"
#include "agent/ring.h"
#include "agent/sources/budget.h"
#include "agent/sources/sources.h"
#include "jvm/memory.h"

enum { TRAP_PERF_ = 6, TRAP_PERF_LATE = 1, NR_AREAS = 128, NR_COMPILE_IDS = 1 << 22, MAX_WAIT_MS = 10000,
	KEEP_NS = 10000000,
	USUAL_DEPTH = 4096 };

static struct {
	uint64_t used[NR_AREAS / 64];
	char *mem;
	size_t size;		/* of one area */
	uint32_t room;		/* frames that fit in it */
	uint32_t max_depth;
	uint32_t max_stack;
} pool;

/* a bit per compile id: was on a stack; was announced */
static uint64_t *seen, *announced;
static bool tells_places;	/* so code is not announced */

static struct kernel_sigaction {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
} old_action,			/* gets the signals that are not samples */
	first_action;		/* there before us: below later handlers */

static uint64_t crashing;	/* the VM reports its own end: no more samples */
static uint32_t on;		/* somebody takes samples */
static uint32_t nr_running;	/* handlers */

static void set_bit(uint64_t *map, uint32_t i)
{
	uint64_t bit = 1ull << (i & 63);

	if (i < NR_COMPILE_IDS && !(load_relaxed(&map[i / 64]) & bit))
		__atomic_fetch_or(&map[i / 64], bit, __ATOMIC_RELAXED);
}

void sample_code_announced(uint32_t id)
{
	set_bit(announced, id);
}

bool sample_code_is_announced(uint32_t id)
{
	return id < NR_COMPILE_IDS && load_relaxed(&announced[id / 64]) >> (id & 63) & 1;
}

bool sample_tells_places(void)
{
	return tells_places;
}

void sample_forget_places(void)
{
	store_relaxed(&tells_places, false);
}

uint32_t sample_nr_unannounced(void)
{
	uint32_t i, nr = 0;
	uint64_t bits;

	for (i = 0; i < NR_COMPILE_IDS / 64; i++)
		for (bits = seen[i] & ~announced[i]; bits; bits &= bits - 1)
			nr++;
	return nr;
}

static struct walk *take_area(int tid, int *nr)
{
	int i, word;

	for (i = 0; i < NR_AREAS / 64; i++) {
		uint64_t used;

		word = (tid + i) % (NR_AREAS / 64);
		used = load_relaxed(&pool.used[word]);
		while (~used) {
			int bit = __builtin_ctzll(~used);

			if (__atomic_compare_exchange_n(&pool.used[word], &used, used | 1ull << bit, true,
							__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
				*nr = word * 64 + bit;
				return (void *)(pool.mem + *nr * pool.size);
			}
		}
	}
	return NULL;
}

static void agent_sample_give_back(int nr)
{
	__atomic_fetch_and(&pool.used[nr / 64], ~(1ull << (nr & 63)), __ATOMIC_RELEASE);
}

/* Return where len bytes of the stack, whose end is known, can be loaded; NULL: nowhere. */
static const void *stack_at(const struct walk *w, uintptr_t p, size_t len)
{
	struct blocked *b = w->thread.blocked;

	if (!b)
		return (const void *)p;
	if (p < b->lo || p > b->hi || len > b->hi - p || !blocked_has(b, p + len - 8))
		return NULL;
	return b->stack + (p - b->lo);
}

/*
 * Replace what is below the first Java frame by a number: it is the same from sample to sample of a thread.
 * Otherwise the stack is copied as far as unwinding reads, if that is known.
 */
static void leave_out_root(struct walk *w)
{
	uint64_t end = w->thread.stack_base;
	struct jvm_rec_segment *s;
	struct jvm_rec_frame *f;
	const void *stack;
	struct jvm_root r;

	if (!w->nr_segments || !w->nr_frames || !w->bounded)
		return;
	s = &w->segments[w->nr_segments - 1];
	f = &w->frames[w->nr_frames - 1];
	if (!(s->flags & JVM_SEG_TO_ROOT) || s->sp + s->len != end ||
	    f->kind_pc >> JVM_FRAME_PC_BITS != JVM_NATIVE || f->segment != w->nr_segments - 1)
		return;
	s->end = end;
	if (!ring_root(end, &r))
		return;
	stack = stack_at(w, s->sp, s->len);
	if (stack && r.sp == s->sp && r.len <= s->len && jvm_root_hash(s, stack, r.len) == r.hash) {
		*f = (struct jvm_rec_frame){ (uint64_t)JVM_ROOT << JVM_FRAME_PC_BITS, .root = r.id };
		w->nr_segments--;
	} else if (r.top > s->sp && r.top < end) {
		s->len = r.top - s->sp;
		s->flags |= JVM_SEG_TRIMMED;
	}
}

/*
 * Decide how much of each segment's stack goes into the record. Where the end of the stack is unknown,
 * the kernel is asked for as much as there is room for.
 */
static size_t size_record(struct walk *w)
{
	size_t size = sizeof(struct jvm_rec_sample) + w->nr_frames * sizeof(struct jvm_rec_frame);
	uint32_t i;

	for (i = 0; i < w->nr_segments; i++) {
		struct jvm_rec_segment *s = &w->segments[i];

		if (s->len > pool.max_stack)
			s->len = pool.max_stack;
		size += sizeof(*s) + ALIGN8(s->len);
	}
	return size;
}

static char *put_segment(char *d, struct jvm_rec_segment *s, const struct walk *w)
{
	const void *from = w->bounded ? stack_at(w, s->sp, s->len) : NULL;
	uint32_t len = ALIGN8(s->len), got = s->len;
	char *stack = d + sizeof(*s);

	if (from)
		memcpy(stack, from, s->len);
	else
		got = sys_peek(stack, s->sp, s->len);
	memset(stack + got, 0, len - got);
	memcpy(d, s, sizeof(*s));
	return stack + len;
}

/* Report that inlining cannot be read, too late for the VM's events: none is reported from now on. */
static void tell_scopes_fail(struct jvm_ring *ring)
{
	const char *type, *name;

	sample_forget_places();
	facts_tried(FACTS_PROBE_scopes, false);
	if (facts_lack(FACTS_INLINED, &type, &name))
		facts_tell(ring, FACTS_INLINED, type, name);
}

static void note_code(struct walk *w)
{
	uint32_t i;

	if (tells_places) {
		if (!scopes_tell(w->frames, w->nr_frames, w->ring, w->scopes, w->thread.blocked))
			tell_scopes_fail(w->ring);
		return;
	}
	for (i = 0; i < w->nr_frames; i++)
		if (w->frames[i].kind_pc >> JVM_FRAME_PC_BITS == JVM_COMPILED)
			set_bit(seen, w->frames[i].compile_id & ~JVM_NOT_INLINED);
}

/*
 * Write the sample; wall: of a thread that waits, else NULL. Returns false without room, which is not counted
 * here.
 */
static bool agent_sample_write_sample(struct walk *w, const struct jvm_rec_sample *head,
				      const struct jvm_rec_wall *wall)
{
	size_t size = size_record(w) + (wall ? sizeof(*wall) : 0);
	struct jvm_rec_sample *r = w->no_room ? NULL : ring_reserve(w->ring, size);
	uint32_t i;
	char *d;

	if (!r)
		return false;
	memcpy((char *)r + sizeof(r->h), (const char *)head + sizeof(r->h), sizeof(*r) - sizeof(r->h));
	r->nr_frames = w->nr_frames;
	r->nr_segments = w->nr_segments;
	d = (char *)(r + 1);
	if (wall) {
		memcpy(d, wall, sizeof(*wall));
		d += sizeof(*wall);
	}
	memcpy(d, w->frames, w->nr_frames * sizeof(w->frames[0]));
	d += w->nr_frames * sizeof(w->frames[0]);
	for (i = 0; i < w->nr_segments; i++)
		d = put_segment(d, &w->segments[i], w);
	/* of another thread's stack more may have been copied */
	ring_commit(r, size, !wall || !w->thread.blocked->torn ? JVM_REC_SAMPLE : JVM_REC_PAD);
	note_code(w);
	return true;
}

/* Take an area for this thread's walk; NULL: the sample is lost. */
static struct walk *begin_walk(struct jvm_rec_sample *head, uintptr_t sp, int *nr)
{
	struct walk *w;

	head->tid = sys_tid();
	w = take_area(head->tid, nr);
	if (!w) {
		ring_count_lost(ring_of(head->tid));
		return NULL;
	}
	w->ring = ring_of(head->tid);
	w->no_room = false;
	w->nr_frames = w->nr_segments = 0;
	w->max_frames = pool.max_depth;
	vm_current_thread(&w->thread, sp);
	return w;
}

static bool end_walk(struct walk *w, struct jvm_rec_sample *head, int nr)
{
	bool written;

	leave_out_root(w);
	head->vthread = cont_vthread(&w->thread, w->ring);
	written = agent_sample_write_sample(w, head, NULL);
	if (!written)
		ring_count_lost(w->ring);
	agent_sample_give_back(nr);
	return written;
}

static bool take_sample(const struct ucontext *uc, struct jvm_rec_sample *head)
{
	const struct walk_regs regs = native_regs_of(uc);
	int nr;
	struct walk *w = begin_walk(head, regs.sp, &nr);

	if (!w)
		return false;
	walk_stack(w, &regs);
	return end_walk(w, head, nr);
}

struct walk *sample_new_walk(void)
{
	return sys_pages(pool.size);
}

bool sample_blocked(struct walk *w, struct blocked *b, struct jvm_rec_sample *head, struct jvm_rec_wall *wall)
{
	const struct walk_regs regs = frame_regs_of_wall(&b->was.regs);

	w->ring = ring_of(head->tid);
	if (ring_is_half_full(w->ring))		/* threads that have all blocked at once fill it */
		return false;
	w->no_room = false;
	w->nr_frames = w->nr_segments = 0;
	w->max_frames = pool.max_depth;
	w->thread = (struct vm_thread){ b->thread, (uintptr_t)b->fields, b, b->hi };
	walk_stack(w, &regs);
	if (b->partial && w->nr_segments && w->segments[0].flags & JVM_SEG_EXACT)
		w->segments[0].flags &= ~JVM_SEG_VALID;
	if (b->past)
		return agent_sample_write_sample(w, head, wall);
	leave_out_root(w);
	wall->reason = reason_of(w, &wall->leaf);
	head->vthread = cont_vthread(&w->thread, w->ring);
	/* it has gone on, and when it blocks again it is looked at again */
	if (!blocked_holds(b))
		return true;
	if ((w->frozen || head->vthread) && !(oops_move() ? blocked_still(b) : blocked_objects_hold(b)))
		return false;
	return agent_sample_write_sample(w, head, wall);
}

/*
 * Pass a signal on. A later handler passes to us what is not its own; such a signal goes to the one that was
 * there before both, as it would otherwise come back for ever.
 */
static void chain(int sig, siginfo_t *si, void *uc, bool is_passed_on)
{
	const struct kernel_sigaction *to = is_passed_on ? &first_action : &old_action;
	void (*old)(int, siginfo_t *, void *) = to->handler;

	if (to->handler == (void *)1)	/* SIG_IGN */
		return;
	if (to->handler) {
		old(sig, si, uc);
		return;
	}
	/* the default: die of it, as without us */
	sys(__NR_rt_sigaction, sig, to, 0, 8);
	sys(__NR_tgkill, sys(__NR_getpid), sys_tid(), sig);
}

static void describe_trap(const siginfo_t *si, struct jvm_rec_sample *head)
{
	const char *fault = (const char *)&si->_sifields._sigfault;
	uint64_t data;
	uint32_t flags;

	/* si_addr, then a union aligned to it: si_perf_data, si_perf_type, si_perf_flags */
	memcpy(&data, fault + 8, 8);
	memcpy(&flags, fault + 20, 4);
	head->event = data;
	head->flags = flags & TRAP_PERF_LATE ? JVM_SAMPLE_LATE : 0;
}

/*
 * Return whether the recorder's BPF program sent the signal: a clock of a CPU has hit the thread, and the
 * value is the time. However late it is handled, the halves of samples that were hit before belong to it.
 * A breakpoint in the code, which comes from the kernel, too, has no value.
 */
static bool is_bpf_trap(const siginfo_t *si)
{
	return si->si_code == SI_KERNEL && si->si_value.sival_ptr;
}

static void agent_sample_describe(const siginfo_t *si, struct jvm_rec_sample *head)
{
	if (si->si_code == TRAP_PERF_) {
		describe_trap(si, head);
	} else if (is_bpf_trap(si)) {
		head->flags = JVM_SAMPLE_LATE;
	} else {
		head->event = timers_nr_periods(si);
		head->flags = JVM_SAMPLE_TIMER;
	}
}

/* Add what was skipped before to this sample. */
static void add_skipped(struct jvm_rec_sample *head, const struct budget *b)
{
	if (!b->nr_skipped)
		return;
	head->flags |= JVM_SAMPLE_SKIPPED;
	head->value = head->flags & JVM_SAMPLE_TIMER ? b->nr_skipped : b->skipped_ns;
	if (head->flags & JVM_SAMPLE_TIMER)
		head->event += b->periods < UINT32_MAX - head->event ? b->periods : 0;
}

static void sample_within(struct budget *b, const struct ucontext *uc, struct jvm_rec_sample *head)
{
	bool by_clock = budget_wants_clock(b);
	uint64_t cpu = by_clock ? sys_own_cpu() : 0;

	if (by_clock && !budget_allows(b, cpu)) {
		budget_skip(b, head->time_ns, head->flags & JVM_SAMPLE_TIMER ? head->event : 0);
		return;
	}
	add_skipped(head, b);
	if (take_sample(uc, head))
		budget_settle(b);
	if (by_clock)
		budget_spend(b, sys_own_cpu() - cpu);
	else
		budget_spend_elapsed(b, sys_now() - head->time_ns);
}

static void on_sample(const siginfo_t *si, const void *uc)
{
	struct jvm_rec_sample head = { .time_ns = sys_now() };
	struct budget *b = budget_of(sys_tid());
	struct jvm_ctl *ctl = ring_ctl();
	uint64_t ns;

	agent_sample_describe(si, &head);
	if (b)
		sample_within(b, uc, &head);
	else
		take_sample(uc, &head);
	ns = sys_now() - head.time_ns;
	add_relaxed(&ctl->nr_traps, 1);
	add_relaxed(&ctl->trap_ns, ns);
	add_relaxed(&ctl->trap_log2[63 - __builtin_clzll((ns & 0x7fffffff) | 1)], 1);
}

/* Count first, then check whether it is on: sample_off() does both in the other order. */
static void on_trap(int sig, siginfo_t *si, void *uc)
{
	cpu_allow_unaligned();
	if (si->si_code != TRAP_PERF_ && !is_bpf_trap(si) && !timers_raised(si)) {
		chain(sig, si, uc, __builtin_return_address(0) != (void *)cpu_restorer);
		return;
	}
	__atomic_fetch_add(&nr_running, 1, __ATOMIC_SEQ_CST);
	if (load_seq_cst(&on) && !load_relaxed(&crashing))
		on_sample(si, uc);
	__atomic_fetch_sub(&nr_running, 1, __ATOMIC_SEQ_CST);
}

/* Count first, like a handler. */
bool sample_begin(void)
{
	__atomic_fetch_add(&nr_running, 1, __ATOMIC_SEQ_CST);
	if (load_seq_cst(&on) && !load_relaxed(&crashing))
		return true;
	sample_end();
	return false;
}

void sample_end(void)
{
	__atomic_fetch_sub(&nr_running, 1, __ATOMIC_SEQ_CST);
}

bool sources_sample(enum jvm_source source, uint64_t value, uint32_t leaf, uint32_t id)
{
	struct jvm_rec_sample head = {
		.time_ns = sys_now(), .event = source, .flags = JVM_SAMPLE_SOURCE,
		.value = value, .leaf = leaf, .id = id,
	};
	uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
	bool taken = false;
	struct walk *w;
	int nr;

	__atomic_fetch_add(&nr_running, 1, __ATOMIC_SEQ_CST);
	w = load_seq_cst(&on) && !load_relaxed(&crashing) ? begin_walk(&head, sp, &nr) : NULL;
	if (w) {
		walk_last_java(w, sp);
		taken = end_walk(w, &head, nr);
	}
	__atomic_fetch_sub(&nr_running, 1, __ATOMIC_SEQ_CST);
	return taken;
}

bool sources_sample_native(const struct memory_regs *at, enum jvm_source source, uint64_t value,
			   uint32_t leaf, uint32_t id)
{
	struct jvm_rec_sample head = {
		.time_ns = sys_now(), .event = source, .flags = JVM_SAMPLE_SOURCE,
		.value = value, .leaf = leaf, .id = id,
	};
	const struct walk_regs regs = frame_regs_of_memory(at);
	struct walk *w;
	int nr;

	if (!sample_begin())
		return false;
	w = begin_walk(&head, regs.sp, &nr);
	if (w) {
		walk_stack(w, &regs);
		end_walk(w, &head, nr);
	}
	sample_end();
	return true;
}

/*
 * libjvm's sigaction() leads here. HotSpot's crash report handles SIGTRAP as another crash: the next sample
 * of any thread would count as one, stop that thread with its locks held, and the report would wait for them
 * for ever. So the signal stays ours, its handler gets what is not a sample, and sampling ends.
 */
struct libc_sigaction {		/* of glibc and musl, which agree */
	void *handler;
	uint64_t mask[16];
	int flags;
	void *restorer;
};

typedef int sigaction_fn(int, const struct libc_sigaction *, struct libc_sigaction *);
static sigaction_fn on_sigaction;
static struct elf_hook sigaction_hook = { .ours = (void *)on_sigaction };
static void *fault_handler;	/* what libjvm last set for a fault */

static int on_sigaction(int sig, const struct libc_sigaction *new, struct libc_sigaction *old)
{
	if (sig == SIGSEGV && new)
		fault_handler = new->handler;
	if (sig != SIGTRAP)
		return ((sigaction_fn *)sigaction_hook.was)(sig, new, old);
	if (old) {
		memset(old, 0, sizeof(*old));
		old->handler = old_action.handler;
		old->flags = old_action.flags;
	}
	if (new) {
		old_action.handler = new->handler;
		/*
		 * the report has one handler for all signals; a program's own, of sun.misc.Signal, is for
		 * this one
		 */
		if (new->handler == fault_handler)
			store_relaxed(&crashing, 1);
	}
	return 0;
}

bool sample_init(void)
{
	const struct jvm_ctl *ctl = ring_ctl();

	/*
	 * made once, by what the first recorder asks for: later ones have no deeper stacks, but for what
	 * costs nothing
	 */
	if (!pool.mem) {
		pool.room = ctl->max_depth < USUAL_DEPTH ? USUAL_DEPTH : ctl->max_depth;
		pool.room = pool.room < JVM_MAX_DEPTH ? pool.room : JVM_MAX_DEPTH;
		pool.size = sizeof(struct walk) + (pool.room + 4) * sizeof(struct jvm_rec_frame);
		pool.size = (pool.size + 63) & ~63ul;
	}
	pool.max_depth = ctl->max_depth < pool.room ? ctl->max_depth : pool.room;
	pool.max_stack = ctl->max_stack & ~7u;
	cont_forget_names();
	if (!budget_init())
		return false;
	/* without this flag compilers note less; CompiledMethodLoad events would set it too */
	tells_places = ctl->flags & JVM_PLACES && scopes_init() && vm_flag_by_default("DebugNonSafepoints");
	if (pool.mem) {
		sys_clear_pages(seen, NR_COMPILE_IDS / 8);
		sys_clear_pages(announced, NR_COMPILE_IDS / 8);
		return true;
	}
	seen = sys_pages(NR_COMPILE_IDS / 8);
	announced = sys_pages(NR_COMPILE_IDS / 8);
	if (seen && announced)
		pool.mem = sys_pages(pool.size * NR_AREAS);
	return pool.mem;
}

/* Use the thread's own signal stack where it has one: some runtimes' threads have little else. */
static bool take_signal(void)
{
	const struct kernel_sigaction sa = {
		.handler = on_trap,
		.flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | 0x04000000 /* SA_RESTORER */,
		.restorer = cpu_restorer,
		.mask = CPU_BLOCKED_SIGNALS,
	};

	return !sys(__NR_rt_sigaction, SIGTRAP, &sa, 0, 8);
}

/*
 * Take the signal back if native code of the program has replaced the handler: all samples would lack a
 * stack. The program's handler gets what is not a sample.
 */
void sample_keep_signal(void)
{
	static uint64_t looked_ns;
	struct kernel_sigaction now;
	uint64_t t;

	if (!load_relaxed(&on) || load_relaxed(&crashing) ||
	    (t = sys_now()) - load_relaxed(&looked_ns) < KEEP_NS)
		return;
	store_relaxed(&looked_ns, t);
	if (!sys(__NR_rt_sigaction, SIGTRAP, 0, &now, 8) && now.handler != on_trap) {
		old_action = now;
		take_signal();
	}
}

/*
 * The VM's periodic thread and others wait with a timeout, so this runs regularly, whatever the program does.
 * It ends in a jump, so that it is on no stack.
 */
typedef int timedwait_fn(void *cond, void *mutex, const void *until);
static timedwait_fn on_timedwait;
static struct elf_hook timedwait_hook = { .ours = (void *)on_timedwait };

static int on_timedwait(void *cond, void *mutex, const void *until)
{
	sample_keep_signal();
	return ((timedwait_fn *)timedwait_hook.was)(cond, mutex, until);
}

static bool install(void)
{
	static bool installed;

	if (installed)
		return true;
	if (sys(__NR_rt_sigaction, SIGTRAP, 0, &first_action, 8))
		return false;
	old_action = first_action;
	if (!take_signal())
		return false;
	elf_hook(vm.libjvm, "sigaction", &sigaction_hook);
	elf_hook(vm.libjvm, "pthread_cond_timedwait", &timedwait_hook);
	installed = true;
	return true;
}

bool sample_on(void)
{
	if (!install())
		return false;
	store_seq_cst(&on, 1);
	return true;
}

bool sample_off(void)
{
	int ms;

	store_seq_cst(&on, 0);
	for (ms = 0; ms < MAX_WAIT_MS && load_seq_cst(&nr_running); ms++)
		sys_sleep_ms(1);
	return ms < MAX_WAIT_MS;
}
