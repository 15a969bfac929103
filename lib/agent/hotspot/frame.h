/* SPDX-License-Identifier: MIT */
/*
 * frame.h - registers, and where frames of the JVM's code have what, on this CPU. Offsets are bytes from the
 * frame pointer, which points to the caller's, below the return address:
 *
 *	INTERP_*	of the interpreter
 *	ENTRY_*		of call_stub, by which C++ calls Java
 *
 * A compiled frame has them at the end of its frame_size words.
 */
#ifndef AGENT_FRAME_H
#define AGENT_FRAME_H

#ifdef __x86_64__
#include "agent/x86/frame.h"
#else
#include "agent/arm64/frame.h"
#endif

#endif
