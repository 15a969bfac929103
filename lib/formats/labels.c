// SPDX-License-Identifier: GPL-2.0-or-later
/* labels.c - labels that samples of a profile have, as a trace has them (sink.h). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/labels.h"
#include "base/mem.h"
#include "formats/sink.h"

/* how much a reader accepts as labels */
enum { MAX_BYTES = 4096 };

void import_label(struct import *im, struct buf *labels, struct import_text key, struct import_text value)
{
	bool fits = labels->len + LABELS_MAX_KEY + LABELS_MAX_VALUE + 2 <= MAX_BYTES;

	if (!fits || !labels_add_foreign(labels, key.s, key.len, value.s, value.len))
		im->nr_changed_labels++;
}

struct frame import_labels_frame(struct import *im, const struct buf *labels)
{
	const struct import_function fn = {
		FUNCTION_LABEL, .name = { labels->data, labels->len }, .module = { "", 0 }, .file = { "", 0 },
	};

	return (struct frame){ FRAME_NAMED, .function = import_function(im, &fn) };
}

void import_labels_until(struct import *im, uint32_t thread, uint64_t time_ns, uint64_t end_ns,
			 const struct buf *labels)
{
	*VEC_ADD(im->labelled, im->nr_labelled, im->alloc_labelled) = (struct import_labelled){
		time_ns, end_ns, thread, strtab_add(&im->names, labels->data, labels->len),
	};
}

/* The labels hold only at that moment: what a thread did between two samples is not known. */
void import_labels_at(struct import *im, uint32_t thread, uint64_t time_ns, const struct buf *labels)
{
	import_labels_until(im, thread, time_ns, time_ns + 1, labels);
}

/* Equal threads and times come in any order, as long as it is always the same. */
static int compare_labelled(const void *a, const void *b)
{
	const struct import_labelled *x = a, *y = b;

	return COMPARE(x->thread, y->thread) ?: COMPARE(x->time_ns, y->time_ns) ?:
	       COMPARE(x->labels, y->labels);
}

/* Return whether the thread's next labels begin by that time. */
static bool follows(const struct import *im, size_t i, uint64_t time_ns)
{
	const struct import_labelled *x = &im->labelled[i];

	return i + 1 < im->nr_labelled && x[1].thread == x->thread && x[1].time_ns <= time_ns;
}

void import_labels_end(struct import *im)
{
	size_t i;

	if (im->nr_labelled)
		qsort(im->labelled, im->nr_labelled, sizeof(*im->labelled), compare_labelled);
	for (i = 0; i < im->nr_labelled; i++) {
		const struct import_labelled *x = &im->labelled[i];
		struct rec_thread_label r = { .time_ns = x->time_ns, .thread = x->thread };

		if (follows(im, i, x->time_ns))
			continue;
		r.text = strtab_get(&im->names, x->labels);
		r.text_len = im->names.entries[x->labels].len;
		trace_write_thread_label(im->w, &r);
		if (follows(im, i, x->end_ns))
			continue;
		trace_write_thread_label(im->w, &(struct rec_thread_label){
					 .time_ns = x->end_ns, .thread = x->thread, .text = "" });
	}
	if (im->nr_changed_labels)
		import_note(im, "labels of samples with replaced characters, cut or left out: %" PRIu64,
			    im->nr_changed_labels);
	free(im->labelled);
	im->labelled = NULL;
	im->nr_labelled = im->alloc_labelled = 0;
}
