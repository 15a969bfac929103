#!/bin/bash
# What a call costs a Java program that is measured exactly: nanoseconds of CPU time an entry and exit,
# above what the call costs anyway, in one run with JVMTI's own MethodEntry and MethodExit; then whole
# programs with their own packages and with the whole JDK, as ratio of CPU time.
#
# usage: t/perf/callflow-java.sh [ROUNDS [PROGRAM...]]	run it on a quiet machine
#
# "empty probes" is the price of entering native code twice; on a machine that is busy it tells how much
# slower than usual everything is.
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
rounds=${1:-40}
shift
programs=("${@:-mixed}")
cd "$DIR" || exit 1
echo 'exclude_thread main' >nobody

pairs() {	# <label> <command...>
	local label=$1
	shift
	"$@" 2>/dev/null | awk -v jdk="$JDK" -v label="$label" '
		{ v[$1] = $2 }
		END { printf "%-4s %-24s %10.1f %10.1f\n", jdk, label, v["recursion"], v["leaf"] }'
}

printf '%-4s %-24s %10s %10s\n' JDK 'ns a call' recursion leaf
for home in $(jdks); do
	use_jdk "$home" || exit 1
	program=("$JAVA_HOME/bin/java" -cp "$CLASSES" Pairs "$rounds")
	pairs none "${program[@]}"
	pairs 'empty probes' "$ARCPROF" record -q -o trace --callflow --config nobody --metric calls -- "${program[@]}"
	pairs 'calls' "$ARCPROF" record -q -o trace --callflow --metric calls -- "${program[@]}"
	pairs 'calls, cpu' "$ARCPROF" record -q -o trace --callflow --metric cpu -- "${program[@]}"
	pairs 'calls, cpu, wall' "$ARCPROF" record -q -o trace --callflow --metric cpu,wall -- "${program[@]}"
	pairs 'calls, cpu, wall, alloc' "$ARCPROF" record -q -o trace --callflow --metric cpu,wall,alloc -- "${program[@]}"
	pairs 'JVMTI entry and exit' "$JAVA_HOME/bin/java" "-agentpath:$BUILD/t/tools/jvmti-calls.so=counted,+exit" \
		-cp "$CLASSES" Pairs 3
done

# CPU seconds of the program alone.
cat >timed <<'EOS'
#!/bin/bash
TIMEFORMAT='%U %S'
time "$@" >/dev/null 2>/dev/null
EOS
chmod +x timed
busy() {
	"$@" 2>&1 | awk 'NF == 2 && $1 + 0 == $1 { print $1 + $2 }' | tail -n 1
}

printf '\n%-4s %-10s %10s %16s %14s\n' JDK program 'CPU s' 'own packages x' 'whole JDK x'
for home in $(jdks); do
	use_jdk "$home" || exit 1
	for p in "${programs[@]}"; do
		java_program "$p" 2
		[ -z "$WHY_NOT" ] || { echo "$JDK $p: $WHY_NOT"; continue; }
		base=$(busy ./timed "${COMMAND[@]}")
		own=$(busy "$ARCPROF" record -q -o trace --callflow -- ./timed "${COMMAND[@]}")
		all=$(busy "$ARCPROF" record -q -o trace --callflow='+*' -- ./timed "${COMMAND[@]}")
		awk -v jdk="$JDK" -v p="$p" -v b="$base" -v o="$own" -v a="$all" \
			'BEGIN { printf "%-4s %-10s %10.2f %16.2f %14.2f\n", jdk, p, b, o / b, a / b }'
	done
done
