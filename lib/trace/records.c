// SPDX-License-Identifier: GPL-2.0-or-later
/* records.c - gathers records for a chunk (records.h). */
#include <string.h>

#include "base/mem.h"
#include "trace/records.h"

size_t records_begin(struct records *p, uint16_t major, uint32_t minor, uint64_t time_ns)
{
	struct trf_record head = { 0, major, minor, time_ns };
	size_t at = p->b.len;

	buf_add(&p->b, &head, sizeof(head));
	return at;
}

void records_note(struct records *p, uint64_t time_ns)
{
	if (!p->nr++) {
		p->first_ns = p->last_ns = time_ns;
		return;
	}
	p->first_ns = MIN(p->first_ns, time_ns);
	p->last_ns = MAX(p->last_ns, time_ns);
}

bool records_end(struct records *p, size_t at, enum trf_type type)
{
	struct trf_record head;		/* records are aligned to 4 bytes only */
	size_t len;

	while (p->b.len & 3)
		buf_u8(&p->b, 0);
	len = p->b.len - at;
	if (len > TRF_MAX_RECORD) {
		p->b.len = at;
		return false;
	}
	if (len > 0xfffc) {
		size_t body = at + sizeof(head);
		uint32_t total = len + 4;

		buf_u32(&p->b, 0);
		memmove(p->b.data + body + 4, p->b.data + body, len - sizeof(head));
		memcpy(p->b.data + body, &total, 4);
		len = sizeof(head) + 4;
		type = TRF_EXTENDED;
	}
	memcpy(&head, p->b.data + at, sizeof(head));
	head.type_len = len | type;
	memcpy(p->b.data + at, &head, sizeof(head));
	records_note(p, head.time_ns);
	return true;
}

void records_str(struct records *p, const char *s, size_t len)
{
	buf_varint(&p->b, len);
	buf_add(&p->b, s, len);
}

void records_reset(struct records *p)
{
	buf_reset(&p->b);
	p->nr = 0;
}
