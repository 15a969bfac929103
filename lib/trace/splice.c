// SPDX-License-Identifier: GPL-2.0-or-later
/* splice.c - writes several files of a recording as one trace (splice.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "trace/codec.h"
#include "trace/format.h"
#include "trace/outfile.h"
#include "trace/splice.h"
#include "trace/splice_calls.h"
#include "trace/walk.h"

enum { TARGET = 256 << 10 };		/* a chunk of metadata that is this full is written */

struct label {
	char *key, *value;
};

struct splice {
	struct outfile out;
	struct records meta, calls_out;
	struct splice_calls *calls;
	struct map seen;		/* hashes of records that name things */
	struct map numbers;		/* of segments that are in it */
	uint64_t number;		/* of the last one */
	struct label *labels;
	size_t nr_labels, alloc_labels;
	char *recording;		/* the label of the first file */
	size_t file, nr_complete;	/* files read; those that have their symbols */
	uint32_t epoch, last_epoch;	/* of the files before; the highest of this one */
	uint64_t nr_samples, nr_records, nr_lost;
	double rated;			/* samples that event.0.rate_hz stands for */
	double rate_hz, count;		/* of the file being read */
	struct buf standing;		/* its chunks of what lives at its end: written if it is the last */
	struct standing_label {
		char *key;
		uint64_t value;
	} *standing_labels;		/* and their part in its counts */
	size_t nr_standing, alloc_standing;
	int status;			/* what splice_take() could not write */
	int fd;				/* of splice_to_fd() */
};

/* ---- labels ---- */

static bool label_begins(const char *key, const char *with)
{
	return !strncmp(key, with, strlen(with));
}

static bool ends(const char *key, const char *with)
{
	size_t len = strlen(key), end = strlen(with);

	return len >= end && !strcmp(key + len - end, with);
}

static struct label *find_label(struct splice *s, const char *key)
{
	size_t i;

	for (i = 0; i < s->nr_labels && strcmp(s->labels[i].key, key); i++)
		;
	return i < s->nr_labels ? &s->labels[i] : NULL;
}

static void set_label(struct splice *s, const char *key, char *value)
{
	struct label *l = find_label(s, key);

	if (l) {
		free(l->value);
		l->value = value;
		return;
	}
	*VEC_ADD(s->labels, s->nr_labels, s->alloc_labels) = (struct label){ xstrdup(key), value };
}

static void add_count(struct splice *s, const char *key, const char *value)
{
	const struct label *l = find_label(s, key);
	uint64_t sum = strtoull(value, NULL, 10) + (l ? strtoull(l->value, NULL, 10) : 0);

	if (!strcmp(value, ACCOUNT_NONE) || (l && !strcmp(l->value, ACCOUNT_NONE)))
		set_label(s, key, xstrdup(ACCOUNT_NONE));
	else
		set_label(s, key, xasprintf("%" PRIu64, sum));
}

static void note_standing(struct splice *s, const char *key, const char *value)
{
	VEC_GROW(s->standing_labels, s->nr_standing, s->alloc_standing);
	s->standing_labels[s->nr_standing++] =
		(struct standing_label){ xstrdup(key), strtoull(value, NULL, 10) };
}

/* Drop standing samples, as a later file has those that still exist. */
static void drop_standing(struct splice *s)
{
	size_t i;

	for (i = 0; i < s->nr_standing; i++) {
		struct label *l = find_label(s, s->standing_labels[i].key);
		uint64_t sum = l ? strtoull(l->value, NULL, 10) : 0;

		if (l)
			set_label(s, l->key, xasprintf("%" PRIu64,
						       sum - MIN(sum, s->standing_labels[i].value)));
		free(s->standing_labels[i].key);
	}
	s->nr_standing = 0;
	buf_reset(&s->standing);
}

static bool is_added(const char *key)
{
	return (label_begins(key, "event.") && (ends(key, ".count") || ends(key, ".counted"))) ||
	       !strcmp(key, "live.unknown_bytes") || !strcmp(key, CHARGED_AHEAD_LABEL) ||
	       !strcmp(key, CHARGED_BEFORE_LABEL) ||
	       !strcmp(key, "account.cpu_ns") || !strcmp(key, "account.uncharged_ns") ||
	       (label_begins(key, "call.trace.") && (ends(key, ".calls") || ends(key, ".slow") || ends(key, ".cut")));
}

static bool is_beginning(const char *key)
{
	return label_begins(key, "start.") || !strcmp(key, "jvm_events.start_ns") ||
	       !strcmp(key, "sched.start_ns");
}

/* Take a label: the beginning is the first file's, counts are summed, and others are the last file's. */
static void splice_take_label(struct splice *s, const char *key, const char *value)
{
	if (!strcmp(key, "event.0.rate_hz"))
		s->rate_hz = strtod(value, NULL);
	if (!strcmp(key, "event.0.count"))
		s->count = strtod(value, NULL);
	if (label_begins(key, TRF_STANDING_LABEL))
		note_standing(s, key + strlen(TRF_STANDING_LABEL), value);
	else if (is_added(key))
		add_count(s, key, value);
	else if (!strcmp(key, "symbols"))
		s->nr_complete++;
	else if (strcmp(key, "segment") && (!s->file || !is_beginning(key)))
		set_label(s, key, xstrdup(value));
}

static int read_label(struct splice *s, const struct walk_record *r)
{
	struct span body = r->body;
	size_t key_len, value_len;
	const char *key = span_str(&body, &key_len), *value = span_str(&body, &value_len);
	char *k, *v;

	if (body.bad)
		return 0;
	k = xstrndup(key, key_len);
	v = xstrndup(value, value_len);
	splice_take_label(s, k, v);
	free(k);
	free(v);
	return 0;
}

static void splice_put_label(struct splice *s, const char *key, const char *value)
{
	size_t at = records_begin(&s->meta, TRF_MAJOR_LABEL, 0, clock_mono_ns());

	records_str(&s->meta, key, strlen(key));
	records_str(&s->meta, value, strlen(value));
	records_end(&s->meta, at, TRF_MIXED);
}

/* ---- chunks ---- */

static int put_chunk(struct splice *s, struct records *p)
{
	struct trf_chunk c;
	int r = p->b.len ? outfile_chunk(&s->out, p, 0, &c) : 0;

	s->nr_records += r ? 0 : p->nr;
	records_reset(p);
	return r ? r : s->status;
}

static int store_chunk(struct splice *s, struct trf_chunk h, const void *stored)
{
	int r;

	h.seq = s->out.seq++;
	h.crc = crc32(0, (Bytef *)&h, offsetof(struct trf_chunk, crc));
	r = outfile_store(&s->out, &h, sizeof(h));
	if (!r)
		r = outfile_store(&s->out, stored, h.stored_len);
	s->nr_records += h.nr_records;
	s->nr_samples += !memcmp(h.type, TRF_SAMPLES, sizeof(h.type)) ? h.nr_records : 0;
	return r ? r : s->status;
}

/*
 * Copy a chunk unchanged to another place; standing samples wait until it is known whether another file
 * follows.
 */
static int copy_chunk(struct splice *s, const struct walk_chunk *from, bool numbered)
{
	struct trf_chunk h = from->h;

	if (numbered) {
		s->last_epoch = MAX(s->last_epoch, h.stream);
		h.stream += s->epoch;
	}
	if (!(h.flags & TRF_STANDING))
		return store_chunk(s, h, from->stored);
	h.flags &= ~TRF_STANDING;
	buf_add(&s->standing, &h, sizeof(h));
	buf_add(&s->standing, from->stored, h.stored_len);
	return 0;
}

static int store_standing(struct splice *s)
{
	struct trf_chunk h;
	size_t at;
	int r = 0;

	for (at = 0; at < s->standing.len && !r; at += sizeof(h) + h.stored_len) {
		memcpy(&h, s->standing.data + at, sizeof(h));
		r = store_chunk(s, h, s->standing.data + at + sizeof(h));
	}
	return r;
}

/* Describes something, at any time; such records are in several files. */
static bool is_name_record(const struct walk_record *r)
{
	const struct record_row *row = record_find(r->major, r->minor);

	if (!row || !row->kind)
		return false;
	switch (row->kind->number) {
	case RECORD_proc:
	case RECORD_cgroup:
	case RECORD_resource:
	case RECORD_thread:
	case RECORD_module:
	case RECORD_map:
	case RECORD_method:
	case RECORD_method_lines:
	case RECORD_code:
	case RECORD_code_bytes:
	case RECORD_stub:
	case RECORD_stub_lines:
	case RECORD_function:
	case RECORD_symbol:
	case RECORD_line:
	case RECORD_sweep:		/* the last of one file is the first of the next */
		return true;
	default:
		return false;
	}
}

/* Says what was so when the file began: the files before it have shown that. */
static bool is_state(const struct walk_record *r)
{
	const struct record_row *row = record_find(r->major, r->minor);

	return row && row->kind && row->kind->number == RECORD_sched_at;
}

static bool splice_is_known(struct splice *s, const struct walk_record *r, const uint8_t *p, size_t len)
{
	uint32_t *at;

	if (!is_name_record(r))
		return false;
	at = map_put(&s->seen, hash_bytes(p, len));
	if (*at != MAP_NONE)
		return true;
	*at = 1;
	return false;
}

static int copy_record(struct splice *s, const struct walk_record *r, const uint8_t *p, size_t len)
{
	if (r->major == TRF_MAJOR_LABEL)
		return read_label(s, r);
	if ((s->file && is_state(r)) || splice_is_known(s, r, p, len))
		return 0;
	buf_add(&s->meta.b, p, len);
	records_note(&s->meta, r->time_ns);
	return s->meta.b.len >= TARGET ? put_chunk(s, &s->meta) : 0;
}

/* Copy metadata, which has no records without a time: such a record would get another one's. */
static int copy_meta(struct splice *s, const uint8_t *raw, size_t len)
{
	struct span span = span_init(raw, len);
	struct walk_record r = { 0 };
	int status = 0, got;

	while (!status && (got = walk_record(&span, raw, &r)) > 0)
		if (r.type != TRF_NO_TIME)
			status = copy_record(s, &r, raw + r.off, span.p - (raw + r.off));
	return status;
}

/* ---- files ---- */

static void read_end(struct splice *s, struct walk *w, const struct walk_chunk *c)
{
	const uint8_t *raw = walk_payload(w, c);
	struct span span = span_init(raw, raw ? c->h.raw_len : 0);
	struct walk_record r = { 0 };
	uint64_t lost;

	if (!raw || walk_record(&span, raw, &r) <= 0)
		return;
	span_u64(&r.body);		/* index, samples, records */
	span_u64(&r.body);
	span_u64(&r.body);
	lost = span_u64(&r.body);
	s->nr_lost += r.body.bad ? 0 : lost;
}

/* Copy calls; what cannot be read is missing, like a gap. */
static int copy_calls(struct splice *s, const uint8_t *raw, size_t len)
{
	if (!splice_calls_chunk(s->calls, raw, len, &s->calls_out))
		s->out.seq++;
	return put_chunk(s, &s->calls_out);
}

/* Copy a chunk. The chunk before a gap may have had what later ones refer to: a missing number shows that. */
static int copy_one(struct splice *s, struct walk *w, const struct walk_chunk *c)
{
	const uint8_t *raw;

	if (c->gap.why[0])
		s->out.seq++;
	if (walk_is(c, TRF_END))
		read_end(s, w, c);
	if (walk_is(c, TRF_INDEX) || walk_is(c, TRF_END) || (walk_is(c, TRF_SCHEMA) && s->file))
		return 0;
	if (!walk_is(c, TRF_META) && !walk_is(c, TRF_CALLS))
		return copy_chunk(s, c, walk_is(c, TRF_STACKS) || walk_is(c, TRF_SAMPLES));
	raw = walk_payload(w, c);
	if (!raw) {
		s->out.seq++;
		return 0;
	}
	return walk_is(c, TRF_CALLS) ? copy_calls(s, raw, c->h.raw_len) : copy_meta(s, raw, c->h.raw_len);
}

/* A file that was cut off has no end, and that of the one before is not the end of both. */
static void splice_drop_end(struct splice *s)
{
	size_t i, nr = 0;

	for (i = 0; i < s->nr_labels; i++) {
		if (!label_begins(s->labels[i].key, "end.")) {
			s->labels[nr++] = s->labels[i];
			continue;
		}
		free(s->labels[i].key);
		free(s->labels[i].value);
	}
	s->nr_labels = nr;
}

static int copy_all(struct splice *s, struct walk *w, struct err *e)
{
	struct walk_chunk c;
	int r, status;

	drop_standing(s);
	splice_drop_end(s);
	s->last_epoch = 0;
	s->rate_hz = s->count = 0;
	while ((r = walk_next(w, &c, e)) > 0) {
		status = copy_one(s, w, &c);
		/* what names things comes before what has them */
		if (!status && walk_is(&c, TRF_META))
			status = put_chunk(s, &s->meta);
		if (status)
			return err_set(e, -status, "%s",
				       s->out.error_msg[0] ? s->out.error_msg : strerror(-status));
	}
	splice_calls_next(s->calls);
	s->epoch += s->last_epoch;
	s->rated += s->rate_hz * s->count;
	s->file++;
	return r;
}

/* Return the first label of that name in a file, or NULL. */
static char *label_of(struct walk *w, const char *key, struct err *e)
{
	struct walk_chunk c;
	char *found = NULL;

	while (!found && walk_next(w, &c, e) > 0) {
		const uint8_t *raw = walk_is(&c, TRF_META) ? walk_payload(w, &c) : NULL;
		struct span span = span_init(raw, raw ? c.h.raw_len : 0);
		struct walk_record r = { 0 };

		while (raw && !found && walk_record(&span, raw, &r) > 0) {
			struct span body = r.body;
			size_t len, value_len;
			const char *k = span_str(&body, &len), *v = span_str(&body, &value_len);

			if (!body.bad && r.major == TRF_MAJOR_LABEL && len == strlen(key) &&
			    !memcmp(k, key, len))
				found = xstrndup(v, value_len);
		}
	}
	walk_rewind(w);
	return found;
}

/* Mark that a segment is missing: what threads did between two dispatches is not known. */
static void put_missing(struct splice *s, uint64_t time_ns)
{
	const struct record_kind *k = &record_kinds[RECORD_lost];
	const struct rec_lost lost = { time_ns, LOST_SCHED, UINT32_MAX, 0 };
	size_t at = records_begin(&s->meta, k->code.major, record_minor(k, &lost), time_ns);

	records_end(&s->meta, at, record_encode(&s->meta.b, k, &lost));
}

/* Return whether the same segment was given under another name. */
static bool is_there_twice(struct splice *s, struct walk *w, struct err *e)
{
	char *label = label_of(w, "segment", e);
	uint64_t number = label ? strtoull(label, NULL, 10) : 0;
	uint32_t *at = map_put(&s->numbers, number);
	bool twice = *at != MAP_NONE;

	*at = 1;
	free(label);
	if (s->file && number != s->number + 1 && find_label(s, "sched.scope"))
		put_missing(s, walk_header(w)->start_mono_ns);
	s->number = number;
	return twice;
}

/* Numbers mean the same in files of one recording only. */
static int check_recording(struct splice *s, struct walk *w, struct err *e)
{
	char *recording = walk_header(w)->flags & TRF_SEGMENT ? label_of(w, "recording", e) : NULL;
	int r = 0;

	if (!recording || (s->recording && strcmp(s->recording, recording))) {
		r = err_set(e, EINVAL, recording ? "%s: of another recording" : "%s: not a segment of a recording",
			    walk_path(w));
		err_hint(e, "traces of several recordings can be merged: arcprof merge");
	} else if (is_there_twice(s, w, e)) {
		r = err_set(e, EINVAL, "%s: there twice", walk_path(w));
	}
	if (!s->recording)
		s->recording = recording;
	else
		free(recording);
	return r;
}

static int put_header(struct splice *s, const struct walk *w)
{
	struct trf_header h = *walk_header(w);

	h.flags &= ~TRF_SEGMENT;
	h.crc = crc32(0, (Bytef *)&h, offsetof(struct trf_header, crc));
	return outfile_store(&s->out, &h, sizeof(h));
}

static int splice_file(struct splice *s, const char *path, struct err *e)
{
	struct walk *w;
	int r = walk_open(&w, path, e);

	if (r)
		return r;
	r = check_recording(s, w, e);
	if (!r && !s->file && (r = put_header(s, w)))
		err_set(e, -r, "%s", s->out.error_msg);
	if (!r)
		r = copy_all(s, w, e);
	walk_close(w);
	return r;
}

static void splice_put_labels(struct splice *s)
{
	const struct label *count = find_label(s, "event.0.count");
	double nr = count ? strtod(count->value, NULL) : 0;
	size_t i;

	if (nr > 0 && s->rated > 0)
		set_label(s, "event.0.rate_hz", xasprintf("%.3f", s->rated / nr));
	if (s->nr_complete == s->file)
		set_label(s, "symbols", xstrdup("complete"));
	for (i = 0; i < s->nr_labels; i++)
		splice_put_label(s, s->labels[i].key, s->labels[i].value);
}

static int put_end(struct splice *s)
{
	struct records p = { .type = TRF_END };
	size_t at = records_begin(&p, TRF_MAJOR_FILE, TRF_FILE_END, clock_mono_ns());
	int r;

	buf_u64(&p.b, 0);		/* no index */
	buf_u64(&p.b, s->nr_samples);
	buf_u64(&p.b, s->nr_records);
	buf_u64(&p.b, s->nr_lost);
	buf_u64(&p.b, clock_real_ns());
	buf_u32(&p.b, s->out.seq);
	records_end(&p, at, TRF_INTS);
	r = put_chunk(s, &p);
	buf_release(&p.b);
	return r;
}

static int splice_all(struct splice *s, const char *const *paths, size_t nr, struct err *e)
{
	size_t i;
	int r = 0;

	s->meta.type = TRF_META;
	s->calls_out.type = TRF_CALLS;
	s->calls = splice_calls_new();
	for (i = 0; i < nr && !r; i++)
		r = splice_file(s, paths[i], e);
	if (r)
		return r;
	splice_put_labels(s);
	splice_calls_end(s->calls, &s->calls_out);
	if (put_chunk(s, &s->calls_out) || put_chunk(s, &s->meta) || store_standing(s) || put_end(s))
		return err_set(e, s->out.error ? -s->out.error : EIO, "%s", s->out.error_msg);
	return 0;
}

static void splice_release(struct splice *s)
{
	size_t i;

	for (i = 0; i < s->nr_labels; i++) {
		free(s->labels[i].key);
		free(s->labels[i].value);
	}
	drop_standing(s);
	free(s->standing_labels);
	buf_release(&s->standing);
	free(s->labels);
	free(s->recording);
	map_release(&s->seen);
	map_release(&s->numbers);
	buf_release(&s->meta.b);
	buf_release(&s->calls_out.b);
	splice_calls_free(s->calls);
}

int splice_files(const char *const *paths, size_t nr, const char *path, struct err *e)
{
	struct splice s = { .nr_samples = 0 };
	int r = outfile_open(&s.out, path, &(struct outfile_opts){ .compress = true, .whole = true }, e);

	if (r)
		return r;
	r = splice_all(&s, paths, nr, e);
	if (r)
		outfile_release(&s.out);
	else
		r = outfile_close(&s.out, e);
	splice_release(&s);
	return r;
}

static void splice_take(void *ctx, const void *p, size_t len)
{
	struct splice *s = ctx;

	if (!s->status)
		s->status = io_write_all(s->fd, p, len);
}

int splice_to_fd(const char *const *paths, size_t nr, int fd, struct err *e)
{
	struct splice s = { .fd = fd };
	int r = outfile_open_taken(&s.out, splice_take, &s, e);

	if (r)
		return r;
	r = splice_all(&s, paths, nr, e);
	if (!r && s.status)
		r = err_set(e, -s.status, "%s", strerror(-s.status));
	outfile_release(&s.out);
	splice_release(&s);
	return r;
}

static bool read_header(int dir, const char *name, struct trf_header *h)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = !fstat(fd, &st) && S_ISREG(st.st_mode) && read(fd, h, sizeof(*h)) == (ssize_t)sizeof(*h) &&
	     !memcmp(h->magic, TRF_MAGIC, sizeof(h->magic)) &&
	     h->crc == crc32(0, (const Bytef *)h, offsetof(struct trf_header, crc));
	close(fd);
	return is;
}

bool segment_is_one(int dir, const char *name)
{
	struct trf_header h;

	return read_header(dir, name, &h) && h.flags & TRF_SEGMENT;
}

bool segment_is_dump(int dir, const char *name)
{
	struct trf_header h;

	return read_header(dir, name, &h) && !(h.flags & TRF_SEGMENT);
}

/* The last chunk, as far as its header says. */
static bool ends_there(const uint8_t *p, size_t left)
{
	struct trf_chunk c;

	if (left < sizeof(c))
		return false;
	memcpy(&c, p, sizeof(c));
	return !memcmp(c.magic, TRF_CHUNK_MAGIC, sizeof(c.magic)) &&
	       !memcmp(c.type, TRF_END, sizeof(c.type)) &&
	       c.crc == crc32(0, (const Bytef *)&c, offsetof(struct trf_chunk, crc)) &&
	       c.stored_len == left - sizeof(c);
}

bool segment_is_closed(const char *path)
{
	enum { TAIL = 1024 };	/* more than the last chunk has */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uint8_t tail[TAIL];
	bool closed = false;
	struct stat st;
	ssize_t len, i;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		len = pread(fd, tail, sizeof(tail), st.st_size > TAIL ? st.st_size - TAIL : 0);
		for (i = 0; i < len && !closed; i++)
			closed = ends_there(tail + i, len - i);
	}
	close(fd);
	return closed;
}
