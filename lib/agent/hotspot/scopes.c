// SPDX-License-Identifier: MIT
/*
 * scopes.c - reads HotSpot's notes of what code has inlined (scopes.h).
 *
 * An nmethod has PcDescs in the order of their pcs, each with the offset of a scope: varints, offset
 * of the scope that this one was inlined into (0: none), number of the method among the nmethod's metadata,
 * bytecode index + 1. The first PcDesc past a pc describes it.
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
};

struct pc_desc {
	int32_t pc, scope, objects, flags;
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

bool scopes_init(void)
{
	const struct vm_offsets *o = &vm.o;

	if (o->nm_pcs < 0 || !vm.major || vm.size.pc_desc != sizeof(struct pc_desc))
		return false;
	if (o->nm_immutable >= 0 ? o->nm_immutable_size < 0 || o->nm_scopes < 0 || o->blob_mutable < 0 ||
				   o->blob_mutable_size < 0 || o->blob_relocation_size < 0 :
				   (o->nm_scopes_begin < 0 && o->nm_scopes < 0) || o->nm_dependencies < 0 ||
					   o->nm_metadata < 0)
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

/* Offset of the scope of the first PcDesc past off that has one; 0: none. */
static uint32_t find_scope(const struct area *pcs, uint32_t off)
{
	struct pc_desc d[NR_DESCS];
	uint32_t lo = 0, hi = pcs->len / sizeof(*d), mid, i, nr;

	while (hi - lo > NR_DESCS) {
		mid = (lo + hi) / 2;
		if (!load(d, pcs, mid * sizeof(*d), sizeof(*d)))
			return 0;
		if (d->pc > (int32_t)off)
			hi = mid;
		else
			lo = mid + 1;
	}
	/* from here on, for those without a scope are passed over */
	for (hi = pcs->len / sizeof(*d); lo < hi; lo += nr) {
		nr = hi - lo < NR_DESCS ? hi - lo : NR_DESCS;
		if (!load(d, pcs, lo * sizeof(*d), nr * sizeof(*d)))
			return 0;
		for (i = 0; i < nr; i++)
			if (d[i].pc > (int32_t)off && d[i].scope)
				return d[i].scope;
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

/*
 * One frame; at: then of the scope that this one was inlined into. NULL: not readable, or no room for a
 * name.
 */
static char *put_scope(char *d, const struct notes *n, uint32_t *at, struct jvm_ring *ring)
{
	uint32_t left = *at < n->scopes.len ? n->scopes.len - *at : 0, method, bci;
	struct stream s = { .at = n->scopes.at + *at, .left = left, .told = !n->scopes.doubtful };
	struct method_info m;
	uintptr_t p;

	*at = stream_int(&s);
	method = stream_int(&s);
	bci = stream_int(&s);
	if (s.bad || !method || !load(&p, &n->methods, (method - 1) * 8ull, 8) ||
	    (n->b ? names_get_of(n->b, p, NAMES_ALIVE, 0, ring, &m) :
		    names_get(p, NAMES_ALIVE, 0, ring, &m)) != NAMES_OK)
		return NULL;
	return put_varint(put_varint(d, m.id), bci);
}

/* As struct rec_code has it, for the one place; 0 bytes when nothing is noted for it. */
static size_t put_inlines(char *buf, const struct vm_blob *b, uintptr_t pc, struct jvm_ring *ring,
			  struct blocked *thread)
{
	struct notes n = vm.o.nm_immutable >= 0 ? notes_in_heap(b->addr) : notes_in_code(b->addr, thread);
	uint32_t at = find_scope(&n.pcs, pc - b->begin);
	char *d = buf + 3;
	int nr;

	n.b = thread;
	for (nr = 0; at && nr < SCOPES_MAX_LEVELS; nr++)
		if (!(d = put_scope(d, &n, &at, ring)))
			return 0;
	if (!nr)
		return 0;
	buf[0] = 1;		/* of one place, one byte away */
	buf[1] = 1;
	buf[2] = nr;
	return d - buf;
}

/* False: there was no room. */
static bool tell(uintptr_t pc, uint32_t method, uint32_t compile_id, struct jvm_ring *ring, char *buf,
		 struct blocked *thread)
{
	struct jvm_code r = { .addr = pc, .size = 1, .method = method, .compile_id = compile_id };
	struct vm_blob b;

	if (!vm_find_blob(pc, &b) || b.kind != VM_BLOB_NMETHOD || pc < b.begin ||
	    (uint32_t)vm_i32(b.addr, vm.o.nm_compile_id) != compile_id)
		return true;
	r.inl = (const uint8_t *)buf;
	r.inl_len = put_inlines(buf, &b, pc, ring, thread);
	r.level = vm_nmethod_level(b.addr);
	r.begin = b.begin;
	r.whole = vm_code_size(&b);
	r.time_ns = sys_now();
	return (!thread || blocked_holds(thread)) && send_code(ring, &r);
}

void scopes_tell(const struct jvm_rec_frame *frames, uint32_t nr, struct jvm_ring *ring, char *buf,
		 struct blocked *b)
{
	uint32_t i;

	for (i = 0; i < nr; i++) {
		const struct jvm_rec_frame *f = &frames[i];
		uintptr_t pc = f->kind_pc & ((1ull << JVM_FRAME_PC_BITS) - 1);
		uint32_t id = f->compile_id & ~JVM_NOT_INLINED;
		uint64_t key = (uint64_t)id << 32 | (uint32_t)pc, *slot;

		if (f->kind_pc >> JVM_FRAME_PC_BITS != JVM_COMPILED || look_up(key, &slot))
			continue;
		if (tell(pc, f->method, id, ring, buf, b))
			store_relaxed(slot, key);
	}
}
