#!/usr/bin/env bats
# bats file_tags=stored
# "fleet push --listen": what programs and collectors send over HTTP is in the spool, once, or refused.
load ../lib

# receive [<option>]...: starts it; its address in $at, and what it says in receive.err.
receive() {
	skip_unless_command curl
	skip_unless_command python3
	"$ARCPROF" fleet push "${url:-http://127.0.0.1:1/}" --listen 127.0.0.1:0 --spool spool --retry 0 "$@" 2>receive.err 3>&- &
	echo $! >receive.pid
	until at=$(grep -o 'http://127.0.0.1:[0-9]*/$' receive.err); do
		kill -0 "$(cat receive.pid)" || { cat receive.err; return 1; }
		sleep 0.02
	done
}

teardown() {
	local file
	for file in receive.pid house.pid; do
		[ -e $file ] || continue
		kill "$(cat $file)" 2>/dev/null || true
		wait "$(cat $file)" 2>/dev/null || true
	done
	cat receive.err
}

# send <path> <file> [<option>]...: posts it; prints the status and the answer.
send() {
	curl -sS -o answer -w '%{http_code} ' --data-binary "@$2" "${at%/}$1" "${@:3}"
	tr -d '\0' <answer
}

# What is in the spool: host, process, labels, metric and the base of what was in a function, of each.
kept() {
	zcat spool/*.tables.gz | awk -F'\t' -v OFS='\t' 'NF == 23 && $22 > 0 { print $5, $6, $8, $12, $22 }' | LC_ALL=C sort
}

nr_kept() {
	find spool -name '*.tables.gz' | wc -l
}

# otlp <file> <resource>...: a request that begins now.
otlp() {
	python3 "$TOP/t/data/import/make-otlp.py" "$1" "$(date +%s)000000000" "${@:2}"
}

@test "fleet push --listen: a request of OpenTelemetry is kept, with labels of its resources, and once" {
	receive
	otlp p.otlp 'service.name=shop;service.version=1.2;host.name=n1;k8s.pod.name=a' 'service.name=pay;host.name=n1'
	type='Content-Type: application/x-protobuf'
	[ "$(send /v1development/profiles p.otlp -H "$type")" = "200 " ]
	printf '%s\t%s\t%s\tcpu\t1000\n' n1 pay host.name=n1,service=pay n1 shop host.name=n1,k8s.pod.name=a,service=shop,version=1.2 >want
	kept | diff want -
	# compressed, in chunks, and what does not know whether it was taken: all of them are that one
	gzip -c p.otlp >p.otlp.gz
	[ "$(send /v1development/profiles p.otlp.gz -H "$type" -H 'Content-Encoding: gzip')" = "200 " ]
	[ "$(send /v1development/profiles p.otlp -H "$type" -H 'Transfer-Encoding: chunked')" = "200 " ]
	[ "$(send /v1development/profiles p.otlp -H "$type" -H 'Expect: 100-continue')" = "200 " ]
	[ "$(nr_kept)" -eq 1 ]
	# nothing to keep is no error; JSON gets JSON
	: >empty
	[ "$(send /v1development/profiles empty -H "$type")" = "200 " ]
	arcprof report -q --import p.otlp --format otlp-json -o p.json
	[ "$(send /v1development/profiles p.json -H 'Content-Type: application/json')" = "200 {}" ]
	[ "$(nr_kept)" -eq 2 ]
}

@test "fleet push --listen: profiles for Pyroscope are kept, sent raw, in a form or as a message" {
	local now form="multipart/form-data; boundary=B"
	receive
	now=$(date +%s)
	python3 "$TOP/t/data/import/make-pprof.py" p.pb.gz cpu
	[ "$(send "/ingest?name=go-shop%7Bversion%3D1.2%2Cpod%3Da%2C__session_id__%3D7%7D&from=$now&format=pprof" p.pb.gz)" = "200 " ]
	kept >got
	printf '\tgo-shop\tpod=a,service=go-shop,version=1.2\tcpu\t5000\n' | diff - got
	rm spool/*.gz
	{
		printf -- '--B\r\nContent-Disposition: form-data; name="sample_type_config"\r\n\r\n{}\r\n'
		printf -- '--B\r\nContent-Disposition: form-data; name="profile"; filename="profile"\r\nContent-Type: a/b\r\n\r\n'
		cat p.pb.gz
		printf '\r\n--B--\r\n'
	} >form
	[ "$(send "/ingest?name=node&from=${now}000" form -H "Content-Type: $form")" = "200 " ]
	[ "$(kept | cut -f 2,3,5)" = $'node\tservice=node\t5000' ]
	rm spool/*.gz
	python3 - p.pb.gz >message <<-'P'
		import gzip, sys, time
		def varint(n):
		    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])
		def field(number, data):
		    return varint(number << 3 | 2) + varint(len(data)) + data
		profile = gzip.open(sys.argv[1]).read() + varint(9 << 3) + varint(time.time_ns())
		labels = {"service_name": "py", "__name__": "process_cpu", "zone": "eu"}
		pairs = b"".join(field(1, field(1, k.encode()) + field(2, v.encode())) for k, v in labels.items())
		sys.stdout.buffer.write(field(1, pairs + field(2, field(1, profile) + field(2, b"id"))))
	P
	[ "$(send /push.v1.PusherService/Push message -H 'Content-Type: application/proto')" = "200 " ]
	[ "$(kept | cut -f 2,3,5)" = $'py\tservice=py,zone=eu\t5000' ]
	rm spool/*.gz
	# a recording of Flight Recorder, and stacks as text
	arcprof report -q -i "$TOP/t/data/mixed/trace" --format jfr -o p.jfr
	run send "/ingest?name=java&format=jfr" p.jfr
	[ "$output" = "200 " ] || [[ $output == "400 "*"a year ago"* ]]
	printf 'main;f 9\n' >p.folded
	[ "$(send "/ingest?name=text&from=$now&format=folded" p.folded)" = "200 " ]
	[[ $(kept) == *$'\ttext\tservice=text\t'*$'\t9'* ]]
}

@test "fleet push --listen: a profiler written in Python sends what a program does" {
	receive
	cat >service.py <<-'P'
		import collections, sys, threading, time, urllib.request
		stop, stacks = threading.Event(), collections.Counter()
		def busy():
		    while not stop.is_set():
		        sum(range(1000))
		def sample():
		    while not stop.is_set():
		        frame, names = sys._current_frames()[worker.ident], []
		        while frame:
		            names.insert(0, frame.f_code.co_name)
		            frame = frame.f_back
		        stacks[";".join(names)] += 1
		        time.sleep(0.005)
		worker = threading.Thread(target=busy)
		began = int(time.time())
		worker.start()
		sampler = threading.Thread(target=sample)
		sampler.start()
		time.sleep(0.3)
		stop.set()
		sampler.join()
		text = "".join(f"{s} {n}\n" for s, n in stacks.items())
		with urllib.request.urlopen(f"{sys.argv[1]}ingest?name=py-shop&from={began}&format=folded", text.encode()) as a:
		    print(a.status, sum(stacks.values()))
	P
	read -r status n < <(python3 service.py "$at")
	[ "$status" -eq 200 ]
	[ "$(kept | awk -F'\t' '{ s += $5 } END { print s }')" -eq "$n" ]
	zcat spool/*.tables.gz | awk -F'\t' 'NF == 5' | grep -q 'busy'
}

@test "fleet push --listen: a request that is not a profile is refused in one line, and nothing is kept" {
	local n=0
	receive --max-request 64k
	refused() {	# <status> <text> <path> <file> [<option>]...
		run send "${@:3}"
		[[ $output == "$1 "*"$2"* ]] || { echo "$output"; return 1; }
		n=$((n + 1))
		[ "$(grep -c ' 127.0.0.1:[0-9]*: [45]' receive.err)" -eq "$n" ]
	}
	head -c 3000 /dev/urandom >noise
	python3 "$TOP/t/data/import/make-pprof.py" p.pb.gz cpu
	zcat p.pb.gz >p.pb
	head -c 60 p.pb >cut.pb
	head -c 60 p.pb.gz >cut.pb.gz
	otlp p.otlp service.name=x
	refused 400 "" /ingest?name=a noise
	refused 400 "" "/ingest?name=a&from=$(date +%s)" cut.pb
	refused 400 "" "/ingest?name=a&from=$(date +%s)" cut.pb.gz
	refused 400 "the parameter name is missing" /ingest p.pb.gz
	refused 400 "has no '}'" '/ingest?name=a%7Bb=c' p.pb.gz
	refused 400 "not a number" /ingest?name=a p.pb.gz -H 'Content-Length: x'
	refused 400 "does not say when it began" /ingest?name=a p.pb.gz
	refused 400 "more than a year ago" '/ingest?name=a&from=1000000000' p.pb.gz
	refused 400 "more than a day from now" "/ingest?name=a&from=$(($(date +%s) + 200000))" p.pb.gz
	refused 400 "not a number of seconds" "/ingest?name=a&from=yesterday" p.pb.gz
	refused 400 "the form has no boundary" /ingest?name=a p.pb -H 'Content-Type: multipart/form-data'
	printf -- '--B\r\nContent-Disposition: form-data; name="prev_profile"\r\n\r\nx\r\n--B--\r\n' >form
	refused 400 "prev_profile" /ingest?name=a form -H 'Content-Type: multipart/form-data; boundary=B'
	printf -- '--B\r\nContent-Disposition: form-data; name="profile"\r\n\r\nx' >form
	refused 400 "truncated" /ingest?name=a form -H 'Content-Type: multipart/form-data; boundary=B'
	refused 400 "not one of OTLP" /v1development/profiles p.pb.gz
	refused 400 "not compressed by gzip" /v1development/profiles p.otlp -H 'Content-Encoding: gzip'
	refused 415 "other than gzip" /v1development/profiles p.otlp -H 'Content-Encoding: br'
	refused 415 "protobuf" /push.v1.PusherService/Push p.otlp -H 'Content-Type: application/json'
	refused 400 "damaged" /push.v1.PusherService/Push noise -H 'Content-Type: application/proto'
	refused 403 "browser" /v1development/profiles p.otlp -H 'Origin: http://a.example'
	refused 404 "nothing takes profiles at /other" /other?name=a p.pb.gz
	refused 405 "POST" /v1development/profiles p.otlp -X PUT
	head -c 70000 /dev/zero >large
	refused 413 "--max-request" /ingest?name=a large
	refused 413 "more than 65536 bytes" /ingest?name=a large -H 'Transfer-Encoding: chunked'
	gzip -c large >large.gz
	refused 413 "--max-request" /v1development/profiles large.gz -H 'Content-Encoding: gzip'
	# a status is a message where messages are spoken
	refused 400 "" /v1development/profiles noise -H 'Content-Type: application/x-protobuf'
	[ "$(head -c 1 answer | od -An -tx1)" = " 12" ]
	[ "$(nr_kept)" -eq 0 ]
	otlp p.otlp service.name=x
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
}

@test "fleet push --listen: a spool that is full asks to come again" {
	receive --spool-size 1
	otlp p.otlp service.name=x
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
	otlp q.otlp service.name=y
	run send /v1development/profiles q.otlp -D headers
	[[ $output == "503 spool is full (--spool-size)"* ]]
	grep -q '^Retry-After: 30' headers
	[ "$(nr_kept)" -eq 1 ]
}

@test "fleet push --listen: a port alone is one of this machine, which it says" {
	local port
	receive --listen 0
	port=${at##*:}
	grep -qi "0100007F:$(printf %04X "${port%/}") 00000000:0000 0A " /proc/net/tcp
}

@test "fleet push --listen: a token is required if there is one, and other machines need one" {
	echo 's3cret' >token
	receive --token-file token
	otlp p.otlp service.name=x
	[[ $(send /v1development/profiles p.otlp -D headers) == "401 "* ]]
	grep -q '^WWW-Authenticate: Bearer' headers
	[[ $(send /v1development/profiles p.otlp -H 'Authorization: Bearer s3cres') == "401 "* ]]
	[[ $(send /v1development/profiles p.otlp -H 'Authorization: Bearer s3cret2') == "401 "* ]]
	[ "$(nr_kept)" -eq 0 ]
	[ "$(send /v1development/profiles p.otlp -H 'Authorization: Bearer s3cret')" = "200 " ]
	printf 'two words\n' >bad
	for of in "0.0.0.0:0" "[::]:0" "localhost:0" "127.0.0.1:" "1:2:3" "127.0.0.1:70000" "0 --token-file bad"; do
		# shellcheck disable=SC2086
		run_arcprof fleet push http://127.0.0.1:1/ --spool other --listen $of
		[ "$status" -eq 2 ] || { echo "$of: $status $stderr"; return 1; }
	done
	[[ $stderr == *"bad: not a token"* ]]
	run_arcprof fleet push http://127.0.0.1:1/ --spool other --listen 0 --token-file none
	[ "$status" -eq 1 ]
}

@test "fleet push --listen: one that is slow, or ends its process, is alone with that" {
	local child server
	receive
	otlp p.otlp service.name=x
	python3 - "$at" <<-'P' >slow &
		import socket, sys, urllib.parse
		to = urllib.parse.urlparse(sys.argv[1])
		with socket.create_connection((to.hostname, to.port)) as s:
		    s.sendall(b"POST /v1development/profiles HTTP/1.1\r\nContent-Length: 100\r\n\r\nx")
		    print(s.recv(1000).split(b"\r\n")[0].decode())
	P
	server=$(pgrep -P "$(cat receive.pid)")
	until child=$(pgrep -P "$server"); do sleep 0.02; done
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
	kill -SEGV "$child"
	wait $!
	[ "$(cat slow)" = "HTTP/1.1 500 Internal Server Error" ]
	grep -q ': 500 the profile ended its process: Segmentation fault$' receive.err
	otlp p.otlp service.name=y
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
	# the process that listens ends with the other one
	kill -KILL "$(cat receive.pid)"
	while kill -0 "$server" 2>/dev/null; do sleep 0.02; done
	[ "$(nr_kept)" -eq 2 ]
}

# attack <name>: has t/fleet/evil do that, and checks that a profile is still taken; prints the statuses it got.
attack() {
	local before
	before=$(nr_kept)
	python3 "$TOP/t/fleet/evil" "$at" "$1" >answers || { cat answers; return 1; }
	otlp p.otlp "service.name=$1"
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
	[ "$(nr_kept)" -eq $((before + 1)) ]
	grep -oE '^HTTP/1.1 [0-9]+|^no answer' answers | cut -d ' ' -f 2 | xargs
}

@test "fleet push --listen: a head that comes byte by byte has a time in which it must be complete" {
	receive
	[ "$(attack slow)" = 408 ]
	grep -q ': 408 the request did not come in time$' receive.err
}

@test "fleet push --listen: headers without end are not read to their end" {
	receive
	[ "$(attack headers)" = "400 400" ]
	[ "$(grep -c 'the head of the request has more than 16384 bytes' receive.err)" -eq 2 ]
}

@test "fleet push --listen: a Content-Length that is wrong, or there twice, is refused" {
	receive
	[ "$(attack lengths)" = "400 400 400 400 400 400 400 400 413" ]
	[ "$(grep -c 'the Content-Length is not a number' receive.err)" -eq 7 ]
	grep -q ': 400 the request is truncated$' receive.err
}

@test "fleet push --listen: chunks that are none, or have no end, are refused" {
	receive --max-request 1M
	[ "$(attack chunks)" = "400 400 400 400 413 413 400 400" ]
	[ "$(grep -c 'the body is not made of chunks' receive.err)" -eq 4 ]
}

@test "fleet push --listen: a gigabyte in a megabyte of gzip is not unpacked" {
	receive
	[ "$(attack bombs)" = "413 413 413" ]
	[ "$(grep -c ': 413 .* decompress to more than' receive.err)" -eq 2 ]
}

@test "fleet push --listen: of 1000 connections at once 32 have a process, and then others have their turn" {
	local server nr
	receive
	server=$(pgrep -P "$(cat receive.pid)")
	mkfifo hold
	python3 "$TOP/t/fleet/evil" "$at" crowd <hold >crowd.out &
	exec 4>hold
	until [ -s crowd.out ] && nr=$(pgrep -cP "$server") && [ "$nr" -ge 32 ]; do sleep 0.02; done
	[ "$nr" -eq 32 ]
	exec 4>&-
	wait $!
	otlp p.otlp service.name=x
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
	[ "$(nr_kept)" -eq 1 ]
}

@test "fleet push --listen: all that was taken is at the server once, also if everything is killed meanwhile" {
	local i n=0
	skip_unless_command python3
	"$TOP/t/fleet/house" . 2>house.err 3>&- &
	echo $! >house.pid
	until [ -e url ]; do sleep 0.02; done
	url="$(cat url)?database=plain"
	receive --every 100ms
	for ((i = 0; i < 40; i++)); do
		otlp "$i.otlp" "service.name=s$i"
		if [ "$i" -eq 20 ]; then
			kill -KILL "$(cat receive.pid)"
			wait "$(cat receive.pid)" 2>/dev/null || true
			receive --every 100ms
		fi
		[ "$(send /v1development/profiles $i.otlp)" = "200 " ]
	done
	# what was not sure whether it arrived
	for ((i = 15; i < 25; i++)); do
		[ "$(send /v1development/profiles $i.otlp)" = "200 " ]
	done
	while [ "$(nr_kept)" -gt 0 ]; do sleep 0.05; done
	curl -sS "$url" >stored.txt
	[ "$(grep -cE '^[-0-9]+ [0-9]+$' stored.txt)" -eq 40 ]
	[ "$(grep -E '^[-0-9]+ [0-9]+$' stored.txt | cut -d ' ' -f 2 | sort -u)" = 2 ]
}

@test "fleet push --listen --otlp: what is taken is passed on to a receiver of OpenTelemetry" {
	receive --otlp
	otlp p.otlp 'service.name=shop;service.version=1.2' 'service.name=pay'
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
	[ "$(send /v1development/profiles p.otlp)" = "200 " ]
	[ "$(find spool -name '*.otlp.gz' | wc -l)" -eq 1 ]
	zcat spool/*.otlp.gz >passed.otlp
	arcprof export -q --table want p.otlp
	arcprof export -q --table got passed.otlp
	for of in want got; do
		zcat $of/nodes.tsv.gz | cut -f 3,4,6,8,12,22 | sort >$of.rows
	done
	diff want.rows got.rows
}
