#!/usr/bin/env bats
# Code that runtimes make: its names, lines and callers.
load ../lib

# Share of the time of the last recording in a function, in percent. Samples have different weights.
share_of() {
	json "([.rows[] | select(.name == \"$1\") | .base[0]] | add // 0) * 100 / .metrics[0].total | floor" .report--xprof
}

# Each of the three functions that "named" makes has a third of the time. The list is read some time after it
# has changed: of 600 ms up to 100 have the name of what comes next.
check_thirds() {
	local name
	for name in "first one" second third; do
		echo "$name: $(share_of "$name") %"
		within "$(share_of "$name")" 33 "${1-25}"
	done
}

@test "jit: a list of names is read while it grows, and names are of an address at a time" {
	skip_unless_perf
	record -F 1999 -- "$(workload named)" map 600
	[ "$status" -eq 0 ]
	[ ! -e "$output" ]
	check_thirds
}

@test "jit: when a list is rewritten each name is kept" {
	skip_unless_perf
	record -F 1999 -- "$(workload named)" rewrite 600
	[ "$status" -eq 0 ]
	rm -f "$output"
	check_thirds
}

@test "jit: a list that is written at the end is read then" {
	skip_unless_perf
	record -- "$(workload named)" late 300
	[ "$status" -eq 0 ]
	rm -f "$output"
	within "$(share_of third)" 33 15
	# which of two was at one place cannot be known
	within "$(($(share_of "first one") + $(share_of second)))" 66 15
}

@test "jit: the list of a process in namespaces of its own is found by the number it has there" {
	skip_unless_perf
	unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces can be made here"
	record -- unshare --mount --pid --fork --mount-proc sh -c \
		"mount -t tmpfs none /tmp && '$(workload named)' rewrite 700 && echo ended"
	[ "$status" -eq 0 ]
	[ "$(tail -n 1 <<<"$output")" = ended ]
	check_thirds
}

@test "jit: each file of a recording in several has the names of its samples, each once" {
	skip_unless_perf
	arcprof record -q --segment 500ms -o parts/ -- "$(workload named)" map 600
	local file
	for file in parts/*; do
		arcprof report --format json --xprof -i "$file" >report
		jq -r '.rows[] | "\(.n) \(.name)"' report
		[ "$(jq '[.rows[] | select(.name | startswith("[unknown in anonymous")) | .n] | add // 0' report)" -eq 0 ]
		arcprof dump -i "$file" | grep -c 'stub.*second' || true
	done
}

@test "jit: a dump has names by address and time, lines, and code that moves" {
	skip_unless_perf
	local how
	for how in dump dump-late; do
		record -F 1999 -- "$(workload named)" "$how" 350
		[ "$status" -eq 0 ]
		rm "$output"
		check_thirds
		arcprof report --xprof --lines --format json -i trace >lines
		jq -r '.rows[] | "\(.n) \(.name) \(.detail)"' lines
		[ "$(jq '[.rows[] | select(.name == "second" and (.detail | test("^one.src:1[01]$"))) | .n] | add' lines)" -gt 50 ]
		[ "$(jq '[.rows[] | select(.name == "third" and (.detail | test("^(one.src:10|two.src:7)$"))) | .n] | add' lines)" -gt 50 ]
	done
}

@test "jit: the rules of a dump lead through code that has no frame pointer" {
	skip_unless_perf
	[ "$(uname -m)" = x86_64 ] || skip "x86-64 only"
	record -- "$(workload jitted)" 700 described
	[ "$status" -eq 0 ]
	rm jit-*.dump
	[[ $stderr == *" 100.0 % complete stacks"* ]]
	# each of the three functions, but for the first samples, which come before the rules
	[ "$(json '[.. | objects | select(.name? == "made").rl] | max' .report--xtree)" -eq 3 ]
	local searched
	searched=$(json '[.. | objects | select(.name? == "[by search of the stack]").cum] | flatten | add // 0' .report--xtree)
	echo "searched: $searched ns of 700 ms"
	[ "${searched%.*}" -lt 350000000 ]
}

@test "jit: a list that is a link is not read" {
	skip_unless_perf
	record -- "$(workload named)" link 200
	[ "$status" -eq 0 ]
	rm "$output"
	[ -s named.map ]
	[ "$(share_of "first one")" -eq 0 ]
}

@test "jit: node's dump has names and lines" {
	skip_unless_perf
	skip_unless_command node
	printf '%s\n' 'function fib(n) { return n < 2 ? n :' '	fib(n - 1) + fib(n - 2) }' 'let x = 0' \
		'const end = Date.now() + 800' 'while (Date.now() < end)' '	x += fib(20)' >fib.js
	record -- node --perf-prof fib.js
	[ "$status" -eq 0 ]
	[[ $stderr != *"hint: code in anonymous memory"* ]]
	json '.rows[] | select(.name | test("fib.js|unknown in anon")) | "\(.n) \(.name)"' .report--xprof
	[ "$(json '[.rows[] | select(.name | test("fib .*fib.js:1")) | .n] | add // 0' .report--xprof)" -gt 50 ]
	[ "$(json '[.rows[] | select(.name | test("unknown in anon")) | .n] | add // 0' .report--xprof)" -lt 10 ]
	arcprof report --xprof --lines --format json -i trace >lines
	jq -r '.rows[] | select(.name | test("fib.js")) | "\(.n) \(.name) \(.detail)"' lines
	# the recursion is in the second line, and the function ends there
	[ "$(jq '[.rows[] | select((.name | test("fib .*fib.js")) and ((.detail // "") | test("fib.js:[12]$"))) | .n] | add // 0' lines)" -gt 50 ]
	[ "$(jq '[.rows[] | select((.name | test("fib .*fib.js")) and ((.detail // "") | test("fib.js:[3-9]$"))) | .n] | add // 0' lines)" -eq 0 ]
}

@test "jit: functions of Python have names and callers, or a hint says how" {
	skip_unless_perf
	python3 -c 'import sys; sys.exit(sys.version_info < (3, 12))' || skip "python3 is older than 3.12"
	cat >fib.py <<-'END'
		import time
		def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
		def asks():
		    end = time.process_time() + 1
		    while time.process_time() < end: fib(15)
		asks()
	END
	record -- python3 fib.py
	[[ $stderr == *"hint: functions of the interpreted program have names with: python3 -X perf"* ]]
	record -- python3 -X perf fib.py
	[ "$status" -eq 0 ]
	[[ $stderr != *"hint: functions"* ]]
	[ "$(($(json .quality.complete_stacks .report--xprof) * 100))" -ge "$(($(samples) * 99))" ]
	[ "$(json '[.rows[] | select(.name | startswith("py::fib:")) | .cum] | flatten | add // 0 | floor' .report--xprof)" -gt 0 ]
}
