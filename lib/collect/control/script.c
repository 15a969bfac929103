// SPDX-License-Identifier: GPL-2.0-or-later
/* script.c - parses and runs scripts of commands for a recording (script.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/opt.h"
#include "collect/control/script.h"

enum { MAX_DEPTH = 8, MAX_WORDS = 4, MAX_REPEATS = 1000000 };

struct parser {
	struct script *s;
	script_parse_fn parse;
	size_t open[MAX_DEPTH];		/* steps STEP_REPEAT */
	size_t depth;
};

static struct script_step *script_add(struct script *s, int what, unsigned int line)
{
	VEC_GROW(s->steps, s->nr_steps, s->alloc_steps);
	s->steps[s->nr_steps] = (struct script_step){ .what = what, .line = line };
	return &s->steps[s->nr_steps++];
}

static int parse_wait(struct parser *p, int nr, char *const *words, unsigned int line, struct err *e)
{
	if (nr != 2)
		return err_set(e, EINVAL, "wait needs a time, as in 'wait 500ms'");
	return opt_parse_time(words[1], &script_add(p->s, STEP_WAIT, line)->n, e);
}

static int parse_repeat(struct parser *p, int nr, char *const *words, unsigned int line, struct err *e)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = nr == 2 ? strtoull(words[1], &end, 10) : 0;
	if (!n || *end || errno || n > MAX_REPEATS)
		return err_set(e, EINVAL, "repeat needs a number of times, from 1 to %d", MAX_REPEATS);
	if (p->depth == MAX_DEPTH)
		return err_set(e, EINVAL, "more than %d repetitions inside each other", MAX_DEPTH);
	p->open[p->depth++] = p->s->nr_steps;
	script_add(p->s, STEP_REPEAT, line)->n = n;
	return 0;
}

static int parse_end(struct parser *p, int nr, unsigned int line, struct err *e)
{
	if (nr != 1 || !p->depth)
		return err_set(e, EINVAL, nr != 1 ? "nothing may follow 'end'" : "'end' without a 'repeat'");
	script_add(p->s, STEP_END, line)->begin = p->open[--p->depth] + 1;
	return 0;
}

static int parse_command(struct parser *p, int nr, char *const *words, unsigned int line, struct err *e)
{
	struct buf b = BUF_INIT;
	int r = p->parse(nr, words, &b, e);

	if (!r)
		script_add(p->s, STEP_COMMAND, line)->command = xstrdup(b.data);
	buf_release(&b);
	return r;
}

static int parse_script_line(struct parser *p, char *text, unsigned int line, struct err *e)
{
	char *words[MAX_WORDS], *word, *save = NULL;
	int nr = 0;

	text[strcspn(text, "#")] = 0;
	for (word = strtok_r(text, " \t\r", &save); word && nr < MAX_WORDS; word = strtok_r(NULL, " \t\r", &save))
		words[nr++] = word;
	if (!nr)
		return 0;
	if (!strcmp(words[0], "wait"))
		return parse_wait(p, nr, words, line, e);
	if (!strcmp(words[0], "repeat"))
		return parse_repeat(p, nr, words, line, e);
	if (!strcmp(words[0], "end"))
		return parse_end(p, nr, line, e);
	return parse_command(p, nr, words, line, e);
}

int script_parse(struct script *s, const char *name, char *text, script_parse_fn parse, struct err *e)
{
	struct parser p = { .s = s, .parse = parse };
	unsigned int line = 0;
	char *next;
	int r;

	for (; text; text = next) {
		next = strchr(text, '\n');
		if (next)
			*next++ = 0;
		r = parse_script_line(&p, text, ++line, e);
		if (r)
			return err_wrap(e, "%s:%u", name, line);
	}
	if (p.depth)
		return err_set(e, EINVAL, "%s:%u: 'repeat' without an 'end'", name,
			       s->steps[p.open[p.depth - 1]].line);
	if (!s->nr_steps)
		return err_set(e, EINVAL, "%s: no command in it", name);
	return 0;
}

int script_read(struct script *s, const char *path, script_parse_fn parse, struct err *e)
{
	struct buf b = BUF_INIT;
	int r = io_slurp(strcmp(path, "-") ? path : "/dev/stdin", &b);

	if (r)
		r = err_set(e, -r, "%s: %s", path, strerror(-r));
	else if (b.len && memchr(b.data, 0, b.len))
		r = err_set(e, EINVAL, "%s: this is not text", path);
	else
		r = script_parse(s, path, b.len ? b.data : (char[]){ "" }, parse, e);
	buf_release(&b);
	return r;
}

int script_run(const struct script *s, const char *name, script_say_fn say, void *ctx, struct err *e)
{
	uint64_t left[MAX_DEPTH];	/* of each repetition that is open */
	size_t depth = 0, i = 0;

	while (i < s->nr_steps) {
		const struct script_step *step = &s->steps[i++];

		switch (step->what) {
		case STEP_COMMAND:
			if (say(ctx, step->command, e))
				return err_wrap(e, "%s:%u", name, step->line);
			break;
		case STEP_WAIT:
			clock_sleep_ns(step->n);
			break;
		case STEP_REPEAT:
			left[depth++] = step->n;
			break;
		case STEP_END:
			if (--left[depth - 1])
				i = step->begin;
			else
				depth--;
			break;
		}
	}
	return 0;
}

void script_release(struct script *s)
{
	size_t i;

	for (i = 0; i < s->nr_steps; i++)
		free(s->steps[i].command);
	free(s->steps);
}
