/* SPDX-License-Identifier: MIT */
/*
 * wall.h - samples of threads that wait: a thread of ours walks those that are blocked (jvm/wall.h), from
 * outside, so that none is disturbed.
 */
#ifndef AGENT_WALL_H
#define AGENT_WALL_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

struct link_go;

/* go->wall: its descriptors are closed. False: they cannot be used. */
bool wall_on(const struct link_go *go);
/* The VM is up; if it is on, threads are looked at from here on. */
void wall_live(JNIEnv *env);
/* Returns when none is looked at any more; false: one still is, after a long time. */
bool wall_off(void);

#endif
