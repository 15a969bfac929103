/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip.h - a stream that compresses what is written to it (RFC 1952). */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include <stdio.h>

#include "base/err.h"

/*
 * What is written to the stream goes to out, compressed; fclose() writes the rest and leaves out open.
 * Whether out could be written is for the owner of out to find out.  NULL and *e: no memory.
 */
FILE *gzip_open(FILE *out, struct err *e);

#endif
