// SPDX-License-Identifier: MIT
/*
 * vmevents.c - classes that are loaded, exceptions that are thrown, threads, memory that is exhausted
 * (vmevents.h). Exceptions are a source of samples, too (sources.h).
 *
 * They have a JVMTI environment of their own, so that its capabilities are there only when they are
 * asked for: that of exceptions makes every throw slower.
 */
#include "agent/agent.h"
#include "agent/calls/flow.h"
#include "agent/hashes.h"
#include "agent/hotspot/cont.h"
#include "agent/leaf.h"
#include "agent/ownthread.h"
#include "agent/ring.h"
#include "agent/sources/part.h"
#include "agent/sources/rate.h"
#include "agent/sources/sources.h"
#include "agent/sources/vmevents.h"
#include "agent/sys.h"

static jvmtiEnv *ti;			/* of all but threads; NULL: none of these is wanted */
static uint32_t on;			/* enum jvm_tell: what is reported now */
static uint32_t nr_inside;		/* threads that look up what is on, or report it */
static bool can_throw;
static bool throws_on;			/* the source is on, with this mean distance */
static uint64_t throws_interval;
static bool has_probes;			/* methods are watched by handlers of ours */
static uint64_t loaded_ns;		/* the VM began with us, and nobody listens yet; 0: else */

static void vmevents_leave(void)
{
	__atomic_fetch_sub(&nr_inside, 1, __ATOMIC_RELEASE);
}

/* Return true if the event is to be sent; the rings stay until vmevents_leave(). */
static bool vmevents_enter(uint32_t tell)
{
	__atomic_fetch_add(&nr_inside, 1, __ATOMIC_SEQ_CST);
	if (load_seq_cst(&on) & tell)
		return true;
	vmevents_leave();
	return false;
}

/* Send by the thread's ring, which takes no system call, or by the log when that is full. */
static void tell_event(struct jvm_event *e)
{
	struct jvm_ring *ring;
	struct vm_thread t;

	e->time_ns = e->time_ns ? e->time_ns : sys_now();
	e->thread = sys_tid();
	ring = ring_of(e->thread);
	vm_current_thread(&t, (uintptr_t)__builtin_frame_address(0));
	e->vthread = cont_vthread(&t, ring);
	e->duration_ns = e->values[1] = e->values[2] = UINT64_MAX;
	e->what_len = str_len(e->what);
	e->cause_len = e->cause ? str_len(e->cause) : 0;
	if (!send_event(ring, e))
		send_event(NULL, e);
}

static void vmevents_refuse(uint32_t tell, const char *why)
{
	if (tell)
		send_no_event(NULL, &(struct jvm_no_event){
			.time_ns = sys_now(), .tell = tell, .why = why, .why_len = str_len(why),
		});
}

static bool is_on(uint32_t tell)
{
	return load_relaxed(&on) & tell;
}

/* --- threads --- */

void vmevents_thread(jvmtiEnv *env, JNIEnv *jni, jthread thread, bool ends)
{
	jvmtiThreadInfo info = { 0 };

	if (ownthread_is(jni, thread) || !vmevents_enter(JVM_TELL_THREAD))
		return;		/* ours is not a thread of the program */
	if ((*env)->GetThreadInfo(env, thread, &info) == JVMTI_ERROR_NONE)
		tell_event(&(struct jvm_event){
			.kind = ends ? JVM_EVENT_THREAD_END : JVM_EVENT_THREAD_START,
			.what = info.name ? info.name : "",
			.cause = info.is_daemon ? "daemon" : NULL,
			.values = { UINT64_MAX },
		});
	(*env)->Deallocate(env, (void *)info.name);
	vmevents_leave();
}

/* --- classes --- */

struct text {
	char s[512];
	size_t len;
};

static void vmevents_put(struct text *t, const char *s)
{
	while (s && *s && t->len < sizeof(t->s) - 1)
		t->s[t->len++] = *s++;
	t->s[t->len] = 0;
}

static void put_hex(struct text *t, uint32_t v)
{
	char c[2] = { 0 };
	int shift = 28;

	while (shift && !(v >> shift))
		shift -= 4;
	for (; shift >= 0; shift -= 4) {
		c[0] = "0123456789abcdef"[v >> shift & 15];
		vmevents_put(t, c);
	}
}

/* Write short names for the three loaders that every JVM has; for others, class and identity. */
static void put_loader(struct text *t, JNIEnv *env, jobject loader)
{
	static const char builtin[] = "Ljdk/internal/loader/ClassLoaders$";
	jclass cls = (*env)->GetObjectClass(env, loader);
	char *sig = NULL;
	jint hash = 0;

	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE)
		return;
	if (!memcmp(sig, builtin, sizeof(builtin) - 1) && sig[sizeof(builtin) - 1] == 'A') {
		vmevents_put(t, "app");
	} else if (!memcmp(sig, builtin, sizeof(builtin) - 1) && sig[sizeof(builtin) - 1] == 'P') {
		vmevents_put(t, "platform");
	} else {
		(*ti)->GetObjectHashCode(ti, loader, &hash);
		vmevents_put(t, sig);
		vmevents_put(t, "@");
		put_hex(t, hash);
	}
	(*ti)->Deallocate(ti, (void *)sig);
	(*env)->DeleteLocalRef(env, cls);
}

/* Frames of these are the way from the cause to the load. */
static const char *const ways[] = {
	"Ljava/lang/Class;", "Ljava/lang/ClassLoader", "Ljdk/internal/loader/", "Ljava/net/URLClassLoader",
	"Ljava/security/SecureClassLoader", "Ljava/security/AccessController", "Ljava/lang/System$",
	"Ljava/lang/invoke/", "Ljava/lang/reflect/", "Ljdk/internal/reflect/",
};

static jclass class_loader;	/* java.lang.ClassLoader */

static bool vmevents_begins(const char *s, const char *with)
{
	while (*with && *s == *with) {
		s++;
		with++;
	}
	return !*with;
}

static bool is_way(JNIEnv *env, jclass cls, const char *sig)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (vmevents_begins(sig, ways[i]))
			return true;
	return class_loader && (*env)->IsAssignableFrom(env, cls, class_loader);
}

/* "java.lang.String.concat"; false: the method is one of a loader. */
static bool put_cause(struct text *t, JNIEnv *env, jmethodID method)
{
	char *sig = NULL, *name = NULL, *p;
	jclass cls = NULL;
	bool found = false;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &cls) != JVMTI_ERROR_NONE)
		return false;
	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE && !is_way(env, cls, sig) &&
	    (*ti)->GetMethodName(ti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE) {
		for (p = sig; *p && *p != ';'; p++)
			*p = *p == '/' ? '.' : *p;
		*p = 0;
		vmevents_put(t, sig + 1);
		vmevents_put(t, ".");
		vmevents_put(t, name);
		found = true;
	}
	(*ti)->Deallocate(ti, (void *)sig);
	(*ti)->Deallocate(ti, (void *)name);
	(*env)->DeleteLocalRef(env, cls);
	return found;
}

/*
 * Find the frame that caused the VM to load a class. HotSpot takes a microsecond and more for a frame. If the
 * VM resolves a class of its own loader, it is the first frame; other loaders have some ten of their own.
 */
static bool find_cause(struct text *t, JNIEnv *env)
{
	enum { FIRST = 2, FRAMES = 12, MOST = 50 };
	jvmtiFrameInfo frames[FRAMES];
	jint from, wanted = FIRST, nr, i;

	for (from = 0; from < MOST; from += wanted, wanted = FRAMES) {
		if ((*ti)->GetStackTrace(ti, NULL, from, wanted, frames, &nr) != JVMTI_ERROR_NONE)
			return false;
		for (i = 0; i < nr; i++)
			if (put_cause(t, env, frames[i].method))
				return true;
		if (nr < wanted)
			return false;
	}
	return false;
}

static void tell_cause(JNIEnv *env, const struct jvm_event *load)
{
	struct jvm_load_cause c = { .time_ns = load->time_ns, .thread = load->thread };
	struct text by = { .len = 0 };

	/* of a virtual thread it also says which one the VM's log means */
	if (!find_cause(&by, env) && !load->vthread)
		return;
	c.by = by.s;
	c.by_len = by.len;
	if (!send_load_cause(ring_of(c.thread), &c))
		send_load_cause(NULL, &c);
}

static void put_loader_of(struct text *t, JNIEnv *env, jclass cls)
{
	jobject loader = NULL;

	if ((*ti)->GetClassLoader(ti, cls, &loader) != JVMTI_ERROR_NONE || !loader) {
		vmevents_put(t, "boot");
		return;
	}
	put_loader(t, env, loader);
	(*env)->DeleteLocalRef(env, loader);
}

/*
 * A loader that gets a class of another one is reported, too: the class is not loaded again. So all that
 * are loaded are known here, including those from before we listened. Whether it is prepared, as most are
 * by then, says nothing: another thread may prepare a class before the event of its loader comes.
 */
enum { FEW_LOADED = 1 << 16 };
static struct hashes loaded;
static size_t many_loaded;		/* unloaded ones are forgotten then */
static struct sys_lock loaded_lock;

/* Note a class; return false if it was known. */
static bool vmevents_note(const char *sig, const struct text *loader)
{
	struct hashes_key k = HASHES_KEY;
	uint32_t *nr;
	bool is_new;

	hashes_text(&k, sig, str_len(sig));
	hashes_text(&k, loader->s, loader->len);
	sys_lock(&loaded_lock);
	nr = hashes_put(&loaded, &k);
	is_new = !nr || !*nr;
	if (nr)
		*nr = 1;
	sys_unlock(&loaded_lock);
	return is_new;
}

/* Report a class that was loaded before, by an unknown thread. */
static void tell_present(const char *sig, const struct text *loader, uint64_t time_ns)
{
	struct jvm_event e = {
		.time_ns = time_ns, .kind = JVM_EVENT_CLASS_PRESENT, .duration_ns = UINT64_MAX,
		.values = { UINT64_MAX, UINT64_MAX, UINT64_MAX },
		.what = sig, .what_len = str_len(sig), .cause = loader->s, .cause_len = loader->len,
	};

	if (!send_event(ring_of(sys_tid()), &e))
		send_event(NULL, &e);
}

/* Note a loaded class; tell_ns 0: do not report it. Return false for an array, which no loader loads. */
static bool note_loaded(JNIEnv *env, jclass cls, uint64_t tell_ns)
{
	struct text loader = { .len = 0 };
	char *sig = NULL;
	bool is_class;

	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE)
		return false;
	is_class = *sig == 'L';
	if (is_class) {
		put_loader_of(&loader, env, cls);
		if (vmevents_note(sig, &loader) && tell_ns)
			tell_present(sig, &loader, tell_ns);
	}
	(*ti)->Deallocate(ti, (void *)sig);
	return is_class;
}

/* Note all loaded classes; return how many there are. tell_ns: the time to report, or 0: report none. */
static uint64_t note_all_loaded(JNIEnv *env, uint64_t tell_ns)
{
	uint64_t nr_classes = 0;
	jclass *list;
	jint nr, i;

	sys_lock(&loaded_lock);
	hashes_forget(&loaded);
	many_loaded = SIZE_MAX;
	sys_unlock(&loaded_lock);
	if ((*ti)->GetLoadedClasses(ti, &nr, &list) != JVMTI_ERROR_NONE)
		return 0;
	for (i = 0; i < nr; i++) {
		nr_classes += note_loaded(env, list[i], tell_ns);
		(*env)->DeleteLocalRef(env, list[i]);
	}
	(*ti)->Deallocate(ti, (void *)list);
	sys_lock(&loaded_lock);
	many_loaded = loaded.nr < FEW_LOADED / 2 ? FEW_LOADED : loaded.nr * 2;
	sys_unlock(&loaded_lock);
	return nr_classes;
}

/*
 * Note all loaded classes anew, to forget unloaded ones. Readers drop classes that another thread has
 * reported, too.
 */
static void forget_unloaded(JNIEnv *env)
{
	bool many;

	sys_lock(&loaded_lock);
	many = loaded.nr > many_loaded;
	sys_unlock(&loaded_lock);
	if (many)
		note_all_loaded(env, 0);
}

static void tell_class(JNIEnv *env, const char *sig, const struct text *loader, uint64_t time_ns)
{
	struct jvm_event e = {
		.time_ns = time_ns, .kind = JVM_EVENT_CLASS_LOAD, .what = sig, .cause = loader->s,
		.values = { UINT64_MAX },
	};

	tell_event(&e);
	tell_cause(env, &e);
}

/* Return whether it is "LFoo.0x000055d0;", which no loader gets from another one. */
static bool is_hidden(const char *sig)
{
	while (*sig && *sig != '.')
		sig++;
	return *sig;
}

static void JNICALL on_class(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass cls)
{
	const uint64_t now = sys_now();
	struct text loader = { .len = 0 };
	char *sig = NULL;

	if (!vmevents_enter(JVM_TELL_CLASS))
		return;
	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE) {
		put_loader_of(&loader, env, cls);
		if (is_hidden(sig) || vmevents_note(sig, &loader))
			tell_class(env, sig, &loader, now);
		forget_unloaded(env);
	}
	(*ti)->Deallocate(ti, (void *)sig);
	vmevents_leave();
}

static void find_class_loader(JNIEnv *env)
{
	jclass cls = class_loader ? NULL : (*env)->FindClass(env, "java/lang/ClassLoader");

	if (!cls)
		return;
	class_loader = (*env)->NewGlobalRef(env, cls);
	(*env)->DeleteLocalRef(env, cls);
}

/* --- exceptions --- */

static void put_method(struct text *t, JNIEnv *env, jmethodID method)
{
	char *name = NULL, *sig = NULL;
	jclass cls = NULL;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &cls) != JVMTI_ERROR_NONE)
		return;
	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE &&
	    (*ti)->GetMethodName(ti, method, &name, NULL, NULL) == JVMTI_ERROR_NONE) {
		vmevents_put(t, sig);
		vmevents_put(t, ".");
		vmevents_put(t, name);
	}
	(*ti)->Deallocate(ti, (void *)sig);
	(*ti)->Deallocate(ti, (void *)name);
	(*env)->DeleteLocalRef(env, cls);
}

/* Return whether this exception is to be a sample for the context. */
static bool is_chosen(uint32_t *doubled)
{
	const uint64_t interval = load_relaxed(&throws_interval);

	return rate_chooses(1, 0, interval) && rate_takes(JVM_SOURCE_THROW, 1, interval, doubled);
}

static void tell_throw(JNIEnv *env, uint64_t now, const char *sig, jmethodID method, bool caught)
{
	struct text from = { .len = 0 };

	put_method(&from, env, method);
	tell_event(&(struct jvm_event){
		.time_ns = now, .kind = JVM_EVENT_EXCEPTION, .what = sig, .cause = from.s,
		.values = { caught },
	});
}

/* Called before the catcher runs; an exception that passes native code is thrown again behind it. */
static void JNICALL on_exception(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jmethodID method,
				 jlocation location, jobject exception, jmethodID catcher, jlocation where)
{
	const uint64_t now = sys_now();
	bool told = is_on(JVM_TELL_EXCEPTION), sampled = load_relaxed(&throws_on);
	uint32_t doubled = 0;
	char *sig = NULL;
	jclass cls;

	if (!(told || sampled) || (has_probes && probe_rethrew(env)))
		return;
	sampled = sampled && is_chosen(&doubled);
	if (!told && !sampled)
		return;
	cls = (*env)->GetObjectClass(env, exception);
	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE) {
		if (sampled)
			sources_sample(JVM_SOURCE_THROW, 1, leaf_number(JVM_LEAF_CLASS, sig, str_len(sig)),
				       doubled);
		if (told && vmevents_enter(JVM_TELL_EXCEPTION)) {
			tell_throw(env, now, sig, method, catcher != NULL);
			vmevents_leave();
		}
		(*ti)->Deallocate(ti, (void *)sig);
	}
	(*env)->DeleteLocalRef(env, cls);
}

/* --- memory --- */

static void JNICALL on_exhausted(jvmtiEnv *jvmti, JNIEnv *env, jint flags, const void *reserved,
				 const char *text)
{
	if (!vmevents_enter(JVM_TELL_OOM))
		return;
	tell_event(&(struct jvm_event){
		.kind = JVM_EVENT_OUT_OF_MEMORY, .values = { UINT64_MAX },
		.what = text ? text : flags & JVMTI_RESOURCE_EXHAUSTED_THREADS ? "threads" : "memory",
	});
	vmevents_leave();
}

/*
 * Return whether the VM has events for exhausted memory. Any VM can get the capability at any time, and it
 * costs nothing before.
 */
static bool can_be_exhausted(void)
{
	jvmtiCapabilities have, want;

	memset(&have, 0, sizeof(have));
	memset(&want, 0, sizeof(want));
	if ((*ti)->GetPotentialCapabilities(ti, &have) != JVMTI_ERROR_NONE)
		return false;
	want.can_generate_resource_exhaustion_heap_events = have.can_generate_resource_exhaustion_heap_events;
	want.can_generate_resource_exhaustion_threads_events =
		have.can_generate_resource_exhaustion_threads_events;
	return want.can_generate_resource_exhaustion_heap_events &&
	       (*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE;
}

/* --- on and off --- */

/* those that need an environment, with their events */
static const struct {
	uint32_t tell;
	jvmtiEvent event;
} by_event[] = {
	{ JVM_TELL_CLASS, JVMTI_EVENT_CLASS_LOAD }, { JVM_TELL_EXCEPTION, JVMTI_EVENT_EXCEPTION },
	{ JVM_TELL_OOM, JVMTI_EVENT_RESOURCE_EXHAUSTED },
};

enum { BY_EVENT = JVM_TELL_CLASS | JVM_TELL_EXCEPTION | JVM_TELL_OOM };

static void set_modes(uint32_t tell, bool enable)
{
	size_t i;

	if (throws_on)		/* its event stays as it is */
		tell &= ~(uint32_t)JVM_TELL_EXCEPTION;
	for (i = 0; i < ARRAY_SIZE(by_event); i++)
		if (tell & by_event[i].tell)
			(*ti)->SetEventNotificationMode(ti, enable ? JVMTI_ENABLE : JVMTI_DISABLE,
							by_event[i].event, NULL);
}

static bool have_environment(JavaVM *jvm)
{
	jvmtiEventCallbacks cb;

	if (ti)
		return true;
	memset(&cb, 0, sizeof(cb));
	cb.ClassLoad = on_class;
	cb.Exception = on_exception;
	cb.ResourceExhausted = on_exhausted;
	return (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) == JNI_OK &&
	       (*ti)->SetEventCallbacks(ti, &cb, sizeof(cb)) == JVMTI_ERROR_NONE;
}

static bool take_capability(void)
{
	jvmtiCapabilities have, want;

	memset(&have, 0, sizeof(have));
	memset(&want, 0, sizeof(want));
	if ((*ti)->GetPotentialCapabilities(ti, &have) != JVMTI_ERROR_NONE ||
	    !have.can_generate_exception_events)
		return false;
	want.can_generate_exception_events = 1;
	return (*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE;
}

void vmevents_load(JavaVM *jvm)
{
	loaded_ns = ring_ctl()->tell ? sys_now() : 0;
	if ((ring_ctl()->tell | ring_ctl()->may_tell) & JVM_TELL_EXCEPTION && have_environment(jvm))
		can_throw = take_capability();
}

static const char only_at_start[] =
	"a JVM reports exceptions only if it was started with the agent and these events";

static const char *throws_begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	if (!can_throw)
		return only_at_start;
	has_probes = ring_ctl()->flags & JVM_CALLFLOW;
	set_modes(JVM_TELL_EXCEPTION, true);
	store_relaxed(&throws_interval, interval);
	store_relaxed(&throws_on, true);
	return NULL;
}

static bool throws_end(JNIEnv *env)
{
	if (!throws_on)
		return true;
	store_relaxed(&throws_on, false);
	if (!is_on(JVM_TELL_EXCEPTION))
		set_modes(JVM_TELL_EXCEPTION, false);
	return true;
}

const struct part throw_part = { .source = JVM_SOURCE_THROW, .on = throws_begin, .off = throws_end };

/* --- what was before --- */

/* The VM counts these from its start, and reports them later. */
static const struct {
	uint32_t tell;
	const char *what;
	const char *counters[3];	/* of which the sum is that; NULL: no more */
} counted[] = {
	{ JVM_TELL_SAFEPOINT, "safepoints", { "sun.rt.safepoints" } },
	{ JVM_TELL_GC, "collections", { "sun.gc.collector.0.invocations", "sun.gc.collector.1.invocations",
					"sun.gc.collector.2.invocations" } },
	{ JVM_TELL_JIT, "compilations", { "sun.ci.totalCompiles" } },
	{ JVM_TELL_THREAD, "threads started", { "java.threads.started" } },
};

enum { NOT_COUNTED = -1 };

struct before {
	uint64_t ns;			/* since we were loaded */
	int64_t n[ARRAY_SIZE(counted)];
};

static void look_before(struct before *b)
{
	size_t i, k;

	b->ns = sys_now() - loaded_ns;
	for (i = 0; i < ARRAY_SIZE(counted); i++) {
		b->n[i] = NOT_COUNTED;
		for (k = 0; k < ARRAY_SIZE(counted[i].counters) && counted[i].counters[k]; k++) {
			const int64_t *n = vm_counter(counted[i].counters[k]);

			if (n)
				b->n[i] = (b->n[i] == NOT_COUNTED ? 0 : b->n[i]) + *n;
		}
	}
}

static void vmevents_put_number(struct text *t, uint64_t v)
{
	char digits[24];
	size_t at = sizeof(digits) - 1;

	digits[at] = 0;
	do
		digits[--at] = '0' + v % 10;
	while (v /= 10);
	vmevents_put(t, digits + at);
}

/* Write a count; NOT_COUNTED: this VM does not have it. */
static void put_count(struct text *t, const char *what, int64_t n)
{
	vmevents_put(t, t->len ? ", " : "");
	vmevents_put(t, what);
	vmevents_put(t, ": ");
	if (n == NOT_COUNTED)
		vmevents_put(t, "not known");
	else
		vmevents_put_number(t, n);
}

/*
 * Report how much there was in a VM that has just started before we listened, so that the events are not
 * taken for all.
 */
static void tell_before(const struct before *b, uint32_t tell, uint64_t nr_classes)
{
	struct text t = { .len = 0 };
	uint32_t told = 0;
	size_t i;

	if (tell & JVM_TELL_CLASS && nr_classes) {
		put_count(&t, "classes loaded", nr_classes);
		told |= JVM_TELL_CLASS;
	}
	for (i = 0; i < ARRAY_SIZE(counted); i++) {
		if (!(tell & counted[i].tell) || !b->n[i])
			continue;
		put_count(&t, counted[i].what, b->n[i]);
		told |= counted[i].tell;
	}
	vmevents_put(&t, " before the agent listened, ");
	vmevents_put_number(&t, b->ns / 1000000);
	vmevents_put(&t, " ms after the JVM loaded it");
	vmevents_refuse(told, t.s);
}

/* log: those of them that the VM is to begin to log. */
static void begin_to_tell(JavaVM *jvm, JNIEnv *env, uint32_t tell, uint32_t log)
{
	const bool first = loaded_ns;
	const char *why = NULL;
	uint64_t nr_classes = 0;
	struct before before;
	uint32_t refused;
	bool deopts;

	has_probes = ring_ctl()->flags & JVM_CALLFLOW;
	if (first)
		look_before(&before);
	loaded_ns = 0;
	if (tell & BY_EVENT && !have_environment(jvm))
		tell &= ~(uint32_t)BY_EVENT;
	if (tell & JVM_TELL_EXCEPTION && !can_throw) {
		vmevents_refuse(JVM_TELL_EXCEPTION, only_at_start);
		tell &= ~(uint32_t)JVM_TELL_EXCEPTION;
	}
	if (tell & JVM_TELL_OOM && !can_be_exhausted()) {
		vmevents_refuse(JVM_TELL_OOM, "this JVM does not report exhausted memory");
		tell &= ~(uint32_t)JVM_TELL_OOM;
	}
	if (tell & JVM_TELL_CLASS)
		find_class_loader(env);
	refused = vmlog_on(env, log, &why, &deopts);
	vmevents_refuse(refused, why);
	if (!deopts && !(refused & JVM_TELL_JIT))
		vmevents_refuse(JVM_TELL_DEOPT, "its log has none before JDK 18");
	if (tell & JVM_TELL_CLASS && !is_on(JVM_TELL_CLASS))	/* to begin the log loads some */
		nr_classes = note_all_loaded(env, sys_now());
	store_seq_cst(&on, tell);
	set_modes(tell, true);
	if (first)
		tell_before(&before, tell & ~refused, nr_classes);
}

void vmevents_on(JavaVM *jvm, JNIEnv *env)
{
	const struct jvm_ctl *ctl = ring_ctl();
	uint32_t tell = ctl->tell;

	if (load_acquire(&ctl->change) != load_relaxed(&ctl->changed))
		tell &= ~(uint32_t)JVM_TELL_BY_LOG;	/* the file comes with the message */
	if (tell)
		begin_to_tell(jvm, env, tell, tell);
}

/*
 * Disable the events. The environment stays, since a callback may still run; without its events it costs
 * nothing.
 */
static void stop_telling(uint32_t now)
{
	uint32_t gone = load_relaxed(&on) & ~now;

	store_seq_cst(&on, now);
	set_modes(gone, false);
}

/*
 * Change what the VM's log has; it gets a new file each time. A log that had not begun when the recorder
 * asked for something else (vmevents_on) has the file that came first.
 */
void vmevents_change(JavaVM *jvm, JNIEnv *env, int log_fd)
{
	uint32_t tell = ring_ctl()->tell, was = load_relaxed(&on), log = 0;

	if ((tell ^ was) & JVM_TELL_BY_LOG) {
		if (was & JVM_TELL_BY_LOG)
			vmlog_off(env);
		log = tell & JVM_TELL_BY_LOG;
	}
	stop_telling(was & tell);
	if (log_fd >= 0)
		vmlog_take(log_fd);
	if (tell & ~was || log)
		begin_to_tell(jvm, env, tell, log);
	vmlog_take(-1);
}

bool vmevents_off(JNIEnv *env)
{
	enum { WAIT_MS = 10000 };
	int ms;

	stop_telling(0);
	vmlog_off(env);
	for (ms = 0; load_acquire(&nr_inside) && ms < WAIT_MS; ms++)
		sys_sleep_ms(1);
	return !load_acquire(&nr_inside);
}
