/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.balign 16
	.globl calibrate_trainer, calibrate_trainer_end, calibrate_java, calibrate_java_end
calibrate_trainer:
	.incbin TRAINER_FILE
calibrate_trainer_end:
calibrate_java:
#ifdef TRAINER_CLASS
	.incbin TRAINER_CLASS
#endif
calibrate_java_end:
	.section .note.GNU-stack, "", %progbits
