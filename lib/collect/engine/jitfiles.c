// SPDX-License-Identifier: GPL-2.0-or-later
/* jitfiles.c - follows perf-PID.map and jit-PID.dump files as they grow (jitfiles.h). */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/foreign.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/jitfiles.h"
#include "sym/jitdump.h"

#define MAX_FILE_BYTES (256ull << 20)

enum {
	CHUNK_BYTES = 64 << 10,
	LINE_BYTES = 64 << 10,		/* a longer line of a map is none */
	TAIL_BYTES = 64,
	DUMPS_MAX = 4,			/* of a process */
	LATE_NS = 1000000000,		/* how much later than its beginning a reading may find code made */
};

/* A file that another program appends to. */
struct grown {
	int fd;				/* -1: not open, or no more is read */
	uint64_t off;			/* up to which it was read */
	struct buf rest;		/* what was read of it and not used */
	char tail[TAIL_BYTES];		/* the last bytes before off */
	size_t tail_len;
};

struct dump {
	struct grown file;
	struct jitdump state;
	struct described {		/* where in the file code is described, in case it moves */
		uint64_t off, lines_off, rules_off;
		uint32_t len, lines_len, rules_len;	/* lines_len 0: no lines; the same of rules */
	} *described, next;		/* next: lines and rules of the code to come */
	size_t nr_described, alloc_described;
	struct map at;			/* address of code -> index in described */
};

struct jitfiles {
	int pid, ns_pid;		/* ns_pid: as the process calls itself */
	uid_t uid;
	uint64_t read_ns;		/* when the file was read last */
	uint64_t looked_ns;		/* when it was looked whether its name leads to it */
	uint64_t last_ns;		/* the latest time that a name got by that */
	bool any;			/* a name was found */
	struct unwind_described *rules;	/* NULL: none were there */
	/* The reading that goes on: the process of the names, where they are written, and when it began. */
	uint32_t proc;
	struct trace_writer *w;
	uint64_t now_ns;
	struct grown map;
	struct map known;		/* address -> hash of the name that it has by the map */
	struct dump dumps[DUMPS_MAX];
	size_t nr_dumps;
};

static void close_grown(struct grown *g)
{
	if (g->fd >= 0)
		close(g->fd);
	buf_release(&g->rest);
	*g = (struct grown){ .fd = -1 };
}

void jitfiles_free(struct jitfiles *j)
{
	size_t i;

	if (!j)
		return;
	close_grown(&j->map);
	for (i = 0; i < j->nr_dumps; i++) {
		close_grown(&j->dumps[i].file);
		free(j->dumps[i].described);
		map_release(&j->dumps[i].at);
	}
	map_release(&j->known);
	unwind_described_free(j->rules);
	free(j);
}

const struct unwind_described *jitfiles_rules(const struct jitfiles *j)
{
	return j ? j->rules : NULL;
}

bool jitfiles_has_names(const struct jitfiles *j)
{
	return j && j->any;
}

/* ---- files that grow ---- */

/* Return whether the file was rewritten: it does not contain what was read of it. */
static bool is_rewritten(const struct grown *g)
{
	char tail[TAIL_BYTES];
	struct stat st;

	if (fstat(g->fd, &st) || (uint64_t)st.st_size < g->off)
		return true;
	if (!g->tail_len)
		return false;
	return pread(g->fd, tail, g->tail_len, g->off - g->tail_len) != (ssize_t)g->tail_len ||
	       memcmp(tail, g->tail, g->tail_len);
}

static void keep_tail(struct grown *g)
{
	g->tail_len = MIN(g->rest.len, (size_t)TAIL_BYTES);
	if (g->tail_len)
		memcpy(g->tail, g->rest.data + g->rest.len - g->tail_len, g->tail_len);
}

/* Appends to g->rest; false: no more is there now, or is read at all. */
static bool read_more(struct grown *g)
{
	ssize_t n;

	if (g->fd < 0)
		return false;
	n = g->off >= MAX_FILE_BYTES ? 0 : pread(g->fd, buf_room(&g->rest, CHUNK_BYTES), CHUNK_BYTES, g->off);
	if (n <= 0)
		return false;
	g->rest.len += n;
	g->off += n;
	keep_tail(g);
	return true;
}

static void use(struct grown *g, size_t len)
{
	if (!len)
		return;
	g->rest.len -= len;
	memmove(g->rest.data, g->rest.data + len, g->rest.len);
}

/* ---- perf-PID.map ---- */

/* Open the map as the process sees its files, while it lives; then ours. */
static int open_map(const struct jitfiles *j)
{
	const struct foreign_rule rule = { .owner = j->uid, .max_bytes = MAX_FILE_BYTES };
	char path[64];
	struct err e;
	int root = foreign_root(j->pid, &e), fd = -1;

	if (root >= 0) {
		snprintf(path, sizeof(path), "tmp/perf-%d.map", j->ns_pid);
		fd = foreign_open(root, path, &rule, &e);
		close(root);
	}
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", j->pid);
	return foreign_open(AT_FDCWD, path, &rule, &e);
}

static bool is_same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Opens the map, or the one that has taken its place. */
static void find_map(struct jitfiles *j)
{
	int fd = open_map(j);

	if (fd >= 0 && j->map.fd >= 0 && is_same_file(fd, j->map.fd)) {
		close(fd);
	} else if (fd >= 0) {
		close_grown(&j->map);
		j->map.fd = fd;
	}
}

static void begin_again(struct grown *g)
{
	g->off = g->tail_len = 0;
	buf_reset(&g->rest);
}

/* Return the number by which a process knows itself, in its own pid namespace. */
static int namespace_pid(int pid)
{
	struct buf b = BUF_INIT;
	char path[64], *line;
	int ns_pid = pid;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (!io_slurp(path, &b) && b.len && (line = strstr(b.data, "\nNSpid:"))) {
		char *end = strchr(line + 1, '\n'), *last;

		if (end)
			*end = '\0';
		last = strrchr(line, '\t');
		if (last)
			ns_pid = atoi(last + 1);
	}
	buf_release(&b);
	return ns_pid;
}

struct jitfiles *jitfiles_new(int pid, uid_t uid, uint64_t since_ns)
{
	struct jitfiles *j = xcalloc(1, sizeof(*j));

	j->pid = pid;
	j->ns_pid = namespace_pid(pid);
	j->uid = uid == FOREIGN_ANYBODY ? geteuid() : uid;
	j->read_ns = since_ns;
	j->map.fd = -1;
	find_map(j);
	j->looked_ns = clock_mono_ns();
	return j;
}

/*
 * Return the time of a reading: code that it finds was made since the last one. What was at its address had
 * been free for a while, so samples in between belong to the new code, and of two names the later line
 * counts.
 */
static uint64_t read_time(struct jitfiles *j)
{
	j->last_ns = MAX(j->last_ns + 1, j->read_ns);
	return j->last_ns;
}

static void jitfiles_take_line(struct jitfiles *j, const char *line, size_t len)
{
	struct perfmap_code c;
	struct rec_stub r = { .proc = j->proc };
	uint32_t *known, hash;

	if (!perfmap_line(&c, line, len))
		return;
	j->any = true;
	hash = (uint32_t)hash_pair(hash_bytes(c.name, c.name_len), c.size) >> 1;
	known = map_put(&j->known, c.addr);
	if (*known == hash)
		return;
	*known = hash;
	r.time_ns = read_time(j);
	r.addr = c.addr;
	r.size = c.size;
	r.name = c.name;
	r.name_len = c.name_len;
	trace_write_stub(j->w, &r);
}

static void jitfiles_take_lines(struct jitfiles *j)
{
	struct buf *b = &j->map.rest;
	size_t used = 0;
	char *end;

	while ((end = memchr(b->data + used, '\n', b->len - used))) {
		jitfiles_take_line(j, b->data + used, end - b->data - used);
		used = end - b->data + 1;
	}
	if (b->len - used > LINE_BYTES)
		used = b->len;
	use(&j->map, used);
}

static void read_map(struct jitfiles *j, size_t max_bytes)
{
	enum { LOOK_NS = 1000000000 };
	uint64_t until;

	if (max_bytes == SIZE_MAX || j->now_ns >= j->looked_ns + LOOK_NS) {
		find_map(j);
		j->looked_ns = j->now_ns;
	}
	if (j->map.fd >= 0 && is_rewritten(&j->map))
		begin_again(&j->map);
	until = j->map.off + MIN(max_bytes, MAX_FILE_BYTES);
	while (j->map.off < until && read_more(&j->map))
		jitfiles_take_lines(j);
}

/* ---- jit-PID.dump ---- */

bool jitfiles_is_dump(const char *path)
{
	const char *name = strrchr(path, '/'), *p;

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	for (p = name + 5; isdigit((unsigned char)*p); p++)
		;
	return p > name + 5 && !strcmp(p, ".dump");
}

static bool has_dump(const struct jitfiles *j, const struct stat *st)
{
	struct stat have;
	size_t i;

	for (i = 0; i < j->nr_dumps; i++)
		if (j->dumps[i].file.fd >= 0 && !fstat(j->dumps[i].file.fd, &have) &&
		    have.st_dev == st->st_dev && have.st_ino == st->st_ino)
			return true;
	return false;
}

void jitfiles_add_dump(struct jitfiles *j, const struct module_id *id)
{
	struct stat st;
	int fd;

	if (j->nr_dumps == DUMPS_MAX)
		return;
	fd = modules_open_mapped(id, &st);
	if (fd < 0)
		return;
	if ((st.st_uid != j->uid && st.st_uid && st.st_uid != geteuid()) || has_dump(j, &st)) {
		close(fd);
		return;
	}
	j->dumps[j->nr_dumps++] = (struct dump){ .file.fd = fd };
}

static void write_stub(struct jitfiles *j, struct jitdump_record *c)
{
	struct rec_stub r = {
		.proc = j->proc, .addr = c->addr, .size = c->size,
		.name = c->name, .name_len = c->name_len,
	};

	if (!c->time_ns || c->time_ns > j->now_ns + LATE_NS)		/* by another clock */
		c->time_ns = read_time(j);
	r.time_ns = c->time_ns;
	trace_write_stub(j->w, &r);
	j->any = true;
}

/* Read the record at off again, into *b and *r; return false if it is not there any more. */
static bool record_again(struct dump *d, uint64_t off, uint32_t len, struct buf *b, struct jitdump_record *r)
{
	buf_reset(b);
	if (pread(d->file.fd, buf_room(b, len), len, off) != (ssize_t)len)
		return false;
	b->len = len;
	jitdump_next(&d->state, b->data, len, r);
	return true;
}

static uint64_t jitfiles_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (uint64_t)(v >> 63);
}

/*
 * Return by how much lines of V8 are shifted. It counts from where its code will be in an ELF file that
 * begins with a header, as perf once made it; the format counts from the code.
 */
static uint64_t shift_of_lines(const struct jitdump_record *c)
{
	static const char *const tags[] = { "JS:", "LazyCompile:", "Function:", "Script:", "Eval:" };
	enum { ELF_HEADER = 64 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tags); i++)
		if (c->name_len > strlen(tags[i]) && !memcmp(c->name, tags[i], strlen(tags[i])))
			return ELF_HEADER;
	return 0;
}

/* Return whether it is text: V8 may give what was a name once. */
static bool jitfiles_is_text(const char *s, size_t len)
{
	while (len && (unsigned char)s[len - 1] >= ' ')
		len--;
	return !len;
}

/* Write the lines of one file, and empty pairs. */
static void write_turn(struct trace_writer *w, struct rec_stub_lines *r, struct buf *pairs)
{
	r->table = (const uint8_t *)pairs->data;
	r->len = pairs->len;
	if (pairs->len && r->file_len && jitfiles_is_text(r->file, r->file_len))
		trace_write_stub_lines(w, r);
	buf_reset(pairs);
}

/* Write the lines of the code c; r has the rest, as of the stub. */
static void write_lines(struct trace_writer *w, struct rec_stub_lines *r, const struct jitdump_record *of,
			const struct jitdump_record *c)
{
	const uint64_t addr = of->addr + shift_of_lines(c), size = c->size;
	struct jitdump_line l = { 0 }, last = { .addr = addr }, file;
	bool lost = shift_of_lines(c) && jitdump_lost_names(of, c, &file);
	struct span lines = of->lines;
	struct buf pairs = BUF_INIT;

	while (lost ? jitdump_line_of(&file, &lines, &l) : jitdump_line(&lines, &l)) {
		if (l.addr < addr || l.addr - addr >= size)
			continue;
		if (r->file_len != l.file_len || (l.file_len && memcmp(r->file, l.file, l.file_len))) {
			write_turn(w, r, &pairs);
			r->file = l.file;
			r->file_len = l.file_len;
			last = (struct jitdump_line){ .addr = addr };
		}
		buf_varint(&pairs, jitfiles_zigzag(l.addr - last.addr));
		buf_varint(&pairs, jitfiles_zigzag((int64_t)l.line - last.line));
		last = l;
	}
	write_turn(w, r, &pairs);
	buf_release(&pairs);
}

/* Write the lines of the code c, which d describes. */
static void write_lines_of(const struct jitfiles *j, struct dump *d, const struct described *at,
			   const struct jitdump_record *c)
{
	struct rec_stub_lines r = { .time_ns = c->time_ns, .proc = j->proc, .addr = c->addr };
	struct buf b = BUF_INIT;
	struct jitdump_record lines;

	if (at->lines_len && record_again(d, at->lines_off, at->lines_len, &b, &lines) &&
	    lines.kind == JITDUMP_LINES)
		write_lines(j->w, &r, &lines, c);
	buf_release(&b);
}

/* Take the rules of this code only: what is at its address now was not there before. */
static void take_rules_of(struct jitfiles *j, struct dump *d, const struct described *at,
			  const struct jitdump_record *c)
{
	struct buf b = BUF_INIT;
	struct jitdump_record r;

	if (at->rules_len && record_again(d, at->rules_off, at->rules_len, &b, &r) &&
	    r.kind == JITDUMP_UNWIND) {
		if (!j->rules)
			j->rules = unwind_described_new();
		unwind_described_add(j->rules, c->addr, c->size, r.unwind.p,
				     span_left(&r.unwind) - r.hdr_len);
	} else if (j->rules) {
		unwind_described_add(j->rules, c->addr, c->size, NULL, 0);
	}
	buf_release(&b);
}

static void jitfiles_take_code(struct jitfiles *j, struct dump *d, struct jitdump_record *r, uint64_t off)
{
	d->next.off = off;
	d->next.len = r->len;
	VEC_GROW(d->described, d->nr_described, d->alloc_described);
	*map_put(&d->at, r->addr) = d->nr_described;
	d->described[d->nr_described++] = d->next;
	write_stub(j, r);
	write_lines_of(j, d, &d->next, r);
	take_rules_of(j, d, &d->next, r);
	d->next = (struct described){ 0 };
}

/* Take a move of code, whose name is in the record of its old place. */
static void take_move(struct jitfiles *j, struct dump *d, const struct jitdump_record *moved)
{
	uint32_t at = map_get(&d->at, moved->old_addr);
	struct jitdump_record r = { .kind = JITDUMP_OTHER };
	struct buf b = BUF_INIT;

	if (at != MAP_NONE && record_again(d, d->described[at].off, d->described[at].len, &b, &r) &&
	    r.kind == JITDUMP_CODE) {
		*map_put(&d->at, moved->addr) = at;
		r.addr = moved->addr;
		r.size = moved->size;
		r.time_ns = moved->time_ns;
		write_stub(j, &r);
		write_lines_of(j, d, &d->described[at], &r);
		take_rules_of(j, d, &d->described[at], &r);
	}
	buf_release(&b);
}

static void note_next(struct described *next, const struct jitdump_record *r, uint64_t off)
{
	if (r->kind == JITDUMP_LINES) {
		next->lines_off = off;
		next->lines_len = r->len;
	} else {
		next->rules_off = off;
		next->rules_len = r->len;
	}
}

static void take_records(struct jitfiles *j, struct dump *d)
{
	struct buf *b = &d->file.rest;
	struct jitdump_record r;
	size_t used = 0;

	for (;;) {
		jitdump_next(&d->state, b->data + used, b->len - used, &r);
		if (r.kind == JITDUMP_INCOMPLETE || r.kind == JITDUMP_DAMAGED)
			break;
		if (r.kind == JITDUMP_CODE)
			jitfiles_take_code(j, d, &r, d->file.off - b->len + used);
		else if (r.kind == JITDUMP_LINES || r.kind == JITDUMP_UNWIND)
			note_next(&d->next, &r, d->file.off - b->len + used);
		else if (r.kind == JITDUMP_MOVED)
			take_move(j, d, &r);
		used += r.len;
	}
	use(&d->file, used);
	if (r.kind == JITDUMP_DAMAGED)
		close_grown(&d->file);
}

static void read_dump(struct jitfiles *j, struct dump *d, size_t max_bytes)
{
	uint64_t until = d->file.off + MIN(max_bytes, MAX_FILE_BYTES);

	while (d->file.off < until && read_more(&d->file))
		take_records(j, d);
}

void jitfiles_read(struct jitfiles *j, uint32_t proc, struct trace_writer *w, size_t max_bytes)
{
	size_t i;

	j->proc = proc;
	j->w = w;
	j->now_ns = clock_mono_ns();
	read_map(j, max_bytes);
	for (i = 0; i < j->nr_dumps; i++)
		read_dump(j, &j->dumps[i], max_bytes);
	j->read_ns = j->now_ns;
}
