/* SPDX-License-Identifier: MIT */
/*
 * table.h - every kind of record that an agent writes, once, but for samples.  The numbers of their types,
 * the agent's writer, the recorder's decoder and callbacks, what hands them over to the trace,
 * and the tests are made of these rows.
 *
 * There is no include guard: who includes this defines RECORD, and what of the rows it takes, before; all
 * are undefined at the end.
 *
 *	RECORD(struct, TRACED or OWN, fields)
 *		A record that is one struct jvm_<struct>.  The row makes JVM_REC_<struct>,
 *		send_<struct>() in the agent, and the member <struct> of struct jvm_callbacks.
 *		TRACED	the trace has a record of that name with the same members, and proc:
 *			javatrace_<struct>() (collect/javatrace.h) writes it
 *		OWN	the recorder has a callback of its own
 *		fields	in the order of the bytes, after time_ns, without commas between them
 *
 *	FIELD(type, member)	u32: 4 bytes, u64: 8
 *	KEY(type, member)	a field that must not be 0
 *	ASIDE(type, member)	a field for the recorder, which the trace's record does not have
 *	TID(member)		a thread: 4 bytes, its tid as the JVM sees it; decoded, as the
 *				recorder does; in the trace, the number of a thread
 *	TEXT(member, length)	4 bytes of length and a name; the agent cuts what is longer
 *				than JVM_MAX_STRING
 *	PAIRS(member, length)	the same with whole pairs of varints, such as a line table.  A TRACED
 *				record is handed over without it: the trace has lines of sampled methods only
 *	INLINES(member, length)	the same with an inline table as struct rec_code has it, or nothing
 *	FIELDS(member, length)	the same with named values (base/fields.h), or nothing
 *
 * Who changes a row changes JVM_PROTO_VERSION.
 */
RECORD(method, TRACED,
	KEY(u32, method.method)
	TEXT(method.class_name, method.class_len)
	TEXT(method.name, method.name_len)
	TEXT(method.sig, method.sig_len)
	TEXT(method.source, method.source_len)
	PAIRS(method.lines, method.lines_len))
RECORD(code, TRACED,
	FIELD(u64, code.addr)
	FIELD(u32, code.size)
	FIELD(u32, code.method)
	FIELD(u32, code.compile_id)
	FIELD(u32, code.level)
	ASIDE(u64, code.begin)
	ASIDE(u32, code.whole)
	INLINES(code.inl, code.inl_len))
RECORD(code_gone, TRACED,
	FIELD(u64, code_gone.addr)
	FIELD(u32, code_gone.compile_id))
RECORD(stub, TRACED,
	FIELD(u64, stub.addr)
	FIELD(u64, stub.size)
	TEXT(stub.name, stub.name_len))
RECORD(thread, OWN,
	TID(thread.thread)
	FIELD(u64, thread.vthread)
	TEXT(thread.name, thread.name_len)
	TEXT(thread.group, thread.group_len))
RECORD(refused, OWN,
	TEXT(refused.class_name, refused.class_len)
	TEXT(refused.name, refused.name_len)
	TEXT(refused.sig, refused.sig_len)
	TEXT(refused.why, refused.why_len))
RECORD(bracket, TRACED,
	TID(bracket.thread)
	FIELD(u32, bracket.method))
RECORD(wait, OWN,
	TID(wait.thread)
	FIELD(u32, wait.kind)
	FIELD(u64, wait.vthread)
	FIELD(u64, wait.ns)
	KEY(u32, wait.leaf)
	FIELD(u32, wait.identity)
	TID(wait.owner)
	FIELD(u64, wait.weight_ns)
	FIELD(u64, wait.owner_vthread)
	FIELD(u64, wait.blamed_ns))
RECORD(native_wait, OWN,
	KEY(u64, native_wait.addr)
	FIELD(u64, native_wait.ns)
	TID(native_wait.thread)
	FIELD(u32, native_wait.kind)
	TID(native_wait.owner)
	FIELD(u64, native_wait.weight_ns)
	FIELD(u64, native_wait.blamed_ns)
	FIELD(u32, native_wait.given_back))
RECORD(blame, OWN,
	FIELD(u64, blame.ns)
	FIELD(u32, blame.waits)
	KEY(u32, blame.leaf)
	FIELD(u32, blame.identity)
	FIELD(u32, blame.kind)
	FIELD(u32, blame.what)
	TID(blame.owner)
	FIELD(u32, blame.cut)
	FIELD(u64, blame.owner_vthread)
	PAIRS(blame.frames, blame.frames_len))
RECORD(open_wait, OWN,
	FIELD(u64, open_wait.vthread)
	FIELD(u64, open_wait.ns)
	FIELD(u64, open_wait.blamed_ns)
	FIELD(u64, open_wait.owner_vthread)
	TID(open_wait.thread)
	FIELD(u32, open_wait.kind)
	KEY(u32, open_wait.leaf)
	FIELD(u32, open_wait.identity)
	TID(open_wait.owner)
	FIELD(u32, open_wait.cut)
	PAIRS(open_wait.frames, open_wait.frames_len))
RECORD(lock_use, OWN,
	FIELD(u64, lock_use.since_ns)
	FIELD(u64, lock_use.nonrec)
	FIELD(u64, lock_use.rec)
	FIELD(u64, lock_use.held_ns)
	KEY(u32, lock_use.leaf)
	FIELD(u32, lock_use.identity)
	FIELD(u32, lock_use.kind))
RECORD(virtual_wait, OWN,
	KEY(u64, virtual_wait.vthread)
	FIELD(u64, virtual_wait.ns)
	FIELD(u64, virtual_wait.weight_ns)
	FIELD(u32, virtual_wait.reason)
	FIELD(u32, virtual_wait.leaf)
	FIELD(u32, virtual_wait.ready)
	FIELD(u32, virtual_wait.cut)
	PAIRS(virtual_wait.frames, virtual_wait.frames_len))
RECORD(virtual_total, OWN,
	FIELD(u64, virtual_total.nr_threads)
	FIELD(u64, virtual_total.nr_waits)
	FIELD(u64, virtual_total.nr_lost)
	FIELD(u64, virtual_total.life_ns)
	FIELD(u64, virtual_total.mounted_ns)
	FIELD(u64, virtual_total.runnable_ns)
	FIELD(u64, virtual_total.blocked_ns))
RECORD(leaf, OWN,
	KEY(u32, leaf.leaf)
	FIELD(u32, leaf.kind)
	TEXT(leaf.name, leaf.name_len))
RECORD(gone_objects, OWN,
	FIELD(u32, gone_objects.why)
	PAIRS(gone_objects.numbers, gone_objects.numbers_len))
RECORD(swept, OWN,
	FIELD(u32, swept.pauses)
	FIELD(u32, swept.collector)
	FIELD(u32, swept.tracked)
	FIELD(u64, swept.interval)
	FIELD(u64, swept.took_ns)
	FIELD(u64, swept.young_ns)
	FIELD(u64, swept.whole_ns))
RECORD(roster, OWN,
	FIELD(u64, roster.cookie)
	FIELD(u32, roster.nr))
RECORD(no_source, OWN,
	FIELD(u32, no_source.source)
	TEXT(no_source.why, no_source.why_len))
RECORD(dump_begin, OWN,
	FIELD(u32, dump_begin.flags)
	FIELD(u32, dump_begin.nr_threads))
RECORD(dump_thread, OWN,
	FIELD(u64, dump_thread.id)
	TID(dump_thread.thread)
	FIELD(u32, dump_thread.state)
	FIELD(u32, dump_thread.flags)
	FIELD(u32, dump_thread.priority)
	FIELD(u64, dump_thread.carrier)
	FIELD(u64, dump_thread.cpu_ns)
	TEXT(dump_thread.name, dump_thread.name_len))
RECORD(dump_frame, OWN,
	FIELD(u32, dump_frame.line)
	TEXT(dump_frame.class_name, dump_frame.class_len)
	TEXT(dump_frame.name, dump_frame.name_len)
	TEXT(dump_frame.source, dump_frame.source_len))
RECORD(dump_lock, OWN,
	FIELD(u64, dump_lock.owner)
	KEY(u32, dump_lock.role)
	FIELD(u32, dump_lock.depth)
	FIELD(u32, dump_lock.hash)
	TEXT(dump_lock.class_name, dump_lock.class_len))
RECORD(dump_edge, OWN,
	FIELD(u64, dump_edge.id)
	FIELD(u64, dump_edge.owner)
	FIELD(u64, dump_edge.cpu_ns)
	KEY(u32, dump_edge.round)
	FIELD(u32, dump_edge.hash))
RECORD(dump_end, OWN,
	FIELD(u32, dump_end.rounds)
	FIELD(u32, dump_end.lost)
	FIELD(u32, dump_end.hidden)
	TEXT(dump_end.why, dump_end.why_len))
RECORD(event, OWN,
	FIELD(u32, event.kind)
	TID(event.thread)
	FIELD(u64, event.vthread)
	FIELD(u64, event.duration_ns)
	FIELD(u64, event.values[0])
	FIELD(u64, event.values[1])
	FIELD(u64, event.values[2])
	TEXT(event.what, event.what_len)
	TEXT(event.cause, event.cause_len))
RECORD(labels, OWN,
	TID(labels.thread)
	FIELD(u32, labels.nr)
	FIELD(u64, labels.vthread)
	TEXT(labels.text, labels.text_len))
RECORD(marked, OWN,
	TID(marked.thread)
	FIELD(u64, marked.vthread)
	FIELD(u64, marked.duration_ns)
	TEXT(marked.name, marked.name_len)
	FIELDS(marked.fields, marked.fields_len))
RECORD(load_cause, TRACED,
	TID(load_cause.thread)
	TEXT(load_cause.by, load_cause.by_len))
RECORD(no_event, OWN,
	FIELD(u32, no_event.tell)
	TEXT(no_event.why, no_event.why_len))

#undef RECORD
#undef FIELD
#undef KEY
#undef TID
#undef ASIDE
#undef TEXT
#undef PAIRS
#undef INLINES
#undef FIELDS
#undef TRACED
#undef OWN
