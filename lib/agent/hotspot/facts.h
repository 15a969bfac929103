/* SPDX-License-Identifier: MIT */
/*
 * facts.h - which of the facts of jvm/facttable.h this VM has. What it exports is known from vm_init() on;
 * what is in Java, or has to be tried, once the VM is up. Until then it counts as there.
 */
#ifndef AGENT_FACTS_H
#define AGENT_FACTS_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/facts.h"

/* Enter a row of the VM's tables, for vm_init(). field is NULL for a constant, whose name is type. */
void facts_exported(const char *type, const char *field, int64_t value);
/*
 * Returns whether a fact is missing that the feature rests on, and the first: type, name or NULL. For
 * signal handlers too, but it takes some microseconds.
 */
bool facts_lack(enum facts_feature feature, const char **type, const char **name);
/* Asks the VM, which is up, for what it does not export of the feature. Not in a signal handler. */
void facts_ask(JNIEnv *env, enum facts_feature feature);
/* Keeps what a trial has shown. */
void facts_tried(enum facts_probe probe, bool holds);

struct jvm_ring;

/* Begin a session, in which nothing was reported yet. */
void facts_begin(void);
/*
 * Report, once in a session, that a fact of the feature is missing, with the type and name from
 * facts_lack(). ring is NULL except in signal handlers.
 */
void facts_tell(struct jvm_ring *ring, enum facts_feature feature, const char *type, const char *name);

#endif
