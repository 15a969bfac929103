/* SPDX-License-Identifier: MIT */
/* searches.h - what class loaders in Java do before they ask the VM for a class, as lines in its log. */
#ifndef AGENT_SEARCHES_H
#define AGENT_SEARCHES_H

/* log: the file that the VM's log is written to. Lines are in order with those of the same thread. */
void searches_on(const char *log);
void searches_off(void);

#endif
