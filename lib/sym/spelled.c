// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spelled.c - names that are spelled rather than encoded: OCaml's, with the module in front and a number at
 * the end, and gfortran's.
 */
#include <ctype.h>
#include <string.h>

#include "sym/languages.h"

/*
 * Return the length without "_123" at the end, which distinguishes functions of one name, and is all that one
 * without a name has.
 */
static size_t without_number(const char *name, size_t len)
{
	size_t digits = len;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits == len || digits < 2 || name[digits - 1] != '_' || name[digits - 2] == '_')
		return len;
	return digits >= 6 && !memcmp(name + digits - 6, "__fun_", 6) ? len : digits - 1;
}

bool ocaml_demangle(const char *name, struct buf *out)
{
	size_t len = strlen(name), i;

	/* functions of the runtime, in C, begin with caml_ */
	if (strncmp(name, "caml", 4) || !isupper((unsigned char)name[4]) ||
	    (!strstr(name + 5, "__") && !strchr(name + 5, '.')))
		return false;
	len = without_number(name, len);
	for (i = 4; i < len; i++) {
		if (name[i] == '_' && i + 2 < len && name[i + 1] == '_') {
			buf_putc(out, '.');
			i++;
		} else if (name[i] == '$' && i + 2 < len && hex_lower(name[i + 1]) >= 2 &&
			   hex_lower(name[i + 2]) >= 0) {
			buf_putc(out, hex_lower(name[i + 1]) * 16 + hex_lower(name[i + 2]));
			i += 2;
		} else {
			buf_putc(out, name[i]);
		}
	}
	return true;
}

/* __module_MOD_procedure: both in lower case, whatever the source has; copies of a procedure end in ".2". */
bool fortran_demangle(const char *name, struct buf *out)
{
	const char *mod = strncmp(name, "__", 2) ? NULL : strstr(name + 2, "_MOD_");

	if (!mod || mod == name + 2 || !mod[5])
		return false;
	buf_add(out, name + 2, mod - (name + 2));
	buf_str(out, "::");
	buf_str(out, mod + 5);
	return true;
}
