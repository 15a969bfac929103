// SPDX-License-Identifier: MIT
/*
 * class.c - the constant pool (JVMS 4.4).
 */
#include "classfile/class.h"

size_t text_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

bool text_is(struct classfile_text t, const char *s)
{
	size_t n = text_len(s);

	return t.len == n && !memcmp(t.p, s, n);
}

/* Return the bytes after the tag; of a Utf8, those before its text. 0: unknown. */
static uint32_t constant_len(uint32_t tag)
{
	switch (tag) {
	case CONSTANT_UTF8:
	case CONSTANT_CLASS:
	case CONSTANT_STRING:
	case CONSTANT_METHOD_TYPE:
	case CONSTANT_MODULE:
	case CONSTANT_PACKAGE:
		return 2;
	case CONSTANT_METHOD_HANDLE:
		return 3;
	case CONSTANT_INTEGER:
	case CONSTANT_FLOAT:
	case CONSTANT_FIELDREF:
	case CONSTANT_METHODREF:
	case CONSTANT_INTERFACE_METHODREF:
	case CONSTANT_NAME_AND_TYPE:
	case CONSTANT_DYNAMIC:
	case CONSTANT_INVOKE_DYNAMIC:
		return 4;
	case CONSTANT_LONG:
	case CONSTANT_DOUBLE:
		return 8;
	}
	return 0;
}

/* Reads over one constant; *tag is its kind, *nr how many indices it takes. */
static enum classfile_reason skip_constant(struct reader *r, uint32_t *tag, uint32_t *nr)
{
	uint32_t len;

	*tag = read8(r);
	*nr = *tag == CONSTANT_LONG || *tag == CONSTANT_DOUBLE ? 2 : 1;
	len = constant_len(*tag);
	if (!r->bad && !len)
		return CLASSFILE_UNKNOWN_CONSTANT;
	read_bytes(r, *tag == CONSTANT_UTF8 ? read16(r) : len);
	return r->bad ? CLASSFILE_MALFORMED : CLASSFILE_OK;
}

enum classfile_reason pool_read(struct pool *p, struct reader *r, const struct memory *mem)
{
	enum classfile_reason reason;
	uint32_t i, tag, nr;

	p->nr = p->nr_old = read16(r);
	p->added = writer_init(mem);
	if (r->bad || !p->nr || p->nr > (size_t)(r->end - r->p))
		return CLASSFILE_MALFORMED;
	p->at = memory_zeroed(mem, p->nr * sizeof(p->at[0]));
	if (!p->at)
		return CLASSFILE_NO_MEMORY;
	for (i = 1; i < p->nr; i += nr) {
		p->at[i] = r->p;
		reason = skip_constant(r, &tag, &nr);
		if (reason)
			return reason;
	}
	return CLASSFILE_OK;
}

bool pool_seek(struct reader pool, uint32_t idx, struct reader *at)
{
	uint32_t i, tag, nr, end = read16(&pool);

	for (i = 1; i < end; i += nr) {
		*at = pool;
		if (i == idx)
			return true;
		if (skip_constant(&pool, &tag, &nr))
			return false;
	}
	*at = pool;
	return idx == UINT32_MAX && !pool.bad;
}

static const uint8_t *class_constant(const struct pool *p, uint32_t idx)
{
	return idx < p->nr_old ? p->at[idx] : NULL;
}

uint32_t pool_tag(const struct pool *p, uint32_t idx)
{
	const uint8_t *at = class_constant(p, idx);

	return at ? *at : 0;
}

struct classfile_text pool_utf8(const struct pool *p, uint32_t idx)
{
	const uint8_t *at = class_constant(p, idx);

	if (!at || *at != CONSTANT_UTF8)
		return (struct classfile_text){ "", 0 };
	return (struct classfile_text){ (const char *)at + 3, be16(at + 1) };
}

struct classfile_text pool_class_name(const struct pool *p, uint32_t idx)
{
	const uint8_t *at = class_constant(p, idx);

	if (!at || (*at != CONSTANT_CLASS && *at != CONSTANT_MODULE && *at != CONSTANT_PACKAGE))
		return (struct classfile_text){ "", 0 };
	return pool_utf8(p, be16(at + 1));
}

static bool has_name_and_type(uint32_t tag)
{
	return (tag >= CONSTANT_FIELDREF && tag <= CONSTANT_INTERFACE_METHODREF) || tag == CONSTANT_DYNAMIC ||
	       tag == CONSTANT_INVOKE_DYNAMIC;
}

/* Return a part of a NameAndType; which: 1 the name, 3 the type. */
static struct classfile_text name_or_type(const struct pool *p, uint32_t idx, int which)
{
	const uint8_t *at = class_constant(p, idx);

	at = at && has_name_and_type(*at) ? class_constant(p, be16(at + 3)) : NULL;
	if (!at || *at != CONSTANT_NAME_AND_TYPE)
		return (struct classfile_text){ "", 0 };
	return pool_utf8(p, be16(at + which));
}

struct classfile_text pool_ref_name(const struct pool *p, uint32_t idx)
{
	return name_or_type(p, idx, 1);
}

struct classfile_text pool_ref_type(const struct pool *p, uint32_t idx)
{
	return name_or_type(p, idx, 3);
}

uint32_t pool_ref_class(const struct pool *p, uint32_t idx)
{
	const uint8_t *at = class_constant(p, idx);

	return at && *at >= CONSTANT_FIELDREF && *at <= CONSTANT_INTERFACE_METHODREF ? be16(at + 1) : 0;
}

/* Return the next index, or 0: constant_pool_count has 16 bits, and is one more than the last index. */
static uint32_t next_idx(struct pool *p)
{
	return p->nr < 65535 ? p->nr++ : 0;
}

uint32_t pool_add_utf8(struct pool *p, const char *s, size_t len)
{
	uint32_t idx = len <= 65535 ? next_idx(p) : 0;

	if (idx) {
		write8(&p->added, CONSTANT_UTF8);
		write16(&p->added, len);
		write_bytes(&p->added, s, len);
	}
	return idx;
}

uint32_t pool_add_class(struct pool *p, const char *name, size_t len)
{
	uint32_t utf8 = pool_add_utf8(p, name, len), idx = utf8 ? next_idx(p) : 0;

	if (idx) {
		write8(&p->added, CONSTANT_CLASS);
		write16(&p->added, utf8);
	}
	return idx;
}

uint32_t pool_add_integer(struct pool *p, int32_t v)
{
	uint32_t idx = next_idx(p);

	if (idx) {
		write8(&p->added, CONSTANT_INTEGER);
		write32(&p->added, v);
	}
	return idx;
}

uint32_t pool_add_pair(struct pool *p, uint32_t tag, uint32_t a, uint32_t b)
{
	uint32_t idx = a && b ? next_idx(p) : 0;

	if (idx) {
		write8(&p->added, tag);
		write16(&p->added, a);
		write16(&p->added, b);
	}
	return idx;
}

/*
 * The one annotation that matters here (JVMS 4.7.16): that HotSpot may replace calls of
 * the method by instructions of its own.
 */

/* The elements of one annotation; false: one is not a constant, and the rest is not looked at. */
static bool skip_elements(struct reader *r)
{
	uint32_t nr = read16(r);

	while (nr-- && !r->bad) {
		read16(r);		/* its name */
		switch (read8(r)) {
		case 'e':
			read32(r);
			break;
		case '[':
		case '@':
			return false;
		default:
			read16(r);
		}
	}
	return !r->bad;
}

bool annotations_have_intrinsic(const struct pool *p, struct reader attr)
{
	uint32_t nr = read16(&attr);

	while (nr-- && !attr.bad) {
		struct classfile_text type = pool_utf8(p, read16(&attr));

		if (text_is(type, "Ljdk/internal/vm/annotation/IntrinsicCandidate;") ||
		    text_is(type, "Ljdk/internal/HotSpotIntrinsicCandidate;"))
			return true;
		if (!skip_elements(&attr))
			return false;
	}
	return false;
}
