// SPDX-License-Identifier: GPL-2.0-or-later
/* u-script.c - scripts of commands: what is said, in which order, and which line is wrong. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/control/script.h"
#include "unit.h"

static int parse(int nr_words, char *const *words, struct buf *command, struct err *e)
{
	int i;

	if (!strcmp(words[0], "bad"))
		return err_set(e, EINVAL, "unknown command 'bad'");
	for (i = 0; i < nr_words; i++)
		buf_fmt(command, "%s%s", i ? " " : "", words[i]);
	return 0;
}

static int say(void *ctx, const char *command, struct err *e)
{
	buf_fmt(ctx, "%s;", command);
	return strcmp(command, "fail") ? 0 : err_set(e, ESRCH, "gone");
}

/* What the script says, or why it does not. */
static const char *run(const char *script, struct buf *b)
{
	char text[512];
	struct script s = { 0 };
	struct err e = { 0 };

	buf_reset(b);
	snprintf(text, sizeof(text), "%s", script);
	if (script_parse(&s, "x", text, parse, &e) || script_run(&s, "x", say, b, &e))
		buf_str(b, e.msg);
	script_release(&s);
	return b->data ? b->data : "";
}

TEST(script_says_its_commands_in_order)
{
	struct buf b = BUF_INIT;

	CHECK_STR(run("enable alloc\nwait 1us\n\n# nothing\ndisable alloc # now\n", &b),
		  "enable alloc;disable alloc;");
	CHECK_STR(run("a", &b), "a;");
	CHECK_STR(run("repeat 2\na\nrepeat 3\n\tb\nend\nend\r\nc", &b), "a;b;b;b;a;b;b;b;c;");
	buf_release(&b);
}

TEST(script_says_which_line_is_wrong)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "a\nbad\n", "x:2: unknown command 'bad'" },
		{ "a\nwait\n", "x:2: wait needs a time, as in 'wait 500ms'" },
		{ "repeat 0\nend\n", "x:1: repeat needs a number of times, from 1 to 1000000" },
		{ "repeat 2x\nend\n", "x:1: repeat needs a number of times, from 1 to 1000000" },
		{ "end\n", "x:1: 'end' without a 'repeat'" },
		{ "a\nrepeat 2\nb\n", "x:2: 'repeat' without an 'end'" },
		{ "repeat 2\nend 3\n", "x:2: nothing may follow 'end'" },
		{ "# only this\n\n", "x: no command in it" },
		{ "a\nfail\nb\n", "a;fail;x:2: gone" },
		{ "repeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\nrepeat 1\n",
		  "x:9: more than 8 repetitions inside each other" },
	};
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_STR(run(bad[i].text, &b), bad[i].why);
	buf_release(&b);
}
