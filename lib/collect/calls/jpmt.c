// SPDX-License-Identifier: GPL-2.0-or-later
/* jpmt.c - parses configuration files of JPMT (jpmt.h). */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "collect/calls/callrules.h"

static const char *const wishes[JPMT_NR] = {
	[JPMT_OBJECT_ALLOCATION] = "Object_Allocation", [JPMT_GARBAGE_COLLECTION] = "Garbage_Collection",
	[JPMT_MONITOR_WAITING] = "Monitor_Waiting", [JPMT_MONITOR_CONTENTION] = "Monitor_Contention",
	[JPMT_METHOD_INVOCATION] = "Method_Invocation", [JPMT_BYTECODE_REWRITING] = "Bytecode_Rewriting",
	[JPMT_LTT_PROCESS_SCHEDULING] = "LTT_Process_Scheduling",
};

struct word {
	const char *s;
	size_t len;
};

static bool jpmt_is(const struct word *w, const char *text)
{
	return w->len == strlen(text) && !strncasecmp(w->s, text, w->len);
}

/* Return the next word of a line that ends at end, which s passes; of length 0: there is none. */
static struct word next_word(const char **s, const char *end)
{
	struct word w;

	while (*s < end && isspace((unsigned char)**s))
		(*s)++;
	w.s = *s;
	while (*s < end && !isspace((unsigned char)**s))
		(*s)++;
	w.len = *s - w.s;
	return w;
}

static size_t find_wish(const struct word *w)
{
	size_t i;

	for (i = 0; i < JPMT_NR && !jpmt_is(w, wishes[i]); i++)
		;
	return i;
}

bool jpmt_is_directive(const char *word, size_t len)
{
	const struct word w = { word, len };

	return jpmt_is(&w, "Output") || find_wish(&w) < JPMT_NR;
}

static int jpmt_read_line(struct jpmt *j, const char *s, const char *end, struct err *e)
{
	const struct word name = next_word(&s, end), value = next_word(&s, end), rest = next_word(&s, end);
	const bool yes = jpmt_is(&value, "yes");
	size_t i;

	if (!jpmt_is_directive(name.s, name.len))
		return 0;
	j->found = true;
	if (!value.len || rest.len)
		return err_set(e, EINVAL, "%.*s: one value is expected", (int)name.len, name.s);
	if (jpmt_is(&name, "Output")) {
		free(j->output);
		j->output = xstrndup(value.s, value.len);
		return 0;
	}
	if (!yes && !jpmt_is(&value, "no"))
		return err_set(e, EINVAL, "%.*s '%.*s' (expected one of: yes, no)", (int)name.len, name.s,
			       (int)MIN(value.len, (size_t)64), value.s);
	i = find_wish(&name);
	j->yes[i] = yes;
	return 0;
}

int jpmt_read(struct jpmt *j, const char *name, const char *text, size_t len, struct err *e)
{
	const char *end = text + len, *eol;
	unsigned int line = 1;
	int r;

	*j = (struct jpmt){ .found = false };
	for (; text < end; text = eol + 1, line++) {
		eol = memchr(text, '\n', end - text);
		eol = eol ? eol : end;
		r = jpmt_read_line(j, text, eol, e);
		if (r)
			return err_wrap(e, "%s:%u", name, line);
	}
	return 0;
}

void jpmt_release(struct jpmt *j)
{
	free(j->output);
	*j = (struct jpmt){ .found = false };
}
