/* SPDX-License-Identifier: MIT */
/*
 * embed.S - the files that LD_PRELOAD names: libarcprof-preload.so, or one that does more, and an object without content for 32-bit
 * programs, whose dynamic linker would complain about a 64-bit one.
 */
	.section .rodata
	.balign 16
	.globl preload_file, preload_file_end
preload_file:
#ifdef PRELOAD_FILE
	.incbin PRELOAD_FILE
#endif
preload_file_end:
	.balign 16
	.globl preload_memory_file, preload_memory_file_end
preload_memory_file:
#ifdef PRELOAD_MEMORY_FILE
	.incbin PRELOAD_MEMORY_FILE
#endif
preload_memory_file_end:
	.balign 16
	.globl preload_waits_file, preload_waits_file_end
preload_waits_file:
#ifdef PRELOAD_WAITS_FILE
	.incbin PRELOAD_WAITS_FILE
#endif
preload_waits_file_end:
	.balign 16
	.globl preload_both_file, preload_both_file_end
preload_both_file:
#ifdef PRELOAD_BOTH_FILE
	.incbin PRELOAD_BOTH_FILE
#endif
preload_both_file_end:

/*
 * ELF32 for i386, written out because not every compiler here makes such code. The dynamic section must be writable
 * (the dynamic linker relocates it), and without PT_GNU_STACK every stack would become executable.
 */
	.balign 16
	.globl preload_empty32, preload_empty32_end
preload_empty32:
	.byte 0x7f, 'E', 'L', 'F', 1, 1, 1, 0		/* ELFCLASS32, little-endian, EV_CURRENT */
	.zero 8
	.short 3, 3					/* ET_DYN, EM_386 */
	.long 1, 0, phdrs - preload_empty32, 0, 0	/* version, entry, program headers, no sections, flags */
	.short 52, 32, 3, 40, 0, 0			/* sizes and counts of headers */
phdrs:
	.long 1, 0, 0, 0				/* PT_LOAD: all of it, at 0 */
	.long preload_empty32_end - preload_empty32, preload_empty32_end - preload_empty32, 6, 0x1000
	.long 2, dynamic - preload_empty32, dynamic - preload_empty32, 0		/* PT_DYNAMIC */
	.long dynamic_end - dynamic, dynamic_end - dynamic, 6, 4
	.long 0x6474e551, 0, 0, 0, 0, 0, 6, 16		/* PT_GNU_STACK: not executable */
dynamic:
	.long 4, hash - preload_empty32			/* DT_HASH */
	.long 5, strings - preload_empty32		/* DT_STRTAB */
	.long 6, symbols - preload_empty32		/* DT_SYMTAB */
	.long 10, 1					/* DT_STRSZ */
	.long 11, 16					/* DT_SYMENT */
	.long 0, 0
dynamic_end:
hash:
	.long 1, 1, 0, 0				/* one bucket, one symbol: none */
symbols:
	.zero 16
strings:
	.byte 0
preload_empty32_end:
	.section .note.GNU-stack, "", %progbits
