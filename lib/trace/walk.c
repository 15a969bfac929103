// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * walk.c - finds chunks.
 *
 * A chunk counts when the CRC of its header and of its payload are right and its number is
 * above the last.  Where none is, the file is searched byte by byte for the next chunk
 * magic with a right header.  A file is read, not mapped: one that shrinks while it is
 * read must be an error, not a SIGBUS.
 *
 * The work is bounded: a payload is checked again at another place only as long as all such
 * checks together read less than RESCAN times the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/inputs.h"
#include "base/mem.h"
#include "trace/walk.h"

enum {
	WINDOW = 512 << 10,
	/* of a pipe without a chunk: it never was a trace, or is none any more */
	NO_TRACE_BYTES = 1 << 20, NO_CHUNK_BYTES = 256 << 20,
	RESCAN = 16,
};

struct walk {
	char *path;
	uint64_t size;

	const uint8_t *mem;		/* the whole, or NULL: fd is read through the window */
	struct buf own;			/* what mem points to when it was read from a pipe */
	int fd;
	uint8_t *window;
	uint64_t window_off;
	size_t window_len, alloc_window;

	uint64_t first_chunk, off;
	uint64_t checked;		/* payload bytes whose CRC was computed */
	uint32_t first_seq;		/* of the chunks that are there */
	uint32_t seq;			/* expected of the next chunk */
	bool ended;			/* the end chunk was seen */
	struct trf_header header;
	bool header_bad;
	struct trace_damage damage;
	uint64_t gap_end;		/* of the latest gap: one that adjoins is the same place */

	z_stream z;
	uint8_t *raw, *rows;		/* of the current chunk */
	size_t raw_alloc, rows_alloc;
	bool inflates;			/* z is in use */
};

/* Return len bytes at off, valid until the next call, or NULL. */
static const uint8_t *walk_bytes_at(struct walk *w, uint64_t off, size_t len)
{
	size_t have = 0, want;

	if (off > w->size || len > w->size - off)
		return NULL;
	if (w->mem)
		return w->mem + off;
	if (off >= w->window_off && off + len <= w->window_off + w->window_len)
		return w->window + (off - w->window_off);
	want = MIN(MAX(len, WINDOW), w->size - off);
	if (want > w->alloc_window) {
		w->alloc_window = want;
		w->window = xrealloc(w->window, want);
	}
	w->window_off = off;
	w->window_len = 0;
	while (have < want) {
		ssize_t n = pread(w->fd, w->window + have, want - have, off + have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;		/* it shrank, or the disk fails: truncated here */
		have += n;
	}
	w->window_len = have;
	return have >= len ? w->window : NULL;
}

static uint32_t crc(const void *p, size_t len)
{
	return crc32(0, p, len);
}

static void __attribute__((format(printf, 5, 6)))
walk_gap(struct walk *w, struct walk_chunk *c, uint64_t off, uint64_t len, const char *fmt, ...)
{
	struct trace_damage *d = &w->damage;
	char why[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	d->nr_bytes += len;
	if (!d->nr_places || off != w->gap_end || !len)
		d->nr_places++;
	w->gap_end = off + len;
	if (!d->first[0])
		snprintf(d->first, sizeof(d->first), "offset %" PRIu64 ": %.120s", off, why);
	if (c && !c->gap.why[0]) {
		c->gap.off = off;
		memcpy(c->gap.why, why, sizeof(why));
	}
	if (c)
		c->gap.len += len;
}

const char *walk_type_text(const struct trf_chunk *h, char text[5])
{
	int i;

	for (i = 0; i < 4; i++)
		text[i] = h->type[i] > ' ' && h->type[i] <= '~' ? h->type[i] : '?';
	text[4] = '\0';
	return text;
}

static bool header_at(struct walk *w, uint64_t off, struct trf_chunk *h)
{
	const uint8_t *p = walk_bytes_at(w, off, sizeof(*h));

	if (!p || memcmp(p, TRF_CHUNK_MAGIC, sizeof(h->magic)))
		return false;
	memcpy(h, p, sizeof(*h));
	return h->crc == crc(h, offsetof(struct trf_chunk, crc)) && h->raw_len <= TRF_MAX_RAW &&
	       h->stored_len <= h->raw_len;
}

/* Return how much there is at off without reading, or would be after: at least a header, if it exists. */
static size_t at_hand(const struct walk *w, uint64_t off)
{
	uint64_t rest = w->size - off, end = w->window_off + w->window_len;

	if (!w->mem && off >= w->window_off && off + sizeof(struct trf_chunk) <= end)
		return end - off;
	return MIN(rest, WINDOW);
}

/* Return the first chunk header at or after off, or the size of the file. */
static uint64_t walk_search(struct walk *w, uint64_t off)
{
	struct trf_chunk h;

	while (off + sizeof(h) <= w->size) {
		size_t len = at_hand(w, off);
		const uint8_t *p = walk_bytes_at(w, off, len), *hit;

		if (!p)
			break;
		hit = memmem(p, len, TRF_CHUNK_MAGIC, sizeof(h.magic));
		if (!hit) {
			off += len - sizeof(h.magic) + 1;
			continue;
		}
		off += hit - p;
		if (header_at(w, off, &h))
			return off;
		off++;
	}
	return w->size;
}

/*
 * Return where to go on when the payload of the chunk at off is not what its header promises: bytes may
 * be missing from it, so the next chunk may begin inside.
 */
static uint64_t after_bad_payload(struct walk *w, uint64_t off, const struct trf_chunk *h)
{
	if (w->checked / RESCAN > w->size)
		return off + sizeof(*h) + h->stored_len;
	return walk_search(w, off + sizeof(h->magic));
}

void walk_rewind(struct walk *w)
{
	w->off = w->first_chunk;
	w->seq = w->first_seq;
	w->checked = 0;
	w->ended = false;
	w->damage = (struct trace_damage){ .span_ns = w->damage.span_ns };
	w->gap_end = 0;
	w->damage.truncated = true;
	if (w->header_bad)
		walk_gap(w, NULL, 0, w->first_chunk, "the file header is damaged");
}

int walk_next(struct walk *w, struct walk_chunk *c, struct err *e)
{
	(void)e;
	memset(&c->gap, 0, sizeof(c->gap));
	while (w->off < w->size) {
		uint64_t start = w->off;
		char type[5];

		if (!header_at(w, start, &c->h)) {
			w->off = walk_search(w, start + 1);
			walk_gap(w, c, start, w->off - start, w->size - start < sizeof(c->h) ?
				    "the file ends inside a chunk header" : "no chunk where one should be");
			continue;
		}
		c->stored = walk_bytes_at(w, start + sizeof(c->h), c->h.stored_len);
		if (!c->stored) {
			w->off = walk_search(w, start + sizeof(c->h.magic));
			walk_gap(w, c, start, w->off - start,
				 "chunk %u '%s' needs %u bytes, the file ends after %" PRIu64, c->h.seq,
				 walk_type_text(&c->h, type), c->h.stored_len,
				 w->size - start - sizeof(c->h));
			continue;
		}
		w->checked += c->h.stored_len;
		if (crc(c->stored, c->h.stored_len) != c->h.payload_crc) {
			w->off = after_bad_payload(w, start, &c->h);
			walk_gap(w, c, start, w->off - start, "chunk %u '%s' has a wrong checksum", c->h.seq,
				 walk_type_text(&c->h, type));
			continue;
		}
		w->off = start + sizeof(c->h) + c->h.stored_len;
		if (c->h.seq < w->seq) {
			walk_gap(w, c, start, w->off - start, "chunk %u again, or in the wrong place",
				 c->h.seq);
			continue;
		}
		if (c->h.seq > w->seq && !c->gap.why[0])
			walk_gap(w, c, start, 0, "%u chunks are missing", c->h.seq - w->seq);
		w->seq = c->h.seq + 1;
		c->off = start;
		if (!w->header_bad && c->h.last_ns > w->header.start_mono_ns)
			w->damage.span_ns =
				MAX(w->damage.span_ns, c->h.last_ns - w->header.start_mono_ns);
		if (walk_is(c, TRF_END))
			w->damage.truncated = false;
		return 1;
	}
	return 0;
}

bool walk_is(const struct walk_chunk *c, const char *type)
{
	return !memcmp(c->h.type, type, sizeof(c->h.type));
}

/* Make room for the longest chunk so far: chunks of a short trace are far from TRF_MAX_RAW. */
static uint8_t *room_for(uint8_t **at, size_t *alloc, size_t len)
{
	if (!*at || *alloc < len) {
		free(*at);
		*alloc = MAX(MAX(len, (size_t)4096), MIN(2 * *alloc, (size_t)TRF_MAX_RAW));
		*at = xmalloc(*alloc);
	}
	return *at;
}

static bool inflate_payload(struct walk *w, const struct walk_chunk *c)
{
	z_stream *z = &w->z;

	if (!w->inflates && inflateInit(z) != Z_OK)
		return false;
	w->inflates = true;
	inflateReset(z);
	inflateValidate(z, 0);		/* the chunk has a checksum of its own */
	z->next_in = (Bytef *)c->stored;
	z->avail_in = c->h.stored_len;
	z->next_out = room_for(&w->raw, &w->raw_alloc, c->h.raw_len);
	z->avail_out = c->h.raw_len;
	return inflate(z, Z_FINISH) == Z_STREAM_END && z->total_out == c->h.raw_len;
}

/* Convert columns of bytes to rows, a word at a time: len bytes, stride a multiple of 4. */
static void untranspose(uint8_t *rows, const uint8_t *columns, size_t len, size_t stride)
{
	size_t nr = len / stride, i, k;

	for (k = 0; k < stride; k += 4) {
		const uint8_t *c = columns + k * nr;

		for (i = 0; i < nr; i++) {
			uint32_t v =
				c[i] | c[nr + i] << 8 | c[2 * nr + i] << 16 | (uint32_t)c[3 * nr + i] << 24;

			memcpy(rows + i * stride + k, &v, 4);
		}
	}
	memcpy(rows + nr * stride, columns + nr * stride, len - nr * stride);
}

const uint8_t *walk_payload(struct walk *w, const struct walk_chunk *c)
{
	const struct trf_chunk *h = &c->h;
	const uint8_t *p = NULL;
	char type[5];

	if (!(h->flags & ~TRF_KNOWN_FLAGS)) {
		if (!(h->flags & TRF_ZLIB))
			p = h->stored_len == h->raw_len ? c->stored : NULL;
		else if (inflate_payload(w, c))
			p = w->raw;
	}
	if (p && h->flags & TRF_TRANSPOSED) {
		if (h->stride && h->stride <= TRF_MAX_STRIDE && !(h->stride & 3)) {
			untranspose(room_for(&w->rows, &w->rows_alloc, h->raw_len), p, h->raw_len, h->stride);
			p = w->rows;
		} else {
			p = NULL;
		}
	}
	if (!p)
		walk_gap(w, NULL, c->off, sizeof(*h) + h->stored_len, "chunk %u '%s' cannot be decoded (flags 0x%x)",
			 h->seq, walk_type_text(h, type), h->flags);
	return p;
}

int walk_record(struct span *s, const uint8_t *start, struct walk_record *r)
{
	const uint8_t *p = s->p;
	uint16_t type_len;
	uint32_t len;

	if (!span_left(s))
		return 0;
	r->off = p - start;
	type_len = span_u16(s);
	r->type = type_len & 3;
	len = type_len & 0xfffc;
	r->major = span_u16(s);
	r->minor = span_u32(s);
	if (r->type != TRF_NO_TIME)
		r->time_ns = span_u64(s);
	if (r->type == TRF_EXTENDED)
		len = span_u32(s);
	r->head_len = s->p - p;
	if (s->bad || len & 3 || len < r->head_len || len - r->head_len > span_left(s)) {
		s->p = s->end;
		return -1;
	}
	r->body = span_init(s->p, len - r->head_len);
	s->p = p + len;
	return 1;
}

/* ---- opening ---- */

static int check_header(struct walk *w, struct err *e)
{
	struct trf_header *h = &w->header;
	const uint8_t *p = walk_bytes_at(w, 0, sizeof(*h));

	if (!w->size)
		return err_set(e, EINVAL, "%s: empty", w->path);
	if (p)
		memcpy(h, p, sizeof(*h));
	if (p && !memcmp(h->magic, TRF_MAGIC, sizeof(h->magic)) &&
	    h->crc == crc(h, offsetof(struct trf_header, crc))) {
		if (h->version != TRF_VERSION)
			return err_set(e, EPROTO, "%s: trace version %u, this arcprof reads version %u",
				       w->path,
				       h->version, TRF_VERSION);
		w->first_chunk = MAX(h->header_size, sizeof(*h));
		return 0;
	}
	/* no header, but chunks may follow */
	memset(h, 0, sizeof(*h));
	w->header_bad = true;
	w->first_chunk = walk_search(w, 0);
	if (w->first_chunk == w->size)
		return err_set(e, EINVAL, "%s: not an arcprof trace", w->path);
	return 0;
}

static int opened(struct walk **wp, struct walk *w, struct err *e)
{
	int r = check_header(w, e);

	if (r) {
		walk_close(w);
		return r;
	}
	walk_rewind(w);
	*wp = w;
	return 0;
}

int walk_open_memory(struct walk **wp, const void *data, size_t len, struct err *e)
{
	struct walk *w = xcalloc(1, sizeof(*w));

	*wp = NULL;
	w->path = xstrdup("trace");
	w->fd = -1;
	w->mem = data;
	w->size = len;
	return opened(wp, w, e);
}

void walk_go_on(struct walk *w, const void *data, size_t len)
{
	w->mem = data;
	w->size = len;
	w->first_chunk = 0;
	w->first_seq = w->seq;
	walk_rewind(w);
}

/* The state of reading a trace from a pipe. */
struct stream {
	uint64_t next;		/* where a chunk should be */
	uint64_t chunks_end;	/* where the last one ends; 0: none was seen */
	bool ended;		/* that was the last of the trace */
};

/* Return whether the trace ends here. What is not a trace, or no longer one, may have no end. */
static bool walk_stream_is_over(struct walk *w, struct stream *s)
{
	const struct trf_header *first = (const struct trf_header *)w->mem;
	struct trf_chunk h;
	uint64_t at;

	if (!s->next && w->size >= sizeof(*first) && !memcmp(first->magic, TRF_MAGIC, sizeof(first->magic)))
		s->next = s->chunks_end = MAX(first->header_size, sizeof(*first));
	while (!s->ended && s->next + sizeof(h) <= w->size) {
		at = header_at(w, s->next, &h) ? s->next : walk_search(w, s->next);
		if (at == w->size) {	/* one may begin in the last bytes */
			s->next = w->size - sizeof(h) + 1;
			break;
		}
		header_at(w, at, &h);
		s->next = s->chunks_end = at + sizeof(h) + h.stored_len;
		s->ended = !memcmp(h.type, TRF_END, sizeof(h.type));
	}
	if (s->ended)
		return w->size >= s->chunks_end;
	return w->size > s->chunks_end + (s->chunks_end ? NO_CHUNK_BYTES : NO_TRACE_BYTES);
}

static int walk_read_all(struct walk *w)
{
	struct stream s = { 0 };

	do {
		ssize_t n = read(w->fd, buf_room(&w->own, 1 << 20), 1 << 20);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		w->own.len += n;
		w->mem = (uint8_t *)w->own.data;
		w->size = w->own.len;
	} while (!walk_stream_is_over(w, &s));
	return 0;
}

int walk_open(struct walk **wp, const char *path, struct err *e)
{
	int fd = inputs_open(path, e);

	*wp = NULL;
	return fd < 0 ? fd : walk_open_fd(wp, fd, path, e);
}

int walk_open_fd(struct walk **wp, int fd, const char *path, struct err *e)
{
	struct walk *w = xcalloc(1, sizeof(*w));
	bool from_stdin = !strcmp(path, "-");
	struct stat st;
	int r;

	*wp = NULL;
	w->path = xstrdup(from_stdin ? "standard input" : path);
	w->fd = fd;
	if (w->fd < 0 || fstat(w->fd, &st) < 0) {
		r = err_errno(e, "%s", w->path);
		walk_close(w);
		return r;
	}
	if (S_ISREG(st.st_mode) && !from_stdin) {
		w->size = st.st_size;
	} else {
		r = walk_read_all(w);
		if (r) {
			errno = -r;
			r = err_errno(e, "%s", w->path);
			walk_close(w);
			return r;
		}
	}
	return opened(wp, w, e);
}

void walk_close(struct walk *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	if (w->inflates)
		inflateEnd(&w->z);
	free(w->raw);
	free(w->rows);
	free(w->window);
	buf_release(&w->own);
	free(w->path);
	free(w);
}

uint64_t walk_size(const struct walk *w)
{
	return w->size;
}

const char *walk_path(const struct walk *w) { return w->path; }
const struct trf_header *walk_header(const struct walk *w) { return &w->header; }
struct trace_damage *walk_damage(struct walk *w) { return &w->damage; }
