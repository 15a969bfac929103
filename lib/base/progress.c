// SPDX-License-Identifier: GPL-2.0-or-later
/* progress.c - draws the progress line (progress.h). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/progress.h"
#include "base/quote.h"

enum { DELAY_NS = 500000000, INTERVAL_NS = 100000000 };

static bool forbidden;

void progress_allow(bool allow)
{
	forbidden = !allow;
}

void progress_start(struct progress *p, const char *what, uint64_t total)
{
	const char *name = getenv("TERM");

	p->what = what;
	p->total = total;
	p->shown = false;
	p->next_ns = UINT64_MAX;
	if (!forbidden && isatty(STDERR_FILENO) && name && strcmp(name, "dumb"))
		p->next_ns = clock_mono_ns() + DELAY_NS;
}

static bool progress_is_due(struct progress *p)
{
	uint64_t now;

	if (p->next_ns == UINT64_MAX || (now = clock_mono_ns()) < p->next_ns)
		return false;
	p->next_ns = now + INTERVAL_NS;
	return true;
}

/* Make the text printable: parts of it may come from foreign names. */
static void progress_show(struct progress *p, const char *text)
{
	struct buf line = BUF_INIT;

	quote_add(&line, p->what);
	buf_str(&line, ": ");
	quote_add(&line, text);
	fprintf(stderr, "\r%s\033[K", line.data);
	p->shown = true;
	buf_release(&line);
}

void progress_update(struct progress *p, uint64_t done)
{
	char text[32];

	if (!progress_is_due(p))
		return;
	if (p->total)
		snprintf(text, sizeof(text), "%" PRIu64 " %%",
			 (uint64_t)((unsigned __int128)done * 100 / p->total));
	else
		snprintf(text, sizeof(text), "%" PRIu64, done);
	progress_show(p, text);
}

void progress_text(struct progress *p, const char *text)
{
	if (progress_is_due(p))
		progress_show(p, text);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
	p->next_ns = UINT64_MAX;
}
