/* SPDX-License-Identifier: MIT */
/*
 * types.h - the types on the operand stack and in local variables, one instruction after another
 * (the verifier's "verification types", JVMS 4.10.1.2), for two questions that the class file does
 * not answer: whether "this" is initialised yet, and what a new stack map must say.
 *
 * The code has passed or will pass a verifier: nothing is checked but what keeps this code itself
 * within its arrays.
 */
#ifndef CLASSFILE_TYPES_H
#define CLASSFILE_TYPES_H

#include "classfile/code.h"

/* The numbers up to TYPE_UNINIT are those of the file format. */
enum {
	TYPE_TOP, TYPE_INT, TYPE_FLOAT, TYPE_DOUBLE, TYPE_LONG, TYPE_NULL, TYPE_UNINIT_THIS,
	TYPE_OBJECT,		/* ref: Class constant */
	TYPE_UNINIT,		/* ref: pc of its "new" */
	TYPE_SECOND,		/* second word of a double or long */
	TYPE_DESCRIPTOR,	/* ref: where in the file "Lname;" or "[..." stands */
	TYPE_ARRAY_OF,		/* ref: Class constant of the elements */
	TYPE_PRIMITIVE_ARRAY,	/* ref: the letter, I of [I */
	TYPE_KNOWN,		/* ref: an index into known classes */
};

enum { KNOWN_STRING, KNOWN_CLASS, KNOWN_METHOD_HANDLE, KNOWN_METHOD_TYPE, KNOWN_THROWABLE };

struct type {
	uint32_t tag;
	uint32_t ref;
};

struct types {
	const struct code *code;
	struct type *stack;		/* [code->max_stack], words */
	struct type *locals;		/* [code->max_locals] */
	uint32_t nr_stack, nr_locals;	/* locals beyond are TYPE_TOP */
	bool uninit_this;		/* super() or this() is still to be called */
};

bool types_init(struct types *t, const struct code *c, struct scratch *s);
void types_copy(struct types *to, const struct types *from);
/* Set the types with which a method of this kind and descriptor starts. False: more arguments than locals. */
bool types_enter(struct types *t);
/* Step over the instruction at pc, as if it ran. Returns false if it does not fit the types. */
bool types_step(struct types *t, uint32_t pc);

/* Push a type of one word, or both words of a long or double. Returns false without room. */
bool types_push(struct types *t, uint32_t tag, uint32_t ref);
/* Append a local variable to those known, for stack maps. */
bool types_append_local(struct types *t, struct type type);

/* Return the Class constant that names a type of reference, adding one if need be. 0: the pool is full. */
uint32_t types_class(const struct types *t, struct type type, struct pool *pool, struct scratch *s);

#endif
