/* SPDX-License-Identifier: MIT */
/* objects.h - symbols of the objects that are loaded. Takes the dynamic linker's lock while it looks. */
#ifndef PRELOAD_OBJECTS_H
#define PRELOAD_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/* Never one of our own. */
struct search {
	const char *name;
	void *at;		/* only with this address; NULL: any */
	bool after_us;		/* only of objects that were loaded after ours, as RTLD_NEXT has it */
	void *found;
	uintptr_t base;		/* of the object that has it */
	bool passed_us;
};

bool objects_find(struct search *s);
/* The first of each name, as with after_us; what is not NULL already stays. */
void objects_find_next(void **found, const char *const *names, int nr);

#endif
