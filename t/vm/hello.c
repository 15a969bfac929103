// SPDX-License-Identifier: GPL-2.0-or-later
/* hello.c - a static program runs in the machine, and it is the kernel that was asked for. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct utsname u;

	if (uname(&u))
		return 1;
	printf("# %s %s, %ld processors\n", u.release, u.machine, sysconf(_SC_NPROCESSORS_ONLN));
	return argc > 1 && strcmp(argv[1], u.machine) != 0;
}
