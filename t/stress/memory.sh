#!/bin/bash
# What memory the recorder of a plain Java server takes, over an hour: after a fifth of the time it may not grow by more
# than a twentieth. Most of it is shared with the kernel and the JVM: rings, whose pages count when they are first
# written to, and so does what the agent has told. Prints a line each minute: all that is resident, and of that what
# is the recorder's own (anonymous).
#
# usage: t/stress/memory.sh [SECONDS [REQUESTS PER SECOND]]
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
ARCPROF=${ARCPROF:-$TOP/build/arcprof}
seconds=${1:-3600}
dir=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
javac -d . "$TOP/t/workloads/Serving.java" || exit 1

"$ARCPROF" record -e cpu-clock,wall,lock,alloc,jvm --max-size 1G -o trace -- java -Xmx128m -cp . Serving "$seconds" "${2:-50}" \
	>answered 2>said &
recorder=$!

# "resident anonymous" in KiB
memory() {
	awk '/^VmRSS:/ { all = $2 } /^RssAnon:/ { own = $2 } END { print all, own }' "/proc/$recorder/status" 2>/dev/null
}

warm=0 warm_own=0 all=0 own=0
for ((at = 10; at < seconds; at += 10)); do
	sleep 10
	kill -0 "$recorder" 2>/dev/null || break
	read -r all own < <(memory)
	[ -n "$own" ] || break
	if [ "$warm" -eq 0 ] && [ "$at" -ge $((seconds / 5)) ]; then
		warm=$all warm_own=$own
	fi
	[ $((at % 60)) -ne 0 ] || echo "$at s: $((all / 1024)) MiB, $((own / 1024)) of them its own; trace $(($(stat -c %s trace) >> 20)) MiB"
done
wait "$recorder" || { cat said; exit 1; }
tail -n 1 said
echo "from $((warm / 1024)) to $((all / 1024)) MiB, its own from $((warm_own / 1024)) to $((own / 1024)); $(cat answered) requests"
[ "$warm" -gt 0 ] && [ $((all * 20)) -le $((warm * 21)) ] && [ $((own * 20)) -le $((warm_own * 21 + 20480)) ]
