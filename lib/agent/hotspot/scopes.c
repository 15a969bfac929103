// SPDX-License-Identifier: MIT
/*
 * scopes.c - reads HotSpot's notes of what code has inlined (scopes.h).
 *
 * An nmethod has PcDescs in the order of their pcs, each with the offset of a scope: varints, offset
 * of the scope that this one was inlined into (0: none), number of the method among the nmethod's metadata,
 * bytecode index + 1. The first PcDesc past a pc describes it. The outermost scope of each is of the
 * nmethod's own method: by that it is known, before any are used and place by place, that all this is read as
 * it is meant.
 *
 * With the flag DebugNonSafepoints, C2 also notes for its other instructions which bytecode they come
 * from, and some of that is wrong: what it makes after parsing, in optimisations, gets the note of the
 * bytecode that was parsed or inlined last. One bytecode so appears all over the code, between pieces
 * of any other method: in a program of ten phases one of them got three times its time, and two thirds
 * were left to those with loops. Such notes are passed over (look_through()), and the next one of
 * another bytecode describes the place.
 *
 * Loads: the nmethod is on the stack of this thread, so it lives. But the walker may have taken an old word
 * for a frame: what lies in the code cache is loaded within the bounds of its blob, what lies in the C heap
 * (JDK 25) as if it might be gone. When it is on the stack of another thread, which was blocked a moment
 * ago, nothing but its head is loaded otherwise.
 *
 * Source: share/code/nmethod.hpp, share/code/pcDesc.hpp, share/code/scopeDesc.cpp, share/code/debugInfo.hpp.
 */
#include "agent/hotspot/names.h"
#include "agent/hotspot/scopes.h"
#include "agent/hotspot/stream.h"
#include "agent/hotspot/vm.h"
#include "agent/ring.h"
#include "base/mix.h"

enum {
	NR_PLACES = 1 << 17,
	NR_PROBES = 4,
	NR_DESCS = 16,		/* looked at in one piece, and little: see struct stream */
	MAX_DESC = 32,		/* bytes of one */
	NR_TRIED = 64,		/* nmethods */
	NR_TRIALS = 5, TRIAL_MS = 2,
	MOST_WRONG = 4,	/* places */
	/*
	 * In large methods of javac, a bytecode with right notes has up to 12 pieces of code, and in
	 * unrolled loops more, but then within one method; one with wrong notes has 16 to 808, between
	 * 5 to 78 other methods.
	 */
	STALE_RUNS = 16, STALE_CHAINS = 4,
	NR_STALE = 1 << 12,	/* of all nmethods */
	NR_COUNTS = 512, NR_SUSPECTS = 8,
	MOST_DESCS = 1 << 14,
	NO_SCOPE = 0xffffffff,
};

/* An area in the code cache, or a copy of the C heap. */
struct area {
	uintptr_t at;
	uint32_t len;
	bool doubtful;
};

struct notes {
	struct area pcs, scopes, methods;
	uint32_t compile_id;		/* 0: of code in which no notes are wrong */
	struct blocked *b;		/* the thread whose they are, NULL: this one */
};

/* compile id << 32 | low half of the pc. One that is overwritten is reported again. */
static uint64_t *places;
/* compile id << 32 | a scope whose notes are wrong; with NO_SCOPE, its notes were looked through. */
static uint64_t stale[NR_STALE];
static bool fails;		/* it was found not to be as above */
static uint32_t nr_right, nr_wrong;	/* places */

bool scopes_readable(void)
{
	const struct vm_offsets *o = &vm.o;

	if (o->nm_pcs < 0 || !vm.major || fails || vm.size.pc_desc <= 0 || vm.size.pc_desc > MAX_DESC ||
	    o->pc_desc_pc < 0 || o->pc_desc_pc > vm.size.pc_desc - 4 || o->pc_desc_scope < 0 ||
	    o->pc_desc_scope > vm.size.pc_desc - 4)
		return false;
	if (o->nm_immutable >= 0 ? o->nm_immutable_size < 0 || o->nm_scopes < 0 || o->blob_mutable < 0 ||
				   o->blob_mutable_size < 0 || o->blob_relocation_size < 0 :
				   (o->nm_scopes_begin < 0 && o->nm_scopes < 0) || o->nm_dependencies < 0 ||
					   o->nm_metadata < 0)
		return false;
	return true;
}

bool scopes_init(void)
{
	if (!scopes_readable())
		return false;
	if (places) {
		sys_clear_pages(places, NR_PLACES * sizeof(*places));
		memset(stale, 0, sizeof(stale));
		return true;
	}
	places = sys_pages(NR_PLACES * sizeof(*places));
	return places;
}

/* Look up key; return true if it is there already. nr: the size of the table, a power of two. */
static bool scopes_look_up(uint64_t *table, size_t nr, uint64_t key, uint64_t **slot)
{
	size_t h = mix64(key), i;

	*slot = NULL;
	for (i = 0; i < NR_PROBES; i++) {
		uint64_t *s = &table[(h + i) & (nr - 1)], now = load_relaxed(s);

		if (now == key)
			return true;
		if (!now && !*slot)
			*slot = s;
	}
	if (!*slot)
		*slot = &table[h & (nr - 1)];
	return false;
}

static bool scopes_load(void *dst, const struct area *a, uint64_t off, size_t n)
{
	if (off > a->len || n > a->len - off)
		return false;
	if (a->doubtful)
		return sys_peek_all(dst, a->at + off, n);
	memcpy(dst, (const void *)(a->at + off), n);
	return true;
}

static struct area between(uintptr_t lo, uintptr_t hi, uintptr_t base, uint64_t size, bool doubtful)
{
	if (lo < base || hi < lo || hi - base > size)
		return (struct area){ 0 };
	return (struct area){ lo, hi - lo, doubtful };
}

/* Find the notes up to JDK 22, where all are in the nmethod itself. */
static struct notes notes_in_code(uintptr_t nm, bool doubtful)
{
	const struct vm_offsets *o = &vm.o;
	uint32_t size = vm_i32(nm, o->blob_size);
	uintptr_t pcs = nm + (uint32_t)vm_i32(nm, o->nm_pcs);
	uintptr_t scopes = o->nm_scopes_begin >= 0 ? vm_word(nm, o->nm_scopes_begin) :
						     nm + (uint32_t)vm_i32(nm, o->nm_scopes);

	return (struct notes){
		.pcs = between(pcs, nm + (uint32_t)vm_i32(nm, o->nm_dependencies), nm, size, doubtful),
		.scopes = between(scopes, pcs, nm, size, doubtful),
		.methods = between(nm + (uint32_t)vm_i32(nm, o->nm_metadata), scopes, nm, size, doubtful),
	};
}

static struct notes notes_in_heap(uintptr_t nm)
{
	const struct vm_offsets *o = &vm.o;
	uintptr_t fixed = vm_word(nm, o->nm_immutable), changing = vm_word(nm, o->blob_mutable);
	uint32_t size = vm_i32(nm, o->nm_immutable_size), changing_size = vm_i32(nm, o->blob_mutable_size);
	uintptr_t scopes = fixed + (uint32_t)vm_i32(nm, o->nm_scopes);

	return (struct notes){
		.pcs = between(fixed + (uint32_t)vm_i32(nm, o->nm_pcs), scopes, fixed, size, true),
		.scopes = between(scopes, fixed + size, fixed, size, true),
		.methods = between(changing + (uint32_t)vm_i32(nm, o->blob_relocation_size),
				   changing + changing_size, changing, changing_size, true),
	};
}

/* Only C2 makes wrong ones. */
enum { LEVEL_C2 = 4 };

static struct notes notes_of(uintptr_t nm, bool doubtful)
{
	struct notes n = vm.o.nm_immutable >= 0 ? notes_in_heap(nm) : notes_in_code(nm, doubtful);

	if (vm_nmethod_level(nm) == LEVEL_C2)
		n.compile_id = vm_i32(nm, vm.o.nm_compile_id);
	return n;
}

static int32_t desc_pc(const char *d)
{
	return own_i32((uintptr_t)d, vm.o.pc_desc_pc);
}

static int32_t desc_scope(const char *d)
{
	return own_i32((uintptr_t)d, vm.o.pc_desc_scope);
}

struct scope {
	uint32_t outer;		/* offset of the scope that this one was inlined into, 0: none */
	uintptr_t method;
	uint32_t bci;		/* plus 1 */
};

/* Returns false for an unreadable scope. */
static bool read_scope(const struct notes *n, uint32_t at, struct scope *scope)
{
	uint32_t left = at < n->scopes.len ? n->scopes.len - at : 0, method;
	struct stream s = { .at = n->scopes.at + at, .left = left, .told = !n->scopes.doubtful };

	scope->outer = stream_int(&s);
	method = stream_int(&s);
	scope->bci = stream_int(&s);
	return !s.bad && method && scopes_load(&scope->method, &n->methods, (method - 1) * 8ull, 8);
}

/* ---- notes that are wrong ---- */

/* A bytecode that has many pieces of code. */
struct suspect {
	uint32_t scope, runs;
	uint64_t own, chains[STALE_CHAINS];	/* its own method as it was inlined; those that follow it */
	uint32_t nr_chains;
};

static uint64_t chain_of(const struct notes *n, uint32_t at)
{
	struct scope s;

	return read_scope(n, at, &s) ? mix64(s.method + s.outer) : 0;
}

static void add_follower(struct suspect *s, uint64_t chain)
{
	uint32_t i;

	if (!chain || chain == s->own || s->nr_chains == STALE_CHAINS)
		return;
	for (i = 0; i < s->nr_chains && s->chains[i] != chain; i++)
		;
	if (i == s->nr_chains)
		s->chains[s->nr_chains++] = chain;
}

static bool is_stale(const struct suspect *s)
{
	return s->runs >= STALE_RUNS && s->nr_chains == STALE_CHAINS;
}

/* The PcDescs in pieces, and without those that go on with the scope of the one before. */
struct runs {
	const struct area *pcs;
	uint32_t at, nr, in_piece, last;
	char d[NR_DESCS * MAX_DESC];
};

static uint32_t next_run(struct runs *r)
{
	const uint32_t size = vm.size.pc_desc;

	for (; r->at < r->nr; r->at++) {
		uint32_t i = r->at % NR_DESCS, left = r->nr - r->at, scope;

		if (!i &&
		    !scopes_load(r->d, r->pcs, r->at * size, (left < NR_DESCS ? left : NR_DESCS) * size))
			return 0;
		scope = desc_scope(r->d + i * size);
		if (scope && scope != r->last) {
			r->last = scope;
			r->at++;
			return scope;
		}
	}
	return 0;
}

static struct runs runs_of(const struct notes *n)
{
	uint32_t nr = n->pcs.len / vm.size.pc_desc;

	return (struct runs){ .pcs = &n->pcs, .nr = nr < MOST_DESCS ? nr : 0 };
}

static struct suspect *suspect_of(const struct notes *n, struct suspect *all, uint32_t *nr, uint32_t scope)
{
	uint32_t i;

	for (i = 0; i < *nr; i++)
		if (all[i].scope == scope)
			return &all[i];
	if (*nr == NR_SUSPECTS)
		return NULL;
	all[*nr] = (struct suspect){ .scope = scope, .own = chain_of(n, scope) };
	return &all[(*nr)++];
}

static uint8_t *count_of(uint8_t *counts, uint32_t scope)
{
	return &counts[mix64(scope) & (NR_COUNTS - 1)];
}

static void remember_stale(uint32_t compile_id, uint32_t scope)
{
	uint64_t key = (uint64_t)compile_id << 32 | scope, *slot;

	if (!scopes_look_up(stale, NR_STALE, key, &slot))
		store_relaxed(slot, key);
}

/* It must not be inlined: its tables lie on the stack of an interrupted thread only while it runs. */
static __attribute__((noinline)) void look_through(const struct notes *n, uint32_t compile_id)
{
	uint8_t counts[NR_COUNTS] = { 0 };
	struct suspect suspects[NR_SUSPECTS], *before = NULL;
	struct runs r = runs_of(n);
	uint32_t scope, nr = 0, i;

	while ((scope = next_run(&r)))
		*count_of(counts, scope) += *count_of(counts, scope) < STALE_RUNS;
	r = runs_of(n);
	while ((scope = next_run(&r))) {
		if (before && !is_stale(before))
			add_follower(before, chain_of(n, scope));
		before = *count_of(counts, scope) < STALE_RUNS ? NULL : suspect_of(n, suspects, &nr, scope);
		if (before)
			before->runs++;
	}
	for (i = 0; i < nr; i++)
		if (is_stale(&suspects[i]))
			remember_stale(compile_id, suspects[i].scope);
	remember_stale(compile_id, NO_SCOPE);
}

static bool is_stale_scope(const struct notes *n, uint32_t scope)
{
	uint64_t id = (uint64_t)n->compile_id << 32, *slot;

	if (!n->compile_id)
		return false;
	if (!scopes_look_up(stale, NR_STALE, id | NO_SCOPE, &slot))
		look_through(n, n->compile_id);
	return scopes_look_up(stale, NR_STALE, id | scope, &slot);
}

/* Find a PcDesc before which none is past off, with less than NR_DESCS between it and the first that is. */
static uint32_t search(const struct area *pcs, uint32_t off)
{
	const uint32_t size = vm.size.pc_desc;
	uint32_t lo = 0, hi = pcs->len / size, mid;
	char d[MAX_DESC];

	while (hi - lo > NR_DESCS) {
		mid = (lo + hi) / 2;
		if (!scopes_load(d, pcs, mid * size, size))
			return pcs->len / size;
		if (desc_pc(d) > (int32_t)off)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/*
 * Return the offset of the scope of the first PcDesc past off that has one, or 0. One right past off
 * belongs to the call or load there, and is right.
 */
static uint32_t find_scope(const struct notes *n, uint32_t off)
{
	const struct area *pcs = &n->pcs;
	const uint32_t size = vm.size.pc_desc, end = pcs->len / size;
	uint32_t lo, i, nr, first = 0, scope;
	char d[NR_DESCS * MAX_DESC];

	/* to the end, for those without a scope are passed over */
	for (lo = search(pcs, off); lo < end; lo += nr) {
		nr = end - lo < NR_DESCS ? end - lo : NR_DESCS;
		if (!scopes_load(d, pcs, lo * size, nr * size))
			return 0;
		for (i = 0; i < nr; i++) {
			scope = desc_scope(d + i * size);
			if (desc_pc(d + i * size) <= (int32_t)off || !scope)
				continue;
			if (desc_pc(d + i * size) == (int32_t)off + 1 || !is_stale_scope(n, scope))
				return scope;
			first = first ? first : scope;
		}
	}
	return first;
}

bool scopes_wrong_at(const struct vm_blob *b, uint32_t off)
{
	const uint32_t size = vm.size.pc_desc;
	char d[MAX_DESC] = "";
	struct notes n;
	uint32_t at;

	if (!scopes_readable() || !off)
		return false;
	n = notes_of(b->addr, true);
	for (at = search(&n.pcs, off - 1); scopes_load(d, &n.pcs, (uint64_t)at * size, size); at++)
		if (desc_pc(d) >= (int32_t)off)
			break;
	return desc_pc(d) == (int32_t)off && desc_scope(d) && is_stale_scope(&n, desc_scope(d));
}

static char *scopes_put_varint(char *d, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		*d++ = v | 0x80;
	*d++ = v;
	return d;
}

/* Write one frame; return NULL if there is no room for a name. */
static char *put_scope(char *d, const struct notes *n, const struct scope *s, struct jvm_ring *ring)
{
	struct method_info m;

	if ((n->b ? names_get_of(n->b, s->method, NAMES_ALIVE, 0, ring, &m) :
		    names_get(s->method, NAMES_ALIVE, 0, ring, &m)) != NAMES_OK)
		return NULL;
	return scopes_put_varint(scopes_put_varint(d, m.id), s->bci);
}

/* Return whether the method has bytecode: nothing is noted for code that calls a native method. */
static bool has_bytecode(uintptr_t method)
{
	uintptr_t cm;
	uint16_t size;

	return sys_peek_all(&cm, method + vm.o.method_const, 8) &&
	       sys_peek_all(&size, cm + vm.o.cm_code_size, 2) && size;
}

/* Before any code was compiled, scopes_try() has nothing to try: then places tell. */
static size_t count_wrong(void)
{
	add_relaxed(&nr_wrong, 1);
	if (load_relaxed(&nr_wrong) > MOST_WRONG && load_relaxed(&nr_wrong) > load_relaxed(&nr_right))
		store_relaxed(&fails, true);
	return 0;
}

/*
 * Write the inlined calls at one place as in struct rec_code; return 0 bytes if nothing is noted for it.
 * calls: a Java method was called there, which is always noted.
 */
static size_t put_inlines(char *buf, const struct vm_blob *b, uintptr_t pc, bool calls,
			  struct jvm_ring *ring, struct blocked *thread)
{
	struct notes n = notes_of(b->addr, thread);
	struct scope s = { .outer = find_scope(&n, pc - b->begin) };
	char *d = buf + 3;
	int nr;

	n.b = thread;
	for (nr = 0; s.outer && nr < SCOPES_MAX_LEVELS; nr++)
		if (!read_scope(&n, s.outer, &s))
			return count_wrong();
		else if (!(d = put_scope(d, &n, &s, ring)))
			return 0;
	if (!nr)	/* a stub behind the code, or a method that nothing interrupts */
		return calls && has_bytecode(vm_word(b->addr, vm.o.nm_method)) ? count_wrong() : 0;
	if (!s.outer && s.method != vm_word(b->addr, vm.o.nm_method))
		return count_wrong();
	add_relaxed(&nr_right, 1);
	buf[0] = 1;		/* of one place, one byte away */
	buf[1] = 1;
	buf[2] = nr;
	return d - buf;
}

uint32_t scopes_levels(const struct vm_blob *b, uintptr_t pc)
{
	struct notes n = notes_of(b->addr, false);
	struct scope s = { .outer = find_scope(&n, pc - b->begin) };
	uint32_t nr;

	for (nr = 0; s.outer && nr < SCOPES_MAX_LEVELS; nr++)
		if (!read_scope(&n, s.outer, &s))
			return 0;
	return s.outer || s.method == vm_word(b->addr, vm.o.nm_method) ? nr : 0;
}

static uintptr_t pc_of(const struct jvm_rec_frame *f)
{
	return f->kind_pc & ((1ull << JVM_FRAME_PC_BITS) - 1);
}

/* Report the inlined calls of a frame; return false if there was no room. */
static bool scopes_tell_frame(const struct jvm_rec_frame *f, bool calls, struct jvm_ring *ring, char *buf,
			      struct blocked *thread)
{
	uintptr_t pc = pc_of(f);
	uint32_t compile_id = f->compile_id & ~JVM_NOT_INLINED;
	struct jvm_code r = { .addr = pc, .size = 1, .method = f->method, .compile_id = compile_id };
	struct vm_blob b;

	if (!vm_find_blob(pc, &b) || b.kind != VM_BLOB_NMETHOD || pc < b.begin ||
	    (uint32_t)vm_i32(b.addr, vm.o.nm_compile_id) != compile_id)
		return true;
	r.inl = (const uint8_t *)buf;
	r.inl_len = put_inlines(buf, &b, pc, calls, ring, thread);
	r.level = vm_nmethod_level(b.addr);
	r.begin = b.begin;
	r.whole = vm_code_size(&b);
	r.time_ns = sys_now();
	return (!thread || blocked_holds(thread)) && send_code(ring, &r);
}

static bool is_java(const struct jvm_rec_frame *f)
{
	return f->kind_pc >> JVM_FRAME_PC_BITS == JVM_COMPILED ||
	       f->kind_pc >> JVM_FRAME_PC_BITS == JVM_INTERPRETED;
}

bool scopes_tell(const struct jvm_rec_frame *frames, uint32_t nr, struct jvm_ring *ring, char *buf,
		 struct blocked *b)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		const struct jvm_rec_frame *f = &frames[i];
		uint32_t id = f->compile_id & ~JVM_NOT_INLINED;
		uint64_t key = (uint64_t)id << 32 | (uint32_t)pc_of(f), *slot;

		if (f->kind_pc >> JVM_FRAME_PC_BITS != JVM_COMPILED ||
		    scopes_look_up(places, NR_PLACES, key, &slot))
			continue;
		if (scopes_tell_frame(f, i && is_java(f - 1), ring, buf, b))
			store_relaxed(slot, key);
	}
	return !load_relaxed(&fails);
}

/* ---- is it as we think? ---- */

struct trial {
	uint32_t nr_right, nr_wrong;
	uint32_t nr_without;	/* nothing is noted: of what calls nothing and does not loop, that is right */
};

/* Check that what is noted for the first places of the code leads to its method. */
static bool try_nmethod(const struct vm_blob *b, void *ctx)
{
	struct trial *t = ctx;
	struct notes n;
	struct scope s;
	uintptr_t method;
	int nr;

	if (b->kind != VM_BLOB_NMETHOD)
		return true;
	method = vm_word(b->addr, vm.o.nm_method);
	if (!method || !has_bytecode(method))
		return true;
	n = notes_of(b->addr, true);
	s = (struct scope){ .outer = find_scope(&n, 0) };
	for (nr = 0; s.outer && nr < SCOPES_MAX_LEVELS; nr++)
		if (!read_scope(&n, s.outer, &s))
			s = (struct scope){ 0 };
	if (!nr)
		t->nr_without++;
	else if (!s.outer && s.method == method)
		t->nr_right++;
	else
		t->nr_wrong++;
	return t->nr_right + t->nr_wrong < NR_TRIED;
}

bool scopes_try(void)
{
	int i;

	for (i = 0; i < NR_TRIALS && !fails; i++) {
		struct trial t = { 0 };

		vm_each_blob(try_nmethod, &t);
		if (t.nr_wrong <= t.nr_right && (t.nr_right || t.nr_without < NR_TRIED))
			return true;
		/* what is wrong may be code that comes or goes while it is looked at */
		sys_sleep_ms(TRIAL_MS);
	}
	fails = true;
	return false;
}
