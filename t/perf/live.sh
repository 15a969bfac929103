#!/bin/bash
# What objects that are watched cost a JVM with "record -e live", on every JDK: memory an object (the JVM's own, with
# and without, less the same of a fifth of them; not the buffer which it shares with the recorder), how much
# longer a young collection pauses for a million of them, and how long one look at a million takes, beside the
# program; each in its unit and as a ratio of its budget (64 bytes, 8 ms, 30 ms). All objects are watched, and
# none of them ever dies.
#
# usage: t/perf/live.sh [TURNS [OBJECTS]]		run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-3}
objects=${2:-500000}
cd "$DIR" || exit 1

cat >Watched.java <<'EOT'
import java.nio.file.*;

public class Watched {
	static volatile Object garbage;
	static Object[] all;

	/* Garbage is large, so that little of it is watched. */
	static void collect(int seconds) throws Exception {
		for (int i = 0; i < seconds * 100; i++) {
			for (int k = 0; k < 4; k++)
				garbage = new byte[1 << 20];
			Thread.sleep(10);
		}
	}

	public static void main(String[] args) throws Exception {
		all = new Object[Integer.parseInt(args[0])];
		for (int i = 0; i < all.length; i++)
			all[i] = new Object();
		System.gc();
		collect(4);
		for (String line : Files.readAllLines(Path.of("/proc/self/status")))
			if (line.startsWith("RssAnon"))
				System.out.println("kB " + line.replaceAll("\\D", ""));
	}
}
EOT

run() {	# <file> <objects> [<how it is recorded>...]: appends "kB pause(ms)"
	local to=$1 n=$2
	shift 2
	"$@" java -XX:+UseSerialGC -Xms256m -Xmx256m -Xmn64m -XX:+AlwaysPreTouch -XX:TieredStopAtLevel=1 \
		-Xlog:gc:file=gc.log -cp "classes.$JDK" Watched "$n" >out 2>err || { cat err; exit 1; }
	# the young ones after the whole one
	awk 'FNR == NR { if ($1 == "kB") kb = $2; next }
		/Pause Full/ { full = 1 } full && /Pause Young/ { sub(/ms$/, "", $NF); sum += $NF; n++ }
		END { print kb, n ? sum / n : "nan" }' out gc.log >>"$to"
}

budget() {	# <what> <unit> <value> <budget>
	awk -v jdk="$JDK" -v what="$1" -v unit="$2" -v v="$3" -v b="$4" \
		'BEGIN { printf "%-4s %-34s %8.1f %-6s x %.2f of %d\n", jdk, what, v, unit, v / b, b }'
}

for home in $(jdks); do
	use_jdk "$home" || exit 1
	javac -d "classes.$JDK" Watched.java || exit 1
	rm -f without with took few few-with
	for ((turn = 0; turn < turns; turn++)); do
		run few $((objects / 5))
		run few-with $((objects / 5)) "$ARCPROF" record -q -e live=0 -o trace --
		run without "$objects"
		run with "$objects" "$ARCPROF" record -q -e live=0 -o trace --
		"$ARCPROF" dump trace | sed -n 's/.* sweep .*took=\([0-9]*\) ns.*/\1/p' | sort -n | tail -n 1 >>took
	done
	budget "memory of an object" bytes "$(awk -v n="$objects" -v a="$(median without 1)" \
		-v b="$(median with 1)" -v c="$(median few 1)" -v d="$(median few-with 1)" \
		'BEGIN { print (b - a - (d - c)) * 1024 / (0.8 * n) }')" 64
	budget "a pause, longer by, per million" ms "$(awk -v n="$objects" -v a="$(median without 2)" \
		-v b="$(median with 2)" 'BEGIN { print (b - a) * 1e6 / n }')" 8
	budget "a look, per million" ms "$(awk -v n="$objects" -v ns="$(median took 1)" \
		'BEGIN { print ns / n }')" 30
done
