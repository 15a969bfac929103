/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.h - prints pictures of threads: of "arcprof threads" and "arcprof ctl threads". */
#ifndef THREADS_H
#define THREADS_H

#include <stdio.h>

#include "jvm/threads.h"

/* format: one of FORMATS_THREADS. */
void threads_print(const struct threads *t, int pid, int format, FILE *out);
/* threads_hprof.c: the text that the JDK's old profiler wrote, without a head and a date. */
void threads_print_hprof(const struct threads *t, FILE *out);

/* "blocked", "parked" and so on, as bits of JVMTI's GetThreadState() say. */
const char *threads_state(uint32_t bits);

#endif
