#!/usr/bin/env bats
# Labels of threads: which samples have them, and what reports do with them. The programs know what CPU time each
# label took.
load ../lib
load ../java

setup_file() {
	prepare_jdks
	export SUITE=$BATS_FILE_TMPDIR
	cd "$SUITE" || return 1
	gcc -O1 -I "$TOP/lib/api" "$TOP/t/data/labels/labels.c" "$BUILD/libarcprof.a" -o labels -pthread
	"$ARCPROF" record -q -e label -F 1000 -o work.data -- ./labels work 2 4 >truth
}

# CPU time in ms of what the options select of a trace.
ms_of() {	# <trace> <option>...
	arcprof report --xtree --format json "$@" | jq '.metrics[0].total / 1e6 | round'
}

# By label: "/cart 160", "none 110".
by_endpoint() {	# <trace> <option>...
	arcprof report --by-label endpoint --format folded "$@" |
		awk '{ match($0, /endpoint=[^; ]*|\[[^];]*endpoint[^];]*\]/); l = substr($0, RSTART, RLENGTH)
			sub(/^endpoint=/, "", l); sub(/^\[no endpoint\]/, "none", l); ns[l] += $NF }
		     END { for (l in ns) printf "%s %d\n", l, ns[l] / 1e6 }' | sort
}

# Each line of one file is about that of the other; what steal and ticks of other CPUs do is within the bounds.
are_about() {	# <want> <got>
	join "$1" "$2" | tee joined
	[ "$(wc -l <joined)" -eq "$(wc -l <"$1")" ]
	awk '$3 < $2 * 0.75 - 10 || $3 > $2 * 1.25 + 10 { bad++ } END { exit bad }' joined
}

@test "label: each sample has the labels that its thread had" {
	skip_unless_perf
	by_endpoint "$SUITE/work.data" >got
	sort "$SUITE/truth" >want
	are_about want got
	# nothing else but a moment of the parent's, and all of it
	[ "$(awk '$2 > 5' got | wc -l)" -eq 3 ]
	[ "$(awk '{ s += $2 } END { print s }' got)" -ge "$(($(ms_of "$SUITE/work.data") - 3))" ]
	arcprof report --check "$SUITE/work.data" >/dev/null
	arcprof report --check --by-label endpoint "$SUITE/work.data" >/dev/null
}

@test "label: --label selects samples, with labels of the recording as well" {
	skip_unless_perf
	local cart all both
	cart=$(by_endpoint "$SUITE/work.data" | awk '$1 == "/cart" { print $2 }')
	all=$(by_endpoint "$SUITE/work.data" | awk '$1 ~ /^.(cart|pay|parent)$/ { s += $2 } END { print s }')
	both=$(by_endpoint "$SUITE/work.data" | awk '$1 ~ /^.(cart|pay)$/ { s += $2 } END { print s }')
	[ "$(ms_of "$SUITE/work.data" --label endpoint=/cart)" -eq "$cart" ]
	[ "$(ms_of "$SUITE/work.data" --label 'endpoint=/*')" -eq "$all" ]
	[ "$(ms_of "$SUITE/work.data" --label endpoint=/cart,endpoint=/pay,tenant=acme)" -eq "$both" ]
	run_arcprof report --label endpoint=/cart,tenant=other "$SUITE/work.data"
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches --label"* ]]
	arcprof record -q -e label -F 1000 --label service=shop -o shop -- "$SUITE/labels" work 1 2 >/dev/null
	[ "$(ms_of shop --label service=shop,endpoint=/cart)" -gt 10 ]
	[ "$(ms_of shop --label service=shop,endpoint=/cart)" -lt "$(ms_of shop --label service=shop)" ]
	arcprof query -i shop "SELECT labels, sum(weight) FROM samples GROUP BY labels" | grep -q 'endpoint=/cart,tenant=acme'
}

@test "label: a level of the tree in every format, and in merged trees" {
	skip_unless_perf
	local f
	for f in pprof speedscope chrome firefox html json callgrind otlp jfr; do
		arcprof report -q --format "$f" --by-label endpoint "$SUITE/work.data" >"x.$f"
		[ -s "x.$f" ]
	done
	grep -q 'endpoint=/cart' x.json
	arcprof merge -q --by-label endpoint "$SUITE/work.data" "$SUITE/work.data" -o twice
	[ "$(ms_of twice --label endpoint=/cart)" -eq "$((2 * $(ms_of "$SUITE/work.data" --label endpoint=/cart)))" ]
	# it is a label of the exported table
	arcprof export --table - twice | gunzip -c 2>/dev/null | grep -q 'endpoint=/cart' ||
		arcprof export --table - twice | grep -q 'endpoint=/cart'
	run_arcprof report --by-label 'a=b' "$SUITE/work.data"
	[ "$status" -eq 2 ]
	arcprof record -q -o none -- true
	run_arcprof report --by-label endpoint none
	[ "$status" -eq 1 ]
	[[ $stderr == *"its threads have no labels"*"arcprof_label()"* ]]
}

@test "label: any number of trace ids leaves no more records than samples" {
	skip_unless_perf
	run_arcprof record -e label -F 1000 -o ids -- "$SUITE/labels" ids 200000
	[ "$status" -eq 0 ]
	[ "$(arcprof dump ids | grep -c ' thread.label ')" -le "$(arcprof dump ids | grep -c ' sample.')" ]
	[ "$(ms_of ids --label trace-id=last)" -ge 150 ]
}

@test "label: what is no label is refused, and leaves no old one" {
	skip_unless_perf
	arcprof record -q -e label -F 1000 -o bad -- "$SUITE/labels" bad >out
	[ "$(cat out)" = "-22 -22 -22 -22 -22 -22 -22 -22 -22 0 -28 0" ]
	# the key k went with the last bad value
	[ "$(ms_of bad --label 'b=v*')" -ge 80 ]
	run_arcprof report --label 'k=*' bad
	[ "$status" -eq 1 ]
	# nobody records
	"$SUITE/labels" bad | grep -qx '0 0 0 0 0 0 0 0 0 0 0 0'
}

of_java() {	# <platform or virtual>
	arcprof record -q -e label -F 1000 -o java.data -- java -Darcprof.library="$BUILD/libarcprof-java.so" \
		-cp "$BUILD/arcprof.jar:classes" Labels "$1" 3 8
	by_endpoint java.data --symbol Labels.forCart --thread "$2" >cart
	by_endpoint java.data --symbol Labels.forPay --thread "$2" >pay
	cat cart pay
	# the stack of a sample whose signal had to wait is some ms younger than its time, and so than its labels
	awk '{ n[$1] += $2; all += $2 } END { exit n["/cart"] < 0.9 * all || !all }' cart
	awk '{ n[$1] += $2; all += $2 } END { exit n["/pay"] < 0.9 * all || !all }' pay
	[ "$(ms_of java.data --label tenant=acme --thread "$2")" -ge "$(awk '{ s += $2 } END { print int(0.9 * s) }' cart pay)" ]
}

labels_of_java() {
	mkdir -p classes
	"$JAVA_HOME/bin/javac" -cp "$BUILD/arcprof.jar" -d classes "$TOP/t/workloads/Labels.java"
	of_java platform 'worker-*'
	[ "$JDK" -lt 21 ] || of_java virtual '*virtual*'
	# without a recorder, or the library, nothing is labelled, and nothing fails
	java -cp "$BUILD/arcprof.jar:classes" Labels platform 1 1
}

@test "label: threads in Java, virtual ones, too" {
	[ -f "$BUILD/arcprof.jar" ] || make -s -C "$TOP" java >&2
	each_jdk labels_of_java
}

# A Java server, and the client given, each recorded; server.data and client.data.
record_both() {	# <client> <argument>...
	local java=(java -Darcprof.library="$BUILD/libarcprof-java.so" -cp "$BUILD/arcprof.jar:." Rpc) i
	rm -f port
	"$ARCPROF" record -q -e label -F 1000 -o server.data -- "${java[@]}" serve port &
	for ((i = 0; i < 600; i++)); do
		[ -s port ] && break
		sleep 0.1
	done
	if [ "$1" = java ]; then
		"$ARCPROF" record -q -e label -F 1000 -o client.data -- "${java[@]}" call "$(cat port)" 8
	else
		"$ARCPROF" record -q -e label -F 1000 -o client.data -- "$SUITE/labels" call "$(cat port)" 8
	fi
	wait
}

# What the server did for requests is below the client's call, all of it, and nothing else is; all of both is there, once.
check_join() {	# <function that calls>
	local all served rpc below
	run_arcprof merge --join trace-id client.data server.data -o both
	[ "$status" -eq 0 ]
	[[ $stderr == *"of 8 values of trace-id are below an earlier trace"* ]]
	all=$(arcprof report --format json --xtree both | jq '.metrics[0].total')
	[ "$all" -eq "$(for f in client server; do
		arcprof report --format json --xtree $f.data | jq '.metrics[0].total'; done | paste -sd+ | bc)" ]
	served=$(arcprof report --format folded --label 'trace-id=*' server.data | awk '{ s += $NF } END { printf "%d", s }')
	rpc=$(arcprof report --format folded both | grep -F '[rpc]' | awk '{ s += $NF } END { printf "%d", s }')
	below=$(arcprof report --format folded both | grep -E "$1;(.*;)?\[rpc\];.*;Rpc\.serve;" | awk '{ s += $NF } END { printf "%d", s }')
	echo "served $served, below [rpc] $rpc, of these $below below $1"
	# a client's request without a sample joins nothing
	[ "$rpc" -le "$served" ] && [ "$rpc" -ge $((served * 7 / 8)) ]
	[ "$below" -ge $((rpc * 3 / 4)) ]
	[ "$served" -ge 120000000 ] && [ "$served" -le 200000000 ]
	arcprof report --check both >/dev/null
}

@test "label: merge --join hangs what a server did below the call of its client" {
	skip_unless_perf
	use_jdk "$(jdks | head -n 1)"
	[ -f "$BUILD/arcprof.jar" ] || make -s -C "$TOP" java >&2
	"$JAVA_HOME/bin/javac" -cp "$BUILD/arcprof.jar" -d . "$TOP/t/workloads/Rpc.java"
	record_both labels
	check_join call
	# the other way round: the server's work is in its place, and the client's below
	arcprof merge -q --join trace-id server.data client.data -o other
	arcprof report --format folded other | grep -qE '\[rpc\];.*;call'
	record_both java
	check_join Rpc.call
	run_arcprof merge --join trace-id --by-label trace-id client.data server.data -o no
	[ "$status" -eq 2 ]
	run_arcprof merge --join nothing client.data server.data -o none
	[ "$status" -eq 0 ]
	[[ $stderr == *"its threads have no label nothing"* ]]
}

# By the agent's class alone: nothing of arcprof is on the class path.
spans_of_otel() {
	mkdir -p classes
	"$JAVA_HOME/bin/javac" -sourcepath "$TOP/t/data/otel" -d classes "$TOP/t/data/otel/Spans.java" \
		"$TOP/Documentation/examples/ArcprofContextStorage.java"
	run_arcprof record -q -e label -F 1000 -o otel -- java -cp classes Spans
	[ "$status" -eq 0 ] && [ "$output" = done ] && [ -z "$stderr" ]
	printf '%s\n' 'inner 80' 'trace-0 40' 'trace-1 40' >want
	arcprof report --by-label trace-id --symbol Spans.outer --format folded otel |
		awk '{ match($0, /trace-id=[^; ]*|\[[^];]*trace-id[^];]*\]/); l = substr($0, RSTART, RLENGTH)
			sub(/^trace-id=/, "", l); sub(/^\[no trace-id\]/, "none", l); ns[l] += $NF }
		     END { for (l in ns) printf "%s %d\n", l, ns[l] / 1e6 }' | sort >got
	are_about want got
	# where labels are not recorded there is no such class, and the program runs as ever
	arcprof record -q -o none -- java -cp classes Spans | grep -qx done
}

@test "label: spans of OpenTelemetry set labels without arcprof on the class path" {
	each_jdk spans_of_otel
}

@test "label: each segment of a recording has the labels of its samples" {
	skip_unless_perf
	arcprof record -q -e label -F 1000 --segment 1s -o seg -- "$SUITE/labels" work 1 24 >truth
	[ "$(find seg -name '*.arc' | wc -l)" -ge 2 ]
	for f in seg/*.arc; do
		by_endpoint "$f"
	done | awk '{ ms[$1] += $2 } END { for (l in ms) print l, ms[l] }' | sort >got
	sort truth >want
	are_about want got
	[ "$(awk '$2 > 5' got | wc -l)" -eq 3 ]
}
