// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/progress.h"

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

void progress_update(struct progress *p, uint64_t done)
{
	uint64_t now;

	if (p->next_ns == UINT64_MAX)
		return;
	now = clock_mono_ns();
	if (now < p->next_ns)
		return;
	if (p->total)
		fprintf(stderr, "\r%s: %" PRIu64 " %%\033[K", p->what,
			(uint64_t)((unsigned __int128)done * 100 / p->total));
	else
		fprintf(stderr, "\r%s: %" PRIu64 "\033[K", p->what, done);
	p->shown = true;
	p->next_ns = now + INTERVAL_NS;
}

void progress_text(struct progress *p, const char *text)
{
	uint64_t now;

	if (p->next_ns == UINT64_MAX || (now = clock_mono_ns()) < p->next_ns)
		return;
	fprintf(stderr, "\r%s: %s\033[K", p->what, text);
	p->shown = true;
	p->next_ns = now + INTERVAL_NS;
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
	p->next_ns = UINT64_MAX;
}
