// SPDX-License-Identifier: MIT
/* anchor.c - takes the readings from which a thread's time is computed without a system call (anchor.h). */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/anchor.h"

enum { TRIES = 4, CLOSE_CYCLES = 1000, MIN_NS = 20000000 };

static bool usable;			/* the counter is a clock */
static struct arcprof_moment start;

/* Return whether the kernel itself trusts the counter: then it runs at one rate, whatever the CPU does. */
static bool is_clock(void)
{
	static const char *const good[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter" };
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);
	char name[64];
	ssize_t n = fd < 0 ? -1 : read(fd, name, sizeof(name) - 1);
	size_t i;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	name[n] = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strcmp(name, good[i]))
			return true;
	return false;
}

struct arcprof_moment arcprof_moment_now(void)
{
	struct arcprof_moment m;
	uint64_t before, after;
	int i = 0;

	if (!usable)
		return (struct arcprof_moment){ arcprof_mono_ns(), 0 };
	do {
		before = arch_cycles();
		m.mono_ns = arcprof_mono_ns();
		after = arch_cycles();
	} while (after - before > CLOSE_CYCLES && ++i < TRIES);
	m.cycles = before + (after - before) / 2;
	return m;
}

void arcprof_anchor_init(void)
{
	usable = is_clock();
	start = arcprof_moment_now();
}

/* Set the anchor. The rate is measured since the process began to, and so gets better and better. */
void arcprof_anchor_set(struct arcprof_anchor *a, uint32_t seq, uint64_t ns, const struct arcprof_moment *now)
{
	uint64_t cycles = now->cycles - start.cycles, passed = now->mono_ns - start.mono_ns;

	if (usable && now->cycles >= a->refine && passed >= MIN_NS) {
		a->mult = (double)passed / cycles * 4294967296.0;
		a->refine = start.cycles + 2 * cycles;
	}
	a->seq = seq;
	a->ns = ns;
	a->cycles = now->cycles;
}
