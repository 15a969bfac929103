/* SPDX-License-Identifier: GPL-2.0-or-later */
/* epilogue.h - rules read from the code itself, where a file has none. */
#ifndef UNWIND_EPILOGUE_H
#define UNWIND_EPILOGUE_H

#include "unwind/module.h"

/*
 * Return the rules at file offset off (of the instruction that runs next; at_call: when the call before
 * it returns), found by following the code to the function's return; NULL: no return found. Kept by m,
 * valid until the next call. They are a guess: the return address must be checked to follow a call.
 */
const struct row *epilogue_row(struct unwind_module *m, uint64_t off, bool at_call);

/*
 * Find how far above the stack pointer the CFA is, where rules count it from a register that is not
 * known. To do so, follow the code from the function's start to ra_off, the instruction that runs next;
 * off lies in the same function. Returns false if no way was found, or the stack pointer depends on more
 * than the code. x86-64 only.
 */
bool epilogue_cfa(struct unwind_module *m, uint64_t off, uint64_t ra_off, uint64_t *depth);

/*
 * Find the rules at the first of len bytes of x86-64 code, if a return follows without a jump; at_call: a
 * call is before them. Returns false if none does. They are a guess like those of epilogue_row().
 */
bool epilogue_near(const uint8_t *code, size_t len, bool at_call, struct rule_state *s);

#endif
