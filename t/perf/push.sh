#!/bin/bash
# How many recordings per second "fleet push" brings to a server of ClickHouse from a folder of segments, beside
# what "export --table" takes for the same ones, which sends nothing.
# usage: push.sh [RECORDINGS]		the default is 500, which take 50 s to record
. "$(dirname "$0")/lib.bash"
. "$TOP/t/fleet/clickhouse.bash"
nr=${1:-500}
command -v clickhouse-server >/dev/null || { echo "push.sh: needs clickhouse-server" >&2; exit 1; }
trap 'cd "$DIR" && stop_servers; rm -rf "$DIR"' EXIT
cd "$DIR" || exit 1

seconds() {
	local TIMEFORMAT=%R
	{ time "$@" >/dev/null 2>said; } 2>&1
}

# Not much happens in 100 ms: these are small.
"$ARCPROF" record -q -d $(((nr + 9) / 10)) --segment 100ms -o segments -- "$BUILD/t/workloads/shares" 100000000 >/dev/null 2>&1
traces=(segments/*.arc)
traces=("${traces[@]:0:nr}")
mkdir some
ln "${traces[@]}" some

read -r -a tcp < <(free_ports 2)
configure_server 1 "${tcp[@]}"
start_server 1 || exit 1
url=$(cat server1/url)
"$ARCPROF" fleet create -q "$url" || exit 1

# CPU seconds of the server so far, which other programs on the machine do not change.
server_cpu() {
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15) / hz }' "/proc/$(cat server1/pid)/stat"
}

export_s=$(seconds "$ARCPROF" export -q --table tables "${traces[@]}")
before_cpu=$(server_cpu)
push_s=$(TIMEFORMAT="%R %U %S"; { time "$ARCPROF" fleet push "$url" --spool spool some >/dev/null 2>said; } 2>&1)
read -r push_s user_s system_s <<<"$push_s"
after_cpu=$(server_cpu)
tail -n 1 said
rows=$(zcat tables/nodes.tsv.gz | tail -n +2 | wc -l)
filled=$(zcat tables/nodes.tsv.gz | tail -n +2 | cut -f 2 | sort -u | wc -l)
stored=$(ask 1 "SELECT count(), uniqExact(trace) FROM nodes")
again_s=$(seconds "$ARCPROF" fleet push "$url" --spool other some)
awk -v nr="${#traces[@]}" -v e="$export_s" -v p="$push_s" -v a="$again_s" -v rows="$rows" \
	-v mine="$user_s" -v kernel="$system_s" -v server="$(awk -v b="$before_cpu" -v a="$after_cpu" 'BEGIN { print a - b }')" \
	-v bytes="$(cat "${traces[@]}" | wc -c)" -v load="$(cut -d ' ' -f 1 /proc/loadavg)" 'BEGIN {
	printf "%d recordings of %d bytes and %d rows; load %s\n", nr, bytes / nr, rows / nr, load
	printf "export --table  %6.2f s  %5.0f recordings/s\n", e, nr / e
	printf "fleet push      %6.2f s  %5.0f recordings/s  %.2f of export\n", p, nr / p, p / e
	printf "  CPU time of a recording: %.2f ms of arcprof and curl, %.2f ms of the server; one core has it for %.0f/s\n",
		(mine + kernel) / nr * 1000, server / nr * 1000, nr / (mine + kernel + server)
	printf "push again      %6.2f s  %5.0f recordings/s, which the server has\n", a, nr / a
}'
echo "rows, and recordings that have some: $rows $filled exported, ${stored/$'\t'/ } on the server"
[ "$stored" = "$rows"$'\t'"$filled" ]
