/* SPDX-License-Identifier: MIT */
/*
 * call.h - calls between programs: the class java.lang.ArcCall (java/ArcCall.java), which probes of http.c,
 * rmi.c and grpc.c call, and what it tells of. It gives calls numbers that both ends know, and their threads
 * the label "rpc".
 */
#ifndef AGENT_CALL_H
#define AGENT_CALL_H

#include "agent/sources/given.h"

/* The number of a probe; ArcCall.java has the same. */
enum call_probe {
	CALL_SEND, CALL_SENDS, CALL_GET, CALL_WRITES, CALL_EXCHANGE, CALL_SERVICE,
	CALL_EXECUTE, CALL_DISPATCH, CALL_CONNECTION, CALL_ANSWER,
	CALL_BLOCKING, CALL_START, CALL_HANDLER, CALL_LISTENER,
};

extern struct given_class call_class;
extern struct given http, rmi, grpc;

#endif
