#!/bin/bash
# What samples of allocations cost a program that does nothing but allocate arrays of 1 kB: CPU time of the JVM
# with a sample every 512 kB, 64 kB and 4 kB and without, in turns; the least of each, and the difference
# as it is for a program that allocates 1 GB a second, in percent of a CPU: 1.00 is a ratio of 1.01.
#
# usage: t/perf/alloc.sh [TURNS [GIGABYTES]]	on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-5}
gigabytes=${2:-10}
cd "$DIR" || exit 1

cat >Arrays.java <<'EOT'
public class Arrays {
	static volatile Object sink;

	public static void main(String[] args) {
		for (long i = Integer.parseInt(args[0]) * 1000000000L / 1024; i > 0; i--)
			sink = new byte[1024 - 16];
	}
}
EOT
# CPU seconds of the JVM alone go to the file "cpu": the recorder's own time is apart.
cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" >/dev/null 2>/dev/null; } 2>cpu
EOT
chmod +x timed
busy() {	# <file> <command...>: appends CPU seconds of the JVM
	local to=$1
	shift
	rm -f cpu
	"$@" >/dev/null 2>/dev/null
	awk '{ print $1 + $2 }' cpu >>"$to"
}
least() {
	sort -n "$1" | head -n 1
}

printf '%-4s %-8s %9s %9s %21s %9s %6s\n' JDK interval 's without' 's with' '% of a CPU at 1 GB/s' samples lost
for home in $(jdks); do
	PATH=$home/bin:$ORIGINAL_PATH
	javac -d "classes.${home##*/}" Arrays.java || exit 1
	command=(java -XX:+UseSerialGC -Xmx512m -cp "classes.${home##*/}" Arrays "$gigabytes")
	rm -f base ./*k
	for ((turn = 0; turn < turns; turn++)); do
		busy base ./timed "${command[@]}"
		for interval in 512k 64k 4k; do
			busy "$interval" "$ARCPROF" record -q -e "alloc=$interval" -o "trace.$interval" -- ./timed "${command[@]}"
		done
	done
	for interval in 512k 64k 4k; do
		"$ARCPROF" report -i "trace.$interval" --metric alloc --xprof --format json --limit 1 >json 2>/dev/null
		jq -r '"\(.quality.n) \(.source.lost)"' json | awk -v interval="$interval" -v gigabytes="$gigabytes" \
			-v jdk="$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")" \
			-v base="$(least base)" -v with="$(least "$interval")" '{
			printf "%-4s %-8s %9.2f %9.2f %21.2f %9d %6d\n", jdk, interval, base, with,
			       100 * (with - base) / gigabytes, $1, $2
		}'
	done
done
