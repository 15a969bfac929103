// SPDX-License-Identifier: MIT
/*
 * recorder.c - how a program that runs under "arcprof record" reaches the recorder's rings (recorder.h).
 *
 * The recorder names its socket in the environment, or if it comes later, in our memory (jvm/invitation.h).
 * The next mark or label connects, and gets an area with rings as agents of JVMs have (jvm/proto.h).
 *
 * A forked child is a process of its own: what says where to write is wiped by the kernel in the child,
 * which connects for itself.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/recorder.h"
#include "client/client.h"
#include "jvm/invitation.h"

/* The variable that has the path of the recorder's socket (collect/jvm/agents.c). */
#define MARK_ENVIRONMENT "ARCPROF_MARKS"

struct arcprof_recorder *arcprof_recorder;
uint32_t arcprof_recorder_generation;
/* A recorder writes to this page, which is separate so that other pages are not copied. */
static volatile struct jvm_invitation invitation __attribute__((used, aligned(8))) = {
	.magic = JVM_INVITATION_MAGIC,
	.recorder = &arcprof_recorder,
	.state_at = offsetof(struct arcprof_recorder, state),
	.state_on = RECORDER_ON,
};
/* Under the lock. */
static struct client recorder = CLIENT_CLOSED;	/* its end tells that the process is gone */
static void *area;
static size_t area_bytes;
static pid_t area_pid;			/* whose it is */

ARCPROF_THREAD_LOCAL struct arcprof_recorder_self arcprof_recorder_self;

/*
 * Keep the area of a parent, of a failed session or of an earlier recorder mapped: other threads may be about
 * to write there.
 */
static void api_recorder_give_back(void)
{
	if (area && area_pid != getpid())
		munmap(area, area_bytes);
	client_close(&recorder);
	area = NULL;
}

static int api_recorder_join(struct arcprof_recorder *m)
{
	char invited[sizeof(invitation.path)];
	const char *path = secure_getenv(MARK_ENVIRONMENT);
	int fds[JVM_MAX_FDS];
	struct jvm_msg setup;
	uint64_t bytes;
	size_t i;
	void *p;

	for (i = 0; i < sizeof(invited); i++)
		invited[i] = invitation.path[i];
	invited[sizeof(invited) - 1] = 0;
	if (invited[0])
		path = invited;

	api_recorder_give_back();
	if (!path || !client_open(&recorder, path, JVM_GO_TIMEOUT_MS) ||
	    !client_greet(&recorder, JVM_MARKS, 0, &setup, fds))
		return 0;
	bytes = setup.setup.area_bytes;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	close(fds[0]);
	if (p == MAP_FAILED)
		return 0;
	area = p;
	area_bytes = bytes;
	area_pid = getpid();
	if (bytes < JVM_PAGE || !jvm_area_fits(area, bytes))
		return 0;
	m->ctl = area;
	m->nr_rings = m->ctl->nr_rings;
	m->ring_bytes = m->ctl->ring_bytes;
	m->tell = m->ctl->tell;
	m->pid = recorder.pid;
	return 1;
}

/* Return the page; NULL: without MADV_WIPEONFORK a child would write as its parent. */
static struct arcprof_recorder *get_page(void)
{
	struct arcprof_recorder *m = load_acquire(&arcprof_recorder), *fresh;

	if (m)
		return m;
	fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		return NULL;
	if (!madvise(fresh, sizeof(*fresh), MADV_WIPEONFORK) &&
	    __atomic_compare_exchange_n(&arcprof_recorder, &m, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	munmap(fresh, sizeof(*fresh));
	return m;
}

struct arcprof_recorder *arcprof_recorder_find(void)
{
	struct arcprof_recorder *m = get_page();
	int on;

	if (!m)
		return NULL;
	pthread_mutex_lock(&m->lock);
	if (m->state == RECORDER_UNKNOWN) {
		store_relaxed(&arcprof_recorder_generation, arcprof_recorder_generation + 1);
		on = api_recorder_join(m);
		if (!on)
			api_recorder_give_back();
		store_release(&m->state, on ? RECORDER_ON : RECORDER_OFF);
	}
	on = m->state == RECORDER_ON;
	pthread_mutex_unlock(&m->lock);
	return on ? m : NULL;
}
