// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/frame.h"

static const char *const mark_names[MARK_NR] = {
	[MARK_NONE] = "[unwalkable: no reason given]",
	[MARK_TRUNCATED_STACK] = "[unwalkable: deeper than the stack copy]",
	[MARK_TRUNCATED_DEPTH] = "[unwalkable: more frames than the limit]",
	[MARK_NO_UNWIND_INFO] = "[unwalkable: no unwind information]",
	[MARK_BAD_UNWIND_INFO] = "[unwalkable: unwind information led astray]",
	[MARK_NO_USER_STACK] = "[unwalkable: no user stack]",
	[MARK_JAVA_NOT_WALKABLE] = "[unwalkable: Java frame of no known kind]",
	[MARK_JAVA_INTERPRETER] = "[unwalkable: interpreter frame half built]",
	[MARK_JAVA_STUB] = "[unwalkable: JVM stub without a frame]",
	[MARK_JAVA_DEPTH] = "[unwalkable: more Java frames than the agent's buffer]",
	[MARK_VTHREAD_CONTINUES] = "[unwalkable: rest of the virtual thread is in the heap]",
	[MARK_PRUNED] = "[pruned]",
	[MARK_DAMAGED] = "[unwalkable: damaged part of the trace]",
};

const char *frame_mark_name(uint32_t mark)
{
	return mark < MARK_NR ? mark_names[mark] : "[unwalkable: reason unknown to this version]";
}
