// SPDX-License-Identifier: MIT
/*
 * label.c - what threads work for, where the program runs under "arcprof record -e label".
 *
 * Each change is a record with all labels of the thread: one that is lost spoils nothing but the time until
 * the next. Values are not kept but in the threads that have them, so that a program may use any number.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "api/native.h"
#include "api/recorder.h"
#include "arcprof.h"

enum { MAX_KEY = 63, MAX_VALUE = 255 };		/* as base/labels.h has them */

struct own {
	uint32_t generation;	/* in which it was made: a forked child begins without */
	uint32_t nr;		/* of the last record */
	struct arcprof_labels labels;
};

static ARCPROF_THREAD_LOCAL struct own *own;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key_of_own;
static bool has_key;

void arcprof_label_put(const struct arcprof_recorder *m, uint32_t nr, uint64_t vthread, const char *text,
		       size_t len)
{
	const struct jvm_labels r = {
		.time_ns = arcprof_recorder_now_ns(), .thread = arcprof_recorder_tid(), .nr = nr,
		.vthread = vthread, .text = text, .text_len = (uint32_t)len,
	};
	size_t size = jvm_size_labels(&r);
	void *rec = arcprof_recorder_reserve(m, size);

	if (!rec)
		return;
	jvm_encode_labels(rec, size, &r);
	jvm_ring_commit(rec, m->ring_bytes, size, JVM_REC_labels);
}

/* in libarcprof-hookit, which a program may have as well: its calls are counted with their labels */
__attribute__((weak)) void arcprof_hookit_label(const char *text, size_t len);

static void put_own(const struct arcprof_recorder *m, struct own *o)
{
	arcprof_label_put(m, ++o->nr, 0, o->labels.text, o->labels.len);
	if (arcprof_hookit_label)
		arcprof_hookit_label(o->labels.text, o->labels.len);
}

static void free_own(void *p)
{
	own = NULL;
	free(p);
}

static void make_key(void)
{
	has_key = !pthread_key_create(&key_of_own, free_own);
}

/* Return the thread's labels, NULL without memory. */
static struct own *get_own(void)
{
	uint32_t generation = load_relaxed(&arcprof_recorder_generation);

	if (own && own->generation == generation)
		return own;
	pthread_once(&once, make_key);
	if (!own && has_key)
		own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	*own = (struct own){ .generation = generation };
	pthread_setspecific(key_of_own, own);
	return own;
}

static bool api_label_is_letter(unsigned char c)
{
	return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

/* Return its length; 0 for no key. */
static size_t len_key(const char *s)
{
	size_t len = 0;

	if (!api_label_is_letter(*s))
		return 0;
	while (api_label_is_letter(s[len]) || (s[len] >= '0' && s[len] <= '9') || s[len] == '-' ||
	       s[len] == '.')
		len++;
	return s[len] || len > MAX_KEY ? 0 : len;
}

/* Return the length of a value. The recorder checks the rest, such as whether it is UTF-8. */
static size_t len_value(const char *s)
{
	size_t len = 0;

	while ((unsigned char)s[len] >= ' ' && s[len] != ',' && s[len] != '\\' && s[len] != 0x7f)
		if (++len > MAX_VALUE)
			return 0;
	return s[len] ? 0 : len;
}

/* Return where the label of the key begins, with the comma behind it; at the end when there is none. */
static char *api_label_find(struct arcprof_labels *l, const char *key, size_t len, size_t *size)
{
	char *p = l->text, *end = l->text + l->len, *next;

	for (; p < end; p = next) {
		next = memchr(p, ',', (size_t)(end - p));
		next = next ? next + 1 : end;
		*size = (size_t)(next - p);
		if (*size > len && !memcmp(p, key, len) && p[len] == '=')
			return p;
	}
	*size = 0;
	return end;
}

/* Change a label, moving it to the end: those of a request change more often than those of a tenant. */
static int api_label_change(struct arcprof_labels *l, const char *key, size_t key_len, const char *value,
			    size_t value_len)
{
	size_t size, room;
	char *at = api_label_find(l, key, key_len, &size);

	memmove(at, at + size, (size_t)(l->text + l->len - at) - size);
	l->len = (uint16_t)(l->len - size);
	if (l->len && l->text[l->len - 1] == ',')
		l->len--;
	if (!value_len)
		return 0;
	room = !!l->len + key_len + 1 + value_len;
	if (l->len + room > sizeof(l->text))
		return -ENOSPC;
	at = l->text + l->len;
	if (l->len)
		*at++ = ',';
	jvm_copy_text(at, key, (uint32_t)key_len);
	at[key_len] = '=';
	jvm_copy_text(at + key_len + 1, value, (uint32_t)value_len);
	l->len = (uint16_t)(l->len + room);
	return 0;
}

int arcprof_label(const char *key, const char *value)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_LABEL);
	struct own *o = m ? get_own() : NULL;
	size_t key_len, value_len;
	int r;

	if (!o)
		return 0;
	key_len = len_key(key);
	value_len = value ? len_value(value) : 0;
	if (!key_len)
		return -EINVAL;
	r = api_label_change(&o->labels, key, key_len, value, value_len);
	put_own(m, o);
	return value && !value_len ? -EINVAL : r;
}

void arcprof_labels_save(struct arcprof_labels *l)
{
	const struct own *o = arcprof_recorder_of(JVM_TELL_LABEL) ? get_own() : NULL;

	l->len = o ? o->labels.len : 0;
	if (l->len)
		memcpy(l->text, o->labels.text, l->len);
}

void arcprof_labels_restore(const struct arcprof_labels *l)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_LABEL);
	struct own *o = m ? get_own() : NULL;

	if (!o || l->len > sizeof(l->text))
		return;
	o->labels.len = l->len;
	memcpy(o->labels.text, l->text, l->len);
	put_own(m, o);
}
