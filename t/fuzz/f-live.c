// SPDX-License-Identifier: GPL-2.0-or-later
/* f-live.c - an agent that says anything of objects: births, deaths, sweeps; and a JVM's histogram. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/span.h"
#include "collect/engine/recording.h"
#include "collect/parts/live.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct subject {
	struct collect c;
	struct collect_opts o;
	struct collect_result res;
	struct source_conf conf;
	struct proc proc;
	struct java j;
};

static void born(struct subject *s, struct span *in)
{
	const struct jvm_sample sample = {
		.time_ns = span_varint(in), .value = span_varint(in), .id = (uint32_t)span_varint(in),
	};
	const struct frame frames[] = {
		{ FRAME_NAMED, .function = 1, .line = span_u8(in) % 4 }, { FRAME_NAMED, .function = 2 },
	};

	lives_born(&s->c, &s->j, &sample, 1, frames, ARRAY_SIZE(frames));
}

static void gone(struct subject *s, struct span *in)
{
	uint32_t why = span_u8(in), len = (uint32_t)MIN((size_t)span_u8(in), span_left(in));
	uint8_t numbers[256];
	uint32_t i;

	for (i = 0; i < len; i++)
		numbers[i] = span_u8(in);
	lives_gone(&s->c, &s->j, &(struct jvm_gone_objects){
		.why = why, .numbers = numbers, .numbers_len = len,
	});
}

static void swept(struct subject *s, struct span *in)
{
	lives_swept(&s->c, &s->j, &(struct jvm_swept){
		.time_ns = span_varint(in), .pauses = (uint32_t)span_varint(in), .collector = span_u8(in),
		.interval = span_varint(in), .young_ns = span_varint(in), .whole_ns = span_varint(in),
	});
}

static void step(struct subject *s, struct span *in)
{
	switch (span_u8(in) % 6) {
	case 0:
		gone(s, in);
		break;
	case 1:
		swept(s, in);
		break;
	case 2:
		lives_drained(&s->c, &s->j);
		break;
	case 3:
		if (lives_nr_sweeps(&s->j))
			lives_collected(&s->j, span_varint(in));
		break;
	case 4:
		lives_roster(&s->j, &(struct jvm_roster){
			.time_ns = span_varint(in), .cookie = span_varint(in) });
		break;
	default:
		born(s, in);
	}
}

static void add_up(void *ctx, const struct histogram_row *r)
{
	uint64_t *sum = ctx;
	size_t i;

	if (!r->name_len)
		abort();
	for (i = 0; i < r->name_len; i++)
		*sum += (uint8_t)r->name[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct subject *s = xcalloc(1, sizeof(*s));
	struct span in = span_init(data, len);
	char path[64];
	uint64_t sum = 0;
	struct err e;

	histogram_parse((const char *)data, len, add_up, &sum);
	snprintf(path, sizeof(path), "/tmp/f-live.%d", (int)getpid());
	s->o.sources = &s->conf;
	s->o.nr_sources = 1;
	s->c.o = &s->o;
	s->c.res = &s->res;
	s->proc.id = 1;
	s->j.proc = &s->proc;
	if (source_parse("live", &s->conf, &e) ||
	    trace_writer_open(&s->c.w, path, &(struct trace_writer_opts){ 0 }, &e))
		abort();
	while (span_left(&in) && !in.bad)
		step(s, &in);
	lives_end(&s->c, &s->j);
	trace_writer_discard(s->c.w);
	sources_release(&s->c.sources);
	refused_release(&s->c.refused);
	free(s);
	return 0;
}
