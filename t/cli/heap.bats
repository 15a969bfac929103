#!/usr/bin/env bats
# Heap dumps of real JVMs against what they say of themselves, and against planted objects.
load ../lib
load ../java

setup_file() {
	skip_unless_java
	prepare_jdks
	for home in $(jdks); do
		use_jdk "$home"
		"$JAVA_HOME/bin/java" -XX:+UseSerialGC -cp "$CLASSES" Heap "$BATS_FILE_TMPDIR/$JDK" || return 1
	done
}

dump() {
	echo "$BATS_FILE_TMPDIR/$JDK.hprof"
}

# n, base and cum of a class in the flat profile of the JDK's dump.
numbers() {
	jq -r --arg c "$1" '.rows[] | select(.name == $c) | "\(.n) \(.base[0]) \(.cum[0])"' flat.json
}

# Names as the histogram of the JVM writes them: "[[I", "Main$$Lambda/0x1" and a module.
histogram_of_jvm() {
	awk '
	BEGIN { split("Z boolean B byte C char S short I int J long F float D double", t, " ") }
	$1 ~ /^[0-9]+:$/ {
		name = $4
		dims = ""
		while (sub(/^\[/, "", name))
			dims = dims "[]"
		if (dims && sub(/^L/, "", name))
			sub(/;$/, "", name)
		for (i = 1; dims && length(name) == 1 && i < 16; i += 2)
			if (t[i] == name)
				name = t[i + 1]
		print $2, $3, name dims
	}' "$1"
}

agrees_with_histogram() {
	arcprof heap report --histogram --format json "$(dump)" |
		jq -r '.classes[] | "\(.n) \(.bytes) \(.class)"' | sort >ours
	histogram_of_jvm "$BATS_FILE_TMPDIR/$JDK.histogram" | sort >theirs
	comm -13 ours theirs >differ
	cat differ
	[ "$(wc -l <theirs)" -gt 200 ]
	# the JVM dumps no Class objects of arrays; what the histogram's own text is made of comes and goes
	[ "$(wc -l <differ)" -le $(($(wc -l <theirs) / 20)) ]
	grep -qx '1000 [0-9]* Heap$Order' ours
	[ "$(grep -c 'Heap\$' differ)" -eq 0 ]
}

@test "heap: objects and bytes of classes are those that the JVM says" {
	on_each_jdk agrees_with_histogram
}

retains_what_was_planted() {
	local n base cum order lines
	arcprof heap report --format json "$(dump)" >flat.json
	read -r n base cum <<<"$(numbers 'Heap$Order')"
	[ "$n" -eq 1000 ]
	order=$((base / n))
	lines=$(numbers 'Heap$Line[]' | cut -d ' ' -f 2)
	# orders hold their lines, and not the product that all share
	[ "$cum" -eq $((1000 * order + lines + $(numbers 'Heap$Line' | cut -d ' ' -f 2))) ]
	read -r n base cum <<<"$(numbers 'Heap$Product')"
	[ "$n" -eq 1 ]
	[ "$cum" -ge $(((1 << 20) + 16)) ] && [ "$cum" -le $(((1 << 20) + 48)) ]
	# a list is one row, which holds the arrays of all its nodes
	read -r n base cum <<<"$(numbers 'Heap$Node')"
	[ "$n" -eq 100000 ]
	[ "$cum" -eq $((base + 100000 * 96)) ]
	arcprof heap report --xtree --format json "$(dump)" >tree.json
	[ "$(jq '[.. | objects | select(.name? == "Heap$Node")] | length' tree.json)" -eq 1 ]
}

@test "heap: retained sizes of planted objects are exact" {
	on_each_jdk retains_what_was_planted
}

paths_lead_to_planted_objects() {
	arcprof heap report --paths 'Heap$Line' --format json "$(dump)" >paths.json
	[ "$(jq '[.. | objects | select(.name? == "Heap$Line")] | length' paths.json)" -eq 1 ]
	[ "$(jq '.quality.n' paths.json)" -eq 5000 ]
	arcprof heap report --paths 'Heap$Line' "$(dump)" >paths
	cat paths
	sed -n '/HkName/,$p' paths | awk 'NR > 1 { printf "%s ", $NF } END { print "" }' >names
	grep -q 'Heap Heap$Shop java.util.ArrayList java.lang.Object\[\] Heap$Order Heap$Line\[\] Heap$Line $' names
	run_arcprof heap report --paths NoSuchClass "$(dump)"
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches"* ]]
}

@test "heap: paths lead from the roots to planted objects" {
	on_each_jdk paths_lead_to_planted_objects
}

thread_holds_its_local() {
	arcprof heap report --xtree --thread holder "$(dump)" >tree
	cat tree
	grep -q ' holder$' tree
	grep -qE '^ *1 .* 4000(16|24) .*double\[\]$' tree
}

@test "heap: a thread with its name holds its local variables" {
	on_each_jdk thread_holds_its_local
}

@test "heap: a compressed dump gives the same report" {
	use_jdk "$(jdks | head -n 1)"
	gzip -c "$(dump)" >dump.gz
	arcprof heap report "$(dump)" >plain
	arcprof heap report dump.gz >unzipped
	cmp plain unzipped
}

@test "heap: a truncated dump gives what it has, and says so" {
	use_jdk "$(jdks | head -n 1)"
	head -c 3000000 "$(dump)" >cut
	run_arcprof heap report cut
	[ "$status" -eq 1 ]
	[[ $output == *"the dump is truncated"* ]]
	[[ $output == *'Heap$Node'* ]]
	[[ $stderr == *"cut: damaged or truncated"* ]]
	head -c 10000 "$(dump)" >head
	run_arcprof heap report head
	[ "$status" -eq 1 ]
	[[ $stderr == "arcprof heap: head: heap dump without objects: truncated before the first" ]]
}

@test "heap: what is no dump is refused in a line" {
	for file in /dev/null "$TOP/README.md" /nonexistent "$TOP" /dev/zero; do
		run_arcprof heap report "$file"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[ "$(wc -l <<<"$stderr")" -eq 1 ]
	done
	run_arcprof heap
	[ "$status" -eq 2 ]
	run_arcprof heap report
	[ "$status" -eq 2 ]
}

@test "heap: the other formats have the whole tree" {
	use_jdk "$(jdks | head -n 1)"
	arcprof heap report --format html -o heap.html "$(dump)"
	[ -s heap.html ]
	[ "$(arcprof heap report --format folded "$(dump)" | awk '{ s += $NF } END { printf "%d", s }')" -eq \
		"$(arcprof heap report --histogram --format json "$(dump)" | jq .bytes)" ]
}

dumps_a_running_jvm() {
	"$JAVA_HOME/bin/java" -cp "$CLASSES" Heap "$JDK" wait >out &
	pid=$!
	for _ in $(seq 300); do
		[ -s out ] && break
		sleep 0.1
	done
	arcprof heap dump -p $pid -o live.hprof
	kill $pid
	[ "$(stat -c %a live.hprof)" = 600 ]
	! ls -d /tmp/arcprof-heap-* 2>/dev/null
	arcprof heap report --histogram --format json live.hprof >histogram.json
	[ "$(jq '.classes[] | select(.class == "Heap$Order") | .n' histogram.json)" -eq 1000 ]
}

@test "heap: dump has a running JVM write its heap" {
	on_each_jdk dumps_a_running_jvm
}

@test "heap: dump refuses what is no JVM" {
	sleep 60 &
	run_arcprof heap dump -p $! -o sleep.hprof
	kill $!
	[ "$status" -eq 1 ]
	[ ! -e sleep.hprof ]
	run_arcprof heap dump
	[ "$status" -eq 2 ]
}

@test "heap: a dump that does not fit leaves the file that was there" {
	skip_unless_root
	mkdir small
	mount -t tmpfs -o size=1m tmpfs small 2>/dev/null || skip "no file system can be mounted here"
	echo before >small/heap.hprof
	use_jdk "$(jdks | head -n 1)"
	"$JAVA_HOME/bin/java" -cp "$CLASSES" Heap "$JDK" wait >out &
	pid=$!
	for _ in $(seq 300); do
		[ -s out ] && break
		sleep 0.1
	done
	run_arcprof heap dump -p $pid -o small/heap.hprof
	kill $pid
	ls -A small >left
	cat small/heap.hprof >kept
	umount small
	[ "$status" -eq 1 ]
	[[ $stderr == *"No space left on device"* ]]
	[ "$(cat kept)" = before ]
	[ "$(cat left)" = heap.hprof ]
}
