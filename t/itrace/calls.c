/*
 * calls.c - ways from function to function, each as often as its comment says; made with
 * -nostdlib, so that nothing else runs.
 */
#define SYS_kill 62
#define SYS_getpid 39
#define SYS_exit 60
#define SYS_rt_sigaction 13
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
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return ret;
}

NOINLINE void leaf(void) { sink++; }				/* 3 from thrice, 1 from tail, 2 from on_signal */
NOINLINE void thrice(void) { leaf(); leaf(); leaf(); sink++; }	/* 1 */
NOINLINE int recurse(int n) { return n ? recurse(n - 1) + sink : 0; }	/* 1 + 4 */
void tail(void);						/* 1; leaf is then main's */
__asm__(".type tail, @function\ntail: nop\n jmp leaf\n .size tail, . - tail");

void restorer(void);						/* 2 */
__asm__(".type restorer, @function\nrestorer: mov $15, %eax\n syscall\n .size restorer, . - restorer");
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

__asm__(".globl _start\n.type _start, @function\n_start: xor %ebp, %ebp\n and $-16, %rsp\n call run\n"
	" mov %eax, %edi\n mov $60, %eax\n syscall\n .size _start, . - _start");
