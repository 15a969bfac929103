// SPDX-License-Identifier: GPL-2.0-or-later
/* jvmevents.c - selects and writes events of JVMs (jvmevents.h). */
#include <string.h>

#include "base/mem.h"
#include "collect/jvm/jvmevents.h"
#include "jvm/proto.h"

static const struct {
	const char *name;
	uint32_t tell, with;
} names[] = {
#define TELL(what, name, with) { (name), JVM_TELL_##what, (with) },
#include "base/eventkinds.h"
	{ "jvm", JVM_TELL_USUAL, 0 },
};

uint32_t jvmevents_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].tell;
	return 0;
}

uint32_t jvmevents_of(uint32_t kind)
{
	static const char *const groups[JVM_EVENT_NR] = {
#define EVENT(kind, name, group, ...) [JVM_EVENT_##kind] = (group),
#include "base/eventkinds.h"
	};

	return kind < JVM_EVENT_NR ? jvmevents_named(groups[kind]) : 0;
}

uint32_t jvmevents_with(uint32_t tell)
{
	uint32_t all = tell;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		all |= tell & names[i].tell ? names[i].with : 0;
	return all;
}

void jvmevents_names(uint32_t tell, struct buf *b)
{
	const char *comma = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names) && strcmp(names[i].name, "jvm"); i++) {
		if (!(tell & names[i].tell))
			continue;
		buf_fmt(b, "%s%s", comma, names[i].name);
		comma = ",";
	}
}

void jvmevents_refused(struct refused *f, int pid, const struct jvm_no_event *r)
{
	struct buf b = BUF_INIT;

	if (r->tell == JVM_TELL_DEOPT)
		buf_str(&b, "deoptimisations");
	else
		buf_str(&b, "events ");
	jvmevents_names(r->tell, &b);
	refused_source(f, b.data, pid, r->why);
	buf_release(&b);
}
