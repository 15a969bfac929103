// SPDX-License-Identifier: MIT
/*
 * instrument.c - which classes get probes, and putting them in (flow.h).
 *
 * A class comes here when it is loaded, redefined or retransformed, with the bytes that earlier
 * agents made of it; what it gets is decided by the recorder's rules, else by its loader.
 * Whatever goes wrong leaves the class as it is.
 */
#include "agent/calls/flow.h"
#include "agent/calls/numbers.h"
#include "agent/sys.h"
#include "callflow/filter.h"
#include "classfile/rewrite.h"

/* --- classes that never get probes --- */

/*
 * Classes of java.base in which a probe would meet a thread that is neither a virtual thread nor its carrier,
 * and our own. A '*' at the end matches any rest.
 */
static const char *const untouchable[] = {
	HELPER_CLASS,
	HELPER_INIT_CLASS,
	"java/lang/VirtualThread*",
	"java/lang/BaseVirtualThread",
	"jdk/internal/vm/*",
};

static bool matches(const char *pattern, const char *name, size_t len)
{
	size_t i;

	for (i = 0; pattern[i] && pattern[i] != '*'; i++)
		if (i >= len || pattern[i] != name[i])
			return false;
	return pattern[i] == '*' || i == len;
}

static bool is_ours(const char *name, size_t len)
{
	return matches(HELPER_CLASS, name, len) || matches(HELPER_INIT_CLASS, name, len);
}

static bool is_untouchable(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(untouchable); i++)
		if (matches(untouchable[i], name, len))
			return true;
	return false;
}

/* --- selected classes --- */

static jobject platform_loader;		/* the extension loader before JDK 9 */
static bool by_loader;			/* no rule is about methods: application classes */

static void find_platform_loader(JNIEnv *env)
{
	jclass cls = (*env)->FindClass(env, "java/lang/ClassLoader");
	jmethodID get = NULL;
	jobject loader = NULL;

	if (cls)
		get = (*env)->GetStaticMethodID(env, cls, "getPlatformClassLoader", "()Ljava/lang/ClassLoader;");
	if (get)
		loader = (*env)->CallStaticObjectMethod(env, cls, get);
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	if (loader)
		platform_loader = (*env)->NewGlobalRef(env, loader);
}

/* Return whether it is a class that HotSpot's reflection generates, each in a loader of its own. */
static bool is_accessor(const char *name, size_t len)
{
	return matches("jdk/internal/reflect/*", name, len) || matches("sun/reflect/*", name, len);
}

/* Report a selected class that has no probes. */
static void refuse_class(const char *name, size_t len, const char *why)
{
	struct names_method names = { .class_name = { name, len } };

	if (!log_closed())
		numbers_refused(&names, why);
}

static bool is_class_wanted(JNIEnv *env, jobject loader, const char *name, size_t len)
{
	if (is_untouchable(name, len)) {
		if (!by_loader && !is_ours(name, len) && callflow_may_want_class(callflow_rules(), name, len))
			refuse_class(name, len, "in it the JVM passes from one thread to another");
		return false;
	}
	if (!by_loader)
		return callflow_may_want_class(callflow_rules(), name, len);
	return loader && !is_accessor(name, len) &&
	       !(platform_loader && (*env)->IsSameObject(env, loader, platform_loader));
}

/* --- memory for the rewriter --- */

/*
 * Chunks are reused; what a class of unusual size needed is unmapped. An arena belongs to one thread at a
 * time.
 */
enum { CHUNK_BYTES = 1 << 20, MAX_CHUNKS = 64, NR_ARENAS = 8 };

struct arena {
	struct {
		char *p;
		size_t size;
	} chunks[MAX_CHUNKS];
	size_t nr_chunks, used;		/* used: of the last chunk */
};

static struct arena arenas[NR_ARENAS];
static bool arena_taken[NR_ARENAS];
static struct sys_lock overflow;	/* the last arena is waited for */

static struct arena *take_arena(void)
{
	size_t i;

	for (i = 0; i < NR_ARENAS - 1; i++)
		if (!__atomic_exchange_n(&arena_taken[i], true, __ATOMIC_ACQUIRE))
			return &arenas[i];
	sys_lock(&overflow);
	return &arenas[NR_ARENAS - 1];
}

static void give_arena(struct arena *a)
{
	while (a->nr_chunks > 1) {
		a->nr_chunks--;
		sys(__NR_munmap, a->chunks[a->nr_chunks].p, a->chunks[a->nr_chunks].size);
	}
	a->used = 0;
	if (a == &arenas[NR_ARENAS - 1])
		sys_unlock(&overflow);
	else
		store_release(&arena_taken[a - arenas], false);
}

static void *arena_mem(void *ctx, size_t size)
{
	struct arena *a = ctx;
	size_t want;
	char *p;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	if (!a->nr_chunks || size > a->chunks[a->nr_chunks - 1].size - a->used) {
		want = size > CHUNK_BYTES ? (size + 4095) & ~(size_t)4095 : CHUNK_BYTES;
		p = a->nr_chunks < MAX_CHUNKS ? sys_pages(want) : NULL;
		if (!p)
			return NULL;
		a->chunks[a->nr_chunks].p = p;
		a->chunks[a->nr_chunks++].size = want;
		a->used = 0;
	}
	p = a->chunks[a->nr_chunks - 1].p + a->used;
	a->used += size;
	return p;
}

/* --- one class --- */

static struct names_text text(const struct classfile_text *t)
{
	return (struct names_text){ t->p, t->len };
}

static struct names_method names_of(const struct classfile_method *m)
{
	return (struct names_method){
		.class_name = text(&m->class_name),
		.name = text(&m->name),
		.sig = text(&m->descriptor),
	};
}

static int32_t select_method(void *ctx, const struct classfile_method *m)
{
	const struct callflow_method asked = {
		{ m->class_name.p, m->class_name.len },
		{ m->name.p, m->name.len },
		{ m->descriptor.p, m->descriptor.len },
	};
	struct names_method names = names_of(m);
	uint32_t number;

	if (!by_loader && !callflow_wants_method(callflow_rules(), &asked))
		return CLASSFILE_LEAVE_ALONE;
	if (m->intrinsic) {
		numbers_refused(&names, "the compiler may replace its calls");
		return CLASSFILE_LEAVE_ALONE;
	}
	number = numbers_get(&names);
	if (number && number <= CALLFLOW_NUMBER)
		return (int32_t)number;
	numbers_refused(&names, classfile_reason_text(CLASSFILE_NO_MEMORY));
	return CLASSFILE_LEAVE_ALONE;
}

static void skipped(void *ctx, const struct classfile_method *m, enum classfile_reason reason)
{
	struct names_method names = names_of(m);

	numbers_refused(&names, classfile_reason_text(reason));
}

/* Make the class with probes in a's memory; return false if it stays as it is. */
static bool rewrite_in(struct arena *a, const void *data, jint len, struct classfile_out *out)
{
	bool sites = callflow_area()->flags & CALLFLOW_SITES;
	struct classfile_probe probe = {
		.helper = HELPER_CLASS,
		.enter = HELPER_ENTER,
		.exit = HELPER_EXIT,
		.thrown = HELPER_THROWN,
		.caught = HELPER_CAUGHT,
		.count = callflow_wants_metric(CALLFLOW_BYTECODES) ? HELPER_COUNT : NULL,
		.line = sites ? HELPER_LINE : NULL,
		.bci = sites ? HELPER_BCI : NULL,
		.select = select_method,
		.skipped = skipped,
		.mem = arena_mem,
		.mem_ctx = a,
	};

	return classfile_rewrite(data, len, &probe, out) == CLASSFILE_OK && out->data;
}

static void rewrite_class(jvmtiEnv *ti, const unsigned char *data, jint len, jint *new_len,
			  unsigned char **new_data)
{
	struct arena *a = take_arena();
	struct classfile_out out;
	unsigned char *copy;

	if (rewrite_in(a, data, len, &out)) {
		if ((*ti)->Allocate(ti, out.len, &copy) == JVMTI_ERROR_NONE) {
			memcpy(copy, out.data, out.len);
			callflow_bracket_methods(out.nr_rewritten);
			*new_len = out.len;
			*new_data = copy;
		} else {
			struct classfile_text name = classfile_name(data, len);

			refuse_class(name.p, name.len, classfile_reason_text(CLASSFILE_NO_MEMORY));
		}
	}
	give_arena(a);
}

/* --- hidden classes --- */

/* Classes whose frames are between the caller of defineHiddenClass() and the VM. */
static const char *const between[] = {
	"java/lang/ClassLoader", "java/lang/System$*", "java/lang/invoke/MethodHandles*", "java/lang/invoke/LambdaForm$*",
	"java/lang/invoke/DirectMethodHandle*", "java/lang/invoke/Invokers*", "java/lang/reflect/Method",
	"jdk/internal/reflect/*",
};

static bool is_between(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(between); i++)
		if (matches(between[i], name, len))
			return true;
	return false;
}

/* Return whether the method's class is one of those between; *by_jdk: whether it belongs to the JDK. */
static bool look_at_caller(JNIEnv *env, jvmtiEnv *ti, jmethodID method, bool *by_jdk)
{
	jobject loader = NULL;
	char *sig = NULL;
	jclass cls;
	bool passed;

	if ((*ti)->GetMethodDeclaringClass(ti, method, &cls) != JVMTI_ERROR_NONE)
		return false;
	passed = (*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE && sig &&
		 is_between(sig + 1, str_len(sig) - 2);
	*by_jdk = (*ti)->GetClassLoader(ti, cls, &loader) == JVMTI_ERROR_NONE && !loader;
	(*ti)->Deallocate(ti, (void *)sig);
	(*env)->DeleteLocalRef(env, cls);
	if (loader)
		(*env)->DeleteLocalRef(env, loader);
	return passed;
}

/*
 * Return whether the JDK defines a hidden class for itself, such as a lambda's proxy, a method handle's form
 * or a switch: it is not the program's.
 */
static bool is_defined_by_jdk(JNIEnv *env, jvmtiEnv *ti)
{
	jvmtiFrameInfo frames[24];
	bool by_jdk = true;
	jint i, nr = 0;

	if ((*ti)->GetStackTrace(ti, NULL, 0, ARRAY_SIZE(frames), frames, &nr) != JVMTI_ERROR_NONE)
		return true;
	for (i = 0; i < nr && look_at_caller(env, ti, frames[i].method, &by_jdk); i++)
		;
	return by_jdk;
}

static bool wanted_hidden(JNIEnv *env, jvmtiEnv *ti, jclass lookup, const char *name, size_t len)
{
	jobject loader = NULL;
	bool want;

	if ((*ti)->GetClassLoader(ti, lookup, &loader) != JVMTI_ERROR_NONE)
		return false;
	want = is_class_wanted(env, loader, name, len);
	if (loader)
		(*env)->DeleteLocalRef(env, loader);
	return want;
}

void instrument_hidden(jvmtiEnv *ti, JNIEnv *env, jclass lookup, struct instrumented *in)
{
	struct classfile_text name = classfile_name(in->data, in->len);
	struct classfile_out out;
	struct arena *a;

	if (!name.p || log_closed() || !wanted_hidden(env, ti, lookup, name.p, name.len) ||
	    is_defined_by_jdk(env, ti))
		return;
	a = take_arena();
	if (!rewrite_in(a, in->data, in->len, &out)) {
		give_arena(a);
		return;
	}
	callflow_bracket_methods(out.nr_rewritten);
	*in = (struct instrumented){ .data = out.data, .len = out.len, .arena = a };
}

void instrument_hidden_done(struct instrumented *in)
{
	if (in->arena)
		give_arena(in->arena);
}

void JNICALL instrument_hook(jvmtiEnv *ti, JNIEnv *env, jclass redefined, jobject loader, const char *name,
			     jobject domain, jint len, const unsigned char *data, jint *new_len,
			     unsigned char **new_data)
{
	struct classfile_text t = { name, name ? str_len(name) : 0 };

	if (!name)
		t = classfile_name(data, len);
	if (t.p && !log_closed() && is_class_wanted(env, loader, t.p, t.len))
		rewrite_class(ti, data, len, new_len, new_data);
}

/* --- classes loaded before --- */

/*
 * Retransforming takes a safepoint and a wave of deoptimisation; too many classes at once would stop the
 * program for long.
 */
enum { BATCH = 50 };

static void name_failed(jvmtiEnv *ti, jclass cls)
{
	char *sig = NULL;

	if ((*ti)->GetClassSignature(ti, cls, &sig, NULL) == JVMTI_ERROR_NONE && sig) {
		refuse_class(sig + 1, str_len(sig) - 2, "the JVM refused the class with probes");
		(*ti)->Deallocate(ti, (void *)sig);
	}
}

static void retransform(jvmtiEnv *ti, jclass *classes, jint nr)
{
	jint i;

	if (!nr || (*ti)->RetransformClasses(ti, nr, classes) == JVMTI_ERROR_NONE)
		return;
	for (i = 0; nr > 1 && i < nr; i++)
		if ((*ti)->RetransformClasses(ti, 1, &classes[i]) != JVMTI_ERROR_NONE)
			name_failed(ti, classes[i]);
	if (nr == 1)
		name_failed(ti, classes[0]);
}

/*
 * Return the length of the name of a hidden class, "LName.0x01234567;", without what the JVM adds; 0: it is
 * not hidden.
 */
static size_t hidden_len(const char *sig)
{
	size_t i;

	for (i = 1; sig[0] == 'L' && sig[i]; i++)
		if (sig[i] == '.' || sig[i] == '+')
			return i - 1;
	return 0;
}

/*
 * Return whether the JDK defined the class, by its name (Name$$Lambda, Name$$TypeSwitch); the definer is not
 * known any more.
 */
static bool has_double_dollar(const char *sig)
{
	for (; *sig; sig++)
		if (sig[0] == '$' && sig[1] == '$')
			return true;
	return false;
}

static bool wanted_class(JNIEnv *env, jvmtiEnv *ti, jclass cls)
{
	jboolean modifiable = JNI_FALSE;
	jobject loader = NULL;
	char *sig = NULL;
	bool want = false;

	if ((*ti)->IsModifiableClass(ti, cls, &modifiable) != JVMTI_ERROR_NONE ||
	    (*ti)->GetClassSignature(ti, cls, &sig, NULL) != JVMTI_ERROR_NONE || !sig)
		return false;
	if (!modifiable && hidden_len(sig) && !has_double_dollar(sig) &&
	    wanted_hidden(env, ti, cls, sig + 1, hidden_len(sig)))
		refuse_class(sig + 1, hidden_len(sig), "a hidden class from before counting began");
	if (modifiable && sig[0] == 'L' && (*ti)->GetClassLoader(ti, cls, &loader) == JVMTI_ERROR_NONE)
		want = is_class_wanted(env, loader, sig + 1, str_len(sig) - 2);
	if (loader)
		(*env)->DeleteLocalRef(env, loader);
	(*ti)->Deallocate(ti, (void *)sig);
	return want;
}

void instrument_loaded(JNIEnv *env, jvmtiEnv *ti, bool undo)
{
	jclass *classes, batch[BATCH];
	jint i, nr, nr_batch = 0;

	if ((*ti)->GetLoadedClasses(ti, &nr, &classes) != JVMTI_ERROR_NONE)
		return;
	for (i = 0; i < nr && (undo || !log_closed()); i++) {
		if (wanted_class(env, ti, classes[i]))
			batch[nr_batch++] = classes[i];
		if (nr_batch == BATCH || i == nr - 1) {
			retransform(ti, batch, nr_batch);
			nr_batch = 0;
		}
	}
	for (i = 0; i < nr; i++)
		(*env)->DeleteLocalRef(env, classes[i]);
	(*ti)->Deallocate(ti, (void *)classes);
}

void instrument_init(JNIEnv *env)
{
	by_loader = callflow_rules_no_methods(callflow_rules());
	if (by_loader && !platform_loader)
		find_platform_loader(env);
}
