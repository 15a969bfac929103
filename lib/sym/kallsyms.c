// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kallsyms.c - /proc/kallsyms: one line "address type name[\t[module]]" per symbol.
 *
 * Only text is kept; what else there is says where a function ends.  With BPF the file is not
 * read at all: ksym_bpf.c asks for what was hit.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "sym/kallsyms.h"

enum { GAP_MAX = 1 << 20 };	/* no function is longer: beyond is somebody else's memory */

struct line {
	uint64_t addr;
	char type;
	const char *name, *module;
	size_t name_len, module_len;
};

struct kallsyms {
	char *text;		/* names, terminated in place */
	struct ksym *syms;	/* sorted */
	size_t nr_syms, alloc_syms;
	struct ksym_bpf *bpf;	/* asked instead of the table, or NULL */
	/* the image's functions; the table is empty until another address is asked for */
	struct cache_entry cached;
	struct ksym answer;	/* the last of either */
};

/* Parse a line that ends at end; return false for any other line. */
static bool parse_kallsyms_line(const char *p, const char *end, struct line *l)
{
	int d, nr = 0;

	memset(l, 0, sizeof(*l));
	for (; p < end && (d = hex_lower(*p)) >= 0; p++, nr++)
		l->addr = l->addr << 4 | d;
	if (!nr || nr > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	l->type = p[1];
	l->name = p += 3;
	while (p < end && *p != '\t' && *p != ' ')
		p++;
	l->name_len = p - l->name;
	while (p < end && (*p == '\t' || *p == ' '))
		p++;
	if (p < end && *p == '[' && end[-1] == ']') {
		l->module = p + 1;
		l->module_len = end - p - 2;
	}
	return l->name_len;
}

static bool is_text_symbol(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static int by_addr(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	return COMPARE(x->addr, y->addr) ?: COMPARE(x->name, y->name);
}

/* Names end where a blank or the line's end was. */
static const char *terminate(char *text, const char *base, const char *s, size_t len)
{
	char *own = text + (s - base);

	own[len] = '\0';
	return own;
}

/* Add a line; data symbols are entries without name until sizes are known. */
static void kallsyms_add_line(struct kallsyms *k, const char *text, const struct line *l)
{
	struct ksym s = { .addr = l->addr, .module = "" };

	if (!l->addr)
		return;
	if (is_text_symbol(l->type)) {
		s.name = terminate(k->text, text, l->name, l->name_len);
		if (l->module)
			s.module = terminate(k->text, text, l->module, l->module_len);
	}
	*VEC_ADD(k->syms, k->nr_syms, k->alloc_syms) = s;
}

/* Prefer, of several names of one address, fewer leading underscores, then the one listed first. */
static bool better(const struct ksym *a, const struct ksym *b)
{
	if (!a->name || !b->name)
		return a->name;
	return strspn(a->name, "_") < strspn(b->name, "_");
}

static void kallsyms_finish(struct kallsyms *k)
{
	size_t i, n = 0;
	bool sorted = true;

	for (i = 1; i < k->nr_syms && sorted; i++)
		sorted = k->syms[i - 1].addr <= k->syms[i].addr;
	if (!sorted)
		qsort(k->syms, k->nr_syms, sizeof(*k->syms), by_addr);
	for (i = 0; i < k->nr_syms; i++) {
		if (!n || k->syms[n - 1].addr != k->syms[i].addr)
			k->syms[n++] = k->syms[i];
		else if (better(&k->syms[i], &k->syms[n - 1]))
			k->syms[n - 1] = k->syms[i];
	}
	k->nr_syms = n;
	for (i = n = 0; i < k->nr_syms; i++) {
		struct ksym *s = &k->syms[i];
		uint64_t page = ((s->addr | 4095) + 1) - s->addr;

		s->size = i + 1 < k->nr_syms ? s[1].addr - s->addr : page;
		if (s->size > GAP_MAX)
			s->size = page;
	}
	for (i = 0; i < k->nr_syms; i++)
		if (k->syms[i].name)
			k->syms[n++] = k->syms[i];
	k->nr_syms = n;
}

int kallsyms_parse(struct kallsyms **out, const char *text, size_t len, struct err *e)
{
	const char *p = text, *end = text + len;
	struct kallsyms *k = xcalloc(1, sizeof(*k));
	bool hidden = false;

	*out = NULL;
	k->text = xmalloc(len + 1);
	memcpy(k->text, text, len);
	k->text[len] = '\0';
	while (p < end) {
		const char *nl = memchr(p, '\n', end - p), *stop = nl ? nl : end;
		struct line l;

		if (parse_kallsyms_line(p, stop, &l)) {
			hidden |= !l.addr && is_text_symbol(l.type);
			kallsyms_add_line(k, text, &l);
		}
		p = stop + 1;
	}
	kallsyms_finish(k);
	if (!k->nr_syms) {
		kallsyms_close(k);
		if (!hidden)
			return err_set(e, ENODATA, "no kernel symbols");
		err_set(e, EPERM, "the kernel hides its symbols' addresses");
		err_hint(e, "run as root, or: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
		return -e->code;
	}
	*out = k;
	return 0;
}

/* Read the first line alone, as the kernel prints a page at a time. */
static bool key_of_boot(struct cache_key *k)
{
	char line[4096];
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line));
	const char *end = n > 0 ? memchr(line, '\n', n) : NULL;

	if (fd >= 0)
		close(fd);
	return end && strspn(line, "0") < 16 && kallsyms_key(k, line, end - line);
}

int kallsyms_read_cached(struct kallsyms **k, struct cache *c, struct err *e)
{
	struct cache_entry cached;
	struct cache_key key;
	int r;

	if (!c || !key_of_boot(&key))
		return kallsyms_read(k, e);
	if (cache_get(c, &key, &cached)) {
		if (kallsyms_is_sound(&cached)) {
			*k = xcalloc(1, sizeof(**k));
			(*k)->cached = cached;
			return 0;
		}
		cache_entry_release(&cached);
	}
	r = kallsyms_read(k, e);
	if (!r)
		kallsyms_put(c, &key, (*k)->syms, (*k)->nr_syms);
	return r;
}

/* Read the file for an address outside the image, in a module, which only the file knows. */
static void complete(struct kallsyms *k)
{
	struct kallsyms *all;
	struct err e;

	cache_entry_release(&k->cached);
	if (kallsyms_read(&all, &e))
		return;
	k->text = all->text;
	k->syms = all->syms;
	k->nr_syms = all->nr_syms;
	free(all);
}

int kallsyms_open(struct kallsyms **k, struct cache *c, struct err *e)
{
	struct ksym_bpf *bpf = ksym_bpf_open();

	if (!bpf)
		return kallsyms_read_cached(k, c, e);
	*k = xcalloc(1, sizeof(**k));
	(*k)->bpf = bpf;
	return 0;
}

int kallsyms_read(struct kallsyms **k, struct err *e)
{
	struct buf b = BUF_INIT;
	int r = io_slurp("/proc/kallsyms", &b);

	*k = NULL;
	if (r)
		r = err_set(e, -r, "/proc/kallsyms: %s", strerror(-r));
	else
		r = kallsyms_parse(k, b.data ? b.data : "", b.len, e);
	buf_release(&b);
	return r;
}

void kallsyms_close(struct kallsyms *k)
{
	if (!k)
		return;
	ksym_bpf_close(k->bpf);
	cache_entry_release(&k->cached);
	free(k->text);
	free(k->syms);
	free(k);
}

const struct ksym *kallsyms_find(struct kallsyms *k, uint64_t addr)
{
	size_t lo;

	if (k->bpf)
		return ksym_bpf_find(k->bpf, addr, &k->answer) ? &k->answer : NULL;
	if (k->cached.data) {
		int r = kallsyms_cached(&k->cached, addr, &k->answer);

		if (r >= 0)
			return r ? &k->answer : NULL;
		complete(k);
	}
	lo = BISECT(i, k->nr_syms, k->syms[i].addr <= addr);
	return lo && addr - k->syms[lo - 1].addr < k->syms[lo - 1].size ? &k->syms[lo - 1] : NULL;
}
