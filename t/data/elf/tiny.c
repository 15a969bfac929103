extern int puts(const char *); extern void *memcpy(void *, const void *, unsigned long);
static inline __attribute__((always_inline)) int twice(int x) { return puts("x") + 2 * x; }
static inline __attribute__((always_inline)) int more(int x) { if (x) return twice(x + 1); return 3; }
int f(int n, char *p) { char b[n]; memcpy(b, p, n); return more(n) + b[1]; }
__attribute__((weak)) int g(int n) { return f(n, 0) + more(n); }
__asm__(".globl label\nlabel: ret\n");
