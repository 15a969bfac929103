/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.balign 16
	.globl cpuclock_bpf_file, cpuclock_bpf_file_end, cpuclock_traps_bpf_file, cpuclock_traps_bpf_file_end
	.globl cpuclock_traps_7_bpf_file, cpuclock_traps_7_bpf_file_end
cpuclock_bpf_file:
	.incbin CPUCLOCK_BPF_FILE
cpuclock_bpf_file_end:
	.balign 16
cpuclock_traps_bpf_file:
	.incbin CPUCLOCK_TRAPS_BPF_FILE
cpuclock_traps_bpf_file_end:
	.balign 16
cpuclock_traps_7_bpf_file:
	.incbin CPUCLOCK_TRAPS_7_BPF_FILE
cpuclock_traps_7_bpf_file_end:
	.section .note.GNU-stack, "", @progbits
