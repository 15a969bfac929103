#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

DATA=$TOP/t/data
JAVA=$DATA/java/trace
MIXED=$DATA/mixed/trace
CALLS=$DATA/calls/trace

# receiver ANSWER...: see t/fleet/otlp; its URL in $url, what it receives in ./got.
receiver() {
	command -v curl >/dev/null || skip "curl is not installed"
	stop_receiver
	rm -rf got
	mkdir got
	"$TOP/t/fleet/otlp" receive got "$@" >receiver.log 2>&1 3>&- &
	echo $! >receiver.pid
	for _ in {1..400}; do
		[ -e got/url ] && break
		sleep 0.05
	done
	url=$(cat got/url)
}

stop_receiver() {
	[ -e receiver.pid ] || return 0
	kill "$(cat receiver.pid)" 2>/dev/null || true
	wait "$(cat receiver.pid)" 2>/dev/null || true
	rm receiver.pid
}

teardown() {
	stop_receiver
}

nr_received() {
	find got -name '*.pb' | wc -l
}

@test "fleet push --otlp: a receiver gets the samples and stacks of the report, in the published messages" {
	local n=0 trace metric metrics
	skip_unless_command protoc
	receiver ok
	arcprof fleet push --otlp "$url" --spool spool "$JAVA" "$MIXED" "$CALLS" 2>said
	grep -q 'sent 3 recordings' said
	[ -z "$(ls spool)" ]
	for trace in got/*.pb; do
		"$TOP/t/fleet/otlp" show "$trace"
	done >shown
	[ "$(jq -r .id shown | sort | uniq -d | wc -l)" -eq 0 ]
	for trace in "$JAVA" "$MIXED" "$CALLS"; do
		# which request has it: its command is in the resource
		arcprof report "$trace" --xprof --format json >want.json
		for n in 1 2 3; do
			"$TOP/t/fleet/otlp" show "got/$n.pb" | jq -e --arg of "$(jq -r .source.command want.json)" \
				'select(."arcprof.command" == $of)' >/dev/null && break
		done
		"$TOP/t/exported" otlp want.json <"got/$n.pb"
		metrics=$(jq -r '.metrics[].name' want.json)
		for metric in $metrics; do
			"$TOP/t/fleet/otlp" stacks "$metric" "got/$n.pb" >stacks
			arcprof report "$trace" --metric "$metric" --format folded | LC_ALL=C sort >want
			diff want <(grep -v '^#' stacks | LC_ALL=C sort)
		done
		[ "$trace" = "$CALLS" ] || [ "$(tail -n 1 stacks)" = "# $(jq .quality.n want.json) samples" ]
	done
	[ "$(jq -r '."Content-Encoding"' got/1.json)" = gzip ]
}

@test "fleet push --otlp: a busy receiver is asked again, when it says so, with the same request" {
	receiver 503 502 hang 429:slowly:1 ok
	arcprof fleet push --otlp "$url" --spool spool --retry 60s "$MIXED" 2>said
	cat said
	[ "$(nr_received)" -eq 5 ]
	for n in 2 3 4 5; do
		cmp got/1.pb "got/$n.pb"
	done
	grep -q 'sent 1 recording$' said
	[ -z "$(ls spool)" ]
	# it says how long, which is longer than we would wait
	receiver 503:later:3600 ok
	run_arcprof fleet push --otlp "$url" --spool spool "$MIXED"
	[ "$status" -eq 1 ]
	[ "$(nr_received)" -eq 1 ]
	[[ $stderr == *"503 later"* ]]
	[[ $stderr == *"1 recording stays in spool"* ]]
	arcprof fleet push -q --otlp "$url" --spool spool
	[ -z "$(ls spool)" ]
	run_arcprof fleet push --otlp http://127.0.0.1:1 --spool spool --retry 0 "$MIXED" "$JAVA"
	[ "$status" -eq 1 ]
	[[ $stderr == *"2 recordings stay in spool"* ]]
}

@test "fleet push --otlp: what is refused or partly rejected is reported, and nothing disappears silently" {
	receiver 401:"who are you" text 400:"bad data" partial:2:"too many" partial:0:"soon deprecated" long
	run_arcprof fleet push --otlp "$url" --spool spool --retry 0 "$MIXED" "$JAVA"
	[ "$status" -eq 1 ]
	[ "$(nr_received)" -eq 1 ]
	[[ $stderr == *"401 who are you"* ]]
	[[ $stderr == *"2 recordings stay"* ]]
	run_arcprof fleet push --otlp "$url" --spool spool --retry 0
	[ "$status" -eq 1 ]
	[[ $stderr == *"not that of a receiver"* ]]
	[[ $stderr == */v1development/profiles* ]]
	# the first is refused for good; of the second some is rejected
	run_arcprof fleet push --otlp "$url" --spool spool --retry 0
	[ "$status" -eq 1 ]
	[[ $stderr == *"400 bad data"* ]]
	[[ $stderr == *"is not sent again"* ]]
	[[ $stderr == *"rejected 2 profiles: too many"* ]]
	[ "$(find spool -type f)" = "$(find spool -name '*.otlp.refused')" ]
	[ -n "$(ls spool)" ]
	run_arcprof fleet push --otlp "$url" --spool spool --retry 0 "$CALLS"
	[ "$status" -eq 0 ]
	[[ $stderr == *"says: soon deprecated"* ]]
	# it may have taken what it answers at such length
	run_arcprof fleet push --otlp "$url" --spool spool --retry 0 "$CALLS"
	[ "$status" -eq 1 ]
	[[ $stderr == *"the answer is longer than 4 MiB"* ]]
	[ "$(nr_received)" -eq 6 ]
	[ -z "$(find spool -name '*.gz')" ]
}

@test "fleet push --otlp: labels are resource attributes, and a recording has the same ids each time" {
	skip_unless_command protoc
	skip_unless_perf
	receiver hang ok
	arcprof record -q --label service=shop,version=1.2,tenant=a,host.name=edge -o a.data -- perl -e '1 for 1 .. 2e6'
	arcprof fleet push -q --otlp "$url" --spool spool a.data
	"$TOP/t/fleet/otlp" show got/1.pb >one
	"$TOP/t/fleet/otlp" show got/2.pb | diff one -
	[ "$(jq -c '[."service.name", ."service.version", .tenant, ."host.name"]' one)" = '["shop","1.2","a","edge"]' ]
	[[ $(jq -r .id one) =~ ^[0-9a-f]{16}0{15}1$ ]]
}

@test "fleet: a password in a URL is in no list of processes, and reaches the server" {
	local child
	receiver wait
	"$ARCPROF" fleet push --otlp "${url/\/\////me:s3cret@}v1development/profiles?password=s3same" --spool spool "$MIXED" 3>&- 2>said &
	for _ in {1..400}; do
		[ -e got/1.pb ] && break
		sleep 0.05
	done
	child=$(pgrep -P $!)
	[ "$(tr '\0' ' ' <"/proc/$child/cmdline" | cut -d ' ' -f 1)" = curl ]
	[ "$(grep -cE 's3cret|s3same' -a "/proc/$!/cmdline" "/proc/$child/cmdline" | tr '\n' ' ')" = "/proc/$!/cmdline:0 /proc/$child/cmdline:0 " ]
	touch got/go
	wait $!
	[ "$(jq -r .Authorization got/1.json)" = "Basic $(printf me:s3cret | base64)" ]
	[ "$(jq -r .Path got/1.json)" = "/v1development/profiles?password=s3same" ]
}
