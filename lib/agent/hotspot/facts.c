// SPDX-License-Identifier: MIT
/* facts.c - what this VM has of the rows of jvm/facttable.h (facts.h). */
#include "agent/elf.h"
#include "agent/hotspot/facts.h"
#include "agent/hotspot/frame.h"
#include "agent/hotspot/oops.h"
#include "agent/hotspot/vm.h"
#include "agent/ring.h"

enum need_kind {
	AN_OFFSET, A_POINTER, A_SIZE, A_NUMBER,		/* in vm, at offset */
	A_CONSTANT, A_PLACE,				/* that must be value */
	AN_IMPORT, A_JAVA, A_STUB, A_PROBE,
};

struct need {
	uint8_t feature, kind;
	bool or;		/* in place of the row before */
	bool optional;		/* missing only if it is there and is another */
	uint16_t offset;
	int32_t value;		/* of a probe, its number */
	const char *type, *name;	/* as reports have them; name may be NULL */
	const char *exported;	/* of A_CONSTANT and A_PLACE: name without the value; of A_JAVA: signature */
};

static const struct need needs[] = {
#define OFFSET(f, m, t, n) \
	{ .feature = FACTS_##f, .kind = AN_OFFSET, .offset = offsetof(struct vm_offsets, m), .type = t, \
	  .name = n },
#define OR_OFFSET(f, m, t, n) \
	{ .feature = FACTS_##f, .kind = AN_OFFSET, .or = true, .offset = offsetof(struct vm_offsets, m) },
#define OPTIONAL(f, m, type, name)
#define OPTIONAL_STATIC(f, m, type, name)
#define STATIC(f, m, t, n) \
	{ .feature = FACTS_##f, .kind = A_POINTER, .offset = offsetof(struct vm, m), .type = t, .name = n },
#define OR_STATIC(f, m, t, n) \
	{ .feature = FACTS_##f, .kind = A_POINTER, .or = true, .offset = offsetof(struct vm, m) },
#define SIZE(f, m, t) \
	{ .feature = FACTS_##f, .kind = A_SIZE, .offset = offsetof(struct vm_sizes, m), .type = t },
#define OR_SIZE(f, m, t) \
	{ .feature = FACTS_##f, .kind = A_SIZE, .or = true, .offset = offsetof(struct vm_sizes, m) },
#define NUMBER(f, m, n) \
	{ .feature = FACTS_##f, .kind = A_NUMBER, .offset = offsetof(struct vm, m), .type = n },
#define OR_NUMBER(f, m, n) \
	{ .feature = FACTS_##f, .kind = A_NUMBER, .or = true, .offset = offsetof(struct vm, m) },
#define EQUALS(f, v, n) \
	{ .feature = FACTS_##f, .kind = A_CONSTANT, .value = v, .type = n " = " #v, .exported = n },
#define OPTIONAL_EQUALS(f, v, n) \
	{ .feature = FACTS_##f, .kind = A_CONSTANT, .optional = true, .value = v, .type = n " = " #v, \
	  .exported = n },
#define AT(f, v, t, n) \
	{ .feature = FACTS_##f, .kind = A_PLACE, .value = v, .type = t, .name = n " = " #v, .exported = n },
#define FRAME(f, c, n) \
	{ .feature = FACTS_##f, .kind = A_CONSTANT, .optional = true, .value = (c) / 8, .type = n " in its place", \
	  .exported = n },
#define IMPORT(f, n) { .feature = FACTS_##f, .kind = AN_IMPORT, .type = n },
#define JAVA(f, class, n, sig) \
	{ .feature = FACTS_##f, .kind = A_JAVA, .type = class, .name = n, .exported = sig },
#define OR_JAVA(f, class, n, sig) \
	{ .feature = FACTS_##f, .kind = A_JAVA, .or = true, .type = class, .name = n, .exported = sig },
#define STUB(f, n) { .feature = FACTS_##f, .kind = A_STUB, .type = n },
#define PROBE(f, id, n) { .feature = FACTS_##f, .kind = A_PROBE, .value = FACTS_PROBE_##id, .type = n },
#include "jvm/facttable.h"
};

/* What is known of facts that are not in vm, as far as they were looked up. */
static enum { UNKNOWN, THERE, MISSING } said[ARRAY_SIZE(needs)];

void facts_exported(const char *type, const char *field, int64_t value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needs); i++) {
		const struct need *n = &needs[i];

		if (n->kind != (field ? A_PLACE : A_CONSTANT) || !str_eq(n->exported, field ? field : type) ||
		    (field && !str_eq(n->type, type)))
			continue;
		said[i] = value == n->value ? THERE : MISSING;
	}
}

static bool fact_is_there(size_t i)
{
	const struct need *n = &needs[i];

	switch (n->kind) {
	case AN_OFFSET:
		return *(const int *)((const char *)&vm.o + n->offset) >= 0;
	case A_POINTER:
		return *(const uintptr_t *)((const char *)&vm + n->offset);
	case A_SIZE:
		return *(const int *)((const char *)&vm.size + n->offset);
	case A_NUMBER:
		return *(const int *)((const char *)&vm + n->offset);
	case A_CONSTANT:
	case A_PLACE:
		return n->optional ? said[i] != MISSING : said[i] == THERE;
	default:
		return said[i] != MISSING;
	}
}

bool facts_lack(enum facts_feature feature, const char **type, const char **name)
{
	const struct need *missing = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needs); i++) {
		const struct need *n = &needs[i];

		if (n->feature != feature)
			continue;
		if (missing && !n->or)
			break;
		if (fact_is_there(i))
			missing = NULL;
		else if (!n->or)
			missing = n;
	}
	if (!missing)
		return false;
	*type = missing->type;
	*name = missing->name;
	return true;
}

static bool has_member(JNIEnv *env, const struct need *n)
{
	jclass cls = oops_class(env, n->type);
	void *id = NULL;

	if (cls)
		id = n->exported[0] == '(' ? (void *)(*env)->GetMethodID(env, cls, n->name, n->exported) :
					     (void *)(*env)->GetFieldID(env, cls, n->name, n->exported);
	(*env)->ExceptionClear(env);
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
	return id;
}

void facts_ask(JNIEnv *env, enum facts_feature feature)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needs); i++) {
		const struct need *n = &needs[i];

		if (n->feature != feature || said[i] == THERE)
			continue;
		if (n->or && n->kind == A_JAVA && said[i - 1] == THERE)
			continue;
		if (n->kind == A_JAVA)
			said[i] = has_member(env, n) ? THERE : MISSING;
		if (n->kind == A_STUB)
			said[i] = vm_knows_stub(n->type) ? THERE : MISSING;
	}
}

void facts_tried(enum facts_probe probe, bool holds)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needs); i++)
		if (needs[i].kind == A_PROBE && needs[i].value == (int32_t)probe)
			said[i] = holds ? THERE : MISSING;
}

static bool told[FACTS_NR];

void facts_begin(void)
{
	memset(told, 0, sizeof(told));
}

static size_t facts_put(char *d, size_t at, const char *s)
{
	size_t len = str_len(s), room = JVM_MAX_STRING - at;

	len = len < room ? len : room;
	memcpy(d + at, s, len);
	return at + len;
}

void facts_tell(struct jvm_ring *ring, enum facts_feature feature, const char *type, const char *name)
{
	char fact[JVM_MAX_STRING];
	size_t len;

	if (__atomic_exchange_n(&told[feature], true, __ATOMIC_RELAXED))
		return;
	len = facts_put(fact, 0, type);
	if (name)
		len = facts_put(fact, facts_put(fact, len, "."), name);
	send_lacks(ring, &(struct jvm_lacks){
		.time_ns = sys_now(), .feature = feature, .fact = fact, .fact_len = len,
	});
}
