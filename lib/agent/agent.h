/* SPDX-License-Identifier: MIT */
/*
 * agent.h - the parts of the agent that are neither walker nor VM knowledge: the trap
 * handler, the JVMTI events, the conversation with the recorder.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/hotspot/blocked.h"
#include "jvm/proto.h"

struct walk;

/* sample.c: the SIGTRAP handler. Installed once and never taken back; what it does is on or off. */
bool sample_init(void);
bool sample_on(void);
/* Call now and then: a program may set a handler of its own. */
void sample_keep_signal(void);
/* Returns when no handler runs any more; false: one still does, after a long time. */
bool sample_off(void);
/* Allocate what sample_blocked() needs; return NULL without memory. Kept for good. */
struct walk *sample_new_walk(void);
/*
 * Take a sample of another thread. wall: without reason and leaf, which are found here. Return false if it
 * could not be taken now, or there is no room: it is to be tried again, and nothing is lost yet.
 */
bool sample_blocked(struct walk *w, struct blocked *b, struct jvm_rec_sample *head,
		    struct jvm_rec_wall *wall);
/* Return whether samples have places in compiled code (scopes.h), so that nothing else need report code. */
bool sample_tells_places(void);
/* Make sample_tells_places() return false: something else must report code from now on. */
void sample_forget_places(void);
/*
 * Must be called around code that writes to rings outside of handlers, but not around anything that waits.
 * Return false when the session is over; sample_end() must not be called then.
 */
bool sample_begin(void);
void sample_end(void);
/* Compile ids that were seen on stacks or announced, to find those that were never announced. */
void sample_code_announced(uint32_t compile_id);
uint32_t sample_nr_unannounced(void);
bool sample_code_is_announced(uint32_t compile_id);

/*
 * events.c: JVMTI events. events_init(), once: false when the VM refuses what names need. The VM is up
 * (env) or not yet (NULL).
 */
bool events_init(JavaVM *vm);
void events_on(JNIEnv *env);
/* Asks for the code that was compiled before. */
void events_replay_code(void);
void events_off(void);

/*
 * link.c: the socket. link_connect() returns the VM's flags (enum jvm_flags) or -1: stay inert. live: the
 * VM is up, and its start does not wait for us.
 */
int link_connect(const char *path, bool live);
/* The recorder's last message before a session begins. */
struct link_go {
	/* perf events are forbidden, and timers with this period take their place; 0: they are not */
	uint64_t timer_ns;
	bool wall;		/* look at threads that wait: */
	bool late_slots;	/* whose slots are not of this moment */
	uint64_t wall_ns;	/* so often */
	int slots_fd, stamps_fd, marks_fd;	/* in these, which are the caller's */
	bool wakes;		/* walk those that ended waits, too: */
	int wakes_fd, anchors_fd;	/* in these */
	uint32_t nr_slots;
};
/* host: of this process's call trees, NULL without. */
void link_ready_and_wait(const void *host, struct link_go *go);
/*
 * Return whether the recorder has changed what it wants in jvm_ctl. *log_fd: the VM's log, owned by the
 * caller; -1: none.
 */
bool link_changed(int *log_fd);
/* Tells another recorder that it cannot have us. */
void link_refuse(const char *path, enum jvm_refusal why);

/*
 * Claim the only session of a process; return false if another agent has it. The agent may be loaded
 * several times, as files of different names. link_unclaim() ends it; any thread may call that.
 */
bool link_claim(void);
void link_unclaim(void);

/* Asks who listens at path for the file that a picture of the threads goes to; -1: none. */
int link_dump(const char *path);

/*
 * session.c: works for the recorder that listens at path, for as long as that lives; then everything is as
 * before, and another one may come. env is NULL in Agent_OnLoad.
 */
void session_start(JavaVM *jvm, JNIEnv *env, const char *path);
/* Write a picture of the threads to whoever listens at path, whatever else goes on. */
void session_dump(JavaVM *jvm, JNIEnv *env, const char *path);
/* Set what a heap dump is to contain: "+" or "-" and a cookie in hex. Return an enum jvm_roster_answer. */
int session_roster(const char *what);
/* Note that the VM is up, in a session that began before it was. */
void session_live(JNIEnv *env);
/* Apply what the recorder wants, which may have changed; called now and then by a thread of ours. */
void session_change(JNIEnv *env);
/*
 * Begins a session without a recorder, which writes a journal; returns its number, for session_stop(), or 0
 * and *why. *said: what got lost, if anything was.
 */
struct options;
struct message;
uint32_t session_record(JavaVM *jvm, JNIEnv *env, const struct options *w, struct message *why);
void session_stop(JNIEnv *env, uint32_t nr, struct message *said);
/* The VM ends: nothing changes any more. */
void session_death(void);
/* Write everything that was reported to the journal, if there is one, and close it. */
void session_end_journal(void);

#endif
