/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadlabels.h - the labels that threads had when samples were taken (struct rec_thread_label), for
 * selection and as a level of the tree.  Samples of an imported profile that has no times have theirs as the
 * outermost frame (FUNCTION_LABEL).
 */
#ifndef MODEL_THREADLABELS_H
#define MODEL_THREADLABELS_H

#include "model/names.h"

/* The labels of a thread at a time are not known, since records of them were lost. */
#define THREADLABELS_UNKNOWN UINT32_MAX

/* Return the strtab id of a text of a trace, with only what may be labels. */
uint32_t threadlabels_text(struct names *x, const char *text, size_t len);
/* Take a record, as a callback for trace_sink.thread_label; ctx is the struct names. */
int threadlabels_take(void *ctx, const struct rec_thread_label *r);
void threadlabels_release(struct name_labels *l);

/* Return the strtab id of "key=value,...", 0 for none; or THREADLABELS_UNKNOWN. For times of samples only. */
uint32_t threadlabels_at(struct names *x, uint32_t thread, uint64_t time_ns);
/* a span in which a thread had labels; to_ns UINT64_MAX: to the end */
struct threadlabels_span {
	uint64_t from_ns, to_ns;
	uint32_t thread, labels;	/* thread: its number in the trace */
};
/* Get the next span, thread by thread and by time; return false if there are no more. *at is 0 at first. */
bool threadlabels_next(struct names *x, size_t *at, struct threadlabels_span *s);
/* Return the labels that the frame stands for in place of code, or 0 if it stands for none. */
uint32_t threadlabels_of_frame(const struct names *x, const struct frame *f);
/* The labels that stacks of an imported profile begin with; zeroed it has none. */
struct stack_labels {
	uint32_t epoch;
	uint32_t *of;		/* [stack]: strtab id */
	size_t nr, alloc;
};
/* Return the labels of the sample that has the stack, as of threadlabels_at(), or 0. */
uint32_t threadlabels_of_stack(struct stack_labels *l, const struct names *x, const struct stack_epoch *ep,
			       uint32_t stack);
void threadlabels_release_stacks(struct stack_labels *l);

/*
 * Return the level "key=value" of the tree, or "[no key]", or "[key unknown]": a consumer. all: what all
 * threads of the process have (names_labels_of_thread()), which holds where this one has nothing for the
 * key.
 */
uint32_t threadlabels_consumer(struct names *x, uint32_t all, uint32_t labels, const char *key);
/* Return the same of all labels that it has, "key=value,...", or "[labels unknown]". */
uint32_t threadlabels_all(struct names *x, uint32_t labels);
/* Return whether the list (select.h) selects a thread with these labels. */
bool threadlabels_select(struct names *x, uint32_t all, uint32_t labels, const struct opt_list *l);

#endif
