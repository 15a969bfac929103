/* SPDX-License-Identifier: MIT */
/*
 * class.h - the constant pool of a class file: what it has, and what is added to it.
 *
 * Constants are named by their index. An index from the file may be anything; the functions that
 * take one answer with nothing (length 0, index 0) unless it is of the kind they ask for.
 */
#ifndef CLASSFILE_CLASS_H
#define CLASSFILE_CLASS_H

#include "classfile/bytes.h"
#include "classfile/rewrite.h"

enum {
	CONSTANT_UTF8 = 1,
	CONSTANT_INTEGER = 3,
	CONSTANT_FLOAT = 4,
	CONSTANT_LONG = 5,
	CONSTANT_DOUBLE = 6,
	CONSTANT_CLASS = 7,
	CONSTANT_STRING = 8,
	CONSTANT_FIELDREF = 9,
	CONSTANT_METHODREF = 10,
	CONSTANT_INTERFACE_METHODREF = 11,
	CONSTANT_NAME_AND_TYPE = 12,
	CONSTANT_METHOD_HANDLE = 15,
	CONSTANT_METHOD_TYPE = 16,
	CONSTANT_DYNAMIC = 17,
	CONSTANT_INVOKE_DYNAMIC = 18,
	CONSTANT_MODULE = 19,
	CONSTANT_PACKAGE = 20,
};

struct pool {
	/* [nr_old]: tag byte of each, NULL for 0 and the second half of long and double */
	const uint8_t **at;
	uint32_t nr_old;	/* constant_pool_count of the file */
	uint32_t nr;		/* with what was added */
	struct writer added;
};

/* Reads the pool at r (its count first); r is past it afterwards. */
enum classfile_reason pool_read(struct pool *p, struct reader *r, const struct memory *mem);

/*
 * Search the pool without memory: *at becomes a reader of constant idx and all after it; of what follows the
 * pool for UINT32_MAX. Returns false if there is no such constant.
 */
bool pool_seek(struct reader pool, uint32_t idx, struct reader *at);

/* Return the tag of a constant of the file, 0 if there is none. */
uint32_t pool_tag(const struct pool *p, uint32_t idx);
struct classfile_text pool_utf8(const struct pool *p, uint32_t idx);
/* Name of a Class (also of a Module or Package). */
struct classfile_text pool_class_name(const struct pool *p, uint32_t idx);
/* Name and descriptor of a field, method, dynamic constant or call site. */
struct classfile_text pool_ref_name(const struct pool *p, uint32_t idx);
struct classfile_text pool_ref_type(const struct pool *p, uint32_t idx);
/* Return the Class of a field or method, or 0 if it is none, or has no class. */
uint32_t pool_ref_class(const struct pool *p, uint32_t idx);

/* Add a constant and return its index, 0 when the pool is full. */
uint32_t pool_add_utf8(struct pool *p, const char *s, size_t len);
uint32_t pool_add_class(struct pool *p, const char *name, size_t len);
uint32_t pool_add_integer(struct pool *p, int32_t v);
uint32_t pool_add_pair(struct pool *p, uint32_t tag, uint32_t a, uint32_t b);

bool text_is(struct classfile_text t, const char *s);
size_t text_len(const char *s);

/*
 * Return whether attr, the contents of a RuntimeVisibleAnnotations, has @IntrinsicCandidate (JDK 16) or
 * @HotSpotIntrinsicCandidate (JDK 9). One after an annotation whose elements are not constants is not found.
 */
bool annotations_have_intrinsic(const struct pool *p, struct reader attr);

#endif
