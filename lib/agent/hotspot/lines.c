// SPDX-License-Identifier: MIT
/*
 * lines.c - reads HotSpot's compressed line tables (lines.h).
 *
 * A table lies behind a method's bytecodes. An entry is the differences of bytecode index and line to
 * the entry before: a byte with five and three bits, or 0xff and two integers of the stream's with the sign
 * in bit 0; a zero byte ends it.
 *
 * Source: share/oops/method.hpp (CompressedLineNumberReadStream).
 */
#include "agent/hotspot/lines.h"
#include "agent/hotspot/stream.h"
#include "agent/hotspot/vm.h"
#include "jvm/proto.h"

enum {
	ESCAPE = 0xff,
	MAX_PAIR = 10,
};

static bool fails;		/* lines_try() has found that a table is another */

struct lines lines_find(uintptr_t cm, uint32_t code_size, bool told)
{
	const struct vm_offsets *o = &vm.o;
	struct lines l = { .at = cm + vm.size.cm + code_size, .told = told };
	uint32_t words;
	uint16_t flags;
	uint64_t end;

	if (fails || o->cm_flags < 0 || o->cm_words < 0 || !vm.lines_flag ||
	    !sys_peek_all(&flags, cm + o->cm_flags, 2) || !(flags & vm.lines_flag) ||
	    !sys_peek_all(&words, cm + o->cm_words, 4))
		return l;
	end = words * 8ul;
	if (end > vm.size.cm + (uint64_t)code_size && end < 1 << 24)
		l.len = end - vm.size.cm - code_size;
	return l;
}

static uint32_t next_signed(struct stream *s)
{
	uint32_t v = stream_int(s);

	return v >> 1 ^ -(v & 1);
}

/* Returns false at the end of the table. */
static bool next_pair(struct stream *c, uint32_t *bci, uint32_t *line)
{
	uint32_t b = stream_byte(c);

	if (!b || c->bad)
		return false;
	if (b == ESCAPE) {
		*bci = next_signed(c);
		*line = next_signed(c);
	} else {
		*bci = b >> 3;
		*line = b & 7;
	}
	return !c->bad;
}

static char *put_zigzag(char *d, uint32_t diff)
{
	uint32_t v = diff << 1 ^ -(diff >> 31);

	for (; v >= 0x80; v >>= 7)
		*d++ = v | 0x80;
	*d++ = v;
	return d;
}

/*
 * Write at most room bytes, or only count them when d is NULL. A table that would be too long ends in an
 * entry that says that the rest has no line.
 */
static size_t encode_lines(const struct lines *l, char *d, size_t room)
{
	struct stream c = { .at = l->at, .left = l->len, .told = l->told };
	uint32_t bci, line, now = 0;
	char pair[MAX_PAIR];
	size_t nr = 0, len;
	bool full = false;

	while (!full && next_pair(&c, &bci, &line)) {
		full = nr > JVM_MAX_LINES - 2 * MAX_PAIR;
		len = put_zigzag(put_zigzag(pair, bci), full ? -now : line) - pair;
		if (nr + len > room)
			break;
		if (d)
			memcpy(d + nr, pair, len);
		nr += len;
		now += line;
	}
	return c.bad ? 0 : nr;
}

size_t lines_bytes(const struct lines *l)
{
	return l->len ? encode_lines(l, NULL, JVM_MAX_LINES) : 0;
}

void lines_put(char *d, const struct lines *l, size_t len)
{
	if (!len || encode_lines(l, d, len) == len)
		return;
	memset(d, 0, len);
	if (len & 1)
		d[0] = 0x80;	/* a zero of two bytes: pairs are whole */
}

bool lines_try(uintptr_t cm, const jvmtiLineNumberEntry *want, int nr)
{
	struct lines l = lines_find(cm, vm_u16(cm, vm.o.cm_code_size), false);
	struct stream c = { .at = l.at, .left = l.len, .told = l.told };
	uint32_t bci, line, at_bci = 0, at_line = 0;
	int i;

	for (i = 0; i < nr && next_pair(&c, &bci, &line); i++) {
		at_bci += bci;
		at_line += line;
		if (at_bci != (uint32_t)want[i].start_location || at_line != (uint32_t)want[i].line_number)
			break;
	}
	fails = i < nr;
	return !fails;
}
