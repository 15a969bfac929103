/* SPDX-License-Identifier: GPL-2.0-or-later */
/* described.h - rules of code that a runtime made in no module, as it describes them itself (unwind.h). */
#ifndef UNWIND_DESCRIBED_H
#define UNWIND_DESCRIBED_H

#include "unwind/module.h"

/* Return the rules at addr; NULL: none. Valid until the next unwind_described_add(). */
const struct row *described_row(const struct unwind_described *d, uint64_t addr);

#endif
