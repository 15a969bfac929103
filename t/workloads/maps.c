// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps.c - maps the file that is named, for execution, and waits: it looks like a program with that library.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		perror("maps");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
