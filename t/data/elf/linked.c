static __attribute__((noinline, noclone)) int hidden(int x) { return x * 3 + 1; }
int shown(int x) { return hidden(x) + hidden(x + 1); }
