/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reports.h - every report that arcprof makes of a trace, as its command line makes it. */
#ifndef FUZZ_REPORTS_H
#define FUZZ_REPORTS_H

#include <stddef.h>
#include <stdint.h>

size_t reports_nr(void);
/* Makes report i (modulo their number) of the trace and throws it away. */
void reports_run(const uint8_t *data, size_t len, size_t i);

#endif
