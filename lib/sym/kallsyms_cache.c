// SPDX-License-Identifier: GPL-2.0-or-later
/* kallsyms_cache.c - caches the functions of the kernel image until the next boot (kallsyms_cache.h). */
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "sym/kallsyms.h"

struct head {
	uint64_t nr, names_len;
};

struct function {
	uint64_t addr;
	uint32_t size, name;	/* name: offset among the names */
};

bool kallsyms_key(struct cache_key *k, const char *first_line, size_t len)
{
	struct buf boot = BUF_INIT;
	bool ok = !io_slurp("/proc/sys/kernel/random/boot_id", &boot) && boot.len >= 36;

	memset(k, 0, sizeof(*k));
	k->kind = CACHE_KERNEL;
	k->size = hash_bytes(first_line, len);
	if (ok)
		memcpy(k->build_id, boot.data, 36);
	buf_release(&boot);
	return ok && len;
}

/* Find the functions of the image: [*from, *to). False: others lie between them. */
static bool image_of(const struct ksym *syms, size_t nr, size_t *from, size_t *to)
{
	size_t i;

	for (*from = 0; *from < nr && syms[*from].module[0]; ++*from)
		;
	for (*to = nr; *to > *from && syms[*to - 1].module[0]; --*to)
		;
	for (i = *from; i < *to; i++)
		if (syms[i].module[0])
			return false;
	return *to > *from;
}

void kallsyms_put(struct cache *c, const struct cache_key *k, const struct ksym *syms, size_t nr)
{
	struct buf out = BUF_INIT, names = BUF_INIT;
	struct head h = { 0 };
	size_t i, from, to;

	if (!image_of(syms, nr, &from, &to))
		return;
	h.nr = to - from;
	buf_add(&out, &h, sizeof(h));
	for (i = from; i < to; i++) {
		struct function f = { syms[i].addr, syms[i].size, names.len };

		buf_add(&out, &f, sizeof(f));
		buf_add(&names, syms[i].name, strlen(syms[i].name) + 1);
	}
	((struct head *)out.data)->names_len = names.len;
	buf_add(&out, names.data, names.len);
	cache_put(c, k, out.data, out.len);
	buf_release(&names);
	buf_release(&out);
}

static const struct function *functions(const struct cache_entry *e)
{
	return (const struct function *)(e->data + sizeof(struct head));
}

bool kallsyms_is_sound(const struct cache_entry *e)
{
	const struct head *h = (const struct head *)e->data;
	const struct function *f = functions(e);
	size_t i;

	if (e->len < sizeof(*h) || !h->nr || h->nr > e->len / sizeof(*f) || !h->names_len ||
	    e->len != sizeof(*h) + h->nr * sizeof(*f) + h->names_len || e->data[e->len - 1])
		return false;
	for (i = 0; i < h->nr; i++)
		if (f[i].name >= h->names_len || (i && f[i].addr <= f[i - 1].addr))
			return false;
	return true;
}

int kallsyms_cached(const struct cache_entry *e, uint64_t addr, struct ksym *s)
{
	const struct head *h = (const struct head *)e->data;
	const struct function *f = functions(e);
	size_t lo;

	if (addr < f[0].addr || addr >= f[h->nr - 1].addr)
		return -1;
	lo = BISECT(i, h->nr, f[i].addr <= addr);
	f += lo - 1;
	*s = (struct ksym){ f->addr, f->size, (const char *)(functions(e) + h->nr) + f->name, "" };
	return addr - s->addr < s->size;
}
