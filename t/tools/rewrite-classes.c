// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rewrite-classes.c - puts probes into every class of a jar, a folder or a file, as the agent does
 * when classes are loaded, and says how many methods were rewritten, and what was left alone and why.
 *
 *	rewrite-classes [options] <jar | folder | class> <copy>
 *	  --only=<prefix>	only classes whose names (java/util/) start so
 *	  --first=<n>		number of the first method; the next ones follow
 *	  --map=<file>		writes a line "number class method descriptor" for each method rewritten
 *	  --count		counts the instructions of each basic block, too
 *	  --sites		tells the lines that calls are made from, too
 *	  --widen		widens every jump, as if it did not fit
 *	  --locks		the probes of locks, java/lang/ArcLock, instead of those of calls
 *	  --quiet		no line for each method left alone
 *
 * What is no class is copied. The probes call java/lang/ArcProbe.enter(I)V, exit(I)V, thrown(I)V,
 * caught(I)V, with --count count(I)V, and with --sites line(I)V and bci(I)V.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "classfile/rewrite.h"

enum { MAX_FILE = 1 << 30 };

static const char HELPER[] = "java/lang/ArcProbe", LOCK_HELPER[] = "java/lang/ArcLock";
static const struct classfile_locks locks = {
	.enter = "enter", .entered = "entered", .exit = "exit", .waited = "waited",
	.notify = "notify", .notify_all = "notifyAll", .owns = "owns", .state = "state", .stamped = "stamped",
};

struct totals {
	uint64_t nr_classes, nr_changed, nr_methods, nr_rewritten, nr_widened;
	uint64_t in_bytes, out_bytes, ns, mem_bytes, max_mem_bytes;
	uint64_t reasons[CLASSFILE_NR_REASONS];
};

static struct {
	const char *only;
	const char *map_path;
	FILE *map;
	bool quiet, widen, locks, count, sites;
	int32_t next;
	struct totals t;
} tool;

static int fail(const char *path, const char *what)
{
	fprintf(stderr, "rewrite-classes: %s: %s\n", path, what);
	return -1;
}

/* ---- one class ---- */

/* Memory of one class, dropped as a whole. */
struct chunk {
	struct chunk *next;
	_Alignas(16) uint8_t data[];
};

static void *more(void *ctx, size_t size)
{
	struct chunk **chunks = ctx, *c = xmalloc(sizeof(*c) + size);

	c->next = *chunks;
	*chunks = c;
	tool.t.mem_bytes += size;
	return c->data;
}

static int32_t select_method(void *ctx, const struct classfile_method *m)
{
	size_t n = tool.only ? strlen(tool.only) : 0;

	if (m->class_name.len < n || memcmp(m->class_name.p, tool.only ? tool.only : "", n))
		return CLASSFILE_LEAVE_ALONE;
	if (tool.locks)
		return CLASSFILE_LOCKS;
	if (m->class_name.len == strlen(HELPER) && !memcmp(m->class_name.p, HELPER, m->class_name.len))
		return CLASSFILE_LEAVE_ALONE;
	if (tool.map)
		fprintf(tool.map, "%d %.*s %.*s %.*s\n", tool.next, (int)m->class_name.len, m->class_name.p,
			(int)m->name.len, m->name.p, (int)m->descriptor.len, m->descriptor.p);
	return tool.next++;
}

static void skipped(void *ctx, const struct classfile_method *m, enum classfile_reason reason)
{
	tool.t.reasons[reason]++;
	if (!tool.quiet)
		printf("left alone: %.*s%s%.*s%.*s, %u bytes of code: %s\n", (int)m->class_name.len,
		       m->class_name.p,
		       m->name.len ? "." : "", (int)m->name.len, m->name.p ? m->name.p : "",
		       (int)m->descriptor.len,
		       m->descriptor.p ? m->descriptor.p : "", m->code_len_bytes,
		       classfile_reason_text(reason));
}

/* Appends the class to *to, rewritten if it can be. */
static void rewrite(const void *in, size_t len, struct buf *to)
{
	struct chunk *chunks = NULL, *c;
	const struct classfile_probe probe = {
		.helper = tool.locks ? LOCK_HELPER : HELPER,
		.locks = tool.locks ? &locks : NULL,
		.enter = "enter",
		.exit = "exit",
		.thrown = "thrown",
		.caught = "caught",
		.count = tool.count ? "count" : NULL,
		.line = tool.sites ? "line" : NULL,
		.bci = tool.sites ? "bci" : NULL,
		.widen_all = tool.widen,
		.select = select_method,
		.skipped = skipped,
		.mem = more,
		.mem_ctx = &chunks,
	};
	struct classfile_out out;
	uint64_t start = clock_mono_ns();

	tool.t.mem_bytes = 0;
	classfile_rewrite(in, len, &probe, &out);
	tool.t.ns += clock_mono_ns() - start;
	tool.t.nr_classes++;
	tool.t.nr_methods += out.nr_methods - out.nr_no_code;
	if (tool.t.mem_bytes > tool.t.max_mem_bytes)
		tool.t.max_mem_bytes = tool.t.mem_bytes;
	if (out.data) {
		tool.t.nr_changed++;
		tool.t.nr_rewritten += out.nr_rewritten;
		tool.t.nr_widened += out.nr_widened;
		tool.t.in_bytes += len;
		tool.t.out_bytes += out.len;
	}
	buf_add(to, out.data ? out.data : in, out.data ? out.len : len);
	while ((c = chunks)) {
		chunks = c->next;
		free(c);
	}
}

static bool is_class(const char *name, size_t len)
{
	return len > 6 && !memcmp(name + len - 6, ".class", 6);
}

/* ---- jars ---- */

static uint32_t le(const void *p, size_t n)
{
	uint32_t v = 0;

	memcpy(&v, p, n);
	return v;
}

enum {
	LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50, LOCAL_LEN = 30, CENTRAL_LEN =
	46, END_LEN = 22
};

struct jar {
	const char *path;
	const uint8_t *data;
	size_t len;
	struct buf out, directory;
	uint32_t nr;
};

static int inflate_entry(const uint8_t *in, size_t in_len, size_t len, struct buf *b)
{
	z_stream z = { .next_in = (uint8_t *)in, .avail_in = in_len, .avail_out = len };
	int r;

	z.next_out = buf_room(b, len + 1);
	if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
		return -1;
	r = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	b->len += len;
	return r == Z_STREAM_END && !z.avail_out ? 0 : -1;
}

/* Stored: what is read next by a JVM needs no compression. */
static void put_entry(struct jar *j, const char *name, size_t name_len, const struct buf *b)
{
	uint32_t crc = crc32(0, (const uint8_t *)b->data, b->len), at = j->out.len;
	struct buf *to = &j->out;
	int i;

	for (i = 0; i < 2; i++, to = &j->directory) {
		buf_u32(to, i ? CENTRAL : LOCAL);
		if (i)
			buf_u16(to, 20);
		buf_u16(to, 20);
		buf_u16(to, 0x800);		/* names are UTF-8 */
		buf_u16(to, 0);
		buf_u32(to, 0x21 << 16);	/* the first of January 1980 */
		buf_u32(to, crc);
		buf_u32(to, b->len);
		buf_u32(to, b->len);
		buf_u16(to, name_len);
		buf_u16(to, 0);
		if (i) {
			buf_u16(to, 0);
			buf_u32(to, 0);
			buf_u32(to, 0);
			buf_u32(to, at);
		}
		buf_add(to, name, name_len);
	}
	buf_add(&j->out, b->data, b->len);
	j->nr++;
}

/* The entry of the directory at p; its length, or -1. */
static long one_entry(struct jar *j, const uint8_t *p, size_t left)
{
	struct buf plain = BUF_INIT, done = BUF_INIT;
	uint32_t in_len, len, name_len, at, method;
	const uint8_t *data;
	const char *name;
	long r = -1;

	if (left < CENTRAL_LEN || le(p, 4) != CENTRAL)
		return fail(j->path, "damaged directory");
	method = le(p + 10, 2);
	in_len = le(p + 20, 4);
	len = le(p + 24, 4);
	name_len = le(p + 28, 2);
	at = le(p + 42, 4);
	r = CENTRAL_LEN + name_len + le(p + 30, 2) + le(p + 32, 2);
	name = (const char *)p + CENTRAL_LEN;
	if ((size_t)r > left || at > j->len || j->len - at < LOCAL_LEN || len > MAX_FILE)
		return fail(j->path, "damaged entry");
	data = j->data + at + LOCAL_LEN + le(j->data + at + 26, 2) + le(j->data + at + 28, 2);
	if (data > j->data + j->len || in_len > (size_t)(j->data + j->len - data) || (method && method != 8))
		return fail(j->path, "damaged entry");
	if (method && inflate_entry(data, in_len, len, &plain))
		r = fail(j->path, "an entry does not inflate");
	else if (!method)
		buf_add(&plain, data, in_len);
	if (r > 0 && is_class(name, name_len))
		rewrite(plain.data, plain.len, &done);
	if (r > 0)
		put_entry(j, name, name_len, is_class(name, name_len) ? &done : &plain);
	buf_release(&plain);
	buf_release(&done);
	return r;
}

static int write_file(const char *path, const struct buf *b)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return fail(path, strerror(errno));
	if (fwrite(b->data, 1, b->len, f) != b->len || fclose(f))
		return fail(path, "cannot be written");
	return 0;
}

static int rewrite_jar(const struct buf *in, const char *path, const char *to)
{
	struct jar j = { .path = path, .data = (const uint8_t *)in->data, .len = in->len };
	size_t end = in->len - END_LEN, at, stop;
	long r = 0;

	while (end && le(j.data + end, 4) != END)
		end--;
	at = le(j.data + end + 16, 4);
	stop = at + le(j.data + end + 12, 4);
	if (le(j.data + end, 4) != END || stop > in->len)
		return fail(path, "no jar, or damaged");
	for (; r >= 0 && at < stop; at += r)
		r = one_entry(&j, j.data + at, stop - at);
	at = j.out.len;
	buf_add(&j.out, j.directory.data, j.directory.len);
	buf_u32(&j.out, END);
	buf_u32(&j.out, 0);
	buf_u16(&j.out, j.nr);
	buf_u16(&j.out, j.nr);
	buf_u32(&j.out, j.directory.len);
	buf_u32(&j.out, at);
	buf_u16(&j.out, 0);
	if (r >= 0)
		r = write_file(to, &j.out);
	buf_release(&j.out);
	buf_release(&j.directory);
	return r < 0 ? -1 : 0;
}

/* ---- files and folders ---- */

static int rewrite_path(const char *path, const char *to);

static int rewrite_folder(const char *path, const char *to)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	int r = 0;

	if (!dir || (mkdir(to, 0777) && errno != EEXIST))
		return fail(dir ? to : path, strerror(errno));
	while (!r && (d = readdir(dir))) {
		char *from, *copy;

		if (d->d_name[0] == '.')
			continue;
		from = xasprintf("%s/%s", path, d->d_name);
		copy = xasprintf("%s/%s", to, d->d_name);
		r = rewrite_path(from, copy);
		free(from);
		free(copy);
	}
	closedir(dir);
	return r;
}

static int rewrite_path(const char *path, const char *to)
{
	struct buf in = BUF_INIT, out = BUF_INIT;
	struct stat st;
	struct err e;
	int r;

	if (stat(path, &st))
		return fail(path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return rewrite_folder(path, to);
	if (io_read_file(path, &in, MAX_FILE, &e))
		return fail(path, e.msg);
	if (in.len >= END_LEN && !memcmp(in.data, "PK\3\4", 4)) {
		r = rewrite_jar(&in, path, to);
	} else if (is_class(path, strlen(path))) {
		rewrite(in.data, in.len, &out);
		r = write_file(to, &out);
	} else {
		r = write_file(to, &in);
	}
	buf_release(&in);
	buf_release(&out);
	return r;
}

static void print_totals(void)
{
	const struct totals *t = &tool.t;
	double classes = t->nr_changed ? t->nr_changed : 1, methods = t->nr_rewritten ? t->nr_rewritten : 1;
	int i;

	printf("%" PRIu64 " classes, %" PRIu64 " rewritten; %" PRIu64 " methods with code, %" PRIu64 " rewritten; %" PRIu64
	       " branches widened\n", t->nr_classes, t->nr_changed, t->nr_methods, t->nr_rewritten,
	       t->nr_widened);
	printf("%.1f us a class, %.2f us a method; %" PRIu64 " bytes became %" PRIu64 " (%+.1f %%); at most %"
	       PRIu64
	       " KiB of memory for a class\n", t->ns / classes / 1e3, t->ns / methods / 1e3, t->in_bytes,
	       t->out_bytes,
	       t->in_bytes ? 100.0 * t->out_bytes / t->in_bytes - 100 : 0.0, t->max_mem_bytes >> 10);
	for (i = 0; i < CLASSFILE_NR_REASONS; i++)
		if (t->reasons[i])
			printf("%" PRIu64 " left alone: %s\n", t->reasons[i], classfile_reason_text(i));
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "only", 1, NULL, 'o' },  { "first", 1, NULL, 'f' },
						 { "map", 1, NULL, 'm' },   { "quiet", 0, NULL, 'q' },
						 { "widen", 0, NULL, 'w' },
						 { "locks", 0, NULL, 'l' },
						 { "count", 0, NULL, 'c' },
						 { "sites", 0, NULL, 's' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'o')
			tool.only = optarg;
		else if (c == 'f')
			tool.next = strtol(optarg, NULL, 0);
		else if (c == 'm')
			tool.map_path = optarg;
		else if (c == 'q')
			tool.quiet = true;
		else if (c == 'w')
			tool.widen = true;
		else if (c == 'l')
			tool.locks = true;
		else if (c == 'c')
			tool.count = true;
		else if (c == 's')
			tool.sites = true;
		else
			return 2;
	}
	if (argc - optind != 2) {
		fprintf(stderr, "usage: rewrite-classes [options] <jar | folder | class> <copy>\n");
		return 2;
	}
	if (tool.map_path && !(tool.map = fopen(tool.map_path, "w")))
		return fail(tool.map_path, strerror(errno)), 1;
	if (rewrite_path(argv[optind], argv[optind + 1]))
		return 1;
	print_totals();
	return tool.map && fclose(tool.map) ? 1 : 0;
}
