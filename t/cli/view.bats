#!/usr/bin/env bats
# The command view, and where --output writes; page.bats has the page itself.
# bats file_tags=stored
load ../lib

minimal=t/data/minimal/trace

@test "view: without a browser it prints where the page is, in a folder of the user's own" {
	export TMPDIR=$PWD XDG_RUNTIME_DIR=
	run_arcprof view --no-browser -i "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[[ $output == "$PWD"/arcprof-view-*/trace.html ]]
	grep -q '<script id="data"' "$output"
	[ "$(stat -c %a "${output%/*}")" = 700 ]
}

@test "view: the page of sudo belongs to the user who typed that" {
	skip_unless_root
	export TMPDIR=$PWD XDG_RUNTIME_DIR= SUDO_UID=12345 SUDO_GID=54321
	run_arcprof view --no-browser -i "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[ "$(stat -c '%u %g %a' "${output%/*}")" = "12345 54321 700" ]
	[ "$(stat -c '%u %g' "$output")" = "12345 54321" ]
	run_arcprof view --no-browser -o page.html "$TOP/$minimal"
	[ "$(stat -c '%u %g' page.html)" = "12345 54321" ]
}

@test "view: --output keeps the page there" {
	run_arcprof view --no-browser -o page.html "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[ "$output" = "$PWD/page.html" ]
	arcprof report --format html "$TOP/$minimal" | cmp - page.html
}

@test "view: a trace that cannot be read leaves nothing behind, and shows no older page" {
	export TMPDIR=$PWD XDG_RUNTIME_DIR=
	run_arcprof view --no-browser -i missing
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"missing: No such file or directory"* ]]
	[ -z "$(find . -name 'arcprof-view-*')" ]
	echo older >page.html
	run_arcprof view --no-browser -o page.html -i missing
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[ "$(cat page.html)" = older ]
}

@test "report: --output replaces a file when the report is complete, and only then" {
	echo older >out
	run_arcprof report -o out missing
	[ "$status" -eq 1 ]
	[ "$(cat out)" = older ]
	run_arcprof report -o out "$TOP/$minimal"
	[ "$status" -eq 0 ]
	[ -z "$output" ]
	arcprof report "$TOP/$minimal" | cmp - out
	[ -z "$(find . -name 'out.*')" ]
}

@test "report: --output writes to a pipe and a device, and does not replace them" {
	mkfifo pipe
	cat pipe >got &
	run_arcprof report -o pipe "$TOP/$minimal"
	[ "$status" -eq 0 ]
	wait
	[ -p pipe ]
	arcprof report "$TOP/$minimal" | cmp - got
	ln -s /dev/full full
	run_arcprof report -o full "$TOP/$minimal"
	[ "$status" -ne 0 ]
	[ -L full ]
	[[ $stderr == *"full: No space left on device"* ]]
}

teardown() {
	[ -z "${pid-}" ] || kill "$pid" || true
}

# asked <request line> [<header>]...: the first line of what the server at port $port answers.
asked() {
	exec 5<>"/dev/tcp/127.0.0.1/$port"
	printf '%s\r\n' "$@" '' >&5 2>/dev/null || true
	head -n 1 <&5 | tr -d '\r'
	exec 5>&-
}

@test "view: --serve gives the page to those who know the token, and works without a trace" {
	cp "$TOP/$minimal" trace
	touch -d '1 hour ago' trace
	arcprof report --format html -o page.html trace
	TMPDIR=$PWD XDG_RUNTIME_DIR='' "$ARCPROF" view --serve trace >address 3>&- &
	pid=$!
	for _ in {1..200}; do
		[ ! -s address ] || break
		sleep 0.02
	done
	address=$(<address)
	[[ $address =~ ^http://127.0.0.1:([0-9]+)(/[0-9a-f]{32}/)$ ]]
	port=${BASH_REMATCH[1]} path=${BASH_REMATCH[2]}
	exec 5<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$path" "$port" >&5
	cat <&5 >answer
	exec 5>&-
	sed '1,/^\r$/d' answer | cmp - page.html
	[[ $(head -n 1 answer) == "HTTP/1.1 200 OK"* ]]
	[ "$(grep -c '^Arcprof-Live' answer)" -eq 0 ]
	tag=$(sed -n 's/^ETag: \(.*\)\r$/\1/p' answer)
	[ "$(asked "GET $path HTTP/1.1" "Host: 127.0.0.1:$port" "If-None-Match: $tag")" = "HTTP/1.1 304 Not Modified" ]
	[ "$(asked "GET $path HTTP/1.1" "Host: 127.0.0.1:$port" 'If-None-Match: "x"')" = "HTTP/1.1 200 OK" ]
	[ "$(asked "GET / HTTP/1.1" "Host: 127.0.0.1:$port")" = "HTTP/1.1 404 Not Found" ]
	[ "$(asked "GET ${path%?}x/ HTTP/1.1" "Host: 127.0.0.1:$port")" = "HTTP/1.1 404 Not Found" ]
	[ "$(asked "GET $path HTTP/1.1" "Host: example.org:$port")" = "HTTP/1.1 403 Forbidden" ]
	[ "$(asked "GET $path HTTP/1.1")" = "HTTP/1.1 403 Forbidden" ]
	[ "$(asked "POST $path HTTP/1.1" "Host: 127.0.0.1:$port")" = "HTTP/1.1 405 Method Not Allowed" ]
	[ "$(asked "GET $path HTTP/1.1" "Host: 127.0.0.1:$port" "X: $(head -c 9000 /dev/zero | tr '\0' x)")" = "HTTP/1.1 400 Bad Request" ]
	# a trace that was written to just now is being recorded, and its page is another
	touch trace
	exec 5<>"/dev/tcp/127.0.0.1/$port"
	printf 'HEAD %s HTTP/1.1\r\nHost: localhost:%s\r\nIf-None-Match: %s\r\n\r\n' "$path" "$port" "$tag" >&5
	cat <&5 >answer
	exec 5>&-
	[[ $(head -n 1 answer) == "HTTP/1.1 200 OK"* ]]
	grep -q '^Arcprof-Live: [1-9]' answer
	kill "$pid"
	wait "$pid"
	pid=
	[ -z "$(find . -name 'arcprof-view-*')" ]
	run_arcprof view --port 8080 trace
	[[ $status -eq 2 && $stderr == *"--port is only valid with --serve"* ]]
	run_arcprof view --serve --port 70000 trace
	[[ $status -eq 2 && $stderr == *"--port: 70000 is no port"* ]]
}
