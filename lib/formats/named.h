/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named.h - formats that are not imported but have a name: a file of one is refused by it, with what to do.
 */
#ifndef FORMATS_NAMED_H
#define FORMATS_NAMED_H

#include <stddef.h>

#include "base/err.h"

/*
 * Says what the file, of which these are the first bytes or all, is, or why it is nothing that is known.
 * Always fails: -EINVAL, or -EOPNOTSUPP for what is known.
 */
int import_refuse(const char *data, size_t len, struct err *e);

#endif
