/* SPDX-License-Identifier: GPL-2.0-or-later */
	.section .rodata
	.balign 16
	.globl calibrate_trainer, calibrate_trainer_end
calibrate_trainer:
#ifdef TRAINER_FILE
	.incbin TRAINER_FILE
#endif
calibrate_trainer_end:
	.section .note.GNU-stack, "", %progbits
