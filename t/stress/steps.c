// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * steps.c - linked to arcprof by --wrap=clock_gettime, the time of day is off by the seconds in the file that
 * ARCPROF_STEPS names: so that it can be set beneath a recorder, and not beneath the machine.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

static long offset_s(void)
{
	const char *path = getenv("ARCPROF_STEPS");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	char text[24] = "";
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return n > 0 ? strtol(text, NULL, 10) : 0;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = __real_clock_gettime(clock, t);

	if (!r && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec += offset_s();
	return r;
}
