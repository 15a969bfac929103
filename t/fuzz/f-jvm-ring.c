// SPDX-License-Identifier: GPL-2.0-or-later
/* What a JVM's agent may have written: rings and log hold the same records. */
#include "base/buf.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/span.h"
#include "jvm/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static volatile uint64_t sum;

static void on_sample(void *ctx, const struct jvm_sample *s)
{
	size_t i, k;

	if (s->wall)
		sum += s->wall->slot + s->wall->leaf;
	for (i = 0; i < s->nr_frames; i++)
		sum += s->frames[i].pc +
			(s->frames[i].kind == JVM_NATIVE ? s->segments[s->frames[i].segment].len : 0);
	for (i = 0; i < s->nr_segments; i++)
		for (k = 0; k < s->segments[i].len; k++)
			sum += s->segments[i].stack[k];
}

/* What is valid is shown whole. */
static void show_fields(const uint8_t *fields, size_t len)
{
	struct span s = span_init(fields, len);
	struct buf text = BUF_INIT;
	struct json j;
	struct field f;

	while (fields_next(&s, &f))
		sum += f.name_len;
	if (s.bad || span_left(&s))
		abort();
	fields_put_text(&text, fields, len);
	sum += text.len;
	buf_release(&text);
	json_init(&j, NULL);
	json_object(&j, NULL);
	fields_put_json(&j, fields, len);
	json_end(&j);
}

/* All that a record has, to its last byte. */
static void on_record(void *ctx, enum jvm_rec_type type, union jvm_record *r)
{
	const struct wire_kind *k = &wire_kinds[type];
	uint32_t i, nr, len;
	const struct wire_field *f = k->fields(&nr);

	for (i = 0; i < nr; i++, f++) {
		const uint8_t *p;

		if (f->op < WIRE_TEXT)
			continue;
		memcpy(&p, (char *)r + f->off, sizeof(p));
		memcpy(&len, (char *)r + f->len_off, sizeof(len));
		if (f->op == WIRE_TEXT && strlen((const char *)p) != len)
			abort();
		if (f->op == WIRE_FIELDS)
			show_fields(p, len);
		while (len--)
			sum += p[len];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct wire_scratch scratch;
	const struct wire_sink sink = { on_sample, on_record, NULL };
	uint64_t *copy = xmalloc(len + 8);	/* records are 8-aligned where they are decoded */
	struct err e;

	memcpy(copy, data, len);
	wire_records(copy, len, &sink, &scratch, &e);
	free(copy);
	return 0;
}
