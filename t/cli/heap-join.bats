#!/usr/bin/env bats
# A heap dump joined with a recording of live objects: what was allocated where holds what was allocated
# where, against a program whose objects are known by number.
# bats file_tags=stored
load ../lib
load ../jdks

# held <interval> [<dump>]: ./trace of the program, and a dump of it, with samples and without.
held() {
	rm -f in out
	mkfifo in
	"$ARCPROF" record -e "live=$1" -o trace "$JAVA_HOME/bin/java" -Xmx256m -cp "$CLASSES" Held <in >out 2>err 3>&- &
	recorder=$!
	exec 9>in
	for _ in $(seq 600); do
		grep -q planted out && break
		sleep 0.05
	done
	pid=$(pgrep -P $recorder java)
	"$ARCPROF" heap dump --samples -p "$pid" -o dump.hprof 9>&- || cat err
	[ $# -eq 1 ] || "$ARCPROF" heap dump -p "$pid" -o "$2" 9>&-
	exec 9>&-
	wait $recorder
	"$ARCPROF" heap report --join trace --format json "${report[@]}" dump.hprof >tree.json
}

# "objects bytes retained" of the context with that name below that one.
row() {
	jq -r --arg above "$1" --arg name "$2" '[.nodes[] | select(.name == $above) | .id] as $ids |
		[.nodes[] | select(.name == $name and (.parent as $p | $ids | index($p)))] |
		"\(map(.n) | add) \(map(.base[0]) | add) \(map(.cum[0]) | add)"' tree.json
}

holds_what_was_planted() {
	local report=()
	held 0 plain.hprof
	[ "$(row 'class Held' 'Held.makeOrders: Held$Order[]' | cut -d ' ' -f 1)" -eq 1 ]
	read -r n base cum <<<"$(row 'Held.makeOrders: Held$Order[]' 'Held.makeOrders: Held$Order')"
	[ "$n" -eq 1000 ]
	read -r lines lines_base lines_cum <<<"$(row 'Held.makeOrders: Held$Order' 'Held.makeLines: Held$Line[]')"
	[ "$lines" -eq 1000 ]
	[ "$cum" -eq $((base + lines_cum)) ]
	[ "$(row 'Held.makeLines: Held$Line[]' 'Held.makeLines: Held$Line')" = "5000 80000 80000" ]
	[ "$lines_cum" -eq $((lines_base + 80000)) ]
	# all lines share it, so the array of orders is the first to hold it alone
	[ "$(row 'Held.makeOrders: Held$Order[]' 'Held.makeProduct: Held$Product' | cut -d ' ' -f 1)" -eq 1 ]
	[ "$(row 'Held.makeProduct: Held$Product' 'Held.makeProduct: byte[]' | cut -d ' ' -f 1)" -eq 1 ]
	[ "$(row 'Held.makeMap: java.util.HashMap$Node[]' 'Held.makeMap: java.util.HashMap$Node' | cut -d ' ' -f 1)" -eq 1000 ]
	[ "$(row 'Held.makeMap: java.util.HashMap$Node' 'Held.makeText: java.lang.StringBuilder' | cut -d ' ' -f 1)" -eq 1000 ]
	[ "$(row 'Held.makeText: java.lang.StringBuilder' 'Held.makeText: byte[]')" = "1000 120000 120000" ]
	# every object once, and the sum is that of the dump
	arcprof heap report --histogram --format json dump.hprof >histogram.json
	[ "$(jq '[.nodes[].n] | add' tree.json)" -eq "$(jq .objects histogram.json)" ]
	[ "$(jq '[.nodes[].base[0]] | add' tree.json)" -eq "$(jq .bytes histogram.json)" ]
	shows_nothing_of_its_own
	is_refused
}

# The dump is that of a program that is not recorded; but threads of the JVM come and go.
shows_nothing_of_its_own() {
	arcprof heap report --histogram --format csv plain.hprof | cut -d , -f 1,2,4 | sort >plain
	arcprof heap report --histogram --format csv dump.hprof | cut -d , -f 1,2,4 | sort | diff plain - >differ || true
	cat differ
	[ "$(grep -c '^[<>]' differ)" -le 10 ]
	[ "$(grep -Ec 'WeakReference$|int\[\]|Object\[\]' differ)" -eq 0 ]
}

is_refused() {
	run_arcprof heap report --join trace plain.hprof
	[ "$status" -eq 1 ]
	[[ $stderr == *"the dump does not say which objects were sampled"* ]]
	[ -s ../other ] || cp trace ../other
	cmp -s trace ../other || {
		run_arcprof heap report --join ../other dump.hprof
		[ "$status" -eq 1 ]
		[[ $stderr == *"other: it is not the recording that was on when the dump was made"* ]]
	}
	run_arcprof heap report --join trace --histogram dump.hprof
	[ "$status" -eq 2 ]
}

@test "heap join: what holds what is exact if every object is a sample" {
	on_one_jdk newest holds_what_was_planted
}

# Within 4.5 standard errors: of a binomial number of samples, each of which stands for 1/p objects.
@test "heap join: samples stand for what was planted" {
	local report=(--xprof)
	use_jdk "$(jdks | tail -n 1)"
	held 64
	jq -r '.rows[] | "\(.n) \(.base[0]) \(.base[1]) \(.name)"' tree.json >rows
	cat rows | grep Held
	awk '
	function check(name, objects, size) {
		if ($4 != name || $5 != what)
			return
		p = 1 - exp(-size / 64)
		d = $1 - objects
		nr++
		bad += d * d > 4.5 * 4.5 * objects * (1 - p) / p + 1 || $3 > objects
		# numbers of objects are rounded up or down with each sample
		d = $2 - $1 * size
		bad += d * d > 4.5 * 4.5 * size * size * ($3 / 4 + 1)
	}
	{
		what = "Held$Line"; check("Held.makeLines:", 5000, 16)
		what = "Held$Order"; check("Held.makeOrders:", 1000, 16)
		what = "Held$Line[]"; check("Held.makeLines:", 1000, 40)
		what = "java.util.HashMap$Node"; check("Held.makeMap:", 1000, 32)
		what = "byte[]"; check("Held.makeText:", 1000, 120)
	}
	END { exit bad || nr != 5 }' rows
	arcprof heap report --join trace dump.hprof >text
	grep -Eq '^[0-9]+ samples, one each 64 bytes, stand for [0-9.]+ % of the heap; what holds [0-9.]+ % of that is \[not sampled\]$' text
	# the same for programs, and what holds the samples
	jq -e '.source.facts | .interval_bytes == 64 and .samples > 1000 and .held_by_known_bytes > 0 and
		.held_by_unknown_bytes >= 0 and .samples_not_recorded == 0' tree.json
	[ "$(jq -r '.source.notes[0]' tree.json)" = "$(grep -m 1 'one each 64 bytes' text)" ]
	"$ARCPROF" heap report --join trace --xprof --format csv dump.hprof 2>notes >rows.csv
	grep -q 'one each 64 bytes' notes
	grep -q '\[not sampled\] java.util' rows.csv
}
