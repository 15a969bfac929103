/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.balign 16
	.globl ptt_bpf_file, ptt_bpf_file_end, ptt_basic_bpf_file, ptt_basic_bpf_file_end
ptt_bpf_file:
	.incbin PTT_BPF_FILE
ptt_bpf_file_end:
	.balign 16
ptt_basic_bpf_file:
	.incbin PTT_BASIC_BPF_FILE
ptt_basic_bpf_file_end:
	.section .note.GNU-stack, "", @progbits
