// SPDX-License-Identifier: GPL-2.0-or-later
/* u-threadlabels.c - from labels that programs report to the labels that a reader finds for samples. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/parts/threadlabels.h"
#include "model/threadlabels.h"
#include "trace/writer.h"
#include "unit.h"

struct subject {
	struct threadlabels *l;
	struct trace_writer *w;
	struct buf file;
	struct names names;
	struct model model;
};

static const uint64_t second = 1000000000;

static void take(void *ctx, const void *p, size_t len)
{
	buf_add(ctx, p, len);
}

static void note(void *ctx, const struct rec_sample *r)
{
	threadlabels_sample(ctx, r->thread, r->time_ns);
}

static void begin(struct subject *s)
{
	const struct trace_writer_opts o = { .take = take, .take_ctx = &s->file };
	struct err e;

	memset(s, 0, sizeof(*s));
	s->l = threadlabels_new();
	CHECK_U64(trace_writer_open(&s->w, "-", &o, &e), 0);
	trace_writer_on_sample(s->w, note, s->l);
}

/* Thread 7; vthread not 0: a virtual thread of process 1. */
static void label(struct subject *s, uint64_t time_ns, uint32_t nr, uint64_t vthread, const char *text)
{
	const struct jvm_labels r = {
		.time_ns = time_ns, .thread = 70, .nr = nr, .vthread = vthread,
		.text = text, .text_len = (uint32_t)strlen(text),
	};

	threadlabels_change(s->l, 7, 1, &r);
}

static void sample(struct subject *s, uint32_t thread, uint64_t time_ns)
{
	trace_write_sample(s->w, &(struct rec_sample){ .time_ns = time_ns, .thread = thread, .weight = 1 });
}

/* Virtual thread 5 is thread 9 of the trace; no other has samples. */
static uint32_t number(void *ctx, uint32_t proc, uint64_t vthread)
{
	return proc == 1 && vthread == 5 ? 9 : 0;
}

static void write_until(struct subject *s, uint64_t until_ns)
{
	threadlabels_write(s->l, until_ns, s->w, number, NULL);
}

/* Reads what was written; returns how many records of labels there are. */
static size_t read_back(struct subject *s)
{
	const struct resolve_opts o = { .no_files = true };
	struct trace_reader *t;
	struct err e;

	write_until(s, UINT64_MAX);
	CHECK_U64(trace_writer_close(s->w, &e), 0);
	model_init(&s->model, 1, FLOW_SAMPLES);
	names_init(&s->names, &s->model, &o);
	CHECK_U64(trace_reader_open_memory(&t, s->file.data, s->file.len, &e), 0);
	CHECK_U64(trace_read(t, &names_sink, &s->names, &e), 0);
	trace_reader_close(t);
	return s->names.thread_labels.nr;
}

static void end(struct subject *s)
{
	names_release(&s->names);
	model_release(&s->model);
	threadlabels_free(s->l);
	buf_release(&s->file);
}

static const char *labels_at(struct subject *s, uint32_t thread, uint64_t time_ns)
{
	uint32_t labels = threadlabels_at(&s->names, thread, time_ns);

	return labels == THREADLABELS_UNKNOWN ? "?" : model_str(&s->model, labels);
}

#define CHECK_LABELS(s, thread, time_ns, want) CHECK(!strcmp(labels_at(s, thread, time_ns), want))

TEST(thread_labels_are_those_of_the_time_however_late_they_come)
{
	struct subject s;

	begin(&s);
	sample(&s, 7, 150);		/* before the program reports its label */
	label(&s, 100, 1, 0, "k=a");
	label(&s, 300, 3, 0, "");
	label(&s, 200, 2, 0, "z=1,k=b");	/* not in order */
	sample(&s, 7, 50);
	sample(&s, 7, 350);
	sample(&s, 7, 200);
	sample(&s, 7, 299);
	sample(&s, 8, 250);
	CHECK_U64(read_back(&s), 3);
	CHECK_LABELS(&s, 7, 50, "");
	CHECK_LABELS(&s, 7, 150, "k=a");
	CHECK_LABELS(&s, 7, 200, "k=b,z=1");
	CHECK_LABELS(&s, 7, 299, "k=b,z=1");
	CHECK_LABELS(&s, 7, 350, "");
	CHECK_LABELS(&s, 8, 250, "");
	end(&s);
}

TEST(thread_labels_that_no_sample_saw_are_not_written)
{
	struct subject s;
	char text[32];
	uint32_t i;

	begin(&s);
	for (i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "trace-id=%u", i);
		label(&s, i * 1000, i + 1, 0, text);
		if (i % 1000 == 0)
			sample(&s, 7, i * 1000 + 1);
		if (i % 10000 == 0)
			write_until(&s, i * 1000);
	}
	CHECK_U64(read_back(&s), 100);
	CHECK_LABELS(&s, 7, 5000001, "trace-id=5000");
	CHECK_U64(threadlabels_dropped(s.l), 0);
	end(&s);
}

TEST(thread_labels_are_unknown_from_before_a_lost_record_to_behind_it)
{
	struct subject s;

	begin(&s);
	label(&s, 100, 1, 0, "k=a");
	label(&s, 200, 2, 0, "k=b");
	label(&s, 300, 4, 0, "k=d");
	sample(&s, 7, 150);
	sample(&s, 7, 250);
	sample(&s, 7, 350);
	read_back(&s);
	CHECK_LABELS(&s, 7, 150, "k=a");
	CHECK_LABELS(&s, 7, 250, "?");
	CHECK_LABELS(&s, 7, 350, "k=d");
	end(&s);
}

TEST(thread_labels_of_a_virtual_thread_are_not_those_of_its_carrier)
{
	struct subject s;

	begin(&s);
	label(&s, 100, 1, 5, "k=v");
	label(&s, 100, 1, 6, "k=other");
	label(&s, 120, 1, 0, "k=carrier");
	sample(&s, 7, 150);
	sample(&s, 9, 150);
	sample(&s, 9, 9 * second);
	CHECK_U64(read_back(&s), 2);
	CHECK_LABELS(&s, 7, 150, "k=carrier");
	CHECK_LABELS(&s, 9, 9 * second, "k=v");
	end(&s);
}

TEST(thread_labels_are_kept_for_a_sample_that_comes_much_later)
{
	struct subject s;

	begin(&s);
	label(&s, 100, 1, 0, "k=a");
	label(&s, 200, 2, 0, "k=b");
	write_until(&s, 5 * second);
	write_until(&s, 9 * second);
	sample(&s, 7, 4 * second);	/* its thread was in the kernel until now */
	label(&s, 10 * second, 3, 0, "k=c");
	sample(&s, 7, 11 * second);
	CHECK_U64(read_back(&s), 2);
	CHECK_LABELS(&s, 7, 4 * second, "k=b");
	CHECK_LABELS(&s, 7, 11 * second, "k=c");
	end(&s);
}

TEST(thread_labels_of_too_many_threads_are_dropped_and_counted)
{
	struct subject s;
	uint64_t i;

	begin(&s);
	for (i = 1; i <= 100000; i++)
		label(&s, 100, 1, i, "k=v");
	CHECK_U64(threadlabels_dropped(s.l), 100000 - 65536);
	sample(&s, 9, 150);
	read_back(&s);
	CHECK_LABELS(&s, 9, 150, "k=v");
	end(&s);
}

TEST(thread_labels_of_threads_that_have_none_any_more_make_room)
{
	struct subject s;
	uint64_t i;

	begin(&s);
	for (i = 1; i <= 1000000 / UNIT_STRIDE; i++) {
		label(&s, i * 100000, 1, 1000 + i, "k=v");
		label(&s, i * 100000 + 1, 2, 1000 + i, "");
		if (i % 1000 == 0)
			write_until(&s, i * 100000);
	}
	CHECK_U64(threadlabels_dropped(s.l), 0);
	CHECK_U64(read_back(&s), 0);
	end(&s);
}

TEST(thread_labels_that_are_too_much_are_unknown_and_not_kept)
{
	static char text[1001];
	struct subject s;
	uint32_t i;

	memset(text, 'v', 1000);
	memcpy(text, "k=", 2);
	begin(&s);
	for (i = 0; i < 100000; i++)
		label(&s, 1000 + i, i + 1, 0, text);
	CHECK(threadlabels_dropped(s.l) > 30000 && threadlabels_dropped(s.l) < 40000);
	sample(&s, 7, 200000);
	read_back(&s);
	CHECK_LABELS(&s, 7, 200000, "?");
	end(&s);
}

TEST(thread_labels_of_a_hostile_program_are_labels_or_nothing)
{
	static const char *const texts[] = { "=", ",,,", "a", "a=", "=b", "1=2", "a=b\n", "a=\xff", "a=b,a=c", "a=b=c",
					     "a=b,,c=d,", "a=\x1b[31m", "a b=c" };
	static const char *const want[] = { "", "", "", "", "", "", "", "", "a=c", "a=b=c", "a=b,c=d", "", "" };
	struct subject s;
	size_t i;

	begin(&s);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		label(&s, i * 10, (uint32_t)i + 1, 0, texts[i]);
		sample(&s, 7, i * 10 + 5);
	}
	read_back(&s);
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK_LABELS(&s, 7, i * 10 + 5, want[i]);
	end(&s);
}

/* The level of the tree that a thread with these labels gets for the key. */
static const char *level_of(struct subject *s, uint32_t all, uint32_t labels, const char *key)
{
	uint32_t level = threadlabels_consumer(&s->names, all, labels, key);

	return model_str(&s->model, s->model.consumers.items[level].name);
}

TEST(thread_labels_are_before_those_of_its_process_and_of_the_recording)
{
	const char *list[] = { "service=shop", "k=a*" }, *place[] = { "container=c1*", "k=*" };
	struct opt_list l = { .items = (char **)list, .nr_items = 2 };
	struct opt_list in = { .items = (char **)place, .nr_items = 2 };
	const char group[] = "/docker/c123456789c123456789c123456789c123456789c123456789c1234567890abc";
	struct subject s;
	uint32_t all;

	begin(&s);
	trace_write_label(s.w, "label.service", "shop");
	trace_write_label(s.w, "label.k", "recording");
	trace_write_proc(s.w, &(struct rec_proc){ .time_ns = 1, .proc = 3, .pid = 9, .comm = "x",
						  .comm_len = 1 });
	trace_write_cgroup(s.w, &(struct rec_cgroup){ .time_ns = 1, .proc = 3, .path = group,
						      .path_len = strlen(group) });
	trace_write_thread(s.w, &(struct rec_thread){ .time_ns = 1, .thread = 7, .proc = 3, .tid = 9,
						      .name = "x", .name_len = 1 });
	label(&s, 100, 1, 0, "k=abc");
	label(&s, 200, 2, 0, "");
	sample(&s, 7, 150);
	sample(&s, 7, 250);
	read_back(&s);
	all = names_labels_of_thread(&s.names, 7);
	CHECK(threadlabels_select(&s.names, all, threadlabels_at(&s.names, 7, 150), &l));
	CHECK(threadlabels_select(&s.names, all, threadlabels_at(&s.names, 7, 150), &in));
	CHECK(!threadlabels_select(&s.names, all, threadlabels_at(&s.names, 7, 250), &l));
	CHECK(threadlabels_select(&s.names, all, threadlabels_at(&s.names, 7, 250), &in));
	CHECK(!threadlabels_select(&s.names, all, THREADLABELS_UNKNOWN, &l));
	CHECK_STR(level_of(&s, all, threadlabels_at(&s.names, 7, 150), "k"), "k=abc");
	CHECK_STR(level_of(&s, all, threadlabels_at(&s.names, 7, 250), "k"), "k=recording");
	CHECK(strstr(level_of(&s, all, 0, "container"), "container=c1234"));
	CHECK_STR(level_of(&s, names_labels_of_thread(&s.names, 99), 0, "container"), "[no container]");
	CHECK_STR(level_of(&s, names_labels_of_thread(&s.names, 99), 0, "k"), "k=recording");
	end(&s);
}
