/* SPDX-License-Identifier: MIT */
/* objects.h - symbols of the objects that are loaded. */
#ifndef PRELOAD_OBJECTS_H
#define PRELOAD_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/* a symbol to find, never one of our own */
struct search {
	const char *name;
	void *at;		/* only with this address; NULL: any */
	bool after_us;		/* only of objects that were loaded after ours, as RTLD_NEXT has it */
	void *found;
	uintptr_t base;		/* of the object that has it */
	bool passed_us;
};

/* Takes the dynamic linker's lock. */
bool objects_find(struct search *s);
/*
 * Find the first of each name, as with after_us; what is not NULL already stays. Takes no lock, so it is for
 * the time before main(), also before ThreadSanitizer's dl_iterate_phdr() can be called, which begins by
 * asking for a symbol itself.
 */
void objects_find_next(void **found, const char *const *names, int nr);

/* Find the first of each name in the order of the objects, whenever ours was loaded. */
void objects_find_first(void **found, const char *const *names, int nr);
/* Calls f for each object but ours. Takes the dynamic linker's lock. */
void objects_for_each(void (*f)(uintptr_t base));
/* Return how many were ever loaded. */
uint64_t objects_loaded(void);

#endif
