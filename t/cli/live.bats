#!/usr/bin/env bats
# bats file_tags=stored
# Objects that live on: a program whose objects are known by number, against what reports estimate.
load ../lib
load ../jdks

# record <interval> <java option>...: ./truth has what the program says is left.
record() {
	local interval=$1
	shift
	"$ARCPROF" record -e "live=$interval" -o trace java -Xmx256m -cp "$CLASSES" "$@" Survivors >truth 2>err ||
		{ cat truth err; return 1; }
	[[ $(cat err) == *" 0 lost"* ]] || { cat err; return 1; }
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
}

# ./contexts: "method class samples bytes objects".
by_class() {
	"$ARCPROF" report -i trace --metric live,live-objects --xtree --format tree | awk -F '\t' '
	/^#/ { next }
	{ path[$1] = $6 }
	$2 > 0 {
		for (i = $1 - 1; i > 0 && path[i] !~ /^Survivors\./; i--)
			;
		where = path[i]
		sub(/^Survivors\./, "", where)
		key = where " " $6
		n[key] += $2; bytes[key] += $3; objects[key] += $4
	}
	END { for (k in n) print k, n[k], bytes[k], objects[k] }' >contexts
}

# Within 4.5 standard errors, or a sample of what is gone: its last ones may be on a stack still.
agrees() {
	by_class
	awk -v interval="$1" '
	FILENAME == "contexts" { n[$1 " " $2] = $3; bytes[$1 " " $2] = $4; objects[$1 " " $2] = $5; next }
	{
		k = $1 " " $2
		size = objects[k] ? bytes[k] / objects[k] : interval
		size = size < 16 ? 16 : size > interval ? interval : size
		p = interval ? 1 - exp(-size / interval) : 1
		se = sqrt($3 * (1 - p) / p + $3 / p / 4)
		d = objects[k] - $3
		ok = $3 ? d * d <= 4.5 * 4.5 * se * se : n[k] <= 1
		printf "%-14s %-20s %8d objects: %8d of %6d samples, %.1f se%s\n", $1, $2, $3, objects[k], n[k],
			se ? d / se : 0, ok ? "" : ": not as it should be"
		bad += !ok
		rows++
	}
	END { exit bad || rows != 6 }' contexts truth
}

collector() {
	for gc in UseG1GC UseSerialGC UseParallelGC UseZGC UseShenandoahGC; do
		java "-XX:+$gc" -version >/dev/null 2>&1 || continue
		record 4k "-XX:+$gc" -Dseconds=1 -Dleak=600000 -Dgarbage=60
		echo "$gc:"
		agrees 4096
	done
}

@test "live: live objects are distinguished from dead ones, with each collector" {
	on_one_jdk newest collector
}

major() {
	java -XX:+UseZGC -version >/dev/null 2>&1 || skip "ZGC of this JDK"
	record 16k -XX:+UseZGC -Dseconds=1 -Dgarbage=40
	"$ARCPROF" dump trace >dump
	# before its objects were old, no witness of ours would have reported the old
	grep -Eq ' sweep .* whole=[1-9]' dump
}

@test "live: with generational ZGC, old objects are known from the first major collection on" {
	on_one_jdk newest major
}

times() {
	record 1k -XX:+UseSerialGC -Xmn4m -Dseconds=1 -Dgarbage=40 -Dchurn=1
	# what was replaced survived, and was freed: each byte once
	"$ARCPROF" report -i trace --metric survived,freed --xprof --format json >json
	jq -e '.rows | map(select(.name == "byte[]"))[0].base | .[0] > 50000 and .[0] == .[1]' json
	"$ARCPROF" dump trace >dump
	grep -Eq ' sweep +proc=[0-9]+ pauses=[1-9]' dump
	grep -q 'live.unknown_bytes' dump
}

@test "live: objects that survived for a while are shown, too" {
	on_each_jdk 25 times
}

# In files of their own, each has what lived when it was closed; together they are one recording.
in_segments() {
	local f nr=0 n
	"$ARCPROF" merge --splice seg -o trace
	for f in seg/*.arc; do
		n=$("$ARCPROF" report -q -i "$f" --metric live --xprof --format json |
			jq '[.rows[] | select(.name == "byte[]")][0].n // 0')
		[ "$n" -lt 100 ] || nr=$((nr + 1))
		# nothing that was there when a segment began is reported as new in it
		! "$ARCPROF" report -q -i "$f" --metric alloc --symbol Survivors.fillCache >/dev/null 2>&1 || continue
		"$ARCPROF" report -q -i "$f" --leaks --format json |
			jq -e '[.leaks[] | select(.site | test("fillCache")?) | .growth | select(. > 0)] | length == 0' ||
			{ "$ARCPROF" report -i "$f" --leaks; return 1; }
	done
	[ "$nr" -ge 2 ]
	[ "$n" -eq "$("$ARCPROF" report -q -i trace --metric live --xprof --format json |
		jq '[.rows[] | select(.name == "byte[]")][0].n')" ]
}

beside() {
	"$ARCPROF" record --segment 400ms -e cpu-clock,alloc=16k,live=4k -o seg java -Xmn8m -Xmx256m -cp "$CLASSES" \
		-Dseconds=1 -Dgarbage=60 -Dleak=600000 Survivors >truth 2>err
	in_segments
	"$ARCPROF" report -i trace --check
	agrees 4096
	"$ARCPROF" report -q -i trace --format hprof | "$TOP/t/formats/hprof-read" | jq -S .SITES >sites
	"$ARCPROF" report -i trace --metric live,live-objects,alloc,objects --xprof --format json |
		jq -S '[.rows[] | select(.kind == "class") | { key: .name, value: .base[:4] }] | from_entries' | diff - sites
	# all of what was wasted was allocated: 60 MB, but for 10 %
	"$ARCPROF" report -i trace --metric alloc --symbol Survivors.waste --xprof --format json >json
	jq -e '.rows | map(select(.name == "byte[]"))[0].base[0] | . > 54000000 and . < 66000000' json
}

@test "live: beside allocations and a perf event, each with its own interval" {
	on_one_jdk newest beside
}

running() {
	java -Xmx256m -Xmn16m -cp "$CLASSES" -Dseconds=60 -Dgarbage=60 -Dleak=600000 Survivors >out 3>&- & pid=$!
	until [ -e "/tmp/hsperfdata_$(id -un)/$pid" ]; do sleep .1; done
	sleep 1
	for i in 1 2; do
		"$ARCPROF" record -e live=4k -d 1.5 -o trace -p "$pid" 2>err || { kill "$pid"; cat err; return 1; }
		"$ARCPROF" report -i trace --check >check || { kill "$pid"; cat check; return 1; }
	done
	kill "$pid"
	by_class
	grep -Eq '^leakNodes Survivors\$Node [1-9]' contexts
	# of some 20 000 samples: what a collection met on a stack, and moved to the old generation
	cat contexts
	[ "$(awk '$1 == "waste" { n += $3 } END { print n + 0 }' contexts)" -le 10 ]
}

@test "live: in a running JVM, again and again" {
	on_one_jdk oldest running
}

@test "live: without a collection nothing is claimed" {
	use_jdk "$(jdks | head -n 1)"
	"$ARCPROF" record -e live=4k -o trace java -version >out 2>err
	"$ARCPROF" report -i trace >report 2>&1 || true
	grep -q 'no collection has told' report || { cat err report; false; }
}

# of_method <metric> <method>: how many arrays of it are in ./trace.
of_method() {
	"$ARCPROF" report -q -i trace --metric "$1" --xtree --format tree | awk -F '\t' -v method="Kept.$2" '
	/^#/ { next }
	{ path[$1] = $4 }
	$4 == "byte[]" && path[$1 - 1] == method { n += $2 }
	END { print n + 0 }'
}

# With the interval 0 every object is a sample, so that nothing is left to chance.
all_is_known() {
	[ "$(of_method live keep)" = 2000 ]
	[ "$(of_method live waste)" = 0 ]
	[ "$(of_method live-unknown keep)" = 0 ]
	"$ARCPROF" report -i trace --leaks --format json >json
	jq -e '.source | .bytes >= 2032000 and .bytes_low <= .bytes and .bytes_high >= .bytes' json
}

ends_by_itself() {
	local gc how
	for gc in UseG1GC UseSerialGC UseParallelGC; do
		for how in return exit; do
			"$ARCPROF" record -e live=0 --live-gc -o trace java "-XX:+$gc" -Xmx64m -cp "$CLASSES" Kept "$how" \
				>out 2>err || { cat err; return 1; }
			[[ $(cat err) == *" 0 lost"* ]] || { cat err; return 1; }
			[[ $("$ARCPROF" report -i trace --leaks) != *"no collection in the end"* ]]
			all_is_known
			[ "$how" = return ] || break
		done
	done
}

@test "live: with --live-gc it is known what lives when a program ends by itself" {
	on_one_jdk newest ends_by_itself
}

interval_of() {
	"$ARCPROF" record -q -e "$1" --live-gc -o trace java -Xmx64m -cp "$CLASSES" Kept "$2" >out
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --leaks --format json | jq .source.interval
}

@test "live: the default interval grows while many objects are sampled" {
	use_any_jdk
	[ "$(interval_of live return)" = 32768 ]
	[ "$(interval_of live churn)" -gt 32768 ]
	[ "$(interval_of live=32k churn)" = 32768 ]
}

# Its collector has stopped when the VM ends, and must not be waited for.
collects_no_more() {
	local said
	"$ARCPROF" record -e live=0 --live-gc -o trace java -XX:+UseZGC -Xmx64m -cp "$CLASSES" Kept return >out 2>err
	[ "$(($(of_method live keep) + $(of_method live-unknown keep)))" = 2000 ]
	said=$("$ARCPROF" report -i trace --leaks)
	[[ $said == *"not recorded: live of process "*": no collection in the end: "*"ZGC"* ]]
}

lifetimes() {
	"$ARCPROF" record -q -e live=0,lifetime --live-gc -o trace java -XX:+UseSerialGC -Xmx64m -cp "$CLASSES" Kept drop >out
	[ "$(of_method died waste)" = 2000 ]
	[ "$(of_method died keep)" = 2000 ]
	[ "$(of_method live keep)" = 0 ]
	"$ARCPROF" report -i trace --lifetimes --format json >json
	jq -e '[.lifetimes[] | select(.class == "byte[]" and .site == "Kept.keep")] |
		map([.died, .p50_ns >= 100000000, .mean_ns >= 100000000, .p90_ns >= .p50_ns]) == [[2000, true, true, true]]' json
	jq -e '[.lifetimes[] | select(.class == "byte[]" and .site == "Kept.waste") | .died] == [2000]' json
	jq -e '([.lifetimes[].died] | add) == .source.died and .source.young <= .source.died' json
	"$ARCPROF" report -i trace --lifetimes | grep -q ' byte\[\] in Kept.keep$'
	# after each collection what was allocated before and is not dead; in the end, what lives
	"$ARCPROF" report -i trace --lifetimes=collections --format json >json
	jq -e '([.collections[].died] | add) == .source.died and .collections[-1].died >= 4000' json
	[ "$(jq '.collections[-1].live' json)" -le "$("$ARCPROF" report -q -i trace --metric live-objects --xprof --format json | jq '.metrics[0].total')" ]
}

@test "live: lifetimes of objects that died are reported, by where they were allocated" {
	one_jdk oldest lifetimes
	run_arcprof record -e lifetime -o trace -- true
	[ "$status" -eq 2 ]
	[[ $stderr == *"-e live,lifetime"* ]]
}

@test "live: a collector that does not collect while the VM ends is named" {
	on_one_jdk newest collects_no_more
}

nothing_is_hidden() {
	local said
	"$ARCPROF" record -e live=0 -o trace java -XX:+UseSerialGC -Xmx64m -cp "$CLASSES" Kept return >out 2>err
	# no collection has looked at them: neither live nor dead, but there
	[ "$(($(of_method live keep) + $(of_method live-unknown keep)))" = 2000 ]
	[ "$(of_method live-unknown keep)" = 2000 ]
	"$ARCPROF" report -i trace --leaks --format json >json
	jq -e '.source | .unknown_bytes >= 2032000 and .bytes_high >= 2032000' json
	said=$("$ARCPROF" report -i trace --leaks)
	[[ $said == *" were allocated since, of which nothing is known yet"* ]]
	said=$("$ARCPROF" report -i trace --metric live)
	[[ $said == *" bytes were allocated since, of which nothing is known yet (metric live-unknown;"* ]]
}

@test "live: objects that no collection has looked at are reported, and within the bounds" {
	on_one_jdk oldest nothing_is_hidden
}

attached() {
	local gc i
	mkfifo in
	for gc in UseG1GC UseZGC; do
		java "-XX:+$gc" -Xmx64m -cp "$CLASSES" -Dasked=1 Kept wait <in >out 2>jvm.err 3>&- &
		JVM=$!
		exec 7>in
		for ((i = 0; i < 600; i++)); do grep -q ready out && break; sleep 0.1; done
		"$ARCPROF" record -e live=4k --live-gc -o trace -p "$JVM" 2>err 3>&- & recorder=$!
		for ((i = 0; i < 600; i++)); do grep -q 'recording process' err && break; sleep 0.1; done
		echo >&7
		for ((i = 0; i < 600; i++)); do grep -q kept out && break; sleep 0.1; done
		# after a signal the JVM would have half a second for a collection, which is little on a busy machine
		"$ARCPROF" ctl -p "$recorder" stop
		wait "$recorder"
		kill "$JVM"
		exec 7>&-
		cat err
		# of 2000, each a sample with p = 0.22: 440 or so, 18 standard errors from 100
		[ "$(of_method live keep)" -gt 100 ]
		# what the last stack had in a register may be there
		[ "$(of_method live waste)" -le 1 ]
		[[ $("$ARCPROF" report -i trace --leaks) == *"not recorded: live of process $JVM: objects from before the recording"* ]]
	done
}

@test "live: of a running JVM that is made to collect, and what was there before" {
	on_one_jdk newest attached
}
