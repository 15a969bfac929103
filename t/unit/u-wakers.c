// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "model/wakers.h"
#include "traces.h"
#include "unit.h"

enum { SECOND = 1000000000, SLEEP = 1, LOCK = 2 };

/* Times in ms; threads are called by their letter. */
static struct rec_wake wake(char thread, uint32_t function, uint32_t from, uint32_t to, uint32_t kind,
			    char waker)
{
	return (struct rec_wake){
		.time_ns = SECOND + to * 1000000ull, .thread = thread, .function = function, .kind = kind,
		.waker = waker, .ns = (to - from) * 1000000ull, .weight = (to - from) * 1000000ull,
	};
}

static void read_wakes(struct wakers *m, const struct rec_wake *wakes, size_t nr)
{
	static const char *const names[] = { "[sleep]", "[futex]" };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	const struct selection all = { 0 };
	struct trace_reader *t;
	struct err e;
	struct buf b;
	size_t i;

	trace_write_label(w, "event.0", "wall");
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "p", .comm_len = 1 });
	for (i = 'A'; i <= 'D'; i++)
		trace_write_thread(w, &(struct rec_thread){
			.thread = i, .proc = 1, .tid = i, .name = (char[]){ i }, .name_len = 1 });
	for (i = 0; i < 2; i++)
		trace_write_function(w, &(struct rec_function){
			.function = i + 1, .kind = FUNCTION_REASON, .name = names[i],
			.name_len = strlen(names[i]), .module = "", .file = "" });
	for (i = 0; i < nr; i++)
		trace_write_wake(w, &wakes[i]);
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!wakers_read(m, t, &all, &e));
	trace_reader_close(t);
	buf_release(&b);
}

/* "A<B<C" and its time in us; "": there is none. */
static uint64_t chain_us(const struct wakers *m, const char *threads)
{
	uint64_t ns = 0;
	size_t i;

	for (i = 0; i < m->chains.nr_ends; i++) {
		char text[2 * CHAINS_MAX_DEPTH + 4] = "";
		uint32_t at = m->chains.ends[i];

		for (; at; at = m->chains.steps[at].parent) {
			const struct chain_step *s = &m->chains.steps[at];
			char c = (char)(s->thread ? s->thread : '0' + s->kind);

			memmove(text + 2, text, strlen(text) + 1);
			text[0] = c;
			text[1] = text[2] ? '<' : '\0';
		}
		ns += strcmp(text, threads) ? 0 : m->chains.steps[m->chains.ends[i]].ns;
	}
	return ns / 1000;
}

TEST(wakers_divide_a_wait_by_what_its_waker_did)
{
	/* A waits for B, which sleeps for 60 of these 100 ms, and waits for C for 10, which is woken by B */
	const struct rec_wake wakes[] = {
		wake('A', LOCK, 0, 100, WAKE_THREAD, 'B'),
		wake('B', SLEEP, 10, 70, WAKE_TIMER, 0),
		wake('B', LOCK, 80, 90, WAKE_THREAD, 'C'),
		wake('C', LOCK, 50, 85, WAKE_THREAD, 'B'),
		wake('D', SLEEP, 0, 500, WAKE_NOT_ENDED, 0),
	};
	struct wakers m;

	read_wakes(&m, wakes, 5);
	CHECK_U64(m.ns, 705000000);
	CHECK_U64(m.nr_rows, 5);
	CHECK_U64(m.nr_threads, 4);
	CHECK_U64(m.rows[0].thread, 'A');
	CHECK_U64(m.rows[4].thread, 'D');	/* which has not ended */
	CHECK_STR(wakers_reason(&m, m.rows[4].function), "[sleep]");
	CHECK_STR(names_thread_name(&m.names, 'D').name, "D");
	CHECK_U64(names_thread_name(&m.names, 'D').pid, 7);
	CHECK_STR(names_thread_name(&m.names, 99).name, "[unknown thread]");
	CHECK_U64(chain_us(&m, "A<B<3"), 60000);
	CHECK_U64(chain_us(&m, "A<B<C"), 5000);
	/* B is in the chain already */
	CHECK_U64(chain_us(&m, "A<B<C<B"), 5000);
	CHECK_U64(chain_us(&m, "A<B"), 30000);
	CHECK_U64(chain_us(&m, "D<1"), 500000);
	wakers_release(&m);
}

TEST(wakers_follow_short_waits_at_the_moment_when_they_were_seen)
{
	/* A's wait of 2 ms stands for 10 ms; B was seen asleep at that moment, and had run before */
	struct rec_wake wakes[] = {
		wake('A', LOCK, 0, 2, WAKE_THREAD, 'B'),
		wake('B', SLEEP, 1, 2, WAKE_TIMER, 0),
	};
	struct wakers m;

	wakes[0].weight = 10000000;
	wakes[0].seen_ns = 1500000;
	wakes[1].weight = 4000000;
	read_wakes(&m, wakes, 2);
	CHECK_U64(chain_us(&m, "A<B<3"), 10000);
	CHECK_U64(chain_us(&m, "B<3"), 4000);
	wakers_release(&m);
	wakes[0].seen_ns = 500000;
	read_wakes(&m, wakes, 2);
	CHECK_U64(chain_us(&m, "A<B"), 10000);
	CHECK_U64(chain_us(&m, "A<B<3"), 0);
	wakers_release(&m);
	/* a long one by as much as the short ones of its waker stand for */
	wakes[0] = wake('A', LOCK, 0, 100, WAKE_THREAD, 'B');
	wakes[1].seen_ns = 0;
	read_wakes(&m, wakes, 2);
	CHECK_U64(chain_us(&m, "A<B<3"), 4000);
	CHECK_U64(chain_us(&m, "A<B"), 96000);
	wakers_release(&m);
}

/* B ended two waits of A in different functions; of the third it is not known where it was. */
TEST(wakers_were_in_code_that_samples_tell)
{
	static const char *const names[] = { "[sleep]", "[futex]", "work", "post" };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct frame frames[] = {
		{ FRAME_NAMED, .function = 3 }, { FRAME_NAMED, .function = 4 },
		{ FRAME_NAMED, .function = LOCK },
	};
	const struct selection all = { 0 };
	struct rec_sample s = { .thread = 'B', .event = 1, .cpu = UINT16_MAX, .user = true };
	struct rec_wake r;
	struct trace_reader *t;
	struct wakers m;
	struct err e;
	struct buf b;
	uint32_t i;

	trace_write_label(w, "event.0", "wall");
	trace_write_label(w, "event.1", "wakers");
	for (i = 0; i < 4; i++)
		trace_write_function(w, &(struct rec_function){
			.function = i + 1, .kind = i < 2 ? FUNCTION_REASON : FUNCTION_NATIVE,
			.name = names[i], .name_len = strlen(names[i]), .module = "", .file = "" });
	for (i = 0; i < 4; i++) {
		/* the last is another's */
		r = wake(i < 3 ? 'A' : 'C', LOCK, i * 100, i * 100 + 10 + i, WAKE_THREAD, 'B');
		trace_write_wake(w, &r);
		s.time_ns = r.time_ns;
		s.weight = r.weight;
		frames[2].function = r.function;
		s.stack = i < 2 ? trace_write_stack(w, frames + 1 - i, 2 + i) :
				  trace_write_stack(w, (struct frame[]){
					{ FRAME_MARK, .mark = MARK_NO_USER_STACK },
					{ FRAME_NAMED, .function = LOCK } }, 2);
		trace_write_sample(w, &s);
	}
	/* no wait is of that */
	s.time_ns++;
	trace_write_sample(w, &s);
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!wakers_read(&m, t, &all, &e));
	CHECK(m.has_codes);
	CHECK_U64(m.nr_codes, 4);
	CHECK_U64(m.codes[0].ns, 13000000);
	CHECK_U64(m.rows[m.codes[0].row].thread, 'C');
	CHECK_U64(m.codes[1].place, 0);
	CHECK_U64(m.codes[2].ns, 11000000);
	CHECK_STR(wakers_function(&m, m.places[m.codes[2].place].consumer), "post");
	CHECK_STR(wakers_function(&m, m.places[m.places[m.codes[2].place].parent].consumer), "work");
	CHECK_U64(m.places[m.codes[3].place].parent, 0);
	wakers_release(&m);
	trace_reader_close(t);
	buf_release(&b);
}

/* What a trace can say that is not true: circles, waits at the same time, without length, of nobody. */
TEST(wakers_add_up_whatever_a_trace_says)
{
	struct rec_wake wakes[] = {
		wake('A', LOCK, 0, 100, WAKE_THREAD, 'A'), wake('A', LOCK, 0, 90, WAKE_THREAD, 'B'),
		wake('B', LOCK, 10, 80, WAKE_THREAD, 'C'), wake('B', LOCK, 10, 90, WAKE_THREAD, 'C'),
		wake('C', LOCK, 0, 100, WAKE_THREAD, 'A'), wake('C', LOCK, 20, 20, WAKE_THREAD, 'B'),
		wake('D', LOCK, 0, 100, 77, 'A'), wake(0, 99, 0, 50, WAKE_THREAD, 0),
	};
	uint64_t chains = 0;
	struct wakers m;
	size_t i;

	wakes[5].weight = 1000000;
	wakes[6].seen_ns = UINT64_MAX;
	read_wakes(&m, wakes, 8);
	for (i = 0; i < m.chains.nr_ends; i++)
		chains += m.chains.steps[m.chains.ends[i]].ns;
	CHECK_U64(chains, m.ns);
	CHECK_U64(chain_us(&m, "D<0"), 100000);
	wakers_release(&m);
}
