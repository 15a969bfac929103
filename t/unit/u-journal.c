// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/jvm/replay.h"
#include "jvm/journal_read.h"
#include "unit.h"

enum { SECOND = 1000000000 };

static struct journal_header header(void)
{
	return (struct journal_header){
		.magic = JOURNAL_MAGIC, .version = JOURNAL_VERSION, .proto = JVM_PROTO_VERSION,
		.pid = 4711, .nr_cpus = 2, .start_ns = 5ull * SECOND, .start_real_ns = 1000ull * SECOND,
		.end_ns = 9ull * SECOND, .end_real_ns = 1004ull * SECOND,
		.tell = JVM_TELL_THREAD, .name = "java", .command = "java Program",
	};
}

static void put_header(struct buf *b, const struct journal_header *h)
{
	static const char zeros[JOURNAL_HEADER_BYTES];

	buf_add(b, h, sizeof(*h));
	buf_add(b, zeros, JOURNAL_HEADER_BYTES - sizeof(*h));
}

static void put_chunk(struct buf *b, uint32_t kind, uint64_t time_ns, const void *data, size_t len)
{
	const struct journal_chunk c = {
		.len = (uint32_t)(sizeof(c) + len), .kind = kind, .time_ns = time_ns,
	};

	buf_add(b, &c, sizeof(c));
	buf_add(b, data, len);
	while (b->len & 7)
		buf_putc(b, '\0');
}

/* Maps of 7, 8 and 9 bytes, at these times. */
static void put_three(struct buf *b)
{
	const struct journal_header h = header();

	put_header(b, &h);
	put_chunk(b, JOURNAL_MAPS, 6ull * SECOND, "1234567", 7);
	put_chunk(b, 99, 7ull * SECOND, "of a later version", 18);
	put_chunk(b, JOURNAL_MAPS, 3ull * SECOND, "12345678", 8);
	put_chunk(b, JOURNAL_MAPS, 99ull * SECOND, "123456789", 9);
}

TEST(journal_chunks_are_read_one_after_the_other)
{
	static const uint64_t times[] = { 6ull * SECOND, 6ull * SECOND, 9ull * SECOND };
	struct buf b = BUF_INIT;
	struct journal_part p;
	struct journal j;
	struct err e;
	size_t i;

	put_three(&b);
	CHECK_U64(journal_open(&j, b.data, b.len, &e), 0);
	for (i = 0; i < 3; i++) {
		CHECK_U64(journal_next(&j, &p, &e), 1);
		CHECK_U64(p.len, 7 + i);
		CHECK_U64(p.kind, JOURNAL_MAPS);
		CHECK_U64(j.time_ns, times[i]);		/* never back, and not after the end */
	}
	CHECK_U64(journal_next(&j, &p, &e), 0);
	CHECK(!j.truncated);
	journal_release(&j);
	buf_release(&b);
}

/* Cut anywhere, it gives what is whole, and says that something is missing. */
TEST(journal_of_any_length_gives_what_is_whole)
{
	struct buf b = BUF_INIT;
	struct journal_part p;
	struct journal j;
	struct err e;
	size_t len;

	put_three(&b);
	for (len = 0; len < b.len; len++) {
		char *copy = xmalloc(len + 1);	/* what is read beyond it, the sanitizer sees */
		size_t nr = 0, bytes = 0;

		memcpy(copy, b.data, len);
		if (len < JOURNAL_HEADER_BYTES) {
			CHECK_U64(-journal_open(&j, copy, len, &e), EINVAL);
			free(copy);
			continue;
		}
		CHECK_U64(journal_open(&j, copy, len, &e), 0);
		while (journal_next(&j, &p, &e) > 0) {
			nr++;
			bytes += p.len;
		}
		CHECK(nr <= 3 && bytes <= 24 && (const char *)p.data <= copy + len);
		CHECK(j.truncated || j.at == len);
		journal_release(&j);
		free(copy);
	}
	buf_release(&b);
}

static int open_changed(void (*change)(struct journal_header *h), struct err *e)
{
	struct journal_header h = header();
	struct buf b = BUF_INIT;
	struct journal j;
	int r;

	change(&h);
	put_header(&b, &h);
	r = journal_open(&j, b.data, b.len, e);
	journal_release(&j);
	buf_release(&b);
	return -r;
}

static void later_agent(struct journal_header *h) { h->proto++; }
static void no_pid(struct journal_header *h) { h->pid = 0; }
static void backwards(struct journal_header *h) { h->end_ns = h->start_ns - 1; }
static void no_journal(struct journal_header *h) { h->magic++; }

TEST(journal_that_cannot_be_is_refused)
{
	struct err e;

	CHECK_U64(open_changed(later_agent, &e), EPROTO);
	CHECK(strstr(e.hint, "agent install"));
	CHECK_U64(open_changed(no_pid, &e), EINVAL);
	CHECK_U64(open_changed(backwards, &e), EINVAL);
	CHECK_U64(open_changed(no_journal, &e), EINVAL);
}

static void take(void *ctx, const void *p, size_t len)
{
	buf_add(ctx, p, len);
}

/* A record in the middle of the journal is longer than its chunk: what was before it is there. */
TEST(journal_with_a_damaged_record_becomes_a_trace)
{
	const struct journal_header h = header();
	const struct journal_thread th = { .tid = 4711, .name = "primordial" };
	const struct jvm_rec bad = { .size = 800, .type = JVM_REC_thread };
	struct buf b = BUF_INIT, trace = BUF_INIT;
	struct replay_opts o = {
		.version = "test", .trace = { .take = take, .take_ctx = &trace },
	};
	struct err e;

	put_header(&b, &h);
	put_chunk(&b, JOURNAL_THREADS, 6ull * SECOND, &th, sizeof(th));
	put_chunk(&b, JOURNAL_RECORDS, 7ull * SECOND, &bad, sizeof(bad));
	o.data = b.data;
	o.len = b.len;
	CHECK_U64(replay_journal(&o, &e), 0);
	CHECK(memmem(trace.data, trace.len, "primordial", 10));
	CHECK(memmem(trace.data, trace.len, "from 2.000 s on", 15));
	buf_release(&trace);
	buf_release(&b);
}
