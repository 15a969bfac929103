#!/bin/bash
# What a recording costs programs under load, on every JDK: a database (H2Load; Debian's libh2-java) and a web server
# (libtomcat10-java, tomcat10-common and apache2-utils). CPU time of the JVM: the start-up, in which classes are loaded
# and most is compiled, and the steady load afterwards, each as a ratio to that without a recording, the latter also to
# -e cpu alone; and what the recorder takes, in percent of the JVM. In turns, and of each the median.
#
# usage: t/perf/load.sh [TURNS [EVENTS...]]	what -e takes; the default is jvm wall lock cpu cpu,wall,lock
# PROGRAMS="h2 tomcat" says which; with ASYNC_PROFILER=/path/to/libasyncProfiler.so, its wall mode stands beside them.
# Run it on a quiet machine; -e wall needs root.
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-3}
shift
events=("$@")
[ $# -gt 0 ] || events=(jvm wall lock cpu 'cpu,wall,lock')
H2=/usr/share/java/h2.jar
# shellcheck source=tomcat.bash
. "$(dirname "$0")/tomcat.bash"
cd "$DIR" || exit 1
mkdir passes

# What the JVM has taken at the end of each part goes to the file "parts".
h2() {	# <command before java...>
	"$@" java "${options[@]}" -cp "$CLASSES:$H2:passes" Passes 5 H2Load 60 2>&1 | grep '^[0-9.]*$' >parts
}

cat >spent <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" 2>&1; } 2>all
EOT
chmod +x spent

# Runs it, and adds "start-up load recorder", in seconds, to the file of that name.
one() {	# <program> <name> <command before java...>
	local program=$1 name=$2
	shift 2
	"$program" ./spent "$@"
	awk -v all="$(awk '{ print $1 + $2 }' all)" '{ s[NR] = $1 }
		END { print s[1], s[NR] - s[2], all - s[NR] }' parts >>"$name"
}

ratio() {	# <name> <name> <column>
	awk -v a="$(median "$1" "$3")" -v b="$(median "$2" "$3")" 'BEGIN { printf "x %.3f", a / b }'
}

print_all() {	# <program>
	local name of_cpu
	for name in of-* async-profiler; do
		[ -e "$name" ] || continue
		of_cpu=
		[ ! -e of-cpu ] || of_cpu=$(ratio "$name" of-cpu 2)
		printf '%-4s %-7s %-18s %9s %9s %12s %10s %%\n' "$JDK" "$1" "${name#of-}" "$(ratio "$name" none 1)" \
			"$(ratio "$name" none 2)" "$of_cpu" "$(awk -v r="$(median "$name" 3)" -v s="$(median "$name" 1)" \
			-v l="$(median "$name" 2)" 'BEGIN { printf "%.2f", 100 * r / (s + l) }')"
	done
	echo "$JDK   $1    without: start-up $(median none 1) s, load $(median none 2) s"
}

compare() {	# <program>
	local i e
	rm -f none of-* async-profiler
	for ((i = 0; i < turns; i++)); do
		options=()
		one "$1" none
		for e in "${events[@]}"; do
			one "$1" "of-$e" "$ARCPROF" record -q -e "$e" -o trace --
		done
		[ -n "${ASYNC_PROFILER-}" ] || continue
		options=("-agentpath:$ASYNC_PROFILER=start,event=wall,wall=10ms,file=async.jfr")
		one "$1" async-profiler
	done
	print_all "$1"
}

# lacks <program> <packages>...: nothing is measured of it
lacks() {
	printf '%-4s %-7s not measured: needs %s\n' "$JDK" "$1" "${*:2}"
}

make -s -C "$TOP" java >&2 || exit 1
printf '%-4s %-7s %-18s %9s %9s %12s %12s\n' JDK program events start-up load 'of -e cpu' recorder
for home in $(jdks); do
	use_jdk "$home" || exit 1
	for program in ${PROGRAMS:-h2 tomcat}; do
		case $program in
		h2)
			[ -e "$H2" ] || { lacks h2 libh2-java; continue; }
			javac -d passes "$TOP/t/perf/Passes.java"
			;;
		tomcat)
			tomcat_can || { lacks tomcat libtomcat10-java tomcat10-common apache2-utils; continue; }
			web
			;;
		esac
		compare "$program"
	done
done
