#!/bin/bash
# What is missing from Java stacks: programs on each JDK of this machine, their samples, how many of
# those of the JVM's threads are cut off or have an address without a name, by reason, and what is lost.
#
# usage: t/perf/java-stacks.sh [-v] [SIZE [PROGRAM...]]	SIZE 1: about a second; -v: the stacks too
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
verbose=
[ "${1:-}" = -v ] && { verbose=1; shift; }
size=${1:-4}
shift
programs=${*:-$JAVA_PROGRAMS}

printf '%-4s %-8s %8s %6s %7s %7s  %s\n' JDK program samples lost marked unnamed '% (reasons)'
for home in $(jdks); do
	use_jdk "$home" || exit 1
	for program in $programs; do
		mkdir "$DIR/w"
		cd "$DIR/w" || exit 1
		java_program "$program" "$size"
		if [ -n "$WHY_NOT" ]; then
			printf '%-4s %-8s %s\n' "$JDK" "$program" "$WHY_NOT"
		elif "$ARCPROF" record -q -o trace -- "${COMMAND[@]}" >out 2>err; then
			"$TOP/t/folded" --kinds trace 2>/dev/null | grep -E '^javac?;' >stacks
			"$ARCPROF" report -i trace --xprof --format json --limit 1 2>/dev/null >json
			awk -v jdk="$JDK" -v program="$program" -v lost="$(jq .source.lost json)" '
			{ all += $NF }
			/unwalkable|\[truncated/ {
				marked += $NF
				match($0, /\[(unwalkable: |truncated)[^]]*/)
				why[substr($0, RSTART + 1, RLENGTH - 1)] += $NF
				next
			}
			/\(unresolved\)/ {
				unnamed += $NF
				why["unnamed"] += $NF
			}
			END {
				printf "%-4s %-8s %8d %6d %7d %7d  %.2f", jdk, program, all, lost, marked, unnamed,
				       100 * (marked + unnamed) / (all ? all : 1)
				for (w in why) {
					n = why[w]
					sub(/unwalkable: /, "", w)
					printf "; %d %s", n, w
				}
				print ""
			}' stacks
			[ -z "$verbose" ] || grep -E 'unwalkable|\[truncated|\(unresolved\)' stacks | sort | sed 's/^/     /'
		else
			printf '%-4s %-8s failed: %s\n' "$JDK" "$program" "$(tail -n 1 err)"
		fi
		cd "$DIR" || exit 1
		rm -rf w
	done
done
