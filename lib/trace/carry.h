/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * carry.h - what the files of one recording have in common, each of which is to be read alone: records that
 * say what numbers stand for, as they were written, until what they name is gone. In each file they are
 * written again when something in it needs them, once, before it.
 *
 * Labels are of every file. Of processes, threads and code that are gone, names are kept to the end of the
 * next file, for what comes late; methods and stubs of a process go with it, symbols and lines with their
 * module. Symbols are kept until they take more than CARRY_SYMBOLS_MAX, as they can be found again.
 *
 * The writer owns one (writer.c, meta.c); a recording of one file has none.
 */
#ifndef TRACE_CARRY_H
#define TRACE_CARRY_H

#include "trace/codec.h"

enum { CARRY_SYMBOLS_MAX = 64 << 20 };	/* bytes */

struct carry;

/* emit() gets each record that goes into the current file. */
struct carry *carry_new(void (*emit)(void *ctx, const void *record, size_t len), void *ctx);
void carry_free(struct carry *c);

/*
 * Begin a new file: what is gone is dropped, and labels are emitted. Returns whether symbols were dropped,
 * too, so that all addresses are unknown; symbols: they must be.
 */
bool carry_next(struct carry *c, bool symbols);

/* Emits what the record, about to be written, refers to. */
void carry_needs(struct carry *c, enum record_number kind, const void *rec);
/* Emit what samples and stacks refer to, in the same way. */
void carry_thread(struct carry *c, uint32_t thread);
void carry_frame(struct carry *c, const struct frame *f);
/* Emit the symbol of a module that begins there, and the lines of an address in it. */
void carry_symbol(struct carry *c, uint32_t module, uint64_t sym_off, uint64_t off);
/* Return whether the current file has that symbol. */
bool carry_has_symbol(const struct carry *c, uint32_t module, uint64_t sym_off);

/* Keep an encoded record, whose struct is rec; in_file: it is in the current file. */
void carry_keep(struct carry *c, enum record_number kind, const void *rec, const void *record, size_t len,
		bool in_file);
void carry_keep_label(struct carry *c, const char *key, const void *record, size_t len, bool in_file);

void carry_forget_proc(struct carry *c, uint32_t proc);
/* Forget the module with its symbols and lines. */
void carry_forget_module(struct carry *c, uint32_t module);
void carry_forget_function(struct carry *c, uint32_t function);
void carry_forget_thread(struct carry *c, uint32_t thread);

/* Return how much memory the kept records take. */
size_t carry_bytes(const struct carry *c);

#endif
