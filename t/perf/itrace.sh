#!/bin/sh
# Steps a second of arcprof itrace against the least that ptrace can do (a step, a wait, the program
# counter), and bytes an instruction: the same program, one after the other, three times.
set -eu
cd "$(dirname "$0")/../.."
make -s build/arcprof build/t/tools/stepcount
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/loop.c" <<'END'
#include <string.h>
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void)
{
	char a[64] = "", b[64];
	int i, n = 0;

	for (i = 0; i < 1000; i++) {
		memcpy(b, a, sizeof(b));
		a[i % 64] += fib(i % 10);
		n += strlen(b);
	}
	return n == 42;
}
END
gcc -O1 -static -o "$dir/loop" "$dir/loop.c"
for _ in 1 2 3; do
	build/t/tools/stepcount -f 200000 "$dir/loop" | sed 's/^/ptrace, nothing else: /'
	build/arcprof itrace --limit 200000 -o "$dir/trace" -- "$dir/loop" 2>&1 |
		sed -n 's/.* s, \(.*\)/arcprof itrace: \1/p; s/.*bytes, \(.* an instruction\).*/arcprof itrace: \1/p'
done
