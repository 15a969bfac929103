#!/usr/bin/env bats
# What counting calls of Java methods costs: measured in each JVM, put into traces, taken away by reports.
load ../lib
load ../java

setup_file() {
	export ORIGINAL_PATH=$PATH
	for home in $(jdks); do
		use_jdk "$home"
		# Whether time is stable here is not what these tests are about.
		"$ARCPROF" calibrate --quiet --accept-unstable --java="$home" --metric cpu >"$BATS_FILE_TMPDIR/measured"
	done
}

# record_java <program> [<arg>...]: its calls into ./trace.
record_java() {
	"$ARCPROF" record -q --callflow --metric cpu -o trace -- java -cp "$CLASSES" "$@" >out 2>err || { cat err; return 1; }
	arcprof report -i trace --check >check || { cat check; return 1; }
}

# Rows of rt as "level name n base".
rows() {
	arcprof report -i trace --rt --format json "$@" | jq -r ".rows[] | \"\(.level) \(.name) \(.n) \($ROW)\""
}

# How far TreeTest's four methods are from the shares that their names say, in points: the farthest.
error() {
	arcprof report -i trace --xprof --format json "$@" | jq -r '
		[.rows[] | { (.name): .cum[0] }] | add | (.["TreeTest.mainA30"] + .["TreeTest.mainB70"]) as $all |
		[[.["TreeTest.AA10"], 10], [.["TreeTest.AB20"], 20], [.["TreeTest.BA30"], 30], [.["TreeTest.BB40"], 40] |
			.[0] / $all * 100 - .[1] | fabs] | max'
}

@test "calibrate: each JVM has its own figures, by build and version" {
	skip_unless_java
	arcprof calibrate --show >shown
	diff shown "$BATS_FILE_TMPDIR/measured"
	[ "$(grep -cE '^java-[0-9a-f]{16}-[0-9a-f]{16} [0-9].* on ' shown)" -eq "$(jdks | wc -l)" ]
	! grep 'Java methods are not calibrated' shown || false
	for home in $(jdks); do
		"$home/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.vm.version = //p' >version
		grep -F " $(cat version) (" shown
	done
}

@test "calibrate: missing JVMs are reported" {
	run_arcprof calibrate --java=/nonexistent
	[ "$status" -eq 1 ]
	[[ $stderr == *"cannot run '/nonexistent'"* ]]
	run_arcprof calibrate --java=true
	[ "$status" -eq 1 ]
	[[ $stderr == *"true started no JVM"* ]]
	status=0
	JAVA_HOME='' PATH=/nonexistent "$ARCPROF" calibrate --java 2>err || status=$?
	[ "$status" -eq 1 ]
	grep -q 'no java found in PATH' err
	run_arcprof calibrate --show --java
	[ "$status" -eq 2 ]
}

# nearer <steps of a call> <condition>: about the farthest method, calibrated ($c) and as it was measured ($m).
nearer() {
	local try
	for try in 1 2 3 4 5; do
		record_java TreeTest 40 "$1"
		error >calibrated
		error --no-calibrate >measured
		echo "points off: $(cat calibrated) calibrated, $(cat measured) measured"
		[ "$(jq -n --argjson c "$(cat calibrated)" --argjson m "$(cat measured)" "$2")" = true ] && return 0
	done
	return 1
}

treetest() {
	# Of calls so long counting takes less than what runs differ by, in either direction; t/perf/calibrate-java.sh
	# has both for calls between.
	# shellcheck disable=SC2016
	nearer 200 '$c <= 2'
	# shellcheck disable=SC2016
	nearer 60 '$c < $m'
	arcprof report -i trace --xprof | grep -F "calibrated, Java methods ($(java_version)) only: cpu"
	# Nothing is lost by it.
	ROW='(.base[0] + .base[1])' rows >sums
	ROW='.base[0]' rows --no-calibrate >whole
	diff sums whole
	arcprof report -i trace --rt --format json | jq -e '[.rows[].base[1]] | add > 0'
}

java_version() {
	java -XshowSettings:properties -version 2>&1 |
		awk -F ' = ' '/java.vm.version/ { v = $2 } /java.vm.vendor / { w = $2 } END { print v " (" w ")" }'
}

@test "calibrate: treetest in Java is nearer to the shares its names say than without" {
	on_one_jdk newest treetest
}

# println, which is main's, is nearly all there is.
hellop() {
	record_java Hellop
	arcprof report -i trace --xprof --format json | jq -r '[.rows[] | { (.name): .base[0] }] | add |
		(.["Hellop.main"] / (.["Hellop.main"] + .["Hellop.myA"] + .["Hellop.myC"]) * 100)' >calibrated
	arcprof report -i trace --xprof --no-calibrate --format json | jq -r '[.rows[] | { (.name): .base[0] }] | add |
		(.["Hellop.main"] / (.["Hellop.main"] + .["Hellop.myA"] + .["Hellop.myC"]) * 100)' >measured
	paste calibrated measured
	[ "$(jq -n "$(cat calibrated) > $(cat measured) and $(cat calibrated) > 90")" = true ]
}

@test "calibrate: hellop's time is nearer to println's than without" {
	on_each_jdk hellop
}

# table <awk program>: a changed copy of the table is the one that counts.
table() {
	mkdir -p data/arcprof
	awk -F '\t' -v OFS='\t' "$1" "$XDG_DATA_HOME/arcprof/calibration" >data/arcprof/calibration
	export XDG_DATA_HOME=$PWD/data
}

@test "calibrate: costs measured in one JVM are not used for another" {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	table '/^java-/ { $1 = substr($1, 1, 22) "0123456789abcdef" substr($1, 39) } { print }'
	record_java Hellop
	arcprof report -i trace --rt | grep "not calibrated: 'arcprof calibrate --java'"
}

@test "calibrate: nothing becomes less than nothing in Java, and that is counted" {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	table '/^java-/ { $5 = 900000000 } { print }'
	record_java Hellop
	arcprof report -i trace --rt | grep 'contexts had less than that (over-corrected, now 0)'
	[ "$(ROW='.base[0]' rows | awk '/Hellop.my/ { n += $4 } END { print n + 0 }')" -eq 0 ]
}

# What the Python module reads of ./trace is what reports have.
module_agrees() {
	! command -v python3 >/dev/null || ARCPROF=$ARCPROF PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 \
		python3 "$TOP/t/reader/compare-module.py" trace
}

@test "calibrate: with --call-tier each call loses what its tier costs, however contexts are shown" {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	local original=$XDG_DATA_HOME
	table '/^java-/ { $6 = $9 = 0; split("interpreted c1 c2 inlined", tier, " ")
		for (i = 1; i <= 4; i++) { $3 = "cpu " tier[i]; $5 = 1000 * i; print } }'
	"$ARCPROF" record -q --callflow --call-tier --metric cpu -o trace -- java -cp "$CLASSES" TreeTest 20 1000 >out
	arcprof report -i trace --check >check || { cat check; return 1; }
	arcprof report -i trace --rt --by-kind --format json >kinds
	jq -e '{ "java-interpreted": 1, "java-c1": 2, "java-c2": 3, "java-inlined": 4, java: 3 } as $cost |
		[.rows[] | select(.n > 0 and (.kind | startswith("java"))) | { kind, ok: (.base[1] == .n * $cost[.kind]) }] |
		all(.[]; .ok) and ([.[].kind] | unique | length >= 2)' kinds
	arcprof report -i trace --rt --format json >whole
	[ "$(jq '[.rows[] | select(.kind | test("java-")) | .kind] | length' whole)" -eq 0 ]
	[ "$(jq '[.rows[].base[1]] | add' whole)" -eq "$(jq '[.rows[].base[1]] | add' kinds)" ]
	# contexts that differ in nothing else are one
	arcprof report -i trace --rt --no-calibrate --format json | jq '[.rows[] | [.level, .name, .n]]' >measured
	jq '[.rows[] | [.level, .name, .n]]' whole | diff measured -
	module_agrees
	! arcprof report -i trace --rt | grep -F 'as samples share the tree' || false
	# samples do not know tiers, so with them the cost of one is that of all, which is said
	"$ARCPROF" record -q --callflow --call-tier -e cpu --metric cpu -o trace -- java -cp "$CLASSES" TreeTest 20 1000 >out
	arcprof report -i trace --xtree --format json >tree
	jq -e '.quality.calibration | contains("by the cost in code of C2 for calls of all tiers")' tree
	jq -e '[.nodes[] | select(.kind == "java" and .n > 0 and .base[0] > 0) | .base[3] == 3 * .n] | length > 3 and all' tree
	arcprof report -i trace --xtree --metric cpu | grep -F 'calibrated, Java methods' >said
	! grep -F 'as samples share the tree' said || false
	# another cost is not used, and it is said what would measure this one
	export XDG_DATA_HOME=$original
	"$ARCPROF" record -q --callflow --call-tier --metric cpu -o trace -- java -cp "$CLASSES" Hellop >out
	arcprof report -i trace --rt | grep -F "'arcprof calibrate --java --call-tier --metric cpu' before a recording measures these"
	XDG_DATA_HOME=$PWD/none "$ARCPROF" record -q --calltrace --call-tier --metric cpu -o trace -- java -cp "$CLASSES" Hellop >out
	for how in --rt --gen; do
		arcprof report -i trace $how | grep -F "not calibrated: 'arcprof calibrate --java --calltrace --call-tier' before"
	done
}

@test "calibrate: what exits by exceptions cost more is taken from the callers" {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	table '/^java-/ { $3 = "cpu,thrown"; $5 = $6 = $9 = 0; $10 = 3000 } { print }'
	arcprof calibrate --sequences --format json | jq -e '[.rows[] | select(.from == "exception") | [.to, .cost]] |
		unique == [["entry", 3]]'
	"$ARCPROF" record -q --callflow --metric cpu,thrown -o trace -- java -cp "$CLASSES" Calls >out
	arcprof report -i trace --check >check || { cat check; return 1; }
	arcprof report -i trace --xtree --format json >tree
	# of each context: what the calls in it that ended by exceptions cost
	jq -e '(.nodes | group_by(.parent) | map({ (.[0].parent | tostring): (map(.base[1]) | add) }) | add) as $thrown |
		[.nodes[] | select($thrown[.id | tostring] > 0 and .base[0] > 0) | .base[2] == 3 * $thrown[.id | tostring]] |
		length > 2 and all' tree
	module_agrees
	# also where the metric that counts them is not shown
	[ "$(arcprof report -i trace --metric cpu --rt --format json | jq '[.rows[].base[1]] | add')" -eq \
		"$(jq '[.nodes[].base[2]] | add' tree)" ]
}

tiers_are_trained() {
	# what is counted exactly is known after two runs each, and costs nothing
	XDG_DATA_HOME=$PWD/$JDK arcprof calibrate --quiet --java="$JAVA_HOME" --call-tier --metric bytecodes --format json >rows
	jq -e '[.rows[] | [.metrics, .metric, .within, .used]] ==
		[["interpreted", "c1", "c2", "inlined"][] | ["bytecodes " + ., "bytecodes", 0, true]]' rows
}

@test "calibrate: --call-tier measures methods of each tier" {
	on_one_jdk newest tiers_are_trained
	run_arcprof calibrate --call-tier --native
	[ "$status" -eq 2 ]
}

@test "calibrate: with --call-sites callers and methods lose what calls with sites cost" {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	table '/^java-/ { $3 = "cpu sites"; $5 = 1000; $6 = 2000; $9 = 0; $10 = "-" } { print }'
	"$ARCPROF" record -q --callflow --call-sites --metric cpu -o trace -- java -cp "$CLASSES" TreeTest 20 1000 >out
	arcprof report -i trace --check >check || { cat check; return 1; }
	arcprof report -i trace --xtree --format json >tree
	# a site of a method has nothing, and a method that was called from no site keeps all
	jq -e '([.nodes[] | select(.name | test("(:| bci )[0-9]+$")) | { (.id | tostring): .parent }] | add) as $above |
		(reduce (.nodes[] | select($above[.parent | tostring])) as $x
			({}; .[$above[$x.parent | tostring] | tostring] += $x.n)) as $calls |
		[.nodes[] | select(.kind == "java" and .base[0] > 0) |
			.base[1] == 2 * ($calls[.id | tostring] // 0) + if $above[.parent | tostring] then .n else 0 end] |
		length > 5 and all' tree
	module_agrees
	export XDG_DATA_HOME=$PWD/none
	"$ARCPROF" record -q --callflow --call-sites --metric cpu -o trace -- java -cp "$CLASSES" Hellop >out
	arcprof report -i trace --rt | grep -F "not calibrated: 'arcprof calibrate --java --call-sites' before"
	# what is counted exactly is known after two runs, and costs nothing
	"$ARCPROF" calibrate --quiet --java="$JAVA_HOME" --call-sites --metric bytecodes --format json >rows
	jq -e '[.rows[] | [.metrics, .within, .between, .site, .used]] == [["bytecodes sites", 0, 0, 0, true]]' rows
}

@test "calibrate: native functions and Java methods in one trace have costs of their own" {
	skip_unless_java
	use_jdk "$(jdks | head -n 1)"
	gcc -O1 -finstrument-functions "$TOP/t/data/callflow/treetest.c" "$BUILD/libarcprof-hookit.a" -o treetest -pthread
	table '{ $5 = /^java-/ ? 7000 : 3000; $6 = 0; print }
		/^java-/ && !done++ { $1 = "'"$(hooks)"'"; $5 = 3000; print }'
	"$ARCPROF" record -q --callflow --metric cpu -o trace -- sh -c "./treetest 30; java -cp $CLASSES TreeTest 2 1000" >out
	arcprof report -i trace --rt >rt
	grep 'calibrated, native functions: cpu; Java methods (.*): cpu' rt
	arcprof report -i trace --rt --format json | jq -r '.rows[] | "\(.name) \(.n) \(.base[1])"' >deltas
	awk '/^bit / { if ($3 != $2 * 3) exit 1; nr++ } /^TreeTest.work / { if ($3 != $2 * 7) exit 1; nr += 10 }
		END { exit nr != 22 }' deltas || { cat deltas; return 1; }
}

# The hooks of this arcprof, as the table names them.
hooks() {
	XDG_DATA_HOME=$PWD/native arcprof calibrate --quiet --native --accept-unstable --metric cpu --format json | jq -r '.rows[0].client'
}
