// SPDX-License-Identifier: GPL-2.0-or-later
/* named.c - recognizes formats that cannot be imported, to say what to do (named.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/protobuf.h"
#include "formats/import.h"
#include "formats/jsonin.h"
#include "trace/format.h"

/* how a file begins, at an offset; a key of JSON, the off-th; or text near the beginning */
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
	{ 0, 8, "\0\0\0\0\3\0\0", "a CPU profile of gperftools", "'pprof -proto <program> <file>' makes a pprof profile of it" },
	{ 0, 10, "SIMPLEPERF", "a profile of Android's simpleperf", "its report_sample.py prints what can be imported" },
	{ 0, 4, "SLOW", "a trace of methods of Android (ART)", NULL },
	{ 0, 2, "\xff\xfe", "text in UTF-16", "'iconv -f UTF-16 -t UTF-8' makes a text of it that may be imported" },
	{ 0, 2, "\xfe\xff", "text in UTF-16", "'iconv -f UTF-16 -t UTF-8' makes a text of it that may be imported" },
}, text[] = {
	{ 0, 11, "v8-version,", "a log of V8 (node --prof)", "'node --cpu-prof' writes a profile that can be imported" },
	{ 0, 9, "# tracer:", "a trace of ftrace", NULL },
	{ 0, 21, "Analysis of sampling ", "what macOS's 'sample' printed", "FlameGraph's stackcollapse-sample.awk makes folded stacks of it" },
	{ 0, 2, "@[", "what bpftrace printed", "FlameGraph's stackcollapse-bpftrace.pl makes folded stacks of it" },
	{ 0, 8, "*version", "a trace of methods of Android (ART)", NULL },
	{ 0, 2, "@ ", "what FreeBSD's pmcstat printed", "FlameGraph's stackcollapse-pmc.pl makes folded stacks of it" },
	{ 0, 10, "CPU     ID", "what DTrace printed", "FlameGraph's stackcollapse.pl makes folded stacks of it" },
	{ 0, 19, "Level,Function Name", "a call tree of Visual Studio", "inferno-collapse-vsprof makes folded stacks of it" },
	{ 0, 12, "PeriodType: ", "what 'pprof -raw' printed", "the profile that it was made of can be imported" },
	{ 0, 19, "Weight\tSelf Weight\t", "what was copied from Xcode's Instruments", NULL },
	{ 0, 13, "Running Time\t", "what was copied from Xcode's Instruments", NULL },
	{ 0, 11, "Bytes Used\t", "what was copied from Xcode's Instruments", NULL },
	{ 0, 14, "--- contention", "a profile of an older form of pprof", "'pprof -proto <file>' makes a pprof profile of it" },
	{ 0, 9, "--- mutex", "a profile of an older form of pprof", "'pprof -proto <file>' makes a pprof profile of it" },
	{ 0, 10, "--- thread", "a profile of an older form of pprof", "'pprof -proto <file>' makes a pprof profile of it" },
	{ 0, 8, "--- heap", "a profile of an older form of pprof", "'pprof -proto <file>' makes a pprof profile of it" },
	{ 0, 19, "goroutine profile: ", "a profile of Go as text", "without debug=1 it is a pprof profile" },
	{ 0, 22, "threadcreate profile: ", "a profile of Go as text", "without debug=1 it is a pprof profile" },
	{ 0, 10, "goroutine ", "what goroutines of Go were doing, as text", "without debug=2 it is a pprof profile" },
	{ 0, 4, "<svg", "a picture (SVG)", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 5, "<?xml", "XML", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 5, "<html", "a web page", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 14, "<!DOCTYPE html", "a web page", "if it is a flame graph, import the stacks it was made of" },
	{ 0, 14, "<!doctype html", "a web page", "if it is a flame graph, import the stacks it was made of" },
}, json[] = {
	{ 0, 8, "snapshot", "a heap snapshot of V8", "Chrome's developer tools show it; 'node --heap-prof' writes a profile that can be imported" },
	{ 0, 4, "head", "a CPU profile of an old V8", "'node --cpu-prof' since Node.js 12 writes a profile that can be imported" },
	{ 0, 5, "label", "a recording of Firefox's old developer tools", NULL },
	{ 0, 6, "header", "a report of Node.js (--report-on-signal and the like)", NULL },
	{ 0, 4, "code", "a log of V8 as JSON (node --prof-process --preprocess)", "'node --cpu-prof' writes a profile that can be imported" },
	{ 1, 4, "mode", "a profile of Ruby's stackprof", "'stackprof --collapsed <file>' makes folded stacks of it" },
	{ 1, 9, "recording", "a recording of Safari's Web Inspector", NULL },
	{ 2, 11, "profileJSON", "a profile of Cleopatra, which was Firefox's profiler", NULL },
	{ 2, 13, "rts_arguments", "a profile of GHC (Haskell) as JSON", NULL },
}, within[] = {
	{ 0, 4, "[GC ", "a log of the garbage collector of JDK 8 or older", "that of JDK 9 and later (-Xlog:gc*) can be imported" },
	{ 0, 8, "[Full GC", "a log of the garbage collector of JDK 8 or older", "that of JDK 9 and later (-Xlog:gc*) can be imported" },
	{ 0, 8, "[ParNew:", "a log of the garbage collector of JDK 8 or older", "that of JDK 9 and later (-Xlog:gc*) can be imported" },
	{ 0, 12, "{Heap before", "a log of the garbage collector of JDK 8 or older", "that of JDK 9 and later (-Xlog:gc*) can be imported" },
	{ 0, 24, "\nCommandLine flags: -XX:", "a log of the garbage collector of JDK 8 or older", "that of JDK 9 and later (-Xlog:gc*) can be imported" },
	{ 0, 9, "[memory ]", "a log of JRockit", NULL },
	{ 0, 10, "<verbosegc", "a log of the garbage collector of OpenJ9", NULL },
	{ 0, 9, "<af type=", "a log of the garbage collector of OpenJ9", NULL },
	{ 0, 5, "\n#1 \"", "a dump of threads as plain text (jcmd Thread.dump_to_file)", "with -format=json it can be imported" },
	{ 0, 36, "Time and Allocation Profiling Report", "a profile of GHC (Haskell)", "inferno-collapse-ghcprof makes folded stacks of it" },
	{ 0, 19, "\nMassif arguments: ", "what ms_print printed", "the file that it was made of, massif.out, can be imported" },
	{ 0, 19, "<trace-query-result", "what Xcode's xctrace exported", "inferno-collapse-xctrace makes folded stacks of it" },
	{ 0, 17, " log opened (PC)\n", "a log of Papyrus", NULL },
};

static const struct named perfetto = {
	.what = "a trace of Perfetto", .hint = "Perfetto's 'traceconv json <file>' makes a Chrome trace of it"
};

/* Return whether the data is only packets, which are field 1 of protobuf. */
static bool is_perfetto(const char *data, size_t len)
{
	enum { LEAST = 3 };
	struct span s = span_init(data, MIN(len, (size_t)IMPORT_HEAD_BYTES));
	struct protobuf_field f;
	size_t nr = 0;

	while (nr < LEAST && protobuf_next(&s, &f) && f.number == 1 && f.wire == PROTOBUF_BYTES &&
	       span_left(&f.bytes))
		nr++;
	return nr == LEAST;
}

static const struct named *find_named(const struct named *list, size_t nr, const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (len >= list[i].off + list[i].len &&
		    !memcmp(data + list[i].off, list[i].magic, list[i].len))
			return &list[i];
	return NULL;
}

static int refuse_named(const struct named *n, struct err *e)
{
	err_set(e, EOPNOTSUPP, "this is %s, which cannot be imported", n->what);
	if (n->hint)
		err_hint(e, "%s", n->hint);
	return -EOPNOTSUPP;
}

/* Return the first that is in the text. */
static const struct named *find_within(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(within); i++)
		if (memmem(data, len, within[i].magic, within[i].len))
			return &within[i];
	return NULL;
}

static const struct named *find_key(const struct import_text *keys, size_t nr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(json); i++)
		if (json[i].off < nr && jsonin_is(keys[json[i].off], json[i].magic))
			return &json[i];
	return NULL;
}

/* Logs of JDK 8 may begin with a brace, too. */
static bool begins_as_json(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);

	if (jsonin_peek(&j) != '{')
		return false;
	j.p++;
	return jsonin_peek(&j) == '"' || jsonin_peek(&j) == '}';
}

/* Refuse JSON of an unknown kind, naming its first keys. */
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
	known = find_key(keys, nr);
	if (known)
		return refuse_named(known, e);
	for (i = 0; i < nr; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s\"%.*s\"", i ? ", " : "",
			 (int)MIN(keys[i].len, (size_t)40), keys[i].s);
	return err_set(e, EINVAL, "JSON that begins with %s: not a profile of a known format%s", list,
		       j.bad && len < IMPORT_HEAD_BYTES ? ", and damaged or truncated" : "");
}

int import_refuse(const char *data, size_t len, struct err *e)
{
	const struct named *n = find_named(binary, ARRAY_SIZE(binary), data, len);
	size_t blank = 0;

	if (n)
		return refuse_named(n, e);
	if (packing_of(data, len)) {	/* what is left after it was decompressed */
		err_set(e, EOPNOTSUPP, "this is compressed twice, which cannot be imported");
		err_hint(e, "decompress it once, and import what that makes");
		return -EOPNOTSUPP;
	}
	if (is_perfetto(data, len))
		return refuse_named(&perfetto, e);
	if (len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))	/* that it is UTF-8 */
		blank = 3;
	while (blank < len && strchr(" \t\r\n", data[blank]) && data[blank])
		blank++;
	if (begins_as_json(data + blank, len - blank) && !memchr(data, '\0', len))
		return refuse_json(data + blank, MIN(len - blank, (size_t)IMPORT_HEAD_BYTES), e);
	n = memchr(data, '\0', len) ? NULL : find_within(data, MIN(len, (size_t)IMPORT_HEAD_BYTES));
	if (!n)
		n = find_named(text, ARRAY_SIZE(text), data + blank, len - blank);
	if (n)
		return refuse_named(n, e);
	return import_folded_refuse(data, len, e);
}
