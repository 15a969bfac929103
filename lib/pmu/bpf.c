// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "pmu/bpf.h"
#include "pmu/probe.h"

/* What libbpf complained about last: one library, one place to keep it. */
static char complaint[200];

static int keep_complaint(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN)
		vsnprintf(complaint, sizeof(complaint), fmt, ap);
	complaint[strcspn(complaint, "\n")] = '\0';
	return 0;
}

void bpf_listen(void)
{
	complaint[0] = '\0';
	libbpf_set_print(keep_complaint);
}

int bpf_failed(struct err *e, int code, const char *what)
{
	err_set(e, code, "BPF: %s: %s%s%s%s", what, strerror(code), complaint[0] ? " (" : "", complaint,
		complaint[0] ? ")" : "");
	if (code == EPERM || code == EACCES)
		err_hint(e, "run %s", probe_remedy("cap_bpf,cap_perfmon,cap_sys_admin").text);
	return -code;
}

int bpf_allowed(struct err *e)
{
	if (access(BPF_TYPES, R_OK))
		return err_set(e, ENOTSUP, "BPF: the kernel does not describe its types (CONFIG_DEBUG_INFO_BTF)");
	if (probe_has_cap(CAP_SYS_ADMIN) || (probe_has_cap(CAP_BPF) && probe_has_cap(CAP_PERFMON)))
		return 0;
	err_set(e, EPERM, "BPF: CAP_BPF and CAP_PERFMON are missing");
	err_hint(e, "run %s", probe_remedy("cap_bpf,cap_perfmon,cap_sys_admin").text);
	return -EPERM;
}
