// SPDX-License-Identifier: GPL-2.0-or-later
/* request.c - parses the head of a request, its parameters, and a body in chunks. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "fleet/request.h"

enum { MAX_SIZE_DIGITS = 8, MAX_OTHERS = 8192 };

/* ---- the head ---- */

const char *request_header(const char *head, const char *name, size_t *len)
{
	const char *line;

	for (line = strstr(head, "\r\n"); line; line = strstr(line, "\r\n")) {
		line += 2;
		if (strncasecmp(line, name, strlen(name)) != 0)
			continue;
		line += strlen(name);
		line += strspn(line, " \t");
		*len = strcspn(line, "\r\n");
		while (*len && strchr(" \t", line[*len - 1]))
			--*len;
		return line;
	}
	return NULL;
}

static bool has_header(const char *head, const char *name, const char *value)
{
	size_t len;
	const char *s = request_header(head, name, &len);

	return s && len == strlen(value) && !strncasecmp(s, value, len);
}

/* "POST /path?query HTTP/1.1" */
static bool parse_line(struct request *q, const char *s)
{
	const char *target, *version;

	q->method = s;
	q->method_len = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	target = s + q->method_len;
	if (!q->method_len || *target++ != ' ' || *target != '/')
		return false;
	version = target + strcspn(target, " \r\n");
	q->path = target;
	q->path_len = strcspn(target, "? \r\n");
	q->query = target + q->path_len + (target[q->path_len] == '?');
	q->query_len = version - q->query;
	return !strncmp(version, " HTTP/1.", 8) && isdigit((unsigned char)version[8]) &&
	       !strncmp(version + 9, "\r\n", 2);
}

static int parse_length(struct request *q, struct err *e)
{
	size_t len;
	const char *s = request_header(q->head, "Content-Length:", &len);
	char *end;

	if (request_header(q->head, "Transfer-Encoding:", &len)) {
		q->chunked = true;
		if (s || !has_header(q->head, "Transfer-Encoding:", "chunked"))
			return err_set(e, EINVAL, "a body is in chunks, or has a Content-Length");
		return 0;
	}
	if (!s)
		return 0;
	errno = 0;
	q->len = strtoull(s, &end, 10);
	if (!isdigit((unsigned char)*s) || errno || (*end != '\r' && *end != ' ' && *end != '\t') ||
	    request_header(s, "Content-Length:", &len))	/* another one */
		return err_set(e, EINVAL, "the Content-Length is not a number");
	return 0;
}

int request_parse(struct request *q, const char *head, struct err *e)
{
	size_t len;
	int r;

	*q = (struct request){ .head = head };
	if (!parse_line(q, head))
		return err_set(e, EINVAL, "not a request of HTTP/1.1");
	r = parse_length(q, e);
	if (r)
		return r;
	q->waits = has_header(head, "Expect:", "100-continue");
	q->gzipped = has_header(head, "Content-Encoding:", "gzip");
	if (!q->gzipped && request_header(head, "Content-Encoding:", &len) && len &&
	    !has_header(head, "Content-Encoding:", "identity"))
		return err_set(e, EMEDIUMTYPE, "a Content-Encoding other than gzip");
	return 0;
}

bool request_is(const struct request *q, const char *method)
{
	return q->method_len == strlen(method) && !memcmp(q->method, method, q->method_len);
}

bool request_has_type(const struct request *q, const char *type)
{
	size_t len;
	const char *s = request_header(q->head, "Content-Type:", &len);

	return s && len >= strlen(type) && !strncasecmp(s, type, strlen(type));
}

/* ---- parameters ---- */

static void undo_escapes(const char *s, size_t len, struct buf *b)
{
	size_t i;

	for (i = 0; i < len; i++) {
		bool coded = s[i] == '%' && len - i > 2 && hex_digit(s[i + 1]) >= 0 &&
			     hex_digit(s[i + 2]) >= 0;

		buf_putc(b, coded ? (char)(hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2])) :
			    s[i] == '+' ? ' ' : s[i]);
		i += coded ? 2 : 0;
	}
}

bool request_param(const struct request *q, const char *name, struct buf *value)
{
	const char *s = q->query, *end = s + q->query_len, *next;

	for (; s < end; s = next + 1) {
		next = memchr(s, '&', end - s);
		next = next ? next : end;
		if ((size_t)(next - s) > strlen(name) && !memcmp(s, name, strlen(name)) &&
		    s[strlen(name)] == '=') {
			undo_escapes(s + strlen(name) + 1, next - s - strlen(name) - 1, value);
			return true;
		}
	}
	return false;
}

/* ---- chunks ---- */

/* Take a byte of the framing; return false if it does not belong there. */
static bool take_byte(struct chunks *c, char byte)
{
	int digit = hex_digit(byte);

	switch (c->state) {
	case CHUNK_SIZE:
		if (digit >= 0) {
			c->left = c->left << 4 | digit;
			return ++c->nr_digits <= MAX_SIZE_DIGITS;
		}
		c->state = CHUNK_EXTENSION;
		if (!c->nr_digits || !strchr("; \t\r\n", byte))
			return false;
		__attribute__((fallthrough));
	case CHUNK_EXTENSION:
		if (byte == '\n') {
			c->is_last = !c->left;
			c->state = c->is_last ? CHUNK_TRAILER : CHUNK_DATA;
			c->nr_digits = 0;
		}
		return true;
	case CHUNK_END:
		if (byte == '\n') {
			c->state = CHUNK_SIZE;
			c->nr_digits = c->nr_others = 0;
		}
		return byte == '\r' || byte == '\n';
	default:		/* nr_digits: bytes in this line of the trailer */
		if (byte == '\n' && !c->nr_digits)
			c->state = CHUNKS_COMPLETE;
		c->nr_digits = byte == '\n' ? 0 : c->nr_digits + (byte != '\r');
		return true;
	}
}

int chunks_take(struct chunks *c, const char *bytes, size_t len, size_t limit, struct buf *body,
		struct err *e)
{
	while (len && c->state != CHUNKS_COMPLETE) {
		size_t n = c->state == CHUNK_DATA ? MIN((uint64_t)len, c->left) : 1;

		if (c->state == CHUNK_DATA) {
			if (n > limit - MIN(limit, body->len))
				return err_set(e, EFBIG, "the body has more than %zu bytes", limit);
			buf_add(body, bytes, n);
			c->left -= n;
			if (!c->left)
				c->state = CHUNK_END;
		} else if (!take_byte(c, *bytes) || ++c->nr_others > MAX_OTHERS) {
			return err_set(e, EINVAL, "the body is not made of chunks");
		}
		bytes += n;
		len -= n;
	}
	return c->state == CHUNKS_COMPLETE;
}
