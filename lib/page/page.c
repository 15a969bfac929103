// SPDX-License-Identifier: GPL-2.0-or-later
/* page.c - the page around the data: markup, style and program are in the binary. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/mem.h"
#include "page/page.h"

enum { LINE_BYTES = 57 };

/* embed.S */
extern const char page_html[], page_html_end[], page_style[], page_style_end[], page_script[],
	page_script_end[];

static int pack(const struct buf *in, struct buf *out, struct err *e)
{
	int r = gzip_bytes(in->data, in->len, out, e);

	if (r == -EFBIG)
		err_hint(e, "--prune or --pid make a page smaller");
	return r;
}

static size_t encode(const uint8_t *in, size_t len, char *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t i, at = 0;

	for (i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)in[i] << 16 | (i + 1 < len ? in[i + 1] << 8 : 0) |
			(i + 2 < len ? in[i + 2] : 0);

		out[at++] = digits[v >> 18];
		out[at++] = digits[v >> 12 & 63];
		out[at++] = i + 1 < len ? digits[v >> 6 & 63] : '=';
		out[at++] = i + 2 < len ? digits[v & 63] : '=';
	}
	return at;
}

static void put_base64(const struct buf *b, FILE *out)
{
	char line[LINE_BYTES / 3 * 4];
	size_t i;

	for (i = 0; i < b->len; i += LINE_BYTES)
		fwrite(line, 1, encode((uint8_t *)b->data + i, MIN(b->len - i, (size_t)LINE_BYTES), line),
		       out);
}

/* Write the markup up to the mark; return what follows it. */
static const char *put_until(const char *at, const char *mark, FILE *out)
{
	size_t len = strlen(mark);
	const char *found = memmem(at, page_html_end - at, mark, len);

	fwrite(at, 1, (found ? found : page_html_end) - at, out);
	return found ? found + len : page_html_end;
}

/* Names come from programs: none may end the element that it is in. */
static void put_json(const char *json, FILE *out)
{
	for (; *json; json++)
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
}

int page_print_data(const struct buf *data, const struct buf *other, const struct page_more *more, FILE *out,
		    struct err *e)
{
	struct buf packed = BUF_INIT, packed_other = BUF_INIT;
	const char *at = page_html;
	int r = pack(data, &packed, e);

	if (!r && other)
		r = pack(other, &packed_other, e);
	if (!r) {
		at = put_until(at, "@STYLE@", out);
		fwrite(page_style, 1, page_style_end - page_style, out);
		at = put_until(at, "@DATA@", out);
		put_base64(&packed, out);
		at = put_until(at, "@OTHER@", out);
		put_base64(&packed_other, out);
		at = put_until(at, "@MORE@", out);
		put_json(more && more->json ? more->json : "null", out);
		at = put_until(at, "@SCRIPT@", out);
		fwrite(page_script, 1, page_script_end - page_script, out);
		fwrite(at, 1, page_html_end - at, out);
	}
	buf_release(&packed);
	buf_release(&packed_other);
	return r;
}

int page_print(struct view *v, const struct page_more *more, FILE *out, struct err *e)
{
	struct buf data = BUF_INIT, other = BUF_INIT;
	int r;

	page_data(v, &data);
	if (more && more->other)
		page_data(more->other, &other);
	r = page_print_data(&data, other.len ? &other : NULL, more, out, e);
	buf_release(&data);
	buf_release(&other);
	return r;
}

int html_print(struct view *v, FILE *out, struct err *e)
{
	char *calls = v->trace ? report_calls_json(v->trace, v->o) : NULL;
	char *tables = v->trace ? report_tables_json(v->trace, v->o) : NULL;
	char *summary = report_summary_json(v);
	char *json = xasprintf("{\"calls\":%s,\"tables\":%s,\"summary\":%s}", calls ? calls : "null",
			       tables ? tables : "[]", summary ? summary : "null");
	const struct page_more more = { .json = json };
	int r = page_print(v, &more, out, e);

	free(json);
	free(summary);
	free(tables);
	free(calls);
	return r;
}
