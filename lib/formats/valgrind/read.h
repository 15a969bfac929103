/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read.h - a function as valgrind's massif and dhat write it: "0x10919B: fill (tree.c:12)".
 */
#ifndef FORMATS_VALGRIND_READ_H
#define FORMATS_VALGRIND_READ_H

#include "formats/sink.h"

/* Return the frame of such a text. */
struct frame valgrind_frame(struct import *im, struct import_text t);

#endif
