/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.balign 16
	.globl wall_bpf_file, wall_bpf_file_end, wall_traps_bpf_file, wall_traps_bpf_file_end
	.globl wall_basic_bpf_file, wall_basic_bpf_file_end
	.globl wall_traps_7_bpf_file, wall_traps_7_bpf_file_end
wall_bpf_file:
	.incbin WALL_BPF_FILE
wall_bpf_file_end:
	.balign 16
wall_traps_bpf_file:
	.incbin WALL_TRAPS_BPF_FILE
wall_traps_bpf_file_end:
	.balign 16
wall_basic_bpf_file:
	.incbin WALL_BASIC_BPF_FILE
wall_basic_bpf_file_end:
	.balign 16
wall_traps_7_bpf_file:
	.incbin WALL_TRAPS_7_BPF_FILE
wall_traps_7_bpf_file_end:
	.section .note.GNU-stack, "", @progbits
