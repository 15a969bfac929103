/* SPDX-License-Identifier: GPL-2.0-or-later */
/* random.h - bytes that nobody can guess. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>

/* Use getrandom(), or /dev/urandom where a system call filter forbids it. Returns -EIO if both fail. */
int random_bytes(void *bytes, size_t size);

#endif
