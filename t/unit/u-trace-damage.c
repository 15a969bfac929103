// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-trace-damage.c - what is damaged in a trace is counted, and costs nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/io.h"
#include "base/mem.h"
#include "trace/format.h"
#include "trace/walk.h"
#include "traces.h"
#include "unit.h"

struct place {
	size_t off, len;
	uint64_t samples, meta;
};

/* A trace of many small chunks, and where they are. */
static struct buf small_trace(struct sample **samples, size_t nr, struct place **places, size_t *nr_places,
			      bool compress)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = compress,
		.epoch_bytes = 40000 });
	struct walk_chunk c;
	struct walk *walk;
	struct err e = { 0 };
	struct buf b;
	size_t i, alloc = 0;

	*samples = traces_random(nr);
	for (i = 0; i < nr; i++) {
		traces_write(w, &(*samples)[i]);
		if (i % 8 == 0)
			trace_write_map(w, &(struct rec_map){ .time_ns = i, .proc = i });
		if (i % 10 == 9)
			trace_writer_flush(w);
	}
	b = traces_close(w);
	*places = NULL;
	*nr_places = 0;
	CHECK_U64(walk_open_memory(&walk, b.data, b.len, &e), 0);
	while (walk_next(walk, &c, &e) > 0) {
		VEC_GROW(*places, *nr_places, alloc);
		(*places)[(*nr_places)++] = (struct place){
			c.off, sizeof(c.h) + c.h.stored_len, walk_is(&c, TRF_SAMPLES) ? c.h.nr_records : 0,
			walk_is(&c, TRF_META) ? c.h.nr_records : 0
		};
	}
	walk_close(walk);
	return b;
}

TEST(trace_cut_anywhere_keeps_the_whole_chunks_before)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, cut, i;
	struct buf b = small_trace(&samples, 60, &places, &nr_places, true);

	traces_save("cut-me", &b);
	for (cut = 0; cut < b.len; cut += UNIT_STRIDE) {
		struct seen got = { .want = samples, .nr_want = 60 };
		uint64_t want_samples = 0, want_meta = 0, end = 64;
		struct trace_reader *t;
		struct err e = { 0 };
		int r = trace_reader_open_memory(&t, b.data, cut, &e);

		if (cut < 64) {
			CHECK_U64(-r, EINVAL);
			continue;
		}
		CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
		for (i = 0; i < nr_places && places[i].off + places[i].len <= cut; i++) {
			want_samples += places[i].samples;
			want_meta += places[i].meta;
			end = places[i].off + places[i].len;
		}
		CHECK_U64(got.nr_samples, want_samples);
		CHECK_U64(got.nr_meta, want_meta);
		CHECK_U64(got.nr_damaged, 0);
		CHECK(trace_reader_damage(t)->truncated);
		CHECK_U64(trace_reader_damage(t)->nr_bytes, cut - end);
		CHECK_U64(trace_reader_damage(t)->nr_places, cut > end);
		trace_reader_close(t);
		seen_release(&got);
	}
	buf_release(&b);
	free(samples);
	free(places);
}

struct edit {
	size_t from, to;		/* bytes of the original that are gone or changed; to may be from */
	size_t insert;			/* random bytes put in their place */
};

static struct buf damaged_copy(const struct buf *b, const struct edit *ed)
{
	struct buf c = BUF_INIT;
	size_t i;

	buf_add(&c, b->data, ed->from);
	for (i = 0; i < ed->insert; i++)
		buf_u8(&c,
		       i < ed->to - ed->from ? (uint8_t)b->data[ed->from + i] ^ (1 + unit_random() % 255) :
					       unit_random() >> 9);
	buf_add(&c, b->data + ed->to, b->len - ed->to);
	return c;
}

static struct edit random_edit(size_t len)
{
	struct edit ed = { .from = unit_random() % len };
	size_t n = unit_random() % 3 ? 1 + unit_random() % 4 : unit_random() % 3000;

	ed.to = MIN(len, ed.from + n);
	switch (unit_random() % 3) {
	case 0:			/* changed */
		ed.insert = ed.to - ed.from;
		break;
	case 1:			/* deleted */
		break;
	default:		/* inserted */
		ed.insert = MAX(n, 1u);
		ed.to = ed.from;
	}
	return ed;
}

/*
 * How much of both is the same from the begin on, and up to the end.  An edit may put back what was
 * there, and inserted bytes may repeat those before them: then the two overlap, and what lies in
 * either of them is whole.
 */
struct same {
	size_t head, tail;
};

static struct same same_bytes(const struct buf *b, const struct buf *c)
{
	size_t least = MIN(b->len, c->len);
	struct same s = { 0 };

	while (s.head < least && b->data[s.head] == c->data[s.head])
		s.head++;
	while (s.tail < least && b->data[b->len - 1 - s.tail] == c->data[c->len - 1 - s.tail])
		s.tail++;
	return s;
}

static bool is_whole(const struct same *s, const struct buf *b, const struct place *p)
{
	return p->off + p->len <= s->head || p->off >= b->len - s->tail;
}

/* Truncated behind a whole chunk: no place is damaged. */
static bool is_cut_between(const struct same *s, const struct buf *c, const struct place *p, size_t nr)
{
	size_t i;

	for (i = 0; i < nr && p[i].off + p[i].len != c->len; i++)
		;
	return s->head == c->len && i < nr;
}

TEST(trace_damage_costs_the_damaged_chunks_only)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, i;
	struct buf b = small_trace(&samples, 400, &places, &nr_places, true);
	int round;

	for (round = 0; round < 6000 / UNIT_STRIDE; round++) {
		struct seen got = { .want = samples, .nr_want = 400 };
		struct edit ed = random_edit(b.len);
		struct buf c = damaged_copy(&b, &ed);
		uint64_t want_samples = 0, want_meta = 0;
		const struct trace_damage *d;
		struct trace_reader *t;
		struct err e = { 0 };
		struct same same = same_bytes(&b, &c);
		bool differs = (b.len != c.len || same.head < b.len) &&
			!is_cut_between(&same, &c, places, nr_places);

		for (i = 0; i < nr_places; i++) {
			if (!is_whole(&same, &b, &places[i]))
				continue;
			want_samples += places[i].samples;
			want_meta += places[i].meta;
		}
		CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
		if (!t)
			break;
		CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
		CHECK_U64(got.nr_samples, want_samples);
		CHECK_U64(got.nr_meta, want_meta);
		d = trace_reader_damage(t);
		CHECK((d->nr_places > 0) == differs);
		CHECK((d->first[0] != 0) == differs);
		trace_reader_close(t);
		seen_release(&got);
		buf_release(&c);
	}
	buf_release(&b);
	free(samples);
	free(places);
}

/* A file is read through a window; memory is not.  Both must see the same, at any speed of light. */
/* What this process has used of CPUs, whatever else runs. */
static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return used.tv_sec * 1000000000ull + used.tv_nsec;
}

TEST(trace_damage_in_a_large_file_is_searched_in_one_go)
{
	enum { NR = 60000, JUNK = (20 << 20) / UNIT_STRIDE / 64 * 64 };
	struct sample *samples = traces_random(NR);
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ .compress = false });
	struct seen from_file = { .want = samples, .nr_want = NR }, from_memory = from_file;
	struct trace_damage damage;
	struct trace_reader *t;
	struct err e = { 0 };
	struct buf b, c = BUF_INIT;
	uint64_t start;
	size_t i;
	int fd;

	traces_fill(w, samples, NR);
	b = traces_close(w);
	buf_add(&c, b.data, b.len / 2);
	for (i = 0; i < JUNK / 64 * 63; i++)	/* begins of magics, then whole ones */
		buf_putc(&c, i % 3 ? (char)i : TRF_CHUNK_MAGIC[0]);
	for (; i < JUNK; i += 8)
		buf_add(&c, TRF_CHUNK_MAGIC, 8);
	buf_add(&c, b.data + b.len / 2, b.len - b.len / 2);
	fd = open(traces_path(), O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK_U64(io_write_all(fd, c.data, c.len), 0);
	close(fd);

	start = cpu_ns();
	CHECK_U64(trace_reader_open(&t, traces_path(), &e), 0);
	CHECK_U64(trace_read(t, &seen_all, &from_file, &e), 0);
	CHECK(cpu_ns() - start < 10000000000);
	damage = *trace_reader_damage(t);
	trace_reader_close(t);
	CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
	CHECK_U64(trace_read(t, &seen_all, &from_memory, &e), 0);
	CHECK_U64(from_file.nr_samples, from_memory.nr_samples);
	CHECK(from_file.nr_samples > NR * 9 / 10);
	CHECK_U64(damage.nr_bytes, trace_reader_damage(t)->nr_bytes);
	CHECK(damage.nr_bytes >= JUNK);
	CHECK_U64(damage.nr_places, 1);
	CHECK_STR(damage.first, trace_reader_damage(t)->first);
	trace_reader_close(t);
	unlink(traces_path());
	buf_release(&b);
	buf_release(&c);
	free(samples);
}

TEST(trace_missing_chunk_is_noticed_by_its_number)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, i = 3;
	struct buf b = small_trace(&samples, 100, &places, &nr_places, false), c;
	struct edit ed;
	struct seen got = { .want = samples, .nr_want = 100 };
	struct trace_reader *t;
	struct err e = { 0 };

	while (!places[i].samples)
		i++;
	ed = (struct edit){ places[i].off, places[i].off + places[i].len, 0 };
	c = damaged_copy(&b, &ed);
	CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
	CHECK_U64(trace_read(t, &seen_all, &got, &e), 0);
	CHECK_U64(got.nr_samples, 100 - places[i].samples);
	CHECK_U64(trace_reader_damage(t)->nr_places, 1);
	CHECK_U64(trace_reader_damage(t)->nr_bytes, 0);
	CHECK(strstr(trace_reader_damage(t)->first, "1 chunks are missing"));
	trace_reader_close(t);
	seen_release(&got);
	buf_release(&b);
	buf_release(&c);
	free(samples);
	free(places);
}

/* Whatever the bytes are, a stack can be walked. */
static int walk_stacks(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t node = r[i].stack;

		while (node && node != UINT32_MAX) {
			if (node >= ep->nr_nodes || ep->nodes[node].parent >= node ||
			    ep->nodes[node].frame >= ep->nr_frames) {
				CHECK(!"a stack that can be walked");
				break;
			}
			node = ep->nodes[node].parent;
		}
	}
	return 0;
}

TEST(trace_random_changes_with_right_checksums_do_no_harm)
{
	struct sample *samples;
	struct place *places;
	size_t nr_places, i;
	struct buf b = small_trace(&samples, 200, &places, &nr_places, false);
	struct trace_sink sink = seen_all;
	int round;

	sink.samples = walk_stacks;
	for (round = 0; round < 3000 / UNIT_STRIDE; round++) {
		struct buf c = BUF_INIT;
		struct seen got = { 0 };
		struct trace_reader *t;
		struct err e = { 0 };

		buf_add(&c, b.data, b.len);
		for (i = 0; i < nr_places; i++) {
			uint8_t *at = (uint8_t *)c.data + places[i].off,
				*payload = at + sizeof(struct trf_chunk);
			size_t hits = unit_random() % 4;
			struct trf_chunk h;

			memcpy(&h, at, sizeof(h));
			while (hits-- && h.stored_len)
				payload[unit_random() % h.stored_len] = unit_random() >> 11;
			h.payload_crc = crc32(0, payload, h.stored_len);
			h.crc = crc32(0, (void *)&h, offsetof(struct trf_chunk, crc));
			memcpy(at, &h, sizeof(h));
		}
		CHECK_U64(trace_reader_open_memory(&t, c.data, c.len, &e), 0);
		CHECK_U64(trace_read(t, &sink, &got, &e), 0);
		CHECK_U64(trace_read(t, &(struct trace_sink){ .samples = NULL }, &got, &e), 0);
		trace_reader_close(t);
		seen_release(&got);
		buf_release(&c);
	}
	buf_release(&b);
	free(samples);
	free(places);
}
