/* SPDX-License-Identifier: GPL-2.0-or-later */
/* library.h - reads a trace as a program does that is linked with libarcprof.a. */
#ifndef FUZZ_LIBRARY_H
#define FUZZ_LIBRARY_H

#include <stddef.h>
#include <stdint.h>

/* Reads all rows of all tables, and aborts if they contradict each other. */
void library_read(const uint8_t *data, size_t len);

#endif
