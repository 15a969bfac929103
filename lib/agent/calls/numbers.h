/* SPDX-License-Identifier: MIT */
/*
 * numbers.h - numbers of instrumented methods: one for each class, name and signature, however
 * often the class is loaded, and what could not be instrumented.
 *
 * Not for signal handlers; any thread.
 */
#ifndef AGENT_NUMBERS_H
#define AGENT_NUMBERS_H

#include "agent/hotspot/names.h"

/* For another recorder, who has not seen the names. */
void numbers_forget(void);
/* 0: out of memory. Texts longer than JVM_MAX_STRING are truncated. */
uint32_t numbers_get(struct names_method *m);
/* The number that numbers_get() gave; 0: none. */
uint32_t numbers_find(const struct names_method *m);
/* A method, or with an empty name a class, that was asked for and has no probes. */
void numbers_refused(struct names_method *m, const char *why);

#endif
