// SPDX-License-Identifier: GPL-2.0-or-later
/* labels.c - parses and builds labels such as "service=shop,version=1.2" (labels.h). */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "base/quote.h"

static size_t key_len(const char *s)
{
	size_t len = 0;

	if (isdigit((unsigned char)*s) || *s == '-' || *s == '.')
		return 0;
	while (isalnum((unsigned char)s[len]) || (s[len] && strchr("_-.", s[len])))
		len++;
	return len <= LABELS_MAX_KEY ? len : 0;
}

static bool is_label_value(const char *s)
{
	size_t len = strlen(s), n;

	if (!len || len > LABELS_MAX_VALUE)
		return false;
	for (; len; s += n, len -= n) {
		n = quote_plain_len(s, len);
		if (!n || *s == ',' || *s == '\\')
			return false;
	}
	return true;
}

int label_check(const char *label, struct err *e)
{
	size_t len = key_len(label);

	if (!len || label[len] != '=')
		return err_set(e, EINVAL, "'%.80s' is not a label: key=value", label);
	if (!is_label_value(label + len + 1))
		return err_set(e, EINVAL, "the label '%.*s' has a value that is empty, too long, or not plain text",
			       (int)len, label);
	return 0;
}

/*
 * Return where the label of that key is, or where it belongs; *len is its length, or 0 without such a
 * label.
 */
static const char *labels_find(const char *text, const char *key, size_t *len)
{
	size_t key_end = strlen(key), end;
	int order;

	for (; *text; text += end + (text[end] == ',')) {
		size_t n = strcspn(text, "=,");

		end = strcspn(text, ",");
		order = strncmp(text, key, n < key_end ? n : key_end);
		if (!order && n == key_end) {
			*len = end;
			return text;
		}
		if (order > 0 || (!order && n > key_end))
			break;
	}
	*len = 0;
	return text;
}

bool labels_add(struct buf *text, const char *key, const char *value)
{
	struct buf b = BUF_INIT;
	const char *at;
	size_t len, before;

	if (!*key || key_len(key) != strlen(key) || !is_label_value(value))
		return false;
	at = labels_find(text->data ? text->data : "", key, &len);
	before = text->data ? at - text->data : 0;
	buf_add(&b, text->data ? text->data : "", before);
	if (b.len && b.data[b.len - 1] != ',')
		buf_putc(&b, ',');
	buf_fmt(&b, "%s=%s", key, value);
	at += len ? len : 0;
	if (*at)
		buf_fmt(&b, "%s%s", *at == ',' ? "" : ",", at);
	buf_release(text);
	*text = b;
	return true;
}

/* Returns whether it is a key already. */
static bool make_label_key(struct buf *b, const char *key, size_t len)
{
	bool same = len && len <= LABELS_MAX_KEY;
	size_t i;

	if (len && (isdigit((unsigned char)*key) || *key == '-' || *key == '.')) {
		buf_putc(b, '_');
		same = false;
	}
	for (i = 0; i < len && b->len < LABELS_MAX_KEY; i++) {
		bool fits = isalnum((unsigned char)key[i]) || (key[i] && strchr("_-.", key[i]));

		buf_putc(b, fits ? key[i] : '_');
		same &= fits;
	}
	return same;
}

/* Returns whether it is a value already. */
static bool make_value(struct buf *b, const char *value, size_t len)
{
	bool same = true;
	size_t n;

	for (; len; value += n, len -= n) {
		n = quote_plain_len(value, len);
		if (b->len + MAX(n, (size_t)1) > LABELS_MAX_VALUE)
			return false;
		if (n && *value != ',' && *value != '\\') {
			buf_add(b, value, n);
			continue;
		}
		buf_putc(b, '?');
		same = false;
		n += !n;
	}
	return same;
}

bool labels_add_foreign(struct buf *text, const char *key, size_t len, const char *value, size_t value_len)
{
	struct buf k = BUF_INIT, v = BUF_INIT, before = BUF_INIT;
	bool same = make_label_key(&k, key, len);

	same &= make_value(&v, value, value_len);
	same &= k.len && v.len;
	if (k.len && v.len) {
		same &= !labels_value(text->data ? text->data : "", k.data, &before);
		labels_add(text, k.data, v.data);
	}
	buf_release(&k);
	buf_release(&v);
	buf_release(&before);
	return same;
}

bool labels_value(const char *text, const char *key, struct buf *value)
{
	size_t len;
	const char *at = labels_find(text, key, &len);

	if (len <= strlen(key))
		return false;
	buf_add(value, at + strlen(key) + 1, len - strlen(key) - 1);
	return true;
}

bool labels_next(const char **text, struct buf *key, struct buf *value)
{
	size_t end = strcspn(*text, ","), n = strcspn(*text, "=,");

	buf_reset(key);
	buf_reset(value);
	if (!end)
		return false;
	buf_add(key, *text, n);
	buf_add(value, *text + n + (n < end), end - n - (n < end));
	*text += end + ((*text)[end] == ',');
	return true;
}
