/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols.h - the end of a recording: every address that was sampled gets its function,
 * file, line and inlined calls into the trace, while the files are still there.
 */
#ifndef COLLECT_SYMBOLS_H
#define COLLECT_SYMBOLS_H

#include "collect/engine/modules.h"

struct symbols_result {
	uint64_t nr_addresses, nr_named;
	bool kernel_hidden;		/* kptr_restrict kept the kernel's names */
	bool cut;			/* meanwhile() did not want the rest */
};

/* Access to the files of modules. */
struct symbols_files {
	struct symfile *(*file)(void *ctx, uint32_t module);	/* NULL: cannot be read */
	void *ctx;
	struct cache *cache;		/* for the kernel's names; or NULL */
	bool no_kernel;			/* this machine's kernel is another */
	bool fetch;			/* what is stripped off them, and not here, from a server */
	/*
	 * Called again and again, for it may take long; what it adds is named by the next call. False: the
	 * rest is left out.
	 */
	bool (*meanwhile)(void *ctx);
	void *meanwhile_ctx;
};

void symbols_write(const struct symbols_files *files, struct trace_writer *w, bool lines,
		   struct symbols_result *r);
/* Do the same for the modules of a recording, none of which meanwhile() drops. */
void symbols_write_modules(struct modules *m, struct trace_writer *w, bool lines,
			   bool (*meanwhile)(void *ctx), void *ctx, struct symbols_result *r);

#endif
