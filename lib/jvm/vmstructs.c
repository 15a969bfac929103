// SPDX-License-Identifier: GPL-2.0-or-later
/* vmstructs.c - see vmstructs.h. Source: HotSpot's runtime/vmStructs.hpp. */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/io.h"
#include "jvm/vmstructs.h"

enum {
	MAX_ENTRIES = 1 << 13, MAX_SYMBOLS = 1 << 16, MAX_SEGMENTS = 64, MAX_DYNAMIC = 128, PAGE = 4096,
	MAX_CHAIN = 1 << 10,		/* linkers make buckets so that a chain has a few symbols */
};

bool vmstructs_get(const struct vmstructs *v, uint64_t addr, void *to, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)addr, bytes };

	memset(to, 0, bytes);
	return process_vm_readv(v->pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

uint64_t vmstructs_word(const struct vmstructs *v, uint64_t addr)
{
	uint64_t x;

	return vmstructs_get(v, addr, &x, sizeof(x)) ? x : 0;
}

uint32_t vmstructs_half(const struct vmstructs *v, uint64_t addr)
{
	uint32_t x;

	return vmstructs_get(v, addr, &x, sizeof(x)) ? x : 0;
}

/* Read a text, cut if it is longer than any name that is searched for. */
static void get_text(const struct vmstructs *v, uint64_t addr, char *to)
{
	size_t first = PAGE - addr % PAGE;

	first = first < VMSTRUCTS_NAME - 1 ? first : VMSTRUCTS_NAME - 1;
	memset(to, 0, VMSTRUCTS_NAME);
	/* the page after that of its end may not be there */
	if (vmstructs_get(v, addr, to, first) && strlen(to) == first)
		vmstructs_get(v, addr + first, to + first, VMSTRUCTS_NAME - 1 - first);
}

/* ---- its symbols ---- */

bool vmstructs_at(struct vmstructs *v, int pid, uint64_t libjvm)
{
	uint64_t dynamic = 0;
	Elf64_Ehdr h;
	Elf64_Phdr p;
	Elf64_Dyn d;
	int i;

	*v = (struct vmstructs){ .pid = pid, .libjvm = libjvm };
	if (!vmstructs_get(v, libjvm, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_phentsize != sizeof(p))
		return false;
	for (i = 0; i < h.e_phnum && i < MAX_SEGMENTS && !dynamic; i++)
		if (vmstructs_get(v, libjvm + h.e_phoff + i * sizeof(p), &p, sizeof(p)) &&
		    p.p_type == PT_DYNAMIC)
			dynamic = libjvm + p.p_vaddr;
	for (i = 0; dynamic && i < MAX_DYNAMIC; i++) {
		if (!vmstructs_get(v, dynamic + i * sizeof(d), &d, sizeof(d)) || d.d_tag == DT_NULL)
			break;
		/* the C library has made addresses of offsets, or it has not */
		if (d.d_un.d_ptr < libjvm)
			d.d_un.d_ptr += libjvm;
		if (d.d_tag == DT_SYMTAB)
			v->symbols = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRTAB)
			v->strings = d.d_un.d_ptr;
		else if (d.d_tag == DT_GNU_HASH)
			v->hash = d.d_un.d_ptr;
	}
	return v->symbols && v->strings && v->hash;
}

int vmstructs_open(struct vmstructs *v, int pid, struct err *e)
{
	static const char name[] = "/libjvm.so", deleted[] = " (deleted)";
	unsigned long long start = 0;
	struct buf b = BUF_INIT;
	char path[32], *line, *end, *at;
	uint64_t magic;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (io_slurp(path, &b))
		r = err_set(e, errno == ENOENT ? ESRCH : EACCES, "process %d may not be looked into, or is gone", pid);
	for (line = b.len ? b.data : NULL; line && !start; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		at = strstr(line, deleted);	/* an updated JDK's */
		if (at && !at[sizeof(deleted) - 1])
			*at = '\0';
		/* the first mapping of a file is that of its beginning */
		if (strlen(line) >= sizeof(name) && !strcmp(line + strlen(line) - (sizeof(name) - 1), name))
			sscanf(line, "%llx", &start);
	}
	buf_release(&b);
	if (r)
		return r;
	if (!start)
		return err_set(e, ENOTSUP, "process %d is not a HotSpot JVM", pid);
	*v = (struct vmstructs){ .pid = pid };
	if (!vmstructs_get(v, start, &magic, sizeof(magic))) {
		err_set(e, EACCES, "the memory of process %d may not be read", pid);
		return err_hint(e, "run arcprof as its user with kernel.yama.ptrace_scope=0, or as root"), -EACCES;
	}
	return vmstructs_at(v, pid, start) ? 0 :
		err_set(e, ENOTSUP, "the libjvm.so of process %d has no table of symbols", pid);
}

static uint32_t gnu_hash(const char *s)
{
	uint32_t h = 5381;

	while (*s)
		h = h * 33 + (uint8_t)*s++;
	return h;
}

static bool vmstructs_is_named(const struct vmstructs *v, uint64_t i, const char *name, Elf64_Sym *s)
{
	char text[VMSTRUCTS_NAME];

	if (!vmstructs_get(v, v->symbols + i * sizeof(*s), s, sizeof(*s)))
		return false;
	get_text(v, v->strings + s->st_name, text);
	return !strcmp(text, name);
}

uint64_t vmstructs_symbol(const struct vmstructs *v, const char *name)
{
	/* head: buckets, first symbol, words of the filter */
	uint32_t head[4], hash = gnu_hash(name), i, value, n;
	uint64_t buckets, chains;
	Elf64_Sym s;

	if (!vmstructs_get(v, v->hash, head, sizeof(head)) || !head[0])
		return 0;
	buckets = v->hash + sizeof(head) + (uint64_t)head[2] * 8;
	chains = buckets + (uint64_t)head[0] * 4;
	i = vmstructs_half(v, buckets + hash % head[0] * 4ull);
	for (n = 0; i >= head[1] && n < MAX_CHAIN; i++, n++) {
		value = vmstructs_half(v, chains + (i - head[1]) * 4ull);
		if ((value | 1) == (hash | 1) && vmstructs_is_named(v, i, name, &s))
			return v->libjvm + s.st_value;
		if (value & 1)
			break;
	}
	return 0;
}

/* Return the word at that symbol, or 0. */
static uint64_t exported(const struct vmstructs *v, const char *name)
{
	uint64_t at = vmstructs_symbol(v, name);

	return at ? vmstructs_word(v, at) : 0;
}

/* Symbols that it does not define come first, and are in no hash table. */
bool vmstructs_imports(const struct vmstructs *v, const char *name)
{
	uint32_t head[2], i;
	Elf64_Sym s;

	if (!vmstructs_get(v, v->hash, head, sizeof(head)))
		return false;
	for (i = 1; i < head[1] && i < MAX_SYMBOLS; i++)
		if (vmstructs_is_named(v, i, name, &s))
			return s.st_shndx == SHN_UNDEF;
	return false;
}

/* ---- its tables ---- */

union vm_entry {
	struct {			/* VMStructEntry */
		uint64_t type, field, type_text;
		int32_t is_static, pad;
		uint64_t offset, address;
	} of_field;
	struct {			/* VMTypeEntry */
		uint64_t name, super;
		int32_t is_oop, is_integer, is_unsigned, pad;
		uint64_t bytes;
	} of_type;
	struct {			/* VMIntConstantEntry */
		uint64_t name;
		int32_t value, pad;
	} of_int;
	struct {			/* VMLongConstantEntry */
		uint64_t name;
		int64_t value;
	} of_long;
	uint64_t name;			/* of all; 0: the end */
};

static void vmstructs_decode(const struct vmstructs *v, const union vm_entry *raw, struct vmstructs_entry *e)
{
	e->field[0] = '\0';
	e->is_static = false;
	get_text(v, raw->name, e->type);
	switch (e->table) {
	case VMSTRUCTS_FIELDS:
		get_text(v, raw->of_field.field, e->field);
		e->is_static = raw->of_field.is_static;
		e->value = e->is_static ? raw->of_field.address : raw->of_field.offset;
		break;
	case VMSTRUCTS_TYPES:
		e->value = raw->of_type.bytes;
		break;
	case VMSTRUCTS_INTS:
		e->value = raw->of_int.value;
		break;
	case VMSTRUCTS_LONGS:
		e->value = raw->of_long.value;
	}
}

bool vmstructs_each(const struct vmstructs *v, enum vmstructs_table table,
		    void (*take)(void *ctx, const struct vmstructs_entry *e), void *ctx)
{
	static const struct {
		const char *table, *stride;
		size_t bytes;
	} forms[] = {
		[VMSTRUCTS_FIELDS] = { "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride",
				       sizeof(((union vm_entry *)NULL)->of_field) },
		[VMSTRUCTS_TYPES] = { "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride",
				      sizeof(((union vm_entry *)NULL)->of_type) },
		[VMSTRUCTS_INTS] = { "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride",
				     sizeof(((union vm_entry *)NULL)->of_int) },
		[VMSTRUCTS_LONGS] = { "gHotSpotVMLongConstants", "gHotSpotVMLongConstantEntryArrayStride",
				      sizeof(((union vm_entry *)NULL)->of_long) },
	};
	const size_t bytes = forms[table].bytes;
	struct vmstructs_entry e = { .table = table };
	union vm_entry raw;
	uint64_t at;
	int i;

	if (exported(v, forms[table].stride) != bytes)
		return false;
	at = exported(v, forms[table].table);
	for (i = 0; at && i < MAX_ENTRIES && vmstructs_get(v, at + i * bytes, &raw, bytes) && raw.name; i++) {
		vmstructs_decode(v, &raw, &e);
		take(ctx, &e);
	}
	return at;
}
