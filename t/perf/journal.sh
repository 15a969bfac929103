#!/bin/bash
# What a JVM that records itself writes, and what that costs it: bytes of the journal, and CPU time of the JVM beside
# that of the same program without, for the events of -agentpath:...=EVENTS; as median of the ratios with the spread.
# Programs: "steady" waits for locks, allocates and throws now and then; "fast" does nothing but allocate.
#
# With ASYNC_PROFILER=/path/to/libasyncProfiler.so, its JFR of the same events stands beside that (n/a without): it has
# no gc and no throws.
#
# usage: t/perf/journal.sh [TURNS [SECONDS]]
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-3}
seconds=${2:-6}
cd "$DIR" || exit 1
"$ARCPROF" agent install -q -o "$DIR" || exit 1

# So many units of work, the same in all runs.
cat >Work.java <<'EOT'
import java.util.HashMap;
import java.util.Map;

public class Work {
	static volatile Object sink;
	static final Map<Integer, String> shared = new HashMap<>();
	static int caught;

	static int parse(int depth, int i) {
		if (depth > 0)
			return parse(depth - 1, i) + 1;
		return Integer.parseInt(i % 500 == 0 ? "no number" : Integer.toString(i));
	}

	static void unit(int i) {
		StringBuilder b = new StringBuilder();

		for (int k = 0; k < 20; k++)
			b.append(k * i).append(',');
		synchronized (shared) {
			shared.put(i % 1000, b.toString());
		}
		try {
			parse(20, i);
		} catch (NumberFormatException e) {
			synchronized (Work.class) {
				caught++;
			}
		}
	}

	static void steady(int n) throws InterruptedException {
		Thread[] threads = new Thread[4];

		for (int t = 0; t < threads.length; t++) {
			threads[t] = new Thread(() -> {
				for (int i = 0; i < n; i++)
					unit(i);
			}, "worker-" + t);
			threads[t].start();
		}
		for (Thread t : threads)
			t.join();
	}

	static void fast(int n) {
		for (int i = 0; i < n * 20; i++)
			sink = new byte[i % 2000];
	}

	public static void main(String[] args) throws Exception {
		if (args[0].equals("steady"))
			steady(Integer.parseInt(args[1]));
		else
			fast(Integer.parseInt(args[1]));
	}
}
EOT
cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" >/dev/null 2>/dev/null; } 2>cpu
EOT
chmod +x timed
busy() {	# <option of java, or ""> <program> <units>: CPU seconds
	./timed java ${1:+"$1"} -XX:+UseSerialGC -Xmx512m -cp classes Work "$2" "$3"
	awk '{ print $1 + $2 }' cpu
}
print_line() {	# <program> <profiler> <file of "ratio bytes" lines>
	sort -n "$3" | awk -v jdk="$JDK" -v program="$1" -v who="$2" '
		{ r[NR] = $1; bytes += $2; samples += $3 }
		END {
			printf "%-4s %-8s %-30s %6.3f (%.3f..%.3f) %12d bytes %8s\n", jdk, program, who, r[int((NR + 1) / 2)],
			       r[1], r[NR], bytes / NR, samples ? int(samples / NR) : "-"
		}'
}
ratio() {	# <without> <with>
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", b / a }'
}

printf '%-4s %-8s %-30s %s\n' JDK program recorded 'CPU ratio (min..max), bytes, samples'
for home in $(jdks); do
	use_jdk "$home" || exit 1
	mkdir -p classes
	javac -nowarn -d classes Work.java || exit 1
	for program in steady fast; do
		units=200000
		base=$(busy "" "$program" "$units")
		units=$(awk -v u="$units" -v s="$seconds" -v b="$base" 'BEGIN { printf "%d", u * s / b }')
		rm -f ./*.rows
		for ((turn = 0; turn < turns; turn++)); do
			base=$(busy "" "$program" "$units")
			for events in cpu=10ms,alloc=64k,lock cpu=10ms,alloc=64k,lock,gc,throws; do
				rm -f journal*
				with=$(busy "-agentpath:$DIR/libarcprof-jvm.so=$events,file=journal" "$program" "$units")
				n=$("$ARCPROF" report --xprof --metric alloc --format json --limit 1 journal 2>/dev/null | jq .quality.n)
				echo "$(ratio "$base" "$with") $(stat -c %s journal) $n" >>"$events.rows"
			done
			[ "${ASYNC_PROFILER-}" ] || continue
			rm -f async.jfr
			with=$(busy "-agentpath:$ASYNC_PROFILER=start,event=cpu,interval=10ms,alloc=64k,lock=1ms,jfr,file=async.jfr" \
				"$program" "$units")
			echo "$(ratio "$base" "$with") $(stat -c %s async.jfr)" >>async.rows
		done
		for events in cpu=10ms,alloc=64k,lock cpu=10ms,alloc=64k,lock,gc,throws; do
			print_line "$program" "${events/cpu=10ms,alloc=64k/cpu,alloc}" "$events.rows"
		done
		if [ "${ASYNC_PROFILER-}" ]; then
			print_line "$program" 'async-profiler cpu,alloc,lock' async.rows
		else
			printf '%-4s %-8s %-30s n/a\n' "$JDK" "$program" 'async-profiler cpu,alloc,lock'
		fi
	done
done
