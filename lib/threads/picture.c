// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash.h"
#include "jvm/target.h"
#include "threads/picture.h"

/* Whoever runs no Java, of a JVM: the collector's threads, the compilers', and others that are native. */
static int look_at_natives(struct picture *p, struct err *e)
{
	struct map known = MAP_INIT;
	size_t i;
	int r;

	for (i = 0; i < p->java.nr_threads; i++)
		if (p->java.threads[i].tid)
			*map_put(&known, (uint64_t)p->java.threads[i].tid) = 1;
	r = natives_look(p->pid, &known, &p->natives, e);
	map_release(&known);
	return r;
}

int picture_take(struct picture *p, int pid, struct err *e)
{
	int r = 0;

	*p = (struct picture){
		.pid = pid, .jvm = target_is_jvm(pid), .java = THREADS_INIT, .natives = NATIVES_INIT,
	};
	if (p->jvm)
		r = threads_look(pid, &p->java, e);
	return r ? r : look_at_natives(p, e);
}

void picture_release(struct picture *p)
{
	threads_release(&p->java);
	natives_release(&p->natives);
}
