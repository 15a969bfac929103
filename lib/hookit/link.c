// SPDX-License-Identifier: MIT
/* link.c - connects an instrumented program to its recorder (link.h). */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "callflow/area.h"
#include "hookit/link.h"
#include "jvm/proto.h"

/* Use the trees of the agent in this process. */
static bool visit(struct hook_area *a, uint64_t address)
{
	const struct callflow_host *host = (const void *)(uintptr_t)address;

	if (!host || host->version != CALLFLOW_VERSION || host->bytes != sizeof(*host))
		return false;
	a->host = host;
	a->mem = (void *)host->area();
	return a->mem;
}

static bool map_own(struct hook_area *a, uint64_t bytes, int fd)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return false;
	a->mem = p;
	a->bytes = bytes;
	return true;
}

enum hook_verdict hook_ask(struct hook_area *a, uint64_t addr)
{
	const struct jvm_msg question = { .type = JVM_MSG_FUNCTION, .function = { addr } };
	int fds[JVM_MAX_FDS];
	struct jvm_msg m;

	return client_send(&a->recorder, question) &&
			client_receive(&a->recorder, JVM_MSG_FUNCTION, &m, fds, 0) &&
			m.function.addr == addr && m.flags & JVM_INCLUDED ?
		HOOK_INCLUDED :
		HOOK_EXCLUDED;
}

/* Make room for what the rules say about each function. */
static bool make_verdicts(struct hook_area *a)
{
	const struct callflow_area *c = a->mem;
	void *p;

	a->verdicts = NULL;
	if (!c->rules_bytes)
		return true;
	p = mmap(NULL, c->nr_functions, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return false;
	a->verdicts = p;
	return true;
}

bool hook_link(struct hook_area *a)
{
	const char *path = secure_getenv(HOOK_ENVIRONMENT);
	int fds[JVM_MAX_FDS];
	struct jvm_msg m;
	bool ok;

	*a = (struct hook_area){ .recorder = CLIENT_CLOSED };
	if (!path || !client_open(&a->recorder, path, JVM_GO_TIMEOUT_MS))
		return false;
	ok = client_greet(&a->recorder, JVM_PROGRAM, 0, &m, fds);
	if (ok && m.flags & JVM_GUEST) {
		ok = visit(a, m.setup.host);
	} else if (ok) {
		ok = map_own(a, m.setup.callflow_bytes, fds[0]);
		close(fds[0]);
	}
	if (ok && make_verdicts(a))
		return true;
	hook_unlink(a);
	return false;
}

void hook_unlink(struct hook_area *a)
{
	if (a->bytes)
		munmap(a->mem, a->bytes);
	client_close(&a->recorder);
	*a = (struct hook_area){ .recorder = CLIENT_CLOSED };
}
