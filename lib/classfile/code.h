/* SPDX-License-Identifier: MIT */
/*
 * code.h - a method's code: its instructions, where they go, the types they see, its stack maps.
 *
 * "pc" is a position in the code as it was, "at" one in the code as it becomes.
 */
#ifndef CLASSFILE_CODE_H
#define CLASSFILE_CODE_H

#include "classfile/class.h"

enum {
	OP_ACONST_NULL = 0x01,
	OP_ICONST_M1 = 0x02,
	OP_BIPUSH = 0x10,
	OP_SIPUSH = 0x11,
	OP_LDC = 0x12,
	OP_LDC_W = 0x13,
	OP_LDC2_W = 0x14,
	OP_ILOAD = 0x15,
	OP_ALOAD = 0x19,
	OP_ALOAD_0 = 0x2a,
	OP_ALOAD_3 = 0x2d,
	OP_AALOAD = 0x32,
	OP_ILOAD_1 = 0x1b,
	OP_LLOAD_1 = 0x1f,
	OP_ISTORE = 0x36,
	OP_ASTORE = 0x3a,
	OP_ISTORE_0 = 0x3b,
	OP_ASTORE_0 = 0x4b,
	OP_ASTORE_3 = 0x4e,
	OP_DUP = 0x59,
	OP_DUP_X1 = 0x5a,
	OP_DUP_X2 = 0x5b,
	OP_DUP2 = 0x5c,
	OP_DUP2_X1 = 0x5d,
	OP_DUP2_X2 = 0x5e,
	OP_SWAP = 0x5f,
	OP_IINC = 0x84,
	OP_L2I = 0x88,
	OP_IFEQ = 0x99,
	OP_IF_ACMPNE = 0xa6,
	OP_GOTO = 0xa7,
	OP_JSR = 0xa8,
	OP_RET = 0xa9,
	OP_TABLESWITCH = 0xaa,
	OP_LOOKUPSWITCH = 0xab,
	OP_IRETURN = 0xac,
	OP_RETURN = 0xb1,
	OP_GETSTATIC = 0xb2,
	OP_PUTSTATIC = 0xb3,
	OP_GETFIELD = 0xb4,
	OP_PUTFIELD = 0xb5,
	OP_INVOKEVIRTUAL = 0xb6,
	OP_INVOKESPECIAL = 0xb7,
	OP_INVOKESTATIC = 0xb8,
	OP_INVOKEINTERFACE = 0xb9,
	OP_INVOKEDYNAMIC = 0xba,
	OP_NEW = 0xbb,
	OP_NEWARRAY = 0xbc,
	OP_ANEWARRAY = 0xbd,
	OP_ATHROW = 0xbf,
	OP_CHECKCAST = 0xc0,
	OP_MONITORENTER = 0xc2,
	OP_MONITOREXIT = 0xc3,
	OP_WIDE = 0xc4,
	OP_MULTIANEWARRAY = 0xc5,
	OP_IFNULL = 0xc6,
	OP_IFNONNULL = 0xc7,
	OP_GOTO_W = 0xc8,
	OP_JSR_W = 0xc9,
};

static inline bool op_is_if(uint32_t op)
{
	return (op >= OP_IFEQ && op <= OP_IF_ACMPNE) || op == OP_IFNULL || op == OP_IFNONNULL;
}

static inline bool op_is_return(uint32_t op)
{
	return op >= OP_IRETURN && op <= OP_RETURN;
}

/* Jumps with an offset of 16 bits. */
static inline bool op_is_short_jump(uint32_t op)
{
	return op_is_if(op) || op == OP_GOTO || op == OP_JSR;
}

static inline bool op_is_switch(uint32_t op)
{
	return op == OP_TABLESWITCH || op == OP_LOOKUPSWITCH;
}

/* Return whether what follows it in the code is not reached from it. */
static inline bool op_ends_block(uint32_t op)
{
	return op == OP_GOTO || op == OP_GOTO_W || op == OP_RET || op_is_switch(op) || op_is_return(op) ||
	       op == OP_ATHROW;
}

/* A Code attribute (JVMS 4.7.3), checked for its own bounds only. */
struct code {
	uint32_t max_stack, max_locals;
	uint32_t len;			/* 1 to 65535 */
	const uint8_t *bytes;
	uint32_t nr_handlers;
	const uint8_t *handlers;	/* eight bytes each: start, end, handler, type */
	uint32_t nr_attrs;
	struct reader attrs;
	struct reader frames;		/* what a verifier by type checking will look at: after the count */
	bool has_frames;
	uint32_t nr_frames;
	/* of its method and class */
	bool is_static;
	bool is_constructor;		/* "this" needs super() or this() */
	uint32_t version;
	uint32_t this_class;		/* constant */
	struct classfile_text descriptor;
	const struct pool *pool;
	const uint8_t *file;		/* the class file, to name descriptors by their place in it */
};

/* Reads the attribute at r; false: it makes no sense. The members of method and class are the caller's. */
bool code_read(struct code *c, struct reader r);

/* Return the length of the instruction at pc; 0: there is none. */
uint32_t insn_len(const struct code *c, uint32_t pc);

/*
 * Return the jumps of an instruction, switches included: the n-th offset from its pc, n from 0, default
 * first. The instruction has been checked by layout_init().
 */
uint32_t insn_nr_jumps(const struct code *c, uint32_t pc);
int32_t insn_jump(const struct code *c, uint32_t pc, uint32_t n);

/* Memory of one method, used again for the next. */
struct scratch {
	const struct memory *mem;
	uint8_t *data;
	size_t used, alloc;
	size_t total;		/* given out for this method */
};

void scratch_reset(struct scratch *s);
/* Return zeroed memory, 8-aligned; NULL: none is left. */
void *scratch_get(struct scratch *s, size_t size);

/* Code to insert; len 0: nothing. */
struct snippet {
	uint8_t len;
	uint8_t bytes[8];
};

struct snippets {
	struct snippet entry;		/* first */
	struct snippet leave;		/* before each return */
	uint32_t thrown_this;		/* the class of what it wants in local 0; 0: nothing */
	struct snippet thrown;		/* of an exception that leaves the method, before it is thrown on */
	struct snippet caught;		/* first in handlers */
	/* in each basic block: pushes a number, which layout_write() fills in, and calls */
	struct snippet count;
	/* where calls are made from: as count, with a line or bytecode index; both have the same length */
	struct snippet line, bci;
	/* around instructions: */
	struct snippet before_lock, after_lock, before_unlock, after_wait, before_notify, before_notify_all;
	bool lock_sites;		/* there may be such */
	uint32_t frames_name;		/* constants: "StackMapTable", */
	uint32_t throwable, object;	/* Classes */
};

enum {
	LAYOUT_START = 1 << 0, LAYOUT_WIDE = 1 << 1, LAYOUT_CAUGHT = 1 << 2,
	LAYOUT_TARGET = 1 << 3,		/* something leads there but the instruction before */
	LAYOUT_AFTER_LOCK = 1 << 4,	/* it follows a monitorenter, and its snippet */
	LAYOUT_WAIT = 1 << 5,		/* a call of Object.wait(), */
	LAYOUT_NOTIFY = 1 << 6,		/* of Object.notify(), */
	LAYOUT_NOTIFY_ALL = 1 << 7,	/* of Object.notifyAll() */
};

/* A monitorexit: what leads out when its snippet throws gets the object from a local variable. */
struct unlock {
	uint32_t pc, local;
};

/*
 * The places of the instructions: after a probe for the entry, returns and handlers after one of their
 * own.
 */
struct layout {
	const struct code *code;
	const struct snippets *put;
	struct unlock *unlocks;	/* in the order of their pc */
	uint32_t nr_unlocks;
	uint8_t *flags;		/* [len + 1] of each pc: LAYOUT_... */
	/* [len + 1]; of an instruction with its probes; of a pc within it: the same */
	uint16_t *at;
	uint32_t len;		/* of the code without the handlers: where the first of them goes */
	/* [len + 1]: how many instructions the snippet "count" in front of this one stands for; NULL: none */
	uint16_t *counts;
	/* [len + 1]: in the lower half what "line" or "bci" in front of this one tells; 0: there is none */
	const uint32_t *sites;		/* NULL: none at all */
	bool has_lines;			/* it is "line" */
	uint32_t nr_widened;
	bool has_wide_if;	/* such an instruction needs a stack map after it */
	/* what is wanted */
	bool watch_handlers;	/* probes in handlers too */
	bool widen_all;		/* every jump, even if it fits */
};

/* Prepare; code, put and what is wanted are the caller's. */
enum classfile_reason layout_init(struct layout *l, struct scratch *s);

/* sites.c: finds where places are to be stored, given how many handlers watch each pc from before. */
enum classfile_reason sites_find(struct layout *l, const uint32_t *watched, struct scratch *s);

static inline bool layout_is_start(const struct layout *l, uint32_t pc)
{
	return pc < l->code->len && (l->flags[pc] & LAYOUT_START);
}

/* Return the length of what is inserted before the instruction, however it is reached. */
static inline uint32_t layout_len_before(const struct layout *l, uint32_t pc)
{
	return (l->flags[pc] & LAYOUT_CAUGHT ? l->put->caught.len : 0) +
	       (l->counts && l->counts[pc] ? l->put->count.len : 0) +
	       (l->sites && l->sites[pc] ? l->put->line.len : 0);
}

/* Return where the instruction itself stands, or before a return the probe of the exit. */
static inline uint32_t layout_insn_at(const struct layout *l, uint32_t pc)
{
	return l->at[pc] + layout_len_before(l, pc);
}

/* Return where a range of instructions begins or ends for pc: what follows a monitorenter is in it. */
static inline uint32_t layout_range_at(const struct layout *l, uint32_t pc)
{
	return l->at[pc] - (l->flags[pc] & LAYOUT_AFTER_LOCK ? l->put->after_lock.len : 0);
}

void layout_write(const struct layout *l, struct writer *w);

/* Return the length of a handler: its probe, and the throw. */
static inline uint32_t layout_handler_len(const struct layout *l)
{
	return l->put->thrown.len + 1;
}
void layout_write_handler(const struct layout *l, struct writer *w);

/*
 * Return LAYOUT_WAIT if the instruction calls a wait() of java.lang.Object; LAYOUT_NOTIFY or
 * LAYOUT_NOTIFY_ALL for these methods of it; 0 if it does something else.
 */
uint32_t insn_signals(const struct code *c, uint32_t pc);

/* The code that the two handlers cover. */
enum cover {
	COVER_NOTHING,
	COVER_UNINIT,	/* before super() or this(): by a handler that declares "this" uninitialised */
	COVER_ALL,	/* by one that needs no local variable */
	NR_COVERS,
};

struct range {
	uint32_t start_at, end_at;
	enum cover cover;
};

/*
 * The target of an exception in the snippet of a monitorexit: it gives the local's object back, and
 * throws on.
 */
struct way_out {
	uint32_t local, at;
};

struct guard {
	struct range *range;
	uint32_t nr_ranges;
	uint32_t handler_at[NR_COVERS];	/* 0: that handler is not needed */
	uint32_t nr_handlers;
	struct way_out *ways;		/* after the handlers, by local */
	uint32_t nr_ways;
	uint32_t end_at;		/* of all the code */
};

void frames_write_way(uint32_t local, struct writer *w);
/* Return the way out of that local. */
const struct way_out *frames_way(const struct guard *g, uint32_t local);

/*
 * Find the ranges that the handlers are to watch, and the stack maps that go with the code. The count and
 * the entries of a StackMapTable are left in w, nothing when the code needs none.
 */
enum classfile_reason frames_write(const struct layout *l, struct pool *pool, struct scratch *s,
				   struct guard *g, struct writer *w);

#endif
