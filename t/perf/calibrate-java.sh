#!/bin/bash
# What counting a call of a Java method costs, by kind of method, in nanoseconds of CPU time above what the call
# takes anyway; what is left of that when each call has lost what its tier costs (--call-tier); then how far
# treetest's methods are from the shares that their names say, measured and calibrated.
#
# usage: t/perf/calibrate-java.sh	run it on a quiet machine
#
# On a busy one a call costs half as much again, and what was calibrated holds for no other moment.
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
cd "$DIR" || exit 1
export XDG_DATA_HOME=$DIR/data

# Of each kind, what an iteration takes with all that it calls: hooked less plain, the lowest tenth's end. TIERS=1:
# calibrated by tier.
kinds() {	# <label> <levels> <option>...
	local label=$1 levels=$2 show=(--no-calibrate)
	shift 2
	[ -z "${TIERS-}" ] || show=()
	"$ARCPROF" record -q --callflow='Costs*,-Costs*.bare_*' ${TIERS:+--call-tier} --metric cpu -o trace -- \
		"$JAVA_HOME/bin/java" -Xbatch "$@" -cp "$CLASSES" Costs "$levels" >/dev/null 2>&1
	"$ARCPROF" report -i trace --xtree "${show[@]}" --format tree | awk -F '\t' '
		/^#/ || $5 != "java" { next }
		$4 == "Costs.measure" { under = $1 }
		under && $1 < under { under = 0 }
		!under { next }
		{ owner[$1] = owner[$1 - 1] }
		$4 ~ /^Costs.(plain|hooked)_/ {
			split(substr($4, 7), what, "_")
			owner[$1] = ++nr
			kind[nr] = what[2]
			hooked[nr] = what[1] == "hooked"
		}
		{ cost[owner[$1]] += $3 / 10000 }
		END { for (i = 1; i <= nr; i++) print kind[i], hooked[i], cost[i] }' |
	sort -k 1,2 -k 3,3n | awk -v jdk="$JDK" -v label="$label" '
		{ v[$1 " " $2, ++n[$1 " " $2]] = $3 }
		END {
			printf "%-4s %-12s", jdk, label
			nr = split("static virtual interface synchronized thrown native nested siblings array chain", k, " ")
			for (i = 1; i <= nr; i++) {
				at = int(n[k[i] " 1"] / 10) + 1
				d = v[k[i] " 1", at] - v[k[i] " 0", at]
				printf " %12.1f", k[i] ~ /nested|siblings/ ? d / 2 : d
			}
			print ""
		}'
}

all_kinds() {
	printf '%-17s' 'JDK  code'
	printf ' %12s' static virtual interface synchronized thrown native nested siblings array chain
	echo
	for home in $(jdks); do
		use_jdk "$home" || exit 1
		kinds C2 100
		kinds C1 100 -XX:TieredStopAtLevel=1
		kinds interpreted 20 -XX:CompileCommand=quiet '-XX:CompileCommand=exclude,Costs*::*'
		kinds -Xint 20 -Xint
	done
}

all_kinds
for home in $(jdks); do
	"$ARCPROF" calibrate --quiet --accept-unstable --java="$home" --call-tier --metric cpu >tiers
done
echo
cat tiers
printf '\nwhat is left of it, calibrated by tier\n'
TIERS=1 all_kinds

# Shares of the four methods, and the farthest from its name's.
shares() {	# <steps of a call> <label> <option>...
	local steps=$1 label=$2
	shift 2
	"$ARCPROF" report -i trace --xprof --format json "$@" | jq -r --arg jdk "$JDK" --arg steps "$steps" --arg what "$label" '
		[.rows[] | { (.name): .cum[0] }] | add | (.["TreeTest.mainA30"] + .["TreeTest.mainB70"]) as $all |
		[.["TreeTest.AA10"], .["TreeTest.AB20"], .["TreeTest.BA30"], .["TreeTest.BB40"]] | map(. / $all * 100) |
		. + [[.[0] - 10, .[1] - 20, .[2] - 30, .[3] - 40 | fabs] | max] | map(. * 100 | round / 100) |
		[$jdk, $steps, $what] + . | @tsv'
}

printf '\nJDK\tsteps\ttreetest\tAA10\tAB20\tBA30\tBB40\tfarthest\n'
for home in $(jdks); do
	use_jdk "$home" || exit 1
	"$ARCPROF" calibrate --quiet --accept-unstable --java="$home" --metric cpu >shown
	for steps in 30 60 120 240; do
		"$ARCPROF" record -q --callflow --metric cpu -o trace -- \
			"$home/bin/java" -cp "$CLASSES" TreeTest 150 "$steps" >/dev/null 2>&1
		shares "$steps" measured --no-calibrate
		shares "$steps" calibrated
	done
done
cat shown
