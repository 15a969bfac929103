// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a process may have done to the area of its call trees: the first words of the input poke
 * into one that was built in order, the recorder reads the rest.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "callflow/callflow.h"
#include "collect/calls/callflow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct callflow_layout layout = {
	.flags = CALLFLOW_TREES | CALLFLOW_EVENTS, .nr_metrics = 2,
	.metrics = { { .kind = CALLFLOW_CPU }, { .kind = CALLFLOW_ALLOC_OBJECTS } },
	.max_depth = 16, .nr_threads = 4, .nr_functions = 16, .pool_bytes = 64 << 10,
	.nr_rings = 2, .ring_events = 16, .tsc_ratio = (uint64_t)1 << 32,
};

/* Some calls of two threads, so that there is something to damage. */
static void work(void)
{
	struct callflow_thread *t[2] = { callflow_thread_new(1, 0, 0),
		callflow_thread_new(0, 7, CALLFLOW_THREAD_VIRTUAL) };
	struct callflow_kthread *k = callflow_kthread_start(t[0], NULL);
	uint32_t i;

	if (!k || !t[1])
		return;
	callflow_thread_name(t[1], "virtual", 7);
	for (i = 0; i < 6; i++)
		callflow_enter(k, i & 1 ? callflow_function(0x1000 + i) : 1 + i);
	callflow_charge_object(k, 7, 24);
	callflow_leave(k, 3);
	callflow_mount(k, t[1]);
	callflow_enter(k, 5);
	callflow_kthread_end(k);
}

static void poke(uint8_t *area, size_t bytes, const uint8_t *data, size_t len)
{
	struct {
		uint32_t at, value;
	} p;

	for (; len >= sizeof(p); data += sizeof(p), len -= sizeof(p)) {
		memcpy(&p, data, sizeof(p));
		p.at = p.at % (bytes - 4) & ~3u;
		memcpy(area + p.at, &p.value, 4);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct callflow_opts o = { .on = true, .layout = layout, .names = { "cpu", "objects" }, .units = { "ns", "" },
				   .snapshot_ns = len & 1 };
	struct trace_writer_opts wo = { 0 };
	struct callflow_result res = { 0 };
	struct slow_rules slow = { .nr = 0 };
	struct callflows f;
	struct sources sources = { 0 };
	struct modules modules;
	struct tasks tasks;
	struct trace_writer *w;
	struct err e;
	uint64_t bytes;
	uint8_t *area;
	int fd;

	if (trace_writer_open(&w, "/dev/null", &wo, &e))
		abort();
	if (len & 2) {
		if (slow_rules_add(&slow, "*>2ns", &e))
			abort();
		o.slow = &slow;
	}
	modules_init(&modules, w, false);
	tasks_init(&tasks, w, &modules);
	callflows_init(&f, &o, &tasks, &modules, w, &res);
	f.sources = &sources;
	fd = callflows_new(&f, NULL, tasks_get(&tasks, 0, 0, 1)->proc, &bytes);
	area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (callflow_attach(area, bytes))
		work();
	callflow_detach();
	callflows_snapshot(&f);
	poke(area, bytes, data, len);
	callflows_drain(&f);
	callflows_snapshot(&f);
	munmap(area, bytes);
	callflows_finish(&f);
	callflows_release(&f);
	sources_release(&sources);
	slow_rules_release(&slow);
	tasks_release(&tasks);
	modules_release(&modules);
	trace_writer_close(w, &e);
	return 0;
}
