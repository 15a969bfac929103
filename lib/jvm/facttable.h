/* SPDX-License-Identifier: MIT */
/*
 * facttable.h - each thing that arcprof rests on in a HotSpot JVM, once. The agent looks for these and tells
 * which are missing; "arcprof doctor -p" and "doctor --jvm" print the rows, with what they found.
 *
 * There is no include guard: who includes this defines the rows that it takes before; all are undefined at
 * the end.
 *
 *	FEATURE(id, since, uses, name)
 *		since	the first JDK that it is expected in; 0: all
 *		uses	what rests on it: bits of enum facts_use; where one of them is recorded, the
 *			recording says that it is missing
 *		name	as reports have it
 * Facts, each of the feature that it serves:
 *	OFFSET(feature, member, type, field)	of a field, in struct vm_offsets: from gHotSpotVMStructs, as
 *	STATIC(feature, member, type, field)	the address of a static one, in struct vm
 *	SIZE(feature, member, type)		in struct vm_sizes: from gHotSpotVMTypes
 *	NUMBER(feature, member, name)		in struct vm: from gHotSpotVMIntConstants
 *	IMPORT(feature, name)			a function that libjvm calls by its table of imports
 *	EQUALS(feature, value, name)		from gHotSpotVMIntConstants: our code has that value, too
 *	AT(feature, value, type, field)		an offset, likewise
 *	FRAME(feature, constant, name)		a number of words there: our code has as many bytes, by that
 *						name in agent/hotspot/frame.h; no JDK must have it
 *	JAVA(feature, class, name, signature)	a field, or a method, which JNI is asked for, in the JVM
 *	STUB(feature, name)			generated code, which JVMTI reports, in the JVM
 *	PROBE(feature, id, name)		what is tried out, in the JVM, before it is used
 * OR_OFFSET, OR_STATIC, OR_SIZE, OR_NUMBER and OR_JAVA are where another version has the fact before;
 * OPTIONAL, OPTIONAL_STATIC and OPTIONAL_EQUALS are an OFFSET, a STATIC and an EQUALS that nothing is missing
 * without.
 */
#ifndef FEATURE
#define FEATURE(id, since, uses, name)
#endif
#ifndef OFFSET
#define OFFSET(feature, member, type, field)
#endif
#ifndef STATIC
#define STATIC(feature, member, type, field)
#endif
#ifndef SIZE
#define SIZE(feature, member, type)
#endif
#ifndef NUMBER
#define NUMBER(feature, member, name)
#endif
#ifndef OR_OFFSET
#define OR_OFFSET(feature, member, type, field) OFFSET(feature, member, type, field)
#endif
#ifndef OPTIONAL
#define OPTIONAL(feature, member, type, field) OFFSET(feature, member, type, field)
#endif
#ifndef OPTIONAL_STATIC
#define OPTIONAL_STATIC(feature, member, type, field) STATIC(feature, member, type, field)
#endif
#ifndef OR_STATIC
#define OR_STATIC(feature, member, type, field) STATIC(feature, member, type, field)
#endif
#ifndef OR_SIZE
#define OR_SIZE(feature, member, type) SIZE(feature, member, type)
#endif
#ifndef OR_NUMBER
#define OR_NUMBER(feature, member, name) NUMBER(feature, member, name)
#endif
#ifndef EQUALS
#define EQUALS(feature, value, name)
#endif
#ifndef OPTIONAL_EQUALS
#define OPTIONAL_EQUALS(feature, value, name)
#endif
#ifndef AT
#define AT(feature, value, type, field)
#endif
#ifndef FRAME
#define FRAME(feature, constant, name)
#endif
#ifndef IMPORT
#define IMPORT(feature, name)
#endif
#ifndef JAVA
#define JAVA(feature, class, name, signature)
#endif
#ifndef OR_JAVA
#define OR_JAVA(feature, class, name, signature) JAVA(feature, class, name, signature)
#endif
#ifndef STUB
#define STUB(feature, name)
#endif
#ifndef PROBE
#define PROBE(feature, id, name)
#endif

FEATURE(WALK, 0, FACTS_ALL, "all that the agent does")
OFFSET(WALK, thread_stack_base, "Thread", "_stack_base")
OR_OFFSET(WALK, thread_stack_base, "JavaThread", "_stack_base")
OFFSET(WALK, jthread_anchor, "JavaThread", "_anchor")
OFFSET(WALK, jthread_state, "JavaThread", "_thread_state")
OFFSET(WALK, anchor_sp, "JavaFrameAnchor", "_last_Java_sp")
OFFSET(WALK, anchor_pc, "JavaFrameAnchor", "_last_Java_pc")
OFFSET(WALK, wrapper_anchor, "JavaCallWrapper", "_anchor")
OFFSET(WALK, blob_name, "CodeBlob", "_name")
OFFSET(WALK, blob_size, "CodeBlob", "_size")
OFFSET(WALK, blob_frame_size, "CodeBlob", "_frame_size")
OFFSET(WALK, blob_frame_complete, "CodeBlob", "_frame_complete_offset")
OFFSET(WALK, blob_code_begin, "CodeBlob", "_code_begin")
OR_OFFSET(WALK, blob_code_offset, "CodeBlob", "_code_offset")
OFFSET(WALK, nm_method, "CompiledMethod", "_method")
OR_OFFSET(WALK, nm_method, "nmethod", "_method")
OFFSET(WALK, nm_compile_id, "nmethod", "_compile_id")
OFFSET(WALK, heap_memory, "CodeHeap", "_memory")
OFFSET(WALK, heap_segmap, "CodeHeap", "_segmap")
OFFSET(WALK, heap_log2_segment, "CodeHeap", "_log2_segment_size")
OFFSET(WALK, block_used, "HeapBlock::Header", "_used")
OFFSET(WALK, vs_low_boundary, "VirtualSpace", "_low_boundary")
OFFSET(WALK, vs_high_boundary, "VirtualSpace", "_high_boundary")
OFFSET(WALK, vs_low, "VirtualSpace", "_low")
OFFSET(WALK, vs_high, "VirtualSpace", "_high")
OFFSET(WALK, array_len, "GrowableArrayBase", "_len")
OR_OFFSET(WALK, array_len, "GenericGrowableArray", "_len")
OFFSET(WALK, array_data, "GrowableArray<int>", "_data")
OFFSET(WALK, method_const, "Method", "_constMethod")
OFFSET(WALK, cm_constants, "ConstMethod", "_constants")
OFFSET(WALK, cm_code_size, "ConstMethod", "_code_size")
OFFSET(WALK, cm_name, "ConstMethod", "_name_index")
OFFSET(WALK, cm_sig, "ConstMethod", "_signature_index")
OFFSET(WALK, cp_holder, "ConstantPool", "_pool_holder")
OFFSET(WALK, klass_name, "Klass", "_name")
OFFSET(WALK, sym_len, "Symbol", "_length")
OFFSET(WALK, sym_body, "Symbol", "_body")
OFFSET(WALK, queue_buffer, "StubQueue", "_stub_buffer")
OFFSET(WALK, queue_limit, "StubQueue", "_buffer_limit")
STATIC(WALK, code_low, "CodeCache", "_low_bound")
OR_STATIC(WALK, only_heap, "CodeCache", "_heap")
STATIC(WALK, code_high, "CodeCache", "_high_bound")
OR_STATIC(WALK, only_heap, "CodeCache", "_heap")
STATIC(WALK, heaps, "CodeCache", "_heaps")
OR_STATIC(WALK, only_heap, "CodeCache", "_heap")
STATIC(WALK, call_stub_return, "StubRoutines", "_call_stub_return_address")
STATIC(WALK, interpreter, "AbstractInterpreter", "_code")
SIZE(WALK, block, "HeapBlock")
SIZE(WALK, cm, "ConstMethod")
SIZE(WALK, cp, "ConstantPool")
SIZE(WALK, jthread, "JavaThread")
NUMBER(WALK, in_java, "_thread_in_Java")
NUMBER(WALK, blocked, "_thread_blocked")

/* The interpreter of Zero is C++, and where its Java frames are is not exported. */
FEATURE(FRAMES, 0, FACTS_STACKS | FACTS_WALL | FACTS_LOCK, "Java methods on stacks")
OFFSET(FRAMES, anchor_fp, "JavaFrameAnchor", "_last_Java_fp")
FRAME(FRAMES, INTERP_SENDER_SP, "frame::interpreter_frame_sender_sp_offset")
FRAME(FRAMES, ENTRY_WRAPPER, "frame::entry_frame_call_wrapper_offset")

FEATURE(THREADS, 0, FACTS_STACKS, "Java threads from before the agent")
OFFSET(THREADS, thread_osthread, "Thread", "_osthread")
OR_OFFSET(THREADS, thread_osthread, "JavaThread", "_osthread")
OFFSET(THREADS, osthread_tid, "OSThread", "_thread_id")
OFFSET(THREADS, osthread_pthread, "OSThread", "_pthread_id")

FEATURE(COMPILED, 0, FACTS_STACKS, "stacks at the edges of compiled code")
OFFSET(COMPILED, nm_orig_pc, "nmethod", "_orig_pc_offset")
OFFSET(COMPILED, nm_deopt_begin, "CompiledMethod", "_deopt_handler_begin")
OR_OFFSET(COMPILED, nm_deopt_offset, "nmethod", "_deopt_handler_offset")
OR_OFFSET(COMPILED, nm_deopt_offset, "nmethod", "_deoptimize_offset")
OR_OFFSET(COMPILED, nm_deopt_offset, "nmethod", "_deopt_handler_entry_offset")
OPTIONAL(COMPILED, nm_deopt_mh_begin, "CompiledMethod", "_deopt_mh_handler_begin")
OPTIONAL(COMPILED, nm_deopt_mh_offset, "nmethod", "_deopt_mh_handler_offset")
OPTIONAL(COMPILED, nm_deopt_mh_offset, "nmethod", "_deoptimize_mh_offset")
OFFSET(COMPILED, nm_verified_entry, "nmethod", "_verified_entry_point")
OR_OFFSET(COMPILED, nm_verified_offset, "nmethod", "_verified_entry_offset")
OFFSET(COMPILED, nm_osr_entry, "nmethod", "_osr_entry_point")
OFFSET(COMPILED, nm_entry_bci, "nmethod", "_entry_bci")
OFFSET(COMPILED, nm_stub_offset, "nmethod", "_stub_offset")
STUB(COMPILED, "call_stub")

FEATURE(INTERPRETED, 0, FACTS_STACKS, "stacks at the edges of the interpreter")
OFFSET(INTERPRETED, queue_begin, "StubQueue", "_queue_begin")
OFFSET(INTERPRETED, queue_end, "StubQueue", "_queue_end")
OFFSET(INTERPRETED, codelet_size, "InterpreterCodelet", "_size")
OFFSET(INTERPRETED, codelet_name, "InterpreterCodelet", "_description")

FEATURE(LINES, 0, FACTS_STACKS, "source lines of Java methods")
OFFSET(LINES, cp_source, "ConstantPool", "_source_file_name_index")
OR_OFFSET(LINES, ik_source, "InstanceKlass", "_source_file_name_index")
OFFSET(LINES, cm_flags, "ConstMethod", "_flags")
OR_OFFSET(LINES, cm_flags, "ConstMethod", "_flags._flags")
OFFSET(LINES, cm_words, "ConstMethod", "_constMethod_size")
NUMBER(LINES, lines_flag, "ConstMethod::_has_linenumber_table")
OR_NUMBER(LINES, lines_flag, "ConstMethodFlags::_misc_has_linenumber_table")
PROBE(LINES, lines, "line tables that say what JVMTI says")

/* Without, the VM reports inlining itself, at calls alone. */
FEATURE(INLINED, 0, FACTS_STACKS, "inlined methods between calls")
OFFSET(INLINED, nm_pcs, "nmethod", "_scopes_pcs_offset")
OFFSET(INLINED, nm_scopes, "nmethod", "_scopes_data_offset")
OR_OFFSET(INLINED, nm_scopes_begin, "CompiledMethod", "_scopes_data_begin")
OFFSET(INLINED, nm_immutable, "nmethod", "_immutable_data")
OR_OFFSET(INLINED, nm_dependencies, "nmethod", "_dependencies_offset")
OFFSET(INLINED, nm_immutable_size, "nmethod", "_immutable_data_size")
OR_OFFSET(INLINED, nm_metadata, "nmethod", "_metadata_offset")
OFFSET(INLINED, blob_mutable, "CodeBlob", "_mutable_data")
OR_OFFSET(INLINED, nm_metadata, "nmethod", "_metadata_offset")
OFFSET(INLINED, blob_mutable_size, "CodeBlob", "_mutable_data_size")
OR_OFFSET(INLINED, nm_metadata, "nmethod", "_metadata_offset")
OFFSET(INLINED, blob_relocation_size, "CodeBlob", "_relocation_size")
OR_OFFSET(INLINED, nm_metadata, "nmethod", "_metadata_offset")
OFFSET(INLINED, pc_desc_pc, "PcDesc", "_pc_offset")
OFFSET(INLINED, pc_desc_scope, "PcDesc", "_scope_decode_offset")
SIZE(INLINED, pc_desc, "PcDesc")
PROBE(INLINED, scopes, "scopes of compiled code that lead to its method")

FEATURE(LEVELS, 0, FACTS_STACKS, "compilers, and certainty of names")
OFFSET(LEVELS, nm_level, "nmethod", "_comp_level")
OFFSET(LEVELS, blob_code_end, "CodeBlob", "_code_end")
OR_OFFSET(LEVELS, blob_data_offset, "CodeBlob", "_data_offset")
OFFSET(LEVELS, cp_length, "ConstantPool", "_length")
OFFSET(LEVELS, ik_constants, "InstanceKlass", "_constants")
STATIC(LEVELS, perf_start, "PerfMemory", "_start")
STATIC(LEVELS, perf_top, "PerfMemory", "_top")
AT(LEVELS, 24, "PerfDataPrologue", "entry_offset")
AT(LEVELS, 0, "PerfDataEntry", "entry_length")
AT(LEVELS, 4, "PerfDataEntry", "name_offset")
AT(LEVELS, 12, "PerfDataEntry", "data_type")
AT(LEVELS, 16, "PerfDataEntry", "data_offset")

FEATURE(FLAGS, 0, FACTS_ALL, "flags of the JVM")
OFFSET(FLAGS, flag_name, "JVMFlag", "_name")
OR_OFFSET(FLAGS, flag_name, "Flag", "_name")
OFFSET(FLAGS, flag_addr, "JVMFlag", "_addr")
OR_OFFSET(FLAGS, flag_addr, "Flag", "_addr")
OFFSET(FLAGS, flag_origin, "JVMFlag", "_flags")
OR_OFFSET(FLAGS, flag_origin, "Flag", "_flags")
STATIC(FLAGS, flags, "JVMFlag", "flags")
OR_STATIC(FLAGS, flags, "Flag", "flags")
STATIC(FLAGS, nr_flags, "JVMFlag", "numFlags")
OR_STATIC(FLAGS, nr_flags, "Flag", "numFlags")
SIZE(FLAGS, flag, "JVMFlag")
OR_SIZE(FLAGS, flag, "Flag")
OPTIONAL_EQUALS(FLAGS, 15, "JVMFlag::VALUE_ORIGIN_MASK")
OPTIONAL_EQUALS(FLAGS, 0, "JVMFlagOrigin::DEFAULT")

FEATURE(VERSION, 9, FACTS_STACKS, "version of the JDK")
STATIC(VERSION, major, "Abstract_VM_Version", "_vm_major_version")

FEATURE(OBJECTS, 9, FACTS_STACKS | FACTS_WALL, "objects that threads use")
STATIC(OBJECTS, oops_base, "CompressedOops", "_base")
OR_STATIC(OBJECTS, oops_base, "CompressedOops", "_narrow_oop._base")
OR_STATIC(OBJECTS, oops_base, "Universe", "_narrow_oop._base")
STATIC(OBJECTS, oops_shift, "CompressedOops", "_shift")
OR_STATIC(OBJECTS, oops_shift, "CompressedOops", "_narrow_oop._shift")
OR_STATIC(OBJECTS, oops_shift, "Universe", "_narrow_oop._shift")
STATIC(OBJECTS, klass_base, "CompressedKlassPointers", "_base")
OR_STATIC(OBJECTS, klass_base, "CompressedKlassPointers", "_narrow_klass._base")
OR_STATIC(OBJECTS, klass_base, "Universe", "_narrow_klass._base")
STATIC(OBJECTS, klass_shift, "CompressedKlassPointers", "_shift")
OR_STATIC(OBJECTS, klass_shift, "CompressedKlassPointers", "_narrow_klass._shift")
OR_STATIC(OBJECTS, klass_shift, "Universe", "_narrow_klass._shift")
STATIC(OBJECTS, mirror_klass_offset, "java_lang_Class", "_klass_offset")
OFFSET(OBJECTS, klass_layout, "Klass", "_layout_helper")
JAVA(OBJECTS, "java/lang/Integer", "value", "I")
OPTIONAL_EQUALS(OBJECTS, 42, "markWord::klass_shift")
OPTIONAL_EQUALS(OBJECTS, 3, "markWord::lock_mask")
OPTIONAL_EQUALS(OBJECTS, 3, "markWord::marked_value")

FEATURE(REFERENCES, 0, FACTS_WALL, "classes of what threads are parked for")
JAVA(REFERENCES, "java/lang/Thread", "parkBlocker", "Ljava/lang/Object;")
PROBE(REFERENCES, objects, "references that can be followed while it runs")

FEATURE(ZGC, 21, FACTS_STACKS | FACTS_WALL, "objects that threads use, with ZGC")
STATIC(ZGC, z_globals, "ZGlobalsForVMStructs", "_instance_p")
OFFSET(ZGC, z_bad_mask, "ZGlobalsForVMStructs", "_ZPointerLoadBadMask")
OFFSET(ZGC, z_shift, "ZGlobalsForVMStructs", "_ZPointerLoadShift")
OPTIONAL_STATIC(ZGC, x_globals, "XGlobalsForVMStructs", "_instance_p")
OPTIONAL(ZGC, x_bad_mask, "XGlobalsForVMStructs", "_XAddressBadMask")
OPTIONAL(ZGC, x_bad_mask, "ZGlobalsForVMStructs", "_ZAddressBadMask")

FEATURE(VIRTUAL, 21, FACTS_STACKS, "frames of virtual threads that are in the heap")
OFFSET(VIRTUAL, jthread_vthread, "JavaThread", "_vthread")
JAVA(VIRTUAL, "java/lang/Thread", "cont", "Ljdk/internal/vm/Continuation;")
JAVA(VIRTUAL, "jdk/internal/vm/Continuation", "tail", "Ljdk/internal/vm/StackChunk;")
JAVA(VIRTUAL, "jdk/internal/vm/StackChunk", "parent", "Ljdk/internal/vm/StackChunk;")
JAVA(VIRTUAL, "jdk/internal/vm/StackChunk", "size", "I")
JAVA(VIRTUAL, "jdk/internal/vm/StackChunk", "sp", "I")
JAVA(VIRTUAL, "jdk/internal/vm/StackChunk", "bottom", "I")
STUB(VIRTUAL, "cont_returnBarrier")

FEATURE(VIRTUAL_OWNER, 24, FACTS_STACKS | FACTS_LOCK, "numbers of virtual threads")
OFFSET(VIRTUAL_OWNER, jthread_owner_id, "JavaThread", "_monitor_owner_id")
OFFSET(VIRTUAL_OWNER, jthread_cont_entry, "JavaThread", "_cont_entry")
STATIC(VIRTUAL_OWNER, cont_entry_return, "ContinuationEntry", "_return_pc")
OFFSET(VIRTUAL_OWNER, jthread_lock_stack, "JavaThread", "_lock_stack")
OFFSET(VIRTUAL_OWNER, lock_stack_base, "LockStack", "_base[0]")
OFFSET(VIRTUAL_OWNER, lock_stack_top, "LockStack", "_top")
JAVA(VIRTUAL_OWNER, "java/lang/VirtualThread$VThreadContinuation$1", "val$vthread",
	"Ljava/lang/VirtualThread;")

FEATURE(MONITORS, 0, FACTS_LOCK, "owners of monitors")
OFFSET(MONITORS, jthread_pending_monitor, "JavaThread", "_current_pending_monitor")
OR_OFFSET(MONITORS, jthread_pending_monitor, "Thread", "_current_pending_monitor")
OPTIONAL(MONITORS, monitor_header, "ObjectMonitor", "_header")
OPTIONAL(MONITORS, monitor_header, "ObjectMonitor", "_metadata")
OFFSET(MONITORS, monitor_object, "ObjectMonitor", "_object")
OFFSET(MONITORS, monitor_owner, "ObjectMonitor", "_owner")
OFFSET(MONITORS, thread_stack_size, "Thread", "_stack_size")
OR_OFFSET(MONITORS, thread_stack_size, "JavaThread", "_stack_size")
JAVA(MONITORS, "java/lang/Thread", "tid", "J")
JAVA(MONITORS, "java/lang/Thread", "eetop", "J")
OPTIONAL_EQUALS(MONITORS, 1, "ObjectMonitor::ANONYMOUS_OWNER")
OPTIONAL_EQUALS(MONITORS, 2, "ObjectMonitor::DEFLATER_MARKER")

FEATURE(PARKS, 0, FACTS_LOCK, "parked platform threads")
SIZE(PARKS, method, "Method")
JAVA(PARKS, "java/lang/Thread", "parkBlocker", "Ljava/lang/Object;")
JAVA(PARKS, "java/util/concurrent/locks/AbstractOwnableSynchronizer", "exclusiveOwnerThread",
	"Ljava/lang/Thread;")
JAVA(PARKS, "jdk/internal/misc/Unsafe", "park", "(ZJ)V")
OR_JAVA(PARKS, "sun/misc/Unsafe", "park", "(ZJ)V")

FEATURE(METHODS, 26, FACTS_LOCK, "parked platform threads by the name of Unsafe.park()")
STATIC(METHODS, object_klass, "SystemDictionary",
	"_well_known_klasses[SystemDictionary::Object_klass_knum]")
OR_STATIC(METHODS, object_klass, "vmClasses",
	"_klasses[static_cast<int>(vmClassID::Object_klass_knum)]")
OFFSET(METHODS, klass_loader, "Klass", "_class_loader_data")
OFFSET(METHODS, klass_next, "Klass", "_next_link")
OFFSET(METHODS, loader_klasses, "ClassLoaderData", "_klasses")
OFFSET(METHODS, ik_methods, "InstanceKlass", "_methods")
OFFSET(METHODS, vmarray_len, "Array<int>", "_length")
OFFSET(METHODS, vmarray_methods, "Array<Method*>", "_data")

FEATURE(CLASS_WAITS, 0, FACTS_LOCK, "waits for the initialisation of classes")
NUMBER(CLASS_WAITS, being_initialized, "InstanceKlass::being_initialized")
OFFSET(CLASS_WAITS, ik_init_state, "InstanceKlass", "_init_state")
OFFSET(CLASS_WAITS, ik_init_thread, "InstanceKlass", "_init_thread")
IMPORT(CLASS_WAITS, "pthread_cond_wait")

FEATURE(REASONS, 0, FACTS_WALL, "what threads wait for")
OFFSET(REASONS, jthread_object, "JavaThread", "_threadObj")
OFFSET(REASONS, jthread_waiting_monitor, "JavaThread", "_current_waiting_monitor")
OR_OFFSET(REASONS, jthread_waiting_monitor, "Thread", "_current_waiting_monitor")
JAVA(REASONS, "jdk/internal/misc/Unsafe", "park", "(ZJ)V")
OR_JAVA(REASONS, "sun/misc/Unsafe", "park", "(ZJ)V")

FEATURE(NOTIFIED, 9, FACTS_WALL, "notified threads that wait for their monitor")
OFFSET(NOTIFIED, osthread_state, "OSThread", "_state")
EQUALS(NOTIFIED, 3, "MONITOR_WAIT")

/* Asked for by who records them, once there is such a thread: the class is not to be initialised before. */
FEATURE(VIRTUAL_STATES, 21, 0, "for what virtual threads wait")
JAVA(VIRTUAL_STATES, "java/lang/VirtualThread", "state", "I")
JAVA(VIRTUAL_STATES, "java/lang/VirtualThread", "PARKING", "I")
JAVA(VIRTUAL_STATES, "java/lang/VirtualThread", "YIELDING", "I")
JAVA(VIRTUAL_STATES, "java/lang/VirtualThread", "PARKED", "I")

FEATURE(COLLECTIONS, 0, FACTS_LOCK | FACTS_WALL, "collections while objects are looked at")
STATIC(COLLECTIONS, heap, "Universe", "_collectedHeap")
OFFSET(COLLECTIONS, gc_active, "CollectedHeap", "_is_gc_active")
OR_OFFSET(COLLECTIONS, gc_active, "CollectedHeap", "_is_stw_gc_active")
OFFSET(COLLECTIONS, gc_count, "CollectedHeap", "_total_collections")

FEATURE(ALLOCATED, 0, FACTS_CALLS, "bytes that calls allocate")
OFFSET(ALLOCATED, thread_allocated, "Thread", "_allocated_bytes")
OFFSET(ALLOCATED, thread_tlab, "Thread", "_tlab")
OFFSET(ALLOCATED, tlab_start, "ThreadLocalAllocBuffer", "_start")
OFFSET(ALLOCATED, tlab_top, "ThreadLocalAllocBuffer", "_top")

#undef FEATURE
#undef OFFSET
#undef STATIC
#undef SIZE
#undef NUMBER
#undef OR_OFFSET
#undef OPTIONAL
#undef OPTIONAL_STATIC
#undef OR_STATIC
#undef OR_SIZE
#undef OR_NUMBER
#undef EQUALS
#undef OPTIONAL_EQUALS
#undef AT
#undef FRAME
#undef IMPORT
#undef JAVA
#undef OR_JAVA
#undef STUB
#undef PROBE
