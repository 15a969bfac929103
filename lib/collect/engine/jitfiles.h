/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitfiles.h - the files in which a runtime names the code that it makes, /tmp/perf-PID.map and
 * jit-PID.dump. They are opened while the process lives, as the process sees them, and read while they grow
 * and once more at the end. Names go into the trace as stubs of the process, each with the time when the code
 * was made, as a dump has it; or for a map when it had been read last before the name was in it.
 *
 * The files are of the process's user: one of another user, a link, a FIFO or a device is not read.
 */
#ifndef COLLECT_JITFILES_H
#define COLLECT_JITFILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/engine/modules.h"
#include "trace/writer.h"
#include "unwind/unwind.h"

struct jitfiles;

/*
 * Look for the map of a process. uid: its user, who, or root, or we ourselves, must own the files;
 * FOREIGN_ANYBODY: it has ended, and the files must be ours. since_ns: the time of what is there already.
 */
struct jitfiles *jitfiles_new(int pid, uid_t uid, uint64_t since_ns);
void jitfiles_free(struct jitfiles *j);		/* NULL: nothing happens */

/* Return whether a file that is mapped executable has the name of a dump. */
bool jitfiles_is_dump(const char *path);
/* Note that the process has mapped such a file. */
void jitfiles_add_dump(struct jitfiles *j, const struct module_id *id);

/*
 * Read at most max_bytes of what was added to each, and write the names as those of proc, a process's number
 * in the trace.
 */
void jitfiles_read(struct jitfiles *j, uint32_t proc, struct trace_writer *w, size_t max_bytes);

/* Return the unwind rules that were in dumps; NULL: none were, or j is NULL. */
const struct unwind_described *jitfiles_rules(const struct jitfiles *j);
/* Return whether a name was found; false if j is NULL. */
bool jitfiles_has_names(const struct jitfiles *j);

#endif
