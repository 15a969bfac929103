// SPDX-License-Identifier: GPL-2.0-or-later
/* dispatch.c - encodes and decodes dispatches and interrupts (dispatch.h). */
#include <string.h>

#include "base/mem.h"
#include "trace/dispatch.h"

/* A record stays below the length that fits in its head. */
enum { RECORD_BYTES = 60000 };

static uint64_t dispatch_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

void dispatches_add(struct dispatches *d, const struct rec_sched *r)
{
	struct buf *b = &d->r.b;

	if (d->nr_open && b->len - d->at > RECORD_BYTES)
		dispatches_close(d);
	if (!d->nr_open) {
		d->at = records_begin(&d->r, TRF_MAJOR_DISPATCH, TRF_DISPATCH_RUN, r->time_ns);
		buf_u32(b, 0);
		d->last_ns = r->time_ns;
	}
	buf_varint(b, dispatch_zigzag(r->time_ns - d->last_ns));
	buf_varint(b,
		   (uint64_t)r->cpu << TRF_DISPATCH_CPU_SHIFT | r->state << TRF_DISPATCH_STATE_SHIFT |
			   r->kind);
	buf_varint(b, r->thread);
	buf_varint(b, r->arg);
	d->last_ns = r->time_ns;
	d->nr_open++;
	d->nr++;
}

void dispatches_close(struct dispatches *d)
{
	if (!d->nr_open)
		return;
	memcpy(d->r.b.data + d->at + sizeof(struct trf_record), &d->nr_open, sizeof(d->nr_open));
	records_end(&d->r, d->at, TRF_MIXED);
	d->r.last_ns = MAX(d->r.last_ns, d->last_ns);
	d->nr_open = 0;
}

bool dispatch_decode(struct span *s, uint64_t time_ns, struct rec_sched *r)
{
	uint64_t dt = span_varint(s), what = span_varint(s), thread = span_varint(s), arg = span_varint(s);
	uint64_t cpu = what >> TRF_DISPATCH_CPU_SHIFT;

	if (s->bad || cpu > UINT16_MAX || thread > UINT32_MAX || arg > UINT32_MAX)
		return false;
	*r = (struct rec_sched){
		.time_ns = time_ns + (dt >> 1 ^ -(dt & 1)), .thread = thread, .arg = arg, .cpu = cpu,
		.kind = what & TRF_DISPATCH_KIND,
		.state = (what & TRF_DISPATCH_STATE) >> TRF_DISPATCH_STATE_SHIFT,
	};
	return true;
}
