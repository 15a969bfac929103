// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a program may say of its threads' labels, between samples, in any order: what the recorder writes of
 * it is read back. Four bytes per step (what, whose, when, which of its records), and for labels a length and
 * a text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"
#include "collect/parts/threadlabels.h"
#include "model/threadlabels.h"
#include "trace/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void take(void *ctx, const void *p, size_t len)
{
	buf_add(ctx, p, len);
}

static void note(void *ctx, const struct rec_sample *r)
{
	threadlabels_sample(ctx, r->thread, r->time_ns);
}

static uint32_t number(void *ctx, uint32_t proc, uint64_t vthread)
{
	return vthread & 1 ? (uint32_t)vthread + proc : 0;
}

static void label(struct threadlabels *l, struct span *s, uint64_t time_ns, uint8_t who, uint8_t nr)
{
	struct jvm_labels r = { .time_ns = time_ns, .thread = who, .nr = nr, .vthread = who >> 4, .text = "" };
	uint32_t len = span_u8(s);
	char *text;

	if (len > span_left(s))
		return;
	text = calloc(1, len + 1);
	if (len)
		memcpy(text, span_bytes(s, len), len);
	r.text = text;
	r.text_len = len;
	threadlabels_change(l, who & 15, who & 3, &r);
	free(text);
}

static void steps(struct threadlabels *l, struct trace_writer *w, struct span *s)
{
	while (span_left(s) >= 4) {
		uint8_t what = span_u8(s), who = span_u8(s), when = span_u8(s), nr = span_u8(s);
		uint64_t time_ns = (uint64_t)when << (what >> 2);

		if ((what & 3) == 0)
			trace_write_sample(w, &(struct rec_sample){ .time_ns = time_ns, .thread = who & 15 });
		else if ((what & 3) == 1)
			threadlabels_write(l, time_ns, w, number, NULL);
		else
			label(l, s, time_ns, who, nr);
	}
}

/* Each label that is there is one. */
static int read_sample(void *ctx, const struct rec_sample *r, size_t nr, const struct stack_epoch *ep)
{
	const char *item[] = { "k=*" };
	const struct opt_list list = { .items = (char **)item, .nr_items = 1 };
	struct names *x = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t all = names_labels_of_thread(x, r[i].thread);
		uint32_t own = threadlabels_at(x, r[i].thread, r[i].time_ns);
		uint32_t level = threadlabels_consumer(x, all, own, "k");
		const char *name = model_str(x->m, x->m->consumers.items[level].name);

		if (threadlabels_select(x, all, own, &list) != !strncmp(name, "k=", 2))
			abort();
	}
	return 0;
}

static void read_back(const struct buf *file)
{
	static const struct trace_sink samples = { .samples = read_sample };
	const struct resolve_opts o = { .no_files = true };
	struct trace_reader *t;
	struct names names;
	struct model m;
	struct err e;

	model_init(&m, 1, FLOW_SAMPLES);
	names_init(&names, &m, &o);
	if (trace_reader_open_memory(&t, file->data, file->len, &e))
		abort();
	trace_read(t, &names_sink, &names, &e);
	trace_read(t, &samples, &names, &e);
	trace_reader_close(t);
	names_release(&names);
	model_release(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct threadlabels *l = threadlabels_new();
	struct buf file = BUF_INIT;
	const struct trace_writer_opts o = { .take = take, .take_ctx = &file };
	struct span s = span_init(data, len);
	struct trace_writer *w;
	struct err e;

	if (trace_writer_open(&w, "-", &o, &e))
		abort();
	trace_writer_on_sample(w, note, l);
	steps(l, w, &s);
	threadlabels_write(l, UINT64_MAX, w, number, NULL);
	trace_writer_close(w, &e);
	read_back(&file);
	threadlabels_free(l);
	buf_release(&file);
	return 0;
}
