// SPDX-License-Identifier: GPL-2.0-or-later
/* resident.c - divides the resident memory of a process by use (resident.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "jvm/target.h"
#include "resident/native.h"
#include "resident/resident.h"
#include "resident/smaps.h"

enum { PAGE = 4096 };
/* of a mapping of several parts, that are looked at one by one */
static const uint64_t most_pages = 64 << 20;

const char *const resident_keys[RESIDENT_NR_PARTS] = {
	[RESIDENT_HEAP] = "java_heap", [RESIDENT_HEAP_AGAIN] = "java_heap_again",
	[RESIDENT_METASPACE] = "metaspace", [RESIDENT_CLASS_SPACE] = "class_space",
	[RESIDENT_CDS] = "class_archive", [RESIDENT_CODE] = "code_cache", [RESIDENT_GC] = "gc",
	[RESIDENT_JVM] = "jvm_other", [RESIDENT_STACKS] = "stacks", [RESIDENT_MALLOC] = "malloc",
	[RESIDENT_MALLOC_FREE] = "malloc_free",
	[RESIDENT_LIBRARIES] = "libraries", [RESIDENT_FILES] = "files", [RESIDENT_SHARED] = "shared",
	[RESIDENT_KERNEL] = "kernel", [RESIDENT_UNKNOWN] = "not_accounted",
};

const char *const resident_names[RESIDENT_NR_PARTS] = {
	[RESIDENT_HEAP] = "Java heap", [RESIDENT_HEAP_AGAIN] = "Java heap, the same pages at other addresses",
	[RESIDENT_METASPACE] = "metaspace", [RESIDENT_CLASS_SPACE] = "class space",
	[RESIDENT_CDS] = "archive of classes (CDS)", [RESIDENT_CODE] = "code cache",
	[RESIDENT_GC] = "tables of the garbage collector", [RESIDENT_JVM] = "other of the JVM",
	[RESIDENT_STACKS] = "stacks of threads", [RESIDENT_MALLOC] = "malloc, in use",
	[RESIDENT_MALLOC_FREE] = "malloc, free",
	[RESIDENT_LIBRARIES] = "programs and libraries", [RESIDENT_FILES] = "other mapped files",
	[RESIDENT_SHARED] = "shared memory", [RESIDENT_KERNEL] = "of the kernel",
	[RESIDENT_UNKNOWN] = "not accounted for",
};

/* --- what the JVM says --- */

/* Ask the JVM; late answers count as none: all questions together have until until_ns. */
static int resident_ask(const struct resident *r, const char *command, uint64_t until_ns, struct buf *reply,
			struct err *e)
{
	uint64_t now_ns = clock_mono_ns();

	buf_reset(reply);
	return hotspot_ask(r->pid, command, until_ns > now_ns ? until_ns - now_ns : 1, reply, e);
}

/* The JVM's own account of its mappings: if it has one with details, or since JDK 24 with any. */
struct places {
	struct buf regions, map;
};

static void ask_jvm(struct resident *r, uint64_t patience_ns, struct claims *c, struct places *places)
{
	uint64_t until_ns = clock_mono_ns() + patience_ns;
	struct buf b = BUF_INIT;
	struct err e;

	if (resident_ask(r, "VM.info", until_ns, &b, &e)) {
		snprintf(r->not_asked, sizeof(r->not_asked), "%s", e.msg);
		buf_release(&b);
		return;
	}
	hotspot_version(b.data, r->jvm, sizeof(r->jvm));
	hotspot_info(b.data, c);
	if (!resident_ask(r, "VM.metaspace vslist", until_ns, &b, &e))
		hotspot_metaspace(b.data, c);
	if (!resident_ask(r, "VM.native_memory summary", until_ns, &b, &e))
		hotspot_nmt(b.data, &r->nmt);
	if (r->nmt.nr && resident_ask(r, "VM.native_memory detail", until_ns, &places->regions, &e))
		buf_reset(&places->regions);
	if (r->nmt.nr && resident_ask(r, "System.map", until_ns, &places->map, &e))
		buf_reset(&places->map);
	/* telling that takes some of a stack: the account is that of afterwards */
	if (r->nmt.nr && !resident_ask(r, "VM.native_memory summary", until_ns, &b, &e))
		hotspot_nmt(b.data, &r->nmt);
	buf_release(&b);
}

/*
 * Claim the tables that a collector has beside its card table, in the same size, such as one of where objects
 * begin. They were allocated one after the other, and nothing else reports them.
 */
static void claim_beside_cards(const struct smaps *s, struct claims *c)
{
	const struct smap *m;
	struct claim cards;
	uint64_t room;
	size_t i;

	for (i = 0; i < c->nr && strcmp(c->items[i].name, "card table"); i++)
		;
	if (i == c->nr)
		return;
	cards = c->items[i];
	m = smaps_find(s, cards.start);
	room = 2 * (cards.end - cards.start);
	if (!m || !native_is_anonymous(m))
		return;
	claims_add(c, MAX(m->start, cards.start - MIN(room, cards.start)), cards.start, RESIDENT_GC, "tables");
	claims_add(c, cards.end, MIN(m->end, cards.end + room), RESIDENT_GC, "tables");
}

/* --- whose a mapping is that nobody claims --- */

static bool ends(const char *s, const char *with)
{
	size_t a = strlen(s), b = strlen(with);

	return a >= b && !strcmp(s + a - b, with);
}

static bool resident_begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/*
 * Return whether the mapping is of a program or library: some mapping of its file is executable; its mappings
 * are neighbours.
 */
static bool is_library(const struct smaps *s, size_t i)
{
	const char *name = s->items[i].name;
	size_t k;

	for (k = i; k > 0 && (!strcmp(s->items[k - 1].name, name) || !*s->items[k - 1].name); k--)
		;
	for (; k < s->nr && (!strcmp(s->items[k].name, name) || !*s->items[k].name); k++)
		if (s->items[k].perms[2] == 'x' && !strcmp(s->items[k].name, name))
			return true;
	return strstr(name, ".so.") || ends(name, ".so");
}

static enum resident_part part_of_mapping(const struct smaps *s, size_t i)
{
	static const struct {
		const char *name;
		enum resident_part part;
	} names[] = {
		{ "/memfd:java_heap", RESIDENT_HEAP }, { "/memfd:", RESIDENT_SHARED },
		{ "/SYSV", RESIDENT_SHARED }, { "/dev/shm/", RESIDENT_SHARED },
		{ "/dev/zero", RESIDENT_SHARED }, { "[anon_shmem", RESIDENT_SHARED },
		{ "[heap]", RESIDENT_MALLOC }, { "[stack", RESIDENT_STACKS },
		{ "[anon: glibc: malloc", RESIDENT_MALLOC }, { "[anon:libc_malloc", RESIDENT_MALLOC },
		{ "[anon:scudo", RESIDENT_MALLOC }, { "[anon: glibc: pthread stack", RESIDENT_STACKS },
		{ "[anon", RESIDENT_UNKNOWN }, { "[", RESIDENT_KERNEL },
	};
	const char *name = s->items[i].name;
	size_t k;

	if (!*name)
		return RESIDENT_UNKNOWN;
	if (strstr(name, "/hsperfdata_"))
		return RESIDENT_JVM;
	for (k = 0; k < ARRAY_SIZE(names); k++)
		if (resident_begins(name, names[k].name))
			return names[k].part;
	return is_library(s, i) ? RESIDENT_LIBRARIES : ends(name, ".jsa") ? RESIDENT_CDS : RESIDENT_FILES;
}

/* --- pieces --- */

static void add_piece(struct resident *r, const struct smap *m, uint64_t start, uint64_t end,
		      enum resident_part part, const char *name)
{
	struct resident_piece *p;

	p = VEC_ADD(r->pieces, r->nr_pieces, r->alloc_pieces);
	*p = (struct resident_piece){ .start = start, .end = end, .part = part };
	p->name = xstrdup(*name ? name : m->name);
	memcpy(p->perms, m->perms, sizeof(p->perms));
	p->sum.mapped = end - start;
	p->sum.usable = smap_is_usable(m) ? end - start : 0;
}

/* Count the pages of [start, end) that are present, or swapped out, as far as /proc/PID/pagemap says. */
static void count_pages(int pagemap, uint64_t start, uint64_t end, uint64_t *present, uint64_t *swapped)
{
	uint64_t entries[8192], page = start / PAGE, last = end / PAGE;

	while (page < last) {
		size_t want = MIN(last - page, (uint64_t)ARRAY_SIZE(entries)), i;
		ssize_t n = pread(pagemap, entries, want * 8, page * 8);

		if (n < 8)
			return;
		for (i = 0; i < (size_t)n / 8; i++) {
			*present += entries[i] >> 63;
			*swapped += entries[i] >> 62 & 1;
		}
		page += n / 8;
	}
}

/*
 * Shares what the kernel says of a whole mapping out to its pieces, by their pages: the pages of zeros are
 * present, but not in Rss, and the process went on meanwhile. What is over after that is the last's.
 */
static void share_out(uint64_t whole, const uint64_t *weights, struct resident_piece *p, size_t nr,
		      size_t offset)
{
	uint64_t sum = 0, left = whole, part;
	size_t i, largest = nr - 1;

	for (i = 0; i < nr; i++) {
		sum += weights[i];
		largest = weights[i] > weights[largest] ? i : largest;
	}
	for (i = 0; i < nr; i++) {
		part = !sum ? 0 : (uint64_t)((unsigned __int128)whole * weights[i] / sum) & -(uint64_t)1024;
		*(uint64_t *)((char *)&p[i].sum + offset) = part;
		left -= part;
	}
	*(uint64_t *)((char *)&p[largest].sum + offset) += left;
}

static void resident_measure(struct resident *r, const struct smap *m, size_t first, int pagemap)
{
	size_t nr = r->nr_pieces - first, i;
	struct resident_piece *p = &r->pieces[first];
	uint64_t *present = xcalloc(2 * nr, sizeof(*present)), *swapped = present + nr;

	for (i = 0; i < nr && nr > 1 && (m->rss || m->swap) && (m->end - m->start) / PAGE < most_pages; i++)
		count_pages(pagemap, p[i].start, p[i].end, &present[i], &swapped[i]);
	share_out(m->rss, present, p, nr, offsetof(struct resident_sum, rss));
	share_out(m->swap, swapped, p, nr, offsetof(struct resident_sum, swap));
	free(present);
}

static void resident_cut(struct resident *r, const struct smaps *s, size_t at, const struct claims *c,
			 int pagemap)
{
	const struct smap *m = &s->items[at];
	enum resident_part own = part_of_mapping(s, at);
	size_t i = claims_from(c, m->start), first = r->nr_pieces;
	uint64_t addr = m->start;

	while (addr < m->end) {
		const struct claim *x = i < c->nr && c->items[i].start < m->end ? &c->items[i] : NULL;
		uint64_t end = x ? MAX(addr, x->start) : m->end;

		if (addr < end)
			add_piece(r, m, addr, end, own, "");
		if (x)
			add_piece(r, m, end, MIN(x->end, m->end), x->part, x->name);
		addr = x ? x->end : end;
		i++;
	}
	resident_measure(r, m, first, pagemap);
}

/* --- sums --- */

void resident_add(struct resident_sum *to, const struct resident_sum *s)
{
	to->rss += s->rss;
	to->swap += s->swap;
	to->usable += s->usable;
	to->mapped += s->mapped;
}

/*
 * Count the heap once. The Z garbage collector of JDK 17 maps it three times, and each page counts as often
 * as it was used. Pss divides a page by the number of its mappings; the offsets in the file say what is the
 * same.
 */
static void heap_once(struct resident *r, const struct smaps *s)
{
	struct resident_sum *once = &r->parts[RESIDENT_HEAP], *again = &r->parts[RESIDENT_HEAP_AGAIN];
	struct claims file = { 0 };
	uint64_t pss = 0, rss = 0, mapped = 0, distinct = 0;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		const struct smap *m = &s->items[i];

		if (!resident_begins(m->name, "/memfd:java_heap"))
			continue;
		pss += m->pss;
		rss += m->rss;
		mapped += m->end - m->start;
		if (m->offset < (uint64_t)1 << 60)
			claims_add(&file, m->offset, m->offset + (m->end - m->start), RESIDENT_HEAP, "");
	}
	for (i = 0; i < file.nr; i++)
		distinct += file.items[i].end - file.items[i].start;
	claims_release(&file);
	if (!mapped || distinct >= mapped)
		return;
	again->rss = MIN(once->rss, rss - MIN(rss, pss));
	again->usable = again->mapped = MIN(MIN(once->usable, once->mapped), mapped - distinct);
	once->rss -= again->rss;
	once->usable -= again->usable;
	once->mapped -= again->mapped;
}

static void resident_sum_up(struct resident *r)
{
	size_t i;

	for (i = 0; i < r->nr_pieces; i++) {
		resident_add(&r->parts[r->pieces[i].part], &r->pieces[i].sum);
		resident_add(&r->total, &r->pieces[i].sum);
	}
}

/* --- a process --- */

static int open_of(int pid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int read_smaps(int pid, struct buf *text, struct err *e)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	r = io_slurp(path, text);
	buf_str(text, "");
	if (r == -ENOENT || r == -ESRCH)
		return err_set(e, ESRCH, "no process %d", pid);
	if (r) {
		err_set(e, -r, "process %d may not be looked into: %s", pid, strerror(-r));
		if (r == -EACCES || r == -EPERM)
			err_hint(e, "it belongs to another user: run arcprof as that user, or as root");
		return r;
	}
	if (!text->len)
		return err_set(e, ENOENT, "process %d has no memory: it has ended, or is a thread of the kernel",
			       pid);
	return 0;
}

static void read_name(struct resident *r)
{
	struct buf b = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", r->pid);
	if (!io_slurp(path, &b) && b.len)
		snprintf(r->name, sizeof(r->name), "%.*s", (int)strcspn(b.data, "\n"), b.data);
	buf_release(&b);
}

/* Subtract free memory from the sum, as the chunks of malloc() do not keep to pages. */
static void set_free_apart(struct resident *r, const struct native_free *f)
{
	struct resident_sum *used = &r->parts[RESIDENT_MALLOC], *kept = &r->parts[RESIDENT_MALLOC_FREE];

	kept->rss = MIN(f->resident, used->rss);
	kept->usable = kept->mapped = MIN(f->bytes, MIN(used->usable, used->mapped));
	used->rss -= kept->rss;
	used->usable -= kept->usable;
	used->mapped -= kept->mapped;
	r->malloc_unknown = f->unknown;
}

static void claim_all(struct resident *r, const struct smaps *s, struct claims *c,
		      const struct places *places, int pagemap, struct native_free *f)
{
	const struct native_process p = { r->pid, pagemap };

	r->nr_threads = native_stacks(r->pid, s, c);
	native_zeroed_data(s, c);
	r->not_read = !native_malloc(&p, s, c, f);
	claim_beside_cards(s, c);
	if (places->regions.data)
		hotspot_regions(places->regions.data, c);
	if (places->map.data)
		hotspot_map(places->map.data, c);
}

int resident_read(struct resident *r, int pid, uint64_t patience_ns, struct err *e)
{
	struct places places = { BUF_INIT, BUF_INIT };
	struct buf text = BUF_INIT;
	struct claims c = { 0 };
	struct native_free f = { 0 };
	struct smaps s = { 0 };
	int pagemap, x;
	size_t i;

	*r = (struct resident){ .pid = pid };
	x = read_smaps(pid, &text, e);
	if (!x) {
		r->is_jvm = target_is_jvm(pid);
		if (r->is_jvm)
			ask_jvm(r, patience_ns, &c, &places);
		buf_reset(&text);
		x = read_smaps(pid, &text, e);	/* as near to the JVM's own account as can be */
	}
	if (!x) {
		read_name(r);
		smaps_parse(&s, text.data);
		pagemap = open_of(pid, "pagemap");
		claim_all(r, &s, &c, &places, pagemap, &f);
		if (r->is_jvm)
			buffers_read(pid, &s, r->jvm, &r->buffers);
		for (i = 0; i < s.nr; i++)
			resident_cut(r, &s, i, &c, pagemap);
		if (pagemap >= 0)
			close(pagemap);
		resident_sum_up(r);
		heap_once(r, &s);
		set_free_apart(r, &f);
	}
	smaps_release(&s);
	claims_release(&c);
	buf_release(&places.regions);
	buf_release(&places.map);
	buf_release(&text);
	return x;
}

void resident_release(struct resident *r)
{
	size_t i;

	for (i = 0; i < r->nr_pieces; i++)
		free(r->pieces[i].name);
	free(r->pieces);
	*r = (struct resident){ 0 };
}

/*
 * Return the stacks as the JVM counts them: what is resident, and its own guards; guards of one page are the
 * C library's.
 */
static uint64_t stacks_as_jvm(const struct resident *r)
{
	uint64_t sum = r->parts[RESIDENT_STACKS].rss;
	size_t i;

	for (i = 0; i < r->nr_pieces; i++) {
		const struct resident_piece *p = &r->pieces[i];

		if (p->part == RESIDENT_STACKS && !p->sum.usable && p->sum.mapped > PAGE)
			sum += p->sum.mapped;
	}
	return sum;
}

enum resident_part resident_part_of(const char *category, const struct resident *r, uint64_t *ours)
{
	static const struct {
		const char *category;
		enum resident_part part;
	} parts[] = {
		{ "Java Heap", RESIDENT_HEAP }, { "Class", RESIDENT_CLASS_SPACE },
		{ "Metaspace", RESIDENT_METASPACE }, { "Thread", RESIDENT_STACKS }, { "Code", RESIDENT_CODE },
		{ "GC", RESIDENT_GC }, { "Shared class space", RESIDENT_CDS },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strcmp(parts[i].category, category)) {
			*ours = parts[i].part == RESIDENT_STACKS ? stacks_as_jvm(r) :
								   r->parts[parts[i].part].usable;
			return parts[i].part;
		}
	return RESIDENT_NR_PARTS;
}
