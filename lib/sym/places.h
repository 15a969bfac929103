/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * places.h - where files may be beside the paths that they have: in a folder that was named, in perf's
 * copies, at a server.  What is found there counts only if its build-id is the wanted one.
 *
 * One setting for the process, made before the first file is opened.
 */
#ifndef SYM_PLACES_H
#define SYM_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Look for paths below dir first, as if that were the root directory. Borrowed; NULL: none. */
void places_set_symfs(const char *dir);
const char *places_symfs(void);		/* "": none */

/*
 * Return where perf's copy of the file with that build-id ("elf", "debug") would be, or NULL. The caller
 * frees it.
 */
char *places_perf_copy(const uint8_t *id, size_t len, const char *kind);

/*
 * Return the path of what was stripped off the file with that build-id, which debuginfod-find fetches
 * from the servers in DEBUGINFOD_URLS; NULL: there are none, or they have none. The caller frees it. It
 * may take long: up to $DEBUGINFOD_TIMEOUT seconds, or half a minute, after which nothing is asked any
 * more. go_on is called meanwhile and may end it; or NULL.
 */
char *places_fetch(const uint8_t *id, size_t len, bool (*go_on)(void *ctx), void *ctx);

#endif
