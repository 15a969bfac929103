// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jsonin.h"
#include "formats/named.h"
#include "trace/format.h"

/* What a file begins with, at an offset. */
struct named {
	unsigned int off, len;
	const char *magic;
	const char *what, *hint;
};

static const struct named binary[] = {
	{ 0, 5, "go 1.", "an execution trace of Go", "'go tool trace -pprof=sched <file>' makes pprof profiles of it, also with net, sync and syscall" },
	{ 0, 17, "JAVA PROFILE 1.0.", "a heap dump of a JVM", "'arcprof heap report <file>' reads it" },
	{ 0, 8, "PERFFILE", "a perf.data file of before Linux 3.4", NULL },
	{ 0, 8, "elifrep\0", "a perf.data file of a CPU with another byte order", NULL },
	{ 0, 4, "gmon", "a profile of gprof", "gprof shows it, with the program" },
	{ 0, 16, "SQLite format 3", "an SQLite database", NULL },
	{ 0, 4, "\x7f" "ELF", "a program, library or core dump (ELF)", NULL },
	{ 0, 4, "PAR1", "a Parquet file", NULL },
	{ 0, 4, "\xc1\x1f\xfc\xc1", "a trace of LTTng (CTF)", NULL },
	{ 0, 8, TRF_MAGIC, "a trace of arcprof", "'arcprof report <file>' reads it, without --import" },
	{ 0, 3, "\xfb)\x03", "a profile of Python's cProfile", "py-spy writes what can be imported" },
	{ 0, 3, "\xfb\xa9\x03", "a profile of Python's cProfile", "py-spy writes what can be imported" },
	{ 257, 5, "ustar", "a tar archive", "extract it, and import one of its files" },
	{ 8, 16, "\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "a CPU profile of gperftools", "'pprof -proto <program> <file>' makes a pprof profile of it" },
	{ 0, 2, "\xff\xfe", "text in UTF-16", "'iconv -f UTF-16 -t UTF-8' makes a text of it that may be imported" },
	{ 0, 2, "\xfe\xff", "text in UTF-16", "'iconv -f UTF-16 -t UTF-8' makes a text of it that may be imported" },
}, text[] = {
	{ 0, 11, "v8-version,", "a log of V8 (node --prof)", "'node --cpu-prof' writes a profile that can be imported" },
	{ 0, 9, "# tracer:", "a trace of ftrace", NULL },
	{ 0, 21, "Analysis of sampling ", "what macOS's 'sample' printed", "FlameGraph's stackcollapse-sample.awk makes folded stacks of it" },
	{ 0, 2, "@[", "what bpftrace printed", "FlameGraph's stackcollapse-bpftrace.pl makes folded stacks of it" },
	{ 0, 4, "<svg", "a picture (SVG)", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 5, "<?xml", "XML", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 5, "<html", "a web page", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 14, "<!DOCTYPE html", "a web page", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 14, "<!doctype html", "a web page", "if it is a flame graph, import the stacks it was made of" },
}, json[] = {		/* the first key */
	{ 0, 8, "snapshot", "a heap snapshot of V8", "Chrome's developer tools show it; 'node --heap-prof' writes a profile that can be imported" },
	{ 0, 4, "head", "a CPU profile of an old V8", "'node --cpu-prof' since Node.js 12 writes a profile that can be imported" },
	{ 0, 5, "label", "a recording of Firefox's old developer tools", NULL },
	{ 0, 6, "header", "a report of Node.js (--report-on-signal and the like)", NULL },
};

static const struct named old_log = {
	.what = "a log of the garbage collector of JDK 8 or older", .hint = "that of JDK 9 and later (-Xlog:gc*) can be imported"
};

static const struct named *find(const struct named *list, size_t nr, const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (len >= list[i].off + list[i].len &&
		    !memcmp(data + list[i].off, list[i].magic, list[i].len))
			return &list[i];
	return NULL;
}

static int refuse(const struct named *n, struct err *e)
{
	err_set(e, EOPNOTSUPP, "this is %s, which cannot be imported", n->what);
	if (n->hint)
		err_hint(e, "%s", n->hint);
	return -EOPNOTSUPP;
}

/* JSON of an unknown kind is told by its first keys. */
static int refuse_json(const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len);
	const struct named *known;
	struct import_text key, keys[3];
	size_t nr = 0, i;
	char list[160] = "";

	jsonin_open(&j, '{');
	while (nr < ARRAY_SIZE(keys) && jsonin_member(&j, &key)) {
		keys[nr++] = key;
		jsonin_skip(&j);
	}
	if (!nr)
		return err_set(e, EINVAL, "JSON, but not a profile of a known format");
	known = find(json, ARRAY_SIZE(json), keys[0].s, keys[0].len);
	if (known)
		return refuse(known, e);
	for (i = 0; i < nr; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s\"%.*s\"", i ? ", " : "",
			 (int)MIN(keys[i].len, (size_t)40), keys[i].s);
	return err_set(e, EINVAL, "JSON that begins with %s: not a profile of a known format", list);
}

int import_refuse(const char *data, size_t len, struct err *e)
{
	const struct named *n = find(binary, ARRAY_SIZE(binary), data, len);
	size_t blank = 0;

	if (n)
		return refuse(n, e);
	while (blank < len && strchr(" \t\r\n", data[blank]) && data[blank])
		blank++;
	n = find(text, ARRAY_SIZE(text), data + blank, len - blank);
	if (n)
		return refuse(n, e);
	if (memmem(data, MIN(len, (size_t)IMPORT_HEAD_BYTES), "[GC (", 5) && !memchr(data, '\0', len))
		return refuse(&old_log, e);
	if (blank < len && data[blank] == '{' && !memchr(data, '\0', len))
		return refuse_json(data + blank, MIN(len - blank, (size_t)IMPORT_HEAD_BYTES), e);
	return import_folded_refuse(data, len, e);
}
