// SPDX-License-Identifier: GPL-2.0-or-later
/* threadlabels.c - finds the labels that a thread had at a time (threadlabels.h). */
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "model/threadlabels.h"

/* Copies what a label may be, and nothing else: a trace is anybody's. */
uint32_t threadlabels_text(struct names *x, const char *text, size_t len)
{
	/* one label is "k=v" and the longest has 63 and 255 bytes: what is much more is not text of labels */
	char *copy = xstrndup(text, MIN(len, (size_t)4096)), *item, *save = NULL, *value;
	struct buf b = BUF_INIT;
	uint32_t id;

	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		value = strchr(item, '=');
		if (!value)
			continue;
		*value++ = '\0';
		labels_add(&b, item, value);
	}
	id = strtab_add(&x->m->consumers.names, b.data ? b.data : "", b.len);
	buf_release(&b);
	free(copy);
	return id;
}

int threadlabels_take(void *ctx, const struct rec_thread_label *r)
{
	struct names *x = ctx;
	struct name_labels *l = &x->thread_labels;

	*VEC_ADD(l->list, l->nr, l->alloc) = (struct name_labelled){
		.thread = r->thread, .time_ns = r->time_ns,
		.labels = r->flags & THREAD_LABEL_UNKNOWN ? THREADLABELS_UNKNOWN :
							    threadlabels_text(x, r->text, r->text_len),
	};
	l->sorted = false;
	return 0;
}

void threadlabels_release(struct name_labels *l)
{
	free(l->list);
	memset(l, 0, sizeof(*l));
}

static int compare_labels(const void *a, const void *b)
{
	const struct name_labelled *x = a, *y = b;

	return COMPARE(x->thread, y->thread) ?: COMPARE(x->time_ns, y->time_ns);
}

static void sort(struct name_labels *l)
{
	if (!l->sorted && l->nr)
		qsort(l->list, l->nr, sizeof(*l->list), compare_labels);
	l->sorted = true;
}

uint32_t threadlabels_at(struct names *x, uint32_t thread, uint64_t time_ns)
{
	struct name_labels *l = &x->thread_labels;
	size_t lo;

	if (x->labels_were_off && !names_recorded_at(x, "label", time_ns))
		return THREADLABELS_UNKNOWN;
	sort(l);
	lo = BISECT(i, l->nr, l->list[i].thread < thread ||
			      (l->list[i].thread == thread && l->list[i].time_ns <= time_ns));
	return lo && l->list[lo - 1].thread == thread ? l->list[lo - 1].labels : 0;
}

bool threadlabels_next(struct names *x, size_t *at, struct threadlabels_span *s)
{
	struct name_labels *l = &x->thread_labels;

	sort(l);
	while (*at < l->nr) {
		const struct name_labelled *i = &l->list[(*at)++];
		bool more = *at < l->nr && i[1].thread == i->thread;

		*s = (struct threadlabels_span){ i->time_ns, more ? i[1].time_ns : UINT64_MAX, i->thread,
						 i->labels };
		/* whether they changed later is unknown */
		if (x->labels_were_off)
			s->to_ns = s->from_ns + names_recorded_ns(x, "label", s->from_ns, s->to_ns);
		if (s->labels && s->labels != THREADLABELS_UNKNOWN && s->to_ns > s->from_ns)
			return true;
	}
	return false;
}

uint32_t threadlabels_of_frame(const struct names *x, const struct frame *f)
{
	uint32_t at = f->kind == FRAME_NAMED ? map_get(&x->function_of, f->function) : MAP_NONE;

	return at != MAP_NONE && x->functions[at].kind == CONSUMER_LABEL ? x->functions[at].text : 0;
}

uint32_t threadlabels_of_stack(struct stack_labels *l, const struct names *x, const struct stack_epoch *ep,
			       uint32_t stack)
{
	if (l->epoch != ep->epoch)
		l->nr = 0;
	l->epoch = ep->epoch;
	for (; l->nr < ep->nr_nodes; l->nr++) {
		const struct stack_node *n = &ep->nodes[l->nr];
		uint32_t own = l->nr ? threadlabels_of_frame(x, &ep->frames[n->frame]) : 0;

		VEC_GROW(l->of, l->nr, l->alloc);
		l->of[l->nr] = own || !l->nr ? own : l->of[n->parent];
	}
	return stack < l->nr ? l->of[stack] : 0;
}

void threadlabels_release_stacks(struct stack_labels *l)
{
	free(l->of);
	memset(l, 0, sizeof(*l));
}

static const char *labels_text(const struct names *x, uint32_t labels)
{
	return labels == THREADLABELS_UNKNOWN ? "" : model_str(x->m, labels);
}

/* Return the strtab id of a value, 0 if there is none. */
static uint32_t labels_find_value(struct names *x, uint32_t all, uint32_t labels, const char *key)
{
	struct buf b = BUF_INIT;
	uint32_t id = 0;

	if (labels_value(labels_text(x, labels), key, &b) || labels_value(model_str(x->m, all), key, &b))
		id = strtab_add(&x->m->consumers.names, b.data, b.len);
	buf_release(&b);
	return id;
}

uint32_t threadlabels_consumer(struct names *x, uint32_t all, uint32_t labels, const char *key)
{
	uint32_t value = labels_find_value(x, all, labels, key), id;
	struct buf b = BUF_INIT;

	if (labels == THREADLABELS_UNKNOWN)
		buf_fmt(&b, "[%s unknown]", key);
	else if (value)
		buf_fmt(&b, "%s=%s", key, model_str(x->m, value));
	else
		buf_fmt(&b, "[no %s]", key);
	id = consumer_add_name(&x->m->consumers, CONSUMER_LABEL, b.data, b.len);
	buf_release(&b);
	return id;
}

uint32_t threadlabels_all(struct names *x, uint32_t labels)
{
	const char *text = labels == THREADLABELS_UNKNOWN ? "[labels unknown]" : model_str(x->m, labels);

	return consumer_add_name(&x->m->consumers, CONSUMER_LABEL, text, strlen(text));
}

bool threadlabels_select(struct names *x, uint32_t all, uint32_t labels, const struct opt_list *l)
{
	struct buf b = BUF_INIT;
	char *copy, *item, *save = NULL, *value;
	bool has;

	if (labels == THREADLABELS_UNKNOWN)
		return false;
	buf_str(&b, model_str(x->m, all));
	copy = xstrdup(labels_text(x, labels));
	for (item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		value = strchr(item, '=');
		*value++ = '\0';
		labels_add(&b, item, value);
	}
	free(copy);
	has = select_labels(l, b.data);
	buf_release(&b);
	return has;
}
