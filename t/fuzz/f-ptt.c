// SPDX-License-Identifier: GPL-2.0-or-later
/* f-ptt.c - any text as the note of a session, and as what /proc says of a thread. */
#include <stdint.h>

#include "base/mem.h"
#include "ptt/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = xstrndup((const char *)data, len);
	struct ptt_thread t = { 0 };
	struct ptt_note n;
	struct err e;

	ptt_proc_stat(text, &t);
	ptt_proc_schedstat(text, &t);
	ptt_proc_status(text, &t);
	if (!ptt_note_parse(text, &n, &e))
		ptt_note_release(&n);
	free(text);
	return 0;
}
