#!/usr/bin/env bats
# Examples in the manual of record and report: each group of options, or of reports, has some, and they run.
load ../lib
load ../java

# The headings of a part of a page, one per line; below each, behind a tab, the commands of its examples.
examples() {	# <page> <title>
	awk -v title="== $2" '/^== / { on = $0 == title } !on { next }
		/^=== / { print substr($0, 5) }
		/^\$ / && !seen[$0]++ { print "\t" substr($0, 3) }' "$TOP/Documentation/arcprof-$1.adoc"
}

# A program, the same as a JAR, and one that goes on until it is killed.
make_programs() {
	printf '#!/bin/sh\ni=0\nwhile [ $i -lt 100000 ]; do i=$((i + 1)); done\n' >app
	chmod +x app
	mkdir -p com/example
	cat >com/example/App.java <<-'E'
		package com.example;

		public class App {
			static Object kept;

			static synchronized int serve(int n) {
				kept = new int[n % 100];
				return kept.hashCode();
			}

			public static void main(String[] args) throws Exception {
				long end = System.nanoTime() + (args.length > 0 ? 60_000_000_000L : 150_000_000L);
				for (int i = 0; System.nanoTime() < end; i++)
					if (serve(i) == 0 || args.length > 0)
						Thread.sleep(1);
			}
		}
	E
	compile_java com/example/App.java
	"$JAVA_HOME/bin/jar" cfe app.jar com.example.App com/example/App.class
	java -cp app.jar com.example.App on &
	pid=$!
}

@test "examples: those of record, for each group of its options, run" {
	local line group="" failed=0 ran=0 command
	skip_unless_perf
	JAVA_HOME=$(jdks | head -n 1)
	[ -n "$JAVA_HOME" ] || skip "no JDK"
	PATH=$JAVA_HOME/bin:$PATH
	make_programs
	examples record OPTIONS >groups
	while IFS= read -r line; do
		if [[ $line != $'\t'* ]]; then
			[[ -z $group || $group == "Common options" ]] || { echo "no example: $group"; failed=1; }
			group=$line
			continue
		fi
		group=""
		command=${line#$'\t'}
		if [[ $command == sudo* ]]; then
			[ "$(id -u)" -eq 0 ] || continue
			command=${command#sudo }
		fi
		# less time, and no other program is changed
		command=$(sed -E "s/\b4711\b/$pid/; s/-d [0-9]+s/-d 0.3s/; s/-D 5s/-D 0.1s/; s/ -a / -a --no-java /" <<<"$command")
		[[ $command != *"-p $pid"* || $command == *" -d "* ]] || command+=" -d 0.5s"
		status=0
		eval "$command" >out 2>&1 </dev/null || status=$?
		# 143: the program was still running, and got a SIGTERM
		[[ $status -eq 0 || $status -eq 143 && $command == *" -d "* ]] ||
			{ echo "status $status: $command"; cat out; failed=1; }
		ran=$((ran + 1))
	done <groups
	kill "$pid"
	wait "$pid" || true
	[ "$failed" -eq 0 ]
	[ "$ran" -ge 12 ]
	[ -n "$(ls traces/)" ]
	# the last one of --live-gc was kept: its reports
	arcprof record -q -e live,lifetime --live-gc -o live.data -- java -jar app.jar
	arcprof report -i live.data --leaks
	arcprof report -i live.data --lifetimes
}

# bats test_tags=stored
@test "examples: those of report, for each group of reports, run on a trace" {
	local line group="" command trace
	examples report REPORTS >groups
	while IFS= read -r line; do
		if [[ $line != $'\t'* ]]; then
			[[ -z $group || $group == "Names, units and sources" ]] || { echo "no example: $group"; return 1; }
			group=$line title=$line
			continue
		fi
		group=""
		command=${line#$'\t'}
		[[ $command == 'arcprof report '* ]] || continue
		case "$title $command" in
		*leaks* | *lifetimes*) continue ;;	# above
		*page-faults*) continue ;;		# of the line before it
		"Exact calls"* | *--threads*) trace=events ;;
		"Instruction traces"*) trace=branches ;;
		"Where the time goes"*) trace=java ;;
		*) trace=facts ;;
		esac
		command=${command//com.example.App.serve/Seed.fib}
		echo "+ $command"
		eval "${command/report/report -i $TOP/t/data/$trace/trace}" >out
		[ -s out ]
	done <groups
	[ "$(grep -c $'^\t' groups)" -ge 20 ]
}
