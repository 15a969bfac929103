/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virtuals.h - the source "virtual": what virtual threads wait while they are on no carrier, as samples of
 * the source "wall". Agents tell of waits, each of which may stand for short ones, and at the end the sums:
 * what no sample stands for is written then, without a stack.
 */
#ifndef COLLECT_VIRTUALS_H
#define COLLECT_VIRTUALS_H

struct collect;
struct java;
struct jvm_virtual_total;
struct jvm_virtual_wait;
struct virtuals;

/* A file ends, or the recording: the records of what was told up to now. */
void virtuals_write(struct collect *c);

#endif
