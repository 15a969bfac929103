// SPDX-License-Identifier: GPL-2.0-or-later
/* hprof.c - see hprof.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/inputs.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/progress.h"
#include "heap/hprof.h"

enum { RECORD_HEAD = 9, MAX_HEAD = 31, WINDOW = 256 << 10 };

/* --- the file --- */

static const char first_text[] = "JAVA PROFILE 1.0.";

bool hprof_recognize(const char *path)
{
	char head[sizeof(first_text)] = "";
	struct stat st;
	gzFile z;

	/* what is not a file would be gone once it is read */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || !(z = gzopen(path, "rb")))
		return false;
	if (gzread(z, head, sizeof(first_text) - 1) < 0)
		*head = '\0';
	gzclose_r(z);
	return !memcmp(head, first_text, sizeof(first_text) - 1);
}

int hprof_open_bytes(struct hprof *h, const void *data, size_t len, struct err *e)
{
	size_t text = strnlen(data, MIN(len, (size_t)MAX_HEAD)) + 1;

	*h = (struct hprof){ .data = data, .len = len, .fd = -1 };
	if (len < sizeof(first_text) || memcmp(data, first_text, sizeof(first_text) - 1) != 0)
		return err_set(e, EINVAL, "not a heap dump (it does not begin with '%s2')", first_text);
	if (len < text + 12)
		return err_set(e, EINVAL, "heap dump truncated in its header");
	h->id_size = hprof_u32(h->data + text);
	h->time_ms = hprof_u64(h->data + text + 4);
	h->first = text + 12;
	if (h->id_size != 4 && h->id_size != 8)
		return err_set(e, EINVAL, "heap dump with identifiers of %u bytes (4 and 8 are supported)",
			       h->id_size);
	return 0;
}

static bool is_gzip(int fd)
{
	uint8_t magic[2];

	return pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

/* Copies what in has, decompressed, to out. A compressed dump that was truncated gives what it has. */
static int gunzip(int in, uint64_t len, int out, struct err *e)
{
	enum { PIECE = 256 << 10 };
	gzFile z = gzdopen(dup(in), "rb");
	void *piece = xmalloc(PIECE);
	struct progress p;
	int n = 0, r = z ? 0 : err_set(e, ENOMEM, "no memory to decompress the dump");

	progress_start(&p, "decompressing", len);
	while (!r && (n = gzread(z, piece, PIECE)) > 0) {
		r = io_write_all(out, piece, n);
		if (r)
			r = err_set(e, -r, "decompressing the dump to a temporary file: %s", strerror(-r));
		progress_update(&p, lseek(in, 0, SEEK_CUR));
	}
	if (!r && n < 0 && lseek(out, 0, SEEK_END) < 32)
		r = err_set(e, EINVAL, "damaged gzip file");
	if (r == -ENOSPC)
		err_hint(e, "TMPDIR=<folder> chooses where it is");
	progress_end(&p);
	if (z)
		gzclose_r(z);
	free(piece);
	return r;
}

/* Decompress; *fd becomes a descriptor of the plain dump. */
static int decompress(int *fd, uint64_t len, struct err *e)
{
	int plain = newfile_unnamed("/var/tmp", e), r = plain < 0 ? plain : gunzip(*fd, len, plain, e);

	if (r) {
		if (plain >= 0)
			close(plain);
		return r;
	}
	close(*fd);
	*fd = plain;
	return 0;
}

static int map(struct hprof *h, int fd, struct err *e)
{
	struct stat st;
	void *data;
	int r;

	if (fstat(fd, &st))
		return err_errno(e, "reading the dump");
	if (!S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "not a regular file");
	if (!st.st_size)
		return err_set(e, EINVAL, "empty file");
	data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return err_errno(e, "mapping the dump");
	r = hprof_open_bytes(h, data, st.st_size, e);
	if (r)
		munmap(data, st.st_size);
	else
		h->fd = fd;
	return r;
}

int hprof_open(struct hprof *h, const char *path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), r;
	struct stat st;

	if (fd < 0)
		return err_errno(e, "%s", path);
	r = inputs_add(fd, path, e);
	if (r) {
		close(fd);
		return r;
	}
	if (is_gzip(fd))
		r = fstat(fd, &st) ? err_errno(e, "reading the dump") : decompress(&fd, st.st_size, e);
	if (!r)
		r = map(h, fd, e);
	if (r)
		close(fd);
	return r ? err_wrap(e, "%s", path) : 0;
}

void hprof_close(struct hprof *h)
{
	if (h->data && h->fd >= 0) {
		munmap((void *)h->data, h->len);
		close(h->fd);
	}
	*h = (struct hprof){ .fd = -1 };
}

/* --- records --- */

void hprof_walk(struct hprof_walk *w, const struct hprof *h)
{
	*w = (struct hprof_walk){ .h = h, .p = h->data + h->first };
}

static void note_damage(struct hprof_walk *w, const uint8_t *from, const uint8_t *to)
{
	if (!w->damage.nr++)
		w->damage.first_at = from - w->h->data;
	w->damage.bytes += to - from;
}

static bool is_segment(uint8_t tag)
{
	return tag == HPROF_HEAP_DUMP || tag == HPROF_HEAP_SEGMENT;
}

static bool hprof_is_known(uint8_t tag)
{
	return (tag >= HPROF_UTF8 && tag <= 0x0e) || tag == HPROF_HEAP_SEGMENT || tag == HPROF_HEAP_END;
}

static bool can_be_record(const uint8_t *p, size_t left)
{
	return hprof_is_known(*p) && (hprof_u32(p + 5) <= left - RECORD_HEAD || is_segment(*p));
}

/* Return where a record ends, or the dump. */
static const uint8_t *end_of_record(const uint8_t *p, const uint8_t *end)
{
	return p + RECORD_HEAD + MIN(hprof_u32(p + 5), (size_t)(end - p - RECORD_HEAD));
}

static bool is_followed_by_record(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *after = end_of_record(p, end);

	return after == end || (end - after >= RECORD_HEAD && can_be_record(after, end - after));
}

static bool has_items(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	struct hprof_item x;
	int i;

	for (i = 0; i < 4 && p && p < end; i++)
		p = hprof_item(h, p, end, &x);
	return p && i;
}

/* Return whether it is a segment whose first items can be read, and which a record follows. */
static bool is_sound_segment(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	return is_segment(*p) && !hprof_u32(p + 1) && hprof_u32(p + 5) <= (size_t)(end - p - RECORD_HEAD) &&
	       is_followed_by_record(p, end) && has_items(h, p + RECORD_HEAD, end_of_record(p, end));
}

/*
 * Return whether four records follow each other, or fewer up to a segment, as JVMs write them: all of the
 * same time.
 */
static bool are_records(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	int nr;

	for (nr = 0; nr < 4; nr++) {
		if (nr && is_segment(*p))
			return is_sound_segment(h, p, end);
		if (is_segment(*p) || hprof_u32(p + 1) || !can_be_record(p, end - p))
			return false;
		p += RECORD_HEAD + hprof_u32(p + 5);
		if (end - p < RECORD_HEAD)
			return p == end;
	}
	return true;
}

static bool is_sound_record(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	return is_segment(*p) ? is_sound_segment(h, p, end) : hprof_is_known(*p) && are_records(h, p, end);
}

static const uint8_t *find_record(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	for (; end - p >= RECORD_HEAD; p++)
		if (is_sound_record(h, p, end))
			return p;
	return end;
}

/*
 * Check for what is not a record, or has a length that hardly any record has and no record behind it. A
 * segment may be damaged at its beginning, or its end.
 */
static bool is_damaged(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *after;

	if (!can_be_record(p, end - p))
		return true;
	if (is_segment(*p) ? has_items(h, p + RECORD_HEAD, end_of_record(p, end)) :
			     hprof_u32(p + 5) < HPROF_LARGE)
		return false;
	after = end_of_record(p, end);
	return after != end && (end - after < RECORD_HEAD || !is_sound_record(h, after, end));
}

bool hprof_next(struct hprof_walk *w, struct hprof_record *r)
{
	const uint8_t *end = w->h->data + w->h->len, *p = w->p;
	size_t len;

	if (end - p >= RECORD_HEAD && is_damaged(w->h, p, end)) {
		w->p = find_record(w->h, p + 1, end);
		if (w->p != end || !hprof_is_known(*p)) {
			*r = (struct hprof_record){ HPROF_LOST, p, w->p - p };
			return true;
		}
		w->damage.truncated = true;
		p = end;
	}
	if (end - p < RECORD_HEAD) {
		w->damage.truncated |= end != p || w->unended;
		w->p = end;
		return false;
	}
	len = hprof_u32(p + 5);
	r->tag = *p;
	w->unended = r->tag == HPROF_HEAP_SEGMENT || (w->unended && r->tag != HPROF_HEAP_END);
	r->body = p + RECORD_HEAD;
	/* The last segment of a JVM that was killed while it wrote: its length was to follow. */
	if (!len && is_segment(r->tag))
		len = end - r->body;
	if (len > (size_t)(end - r->body)) {
		w->damage.truncated = true;
		len = end - r->body;
	}
	r->len = len;
	w->p = r->body + len;
	return true;
}

/* --- items --- */

/* Return the end of n values of a size behind p, or NULL. */
static const uint8_t *hprof_behind(const uint8_t *p, const uint8_t *end, uint64_t n, unsigned int size)
{
	return n * size <= (size_t)(end - p) ? p + n * size : NULL;
}

/* Skip the constants, static or instance fields of a class: a number of them, then each. */
static const uint8_t *skip_values(const struct hprof *h, const uint8_t *p, const uint8_t *end, size_t head)
{
	unsigned int n, size;

	if (end - p < 2)
		return NULL;
	for (n = hprof_u16(p), p += 2; n; n--) {
		if ((size_t)(end - p) < head + 1)
			return NULL;
		size = hprof_type_size(h, p[head]);
		if (!size || (size_t)(end - p) < head + 1 + size)
			return NULL;
		p += head + 1 + size;
	}
	return p;
}

static const uint8_t *read_class(const struct hprof *h, const uint8_t *p, const uint8_t *end,
				 struct hprof_item *x)
{
	const unsigned int head = 7 * h->id_size + 8;

	if (end - p < head)
		return NULL;
	x->kind = HPROF_CLASS;
	x->id = hprof_id(h, p);
	x->data = p + h->id_size;
	p = skip_values(h, p + head, end, 2);
	p = p ? skip_values(h, p, end, h->id_size) : NULL;
	if (!p || end - p < 2)
		return NULL;
	return hprof_behind(p + 2, end, hprof_u16(p), h->id_size + 1);
}

static const uint8_t *read_instance(const struct hprof *h, const uint8_t *p, const uint8_t *end,
				    struct hprof_item *x)
{
	const unsigned int id_size = h->id_size, head = 2 * id_size + 8;

	if (end - p < head)
		return NULL;
	x->kind = HPROF_INSTANCE;
	x->id = hprof_id(h, p);
	x->class_id = hprof_id(h, p + id_size + 4);
	x->n = hprof_u32(p + head - 4);
	x->data = p + head;
	return hprof_behind(x->data, end, x->n, 1);
}

static const uint8_t *read_array(const struct hprof *h, const uint8_t *p, const uint8_t *end,
				 bool of_objects, struct hprof_item *x)
{
	const unsigned int id_size = h->id_size, head = id_size + 8 + (of_objects ? id_size : 1);
	unsigned int size = id_size;

	if (end - p < head)
		return NULL;
	x->kind = of_objects ? HPROF_OBJECTS : HPROF_VALUES;
	x->id = hprof_id(h, p);
	x->n = hprof_u32(p + id_size + 4);
	x->data = p + head;
	if (of_objects) {
		x->class_id = hprof_id(h, p + id_size + 8);
	} else {
		x->type = p[id_size + 8];
		size = x->type == HPROF_OBJECT ? 0 : hprof_type_size(h, x->type);
	}
	return size ? hprof_behind(x->data, end, x->n, size) : NULL;
}

/*
 * Return how many bytes follow the id of a root, and whether a thread's serial number is the first of them.
 */
static int root_tail(uint8_t tag, unsigned int id_size, bool *has_thread)
{
	*has_thread = false;
	switch (tag) {
	case HPROF_ROOT_JNI_GLOBAL:
		return id_size;
	case HPROF_ROOT_JNI_LOCAL: case HPROF_ROOT_JAVA_FRAME: case HPROF_ROOT_THREAD:
		*has_thread = true;
		return 8;
	case HPROF_ROOT_NATIVE_STACK: case HPROF_ROOT_THREAD_BLOCK:
		*has_thread = true;
		return 4;
	case HPROF_ROOT_UNKNOWN: case HPROF_ROOT_STICKY_CLASS: case HPROF_ROOT_MONITOR:
	/* Android's: interned, finalizing, debugger, reference cleanup, internal to the VM, unreachable */
	case 0x89: case 0x8a: case 0x8b: case 0x8c: case 0x8d: case 0x90:
		return 0;
	}
	return -1;
}

static const uint8_t *hprof_read_root(const struct hprof *h, const uint8_t *p, const uint8_t *end,
				      struct hprof_item *x)
{
	bool has_thread;
	int tail = root_tail(p[-1], h->id_size, &has_thread);

	if (tail < 0 || end - p < (int)h->id_size + tail)
		return NULL;
	x->kind = HPROF_ROOT;
	x->root = p[-1];
	x->id = hprof_id(h, p);
	x->thread = has_thread ? hprof_u32(p + h->id_size) : 0;
	x->frame = x->root == HPROF_ROOT_JAVA_FRAME ? hprof_u32(p + h->id_size + 4) : 0;
	return p + h->id_size + tail;
}

const uint8_t *hprof_item(const struct hprof *h, const uint8_t *p, const uint8_t *end, struct hprof_item *x)
{
	switch (*p++) {
	case 0x20:
		return read_class(h, p, end, x);
	case 0x21:
		return read_instance(h, p, end, x);
	case 0x22:
		return read_array(h, p, end, true, x);
	case 0x23:
		return read_array(h, p, end, false, x);
	}
	return hprof_read_root(h, p, end, x);
}

void hprof_items(struct hprof_items *i, const struct hprof *h, hprof_is_instance_fn is_instance,
		 const void *ctx)
{
	*i = (struct hprof_items){
		.p = h->data, .end = h->data, .is_instance = is_instance, .ctx = ctx,
		.from = h->data, .to = h->data + h->len, .copy = h->data,
	};
	hprof_walk(&i->walk, h);
}

void hprof_items_by_window(struct hprof_items *i, bool data)
{
	if (i->walk.h->fd < 0 || i->walk.h->id_size != 8)
		return;
	i->window = xmalloc(WINDOW);
	i->to = i->from;
	i->data_in_window = data;
}

void hprof_items_release(struct hprof_items *i)
{
	free(i->window);
	i->window = NULL;
	i->data_in_window = false;
	i->from = i->copy = i->walk.h->data;
	i->to = i->from + i->walk.h->len;
}

void hprof_items_move_window(struct hprof_items *i)
{
	const struct hprof *h = i->walk.h;
	const size_t at = i->p - h->data, len = MIN(h->len - at, (size_t)WINDOW);

	/* what cannot be read may still be mapped, and is reported there */
	if (pread(h->fd, i->window, len, at) != (ssize_t)len) {
		hprof_items_release(i);
		return;
	}
	i->from = i->p;
	i->to = i->p + len;
	i->copy = i->window;
}

/*
 * Return whether it looks like a class: what is reserved is zero, and an item or the end of the segment
 * follows. Few classes have so many fields, and a wrong guess costs no more than that.
 */
static bool is_sound_class(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	enum { MOST_STATICS = 1024 };
	const unsigned int id_size = h->id_size, reserved = 5 * id_size + 4, constants = 7 * id_size + 8;
	static const uint8_t zero[2 * 8];
	const uint8_t *next;
	struct hprof_item x;

	if ((size_t)(end - p) < constants + 4u || memcmp(p + reserved, zero, 2 * id_size) ||
	    hprof_u16(p + constants) || hprof_u16(p + constants + 2) > MOST_STATICS)
		return false;
	next = read_class(h, p, end, &x);
	return next && x.id && !(x.id & 3) && (next == end || hprof_item(h, next, end, &x));
}

/* Return the first sound item from p on: a class, or an instance that has as many bytes as its class says. */
static const uint8_t *find_item(const struct hprof_items *i, const uint8_t *p)
{
	const struct hprof *h = i->walk.h;
	struct hprof_item x;

	for (; i->is_instance && p < i->end; p++) {
		if (*p == 0x20 && is_sound_class(h, p + 1, i->end))
			return p;
		if (*p == 0x21 && read_instance(h, p + 1, i->end, &x) && !(x.id & 3) &&
		    i->is_instance(i->ctx, x.class_id, x.n))
			return p;
	}
	return NULL;
}

static void skip_damage(struct hprof_items *i)
{
	const uint8_t *next = find_item(i, i->p + 1);

	next = next ? next : i->end;
	note_damage(&i->walk, i->p, next);
	i->p = next;
}

/* Return whether items follow at p: hardly any do behind a wrong length. A dump may be truncated in one. */
static bool is_followed(const struct hprof *h, const uint8_t *p, const uint8_t *end)
{
	const bool may_be_truncated = end == h->data + h->len;
	struct hprof_item x;
	bool has_thread;
	int nr;

	for (nr = 0; nr < 4 && p < end; nr++) {
		if ((*p < 0x20 || *p > 0x23) && root_tail(*p, h->id_size, &has_thread) < 0)
			return false;
		p = hprof_item(h, p, end, &x);
		if (!p)
			return may_be_truncated;
	}
	return true;
}

bool hprof_items_next_slow(struct hprof_items *i, struct hprof_item *x)
{
	struct hprof_record r;
	const uint8_t *next;

	for (;;) {
		if (i->p < i->end) {
			next = hprof_item(i->walk.h, i->p, i->end, x);
			if (next && (next - i->p < HPROF_LARGE || is_followed(i->walk.h, next, i->end))) {
				i->p = next;
				return true;
			}
			skip_damage(i);
			continue;
		}
		if (!hprof_next(&i->walk, &r))
			return false;
		if (!is_segment(r.tag) && r.tag != HPROF_LOST)
			continue;
		i->p = r.body;
		i->end = r.body + r.len;
		if (r.tag == HPROF_LOST)
			skip_damage(i);
	}
}

/* --- classes --- */

void hprof_class(const struct hprof *h, const struct hprof_item *x, struct hprof_class *c)
{
	const unsigned int id_size = h->id_size;
	const uint8_t *p = x->data + 4, *end = h->data + h->len;

	c->id = x->id;
	c->super = hprof_id(h, p);
	c->loader = hprof_id(h, p + id_size);
	c->signers = hprof_id(h, p + 2 * id_size);
	c->domain = hprof_id(h, p + 3 * id_size);
	c->instance_len = hprof_u32(p + 6 * id_size);
	p = skip_values(h, p + 6 * id_size + 4, end, 2);
	c->nr_statics = hprof_u16(p);
	c->statics = p + 2;
	p = skip_values(h, p, end, id_size);
	c->nr_fields = hprof_u16(p);
	c->fields = p + 2;
}
