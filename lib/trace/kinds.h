/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds.h - what a node of a tree of calls can be, once: a kind of function, or of what stands above
 * functions.  The kinds of functions in a trace and of consumers (flow/consumer.h), their names, families
 * and traits come from these rows, for Python as well (share/python/tables).  The order decides between
 * equals.
 *
 * There is no include guard: an includer defines KIND or FUNCTION before; both are undefined at the end.
 *
 *	KIND(kind, name, family, traits)
 *		kind	CONSUMER_<kind>
 *		name	as trees and reports write it
 *		family	kinds that have one colour and one word in the legend of the page
 *		traits	enum kind_trait (flow/consumer.h)
 *	FUNCTION(number, kind, name, family, traits)
 *		A KIND that a record "function" can have, as FUNCTION_<kind>.  Traces have its number,
 *		which never changes; a new one gets the next number.  Without a macro FUNCTION it is a KIND.
 */
#ifndef KIND
#define KIND(...)
#endif
#ifndef FUNCTION
#define FUNCTION(number, ...) KIND(__VA_ARGS__)
#endif

/* Nothing is known of it: from text, or of a profile of another program. */
FUNCTION(0, ANY, "any", other, KIND_FOLDS)
KIND(HOST, "host", process, KIND_PLACE)
/* A control group or a container, above its processes. */
KIND(GROUP, "group", process, KIND_PLACE)
KIND(PROCESS, "process", process, KIND_PLACE)
KIND(THREAD, "thread", process, KIND_PLACE)
FUNCTION(1, NATIVE, "native", native, KIND_CODE | KIND_NATIVE | KIND_FOLDS)
FUNCTION(2, NATIVE_INLINED, "native-inlined", native, KIND_CODE | KIND_NATIVE | KIND_INLINED | KIND_FOLDS)
FUNCTION(3, KERNEL, "kernel", kernel, KIND_CODE | KIND_FOLDS)
/* A method, however it runs. */
FUNCTION(4, JAVA, "java", java, KIND_CODE | KIND_JVM | KIND_JAVA | KIND_FOLDS)
FUNCTION(5, JAVA_INTERPRETED, "java-interpreted", interpreted, KIND_CODE | KIND_JVM | KIND_JAVA | KIND_FOLDS)
FUNCTION(6, JAVA_COMPILED, "java-compiled", java, KIND_CODE | KIND_JVM | KIND_JAVA | KIND_FOLDS)
/* These two exist only where the tiers are kept apart. */
KIND(JAVA_C1, "java-c1", java, KIND_CODE | KIND_JVM | KIND_JAVA | KIND_FOLDS)
KIND(JAVA_C2, "java-c2", java, KIND_CODE | KIND_JVM | KIND_JAVA | KIND_FOLDS)
FUNCTION(7, JAVA_INLINED, "java-inlined", inlined,
	KIND_CODE | KIND_JVM | KIND_JAVA | KIND_INLINED | KIND_FOLDS)
/* Code of a virtual machine: a stub, an adapter, the interpreter. */
FUNCTION(8, STUB, "stub", stub, KIND_CODE | KIND_JVM | KIND_FOLDS)
/* Objects of a class, which is the name. */
FUNCTION(11, CLASS, "class", object, KIND_FOLDS)
/* Why a thread waits. */
FUNCTION(12, REASON, "reason", other, 0)
/* An address without a known name. */
FUNCTION(9, UNRESOLVED, "unresolved", mark, KIND_FOLDS)
/* A module, class or package that stands for what is in it. */
KIND(FOLDED, "folded", other, KIND_FOLDS)
/* Says why there is no function, or which are missing: [unwalkable: ...], [... 12 frames ...], [pruned]. */
FUNCTION(10, MARK, "mark", mark, 0)
/*
 * The label under which a thread worked: "endpoint=/cart". As a record: all labels of a sample,
 * "key=value,...".
 */
FUNCTION(14, LABEL, "label", other, KIND_PLACE)
/* Beneath a reason: the file that is waited for, or the other end of a socket. */
FUNCTION(13, WAIT_FILE, "file", other, 0)

#undef KIND
#undef FUNCTION
