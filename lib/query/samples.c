// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * samples.c - tables of the samples one by one, and of their stacks as the trace has them: stacks of all
 * epochs in one numbering, and the frames of these, each with the functions that are inlined there.
 */
#include <errno.h>
#include <string.h>

#include "model/threadlabels.h"
#include "query/table.h"

static void release_stacks(struct query_data *d)
{
	names_release(&d->line_names);
	model_release(&d->line_model);
	free(d->stacks);
	free(d->frames);
	free(d->levels);
	d->stacks = NULL;
	d->frames = NULL;
	d->levels = NULL;
	d->nr_stacks = d->alloc_stacks = d->nr_frames = d->alloc_frames = d->nr_levels = d->alloc_levels = 0;
}

void query_samples_release(struct query_data *d)
{
	if (d->has_stacks)
		release_stacks(d);
}

/* ---- samples ---- */

enum {
	SAMPLE_ID, SAMPLE_TIME, SAMPLE_THREAD, SAMPLE_CPU, SAMPLE_USER, SAMPLE_METRIC, SAMPLE_WEIGHT,
	SAMPLE_NODE, SAMPLE_FUNCTION, SAMPLE_NAME, SAMPLE_STACK, SAMPLE_LABELS, SAMPLE_BEGAN
};

static const struct query_column sample_columns[] = {
	[SAMPLE_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "number in order of time" },
	[SAMPLE_TIME] = { "time", COLUMN_ASCENDS,
			  "ns since the start: when it was; of a wait, its end; NULL: not known" },
	[SAMPLE_THREAD] = { "thread", COLUMN_INDEX, "its number in threads; NULL: not known" },
	[SAMPLE_CPU] = { "cpu", 0, "on which CPU; NULL: not known" },
	[SAMPLE_USER] = { "user", 0, "1: in user mode, 0: in the kernel; NULL: not known" },
	[SAMPLE_METRIC] = { "metric", 0, "its number in metrics" },
	[SAMPLE_WEIGHT] = { "weight", 0, "what it stands for, in the unit of the metric" },
	[SAMPLE_NODE] = { "node", COLUMN_INDEX, "its context" },
	[SAMPLE_FUNCTION] = { "function", 0, "the innermost function" },
	[SAMPLE_NAME] = { "name", COLUMN_TEXT, "its name" },
	[SAMPLE_STACK] = { "stack", 0, "its number in stacks; NULL: none" },
	[SAMPLE_LABELS] = { "labels", COLUMN_TEXT, "its own, or those of its thread then: key=value,...; ?: not known; NULL: none" },
	[SAMPLE_BEGAN] = { "began", 0, "ns since the start: of a wait, when it began; else time" },
};

static uint64_t query_samples_since_start(const struct query_data *d, uint64_t time_ns)
{
	return time_ns > d->start_ns ? time_ns - d->start_ns : 0;
}

static int load_samples(struct query_data *d, struct err *e)
{
	int r = query_data_model(d, e);

	if (r)
		return r;
	if (!d->model.times.nr_list)
		return err_set(e, ENODATA, "the trace has no samples, or none that are shown");
	if (d->model.times.nr_list > UINT32_MAX - 1)
		return err_set(e, ENOMEM, "more than 4 G samples");
	if (!d->has_samples)
		flow_times_sort_by_time(&d->model.times);
	d->has_samples = true;
	return 0;
}

static bool has_time(const struct query_data *d, const struct flow_time *x)
{
	return x->time_ns && origin_knows(&d->origin, "times");
}

static bool sample_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct flow_time *x = &d->model.times.list[c->row];

	switch (c->column) {
	case SAMPLE_ID:
		*v = c->row + 1;
		return true;
	case SAMPLE_TIME:
		*v = query_samples_since_start(d, x->time_ns);
		return has_time(d, x);
	case SAMPLE_BEGAN:
		*v = query_samples_since_start(d, x->time_ns - (d->model.metrics[x->metric].lasts ?
								MIN(x->weight, x->time_ns) : 0));
		return has_time(d, x);
	case SAMPLE_THREAD:
		return query_data_id(x->thread, v);
	case SAMPLE_CPU:
		*v = x->cpu;
		return x->cpu != UINT16_MAX;	/* as importers write it */
	case SAMPLE_USER:
		*v = x->user;
		return !d->origin.modes_unknown;
	case SAMPLE_METRIC:
		*v = x->metric + 1;
		return true;
	case SAMPLE_WEIGHT:
		*v = x->weight;
		return true;
	case SAMPLE_NODE:
		*v = d->rank[x->node];
		return true;
	case SAMPLE_FUNCTION:
		*v = d->model.flow.nodes[x->node].consumer;
		return true;
	default:
		*v = x->stack;
		return x->stack && x->stack != UINT32_MAX;
	}
}

static uint32_t labels_of(struct query_data *d, const struct flow_time *x)
{
	uint32_t labels = threadlabels_at(&d->names, x->thread, x->time_ns);

	if (!labels && d->has_stacks && x->stack && x->stack <= d->nr_stacks)
		labels = d->stacks[x->stack - 1].labels;
	return labels;
}

static const char *sample_text(struct query_data *d, const struct query_cell *c)
{
	const struct flow_time *x = &d->model.times.list[c->row];
	uint32_t labels;

	if (c->column == SAMPLE_LABELS) {
		labels = labels_of(d, x);
		return labels == THREADLABELS_UNKNOWN ? "?" : labels ? model_str(&d->model, labels) : NULL;
	}
	return query_data_name(d, d->model.flow.nodes[x->node].consumer);
}

static int load_stacks(struct query_data *d, struct err *e);

/* Prepare the labels, which for samples without a time are in their stacks. */
static int use_samples(struct query_data *d, uint64_t columns, struct err *e)
{
	bool labels = columns >> SAMPLE_LABELS & 1;

	return labels && d->names.has_label_frames && d->model.times.nr_list ? load_stacks(d, e) : 0;
}

static uint32_t nr_samples(const struct query_data *d)
{
	return d->model.times.nr_list;
}

const struct query_table query_samples = {
	.name = "samples", .what = "each sample with its time; of a profile that has sums, each sum",
	QUERY_COLUMNS(sample_columns), .load = load_samples, .use = use_samples, .nr_rows = nr_samples,
	.number = sample_number, .text = sample_text,
};

/* ---- stacks and frames, of all samples in the trace ---- */

struct stack_pass {
	struct query_data *d;
	uint32_t epoch;
	uint32_t first_stack, first_frame;	/* what is added to numbers of this epoch */
	uint32_t nr_frames;			/* of this epoch, that have levels */
	struct err *e;
};

/* Add the levels of a frame: the function itself, then what is inlined. */
static int add_levels(struct stack_pass *p, uint32_t id, uint64_t time_ns)
{
	struct query_data *d = p->d;
	const struct frame *f = &d->frames[id];
	struct name_run run = names_consumers(&d->names, f, time_ns);
	struct name_run lines = names_consumers(&d->line_names, f, time_ns);
	uint32_t i;

	if (query_data_charge(d, run.nr * sizeof(*d->levels), p->e))
		return -ENOMEM;
	for (i = 0; i < run.nr; i++) {
		struct query_level l = { .frame = id, .level = i,
			.consumer = d->names.levels[run.first + i].consumer };

		if (lines.nr == run.nr) {
			l.file = d->line_names.levels[lines.first + i].file;
			l.line = d->line_names.levels[lines.first + i].line;
		}
		*VEC_ADD(d->levels, d->nr_levels, d->alloc_levels) = l;
	}
	return 0;
}

static void begin_epoch(struct stack_pass *p, const struct stack_epoch *ep)
{
	p->epoch = ep->epoch;
	p->first_stack = p->d->nr_stacks;
	p->first_frame = p->d->nr_frames;
	p->nr_frames = 0;
}

/* Set the parent; labels are above the outermost frame. */
static void follow_parent(const struct query_data *d, struct query_stack *s, uint32_t parent)
{
	const struct query_stack *outer = &d->stacks[parent - 1];

	if (!s->labels)
		s->labels = outer->labels;
	if (!outer->frame)
		return;
	s->parent = parent;
	s->level = outer->level + 1;
}

/* Take what was added to the epoch since the last call. */
static int follow_epoch(struct stack_pass *p, const struct stack_epoch *ep, uint64_t time_ns)
{
	struct query_data *d = p->d;
	uint32_t i, had_stacks, had_frames;

	if (ep->epoch != p->epoch)
		begin_epoch(p, ep);
	had_stacks = d->nr_stacks - p->first_stack + 1;	/* 0 is none in each epoch */
	had_frames = d->nr_frames - p->first_frame;
	if (ep->nr_nodes > UINT32_MAX - p->first_stack || ep->nr_frames > UINT32_MAX - p->first_frame)
		return err_set(p->e, ENOMEM, "more than 4 G stacks");
	if (query_data_charge(d, (uint64_t)(MAX(ep->nr_nodes, had_stacks) - had_stacks) * sizeof(*d->stacks) +
				 (uint64_t)(ep->nr_frames - had_frames) * sizeof(*d->frames), p->e))
		return -ENOMEM;
	for (i = had_frames; i < ep->nr_frames; i++)
		*VEC_ADD(d->frames, d->nr_frames, d->alloc_frames) = ep->frames[i];
	for (i = had_stacks; i < ep->nr_nodes; i++) {
		const struct stack_node *n = &ep->nodes[i];
		struct query_stack s = { .frame = p->first_frame + n->frame };

		s.labels = threadlabels_of_frame(&d->names, &ep->frames[n->frame]);
		if (s.labels)
			s.frame = 0;
		if (n->parent)
			follow_parent(d, &s, p->first_stack + n->parent);
		*VEC_ADD(d->stacks, d->nr_stacks, d->alloc_stacks) = s;
	}
	for (i = MAX(had_frames, 1u); i < ep->nr_frames; i++)
		if (add_levels(p, p->first_frame + i, time_ns))
			return -ENOMEM;
	return 0;
}

static int take_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	return nr ? follow_epoch(ctx, ep, s[0].time_ns) : 0;
}

static int load_stacks(struct query_data *d, struct err *e)
{
	static const struct trace_sink sink = { .samples = take_samples };
	struct stack_pass p = { .d = d, .epoch = UINT32_MAX, .e = e };
	struct resolve_opts lines;
	int r = query_data_model(d, e);

	if (r)
		return r;
	if (!d->has_stacks) {
		lines = d->names.o;
		lines.lines = true;
		model_init(&d->line_model, 1, FLOW_SAMPLES);
		names_init(&d->line_names, &d->line_model, &lines);
		r = trace_read(d->t, &names_sink, &d->line_names, e);
		if (!r)
			r = trace_read(d->t, &sink, &p, e);
		d->has_stacks = !r;
		if (r)
			release_stacks(d);
	}
	if (!r && !d->nr_stacks)
		r = err_set(e, ENODATA, "the trace has no samples");
	return r;
}

enum { STACK_ID, STACK_PARENT, STACK_FRAME, STACK_LEVEL };

static const struct query_column stack_columns[] = {
	[STACK_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "number of the stack" },
	[STACK_PARENT] = { "parent", COLUMN_INDEX, "the stack of its caller; NULL: this is the outermost frame" },
	[STACK_FRAME] = { "frame", COLUMN_INDEX, "its innermost frame; NULL: it has none, as of a sample with labels alone" },
	[STACK_LEVEL] = { "level", 0, "how many frames are outside of it" },
};

static bool stack_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_stack *s = &d->stacks[c->row];

	switch (c->column) {
	case STACK_ID:
		*v = c->row + 1;
		return true;
	case STACK_PARENT:
		return query_data_id(s->parent, v);
	default:
		*v = c->column == STACK_FRAME ? s->frame : s->level;
		return s->frame;
	}
}

static uint32_t nr_stacks(const struct query_data *d)
{
	return d->nr_stacks;
}

const struct query_table query_stacks = {
	.name = "stacks", .what = "stacks as they were walked: a frame, and the stack of its caller",
	QUERY_COLUMNS(stack_columns),
	.load = load_stacks, .nr_rows = nr_stacks, .number = stack_number,
};

enum {
	FRAME_ID, FRAME_LEVEL, FRAME_INNERMOST, FRAME_FUNCTION, FRAME_FUNCTION_NAME, FRAME_FILE, FRAME_LINE,
	FRAME_MODULE, FRAME_ADDRESS, FRAME_COLUMN_KIND
};

static const struct query_column frame_columns[] = {
	[FRAME_ID] = { "id", COLUMN_ASCENDS, "number of the frame; there is a row for each function inlined in it" },
	[FRAME_LEVEL] = { "level", 0, "0: the function itself; from 1: what is inlined in the level before" },
	[FRAME_INNERMOST] = { "innermost", 0, "1: nothing is inlined in it there" },
	[FRAME_FUNCTION] = { "function", COLUMN_INDEX, "its number" },
	[FRAME_FUNCTION_NAME] = { "name", COLUMN_TEXT, "its name" },
	[FRAME_FILE] = { "file", COLUMN_TEXT, "source file, where known" },
	[FRAME_LINE] = { "line", 0, "line of it, where known" },
	[FRAME_MODULE] = { "module", 0, "number of the module, of native and kernel frames" },
	[FRAME_ADDRESS] = { "address", 0, "offset in the file; of kernel and JIT the address; interpreted: bytecode index; NULL: known by name alone" },
	[FRAME_COLUMN_KIND] = { "kind", COLUMN_TEXT, "native, kernel, anon, jit, interp, stub, mark; named: known by name alone" },
};

static bool frame_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_level *l = &d->levels[c->row];
	const struct frame *f = &d->frames[l->frame];

	switch (c->column) {
	case FRAME_ID:
		*v = l->frame;
		return true;
	case FRAME_LEVEL:
		*v = l->level;
		return true;
	case FRAME_INNERMOST:
		*v = c->row + 1 == d->nr_levels || l[1].frame != l->frame;
		return true;
	case FRAME_FUNCTION:
		return query_data_id(query_data_function(d, l->consumer), v);
	case FRAME_LINE:
		return query_data_id(l->line, v);
	case FRAME_MODULE:
		*v = f->module;
		return f->kind == FRAME_NATIVE || f->kind == FRAME_KERNEL;
	default:
		*v = f->addr;
		return f->kind != FRAME_MARK && f->kind != FRAME_NONE && f->kind != FRAME_NAMED;
	}
}

static const char *frame_text(struct query_data *d, const struct query_cell *c)
{
	const struct query_level *l = &d->levels[c->row];

	if (c->column == FRAME_FUNCTION_NAME)
		return query_data_name(d, l->consumer);
	if (c->column == FRAME_FILE)
		return l->file ? model_str(&d->line_model, l->file) : NULL;
	return frame_kind_name(d->frames[l->frame].kind);
}

static uint32_t nr_frames(const struct query_data *d)
{
	return d->nr_levels;
}

const struct query_table query_frames = {
	.name = "frames", .what = "frames of stacks, with the functions that are inlined there",
	QUERY_COLUMNS(frame_columns),
	.load = load_stacks, .nr_rows = nr_frames, .number = frame_number, .text = frame_text,
};
