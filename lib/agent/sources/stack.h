/* SPDX-License-Identifier: MIT */
/* stack.h - stacks that JVMTI has walked, as records have them. */
#ifndef AGENT_STACK_H
#define AGENT_STACK_H

#include <jvmti.h>
#include <stdint.h>

enum { STACK_MAX_FRAMES = 1024 };

/*
 * Write nr frames, innermost first, to text[JVM_MAX_LINES]: pairs of a method and its repetitions, without
 * the outer ones that do not fit. New methods are sent to the log. Returns the length; *cut: frames may be
 * missing.
 */
uint32_t stack_put(jvmtiEnv *ti, const jvmtiFrameInfo *frames, jint nr, uint8_t *text, uint32_t *cut);

#endif
