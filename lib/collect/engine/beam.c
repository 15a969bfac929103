// SPDX-License-Identifier: GPL-2.0-or-later
/* beam.c - reads from a BEAM process what its stacks require (beam.h). */
#include <sys/uio.h>

#include "collect/engine/recording.h"
#include "collect/engine/runtimes.h"

enum { TRIES = 64 };	/* it is made while the runtime starts */

/* Return the address of the variable in p, or 0 if it is not in this mapping's file. */
static uint64_t variable(struct collect *c, const struct map_entry *m)
{
	struct symfile *f = m->module ? modules_file(&c->modules, m->module) : NULL;
	uint64_t start = f ? symfile_off_to_vaddr(f, m->pgoff) : UINT64_MAX, vaddr;

	return start != UINT64_MAX && symfile_exported(f, "beam_normal_exit", &vaddr) ?
		       m->start - start + vaddr : 0;
}

static uint64_t read_exit(struct collect *c, const struct proc *p)
{
	uint64_t at, code = 0;
	size_t i;

	for (i = 0; i < p->maps.nr_entries; i++) {
		struct iovec local = { &code, sizeof(code) }, remote = { NULL, sizeof(code) };

		at = variable(c, &p->maps.entries[i]);
		if (!at)
			continue;
		remote.iov_base = (void *)at;
		return process_vm_readv(p->pid, &local, 1, &remote, 1, 0) == sizeof(code) ? code : 0;
	}
	return 0;
}

uint64_t beam_exit(struct collect *c, struct proc *p)
{
	if (!p->beam_exit && runtime_is_beam(p->runtime) && p->beam_tries < TRIES) {
		p->beam_tries++;
		p->beam_exit = read_exit(c, p);
	}
	return p->beam_exit;
}
