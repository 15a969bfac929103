// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_gperftools.c - a heap profile of gperftools, as text; also Go's (?debug=1), which is the same:
 *
 *	heap profile:    1:   1024 [    3:   4096] @ heapprofile
 *	     1:     1024 [     3:     4096] @ 0x401234 0x401300
 *	MAPPED_LIBRARIES:
 *	00400000-00401000 r-xp 00000000 08:01 12 /usr/bin/program
 *
 * and jemalloc's, which has a stack and the same numbers of all threads and of each:
 *
 *	heap_v2/524288
 *	@ 0x401234 0x401300
 *	  t*: 1: 1024 [3: 4096]
 *	  t0: 1: 1024 [3: 4096]
 *
 * Source: src/heap-profile-table.cc of gperftools, src/prof_data.c of jemalloc, and profile/legacy_profile.go
 * of pprof. The numbers are objects and bytes in use, then allocated in all. A sampled profile
 * ("heap_v2/RATE") is scaled as pprof does.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/modules.h"
#include "formats/text.h"
#include "sym/maps.h"

enum { MAX_FRAMES = 4096 };

struct gperftools {
	struct import *im;
	struct import_modules modules;
	struct maps maps;
	double rate;			/* bytes between two samples; 0: none is left out */
	uint64_t nr_lines, nr_bad, bad_line;
	struct frame *stack;		/* [MAX_FRAMES], filled from its end */
	size_t nr_frames;		/* of the stack that was read last */
	bool has_modules, has_stack;
	uint64_t said[2], sum[2];	/* bytes in use and allocated: by the first line, and of the stacks */
};

static void gperftools_skip_blanks(struct import_text *t)
{
	while (t->len && (*t->s == ' ' || *t->s == '\t'))
		*t = (struct import_text){ t->s + 1, t->len - 1 };
}

/* Cuts off what must come next, after blanks. */
static bool take_token(struct import_text *t, const char *what)
{
	size_t len = strlen(what);

	gperftools_skip_blanks(t);
	if (t->len < len || memcmp(t->s, what, len) != 0)
		return false;
	*t = (struct import_text){ t->s + len, t->len - len };
	return true;
}

static bool take_digits(struct import_text *t, unsigned int base, uint64_t *v)
{
	size_t i = 0;

	gperftools_skip_blanks(t);
	for (*v = 0; i < t->len && i < 20 && isxdigit((unsigned char)t->s[i]); i++) {
		char c = t->s[i] | ' ';
		unsigned int digit = c <= '9' ? c - '0' : c - 'a' + 10;

		if (digit >= base)
			break;
		if (__builtin_mul_overflow(*v, (uint64_t)base, v) ||
		    __builtin_add_overflow(*v, (uint64_t)digit, v))
			return false;
	}
	*t = (struct import_text){ t->s + i, t->len - i };
	return i;
}

/* "1: 1024 [3: 4096]" */
static bool take_numbers(struct import_text *t, uint64_t v[4])
{
	return take_digits(t, 10, &v[0]) && take_token(t, ":") && take_digits(t, 10, &v[1]) && take_token(t, "[") &&
	       take_digits(t, 10, &v[2]) && take_token(t, ":") && take_digits(t, 10, &v[3]) && take_token(t, "]");
}

/* ---- the mappings, which come last ---- */

static void add_mapping(struct gperftools *g, struct import_text t)
{
	struct import_module like = { .path = NULL };
	uint64_t start, end, off, inode;
	char *text = xstrndup(t.s, MIN(t.len, (size_t)4096)), perms[5] = "";
	int at = 0;
	int nr = sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n", &start,
			&end, perms, &off, &inode, &at);
	bool brief = false;

	if (*perms == ':') {		/* "00400000-00401000: /usr/bin/program" */
		at = off = inode = 0;
		brief = sscanf(text, "%" SCNx64 "-%" SCNx64 ": %n", &start, &end, &at) == 2 && at;
	}
	if (((nr == 5 && perms[2] == 'x') || brief) && at && end > start && text[at] == '/') {
		uint32_t number;

		like.inode = inode;
		number = import_modules_get(&g->modules, g->im, &like,
					    (struct import_text){ t.s + at, t.len - at });
		maps_add(&g->maps, start, end, off, number);
		g->has_modules = true;
	}
	free(text);
}

/* Returns where the stacks end. */
static const char *read_mappings(struct gperftools *g, const char *data, size_t len)
{
	const char *end = data + len, *from = memmem(data, len, "\nMAPPED_LIBRARIES:", 18), *at;

	if (!from)
		from = memmem(data, len, "\n--- Memory map: ---", 20);	/* of older ones */
	if (!from)
		return end;
	for (at = from + 1; at < end;)
		add_mapping(g, import_line(&at, end));
	return from + 1;
}

/* ---- stacks ---- */

static struct frame gperftools_frame_of(struct gperftools *g, uint64_t address)
{
	struct import_function fn = { .kind = FUNCTION_UNRESOLVED };
	uint32_t module;
	uint64_t off;
	char text[32];

	address -= address > 0;		/* inside the call that it returns to */
	if (maps_module(&g->maps, address, &module, &off))
		return (struct frame){ FRAME_NATIVE, .module = module, .off = off };
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	fn.name = (struct import_text){ text, strlen(text) };
	return (struct frame){ FRAME_NAMED, .function = import_function(g->im, &fn) };
}

/* Scale what a sampled profile has: a sample stands for more the smaller it is. */
static void unsample(const struct gperftools *g, uint64_t *nr, uint64_t *bytes)
{
	double scale;

	if (!g->rate || !*nr || !*bytes)
		return;
	scale = 1 / (1 - exp(-((double)*bytes / (double)*nr) / g->rate));
	if (*bytes * scale < 0x1p62 && *nr * scale < 0x1p62) {
		*nr = *nr * scale;
		*bytes = *bytes * scale;
	}
}

static void gperftools_put_sample(struct gperftools *g, uint32_t event, uint64_t nr, uint64_t bytes)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .event = event };

	if (!nr && !bytes)
		return;
	unsample(g, &nr, &bytes);
	s.weight = bytes;
	s.more = (int64_t)MIN(nr, (uint64_t)1 << 62) - 1;
	s.stack = trace_write_stack(g->im->w, g->stack + MAX_FRAMES - g->nr_frames, g->nr_frames);
	import_sample(g->im, &s);
}

/* Read addresses, the innermost first. */
static void gperftools_read_stack(struct gperftools *g, struct import_text t)
{
	uint64_t address;

	g->nr_frames = 0;
	g->has_stack = true;
	while (take_token(&t, "0x") && take_digits(&t, 16, &address))
		if (g->nr_frames < MAX_FRAMES)
			g->stack[MAX_FRAMES - ++g->nr_frames] = gperftools_frame_of(g, address);
}

static void put_samples(struct gperftools *g, const uint64_t v[4])
{
	gperftools_put_sample(g, 0, v[0], v[1]);
	gperftools_put_sample(g, 1, v[2], v[3]);
	g->sum[0] += v[1];
	g->sum[1] += v[3];
}

/*
 * Read a line. Returns false if it belongs to neither gperftools nor jemalloc, where numbers before the first
 * stack are sums.
 */
static bool gperftools_read_line(struct gperftools *g, struct import_text t)
{
	uint64_t v[4];

	if (take_token(&t, "@")) {
		gperftools_read_stack(g, t);
		return true;
	}
	if (take_token(&t, "t*:")) {
		if (!take_numbers(&t, v))
			return false;
		if (g->has_stack)
			put_samples(g, v);
		return true;
	}
	if (take_token(&t, "t"))
		return take_digits(&t, 10, &v[0]) && take_token(&t, ":");
	if (!take_numbers(&t, v) || !take_token(&t, "@"))
		return false;
	gperftools_read_stack(g, t);
	put_samples(g, v);
	return true;
}

static void read_stacks(struct gperftools *g, const char *at, const char *end)
{
	while (at < end) {
		struct import_text t = import_line(&at, end);

		g->nr_lines++;
		if (g->nr_lines == 1 || !t.len || *t.s == '#')
			continue;
		if (!gperftools_read_line(g, t) && !g->nr_bad++)
			g->bad_line = g->nr_lines;
	}
}

/* "heapprofile" has every allocation, "heap_v2/RATE" and "heap/TWICE THE RATE" samples. */
static int read_first(struct gperftools *g, struct import_text t, struct err *e)
{
	uint64_t v[4] = { 0 }, rate = 0;

	if (!import_begins(t, "heap_v2/") &&
	    (!take_token(&t, "heap profile:") || !take_numbers(&t, v) || !take_token(&t, "@")))
		return err_set(e, EINVAL, "line 1 cannot be read");
	g->said[0] = v[1];
	g->said[1] = v[3];
	if (take_token(&t, "heapprofile"))
		return 0;
	if (take_token(&t, "heap_v2") || take_token(&t, "heapz_v2")) {
		if (take_token(&t, "/"))
			take_digits(&t, 10, &rate);
		g->rate = rate;
	} else if (take_token(&t, "heap/")) {
		take_digits(&t, 10, &rate);
		g->rate = rate / 2;
	}
	return 0;
}

/* Compare with what the first line says: of a file that is truncated the stacks add up to less. */
static void note_missing_stacks(struct gperftools *g)
{
	if (g->sum[0] < g->said[0] || g->sum[1] < g->said[1])
		import_note(g->im, "truncated, or not whole: its stacks add up to %" PRIu64 " of %" PRIu64 " bytes in use, and %" PRIu64 " of %" PRIu64 " allocated",
			    g->sum[0], g->said[0], g->sum[1], g->said[1]);
}

static int gperftools_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct gperftools g = { .im = im };
	const char *at = data, *end;
	int r = read_first(&g, import_line(&at, data + len), e);

	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_TIMES | IMPORT_NO_LOST |
		      IMPORT_NO_MODES;
	if (!r) {
		g.stack = xcalloc(MAX_FRAMES, sizeof(*g.stack));
		import_event(im, (struct import_text){ "inuse_space", 11 }, "bytes");
		import_event(im, (struct import_text){ "alloc_space", 11 }, "bytes");
		end = read_mappings(&g, data, len);
		read_stacks(&g, data, end);
		import_modules_names(&g.modules, im, false);
		note_missing_stacks(&g);
		if (g.nr_bad)
			import_note(im, "left out: %" PRIu64 " lines, which are no stacks; the first is line %" PRIu64,
				    g.nr_bad, g.bad_line);
		if (!g.has_modules)
			import_note(im, "the functions have no names: the file does not say which programs its addresses are in");
	}
	import_modules_release(&g.modules);
	maps_release(&g.maps);
	free(g.stack);
	return r;
}

static bool gperftools_is(const char *data, size_t len)
{
	return len > 13 && !memcmp(data, "heap profile:", 13);
}

static bool jemalloc_is(const char *data, size_t len)
{
	return len > 8 && !memcmp(data, "heap_v2/", 8);
}

const struct import_format import_jemalloc = {
	.name = "jemalloc heap",
	.what = "a heap profile of jemalloc",
	.is_lines = true,
	.is = jemalloc_is,
	.read = gperftools_read,
};

const struct import_format import_gperftools = {
	.name = "gperftools heap",
	.what = "a heap profile of gperftools",
	.is_lines = true,
	.is = gperftools_is,
	.read = gperftools_read,
};
