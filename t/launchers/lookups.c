// SPDX-License-Identifier: GPL-2.0-or-later
/* lookups.c - prints what dlsym() says where no JVM is: the same whoever stands in front of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int strange(void)
{
	return 1;
}

/* Also defined by the C library: the next one is not ours. */
int puts(const char *s)
{
	return fprintf(stdout, "%s\n", s);
}

static void show(const char *what, void *p)
{
	const char *error = dlerror();

	printf("%s: %s%s%s\n", what, p ? "found" : "not found", error ? ", an error" : "",
	       p == (void *)puts ? ", ours" : "");
}

int main(void)
{
	void *self = dlopen(NULL, RTLD_NOW);

	show("default puts", dlsym(RTLD_DEFAULT, "puts"));
	show("next puts", dlsym(RTLD_NEXT, "puts"));
	show("own strange", dlsym(self, "strange"));
	show("missing", dlsym(RTLD_DEFAULT, "no_such_name"));
	show("default JVM", dlsym(RTLD_DEFAULT, "JNI_CreateJavaVM"));
	show("next JVM", dlsym(RTLD_NEXT, "JNI_CreateJavaVM"));
	show("own JVM", dlsym(self, "JNI_CreateJavaVM"));
	return 0;
}
