// SPDX-License-Identifier: GPL-2.0-or-later
/* runtimes.c - recognizes runtimes with JIT compilers (runtimes.h). */
#include <string.h>

#include "base/mem.h"
#include "collect/engine/runtimes.h"

/* Names of files: a last "*" stands for anything that follows. */
static const struct {
	const char *files[4];
	const char *how;
	bool interprets, is_beam;
} runtimes[] = {
	[1] = { { "node", "libnode.so*" }, "node --perf-basic-prof" },
	{ { "deno" }, "deno run --v8-flags=--perf-basic-prof" },
	{ { "libcoreclr.so" }, "DOTNET_PerfMapEnabled=1 in the environment" },
	{ { "beam.smp" }, "erl +JPperf true", .is_beam = true },
	{ { "wasmtime" }, "wasmtime --profile=perfmap" },
	{ { "python3.1*", "libpython3.1*" }, "python3 -X perf", .interprets = true },
	{ { "luajit*", "libluajit-*" }, "LuaJIT built with XCFLAGS=-DLUAJIT_USE_PERFTOOLS" },
	{ { "ruby", "ruby3*", "libruby*" }, "ruby --yjit --yjit-perf" },
	{ { "opcache.so" }, "php -d opcache.jit_debug=16" },
};

_Static_assert(ARRAY_SIZE(runtimes) <= RUNTIMES_MAX, "a bit for each");

static bool runtime_is_named(const char *name, const char *pattern)
{
	size_t len = strlen(pattern);

	return pattern[len - 1] == '*' ? !strncmp(name, pattern, len - 1) : !strcmp(name, pattern);
}

/* Return whether it is a Python before 3.12, which names nothing. */
static bool is_old_python(const char *name)
{
	const char *minor = strstr(name, "python3.1");

	return minor && (minor[9] == '0' || minor[9] == '1' || minor[9] < '0' || minor[9] > '9');
}

int runtime_of_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t i, k;

	for (i = 1; slash && i < ARRAY_SIZE(runtimes); i++)
		for (k = 0; k < ARRAY_SIZE(runtimes[i].files) && runtimes[i].files[k]; k++)
			if (runtime_is_named(slash + 1, runtimes[i].files[k]))
				return is_old_python(slash + 1) ? RUNTIME_NONE : (int)i;
	return RUNTIME_NONE;
}

const char *runtime_how_named(int runtime)
{
	return runtimes[runtime].how;
}

bool runtime_interprets(int runtime)
{
	return runtimes[runtime].interprets;
}

bool runtime_is_beam(int runtime)
{
	return runtimes[runtime].is_beam;
}
