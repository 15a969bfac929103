/* SPDX-License-Identifier: MIT */
/* stack.h - stacks that JVMTI has walked, as records have them. */
#ifndef AGENT_STACK_H
#define AGENT_STACK_H

#include <jvmti.h>
#include <stdint.h>

enum { STACK_MAX_FRAMES = 1024 };

/*
 * Write nr frames, innermost first, to text[JVM_MAX_LINES]: pairs of a method and how often it repeats;
 * deeper ones that do not fit are left out. New methods are sent to the log. Returns the bytes; *cut:
 * there may be more frames.
 */
uint32_t stack_put(jvmtiEnv *ti, const jvmtiFrameInfo *frames, jint nr, uint8_t *text, uint32_t *cut);

#endif
