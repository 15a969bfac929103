// SPDX-License-Identifier: GPL-2.0-or-later
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
#define OFFSET(f, m, type, name) { FACTS_##f, FACT_OFFSET, false, false, type, name, false, 0 },
#define OR_OFFSET(f, m, type, name) { FACTS_##f, FACT_OFFSET, true, false, type, name, false, 0 },
#define OPTIONAL(f, m, type, name) { FACTS_##f, FACT_OFFSET, false, true, type, name, false, 0 },
#define OPTIONAL_STATIC(f, m, type, name) { FACTS_##f, FACT_STATIC, false, true, type, name, false, 0 },
#define STATIC(f, m, type, name) { FACTS_##f, FACT_STATIC, false, false, type, name, false, 0 },
#define OR_STATIC(f, m, type, name) { FACTS_##f, FACT_STATIC, true, false, type, name, false, 0 },
#define SIZE(f, m, type) { FACTS_##f, FACT_SIZE, false, false, type, NULL, false, 0 },
#define OR_SIZE(f, m, type) { FACTS_##f, FACT_SIZE, true, false, type, NULL, false, 0 },
#define NUMBER(f, m, name) { FACTS_##f, FACT_NUMBER, false, false, NULL, name, false, 0 },
#define OR_NUMBER(f, m, name) { FACTS_##f, FACT_NUMBER, true, false, NULL, name, false, 0 },
#define IMPORT(f, name) { FACTS_##f, FACT_IMPORT, false, false, NULL, name, false, 0 },
#define JAVA(f, class, field, sig) { FACTS_##f, FACT_JAVA, false, false, class, field, false, 0 },
#define STUB(f, name) { FACTS_##f, FACT_STUB, false, false, NULL, name, false, 0 },
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

static void take(void *ctx, const struct vmstructs_entry *e)
{
	struct looking *l = ctx;
	size_t i;

	for (i = 0; i < l->f->nr_rows; i++) {
		struct fact *x = &l->f->rows[i];

		if (!is_row(x, e))
			continue;
		x->found = true;
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

/* JDK 8, which has one code heap, says the version of HotSpot. */
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
	if (!vmstructs_each(&v, VMSTRUCTS_FIELDS, take, &l) ||
	    !vmstructs_each(&v, VMSTRUCTS_TYPES, take, &l) || !vmstructs_each(&v, VMSTRUCTS_INTS, take, &l))
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
		if (x->feature == feature && !x->optional && !found && x->kind < FACT_JAVA)
			return x;
	}
	return NULL;
}
