#!/bin/bash
# What one "arcprof threads" costs, on every JDK, with few threads and with many: the JVM's CPU time, how long the
# JVM stood still for it (the longest safepoint of each, by the JVM's own log; - where it does not stop), arcprof's
# own CPU time, and the time until the answer was there. Medians of TURNS, the first left out: it loads the agent.
#
# usage: t/perf/threads.sh [TURNS [THREADS...]]		run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-9}
shift "$(($# > 0))"
[ $# -gt 0 ] || set -- 10 1000 4000
cd "$DIR" || exit 1
jvm=
trap '[ -z "$jvm" ] || kill "$jvm"; rm -rf "$DIR"' EXIT
TIMEFORMAT='%R %U %S'

cat >Idle.java <<'END_OF_JAVA'
import java.util.concurrent.CountDownLatch;

/** Threads that wait below some calls, each with a monitor of its own. */
public final class Idle {
	static void deep(int calls, CountDownLatch here, CountDownLatch never) throws InterruptedException {
		if (calls > 0) {
			deep(calls - 1, here, never);
			return;
		}
		synchronized (new Object()) {
			here.countDown();
			never.await();
		}
	}

	public static void main(String[] args) throws InterruptedException {
		int n = Integer.parseInt(args[0]);
		CountDownLatch here = new CountDownLatch(n), never = new CountDownLatch(1);

		for (int i = 0; i < n; i++)
			new Thread(null, () -> {
				try {
					deep(20, here, never);
				} catch (InterruptedException e) {
					throw new IllegalStateException(e);
				}
			}, "idle-" + i, 256 * 1024).start();
		here.await();
		System.out.println("ready");
		never.await();
	}
}
END_OF_JAVA

cpu_ns() {	# of all threads of process $1
	cat /proc/"$1"/task/*/schedstat 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

one_turn() {	# appends "<JVM's CPU ns> <longest stop in ns or -> <arcprof's CPU s> <elapsed s>" to turns
	local before after lines
	lines=$(wc -l <safepoints)
	before=$(cpu_ns "$jvm")
	{ time "$ARCPROF" threads -p "$jvm" -o dump 2>/dev/null; } 2>took || return 1
	after=$(cpu_ns "$jvm")
	grep -q '"idle-0"' dump || return 1
	tail -n +"$((lines + 1))" safepoints | grep -o 'Total: *[0-9]*' | awk -v cpu="$((after - before))" '
		{ if ($2 > max) max = $2 }
		END { getline took < "took"; split(took, t, " ")
		      print cpu, max ? max : "-", t[2] + t[3], t[1] }' >>turns
}

median() {	# <column of turns> <unit in ms>
	awk -v c="$1" '{ print $c }' turns | sort -n | awk -v ms="$2" '
		{ v[NR] = $1 }
		END { m = v[int((NR + 1) / 2)]; if (m == "-") print m; else printf "%.1f\n", m * ms }'
}

measure() {	# <threads>
	rm -f turns ready safepoints
	mkfifo ready
	java -Xlog:safepoint:file=safepoints -cp . Idle "$1" >ready &
	jvm=$!
	read -r _ <ready || return 1
	for ((i = 0; i <= turns; i++)); do
		one_turn || { echo "$0: arcprof threads has failed" >&2; return 1; }
		((i)) || rm turns
	done
	printf '%-4s %8d %12s %12s %12s %12s\n' "$JDK" "$1" "$(median 1 1e-6)" "$(median 2 1e-6)" \
		"$(median 3 1e3)" "$(median 4 1e3)"
	kill "$jvm"
	wait "$jvm" 2>/dev/null
	jvm=
}

printf '%-4s %8s %12s %12s %12s %12s\n' JDK threads 'JVM CPU ms' 'stopped ms' 'arcprof ms' 'elapsed ms'
for home in $(jdks); do
	use_jdk "$home" || exit 1
	rm -f ./*.class
	javac Idle.java || exit 1
	for n in "$@"; do
		measure "$n" || exit 1
	done
done
