#!/bin/bash
# How large and how fast the page for a browser is: a synthetic trace with 1.43 million contexts and 2.2 million
# samples, in headless Chromium. Of each time the least of the runs, beside its budget where it has one.
# usage: page.sh [runs]
cd "$(dirname "$0")/../.." || exit 1
bin=$PWD/build/arcprof
gen=$PWD/build/t/perf/trace-gen
runs=${1:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
make -s build/arcprof build/t/perf/trace-gen >/dev/null || exit 1

if ! command -v chromium >/dev/null; then
	echo "page.sh: needs chromium" >&2
	exit 1
fi

# Resident memory of each renderer below a process, in kB.
renderer() {
	local child
	for child in $(pgrep -P "$1"); do
		grep -q -a -e '--type=renderer' "/proc/$child/cmdline" && awk '/^VmRSS/ { print $2 }' "/proc/$child/status"
		renderer "$child"
	done 2>/dev/null
}

# One visit: what page-bench.js says, and the memory.
visit() {
	local line
	coproc BROWSER { exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync --window-size=1440,900 \
		--user-data-dir="$dir/chromium" --enable-logging=stderr "file://$dir/bench.html" 2>&1; }
	local pid=$BROWSER_PID
	while read -r -t 60 line <&"${BROWSER[0]}"; do
		case $line in
		*'bench: done'*) break ;;
		*'bench: '*) line=${line#*bench: }; echo "${line%%\"*}" ;;
		*Uncaught*) echo "$line" >&2; break ;;
		esac
	done
	echo "renderer: $(renderer "$pid" | sort -n | awk '{ most = $1 } END { print most / 1024 }')"
	kill "$pid"
	wait "$pid" 2>/dev/null
}

"$gen" --samples 2200000 --stacks 310000 --depth 6 --compress "$dir/big.data" 2>/dev/null
TIMEFORMAT='report --format html: %U s of user time'
time "$bin" report -i "$dir/big.data" --format html -o "$dir/page.html" 2>/dev/null
echo "page: $(stat -c %s "$dir/page.html" | awk '{ printf "%.2f MB", $1 / 1e6 }') (budget 9 MB)"
sed -e '/^<\/body>/d' -e '/^<\/html>/d' "$dir/page.html" >"$dir/bench.html"
{ echo '<script>'; cat t/perf/page-bench.js; echo '</script></body></html>'; } >>"$dir/bench.html"
for ((i = 0; i < runs; i++)); do
	visit
done | awk -F ': ' -v nr="$runs" '
	BEGIN {
		budget["first frame"] = "1500 ms"; budget["zoom, p95"] = "8 ms"; budget["brush, median"] = "150 ms"
		budget["inverted"] = budget["fold by module"] = "120 ms"; budget["renderer"] = "500 MB"
	}
	!($1 in least) { order[++n] = $1; least[$1] = $2 }
	$2 + 0 < least[$1] + 0 { least[$1] = $2 }
	END {
		for (i = 1; i <= n; i++)
			printf "%-22s %8.1f %s%s\n", order[i], least[order[i]],
				order[i] == "renderer" ? "MB" : order[i] ~ /^zoom.s/ ? "" : "ms",
				order[i] in budget ? " (budget " budget[order[i]] ")" : ""
	}'
