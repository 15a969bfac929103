// SPDX-License-Identifier: MIT
/*
 * sql.c - statements of JDBC: a source of their time, with the stack of who executes them, and their text as
 * sqltext.h has it.
 *
 * Classes of all drivers and pools implement java.sql.Statement and java.sql.Connection: methods of those
 * names get probes in every class that mentions java.sql, and java.lang.ArcSql (java/ArcSql.java) asks here
 * whether the object is one of them. A prepared statement has the number of its text as a tag of JVMTI, which
 * goes with it.
 */
#include "agent/leaf.h"
#include "agent/sources/given.h"
#include "agent/sources/part.h"
#include "agent/sources/rate.h"
#include "agent/sources/sources.h"
#include "agent/sources/sqltext.h"
#include "base/atomic.h"

/* compiled from java/ArcSql.java; empty without a compiler */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"sql_class_file:\n"
#ifdef SQL_CLASS
	".incbin \"" SQL_CLASS "\"\n"
#endif
	"sql_class_file_end:\n"
	".popsection\n");
extern const jbyte sql_class_file[] __attribute__((visibility("hidden")));
extern const jbyte sql_class_file_end[] __attribute__((visibility("hidden")));

enum { MAX_TEXTS = 4096, WAIT_MS = 1000 };

/* The helper gets one of these; PREPARE is in ArcSql.java, too. */
enum { RUN, BATCH, COMMIT, ROLLBACK, PREPARE };

#define OWN(what, local) (CLASSFILE_GIVEN(what, local, 1) | CLASSFILE_GIVEN_THIS)
#define TEXT_GIVEN OWN(RUN, 1)
#define NO_TEXT(what) OWN(what, CLASSFILE_NO_OBJECT)

static const struct given_method methods[] = {
	{ NULL, "execute", "(Ljava/lang/String;*", TEXT_GIVEN },
	{ NULL, "executeQuery", "(Ljava/lang/String;*", TEXT_GIVEN },
	{ NULL, "executeUpdate", "(Ljava/lang/String;*", TEXT_GIVEN },
	{ NULL, "executeLargeUpdate", "(Ljava/lang/String;*", TEXT_GIVEN },
	{ NULL, "execute", "()Z", NO_TEXT(RUN) },
	{ NULL, "executeQuery", "()L*", NO_TEXT(RUN) },
	{ NULL, "executeUpdate", "()I", NO_TEXT(RUN) },
	{ NULL, "executeLargeUpdate", "()J", NO_TEXT(RUN) },
	{ NULL, "executeBatch", "()[I", NO_TEXT(BATCH) },
	{ NULL, "executeLargeBatch", "()[J", NO_TEXT(BATCH) },
	{ NULL, "commit", "()V", NO_TEXT(COMMIT) },
	{ NULL, "rollback", "()V", NO_TEXT(ROLLBACK) },
	{ NULL, "rollback", "(Ljava/sql/Savepoint;)V", NO_TEXT(ROLLBACK) },
	{ NULL, "prepareStatement", "(Ljava/lang/String;*", OWN(PREPARE, 1) | CLASSFILE_GIVEN_RESULT },
	{ NULL, "prepareCall", "(Ljava/lang/String;*", OWN(PREPARE, 1) | CLASSFILE_GIVEN_RESULT },
};

static struct given sql;
static struct given_class helper;
static jclass statement, connection;	/* NULL: this JVM has no java.sql */
static jvmtiEnv *tags;			/* of prepared statements: the numbers of their texts */
static uint32_t nr_inside;		/* threads that look for tags, or use it */
static uint64_t interval_ns;
static uint32_t nr_texts;
static bool quoted;			/* a driver's literals are in double quotes, too */

/* ---- texts ---- */

static uint32_t fixed_text(const char *s)
{
	return leaf_number(JVM_LEAF_REASON, s, str_len(s));
}

static uint32_t sql_number_of(const char *text, size_t len)
{
	uint32_t leaf = leaf_known(JVM_LEAF_REASON, text, len);

	if (leaf)
		return leaf;
	if (__atomic_fetch_add(&nr_texts, 1, __ATOMIC_RELAXED) < MAX_TEXTS)
		return leaf_number(JVM_LEAF_REASON, text, len);
	store_relaxed(&nr_texts, MAX_TEXTS);
	return fixed_text("[other statements]");
}

static uint32_t sql_text_of(JNIEnv *env, jstring s)
{
	jchar units[SQLTEXT_READ];
	char text[SQLTEXT_MAX];
	jsize all = (*env)->GetStringLength(env, s), nr = all < SQLTEXT_READ ? all : SQLTEXT_READ;
	size_t len;

	(*env)->GetStringRegion(env, s, 0, nr, units);
	len = sqltext_put(units, nr, nr < all, load_relaxed(&quoted), text);
	return len ? sql_number_of(text, len) : fixed_text("[empty statement]");
}

/* Return the environment of the tags, NULL when off. tags_end() must follow in any case. */
static jvmtiEnv *tags_begin(void)
{
	__atomic_fetch_add(&nr_inside, 1, __ATOMIC_SEQ_CST);
	return load_seq_cst(&tags);
}

static void tags_end(void)
{
	__atomic_fetch_sub(&nr_inside, 1, __ATOMIC_RELEASE);
}

static uint32_t tagged_text(jobject self)
{
	jvmtiEnv *ti = tags_begin();
	jlong tag = 0;

	if (ti && (*ti)->GetTag(ti, self, &tag) != JVMTI_ERROR_NONE)
		tag = 0;
	tags_end();
	return (uint32_t)tag;
}

/* ---- natives of the helper ---- */

static jint JNICALL sql_text(JNIEnv *env, jclass cls, jobject self, jobject given, jint what)
{
	jclass of = what == RUN || what == BATCH ? statement : connection;
	uint32_t leaf;

	if (!of || !(*env)->IsInstanceOf(env, self, of))
		return 0;
	if (what == COMMIT || what == ROLLBACK)
		return (jint)fixed_text(what == COMMIT ? "COMMIT" : "ROLLBACK");
	if (given)
		return (jint)sql_text_of(env, given);
	leaf = tagged_text(self);
	if (leaf)
		return (jint)leaf;
	return (jint)fixed_text(what == BATCH ? "[batch]" : "[prepared before the recording]");
}

static void JNICALL prepared(JNIEnv *env, jclass cls, jobject o, jint leaf)
{
	jvmtiEnv *ti = tags_begin();

	if (ti && (*env)->IsInstanceOf(env, o, statement))
		(*ti)->SetTag(ti, o, (jlong)leaf);
	tags_end();
}

static void JNICALL called(JNIEnv *env, jclass cls, jlong ns, jint leaf)
{
	uint64_t value = ns > 0 ? (uint64_t)ns : 1;

	if (rate_chooses((double)value, 0, (double)load_relaxed(&interval_ns)))
		sources_sample(JVM_SOURCE_SQL, value, (uint32_t)leaf, 0);
}

static void JNICALL missed(JNIEnv *env, jclass cls, jstring why)
{
	given_missed(&sql, env, why);
}

static void JNICALL sql_bind(JNIEnv *env, jclass cls)
{
	const JNINativeMethod m[] = {
		{ (char *)"text", (char *)"(Ljava/lang/Object;Ljava/lang/Object;I)I", (void *)sql_text },
		{ (char *)"prepared", (char *)"(Ljava/lang/Object;I)V", (void *)prepared },
		{ (char *)"called", (char *)"(JI)V", (void *)called },
		{ (char *)"missed", (char *)"(Ljava/lang/String;)V", (void *)missed },
	};

	(*env)->RegisterNatives(env, helper.class, m, ARRAY_SIZE(m));
}

/* ---- probes ---- */

static bool sql_begins(const char *s, const char *with)
{
	while (*with && *s == *with)
		s++, with++;
	return !*with;
}

/* Leave out the interfaces themselves, whose default methods refuse what a driver does not have. */
static bool is_of_others(const char *name)
{
	if (sql_begins(name, "com/mysql/") || sql_begins(name, "org/mariadb/"))
		store_relaxed(&quoted, true);
	return !sql_begins(name, "java/");
}

static bool mentions(const unsigned char *data, size_t len, const char *what)
{
	size_t n = str_len(what), i;

	for (i = 0; i + n <= len; i++)
		if (data[i] == (unsigned char)*what && !memcmp(data + i, what, n))
			return true;
	return false;
}

static bool may_have(const char *name, const unsigned char *data, size_t len)
{
	return statement && is_of_others(name) && mentions(data, len, "java/sql/");
}

static bool sql_has(JNIEnv *env, jclass cls, const char *sig)
{
	return statement && is_of_others(sig + 1) &&
	       ((*env)->IsAssignableFrom(env, cls, statement) ||
		(*env)->IsAssignableFrom(env, cls, connection));
}

/* ---- the source ---- */

static jclass sql_find(JNIEnv *env, const char *name)
{
	jclass cls = (*env)->FindClass(env, name), kept = cls ? (*env)->NewGlobalRef(env, cls) : NULL;

	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
	return kept;
}

static jvmtiEnv *new_tags(JNIEnv *env)
{
	jvmtiCapabilities want;
	jvmtiEnv *ti;
	JavaVM *jvm;

	if ((*env)->GetJavaVM(env, &jvm) || (*jvm)->GetEnv(jvm, (void **)&ti, JVMTI_VERSION_1_2) != JNI_OK)
		return NULL;
	memset(&want, 0, sizeof(want));
	want.can_tag_objects = 1;
	if ((*ti)->AddCapabilities(ti, &want) == JVMTI_ERROR_NONE)
		return ti;
	(*ti)->DisposeEnvironment(ti);
	return NULL;
}

static void sql_prepare(JNIEnv *env)
{
	nr_texts = 0;
	quoted = false;
	if (!statement)
		statement = sql_find(env, "java/sql/Statement");
	if (!connection)
		connection = sql_find(env, "java/sql/Connection");
	if (!tags)
		store_seq_cst(&tags, new_tags(env));
}

static struct given_class helper = {
	.name = "java/lang/ArcSql", .file = sql_class_file, .file_end = sql_class_file_end,
	.calls = { "enter", "leave", "result" }, .bind = sql_bind, .prepare = sql_prepare,
};

static struct given sql = {
	.source = JVM_SOURCE_SQL, .helper = &helper, .methods = methods, .nr_methods = ARRAY_SIZE(methods),
	.may_have = may_have, .has = sql_has,
};

static const char *sql_begin(JavaVM *jvm, JNIEnv *env, uint64_t interval)
{
	store_relaxed(&interval_ns, interval);
	return given_on(&sql, jvm, env);
}

static void sql_vm_is_up(JNIEnv *env)
{
	given_up(&sql, env);
}

/* Dispose of the environment and its tags, once no thread uses it. */
static void drop_tags(void)
{
	jvmtiEnv *ti = tags;
	int ms;

	store_seq_cst(&tags, NULL);
	for (ms = 0; load_acquire(&nr_inside) && ms < WAIT_MS; ms++)
		sys_sleep_ms(1);
	if (ti && !load_acquire(&nr_inside))
		(*ti)->DisposeEnvironment(ti);
}

static bool sql_turn_off(JNIEnv *env)
{
	if (env) {
		given_off(&sql, env);
		drop_tags();
	}
	return true;
}

const struct part sql_part = {
	.source = JVM_SOURCE_SQL, .on = sql_begin, .up = sql_vm_is_up, .off = sql_turn_off,
};
