// SPDX-License-Identifier: MIT
/* err.c - formats errors (err.h). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	e->hint[0] = '\0';
	e->kind = ERR_ANY;
	e->code = code ? code : EIO;
	return -e->code;
}

int err_errno(struct err *e, const char *fmt, ...)
{
	int code = errno;
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, ": %s", strerror(code));
	e->hint[0] = '\0';
	e->kind = ERR_ANY;
	e->code = code ? code : EIO;
	return -e->code;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char tail[sizeof(e->msg)];
	size_t len;
	va_list ap;

	memcpy(tail, e->msg, sizeof(tail));
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	len = strlen(e->msg);
	snprintf(e->msg + len, sizeof(e->msg) - len, ": %s", tail);
	return -e->code;
}

void err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
}
