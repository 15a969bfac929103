// SPDX-License-Identifier: GPL-2.0-or-later
/* factcheck.c - checks the facts about HotSpot in a running JVM from outside (factcheck.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/factcheck.h"
#include "jvm/vmstructs.h"

const struct facts_of facts_of[FACTS_NR] = {
#define FEATURE(id, since, uses, name) [FACTS_##id] = { name, since },
#include "jvm/facttable.h"
};

static const struct fact rows[] = {
#define OFFSET(f, m, t, n) { .feature = FACTS_##f, .kind = FACT_OFFSET, .type = t, .name = n },
#define OR_OFFSET(f, m, t, n) { .feature = FACTS_##f, .kind = FACT_OFFSET, .or = true, .type = t, .name = n },
#define OPTIONAL(f, m, t, n) \
	{ .feature = FACTS_##f, .kind = FACT_OFFSET, .optional = true, .type = t, .name = n },
#define OPTIONAL_STATIC(f, m, t, n) \
	{ .feature = FACTS_##f, .kind = FACT_STATIC, .optional = true, .type = t, .name = n },
#define STATIC(f, m, t, n) { .feature = FACTS_##f, .kind = FACT_STATIC, .type = t, .name = n },
#define OR_STATIC(f, m, t, n) { .feature = FACTS_##f, .kind = FACT_STATIC, .or = true, .type = t, .name = n },
#define SIZE(f, m, t) { .feature = FACTS_##f, .kind = FACT_SIZE, .type = t },
#define OR_SIZE(f, m, t) { .feature = FACTS_##f, .kind = FACT_SIZE, .or = true, .type = t },
#define NUMBER(f, m, n) { .feature = FACTS_##f, .kind = FACT_NUMBER, .name = n },
#define OR_NUMBER(f, m, n) { .feature = FACTS_##f, .kind = FACT_NUMBER, .or = true, .name = n },
#define EQUALS(f, v, n) { .feature = FACTS_##f, .kind = FACT_NUMBER, .exact = true, .want = v, .name = n },
#define OPTIONAL_EQUALS(f, v, n) \
	{ .feature = FACTS_##f, .kind = FACT_NUMBER, .optional = true, .exact = true, .want = v, .name = n },
#define AT(f, v, t, n) \
	{ .feature = FACTS_##f, .kind = FACT_OFFSET, .exact = true, .want = v, .type = t, .name = n },
#define FRAME(f, c, n) { .feature = FACTS_##f, .kind = FACT_NUMBER, .optional = true, .name = n },
#define IMPORT(f, n) { .feature = FACTS_##f, .kind = FACT_IMPORT, .name = n },
#define JAVA(f, class, n, sig) { .feature = FACTS_##f, .kind = FACT_JAVA, .type = class, .name = n },
#define OR_JAVA(f, class, n, sig) \
	{ .feature = FACTS_##f, .kind = FACT_JAVA, .or = true, .type = class, .name = n },
#define STUB(f, n) { .feature = FACTS_##f, .kind = FACT_STUB, .name = n },
#define PROBE(f, id, n) { .feature = FACTS_##f, .kind = FACT_PROBE, .name = n },
#include "jvm/facttable.h"
};

struct looking {
	struct facts *f;
	const struct vmstructs *v;
	uint64_t major;			/* where the version is, 0: nowhere */
	bool heaps, heap;
};

static bool is_row(const struct fact *x, const struct vmstructs_entry *e)
{
	switch (e->table) {
	case VMSTRUCTS_FIELDS:
		return x->kind == (e->is_static ? FACT_STATIC : FACT_OFFSET) && !strcmp(x->type, e->type) &&
		       !strcmp(x->name, e->field);
	case VMSTRUCTS_TYPES:
		return x->kind == FACT_SIZE && !strcmp(x->type, e->type);
	default:
		return x->kind == FACT_NUMBER && !strcmp(x->name, e->type);
	}
}

static void take_vm_entry(void *ctx, const struct vmstructs_entry *e)
{
	struct looking *l = ctx;
	size_t i;

	for (i = 0; i < l->f->nr_rows; i++) {
		struct fact *x = &l->f->rows[i];

		if (!is_row(x, e))
			continue;
		x->differs = x->exact && (int64_t)e->value != x->want;
		x->found = !x->differs;
		x->value = x->kind == FACT_STATIC ? e->value - l->v->libjvm : e->value;
	}
	if (e->table != VMSTRUCTS_FIELDS || !e->is_static)
		return;
	if (!strcmp(e->type, "Abstract_VM_Version") && !strcmp(e->field, "_vm_major_version"))
		l->major = e->value;
	if (!strcmp(e->type, "CodeCache")) {
		l->heaps |= !strcmp(e->field, "_heaps");
		l->heap |= !strcmp(e->field, "_heap");
	}
}

/* Return the version of the JDK; JDK 8, which has one code heap, reports that of HotSpot. */
static int jdk_of(const struct looking *l)
{
	uint32_t major = l->major ? vmstructs_half(l->v, l->major) : 0;

	if (l->heap && !l->heaps)
		return 8;
	return major < 1000 ? (int)major : 0;
}

int facts_look(struct facts *f, int pid, struct err *e)
{
	struct vmstructs v;
	struct looking l = { .f = f, .v = &v };
	size_t i;
	int r;

	*f = (struct facts){ .nr_rows = ARRAY_SIZE(rows) };
	r = vmstructs_open(&v, pid, e);
	if (r)
		return r;
	f->rows = xcalloc(f->nr_rows, sizeof(*f->rows));
	memcpy(f->rows, rows, sizeof(rows));
	if (!vmstructs_each(&v, VMSTRUCTS_FIELDS, take_vm_entry, &l) ||
	    !vmstructs_each(&v, VMSTRUCTS_TYPES, take_vm_entry, &l) ||
	    !vmstructs_each(&v, VMSTRUCTS_INTS, take_vm_entry, &l) ||
	    !vmstructs_each(&v, VMSTRUCTS_LONGS, take_vm_entry, &l))
		return err_set(e, ENOTSUP, "the libjvm.so of process %d exports no gHotSpotVMStructs of the known form", pid);
	for (i = 0; i < f->nr_rows; i++)
		if (f->rows[i].kind == FACT_IMPORT)
			f->rows[i].found = vmstructs_imports(&v, f->rows[i].name);
	f->jdk = jdk_of(&l);
	return 0;
}

void facts_release(struct facts *f)
{
	free(f->rows);
	*f = (struct facts){ 0 };
}

size_t facts_next(const struct facts *f, size_t i, const struct fact **found)
{
	*found = NULL;
	do {
		if (f->rows[i].found && !*found)
			*found = &f->rows[i];
	} while (++i < f->nr_rows && f->rows[i].or);
	return i;
}

const struct fact *facts_missing(const struct facts *f, enum facts_feature feature)
{
	const struct fact *found;
	size_t i, next;

	if (f->jdk && f->jdk < facts_of[feature].since)
		return NULL;
	for (i = 0; i < f->nr_rows; i = next) {
		const struct fact *x = &f->rows[i];

		next = facts_next(f, i, &found);
		if (x->feature == feature && (!x->optional || x->differs) && !found && x->kind < FACT_JAVA)
			return x;
	}
	return NULL;
}
