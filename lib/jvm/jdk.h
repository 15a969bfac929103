/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jdk.h - the Java installations of this machine, as far as they lie where they usually do. */
#ifndef JVM_JDK_H
#define JVM_JDK_H

#include <stdbool.h>
#include <stddef.h>

struct jdk {
	char *home;
	char *version;		/* "17.0.15", or "?" */
	char *vendor;		/* "Debian", or "" */
	int major;		/* 8, 17, ...; 0: not known */
	bool on_path;		/* what "java" starts */
	bool has_javac;
};

struct jdk_list {
	struct jdk *jdks;
	size_t nr_jdks, alloc_jdks;
};

/* $JAVA_HOME, what "java" in PATH is, /usr/lib/jvm, /opt, ~/.sdkman; each installation once. */
void jdk_list_find(struct jdk_list *l);
void jdk_list_release(struct jdk_list *l);

#endif
