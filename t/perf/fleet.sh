#!/bin/bash
# What many recordings cost a server of ClickHouse: rows, bytes, the rate of inserts, and times of queries.
# Recordings are made of a few real ones: other numbers of samples, a twentieth of the innermost contexts left
# out, a hundredth with a path of their own; over a week, of five services with two versions.
# usage: fleet.sh [recordings...] (100 1000; 1000 3000 10000 takes 2 GB of disk and 20 minutes of a quiet machine)
. "$(dirname "$0")/lib.bash"
. "$TOP/t/fleet/clickhouse.bash"
command -v clickhouse-server >/dev/null || { echo "fleet.sh: needs clickhouse-server" >&2; exit 1; }
trap 'cd "$DIR" && stop_servers; rm -rf "$DIR"' EXIT
cd "$DIR" || exit 1

record() {
	"$ARCPROF" record -q -F 499 -o "$1" -- "${@:2}" >/dev/null 2>&1
}

javac -d . "$TOP/t/workloads/Words.java" 2>/dev/null
record 1.data java -cp . Words 3
record 2.data javac -d . "$TOP/t/workloads/Words.java"
record 3.data gcc -O2 -c -o /dev/null "$TOP/lib/base/opt.c" -I "$TOP/lib"
record 4.data perl -e 'for (1 .. 4e5) { $h{$_ % 1000} .= "x"; $s += length $h{$_ % 77} // "" }'
"$ARCPROF" export -q --table real --merge-numbers ./*.data
zcat real/nodes.tsv.gz | tail -n +2 >real.tsv
echo "real recordings: $(find . -name '*.data' | wc -l), $(wc -l <real.tsv) rows"

# synthesise <first> <last>: rows of those recordings
synthesise() {
	awk -F'\t' -v OFS='\t' -v first="$1" -v last="$2" '
		{ row[NR] = $0; of[NR] = $2; calls[$2, $15, $17] }
		END {
			srand(first)
			for (k = first; k <= last; k++) {
				want = of[int(rand() * NR) + 1]
				scale = 0.6 + 0.8 * rand()
				for (i = 1; i <= NR; i++) {
					$0 = row[i]
					inner = !((want, $14, $16) in calls)
					if (of[i] != want || inner && rand() < 0.05)
						continue
					$1 = 1790000000 + int(k * 7919 % 604800)
					$2 = k
					$3 = "service" k % 5
					$4 = "1." k % 2
					$5 = "host" k % 97
					$21 = sprintf("%.0f", $21 * scale)
					$22 = sprintf("%.0f", $22 * scale)
					$23 = sprintf("%.0f", $23 * scale)
					if (inner && rand() < 0.01)
						$14 = sprintf("%.0f", rand() * 2 ^ 53)
					print
				}
			}
		}' real.tsv
}

seconds() {
	local TIMEFORMAT=%R
	{ time "$@" >/dev/null; } 2>&1
}

# Of three tries.
best() {
	for _ in 1 2 3; do seconds "$@"; done | sort -n | head -n 1
}

# ask_view <table> <view> [<parameter>=<value>]...: the view, of that table.
ask_view() {
	ask 1 "$(view "${@:2}" of_metric=cpu-clock of_service=service1 "of_version=%" "a=1.0" "b=1.1" |
		sed "s/FROM nodes/FROM $1/g")"
}

bytes_of() {
	ask 1 "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = '$1'"
}

read -r -a tcp < <(free_ports 2)
configure_server 1 "${tcp[@]}"
start_server 1 || exit 1
"$ARCPROF" fleet create -q "$(cat server1/url)" || exit 1
curl -sS -H 'Content-Encoding: gzip' --data-binary @real/names.tsv.gz \
	"$(cat server1/url)?query=INSERT+INTO+names+FORMAT+TabSeparatedWithNames"
printf '%10s %10s %7s %7s %8s %6s %5s  %-6s %6s %6s %6s %6s %6s\n' recordings rows 'MB disk' 'B a row' 'rows/s' load \
	'' seconds: tree xprof stanza diff growth
done_so_far=0 rows=0
[ $# -gt 0 ] || set -- 100 1000
for nr; do
	before=$rows
	for ((first = done_so_far + 1; first <= nr; first += 100)); do
		synthesise "$first" $((first + 99 < nr ? first + 99 : nr)) >rows.tsv
		seconds curl -sS --fail-with-body -o answer --data-binary @rows.tsv "$(cat server1/url)?query=INSERT+INTO+nodes+FORMAT+TabSeparated"
	done >spent
	rows=$(ask 1 "SELECT count() FROM nodes")
	for table in nodes hours days; do
		ask 1 "OPTIMIZE TABLE $table FINAL"
		awk -v nr="$nr" -v rows="$(ask 1 "SELECT count() FROM $table")" -v new=$((rows - before)) -v bytes="$(bytes_of $table)" \
			-v load="$(cut -d ' ' -f 1 /proc/loadavg)" -v table=$table '{ s += $1 }
			END { printf "%10d %10d %7.1f %7.1f %8s %6s %5s  %-8s", nr, rows, bytes / 1e6, bytes / rows,
				table == "nodes" ? sprintf("%.0f", new / s) : "-", load, "", table }' spent
		for query in tree xprof "stanza of_function=exc_page_fault" diff growth; do
			# shellcheck disable=SC2086
			printf ' %6s' "$(best ask_view $table $query)"
		done
		echo
	done
	of=(fleet report "$(cat server1/url)" --metric cpu-clock --where "service = 'service1'")
	printf '%10s arcprof fleet report: -- --xprof %s s, --xprof %s s, --function %s s\n' "" \
		"$(best "$ARCPROF" "${of[@]}" -- --xprof)" "$(best "$ARCPROF" "${of[@]}" --xprof)" \
		"$(best "$ARCPROF" "${of[@]}" --function exc_page_fault)"
	done_so_far=$nr
done
echo "one service in five, the best of three; hours and days are sums, which each insert fills"
