#!/bin/bash
# What many recordings cost a server of ClickHouse: rows, bytes, the rate of inserts, and times of queries; and what
# a program takes that sends a recording each minute for a year.
# Recordings are made of a few real ones: other numbers of samples, a twentieth of the innermost contexts left
# out, a hundredth with a path of their own; over a week, of five services with two versions, in three pods.
# usage: fleet.sh [recordings...] (100 1000; 1000 3000 10000 takes 2 GB of disk and 10 minutes of a quiet machine)
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

# The table real: those rows with the number of their recording, 0 to 3, and whether nothing is below them.
fill_real() {
	ask 1 "CREATE TABLE real (which UInt8, inner UInt8, process String, thread String, pid UInt32, tid UInt32, source String,
		metric String, unit String, path Int64, parent Int64, func Int64, pfunc Int64, depth UInt32, rl UInt32, prl UInt32,
		n Int64, base Int64, cum Int64) ENGINE = Memory"
	awk -F'\t' -v OFS='\t' '
		{ row[NR] = $0; above[$2, $15, $17] }
		!($2 in number) { number[$2] = nr++ }
		END {
			for (i = 1; i <= NR; i++) {
				$0 = row[i]
				inner = !(($2, $14, $16) in above)
				which = number[$2]
				rest = $6 OFS $7
				for (k = 9; k <= NF; k++)
					rest = rest OFS $k
				print which, inner, rest
			}
		}' real.tsv | curl -sS --fail-with-body --data-binary @- "$(cat server1/url)?query=INSERT+INTO+real+FORMAT+TabSeparated"
}

# synthesise <first> <last> [minute]: inserts rows of those recordings into nodes; with minute one of each minute, of
# the same program, into the database of that name
synthesise() {
	local t="1790000000 + k * 7919 % 604800" service="concat('service', toString(k % 5))" version="concat('1.', toString(k % 2))"
	local host="concat('host', toString(k % 97))" pod="toString(k % 3)" which="cityHash64(k) % 4"
	[ "${3-}" != minute ] || { t="1790035200 + 60 * k"; service="'service1'"; version="'1.0'"; host="'host'"; pod="'0'"; which=0; }
	ask 1 "INSERT INTO ${3:-default}.nodes SELECT $t, k, $service, $version, $host, process, thread,
		concat('pod=p', $pod, ',service=', $service, ',version=', $version), pid, tid, source, metric, unit,
		if(inner AND intDiv(hash, 20) % 100 = 0, toInt64(hash), path), parent, func, pfunc, depth, rl, prl,
		toInt64(n * scale), toInt64(base * scale), toInt64(cum * scale)
		FROM (SELECT k, cityHash64(k, path) AS hash, 0.6 + cityHash64(k, 7) % 1000 / 1250 AS scale, inner, process, thread, pid,
		tid, source, metric, unit, path, parent, func, pfunc, depth, rl, prl, n, base, cum
		FROM (SELECT $1 + number AS k FROM system.numbers LIMIT $(($2 - $1 + 1))) CROSS JOIN real WHERE which = $which)
		WHERE NOT (inner AND hash % 20 = 0)"
}

seconds() {
	local TIMEFORMAT=%R
	{ time "$@" >/dev/null 2>said; } 2>&1
}

# Of three tries.
best() {
	for _ in 1 2 3; do seconds "$@"; done | sort -n | head -n 1
}

# ask_view <table> <view> [<parameter>=<value>]...: the view, of that table. Differences are between two versions,
# two pods, or the first days and the last.
ask_view() {
	local of=$2
	ask 1 "$(view "${of/diff-*/diff}" "${@:3}" of_metric=cpu-clock of_service=service1 "of_version=%" "a=1.0" "b=1.1" |
		sed "s/FROM nodes/FROM $1/g; $(case $of in
			diff-label) echo "s/version LIKE '1\.\(.\)'/labels LIKE 'pod=p\1,%'/g" ;;
			diff-time) echo "s/version LIKE '1.0'/t < 1790280000/g; s/version LIKE '1.1'/t >= 1790280000/g" ;;
		esac)")"
}

# ask_arcprof <table> <what>: what the server makes itself, and two that fetch a tree, or two of them
ask_arcprof() {
	local of=("$(cat server1/url)" --table "$1" --metric cpu-clock --label service=service1)
	case $2 in
	xprof) "$ARCPROF" fleet report "${of[@]}" --xprof ;;
	stanza) "$ARCPROF" fleet report "${of[@]}" --function exc_page_fault ;;
	tree) "$ARCPROF" fleet report "${of[@]}" -- --xprof ;;
	diff) "$ARCPROF" fleet diff "${of[@]}" --label pod=p0 --against "service = 'service1' AND labels LIKE 'pod=p1,%'" ;;
	esac
}

# bytes_of <table> [<database>]
bytes_of() {
	ask 1 "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = '$1' AND database = '${2:-default}'"
}

# insert <first> <last> [minute]: in parts of 100; prints the seconds of each
insert() {
	local first
	for ((first = $1; first <= $2; first += 100)); do
		seconds synthesise "$first" $((first + 99 < $2 ? first + 99 : $2)) "${3-}"
	done
}

# note <what> <seconds>: prints the time, and keeps it for the comparison with the aim
note() {
	printf ' %6s' "$2"
	echo "$1 $2" >>took.txt
}

read -r -a tcp < <(free_ports 2)
configure_server 1 "${tcp[@]}"
start_server 1 || exit 1
ask 1 "CREATE DATABASE minute"
"$ARCPROF" fleet create -q "$(cat server1/url)" || exit 1
"$ARCPROF" fleet create -q "$(cat server1/url)?database=minute" || exit 1
curl -sS -H 'Content-Encoding: gzip' --data-binary @real/names.tsv.gz \
	"$(cat server1/url)?query=INSERT+INTO+names+FORMAT+TabSeparatedWithNames"
fill_real

insert 0 1439 minute >spent
for table in nodes hours days; do
	ask 1 "OPTIMIZE TABLE minute.$table FINAL"
	bytes_of $table minute
done | awk -v rows="$(ask 1 "SELECT count() / 1440 FROM minute.nodes")" '{ day[NR] = $1 / 1e6 } END {
	printf "a recording of %d rows each minute, a day of it: %.2f MB of nodes, %.2f of hours, %.2f of days\n",
		rows, day[1], day[2], day[3]
	printf "a year: %.0f MB; with nodes kept for 14 days and hours for 90: %.0f MB\n",
		365 * (day[1] + day[2] + day[3]), 14 * day[1] + 90 * day[2] + 365 * day[3]
}'

printf '%10s %10s %7s %7s %8s %6s %5s  %-6s %6s %6s %6s %6s %6s %6s %6s\n' recordings rows 'MB disk' 'B a row' 'rows/s' load \
	'' seconds: tree xprof stanza diff label time growth
done_so_far=0 rows=0
[ $# -gt 0 ] || set -- 100 1000
for nr; do
	before=$rows
	: >took.txt
	insert $((done_so_far + 1)) "$nr" >spent
	rows=$(ask 1 "SELECT count() FROM nodes")
	for table in nodes hours days; do
		ask 1 "OPTIMIZE TABLE $table FINAL"
		awk -v nr="$nr" -v rows="$(ask 1 "SELECT count() FROM $table")" -v new=$((rows - before)) -v bytes="$(bytes_of $table)" \
			-v load="$(cut -d ' ' -f 1 /proc/loadavg)" -v table=$table '{ s += $1 }
			END { printf "%10d %10d %7.1f %7.1f %8s %6s %5s  %-8s", nr, rows, bytes / 1e6, bytes / rows,
				table == "nodes" ? sprintf("%.0f", new / s) : "-", load, "", table }' spent
		for query in tree xprof "stanza of_function=exc_page_fault" diff diff-label diff-time growth; do
			# shellcheck disable=SC2086
			note "$table:${query%% *}" "$(best ask_view $table $query)"
		done
		echo
	done
	for table in nodes days; do
		printf '%10s arcprof fleet, of %s:' "" $table
		for command in xprof stanza tree diff; do
			printf ' %s' $command
			note "$table:fleet-$command" "$(best ask_arcprof $table $command)"
		done
		echo
	done
	awk -v nr="$nr" '$2 > 0.5 { late = late " " $1 "=" $2 } END {
		printf "%10d recordings: %s\n", nr, late ? "longer than 0.5 s:" late : "no query took more than 0.5 s" }' took.txt
	done_so_far=$nr
done
echo "one service in five, the best of three; hours and days are sums, which each insert fills"
