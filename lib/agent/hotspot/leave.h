/* SPDX-License-Identifier: MIT */
/*
 * leave.h - from code of HotSpot's to its caller where that is the CPU's business (leave.c of each CPU).
 * Those that return true have put the cursor into the caller; false: it was not found.
 */
#ifndef AGENT_LEAVE_H
#define AGENT_LEAVE_H

#include "agent/hotspot/cursor.h"
#include "agent/hotspot/walk_native.h"

/*
 * Handle the interpreter where the frame that the cursor's fp points to is not that of the running
 * method, but its caller's. Returns whether that is so; *left says whether the caller was found.
 */
bool leave_frameless_interpreter(struct walk *w, struct cursor *c, bool *left);
/* Leave the innermost frame, in the interpreter's code, when fp points to no frame of its own. */
bool leave_leaf_interpreter(struct walk *w, struct cursor *c);

bool leave_nmethod(struct walk *w, struct cursor *c, const struct vm_blob *b, bool native);
/*
 * Go to the caller when pc, innermost, is in the stub at the end of the method in b, by which a call goes to
 * the interpreter.
 */
bool leave_call_stub(struct walk *w, struct cursor *c, const struct vm_blob *b);
/*
 * Return whether the thread was interrupted where the method's own frame is built or removed:
 * there the compiler describes the next thing that it did instead.
 */
bool leave_is_at_frame(const struct cursor *c, const struct vm_blob *b);

bool leave_stub(struct walk *w, struct cursor *c, const struct vm_blob *b);
/*
 * Go to the caller of the stub at the cursor, in b and innermost, which the VM called; f: where in libjvm the
 * stub returns to.
 */
bool leave_to_vm(const struct walk *w, const struct cursor *c, const struct vm_blob *b,
		 struct native_frame *f);
/* Do the same for call_stub, with its frame not yet built or already gone. */
bool leave_half_entered(const struct walk *w, const struct cursor *c, struct native_frame *f);

/* Return whether a call, or what stands for one, precedes pc in a blob that ends there. */
bool leave_is_called(uintptr_t pc, uintptr_t blob_end);

#endif
