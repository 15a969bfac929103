// SPDX-License-Identifier: GPL-2.0-or-later
/* u-resource.c - labels from environments, as OpenTelemetry's specification has them, and hostile ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/resource.h"
#include "unit.h"

/* The labels of an environment whose variables end at zero bytes, that of the literal included. */
#define PARSE(text) parse(text, sizeof(text))

static const char *parse(const char *environment, size_t len)
{
	static char *said;
	struct buf b = BUF_INIT;

	resource_parse(environment, len, true, &b);
	free(said);
	said = xstrdup(b.data ? b.data : "");
	buf_release(&b);
	return said;
}

TEST(resource_is_what_opentelemetry_reads)
{
	CHECK_STR(PARSE("PATH=/bin\0OTEL_RESOURCE_ATTRIBUTES=service.name=shop,service.version=1.2,k8s.pod.name=shop-7f\0A=b"),
		  "k8s.pod.name=shop-7f,service=shop,version=1.2");
	CHECK_STR(PARSE("OTEL_RESOURCE_ATTRIBUTES= tenant = a%20b%C3%A9 ,zone=eu%2"), "tenant=a b\xc3\xa9,zone=eu%2");
	/* the name of the service comes before the attribute, in any order, and is as it is */
	CHECK_STR(PARSE("OTEL_SERVICE_NAME=front%20\0OTEL_RESOURCE_ATTRIBUTES=service.name=shop,a=b"), "a=b,service=front%20");
	CHECK_STR(PARSE("OTEL_SERVICE_NAME="), "");
	CHECK_STR(PARSE("XOTEL_SERVICE_NAME=a\0OTEL_SERVICE_NAMES=b"), "");
}

TEST(resource_knows_the_pod)
{
	static const char pod[] = "HOSTNAME=shop-7f\0KUBERNETES_SERVICE_HOST=10.0.0.1";
	struct buf b = BUF_INIT;

	CHECK_STR(parse(pod, sizeof(pod)), "k8s.pod.name=shop-7f");
	CHECK_STR(PARSE("KUBERNETES_SERVICE_HOST=::1\0OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=own\0HOSTNAME=shop-7f"),
		  "k8s.pod.name=own");
	CHECK_STR(PARSE("HOSTNAME=desk"), "");
	CHECK_STR(PARSE("KUBERNETES_SERVICE_HOST=10.0.0.1"), "");
	CHECK_STR(PARSE("KUBERNETES_SERVICE_HOST=10.0.0.1\0HOSTNAME="), "");
	/* in the machine's network it is the machine's name */
	resource_parse(pod, sizeof(pod), false, &b);
	CHECK_U64(b.len, 0);
	buf_release(&b);
}

TEST(resource_without_labels_is_empty)
{
	char *environment, text[64];
	struct buf b = BUF_INIT;
	size_t nr = 0, i;
	const char *s;

	CHECK_STR(PARSE("OTEL_RESOURCE_ATTRIBUTES=,=,a,=b,1=x,c=,d=%2C,e=%00,f=%0A,g=\xff,h=y=z,cgroup=/,container=x,"),
		  "h=y=z");
	CHECK_STR(parse("OTEL_SERVICE_NAME=cut", 20), "service=cu");
	CHECK_STR(parse("", 0), "");
	buf_str(&b, "OTEL_RESOURCE_ATTRIBUTES=");
	for (i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "k%zu=v,", i);
		buf_str(&b, text);
	}
	environment = xstrdup(b.data);
	for (s = parse(environment, b.len); *s; s++)
		nr += *s == '=';
	CHECK_U64(nr, 32);
	free(environment);
	buf_release(&b);
}
