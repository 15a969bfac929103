// SPDX-License-Identifier: GPL-2.0-or-later
/* sink.c - writes what readers of foreign formats deliver (sink.h). */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "formats/sink.h"

static uint32_t intern(struct import *im, const struct import_text *t)
{
	return t->len ? strtab_add(&im->names, t->s, t->len) : 0;
}

uint32_t import_function(struct import *im, const struct import_function *f)
{
	uint64_t where = hash_pair(intern(im, &f->module), intern(im, &f->file));
	uint64_t what = (uint64_t)intern(im, &f->name) << 8 | f->kind;
	uint32_t *at = map_put(&im->functions, hash_pair(where, what));

	if (*at == MAP_NONE) {
		*at = ++im->nr_functions;
		trace_write_function(im->w, &(struct rec_function){
				     .function = *at, .kind = f->kind,
				     .name = f->name.s, .name_len = f->name.len,
				     .module = f->module.s, .module_len = f->module.len,
				     .file = f->file.s, .file_len = f->file.len });
	}
	return *at;
}

uint32_t import_proc_labelled(struct import *im, uint32_t pid, struct import_text comm,
			      const struct buf *labels)
{
	const struct import_text text = { labels->data, labels->len };
	uint32_t *at = map_put(&im->procs, hash_pair(pid, hash_pair(intern(im, &comm), intern(im, &text))));

	if (*at == MAP_NONE) {
		*at = ++im->nr_procs;
		trace_write_proc(im->w, &(struct rec_proc){ .proc = *at, .pid = pid, .comm = comm.s,
				 .comm_len = comm.len });
		if (text.len)
			trace_write_resource(im->w, &(struct rec_resource){ .proc = *at, .labels = text.s,
					     .labels_len = text.len });
	}
	return *at;
}

uint32_t import_proc(struct import *im, uint32_t pid, struct import_text comm)
{
	static const struct buf none;

	return import_proc_labelled(im, pid, comm, &none);
}

static uint32_t own_process(struct import *im)
{
	return im->name ? import_proc(im, 0, (struct import_text){ im->name, strlen(im->name) }) : 0;
}

uint32_t import_thread(struct import *im, uint32_t proc, uint32_t tid, struct import_text name)
{
	uint32_t *at;

	proc = proc ? proc : own_process(im);
	at = map_put(&im->threads, hash_pair((uint64_t)proc << 32 | tid, intern(im, &name)));

	if (*at == MAP_NONE) {
		*at = ++im->nr_threads;
		trace_write_thread(im->w, &(struct rec_thread){ .thread = *at, .proc = proc, .tid = tid,
				   .name = name.s, .name_len = name.len });
	}
	return *at;
}

bool import_cut_id(struct import_text *t, const char *before, uint32_t *id)
{
	size_t len = strlen(before), at = t->len;
	uint64_t v = 0, power = 1;

	if (t->len < len + 2 || t->s[--at] != ']')
		return false;
	for (; at && t->s[at - 1] >= '0' && t->s[at - 1] <= '9' && power < 10000000000; power *= 10)
		v += (t->s[--at] - '0') * power;
	if (!v || v > INT32_MAX || at <= len || memcmp(t->s + at - len, before, len) != 0)
		return false;
	*id = v;
	t->len = at - len;
	return true;
}

void import_start(struct import *im, uint64_t realtime_ns)
{
	im->start_ns = realtime_ns;
	trace_write_label(im->w, "start.realtime_ns", "%" PRIu64, realtime_ns);
}

uint32_t import_event(struct import *im, struct import_text name, const char *unit)
{
	char key[48];

	snprintf(key, sizeof(key), "event.%" PRIu32, im->nr_events);
	trace_write_label(im->w, key, "%.*s", (int)name.len, name.s);
	snprintf(key, sizeof(key), "event.%" PRIu32 ".unit", im->nr_events);
	trace_write_label(im->w, key, "%s", unit);
	return im->nr_events++;
}

static bool add_below(uint64_t *sum, uint64_t v)
{
	return !__builtin_add_overflow(*sum, v, sum) && *sum <= INT64_MAX;
}

void import_sample(struct import *im, const struct rec_sample *s)
{
	struct rec_sample own;
	struct import_sum *sum;

	if (!s->thread && im->name) {
		own = *s;
		own.thread = import_thread(im, 0, 0, (struct import_text){ "", 0 });
		s = &own;
	}
	while (im->nr_sums <= s->event)
		*VEC_ADD(im->sums, im->nr_sums, im->alloc_sums) = (struct import_sum){ 0, 0 };
	sum = &im->sums[s->event];
	im->nr_samples++;
	if (im->too_much_at)
		return;
	if (add_below(&sum->weight, s->weight) && add_below(&sum->samples, (uint64_t)s->more + 1))
		trace_write_sample(im->w, s);
	else
		im->too_much_at = im->nr_samples;
}

void import_note(struct import *im, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	char key[48];
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	snprintf(key, sizeof(key), "import.note.%" PRIu32, im->nr_notes++);
	trace_write_label(im->w, key, "%s", b.data);
	buf_release(&b);
}

void import_note_end(struct import *im, const char *data, size_t len)
{
	if (len && data[len - 1] != '\n' && data[len - 1] != '\r')
		import_note(im, "the last line has no end: if the file is truncated, the number in it is wrong");
}
