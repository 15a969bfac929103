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

/* Number the methods anew, for another recorder, which has not seen the names. */
void numbers_forget(void);
/* Return the method's number, 0 without memory. Texts longer than JVM_MAX_STRING are truncated. */
uint32_t numbers_get(struct names_method *m);
/* Return the number from numbers_get(), 0 if there is none. */
uint32_t numbers_find(const struct names_method *m);
/* Report a selected method, or with an empty name a class, that has no probes. */
void numbers_refused(struct names_method *m, const char *why);

#endif
