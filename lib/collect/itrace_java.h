/* SPDX-License-Identifier: GPL-2.0-or-later */
/* itrace_java.h - names of what the JVMs in an instruction trace compile, interpret and generate. */
#ifndef COLLECT_ITRACE_JAVA_H
#define COLLECT_ITRACE_JAVA_H

#include "collect/tasks.h"
#include "jvm/server.h"

struct itrace_java {
	struct jvm_server *server;	/* NULL: not asked for */
	struct tasks *tasks;
	struct trace_writer *w;
	uint64_t nr_lost;
};

/* Prepares the environment that the program will get. */
int itrace_java_open(struct itrace_java *j, struct tasks *tasks, struct trace_writer *w, struct err *e);
void itrace_java_close(struct itrace_java *j);
/* Answers JVMs that start, and takes what their agents have said. */
void itrace_java_drain(struct itrace_java *j);

#endif
