/* SPDX-License-Identifier: MIT */
/*
 * image.h - class files built here, byte by byte (JVMS 4): for the classes that the agent adds to a JVM.
 */
#ifndef AGENT_IMAGE_H
#define AGENT_IMAGE_H

#include "agent/sys.h"

enum {
	CP_UTF8 = 1,
	CP_CLASS = 7,
	CP_METHOD = 10,
	CP_NAME_AND_TYPE = 12,
	ACC_PUBLIC = 0x0001,
	ACC_STATIC = 0x0008,
	ACC_FINAL = 0x0010,
	ACC_SUPER = 0x0020,
	ACC_NATIVE = 0x0100,
	OP_RETURN = 0xb1,
	OP_INVOKESTATIC = 0xb8,
};

struct image {
	uint8_t data[2048];
	size_t len;
};

static inline void u1(struct image *c, uint8_t v)
{
	c->data[c->len++] = v;
}

static inline void u2(struct image *c, uint16_t v)
{
	u1(c, v >> 8);
	u1(c, v);
}

static inline void u4(struct image *c, uint32_t v)
{
	u2(c, v >> 16);
	u2(c, v);
}

static inline void utf8(struct image *c, const char *s)
{
	size_t len = str_len(s);

	u1(c, CP_UTF8);
	u2(c, len);
	memcpy(c->data + c->len, s, len);
	c->len += len;
}

static inline void pair(struct image *c, uint8_t tag, uint16_t a, uint16_t b)
{
	u1(c, tag);
	u2(c, a);
	u2(c, b);
}

/*
 * Begin a class file: constants 1 to 4 are the class and its superclass; more follow up to nr_constants - 1.
 */
static inline void image_begin(struct image *c, uint16_t version, const char *name, uint16_t nr_constants)
{
	c->len = 0;
	u4(c, 0xcafebabe);
	u2(c, 0);
	u2(c, version);
	u2(c, nr_constants);
	utf8(c, name);
	u1(c, CP_CLASS);
	u2(c, 1);
	utf8(c, "java/lang/Object");
	u1(c, CP_CLASS);
	u2(c, 3);
}

/* Begin the methods of a class without interfaces and fields. */
static inline void image_methods(struct image *c, uint16_t nr)
{
	u2(c, ACC_PUBLIC | ACC_FINAL | ACC_SUPER);
	u2(c, 2);
	u2(c, 4);
	u2(c, 0);
	u2(c, 0);
	u2(c, nr);
}

static inline void image_native(struct image *c, uint16_t name, uint16_t type)
{
	u2(c, ACC_PUBLIC | ACC_STATIC | ACC_NATIVE);
	u2(c, name);
	u2(c, type);
	u2(c, 0);
}

#endif
