// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * walker.c - the process that walks the stacks of a JVM from outside (outside.h). To the agent's walker the
 * thread is one that is blocked (agent/hotspot/blocked.h): stack and registers are copies.
 *
 * What may be wrong in what was read, and what is done against it:
 *  [1] pages are kept, and their contents may be old: after each walk the compile ids of all code on the
 *      stack are read as they are now, and the VM's count of unloaded classes. When one differs, or the
 *      walk ended in a mark, all pages are forgotten, and it is walked once more;
 *  [2] what is true now may not have been at the time of the sample: code and classes count as the same then
 *      when they were seen before it; code also when the sample is not older than LATE_NS;
 *  [3] the JVM may mean harm: loads are bounded (far.c), so is the time of a walk, and this is a process of
 *      its own.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/elf.h"
#include "agent/hotspot/facts.h"
#include "agent/hotspot/names.h"
#include "agent/hotspot/scopes.h"
#include "agent/hotspot/walk.h"
#include "base/clock.h"
#include "base/mix.h"
#include "jvm/encode.h"
#include "jvm/reserve.h"
#include "jvm/vmstructs.h"
#include "outside/cpu.h"
#include "outside/far.h"
#include "outside/outside.h"

enum {
	LATE_NS = 10000000,
	NR_SEEN = 1 << 16,
	NR_STUBS = 1 << 10,
	MAX_CODES = 512,		/* nmethods of a stack that are looked at again */
	STAGE_BYTES = 1 << 20,
	STUB_BYTES = 512,		/* of call_stub, on either side of its call */
	NAP_US = 200,
	WALK_S = 2,			/* of CPU time: then it goes round in circles */
	YOUNG_MS = 4, MAX_YOUNG = 1250,	/* a VM that starts is looked at again, so often */
	NR_SAME = 3,			/* its interpreter is complete when it stays the same */
	COUNTERS_EACH = 256,		/* walks */
};
#define FURTHEST (1ul << 30)		/* that a stack may go on beyond its copy */

static struct outside_share *share;
static struct jvm_ctl *ctl;
static struct vmstructs libjvm;
static int parent;
static struct walk *w;
static struct blocked thread;
static bool was_cut;
static bool tells_places;		/* what code has inlined can be read */
static uint32_t nr_begun, nr_done;	/* walks; the first is learning about the VM */

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(share->why, sizeof(share->why), fmt, ap);
	va_end(ap);
	store_release(&share->state, OUTSIDE_GAVE_UP);
	_exit(1);
}

static void nap(void)
{
	if (getppid() != parent)
		_exit(0);
	usleep(NAP_US);
}

/* ---- what the walker's files ask of the agent ---- */

uint64_t sys_now(void)
{
	return clock_mono_ns();
}

uintptr_t elf_base_of(uintptr_t addr)
{
	return addr;
}

void *elf_symbol(uintptr_t base, const char *name)
{
	return (void *)(uintptr_t)vmstructs_symbol(&libjvm, name);
}

bool elf_text(uintptr_t base, uintptr_t *lo, uintptr_t *hi)
{
	enum { MAX_SEGMENTS = 64 };
	Elf64_Ehdr h;
	Elf64_Phdr p;
	int i;

	*lo = UINTPTR_MAX;
	*hi = 0;
	if (!sys_peek_all(&h, base, sizeof(h)))
		return false;
	for (i = 0; i < h.e_phnum && i < MAX_SEGMENTS; i++) {
		if (!sys_peek_all(&p, base + h.e_phoff + i * sizeof(p), sizeof(p)))
			return false;
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		if (base + p.p_vaddr < *lo)
			*lo = base + p.p_vaddr;
		if (base + p.p_vaddr + p.p_memsz > *hi)
			*hi = base + p.p_vaddr + p.p_memsz;
	}
	return *hi;
}

bool blocked_still(const struct blocked *b)
{
	return true;
}

bool blocked_holds(const struct blocked *b)
{
	return true;
}

bool blocked_load(struct blocked *b, uintptr_t p)
{
	was_cut = true;
	return false;
}

bool cont_is_entry(uintptr_t method)
{
	return false;
}

enum cont_result cont_load(const struct vm_thread *t, struct cont_copy *c, bool next)
{
	return CONT_LOST;
}

/*
 * Records of code are kept until what they were read from was looked at again. Whoever asks reads its ring
 * all the time: room is waited for.
 */
static char staged[STAGE_BYTES];
static size_t nr_staged;

static void walker_put(struct jvm_ring *ring, const void *rec, size_t size, enum jvm_rec_type type)
{
	void *to;

	while (!(to = jvm_ring_reserve(ring, ctl->ring_bytes, size)))
		nap();
	memcpy((char *)to + sizeof(struct jvm_rec), (const char *)rec + sizeof(struct jvm_rec),
	       size - sizeof(struct jvm_rec));
	jvm_ring_commit(to, ctl->ring_bytes, size, type);
}

void *send_begin(struct jvm_ring *ring, size_t size)
{
	static char record[STAGE_BYTES] __attribute__((aligned(8)));

	return size <= sizeof(record) ? record : NULL;
}

void send_end(struct jvm_ring *ring, void *rec, size_t size, enum jvm_rec_type type)
{
	walker_put(ring, rec, size, type);
}

bool send_code(struct jvm_ring *ring, const struct jvm_code *r)
{
	size_t size = jvm_size_code(r);

	if (size > STAGE_BYTES - nr_staged)
		return false;
	jvm_encode_code(staged + nr_staged, size, r);
	*(struct jvm_rec *)(staged + nr_staged) = (struct jvm_rec){ size, JVM_REC_code };
	nr_staged += size;
	return true;
}

#define SEND(s) \
	bool send_##s(struct jvm_ring *ring, const struct jvm_##s *r) \
	{ \
		size_t size = jvm_size_##s(r); \
		void *rec = send_begin(ring, size); \
\
		if (!rec) \
			return false; \
		jvm_encode_##s(rec, size, r); \
		send_end(ring, rec, size, JVM_REC_##s); \
		return true; \
	}
SEND(lacks)
SEND(stub)

static void send_staged(struct jvm_ring *ring)
{
	size_t at, size;

	for (at = 0; at < nr_staged; at += size) {
		size = ((struct jvm_rec *)(staged + at))->size;
		walker_put(ring, staged + at, size, JVM_REC_code);
	}
	nr_staged = 0;
}

/* ---- is it as it was? ---- */

/* The times since which code, by its compile id, and the classes are known. */
static struct {
	uint32_t id;
	uint64_t since_ns;
} seen[NR_SEEN];
static uint64_t classes_since_ns, nr_unloaded;

static uint64_t code_since(uint32_t id, uint64_t now_ns)
{
	uint32_t i = id % NR_SEEN;

	if (seen[i].id != id || !seen[i].since_ns) {
		seen[i].id = id;
		seen[i].since_ns = now_ns;
	}
	return seen[i].since_ns;
}

static enum jvm_frame_kind walker_kind_of(const struct jvm_rec_frame *f)
{
	return f->kind_pc >> JVM_FRAME_PC_BITS;
}

static uintptr_t pc_of(const struct jvm_rec_frame *f)
{
	return f->kind_pc & ((1ull << JVM_FRAME_PC_BITS) - 1);
}

/* an nmethod's data, as read before and as it is now */
struct code_look {
	uintptr_t addr;
	int32_t id, id_now;
	uint8_t used_now;
};

/* List the code on the stack, each once; return how much. *all is false if there is more than fits. */
static size_t list_code(struct code_look *list, bool *all)
{
	size_t nr = 0, i;
	struct vm_blob b;
	uint32_t k;

	*all = true;
	for (k = 0; k < w->nr_frames; k++) {
		const struct jvm_rec_frame *f = &w->frames[k];
		int32_t id = f->compile_id & ~JVM_NOT_INLINED;

		if (walker_kind_of(f) != JVM_COMPILED)
			continue;
		for (i = nr; i && list[i - 1].id != id; i--)
			;
		if (i)
			continue;
		if (nr == MAX_CODES || !vm_find_blob(pc_of(f), &b) ||
		    (list[nr] = (struct code_look){ b.addr, vm_i32(b.addr, vm.o.nm_compile_id) }).id != id) {
			*all = false;
			return nr;
		}
		nr++;
	}
	return nr;
}

/* [1]: a block of the code cache begins with whether it is in use, before its nmethod. */
static bool is_as_read(struct code_look *list, size_t nr)
{
	static struct iovec to[2 * MAX_CODES + 1], from[2 * MAX_CODES + 1];
	const size_t per_call = 1024;
	uint64_t unloaded = nr_unloaded;
	size_t i, n = 0, done;

	for (i = 0; i < nr; i++) {
		uintptr_t used = list[i].addr - vm.size.block + vm.o.block_used;

		to[n] = (struct iovec){ &list[i].id_now, 4 };
		from[n++] = (struct iovec){ (void *)(list[i].addr + vm.o.nm_compile_id), 4 };
		to[n] = (struct iovec){ &list[i].used_now, 1 };
		from[n++] = (struct iovec){ (void *)used, 1 };
	}
	if (vm.nr_unloaded) {
		to[n] = (struct iovec){ &unloaded, 8 };
		from[n++] = (struct iovec){ (void *)vm.nr_unloaded, 8 };
	}
	for (done = 0; done < n; done += per_call)
		if (!far_look(to + done, from + done, n - done < per_call ? n - done : per_call))
			return false;
	for (i = 0; i < nr; i++)
		if (list[i].id_now != list[i].id || !list[i].used_now)
			return false;
	if (unloaded == nr_unloaded && vm.nr_unloaded)
		return true;
	nr_unloaded = unloaded;
	classes_since_ns = sys_now();
	far_forget();		/* who walks next is to see that count, by which names are known */
	return !vm.nr_unloaded;
}

/* Forget the compile ids of code, which the walker caches: what was read too early would stay. */
static void forget_code(void)
{
	sys_clear_pages(thread.code, BLOCKED_NR_CODES * sizeof(*thread.code));
}

/*
 * [2]. Of a class that was unloaded after the sample, what it had may be there still when it is walked, and
 * another's soon: what is known of methods by their addresses is doubtful from then on.
 */
static bool was_so_then(const struct code_look *list, size_t nr, uint64_t time_ns)
{
	uint64_t now = sys_now();
	bool is_late = now > time_ns + LATE_NS;
	bool so = vm.nr_unloaded ? classes_since_ns <= time_ns : !is_late;
	size_t i;

	if (!so) {
		names_class_unloaded();
		forget_code();
	}

	for (i = 0; i < nr; i++)
		so &= code_since(list[i].id, now) <= time_ns || !is_late;
	return so;
}

/* ---- a stack ---- */

static bool has_mark(void)
{
	return w->nr_frames && walker_kind_of(&w->frames[w->nr_frames - 1]) == JVM_MARK;
}

static void only_a_mark(enum jvm_mark why)
{
	w->nr_segments = 0;
	w->frames[0] = (struct jvm_rec_frame){ (uint64_t)JVM_MARK << JVM_FRAME_PC_BITS, .mark = why };
	w->nr_frames = 1;
}

static void walk_once(const struct outside_ask *a)
{
	const struct walk_regs r = cpu_regs(a);

	w->nr_frames = w->nr_segments = 0;
	w->max_frames = ctl->max_depth;
	w->no_room = was_cut = false;
	w->thread = (struct vm_thread){ .blocked = &thread, .stack_base = thread.hi };
	if (a->exact)
		walk_stack(w, &r);
	else
		walk_from_call(w, &r, cpu_is_leaf_call(a->pc));
}

/* Report that inlining is unknown. */
static void tell_scopes_fail(void)
{
	const char *type, *name;

	facts_tried(FACTS_PROBE_scopes, false);
	if (facts_lack(FACTS_INLINED, &type, &name))
		facts_tell(w->ring, FACTS_INLINED, type, name);
}

static void tell_stub(const char *name, uintptr_t lo, uintptr_t hi)
{
	size_t len = vm_stub_name(&name);

	if (lo < hi)
		send_stub(w->ring, &(struct jvm_stub){
			.time_ns = sys_now(), .addr = lo, .size = hi - lo, .name = name, .name_len = len,
		});
}

/* Report the names of blobs of stubs, each once; an agent gets the single ones by events. */
static void tell_stubs(void)
{
	const struct vm_range *call = &vm_known.call_stub;
	static uintptr_t told[NR_STUBS];
	struct vm_blob b;
	uint32_t i;

	for (i = 0; i < w->nr_frames; i++) {
		const char *name;
		uintptr_t *slot, end;

		if (walker_kind_of(&w->frames[i]) != JVM_STUB || !vm_find_blob(pc_of(&w->frames[i]), &b))
			continue;
		slot = &told[mix64(b.addr) % NR_STUBS];
		name = *slot == b.addr ? NULL : vm_string(vm_word(b.addr, vm.o.blob_name));
		if (!name || !*name)
			continue;
		*slot = b.addr;
		end = b.addr + (uint32_t)vm_i32(b.addr, vm.o.blob_size);
		if (call->lo > b.addr && call->hi < end) {
			tell_stub(name, b.addr, call->lo);
			tell_stub("call_stub", call->lo, call->hi);
			tell_stub(name, call->hi, end);
		} else {
			tell_stub(name, b.addr, end);
		}
	}
}

/* Walk the stack: frames stay as they were found if they are still true, or a mark replaces them. */
static void walker_walk(const struct outside_ask *a)
{
	static struct code_look list[MAX_CODES];
	bool all = false, same = false, was_so;
	size_t nr = 0;
	int tries;

	for (tries = 0; tries < 2 && (!same || (has_mark() && !was_cut && tries < 2)); tries++) {
		if (tries || !vm.nr_unloaded)
			far_forget();
		walk_once(a);
		nr = list_code(list, &all);
		same = all && is_as_read(list, nr);
		if (!same)
			forget_code();
	}
	was_so = was_so_then(list, nr, a->time_ns);
	if (!same || w->no_room || !was_so) {
		only_a_mark(JVM_MARK_LATE);
		return;
	}
	tell_stubs();
	if (was_cut && has_mark())
		w->frames[w->nr_frames - 1].mark = JVM_MARK_CUT;
	if (tells_places && !scopes_tell(w->frames, w->nr_frames, w->ring, w->scopes, &thread))
		tell_scopes_fail();
	if (!nr_staged)
		return;
	if (is_as_read(list, nr)) {
		send_staged(w->ring);
		return;
	}
	/* without them methods would be missing that are inlined; they are reported again */
	nr_staged = 0;
	tells_places = scopes_init();
	only_a_mark(JVM_MARK_LATE);
}

static void send_sample(const struct outside_ask *a)
{
	uint64_t end = thread.loaded;
	size_t size = sizeof(struct jvm_rec_sample) + w->nr_frames * sizeof(w->frames[0]);
	struct jvm_rec_sample *r;
	uint32_t i;
	char *d;

	for (i = 0; i < w->nr_segments; i++) {
		struct jvm_rec_segment *s = &w->segments[i];
		uint64_t left = s->sp >= thread.lo && s->sp < end ? end - s->sp : 0;

		s->len = s->len < left ? s->len : left;
		s->len = (s->len < ctl->max_stack ? s->len : ctl->max_stack) & ~7u;
		s->end = 0;
		size += sizeof(*s) + s->len;
	}
	while (!(r = jvm_ring_reserve(w->ring, ctl->ring_bytes, size)))
		nap();
	memset((char *)r + sizeof(r->h), 0, sizeof(*r) - sizeof(r->h));
	r->time_ns = a->time_ns;
	r->tid = a->tid;
	r->event = a->event;
	r->nr_frames = w->nr_frames;
	r->nr_segments = w->nr_segments;
	d = (char *)(r + 1);
	memcpy(d, w->frames, w->nr_frames * sizeof(w->frames[0]));
	d += w->nr_frames * sizeof(w->frames[0]);
	for (i = 0; i < w->nr_segments; i++) {
		const struct jvm_rec_segment *s = &w->segments[i];

		memcpy(d, s, sizeof(*s));
		d += sizeof(*s);
		memcpy(d, thread.stack + (s->sp - thread.lo), s->len);
		d += s->len;
	}
	jvm_ring_commit(r, ctl->ring_bytes, size, JVM_REC_SAMPLE);
}

static void answer(const struct outside_ask *a)
{
	thread.lo = a->sp;
	thread.loaded = a->sp + (a->stack_bytes & ~7u);
	thread.hi = a->cut ? thread.loaded + FURTHEST : thread.loaded;
	thread.stack = (char *)(a + 1);
	w->ring = jvm_ring_of(ctl, ctl->nr_rings, ctl->ring_bytes, a->tid);
	if (a->sp & 7 || !a->stack_bytes)
		only_a_mark(JVM_MARK_NOT_WALKABLE);
	else
		walker_walk(a);
	send_sample(a);
}

/* ---- the VM ---- */

static bool walker_is_gone(void)
{
	char c;

	return !far_look(&(struct iovec){ &c, 1 }, &(struct iovec){ (void *)libjvm.libjvm, 1 }, 1);
}

/* Look again until the JVM is as far as it must be. */
static void look_later(int *nr, const char *lacking)
{
	if (walker_is_gone() || getppid() != parent)
		_exit(0);
	if (++*nr > MAX_YOUNG)
		give_up("%s", lacking);
	usleep(YOUNG_MS * 1000);
	far_forget();
}

static void walker_read_tables(void)
{
	const char *type = "", *name = NULL;
	char lacking[96] = "its tables cannot be read";
	int nr;

	for (nr = 0;;) {
		memset(&vm, 0, sizeof(vm));
		vm_init(libjvm.libjvm);
		if (vm.walks)
			break;
		if (facts_lack(FACTS_WALK, &type, &name) || facts_lack(FACTS_FRAMES, &type, &name))
			snprintf(lacking, sizeof(lacking), "this JVM has no %s%s%s", type, name ? "." : "",
				 name ? name : "");
		look_later(&nr, lacking);
	}
	if (vm.only_heap)
		give_up("JDK 8 is walked by the agent alone");
}

/* Wait until the VM is up: the entries of methods are the last thing that it makes before it runs Java. */
static void wait_until_up(void)
{
	struct vm_range was = { 0, 0 };
	int nr = 0, same = 0;

	while (same < NR_SAME) {
		look_later(&nr, "it did not come up");
		if (!vm_global(vm.code_low) || !vm_global(vm.call_stub_return) || !vm_global(vm.interpreter))
			continue;
		vm_note_stub("Interpreter", strlen("Interpreter"), 0, 0);
		same = vm_known.method_entry.lo && vm_known.method_entry.lo == was.lo &&
		       vm_known.method_entry.hi == was.hi ? same + 1 : 0;
		was = vm_known.method_entry;
	}
}

static bool is_barrier(const struct vm_blob *b, void *ctx)
{
	const char *name = b->kind == VM_BLOB_ROUTINES ? vm_string(vm_word(b->addr, vm.o.blob_name)) : NULL;
	struct vm_range *r = ctx;

	if (!name || !strstr(name, "ont"))
		return true;
	if (!strstr(name, "continuation") && !strstr(name, "cont_"))
		return true;
	*r = (struct vm_range){ b->addr, b->addr + vm_i32(b->addr, vm.o.blob_size) };
	return false;
}

static void find_stubs(void)
{
	cpu_find_call_stub(&vm_known.call_stub);
	vm_each_blob(is_barrier, &vm_known.return_barrier);
}

static void walker_learn(int pid)
{
	struct err e;

	if (!far_init(pid))
		give_up("no memory");
	if (vmstructs_open(&libjvm, pid, &e)) {
		if (e.code == ESRCH)
			_exit(0);
		give_up("%s", e.msg);
	}
	walker_read_tables();
	wait_until_up();
	if (!far_mirror(vm_global(vm.code_low), vm_global(vm.code_high)))
		give_up("its code cache cannot be read");
	vm_update_heaps();
	find_stubs();
	vm_init_perf_counters();
	thread.past = true;
	thread.text = sys_pages(BLOCKED_NR_TEXTS * sizeof(*thread.text));
	thread.code = sys_pages(BLOCKED_NR_CODES * sizeof(*thread.code));
	w = sys_pages(sizeof(*w) + (ctl->max_depth + 4ul) * sizeof(w->frames[0]));
	if (!thread.text || !thread.code || !w || !names_init())
		give_up("no memory");
	w->ring = jvm_ring_of(ctl, ctl->nr_rings, ctl->ring_bytes, pid);
	tells_places = scopes_init();
	if (!tells_places)
		tell_scopes_fail();
	store_relaxed(&ctl->code_lo, far.lo);
	store_release(&ctl->code_hi, far.lo + far.size);
	store_release(&share->state, OUTSIDE_WALKS);
}

/* ---- what is asked ---- */

/* Return the next request; NULL: nothing more now. */
static const struct outside_ask *next_ask(void)
{
	struct jvm_ring *r = &share->ring;
	uint64_t head = load_acquire(&r->head);

	while (r->tail != head) {
		const char *p = (char *)r + JVM_PAGE + (r->tail & (OUTSIDE_RING_BYTES - 1));
		uint64_t h = load_acquire((const uint64_t *)p);

		if ((h >> 32 & ~0xffull) != jvm_ring_stamp(r->tail, OUTSIDE_RING_BYTES) || !(h >> 32 & 0xff))
			return NULL;
		if ((h >> 32 & 0xff) != JVM_REC_PAD)
			return (const struct outside_ask *)p;
		store_release(&r->tail, r->tail + (uint32_t)h);
	}
	return NULL;
}

static void on_time(int sig)
{
	static uint32_t at;

	if (at == nr_begun && nr_begun != nr_done)
		_exit(2);
	at = nr_begun;
}

static void bound_walks(void)
{
	const struct itimerval each = { { WALK_S, 0 }, { WALK_S, 0 } };
	const struct sigaction sa = { .sa_handler = on_time };

	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &each, NULL);
}

void outside_run(int pid, struct jvm_ctl *area, struct outside_share *shared, int wake_fd)
{
	const struct outside_ask *a;
	char wakes[512];
	ssize_t n;

	ctl = area;
	share = shared;
	parent = getppid();
	bound_walks();
	nr_begun++;
	walker_learn(pid);
	nr_done++;
	do {
		while ((a = next_ask())) {
			nr_begun++;
			if (!vm.nr_unloaded && !(nr_begun % COUNTERS_EACH))
				vm_init_perf_counters();
			answer(a);
			nr_done = nr_begun;
			store_release(&share->ring.tail, share->ring.tail + a->h.size);
		}
		store_seq_cst(&share->sleeps, 1);
		/* who asked before that did not wake us */
		n = next_ask() ? 1 : read(wake_fd, wakes, sizeof(wakes));
		store_relaxed(&share->sleeps, 0);
	} while (n > 0 || (n < 0 && errno == EINTR));
	_exit(0);
}
