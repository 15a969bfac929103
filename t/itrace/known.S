/*
 * known.S - a program whose branches are known.  In 100 rounds each:
 *	call 1, call through a register 1, return 2, short jump 1, near jump 1, jump through
 *	memory 1, conditional taken 1 (99 at the end of the round and 1 that leaves), not taken 1
 * and once each: a jump to the next instruction, 5 rounds of rep stosb, a call to the next
 * instruction, pushf and popf, a system call that returns, and the one that ends it.
 * It runs 3 + 100 * 16 + 14 instructions.
 */
	.globl _start
	.type _start, @function
_start:
	mov	$100, %ebx
	lea	indirect(%rip), %r12
	xor	%ebp, %ebp
round:	call	direct
	call	*%r12
	jmp	1f			# short
	nop
1:	.byte	0xe9			# near, always
	.long	2f - . - 4
	.skip	200, 0x90
2:	jmp	*table(%rip)
3:	test	%ebp, %ebp
	jnz	wrong			# never taken
	sub	$50, %ebp
	add	$50, %ebp
	dec	%ebx
	jnz	round			# 99 times
	jz	4f			# once
	nop
4:	jmp	5f			# to the next instruction
5:	lea	buffer(%rip), %rdi
	mov	$5, %ecx
	rep stosb			# one instruction
	call	6f
6:	pop	%rax
	pushf
	popf
	mov	$39, %eax		# getpid
	syscall
	xor	%edi, %edi
	mov	$60, %eax		# exit
	syscall
wrong:	hlt
	.size _start, . - _start

	.type direct, @function
direct:	xor	%eax, %eax
	ret
	.size direct, . - direct

	.type indirect, @function
indirect:
	nop
	nop
	ret
	.size indirect, . - indirect

	.data
table:	.quad	3b
	.bss
buffer:	.skip	8
	.section .note.GNU-stack, "", @progbits
