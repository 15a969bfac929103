#!/usr/bin/env bats
# The tutorial's commands, run as they are, find what it says they find.
load ../lib
load ../java

# said <command>: what the tutorial's command that begins so has printed.
said() {
	awk -v begin="+ $1" 'index($0, "+ ") == 1 { on = index($0, begin) == 1; next } on' all
}

@test "tutorial: each question is answered" {
	skip_unless_perf
	use_any_jdk
	mkdir -p Documentation bin
	ln -s "$TOP/Documentation/examples" Documentation/
	ln -s "$ARCPROF" bin/arcprof
	grep -P '^\t' "$TOP/Documentation/howto/five-questions-to-a-server.adoc" | sed 's/^\t//' >steps
	# each command is printed before it runs
	PATH=$PWD/bin:$PATH bash -e -c 'while read -r step <&3; do echo "+ $step"; eval "$step" 2>>errors; done 3<steps; wait' >all ||
		{ cat all errors; return 1; }
	cat all
	said 'arcprof report --summary orders.data' | grep -q 'Orders\.price$'
	said 'arcprof report --summary orders.data' | grep -q '^ *held in Orders\.reserve$'
	said 'arcprof report --summary orders.data' | grep -q ' Orders\.remember  *byte\[\]$'
	said 'arcprof report --xprof --lines' | grep -q 'Orders\.price (Orders\.java:2[0-9])$'
	said 'arcprof report --xarc' | grep -q 'Self .*Orders\.price$'
	said 'arcprof report --locks' | grep -q 'orders-[123] .*java\.util\.HashMap@'
	said 'arcprof report --blame' | grep -q 'Orders\.reserve$'
	said 'arcprof report --leaks' | grep -q 'Orders\.remember keeps .* more of byte\[\]'
	said 'arcprof diff' | grep -qE ' new .* Orders\.discount( |$)'
	said 'arcprof report --summary production.data' | grep -q 'Orders\.price$'
}
