/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log.h - the only way to stderr.  cmd/ calls it; lib/ returns struct err instead.
 *
 * Every line starts "arcprof <command>: ".  What a message quotes is escaped as quote.h has it.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/err.h"

void log_set_command(const char *name);		/* borrowed for the life of the process */
void log_set_verbosity(int level);		/* -1 quiet, 0 normal, 1 verbose */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	/* not when quiet */
void log_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints e's message and hint; returns the exit status 1. */
int log_err(const struct err *e);

#endif
