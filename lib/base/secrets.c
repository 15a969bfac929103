// SPDX-License-Identifier: GPL-2.0-or-later
/* secrets.c - hides passwords in the arguments of programs (secrets.h). */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/secrets.h"

/* Check whether a name of len bytes contains a word for something secret. */
static bool names_secret(const char *name, size_t len)
{
	static const char *const words[] = {
		"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "api-key", "api_key",
		"accesskey", "access-key", "access_key", "credential",
	};
	size_t i, at;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		for (at = 0; at + n <= len; at++)
			if (!strncasecmp(name + at, words[i], n))
				return true;
	}
	return false;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Return whether the name before an equals sign is that of a secret. */
static bool is_secret_value(const char *arg, const char *equals)
{
	const char *name = equals;

	while (name > arg && is_of_name(name[-1]))
		name--;
	return names_secret(name, equals - name);
}

/* Check whether the value is an address, where parameters end; any other value may have any character. */
static bool is_address(const char *arg, const char *until)
{
	const char *scheme = strstr(arg, "://");

	return (scheme && scheme < until) || !strncasecmp(arg, "jdbc:", 5) ||
	       (strstr(arg, "=jdbc:") && strstr(arg, "=jdbc:") < until);
}

/* Return the secret of "user:secret@" behind "://", or of Oracle's "user/secret@", or NULL without one. */
static const char *in_authority(const char *arg, size_t *len)
{
	const char *from = strstr(arg, "://"), *thin = strstr(arg, ":thin:"), *at, *colon;
	size_t n;

	if (from) {
		from += 3;
		n = strcspn(from, "/?#");
		at = memrchr(from, '@', n);
		colon = at ? memchr(from, ':', at - from) : NULL;
	} else if (thin) {
		from = thin + 6;
		at = strchr(from, '@');
		colon = at ? memchr(from, '/', at - from) : NULL;
	} else {
		return NULL;
	}
	if (!colon)
		return NULL;
	*len = at - colon - 1;
	return colon + 1;
}

void secrets_add(struct buf *b, const char *arg, const char *before)
{
	size_t hidden = 0;
	const char *in = in_authority(arg, &hidden), *p = arg;

	if (before && *before == '-' && !strchr(before, '=') && *arg != '-' &&
	    names_secret(before, strlen(before))) {
		buf_str(b, SECRETS_MASK);
		return;
	}
	while (*p) {
		if (p == in) {
			buf_str(b, SECRETS_MASK);
			p += hidden;
			in = NULL;
			continue;
		}
		buf_putc(b, *p);
		if (*p++ != '=' || !*p || !is_secret_value(arg, p - 1))
			continue;
		buf_str(b, SECRETS_MASK);
		p += is_address(arg, p) ? strcspn(p, "&;#") : strlen(p);
		in = in && in < p ? NULL : in;
	}
}
