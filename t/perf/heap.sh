#!/bin/bash
# A heap dump of about 10^7 objects: time of each report beside that of reading the file, and memory beyond
# the mapped file, per object.
# usage: heap.sh [objects]
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
use_jdk "$(jdks | head -n 1)"
nodes=$((${1:-10000000} / 2))
"$JAVA_HOME/bin/java" -Xmx3g -XX:+UseSerialGC -Dnodes=$nodes -cp "$CLASSES" Heap "$DIR/heap" || exit 1
dump=$DIR/heap.hprof

# seconds <command>...: of CPU, the least of three runs
seconds() {
	for _ in 1 2 3; do
		{ TIMEFORMAT='%U %S'; time "$@" >/dev/null; } 2>&1
	done | awk '{ t = $1 + $2; if (!n++ || t < least) least = t } END { printf "%.2f", least }'
}

# Bytes per object of memory of its own at most: what is mapped of the dump is not.
memory() {
	python3 -c 'import subprocess, sys, time
most = 0
run = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL)
while run.poll() is None:
    with open("/proc/%d/status" % run.pid) as status:
        most = max([most] + [int(line.split()[1]) for line in status if line.startswith("RssAnon")])
    time.sleep(0.005)
print("%.0f" % (most * 1024 / int(sys.argv[1])))' "$objects" "$@"
}

objects=$("$ARCPROF" heap report --histogram --format json "$dump" | jq .objects)
floor=$(seconds cat "$dump")
echo "$objects objects, $(stat -c %s "$dump") bytes; reading the file: $floor s"
query() {
	"$ARCPROF" query -q --memory 4G "$dump" "$1"
}
retained='SELECT max(retained) FROM objects' refs='SELECT count(*) FROM refs'
for sql in "$retained" "$refs"; do
	echo "query $sql: $(seconds query "$sql") s of CPU, $(memory "$ARCPROF" query -q --memory 4G "$dump" "$sql") bytes an object"
done
# Budget of the histogram: 3.5 GB/s of the dump.
histogram=$(seconds "$ARCPROF" heap report --histogram "$dump")
awk -v s="$histogram" -v bytes="$(stat -c %s "$dump")" 'BEGIN {
	rate = bytes / 1e9 / (s + 1e-9)
	printf "histogram: %.2f GB/s of CPU, %.2f of the budget (1 or more is within)\n", rate, rate / 3.5 }'
for report in histogram xprof xtree; do
	echo "$report: $(seconds "$ARCPROF" heap report --$report "$dump") s of CPU, $(memory "$ARCPROF" heap report --$report "$dump") bytes an object beside the file"
done
