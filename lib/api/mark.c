// SPDX-License-Identifier: MIT
/* mark.c - a program says what it does, where it runs under "arcprof record -e mark". */
#include <string.h>

#include "api/native.h"
#include "api/recorder.h"
#include "arcprof.h"

static void api_mark_put(const struct arcprof_recorder *m, const struct jvm_event *e)
{
	size_t size = jvm_size_event(e);
	void *rec = arcprof_recorder_reserve(m, size);

	if (!rec)
		return;
	jvm_encode_event(rec, size, e);
	jvm_ring_commit(rec, m->ring_bytes, size, JVM_REC_event);
}

/* Make an event; duration_ns UINT64_MAX: a moment; value UINT64_MAX: none. */
static struct jvm_event api_mark_event_of(const char *name, uint64_t time_ns, uint64_t duration_ns,
					  uint64_t value)
{
	return (struct jvm_event){
		.kind = duration_ns == UINT64_MAX ? JVM_EVENT_MARK : JVM_EVENT_PHASE,
		.time_ns = time_ns, .thread = arcprof_recorder_tid(), .duration_ns = duration_ns,
		.values = { value, UINT64_MAX, UINT64_MAX },
		.what = name, .what_len = strlen(name), .cause = "",
	};
}

void arcprof_mark_of(uint64_t vthread, const char *name, uint64_t value)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_MARK);
	struct jvm_event e;

	if (!m)
		return;
	e = api_mark_event_of(name, arcprof_recorder_now_ns(), UINT64_MAX, value);
	e.vthread = vthread;
	api_mark_put(m, &e);
}

void arcprof_mark(const char *name)
{
	arcprof_mark_of(0, name, UINT64_MAX);
}

void arcprof_mark_value(const char *name, uint64_t value)
{
	arcprof_mark_of(0, name, value);
}

uint64_t arcprof_phase_begin(void)
{
	return arcprof_recorder_of(JVM_TELL_MARK) ? arcprof_recorder_now_ns() : 0;
}

void arcprof_phase_of(uint64_t vthread, uint64_t begun, const char *name)
{
	const struct arcprof_recorder *m = begun ? arcprof_recorder_of(JVM_TELL_MARK) : NULL;
	struct jvm_event e;

	if (!m)
		return;
	e = api_mark_event_of(name, begun, arcprof_recorder_now_ns() - begun, UINT64_MAX);
	e.vthread = vthread;
	api_mark_put(m, &e);
}

void arcprof_phase_end(uint64_t begun, const char *name)
{
	arcprof_phase_of(0, begun, name);
}
