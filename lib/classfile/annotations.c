// SPDX-License-Identifier: MIT
/*
 * annotations.c - the one annotation that matters here (JVMS 4.7.16): that HotSpot may replace calls of
 * the method by instructions of its own.
 */
#include "classfile/annotations.h"

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
