// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_heaptrack.c - a file of heaptrack, after heaptrack_interpret: every allocation and every free.
 *
 * Source: accumulatedtracedata.cpp and heaptrack_interpret.cpp of heaptrack. Lines begin with a letter,
 * numbers are hexadecimal. "s" is a string, "i" an address with its functions, "t" a place in a stack, an
 * address and its caller's place, "a" an allocation of that size there; these are numbered in their order.
 * "+" and "-" say that such an allocation was made and freed.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/nodes.h"
#include "formats/text.h"

enum { MAX_INLINED = 256 };

struct allocation {
	uint64_t size;
	uint32_t node;
	uint64_t nr, freed, nr_at_peak;
};

struct heaptrack {
	struct import *im;
	struct import_nodes nodes;
	struct import_text *strings;
	size_t nr_strings, alloc_strings;
	struct import_text *addresses;	/* fields of each line "i" */
	size_t nr_addresses, alloc_addresses;
	uint32_t *places;		/* of line "t": the node of the innermost function there */
	size_t nr_places, alloc_places;
	struct allocation *allocations;
	size_t nr_allocations, alloc_allocations;
	struct import_text command;
	uint64_t version, live, peak, peak_line, nr_lines;
	bool is_raw;			/* it has modules and addresses, not yet functions */
	size_t most_nodes;		/* an address may have many functions, but few do */
};

/* ---- lines ---- */

/* Cut off the next number; return false if there is none. */
static bool heaptrack_next_number(struct import_text *t, uint64_t *v)
{
	size_t i = 0;

	while (t->len && *t->s == ' ')
		*t = (struct import_text){ t->s + 1, t->len - 1 };
	for (*v = 0; i < t->len && isxdigit((unsigned char)t->s[i]); i++) {
		char c = t->s[i] | ' ';

		if (*v >> 60)
			return false;
		*v = *v << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*t = (struct import_text){ t->s + i, t->len - i };
	return i && (!t->len || *t->s == ' ');
}

static struct import_text string_no(const struct heaptrack *h, uint64_t i)
{
	return i && i <= h->nr_strings ? h->strings[i - 1] : (struct import_text){ "", 0 };
}

/* Add a string. Since version 3 its length precedes it. */
static void add_string(struct heaptrack *h, struct import_text t)
{
	struct import_text rest = t;
	uint64_t len;

	if (h->version >= 3 && heaptrack_next_number(&rest, &len) && rest.len >= 1 && len == rest.len - 1)
		t = (struct import_text){ rest.s + 1, rest.len - 1 };
	*VEC_ADD(h->strings, h->nr_strings, h->alloc_strings) = t;
}

/* ---- stacks ---- */

struct level {
	uint64_t function, file, line;	/* strings, and a number */
};

static uint32_t add_function(struct heaptrack *h, const struct level *l, uint64_t module, bool inlined,
			     uint32_t caller)
{
	struct import_function fn = { inlined ? FUNCTION_NATIVE_INLINED : FUNCTION_NATIVE,
				      .name = string_no(h, l->function), .module = string_no(h, module),
				      .file = string_no(h, l->file) };
	struct frame f;

	if (!fn.name.len) {
		fn.name = (struct import_text){ "[unknown]", 9 };
		fn.kind = FUNCTION_UNRESOLVED;
	} else if (frame_mark_is_text(fn.name.s, fn.name.len)) {
		fn.kind = FUNCTION_MARK;
	}
	f = (struct frame){ FRAME_NAMED, .function = import_function(h->im, &fn),
			    .line = l->line <= UINT32_MAX ? l->line : 0 };
	return import_nodes_add(&h->nodes, f, caller);
}

/* "i ADDRESS MODULE [FUNCTION FILE LINE]...": the first is inlined in those that follow. */
static uint32_t add_functions(struct heaptrack *h, struct import_text t, uint32_t caller)
{
	struct level levels[MAX_INLINED];
	uint64_t address, module = 0;
	size_t nr = 0, i;

	heaptrack_next_number(&t, &address);
	heaptrack_next_number(&t, &module);
	while (nr < MAX_INLINED && heaptrack_next_number(&t, &levels[nr].function)) {
		levels[nr].file = levels[nr].line = 0;
		if (heaptrack_next_number(&t, &levels[nr].file))
			heaptrack_next_number(&t, &levels[nr].line);
		nr++;
	}
	if (!nr)
		levels[nr++] = (struct level){ .function = 0 };
	for (i = nr; i-- > 0;)
		caller = add_function(h, &levels[i], module, i + 1 < nr, caller);
	return caller;
}

static bool add_place(struct heaptrack *h, struct import_text t)
{
	uint64_t address, caller;

	if (!heaptrack_next_number(&t, &address) || !heaptrack_next_number(&t, &caller) || !address ||
	    address > h->nr_addresses || caller > h->nr_places || h->nodes.nr_items > h->most_nodes)
		return false;
	VEC_GROW(h->places, h->nr_places, h->alloc_places);
	h->places[h->nr_places] = add_functions(h, h->addresses[address - 1],
						caller ? h->places[caller - 1] : 0);
	h->nr_places++;
	return true;
}

/* ---- allocations ---- */

static bool add_allocation(struct heaptrack *h, struct import_text t)
{
	uint64_t size, place;

	if (!heaptrack_next_number(&t, &size) || !heaptrack_next_number(&t, &place) || place > h->nr_places)
		return false;
	VEC_GROW(h->allocations, h->nr_allocations, h->alloc_allocations);
	h->allocations[h->nr_allocations++] =
		(struct allocation){ .size = size, .node = place ? h->places[place - 1] : 0 };
	return true;
}

static struct allocation *allocation(struct heaptrack *h, struct import_text t)
{
	uint64_t i;

	return heaptrack_next_number(&t, &i) && i < h->nr_allocations ? &h->allocations[i] : NULL;
}

static bool heaptrack_read_line(struct heaptrack *h, struct import_text t)
{
	struct import_text rest = { t.s + MIN(t.len, (size_t)2), t.len - MIN(t.len, (size_t)2) };
	struct allocation *a;
	uint64_t ignored;

	switch (t.len ? *t.s : '#') {
	case 'v':
		return heaptrack_next_number(&rest, &ignored) && heaptrack_next_number(&rest, &h->version);
	case 's':
		add_string(h, rest);
		return true;
	case 'i':
		*VEC_ADD(h->addresses, h->nr_addresses, h->alloc_addresses) = rest;
		return true;
	case 't':
		return add_place(h, rest);
	case 'a':
		return add_allocation(h, rest);
	case '+':
		if (!(a = allocation(h, rest)))
			return false;
		a->nr++;
		if (__builtin_add_overflow(h->live, a->size, &h->live))
			return false;
		if (h->live > h->peak) {
			h->peak = h->live;
			h->peak_line = h->nr_lines;
		}
		return true;
	case '-':
		if (!(a = allocation(h, rest)) || a->freed >= a->nr)
			return false;
		a->freed++;
		h->live -= a->size;
		return true;
	case 'X':
		h->command = rest;
		return true;
	case 'm':
		h->is_raw = true;
		return false;
	default:
		return true;		/* times, resident memory, comments */
	}
}

static int read_lines(struct heaptrack *h, const char *data, size_t len, struct err *e)
{
	const char *at = data, *end = data + len;

	while (at < end) {
		h->nr_lines++;
		if (heaptrack_read_line(h, import_line(&at, end)))
			continue;
		if (!h->is_raw)
			return err_set(e, EINVAL, "line %" PRIu64 " cannot be read", h->nr_lines);
		err_set(e, EOPNOTSUPP, "this is what heaptrack recorded, with addresses (--raw), which cannot be imported");
		err_hint(e, "'heaptrack_interpret <FILE' makes what can be imported");
		return -EOPNOTSUPP;
	}
	if (h->version < 1)
		return err_set(e, EINVAL, "of an unknown version of heaptrack");
	return 0;
}

/* Count what was alive when most was. */
static void count_peak(struct heaptrack *h, const char *data, size_t len)
{
	const char *at = data, *end = data + len;
	struct allocation *a;
	uint64_t nr;

	for (nr = 0; nr < h->peak_line && at < end; nr++) {
		struct import_text t = import_line(&at, end);

		if (t.len < 3 || (*t.s != '+' && *t.s != '-'))
			continue;
		a = allocation(h, (struct import_text){ t.s + 2, t.len - 2 });
		if (a)
			a->nr_at_peak += *t.s == '+' ? 1 : -1;
	}
}

/* ---- samples ---- */

static int write_metric(struct heaptrack *h, const char *name, int which, struct err *e)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU };
	size_t i;
	int r = 0;

	s.event = import_event(h->im, (struct import_text){ name, strlen(name) }, "bytes");
	for (i = 0; i < h->nr_allocations && !r; i++) {
		const struct allocation *a = &h->allocations[i];
		uint64_t nr = which == 0 ? a->nr : which == 1 ? a->nr_at_peak : a->nr - a->freed;

		if (!nr)
			continue;
		if (__builtin_mul_overflow(nr, a->size, &s.weight))
			s.weight = UINT64_MAX;	/* which import_sample() refuses */
		s.more = (int64_t)nr - 1;
		r = import_nodes_stack(&h->nodes, a->node, &s.stack, e);
		if (!r)
			import_sample(h->im, &s);
	}
	return r;
}

static int heaptrack_read(struct import *im, const char *data, size_t len, struct err *e)
{
	static const char *const names[] = { "alloc", "peak", "leaked" };
	struct heaptrack h = { .im = im, .command = { "", 0 }, .most_nodes = len + (1 << 16) };
	size_t i;
	int r;

	im->unknown = IMPORT_NO_PROCESSES | IMPORT_NO_THREADS | IMPORT_NO_TIMES | IMPORT_NO_LOST |
		      IMPORT_NO_MODES;
	import_nodes_init(&h.nodes, im, len);
	r = read_lines(&h, data, len, e);
	if (!r)
		count_peak(&h, data, len);
	for (i = 0; i < ARRAY_SIZE(names) && !r; i++)
		r = write_metric(&h, names[i], i, e);
	if (h.command.len)
		trace_write_label(im->w, "command", "%.*s", (int)MIN(h.command.len, (size_t)4096),
				  h.command.s);
	import_nodes_release(&h.nodes);
	free(h.strings);
	free(h.addresses);
	free(h.places);
	free(h.allocations);
	return r;
}

/* "v 10500 3", and the next line begins with a letter and a blank, too. */
static bool heaptrack_is(const char *data, size_t len)
{
	struct import_text t = { data, 0 };
	const char *newline = memchr(data, '\n', MIN(len, (size_t)64));
	uint64_t v;

	if (!newline || len < 3 || memcmp(data, "v ", 2) != 0)
		return false;
	t = import_chop((struct import_text){ data + 2, newline - data - 2 });
	if (!heaptrack_next_number(&t, &v) || !heaptrack_next_number(&t, &v) || t.len)
		return false;
	return len < (size_t)(newline - data) + 3 || newline[2] == ' ';
}

const struct import_format import_heaptrack = {
	.name = "heaptrack",
	.what = "a file of heaptrack",
	.is_lines = true,
	.is = heaptrack_is,
	.read = heaptrack_read,
};
