/* SPDX-License-Identifier: MIT */
	.section .rodata
	.balign 16
	.globl jvm_agent_file, jvm_agent_file_end
jvm_agent_file:
	.incbin AGENT_FILE
jvm_agent_file_end:
	.section .note.GNU-stack, "", @progbits
