/* SPDX-License-Identifier: MIT */
/* itrace_request.h - what arcprof_itrace_on() and _off(), and the JVM agent, ask of the tracer. */
#ifndef API_ITRACE_REQUEST_H
#define API_ITRACE_REQUEST_H

#include <stdint.h>

#define ITRACE_REQUEST_MAGIC 0x6361727469637261ull
#define ITRACE_STEPPER_COMM "itrace-stepper"
/*
 * The environment variable with the number of the descriptor by which a thread traces itself, if the
 * kernel module does it.
 */
#define ITRACE_FD_VARIABLE "ARCPROF_ITRACE_FD"

enum {
	ITRACE_REQUEST_ON = 1,
	ITRACE_REQUEST_OFF,
	ITRACE_REQUEST_LAST,	/* off, and nothing will be asked any more: tracing is over */
	ITRACE_ANSWER_DONE = 1,
};

struct itrace_request {
	uint64_t magic;
	uint32_t what;
	volatile uint32_t answer;	/* the tracer's */
};

#endif
