// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "model/holders.h"
#include "traces.h"
#include "unit.h"

enum { SECOND = 1000000000, MS = 1000000, ACCOUNT = 1, POOL, QUEUE, PAY, BOOK, NR_NAMES = BOOK };

/* Times in ms; threads are called by their letter, locks by their class, as there is one of each. */
static void write_wait(struct trace_writer *w, char thread, char owner, uint32_t class, uint32_t kind,
		       uint32_t from, uint32_t to)
{
	trace_write_lock_wait(w, &(struct rec_lock_wait){
		.time_ns = SECOND + (uint64_t)to * MS, .thread = thread, .owner = owner, .proc = 1,
		.function = class, .identity = class, .kind = kind, .ns = (uint64_t)(to - from) * MS,
		.weight = (uint64_t)(to - from) * MS,
	});
}

/* Of one function, and the class of a lock. */
static void write_sample(struct trace_writer *w, char thread, uint32_t event, uint32_t function,
			 uint32_t class)
{
	const struct frame frames[] = {
		{ FRAME_NAMED, .function = function }, { FRAME_NAMED, .function = class },
	};
	struct rec_sample s = {
		.time_ns = SECOND, .thread = thread, .event = event, .cpu = UINT16_MAX, .user = true,
		.weight = 1,
	};

	s.stack = trace_write_stack(w, frames, ARRAY_SIZE(frames));
	trace_write_sample(w, &s);
}

static struct trace_writer *begin(void)
{
	static const char *const names[] = { "Account", "Pool", "Queue", "App.pay", "App.book" };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	uint32_t i;

	trace_write_label(w, "event.0", "lock");
	trace_write_label(w, "event.1", "blame");
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "p", .comm_len = 1 });
	for (i = 'A'; i <= 'E'; i++)
		trace_write_thread(w, &(struct rec_thread){
			.thread = i, .proc = 1, .tid = i, .name = (char[]){ i }, .name_len = 1 });
	for (i = 1; i <= NR_NAMES; i++)
		trace_write_function(w, &(struct rec_function){
			.function = i, .kind = i < PAY ? FUNCTION_CLASS : FUNCTION_JAVA, .name = names[i - 1],
			.name_len = strlen(names[i - 1]), .module = "", .file = "" });
	return w;
}

static void end(struct trace_writer *w, struct holders *h)
{
	const struct selection all = { 0 };
	struct trace_reader *t;
	struct err e;
	struct buf b = traces_close(w);

	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!holders_read(h, t, &all, &e));
	trace_reader_close(t);
	buf_release(&b);
}

/* A row as text: its level, thread, what it does there, and ms. */
static void check_row(const struct holders *h, size_t at, const char *want)
{
	static const char *const ends[] = { "", "has", "unknown", "circle", "cut" };
	const struct holder_row *r = &h->rows[at];
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%u %c %s %u", r->level, r->thread ? (char)r->thread : '-',
		r->end == HOLDER_WAITS ? h->locks[r->lock].name.class_name : ends[r->end],
		(unsigned int)(r->ns / MS));
	if (r->site)
		buf_fmt(&b, " %s", consumer_name(&h->strings.consumers, r->site));
	CHECK_STR(b.data, want);
	buf_release(&b);
}

TEST(holders_of_locks_wait_for_others)
{
	struct trace_writer *w = begin();
	struct holders h;

	/* B has the account, and waits for the pool meanwhile; C has that, and waits for the queue */
	write_wait(w, 'A', 'B', ACCOUNT, LOCK_ENTER, 0, 100);
	write_wait(w, 'B', 'C', POOL, LOCK_LOCK, 20, 80);
	write_wait(w, 'C', 0, QUEUE, LOCK_WAIT, 30, 50);
	write_sample(w, 'A', 0, PAY, ACCOUNT);
	write_sample(w, 'B', 1, BOOK, ACCOUNT);
	end(w, &h);
	CHECK_U64(h.ns, 160 * MS);
	CHECK_U64(h.nr_waits, 2);
	CHECK_U64(h.nr_rows, 8);
	check_row(&h, 0, "0 A Account 100 App.pay");
	check_row(&h, 1, "1 B Pool 60");
	check_row(&h, 2, "2 C has 40");
	check_row(&h, 3, "2 C Queue 20");
	check_row(&h, 4, "1 B has 40 App.book");
	check_row(&h, 5, "0 B Pool 60");
	check_row(&h, 6, "1 C has 40");
	check_row(&h, 7, "1 C Queue 20");
	CHECK_U64(h.rows[3].parent, 2);
	holders_release(&h);
}

/* A latch, which nobody ever had, is no lock; of the pool it is known once. */
TEST(holders_that_wait_for_each_other_are_a_circle)
{
	struct trace_writer *w = begin();
	struct holders h;

	write_wait(w, 'D', 'E', ACCOUNT, LOCK_ENTER, 0, 30);
	write_wait(w, 'E', 'D', POOL, LOCK_LOCK, 0, 40);
	write_wait(w, 'A', 0, POOL, LOCK_LOCK, 0, 10);
	write_wait(w, 'B', 0, QUEUE, LOCK_LOCK, 0, 500);
	end(w, &h);
	CHECK_U64(h.ns, 80 * MS);
	check_row(&h, 0, "0 E Pool 40");
	check_row(&h, 1, "1 D Account 30");
	check_row(&h, 2, "2 E circle 30");
	check_row(&h, 3, "1 D has 10");
	check_row(&h, 4, "0 D Account 30");
	check_row(&h, 5, "1 E Pool 30");
	check_row(&h, 6, "2 D circle 30");
	check_row(&h, 7, "0 A Pool 10");
	check_row(&h, 8, "1 - unknown 10");
	CHECK_U64(h.nr_rows, 9);
	holders_release(&h);
}
