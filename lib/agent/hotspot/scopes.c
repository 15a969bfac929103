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
};

/* In the code cache, or a copy of the C heap. */
struct area {
	uintptr_t at;
	uint32_t len;
	bool doubtful;
};

struct notes {
	struct area pcs, scopes, methods;
	struct blocked *b;		/* the thread whose they are, NULL: this one */
};

/* compile id << 32 | low half of the pc. One that is overwritten is told again. */
static uint64_t *places;
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
	if (places)
		sys_clear_pages(places, NR_PLACES * sizeof(*places));
	else
		places = sys_pages(NR_PLACES * sizeof(*places));
	return places;
}

/* True when it is there already. */
static bool look_up(uint64_t key, uint64_t **slot)
{
	size_t h = mix64(key), i;

	*slot = NULL;
	for (i = 0; i < NR_PROBES; i++) {
		uint64_t *s = &places[(h + i) & (NR_PLACES - 1)], now = load_relaxed(s);

		if (now == key)
			return true;
		if (!now && !*slot)
			*slot = s;
	}
	if (!*slot)
		*slot = &places[h & (NR_PLACES - 1)];
	return false;
}

static bool load(void *dst, const struct area *a, uint64_t off, size_t n)
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

/* Up to JDK 22 all is in the nmethod itself. */
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

static struct notes notes_of(uintptr_t nm, bool doubtful)
{
	return vm.o.nm_immutable >= 0 ? notes_in_heap(nm) : notes_in_code(nm, doubtful);
}

static int32_t desc_pc(const char *d)
{
	return own_i32((uintptr_t)d, vm.o.pc_desc_pc);
}

static int32_t desc_scope(const char *d)
{
	return own_i32((uintptr_t)d, vm.o.pc_desc_scope);
}

/* Offset of the scope of the first PcDesc past off that has one; 0: none. */
static uint32_t find_scope(const struct area *pcs, uint32_t off)
{
	const uint32_t size = vm.size.pc_desc;
	uint32_t lo = 0, hi = pcs->len / size, mid, i, nr;
	char d[NR_DESCS * MAX_DESC];

	while (hi - lo > NR_DESCS) {
		mid = (lo + hi) / 2;
		if (!load(d, pcs, mid * size, size))
			return 0;
		if (desc_pc(d) > (int32_t)off)
			hi = mid;
		else
			lo = mid + 1;
	}
	/* from here on, for those without a scope are passed over */
	for (hi = pcs->len / size; lo < hi; lo += nr) {
		nr = hi - lo < NR_DESCS ? hi - lo : NR_DESCS;
		if (!load(d, pcs, lo * size, nr * size))
			return 0;
		for (i = 0; i < nr; i++)
			if (desc_pc(d + i * size) > (int32_t)off && desc_scope(d + i * size))
				return desc_scope(d + i * size);
	}
	return 0;
}

static char *put_varint(char *d, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		*d++ = v | 0x80;
	*d++ = v;
	return d;
}

struct scope {
	uint32_t outer;		/* offset of the scope that this one was inlined into, 0: none */
	uintptr_t method;
	uint32_t bci;		/* plus 1 */
};

/* False: not readable. */
static bool read_scope(const struct notes *n, uint32_t at, struct scope *scope)
{
	uint32_t left = at < n->scopes.len ? n->scopes.len - at : 0, method;
	struct stream s = { .at = n->scopes.at + at, .left = left, .told = !n->scopes.doubtful };

	scope->outer = stream_int(&s);
	method = stream_int(&s);
	scope->bci = stream_int(&s);
	return !s.bad && method && load(&scope->method, &n->methods, (method - 1) * 8ull, 8);
}

/* One frame; NULL: there is no room for a name. */
static char *put_scope(char *d, const struct notes *n, const struct scope *s, struct jvm_ring *ring)
{
	struct method_info m;

	if ((n->b ? names_get_of(n->b, s->method, NAMES_ALIVE, 0, ring, &m) :
		    names_get(s->method, NAMES_ALIVE, 0, ring, &m)) != NAMES_OK)
		return NULL;
	return put_varint(put_varint(d, m.id), s->bci);
}

/* Of what is compiled without, nothing is noted: the code that calls a native method. */
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
 * As struct rec_code has it, for the one place; 0 bytes when nothing is noted for it. calls: a Java method
 * was called there, for which something is.
 */
static size_t put_inlines(char *buf, const struct vm_blob *b, uintptr_t pc, bool calls,
			  struct jvm_ring *ring, struct blocked *thread)
{
	struct notes n = notes_of(b->addr, thread);
	struct scope s = { .outer = find_scope(&n.pcs, pc - b->begin) };
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
	struct scope s = { .outer = find_scope(&n.pcs, pc - b->begin) };
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

/* False: there was no room. */
static bool tell(const struct jvm_rec_frame *f, bool calls, struct jvm_ring *ring, char *buf,
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

		if (f->kind_pc >> JVM_FRAME_PC_BITS != JVM_COMPILED || look_up(key, &slot))
			continue;
		if (tell(f, i && is_java(f - 1), ring, buf, b))
			store_relaxed(slot, key);
	}
	return !load_relaxed(&fails);
}

/* ---- is it as we think? ---- */

struct trial {
	uint32_t nr_right, nr_wrong;
	uint32_t nr_without;	/* nothing is noted: of what calls nothing and does not loop, that is right */
};

/* Does what is noted for the first places of the code lead to its method? */
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
	s = (struct scope){ .outer = find_scope(&n.pcs, 0) };
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
