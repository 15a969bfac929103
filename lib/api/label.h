/* SPDX-License-Identifier: MIT */
/* label.h - a record of labels as arcprof.Label makes them, which keeps them itself. */
#ifndef API_LABEL_H
#define API_LABEL_H

#include "api/recorder.h"

/*
 * From now on the calling thread has these labels, or (vthread not 0) the virtual thread that it carries.
 * nr: 1 at first, and one more each time, of each of them.
 */
void arcprof_label_put(const struct arcprof_recorder *m, uint32_t nr, uint64_t vthread, const char *text,
		       size_t len);

#endif
