/* SPDX-License-Identifier: MIT */
/*
 * journal.h - the agent without a recorder: it writes what it would tell one to a file (jvm/journal.h).
 *
 * What does not come from signal handlers is collected in memory; a thread of ours takes that and the rings
 * every few milliseconds and writes them, so that no thread of the program waits for a disk. What it cannot
 * keep up with is lost and counted. A child that the JVM forks writes nothing.
 */
#ifndef AGENT_JOURNAL_H
#define AGENT_JOURNAL_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#include "agent/session/options.h"

/* Called in place of link_connect(). Return the VM's flags (enum jvm_flags), or -1 and *why. */
int journal_open(const struct options *w, struct message *why);
/* Start the thread that writes; called once the VM is up. */
void journal_live(JNIEnv *env);
/* Return the period of CPU time samples, or 0. */
uint64_t journal_timer_ns(void);
/* Report the open waits for locks. Called at the end, while everything still works. */
void journal_end_waits(void);
/*
 * Write the rest and close the file; log_close() comes before. *said: what was lost or could not be written,
 * or empty. Does nothing when no journal is open.
 */
void journal_close(struct message *said);
/* Add a record for the log, with its header; false: it is lost. For ring.c, which holds its lock. */
bool journal_record(const void *rec, size_t size);
/* Write a line to stderr. */
void journal_say(const struct message *t);

#endif
