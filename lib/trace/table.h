/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - every kind of record, once.  The writer, the reader, the schema in each trace, which dump
 * goes by, and the tests are made of these rows.  Their order is that of the schema, and the manual
 * page arcprof-trace(5) has a line for each; the tests compare the two.
 *
 * There is no include guard: an includer defines RECORD, VARIANT or BY_HAND before, and all three
 * are undefined at the end.
 *
 *	RECORD(struct, chunk, time, major, code, name, fields)
 *		A record that is one struct rec_<struct>.  The row makes trace_write_<struct>(), the
 *		member <struct> of struct trace_sink, and what encodes and decodes it.
 *		chunk	where it is written: META, BRANCHES or CALLS
 *		time	TIMED: the struct begins with time_ns; UNTIMED: it has no time, and the record
 *			gets that of the latest sample
 *		major	TRF_MAJOR_<major>
 *		code	CODE(n): the minor code; CODE_LOW(n): its low byte, the rest is 0 when written;
 *			CODE_OF(member): the member's value, any; CODE_ANY: any, 0 when written
 *		fields	in the order of the payload, without commas between them
 *	VARIANT(struct, major, code, name, member)
 *		Another code of the same struct, which it has when the member is not 0; of several the
 *		last counts.  A bool is set by the reader, any other member is a field.
 *	BY_HAND(major, code, name, fields)
 *		A record that has code of its own elsewhere; fields as schema.h describes them.
 *
 *	FIELD(type, name, member)	u32, x32, i32: 4 bytes; u64, x64: 8; v: varint of a uint64_t
 *	FIELD(type, name, member, ":ns")	the same with a unit
 *	KEY(type, name, member)		a field that must not be 0
 *	TEXT(name, member, length), BYTES(name, member, length)
 *	PAIRS(count, first, second, member, length)
 *		pairs of zigzag varints; the record has their number, the struct their length in bytes
 */
#ifndef RECORD
#define RECORD(...)
#endif
#ifndef VARIANT
#define VARIANT(...)
#endif
#ifndef BY_HAND
#define BY_HAND(...)
#endif

#define SAMPLE "event:m8.8 cpu:m16.16 thread:u32 stack:u32"
#define BLOCKS "cpu:m16.16 thread:u32 start:x64 nr:v *nr( what:u8 instructions:v span:v to:z )"

BY_HAND(FILE, CODE(TRF_FILE_SCHEMA), "schema", "major:x32 minor:x32 minor_mask:x32 name:s fields:s")
BY_HAND(FILE, CODE(TRF_FILE_INDEX), "index",
	"offset:u64:bytes first:u64:ns last:u64:ns type:u32:4cc stream:u32 records:u32 stored:u32:bytes")
BY_HAND(FILE, CODE(TRF_FILE_END), "end",
	"index:u64:bytes samples:u64 records:u64 lost:u64 realtime:u64:ns chunks:u32")
BY_HAND(LABEL, CODE_ANY, "label", "key:s value:s")
RECORD(lost, META, TIMED, LOST, CODE_OF(lost.cause), "lost",
	FIELD(u32, "cause", lost.cause)
	FIELD(u32, "stream", lost.stream)
	FIELD(u64, "count", lost.count))
BY_HAND(DISPATCH, CODE(TRF_DISPATCH_RUN), "dispatches", "nr:u32 *nr( dt:z:ns what:v thread:v arg:v )")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_PLAIN), "sample.kernel", SAMPLE)
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_PLAIN | TRF_TPROF_USER), "sample.user", SAMPLE)
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WEIGHT), "sample.kernel", SAMPLE " weight:u64")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WEIGHT | TRF_TPROF_USER), "sample.user", SAMPLE " weight:u64")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WIDE), "sample.kernel", SAMPLE " weight:u64 event_wide:u32")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WIDE | TRF_TPROF_USER), "sample.user",
	SAMPLE " weight:u64 event_wide:u32")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_SUM), "sample.kernel",
	SAMPLE " weight:u64 event_wide:u32 samples:u64")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_SUM | TRF_TPROF_USER), "sample.user",
	SAMPLE " weight:u64 event_wide:u32 samples:u64")
BY_HAND(STACK, CODE(TRF_STACK_FRAMES), "frames", "first:u32 nr:u32 *nr( kind:v a:v b:z c:v d:v )")
BY_HAND(STACK, CODE(TRF_STACK_NODES), "stacks", "first:u32 runs:u32 *runs( up:v n:v *n( frame:v ) )")
BY_HAND(BRANCH, CODE_LOW(TRF_BRANCH_KERNEL), "branches.kernel", BLOCKS)
BY_HAND(BRANCH, CODE_LOW(TRF_BRANCH_USER), "branches.user", BLOCKS)
RECORD(branch_code, BRANCHES, TIMED, BRANCH, CODE_LOW(0x10), "branch.code",
	FIELD(x64, "addr", branch_code.addr)
	FIELD(u32, "proc", branch_code.proc)
	BYTES("bytes", branch_code.bytes, branch_code.len))
RECORD(proc, META, TIMED, MTE, CODE(0x34), "proc",
	FIELD(u32, "proc", proc.proc)
	FIELD(u32, "parent", proc.parent)
	FIELD(u32, "pid", proc.pid)
	TEXT("comm", proc.comm, proc.comm_len))
VARIANT(proc, MTE, CODE(0x63), "fork", proc.parent)
VARIANT(proc, MTE, CODE(0x81), "exec", proc.exec)
RECORD(cgroup, META, TIMED, MTE, CODE(0x91), "proc.cgroup",
	FIELD(u32, "proc", cgroup.proc)
	TEXT("path", cgroup.path, cgroup.path_len))
RECORD(end, META, TIMED, MTE, CODE(0x65), "proc.end",
	FIELD(u32, "proc", end.proc)
	FIELD(u32, "thread", end.thread)
	FIELD(i32, "status", end.status))
RECORD(thread, META, TIMED, MTE, CODE(0x66), "thread",
	FIELD(u32, "thread", thread.thread)
	FIELD(u32, "proc", thread.proc)
	FIELD(u32, "tid", thread.tid)
	TEXT("name", thread.name, thread.name_len))
VARIANT(thread, MTE, CODE(0x42), "thread.java", thread.java)
RECORD(thread_group, META, TIMED, MTE, CODE(0x97), "thread.group",
	FIELD(u32, "thread", thread_group.thread)
	TEXT("name", thread_group.name, thread_group.name_len))
VARIANT(end, MTE, CODE(0x67), "thread.end", end.thread)
RECORD(module, META, TIMED, MTE, CODE(0x82), "module",
	FIELD(u32, "module", module.module)
	FIELD(x32, "flags", module.flags)
	FIELD(x64, "dev", module.dev)
	FIELD(u64, "inode", module.inode)
	FIELD(u64, "size", module.size, ":bytes")
	FIELD(u64, "mtime", module.mtime_ns, ":ns")
	BYTES("build_id", module.build_id, module.build_id_len)
	TEXT("path", module.path, module.path_len))
RECORD(map, META, TIMED, MTE, CODE(0x01), "map",
	FIELD(u32, "proc", map.proc)
	FIELD(u32, "module", map.module)
	FIELD(x64, "addr", map.addr)
	FIELD(x64, "size", map.size)
	FIELD(x64, "pgoff", map.pgoff))
RECORD(method, META, TIMED, MTE, CODE(0x83), "method",
	FIELD(u32, "proc", method.proc)
	FIELD(u32, "method", method.method)
	TEXT("class", method.class_name, method.class_len)
	TEXT("name", method.name, method.name_len)
	TEXT("signature", method.sig, method.sig_len)
	TEXT("source", method.source, method.source_len))
RECORD(method_lines, META, TIMED, MTE, CODE(0x87), "method.lines",
	FIELD(u32, "proc", method_lines.proc)
	FIELD(u32, "method", method_lines.method)
	PAIRS("nr", "bci", "line", method_lines.table, method_lines.len))
RECORD(code, META, TIMED, MTE, CODE(0x41), "code",
	FIELD(x64, "addr", code.addr)
	FIELD(u32, "proc", code.proc)
	FIELD(u32, "method", code.method)
	FIELD(u32, "compile_id", code.compile_id)
	FIELD(u32, "level", code.level)
	FIELD(u32, "size", code.size, ":bytes")
	BYTES("inline", code.inl, code.inl_len))
RECORD(code_gone, META, TIMED, MTE, CODE(0x84), "code.gone",
	FIELD(x64, "addr", code_gone.addr)
	FIELD(u32, "proc", code_gone.proc)
	FIELD(u32, "compile_id", code_gone.compile_id))
RECORD(code_bytes, META, TIMED, MTE, CODE(0x88), "code.bytes",
	FIELD(x64, "addr", code_bytes.addr)
	FIELD(u32, "proc", code_bytes.proc)
	FIELD(u32, "compile_id", code_bytes.compile_id)
	BYTES("bytes", code_bytes.bytes, code_bytes.len))
RECORD(stub, META, TIMED, MTE, CODE(0x85), "stub",
	FIELD(x64, "addr", stub.addr)
	FIELD(x64, "size", stub.size)
	FIELD(u32, "proc", stub.proc)
	TEXT("name", stub.name, stub.name_len))
RECORD(wall, META, TIMED, MTE, CODE(0x89), "thread.wall",
	FIELD(u32, "thread", wall.thread)
	FIELD(u64, "begin", wall.begin_ns, ":ns")
	FIELD(v, "cpu", wall.cpu_ns, ":ns")
	FIELD(v, "runnable", wall.runnable_ns, ":ns")
	FIELD(v, "blocked", wall.blocked_ns, ":ns")
	FIELD(v, "blocks", wall.nr_blocks))
RECORD(virtual, META, TIMED, MTE, CODE(0x95), "proc.virtual",
	FIELD(u32, "proc", virtual.proc)
	FIELD(v, "threads", virtual.nr_threads)
	FIELD(v, "waits", virtual.nr_waits)
	FIELD(v, "lost", virtual.nr_lost)
	FIELD(v, "life", virtual.life_ns, ":ns")
	FIELD(v, "mounted", virtual.mounted_ns, ":ns")
	FIELD(v, "runnable", virtual.runnable_ns, ":ns")
	FIELD(v, "blocked", virtual.blocked_ns, ":ns"))
RECORD(wake, META, TIMED, MTE, CODE(0x8c), "thread.wake",
	FIELD(u32, "thread", wake.thread)
	FIELD(u32, "function", wake.function)
	FIELD(u32, "kind", wake.kind)
	FIELD(u32, "waker", wake.waker)
	FIELD(v, "duration", wake.ns, ":ns")
	FIELD(v, "seen", wake.seen_ns, ":ns")
	FIELD(v, "weight", wake.weight, ":ns"))
RECORD(thread_label, META, TIMED, MTE, CODE(0x8d), "thread.label",
	FIELD(u32, "thread", thread_label.thread)
	FIELD(x32, "flags", thread_label.flags)
	TEXT("labels", thread_label.text, thread_label.text_len))
RECORD(sched_at, META, TIMED, MTE, CODE(0x9d), "sched.at",
	FIELD(u32, "thread", sched_at.thread)
	FIELD(u32, "what", sched_at.what)
	FIELD(u32, "cpu", sched_at.cpu)
	FIELD(x32, "arg", sched_at.arg))
RECORD(bracket, META, TIMED, MTE, CODE(0x86), "bracket",
	FIELD(u32, "proc", bracket.proc)
	FIELD(u32, "thread", bracket.thread)
	FIELD(u32, "method", bracket.method))
RECORD(event, META, TIMED, EVENT, CODE(0x01), "event",
	FIELD(u32, "kind", event.kind)
	FIELD(u32, "proc", event.proc)
	FIELD(u32, "thread", event.thread)
	FIELD(v, "duration", event.duration_ns, ":ns")
	FIELD(v, "value1", event.values[0])
	FIELD(v, "value2", event.values[1])
	FIELD(v, "value3", event.values[2])
	TEXT("what", event.what, event.what_len)
	TEXT("cause", event.cause, event.cause_len))
RECORD(marked, META, TIMED, MTE, CODE(0x92), "marked",
	FIELD(u32, "proc", marked.proc)
	FIELD(u32, "thread", marked.thread)
	FIELD(v, "duration", marked.duration_ns, ":ns")
	TEXT("name", marked.name, marked.name_len)
	BYTES("fields", marked.fields, marked.fields_len))
RECORD(load_cause, META, TIMED, MTE, CODE(0x98), "load.cause",
	FIELD(u32, "proc", load_cause.proc)
	FIELD(u32, "thread", load_cause.thread)
	TEXT("by", load_cause.by, load_cause.by_len))
RECORD(recorded, META, TIMED, EVENT, CODE(0x02), "recorded",
	FIELD(u32, "on", recorded.on)
	TEXT("event", recorded.event, recorded.event_len))
RECORD(trigger, META, TIMED, EVENT, CODE(0x03), "trigger",
	FIELD(u32, "proc", trigger.proc)
	TEXT("when", trigger.when, trigger.when_len)
	TEXT("cause", trigger.cause, trigger.cause_len))
RECORD(filter, META, TIMED, MTE, CODE(0x93), "filter",
	FIELD(v, "left_out", filter.left_out)
	TEXT("event", filter.event, filter.event_len)
	TEXT("rules", filter.rules, filter.rules_len))
RECORD(waited, META, TIMED, MTE, CODE(0x94), "thread.waited",
	FIELD(u32, "thread", waited.thread)
	FIELD(v, "duration", waited.ns, ":ns"))
RECORD(lock, META, TIMED, MTE, CODE(0x8a), "lock",
	FIELD(u32, "proc", lock.proc)
	FIELD(u32, "function", lock.function)
	FIELD(x32, "identity", lock.identity)
	FIELD(u32, "kind", lock.kind)
	FIELD(u32, "waiters", lock.waiters)
	FIELD(v, "n", lock.n)
	FIELD(v, "sum", lock.ns, ":ns")
	FIELD(v, "max", lock.max_ns, ":ns")
	PAIRS("lengths", "class", "n", lock.buckets, lock.buckets_len)
	PAIRS("owners", "thread", "ns", lock.owners, lock.owners_len))
RECORD(lock_use, META, TIMED, MTE, CODE(0x96), "lock.use",
	FIELD(u32, "proc", lock_use.proc)
	FIELD(u32, "function", lock_use.function)
	FIELD(x32, "identity", lock_use.identity)
	FIELD(u32, "kind", lock_use.kind)
	FIELD(v, "nonrec", lock_use.nonrec)
	FIELD(v, "rec", lock_use.rec)
	FIELD(v, "held", lock_use.held_ns, ":ns")
	FIELD(v, "counted", lock_use.counted_ns, ":ns"))
RECORD(sweep, META, TIMED, MTE, CODE(0x8b), "sweep",
	FIELD(u32, "proc", sweep.proc)
	FIELD(u32, "pauses", sweep.pauses)
	FIELD(v, "tracked", sweep.tracked)
	FIELD(v, "died", sweep.died)
	FIELD(v, "interval", sweep.interval, ":bytes")
	FIELD(v, "known", sweep.known_ns, ":ns")
	FIELD(v, "took", sweep.took_ns, ":ns")
	FIELD(v, "whole", sweep.whole_ns, ":ns"))
RECORD(roster, META, TIMED, MTE, CODE(0x8f), "roster",
	FIELD(u32, "proc", roster.proc)
	FIELD(x64, "cookie", roster.cookie)
	FIELD(v, "interval", roster.interval, ":bytes")
	BYTES("objects", roster.objects, roster.objects_len))
RECORD(class_total, META, TIMED, MTE, CODE(0x8e), "class.total",
	FIELD(u32, "proc", class_total.proc)
	FIELD(v, "objects", class_total.objects)
	FIELD(v, "bytes", class_total.bytes, ":bytes")
	TEXT("class", class_total.name, class_total.name_len))
RECORD(footprint, META, TIMED, MTE, CODE(0x90), "proc.memory",
	FIELD(u32, "proc", footprint.proc)
	FIELD(u32, "kind", footprint.kind)
	FIELD(v, "resident", footprint.resident)
	FIELD(v, "swapped", footprint.swapped)
	FIELD(v, "committed", footprint.committed)
	FIELD(v, "mapped", footprint.mapped)
	TEXT("text", footprint.text, footprint.text_len))
BY_HAND(CALLS, CODE(TRF_CALLS_CONSUMER), "call.consumer", "consumer:u32 kind:v a:v b:v")
RECORD(call_tree, CALLS, TIMED, CALLS, CODE(0x02), "call.tree",
	KEY(u32, "tree", call_tree.tree)
	FIELD(u32, "proc", call_tree.proc)
	FIELD(u32, "thread", call_tree.thread)
	FIELD(x32, "flags", call_tree.flags)
	FIELD(v, "java_id", call_tree.java_id)
	FIELD(v, "start", call_tree.start_ns, ":ns")
	FIELD(v, "end", call_tree.end_ns, ":ns")
	FIELD(v, "kernel_cpu", call_tree.kernel_cpu_ns, ":ns")
	FIELD(v, "popped", call_tree.popped)
	FIELD(v, "inserted", call_tree.inserted)
	FIELD(v, "over_range", call_tree.over_range)
	FIELD(v, "folded", call_tree.folded)
	FIELD(v, "folded_recursion", call_tree.folded_recursion)
	FIELD(v, "thrown", call_tree.thrown)
	FIELD(v, "missed", call_tree.missed)
	FIELD(v, "mounts", call_tree.mounts)
	FIELD(v, "lost_events", call_tree.lost_events)
	FIELD(v, "open", call_tree.open)
	TEXT("name", call_tree.name, call_tree.name_len))
BY_HAND(CALLS, CODE(TRF_CALLS_NODES), "call.nodes", "tree:u32 first:u32 nr:u32 *nr( up:v consumer:v )")
BY_HAND(CALLS, CODE(TRF_CALLS_VALUES), "call.values",
	"tree:u32 metrics:u32 nr:u32 *nr( skip:v calls:v *metrics( base:v ) )")
RECORD(call_refused, CALLS, TIMED, CALLS, CODE(0x09), "call.refused",
	FIELD(u32, "proc", call_refused.proc)
	TEXT("class", call_refused.class_name, call_refused.class_len)
	TEXT("name", call_refused.name, call_refused.name_len)
	TEXT("signature", call_refused.sig, call_refused.sig_len)
	TEXT("why", call_refused.why, call_refused.why_len))
RECORD(call_label, CALLS, TIMED, CALLS, CODE(0x9a), "call.label",
	KEY(u32, "consumer", call_label.consumer)
	FIELD(x32, "flags", call_label.flags)
	TEXT("labels", call_label.labels, call_label.labels_len))
BY_HAND(CALLS, CODE(TRF_CALLS_EVENTS), "call.events",
	"tree:u32 metrics:u32 nr:u32 *nr( kind:v consumer:v time:v:ns *metrics( charged:v ) )")
RECORD(symbol, META, UNTIMED, SYMBOL, CODE(0x01), "symbol",
	FIELD(x64, "off", symbol.off)
	FIELD(x64, "size", symbol.size)
	FIELD(u32, "module", symbol.module)
	TEXT("name", symbol.name, symbol.name_len))
RECORD(line, META, UNTIMED, SYMBOL, CODE(0x02), "line",
	FIELD(x64, "off", line.off)
	FIELD(u32, "module", line.module)
	FIELD(u32, "depth", line.depth)
	FIELD(u32, "nr_depth", line.nr_depth)
	FIELD(u32, "line", line.line)
	TEXT("func", line.func, line.func_len)
	TEXT("file", line.file, line.file_len))
RECORD(function, META, UNTIMED, SYMBOL, CODE(0x03), "function",
	KEY(u32, "function", function.function)
	FIELD(u32, "kind", function.kind)
	TEXT("name", function.name, function.name_len)
	TEXT("module", function.module, function.module_len)
	TEXT("file", function.file, function.file_len))
RECORD(tree_part, CALLS, UNTIMED, TREE, CODE(0x01), "tree.part",
	FIELD(u64, "start", tree_part.start_ns, ":ns")
	FIELD(u64, "duration", tree_part.duration_ns, ":ns")
	FIELD(u64, "lost", tree_part.lost)
	TEXT("host", tree_part.host, tree_part.host_len)
	TEXT("command", tree_part.command, tree_part.command_len))
RECORD(tree_source, CALLS, UNTIMED, TREE, CODE(0x02), "tree.source",
	KEY(u32, "source", tree_source.source)
	FIELD(u64, "total", tree_source.total)
	TEXT("name", tree_source.name, tree_source.name_len)
	TEXT("kind", tree_source.kind, tree_source.kind_len))
RECORD(tree_metric, CALLS, UNTIMED, TREE, CODE(0x03), "tree.metric",
	KEY(u32, "metric", tree_metric.metric)
	KEY(u32, "source", tree_metric.source)
	FIELD(u64, "total", tree_metric.total)
	TEXT("name", tree_metric.name, tree_metric.name_len)
	TEXT("unit", tree_metric.unit, tree_metric.unit_len))
RECORD(tree_consumer, CALLS, UNTIMED, TREE, CODE(0x04), "tree.consumer",
	KEY(u32, "consumer", tree_consumer.consumer)
	FIELD(x64, "key", tree_consumer.key)
	TEXT("kind", tree_consumer.kind, tree_consumer.kind_len)
	TEXT("name", tree_consumer.name, tree_consumer.name_len)
	TEXT("module", tree_consumer.module, tree_consumer.module_len)
	TEXT("detail", tree_consumer.detail, tree_consumer.detail_len))
RECORD(tree_nodes, CALLS, UNTIMED, TREE, CODE(0x05), "tree.nodes",
	KEY(u32, "first", tree_nodes.first)
	FIELD(u32, "level", tree_nodes.level)
	FIELD(u32, "nr", tree_nodes.nr)
	BYTES("nodes", tree_nodes.nodes, tree_nodes.len))

#undef SAMPLE
#undef BLOCKS
#undef RECORD
#undef VARIANT
#undef BY_HAND
