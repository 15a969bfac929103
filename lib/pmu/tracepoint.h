/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint.h - the kernel's static tracepoints: their numbers, and where in a raw sample their
 * fields are.
 */
#ifndef PMU_TRACEPOINT_H
#define PMU_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>


enum { TRACEPOINT_FIELDS = 16 };

struct tracepoint {
	uint64_t id;			/* perf_event_attr.config */
	struct tracepoint_field {
		char name[24];
		uint16_t off, len;
	} fields[TRACEPOINT_FIELDS];
	size_t nr_fields;
};

/*
 * Return a descriptor of the folder "events" of tracefs, or -errno. If tracefs is not mounted and this user
 * may, it is that of a private mount that no other process sees.
 */
int tracefs_events(void);

/* name: "sched/sched_switch".  -ENOENT: this kernel has none; -EACCES: not for this user. */
int tracepoint_read(int events_fd, const char *name, struct tracepoint *t);
/* Parse the text of its file "format"; -EPROTO if that has no number. */
int tracepoint_parse(const char *text, struct tracepoint *t);
/* Return the field, or NULL. */
const struct tracepoint_field *tracepoint_field(const struct tracepoint *t, const char *name);
/*
 * Return the value of an integer field in a raw sample of len bytes, sign-extended; 0 when f is NULL or
 * not in it.
 */
int64_t tracepoint_value(const struct tracepoint_field *f, const void *raw, size_t len);

#endif
