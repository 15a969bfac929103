// SPDX-License-Identifier: GPL-2.0-or-later
/* possible.c - whether there is a walker (outside.h): its Makefile.inc says for which CPUs. */
#include <stdlib.h>

#include "outside/outside.h"

#ifdef HAVE_WALKER
bool outside_possible(void)
{
	return true;
}
#else
bool outside_possible(void)
{
	return false;
}

void outside_run(int pid, struct jvm_ctl *ctl, struct outside_share *share, int wake_fd)
{
	abort();
}
#endif
