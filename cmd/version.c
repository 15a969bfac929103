// SPDX-License-Identifier: GPL-2.0-or-later
/* version.c - "arcprof version": which arcprof this is, how it was built, and on what it runs. */
#include <elfutils/version.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd.h"
#include "version.h"

enum { FORMAT_TEXT, FORMAT_JSON };
static const char *const formats[] = { "text", "json", NULL };

struct version_opts {
	int format;
};

static const struct opt version_opts[] = {
	OPT_GROUP("How to show it"),
	OPT_ENUM(0, "format", struct version_opts, format, formats, "text", "output format"),
	OPT_END
};

struct fact {
	const char *name;
	const char *value;
};

#define STRING_(x) #x
#define STRING(x) STRING_(x)

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef __SANITIZE_ADDRESS__
#define SANITIZER "address, undefined"
#else
#define SANITIZER "none"
#endif

static int version_run(void *opts, int nr_operands, char **operands)
{
	const struct version_opts *o = opts;
	struct utsname u = { 0 };
	struct json j;
	size_t i;

	uname(&u);
	const struct fact facts[] = {
		{ "version", ARCPROF_VERSION },
		{ "architecture", u.machine },
		{ "compiler", COMPILER },
		{ "sanitizer", SANITIZER },
		{ "elfutils", STRING(_ELFUTILS_VERSION) },
		{ "zlib", zlibVersion() },
		{ "kernel", u.release },
	};

	if (o->format == FORMAT_JSON) {
		json_init(&j, stdout);
		json_object(&j, NULL);
		for (i = 0; i < ARRAY_SIZE(facts); i++)
			json_str(&j, facts[i].name, facts[i].value);
		json_end(&j);
		return 0;
	}
	printf("arcprof %s\n", ARCPROF_VERSION);
	for (i = 1; i < ARRAY_SIZE(facts); i++)
		printf("  %-14s%s\n", facts[i].name, facts[i].value);
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "show the version, how it was built, and the libraries inside",
	.opts = version_opts,
	.opts_size = sizeof(struct version_opts),
	.run = version_run,
};
