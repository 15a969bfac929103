/* SPDX-License-Identifier: MIT */
/*
 * agent.h - the parts of the agent that are neither walker nor VM knowledge: the trap
 * handler, the JVMTI events, the conversation with the recorder.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* sample.c: the SIGTRAP handler. */
bool sample_init(void);
bool sample_install(void);
/* Compile ids that were seen on stacks or announced, to find those that were never announced. */
void sample_code_announced(uint32_t compile_id);
uint32_t sample_nr_unannounced(void);
bool sample_code_is_announced(uint32_t compile_id);

/* events.c: JVMTI events; false when the VM refuses what names need. */
bool events_init(JavaVM *vm, jvmtiEnv *ti);

/* link.c: the socket. Returns the VM's flags (enum jvm_flags) or -1: stay inert. */
int link_connect(const char *path);
bool link_ready_and_wait(void);

#endif
