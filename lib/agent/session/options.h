/* SPDX-License-Identifier: MIT */
/*
 * options.h - what an agent without a recorder is to record, as its option says: "file=PATH,EVENT,...", or
 * what the JDK's old profiler took, "cpu=samples,heap=sites,depth=8,file=PATH".
 */
#ifndef AGENT_OPTIONS_H
#define AGENT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/proto.h"

struct options {
	char file[4096];	/* with %p replaced by the process's number */
	uint64_t sources, intervals[JVM_MAX_SOURCES], tell;	/* as jvm_ctl has them */
	uint64_t timer_ns;	/* 0: no samples of CPU time */
	uint64_t interval_ns;	/* HPROF's interval for it; 0: not given */
	uint64_t limit;		/* bytes of the file; 0: none */
	uint32_t rate;		/* as jvm_ctl has it */
	/* options of a text of HPROF, if any were given; depth 0 is its own default */
	bool hprof, hprof_threads;
	uint32_t hprof_depth;
};

/* a text under construction, truncated if too long */
struct message {
	char s[512];
	size_t len;
};

void options_put(struct message *t, const char *s, size_t len);
void options_say(struct message *t, const char *s);

/* Check whether an agent's option is one of these, and not the absolute path of a recorder's socket. */
bool options_are_these(const char *option);
/* Parse an option. Returns false and the reason in *why if it is invalid. */
bool options_parse(struct options *w, const char *option, struct message *why);
/* Parse events for that file; NULL or empty: the usual ones. */
bool options_parse_events(struct options *w, const char *file, const char *events, struct message *why);

#endif
