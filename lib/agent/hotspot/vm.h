/* SPDX-License-Identifier: MIT */
/*
 * vm.h - what the agent knows of the running HotSpot: offsets of fields by their names in
 * gHotSpotVMStructs (which libjvm exports for debuggers), the code cache, the JavaThread of a
 * kernel thread.
 *
 * Everything here is read in signal handlers. Addresses are uintptr_t; a load through one is
 * vm_word() and friends (load.h), and the caller says in a comment why the address is mapped.
 */
#ifndef AGENT_VM_H
#define AGENT_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/hotspot/load.h"
#include "agent/sys.h"

/* Offsets in HotSpot's structures; -1: this version has no such field. */
struct vm_offsets {
	int thread_osthread, thread_stack_base, thread_stack_size;
	int thread_tlab, thread_allocated;
	int tlab_start, tlab_top;
	int jthread_anchor, jthread_state, jthread_cont_entry;
	int jthread_owner_id;		/* id of the thread that it is to Java, since JDK 24 */
	int jthread_pending_monitor;	/* ObjectMonitor that it is about to wait for */
	/* objects that it has locked and that had no monitor then; where they begin and end in it (JDK 21) */
	int jthread_lock_stack, lock_stack_base, lock_stack_top;
	int monitor_header;		/* the object's, which has its identity hash */
	int monitor_object;
	int monitor_owner;		/* a JavaThread or an address on its stack; since JDK 24 an id */
	int jthread_object, jthread_vthread;	/* oops_of_thread(): its Thread; what is mounted (JDK 21) */
	int jthread_waiting_monitor;
	int osthread_tid, osthread_pthread, osthread_state;
	int gc_active, gc_count;	/* CollectedHeap */
	int anchor_sp, anchor_pc, anchor_fp;
	int wrapper_anchor;		/* JavaCallWrapper */
	int blob_name, blob_size, blob_frame_size, blob_frame_complete;
	int blob_code_begin;		/* a pointer, before JDK 23 */
	int blob_code_offset;		/* from the blob's start, since */
	int blob_code_end, blob_data_offset;	/* the same of where it ends */
	int nm_method, nm_compile_id, nm_level, nm_orig_pc, nm_entry_bci;
	int nm_deopt_begin, nm_deopt_offset;
	int nm_deopt_mh_begin, nm_deopt_mh_offset;
	int nm_verified_entry, nm_verified_offset;
	int nm_osr_entry;
	int nm_stub_offset;
	int nm_pcs, nm_scopes, nm_dependencies, nm_metadata, nm_immutable, nm_immutable_size;
	int nm_scopes_begin;
	int pc_desc_pc, pc_desc_scope;
	int blob_mutable, blob_mutable_size, blob_relocation_size;
	int heap_memory, heap_segmap, heap_log2_segment;
	int block_used;
	int vs_low_boundary, vs_high_boundary, vs_low, vs_high;
	int array_len, array_data;	/* GrowableArray */
	int method_const;
	int cm_constants, cm_code_size, cm_name, cm_sig, cm_flags, cm_words;
	int cp_holder, cp_source, cp_length;
	int klass_name, klass_layout, klass_loader, klass_next, loader_klasses, ik_methods;
	int vmarray_len, vmarray_methods;	/* Array<Method*> */
	int ik_constants, ik_init_state, ik_init_thread;
	int ik_source;			/* where it is before JDK 17 */
	int sym_len, sym_body;
	int queue_buffer, queue_limit, queue_begin, queue_end;
	int codelet_size, codelet_name;
	int flag_name, flag_addr, flag_origin;
	int z_bad_mask, z_shift;	/* ZGlobalsForVMStructs: pointers to them */
	int x_bad_mask;			/* the same of ZGC with one generation, JDK 11 to 23 */
};

struct vm_sizes {
	int block, cm, cp, jthread, flag, pc_desc, method;
};

struct vm {
	struct vm_offsets o;
	struct vm_sizes size;
	bool frame_complete_is_16;	/* int16_t since JDK 22, int before */
	bool level_is_8;		/* _comp_level is a byte since JDK 23 */
	bool threads_are_oops;		/* JavaThread::_threadObj is not an OopHandle, before JDK 16 */
	uintptr_t libjvm, text_lo, text_hi;
	/* where HotSpot keeps them */
	uintptr_t *code_low, *code_high;
	uintptr_t *heaps;		/* GrowableArray<CodeHeap*> */
	uintptr_t *only_heap;		/* CodeHeap, in JDK 8 */
	uintptr_t *call_stub_return;
	uintptr_t *interpreter;		/* StubQueue */
	uintptr_t *cont_entry_return;	/* ContinuationEntry::_return_pc, or NULL */
	uintptr_t *oops_base;
	int *oops_shift;
	uintptr_t *z_globals, *x_globals;	/* ZGlobalsForVMStructs, XGlobalsForVMStructs */
	uintptr_t *klass_base;
	int *klass_shift;
	uintptr_t *heap;		/* CollectedHeap */
	uintptr_t *object_klass;	/* of java.lang.Object */
	uintptr_t *perf_start, *perf_top;	/* its performance data */
	int *mirror_klass_offset;	/* in a java.lang.Class */
	uintptr_t *flags;
	size_t *nr_flags;
	/* where a handler of a signal returns to: the C library's restorer, or the vDSO's; 0 unknown */
	uintptr_t signal_return;
	const int *major;		/* its version */
	int in_java, blocked;		/* JavaThread::_thread_state: other numbers since JDK 28 */
	int being_initialized;		/* as InstanceKlass::_init_state; 0: not known */
	int lines_flag;			/* of a ConstMethod: it has a line table; 0: not known */
	const int64_t *nr_unloaded;	/* the VM's own count of unloaded classes, or NULL */
	bool is_8;			/* JDK 8, whose frames and numbers differ */
	bool ok;			/* all that the agent cannot do without is there */
	bool walks;			/* and what Java frames are found by */
};

extern struct vm vm;

/* Fills vm from the libjvm that holds addr. Not in a signal handler. */
void vm_init(uintptr_t addr_in_libjvm);
/*
 * Return a number in the VM's performance data, by the name that jcmd PerfCounter.print shows, for as long as
 * the VM lives. NULL: this VM has none of that name, or none at all (-XX:-UsePerfData). Not in a signal
 * handler.
 */
const int64_t *vm_counter(const char *name);
/* Finds the count of unloaded classes; needs a VM that is up. Not in a signal handler. */
void vm_init_perf_counters(void);

/*
 * Finds out what is beneath the handlers of signals; needs a VM that has installed its own. Not in a
 * signal handler.
 */
void vm_init_signals(void);

/* Get a boolean -XX flag; return false if this version has none of that name. Not in a signal handler. */
bool vm_flag(const char *name, bool *on);
/* Sets one, unless the user has set it to either; false as above. */
bool vm_flag_by_default(const char *name);

/* Takes notice of code heaps that exist now; called whenever code was added until all are known. */
void vm_update_heaps(void);

static inline bool vm_in_code(uintptr_t pc)
{
	return pc >= vm_global(vm.code_low) && pc < vm_global(vm.code_high);
}

enum vm_blob_kind {
	VM_BLOB_NONE,
	VM_BLOB_NMETHOD,
	VM_BLOB_INTERPRETER,
	VM_BLOB_STUB,		/* RuntimeStub, SafepointBlob and others that have a frame */
	VM_BLOB_ROUTINES,	/* StubRoutines: many stubs in one blob, no frame described */
	VM_BLOB_ADAPTER,	/* between calling conventions; no frame */
	VM_BLOB_DISPATCH,	/* looks up what a call goes to and jumps there; no frame, nothing pushed */
	/* goes on at a place in compiled code that it puts where its return address was */
	VM_BLOB_HANDLER,
	VM_BLOB_UPCALL,
};

struct vm_blob {
	uintptr_t addr, begin;	/* of the blob; of its code */
	int frame_size;		/* in words; return address included */
	int frame_complete;	/* offset from begin; negative: never */
	enum vm_blob_kind kind;
};

/*
 * Find the code blob that holds pc. Returns false when there is none. Reads only committed memory of the
 * code cache, whatever pc is.
 */
bool vm_find_blob(uintptr_t pc, struct vm_blob *b);
/* Return the size of its code; 0: not known. */
uint32_t vm_code_size(const struct vm_blob *b);
/*
 * Call fn for each blob in use, while it returns true. Others may be made and freed meanwhile. Not in a
 * signal handler.
 */
void vm_each_blob(bool (*fn)(const struct vm_blob *b, void *ctx), void *ctx);
/* Find the code in the one blob of that name, of at most 31 characters. Not in a signal handler. */
bool vm_find_stubs(const char *name, uintptr_t *begin, size_t *size);
int vm_nmethod_level(uintptr_t nm);
/* Return whether pc is the address that a deoptimised frame returns to instead of its own code. */
bool vm_is_deopt_handler(uintptr_t nm, uintptr_t pc);

/* Code that DynamicCodeGenerated tells the name of and the walker must know. */
struct vm_range {
	uintptr_t lo, hi;
};
struct vm_known_code {
	struct vm_range call_stub, return_barrier, return_barrier_exc;
	struct vm_range method_entry;	/* the interpreter's code that builds frames */
};
extern struct vm_known_code vm_known;
void vm_note_stub(const char *name, size_t len, uintptr_t addr, size_t size);
/* Return whether the stub is known by that name, or by one that another version has for it. */
bool vm_knows_stub(const char *name);
/*
 * Return the length of a stub's name up to JDK 25: name moves past "Stub Generator " (26), and the length
 * excludes the "_stub" that follows then, and " (stub gen)" (27).
 */
size_t vm_stub_name(const char **name);
static inline bool vm_in_range(const struct vm_range *r, uintptr_t pc)
{
	return pc >= r->lo && pc < r->hi;
}

/* --- threads --- */

struct vm_thread {
	uintptr_t thread;	/* JavaThread*, 0 for all other threads */
	uintptr_t fields;	/* where it can be loaded: thread itself or a copy */
	struct blocked *blocked;	/* it is another thread, which is blocked; NULL: this one */
	uintptr_t stack_base;	/* end of the stack (highest address), 0 when unknown */
};

bool vm_init_threads(void);
/*
 * Around looking up, with vm_add_thread(), those that run; what was known before is forgotten. No
 * handler may run.
 */
void vm_begin_threads(void);
void vm_end_threads(void);
/* Looks for the JavaThread of the calling thread, while there is no JNIEnv to get it from. */
void vm_find_first_thread(void);
/* Learn from the calling thread what holds for others, before vm_add_thread(). */
void vm_learn_this_thread(uintptr_t thread);
/* Must be called at the start and at the end of each thread, by the thread itself. */
void vm_add_this_thread(uintptr_t thread);
void vm_remove_this_thread(void);
/* Add a running thread, between the two above. */
void vm_add_thread(uintptr_t thread);
/* Fill in this thread's vm_thread; for handlers. */
void vm_current_thread(struct vm_thread *t, uintptr_t sp);
/*
 * Return the JavaThread with that kernel id, or 0. Not in a signal handler. It may have ended by the time
 * it is looked at.
 */
uintptr_t vm_thread_of(int tid);
/* Return the kernel's id of a JavaThread; 0 if it cannot be read. */
int vm_thread_tid(uintptr_t thread);
/* Call fn for each known thread that is alive; none ends meanwhile. Not in a signal handler. */
void vm_each_thread(void (*fn)(uintptr_t thread, int tid));

/* Return whether this VM counts what threads allocate. */
bool vm_counts_allocated(void);
/* Get the bytes that a JavaThread has allocated in its life; return false if they are not known. */
bool vm_allocated(uintptr_t thread, uint64_t *bytes);

#endif
