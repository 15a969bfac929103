// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor_checks.c - one function a thing that measuring depends on: it tries, and says what it found. */
#include <dirent.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/perf.h"
#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "cpuclock/cpuclock.h"
#include "doctor.h"
#include "jvm/jdk.h"
#include "outside/outside.h"
#include "pmu/probe.h"
#include "pmu/uprobe.h"
#include "ptt/ptt.h"
#include "wall/switches.h"

static void finding_set(struct finding *f, enum check_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static void remedy(struct finding *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void finding_set(struct finding *f, enum check_state state, const char *fmt, ...)
{
	va_list ap;

	f->state = state;
	va_start(ap, fmt);
	vsnprintf(f->found, sizeof(f->found), fmt, ap);
	va_end(ap);
}

static void remedy(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->remedy, sizeof(f->remedy), fmt, ap);
	va_end(ap);
}

/* Tries the event; on failure the finding is "no" with the reason. */
static bool try_event(struct finding *f, const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int r = probe_perf(attr, pid, cpu);
	struct err e = { 0 };

	if (!r)
		return true;
	perf_open_err(&e, -r, attr, pid, cpu);
	finding_set(f, CHECK_NO, "%s", e.msg);
	remedy(f, "%s", e.hint);
	return false;
}

static void try_own(struct finding *f, uint32_t type, uint64_t config, bool kernel)
{
	struct perf_event_attr attr = probe_attr(type, config, kernel);

	try_event(f, &attr, 0, -1);
}

static void look_cpu_clock(struct finding *f)
{
	try_own(f, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false);
}

static void look_task_clock(struct finding *f)
{
	try_own(f, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false);
}

static void look_kernel(struct finding *f)
{
	try_own(f, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true);
}

static void look_cycles(struct finding *f)
{
	try_own(f, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false);
}

static void look_instructions(struct finding *f)
{
	try_own(f, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false);
}

static void look_all_cpus(struct finding *f)
{
	struct perf_event_attr attr = probe_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true);

	try_event(f, &attr, -1, 0);
}

static void look_other_users(struct finding *f)
{
	struct perf_limits l;

	perf_limits_read(&l);
	if (probe_has_cap(CAP_SYS_PTRACE)) {
		finding_set(f, CHECK_OK, "CAP_SYS_PTRACE");
		return;
	}
	finding_set(f, l.ptrace_scope > 0 ? CHECK_NO : CHECK_LIMITED,
		    l.ptrace_scope > 0 ?
		    "only programs that arcprof started (kernel.yama.ptrace_scope is not 0)" :
		    "only your own programs");
	remedy(f, "run %s", probe_remedy("cap_perfmon,cap_sys_ptrace").text);
}

/* Test the event that interrupts JVM threads: see lib/ring, and the agent that answers it. */
static void look_jvm_threads(struct finding *f)
{
	struct perf_event_attr attr = probe_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false);

	attr.inherit = 1;
	attr.inherit_thread = 1;
	attr.remove_on_exec = 1;
	attr.sigtrap = 1;
	if (try_event(f, &attr, 0, 0))
		return;
	if (probe_perf(&attr, 0, 0) == -EINVAL)
		remedy(f, "Linux 5.13 or newer%s",
		       outside_possible() ? "; here record walks Java stacks from outside" : "");
}

static void look_deaf(struct finding *f)
{
	struct cpus deaf = { 0 };
	struct buf b = BUF_INIT;
	size_t i;

	if (!deaf_find(&deaf) && deaf.nr_cpu) {
		for (i = 0; i < deaf.nr_cpu; i++)
			buf_fmt(&b, "%s%u", i ? ", " : "", deaf.cpu[i]);
		finding_set(f, CHECK_LIMITED, "not while idle on %s %s, where this kernel takes no samples then: wakeups, interrupts and switches are missing",
			    deaf.nr_cpu > 1 ? "CPUs" : "CPU", b.data);
		remedy(f, "restart the machine; until then reports of record --sched say how many records do not fit; of record -e wall only wakers are not known there");
	}
	cpus_release(&deaf);
	buf_release(&b);
}

static void look_tracepoints(struct finding *f)
{
	int64_t id = probe_tracepoint("sched:sched_switch");
	struct perf_event_attr attr;

	if (id == -EACCES) {
		finding_set(f, CHECK_NO, "/sys/kernel/tracing is closed to this user");
		remedy(f, "root, or 'sudo mount -o remount,mode=755 /sys/kernel/tracing'");
		return;
	}
	if (id < 0) {
		finding_set(f, CHECK_NO, "no tracefs is mounted");
		remedy(f, "'sudo mount -t tracefs tracefs /sys/kernel/tracing'");
		return;
	}
	attr = probe_attr(PERF_TYPE_TRACEPOINT, id, true);
	attr.sample_type |= PERF_SAMPLE_RAW;
	if (try_event(f, &attr, -1, 0))
		look_deaf(f);
}

static void look_native_calls(struct finding *f)
{
	struct err e = { 0 };

	if (!uprobes_allowed(&e)) {
		finding_set(f, CHECK_OK, "uprobe events can be made");
		return;
	}
	finding_set(f, CHECK_NO, "%s", e.msg);
	remedy(f, "%s", e.hint);
}

static void look_rate(struct finding *f)
{
	struct perf_limits l;

	perf_limits_read(&l);
	finding_set(f, l.max_rate >= 10000 ? CHECK_OK : CHECK_LIMITED, "%lld a second and CPU",
		    (long long)l.max_rate);
	if (l.max_rate < 10000)
		remedy(f, "'sudo sysctl kernel.perf_event_max_sample_rate=100000' (the kernel lowers it when samples take too long)");
}

static void look_buffers(struct finding *f)
{
	struct perf_limits l;
	struct rlimit r = { 0 };
	bool unlimited;

	perf_limits_read(&l);
	getrlimit(RLIMIT_MEMLOCK, &r);
	unlimited = l.paranoid < 0 || probe_has_cap(CAP_IPC_LOCK) || r.rlim_cur == RLIM_INFINITY;
	if (unlimited) {
		finding_set(f, CHECK_OK, "of any size");
	} else {
		finding_set(f, l.mlock_kb >= 516 ? CHECK_OK : CHECK_LIMITED, "%lld kB a CPU, and %llu kB more of this user",
			    (long long)l.mlock_kb, (unsigned long long)r.rlim_cur / 1024);
		if (l.mlock_kb < 516)
			remedy(f, "'sudo sysctl kernel.perf_event_mlock_kb=2048'");
	}
}

static void look_kernel_symbols(struct finding *f)
{
	FILE *kallsyms = fopen("/proc/kallsyms", "re");
	struct perf_limits l;
	char line[256];
	bool shown = false;
	int i;

	for (i = 0; kallsyms && i < 100 && !shown && fgets(line, sizeof(line), kallsyms); i++)
		shown = strtoull(line, NULL, 16) != 0;
	if (!kallsyms) {
		finding_set(f, CHECK_NO, "/proc/kallsyms: %s", strerror(errno));
		return;
	}
	fclose(kallsyms);
	if (shown)
		return;
	perf_limits_read(&l);
	finding_set(f, CHECK_NO,
		    "the kernel hides the addresses: kptr_restrict is %lld, perf_event_paranoid %lld",
		    (long long)l.kptr_restrict, (long long)l.paranoid);
	remedy(f, "'sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1', or root");
}

/* Set where separate debug information of the file would be, by its build-id. */
static bool debug_path(const char *file, char *path, size_t size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	const void *id = NULL;
	ssize_t len = -1;
	Elf *elf;
	size_t n = 0;
	ssize_t i;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf)
		len = dwelf_elf_gnu_build_id(elf, &id);
	for (i = 0; i < len && n < size; i++)
		n += snprintf(path + n, size - n, i == 0 ? "/usr/lib/debug/.build-id/%02x/" : "%02x",
			      ((const unsigned char *)id)[i]);
	if (len > 0 && n < size)
		snprintf(path + n, size - n, ".debug");
	elf_end(elf);
	close(fd);
	return len > 0;
}

/* Check whether file:line of the library is known; package is what Debian calls its debug information. */
static void look_debug(struct finding *f, const char *file, const char *package)
{
	char path[256];

	if (!debug_path(file, path, sizeof(path))) {
		finding_set(f, CHECK_LIMITED, "%s has no build-id", file);
	} else if (!access(path, R_OK)) {
		finding_set(f, CHECK_OK, "%s", path);
	} else {
		finding_set(f, CHECK_LIMITED, "none installed for %s", file);
		remedy(f, "install %s (Debian), or the -dbg, -debuginfo package of your distribution",
		       package);
	}
}

static void look_libc_debug(struct finding *f)
{
	static const char *const names[] = {
		"/lib/x86_64-linux-gnu/libc.so.6", "/lib/aarch64-linux-gnu/libc.so.6", "/lib64/libc.so.6",
		"/usr/lib/libc.so.6",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!access(names[i], R_OK)) {
			look_debug(f, names[i], "libc6-dbg");
			return;
		}
	}
	finding_set(f, CHECK_LIMITED, "no glibc found");
}

static void look_libjvm_debug(struct finding *f)
{
	char path[PATH_MAX + 32], package[64];
	struct jdk_list l;
	size_t i;

	jdk_list_find(&l);
	finding_set(f, CHECK_LIMITED, "no JDK found");
	for (i = 0; i < l.nr_jdks; i++) {
		const struct jdk *j = &l.jdks[i];

		snprintf(path, sizeof(path), "%s/lib/server/libjvm.so", j->home);
		if (!j->on_path || access(path, R_OK))
			continue;
		snprintf(package, sizeof(package), "openjdk-%d-dbg", j->major);
		look_debug(f, path, package);
	}
	jdk_list_release(&l);
}

static void look_jdks(struct finding *f)
{
	struct buf b = BUF_INIT;
	struct jdk_list l;
	bool old = false;
	size_t i;

	jdk_list_find(&l);
	for (i = 0; i < l.nr_jdks; i++) {
		buf_fmt(&b, "%s%s in %s%s", i ? ", " : "", l.jdks[i].version, l.jdks[i].home,
			l.jdks[i].on_path ? " (in PATH)" : "");
		old |= l.jdks[i].major && l.jdks[i].major < 8;
	}
	if (b.len)
		finding_set(f, old ? CHECK_LIMITED : CHECK_OK, "%s", b.data);
	else
		finding_set(f, CHECK_LIMITED,
			    "none in JAVA_HOME, PATH, /usr/lib/jvm, /usr/java, /opt, ~/.sdkman");
	if (old)
		remedy(f, "JVMs older than 8 are sampled without names of Java methods");
	buf_release(&b);
	jdk_list_release(&l);
}

/* Return whether files below dir can be written and, once there, be mapped executable. */
static bool holds_programs(const char *dir, const char **why)
{
	struct statvfs s;

	*why = NULL;
	if (statvfs(dir, &s) || access(dir, W_OK | X_OK))
		*why = strerror(errno);
	else if (s.f_flag & ST_NOEXEC)
		*why = "mounted noexec";
	return !*why;
}

static void look_agent_dir(struct finding *f)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *why = NULL;
	const char *candidates[3] = { 0 };
	size_t i, nr = 0;

	if (geteuid() && cache && cache[0] == '/')
		candidates[nr++] = cache;
	if (geteuid() && home && home[0] == '/')
		candidates[nr++] = home;
	candidates[nr++] = "/var/tmp";	/* root: where JVMs of all users can read it */
	for (i = 0; i < nr; i++) {
		if (holds_programs(candidates[i], &why)) {
			finding_set(f, CHECK_OK, "below %s", candidates[i]);
			return;
		}
	}
	finding_set(f, CHECK_NO, "%s: %s", candidates[nr - 1], why);
	remedy(f, "set XDG_CACHE_HOME to a folder that is writable and not mounted noexec");
}

static void look_clocksource(struct finding *f)
{
	struct buf b = BUF_INIT;
	bool fast;

	if (io_slurp("/sys/devices/system/clocksource/clocksource0/current_clocksource", &b) || !b.len) {
		finding_set(f, CHECK_LIMITED, "not known");
		return;
	}
	b.data[strcspn(b.data, "\n")] = '\0';
	fast = !strcmp(b.data, "tsc") || !strcmp(b.data, "arch_sys_counter") || !strcmp(b.data, "kvm-clock");
	finding_set(f, fast ? CHECK_OK : CHECK_LIMITED, "%s%s", b.data,
		    fast ? "" : ", read by a system call");
	if (!fast)
		remedy(f, "boot with 'tsc=reliable' if the CPU's counter is stable");
	buf_release(&b);
}

static void look_pmus(struct finding *f)
{
	DIR *d = opendir("/sys/bus/event_source/devices");
	struct buf b = BUF_INIT;
	struct dirent *entry;
	bool core = false;

	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		buf_fmt(&b, "%s%s", b.len ? ", " : "", entry->d_name);
		core |= !strncmp(entry->d_name, "cpu", 3) && strcmp(entry->d_name, "cpuid");
		core |= !strncmp(entry->d_name, "armv", 4);
	}
	if (d)
		closedir(d);
	finding_set(f, core ? CHECK_OK : CHECK_LIMITED, "%s", b.len ? b.data : "none");
	if (!core)
		remedy(f, "no PMU of the CPU cores is among them: a virtual machine shows it only when its host passes it through");
	buf_release(&b);
}

static void look_nmi(struct finding *f)
{
	struct buf b = BUF_INIT;

	if (!io_slurp("/proc/sys/kernel/nmi_watchdog", &b) && b.len && b.data[0] == '1') {
		finding_set(f, CHECK_LIMITED, "the NMI watchdog occupies one");
		remedy(f, "'sudo sysctl kernel.nmi_watchdog=0' while you measure");
	} else {
		finding_set(f, CHECK_OK, "no NMI watchdog");
	}
	buf_release(&b);
}

static void look_backend(struct finding *f, const struct ptt_backend *b)
{
	struct err e = { 0 };

	if (!b->check(&e))
		return;
	finding_set(f, CHECK_NO, "%s", e.msg);
	remedy(f, "%s", e.hint);
}

static void look_bpf(struct finding *f)
{
	look_backend(f, &ptt_bpf);
}

static void look_module(struct finding *f)
{
	look_backend(f, &ptt_module);
}

static void look_proc(struct finding *f)
{
	look_backend(f, &ptt_proc);
}

static void look_perf_page(struct finding *f)
{
	int r = arcprof_perf_works();

	if (!r)
		return;
	finding_set(f, CHECK_LIMITED, "perf_event_open: %s; clock_gettime() is used", strerror(-r));
	remedy(f, "'sudo sysctl kernel.perf_event_paranoid=2'");
}

static void look_msr(struct finding *f)
{
	int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	int code = errno;

	if (fd >= 0) {
		close(fd);
		return;
	}
	finding_set(f, CHECK_NO, "/dev/cpu/0/msr: %s", strerror(code));
	remedy(f, code == ENOENT ? "'sudo modprobe msr'" : "root (CAP_SYS_RAWIO)");
}

/* Test reading /proc, which replaces perf events. */
static void look_wall_by_proc(struct finding *f, const struct perf_event_attr *attr, int r)
{
	struct err e = { 0 };

	perf_open_err(&e, -r, attr, 0, -1);
	if (wall_counts_delays())
		finding_set(f, CHECK_LIMITED, "own programs; states of threads are read from /proc, and native code that runs has no stacks (%s)",
			    e.msg);
	else
		finding_set(f, CHECK_NO, "%s", e.msg);
	remedy(f, "%s", e.hint);
}

/* Try what record tries: BPF, else the records of switches of one's own threads, else /proc. */
static void look_wall(struct finding *f)
{
	struct perf_event_attr attr = probe_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, false);
	const int self = getpid();
	struct err e = { 0 };
	struct wall *w;
	int r;

	attr.context_switch = 1;
	r = probe_perf(&attr, 0, -1);
	if (r) {
		look_wall_by_proc(f, &attr, r);
		return;
	}
	if (!wall_open(&w, &(struct wall_opts){ .nr_slots = 64, .pids = &self, .nr_pids = 1 }, &e)) {
		wall_close(w);
		return;
	}
	finding_set(f, CHECK_LIMITED, "own programs; without wakers, kernel frames and peers of waits, and without what those were for that no sample hit (%s)",
		    e.msg);
	remedy(f, "%s", e.hint);
}

/* Load the BPF programs as record does where allowed, so that what the kernel refuses is known. */
static void look_short_threads(struct finding *f)
{
	const int self = getpid();
	struct cpuclock *c;
	struct err e = { 0 };

	if (cpuclock_open(&c, &self, 1, &e)) {
		finding_set(f, CHECK_LIMITED, "threads shorter than the interval have no samples, and reports say how much is missing (%s)",
			    e.msg);
		remedy(f, "%s", e.hint[0] ? e.hint : "the recorder must run outside of the container");
		return;
	}
	if (!cpuclock_trapped(c))
		finding_set(f, CHECK_OK, "of JVMs by events of their threads, as before Linux 6.18");
	cpuclock_close(c);
}

static const struct check sampling[] = {
	{ "cpu-clock", "own programs", "samples by time, user code", look_cpu_clock },
	{ "task-clock", "task-clock", "samples by CPU time of a thread", look_task_clock },
	{ "kernel", "kernel code", "what system calls and interrupts consume", look_kernel },
	{ "all-cpus", "all processes", "the whole machine: record -a, tprof", look_all_cpus },
	{ "other-users", "other users", "attaching to programs you do not own", look_other_users },
	{ "cycles", "cycles", "samples by CPU cycles", look_cycles },
	{ "instructions", "instructions", "samples by instructions", look_instructions },
	{ "tracepoints", "tracepoints", "events of the scheduler and other parts of the kernel",
		look_tracepoints },
	{ "native-calls", "native calls", "each call of a native function: record -e uprobe:FILE:FUNCTION",
		look_native_calls },
	{ "wall", "wall clock", "what threads do at every moment, and what they wait for: record -e wall", look_wall },
	{ "short-threads", "short threads", "samples by one clock on each CPU", look_short_threads },
	{ "rate", "sample rate", "how often, at most", look_rate },
	{ "buffers", "buffers", "room for samples until they are read", look_buffers },
	{ "pmus", "event sources", "where events come from", look_pmus },
	{ "nmi-watchdog", "free counters", "hardware counters that are not in use", look_nmi },
	{ "clocksource", "clock", "cheap time stamps", look_clocksource },
};

static const struct check java[] = {
	{ "jdks", "Java", "programs whose Java methods are named", look_jdks },
	{ "jvm-threads", "JVM threads", "exact Java stacks of every thread of a JVM", look_jvm_threads },
	{ "agent-dir", "agent", "a place for the library that the JVM loads", look_agent_dir },
};

static const struct check names[] = {
	{ "kernel-symbols", "kernel", "names of kernel functions", look_kernel_symbols },
	{ "libc-debug", "libc", "source lines in the C library", look_libc_debug },
	{ "libjvm-debug", "libjvm", "source lines in the JVM itself", look_libjvm_debug },
};

static const struct check threads[] = {
	{ "bpf", "BPF", "ptt: exact times of threads, interrupts set apart", look_bpf },
	{ "module", "kernel module", "the same without BPF, and traces of instructions", look_module },
	{ "proc", "/proc", "ptt without privileges: times with the interrupts in them", look_proc },
	{ "perf-page", "perf page", "programs read their own threads' time without a session",
		look_perf_page },
};

static const struct check registers[] = {
	{ "msr", "MSRs", "registers of the CPU model", look_msr },
};

const struct check_group check_groups[] = {
	{ "Sampling", sampling, ARRAY_SIZE(sampling) },
	{ "Java", java, ARRAY_SIZE(java) },
	{ "Names", names, ARRAY_SIZE(names) },
	{ "Metrics of threads", threads, ARRAY_SIZE(threads) },
	{ "Registers", registers, ARRAY_SIZE(registers) },
};
const size_t nr_check_groups = ARRAY_SIZE(check_groups);
