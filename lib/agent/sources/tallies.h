/* SPDX-License-Identifier: MIT */
/* tallies.h - what the VM counts of itself, in its performance data, beside what is recorded of that. */
#ifndef AGENT_TALLIES_H
#define AGENT_TALLIES_H

/* Tell those of what the recorder asks for now. The VM is up. */
void tallies_tell(void);

#endif
