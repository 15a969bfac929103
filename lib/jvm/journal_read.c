// SPDX-License-Identifier: GPL-2.0-or-later
/* journal_read.c - reads journals (journal_read.h). */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "jvm/journal_read.h"

/* Ten years: a clock that says more was never set. */
#define LONGEST_NS (10ull * 365 * 86400 * 1000000000)

bool journal_is(const void *data, size_t len)
{
	uint64_t magic;

	if (len < sizeof(magic))
		return false;
	memcpy(&magic, data, sizeof(magic));
	return magic == JOURNAL_MAGIC;
}

static void end_text(char *s, size_t size)
{
	s[size - 1] = '\0';
}

static int check_version(const struct journal_header *h, struct err *e)
{
	if (h->version == JOURNAL_VERSION && h->proto == JVM_PROTO_VERSION)
		return 0;
	err_set(e, EPROTO, "the journal is of another version of arcprof's agent (%u.%u, not %u.%u)",
		h->version, h->proto, JOURNAL_VERSION, JVM_PROTO_VERSION);
	err_hint(e, "read it with the arcprof whose 'agent install' wrote that agent");
	return -EPROTO;
}

/* Numbers that others reckon with. */
static bool is_possible(const struct journal_header *h)
{
	return h->pid && h->pid <= INT32_MAX && h->nr_cpus && h->nr_cpus <= 1 << 20 && h->start_ns &&
	       h->start_ns <= LONGEST_NS && (!h->end_ns || h->end_ns >= h->start_ns) &&
	       h->end_ns <= LONGEST_NS && h->timer_ns <= 1000000000000 && h->code_lo <= h->code_hi;
}

int journal_open(struct journal *j, const void *data, size_t len, struct err *e)
{
	int r;

	*j = (struct journal){ .data = data, .len = len };
	if (!journal_is(data, len))
		return err_set(e, EINVAL, "not a journal");
	if (len < JOURNAL_HEADER_BYTES)
		return err_set(e, EINVAL, "the journal is truncated: nothing in it is whole");
	memcpy(&j->h, data, sizeof(j->h));
	r = check_version(&j->h, e);
	if (r)
		return r;
	if (!is_possible(&j->h))
		return err_set(e, EINVAL, "the journal is damaged: its beginning contradicts itself");
	end_text(j->h.name, sizeof(j->h.name));
	end_text(j->h.host, sizeof(j->h.host));
	end_text(j->h.release, sizeof(j->h.release));
	end_text(j->h.machine, sizeof(j->h.machine));
	end_text(j->h.command, sizeof(j->h.command));
	j->at = JOURNAL_HEADER_BYTES;
	j->time_ns = j->h.start_ns;
	j->truncated = !j->h.end_ns;
	j->unpack = unpack_new();
	return 0;
}

void journal_release(struct journal *j)
{
	unpack_free(j->unpack);
	j->unpack = NULL;
}

static bool journal_kind_is_known(uint32_t kind)
{
	return kind == JOURNAL_RECORDS || kind == JOURNAL_VM_LOG || kind == JOURNAL_MAPS ||
	       kind == JOURNAL_THREADS || kind == JOURNAL_ITEMS;
}

/* Unpack the data of a chunk. */
static bool unpack_part(struct unpack *u, const struct journal_chunk *c, struct journal_part *p)
{
	const uint32_t flags = c->kind & (JOURNAL_LZ | JOURNAL_FRESH);
	struct unpacked out = { p->data, p->len };

	p->kind = c->kind & ~flags;
	if (flags & JOURNAL_FRESH)
		unpack_forget(u);
	if (!(flags & JOURNAL_LZ))
		unpack_keep(u, p->data, p->len);
	else if (!unpack_lz(u, p->data, p->len, &out))
		return false;
	if (p->kind == JOURNAL_ITEMS) {
		p->kind = JOURNAL_RECORDS;
		if (!unpack_items(u, out.data, out.len, c->len, &out))
			return false;
	}
	p->data = out.data;
	p->len = out.len;
	return true;
}

/* Clamp the time to between the last chunk's and the end. */
static uint64_t time_within(const struct journal *j, uint64_t time_ns)
{
	const uint64_t end_ns = j->h.end_ns ? j->h.end_ns : LONGEST_NS;

	return MAX(j->time_ns, MIN(time_ns, end_ns));
}

int journal_next(struct journal *j, struct journal_part *p, struct err *e)
{
	struct journal_chunk c;
	size_t left, at;

	for (;;) {
		at = j->at;
		left = j->len - at;
		if (left < sizeof(c)) {
			j->truncated |= left > 0;
			return 0;
		}
		memcpy(&c, j->data + at, sizeof(c));
		if (c.len <= sizeof(c) || c.len > JOURNAL_MAX_CHUNK)
			return err_set(e, EILSEQ, "the journal is damaged at byte %zu", at);
		if (c.len > left) {
			j->truncated = true;
			return 0;
		}
		*p = (struct journal_part){ 0, j->data + at + sizeof(c), c.len - sizeof(c) };
		j->at = MIN(at + ((c.len + 7) & ~(size_t)7), j->len);
		if (!unpack_part(j->unpack, &c, p))
			return err_set(e, EILSEQ, "the journal is damaged at byte %zu", at);
		if (!journal_kind_is_known(p->kind))
			continue;
		j->time_ns = time_within(j, c.time_ns);
		return 1;
	}
}
