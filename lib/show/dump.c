// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dump.c - every record of a trace as a line, decoded by the schema in the trace alone, so it shows what it
 * has never heard of too.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/quote.h"
#include "report/format.h"
#include "show/dump.h"
#include "trace/schema.h"

struct dump {
	const struct dump_opts *o;
	struct walk *walk;
	FILE *out;
	struct schema *schema;
	struct json j;
	uint64_t start_ns;
	struct buf text;		/* a terminated copy for JSON */
};

/* ---- fields ---- */

static void dump_put_name(const struct schema_field *f, FILE *out)
{
	putc(' ', out);
	quote_print(f->name, out);
	putc('=', out);
}

static void put_quoted(const void *p, size_t len, const char *also, FILE *out)
{
	struct buf b = BUF_INIT;

	quote_add_also(&b, p, len, also);
	fputs(b.data, out);
	buf_release(&b);
}

/* Print the four letters of a kind of chunks. */
static void put_4cc(uint32_t v, FILE *out)
{
	const char letters[4] = { v, v >> 8, v >> 16, v >> 24 };

	put_quoted(letters, sizeof(letters), "", out);
}

static void text_number(void *ctx, const struct schema_field *f, uint64_t v)
{
	FILE *out = ((struct dump *)ctx)->out;

	dump_put_name(f, out);
	if (!strcmp(f->unit, "4cc"))
		put_4cc(v, out);
	else if (f->type == SCHEMA_HEX)
		fprintf(out, "0x%" PRIx64, v);
	else if (f->type == SCHEMA_INT || f->type == SCHEMA_ZIGZAG)
		fprintf(out, "%" PRId64, (int64_t)v);
	else
		fprintf(out, "%" PRIu64, v);
	if (f->unit[0] && strcmp(f->unit, "4cc")) {
		putc(' ', out);
		quote_print(f->unit, out);
	}
}

static void put_hex(FILE *out, const uint8_t *p, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (; len--; p++) {
		putc(digits[*p >> 4], out);
		putc(digits[*p & 15], out);
	}
}

static void text_bytes(void *ctx, const struct schema_field *f, const void *p, size_t len)
{
	FILE *out = ((struct dump *)ctx)->out;

	dump_put_name(f, out);
	if (f->type != SCHEMA_TEXT) {
		put_hex(out, p, len);
		return;
	}
	putc('"', out);
	put_quoted(p, len, "\"\\", out);
	putc('"', out);
}

static void text_group(void *ctx, const struct schema_field *f)
{
	fputs(" [", ((struct dump *)ctx)->out);
}

static void text_element(void *ctx, bool begin)
{
	fputs(begin ? " {" : " }", ((struct dump *)ctx)->out);
}

static void text_group_end(void *ctx)
{
	fputs(" ]", ((struct dump *)ctx)->out);
}

static const struct schema_visitor text_visitor = {
	text_number, text_bytes, text_group, text_element, text_group_end,
};

/* Return bytes as a string for JSON: invalid UTF-8 and NUL become U+FFFD. */
static const char *terminated(struct dump *d, const char *p, size_t len)
{
	size_t i;

	buf_reset(&d->text);
	buf_add(&d->text, p, len);
	for (i = 0; i < len; i++)
		if (!d->text.data[i])
			d->text.data[i] = '\xff';
	return d->text.data;
}

static void json_number(void *ctx, const struct schema_field *f, uint64_t v)
{
	struct dump *d = ctx;

	if (!strcmp(f->unit, "4cc"))
		json_str(&d->j, f->name, terminated(d, (char *)&v, 4));
	else if (f->type == SCHEMA_INT || f->type == SCHEMA_ZIGZAG)
		json_i64(&d->j, f->name, v);
	else
		json_u64(&d->j, f->name, v);
}

static const char *hex_text(struct dump *d, const uint8_t *p, size_t len)
{
	buf_reset(&d->text);
	while (len--)
		buf_fmt(&d->text, "%02x", *p++);
	return d->text.data ? d->text.data : "";
}

static void json_bytes(void *ctx, const struct schema_field *f, const void *p, size_t len)
{
	struct dump *d = ctx;

	json_str(&d->j, f->name, f->type == SCHEMA_TEXT ? terminated(d, p, len) : hex_text(d, p, len));
}

static void json_group(void *ctx, const struct schema_field *f)
{
	struct dump *d = ctx;
	char name[40];

	snprintf(name, sizeof(name), "%s[]", f->name);
	json_array(&d->j, name);
}

static void json_element(void *ctx, bool begin)
{
	struct dump *d = ctx;

	if (begin)
		json_object(&d->j, NULL);
	else
		json_end(&d->j);
}

static void json_group_end(void *ctx)
{
	json_end(&((struct dump *)ctx)->j);
}

static const struct schema_visitor json_visitor = {
	json_number, json_bytes, json_group, json_element, json_group_end,
};

/* ---- records ---- */

/* Return whether to print the record: all are, but the schema only on request. */
static bool dump_wanted(const struct dump *d, const struct walk_record *r)
{
	size_t i;

	for (i = 0; i < d->o->nr_majors; i++)
		if (d->o->majors[i] == r->major)
			return true;
	return !d->o->nr_majors && (r->major != TRF_MAJOR_FILE || r->minor != TRF_FILE_SCHEMA);
}

/* Print seconds since the recording began; for what was found running, they may be negative. */
static void put_time(const struct dump *d, uint64_t ns)
{
	bool before = ns < d->start_ns;
	uint64_t diff = before ? d->start_ns - ns : ns - d->start_ns;

	fprintf(d->out, "%s%" PRIu64 ".%09" PRIu64, before ? "-" : "", diff / 1000000000, diff % 1000000000);
}

static void put_lines_of_hex(const uint8_t *p, size_t len, FILE *out)
{
	size_t i, k;

	for (i = 0; i < len; i += 16) {
		size_t n = MIN(len - i, (size_t)16);

		fprintf(out, "    %04zx ", i);
		for (k = 0; k < 16; k++)
			fprintf(out, k < n ? " %02x" : "   ", p[i + (k < n ? k : 0)]);
		fputs("  ", out);
		for (k = 0; k < n; k++)
			putc(isprint(p[i + k]) ? p[i + k] : '.', out);
		putc('\n', out);
	}
}

/* Note an invalid record in an intact chunk for the message at the end. */
static void __attribute__((format(printf, 2, 3))) note_bad(struct dump *d, const char *fmt, ...)
{
	struct trace_damage *dm = walk_damage(d->walk);
	va_list ap;

	dm->nr_bad_records++;
	if (dm->first[0])
		return;
	va_start(ap, fmt);
	vsnprintf(dm->first, sizeof(dm->first), fmt, ap);
	va_end(ap);
}

static void text_record(struct dump *d, const struct walk_record *r, const struct schema_kind *k)
{
	const uint8_t *head = r->body.p - r->head_len;

	put_time(d, r->time_ns);
	fprintf(d->out, "  %02x/%x  ", r->major, r->minor);
	quote_print(k ? k->name : "?", d->out);
	if (!k) {
		putc(' ', d->out);
		put_hex(d->out, r->body.p, span_left(&r->body));
	} else if (!schema_visit(k, r->minor, r->body, &text_visitor, d)) {
		fputs(" (truncated)", d->out);
		note_bad(d, "record %x/%x (%s) is truncated", r->major, r->minor, k->name);
	}
	putc('\n', d->out);
	if (d->o->raw)
		put_lines_of_hex(head, r->body.end - head, d->out);
}

static void json_record(struct dump *d, const struct walk_record *r, const struct schema_kind *k)
{
	const uint8_t *head = r->body.p - r->head_len;
	bool whole;

	json_object(&d->j, NULL);
	json_u64(&d->j, "time_ns", r->time_ns);
	json_u64(&d->j, "major", r->major);
	json_u64(&d->j, "minor", r->minor);
	json_str(&d->j, "name", k ? k->name : NULL);
	if (k) {
		json_object(&d->j, "fields");
		whole = schema_visit(k, r->minor, r->body, &json_visitor, d);
		json_end(&d->j);
		if (!whole) {
			json_bool(&d->j, "cut_short", true);
			note_bad(d, "record %x/%x (%s) is truncated", r->major, r->minor, k->name);
		}
	}
	if (!k || d->o->raw)
		json_str(&d->j, "raw", hex_text(d, head, r->body.end - head));
	json_end(&d->j);
}

static void show_damage(struct dump *d, uint64_t off, uint64_t len, const char *why)
{
	if (d->o->format == FORMAT_TEXT) {
		fprintf(d->out, "--- damage at offset %" PRIu64 ": %" PRIu64 " bytes skipped: ", off, len);
		quote_print(why, d->out);
		putc('\n', d->out);
		return;
	}
	json_object(&d->j, NULL);
	json_object(&d->j, "damage");
	json_u64(&d->j, "offset", off);
	json_u64(&d->j, "bytes", len);
	json_str(&d->j, "why", why);
	json_end(&d->j);
	json_end(&d->j);
}

static void show_records(struct dump *d, const struct walk_chunk *c, const uint8_t *raw)
{
	struct span s = span_init(raw, c->h.raw_len);
	struct walk_record r = { 0 };
	int got;

	while ((got = walk_record(&s, raw, &r)) > 0) {
		const struct schema_kind *k;

		if (!dump_wanted(d, &r))
			continue;
		k = schema_find(d->schema, r.major, r.minor);
		if (d->o->format == FORMAT_TEXT)
			text_record(d, &r, k);
		else
			json_record(d, &r, k);
	}
	if (got < 0) {
		show_damage(d, c->off, c->h.raw_len - r.off, "no whole record here, the rest of the chunk has no meaning");
		note_bad(d, "chunk %u at offset %" PRIu64 " has a record of an impossible length", c->h.seq,
			 c->off);
	}
}

static void dump_learn(struct dump *d, const struct walk_chunk *c, const uint8_t *raw)
{
	struct span s = span_init(raw, c->h.raw_len);
	struct walk_record r = { 0 };
	struct err e;

	while (walk_record(&s, raw, &r) > 0)
		if (r.major == TRF_MAJOR_FILE && r.minor == TRF_FILE_SCHEMA &&
		    schema_learn(d->schema, r.body, &e)) {
			show_damage(d, c->off, 0, e.msg);
			note_bad(d, "%s", e.msg);
		}
}

/* ---- chunks ---- */

static void show_chunk(struct dump *d, const struct walk_chunk *c)
{
	const struct trf_chunk *h = &c->h;
	char type[5];

	if (d->o->format == FORMAT_TEXT) {
		fprintf(d->out, "chunk %-5u %s at %-10" PRIu64 " %7u records, %7u bytes of %7u%s%s", h->seq,
		       walk_type_text(h, type), c->off,
		       h->nr_records, h->stored_len, h->raw_len, h->flags & TRF_ZLIB ? ", zlib" : "",
		       h->flags & TRF_TRANSPOSED ? " by columns" : "");
		if (h->stream)
			fprintf(d->out, ", epoch %u", h->stream);
		fputs(", time ", d->out);
		put_time(d, h->first_ns);
		fputs(" to ", d->out);
		put_time(d, h->last_ns);
		putc('\n', d->out);
		return;
	}
	json_object(&d->j, NULL);
	json_u64(&d->j, "chunk", h->seq);
	json_str(&d->j, "type", terminated(d, (const char *)h->type, 4));
	json_u64(&d->j, "offset", c->off);
	json_u64(&d->j, "flags", h->flags);
	json_u64(&d->j, "records", h->nr_records);
	json_u64(&d->j, "stored_bytes", h->stored_len);
	json_u64(&d->j, "raw_bytes", h->raw_len);
	json_u64(&d->j, "epoch", h->stream);
	json_u64(&d->j, "first_ns", h->first_ns);
	json_u64(&d->j, "last_ns", h->last_ns);
	json_end(&d->j);
}

static void one_chunk(struct dump *d, const struct walk_chunk *c)
{
	const uint8_t *raw;

	if (d->o->chunks) {
		show_chunk(d, c);
		return;
	}
	if (d->o->schema && !walk_is(c, TRF_SCHEMA))
		return;
	raw = walk_payload(d->walk, c);
	if (!raw) {
		show_damage(d, c->off, c->h.stored_len, "the chunk cannot be decompressed");
		return;
	}
	if (walk_is(c, TRF_SCHEMA))
		dump_learn(d, c, raw);
	show_records(d, c, raw);
}

/* ---- all of it ---- */

static void show_start(struct dump *d)
{
	static const char *const modes[] = { "continuous", "normal", "wrap" };
	const struct trf_header *h = walk_header(d->walk);
	const char *mode = h->mode < ARRAY_SIZE(modes) ? modes[h->mode] : "unknown";
	time_t sec = h->start_real_ns / 1000000000;
	struct tm tm = { 0 };

	gmtime_r(&sec, &tm);
	if (d->o->format == FORMAT_TEXT) {
		fprintf(d->out, "trace version %u, mode %s, begun %04d-%02d-%02dT%02d:%02d:%02d.%09uZ, monotonic clock %" PRIu64 " ns\n",
		       h->version, mode, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		       tm.tm_sec, (unsigned int)(h->start_real_ns % 1000000000), h->start_mono_ns);
		return;
	}
	json_init(&d->j, d->out);
	json_object(&d->j, NULL);
	json_u64(&d->j, "version", h->version);
	json_str(&d->j, "mode", mode);
	json_u64(&d->j, "start_realtime_ns", h->start_real_ns);
	json_u64(&d->j, "start_monotonic_ns", h->start_mono_ns);
	json_array(&d->j, d->o->chunks ? "chunks" : "records");
}

static void show_end(struct dump *d)
{
	const struct trace_damage *dm = walk_damage(d->walk);

	if (d->o->format == FORMAT_TEXT) {
		if (dm->truncated)
			fputs("--- no end chunk: the recording was cut off, or is still being written\n", d->out);
		return;
	}
	json_end(&d->j);
	json_u64(&d->j, "damaged_places", dm->nr_places);
	json_u64(&d->j, "skipped_bytes", dm->nr_bytes);
	json_bool(&d->j, "truncated", dm->truncated);
	json_end(&d->j);
	putc('\n', d->out);
}

static int show_all(struct dump *d, struct err *e)
{
	const struct trace_damage *dm = walk_damage(d->walk);
	struct walk_chunk c;
	int r;

	show_start(d);
	if (dm->nr_places)
		show_damage(d, 0, dm->nr_bytes, dm->first);
	while ((r = walk_next(d->walk, &c, e)) > 0) {
		if (c.gap.why[0])
			show_damage(d, c.gap.off, c.gap.len, c.gap.why);
		one_chunk(d, &c);
	}
	if (c.gap.why[0])
		show_damage(d, c.gap.off, c.gap.len, c.gap.why);
	show_end(d);
	return r;
}

int dump_print(struct walk *walk, const struct dump_opts *o, FILE *out, struct err *e)
{
	struct dump d = {
		.o = o, .walk = walk, .out = out, .schema = schema_new(),
		.start_ns = walk_header(walk)->start_mono_ns, .text = BUF_INIT,
	};
	int r = show_all(&d, e);

	schema_free(d.schema);
	buf_release(&d.text);
	return r;
}
