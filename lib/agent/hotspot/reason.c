// SPDX-License-Identifier: MIT
/*
 * reason.c - why a thread is blocked (reason.h).
 *
 * Nearly everything that Java waits for is a futex to the kernel. What it is, HotSpot says in the JavaThread:
 * the monitor that it is to enter, or waits on; its state. Parking and sleeping are recognised
 * by the innermost Java method, which is native. Threads that a safepoint holds wait in the only place where
 * libjvm makes the system call itself (share/../os/linux/waitBarrier_linux.cpp), whatever they were doing
 * before.
 *
 * Source: share/runtime/objectMonitor.cpp, share/runtime/safepoint.cpp, share/runtime/osThread.hpp.
 */
#include <asm/unistd.h>
#include <linux/futex.h>

#include "agent/hotspot/names.h"
#include "agent/hotspot/oops.h"
#include "agent/hotspot/reason.h"
#include "agent/leaf.h"
#include "base/mix.h"

enum { OS_MONITOR_WAIT = 3, NR_KLASSES = 256 };

/* Classes of blockers by their Klass, as long as none was unloaded. */
struct klass {
	uintptr_t klass;
	uint32_t epoch, leaf;
};

static struct klass klasses[NR_KLASSES];
static int park_blocker = -1;		/* in a java.lang.Thread */

void reason_init(JNIEnv *env)
{
	jclass thread = oops_class(env, "java/lang/Thread");

	if (oops_init())
		park_blocker = oops_field(env, thread, "parkBlocker", "Ljava/lang/Object;");
	if (thread)
		(*env)->DeleteLocalRef(env, thread);
}

void reason_forget(void)
{
	memset(klasses, 0, sizeof(klasses));
}

/* --- what it parks for --- */

size_t reason_signature(uintptr_t klass, char *text)
{
	uintptr_t symbol;
	uint16_t len;

	if (!sys_peek_all(&symbol, klass + vm.o.klass_name, 8) || !symbol || (symbol & 7) ||
	    !sys_peek_all(&len, symbol + vm.o.sym_len, 2) || !len || len > JVM_MAX_STRING - 2 ||
	    !sys_peek_all(text + 1, symbol + vm.o.sym_body, len))
		return 0;
	if (text[1] == '[') {
		memcpy(text, text + 1, len);
		return len;
	}
	text[0] = 'L';
	text[len + 1] = ';';
	return len + 2;
}

static uint32_t reason_leaf(struct blocked *b, uintptr_t klass)
{
	struct klass *k = &klasses[mix64(klass) >> 56];
	uint32_t epoch = names_epoch();
	size_t len;

	if (epoch != b->epoch)
		return 0;
	if (k->klass == klass && k->epoch == epoch)
		return k->leaf;
	len = reason_signature(klass, b->text[0]);
	if (!len || names_epoch() != epoch)
		return 0;
	*k = (struct klass){ klass, epoch, leaf_number(JVM_LEAF_CLASS, b->text[0], len) };
	return k->leaf;
}

/* Return the class of the argument of LockSupport.park(), from the Thread that is current to Java. */
static uintptr_t blocker_klass(const struct blocked *b)
{
	int current = vm.o.jthread_vthread >= 0 ? vm.o.jthread_vthread : vm.o.jthread_object;
	uintptr_t thread, object, klass;

	if (park_blocker < 0 || current < 0 || !b->objects_known)
		return 0;
	thread = oops_of_thread(vm_word((uintptr_t)b->fields, current));
	object = thread > 4096 ? oops_load(thread + park_blocker) : 0;
	klass = object > 4096 ? oops_klass(object) : 0;
	return klass > 4096 && !(klass & 7) && blocked_objects_hold(b) ? klass : 0;
}

/* --- the reason --- */

/* libc's syscall() has no frame: the return address is on top of the stack. */
static bool waits_at_safepoint(const struct walk *w, const struct blocked *b)
{
	uintptr_t caller = walk_on_stack(w, b->lo) ? walk_word(w, b->lo, 0) : 0;
	uint32_t op = b->was.args[1];

	return b->was.syscall == __NR_futex && op == (FUTEX_WAIT | FUTEX_PRIVATE_FLAG) &&
	       caller - vm.text_lo < vm.text_hi - vm.text_lo;
}

/* Return whether a thread that was notified waits for the monitor again. */
static bool enters_again(const struct blocked *b)
{
	uintptr_t os = vm_word((uintptr_t)b->fields, vm.o.thread_osthread);
	int32_t state;

	return vm.o.osthread_state >= 0 && os && sys_peek_all(&state, os + vm.o.osthread_state, 4) &&
	       state == OS_MONITOR_WAIT;
}

static bool walk_has_wait(const struct walk *w, enum names_waits waits)
{
	return w->waits >> waits & 1;
}

static bool points(const struct blocked *b, int field)
{
	return field >= 0 && vm_word((uintptr_t)b->fields, field);
}

void reason_look(struct blocked *b)
{
	b->blocker = 0;
	b->enters_again = false;
	if (b->was.syscall != __NR_futex || vm_i32((uintptr_t)b->fields, vm.o.jthread_state) != vm.blocked ||
	    points(b, vm.o.jthread_pending_monitor))
		return;
	if (points(b, vm.o.jthread_waiting_monitor))
		b->enters_again = enters_again(b);
	else
		b->blocker = blocker_klass(b);
}

enum wall_reason reason_of(const struct walk *w, uint32_t *leaf)
{
	struct blocked *b = w->thread.blocked;

	*leaf = 0;
	if (b->was.syscall < 0 || vm_i32((uintptr_t)b->fields, vm.o.jthread_state) != vm.blocked)
		return WALL_UNKNOWN;
	if (waits_at_safepoint(w, b))
		return oops_collecting() ? WALL_GC : WALL_SAFEPOINT;
	if (points(b, vm.o.jthread_pending_monitor))
		return WALL_MONITOR;
	if (points(b, vm.o.jthread_waiting_monitor) && walk_has_wait(w, NAMES_WAIT))
		return b->enters_again ? WALL_MONITOR : WALL_WAIT;
	if (walk_has_wait(w, NAMES_SLEEP) || walk_has_wait(w, NAMES_VTHREAD_SLEEP))
		return WALL_SLEEP;
	if (walk_has_wait(w, NAMES_PARK)) {
		*leaf = b->blocker ? reason_leaf(b, b->blocker) : 0;
		return WALL_PARK;
	}
	/* in the VM: for a collection it has asked for, or for a lock of the VM's own */
	return oops_collecting() ? WALL_GC : WALL_LOCK;
}
