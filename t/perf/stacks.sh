#!/bin/sh
# stacks.sh - how many stacks of the distribution's own programs reach the root, at default
# settings but for the rate; beside it what perf's frame pointers give, where perf is installed.
#
# usage: t/perf/stacks.sh [--check]	--check: without perf, and the longest two; fails when a share is below 97 %
set -u
cd "$(dirname "$0")/../.." || exit 1
arcprof=${ARCPROF:-$PWD/build/arcprof}
make -s all workloads >/dev/null || exit 1
top=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C.UTF-8
unset PYTHONHOME PYTHONPATH
bad=0
check=no
[ "${1-}" != --check ] || check=yes

# Samples that reach the first frame of a thread, of all that have a user stack.
perf_share() {
	perf script -i perf.data -F ip,sym 2>/dev/null | awk '
		function done() { if (n) { all++; rooted += last ~ /_start|__libc_start|clone|start_thread/ } n = 0 }
		NF == 0 { done(); next }
		{ n++; last = $0 }
		END { done(); if (all) printf "%.1f", 100 * rooted / all; else printf "-" }'
}

# The same asked of the trace by another way than its own count: percent of the samples whose
# outermost function is where threads begin, or the file's entry point.
rooted_share() {
	"$arcprof" report -i trace --xtree --format json |
		jq -r '.nodes as $n | .nodes[] | select(.parent != null and $n[.parent].kind == "thread" and .cum[0] > 0)
			| [.cum[0], .kind, .name, .module // "-"] | @tsv' >roots
	cut -f 4 roots | sort -u | while read -r module; do
		entry=$(readelf -h "$module" 2>/dev/null | sed -n 's/.*Entry point address: *//p')
		printf '%s\t%s+%s\n' "$module" "${module##*/}" "$entry"
	done >entries
	awk -F '\t' 'NR == FNR { entry[$1] = $2; next }
		{ all += $1 }
		$2 == "kernel" || $3 == entry[$4] || $3 ~ /^(_start|_dl_start_user|__?clone3?|clone3?|start_thread)$/ { rooted += $1 }
		END { printf "%.1f", all ? 100 * rooted / all : 100 }' entries roots
}

row() {
	name=$1
	shift
	command -v "$1" >/dev/null || { printf '%-10s %s\n' "$name" "not installed"; return; }
	"$arcprof" record -q -F 1999 -o trace -- "$@" >/dev/null 2>err </dev/null || { printf '%-10s failed: %s\n' "$name" "$(head -n 1 err)"; return; }
	"$arcprof" report -i trace --xprof --format json >json
	fp=-
	if [ "$check" = no ] && command -v perf >/dev/null; then
		perf record -q -g -F 999 -e cpu-clock -o perf.data -- "$@" >/dev/null 2>&1 </dev/null
		fp=$(perf_share)
	fi
	jq -r --arg name "$name" --arg fp "$fp" --arg rooted "$(rooted_share)" '.quality as $q | [$name, $q.n, .source.lost,
		($q.complete_stacks * 1000 / ([$q.n, 1] | max) | round / 10), $rooted, $fp,
		([$q.incomplete_stacks[] | "\(.name // .mark // .why) \(.n)"] | join(", "))] | @tsv' json |
		awk -F '\t' '{ printf "%-10s %7d %5d %9.1f %8s %8s  %s\n", $1, $2, $3, $4, $5, $6, $7 }'
	jq -e '.quality.complete_stacks * 100 >= .quality.n * 97' json >/dev/null || bad=1
}

# Something to chew on that is the same everywhere.
i=0
while [ $i -lt 60000 ]; do echo "$i some words of a line that repeats $((i * 7919 % 10007))"; i=$((i + 1)); done >words
mkdir many
(cd many && seq 1 3000 | xargs touch)
cat >big.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define F(n) int f##n(int *a, int k) { int s = 0; for (int i = 0; i < k; i++) { s += a[i] * (n + i); if (s & n) a[i] ^= s; } return s; }
#define T(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define H(n) T(n##0) T(n##1) T(n##2) T(n##3) T(n##4) T(n##5) T(n##6) T(n##7) T(n##8) T(n##9)
H(1) H(2) H(3)
END
if [ $check = no ]; then
	git init -q repo 2>/dev/null && (cd repo && cp ../words . && cp ../big.c . && cp -r "$top/lib" . && git add -A) 2>/dev/null
fi
python=/usr/bin/python3
[ -x $python ] || python=python3

printf '%-10s %7s %5s %9s %8s %8s  %s\n' program samples lost complete% rooted% perf-fp% 'what is missing'
# Its AVX2 code for SHA-256 keeps the caller's stack pointer below its own, where no copy of the stack
# reaches: on CPUs that would choose it, it is told not to (Documentation/technical/unwinding.adoc).
row openssl env OPENSSL_ia32cap=:~0x20 openssl speed -seconds 1 -bytes 4096 sha256 rsa2048
row sqlite3 sqlite3 :memory: 'with recursive t(n) as (select 1 union all select n + 1 from t where n < 600000)
	select sum(n * n % 7), count(distinct n % 1013) from t order by 1'
row python3 $python -c 'import json, re
d = [{"a": i, "b": [str(i)] * 5} for i in range(40000)]
s = json.dumps(d); json.loads(s); sorted(re.findall("[0-9]+", s), key=int)'
row perl perl -e 'my %h; for (1 .. 700000) { $h{$_ % 5003} .= chr(65 + $_ % 26); } my @s = sort { length $a <=> length $b || $a cmp $b } values %h; print scalar grep { /A.*B/ } @s;'
row bash bash -c 'for ((i = 0; i < 80000; i++)); do x=${x:0:20}$i; case $x in *99*) y=$((i * 3)) ;; esac; done'
row cc1 gcc -O2 -c -o /dev/null big.c
[ $check = yes ] || row git git -C repo repack -q -a -d --window=50
[ $check = yes ] || row tar-gzip sh -c 'tar cf - words many repo | gzip -6'
row gzip gzip -9 -k -c words
row find find /usr -type f -name '*a*' -size +1k
[ $check = no ] || exit $bad
