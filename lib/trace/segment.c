// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "trace/format.h"
#include "trace/segment.h"

bool segment_is_one(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct trf_header h;
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = !fstat(fd, &st) && S_ISREG(st.st_mode) && read(fd, &h, sizeof(h)) == (ssize_t)sizeof(h) &&
	     !memcmp(h.magic, TRF_MAGIC, sizeof(h.magic)) &&
	     h.crc == crc32(0, (const Bytef *)&h, offsetof(struct trf_header, crc)) && h.flags & TRF_SEGMENT;
	close(fd);
	return is;
}
