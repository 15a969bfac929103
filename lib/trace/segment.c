// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "trace/format.h"
#include "trace/segment.h"

static bool read_header(int dir, const char *name, struct trf_header *h)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = !fstat(fd, &st) && S_ISREG(st.st_mode) && read(fd, h, sizeof(*h)) == (ssize_t)sizeof(*h) &&
	     !memcmp(h->magic, TRF_MAGIC, sizeof(h->magic)) &&
	     h->crc == crc32(0, (const Bytef *)h, offsetof(struct trf_header, crc));
	close(fd);
	return is;
}

bool segment_is_one(int dir, const char *name)
{
	struct trf_header h;

	return read_header(dir, name, &h) && h.flags & TRF_SEGMENT;
}

bool segment_is_dump(int dir, const char *name)
{
	struct trf_header h;

	return read_header(dir, name, &h) && !(h.flags & TRF_SEGMENT);
}

/* The last chunk, as far as its header says. */
static bool ends_there(const uint8_t *p, size_t left)
{
	struct trf_chunk c;

	if (left < sizeof(c))
		return false;
	memcpy(&c, p, sizeof(c));
	return !memcmp(c.magic, TRF_CHUNK_MAGIC, sizeof(c.magic)) &&
	       !memcmp(c.type, TRF_END, sizeof(c.type)) &&
	       c.crc == crc32(0, (const Bytef *)&c, offsetof(struct trf_chunk, crc)) &&
	       c.stored_len == left - sizeof(c);
}

bool segment_is_closed(const char *path)
{
	enum { TAIL = 1024 };	/* more than the last chunk has */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uint8_t tail[TAIL];
	bool closed = false;
	struct stat st;
	ssize_t len, i;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		len = pread(fd, tail, sizeof(tail), st.st_size > TAIL ? st.st_size - TAIL : 0);
		for (i = 0; i < len && !closed; i++)
			closed = ends_there(tail + i, len - i);
	}
	close(fd);
	return closed;
}
