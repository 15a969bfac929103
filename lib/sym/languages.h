/* SPDX-License-Identifier: GPL-2.0-or-later */
/* languages.h - names of Rust, D, OCaml and Fortran; demangle.h is the way in. */
#ifndef SYM_LANGUAGES_H
#define SYM_LANGUAGES_H

#include <stdbool.h>

#include "base/buf.h"

/* Append the readable name; false (and *out as it was): not such a name, or damaged. */
bool dlang_demangle(const char *name, struct buf *out);		/* _D... */
bool ocaml_demangle(const char *name, struct buf *out);		/* camlModule__function_123 */
bool fortran_demangle(const char *name, struct buf *out);	/* __module_MOD_procedure */

/* Demangle Rust's two manglings. */
bool rust_demangle_legacy(const char *name, struct buf *out);	/* _ZN...17h<hash>E */
bool rust_demangle_v0(const char *name, struct buf *out);	/* _R... */

/* Append one code point as UTF-8; an invalid one becomes U+FFFD. */
void rust_put_utf8(struct buf *out, uint32_t c);

#endif
