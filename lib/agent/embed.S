/* SPDX-License-Identifier: MIT */
	.section .rodata
	.balign 16
	.globl jvm_agent_file, jvm_agent_file_end
jvm_agent_file:
#ifdef AGENT_FILE
	.incbin AGENT_FILE
#endif
jvm_agent_file_end:
	.section .note.GNU-stack, "", %progbits
