/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped.h - what a process has mapped of an ELF file, as a file.
 *
 * A library that was deleted or replaced since can be opened by root alone (/proc/PID/map_files); who may
 * read the process's memory finds there the same headers, code, unwind rules and dynamic symbols. What no
 * segment maps is missing: debug information, and the symbols of functions that are not exported.
 */
#ifndef SYM_MAPPED_H
#define SYM_MAPPED_H

#include <stdint.h>

#include "base/err.h"

/*
 * A descriptor of a file in memory, to be closed, with what process pid has mapped of the file with that
 * inode and path; its section table names the dynamic symbols alone. Negative: it cannot be read, or is
 * not an ELF file of 64 bits.
 */
int mapped_open(int pid, uint64_t inode, const char *path, struct err *e);

#endif
