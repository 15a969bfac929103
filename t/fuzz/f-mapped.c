// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-mapped.c - any bytes as what a process has mapped of an ELF file: put together, it is a file whose
 * symbols can be read. The process is this one; the last byte says how the file is mapped.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "sym/mapped.h"
#include "sym/symfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum {
	IN_TWO = 1,			/* mappings, at the first page's end */
	FAR_APART = 2,
	SECOND_ALONE = 4,
	SECOND_AGAIN = 8,		/* at the beginning of the file */
	PAGE = 4096,
};

static uint8_t *map(int fd, uint8_t *at, size_t len, size_t off)
{
	if (mmap(at, len, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, off) == MAP_FAILED)
		abort();
	return at;
}

static void map_file(int fd, uint8_t *at, size_t len, unsigned int how)
{
	size_t first = how & IN_TWO && len > PAGE ? PAGE : len;

	if (!(how & SECOND_ALONE))
		map(fd, at, first, 0);
	if (first < len)
		map(fd, at + first + (how & FAR_APART ? PAGE : 0), len - first,
		    how & SECOND_AGAIN ? 0 : first);
}

static void read_file(int fd)
{
	struct symfile *f;
	struct symbol s;
	struct err e;
	uint64_t off;

	if (symfile_open_fd(&f, fd, "", "/memfd:mapped", &e))
		return;
	symfile_symbol_source(f);
	for (off = 0; off < 2 * PAGE; off += 61)
		symfile_symbol(f, off, &s);
	symfile_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("mapped", MFD_CLOEXEC), made;
	size_t room = len + 3 * PAGE;
	struct stat st;
	struct err e;
	uint8_t *at;

	if (!len)
		return fd < 0 ? 0 : close(fd);
	at = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fd < 0 || at == MAP_FAILED || io_write_all(fd, data, len) || fstat(fd, &st))
		abort();
	map_file(fd, at, len, data[len - 1]);
	made = mapped_open(getpid(), st.st_ino, "/memfd:mapped", &e);
	if (made >= 0) {
		read_file(made);
		close(made);
	}
	munmap(at, room);
	close(fd);
	return 0;
}
