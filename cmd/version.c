// SPDX-License-Identifier: GPL-2.0-or-later
/* version.c - "arcprof version": which arcprof this is, how it was built, and on what it runs. */
#include <bzlib.h>
#include <elfutils/version.h>
#include <gnu/libc-version.h>
#include <linux/perf_event.h>
#include <linux/version.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#define ZSTD ZSTD_versionString()
#else
#define ZSTD "not built in"
#endif
#ifdef HAVE_NCURSES
#include <curses.h>
#define NCURSES NCURSES_VERSION
#else
#define NCURSES "not built in"
#endif

#include "base/json.h"
#include "base/mem.h"
#include "cmd.h"
#include "report/format.h"
#include "version.h"

struct version_opts {
	int format;
};

static const struct opt version_opts[] = {
	OPT_GROUP("Output"),
	OPT_FORMAT(struct version_opts, format, FORMATS_TEXT_JSON, "output format"),
	OPT_END
};

#define STRING_(x) #x
#define STRING(x) STRING_(x)

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

#ifdef SANITIZED
#define SANITIZER "address, undefined"
#else
#define SANITIZER "none"
#endif

struct fact {
	const char *group;	/* "" of the first lines */
	const char *name;
	const char *value;
};

static void version_print_json(const struct fact *facts, size_t nr)
{
	const char *group = "";
	struct json j;
	size_t i;

	json_init(&j, stdout);
	json_object(&j, NULL);
	for (i = 0; i < nr; i++) {
		if (strcmp(facts[i].group, group)) {
			if (*group)
				json_end(&j);
			group = facts[i].group;
			json_object(&j, group);
		}
		json_str(&j, facts[i].name, facts[i].value);
	}
	if (*group)
		json_end(&j);
	json_end(&j);
}

static void version_print_text(const struct fact *facts, size_t nr)
{
	const char *group = "";
	size_t i;

	printf("arcprof %s\n", ARCPROF_VERSION);
	for (i = 1; i < nr; i++) {
		if (strcmp(facts[i].group, group))
			printf("%s:\n", group = facts[i].group);
		printf("  %-16s%s\n", facts[i].name, facts[i].value);
	}
}

static int version_run(void *opts, int nr_operands, char **operands)
{
	const struct version_opts *o = opts;
	struct utsname u = { 0 };
	char attr_size[16];

	uname(&u);
	snprintf(attr_size, sizeof(attr_size), "%zu", sizeof(struct perf_event_attr));
	const struct fact facts[] = {
		{ "", "version", ARCPROF_VERSION },
		{ "", "license", "GPL-2.0-or-later" },
		{ "build", "compiler", COMPILER },
		{ "build", "sanitizer", SANITIZER },
		{ "build", "linux_headers",
			STRING(LINUX_VERSION_MAJOR) "." STRING(LINUX_VERSION_PATCHLEVEL) },
		{ "build", "perf_event_attr", attr_size },
		{ "libraries", "elfutils", "0." STRING(_ELFUTILS_VERSION) },
		{ "libraries", "zlib", zlibVersion() },
		{ "libraries", "bzip2", BZ2_bzlibVersion() },
		{ "libraries", "liblzma", lzma_version_string() },
		{ "libraries", "zstd", ZSTD },
		{ "libraries", "ncurses", NCURSES },
		{ "libraries", "glibc", gnu_get_libc_version() },
		{ "running_on", "kernel", u.release },
		{ "running_on", "machine", u.machine },
	};

	if (o->format == FORMAT_JSON)
		version_print_json(facts, ARRAY_SIZE(facts));
	else
		version_print_text(facts, ARRAY_SIZE(facts));
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "show the version, how it was built, and the libraries inside",
	.opts = version_opts,
	.opts_size = sizeof(struct version_opts),
	.run = version_run,
};
