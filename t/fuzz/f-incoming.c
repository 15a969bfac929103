// SPDX-License-Identifier: GPL-2.0-or-later
/* f-incoming.c - any bytes as a request with profiles: what is found in it lies in its body. */
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "fleet/incoming.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_labels(const char *labels)
{
	struct buf key = BUF_INIT, value = BUF_INIT, label = BUF_INIT;
	struct err e;

	while (labels_next(&labels, &key, &value)) {
		buf_reset(&label);
		buf_fmt(&label, "%s=%s", key.data, value.data);
		if (label_check(label.data, &e))
			abort();
	}
	buf_release(&key);
	buf_release(&value);
	buf_release(&label);
}

static void check_profiles(const struct request *q, const struct buf *body)
{
	const struct incoming_way *way = incoming_find(q);
	struct incoming in;
	struct err e;
	size_t i;

	if (!way)
		return;
	incoming_parse(&in, way, q, body->data, body->len, &e);
	for (i = 0; i < in.nr_items; i++) {
		const struct incoming_profile *p = &in.items[i];

		if (p->len && (p->data < body->data || p->data + p->len > body->data + body->len))
			abort();
		check_labels(p->labels);
	}
	incoming_release(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *text = (const char *)data, *end = len ? memmem(data, len, "\r\n\r\n", 4) : NULL;
	size_t head_len = end ? (size_t)(end - text) + 4 : 0;
	char *head = strndup(text, head_len);
	struct chunks chunks = { .left = 0 };
	struct buf body = BUF_INIT;
	struct request q;
	struct err e;

	buf_add(&body, "", 0);
	buf_str(&body, "");
	if (!request_parse(&q, head, &e)) {
		if (q.chunked)
			chunks_take(&chunks, text + head_len, len - head_len, 1 << 20, &body, &e);
		else
			buf_add(&body, text + head_len, len - head_len);
		check_profiles(&q, &body);
	}
	buf_release(&body);
	free(head);
	return 0;
}
