// SPDX-License-Identifier: GPL-2.0-or-later
/* resource.c - parses OpenTelemetry's resource attributes in an environment (resource.h). */
#include <ctype.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/labels.h"
#include "base/resource.h"

enum {
	MAX_ENVIRONMENT = 1 << 18,	/* bytes that are looked at */
	MAX_LABELS = 32,
	MAX_TEXT = 4096,		/* of a variable */
};

struct attributes {
	struct buf *labels;
	size_t nr;
};

/* Values are percent-encoded; white space around them does not count. */
static void decode_percent(const char *s, size_t len, struct buf *b)
{
	size_t i;

	buf_reset(b);
	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	for (i = 0; i < len; i++) {
		bool coded = s[i] == '%' && len - i > 2 && isxdigit((unsigned char)s[i + 1]) &&
			     isxdigit((unsigned char)s[i + 2]);

		buf_putc(b, coded ? (char)(hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2])) : s[i]);
		i += coded ? 2 : 0;
	}
}

static const char *own_key(const char *key)
{
	return !strcmp(key, "service.name") ? "service" : !strcmp(key, "service.version") ? "version" : key;
}

/* Return whether the key is one that arcprof takes from the kernel. */
static bool is_own_attribute(const char *key)
{
	return !strcmp(key, LABEL_CGROUP) || !strcmp(key, LABEL_CONTAINER);
}

static void add_attribute(struct attributes *a, const char *key, const struct buf *value)
{
	if (a->nr >= MAX_LABELS || !value->len || is_own_attribute(key) || memchr(value->data, 0, value->len))
		return;
	a->nr += labels_add(a->labels, own_key(key), value->data);
}

/* "key=value,key=value" */
static void add_list(struct attributes *a, const char *s, size_t len)
{
	struct buf key = BUF_INIT, value = BUF_INIT;
	const char *end = s + len, *next, *equals;

	for (; s < end; s = next + 1) {
		next = memchr(s, ',', end - s);
		next = next ? next : end;
		equals = memchr(s, '=', next - s);
		if (!equals)
			continue;
		decode_percent(s, equals - s, &key);
		decode_percent(equals + 1, next - equals - 1, &value);
		if (key.len && !memchr(key.data, 0, key.len))
			add_attribute(a, key.data, &value);
	}
	buf_release(&key);
	buf_release(&value);
}

/* Return the value of the variable, if this is it. */
static const char *environment_value(const char *entry, size_t len, const char *name)
{
	size_t n = strlen(name);
	bool is_it = len > n && len <= n + 1 + MAX_TEXT && !memcmp(entry, name, n) && entry[n] == '=';

	return is_it ? entry + n + 1 : NULL;
}

/* Return the value of a variable, NULL if it is missing. */
static const char *resource_find(const char *environment, size_t len, const char *name, size_t *value_len)
{
	const char *end = environment + len, *entry, *next, *value;

	for (entry = environment; entry < end; entry = next + 1) {
		next = memchr(entry, 0, end - entry);
		next = next ? next : end;
		value = environment_value(entry, next - entry, name);
		if (value) {
			*value_len = next - value;
			return value;
		}
	}
	return NULL;
}

/* Add the pod: Kubernetes gives each pod the address of its own server, and its name as that of its host. */
static void add_pod(struct attributes *a, const char *environment, size_t len)
{
	struct buf name = BUF_INIT;
	size_t n, ignored;
	const char *host = resource_find(environment, len, "HOSTNAME", &n);

	if (!host || !resource_find(environment, len, "KUBERNETES_SERVICE_HOST", &ignored))
		return;
	buf_add(&name, host, n);
	add_attribute(a, "k8s.pod.name", &name);
	buf_release(&name);
}

void resource_parse(const char *environment, size_t len, bool own_host, struct buf *labels)
{
	const char *end = environment + len, *entry, *next, *value, *service = NULL;
	struct attributes a = { .labels = labels };
	struct buf name = BUF_INIT;
	size_t service_len = 0;

	if (own_host)		/* attributes come after it, and take its place */
		add_pod(&a, environment, len);
	for (entry = environment; entry < end; entry = next + 1) {
		next = memchr(entry, 0, end - entry);
		next = next ? next : end;
		if ((value = environment_value(entry, next - entry, "OTEL_RESOURCE_ATTRIBUTES")))
			add_list(&a, value, next - value);
		if ((value = environment_value(entry, next - entry, "OTEL_SERVICE_NAME"))) {
			service = value;
			service_len = next - value;
		}
	}
	/* It comes before the attribute of that name, and is not encoded. */
	if (service) {
		buf_add(&name, service, service_len);
		a.nr = 0;
		add_attribute(&a, "service.name", &name);
		buf_release(&name);
	}
}

static bool is_in_same(int a, int b, const char *namespace)
{
	char path_a[48], path_b[48];
	struct stat sa, sb;

	snprintf(path_a, sizeof(path_a), "/proc/%d/ns/%s", a, namespace);
	snprintf(path_b, sizeof(path_b), "/proc/%d/ns/%s", b, namespace);
	return stat(path_a, &sa) || stat(path_b, &sb) || (sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino);
}

void resource_of(int pid, struct buf *labels)
{
	struct buf text = BUF_INIT;
	char path[48], part[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	while (text.len < MAX_ENVIRONMENT && (n = read(fd, part, sizeof(part))) > 0)
		buf_add(&text, part, n);
	close(fd);
	resource_parse(text.data ? text.data : "", text.len, !is_in_same(pid, 1, "net"), labels);
	buf_release(&text);
}
