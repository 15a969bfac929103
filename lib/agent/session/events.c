// SPDX-License-Identifier: MIT
/*
 * events.c - what JVMTI tells: compiled code, stubs, threads, unloading.
 *
 * Nothing is done when classes load: methods get their names when they are seen. All of
 * this runs on ordinary threads of the VM, outside signal handlers, and writes to the log.
 */
#include <jvmti.h>
#include <jvmticmlr.h>

#include "agent/agent.h"
#include "agent/dump/threads.h"
#include "agent/hotspot/cont.h"
#include "agent/hotspot/facts.h"
#include "agent/hotspot/lines.h"
#include "agent/hotspot/methods.h"
#include "agent/hotspot/names.h"
#include "agent/hotspot/oops.h"
#include "agent/hotspot/scopes.h"
#include "agent/hotspot/vm.h"
#include "agent/ownthread.h"
#include "agent/session/pack.h"
#include "agent/sources/sources.h"
#include "agent/sources/vmevents.h"
#include "base/mix.h"

static jvmtiEnv *ti;

/* --- compiled code --- */

/*
 * Numbers of an inline record's methods: the same few again and again, so the last ones are
 * kept; found before the log is locked, for a new method's record goes there too.
 */
enum { NR_CACHED = 1024 };

struct id_cache {
	uint32_t epoch;		/* ids of unloaded classes may come again */
	jmethodID id[NR_CACHED];
	uint32_t number[NR_CACHED];
};

static struct id_cache cache;
static struct sys_lock cache_lock;

static uint32_t cached_number(jmethodID id)
{
	size_t i = mix64((uintptr_t)id) >> 54;

	if (cache.epoch != names_epoch()) {
		memset(&cache, 0, sizeof(cache));
		cache.epoch = names_epoch();
	}
	if (cache.id[i] != id) {
		cache.number[i] = methods_number(ti, id);
		cache.id[i] = cache.number[i] ? id : NULL;
	}
	return cache.number[i];
}

static const jvmtiCompiledMethodLoadInlineRecord *inline_record(const void *info)
{
	const jvmtiCompiledMethodLoadRecordHeader *h;

	for (h = info; h; h = h->next)
		if (h->kind == JVMTI_CMLR_INLINE_INFO)
			return (const void *)h;
	return NULL;
}

static bool is_wrong(const struct vm_blob *b, const PCStackInfo *p, uintptr_t code)
{
	return b->addr && b->kind == VM_BLOB_NMETHOD && (uintptr_t)p->pc >= code &&
	       scopes_wrong_at(b, (uintptr_t)p->pc - code);
}

/* Write the inlined calls as struct rec_code has them; return the end, or NULL without room. */
static char *put_inlines(char *d, const char *end, const jvmtiCompiledMethodLoadInlineRecord *r,
			 const struct vm_blob *b, uintptr_t code)
{
	uintptr_t at = code;
	int i, k, nr = 0;

	for (i = 0; i < r->numpcs; i++)
		nr += !is_wrong(b, &r->pcinfo[i], code);
	d = varint_put(d, nr);
	for (i = 0; i < r->numpcs; i++) {
		const PCStackInfo *p = &r->pcinfo[i];

		if (is_wrong(b, p, code))
			continue;
		if (end - d < 20 + p->numstackframes * 10l || (uintptr_t)p->pc < at)
			return NULL;
		d = varint_put(d, (uintptr_t)p->pc - at);
		at = (uintptr_t)p->pc;
		d = varint_put(d, p->numstackframes);
		for (k = 0; k < p->numstackframes; k++) {
			d = varint_put(d, cached_number(p->methods[k]));
			d = varint_put(d, p->bcis[k] + 1u);
		}
	}
	return d;
}

static char *inline_buf;
enum { INLINE_MAX = LOG_RECORD_MAX - 4096 };

static void write_code(const struct vm_blob *b, jmethodID method, uintptr_t addr, uint32_t size,
		       const void *info)
{
	const jvmtiCompiledMethodLoadInlineRecord *r = inline_record(info);
	uint32_t number = 0, id = 0, level = 0;
	struct method_info m;
	size_t inl_len = 0;
	char *d;

	if (b->addr && b->kind == VM_BLOB_NMETHOD) {
		id = vm_i32(b->addr, vm.o.nm_compile_id);
		level = vm_nmethod_level(b->addr);
		if (names_get(vm_word(b->addr, vm.o.nm_method), NAMES_TOLD, 0, NULL, &m) == NAMES_OK)
			number = m.id;
	}
	sys_lock(&cache_lock);
	if (!number)
		number = methods_number(ti, method);
	if (r && r->numpcs > 0 && (d = put_inlines(inline_buf, inline_buf + INLINE_MAX, r, b, addr)))
		inl_len = d - inline_buf;
	send_code(NULL, &(struct jvm_code){
		.time_ns = sys_now(), .addr = addr, .size = size, .method = number,
		.compile_id = id, .level = level, .begin = addr, .whole = size,
		.inl = (const uint8_t *)inline_buf, .inl_len = inl_len,
	});
	sys_unlock(&cache_lock);
	sample_code_announced(id);
}

static bool replaying;		/* only what was not announced */

static void JNICALL session_on_code(jvmtiEnv *jvmti, jmethodID method, jint size, const void *addr,
				    jint map_len, const jvmtiAddrLocationMap *map, const void *info)
{
	struct vm_blob b = { 0 };

	vm_update_heaps();
	/* the VM keeps the code alive while it reports it */
	if (!vm_find_blob((uintptr_t)addr, &b))
		b.addr = 0;
	if (replaying && b.addr && b.kind == VM_BLOB_NMETHOD &&
	    sample_code_is_announced(vm_i32(b.addr, vm.o.nm_compile_id)))
		return;
	if (!log_closed())
		write_code(&b, method, (uintptr_t)addr, size, info);
}

static void JNICALL on_code_gone(jvmtiEnv *jvmti, jmethodID method, const void *addr)
{
	/* without a compile id: the blob may be another method's already */
	send_code_gone(NULL, &(struct jvm_code_gone){ .time_ns = sys_now(), .addr = (uintptr_t)addr });
}

static void JNICALL on_stub(jvmtiEnv *jvmti, const char *name, const void *addr, jint size)
{
	size_t len = vm_stub_name(&name);

	vm_update_heaps();
	vm_find_first_thread();
	vm_note_stub(name, len, (uintptr_t)addr, size);
	ring_set_code_bounds(*vm.code_low, *vm.code_high);
	send_stub(NULL, &(struct jvm_stub){
		.time_ns = sys_now(), .addr = (uintptr_t)addr, .size = size,
		.name = name, .name_len = len,
	});
}

/*
 * Report code that the VM makes once, without an event: where calls go while an inline cache changes (before
 * JDK 23), and the code that lays out the arguments of interpreted native methods.
 */
static void tell_unannounced(void)
{
	static const char *const names[] = { "InlineCacheBuffer", "native signature handlers" };
	uintptr_t begin;
	size_t size, i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (vm_find_stubs(names[i], &begin, &size))
			on_stub(ti, names[i], (const void *)begin, size);
}

/* --- threads --- */

/* Return the group's name, to be deallocated; NULL: an ending thread has no group any more. */
static char *name_group(JNIEnv *env, jthreadGroup group)
{
	jvmtiThreadGroupInfo info = { 0 };

	if (!group || (*ti)->GetThreadGroupInfo(ti, group, &info) != JVMTI_ERROR_NONE)
		return NULL;
	if (info.parent)
		(*env)->DeleteLocalRef(env, info.parent);
	return info.name;
}

static void name_thread(JNIEnv *env, jthread thread, int tid)
{
	jvmtiThreadInfo info = { 0 };
	const char *name;
	char *group;

	if ((*ti)->GetThreadInfo(ti, thread, &info) != JVMTI_ERROR_NONE)
		return;
	group = name_group(env, info.thread_group);
	if (info.name) {
		name = ownthread_is(env, thread) ? JVM_OWN_THREAD : info.name;
		send_thread(NULL, &(struct jvm_thread){
			.time_ns = sys_now(), .thread = tid,
			.name = name, .name_len = str_len(name),
			.group = group ? group : "", .group_len = group ? str_len(group) : 0,
		});
		(*ti)->Deallocate(ti, (void *)info.name);
	}
	if (group)
		(*ti)->Deallocate(ti, (void *)group);
	if (info.thread_group)
		(*env)->DeleteLocalRef(env, info.thread_group);
	if (info.context_class_loader)
		(*env)->DeleteLocalRef(env, info.context_class_loader);
}

static jfieldID eetop;		/* Thread.eetop: the JavaThread, 0 when it is not running */

static void find_eetop(JNIEnv *env)
{
	jclass cls = (*env)->FindClass(env, "java/lang/Thread");

	if (cls)
		eetop = (*env)->GetFieldID(env, cls, "eetop", "J");
	if (!eetop)
		(*env)->ExceptionClear(env);
	(*env)->DeleteLocalRef(env, cls);
}

static uintptr_t java_thread(JNIEnv *env, jthread thread)
{
	return eetop ? (*env)->GetLongField(env, thread, eetop) : 0;
}

static void JNICALL session_on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	uintptr_t t = java_thread(env, thread);

	if (t)
		vm_add_this_thread(t);
	sample_keep_signal();
	name_thread(env, thread, sys_tid());
	vmevents_thread(ti, env, thread, false);
	timers_add_this_thread();
}

static void JNICALL session_on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	allocated_thread_ends(java_thread(env, thread));
	vm_remove_this_thread();
	name_thread(env, thread, sys_tid());
	vmevents_thread(ti, env, thread, true);
}

/* Report threads that started before the events were on, and names that have changed since. */
static void visit_all_threads(JNIEnv *env, bool add)
{
	jthread *threads, self;
	jint i, nr;

	if (!eetop || (*ti)->GetAllThreads(ti, &nr, &threads) != JVMTI_ERROR_NONE)
		return;
	if ((*ti)->GetCurrentThread(ti, &self) == JVMTI_ERROR_NONE && self) {
		vm_learn_this_thread(java_thread(env, self));
		(*env)->DeleteLocalRef(env, self);
	}
	for (i = 0; i < nr; i++) {
		uintptr_t t = java_thread(env, threads[i]);
		int tid = t ? vm_thread_tid(t) : 0;

		if (t && add)
			vm_add_thread(t);
		if (tid)
			name_thread(env, threads[i], tid);
		(*env)->DeleteLocalRef(env, threads[i]);
	}
	(*ti)->Deallocate(ti, (void *)threads);
}

/* --- the VM's life --- */

static void set_mode(jvmtiEventMode mode, const jvmtiEvent *events, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		(*ti)->SetEventNotificationMode(ti, mode, events[i], NULL);
}

static const jvmtiEvent vm_events[] = { JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_DYNAMIC_CODE_GENERATED };
static const jvmtiEvent code_events[] = {
	JVMTI_EVENT_COMPILED_METHOD_LOAD, JVMTI_EVENT_COMPILED_METHOD_UNLOAD,
};
static const jvmtiEvent thread_events[] = { JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END };

/* Compare our line table of a method that every JDK has with JVMTI's. */
static void try_lines(JNIEnv *env)
{
	static const char class_name[] = "java/lang/String", name[] = "hashCode", sig[] = "()I";
	jclass cls = (*env)->FindClass(env, class_name);
	jmethodID id = cls ? (*env)->GetMethodID(env, cls, name, sig) : NULL;
	uintptr_t m = id ? methods_find(id, class_name, name, sig) : 0;
	jvmtiLineNumberEntry *table;
	jint nr;

	(*env)->ExceptionClear(env);
	if (m && (*ti)->GetLineNumberTable(ti, id, &nr, &table) == JVMTI_ERROR_NONE) {
		facts_tried(FACTS_PROBE_lines, lines_try(vm_word(m, vm.o.method_const), table, nr));
		(*ti)->Deallocate(ti, (unsigned char *)table);
	}
	if (cls)
		(*env)->DeleteLocalRef(env, cls);
}

static void try_objects(JNIEnv *env)
{
	jthread self;

	if ((*ti)->GetCurrentThread(ti, &self) != JVMTI_ERROR_NONE || !self)
		return;
	facts_tried(FACTS_PROBE_objects, oops_try(env, self) && oops_stand());
	(*env)->DeleteLocalRef(env, self);
}

/* Test reading inlining from the code's debug information. If that fails, events report compiled code. */
static void try_scopes(void)
{
	bool holds = !sample_tells_places() || scopes_try();

	facts_tried(FACTS_PROBE_scopes, holds);
	if (holds)
		return;
	sample_forget_places();
	set_mode(JVMTI_ENABLE, code_events, ARRAY_SIZE(code_events));
}

static void session_on_live(JNIEnv *env)
{
	static bool before;

	if (!before) {
		vm_init_perf_counters();
		vm_init_signals();
		try_lines(env);
		try_objects(env);
		cont_init(env);
		find_eetop(env);
		before = true;
	}
	try_scopes();
	tell_unannounced();
	set_mode(JVMTI_ENABLE, thread_events, ARRAY_SIZE(thread_events));
	vm_find_first_thread();		/* of a VM that has run for long, this one serves as well */
	visit_all_threads(env, true);
	vm_end_threads();
}

static void JNICALL session_on_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	const bool told_places = sample_tells_places();

	session_on_live(env);
	if (told_places && !sample_tells_places())
		events_replay_code();
	timers_live(env);
	session_live(env);
	wall_live(env);
	sources_up(env);
	tallies_tell();
	stuck_watch(env);		/* from now on the recorder may change its mind */
}

/*
 * Load events come late, from a thread of their own: what a short program compiled last may
 * never be announced. Ask for it when it was on a stack.
 */
static void JNICALL on_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	session_death();
	wall_off();
	sources_death(env);
	if (!log_closed())
		tallies_tell();
	if (!log_closed())
		visit_all_threads(env, false);
	if (!log_closed() && sample_nr_unannounced())
		events_replay_code();
	session_end_journal();
	/* the thread that ends the VM gets no ThreadEnd, yet its JavaThread may go */
	vm_remove_this_thread();
}

static void JNICALL on_class_unload(jvmtiEnv *jvmti, ...)
{
	names_class_unloaded();
}

static void watch_unloading(bool on)
{
	jvmtiExtensionEventInfo *e;
	jint i, nr;

	if ((*ti)->GetExtensionEvents(ti, &nr, &e) != JVMTI_ERROR_NONE)
		return;
	for (i = 0; i < nr; i++)
		if (str_eq(e[i].id, "com.sun.hotspot.events.ClassUnload"))
			(*ti)->SetExtensionEventCallback(ti, e[i].extension_event_index,
							 on ? on_class_unload : NULL);
}

bool events_init(JavaVM *jvm)
{
	jvmtiCapabilities have, want;
	jvmtiEventCallbacks cb;

	methods_init(jvm);
	if (!inline_buf)
		inline_buf = sys_pages(INLINE_MAX);
	memset(&have, 0, sizeof(have));
	memset(&want, 0, sizeof(want));
	memset(&cb, 0, sizeof(cb));
	if (!inline_buf || (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK ||
	    (*ti)->GetPotentialCapabilities(ti, &have) != JVMTI_ERROR_NONE)
		return false;
	want.can_generate_compiled_method_load_events = have.can_generate_compiled_method_load_events;
	want.can_get_line_numbers = have.can_get_line_numbers;
	if ((*ti)->AddCapabilities(ti, &want) != JVMTI_ERROR_NONE)
		return false;
	cb.VMInit = session_on_init;
	cb.VMDeath = on_death;
	cb.ThreadStart = session_on_thread_start;
	cb.ThreadEnd = session_on_thread_end;
	cb.CompiledMethodLoad = session_on_code;
	cb.CompiledMethodUnload = on_code_gone;
	cb.DynamicCodeGenerated = on_stub;
	return (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) == JVMTI_ERROR_NONE;
}

static void forget_numbers(void)
{
	sys_lock(&cache_lock);
	memset(&cache, 0, sizeof(cache));
	sys_unlock(&cache_lock);
}

void events_on(JNIEnv *env)
{
	static const jvmtiEvent init[] = { JVMTI_EVENT_VM_INIT };

	replaying = false;
	forget_numbers();
	vm_begin_threads();
	set_mode(JVMTI_ENABLE, vm_events, ARRAY_SIZE(vm_events));
	if (!sample_tells_places())
		set_mode(JVMTI_ENABLE, code_events, ARRAY_SIZE(code_events));
	watch_unloading(true);
	if (!env) {
		set_mode(JVMTI_ENABLE, init, ARRAY_SIZE(init));
		return;
	}
	/* the walker must know stubs */
	(*ti)->GenerateEvents(ti, JVMTI_EVENT_DYNAMIC_CODE_GENERATED);
	session_on_live(env);
}

void events_replay_code(void)
{
	if (sample_tells_places())
		return;
	replaying = true;
	(*ti)->GenerateEvents(ti, JVMTI_EVENT_COMPILED_METHOD_LOAD);
}

void events_off(void)
{
	if (!ti)
		return;
	set_mode(JVMTI_DISABLE, vm_events, ARRAY_SIZE(vm_events));
	set_mode(JVMTI_DISABLE, code_events, ARRAY_SIZE(code_events));
	set_mode(JVMTI_DISABLE, thread_events, ARRAY_SIZE(thread_events));
	watch_unloading(false);
}
