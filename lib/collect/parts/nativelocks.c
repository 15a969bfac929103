// SPDX-License-Identifier: GPL-2.0-or-later
/* nativelocks.c - names locks of native code by the file and the function that they belong to (locks.h). */
#include <inttypes.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/engine/recording.h"

/* So many names are looked for: each time all symbols of a file are read. */
enum { MAX_NAMES = 1024, MAX_FUNCTIONS = 1 << 16 };

void nativelocks_release(struct nativelocks *n)
{
	map_release(&n->functions);
}

void nativelocks_forget(struct nativelocks *n)
{
	if (n->functions.nr >= MAX_FUNCTIONS)
		map_reset(&n->functions);
}

/* Return the nearest mapping of code below an address: data of a file lies above its code. */
static const struct map_entry *code_below(const struct maps *m, uint64_t addr)
{
	size_t lo = BISECT(i, m->nr_entries, m->entries[i].start <= addr);

	return lo ? &m->entries[lo - 1] : NULL;
}

static bool nativelock_put_name(struct collect *c, const struct proc *p, uint64_t addr, struct buf *b)
{
	const struct map_entry *m = code_below(&p->maps, addr);
	struct symfile *f = m && m->module ? modules_file(&c->modules, m->module) : NULL;
	uint64_t start = f ? symfile_off_to_vaddr(f, m->pgoff) : UINT64_MAX;

	return start != UINT64_MAX && symfile_object(f, addr - m->start + start, b);
}

static uint32_t type_function(struct collect *c, enum jvm_wait_kind kind)
{
	uint32_t *f = &c->locks.natives.types[kind];

	if (!*f)
		*f = sources_new_reason(c, kind == JVM_WAIT_MUTEX ? "pthread_mutex_t" :
					   kind == JVM_WAIT_RWLOCK ? "pthread_rwlock_t" : "pthread_cond_t");
	return *f;
}

uint32_t nativelocks_function(struct collect *c, struct proc *p, uint64_t addr, enum jvm_wait_kind kind)
{
	struct nativelocks *n = &c->locks.natives;
	struct buf b = BUF_INIT;
	uint32_t *at;

	if (n->functions.nr >= MAX_FUNCTIONS)
		return type_function(c, kind);
	at = map_put(&n->functions, hash_pair(p->id, addr));
	if (*at != MAP_NONE)
		return *at;
	if (n->functions.nr <= MAX_NAMES && nativelock_put_name(c, p, addr, &b))
		*at = sources_new_reason(c, b.data);
	else
		*at = type_function(c, kind);
	buf_release(&b);
	return *at;
}
