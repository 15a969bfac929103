/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tallies.h - what JVMs count of themselves, in the heads of reports of what was recorded of that. */
#ifndef REPORT_TALLIES_H
#define REPORT_TALLIES_H

#include <stdio.h>

#include "base/json.h"
#include "model/select.h"
#include "model/tallies.h"

/* Print tallies of a kind (enum tally_kind), of the processes selected: a line each; the array "counted". */
void tallies_put(const struct tallies *t, uint32_t kind, const struct selection *select, FILE *out);
void tallies_json(const struct tallies *t, uint32_t kind, const struct selection *select, struct json *j);

#endif
