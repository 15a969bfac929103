/* SPDX-License-Identifier: MIT */
/*
 * locals.h - the local variables of a method that hold references, as its class file has them.
 *
 * Compilers write them when they are asked to (javac -g, as Maven and Gradle do). Freestanding, and the input
 * may be anything, as in rewrite.h.
 */
#ifndef CLASSFILE_LOCALS_H
#define CLASSFILE_LOCALS_H

#include "classfile/rewrite.h"

struct classfile_local {
	struct classfile_text name;		/* this, list */
	struct classfile_text descriptor;	/* Ljava/util/List; */
	uint16_t slot;
};

struct classfile_locals {
	const char *method, *descriptor;	/* main, ([Ljava/lang/String;)V */
	uint32_t line;				/* that the method is at; 0: not known */
	void *(*mem)(void *mem_ctx, size_t size);	/* as classfile_probe has it: called once */
	void *mem_ctx;
};

/*
 * Find up to max variables of references that exist in some instruction of that line, in the order of the
 * file. Returns their number, which may be more than max; 0 if there are none, or the class has no such
 * method or no table of variables. Texts are of the input.
 */
uint32_t classfile_locals(const void *in, size_t len, const struct classfile_locals *of,
			  struct classfile_local *out, uint32_t max);

#endif
