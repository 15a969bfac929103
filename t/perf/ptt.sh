#!/bin/sh
# What per-thread time costs: a reading of one's own time against the other ways to ask for it,
# and a context switch without a session, with one of other processes, of switches alone, and of all.
set -e
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
make -s all perf >/dev/null
arcprof=$build/arcprof
cost=$build/t/perf/ptt-cost

"$arcprof" ptt info | grep -q '^No session' || { echo "a session is running: 'arcprof ptt term' ends it" >&2; exit 1; }
trap '"$arcprof" ptt term 2>/dev/null || :' EXIT

if "$arcprof" ptt init -q --backend bpf; then
	"$cost" read bpf
	"$arcprof" ptt term
fi
"$cost" read perf | head -n 2

# Configurations in turn, again and again, and of each the least: a busy machine only adds.
sleep 1000 &
other=$!
dir=$(mktemp -d)
trap '"$arcprof" ptt term 2>/dev/null || :; kill $other; rm -rf "$dir"' EXIT
row() {
	name=$1
	shift
	test $# -eq 0 || "$arcprof" ptt init -q --backend bpf "$@" || return 0
	"$cost" switch >>"$dir/$name"
	test $# -eq 0 || "$arcprof" ptt term
}
for _ in 1 2 3 4 5; do
	row "1 context switch without a session"
	row "2 with a session of another process" --pid $other
	row "3 with a session of all threads, --noints" --noints
	row "4 with a session of all threads" --threads 16384
	row "5 with three events too" cpu-clock page-faults cpu-migrations
done
without=$(sort -n "$dir/1 "* | head -n 1)
for f in "$dir"/*; do
	with=$(sort -n "$f" | head -n 1)
	name=${f##*/}
	printf '%-44s %8d ns, %+d\n' "${name#? }" "$with" $((with - without))
done
