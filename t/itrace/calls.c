/*
 * calls.c - ways from function to function, each as often as its comment says; made with
 * -nostdlib, so that nothing else runs.
 */
#ifdef __x86_64__
#define SYS_kill 62
#define SYS_getpid 39
#define SYS_rt_sigaction 13
#else
#define SYS_kill 129
#define SYS_getpid 172
#define SYS_rt_sigaction 134
#endif
#define NOINLINE __attribute__((noinline, noclone, used))

struct kernel_sigaction {
	void (*handler)(int);
	unsigned long flags;
	void (*restorer)(void);
	unsigned long mask;
};

volatile int sink;
void *buffer[8];

static long call3(long nr, long a, long b, long c, long d)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
#endif
}

#ifdef __x86_64__
__asm__(".type tail, @function\ntail: nop\n jmp leaf\n .size tail, . - tail");
__asm__(".type restorer, @function\nrestorer: mov $15, %eax\n syscall\n .size restorer, . - restorer");
__asm__(".globl _start\n.type _start, @function\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call run\n"
	" mov %eax, %edi\n mov $60, %eax\n syscall\n .size _start, . - _start");
#else
__asm__(".type tail, @function\ntail: nop\n b leaf\n .size tail, . - tail");
__asm__(".type restorer, @function\nrestorer: mov x8, #139\n svc #0\n .size restorer, . - restorer");
__asm__(".globl _start\n.type _start, @function\n_start: mov x29, #0\n bl run\n"
	" mov x8, #93\n svc #0\n .size _start, . - _start");
#endif

NOINLINE void leaf(void) { sink++; }			/* 3 from thrice, 1 from tail, 2 from on_signal */
NOINLINE void thrice(void) { leaf(); leaf(); leaf(); sink++; }	/* 1 */
NOINLINE int recurse(int n) { return n ? recurse(n - 1) + sink : 0; }	/* 1 + 4 */
void tail(void);						/* 1; leaf is then main's */
void restorer(void);						/* 2 */
NOINLINE void on_signal(int sig) { leaf(); sink++; }		/* 2 */
NOINLINE void send(void) { call3(SYS_kill, call3(SYS_getpid, 0, 0, 0, 0), 10, 0, 0); }	/* 2 */

NOINLINE void jumper(void) { __builtin_longjmp(buffer, 1); }	/* 1 */
NOINLINE void between(void) { jumper(); sink++; }		/* 1 */
NOINLINE void catcher(void)					/* 1 */
{
	if (!__builtin_setjmp(buffer))
		between();
	thrice();						/* so thrice is 2 and leaf 3 more */
}

NOINLINE int run(void)
{
	struct kernel_sigaction sa = { on_signal, 0x04000000, restorer, 0 };

	thrice();
	recurse(4);
	tail();
	call3(SYS_rt_sigaction, 10, (long)&sa, 0, 8);
	send();
	send();
	catcher();
	return 0;
}
