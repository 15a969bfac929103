/* SPDX-License-Identifier: GPL-2.0-or-later */
/* languages.h - names of D, OCaml and Fortran; demangle.h is the way in. */
#ifndef SYM_LANGUAGES_H
#define SYM_LANGUAGES_H

#include <stdbool.h>

#include "base/buf.h"

/* Append the readable name; false (and *out as it was): not such a name, or damaged. */
bool dlang_demangle(const char *name, struct buf *out);		/* _D... */
bool ocaml_demangle(const char *name, struct buf *out);		/* camlModule__function_123 */
bool fortran_demangle(const char *name, struct buf *out);	/* __module_MOD_procedure */

#endif
