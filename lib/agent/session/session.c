// SPDX-License-Identifier: MIT
/*
 * session.c - the time from a recorder's coming to its going (agent.h).
 *
 * A recorder that attached is watched by a thread of ours, asleep until the recorder's end of the
 * socket closes: that thread takes everything back. One that started the JVM leaves with it, as a rule; what
 * it left behind when it did not is taken back when the next one comes.
 */
#include "agent/agent.h"
#include "agent/calls/flow.h"
#include "agent/dump/threads.h"
#include "agent/hotspot/facts.h"
#include "agent/hotspot/methods.h"
#include "agent/hotspot/names.h"
#include "agent/hotspot/vm.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/session/journal.h"
#include "agent/session/recording.h"
#include "agent/sources/live.h"
#include "agent/sources/sources.h"
#include "agent/sources/vmevents.h"

static struct sys_lock lock;	/* held while a session begins or ends */
static bool active;
static bool stuck;		/* something of ours still ran long after its end: no further session */
static int flags;		/* of the session: enum jvm_flags */
static bool alone;		/* no recorder has come: a journal is written (journal.h) */
static uint32_t nr_alone;	/* such sessions so far */
static uint64_t timer_ns;	/* what GO said of timers */
static bool timers_are_off;	/* for now */
static bool wall;		/* it looks at threads that wait */
static bool dying;		/* the VM: it gives nothing any more */

/* Learn once what there is to know of this JVM. */
static bool know_vm(JavaVM *jvm)
{
	static bool asked, known;

	if (!asked) {
		asked = true;
		vm_init((uintptr_t)(*jvm)->GetEnv);
		if (!vm.ok)
			return false;
		sys_init_clock();
		known = vm_init_threads();
	}
	return known;
}

static bool session_prepare(JavaVM *jvm)
{
	static bool have_events;

	if (!names_init() || !sample_init())
		return false;
	methods_forget();
	have_events = have_events || events_init(jvm);
	return have_events;
}

/* End the journal; said: NULL, or receives what was lost. */
static void end_journal(struct message *said)
{
	struct message unsaid = { .len = 0 };

	if (!alone)
		return;
	log_close();
	journal_close(said ? said : &unsaid);
}

static void session_end(JNIEnv *env, struct message *said)
{
	bool quiet;

	if (alone)
		journal_end_waits();
	timers_off();
	quiet = sources_off(env);
	quiet &= wall_off();
	quiet &= sample_off();
	quiet &= label_off();
	if (flags & JVM_CALLFLOW)
		quiet &= flow_off(env);
	events_off();
	quiet &= vmevents_off(env);
	end_journal(said);
	if (quiet)
		ring_release();
	stuck = !quiet;
	active = false;
	link_unclaim();
}

/* --- the thread that watches --- */

static bool watching;
static bool watched;		/* there is such a thread in this session */

static void JNICALL session_watch(jvmtiEnv *ti, JNIEnv *env, void *arg)
{
	store_release(&watching, true);
	ring_wait_closed();
	sys_lock(&lock);
	if (active && log_closed() && !alone)
		session_end(env, NULL);
	sys_unlock(&lock);
}

/* Returns when it runs: it is not a thread of the program, so its start is not reported. */
static bool start_watching(JNIEnv *env)
{
	watching = false;
	if (!ownthread_run(env, session_watch))
		return false;
	while (!load_acquire(&watching))
		sys_sleep_ms(1);
	watched = true;
	return true;
}

/* Return whether this JDK should have the feature; one without a version is taken for a new one. */
static bool is_expected(enum facts_feature feature, uint32_t uses)
{
	static const struct {
		int since;
		uint32_t uses;
	} of[FACTS_NR] = {
#define FEATURE(id, since, uses, name) [FACTS_##id] = { since, uses },
#include "jvm/facttable.h"
	};
	bool z = false;

	return (of[feature].uses & uses) && (!vm.major || *vm.major >= of[feature].since) &&
	       (feature != FACTS_ZGC || (vm_flag("UseZGC", &z) && z));
}

/*
 * Report what is recorded and rests on facts that this JVM lacks. env is NULL before the VM is up: not
 * all is known then.
 */
static void tell_missing(JNIEnv *env)
{
	const bool locks = ring_ctl()->sources >> JVM_SOURCE_LOCK & 1;
	uint32_t uses = (flags & JVM_SAMPLE ? FACTS_STACKS : 0) | (flags & JVM_CALLFLOW ? FACTS_CALLS : 0) |
			(locks ? FACTS_LOCK : 0) | (wall ? FACTS_WALL : 0);
	const char *type, *name;
	uint32_t i;

	for (i = 0; i < FACTS_NR; i++) {
		if (!is_expected(i, uses))
			continue;
		if (env)
			facts_ask(env, i);
		if (facts_lack(i, &type, &name))
			facts_tell(NULL, i, type, name);
	}
}

/*
 * Begin what needs the VM. Its log would grow without a reader, so a recorder that asked for it is watched,
 * even by the JVM that it started.
 */
void session_live(JNIEnv *env)
{
	JavaVM *jvm;

	if (alone)
		journal_live(env);
	tell_missing(env);
	if (!ring_ctl()->tell || (*env)->GetJavaVM(env, &jvm))
		return;
	if (ring_ctl()->tell & JVM_TELL_BY_LOG && !alone)
		start_watching(env);
	vmevents_on(jvm, env);
	label_on(env);
}

/* --- coming --- */

/* Waits for the recorder; a journal has none. */
static void wait_for_go(JNIEnv *env, struct link_go *go)
{
	if (alone)
		*go = (struct link_go){ .timer_ns = journal_timer_ns() };
	else
		link_ready_and_wait(flags & JVM_CALLFLOW && !env ? &native_host : NULL, go);
}

/* Start the thread that ends the session, or that writes the journal. */
static bool session_start_thread(JNIEnv *env)
{
	if (!alone)
		return start_watching(env);
	journal_live(env);
	return true;
}

/* link_connect() or journal_open() has given the flags. */
static void session_begin(JavaVM *jvm, JNIEnv *env)
{
	struct link_go go;

	active = true;
	watched = false;
	facts_begin();
	timer_ns = 0;
	if (!session_prepare(jvm)) {
		session_end(env, NULL);
		return;
	}
	events_on(env);
	if (!env)
		vmevents_load(jvm);
	if (flags & JVM_CALLFLOW && !env)
		flow_on(jvm, NULL);
	if ((flags & JVM_SAMPLE && !sample_on()) || (env && !session_start_thread(env))) {
		session_end(env, NULL);
		return;
	}
	sources_on(jvm, env);
	wait_for_go(env, &go);
	if (env)
		sources_go(env);
	wall = go.wall;
	tell_missing(env);
	timer_ns = go.timer_ns;
	timers_are_off = ring_ctl()->off & JVM_TIMERS;
	if (timer_ns && !timers_are_off)
		timers_on(timer_ns);
	if (go.wall)
		wall_on(&go);
	if (!env)
		return;
	timers_live(env);
	stuck_watch(env);
	vmevents_on(jvm, env);
	tallies_tell();
	label_on(env);
	wall_live(env);
	if (flags & JVM_CALLFLOW)
		flow_on(jvm, env);
	events_replay_code();
}

/* End a session whose recorder has gone without a message. */
static void end_abandoned(JNIEnv *env)
{
	if (active && !alone && log_closed())
		session_end(env, NULL);
}

/* Return whether the VM is still starting: JDK 17 loads agents then, but gives them no JVMTI. */
static bool is_starting(JavaVM *jvm)
{
	jvmtiEnv *ti;

	if ((*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return true;
	(*ti)->DisposeEnvironment(ti);
	return false;
}

void session_start(JavaVM *jvm, JNIEnv *env, const char *path)
{
	if (!path)
		return;
	sys_lock(&lock);
	end_abandoned(env);
	if (env && is_starting(jvm)) {
		link_refuse(path, JVM_REFUSED_EARLY);
	} else if (active || stuck) {
		link_refuse(path, JVM_REFUSED_BUSY);
	} else if (!know_vm(jvm)) {
		link_refuse(path, JVM_REFUSED_VM);
	} else if (!link_claim()) {
		link_refuse(path, JVM_REFUSED_BUSY);
	} else {
		alone = false;
		flags = link_connect(path, env);
		if (flags >= 0)
			session_begin(jvm, env);
		else
			link_unclaim();
	}
	sys_unlock(&lock);
}

/* --- without a recorder --- */

static uint32_t begin_journal(JavaVM *jvm, JNIEnv *env, const struct options *w, struct message *why)
{
	flags = journal_open(w, why);
	if (flags < 0) {
		link_unclaim();
		return 0;
	}
	alone = true;
	session_begin(jvm, env);
	if (!active)
		options_say(why, "this JVM lacks what the agent needs");
	return active ? ++nr_alone : 0;
}

uint32_t session_record(JavaVM *jvm, JNIEnv *env, const struct options *w, struct message *why)
{
	uint32_t nr = 0;

	sys_lock(&lock);
	end_abandoned(env);
	if (dying)
		options_say(why, "the JVM ends");
	else if (!know_vm(jvm))
		options_say(why, "the agent knows too little of this JVM");
	else if (active || stuck || !link_claim())
		options_say(why, "this JVM is being recorded already");
	else
		nr = begin_journal(jvm, env, w, why);
	sys_unlock(&lock);
	return nr;
}

void session_stop(JNIEnv *env, uint32_t nr, struct message *said)
{
	sys_lock(&lock);
	if (active && alone && nr == nr_alone)
		session_end(env, said);
	sys_unlock(&lock);
}

/* --- something else is wanted --- */

static void change_timers(JNIEnv *env, bool off)
{
	if (!timer_ns || off == timers_are_off)
		return;
	timers_are_off = off;
	if (off) {
		timers_off();
	} else {
		timers_on(timer_ns);
		timers_live(env);
	}
}

static void session_apply_change(JavaVM *jvm, JNIEnv *env, int log_fd)
{
	struct jvm_ctl *ctl = ring_ctl();
	uint32_t nr = load_acquire(&ctl->change);

	sources_change(jvm, env);
	if (ctl->tell & JVM_TELL_BY_LOG && !watched)
		start_watching(env);
	vmevents_change(jvm, env, log_fd);
	change_timers(env, ctl->off & JVM_TIMERS);
	tallies_tell();
	store_release(&ctl->changed, nr);
}

void session_change(JNIEnv *env)
{
	enum { REFS = 64 };
	JavaVM *jvm;
	int log_fd;

	sys_lock(&lock);
	if (active && !dying && !log_closed() && link_changed(&log_fd) &&
	    !(*env)->PushLocalFrame(env, REFS)) {
		if (!(*env)->GetJavaVM(env, &jvm))
			session_apply_change(jvm, env, log_fd);
		(*env)->PopLocalFrame(env, NULL);
	}
	sys_unlock(&lock);
}

void session_death(void)
{
	sys_lock(&lock);
	dying = true;
	sys_unlock(&lock);
	ring_death();
}

/*
 * End the journal at the VM's end. Threads continue, what they send is lost, and nothing is undone any more.
 */
void session_end_journal(void)
{
	struct message said = { .len = 0 };

	sys_lock(&lock);
	if (active && alone) {
		timers_off();
		end_journal(&said);
	}
	sys_unlock(&lock);
	if (said.len)
		journal_say(&said);
}

/* --- a heap dump --- */

int session_roster(const char *what)
{
	uint64_t cookie = 0;
	const char *p;

	for (p = what + 1; (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'f'); p++)
		cookie = cookie << 4 | (*p <= '9' ? *p - '0' : *p - 'a' + 10);
	if (!cookie || *p || (*what != '+' && *what != '-'))
		return JVM_ROSTER_NOT_LIVE;	/* nobody's */
	/* to make it runs Java code */
	return flags & JVM_CALLFLOW && *what == '+' ? JVM_ROSTER_COUNTED : live_roster(cookie, *what == '+');
}

/* --- showing threads --- */

static void show_threads(JavaVM *jvm, JNIEnv *env, int fd)
{
	static jvmtiEnv *ti;
	static char *buf;
	struct threads_out out = { .fd = fd };
	struct threads_list list = { 0 };
	struct threads_class c;

	if (!buf)
		buf = sys_pages(THREADS_BUFFER);
	out.buf = buf;
	if (!buf || (!ti && (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK) ||
	    (*env)->PushLocalFrame(env, THREADS_REFS)) {
		threads_threw(env);
		return;
	}
	if (threads_class_find(&c, ti, env) && threads_list_platform(&c, &list) &&
	    threads_list_virtual(&c, &list))
		threads_show(&c, &list, 0, &out);
	threads_list_release(&c, &list);
	threads_flush(&out);
	(*env)->PopLocalFrame(env, NULL);
	threads_threw(env);
}

void session_dump(JavaVM *jvm, JNIEnv *env, const char *path)
{
	int fd;

	sys_lock(&lock);
	know_vm(jvm);
	fd = link_dump(path);
	sys_unlock(&lock);
	if (fd < 0)
		return;
	show_threads(jvm, env, fd);
	sys(__NR_close, fd);
}
