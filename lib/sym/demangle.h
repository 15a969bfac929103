/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle.h - linkage names of C++, Rust (legacy and v0), D, OCaml and Fortran to what the source says. */
#ifndef SYM_DEMANGLE_H
#define SYM_DEMANGLE_H

#include "base/buf.h"

/* Appends the readable name, or the name itself when it is not mangled. */
void demangle(const char *name, struct buf *out);

#endif
