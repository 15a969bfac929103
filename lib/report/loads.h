/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loads.h - what --classes and --gc show below their rows, in text and JSON. */
#ifndef REPORT_LOADS_H
#define REPORT_LOADS_H

#include "report/events.h"

/* Of classes: which methods they were loaded for, and which took longest. */
void loads_put(const struct events *v, struct sheet *s);
/* Of safepoints: which threads were last, if that was recorded. */
void lasts_put(const struct events *v, struct sheet *s);

#endif
