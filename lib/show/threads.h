/* SPDX-License-Identifier: GPL-2.0-or-later */
/* threads.h - prints pictures of threads: of "arcprof threads" and "arcprof ctl threads". */
#ifndef SHOW_THREADS_H
#define SHOW_THREADS_H

#include <stdio.h>

#include "base/json.h"
#include "report/sheet.h"
#include "threads/natives.h"

/* format: one of FORMATS_THREADS; choice: of CSV, which alone is a table. */
void threads_print(const struct picture *p, int format, const struct sheet_choice *choice, FILE *out);
/* threads_hprof.c: print the text that the JDK's old profiler wrote, without a head and a date. */
void threads_print_hprof(const struct threads *t, FILE *out);
/* threads_native.c: print threads that are not Java's; for a sheet, add rows. */
void threads_text_natives(const struct natives *n, FILE *out);
void threads_json_natives(const struct natives *n, struct json *j);
void threads_csv_natives(const struct natives *n, struct sheet *s);

/* Return "blocked", "parked" and so on, as bits of JVMTI's GetThreadState() say. */
const char *threads_state(uint32_t bits);

#endif
