// SPDX-License-Identifier: GPL-2.0-or-later
/* source.c - reads source files (source.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/source.h"

enum { SOURCE_MAX = 16 << 20 };

static void index_lines(struct source *s)
{
	size_t at;

	for (at = 0; at < s->text.len;) {
		const char *end = memchr(s->text.data + at, '\n', s->text.len - at);

		*VEC_ADD(s->starts, s->nr_lines, s->alloc_lines) = at;
		at = end ? (size_t)(end - s->text.data) + 1 : s->text.len;
	}
}

/* Read the text up to the size found before, even if the file grows meanwhile. */
static bool source_read_text(struct source *s, int fd, size_t size)
{
	char *to = buf_room(&s->text, size);
	size_t got = 0;
	ssize_t n;

	while (got < size) {
		n = read(fd, to + got, size - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		if (!n)
			break;
		got += n;
	}
	to[got] = '\0';
	s->text.len = got;
	return true;
}

/* Try a path, whose name comes from a trace: it may be that of a pipe or a device. */
static bool try_path(struct source *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool ok;

	if (fd < 0)
		return false;
	ok = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= SOURCE_MAX &&
	     source_read_text(s, fd, st.st_size);
	close(fd);
	if (!ok)
		return false;
	s->path = xstrdup(path);
	s->mtime_ns = st.st_mtim.tv_sec * UINT64_C(1000000000) + st.st_mtim.tv_nsec;
	index_lines(s);
	return true;
}

static bool try_in(struct source *s, const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	bool ok = try_path(s, path);

	free(path);
	return ok;
}

/* Return whether one of the folders of the path is "..". */
static bool goes_up(const char *path)
{
	size_t len;

	for (; *path; path += len + strspn(path + len, "/")) {
		len = strcspn(path, "/");
		if (len == 2 && !strncmp(path, "..", 2))
			return true;
	}
	return false;
}

/* Try the whole name below dir, then without its first folder, and so on. */
static bool try_ends(struct source *s, const char *dir, const char *name, bool below)
{
	while (1) {
		name += strspn(name, "/");
		if (!(below && goes_up(name)) && try_in(s, dir, name))
			return true;
		name = strchr(name, '/');
		if (!name)
			return false;
	}
}

static void source_find(struct source *s, const char *name, const char *package, const struct opt_list *dirs,
			bool below)
{
	char *full = *package ? xasprintf("%s/%s", package, name) : xstrdup(name);
	size_t i;

	*s = (struct source){ .path = NULL };
	for (i = 0; i < dirs->nr_items && !s->path; i++)
		try_ends(s, dirs->items[i], full, below);
	if (!s->path && *full && !below)
		try_path(s, full);
	free(full);
}

void source_open(struct source *s, const char *name, const char *package, const struct opt_list *dirs)
{
	source_find(s, name, package, dirs, false);
}

void source_open_below(struct source *s, const char *name, const char *package, const struct opt_list *dirs)
{
	source_find(s, name, package, dirs, true);
}

void source_release(struct source *s)
{
	free(s->path);
	free(s->starts);
	buf_release(&s->text);
}

bool source_line(const struct source *s, uint32_t nr, struct buf *line)
{
	size_t start, end;

	buf_reset(line);
	if (!nr || nr > s->nr_lines)
		return false;
	start = s->starts[nr - 1];
	end = nr < s->nr_lines ? s->starts[nr] : s->text.len;
	while (end > start && (s->text.data[end - 1] == '\n' || s->text.data[end - 1] == '\r'))
		end--;
	buf_add(line, s->text.data + start, end - start);
	return true;
}
