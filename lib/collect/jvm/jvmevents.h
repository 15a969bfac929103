/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jvmevents.h - which events of JVMs "record -e NAME" records: not sampled, but all of them, each with its
 * time (trace/record.h, struct rec_event). Documentation/technical/events.adoc says where they come from.
 */
#ifndef COLLECT_JVMEVENTS_H
#define COLLECT_JVMEVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "collect/calls/refused.h"
#include "jvm/record.h"

/* Return the enum jvm_tell of a name, 0 if it is none. */
uint32_t jvmevents_named(const char *name);
/* Return these and those that they need. */
uint32_t jvmevents_with(uint32_t tell);
/* Return the set (enum jvm_tell) that an enum jvm_event_kind belongs to, or 0. */
uint32_t jvmevents_of(uint32_t kind);
/* Append the names of a set, separated by commas: the label "jvm_events". */
void jvmevents_names(uint32_t tell, struct buf *b);
/* Note that a process cannot report some events. */
void jvmevents_refused(struct refused *f, int pid, const struct jvm_no_event *r);

#endif
