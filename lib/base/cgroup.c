// SPDX-License-Identifier: GPL-2.0-or-later
/* cgroup.c - reads the control group of a process, and finds its container (cgroup.h). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cgroup.h"
#include "base/io.h"

enum { ID_DIGITS = 64 };

/* ---- /proc/PID/cgroup ---- */

/* Lines are "number:controllers:path"; of version 2 "0::path". Which are asked first: */
enum rank { RANK_ROOT, RANK_ANY, RANK_SYSTEMD, RANK_PERF, RANK_V2 };

struct line {
	const char *controllers, *path;
	size_t controllers_len, path_len;
};

static bool has_controller(const struct line *l, const char *name)
{
	size_t len = strlen(name), at = 0;

	while (at < l->controllers_len) {
		const char *s = l->controllers + at, *comma = memchr(s, ',', l->controllers_len - at);
		size_t n = comma ? (size_t)(comma - s) : l->controllers_len - at;

		if (n == len && !memcmp(s, name, n))
			return true;
		at += n + 1;
	}
	return false;
}

/*
 * Return the length without what the kernel appends to the path of a group that was removed while it had
 * processes.
 */
static size_t without_deleted(const char *path, size_t len)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(mark);

	return len > n + 1 && !memcmp(path + len - n, mark, n) ? len - n : len;
}

static bool split_cgroup_line(const char *s, size_t len, struct line *l)
{
	const char *first = memchr(s, ':', len), *second;

	if (!first)
		return false;
	l->controllers = first + 1;
	second = memchr(l->controllers, ':', s + len - l->controllers);
	if (!second)
		return false;
	l->controllers_len = second - l->controllers;
	l->path = second + 1;
	l->path_len = without_deleted(l->path, s + len - l->path);
	return l->path_len && l->path_len <= CGROUP_MAX_PATH && *l->path == '/' &&
	       !memchr(l->path, '\0', l->path_len);
}

static enum rank rank_of(const struct line *l)
{
	if (l->path_len == 1)
		return RANK_ROOT;
	if (!l->controllers_len)
		return RANK_V2;
	return has_controller(l, "perf_event") ? RANK_PERF :
	       has_controller(l, "name=systemd") ? RANK_SYSTEMD : RANK_ANY;
}

/* Get the next line with a group; return false at the end. */
static bool next_cgroup_line(const char **text, const char *end, struct line *l)
{
	const char *nl, *s;

	/* a line without an end is truncated */
	while (*text < end && (nl = memchr(*text, '\n', end - *text))) {
		s = *text;
		*text = nl + 1;
		if (split_cgroup_line(s, nl - s, l))
			return true;
	}
	return false;
}

size_t cgroup_parse(const char *text, size_t len, const char **path)
{
	struct line l, best = { .path_len = 0 };
	const char *end = text + len;

	while (next_cgroup_line(&text, end, &l))
		if (!best.path_len || rank_of(&l) > rank_of(&best))
			best = l;
	*path = best.path;
	return best.path_len;
}

size_t cgroup_parse_of(const char *text, size_t len, const char *controller, const char **path)
{
	const char *end = text + len;
	struct line l;

	while (next_cgroup_line(&text, end, &l))
		if (*controller ? has_controller(&l, controller) : !l.controllers_len) {
			*path = l.path;
			return l.path_len;
		}
	return 0;
}

bool cgroup_of(int pid, const char *controller, struct buf *path)
{
	struct buf text = BUF_INIT;
	const char *found;
	char name[48];
	size_t len = 0;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	if (!io_slurp(name, &text) && text.len)
		len = controller ? cgroup_parse_of(text.data, text.len, controller, &found) :
				   cgroup_parse(text.data, text.len, &found);
	buf_reset(path);
	if (len)
		buf_add(path, found, len);
	buf_release(&text);
	return len;
}

bool cgroup_is_below(const char *path, const char *group)
{
	size_t len;

	group += *group == '/';
	path += *path == '/';
	len = strlen(group);
	while (len && group[len - 1] == '/')
		len--;
	return !strncmp(path, group, len) && (!len || !path[len] || path[len] == '/');
}

/* ---- containers ---- */

struct part {
	const char *s;
	size_t len;
};

static bool cgroup_part_begins(const struct part *p, const char *with)
{
	size_t len = strlen(with);

	return p->len > len && !memcmp(p->s, with, len);
}

static bool drop_prefix(struct part *p, const char *prefix)
{
	if (!cgroup_part_begins(p, prefix))
		return false;
	p->s += strlen(prefix);
	p->len -= strlen(prefix);
	return true;
}

static bool drop_suffix(struct part *p, const char *suffix)
{
	size_t len = strlen(suffix);

	if (p->len <= len || memcmp(p->s + p->len - len, suffix, len))
		return false;
	p->len -= len;
	return true;
}

/* "docker-ID.scope", "cri-containerd-ID.scope", "kubepods-burstable-podX.slice:cri-containerd:ID", "ID" */
static bool is_oci(struct part p, struct part *id)
{
	size_t i;

	if (cgroup_part_begins(&p, "libpod-conmon-") || cgroup_part_begins(&p, "crio-conmon-"))
		return false;		/* these watch a container, and are not in it */
	drop_suffix(&p, ".scope");
	if (p.len < ID_DIGITS)
		return false;
	*id = (struct part){ p.s + p.len - ID_DIGITS, ID_DIGITS };
	for (i = 0; i < ID_DIGITS; i++)
		if (!isdigit((unsigned char)id->s[i]) && !(id->s[i] >= 'a' && id->s[i] <= 'f'))
			return false;
	return p.len == ID_DIGITS || id->s[-1] == '-' || id->s[-1] == ':';
}

/* "/lxc/NAME", "/lxc.payload/NAME", "/lxc.payload.NAME" */
static bool is_lxc(const struct part *above, struct part p, struct part *id)
{
	*id = p;
	if ((above->len == 3 && !memcmp(above->s, "lxc", 3)) ||
	    (above->len == 11 && !memcmp(above->s, "lxc.payload", 11)))
		return true;
	return drop_prefix(id, "lxc.payload.");
}

/* "systemd-nspawn@NAME.service", "machine-NAME.scope"; virtual machines are not containers */
static bool is_nspawn(struct part p, struct part *id)
{
	*id = p;
	if (drop_prefix(id, "systemd-nspawn@"))
		return drop_suffix(id, ".service");
	return drop_prefix(id, "machine-") && drop_suffix(id, ".scope") &&
	       !cgroup_part_begins(id, "qemu\\x2d");
}

/* Names of systemd have \x2d for what would be a separator in them. */
static void unescape(const struct part *p, struct buf *b)
{
	size_t i;

	for (i = 0; i < p->len; i++) {
		unsigned int byte;
		char hex[3] = { 0 };

		if (p->len - i >= 4 && p->s[i] == '\\' && p->s[i + 1] == 'x' &&
		    isxdigit((unsigned char)p->s[i + 2]) && isxdigit((unsigned char)p->s[i + 3])) {
			memcpy(hex, p->s + i + 2, 2);
			sscanf(hex, "%x", &byte);
			buf_putc(b, byte ? (char)byte : '?');
			i += 3;
		} else {
			buf_putc(b, p->s[i]);
		}
	}
}

bool cgroup_container(const char *path, size_t len, struct buf *id)
{
	struct part above = { "", 0 }, part, found, best = { NULL, 0 };
	const char *end = path + len;
	bool escaped = false;

	for (; path < end; path += part.len + 1) {
		const char *slash = memchr(path, '/', end - path);

		part = (struct part){ path, slash ? (size_t)(slash - path) : (size_t)(end - path) };
		if (!part.len)
			continue;
		if (is_oci(part, &found) || is_lxc(&above, part, &found)) {
			best = found;
			escaped = false;
		} else if (is_nspawn(part, &found)) {
			best = found;
			escaped = true;
		}
		above = part;
	}
	if (!best.s)
		return false;
	if (escaped)
		unescape(&best, id);
	else
		buf_add(id, best.s, best.len);
	return true;
}
