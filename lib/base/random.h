/* SPDX-License-Identifier: GPL-2.0-or-later */
/* random.h - bytes that nobody can guess. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* By getrandom(), or from /dev/urandom where a system call filter forbids it. -EIO: by neither. */
int random_bytes(void *bytes, size_t size);

#endif
