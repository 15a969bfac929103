#!/bin/bash
# What arcprof top takes of a CPU, beside perf top where it is installed, while programs use all CPUs; and
# how far the shares that it shows are from those of a record of the same time.  The machine-wide rows need root.
# usage: top.sh [SECONDS]	of each measurement
cd "$(dirname "$0")/../.." || exit 1
arcprof=$PWD/build/arcprof
make -s all workloads >/dev/null || exit 1
shares=$PWD/build/t/workloads/shares
seconds=${1:-10}
dir=$(mktemp -d)
cd "$dir" || exit 1
pids=()
for _ in $(seq "$(nproc)"); do
	"$shares" 100000000 >/dev/null &
	pids+=($!)
done
trap 'kill "${pids[@]}"; rm -rf "$dir"' EXIT
sleep 1

# A process, and what it started.
family() {
	local child
	echo "$1"
	for child in $(cat "/proc/$1"/task/*/children); do
		family "$child"
	done
}

# CPU time of all threads of a family, in ns
used() {
	local p
	for p in $(family "$1"); do
		cat "/proc/$p"/task/*/schedstat
	done | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

# row NAME COMMAND...: without what it takes to start
row() {
	local name=$1 p before after
	shift
	"$@" >out 2>err </dev/null &
	p=$!
	sleep 4
	[ -d "/proc/$p" ] || { echo "$name: does not run here"; return; }
	before=$(used $p)
	sleep "$seconds"
	after=$(used $p)
	kill -INT $p
	wait $p
	echo "$name $before $after $seconds" | awk '{ printf "%-28s %5.2f %% of a CPU\n", $1, ($3 - $2) / $4 / 1e7 }'
}

row "top,-a" "$arcprof" top -n 1000 -a
row "top,-a,without-stacks" "$arcprof" top -n 1000 -a --call-graph no
row "top,-p" "$arcprof" top -n 1000 -p "$(IFS=,; echo "${pids[*]}")"
row "record,-a,same-rate" "$arcprof" record -q -o trace -a -F $((999 / $(nproc) < 49 ? 49 : 999 / $(nproc)))
! command -v perf >/dev/null || row "perf-top,-a,same-rate" script -qfec "perf top -g -a -F $((999 / $(nproc)))" /dev/null

echo "shares of self in $seconds s of top and of record, and their distance in standard errors:"
"$arcprof" record -q -o trace -p "${pids[0]}" -d "$seconds" -F 499 &
"$arcprof" top -n 1 -I "$seconds" -p "${pids[0]}" --limit 100 >screen
wait $!
"$arcprof" report -i trace --xprof --format json >flat.json
n1=$(sed -n '1s/.*, \([0-9]*\) samples of.*/\1/p' screen)
n2=$(jq '[.rows[].n] | add' flat.json)
for f in sixteen eight four two one shared; do
	echo "$f $(awk -v f="$f" '$4 == f { print $3 }' screen) $n1 \
		$(jq --arg f "$f" '[.rows[] | select(.name == $f) | .n] | add // 0' flat.json) $n2"
done | awk '{
	a = $2 / $3; b = $4 / $5; m = ($2 + $4) / ($3 + $5)
	printf "%-10s %6.2f %% %6.2f %% %6.2f\n", $1, 100 * a, 100 * b, (a - b) / sqrt(m * (1 - m) * (1 / $3 + 1 / $5))
}'
