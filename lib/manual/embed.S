/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.globl manual_pages, manual_pages_end
manual_pages:
	.incbin MANUAL
manual_pages_end:
	.section .note.GNU-stack, "", %progbits
