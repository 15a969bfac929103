// SPDX-License-Identifier: GPL-2.0-or-later
/* incoming.c - finds the profiles in a request, and what it says of them. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "base/protobuf.h"
#include "fleet/incoming.h"

enum { MAX_PROFILES = 1000, MAX_PARTS = 16, MAX_LABELS_BYTES = 4096, MAX_BOUNDARY = 70 };

struct incoming_way {
	const char *path;
	int (*parse)(struct incoming *in, const struct request *q, struct span body, struct err *e);
};

/* Text of the body or of a parameter, not terminated. */
struct piece {
	const char *s;
	size_t len;
};

static struct piece piece_of(struct span s)
{
	return (struct piece){ (const char *)s.p, span_left(&s) };
}

static bool is_word(struct piece p, const char *s)
{
	return p.len == strlen(s) && !memcmp(p.s, s, p.len);
}

/* Name and labels are taken over. */
static int add_profile(struct incoming *in, struct span data, char *name, struct buf *labels,
		       uint64_t start_ns, struct err *e)
{
	if (in->nr_items == MAX_PROFILES)
		return err_set(e, EINVAL, "more than %d profiles at once", MAX_PROFILES);
	VEC_GROW(in->items, in->nr_items, in->alloc_items);
	in->items[in->nr_items++] = (struct incoming_profile){
		.data = (const char *)data.p, .len = span_left(&data), .name = name,
		.labels = labels->len ? buf_take(labels) : xstrdup(""), .start_ns = start_ns,
	};
	return 0;
}

/* ---- what a profile is called ---- */

struct called {
	struct buf name, labels;
};

/* Keys with two underscores are Prometheus's own, and of Pyroscope's some are other in each process. */
static void take_pair(struct called *c, struct piece key, struct piece value)
{
	if (is_word(key, "service_name")) {
		buf_reset(&c->name);
		buf_add(&c->name, value.s, value.len);
	} else if (key.len && !(key.len > 1 && !memcmp(key.s, "__", 2)) && c->labels.len < MAX_LABELS_BYTES) {
		labels_add_foreign(&c->labels, key.s, key.len, value.s, value.len);
	}
}

static struct piece trim(const char *s, size_t len)
{
	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	if (len > 1 && *s == '"' && s[len - 1] == '"') {
		s++;
		len -= 2;
	}
	return (struct piece){ s, len };
}

/* app{key=value,key=value} */
static int parse_name(struct called *c, const struct buf *text, struct err *e)
{
	const char *s = text->data, *end = s + text->len, *open = memchr(s, '{', text->len), *next, *equals;
	struct piece name = trim(s, open ? (size_t)(open - s) : text->len);

	buf_add(&c->name, name.s, name.len);
	if (open && end[-1] != '}')
		return err_set(e, EINVAL, "name: '{' has no '}' at its end");
	for (s = open ? open + 1 : end; s < end; s = next + 1) {
		next = memchr(s, ',', end - s);
		next = next ? next : end - 1;
		equals = memchr(s, '=', next - s);
		if (equals)
			take_pair(c, trim(s, equals - s), trim(equals + 1, next - equals - 1));
	}
	return 0;
}

/* Add the service as a label beside all others. */
static int name_service(struct called *c, struct err *e)
{
	struct buf had = BUF_INIT;

	if (!c->name.len || memchr(c->name.data, '\0', c->name.len))
		return err_set(e, EINVAL, "the profile has no name");
	if (c->name.len > LABELS_MAX_VALUE)
		return err_set(e, EINVAL, "the name has more than %d bytes", LABELS_MAX_VALUE);
	if (!labels_value(c->labels.len ? c->labels.data : "", "service", &had))
		labels_add_foreign(&c->labels, "service", strlen("service"), c->name.data, c->name.len);
	buf_release(&had);
	return 0;
}

static void called_release(struct called *c)
{
	buf_release(&c->name);
	buf_release(&c->labels);
}

/* ---- OTLP ---- */

static int parse_otlp(struct incoming *in, const struct request *q, struct span body, struct err *e)
{
	struct buf none = BUF_INIT;

	(void)q;
	in->otlp = true;
	return span_left(&body) ? add_profile(in, body, NULL, &none, 0, e) : 0;
}

/* ---- /ingest ---- */

/* Seconds, milliseconds, microseconds or nanoseconds since 1970: in our time each has its magnitude. */
static int parse_moment(const struct buf *text, uint64_t *ns, struct err *e)
{
	static const struct {
		uint64_t below, ns;
	} units[] = { { 100000000000, 1000000000 }, { 100000000000000, 1000000 },
		      { 100000000000000000, 1000 } };
	char *end;
	size_t i;

	errno = 0;
	*ns = strtoull(text->data, &end, 10);
	if (!isdigit((unsigned char)*text->data) || *end || errno)
		return err_set(e, EINVAL, "from: '%.40s' is not a number of seconds since 1970", text->data);
	for (i = 0; i < ARRAY_SIZE(units) && *ns >= units[i].below; i++)
		;
	*ns *= i < ARRAY_SIZE(units) ? units[i].ns : 1;
	return 0;
}

static const char *find_bytes(const char *s, const char *end, const char *what, size_t len)
{
	return s < end ? memmem(s, end - s, what, len) : NULL;
}

/* Find the delimiter of a form: "\r\n--" and the boundary. */
static bool find_boundary(const struct request *q, struct buf *b)
{
	size_t len, n;
	const char *type = request_header(q->head, "Content-Type:", &len), *s, *end = type + len;

	s = find_bytes(type, end, "boundary=", 9);
	if (!s)
		return false;
	s += 9;
	n = *s == '"' ? strcspn(++s, "\"\r\n") : strcspn(s, "; \t\r\n");
	buf_str(b, "\r\n--");
	buf_add(b, s, n);
	return n && n <= MAX_BOUNDARY;
}

/* Return whether the head of a part says that it is the field of that name. */
static bool is_field(const char *head, size_t len, const char *name)
{
	struct buf b = BUF_INIT, text = BUF_INIT;
	bool is;

	buf_add(&text, head, len);
	buf_fmt(&b, " name=\"%s\"", name);
	is = text.len == strlen(text.data) && strstr(text.data, b.data);
	if (!is) {
		buf_reset(&b);
		buf_fmt(&b, ";name=\"%s\"", name);
		is = text.len == strlen(text.data) && strstr(text.data, b.data);
	}
	buf_release(&b);
	buf_release(&text);
	return is;
}

/*
 * Find the field profile or jfr of a form. A form with prev_profile is refused: its profile counts since the
 * program began, and prev_profile would have to be subtracted first.
 */
static int find_form_field(const char *body, size_t len, const struct buf *boundary, struct span *found,
		      struct err *e)
{
	const char *end = body + len, *s = body, *next, *data;
	int i;

	/* the first delimiter has no line before it */
	if (len < boundary->len - 2 || memcmp(s, boundary->data + 2, boundary->len - 2) != 0)
		return err_set(e, EINVAL, "the form does not begin with its boundary");
	*found = span_init("", 0);
	s += boundary->len - 2;
	for (i = 0; i < MAX_PARTS && end - s > 2 && memcmp(s, "--", 2) != 0; i++, s = next + boundary->len) {
		next = find_bytes(s, end, boundary->data, boundary->len);
		data = next ? find_bytes(s, next, "\r\n\r\n", 4) : NULL;
		if (!data)
			return err_set(e, EINVAL, "the form is truncated");
		data += 4;
		if (is_field(s, data - s, "profile") || is_field(s, data - s, "jfr"))
			*found = span_init(data, next - data);
		else if (is_field(s, data - s, "prev_profile") && data < next)
			return err_set(e, EINVAL, "prev_profile: profiles that count since the program began cannot be added");
	}
	return span_left(found) ? 0 : err_set(e, EINVAL, "the form has no field named profile or jfr");
}

static int parse_form(const struct request *q, struct span *body, struct err *e)
{
	struct buf boundary = BUF_INIT;
	struct piece all = piece_of(*body);
	int r = find_boundary(q, &boundary) ? find_form_field(all.s, all.len, &boundary, body, e) :
		err_set(e, EINVAL, "the form has no boundary");

	buf_release(&boundary);
	return r;
}

static int parse_ingest(struct incoming *in, const struct request *q, struct span body, struct err *e)
{
	struct buf name = BUF_INIT, from = BUF_INIT;
	struct called c = { BUF_INIT, BUF_INIT };
	uint64_t start_ns = 0;
	int r = 0;

	if (!request_param(q, "name", &name) || !name.len)
		r = err_set(e, EINVAL, "the parameter name is missing: /ingest?name=app");
	if (!r)
		r = parse_name(&c, &name, e);
	if (!r)
		r = name_service(&c, e);
	if (!r && request_param(q, "from", &from) && from.len)
		r = parse_moment(&from, &start_ns, e);
	if (!r && request_has_type(q, "multipart/form-data"))
		r = parse_form(q, &body, e);
	if (!r)
		r = add_profile(in, body, xstrdup(c.name.data), &c.labels, start_ns, e);
	called_release(&c);
	buf_release(&name);
	buf_release(&from);
	return r;
}

/* ---- Push ---- */

/* Numbers of the fields, by message. */
enum { REQUEST_SERIES = 1 };
enum { SERIES_LABELS = 1, SERIES_SAMPLES };
enum { LABEL_NAME = 1, LABEL_VALUE };
enum { SAMPLE_RAW_PROFILE = 1 };

static void take_label(struct called *c, struct span s)
{
	struct piece key = { "", 0 }, value = { "", 0 };
	struct protobuf_field f;

	while (protobuf_next(&s, &f))
		if (f.number == LABEL_NAME && f.wire == PROTOBUF_BYTES)
			key = piece_of(f.bytes);
		else if (f.number == LABEL_VALUE && f.wire == PROTOBUF_BYTES)
			value = piece_of(f.bytes);
	take_pair(c, key, value);
}

static int take_raw_sample(struct incoming *in, const struct called *c, struct span s, struct err *e)
{
	struct buf labels = BUF_INIT;
	struct protobuf_field f;
	int r = 0;

	while (!r && protobuf_next(&s, &f))
		if (f.number == SAMPLE_RAW_PROFILE && f.wire == PROTOBUF_BYTES) {
			buf_str(&labels, c->labels.len ? c->labels.data : "");
			r = add_profile(in, f.bytes, xstrdup(c->name.data), &labels, 0, e);
		}
	return r;
}

static int take_series(struct incoming *in, struct span s, struct err *e)
{
	struct called c = { BUF_INIT, BUF_INIT };
	struct protobuf_field f;
	struct span labels = s;
	int r;

	while (protobuf_next(&labels, &f))
		if (f.number == SERIES_LABELS && f.wire == PROTOBUF_BYTES)
			take_label(&c, f.bytes);
	r = labels.bad ? err_set(e, EINVAL, "the message is damaged") : name_service(&c, e);
	while (!r && protobuf_next(&s, &f))
		if (f.number == SERIES_SAMPLES && f.wire == PROTOBUF_BYTES)
			r = take_raw_sample(in, &c, f.bytes, e);
	called_release(&c);
	return r;
}

static int parse_push(struct incoming *in, const struct request *q, struct span body, struct err *e)
{
	struct protobuf_field f;
	int r = 0;

	if (!request_has_type(q, "application/proto"))
		return err_set(e, EMEDIUMTYPE, "only messages of protobuf are understood");
	while (!r && protobuf_next(&body, &f))
		if (f.number == REQUEST_SERIES && f.wire == PROTOBUF_BYTES)
			r = take_series(in, f.bytes, e);
	return !r && body.bad ? err_set(e, EINVAL, "the message is damaged") : r;
}

/* ---- all of them ---- */

static const struct incoming_way ways[] = {
	{ "/v1development/profiles", parse_otlp },
	{ "/ingest", parse_ingest },
	{ "/push.v1.PusherService/Push", parse_push },
};

const struct incoming_way *incoming_find(const struct request *q)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (is_word((struct piece){ q->path, q->path_len }, ways[i].path))
			return &ways[i];
	return NULL;
}

int incoming_parse(struct incoming *in, const struct incoming_way *way, const struct request *q,
		   const char *body, size_t len, struct err *e)
{
	*in = (struct incoming){ .items = NULL };
	return way->parse(in, q, span_init(body, len), e);
}

void incoming_release(struct incoming *in)
{
	size_t i;

	for (i = 0; i < in->nr_items; i++) {
		free(in->items[i].name);
		free(in->items[i].labels);
	}
	free(in->items);
}
