#!/bin/bash
# What a filter by thread costs while recording: CPU time of the recorder for samples of objects that THREADS
# threads allocate, with conditions that all of them meet, as a ratio to that without a filter; in turns, as
# median with the spread. The names and groups of threads are kept without a filter, too.
#
# usage: t/perf/filter.sh [TURNS [THREADS]]	run it on a quiet machine; it takes an open file a thread and CPU
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-5}
threads=${2:-10000}
cd "$DIR" || exit 1
ulimit -n 65536 2>/dev/null	# where a running JVM has many threads
jvm=
trap '[ -z "$jvm" ] || kill "$jvm" 2>/dev/null; rm -rf "$DIR"' EXIT
TIMEFORMAT='%U %S'

cat >Many.java <<'END_OF_JAVA'
/** Threads that allocate 64 kB each 200 ms, until they are killed. */
public final class Many {
	static volatile Object sink;

	static void run() {
		try {
			while (true) {
				for (int i = 0; i < 64; i++)
					sink = new byte[1000];
				Thread.sleep(200);
			}
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			new Thread(null, Many::run, "pool-" + i, 128 << 10).start();
		System.out.println("ready");
	}
}
END_OF_JAVA

# recorder <file> <option>...: appends its CPU seconds per million samples
recorder() {
	local to=$1 samples
	shift
	{ time "$ARCPROF" record -q -e alloc=16k "$@" --duration 5s -o trace -p "$jvm" 2>err; } 2>cpu || { cat err; exit 1; }
	samples=$("$ARCPROF" report -q -i trace --metric alloc --xprof --format json --limit 1 | jq .quality.n)
	awk -v n="$samples" '{ print ($1 + $2) * 1e6 / n }' cpu >>"$to"
}

for home in $(jdks); do
	use_jdk "$home"
	"$JAVA_HOME/bin/javac" -d . Many.java
	"$JAVA_HOME/bin/java" -XX:+UseSerialGC -Xmx512m -cp . Many "$threads" >ready &
	jvm=$!
	until grep -q ready ready; do sleep .1; done
	recorder first
	rm -f without with
	for ((turn = 0; turn < turns; turn++)); do
		recorder without
		recorder with --filter 'thread=pool-*,-thread=pool-x*,-kind=virtual,group=main,-alloc:class=None'
	done
	kill "$jvm"
	wait "$jvm" 2>/dev/null
	jvm=
	paste without with | awk '{ print $2 / $1 }' | sort -n >ratios
	printf 'JDK %-3s %d threads: %.2f s of CPU a million samples, with a filter %.2f: x %.3f (%.3f - %.3f)\n' "$JDK" \
		"$threads" "$(median without)" "$(median with)" "$(median ratios)" "$(head -n 1 ratios)" "$(tail -n 1 ratios)"
done
