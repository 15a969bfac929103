// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/random.h"

int random_bytes(void *bytes, size_t size)
{
	ssize_t n;
	int fd;

	do {
		n = getrandom(bytes, size, 0);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)size)
		return 0;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, bytes, size);
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)size ? 0 : -EIO;
}
