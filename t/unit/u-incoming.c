// SPDX-License-Identifier: GPL-2.0-or-later
/* u-incoming.c - requests with profiles, as programs send them and as they do not. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "fleet/incoming.h"
#include "unit.h"

static int parse_head(struct request *q, const char *head)
{
	struct err e;

	return request_parse(q, head, &e);
}

TEST(request_has_what_its_head_says)
{
	struct buf value = BUF_INIT;
	struct request q;
	size_t len;

	CHECK(!parse_head(&q, "POST /ingest?name=a%20b+c%zz&from=&x=1 HTTP/1.1\r\nHost: a\r\ncontent-length:  12 \r\n"
			      "Content-Type: Multipart/Form-Data; boundary=x\r\nExpect: 100-Continue\r\n\r\n"));
	CHECK(request_is(&q, "POST") && !request_is(&q, "POS"));
	CHECK(q.path_len == 7 && !strncmp(q.path, "/ingest", 7));
	CHECK(q.len == 12 && !q.chunked && !q.gzipped && q.waits);
	CHECK(request_has_type(&q, "multipart/form-data"));
	CHECK(request_param(&q, "name", &value));
	CHECK_STR(value.data, "a b c%zz");
	CHECK(!request_param(&q, "nam", &value) && !request_param(&q, "ame", &value));
	CHECK(!request_header(q.head, "POST", &len));
	buf_release(&value);
	CHECK(!parse_head(&q, "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"));
	CHECK(q.chunked && q.gzipped && !q.query_len);
}

TEST(request_of_two_lengths_or_of_none_is_refused)
{
	static const char *const bad[] = {
		"", "\r\n\r\n", "POST\r\n\r\n", "POST / \r\n\r\n", "POST x HTTP/1.1\r\n\r\n",
		"post / HTTP/1.1\r\n\r\n", "POST / HTTP/2\r\n\r\n", "POST / HTTP/1.1 \r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 1,2\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 1\r\nHost: x\r\nContent-Length: 2\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
		"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
	};
	struct request q;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_U64(parse_head(&q, bad[i]), -EINVAL);
	CHECK_U64(parse_head(&q, "POST / HTTP/1.1\r\nContent-Encoding: br\r\n\r\n"), -EMEDIUMTYPE);
}

/* Takes the text in pieces of that size. */
static int take_chunks(const char *text, size_t piece, size_t limit, struct buf *body)
{
	struct chunks c = { .left = 0 };
	size_t len = strlen(text), at;
	struct err e;
	int r = 0;

	buf_reset(body);
	for (at = 0; at < len && !r; at += piece)
		r = chunks_take(&c, text + at, MIN(piece, len - at), limit, body, &e);
	return r;
}

TEST(chunks_are_the_same_however_they_are_cut)
{
	static const char text[] = "5\r\nhello\r\n001;a=b\r\n \r\n5 \r\nworld\r\n0\r\nTrailer: x\r\n\r\nmore";
	static const char *const bad[] = { "x\r\n", "\r\n", "5\r\nhellox", "123456789\r\n", "-1\r\n" };
	struct buf body = BUF_INIT;
	size_t i;

	for (i = 1; i < sizeof(text); i++) {
		CHECK_U64(take_chunks(text, i, 100, &body), 1);
		CHECK_STR(body.data, "hello world");
	}
	CHECK_U64(take_chunks("5\r\nhello\r\n", 3, 100, &body), 0);
	CHECK_U64(take_chunks(text, 2, 10, &body), -EFBIG);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_U64(take_chunks(bad[i], 1, 100, &body), -EINVAL);
	buf_release(&body);
}

/* The name and labels of the only profile, as "name labels start", or the message of the failure. */
static const char *called(const char *target, const char *body, size_t len)
{
	static struct buf text;
	struct incoming in;
	struct request q;
	struct err e = { 0 };

	buf_reset(&text);
	buf_fmt(&text, "POST %s HTTP/1.1\r\nContent-Type: application/proto\r\n\r\n", target);
	CHECK(!parse_head(&q, text.data));
	if (!incoming_parse(&in, incoming_find(&q), &q, body, len, &e) && in.nr_items == 1) {
		buf_reset(&text);
		buf_fmt(&text, "%s %s %llu", in.items[0].name, in.items[0].labels,
			(unsigned long long)in.items[0].start_ns);
	} else {
		buf_reset(&text);
		buf_str(&text, e.msg);
	}
	incoming_release(&in);
	return text.data;
}

TEST(incoming_names_are_services_and_labels)
{
	CHECK_STR(called("/ingest?name=app", "x", 1), "app service=app 0");
	CHECK_STR(called("/ingest?name=app.cpu%7Ba=b,c%3D%22d%22,+e+=+f+%7D&from=1790000000", "x", 1),
		  "app.cpu a=b,c=d,e=f,service=app.cpu 1790000000000000000");
	CHECK_STR(called("/ingest?name=app%7B%7D&from=1790000000123", "x", 1), "app service=app 1790000000123000000");
	CHECK_STR(called("/ingest?name=app%7Bservice_name=shop,__x__=1,k/8=v%7D&from=1790000000123456", "x", 1),
		  "shop k_8=v,service=shop 1790000000123456000");
	CHECK_STR(called("/ingest?name=app%7Bservice=shop,=x,y,z=%7D&from=1790000000123456789", "x", 1),
		  "app service=shop 1790000000123456789");
	CHECK_STR(called("/ingest?name=%7Ba=b%7D", "x", 1), "the profile has no name");
	CHECK_STR(called("/ingest?name=a%7Bb", "x", 1), "name: '{' has no '}' at its end");
	CHECK_STR(called("/ingest?name=a&from=-1", "x", 1), "from: '-1' is not a number of seconds since 1970");
}

TEST(incoming_message_of_a_push_is_profiles_with_labels)
{
	static const char message[] = "\x0a\x24\x0a\x13\x0a\x0cservice_name\x12\x03go1\x0a\x06\x0a\x01""a\x12\x01""b"
				      "\x12\x05\x0a\x03xyz";
	size_t i;

	CHECK_STR(called("/push.v1.PusherService/Push", message, sizeof(message) - 1), "go1 a=b,service=go1 0");
	for (i = 1; i + 1 < sizeof(message); i++)
		CHECK_STR(called("/push.v1.PusherService/Push", message, i), "the message is damaged");
	CHECK_STR(called("/push.v1.PusherService/Push", "\x0a\x07\x12\x05\x0a\x03xyz", 9), "the profile has no name");
}
