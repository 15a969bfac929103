/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launcher.h - which file a program is, and whether it may create a JVM. */
#ifndef JVM_LAUNCHER_H
#define JVM_LAUNCHER_H

#include <limits.h>
#include <stdbool.h>

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
