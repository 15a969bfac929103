// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_push.c - the spool of "arcprof fleet push", and folders of traces. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/gzip.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "export.h"
#include "fleet.h"
#include "fleet/http.h"
#include "fleet/push.h"
#include "input.h"
#include "model/names.h"

/* ---- folders ---- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool began_then(const struct fleet_paths *p, struct trace_reader *t)
{
	struct names names;
	struct model m;
	struct err e;
	uint64_t start_s;
	bool read;

	model_init(&m, 1, FLOW_SAMPLES);
	names_init(&names, &m, &(struct resolve_opts){ .no_files = true });
	read = !trace_read(t, &names_sink, &names, &e);
	start_s = names_label_u64(&names, "start.realtime_ns") / 1000000000;
	names_release(&names);
	model_release(&m);
	return read && start_s >= p->since_s && (!p->until_s || start_s < p->until_s);
}

/* What cannot be opened as a trace is none. */
static bool is_wanted(const struct fleet_paths *p, const char *path)
{
	struct trace_reader *t;
	struct stat st;
	struct err e;
	bool wanted = true;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || trace_reader_open(&t, path, &e))
		return false;
	if (p->since_s || p->until_s)
		wanted = began_then(p, t);
	trace_reader_close(t);
	return wanted;
}

int fleet_list(struct fleet_paths *p, const char *dir, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	char *path;

	p->list = NULL;
	p->nr = p->alloc = 0;
	if (!d)
		return err_errno(e, "%s", dir);
	while ((entry = readdir(d))) {
		path = xasprintf("%s/%s", dir, entry->d_name);
		if (entry->d_name[0] == '.' || !is_wanted(p, path)) {
			free(path);
			continue;
		}
		VEC_GROW(p->list, p->nr, p->alloc);
		p->list[p->nr++] = path;
	}
	closedir(d);
	if (!p->nr)
		return err_set(e, ENODATA, "%s: no traces%s", dir,
			       p->since_s || p->until_s ? " of that time" : "");
	qsort(p->list, p->nr, sizeof(*p->list), compare_names);
	return 0;
}

void fleet_list_release(struct fleet_paths *p)
{
	while (p->nr)
		free(p->list[--p->nr]);
	free(p->list);
}

/* ---- the spool ---- */

/* Makes the folder and those above it. */
static int make_folders(char *path)
{
	char *slash;

	for (slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

static char *spool_name(const struct fleet_opts *o)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	if (o->spool)
		return xstrdup(o->spool);
	if (data && *data == '/')
		return xasprintf("%s/arcprof/spool", data);
	return home && *home == '/' ? xasprintf("%s/.local/share/arcprof/spool", home) : NULL;
}

/* A descriptor that holds the lock: one push at a time works on a spool. */
static int open_spool(char *spool, struct err *e)
{
	int fd;

	if (make_folders(spool)) {
		return err_errno(e, "%s", spool);
	}
	fd = open(spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "%s", spool);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return err_set(e, EBUSY, "%s: another push works on it", spool);
	}
	return fd;
}

/* A compressed file that is complete when it has its name. */
struct packed {
	char *temporary;
	FILE *raw, *out;
};

static int pack_begin(struct packed *p, const char *spool, const char *what, struct err *e)
{
	int fd;

	p->raw = p->out = NULL;
	p->temporary = xasprintf("%s/.%s.XXXXXX", spool, what);
	fd = mkostemp(p->temporary, O_CLOEXEC);
	if (fd < 0)
		return err_errno(e, "%s", spool);
	p->raw = fdopen(fd, "w");
	p->out = gzip_open(p->raw, e);
	return p->out ? 0 : -e->code;
}

/* path NULL: it is dropped. */
static int pack_end(struct packed *p, const char *path, struct err *e)
{
	int r = 0;

	if (p->out)
		fclose(p->out);
	if (p->raw) {
		if (path && (fflush(p->raw) || ferror(p->raw) || fsync(fileno(p->raw))))
			r = err_errno(e, "%s", path);
		fclose(p->raw);
	}
	if (!r && path && rename(p->temporary, path))
		r = err_errno(e, "%s", path);
	if (r || !path)
		unlink(p->temporary);
	free(p->temporary);
	return r;
}

/* Names first: a segment is there once its nodes are. */
static int spool_tables(struct packed *nodes, const char *spool, const struct fleet_table *t,
			const struct segment *s, struct err *e)
{
	char *nodes_path = segment_nodes(spool, s), *names_path = segment_names(spool, s);
	struct packed names;
	int r = pack_begin(&names, spool, "names", e);

	if (!r)
		fleet_table_names(t, names.out);
	r = r ? (pack_end(&names, NULL, e), r) : pack_end(&names, names_path, e);
	r = r ? (pack_end(nodes, NULL, e), r) : pack_end(nodes, nodes_path, e);
	free(nodes_path);
	free(names_path);
	return r;
}

/* Puts a trace into the spool: 0, 1 if it was damaged, or -errno. */
static int spool_trace(const struct fleet_opts *o, const char *spool, const char *path, struct err *e)
{
	const struct same_opts same = { .thread_digits = o->digits, .labels = true };
	static const struct opt_list all;
	struct fleet_table t;
	struct segment s;
	struct packed nodes;
	struct err ignored;
	int r = pack_begin(&nodes, spool, "nodes", e), status;

	if (r) {
		pack_end(&nodes, NULL, &ignored);
		return r;
	}
	fleet_table_init(&t, nodes.out, &same);
	status = export_trace(&t, path, &all, true, &s.id, e);
	s.nr_rows = t.nr_rows;
	if (status < 0 || !s.nr_rows)
		pack_end(&nodes, NULL, &ignored);
	else
		r = spool_tables(&nodes, spool, &t, &s, e);
	if (status >= 0 && !s.nr_rows)
		log_warn("%s has no samples and no calls; nothing of it is sent", path);
	fleet_table_release(&t);
	return r ? r : status;
}

static int list_spool(const char *spool, struct segment **list, size_t *nr, struct err *e)
{
	size_t alloc = *nr = 0;
	struct dirent *entry;
	DIR *d = opendir(spool);

	*list = NULL;
	if (!d)
		return err_errno(e, "%s", spool);
	while ((entry = readdir(d))) {
		VEC_GROW(*list, *nr, alloc);
		*nr += segment_parse(entry->d_name, &(*list)[*nr]);
	}
	closedir(d);
	return 0;
}

static void drop_segment(const char *spool, const struct segment *s)
{
	char *nodes = segment_nodes(spool, s), *names = segment_names(spool, s);
	char *tried = segment_tried(spool, s);

	unlink(nodes);		/* last in, first out: without its nodes there is no segment */
	unlink(names);
	unlink(tried);
	free(tried);
	free(nodes);
	free(names);
}

/* ---- sending ---- */

enum {
	FIRST_WAIT_MS = 100,
	LONGEST_WAIT_MS = 30000,
};

struct sender {
	const char *url, *spool;
	uint64_t deadline_ns;		/* CLOCK_MONOTONIC: after that nobody waits any more */
	unsigned int wait_ms;
	size_t nr_sent, nr_known;
};

/* One segment, until it is there or waiting has no use. */
static int send_segment(struct sender *x, const struct segment *s, struct err *e)
{
	bool said = false;
	int r;

	while ((r = segment_push(x->url, x->spool, s, e)) == -EAGAIN && clock_mono_ns() < x->deadline_ns) {
		if (!said)
			log_info("%s; trying again", e->msg);
		said = true;
		usleep(x->wait_ms * 1000);
		x->wait_ms = MIN(x->wait_ms * 2, (unsigned int)LONGEST_WAIT_MS);
	}
	if (r < 0)
		return r;
	x->wait_ms = FIRST_WAIT_MS;
	x->nr_sent += !r;
	x->nr_known += r;
	drop_segment(x->spool, s);
	return 0;
}

/* Returns the exit status. */
static int send_spool(struct sender *x, struct err *e)
{
	struct segment *list;
	size_t nr, i, nr_left;
	int r = list_spool(x->spool, &list, &nr, e), status = 0;

	if (r)
		return log_err(e);
	for (i = 0, nr_left = nr; i < nr && status != -EAGAIN; i++) {
		r = send_segment(x, &list[i], e);
		nr_left -= !r;
		if (r) {
			log_err(e);
			status = r;
		}
	}
	free(list);
	log_info("sent %zu recording%s%s", x->nr_sent, x->nr_sent == 1 ? "" : "s",
		 x->nr_known ? "; others the server had" : "");
	if (nr_left)
		log_warn("%zu recording%s in %s; the next push sends %s", nr_left, nr_left == 1 ? " stays" : "s stay",
			 x->spool, nr_left == 1 ? "it" : "them");
	return status ? 1 : 0;
}

int fleet_push(const struct fleet_opts *o, int nr_operands, char **operands)
{
	struct sender x = { .wait_ms = FIRST_WAIT_MS };
	struct err e = { 0 };
	char *spool;
	int i, lock, r, status = 0;

	if (!nr_operands || !http_is_url(operands[0])) {
		log_error("push takes the URL of a server: http://host:8123/");
		return EXIT_USAGE;
	}
	spool = spool_name(o);
	if (!spool) {
		log_error("neither XDG_DATA_HOME nor HOME names a folder for the spool: --spool does");
		return EXIT_USAGE;
	}
	lock = open_spool(spool, &e);
	if (lock < 0)
		status = log_err(&e);
	for (i = 1; lock >= 0 && i < nr_operands; i++) {
		r = spool_trace(o, spool, operands[i], &e);
		status |= r < 0 ? log_err(&e) : r;
	}
	if (lock >= 0) {
		x.url = operands[0];
		x.spool = spool;
		x.deadline_ns = clock_mono_ns() + o->retry_ns;
		status |= send_spool(&x, &e);
		close(lock);
	}
	free(spool);
	return status;
}
