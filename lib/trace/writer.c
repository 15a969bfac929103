// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * writer.c - gathers records in three buffers and writes each as a chunk.
 *
 * Invariants, cited below as [n]:
 *  [1] a flush writes metadata, then stacks, then samples: what a sample refers to is in the
 *      file before it, unless the disk was full;
 *  [2] a chunk's payload is at most TARGET + TRF_MAX_RECORD bytes, which is below TRF_MAX_RAW.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "trace/carry.h"
#include "trace/dispatch.h"
#include "trace/intern.h"
#include "trace/outfile.h"
#include "trace/writer_priv.h"

enum {
	TARGET = 256 << 10,		/* a buffer this full becomes a chunk */
	INDEX_EVERY = 4096,		/* chunks; bounds the memory of the index */
	MIN_ROOM = 4096,		/* mode normal ends when less is left */
	EPOCH_BYTES = 64 << 20,
	ADDRESSES_MIN = 1024,
	ADDRESSES_MAX = 1 << 20,	/* more than such a table is emptied before the next file */
	NR_EVENTS = 255,		/* that fit in a plain sample */
};

static_assert(TARGET + TRF_MAX_RECORD <= TRF_MAX_RAW, "[2]");

/* The (kernel, module, offset) of a frame. */
struct address {
	uint64_t off;
	uint32_t module;
	uint16_t kind;			/* FRAME_NATIVE, FRAME_KERNEL; FRAME_NONE: free */
	bool told;			/* by trace_writer_each_address() */
	bool named;			/* with carry: sym_off is of its symbol */
	uint64_t sym_off;
};

struct trace_writer {
	struct outfile out;
	enum trace_mode mode;
	bool bounded;			/* by limit_bytes */
	bool full;			/* that is reached: no more samples */
	uint64_t limit_bytes, epoch_bytes;
	uint64_t name_bytes;		/* of the file, those that its limit does not count */
	uint64_t nr_records, nr_samples, nr_lost;
	uint64_t nr_lost_samples;	/* of nr_lost: what reports count */
	uint32_t epoch;

	struct records meta, stacks, samples, branches, calls, index;
	struct dispatches sched;
	uint64_t nr_lost_sched;
	uint64_t stopped_ns;		/* what mode normal did not store began then; 0: it stores */
	uint64_t nr_after, nr_after_sched;
	uint64_t index_off;		/* of the latest index chunk */
	uint64_t weights[NR_EVENTS];	/* of the sample chunk being filled; 0: not said yet */

	struct intern in;
	void (*on_sample)(void *ctx, const struct rec_sample *r);
	void *sample_ctx;
	void (*on_java)(void *ctx, const struct frame *f);
	void *java_ctx;
	struct address *addrs;
	size_t nr_addrs, alloc_addrs, nr_untold;

	struct carry *carry;		/* NULL: this is the only file */
	struct trace_writer_opts opts;
	bool passing;			/* what is written is of this file alone */
	bool drops_symbols;		/* at the next file */
	/* what the counts below had reached at the end of previous files */
	struct {
		uint64_t nr_bytes, nr_lost, nr_lost_samples, nr_lost_sched;
	} before;
	uint64_t begun_ns;		/* the file */
	bool closed;			/* there is no file */
	bool loss_told;			/* in the file that was ended last */
	struct {			/* lost in files before, and in none of them */
		uint64_t nr_samples, nr_sched;
	} untold;
};

/* ---- chunks ---- */

static void index_chunk(struct trace_writer *w, const struct trf_chunk *c, uint64_t off)
{
	struct records *p = &w->index;
	size_t at = records_begin(p, TRF_MAJOR_FILE, TRF_FILE_INDEX, c->first_ns);

	buf_u64(&p->b, off);
	buf_u64(&p->b, c->first_ns);
	buf_u64(&p->b, c->last_ns);
	buf_add(&p->b, c->type, 4);
	buf_u32(&p->b, c->stream);
	buf_u32(&p->b, c->nr_records);
	buf_u32(&p->b, c->stored_len);
	records_end(p, at, TRF_INTS);
}

/* Write what p holds as a chunk, and empty it. */
static int write_chunk(struct trace_writer *w, struct records *p)
{
	uint64_t off = w->out.nr_bytes, nr = p->nr;
	struct trf_chunk c;
	int r;

	if (!p->b.len)
		return 0;
	r = outfile_chunk(&w->out, p, p == &w->samples ? sizeof(struct trf_sample) : 0, &c);
	records_reset(p);
	if (!r) {
		if (w->opts.file_bytes && (p == &w->meta || p == &w->index))
			w->name_bytes += w->out.nr_bytes - off;
		w->nr_records += nr;
		if (p == &w->samples)
			w->nr_samples += nr;
		index_chunk(w, &c, off);	/* an index begins with the one before: the chain is whole */
	} else if (p != &w->stacks && p != &w->index) {
		w->nr_lost += nr;
		if (p == &w->samples)
			w->nr_lost_samples += nr;
		if (p == &w->sched.r)
			w->nr_lost_sched += w->sched.nr;
	}
	return r;
}

static void write_index(struct trace_writer *w)
{
	uint64_t off = w->out.nr_bytes;

	if (!write_chunk(w, &w->index))
		w->index_off = off;
}

/* Makes records of the stacks interned since the last call. */
static void gather_stacks(struct trace_writer *w)
{
	struct intern *in = &w->in;
	struct records *p = &w->stacks;
	uint64_t now = w->samples.nr ? w->samples.last_ns : 0;
	size_t at;

	if (in->new_frames.len) {
		at = records_begin(p, TRF_MAJOR_STACK, TRF_STACK_FRAMES, now);
		buf_u32(&p->b, in->first_new_frame);
		buf_u32(&p->b, in->nr_frames - in->first_new_frame);
		buf_add(&p->b, in->new_frames.data, in->new_frames.len);
		records_end(p, at, TRF_MIXED);
	}
	if (in->new_nodes.len) {
		at = records_begin(p, TRF_MAJOR_STACK, TRF_STACK_NODES, now);
		buf_u32(&p->b, in->first_new_node);
		buf_u32(&p->b, in->nr_new_runs);
		buf_add(&p->b, in->new_nodes.data, in->new_nodes.len);
		records_end(p, at, TRF_MIXED);
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
	write_chunk(w, &w->branches);
	write_chunk(w, &w->calls);
	dispatches_close(&w->sched);
	write_chunk(w, &w->sched.r);
	w->sched.nr = 0;
	memset(w->weights, 0, sizeof(w->weights));
	if (w->index.nr >= INDEX_EVERY)
		write_index(w);
	return w->out.error;
}

/* Write when a buffer is full; called after each record. */
static void written(struct trace_writer *w)
{
	size_t pending = w->samples.b.len + w->in.new_frames.len + w->in.new_nodes.len + w->sched.r.b.len;

	if (w->meta.b.len >= TARGET || pending >= TARGET || w->branches.b.len >= TARGET ||
	    w->calls.b.len >= TARGET) {
		trace_writer_flush(w);
		pending = 0;
	}
	if (!w->bounded || w->full)
		return;
	if (w->out.nr_bytes - w->name_bytes + pending + MIN_ROOM > w->limit_bytes) {
		/* pending data may shrink by compression, so check again after writing it */
		trace_writer_flush(w);
		w->full = w->out.nr_bytes - w->name_bytes + 2 * MIN_ROOM > w->limit_bytes;
	}
}

/* Return whether mode normal has reached its limit: what it does not store from now on is not lost. */
static bool stopped(struct trace_writer *w, uint64_t time_ns, enum lost_cause cause)
{
	if (w->opts.file_bytes)
		return false;
	if (!w->stopped_ns) {	/* at once, for those who read what a killed recorder left */
		w->stopped_ns = time_ns;
		trace_write_lost(w, &(struct rec_lost){ time_ns, cause, 0, 0 });
		trace_writer_flush(w);
	}
	return true;
}

void writer_finish(struct trace_writer *w, struct records *p, size_t at, enum trf_type type)
{
	if (!records_end(p, at, type))
		w->nr_lost++;
	written(w);
}

/* Return whether the writer takes nothing more, so that the current record is lost. */
static bool dead(struct trace_writer *w)
{
	if (w->out.error)
		w->nr_lost++;
	return w->out.error;
}

struct records *writer_meta(struct trace_writer *w)
{
	return dead(w) ? NULL : &w->meta;
}

struct records *writer_branches(struct trace_writer *w)
{
	return dead(w) ? NULL : &w->branches;
}

struct records *writer_calls(struct trace_writer *w)
{
	return dead(w) ? NULL : &w->calls;
}

bool writer_has_room(const struct trace_writer *w)
{
	return !w->full || !w->opts.file_bytes;
}

struct carry *writer_carry(const struct trace_writer *w)
{
	return w->carry;
}

bool writer_keeps(const struct trace_writer *w)
{
	return w->carry && !w->passing;
}

uint64_t writer_now(const struct trace_writer *w)
{
	return w->samples.last_ns;
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

/* Replace the table by one with room for alloc addresses. */
static void renew_addresses(struct trace_writer *w, size_t alloc)
{
	struct address *old = w->addrs;
	size_t i, nr = w->alloc_addrs;

	w->alloc_addrs = alloc;
	w->addrs = xcalloc(w->alloc_addrs, sizeof(*w->addrs));
	for (i = 0; i < nr; i++)
		if (old[i].kind)
			*find_address(w, &old[i]) = old[i];
	free(old);
}

static void note_address(void *ctx, const struct frame *f)
{
	struct trace_writer *w = ctx;
	struct address a, *place;

	if (w->carry)
		carry_frame(w->carry, f);
	if (w->on_java && (f->kind == FRAME_JIT || f->kind == FRAME_INTERP))
		w->on_java(w->java_ctx, f);
	if (f->kind != FRAME_NATIVE && f->kind != FRAME_KERNEL)
		return;
	a = (struct address){ f->off, f->module, f->kind };
	if ((w->nr_addrs + 1) * 2 > w->alloc_addrs)
		renew_addresses(w, w->alloc_addrs ? w->alloc_addrs * 2 : ADDRESSES_MIN);
	place = find_address(w, &a);
	if (!place->kind) {
		w->nr_addrs++;
		w->nr_untold++;
		*place = a;
	} else if (place->named) {
		carry_symbol(w->carry, a.module, place->sym_off, a.off);
	}
}

void trace_writer_named(struct trace_writer *w, uint32_t module, uint64_t off, bool kernel, uint64_t sym_off)
{
	struct address a = { off, module, kernel ? FRAME_KERNEL : FRAME_NATIVE }, *place;

	if (!w->carry || !w->alloc_addrs)
		return;
	place = find_address(w, &a);
	place->named = place->kind;
	place->sym_off = sym_off;
}

size_t trace_writer_nr_unnamed(const struct trace_writer *w)
{
	return w->nr_untold;
}

void trace_writer_drop_symbols(struct trace_writer *w)
{
	w->drops_symbols = true;
}

void trace_writer_note(struct trace_writer *w, const struct frame *f)
{
	note_address(w, f);
}

void trace_writer_on_java(struct trace_writer *w, void (*fn)(void *ctx, const struct frame *f), void *ctx)
{
	w->on_java = fn;
	w->java_ctx = ctx;
}

void trace_writer_on_sample(struct trace_writer *w, void (*fn)(void *ctx, const struct rec_sample *r),
			     void *ctx)
{
	w->on_sample = fn;
	w->sample_ctx = ctx;
}

void trace_writer_each_address(struct trace_writer *w,
			       void (*fn)(void *ctx, uint32_t module, uint64_t off, bool kernel), void *ctx)
{
	size_t i;

	for (i = 0; i < w->alloc_addrs && w->nr_untold; i++) {
		struct address *a = &w->addrs[i];

		if (a->kind && !a->told)
			fn(ctx, a->module, a->off, a->kind == FRAME_KERNEL);
		a->told = a->kind;
	}
	w->nr_untold = 0;
}

/* ---- samples ---- */

uint32_t trace_write_stack(struct trace_writer *w, const struct frame *frames, size_t nr_frames)
{
	return trace_write_changed_stack(w, frames, nr_frames, 0);
}

uint32_t trace_write_changed_stack(struct trace_writer *w, const struct frame *frames, size_t nr_frames,
				   size_t nr_same)
{
	struct intern *in = &w->in;
	struct frame *cut;
	uint32_t id;

	if (!nr_frames || w->out.error || w->full) {
		in->nr_prefixes = 0;
		return 0;
	}
	if (intern_bytes(in) > w->epoch_bytes || in->nr_frames + nr_frames > TRF_MAX_FRAMES ||
	    in->nr_nodes + nr_frames > TRF_MAX_NODES) {
		trace_writer_flush(w);
		intern_reset(in);
		w->epoch++;
	}
	if (nr_frames <= TRF_MAX_DEPTH)
		return intern_stack(in, frames, nr_frames, nr_same);
	cut = xmalloc(TRF_MAX_DEPTH * sizeof(*cut));
	cut[0] = (struct frame){ .kind = FRAME_MARK, .mark = MARK_TRUNCATED_DEPTH };
	memcpy(cut + 1, frames + nr_frames - (TRF_MAX_DEPTH - 1), (TRF_MAX_DEPTH - 1) * sizeof(*cut));
	id = intern_stack(in, cut, TRF_MAX_DEPTH, 0);
	in->nr_prefixes = 0;
	free(cut);
	return id;
}

void trace_write_sample(struct trace_writer *w, const struct rec_sample *r)
{
	struct records *p = &w->samples;
	struct trf_sample_weight s = { .s.thread = r->thread, .s.stack = r->stack, .weight = r->weight };
	uint32_t minor = (uint32_t)r->cpu << 16 | (r->user ? TRF_TPROF_USER : 0);
	bool wide = r->event >= NR_EVENTS || r->more;
	size_t len = sizeof(s);

	if (w->carry)
		carry_thread(w->carry, r->thread);
	if (dead(w)) {
		w->nr_lost_samples++;
		return;
	}
	if (w->full && stopped(w, r->time_ns, LOST_STOPPED)) {
		w->nr_after++;
		return;
	}
	if (w->full) {
		w->nr_lost++;
		w->nr_lost_samples++;
		return;
	}
	if (w->on_sample)
		w->on_sample(w->sample_ctx, r);
	if (wide) {
		minor |= r->more ? TRF_TPROF_SUM : TRF_TPROF_WIDE;
	} else if (w->weights[r->event] == r->weight && r->weight) {
		minor |= TRF_TPROF_PLAIN | r->event << 8;
		len = sizeof(s.s);
	} else {
		minor |= TRF_TPROF_WEIGHT | r->event << 8;
		w->weights[r->event] = r->weight;
	}
	s.s.head = (struct trf_record){ len | TRF_INTS, TRF_MAJOR_TPROF, minor, r->time_ns };
	if (wide)
		s.s.head.type_len += sizeof(uint32_t) + (r->more ? sizeof(uint64_t) : 0);
	buf_add(&p->b, &s, len);
	if (wide)
		buf_u32(&p->b, r->event);
	if (r->more)
		buf_u64(&p->b, 1 + (uint64_t)r->more);
	records_note(p, r->time_ns);
	if (p->b.len >= TARGET || w->bounded)
		written(w);
}

/* ---- dispatches ---- */

static void need_dispatch(struct trace_writer *w, const struct rec_sched *r)
{
	carry_thread(w->carry, r->thread);
	if (r->kind == SCHED_SWITCH || r->kind == SCHED_WAKE)
		carry_thread(w->carry, r->arg);
}

void trace_write_sched(struct trace_writer *w, const struct rec_sched *r)
{
	if (!w->out.error && w->full && stopped(w, r->time_ns, LOST_SCHED_STOPPED)) {
		w->nr_after_sched++;
		return;
	}
	if (w->out.error || w->full) {
		w->nr_lost++;
		w->nr_lost_sched++;
		return;
	}
	if (w->carry)
		need_dispatch(w, r);
	dispatches_add(&w->sched, r);
	if (w->sched.r.b.len >= TARGET || w->bounded)
		written(w);
}

uint64_t trace_writer_lost_sched(const struct trace_writer *w)
{
	return w->before.nr_lost_sched + w->nr_lost_sched;
}

uint64_t trace_writer_stopped(const struct trace_writer *w, uint64_t *nr_samples, uint64_t *nr_sched)
{
	*nr_samples = w->nr_after;
	*nr_sched = w->nr_after_sched;
	return w->stopped_ns;
}

/* ---- opening and closing ---- */

static void write_schema(struct trace_writer *w, uint64_t time_ns)
{
	struct records p = { .type = TRF_SCHEMA };
	unsigned int i;

	for (i = 0; i < nr_record_rows; i++) {
		const struct record_row *r = &record_rows[i];
		size_t at = records_begin(&p, TRF_MAJOR_FILE, TRF_FILE_SCHEMA, time_ns);

		buf_u32(&p.b, r->code.major);
		buf_u32(&p.b, r->code.minor);
		buf_u32(&p.b, r->code.minor_mask);
		records_str(&p, r->name, strlen(r->name));
		records_str(&p, r->fields, strlen(r->fields));
		records_end(&p, at, TRF_MIXED);
	}
	write_chunk(w, &p);
	buf_release(&p.b);
}

static int writer_write_header(struct trace_writer *w)
{
	struct trf_header h = {
		.version = TRF_VERSION,
		.header_size = sizeof(h),
		.flags = w->opts.until_closed ? TRF_SEGMENT : 0,
		.mode = w->mode,
		.start_real_ns = clock_real_ns(),
		.start_mono_ns = clock_mono_ns(),
	};
	int r;

	memcpy(h.magic, TRF_MAGIC, sizeof(h.magic));
	h.crc = crc32(0, (Bytef *)&h, offsetof(struct trf_header, crc));
	r = outfile_store(&w->out, &h, sizeof(h));
	if (!r)
		write_schema(w, h.start_mono_ns);
	return r ? r : w->out.error;
}
static void free_writer(struct trace_writer *w)
{
	intern_release(&w->in);
	buf_release(&w->meta.b);
	buf_release(&w->stacks.b);
	buf_release(&w->samples.b);
	buf_release(&w->branches.b);
	buf_release(&w->calls.b);
	buf_release(&w->sched.r.b);
	buf_release(&w->index.b);
	carry_free(w->carry);
	free(w->addrs);
	free(w);
}

/* Write a record of an earlier file, which this one needs. */
static void carried(void *ctx, const void *record, size_t len)
{
	struct trace_writer *w = ctx;

	if (w->out.error)
		return;
	buf_add(&w->meta.b, record, len);
	records_note(&w->meta, w->begun_ns);
	if (w->meta.b.len >= TARGET)
		write_chunk(w, &w->meta);	/* [2] */
}

static struct trace_writer *new_writer(const struct trace_writer_opts *o)
{
	struct trace_writer *w = xcalloc(1, sizeof(*w));

	w->mode = o->mode;
	w->bounded = o->mode == TRACE_NORMAL || o->file_bytes;
	w->limit_bytes = o->file_bytes ? o->file_bytes : o->limit_bytes;
	w->epoch_bytes = o->epoch_bytes ? MIN(o->epoch_bytes, (uint64_t)EPOCH_BYTES) : EPOCH_BYTES;
	w->epoch = 1;
	w->meta.type = TRF_META;
	w->stacks.type = TRF_STACKS;
	w->samples.type = TRF_SAMPLES;
	w->branches.type = TRF_BRANCHES;
	w->calls.type = TRF_CALLS;
	w->sched.r.type = TRF_SCHED;
	w->index.type = TRF_INDEX;
	intern_init(&w->in);
	w->in.on_frame = note_address;
	w->in.ctx = w;
	w->opts = *o;
	if (o->carry)
		w->carry = carry_new(carried, w);
	return w;
}

static int writer_open_file(struct trace_writer *w, const char *path, struct err *e)
{
	const struct trace_writer_opts *o = &w->opts;
	const struct outfile_opts how = { .dir_fd = o->dir_fd, .until_closed = o->until_closed,
		.compress = o->compress, .whole = o->whole };

	w->begun_ns = clock_mono_ns();
	return o->take ? outfile_open_taken(&w->out, o->take, o->take_ctx, e) :
			 outfile_open(&w->out, path, &how, e);
}

int trace_writer_open(struct trace_writer **wp, const char *path, const struct trace_writer_opts *o,
		      struct err *e)
{
	struct trace_writer *w;
	int r;

	*wp = NULL;
	if (o->mode == TRACE_WRAP)
		return err_set(e, EOPNOTSUPP, "%s: mode wrap is not supported yet", path);
	if (o->mode == TRACE_NORMAL && o->limit_bytes < 64 << 10)
		return err_set(e, EINVAL, "%s: a trace of %" PRIu64 " bytes is too small, it must be at least 64 KiB",
			       path, o->limit_bytes);
	w = new_writer(o);
	r = writer_open_file(w, path, e);
	if (r) {
		free_writer(w);
		return r;
	}
	r = writer_write_header(w);
	if (r) {
		r = err_set(e, -r, "%s: %s", path, w->out.error_msg);
		trace_writer_discard(w);
		return r;
	}
	*wp = w;
	return 0;
}

int trace_writer_commit(struct trace_writer *w, struct err *e)
{
	return outfile_commit(&w->out, e);
}

void trace_writer_discard(struct trace_writer *w)
{
	outfile_release(&w->out);
	free_writer(w);
}

static void writer_write_end(struct trace_writer *w)
{
	struct records p = { .type = TRF_END };
	size_t at = records_begin(&p, TRF_MAJOR_FILE, TRF_FILE_END, clock_mono_ns());

	buf_u64(&p.b, w->index_off);
	buf_u64(&p.b, w->nr_samples);
	buf_u64(&p.b, w->nr_records);
	buf_u64(&p.b, w->nr_lost);
	buf_u64(&p.b, clock_real_ns());
	buf_u32(&p.b, w->out.seq);
	records_end(&p, at, TRF_INTS);
	write_chunk(w, &p);
	buf_release(&p.b);
}

static void tell_loss(struct trace_writer *w, uint64_t nr_samples, uint64_t nr_sched)
{
	const uint64_t stopped_ns = w->stopped_ns;

	if (w->nr_after_sched)
		trace_write_lost(w,
				 &(struct rec_lost){ stopped_ns, LOST_SCHED_STOPPED, 0, w->nr_after_sched });
	if (w->nr_after)
		trace_write_lost(w, &(struct rec_lost){ stopped_ns, LOST_STOPPED, 0, w->nr_after });
	if (nr_sched)
		trace_write_lost(w, &(struct rec_lost){ clock_mono_ns(), LOST_SCHED, 0, nr_sched });
	if (nr_samples)
		trace_write_lost(w, &(struct rec_lost){ clock_mono_ns(), LOST_FILE, 0, nr_samples });
}

/* Ends the file in order, whatever had gone wrong. */
static int writer_end_file(struct trace_writer *w, struct err *e)
{
	int first;

	trace_writer_flush(w);
	/* After a failure there is often room for this much: the chunk that did not fit was larger. */
	first = w->out.error;
	w->out.error = 0;
	tell_loss(w, w->nr_lost_samples + w->untold.nr_samples, w->nr_lost_sched + w->untold.nr_sched);
	trace_writer_flush(w);
	w->loss_told = !w->out.error;
	if (!w->out.error) {
		write_index(w);
		writer_write_end(w);
	}
	if (first)
		w->out.error = first;
	return outfile_close(&w->out, e);
}

int trace_writer_close(struct trace_writer *w, struct err *e)
{
	int r = w->closed ? 0 : writer_end_file(w, e);

	free_writer(w);
	return r;
}

/* Count the file: counts are of one file, reports of all. */
static void count_file(struct trace_writer *w)
{
	w->untold.nr_samples = w->loss_told ? 0 : w->untold.nr_samples + w->nr_lost_samples;
	w->untold.nr_sched = w->loss_told ? 0 : w->untold.nr_sched + w->nr_lost_sched;
	w->loss_told = false;
	w->before.nr_bytes += w->out.nr_bytes;
	w->before.nr_lost += w->nr_lost;
	w->before.nr_lost_samples += w->nr_lost_samples;
	w->before.nr_lost_sched += w->nr_lost_sched;
	w->nr_records = w->nr_samples = w->nr_lost = w->nr_lost_samples = w->nr_lost_sched = 0;
	w->index_off = 0;
	w->out.nr_bytes = w->name_bytes = 0;
}

static void forget_addresses(struct trace_writer *w)
{
	free(w->addrs);
	w->addrs = NULL;
	w->nr_addrs = w->alloc_addrs = w->nr_untold = 0;
}

/* Close: nothing is written until there is a file, and what is left out is counted. */
static void be_closed(struct trace_writer *w, int error)
{
	w->closed = true;
	w->out = (struct outfile){ .file = { .fd = -1, .at.dir = -1 }, .error = error };
}

int trace_writer_next(struct trace_writer *w, const char *path, bool *opened, struct err *e)
{
	struct err why;
	int r = w->closed ? 0 : writer_end_file(w, e), opening;

	count_file(w);
	records_reset(&w->index);
	intern_reset(&w->in);
	w->epoch = 1;
	w->full = false;
	opening = writer_open_file(w, path, &why);
	if (!opening && (opening = writer_write_header(w)))
		err_set(&why, -opening, "%s: %s", path, w->out.error_msg);
	*opened = !opening;
	w->closed = false;
	if (carry_next(w->carry, w->drops_symbols || w->nr_addrs > ADDRESSES_MAX))
		forget_addresses(w);
	w->drops_symbols = false;
	if (!opening)
		return r;
	outfile_release(&w->out);
	be_closed(w, opening);
	if (!r)
		*e = why;
	return r ? r : opening;
}

void trace_writer_standing(struct trace_writer *w, bool on)
{
	trace_writer_flush(w);
	w->samples.flags = on ? TRF_STANDING : 0;
}

void trace_writer_keep(struct trace_writer *w, bool keep)
{
	w->passing = !keep;
}

void trace_writer_forget_proc(struct trace_writer *w, uint32_t proc)
{
	if (w->carry)
		carry_forget_proc(w->carry, proc);
}

void trace_writer_forget_thread(struct trace_writer *w, uint32_t thread)
{
	if (w->carry)
		carry_forget_thread(w->carry, thread);
}

void trace_writer_forget_function(struct trace_writer *w, uint32_t function)
{
	if (w->carry)
		carry_forget_function(w->carry, function);
}

void trace_writer_forget_modules(struct trace_writer *w, const struct map *modules)
{
	size_t i, alloc = ADDRESSES_MIN;

	for (i = 0; w->carry && i < modules->alloc; i++)
		if (modules->slots[i].val != MAP_NONE)
			carry_forget_module(w->carry, modules->slots[i].key);
	for (i = 0; i < w->alloc_addrs; i++) {
		struct address *a = &w->addrs[i];

		if (!a->kind || map_get(modules, a->module) == MAP_NONE)
			continue;
		w->nr_untold -= !a->told;
		w->nr_addrs--;
		a->kind = FRAME_NONE;
	}
	while (alloc < (w->nr_addrs + 1) * 2)
		alloc *= 2;
	renew_addresses(w, alloc);
}

bool trace_writer_is_full(const struct trace_writer *w)
{
	return w->full;
}

int trace_writer_error(const struct trace_writer *w)
{
	return w->out.error;
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->before.nr_bytes + w->out.nr_bytes;
}

uint64_t trace_writer_lost_samples(const struct trace_writer *w)
{
	return w->before.nr_lost_samples + w->nr_lost_samples;
}

uint64_t trace_writer_lost(const struct trace_writer *w)
{
	return w->before.nr_lost + w->nr_lost;
}
