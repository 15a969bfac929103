#!/bin/bash
# Whether a slow leak is found, beside garbage and a large cache that stays: how often it comes first, and how far
# its size is from what the program counts, with the interval that is printed. 15 s with a sample every 16k have as
# many samples as a minute with one every 64k.
#
# usage: t/perf/leaks.sh [TURNS [SECONDS [INTERVAL]]]
# With ASYNC_PROFILER=/path/to/libasyncProfiler.so, its live mode with the same interval stands beside that.
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-20}
seconds=${2:-60}
interval=${3:-64k}
program=(-Xmx700m -cp classes "-Dseconds=$seconds" -Dkinds=local -Dentry=104 -Dleak=3000000 -Dgarbage=300
	-Dcache=300 Leaks)
cd "$DIR" || exit 1
mkdir classes
javac --release 17 -d classes "$TOP/t/workloads/Leaks.java" || exit 1

for home in $(jdks); do
	rm -f rows
	for ((turn = 0; turn < turns; turn++)); do
		"$ARCPROF" record -q -e "live=$interval" -o trace "$home/bin/java" "${program[@]}" >truth 2>/dev/null
		"$ARCPROF" report -i trace --leaks --format json >json
		jq -r --argjson truth "$(awk '$1 == "Leaks.serve" { print $2 }' truth)" '
			(.leaks | map(select(.class == "int[]"))[0]) as $r |
			[(.leaks[0].site == "Leaks.serve"), ($r.bytes // 0) / $truth,
			 ($r.bytes_low // 0) / $truth, ($r.bytes_high // 0) / $truth] | @tsv' json >>rows
	done
	awk -v home="${home##*/}" '{
		first += $1 == "true"
		near += $2 > .95 && $2 < 1.05
		inside += $3 <= 1 && $4 >= 1
		sum += $2
	}
	END {
		printf "%s: first in %d of %d runs; size within 5 %% in %d, %.3f on average; in its interval in %d\n",
		       home, first, NR, near, sum / NR, inside
	}' rows
	[ "${ASYNC_PROFILER-}" ] || continue
	"$home/bin/java" "-agentpath:$ASYNC_PROFILER=start,event=alloc,alloc=$interval,live,total,collapsed,file=$DIR/live" \
		"${program[@]}" >truth 2>/dev/null
	awk 'FILENAME == "truth" { truth[$1] = $2; next }
	/Leaks.serve;.*int\[\]/ { sum += $NF }
	{ all += $NF }
	END {
		printf "  async-profiler: %.3f of it, of %.1f MB that it shows live\n", sum / truth["Leaks.serve"], all / 1e6
	}' truth live
done
