// SPDX-License-Identifier: GPL-2.0-or-later
/* jitdump.c - reads jit-PID.dump (jitdump.h). */
#include <string.h>

#include "sym/jitdump.h"

enum {
	MAGIC = 0x4a695444,	/* "JiTD" of the same byte order */
	HEADER_LEN = 40,
	HEADER_MAX = 4096,
	PREFIX_LEN = 16,
	FLAG_ARCH_TIMESTAMP = 1,
	NAME_MAX_BYTES = 4096,
};

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

static void jitdump_read_header(struct jitdump *d, struct span s, struct jitdump_record *r)
{
	uint32_t magic = span_u32(&s), len;

	span_u32(&s);		/* version: a later one says how long its header is */
	len = span_u32(&s);
	span_bytes(&s, 20);	/* machine, padding, pid, time */
	d->other_clock = span_u64(&s) & FLAG_ARCH_TIMESTAMP;
	if (s.bad || magic != MAGIC || len < HEADER_LEN || len > HEADER_MAX) {
		r->kind = JITDUMP_DAMAGED;
		return;
	}
	d->begun = true;
	r->kind = JITDUMP_OTHER;
	r->len = len;
}

/* Return a string that ends within s; its end is skipped. */
static const char *jitdump_text(struct span *s, size_t *len)
{
	const char *p = (const char *)s->p;

	*len = strnlen(p, span_left(s));
	span_bytes(s, *len + 1);
	return p;
}

static bool is_range(uint64_t addr, uint64_t size)
{
	return size && size <= UINT64_MAX - addr;
}

static void jitdump_read_code(struct span s, struct jitdump_record *r)
{
	span_bytes(&s, 16);	/* pid, tid, and where the code was for the compiler */
	r->addr = span_u64(&s);
	r->size = span_u64(&s);
	r->index = span_u64(&s);
	r->name = jitdump_text(&s, &r->name_len);
	if (r->name_len > NAME_MAX_BYTES)
		r->name_len = NAME_MAX_BYTES;
	if (!s.bad && r->name_len && is_range(r->addr, r->size))
		r->kind = JITDUMP_CODE;
}

static void read_move(struct span s, struct jitdump_record *r)
{
	span_bytes(&s, 16);
	r->old_addr = span_u64(&s);
	r->addr = span_u64(&s);
	r->size = span_u64(&s);
	r->index = span_u64(&s);
	if (!s.bad && is_range(r->addr, r->size))
		r->kind = JITDUMP_MOVED;
}

static void jitdump_read_lines(struct span s, struct jitdump_record *r)
{
	r->addr = span_u64(&s);
	r->nr_lines = span_u64(&s);
	r->lines = s;
	if (!s.bad)
		r->kind = JITDUMP_LINES;
}

static void read_unwind(struct span s, struct jitdump_record *r)
{
	uint64_t len = span_u64(&s), hdr_len = span_u64(&s);

	span_u64(&s);		/* how much of it the runtime has mapped itself */
	if (s.bad || len > span_left(&s) || hdr_len > len)
		return;
	r->unwind = span_init(s.p, len);
	r->hdr_len = hdr_len;
	r->kind = JITDUMP_UNWIND;
}

static void read_record(const struct jitdump *d, uint32_t id, struct span s, struct jitdump_record *r)
{
	r->kind = JITDUMP_OTHER;
	r->time_ns = d->other_clock ? 0 : span_u64(&s);
	if (d->other_clock)
		span_u64(&s);
	switch (id) {
	case CODE_LOAD:
		jitdump_read_code(s, r);
		break;
	case CODE_MOVE:
		read_move(s, r);
		break;
	case CODE_DEBUG_INFO:
		jitdump_read_lines(s, r);
		break;
	case CODE_UNWINDING_INFO:
		read_unwind(s, r);
		break;
	case CODE_CLOSE:
		r->kind = JITDUMP_END;
		break;
	}
}

void jitdump_next(struct jitdump *d, const void *bytes, size_t len, struct jitdump_record *r)
{
	struct span s = span_init(bytes, len);
	uint32_t id, size;

	*r = (struct jitdump_record){ .kind = JITDUMP_INCOMPLETE };
	if (len < (d->begun ? PREFIX_LEN : HEADER_LEN))
		return;
	if (!d->begun) {
		jitdump_read_header(d, s, r);
		if (r->len > len) {
			d->begun = false;
			*r = (struct jitdump_record){ .kind = JITDUMP_INCOMPLETE };
		}
		return;
	}
	id = span_u32(&s);
	size = span_u32(&s);
	if (size < PREFIX_LEN || size > JITDUMP_RECORD_MAX) {
		r->kind = JITDUMP_DAMAGED;
		return;
	}
	if (size > len)
		return;
	s.end = s.p + size - 8;
	read_record(d, id, s, r);
	r->len = size;
}

bool jitdump_line(struct span *lines, struct jitdump_line *l)
{
	static const char same[] = "\xff";	/* the file of the line before */
	const char *file;
	size_t len;

	l->addr = span_u64(lines);
	l->line = span_u32(lines);
	span_u32(lines);	/* which of several paths through the line it is */
	if (lines->bad)
		return false;
	file = jitdump_text(lines, &len);
	if (lines->bad)
		return false;
	if (len != sizeof(same) - 1 || memcmp(file, same, len)) {
		l->file = file;
		l->file_len = len < NAME_MAX_BYTES ? len : NAME_MAX_BYTES;
	}
	return true;
}

enum {
	LINE_LEN = 16,		/* of a line without its name */
	ALIGNMENT = 8,		/* V8 fills records up */
};

/* "JS:*fib /tmp/fib.js:1:13": where the name of the script ends; NULL: there is none. */
static const char *script_end(const char *name, const char *end)
{
	int nr;

	for (nr = 0; nr < 2; nr++) {
		while (end > name && end[-1] >= '0' && end[-1] <= '9')
			end--;
		if (end == name || *--end != ':')
			return NULL;
	}
	return end;
}

/*
 * Check for lines of a wrong name: each of nr lines of "each" bytes ends as a name does, but the first
 * one's name ends before, too.
 */
static bool is_rubbish(const struct span *lines, uint64_t nr, size_t each)
{
	uint64_t i;

	for (i = 0; i < nr; i++)
		if (lines->p[i * each + each - 1])
			return false;
	return memchr(lines->p + LINE_LEN, 0, each - LINE_LEN - 1);
}

/* The name of a function may contain spaces, and so may that of the script: their lengths decide. */
bool jitdump_lost_names(const struct jitdump_record *lines, const struct jitdump_record *c,
			struct jitdump_line *file)
{
	const char *p = c->name, *end = script_end(c->name, c->name + c->name_len);
	size_t left = span_left(&lines->lines), each;

	if (!end || !lines->nr_lines || lines->nr_lines > left)
		return false;
	for (; p < end && (p = memchr(p, ' ', end - p)); p++) {
		each = LINE_LEN + (end - p);
		if (lines->nr_lines * each > left || left - lines->nr_lines * each >= ALIGNMENT ||
		    !is_rubbish(&lines->lines, lines->nr_lines, each))
			continue;
		*file = (struct jitdump_line){ .file = p + 1, .file_len = end - p - 1 };
		return true;
	}
	return false;
}

bool jitdump_line_of(const struct jitdump_line *file, struct span *lines, struct jitdump_line *l)
{
	l->addr = span_u64(lines);
	l->line = span_u32(lines);
	span_u32(lines);
	span_bytes(lines, file->file_len + 1);
	l->file = file->file;
	l->file_len = file->file_len;
	return !lines->bad;
}
