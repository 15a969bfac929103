// SPDX-License-Identifier: GPL-2.0-or-later
/* classname.c - converts class names from the VM's form to Java's (classname.h). */
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "collect/jvm/classname.h"

static const char *primitive(char letter)
{
	static const char *const types[] = {
		['Z'] = "boolean", ['C'] = "char", ['F'] = "float", ['D'] = "double",
		['B'] = "byte", ['S'] = "short", ['I'] = "int", ['J'] = "long",
	};

	return (unsigned char)letter < ARRAY_SIZE(types) ? types[(unsigned char)letter] : NULL;
}

void classname_put(struct buf *b, const char *s, size_t len)
{
	size_t dims = strspn(s, "["), i;

	s += dims;
	len -= dims;
	if (len == 1 && primitive(*s)) {
		buf_str(b, primitive(*s));
	} else {
		if (len > 2 && *s == 'L' && s[len - 1] == ';') {
			s++;
			len -= 2;
		}
		for (i = 0; i < len; i++) {
			bool hidden = len - i > 2 && s[i + 1] == '0' && s[i + 2] == 'x';

			buf_putc(b, s[i] != '/' && s[i] != '.' ? s[i] : hidden ? '/' : '.');
		}
	}
	for (i = 0; i < dims; i++)
		buf_str(b, "[]");
}
