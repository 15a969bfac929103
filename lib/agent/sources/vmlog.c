// SPDX-License-Identifier: MIT
/*
 * vmlog.c - the VM's own log (-Xlog), as far as it is asked for, into a file of the recorder's.
 *
 * HotSpot reports every safepoint, collection and compilation there, with exact times and causes; no
 * other source without privileges does. What it writes is set while it runs by the diagnostic command VM.log,
 * which "jcmd" sends; here the native method behind the management bean is called, without any bean. The
 * output is one of its own: those that the user has configured stay as they are. The file is known by its
 * descriptor alone, so that nothing is left in any folder.
 *
 * Lines are read by the recorder: jvm/vmlog.h.
 */
#include "agent/sources/vmevents.h"
#include "agent/sys.h"
#include "jvm/proto.h"

static int file = -1;
static char output[64];		/* how the VM knows it; empty: it does not */

struct text {
	char s[256];
	size_t len;
};

static void vmlog_put(struct text *t, const char *s)
{
	while (*s && t->len < sizeof(t->s) - 1)
		t->s[t->len++] = *s++;
	t->s[t->len] = 0;
}

void vmlog_take(int fd)
{
	if (file >= 0)
		sys(__NR_close, file);
	file = fd;
}

static void name_output(void)
{
	struct text t = { .len = 0 };
	char digits[12];
	int i = sizeof(digits) - 1, n = file;

	digits[i] = 0;
	do
		digits[--i] = '0' + n % 10;
	while (n /= 10);
	vmlog_put(&t, "/proc/self/fd/");
	vmlog_put(&t, digits + i);
	memcpy(output, t.s, t.len + 1);
}

/* --- the diagnostic command --- */

struct command {
	JNIEnv *env;
	jobject self;
	jmethodID execute;
};

static bool failed(JNIEnv *env)
{
	if (!(*env)->ExceptionCheck(env))
		return false;
	(*env)->ExceptionClear(env);
	return true;
}

/*
 * Find the command. Its object needs no state: the method is native, and the class beside it loads the
 * library.
 */
static bool find_command(JNIEnv *env, struct command *c)
{
	jclass library = (*env)->FindClass(env, "com/sun/management/internal/PlatformMBeanProviderImpl");
	jclass cls = library ? (*env)->FindClass(env, "com/sun/management/internal/DiagnosticCommandImpl")
			     : NULL;

	c->env = env;
	c->self = cls ? (*env)->AllocObject(env, cls) : NULL;
	c->execute = c->self ? (*env)->GetMethodID(env, cls, "executeDiagnosticCommand",
						   "(Ljava/lang/String;)Ljava/lang/String;") : NULL;
	return !failed(env) && c->execute;
}

/* Run a command line; it prints nothing on success. */
static bool execute(const struct command *c, const struct text *line)
{
	JNIEnv *env = c->env;
	jstring s = (*env)->NewStringUTF(env, line->s);
	jobject answer = s ? (*env)->CallObjectMethod(env, c->self, c->execute, s) : NULL;
	bool ok = !failed(env) && answer && !(*env)->GetStringLength(env, answer);

	(*env)->DeleteLocalRef(env, s);
	(*env)->DeleteLocalRef(env, answer);
	return ok;
}

/* Configure the output. For an existing one, options make the VM complain. */
static bool configure(const struct command *c, bool is_new, const char *what)
{
	struct text line = { .len = 0 };

	vmlog_put(&line, "VM.log output=");
	vmlog_put(&line, output);
	vmlog_put(&line, is_new ? " output_options=filecount=0" : "");
	vmlog_put(&line, " decorators=timenanos,tid,tags what=");
	vmlog_put(&line, what);
	return execute(c, &line);
}

static const char deopts_of_log[] = "deoptimization=debug";

/* Optional ones are not known to every version. */
static const struct {
	uint32_t tell;
	bool optional;
	const char *what;
} selections[] = {
	{ JVM_TELL_GC, false, "gc=info" },
	{ JVM_TELL_GC, true, "gc+phases=info" },
	{ JVM_TELL_GC, true, "gc+marking=info" },
	{ JVM_TELL_SAFEPOINT, false, "safepoint=info" },
	{ JVM_TELL_JIT, false, "jit+compilation=debug" },
	{ JVM_TELL_JIT, true, "nmethod+install=info" },
	{ JVM_TELL_JIT, true, deopts_of_log },
	{ JVM_TELL_LAST, false, "safepoint=trace" },
	{ JVM_TELL_CLASS, false, "class+unload=info" },
	{ JVM_TELL_CLASS_TIME, false, "class+load=info" },
	{ JVM_TELL_CLASS_TIME, false, "class+load+placeholders=debug" },
};

uint32_t vmlog_on(JNIEnv *env, uint32_t tell, const char **why, bool *deopts)
{
	uint32_t refused = 0;
	bool is_new = true;
	struct command c;
	size_t i;

	*deopts = true;
	tell &= JVM_TELL_BY_LOG;
	*why = "this JVM has no module jdk.management, which its log is asked for by";
	if (!tell || file < 0 || (*env)->PushLocalFrame(env, 16))
		return tell;
	name_output();
	if (!find_command(env, &c)) {
		refused = tell;
		output[0] = 0;
		goto out;
	}
	*why = "the JVM refuses to log it";
	for (i = 0; i < ARRAY_SIZE(selections); i++) {
		if (!(tell & selections[i].tell))
			continue;
		if (configure(&c, is_new, selections[i].what))
			is_new = false;
		else if (!selections[i].optional)
			refused |= selections[i].tell;
		else if (selections[i].what == deopts_of_log)
			*deopts = false;
	}
	if (tell & ~refused & JVM_TELL_CLASS_TIME)
		searches_on(output);
out:
	(*env)->PopLocalFrame(env, NULL);
	vmlog_take(-1);
	return refused;
}

/* End the log; the VM removes an output to which nothing goes. */
void vmlog_off(JNIEnv *env)
{
	struct command c;

	searches_off();
	vmlog_take(-1);
	if (!output[0] || !env || (*env)->PushLocalFrame(env, 16))
		return;
	if (find_command(env, &c))
		configure(&c, false, "all=off");
	(*env)->PopLocalFrame(env, NULL);
	output[0] = 0;
}
