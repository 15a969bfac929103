/* SPDX-License-Identifier: GPL-2.0-or-later */
/* area.h - what the back ends that write slots share: from a session's memory to a snapshot. */
#ifndef PTT_AREA_H
#define PTT_AREA_H

#include "api/area.h"
#include "ptt/ptt.h"

int ptt_area_open(enum arcprof_source source, void **session, struct err *e);
int ptt_area_read(void *session, struct ptt_snapshot *s, struct err *e);
bool ptt_area_counter(void *session, size_t i, char *name, size_t size);
void ptt_area_close(void *session);

#endif
