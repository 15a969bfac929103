/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jdk.h - the Java installations of this machine, where they usually lie, and which programs create a JVM. */
#ifndef JVM_JDK_H
#define JVM_JDK_H

#include <limits.h>
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

/* ---- which file a program is, and whether it may create a JVM ---- */

/* Find the path of program, looked up in PATH as execvp(3) does; return false if it is in no folder there. */
bool launcher_find(const char *program, char path[PATH_MAX]);

/*
 * Return whether program, looked up in PATH as execvp(3) does, is a script, or names libjvm or the
 * launchers' library. These are java, javac and other tools of a JDK, and hosts that are linked with
 * libjvm or load it. Returns false for other native programs, though they may start a JVM, and where the
 * file cannot be read.
 */
bool launcher_names_jvm(const char *program);
/*
 * Return whether program, looked up likewise, is a native program that no dynamic linker loads. Returns
 * false where the file cannot be read.
 */
bool launcher_is_static(const char *program);

#endif
