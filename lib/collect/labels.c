// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/utsname.h>

#include "collect/labels.h"

void labels_origin(struct trace_writer *w, const char *version, const char *command_line)
{
	struct utsname u;

	uname(&u);
	trace_write_label(w, "arcprof", "%s", version);
	trace_write_label(w, "command", "%s", command_line);
	trace_write_label(w, "host", "%s", u.nodename);
	trace_write_label(w, "kernel", "%s %s", u.sysname, u.release);
	trace_write_label(w, "arch", "%s", u.machine);
	trace_write_label(w, "consumers", "processes, threads, functions");
}
