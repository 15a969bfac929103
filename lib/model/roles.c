// SPDX-License-Identifier: GPL-2.0-or-later
/* roles.c - tells the program's own code, ways into it, and waits for work from the rest, by their names. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/roles.h"
#include "model/select.h"
#include "trace/record.h"

/* Check whether the name begins with one of the list, which ends with NULL. */
static bool roles_begins_with(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strncmp(name, *list, strlen(*list)))
			return true;
	return false;
}

bool role_is_platform(const char *method)
{
	static const char *const packages[] = {
		"java.", "javax.", "jdk.", "sun.", "com.sun.",
		"org.jruby.", "clojure.lang.", "clojure.core", "groovy.", "org.codehaus.groovy.",
		"org.apache.groovy.", "scala.", "kotlin.", NULL
	};

	return roles_begins_with(method, packages);
}

/* Check whether a name is one of the list but for parameters and version: "JavaThread::run()", "f@@X_2". */
static bool roles_is_named(const char *name, const char *const *list)
{
	size_t len = strcspn(name, "(@");

	for (; *list; list++)
		if (!strncmp(name, *list, len) && !(*list)[len])
			return true;
	return false;
}

bool role_is_entry(const struct model *m, uint32_t consumer)
{
	static const char *const native[] = {
		"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
		"clone", "__clone", "clone3", "__clone3", "start_thread",
		/* HotSpot: of its threads, and from the launcher's main() to Java's */
		"thread_native_entry", "java_start", "Thread::call_run", "JavaThread::run",
		"JavaThread::thread_main_inner", "thread_entry", "call_stub", "StubRoutines (1)",
		"JavaCalls::call_virtual", "JavaCalls::call", "JavaCalls::call_helper",
		"os::os_exception_wrapper", "jni_CallStaticVoidMethod", "jni_invoke_static", "JavaMain",
		"ThreadJavaMain", NULL
	};
	static const char *const java[] = {
		"java.lang.Thread.run", "java.lang.Thread.runWith", "java.lang.VirtualThread.run",
		"java.lang.VirtualThread$VThreadContinuation$1.run", "jdk.internal.vm.Continuation.enter",
		"jdk.internal.vm.Continuation.enter0", "jdk.internal.vm.Continuation.enterSpecial",
		"java.util.concurrent.ThreadPoolExecutor$Worker.run",
		"java.util.concurrent.ThreadPoolExecutor.runWorker",
		"java.util.concurrent.ForkJoinWorkerThread.run", "java.util.concurrent.ForkJoinPool.runWorker",
		"java.util.concurrent.ForkJoinPool.scan",
		"java.util.concurrent.ForkJoinPool$WorkQueue.topLevelExec",
		"java.util.concurrent.ForkJoinTask.doExec", "java.util.concurrent.FutureTask.run",
		"java.util.concurrent.FutureTask.runAndReset",
		"java.util.concurrent.Executors$RunnableAdapter.call",
		"java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask.run", NULL
	};
	static const char *const cxx[] = { "std::thread::_", "std::__invoke", "__invoke", "_M_invoke<",
					   NULL };
	const struct consumer *c = &m->consumers.items[consumer];
	const char *name = model_str(m, c->name);

	if (kind_is(c->kind, KIND_JAVA) || c->kind == CONSUMER_ANY)
		return roles_is_named(name, java) ||
		       (c->kind == CONSUMER_ANY && roles_is_named(name, native));
	return kind_is(c->kind, KIND_NATIVE | KIND_JVM) &&
	       (roles_is_named(name, native) || roles_begins_with(role_qualified_name(name), cxx));
}

static bool roles_is_listed(const struct model *m, const struct opt_list *patterns, const struct consumer *c)
{
	return select_name(patterns, model_str(m, c->name)) ||
	       (c->module && select_module(patterns, model_str(m, c->module)));
}

/* Check whether a module is a program: libraries have ".so" in their names, and others are not files. */
static bool is_program(const char *module)
{
	const char *slash = strrchr(module, '/');

	return *module && *module != '[' && !strstr(slash ? slash : module, ".so");
}

const char *role_qualified_name(const char *name)
{
	const char *begin = name, *at;
	int depth = 0;

	for (at = name; *at; at++) {
		if (*at == '(' && !depth && at != begin && at[-1] != ':')
			break;
		if (!depth && !strncmp(at, "operator", 8) && (at == begin || at[-1] == ':'))
			break;
		if (*at == '<' || *at == '(')
			depth++;
		else if (*at == '>' || *at == ')')
			depth -= depth > 0;
		else if (*at == ' ' && !depth)
			begin = at + 1;
	}
	return begin;
}

/*
 * Return whether it is a template of the C++ library, which is in the program that uses it, but not its own.
 * When inlined with a lambda, debug information lacks the namespace: "__invoke<main()::<lambda()> >".
 */
bool role_is_cxx_library(const char *name)
{
	static const char *const begins[] = { "std::", "__gnu_cxx::", "__cxxabiv1::", "__gthread_", "_M_", "_S_",
					      NULL };

	name = role_qualified_name(name);
	return roles_begins_with(name, begins) || (!strncmp(name, "__", 2) && strchr(name, '<'));
}

void roles_mark_mine(const struct model *m, const struct opt_list *patterns, bool *mine)
{
	bool listed = patterns && patterns->nr_items;
	size_t i;

	for (i = 1; i < m->consumers.nr_items; i++) {
		const struct consumer *c = &m->consumers.items[i];

		if (!kind_is(c->kind, KIND_CODE) && c->kind != CONSUMER_ANY)
			mine[i] = false;
		else if (listed)
			mine[i] = roles_is_listed(m, patterns, c);
		else if (kind_is(c->kind, KIND_JAVA) || (c->kind == CONSUMER_ANY && !c->module))
			mine[i] = !role_is_platform(model_str(m, c->name)) &&
				  (c->kind != CONSUMER_ANY || !role_is_cxx_library(model_str(m, c->name)));
		else
			mine[i] = kind_is(c->kind, KIND_NATIVE) && is_program(model_str(m, c->module)) &&
				  !role_is_entry(m, i) && !role_is_cxx_library(model_str(m, c->name));
	}
}

/* Check whether a thread that waits in this function or below it has nothing to do itself. */
static bool waits_for_work(const struct model *m, const struct consumer *c)
{
	static const char *const java[] = {
		"java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.concurrent.ForkJoinPool.awaitWork",
		"java.util.TimerThread.mainLoop", "java.util.TimerThread.run",
		"java.lang.ref.Reference.waitForReferencePendingList",
		"java.lang.ref.Reference$ReferenceHandler.run", "java.lang.ref.Finalizer$FinalizerThread.run",
		"jdk.internal.ref.CleanerImpl.run", "jdk.internal.misc.InnocuousThread.run",
		"sun.nio.ch.EPoll.wait", "sun.nio.ch.SelectorImpl.lockAndDoSelect",
		"sun.nio.ch.ServerSocketChannelImpl.accept", "sun.nio.ch.NioSocketImpl.accept",
		"java.net.ServerSocket.accept", "java.lang.ProcessHandleImpl$1.run",
		"java.lang.Thread.join", NULL
	};
	static const char *const native[] = {
		/* HotSpot's own threads */
		"VMThread::run", "VMThread::wait_until_executed", "WatcherThread::run", "WatcherThread::sleep",
		"CompileBroker::compiler_thread_loop", "CompileQueue::get", "WorkerThread::run",
		"GangWorker::run", "GangWorker::loop", "AbstractGangWorker::run", "ConcurrentGCThread::run",
		"ServiceThread::service_thread_entry", "NotificationThread::notification_thread_entry",
		"MonitorDeflationThread::monitor_deflation_thread_entry", "signal_thread_entry",
		"AttachListenerThread::thread_entry", "attach_listener_thread_entry",
		/* the launcher's first thread, and others that wait for the end of one */
		"JLI_Launch", "CallJavaMainInNewThread", "ContinueInNewThread", "pthread_join",
		"__pthread_clockjoin_ex", "__pthread_timedjoin_ex",
		/* loops of events, and pools */
		"epoll_wait", "epoll_pwait", "uv__io_poll", "g_main_loop_run", "accept", "accept4",
		"runtime.findRunnable", "runtime.findrunnable", "runtime.stopm", "runtime.sysmon", NULL
	};
	const char *name = model_str(m, c->name);

	return roles_is_named(name, kind_is(c->kind, KIND_JAVA) ? java : native);
}

/*
 * Check whether a method only waits until other threads have done what they do. The first thread of a program
 * that calls one waits for its workers, whose time is theirs: of other threads it is a wait inside work.
 */
static bool waits_for_workers(const struct model *m, const struct consumer *c)
{
	static const char *const java[] = {
		"java.util.concurrent.FutureTask.get", "java.util.concurrent.CompletableFuture.get",
		"java.util.concurrent.CompletableFuture.join", "java.util.concurrent.CountDownLatch.await",
		"java.util.concurrent.AbstractExecutorService.invokeAll",
		"java.util.concurrent.ThreadPoolExecutor.awaitTermination",
		"java.util.concurrent.ForkJoinPool.awaitTermination",
		"java.util.concurrent.ThreadPerTaskExecutor.awaitTermination",
		"java.util.concurrent.ThreadPerTaskExecutor.close",
		"java.util.concurrent.ExecutorService.close", NULL
	};

	return kind_is(c->kind, KIND_JAVA) && roles_is_named(model_str(m, c->name), java);
}

/* Return whether a thread serves the JVM; its functions need not have names. */
static bool serves(const char *thread)
{
	static const char *const patterns[] = {
		"VM Thread", "VM Periodic Tas*", "C1 CompilerThre*", "C2 CompilerThre*", "GC Thread#*", "G1 *#*",
		"G1 Service", "G1 Main Marker", "ZDriver*", "ZWorker*", "ZDirector", "ZStat", "ZUncommitter*",
		"ZUnmapper", "XDriver", "XWorker#*", "Shenandoah*", "Signal Dispatch*", "Service Thread",
		"Monitor Deflati*", "Common-Cleaner", "Reference Handl*", "Finalizer", "Notification Th*",
		"Attach Listener", "Sweeper thread", "DestroyJavaVM", NULL
	};
	const char *const *p;

	for (p = patterns; *p; p++)
		if (!fnmatch(*p, thread, 0))
			return true;
	return false;
}

/* Check whether a thread with this reason to wait is waiting for work. */
static bool is_idle_reason(const char *reason)
{
	static const char *const reasons[] = { "[epoll_wait", "[epoll_pwait", "[accept", NULL };

	return roles_begins_with(reason, reasons);
}

struct judged {			/* [consumer] */
	bool *serving;		/* threads that wait below it have nothing to do */
	bool *joining;		/* nor has the first thread, where the program calls it */
	bool *first;		/* it is the first thread of a Java program */
	bool *waiting;
	bool *mine;
};

static void judge_roles(const struct model *m, struct judged *x)
{
	size_t i;

	for (i = 1; i < m->consumers.nr_items; i++) {
		const struct consumer *c = &m->consumers.items[i];
		const char *name = model_str(m, c->name);

		if (c->kind == CONSUMER_THREAD) {
			x->serving[i] = serves(name);
			x->first[i] = !strcmp(name, "main");
		} else if (kind_is(c->kind, KIND_CODE)) {
			x->serving[i] = waits_for_work(m, c);
			x->joining[i] = waits_for_workers(m, c);
		} else if (consumer_is_wait(m, i)) {
			x->waiting[i] = true;
			x->serving[i] = is_idle_reason(name);
		}
	}
	roles_mark_mine(m, NULL, x->mine);
}

void roles_mark_idle(const struct model *m, bool *idle)
{
	const struct flow *f = &m->flow;
	size_t nr = m->consumers.nr_items, i;
	bool *all = xcalloc(5 * nr, sizeof(*all));
	struct judged x = { all, all + nr, all + 2 * nr, all + 3 * nr, all + 4 * nr };
	bool *below = xcalloc(f->nr_nodes, sizeof(*below));
	bool *first = xcalloc(f->nr_nodes, sizeof(*first));

	judge_roles(m, &x);
	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t up = f->nodes[i].parent, c = f->nodes[i].consumer;

		first[i] = first[up] || x.first[c];
		below[i] = below[up] || x.serving[c] ||
			   (x.joining[c] && first[up] && x.mine[f->nodes[up].consumer]);
		idle[i] = idle[up] || (x.waiting[c] && below[i]);
	}
	free(all);
	free(below);
	free(first);
}

unsigned int roles_of(const struct model *m, uint32_t consumer, const bool *mine)
{
	uint32_t kind = m->consumers.items[consumer].kind;

	return (mine[consumer] ? ROLE_MINE : 0) | (role_is_entry(m, consumer) ? ROLE_ENTRY : 0) |
	       (consumer_is_wait(m, consumer) ? ROLE_WAIT : 0) | (role_is_code(kind) ? ROLE_CODE : 0) |
	       (m->own && consumer == m->own ? ROLE_OWN : 0);
}

const char *role_spent_name(enum role_spent s)
{
	static const char *const names[SPENT_NR] = {
		"", "running", "runnable", "lock", "I/O", "network", "sleep", "GC", "other",
	};

	return names[s];
}

enum role_spent role_spent(const struct model *m, uint32_t consumer)
{
	static const struct {
		enum role_spent spent;
		const char *begins[12];		/* ends with NULL */
	} rows[] = {
		{ SPENT_RUNNING, { REASON_ON_CPU } },
		{ SPENT_RUNNABLE, { REASON_RUNNABLE } },
		{ SPENT_LOCK, { "[monitor", "[park", "[Object.wait", "[futex", "[VM lock", "[flock" } },
		{ SPENT_NETWORK, { "[accept", "[connect", "[recv", "[send", "[poll", "[ppoll", "[select",
				   "[pselect", "[epoll" } },
		{ SPENT_IO, { "[read", "[write", "[pread", "[pwrite", "[fsync", "[fdatasync", "[sync_file",
			      "[file system", "[page fault", "[getdents", "[I/O" } },
		{ SPENT_SLEEP, { "[sleep", "[nanosleep", "[clock_nanosleep" } },
		{ SPENT_GC, { "[GC", "[safepoint" } },
	};
	const char *name = consumer_name(&m->consumers, consumer);
	size_t i;

	if (m->consumers.items[consumer].kind != CONSUMER_REASON)
		return SPENT_NONE;
	if (strstr(name, " socket]"))
		return SPENT_NETWORK;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		if (roles_begins_with(name, rows[i].begins))
			return rows[i].spent;
	return SPENT_OTHER;
}
