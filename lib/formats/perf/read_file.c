// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_file.c - the parts of a perf.data file, as it is on disk or as "perf record -o -" writes it to a pipe,
 * with records that "perf record -z" compressed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"
#include "formats/perf/read.h"

#define MAGIC "PERFILE2"

enum {
	FILE_HEADER_BYTES = 104,
	PIPE_HEADER_BYTES = 16,
	ATTR_MIN_BYTES = 64,		/* PERF_ATTR_SIZE_VER0 */
	NR_FEATURES = 256,
	ID_BYTES = 20,
	UNPACK_BYTES = 1 << 17,
};

enum feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC,
	FEATURE_CLOCK_DATA = 29,
};

/* ---- events ---- */

static bool read_attr(struct span s, struct perf_event *ev)
{
	enum { FREQ = 1 << 10, SAMPLE_ID_ALL = 1 << 18 };
	uint64_t flags;

	*ev = (struct perf_event){ .type = span_u32(&s) };
	span_u32(&s);				/* size */
	ev->config = span_u64(&s);
	ev->period = span_u64(&s);
	ev->format.sample_type = span_u64(&s);
	ev->format.read_format = span_u64(&s);
	flags = span_u64(&s);
	ev->freq = flags & FREQ;
	ev->id_all = flags & SAMPLE_ID_ALL;
	if (s.bad)
		return false;
	span_bytes(&s, 72 - 48);
	ev->format.branch_type = span_u64(&s);
	ev->format.regs_user = span_u64(&s);		/* 0 where an older perf's ends before it */
	return true;
}

static bool perf_add_event(struct perf_file *f, struct span attr, struct span ids)
{
	VEC_GROW(f->events, f->nr_events, f->alloc_events);
	if (!read_attr(attr, &f->events[f->nr_events]))
		return false;
	while (span_left(&ids) >= 8)
		*map_put(&f->event_of, span_u64(&ids)) = f->nr_events;
	f->nr_events++;
	return true;
}

/* Return bytes [off, off + len) of the file; bad: they are missing. */
static struct span part(const struct perf_file *f, uint64_t off, uint64_t len)
{
	struct span s = span_init(f->data, 0);

	if (off > f->len || len > f->len - off)
		s.bad = true;
	else
		s = span_init(f->data + off, len);
	return s;
}

static int read_attrs(struct perf_file *f, struct span s, uint64_t size, struct err *e)
{
	while (!s.bad && size >= ATTR_MIN_BYTES + 16 && span_left(&s) >= size) {
		struct span attr = span_init(span_bytes(&s, size - 16), size - 16);
		uint64_t off = span_u64(&s), len = span_u64(&s);

		if (!perf_add_event(f, attr, part(f, off, len)))
			s.bad = true;
	}
	return s.bad || !f->nr_events ? err_set(e, EINVAL, "damaged: its events cannot be read") : 0;
}

/* Name the event of these ids, as "perf record" was given it. */
static void name_event(struct perf_file *f, struct span ids, struct import_text name)
{
	uint32_t at;

	for (; span_left(&ids) >= 8 && name.len;) {
		at = map_get(&f->event_of, span_u64(&ids));
		if (at != MAP_NONE)
			f->events[at].name = name;
	}
}

/* ---- what else is known of the recording ---- */

/* Read a length and as many bytes; a NUL ends the text. */
static struct import_text read_string(struct span *s)
{
	uint32_t len = span_u32(s);
	const char *p = span_bytes(s, len);

	return p ? (struct import_text){ p, strnlen(p, len) } : (struct import_text){ "", 0 };
}

static void read_event_desc(struct perf_file *f, struct span s)
{
	uint32_t nr = span_u32(&s), size = span_u32(&s), nr_ids;
	struct import_text name;
	const void *ids;
	size_t i;

	for (; nr && !s.bad; nr--) {
		span_bytes(&s, size);
		nr_ids = span_u32(&s);
		name = read_string(&s);
		ids = span_bytes(&s, (size_t)nr_ids * 8);
		if (!ids)
			return;
		name_event(f, span_init(ids, (size_t)nr_ids * 8), name);
		for (i = 0; !nr_ids && i < f->nr_events && name.len; i++)	/* the only one has no ids */
			if (f->nr_events == 1)
				f->events[i].name = name;
	}
}

static void read_command(struct perf_file *f, struct span s)
{
	uint32_t nr = span_u32(&s);

	buf_reset(&f->command);
	for (; nr && !s.bad; nr--) {
		struct import_text word = read_string(&s);

		if (!s.bad)
			buf_fmt(&f->command, "%s%.*s", f->command.len ? " " : "",
				(int)MIN(word.len, (size_t)4096), word.s);
	}
}

/* Read pid, id and path; s is what follows the record's header. */
static void read_build_id(struct perf_file *f, const struct perf_event_header *h, struct span s)
{
	struct perf_build_id b = { .len = ID_BYTES };

	span_u32(&s);
	b.id = span_bytes(&s, 24);
	if (!b.id)
		return;
	if (h->misc & PERF_MISC_BUILD_ID_SIZE)
		b.len = MIN(b.id[ID_BYTES], (uint8_t)ID_BYTES);
	b.path = (struct import_text){ (const char *)s.p, strnlen((const char *)s.p, span_left(&s)) };
	*VEC_ADD(f->build_ids, f->nr_build_ids, f->alloc_build_ids) = b;
}

static void read_build_ids(struct perf_file *f, struct span s)
{
	struct perf_event_header h;

	while (span_left(&s) >= sizeof(h)) {
		const void *p;

		memcpy(&h, span_bytes(&s, sizeof(h)), sizeof(h));
		p = h.size >= sizeof(h) ? span_bytes(&s, h.size - sizeof(h)) : NULL;
		if (!p)
			return;
		read_build_id(f, &h, span_init(p, h.size - sizeof(h)));
	}
}

static void read_feature(struct perf_file *f, unsigned int feature, struct span s)
{
	switch (feature) {
	case FEATURE_BUILD_ID:
		read_build_ids(f, s);
		break;
	case FEATURE_HOSTNAME:
		f->host = read_string(&s);
		break;
	case FEATURE_OSRELEASE:
		f->release = read_string(&s);
		break;
	case FEATURE_ARCH:
		f->arch = read_string(&s);
		break;
	case FEATURE_NRCPUS:
		f->nr_cpus = span_u32(&s);
		break;
	case FEATURE_CMDLINE:
		read_command(f, s);
		break;
	case FEATURE_EVENT_DESC:
		read_event_desc(f, s);
		break;
	case FEATURE_CLOCK_DATA:
		span_u64(&s);			/* version, clock */
		f->wall_ns = span_u64(&s);
		f->wall_at_ns = span_u64(&s);
		break;
	}
}

static void read_features(struct perf_file *f, const uint64_t *bits, uint64_t off)
{
	struct span s = part(f, off, off <= f->len ? f->len - off : 0);
	unsigned int i;

	for (i = 0; i < NR_FEATURES && !s.bad; i++) {
		struct span body;

		if (!(bits[i / 64] >> i % 64 & 1))
			continue;
		off = span_u64(&s);
		body = part(f, off, span_u64(&s));
		if (!s.bad && !body.bad)
			read_feature(f, i, body);
	}
}

/* ---- records ---- */

/* Read a record that a pipe has in place of a file's header; return whether it was one. */
static bool read_header_record(struct perf_file *f, const struct perf_event_header *h, struct span s)
{
	uint32_t size;

	switch (h->type) {
	case PERF_HEADER_ATTR:
		size = span_left(&s) >= 8 ? s.p[4] | s.p[5] << 8 : 0;
		if (f->pipe && size >= ATTR_MIN_BYTES && size <= span_left(&s))
			perf_add_event(f, span_init(s.p, size), span_init(s.p + size, span_left(&s) - size));
		return true;
	case PERF_HEADER_BUILD_ID:
		read_build_id(f, h, s);
		return true;
	case PERF_HEADER_FEATURE:
		size = span_u64(&s);
		if (!s.bad)
			read_feature(f, size, s);
		return true;
	default:
		return h->type >= PERF_HEADER_ATTR;
	}
}

struct perf_event *perf_event_of(const struct perf_file *f, const struct perf_event_header *h,
				 const struct span *s)
{
	struct perf_event *first = f->nr_events ? &f->events[0] : NULL;
	uint64_t type = first ? first->format.sample_type : 0, id;
	size_t off = 0;
	uint32_t at;

	if (f->nr_events < 2 || !(type & (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)))
		return first;
	if (h->type != PERF_RECORD_SAMPLE)	/* they have the same of the fields that matter */
		return first;
	if (!(type & PERF_SAMPLE_IDENTIFIER))
		off = 8 * !!(type & PERF_SAMPLE_IP) + 8 * !!(type & PERF_SAMPLE_TID) +
		      8 * !!(type & PERF_SAMPLE_TIME) + 8 * !!(type & PERF_SAMPLE_ADDR);
	if (span_left(s) < off + 8)
		return NULL;
	memcpy(&id, s->p + off, sizeof(id));
	at = map_get(&f->event_of, id);
	return at == MAP_NONE ? NULL : &f->events[at];
}

/* Return when a record was made; *known: it says so. The fields are at the end of all records but samples. */
static uint64_t time_of(const struct perf_event *ev, const struct perf_event_header *h, const struct span *s,
			bool *known)
{
	uint64_t type = ev->format.sample_type, time_ns = 0;
	size_t off;

	*known = false;
	if (!(type & PERF_SAMPLE_TIME) || (h->type != PERF_RECORD_SAMPLE && !ev->id_all))
		return 0;
	if (h->type == PERF_RECORD_SAMPLE) {
		off = 8 * !!(type & PERF_SAMPLE_IDENTIFIER) + 8 * !!(type & PERF_SAMPLE_IP) +
		      8 * !!(type & PERF_SAMPLE_TID);
		if (span_left(s) < off + 8)
			return 0;
	} else {
		off = 8 + 8 * !!(type & PERF_SAMPLE_ID) + 8 * !!(type & PERF_SAMPLE_STREAM_ID) +
		      8 * !!(type & PERF_SAMPLE_CPU) + 8 * !!(type & PERF_SAMPLE_IDENTIFIER);
		if (span_left(s) < off)
			return 0;
		off = span_left(s) - off;
	}
	memcpy(&time_ns, s->p + off, sizeof(time_ns));
	*known = true;
	return time_ns;
}

static void add_record(struct perf_file *f, const struct perf_event_header *h, struct span s, uint64_t off,
		       uint64_t *latest)
{
	struct perf_event *ev = perf_event_of(f, h, &s);
	uint64_t time_ns = *latest;
	bool known = false;

	if (ev)
		time_ns = time_of(ev, h, &s, &known);
	if (ev && h->type == PERF_RECORD_SAMPLE)
		ev->nr_samples++;
	if (known)
		*latest = MAX(*latest, time_ns);
	else
		time_ns = *latest;
	*VEC_ADD(f->records, f->nr_records, f->alloc_records) = (struct perf_record){ time_ns, off };
}

/* Return how many bytes after a record belong to it. */
static uint64_t trailing(const struct perf_file *f, const struct perf_event_header *h, struct span s)
{
	if (h->type == PERF_AUXTRACE)
		return span_u64(&s);
	if (h->type == PERF_TRACING_DATA && f->pipe)
		return ((uint64_t)span_u32(&s) + 7) & ~7ull;
	return 0;
}

/*
 * Compressed records are one stream of zstd, which continues from record to record and is flushed at the end
 * of each. It contains records, which may continue in the next one, too.
 */
struct unpacker {
#ifdef HAVE_ZSTD
	ZSTD_DStream *z;
#endif
	struct buf *plain;
	size_t limit;
};

static int unpack_record(struct unpacker *u, const struct perf_event_header *h, struct span s, struct err *e)
{
#ifdef HAVE_ZSTD
	uint64_t len = h->type == PERF_COMPRESSED2 ? span_u64(&s) : span_left(&s);
	ZSTD_inBuffer in = { span_bytes(&s, len), len, 0 };
	size_t r;

	if (!in.src)
		return err_set(e, EINVAL, "damaged: a compressed record is shorter than it says");
	if (!u->z && !(u->z = ZSTD_createDStream()))
		return err_set(e, ENOMEM, "no memory to decompress");
	if (len >= 4 && !memcmp(in.src, "\x28\xb5\x2f\xfd", 4))	/* each file of a folder has its own */
		ZSTD_DCtx_reset(u->z, ZSTD_reset_session_only);
	for (;;) {
		ZSTD_outBuffer out = { buf_room(u->plain, UNPACK_BYTES), UNPACK_BYTES, 0 };

		r = ZSTD_decompressStream(u->z, &out, &in);
		u->plain->len += out.pos;
		if (ZSTD_isError(r))
			return err_set(e, EINVAL, "damaged: a compressed record: %s", ZSTD_getErrorName(r));
		if (u->plain->len > u->limit)
			return err_set(e, EFBIG, "its compressed records have more than %zu MiB",
				       u->limit >> 20);
		if (in.pos == in.size && out.pos < out.size)
			return 0;
	}
#else
	err_set(e, EOPNOTSUPP, "its records are compressed (perf record -z), which this arcprof was built without");
	err_hint(e, "'perf script -i <file> >text' makes text of it, which can be imported");
	return -EOPNOTSUPP;
#endif
}

/* Read records; inner: they were compressed. */
static int read_some(struct perf_file *f, struct span s, struct unpacker *u, bool inner, struct err *e)
{
	const uint8_t *start = inner ? (const uint8_t *)f->plain.data : f->data;
	struct perf_event_header h;
	uint64_t latest = 0, more;
	int r;

	while (span_left(&s) >= sizeof(h)) {
		uint64_t off = s.p - start + (inner ? f->len : 0);
		struct span body;

		memcpy(&h, s.p, sizeof(h));
		if (h.size < sizeof(h))
			return err_set(e, EINVAL, "damaged: a record of %u bytes at offset %llu", h.size,
				       (unsigned long long)off);
		if (h.size > span_left(&s)) {
			f->truncated = true;
			break;
		}
		body = span_init(s.p + sizeof(h), h.size - sizeof(h));
		if (h.type == PERF_COMPRESSED || h.type == PERF_COMPRESSED2) {
			if (inner)
				return err_set(e, EINVAL, "damaged: a compressed record in another one");
			if ((r = unpack_record(u, &h, body, e)))
				return r;
			span_bytes(&s, h.size);
			continue;
		}
		more = trailing(f, &h, body);
		if (!read_header_record(f, &h, body))
			add_record(f, &h, body, off, &latest);
		span_bytes(&s, h.size);
		if (more > span_left(&s)) {
			f->truncated = true;
			break;
		}
		span_bytes(&s, more);
	}
	return 0;
}

static int read_records(struct perf_file *f, struct span s, struct err *e)
{
	/* as much as for a file that is compressed as a whole */
	size_t most = MIN(f->len * 100, (size_t)1 << 30);
	struct unpacker u = { .plain = &f->plain, .limit = MAX(MAX(f->len * 16, most), (size_t)64 << 20) };
	int r = read_some(f, s, &u, false, e);

#ifdef HAVE_ZSTD
	ZSTD_freeDStream(u.z);
#endif
	if (!r && f->plain.len)
		r = read_some(f, span_init(f->plain.data, f->plain.len), &u, true, e);
	return r;
}

static int compare_records(const void *p, const void *q)
{
	const struct perf_record *a = p, *b = q;

	return COMPARE(a->time_ns, b->time_ns) ?: COMPARE(a->off, b->off);
}

/* ---- the file ---- */

static int read_file(struct perf_file *f, struct span s, struct err *e)
{
	uint64_t attr_size, off, len, bits[NR_FEATURES / 64];
	struct span attrs, data;
	int r;

	attr_size = span_u64(&s);
	off = span_u64(&s);
	attrs = part(f, off, span_u64(&s));
	off = span_u64(&s);
	len = span_u64(&s);
	span_bytes(&s, 16);
	memcpy(bits, span_bytes(&s, sizeof(bits)), sizeof(bits));
	if ((r = read_attrs(f, attrs, attr_size, e)))
		return r;
	if (off > f->len)
		return err_set(e, EINVAL, "truncated: its records are missing");
	if (!len || len > f->len - off) {	/* perf was killed before it wrote how many there are */
		f->truncated = true;
		len = f->len - off;
		memset(bits, 0, sizeof(bits));
	}
	data = part(f, off, len);
	read_features(f, bits, off + len);
	return read_records(f, data, e);
}

int perf_file_read(struct perf_file *f, const void *data, size_t len, struct err *e)
{
	struct span s = span_init(data, len);
	uint64_t size;
	int r;

	*f = (struct perf_file){ .data = data, .len = len, .host = { "", 0 }, .release = { "", 0 },
				 .arch = { "", 0 } };
	span_bytes(&s, strlen(MAGIC));
	size = span_u64(&s);
	f->pipe = size == PIPE_HEADER_BYTES;
	if (s.bad || (!f->pipe && len < FILE_HEADER_BYTES))
		return err_set(e, EINVAL, "truncated: there is no whole header");
	if (!f->pipe && size < FILE_HEADER_BYTES)
		return err_set(e, EINVAL, "damaged: a header of %llu bytes", (unsigned long long)size);
	r = f->pipe ? read_records(f, s, e) : read_file(f, s, e);
	if (!r && !f->nr_events)
		r = err_set(e, EINVAL, "damaged: it has no events");
	if (f->nr_records)
		qsort(f->records, f->nr_records, sizeof(*f->records), compare_records);
	return r;
}

void perf_file_release(struct perf_file *f)
{
	free(f->events);
	free(f->build_ids);
	free(f->records);
	map_release(&f->event_of);
	buf_release(&f->command);
	buf_release(&f->plain);
}
