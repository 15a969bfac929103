// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * writer.c - gathers records in three buffers and writes each as a chunk.
 *
 * Invariants, cited below as [n]:
 *  [1] a flush writes metadata, then stacks, then samples: what a sample refers to is in the
 *      file before it, unless the disk was full;
 *  [2] the file ends with a whole chunk after every call: a chunk that could be written
 *      only in part is cut off again where the file can be cut;
 *  [3] a chunk's payload is at most TARGET + TRF_MAX_RECORD bytes, which is below TRF_MAX_RAW.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"
#include "trace/format.h"
#include "trace/intern.h"
#include "trace/schema.h"
#include "trace/writer.h"

enum {
	TARGET = 256 << 10,		/* a buffer this full becomes a chunk */
	COMPRESS_FROM = 256,		/* smaller payloads are not worth it */
	INDEX_EVERY = 4096,		/* chunks; bounds the memory of the index */
	MIN_ROOM = 4096,		/* mode normal ends when less is left */
	EPOCH_BYTES = 64 << 20,
	NR_EVENTS = 255,		/* that fit in a plain sample */
};

struct pending {
	const char *type;
	struct buf b;
	uint64_t first_ns, last_ns;
	uint32_t nr_records;
	uint32_t stream;
};

/* One (kernel, module, offset) some frame had: 16 bytes, off = UINT64_MAX and module 0 is free. */
struct address {
	uint64_t off;
	uint32_t module;
	uint32_t kind;			/* FRAME_NATIVE, FRAME_KERNEL; FRAME_NONE: free */
};

struct trace_writer {
	int fd;
	bool seekable;
	bool compress;
	bool full;			/* mode normal: no more samples */
	enum trace_mode mode;
	uint64_t limit_bytes, epoch_bytes;
	int error;			/* -errno of the first failure */
	char error_msg[256];
	uint64_t nr_bytes;		/* in whole chunks */
	uint64_t nr_records, nr_samples, nr_lost;
	uint32_t epoch, seq;

	struct pending meta, stacks, samples, index;
	uint64_t index_off;		/* of the latest index chunk */
	uint64_t weights[NR_EVENTS];	/* of the sample chunk being filled; 0: not said yet */

	struct intern in;
	struct address *addrs;
	size_t nr_addrs, alloc_addrs;

	z_stream z;
	struct buf out, columns;
};

/* ---- records ---- */

static bool dead(struct trace_writer *w)
{
	if (w->error)
		w->nr_lost++;
	return w->error;
}

/* Begins a record and returns where; the payload follows with buf_ functions. */
static size_t begin(struct pending *p, uint16_t major, uint32_t minor, uint64_t time_ns)
{
	struct trf_record head = { 0, major, minor, time_ns };
	size_t at = p->b.len;

	buf_add(&p->b, &head, sizeof(head));
	return at;
}

static void note_time(struct pending *p, uint64_t time_ns)
{
	if (!p->nr_records++) {
		p->first_ns = p->last_ns = time_ns;
		return;
	}
	p->first_ns = MIN(p->first_ns, time_ns);
	p->last_ns = MAX(p->last_ns, time_ns);
}

/* Pads the record begun at "at" and fills in its length; false when it was too long to keep. */
static bool end(struct pending *p, size_t at, enum trf_type type)
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
	note_time(p, head.time_ns);
	return true;
}

static void add_str(struct pending *p, const char *s, size_t len)
{
	buf_varint(&p->b, len);
	buf_add(&p->b, s, len);
}

/* ---- chunks ---- */

/*
 * A write beyond the file size limit or into a closed pipe must be an error, not a death:
 * the signals it raises are held back and swallowed.
 */
static int write_quietly(int fd, const void *p, size_t len)
{
	static const struct timespec now;
	sigset_t mine, old, pending;
	int r;

	sigemptyset(&mine);
	sigaddset(&mine, SIGPIPE);
	sigaddset(&mine, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &mine, &old);
	r = io_write_all(fd, p, len);
	if (r) {
		if (sigismember(&pending, SIGPIPE))
			sigdelset(&mine, SIGPIPE);
		if (sigismember(&pending, SIGXFSZ))
			sigdelset(&mine, SIGXFSZ);
		while (sigtimedwait(&mine, NULL, &now) > 0)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

static int store(struct trace_writer *w, const void *p, size_t len)
{
	int r = write_quietly(w->fd, p, len);

	if (!r) {
		w->nr_bytes += len;
		return 0;
	}
	if (!w->error) {
		w->error = r;
		snprintf(w->error_msg, sizeof(w->error_msg), "writing the trace at offset %" PRIu64 ": %s",
			 w->nr_bytes, strerror(-r));
	}
	if (w->seekable && !ftruncate(w->fd, w->nr_bytes))	/* [2] */
		lseek(w->fd, w->nr_bytes, SEEK_SET);
	return r;
}

static uint32_t crc(const void *p, size_t len)
{
	return crc32(0, p, len);
}

/* Compresses into w->out after the header; 0 when that does not pay. */
static size_t deflate_payload(struct trace_writer *w, const void *raw, size_t len)
{
	z_stream *z = &w->z;

	if (!w->compress || len < COMPRESS_FROM || deflateReset(z) != Z_OK)
		return 0;
	z->next_in = (Bytef *)raw;
	z->avail_in = len;
	z->next_out = (Bytef *)w->out.data + sizeof(struct trf_chunk);
	z->avail_out = len - len / 8;
	return deflate(z, Z_FINISH) == Z_STREAM_END ? z->total_out : 0;
}

/*
 * Samples differ from each other in few of their bytes, and always in the same ones: by
 * columns they compress to half of what they do by rows, and twice as fast.
 */
static const void *transpose(struct trace_writer *w, const char *rows, size_t len, size_t stride)
{
	size_t nr = len / stride, i, k;
	char *to;

	buf_reset(&w->columns);
	to = buf_room(&w->columns, len);
	for (k = 0; k < stride; k++)
		for (i = 0; i < nr; i++)
			*to++ = rows[i * stride + k];
	memcpy(to, rows + nr * stride, len - nr * stride);
	return w->columns.data;
}

static void index_chunk(struct trace_writer *w, const struct trf_chunk *c, uint64_t off);

/* Writes what p holds as a chunk and empties it. */
static int write_chunk(struct trace_writer *w, struct pending *p)
{
	struct trf_chunk c = { .flags = 0 };
	uint64_t off = w->nr_bytes;
	const void *raw = p->b.data;
	size_t stored;
	int r;

	if (!p->b.len)
		return 0;
	if (p == &w->samples && w->compress)
		raw = transpose(w, p->b.data, p->b.len, sizeof(struct trf_sample));
	buf_reset(&w->out);
	buf_room(&w->out, sizeof(c) + p->b.len);
	stored = deflate_payload(w, raw, p->b.len);
	if (stored)
		c.flags = TRF_ZLIB | (raw != p->b.data ? TRF_TRANSPOSED : 0);
	else
		memcpy(w->out.data + sizeof(c), p->b.data, stored = p->b.len);
	memcpy(c.magic, TRF_CHUNK_MAGIC, sizeof(c.magic));
	memcpy(c.type, p->type, sizeof(c.type));
	c.stored_len = stored;
	c.raw_len = p->b.len;
	c.payload_crc = crc(w->out.data + sizeof(c), stored);
	c.stream = p->stream;
	c.first_ns = p->first_ns;
	c.last_ns = p->last_ns;
	c.nr_records = p->nr_records;
	c.seq = w->seq;
	c.stride = c.flags & TRF_TRANSPOSED ? sizeof(struct trf_sample) : 0;
	c.crc = crc(&c, offsetof(struct trf_chunk, crc));
	memcpy(w->out.data, &c, sizeof(c));
	r = w->error ? w->error : store(w, w->out.data, sizeof(c) + stored);
	if (!r) {
		w->seq++;
		w->nr_records += p->nr_records;
		if (p == &w->samples)
			w->nr_samples += p->nr_records;
		index_chunk(w, &c, off);
	} else if (p != &w->stacks && p != &w->index) {
		w->nr_lost += p->nr_records;
	}
	buf_reset(&p->b);
	p->nr_records = 0;
	return r;
}

static void write_index(struct trace_writer *w)
{
	uint64_t off = w->nr_bytes;

	if (!write_chunk(w, &w->index))
		w->index_off = off;
}

static void index_chunk(struct trace_writer *w, const struct trf_chunk *c, uint64_t off)
{
	struct pending *p = &w->index;
	size_t at;

	if (!memcmp(c->type, TRF_INDEX, 4)) {
		/* The next index begins with this one, so that the chain is whole. */
		buf_reset(&p->b);
		p->nr_records = 0;
	}
	at = begin(p, TRF_MAJOR_FILE, TRF_FILE_INDEX, c->first_ns);
	buf_u64(&p->b, off);
	buf_u64(&p->b, c->first_ns);
	buf_u64(&p->b, c->last_ns);
	buf_add(&p->b, c->type, 4);
	buf_u32(&p->b, c->stream);
	buf_u32(&p->b, c->nr_records);
	buf_u32(&p->b, c->stored_len);
	end(p, at, TRF_INTS);
}

/* Makes records of the stacks interned since the last call. */
static void gather_stacks(struct trace_writer *w)
{
	struct intern *in = &w->in;
	struct pending *p = &w->stacks;
	uint64_t now = w->samples.nr_records ? w->samples.last_ns : 0;
	size_t at;

	if (in->new_frames.len) {
		at = begin(p, TRF_MAJOR_STACK, TRF_STACK_FRAMES, now);
		buf_u32(&p->b, in->first_new_frame);
		buf_u32(&p->b, in->nr_frames - in->first_new_frame);
		buf_add(&p->b, in->new_frames.data, in->new_frames.len);
		end(p, at, TRF_MIXED);
	}
	if (in->new_nodes.len) {
		at = begin(p, TRF_MAJOR_STACK, TRF_STACK_NODES, now);
		buf_u32(&p->b, in->first_new_node);
		buf_u32(&p->b, in->nr_new_runs);
		buf_add(&p->b, in->new_nodes.data, in->new_nodes.len);
		end(p, at, TRF_MIXED);
	}
	p->stream = w->samples.stream = w->epoch;
	intern_taken(in);
}

int trace_writer_flush(struct trace_writer *w)
{
	write_chunk(w, &w->meta);	/* [1] */
	gather_stacks(w);
	write_chunk(w, &w->stacks);
	write_chunk(w, &w->samples);
	memset(w->weights, 0, sizeof(w->weights));
	if (w->index.nr_records >= INDEX_EVERY)
		write_index(w);
	return w->error;
}

/* Called after each record: writes when a buffer is full. */
static void written(struct trace_writer *w)
{
	size_t pending = w->samples.b.len + w->in.new_frames.len + w->in.new_nodes.len;

	if (w->meta.b.len >= TARGET || pending >= TARGET) {
		trace_writer_flush(w);
		pending = 0;
	}
	if (w->mode != TRACE_NORMAL || w->full)
		return;
	if (w->nr_bytes + pending + MIN_ROOM > w->limit_bytes) {
		/* What is pending may shrink by compression: ask again after it is written. */
		trace_writer_flush(w);
		w->full = w->nr_bytes + 2 * MIN_ROOM > w->limit_bytes;
	}
}

static void finish(struct trace_writer *w, struct pending *p, size_t at, enum trf_type type)
{
	if (!end(p, at, type))
		w->nr_lost++;
	written(w);
}

/* ---- addresses ---- */

static struct address *find_address(struct trace_writer *w, const struct address *a)
{
	size_t mask = w->alloc_addrs - 1;
	size_t at = hash_pair(a->off, (uint64_t)a->module << 8 | a->kind) & mask;

	while (w->addrs[at].kind && (w->addrs[at].off != a->off || w->addrs[at].module != a->module ||
				     w->addrs[at].kind != a->kind))
		at = (at + 1) & mask;
	return &w->addrs[at];
}

static void note_address(void *ctx, const struct frame *f)
{
	struct trace_writer *w = ctx;
	struct address a = { f->b, f->a, f->kind }, *place;

	if (f->kind != FRAME_NATIVE && f->kind != FRAME_KERNEL)
		return;
	if ((w->nr_addrs + 1) * 2 > w->alloc_addrs) {
		struct address *old = w->addrs;
		size_t i, nr = w->alloc_addrs;

		w->alloc_addrs = nr ? nr * 2 : 1024;
		w->addrs = xcalloc(w->alloc_addrs, sizeof(*w->addrs));
		for (i = 0; i < nr; i++)
			if (old[i].kind)
				*find_address(w, &old[i]) = old[i];
		free(old);
	}
	place = find_address(w, &a);
	if (!place->kind)
		w->nr_addrs++;
	*place = a;
}

void trace_writer_each_address(struct trace_writer *w,
			       void (*fn)(void *ctx, uint32_t module, uint64_t off, bool kernel), void *ctx)
{
	size_t i;

	for (i = 0; i < w->alloc_addrs; i++)
		if (w->addrs[i].kind)
			fn(ctx, w->addrs[i].module, w->addrs[i].off, w->addrs[i].kind == FRAME_KERNEL);
}

/* ---- samples ---- */

uint32_t trace_write_stack(struct trace_writer *w, const struct frame *frames, size_t nr_frames)
{
	struct intern *in = &w->in;
	struct frame *cut;
	uint32_t id;

	if (!nr_frames || w->error || w->full)
		return 0;
	if (intern_bytes(in) > w->epoch_bytes || in->nr_frames + nr_frames > TRF_MAX_FRAMES ||
	    in->nr_nodes + nr_frames > TRF_MAX_NODES) {
		trace_writer_flush(w);
		intern_reset(in);
		w->epoch++;
	}
	if (nr_frames <= TRF_MAX_DEPTH)
		return intern_stack(in, frames, nr_frames);
	cut = xmalloc(TRF_MAX_DEPTH * sizeof(*cut));
	cut[0] = (struct frame){ .kind = FRAME_MARK, .b = MARK_TRUNCATED_DEPTH };
	memcpy(cut + 1, frames + nr_frames - (TRF_MAX_DEPTH - 1), (TRF_MAX_DEPTH - 1) * sizeof(*cut));
	id = intern_stack(in, cut, TRF_MAX_DEPTH);
	free(cut);
	return id;
}

void trace_write_sample(struct trace_writer *w, const struct rec_sample *r)
{
	struct pending *p = &w->samples;
	struct trf_sample_weight s = { .s.thread = r->thread, .s.stack = r->stack, .weight = r->weight };
	uint32_t minor = (uint32_t)r->cpu << 16 | (r->user ? TRF_TPROF_USER : 0);
	uint32_t wide = r->event;
	size_t len = sizeof(s);

	if (dead(w))
		return;
	if (w->full) {
		w->nr_lost++;
		return;
	}
	if (r->event >= NR_EVENTS) {
		minor |= TRF_TPROF_WIDE;
	} else if (w->weights[r->event] == r->weight && r->weight) {
		minor |= TRF_TPROF_PLAIN | r->event << 8;
		len = sizeof(s.s);
	} else {
		minor |= TRF_TPROF_WEIGHT | r->event << 8;
		w->weights[r->event] = r->weight;
	}
	s.s.head = (struct trf_record){ len | TRF_INTS, TRF_MAJOR_TPROF, minor, r->time_ns };
	if (r->event >= NR_EVENTS)
		s.s.head.type_len += sizeof(wide);
	buf_add(&p->b, &s, len);
	if (r->event >= NR_EVENTS)
		buf_u32(&p->b, wide);
	note_time(p, r->time_ns);
	if (p->b.len >= TARGET || w->mode == TRACE_NORMAL)
		written(w);
}

/* ---- the rest ---- */

void trace_write_label(struct trace_writer *w, const char *key, const char *fmt, ...)
{
	struct pending *p = &w->meta;
	struct buf val = BUF_INIT;
	va_list ap;
	size_t at;

	if (dead(w))
		return;
	va_start(ap, fmt);
	buf_vfmt(&val, fmt, ap);
	va_end(ap);
	at = begin(p, TRF_MAJOR_LABEL, 0, clock_mono_ns());
	add_str(p, key, strlen(key));
	add_str(p, val.data, val.len);
	finish(w, p, at, TRF_MIXED);
	buf_release(&val);
}

void trace_write_proc(struct trace_writer *w, const struct rec_proc *r)
{
	struct pending *p = &w->meta;
	uint32_t minor = r->exec ? TRF_MTE_EXEC : r->parent ? TRF_MTE_FORK : TRF_MTE_PROC;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, minor, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->parent);
	buf_u32(&p->b, r->pid);
	add_str(p, r->comm, r->comm_len);
	finish(w, p, at, TRF_MIXED);
}

void trace_write_thread(struct trace_writer *w, const struct rec_thread *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, r->java ? TRF_MTE_JAVA_THREAD : TRF_MTE_THREAD, r->time_ns);
	buf_u32(&p->b, r->thread);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->tid);
	add_str(p, r->name, r->name_len);
	finish(w, p, at, TRF_MIXED);
}

void trace_write_end(struct trace_writer *w, const struct rec_end *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, r->thread ? TRF_MTE_THREAD_END : TRF_MTE_PROC_END, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->thread);
	buf_u32(&p->b, r->status);
	finish(w, p, at, TRF_INTS);
}

void trace_write_module(struct trace_writer *w, const struct rec_module *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, TRF_MTE_MODULE, r->time_ns);
	buf_u32(&p->b, r->module);
	buf_u32(&p->b, r->flags);
	buf_u64(&p->b, r->dev);
	buf_u64(&p->b, r->inode);
	buf_u64(&p->b, r->size);
	buf_u64(&p->b, r->mtime_ns);
	add_str(p, (const char *)r->build_id, r->build_id_len);
	add_str(p, r->path, r->path_len);
	finish(w, p, at, TRF_MIXED);
}

void trace_write_map(struct trace_writer *w, const struct rec_map *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, TRF_MTE_MAP, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->module);
	buf_u64(&p->b, r->addr);
	buf_u64(&p->b, r->size);
	buf_u64(&p->b, r->pgoff);
	finish(w, p, at, TRF_INTS);
}

void trace_write_symbol(struct trace_writer *w, const struct rec_symbol *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_SYMBOL, TRF_SYMBOL_NAME, w->samples.last_ns);
	buf_u64(&p->b, r->off);
	buf_u64(&p->b, r->size);
	buf_u32(&p->b, r->module);
	add_str(p, r->name, r->name_len);
	finish(w, p, at, TRF_MIXED);
}

void trace_write_line(struct trace_writer *w, const struct rec_line *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_SYMBOL, TRF_SYMBOL_LINE, w->samples.last_ns);
	buf_u64(&p->b, r->off);
	buf_u32(&p->b, r->module);
	buf_u32(&p->b, r->depth);
	buf_u32(&p->b, r->nr_depth);
	buf_u32(&p->b, r->line);
	add_str(p, r->func, r->func_len);
	add_str(p, r->file, r->file_len);
	finish(w, p, at, TRF_MIXED);
}

void trace_write_method(struct trace_writer *w, const struct rec_method *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, TRF_MTE_METHOD, r->time_ns);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->method);
	add_str(p, r->class_name, r->class_len);
	add_str(p, r->name, r->name_len);
	add_str(p, r->sig, r->sig_len);
	add_str(p, r->source, r->source_len);
	finish(w, p, at, TRF_MIXED);
}

void trace_write_code(struct trace_writer *w, const struct rec_code *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, TRF_MTE_CODE, r->time_ns);
	buf_u64(&p->b, r->addr);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->method);
	buf_u32(&p->b, r->compile_id);
	buf_u32(&p->b, r->level);
	buf_u32(&p->b, r->size);
	add_str(p, (const char *)r->inl, r->inl_len);
	finish(w, p, at, TRF_MIXED);
}

void trace_write_code_gone(struct trace_writer *w, const struct rec_code_gone *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, TRF_MTE_CODE_GONE, r->time_ns);
	buf_u64(&p->b, r->addr);
	buf_u32(&p->b, r->proc);
	buf_u32(&p->b, r->compile_id);
	finish(w, p, at, TRF_INTS);
}

void trace_write_stub(struct trace_writer *w, const struct rec_stub *r)
{
	struct pending *p = &w->meta;
	size_t at;

	if (dead(w))
		return;
	at = begin(p, TRF_MAJOR_MTE, TRF_MTE_STUB, r->time_ns);
	buf_u64(&p->b, r->addr);
	buf_u64(&p->b, r->size);
	buf_u32(&p->b, r->proc);
	add_str(p, r->name, r->name_len);
	finish(w, p, at, TRF_MIXED);
}

static void put_lost(struct trace_writer *w, const struct rec_lost *r)
{
	struct pending *p = &w->meta;
	size_t at = begin(p, TRF_MAJOR_LOST, r->cause, r->time_ns);

	buf_u32(&p->b, r->cause);
	buf_u32(&p->b, r->stream);
	buf_u64(&p->b, r->count);
	finish(w, p, at, TRF_INTS);
}

void trace_write_lost(struct trace_writer *w, const struct rec_lost *r)
{
	if (!dead(w))
		put_lost(w, r);
}

/* ---- opening and closing ---- */

static void write_schema(struct trace_writer *w, uint64_t time_ns)
{
	struct pending p = { .type = TRF_SCHEMA };
	unsigned int i;

	for (i = 0; i < nr_schema_rows; i++) {
		const struct schema_row *r = &schema_rows[i];
		size_t at = begin(&p, TRF_MAJOR_FILE, TRF_FILE_SCHEMA, time_ns);

		buf_u32(&p.b, r->major);
		buf_u32(&p.b, r->minor);
		buf_u32(&p.b, r->minor_mask);
		add_str(&p, r->name, strlen(r->name));
		add_str(&p, r->fields, strlen(r->fields));
		end(&p, at, TRF_MIXED);
	}
	write_chunk(w, &p);
	buf_release(&p.b);
}

static int write_header(struct trace_writer *w)
{
	struct trf_header h = {
		.version = TRF_VERSION,
		.header_size = sizeof(h),
		.mode = w->mode,
		.start_real_ns = clock_real_ns(),
		.start_mono_ns = clock_mono_ns(),
	};
	int r;

	memcpy(h.magic, TRF_MAGIC, sizeof(h.magic));
	h.crc = crc(&h, offsetof(struct trf_header, crc));
	r = store(w, &h, sizeof(h));
	if (!r)
		write_schema(w, h.start_mono_ns);
	return r ? r : w->error;
}

/*
 * A regular file of that name becomes PATH.old; nothing else is ever renamed.  1 when there
 * is a device or a pipe to be written to as it is.
 */
static int make_way(const char *path, struct err *e)
{
	struct stat st;
	char *old;
	int r = 0;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_errno(e, "%s", path);
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))
		return 1;
	if (!S_ISREG(st.st_mode))
		return err_set(e, EEXIST, "%s: exists and is not a regular file", path);
	old = xasprintf("%s.old", path);
	if (!lstat(old, &st) && !S_ISREG(st.st_mode))
		r = err_set(e, EEXIST, "%s: exists and is not a regular file", old);
	else if (rename(path, old) < 0)
		r = err_errno(e, "%s: cannot be renamed to %s", path, old);
	free(old);
	return r;
}

static int open_file(struct trace_writer *w, const char *path, struct err *e)
{
	int flags = O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
	struct stat st;
	int r;

	if (!strcmp(path, "-")) {
		w->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return w->fd < 0 ? err_errno(e, "standard output") : 0;
	}
	r = make_way(path, e);
	if (r < 0)
		return r;
	w->fd = r ? open(path, flags) : open(path, flags | O_CREAT | O_EXCL, 0600);
	if (w->fd < 0 || fstat(w->fd, &st) < 0)
		return err_errno(e, "%s", path);
	if (r && S_ISREG(st.st_mode))
		return err_set(e, EEXIST, "%s: became a regular file just now", path);
	w->seekable = !r;
	return 0;
}

static void free_writer(struct trace_writer *w)
{
	if (w->fd >= 0)
		close(w->fd);
	deflateEnd(&w->z);
	intern_release(&w->in);
	buf_release(&w->meta.b);
	buf_release(&w->stacks.b);
	buf_release(&w->samples.b);
	buf_release(&w->index.b);
	buf_release(&w->out);
	buf_release(&w->columns);
	free(w->addrs);
	free(w);
}

int trace_writer_open(struct trace_writer **wp, const char *path, const struct trace_writer_opts *o,
		      struct err *e)
{
	struct trace_writer *w;
	int r;

	*wp = NULL;
	if (o->mode == TRACE_WRAP)
		return err_set(e, EOPNOTSUPP, "%s: mode wrap is not there yet", path);
	if (o->mode == TRACE_NORMAL && o->limit_bytes < 64 << 10)
		return err_set(e, EINVAL, "%s: a trace of %" PRIu64 " bytes is too small, 64 KiB is the least",
			       path, o->limit_bytes);
	w = xcalloc(1, sizeof(*w));
	w->fd = -1;
	w->mode = o->mode;
	w->compress = o->compress;
	w->limit_bytes = o->limit_bytes;
	w->epoch_bytes = o->epoch_bytes ? o->epoch_bytes : EPOCH_BYTES;
	w->epoch = 1;
	w->meta.type = TRF_META;
	w->stacks.type = TRF_STACKS;
	w->samples.type = TRF_SAMPLES;
	w->index.type = TRF_INDEX;
	intern_init(&w->in);
	w->in.on_frame = note_address;
	w->in.ctx = w;
	if (deflateInit(&w->z, 1) != Z_OK) {
		r = err_set(e, ENOMEM, "%s: zlib cannot start", path);
		goto out;
	}
	r = open_file(w, path, e);
	if (r)
		goto out;
	r = write_header(w);
	if (r)
		r = err_set(e, -r, "%s: %s", path, w->error_msg);
out:
	if (r)
		free_writer(w);
	else
		*wp = w;
	return r;
}

static void write_end(struct trace_writer *w)
{
	struct pending p = { .type = TRF_END };
	size_t at = begin(&p, TRF_MAJOR_FILE, TRF_FILE_END, clock_mono_ns());

	buf_u64(&p.b, w->index_off);
	buf_u64(&p.b, w->nr_samples);
	buf_u64(&p.b, w->nr_records);
	buf_u64(&p.b, w->nr_lost);
	buf_u64(&p.b, clock_real_ns());
	buf_u32(&p.b, w->seq);
	end(&p, at, TRF_INTS);
	write_chunk(w, &p);
	buf_release(&p.b);
}

int trace_writer_close(struct trace_writer *w, struct err *e)
{
	int first, r = 0;

	trace_writer_flush(w);
	/*
	 * After a failure there is often room for this much: the chunk that did not fit
	 * was larger.
	 */
	first = w->error;
	w->error = 0;
	if (w->nr_lost)
		put_lost(w, &(struct rec_lost){ clock_mono_ns(), LOST_FILE, 0, w->nr_lost });
	trace_writer_flush(w);
	if (!w->error) {
		write_index(w);
		write_end(w);
	}
	if (first)
		w->error = first;
	if (w->error)
		r = err_set(e, -w->error, "%s", w->error_msg);
	if (close(w->fd) < 0 && !r)
		r = err_errno(e, "closing the trace");
	w->fd = -1;
	free_writer(w);
	return r;
}

int trace_writer_error(const struct trace_writer *w)
{
	return w->error;
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->nr_bytes;
}

uint64_t trace_writer_lost(const struct trace_writer *w)
{
	return w->nr_lost;
}
