// SPDX-License-Identifier: GPL-2.0-or-later
/* privileges.c - raises limits and priority, and gives privileges up (privileges.h). */
#include <stdio.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "collect/engine/collect.h"
#include "collect/engine/privileges.h"

enum { MOST_FILES = 1 << 20, RECORDER_NICE = -15 };

void privileges_raise(void)
{
	struct rlimit rl = { .rlim_cur = MOST_FILES, .rlim_max = MOST_FILES };

	if (setrlimit(RLIMIT_NOFILE, &rl) && !getrlimit(RLIMIT_NOFILE, &rl)) {
		/* only root may have more than the limit */
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	setpriority(PRIO_PROCESS, 0, RECORDER_NICE);
}

/* SYS_ADMIN stands for PERFMON and CHECKPOINT_RESTORE on kernels older than those (5.8, 5.9). */
static const cap_value_t needed[] = {
	CAP_PERFMON,		/* events opened later: JVMs, tasks forked in a hand-over */
	CAP_SYS_ADMIN,
	CAP_SYS_PTRACE,		/* SIGTRAP events, /proc/PID of other users */
	CAP_CHECKPOINT_RESTORE, /* /proc/PID/map_files */
	CAP_DAC_READ_SEARCH,	/* the programs' files */
	CAP_SYSLOG,		/* kernel addresses */
	CAP_IPC_LOCK,		/* rings */
	CAP_KILL,
};

/* Needed only for several files of one recording, in the folder of the caller of sudo. */
static const cap_value_t for_files[] = {
	CAP_DAC_OVERRIDE,	/* the folder is not ours */
	CAP_CHOWN,		/* and what is in it neither */
};

static void keep_some(cap_t have, cap_t keep, const cap_value_t *some, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		cap_flag_value_t on = CAP_CLEAR;

		if (!CAP_IS_SUPPORTED(some[i]) || cap_get_flag(have, some[i], CAP_PERMITTED, &on) ||
		    on == CAP_CLEAR)
			continue;
		cap_set_flag(keep, CAP_PERMITTED, 1, &some[i], CAP_SET);
		cap_set_flag(keep, CAP_EFFECTIVE, 1, &some[i], CAP_SET);
	}
}

void privileges_drop(bool files)
{
	cap_t have = cap_get_proc(), keep = cap_init();

	if (have && keep)
		keep_some(have, keep, needed, ARRAY_SIZE(needed));
	if (have && keep && files)
		keep_some(have, keep, for_files, ARRAY_SIZE(for_files));
	if (have && keep)
		cap_set_proc(keep);
	cap_free(have);
	cap_free(keep);
}

bool privileges_of_several(const struct collect_opts *o)
{
	const size_t nr = o->nr_pids + o->nr_tids;
	struct stat first, next;
	char path[32];
	size_t i;

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "/proc/%d",
			 i < o->nr_pids ? o->pids[i] : o->tids[i - o->nr_pids]);
		if (stat(path, i ? &next : &first) || (i && next.st_uid != first.st_uid))
			return nr > 1;
	}
	return o->system_wide;
}
