// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlstub.c - no foreign code in a static binary.  libdw would dlopen() the host's
 * libdebuginfod, and with it libcurl and a second libc; the linker wraps the calls to these.
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *handle, const char *name);
int __wrap_dlclose(void *handle);
char *__wrap_dlerror(void);

void *__wrap_dlopen(const char *file, int mode)
{
	return NULL;
}

void *__wrap_dlsym(void *handle, const char *name)
{
	return NULL;
}

int __wrap_dlclose(void *handle)
{
	return 0;
}

char *__wrap_dlerror(void)
{
	static char text[] = "dynamic loading is disabled";

	return text;
}
