/* SPDX-License-Identifier: GPL-2.0-or-later */
/* itrace_java.h - names of what the JVMs in an instruction trace compile, interpret and generate. */
#ifndef COLLECT_ITRACE_JAVA_H
#define COLLECT_ITRACE_JAVA_H

#include "collect/itrace/brackets.h"
#include "collect/jvm/javatrace.h"
#include "itrace/engine.h"
#include "jvm/server.h"

struct itrace_java {
	struct javatrace trace;		/* first: callbacks of the server get either */
	struct jvm_server *server;	/* NULL: not asked for */
	/* Learns of the processes that there are: a JVM's is the one that its exec made. */
	void (*catch_up)(void *ctx);
	void *ctx;
	struct brackets brackets;	/* layout NULL: none */
};

/*
 * Return whether there is a JVM, or may be one; with methods, any program may start one. Other programs get
 * the environment that they would have without us.
 */
bool itrace_java_wanted(const struct itrace_opts *o, bool methods);
int itrace_java_open(struct itrace_java *j, struct tasks *tasks, struct trace_writer *w, struct err *e);
/*
 * Prepare the environment that the program will get, or load the agent into running JVMs; before they are
 * traced.
 */
int itrace_java_prepare(struct itrace_java *j, const struct itrace_opts *o, struct err *e);
void itrace_java_close(struct itrace_java *j);
/* Answers JVMs that start, and takes what their agents have said. */
void itrace_java_drain(struct itrace_java *j);

#endif
