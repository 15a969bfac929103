#!/bin/bash
# difference.sh [<folder>] - how often "arcprof diff" finds a planted change, and what it calls one where there
# is none: of plants.c and Plants.java, 1+1, 3+3 and 5+5 runs drawn at random from recordings. The constants of
# lib/diff were not fitted to these. SCALE=full records 16 equal runs and 6 of each plant, where the default
# has 10 and 5 of fewer plants; <folder> keeps the recordings, and a second run with it records nothing.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$TOP/build
make -s -C "$TOP" all build/t/perf/plants >/dev/null || exit 1
ARCPROF=${ARCPROF:-$BUILD/arcprof}
# shellcheck source=../java.bash
. "$TOP/t/java.bash"
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
OUT=${1:-$DIR/runs}
JAVA=$(jdks | head -n 1)
[ -n "$JAVA" ] || { echo "no JDK" >&2; exit 1; }
mkdir -p "$OUT"

if [ "${SCALE-}" = full ]; then
	plants="m50 m20 p5 p10 p20 p50 p100 new gone" equal=16 each=6 draws=24
else
	plants="m50 p20 p50 new gone" equal=10 each=5 draws=8
fi
declare -A rounds=([base]=20 [m50]=10 [m20]=16 [p5]=21 [p10]=22 [p20]=24 [p50]=30 [p100]=40 [new]=20 [gone]=20)

# mix SEED: lines of the input in a random order that is the same each time
mix() {
	awk -v seed="$1" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' | sort -n | cut -f2-
}

list_runs() {
	local p v i
	for p in c java; do
		for ((i = 1; i <= equal; i++)); do echo "$p base $i"; done
		for v in $plants; do
			for ((i = 1; i <= each; i++)); do echo "$p $v $i"; done
		done
	done
}

record_runs() {
	local p v i
	"$JAVA/bin/javac" -nowarn -d "$DIR" "$TOP/t/perf/Plants.java" || exit 1
	while read -r p v i; do
		[ -s "$OUT/$p-$v-$i.data" ] && continue
		if [ "$p" = c ]; then
			set -- "$BUILD/t/perf/plants" "${rounds[$v]}" "${UNITS_C:-4000}" "$v"
		else
			set -- "$JAVA/bin/java" -Xmx256m -XX:+UseSerialGC -cp "$DIR" Plants "${rounds[$v]}" "${UNITS_JAVA:-3000}" "$v"
		fi
		nice "$ARCPROF" record -q -F 1999 -o "$OUT/$p-$v-$i.data" -- "$@" >"$OUT/$p-$v-$i.truth" </dev/null || exit 1
	done < <(list_runs | mix 1)
}

# target PROGRAM PLANT: the function that the plant changes
target() {
	local f=score
	[ "$2" = new ] && f=validate
	[ "$2" = gone ] && f=audit
	[ "$1" = c ] && echo "$f" || echo "Plants.$f"
}

# pick PROGRAM PLANT N SEED: N recordings, one a line
pick() {
	printf '%s\n' "$OUT/$1-$2"-*.data | mix "$4" | head -n "$3"
}

# marked A B: a line for each row that changed: its name, and by how much
marked() {
	"$ARCPROF" diff "$1" "$2" --significant --format json |
		jq -r '.rows[] | select(.changed) | "\(.name)\t\(.change)"'
}

# equal_runs PROGRAM N: of pairs without a change, the part in which something is marked
equal_runs() {
	local alarms=0 i both
	for ((i = 0; i < 2 * draws; i++)); do
		mapfile -t both < <(pick "$1" base $((2 * $2)) $((100 + i)))
		[ -z "$(marked "$(IFS=,; echo "${both[*]:0:$2}")" "$(IFS=,; echo "${both[*]:$2}")")" ] || alarms=$((alarms + 1))
	done
	echo "$alarms $((2 * draws))"
}

# planted PROGRAM PLANT N: how often the row is marked, how many others are, and its median change
planted() {
	local found=0 others=0 i rows t
	t=$(target "$1" "$2")
	: >"$DIR/changes"
	for ((i = 0; i < draws; i++)); do
		rows=$(marked "$(pick "$1" base "$3" $((500 + i)) | paste -sd,)" "$(pick "$1" "$2" "$3" $((900 + i)) | paste -sd,)")
		if grep -q "^$t	" <<<"$rows"; then
			found=$((found + 1))
			grep "^$t	" <<<"$rows" | cut -f2 >>"$DIR/changes"
		fi
		others=$((others + $(grep -c -v -e "^$t	" -e '^$' <<<"$rows")))
	done
	sort -g "$DIR/changes" | awk -v found=$found -v others=$others -v draws=$draws '{ x[NR] = $1 } END {
		printf "%3.0f%% (%s, %.1f others)", 100 * found / draws,
			NR && x[1] != "null" ? sprintf("%+.0f%%", 100 * x[int((NR + 1) / 2)]) : "-", others / draws }'
}

# truth PROGRAM PLANT: what the program itself says of score(), the median of all its runs
truth() {
	cat "$OUT/$1-$2"-*.truth | sort -n | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

record_runs
for p in c java; do
	base=$(truth $p base)
	for v in $plants; do
		case $v in new | gone) continue ;; esac
		echo "$p: $v is $(truth $p "$v" | awk -v b="$base" '{ printf "%+.0f%%", 100 * ($1 / b - 1) }') of score() by its own clock"
	done
	for n in 1 3 5; do
		read -r alarms pairs < <(equal_runs $p $n)
		printf '%-5s %d+%d: %d of %d equal pairs have a mark; found' $p $n $n "$alarms" "$pairs"
		for v in $plants; do printf ' | %s %s' "$v" "$(planted $p "$v" $n)"; done
		echo
	done
done
