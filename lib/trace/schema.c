// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/mem.h"
#include "trace/format.h"
#include "trace/schema.h"

#define MTE(minor, name, fields) { TRF_MAJOR_MTE, (minor), 0xffffffff, (name), (fields) }
#define TPROF(minor, name, fields) \
	{ TRF_MAJOR_TPROF, (minor), 0xff, (name), "event:m8.8 cpu:m16.16 thread:u32 stack:u32" fields }

const struct schema_row schema_rows[] = {
	{ TRF_MAJOR_FILE, TRF_FILE_SCHEMA, 0xffffffff, "schema",
	  "major:x32 minor:x32 minor_mask:x32 name:s fields:s" },
	{ TRF_MAJOR_FILE, TRF_FILE_INDEX, 0xffffffff, "index",
	  "offset:u64:bytes first:u64:ns last:u64:ns type:u32:4cc stream:u32 records:u32 stored:u32:bytes" },
	{ TRF_MAJOR_FILE, TRF_FILE_END, 0xffffffff, "end",
	  "index:u64:bytes samples:u64 records:u64 lost:u64 realtime:u64:ns chunks:u32" },
	{ TRF_MAJOR_LABEL, 0, 0, "label", "key:s value:s" },
	{ TRF_MAJOR_LOST, 0, 0, "lost", "cause:u32 stream:u32 count:u64" },
	TPROF(TRF_TPROF_PLAIN, "sample.kernel", ""),
	TPROF(TRF_TPROF_PLAIN | TRF_TPROF_USER, "sample.user", ""),
	TPROF(TRF_TPROF_WEIGHT, "sample.kernel", " weight:u64"),
	TPROF(TRF_TPROF_WEIGHT | TRF_TPROF_USER, "sample.user", " weight:u64"),
	TPROF(TRF_TPROF_WIDE, "sample.kernel", " weight:u64 event_wide:u32"),
	TPROF(TRF_TPROF_WIDE | TRF_TPROF_USER, "sample.user", " weight:u64 event_wide:u32"),
	{ TRF_MAJOR_STACK, TRF_STACK_FRAMES, 0xffffffff, "frames",
	  "first:u32 nr:u32 *nr( kind:v a:v b:z c:v d:v )" },
	{ TRF_MAJOR_STACK, TRF_STACK_NODES, 0xffffffff, "stacks",
	  "first:u32 runs:u32 *runs( up:v n:v *n( frame:v ) )" },
	MTE(TRF_MTE_PROC, "proc", "proc:u32 parent:u32 pid:u32 comm:s"),
	MTE(TRF_MTE_FORK, "fork", "proc:u32 parent:u32 pid:u32 comm:s"),
	MTE(TRF_MTE_EXEC, "exec", "proc:u32 parent:u32 pid:u32 comm:s"),
	MTE(TRF_MTE_PROC_END, "proc.end", "proc:u32 thread:u32 status:i32"),
	MTE(TRF_MTE_THREAD, "thread", "thread:u32 proc:u32 tid:u32 name:s"),
	MTE(TRF_MTE_JAVA_THREAD, "thread.java", "thread:u32 proc:u32 tid:u32 name:s"),
	MTE(TRF_MTE_THREAD_END, "thread.end", "proc:u32 thread:u32 status:i32"),
	MTE(TRF_MTE_MODULE, "module",
	    "module:u32 flags:x32 dev:x64 inode:u64 size:u64:bytes mtime:u64:ns build_id:b path:s"),
	MTE(TRF_MTE_MAP, "map", "proc:u32 module:u32 addr:x64 size:x64 pgoff:x64"),
	MTE(TRF_MTE_METHOD, "method", "proc:u32 method:u32 class:s name:s signature:s source:s"),
	MTE(TRF_MTE_CODE, "code",
	    "addr:x64 proc:u32 method:u32 compile_id:u32 level:u32 size:u32:bytes inline:b"),
	MTE(TRF_MTE_CODE_GONE, "code.gone", "addr:x64 proc:u32 compile_id:u32"),
	MTE(TRF_MTE_STUB, "stub", "addr:x64 size:x64 proc:u32 name:s"),
	{ TRF_MAJOR_SYMBOL, TRF_SYMBOL_NAME, 0xffffffff, "symbol", "off:x64 size:x64 module:u32 name:s" },
	{ TRF_MAJOR_SYMBOL, TRF_SYMBOL_LINE, 0xffffffff, "line",
	  "off:x64 module:u32 depth:u32 nr_depth:u32 line:u32 func:s file:s" },
};

const unsigned int nr_schema_rows = ARRAY_SIZE(schema_rows);
