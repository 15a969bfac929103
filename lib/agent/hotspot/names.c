// SPDX-License-Identifier: MIT
/*
 * names.c - the table Method* -> number (names.h).
 *
 * A method on the stack of the current thread cannot be unloaded, so its names can be read
 * from the VM's structures: Method -> ConstMethod -> ConstantPool -> Symbols.
 *
 * The table is open addressing over a fixed array, read without locks:
 *  [1] a slot is written only between key = BUSY and key = method, by whoever won the CAS;
 *  [2] a reader takes key, the rest, then key again: the same method twice, and val
 *      unchanged, means that all belongs together;
 *  [3] what a slot says holds for the epoch it carries. Classes unloaded since: the names
 *      are read again and compared by hash, for the address may be another method's now;
 *  [4] val is stored after the METHOD record was committed: no number without its name.
 * Nobody waits: who finds a slot busy numbers the method once more, for itself alone.
 */
#include "agent/hotspot/names.h"
#include "agent/hotspot/vm.h"
#include "base/mix.h"
#include "jvm/encode.h"

enum { BUSY = 1, NR_SLOTS = 1 << 18, NR_PROBES = 24 };

struct slot {
	uintptr_t key;
	uint64_t val;		/* epoch << 32 | id */
	uintptr_t cm;
	uint32_t hash;
	uint16_t code_size;
	uint16_t waits;		/* enum names_waits */
};

static struct slot *slots;
static uint32_t last_id;
static uint32_t unload_events;

bool names_init(void)
{
	if (slots)
		sys_clear_pages(slots, sizeof(*slots) * NR_SLOTS);
	else
		slots = sys_pages(sizeof(*slots) * NR_SLOTS);
	return slots;
}

void names_class_unloaded(void)
{
	add_relaxed(&unload_events, 1);
}

uint32_t names_epoch(void)
{
	uint32_t counted = vm.nr_unloaded ? vm_word((uintptr_t)vm.nr_unloaded, 0) : 0;

	return load_relaxed(&unload_events) + counted;
}

struct parts {
	uintptr_t cm;
	uint32_t code_size;
	struct names_method names;
	uint32_t hash;
	bool doubtful;		/* an old version of a redefined class, or no method */
};

/* Its pages are mapped: what is read there may be nonsense, but it can be read. */
static bool names_readable(const struct names_text *t)
{
	char c;

	return !t->len || (sys_peek_all(&c, (uintptr_t)t->s, 1) &&
			   sys_peek_all(&c, (uintptr_t)t->s + t->len - 1, 1));
}

static bool names_symbol(uintptr_t sym, bool doubtful, struct names_text *t)
{
	uint16_t len;

	if (!sym || (sym & 7) || (doubtful && !sys_peek_all(&len, sym + vm.o.sym_len, 2)))
		return false;
	t->s = (const char *)sym + vm.o.sym_body;
	t->len = vm_u16(sym, vm.o.sym_len);
	if (t->len > JVM_MAX_STRING)
		t->len = JVM_MAX_STRING;
	return !doubtful || names_readable(t);
}

/* Copy the symbol, which may go at any time. */
static bool copied_symbol(uintptr_t sym, char *copy, struct names_text *t)
{
	uint16_t len;

	if (!sym || (sym & 7) || !sys_peek_all(&len, sym + vm.o.sym_len, 2))
		return false;
	t->s = copy;
	t->len = len > JVM_MAX_STRING ? JVM_MAX_STRING : len;
	return sys_peek_all(copy, sym + vm.o.sym_body, t->len);
}

/* Reads what may be no memory at all, unless the VM itself has just said what it is. */
static bool names_read(void *dst, uintptr_t src, size_t n, enum names_trust trust)
{
	if (trust != NAMES_TOLD)
		return sys_peek_all(dst, src, n);
	memcpy(dst, (const void *)src, n);
	return true;
}

static bool pool_symbol(uintptr_t cp, uint32_t i, enum names_trust trust, bool doubtful, struct names_text *t)
{
	uint32_t nr = vm.o.cp_length >= 0 ? (uint32_t)vm_i32(cp, vm.o.cp_length) : 65536;
	uintptr_t sym;

	return i && i < nr && names_read(&sym, cp + vm.size.cp + i * 8ul, 8, trust) &&
	       names_symbol(sym, doubtful, t);
}

static bool names_is_text(const struct names_text *t, const char *s)
{
	return t->len == str_len(s) && !memcmp(t->s, s, t->len);
}

/* Names of all versions since JDK 8. */
static enum names_waits names_waits_for(const struct names_method *n)
{
	static const struct {
		const char *class_name, *name;
		enum names_waits waits;
	} known[] = {
		{ "jdk/internal/misc/Unsafe", "park", NAMES_PARK },
		{ "sun/misc/Unsafe", "park", NAMES_PARK },
		{ "java/lang/Thread", "sleep", NAMES_SLEEP },
		{ "java/lang/Thread", "sleep0", NAMES_SLEEP },
		{ "java/lang/Thread", "sleepNanos0", NAMES_SLEEP },
		{ "java/lang/Object", "wait", NAMES_WAIT },
		{ "java/lang/Object", "wait0", NAMES_WAIT },
		{ "java/lang/VirtualThread", "sleepNanos", NAMES_VTHREAD_SLEEP },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (names_is_text(&n->name, known[i].name) &&
		    names_is_text(&n->class_name, known[i].class_name))
			return known[i].waits;
	return NAMES_NOTHING;
}

static uint32_t hash_text(uint32_t h, const struct names_text *t)
{
	uint32_t i;

	for (i = 0; i < t->len; i++)
		h = (h ^ (uint8_t)t->s[i]) * 16777619u;
	return (h ^ 0xff) * 16777619u;
}

static uint32_t hash_names(const struct names_method *n)
{
	return hash_text(hash_text(hash_text(2166136261u, &n->class_name), &n->name), &n->sig);
}

/* A native method has no bytecodes: its frame has the place where they would begin, or 0. */
static bool bcp_fits(uintptr_t bcp, uintptr_t code, uint32_t code_size)
{
	return bcp - code < code_size || (bcp == code && !code_size);
}

/*
 * Follows a Method to its class and decides whether it is one. Even one that should be alive
 * is read carefully: the walker may have taken an old word for a frame.
 */
static bool names_follow(uintptr_t m, enum names_trust trust, uintptr_t bcp, struct parts *p, uintptr_t *cp,
			 uintptr_t *holder)
{
	const struct vm_offsets *o = &vm.o;
	char head[64];
	uintptr_t back;

	if (!names_read(&p->cm, m + o->method_const, 8, trust) || (p->cm & 7) || !p->cm ||
	    (size_t)vm.size.cm > sizeof(head) || !names_read(head, p->cm, vm.size.cm, trust))
		return false;
	*cp = own_word((uintptr_t)head, o->cm_constants);
	p->code_size = own_u16((uintptr_t)head, o->cm_code_size);
	if (trust == NAMES_IF_BCP && bcp && !bcp_fits(bcp, p->cm + vm.size.cm, p->code_size))
		return false;
	if ((*cp & 7) || !names_read(holder, *cp + o->cp_holder, 8, trust) || (*holder & 7))
		return false;
	if (trust == NAMES_IF_BCP && bcp)
		return true;
	if (trust == NAMES_TOLD)
		return true;
	p->doubtful =
		o->ik_constants < 0 || !sys_peek_all(&back, *holder + o->ik_constants, 8) || back != *cp;
	return trust == NAMES_ALIVE || !p->doubtful;
}

/*
 * Return where the number of the source file among the constants is, which up to JDK 11 is in the class;
 * 0 without it.
 */
static uintptr_t source_index(uintptr_t cp, uintptr_t holder)
{
	return vm.o.cp_source >= 0 ? cp + vm.o.cp_source : vm.o.ik_source >= 0 ? holder + vm.o.ik_source : 0;
}

static bool read_parts(uintptr_t m, enum names_trust trust, uintptr_t bcp, struct parts *p)
{
	const struct vm_offsets *o = &vm.o;
	uintptr_t cp, holder, name, source;

	p->doubtful = false;
	if (!names_follow(m, trust, bcp, p, &cp, &holder) ||
	    !names_read(&name, holder + o->klass_name, 8, trust) ||
	    !names_symbol(name, p->doubtful, &p->names.class_name) ||
	    !pool_symbol(cp, vm_u16(p->cm, o->cm_name), trust, p->doubtful, &p->names.name) ||
	    !pool_symbol(cp, vm_u16(p->cm, o->cm_sig), trust, p->doubtful, &p->names.sig))
		return false;
	source = source_index(cp, holder);
	if (!source || !pool_symbol(cp, vm_u16(source, 0), trust, p->doubtful, &p->names.source))
		p->names.source.len = 0;
	p->names.lines.len = 0;
	if (!p->doubtful)
		p->names.lines = lines_find(p->cm, p->code_size, trust == NAMES_TOLD);
	p->hash = hash_names(&p->names);
	return true;
}

/* Do as read_parts() where nothing is sure to be mapped. */
static bool read_parts_of(struct blocked *b, uintptr_t m, enum names_trust trust, uintptr_t bcp,
			  struct parts *p)
{
	const struct vm_offsets *o = &vm.o;
	enum { CLASS, NAME, SIG, SOURCE };
	uintptr_t cp, holder, at, sym[4] = { 0 };
	uint16_t name, sig, source = 0;

	p->doubtful = false;
	if (!names_follow(m, trust, bcp, p, &cp, &holder) ||
	    !sys_peek_all(&sym[CLASS], holder + o->klass_name, 8) ||
	    !sys_peek_all(&name, p->cm + o->cm_name, 2) ||
	    !sys_peek_all(&sig, p->cm + o->cm_sig, 2) ||
	    ((at = source_index(cp, holder)) && !sys_peek_all(&source, at, 2)) ||
	    !sys_peek_all(&sym[NAME], cp + vm.size.cp + name * 8ul, 8) ||
	    !sys_peek_all(&sym[SIG], cp + vm.size.cp + sig * 8ul, 8) ||
	    (source && !sys_peek_all(&sym[SOURCE], cp + vm.size.cp + source * 8ul, 8)) ||
	    !copied_symbol(sym[CLASS], b->text[CLASS], &p->names.class_name) ||
	    !copied_symbol(sym[NAME], b->text[NAME], &p->names.name) ||
	    !copied_symbol(sym[SIG], b->text[SIG], &p->names.sig))
		return false;
	if (!sym[SOURCE] || !copied_symbol(sym[SOURCE], b->text[SOURCE], &p->names.source))
		p->names.source.len = 0;
	p->names.lines = lines_find(p->cm, p->code_size, false);
	p->hash = hash_names(&p->names);
	return blocked_holds(b);
}

static bool write_record(const struct names_method *p, uint32_t id, struct jvm_ring *ring)
{
	const struct jvm_method r = {
		.time_ns = sys_now(), .method = id,
		.class_name = p->class_name.s, .class_len = p->class_name.len,
		.name = p->name.s, .name_len = p->name.len,
		.sig = p->sig.s, .sig_len = p->sig.len,
		.source = p->source.s, .source_len = p->source.len,
		.lines_len = lines_bytes(&p->lines),
	};
	size_t size = jvm_size_method(&r);
	void *rec = send_begin(ring, size);

	if (!rec)
		return false;
	lines_put(jvm_encode_method(rec, size, &r) - r.lines_len, &p->lines, r.lines_len);
	send_end(ring, rec, size, JVM_REC_method);
	return true;
}

struct found {
	struct slot *slot;
	uintptr_t key;		/* that it had */
};

/* Gives the method a number and, when the slot can be had, publishes it there. */
static enum names_result names_number_method(uintptr_t m, const struct parts *p, uint32_t epoch,
					     struct found at, struct jvm_ring *ring, struct method_info *out)
{
	uint32_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	struct slot *s = at.slot;
	uintptr_t expected = at.key;
	bool mine = s && __atomic_compare_exchange_n(&s->key, &expected, BUSY, false, __ATOMIC_ACQ_REL,
						     __ATOMIC_RELAXED);
	bool written = write_record(&p->names, id, ring);
	enum names_waits waits = names_waits_for(&p->names);

	if (mine && written) {
		store_relaxed(&s->val, (uint64_t)epoch << 32 | id);
		s->cm = p->cm;
		s->hash = p->hash;
		s->code_size = p->code_size;
		s->waits = waits;
		store_release(&s->key, m);
	} else if (mine) {
		store_release(&s->key, at.key);	/* nothing else was touched */
	}
	*out = (struct method_info){ id, waits, p->cm + vm.size.cm, p->code_size };
	return written ? NAMES_OK : NAMES_NO_ROOM;
}

/*
 * Find the slot of m, or one that it may take (free, or not confirmed since classes
 * were unloaded); NULL if there is none.
 */
static struct found names_find(uintptr_t m, uint32_t epoch)
{
	size_t h = mix64(m), i;
	struct found spare = { 0 };

	for (i = 0; i < NR_PROBES; i++) {
		struct slot *s = &slots[(h + i) & (NR_SLOTS - 1)];
		uintptr_t k = load_acquire(&s->key);

		if (k == m || !k) {
			if (k != m && spare.slot)
				break;
			return (struct found){ s, k };
		}
		if (!spare.slot && k != BUSY && load_relaxed(&s->val) >> 32 != epoch)
			spare = (struct found){ s, k };
	}
	return spare;
}

/*
 * Check that the method has the same bytecodes as when it got its number. On another thread's stack a
 * place in them suffices, and saves the system call.
 */
static bool names_is_same(const struct blocked *b, uintptr_t m, uintptr_t cm, uint32_t code_size,
			  uintptr_t bcp)
{
	uintptr_t now;

	if (!b)
		return vm_word(m, vm.o.method_const) == cm;
	return (bcp && bcp_fits(bcp, cm + vm.size.cm, code_size)) ||
	       (sys_peek_all(&now, m + vm.o.method_const, 8) && now == cm);
}

/* b: NULL, or the thread on whose stack the method is. */
static bool read_either(struct blocked *b, uintptr_t m, enum names_trust trust, uintptr_t bcp,
			struct parts *p)
{
	return b ? read_parts_of(b, m, trust, bcp, p) : read_parts(m, trust, bcp, p);
}

static enum names_result names_get_checked(struct blocked *b, uintptr_t m, enum names_trust trust,
					   uintptr_t bcp, struct jvm_ring *ring, struct method_info *out)
{
	uint32_t epoch = names_epoch(), code_size, waits;
	struct found at;
	struct parts p;
	struct slot *s;
	uintptr_t cm;
	uint64_t val;

	if (!m || (m & 7))
		return NAMES_NOT_A_METHOD;
	at = names_find(m, epoch);
	s = at.slot;
	if (s && at.key == m) {
		val = load_acquire(&s->val);
		cm = load_relaxed(&s->cm);
		code_size = load_relaxed(&s->code_size);
		waits = load_relaxed(&s->waits);
		if (load_acquire(&s->key) == m && load_relaxed(&s->val) == val && val >> 32 == epoch &&
		    names_is_same(b, m, cm, code_size, trust == NAMES_IF_BCP ? bcp : 0)) {
			*out = (struct method_info){ val, waits, cm + vm.size.cm, code_size };
			return trust != NAMES_IF_BCP || !bcp || bcp_fits(bcp, out->code, code_size) ?
				NAMES_OK : NAMES_NOT_A_METHOD;
		}
	}
	if (!read_either(b, m, trust, bcp, &p))
		return NAMES_NOT_A_METHOD;
	/* its memory was another's a moment ago, and no count tells that classes were loaded */
	if (vm_read_anew() && !read_either(b, m, trust, bcp, &p))
		return NAMES_NOT_A_METHOD;
	if (s && at.key == m) {
		val = load_acquire(&s->val);
		if (load_relaxed(&s->hash) == p.hash && load_relaxed(&s->cm) == p.cm &&
		    load_acquire(&s->key) == m &&
		    __atomic_compare_exchange_n(&s->val, &val, (uint64_t)epoch << 32 | (uint32_t)val, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			waits = names_waits_for(&p.names);
			*out = (struct method_info){ val, waits, p.cm + vm.size.cm, p.code_size };
			return NAMES_OK;
		}
	}
	return names_number_method(m, &p, epoch, at, ring, out);
}

enum names_result names_get(uintptr_t m, enum names_trust trust, uintptr_t bcp, struct jvm_ring *ring,
			    struct method_info *out)
{
	return names_get_checked(NULL, m, trust, bcp, ring, out);
}

enum names_result names_get_of(struct blocked *b, uintptr_t m, enum names_trust trust, uintptr_t bcp,
			       struct jvm_ring *ring, struct method_info *out)
{
	return names_get_checked(b, m, trust, bcp, ring, out);
}

bool names_are(uintptr_t m, const char *class_name, const char *name, const char *sig)
{
	struct parts p;

	return m && !(m & 7) && read_parts(m, NAMES_IF_LINKED, 0, &p) &&
	       names_is_text(&p.names.class_name, class_name) && names_is_text(&p.names.name, name) &&
	       names_is_text(&p.names.sig, sig);
}

static uint32_t new_number(const struct names_method *m)
{
	uint32_t id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);

	write_record(m, id, NULL);
	return id;
}

struct hashes_key names_key(const struct names_method *m)
{
	struct hashes_key k = HASHES_KEY;

	hashes_text(&k, m->class_name.s, m->class_name.len);
	hashes_text(&k, m->name.s, m->name.len);
	hashes_text(&k, m->sig.s, m->sig.len);
	return k;
}

uint32_t names_number(struct hashes *of, struct sys_lock *lock, const struct hashes_key *k,
		      const struct names_method *m)
{
	uint32_t *at, number = 0;

	sys_lock(lock);
	at = hashes_put(of, k);
	if (at && !*at)
		*at = new_number(m);
	if (at)
		number = *at;
	sys_unlock(lock);
	return number;
}
