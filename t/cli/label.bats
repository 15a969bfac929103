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
	arcprof report --xtree --format json "$@" | jq ".metrics[0].total / ${UNIT:-1e6} | round"
}

# By label: "/cart 160", "none 110", in ms; UNIT=1: in ns, which add up.
by_endpoint() {	# <trace> <option>...
	arcprof report --by-label endpoint --format folded "$@" |
		awk '{ match($0, /endpoint=[^; ]*|\[[^];]*endpoint[^];]*\]/); l = substr($0, RSTART, RLENGTH)
			sub(/^endpoint=/, "", l); sub(/^\[no endpoint\]/, "none", l); ns[l] += $NF }
		     END { for (l in ns) printf "%s %.0f\n", l, ns[l] / '"${UNIT:-1e6}"' }' | sort
}

# Each line of one file is about that of the other; what steal and ticks of other CPUs do is within the bounds.
are_about() {	# <want> <got>
	join "$1" "$2" | tee joined
	[ "$(wc -l <joined)" -eq "$(wc -l <"$1")" ]
	awk '$3 < $2 * 0.75 - 10 || $3 > $2 * 1.25 + 10 { bad++ } END { exit bad }' joined
}

@test "label: a process has those that its environment says for OpenTelemetry, under those of the command line" {
	skip_unless_perf
	OTEL_SERVICE_NAME=shop OTEL_RESOURCE_ATTRIBUTES=service.version=1.2,tenant=a%20b \
		arcprof record -q --label version=2 -F 1000 -o own.data -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); done; true'
	arcprof report --xprof --label "service=shop,version=2,tenant=a b" own.data >out
	grep -q cpu-clock out
	arcprof report --format otlp own.data >otlp
	grep -qa 'service.name' otlp
	arcprof export --table tables own.data
	zcat tables/nodes.tsv.gz | grep -q 'shop.*tenant=a b'
}

@test "label: passwords of the command line stay out of a trace that masks them" {
	skip_unless_perf
	arcprof record -q --mask-secrets -o masked.data -- sh -c : sh --password hunter2 -Dapi.token=hunter3
	arcprof dump masked.data >dump
	grep -q 'key="command" value="sh -c : sh --password \*\*\* -Dapi.token=\*\*\*"' dump
	[ "$(grep -c hunter dump)" -eq 0 ]
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

# by_label: "<label> <function> <calls> <ns>" of exact calls, of all threads together. The sums are those without.
calls_by_endpoint() {	# <trace>
	local each
	arcprof report --check "$1" >/dev/null
	arcprof report --check --by-label endpoint "$1" >/dev/null
	arcprof report --xtree --format json --metric cpu "$1" >all
	arcprof report --xtree --format json --metric cpu --by-label endpoint "$1" >tree
	for each in all tree; do
		jq -c '[[.nodes[].n], [.nodes[].base[0]]] | map(add)' $each
	done | uniq | tee sums
	[ "$(wc -l <sums)" -eq 1 ]
	jq -r 'foreach .nodes[] as $r (null; if $r.kind == "label" then $r.name else . end;
			[., $r.name, $r.n, $r.base[0]]) | @tsv' tree |
		awk -F '\t' '{ n[$1 " " $2] += $3; ns[$1 " " $2] += $4 } END { for (i in n) print i, n[i], ns[i] }' >by_label
}

@test "label: exact calls are counted for the labels in force, and add up to those without" {
	gcc -O1 -finstrument-functions -I "$TOP/lib/api" "$TOP/t/data/labels/labels.c" "$BUILD/libarcprof-hookit.a" \
		"$BUILD/libarcprof.a" -o calls -pthread
	arcprof record -q --callflow -e label -o calls.data -- ./calls work 2 4 >truth
	calls_by_endpoint calls.data
	mv by_label got
	cat got
	# each call of work() is of one label: its count is exact, and so is its time
	[ "$(grep -o '^endpoint=/cart work [0-9]*' got)" = "endpoint=/cart work 16" ]
	[ "$(grep -o '^endpoint=/pay work [0-9]*' got)" = "endpoint=/pay work 8" ]
	[ "$(grep -o '^.no endpoint. work [0-9]*' got)" = "[no endpoint] work 9" ]
	awk '$1 ~ /^endpoint=/ { ms[$1] += $NF / 1e6 } END { for (l in ms) print substr(l, 10), ms[l] }' got | sort >ms
	grep -v none truth | sort >want
	are_about want ms
	# serve() has all three, and was called before the first
	grep -q '^endpoint=/cart serve 0 ' got
	[ "$(grep -o '^.no endpoint. serve [0-9]*' got)" = "[no endpoint] serve 2" ]
	[ "$(arcprof report --xprof --format json --label endpoint=/pay calls.data |
		jq '.rows[] | select(.name == "work") | .n')" -eq 8 ]
	# what a server did hangs below its client's call: here both are the same
	run_arcprof merge --join endpoint calls.data calls.data -o both
	[[ $stderr == *"3 of 3 values of endpoint are below an earlier trace"* ]]
	arcprof report --check both >/dev/null
	arcprof report --xtree --format json --metric cpu both >tree
	[ "$(jq '[.nodes[].base[0]] | add' tree)" -eq "$(jq '2 * .[1]' sums)" ]
	[ "$(jq '[.nodes[] | select(.name == "[rpc]") | .cum[0]] | add' tree)" -eq \
		"$(arcprof report --format json --label 'endpoint=*' calls.data | jq '.metrics[0].total')" ]
	run_arcprof report --label endpoint=/none calls.data
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches --label"* ]]
	run_arcprof report --by-label endpoint --replay calls.data
	[ "$status" -eq 1 ]
	[[ $stderr == *"events of calls have no labels"* ]]
}

@test "label: events have the labels that their thread had" {
	arcprof record -q -e mark,label --label service=shop -o marks.data -- "$SUITE/labels" work 2 3 >/dev/null
	arcprof report --log --format json marks.data >log
	[ "$(jq -c '[.events[] | [.what, .labels]] | group_by(.) | map([.[0][], length])' log)" = \
		'[["over",null,6],["paid","endpoint=/pay,tenant=acme",6]]' ]
	[ "$(arcprof report --log marks.data | grep -c ' paid \[endpoint=/pay,tenant=acme\]$')" -eq 6 ]
	count() {
		arcprof report --log --format json marks.data "$@" | jq '.events | length'
	}
	[ "$(count --label endpoint=/pay,service=shop)" -eq 6 ]
	[ "$(count --label service=shop)" -eq 12 ]
	run_arcprof report --marks --label endpoint=/cart marks.data
	[[ $output$stderr != *paid* ]]
}

@test "label: --label selects samples, with labels of the recording as well" {
	skip_unless_perf
	local cart all both
	local -x UNIT=1
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
	[ "$(ms_of shop --label service=shop,endpoint=/cart)" -gt 10000000 ]
	[ "$(ms_of shop --label service=shop,endpoint=/cart)" -lt "$(ms_of shop --label service=shop)" ]
	arcprof query -i shop "SELECT labels, sum(weight) FROM samples GROUP BY labels" | grep -q 'endpoint=/cart,tenant=acme'
}

@test "label: a level of the tree in every format, and in merged trees" {
	skip_unless_perf
	local f
	local -x UNIT=1
	for f in pprof speedscope chrome firefox html json callgrind otlp jfr; do
		arcprof report -q --format "$f" --by-label endpoint "$SUITE/work.data" >"x.$f"
		[ -s "x.$f" ]
	done
	grep -q 'endpoint=/cart' x.json
	arcprof merge -q --by-label endpoint "$SUITE/work.data" "$SUITE/work.data" -o twice
	[ "$(ms_of twice --label endpoint=/cart)" -eq "$((2 * $(ms_of "$SUITE/work.data" --label endpoint=/cart)))" ]
	# rows by label add up to those without
	sums() {
		arcprof export -q --table - "$1" | zcat -f | awk -F'\t' 'NR > 1 { n += $21; base += $22; cum += $23 }
			END { printf "%d %.0f %.0f\n", n, base, cum }'
	}
	arcprof merge -q --by-label endpoint "$SUITE/work.data" -o by
	[ "$(sums by)" = "$(sums "$SUITE/work.data")" ]
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

@test "label: an invalid label is refused, and leaves no old one" {
	skip_unless_perf
	arcprof record -q -e label -F 1000 -o bad -- "$SUITE/labels" bad >out
	[ "$(cat out)" = "-22 -22 -22 -22 -22 -22 -22 -22 -22 0 -28 0" ]
	# the key k went with the last bad value
	[ "$(ms_of bad --label 'b=v*')" -ge 80 ]
	# but for a sample or two of the time before
	before=$(ms_of bad --label 'k=*' 2>/dev/null) || true
	[ "${before:-0}" -le 2 ]
	# nobody records
	"$SUITE/labels" bad | grep -qx '0 0 0 0 0 0 0 0 0 0 0 0'
}

of_java() {	# <platform or virtual>
	arcprof record -q -e cpu-clock,label,exception,mark -F 1000 -o java.data -- java -Darcprof.library="$BUILD/libarcprof-java.so" \
		-cp "$BUILD/arcprof.jar:$CLASSES" Labels "$1" 3 8
	by_endpoint java.data --symbol Labels.forCart --thread "$2" >cart
	by_endpoint java.data --symbol Labels.forPay --thread "$2" >pay
	cat cart pay
	# the stack of a sample whose signal had to wait is some ms younger than its time, and so than its labels
	awk '{ n[$1] += $2; all += $2 } END { exit n["/cart"] < 0.9 * all || !all }' cart
	awk '{ n[$1] += $2; all += $2 } END { exit n["/pay"] < 0.9 * all || !all }' pay
	# an exception has the labels of the thread that threw it, not of what carries that
	for what in Cart Pay; do
		arcprof report --log=exception --format csv --label "endpoint=/${what,,}" java.data >thrown
		[ "$(grep -c "Labels\$${what}Gone" thrown)" -eq 24 ]
		[ "$(grep -c 'Labels\$[A-Z][a-z]*Gone' thrown)" -eq 24 ]
		# a mark, a phase and an event are the thread's that made them, too
		arcprof report --log=mark --format csv --label "endpoint=/${what,,}" java.data >marked
		[ "$(grep -c "${what,,}" marked)" -eq 72 ]
		[ "$(grep -cE 'cart|pay' marked)" -eq 72 ]
	done
	[ "$(ms_of java.data --label tenant=acme --thread "$2")" -ge "$(awk '{ s += $2 } END { print int(0.9 * s) }' cart pay)" ]
}

labels_of_java() {
	of_java platform 'worker-*'
	[ "$JDK" -lt 21 ] || of_java virtual '*virtual*'
	# exact calls: a virtual thread's are its own on whatever carries it
	arcprof record -q --callflow -e label -o exact.data -- java -cp "$BUILD/arcprof.jar:$CLASSES" Labels \
		"$([ "$JDK" -lt 21 ] && echo platform || echo virtual)" 3 8
	calls_by_endpoint exact.data
	mv by_label got
	cat got
	printf '%s\n' "/cart Labels.burn 48" "/cart Labels.forCart 24" "/pay Labels.burn 24" "/pay Labels.forPay 24" >want
	sed -n 's/^endpoint=\(.*\(burn\|forCart\|forPay\) [0-9]*\) .*/\1/p' got | sort | diff want -
	[ "$(grep -o '^.no endpoint. Labels.burn [0-9]*' got | awk '{ print $NF }')" -ge 24 ]
	# without a recorder, or the library, nothing is labelled, and nothing fails
	java -cp "$BUILD/arcprof.jar:$CLASSES" Labels platform 1 1
}

@test "label: Java threads have labels, even virtual ones" {
	one_jdk newest labels_of_java
}

# A Java server, and the client given, each recorded; server.data and client.data.
record_both() {	# <client> <argument>...
	local java=(java -Darcprof.library="$BUILD/libarcprof-java.so" -cp "$BUILD/arcprof.jar:$CLASSES" Rpc) i
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
	compile_java -sourcepath "$TOP/t/data/otel" -d classes "$TOP/t/data/otel/Spans.java" \
		"$TOP/Documentation/examples/ArcprofContextStorage.java"
	run_arcprof record -q -e label -F 1000 -o otel -- java -cp classes Spans
	[ "$status" -eq 0 ] && [ "$output" = done ] && [ -z "$stderr" ]
	printf '%s\n' 'inner 80' 'trace-0 40' 'trace-1 40' >want
	arcprof report --by-label trace-id --symbol Spans.outer --format folded otel |
		awk '{ match($0, /trace-id=[^; ]*|\[[^];]*trace-id[^];]*\]/); l = substr($0, RSTART, RLENGTH)
			sub(/^trace-id=/, "", l); sub(/^\[no trace-id\]/, "none", l); ns[l] += $NF }
		     END { for (l in ns) printf "%s %.0f\n", l, ns[l] / '"${UNIT:-1e6}"' }' | sort >got
	are_about want got
	# where labels are not recorded there is no such class, and the program runs as ever
	arcprof record -q -o none -- java -cp classes Spans | grep -qx done
}

@test "label: spans of OpenTelemetry set labels without arcprof on the class path" {
	one_jdk newest spans_of_otel
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
