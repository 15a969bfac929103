/*
 * known-arm64.S - known.S for arm64.  In 100 rounds each:
 *	call 1, call through a register 1, return 2, jump 1, jump through a register 1, conditional taken
 *	cbz 1, tbz 1, b.cond 1 (99 at the end of the round and 1 that leaves), not taken b.cond 1, cbnz 1, tbnz 1
 * and once each: a jump to the next instruction, a call to the next instruction, an increment with
 * load-exclusive and store-exclusive, a system call that returns, and the one that ends it.
 * It runs 4 + 100 * 19 + 15 instructions.
 */
	.globl _start
	.type _start, @function
_start:
	mov	w19, #100
	adr	x20, indirect
	adr	x21, 2f
	mov	w22, #0
round:	bl	direct
	blr	x20
	b	1f
	nop
1:	br	x21
	.skip	200
2:	cmp	w22, #1
	b.eq	wrong			// never taken
	cbnz	w22, wrong
	tbnz	w22, #3, wrong
	cbz	w22, 3f			// always
	nop
3:	tbz	w22, #3, 4f
	nop
4:	add	w23, w19, #5
	sub	w23, w23, #5
	cmp	w23, w19
	subs	w19, w19, #1
	b.ne	round			// 99 times
	b.eq	5f			// once
	nop
5:	b	6f			// to the next instruction
6:	bl	7f
7:	adr	x0, word
	str	wzr, [x0]		// a page that is written first by stlxr undoes it
	ldaxr	w1, [x0]
	add	w1, w1, #1
	stlxr	w2, w1, [x0]
	cbnz	w2, 9f			// a plain stepper fails each time
9:	mov	x8, #172		// getpid
	svc	#0
	mov	w0, #0
	nop
	mov	x8, #93			// exit
	svc	#0
wrong:	udf	#0
	.size _start, . - _start

	.type direct, @function
direct:	nop
	ret
	.size direct, . - direct

	.type indirect, @function
indirect:
	nop
	ret
	.size indirect, . - indirect

	.data
	.balign 4
word:	.word	0
