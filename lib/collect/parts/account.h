/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * account.h - what the kernel charged the threads of a recording, against which the samples of a clock are
 * measured: no sampler knows what it has not seen.
 *
 * Of each thread: from BPF when it ends, where that is allowed; else from /proc, of those that live at the
 * end. The trace gets a record of each, and the total as label "account.cpu_ns". It is kept where all CPU
 * time from the first to the last moment was to be sampled.
 */
#ifndef COLLECT_PARTS_ACCOUNT_H
#define COLLECT_PARTS_ACCOUNT_H

struct collect;
struct rusage;

/* Just before the program is let go, or sampling of what runs already begins. */
void cpu_account_begin(struct collect *c);
/*
 * After the recording, before the last labels are written: compares, in c->res. used: by the program that was
 * started, NULL without one, or if it goes on.
 */
void cpu_account_end(struct collect *c, const struct rusage *used);

#endif
