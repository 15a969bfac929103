/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rust.h - Rust's two manglings; demangle.h is the way in. */
#ifndef SYM_RUST_H
#define SYM_RUST_H

#include <stdbool.h>

#include "base/buf.h"

/* Append the readable name; false (and *out as it was): not such a name, or damaged. */
bool rust_demangle_legacy(const char *name, struct buf *out);	/* _ZN...17h<hash>E */
bool rust_demangle_v0(const char *name, struct buf *out);	/* _R... */

/* One code point as UTF-8; what is none becomes U+FFFD. */
void rust_put_utf8(struct buf *out, uint32_t c);

#endif
