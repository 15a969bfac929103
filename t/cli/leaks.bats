#!/usr/bin/env bats
# What keeps more and more objects: a program that says how much it leaks, beside caches that do not.
load ../lib
load ../jdks

# Within 4.5 standard errors of what the program says; the loaders have other arrays of bytes besides.
agrees() {
	jq -r '.leaks[] | [.site, .class, .bytes, .bytes_low, .bytes_high] | @tsv' json | awk -F '\t' '
	FILENAME == "truth" { split($0, w, " "); truth[w[1]] = w[2]; next }
	$2 ~ /^(byte|int|long)\[\]$/ && $1 != "Leaks.deploy" {
		printf "%s: %.0f of %d\n", $1, $3, truth[$1]
		d = $3 - truth[$1]
		limit = ($5 - $4) / 2 / 1.96 * 4.5
		bad += d * d > limit * limit
		n++
	}
	END { exit bad || n != 3 }' truth -
}

planted() {
	"$ARCPROF" record -e live=8k -o trace java -XX:+UseSerialGC -Xmn4m -Xmx64m -cp "$CLASSES" -Dseconds=3 \
		-Dgarbage=60 -Dleak=1000000 -Dcache=10 Leaks >truth 2>err || { cat truth err; return 1; }
	[[ $(cat err) == *" 0 lost"* ]] || { cat err; return 1; }
	"$ARCPROF" report -i trace --leaks >text
	cat text
	"$ARCPROF" report -i trace --leaks --format json >json
	# each kind was found, and nothing that stays as large as it is
	for site in 'Leaks$Cache.put' Leaks.subscribe Leaks.serve Leaks.deploy; do
		jq -e --arg site "$site" '.leaks | map(select(.site == $site and .looked_at))[0].confidence > .99' json
	done
	jq -e '.leaks | map(select(.site | test("fill|replace|lambda|waste"))) | length == 0' json
	jq -e '.source.looked_at_ns > 0 and .source.unpaired == 0' json
	agrees
	# what is left is that of the metric
	"$ARCPROF" report -i trace --metric live --xprof --format json >live
	[ "$(jq '.source.bytes' json)" = "$(jq '[.rows[].base[0]] | add' live)" ]
	jq -e '([.ages[].bytes] | add) == .source.bytes' json
	grep -q 'Leaks.serve keeps .* more of int\[\] since ' text
	# by class: the same arrays are of all places
	"$ARCPROF" report -i trace --leaks=class --format csv >csv
	grep -q '^long\[\],,' csv
	follows_columns bytes,site,class bytes report -i trace --leaks
}

@test "leaks: each kind is found, and what stays as it is is not" {
	on_each_jdk planted
}

# The JVM's own totals: what one method allocates is the whole of its class, and exact. A dump of the heap before
# stops the agent's thread for as long as it takes, which is no reason to look later.
counted() {
	local recorder
	"$ARCPROF" record -e live=8k --live-histogram -o trace java -Xmx600m -cp "$CLASSES" -Dseconds=60 \
		-Dgarbage=60 -Dcache=250 Leaks >out 2>err 3>&- &
	recorder=$!
	until grep -q begun out; do sleep .1; done
	sleep 2
	"$ARCPROF" heap dump -q -p "$(pgrep -P $recorder java)" -o dump
	"$ARCPROF" ctl stop -p $recorder
	wait || true
	cat err
	"$ARCPROF" report -i trace --check >check
	"$ARCPROF" report -i trace --leaks
	"$ARCPROF" report -i trace --leaks --format json >json
	jq -e '.source | .counted_ns > 0 and .looked_at_ns >= .counted_ns' json
	jq -e '.leaks | map(select(.site == "Leaks.serve" and .class == "int[]"))[0] |
		.looked_at and .class_bytes > 2000000 and .bytes <= .class_bytes and .bytes_high <= .class_bytes' json
	jq -e '.leaks | map(select(.site | test("fill|replace|lambda|waste"))) | length == 0' json
}

@test "leaks: beside the totals that the JVM counts" {
	on_one_jdk oldest counted
	run "$ARCPROF" record -e alloc --live-histogram true
	[[ "$output" == *"--live-histogram is for --event live"* ]]
}

@test "leaks: the callers of a library are blamed" {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	"$ARCPROF" record -q -e live=8k -o trace java -XX:+UseSerialGC -Xmn4m -Xmx64m -cp "$CLASSES" -Dseconds=2 -Dgarbage=60 \
		-Dleak=1000000 Leaks >truth
	site() {	# of the arrays that the cache keeps
		"$ARCPROF" report -i trace --leaks --format json "$@" | jq -r '[.leaks[].site | select(test("Cache|main"))] | unique | join(" ")'
	}
	[ "$(site)" = 'Leaks$Cache.put' ]
	[ "$(site --library '*$Cache.*')" = Leaks.main ]
	# what nobody else calls is named in any case
	[ "$(site --library 'Leaks*')" = 'Leaks$Cache.put' ]
	run_arcprof report -i trace --xtree --library x
	[ "$status" -eq 2 ]
}

@test "leaks: reports say what they need" {
	"$ARCPROF" record -q -e cpu-clock -o trace true
	run "$ARCPROF" report -i trace --leaks
	[ "$status" -ne 0 ]
	[[ "$output" == *"neither live objects nor native memory were recorded"*"record -e live"* ]]
	run "$ARCPROF" report -i trace --leaks=all
	[[ "$output" == *"invalid value 'all' of --leaks"* ]]
	run "$ARCPROF" report -i trace --leaks --from 1s
	[[ "$output" == *"--from does not apply to --leaks: it needs the whole recording"* ]]
}
