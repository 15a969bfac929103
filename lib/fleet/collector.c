// SPDX-License-Identifier: GPL-2.0-or-later
/* collector.c - sends profiles to a receiver of OpenTelemetry (collector.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/protobuf.h"
#include "base/quote.h"
#include "fleet/collector.h"

enum {
	MAX_ANSWER = 4 << 20,		/* as the specification recommends */
	MAX_MESSAGE = 500,
};

/* Numbers of the fields, by message. */
enum { RESPONSE_PARTIAL_SUCCESS = 1 };
enum { PARTIAL_REJECTED = 1, PARTIAL_MESSAGE };
enum { STATUS_MESSAGE = 2 };

char *collector_url(const char *url)
{
	const char *host = strstr(url, "//") + 2;
	size_t before = host - url + strcspn(host, "/?");
	const char *rest = url + before;

	if (rest[0] == '/' && rest[1] && rest[1] != '?')
		return xstrdup(url);
	return xasprintf("%.*s/v1development/profiles%s", (int)before, url, rest + (*rest == '/'));
}

/* Return what a terminal can show of it; NULL: nothing. */
static char *text_of(const struct span *s)
{
	struct buf b = BUF_INIT;
	size_t len = MIN(span_left(s), (size_t)MAX_MESSAGE);

	if (!len)
		return NULL;
	quote_add_also(&b, (const char *)s->p, len, "");
	return buf_take(&b);
}

static bool parse_partial(struct span s, struct collector_answer *a)
{
	struct protobuf_field f;

	while (protobuf_next(&s, &f)) {
		if (f.number == PARTIAL_REJECTED && f.wire == PROTOBUF_VARINT) {
			a->nr_rejected = f.v;
		} else if (f.number == PARTIAL_MESSAGE && f.wire == PROTOBUF_BYTES) {
			free(a->message);
			a->message = text_of(&f.bytes);
		}
	}
	return !s.bad;
}

int collector_parse_response(const void *data, size_t len, struct collector_answer *a)
{
	struct span s = span_init(data, len);
	struct protobuf_field f;

	while (protobuf_next(&s, &f))
		if (f.number == RESPONSE_PARTIAL_SUCCESS && f.wire == PROTOBUF_BYTES &&
		    !parse_partial(f.bytes, a))
			s.bad = true;
	return s.bad ? -EINVAL : 0;
}

char *collector_parse_status(const void *data, size_t len)
{
	struct span s = span_init(data, len);
	struct protobuf_field f;
	char *message = NULL;

	while (protobuf_next(&s, &f)) {
		if (f.number == STATUS_MESSAGE && f.wire == PROTOBUF_BYTES) {
			free(message);
			message = text_of(&f.bytes);
		}
	}
	if (s.bad) {
		free(message);
		message = NULL;
	}
	return message;
}

static int refuse(const char *url, int status, const struct buf *body, struct err *e)
{
	int code = http_is_busy(status) ? EAGAIN : status == 400 || status == 413 ? EBADMSG : EACCES;
	char *said = collector_parse_status(body->data, body->len);
	char *text = said ? said : xstrndup(body->data, strcspn(body->data, "\r\n"));
	char *message = xasprintf("%d %s", status, text);

	http_refuse(e, code, url, message);
	free(message);
	free(text);
	return -code;
}

int collector_ask(const struct http_server *server, struct err *e)
{
	char *url = collector_url(server->url);
	struct http_server service = *server;
	const struct http_request q = { .server = &service, .body_fd = -1, .total_s = server->question_s,
					.max_answer = HTTP_SHORT_ANSWER };
	struct http_answer answer;
	int r;

	service.url = url;
	r = http_send(&q, &answer, e);
	buf_release(&answer.body);
	free(url);
	return r == -EMSGSIZE ? 0 : r;
}

int collector_send(const struct http_server *server, int fd, struct collector_answer *a, struct err *e)
{
	const char *url = server->url;
	char *whole = collector_url(url);
	struct http_server service = *server;
	const struct http_request q = { .server = &service, .body_fd = fd, .gzipped = true,
					.type = "application/x-protobuf", .max_answer = MAX_ANSWER };
	struct http_answer answer;
	int r;

	service.url = whole;
	r = http_send(&q, &answer, e);

	*a = (struct collector_answer){ .wait_s = answer.wait_s };
	if (r == -EMSGSIZE) {		/* it may have been taken */
		r = -(e->code = EBADMSG);
	} else if (!r && answer.status / 100 != 2) {
		r = refuse(url, answer.status, &answer.body, e);
	} else if (!r && collector_parse_response(answer.body.data, answer.body.len, a)) {
		r = http_refuse(e, EACCES, url, "the answer is not that of a receiver of OpenTelemetry profiles");
		err_hint(e, "the request went to %.180s", whole);
	}
	buf_release(&answer.body);
	free(whole);
	return r;
}
