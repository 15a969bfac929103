#!/usr/bin/env bats
load ../lib
load ../java

# keys <step>... -- <command>...: the command on a terminal of 24 lines by 100.  A step is a time in
# seconds to wait, or "shown" for its first screen, and, after a colon, what is typed then, or !NAME
# for a signal.  Its output goes to the file screen, its end to the file end: how it ended, and
# whether the terminal is as it was.
keys() {
	python3 - "$@" <<-'END'
		import fcntl, os, pty, select, signal, struct, sys, termios, time
		cut = sys.argv.index("--")
		steps, command = sys.argv[1:cut], sys.argv[cut + 1:]
		master, slave = pty.openpty()
		fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("4H", 24, 100, 0, 0))
		before = termios.tcgetattr(slave)
		pid = os.fork()
		if pid == 0:
		    os.setsid()
		    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
		    for fd in 0, 1, 2:
		        os.dup2(slave, fd)
		    os.closerange(3, 64)
		    os.execv(command[0], command)
		out = open("screen", "wb")
		def take(seconds):
		    end = time.time() + seconds
		    while select.select([master], [], [], max(0, end - time.time()))[0]:
		        out.write(os.read(master, 65536))
		for step in steps:
		    wait, _, what = step.partition(":")
		    if wait == "shown":
		        for _ in range(200):
		            take(0.05)
		            out.flush()
		            if b"FUNCTION" in open("screen", "rb").read():
		                break
		    else:
		        take(float(wait))
		    if what.startswith("!"):
		        os.kill(pid, getattr(signal, what[1:]))
		    else:
		        os.write(master, what.encode())
		for _ in range(100):
		    take(0.1)
		    done, status = os.waitpid(pid, os.WNOHANG)
		    if done:
		        break
		else:
		    os.kill(pid, signal.SIGKILL)
		    status = "hangs"
		take(0.1)
		out.close()
		same = termios.tcgetattr(slave) == before
		open("end", "w").write(f"{status if status == 'hangs' else os.waitstatus_to_exitcode(status)} {same}")
	END
	tr -d '\r' <screen >plain
	echo "end: $(cat end)"
}

# start <command>...: it runs, as process $p, until the end of the test.
start() {
	"$@" >/dev/null 2>&1 3>&- &
	p=$!
	sleep 1
}

teardown() {
	[ -z "${p-}" ] || kill "$p" 2>/dev/null || true
}

left_alone() {	# the terminal shows what it showed before
	[[ $(cat end) == "$1 True" ]] && [ "$(grep -ac $'\033\\[?1049h' screen)" -ge 1 ] &&
		[[ $(tail -c 200 screen) == *$'\033[?25h\033[?1049l'* ]]
}

# Of the screen in $output: share, in percent, of the row of that name in a column: 1 self, 2 total.
share_of() {
	awk -v name="$1" -v c="$2" '$4 == name { sub("%", "", $c); print $c; exit }' <<<"$output"
}

@test "top: one screen as text has functions, process, CPU time and memory" {
	skip_unless_perf
	run_arcprof top -n 1 -- "$(workload shares)" 20
	[ "$status" -eq 0 ]
	[[ ${lines[0]-$output} != *$'\033'* ]]
	grep -qE '^arcprof top: .*shares 20; [0-9.]+ s, [0-9]+ samples of (cpu-clock|cycles), 0 lost$' <<<"$output"
	grep -qE '^ +PID +SHARE +CPU% +RSS +HEAP +PROCESS$' <<<"$output"
	grep -qE '^ *[0-9]+ 100\.0% ' <<<"$output"
	grep -qE '^ +SELF +TOTAL +N +FUNCTION$' <<<"$output"
	grep -qE '^ *[0-9.]+% +[0-9.]+% +[0-9]+  sixteen  shares' <<<"$output"
}

@test "top: -n says how many screens, and the program is asked to end" {
	skip_unless_perf
	run_arcprof top -n 3 -I 0.2 -- "$(workload shares)" 1000000
	[ "$status" -eq 143 ]
	[ "$(grep -c '^arcprof top: ' <<<"$output")" -eq 3 ]
}

@test "top: folds, sorts, filters and limits as asked" {
	skip_unless_perf
	w=$(workload shares)
	run_arcprof top -n 1 --fold module --limit 1 -- "$w" 20
	grep -q '^ *SELF *TOTAL *N  MODULE$' <<<"$output"
	[ "$(sed '1,/SELF/d' <<<"$output" | wc -l)" -eq 1 ]
	run_arcprof top -n 1 --fold thread -- "$w" 20
	grep -qE '^100\.00% 100\.00% .*\[tid [0-9]+\]$' <<<"$output"
	run_arcprof top -n 1 --fold process -- "$w" 20
	grep -qE '^100\.00% 100\.00% .*\[pid [0-9]+\]$' <<<"$output"
	run_arcprof top -n 1 --filter SIXTEEN -- "$w" 20
	[ "$(sed '1,/SELF/d' <<<"$output" | awk '{ print $4 }')" = sixteen ]
	run_arcprof top -n 1 --sort total -- "$w" 20
	sed '1,/SELF/d' <<<"$output" | awk '{ sub("%", "", $2); if (NR > 1 && $2 + 0 > last) exit 1; last = $2 + 0 }'
}

@test "top: invalid options are a usage error" {
	for o in "-I 0.01" "-I x" "--sort up" "--fold all"; do
		# shellcheck disable=SC2086
		run_arcprof top $o -- true
		[ "$status" -eq 2 ]
	done
	run_arcprof top -p 1 -a
	[ "$status" -eq 2 ]
	run_arcprof top -n 1 -- ./nowhere
	[ "$status" -eq 127 ]
}

@test "top: on a terminal keys fold, sort, filter and freeze, and q restores it" {
	skip_unless_perf
	skip_unless_terminal
	keys shown:2 0.5:t 0.5:1 0.5:/SIXTEEN 0.5:$'\r' 0.7:" " 0.5:h 0.5:x 0.5:q -- \
		"$ARCPROF" top -I 0.3 -- "$(workload shares)" 1000000
	left_alone 143
	grep -aq 'N.*FUNCTION' plain
	grep -aq 'N.*MODULE' plain
	grep -aq 'filter: SIXTEEN_' plain
	grep -aq 'filter: SIXTEEN;.*frozen' plain
	grep -aq 'arcprof top: keys' plain
	# the program's own output is not on the screen
	! grep -aq 'sixteen 51\.61 eight' plain || false
	! pgrep -f "shares 1000000" || false
}

@test "top: signals and crashes restore the terminal" {
	skip_unless_perf
	skip_unless_terminal
	start "$(workload shares)" 1000000
	for how in SIGTERM:0 SIGHUP:0 SIGINT:0 SIGSEGV:-11 SIGABRT:-6 SIGQUIT:-3; do
		keys "shown:!${how%:*}" -- "$ARCPROF" top -I 0.3 -p "$p"
		left_alone "${how#*:}"
	done
	keys shown:$'\003' -- "$ARCPROF" top -I 0.3 -p "$p"
	left_alone 0
}

@test "top: names with control characters do not reach the terminal" {
	skip_unless_perf
	skip_unless_terminal
	cp "$(workload shares)" $'sh\033[2Jx'
	keys shown:4 0.5:q -- "$ARCPROF" top -I 0.3 -- $'./sh\033[2Jx' 1000000
	left_alone 143
	grep -aqF 'sh\x1b[2Jx' plain
	! grep -aqF $'\033[2Jx' plain || false
}

@test "top: shares are those of a record of the same time" {
	skip_unless_perf
	start "$(workload shares)" 1000000
	arcprof record -q -o trace -p "$p" -d 3 &
	run_arcprof top -n 1 -I 3 -F 999 -p "$p"
	wait $!
	check_trace trace
	n1=$(sed -n 's/.*, \([0-9]*\) samples of.*/\1/p' <<<"$output")
	n2=$(jq '[.rows[] | .n] | add' .report--xprof)
	# a sum of six squares of a normal variable: above 22.5 once in a thousand times
	for f in sixteen eight four two one shared; do
		echo "$f $(share_of "$f" 1) $n1 $(samples_in "$f") $n2"
	done | tee shares | awk '{
		a = $2 / 100; b = $4 / $5; m = (a * $3 + $4) / ($3 + $5)
		if (m > 0)
			sum += (a - b) ^ 2 / (m * (1 - m) * (1 / $3 + 1 / $5))
	} END { exit !(sum < 22.5 && NR == 6) }' || { cat shares; return 1; }
	[ "$n1" -gt 200 ]
}

# In a PID namespace of its own: JVMs of others are left alone.
@test "top: for the whole machine it shows functions of running JVMs, and of those that start meanwhile" {
	skip_unless_root
	skip_unless_perf
	use_any_jdk
	unshare --pid --fork --mount-proc true || skip "no PID namespaces here"
	run unshare --pid --fork --mount-proc bash -c '
		java -Xmx64m -cp "$2" Words 1000 >/dev/null &
		sleep 1
		"$1" top -a -n 1 -I 0.5 --no-java --limit 1000 >without
		(sleep 1; exec java -Xmx64m -cp "$2" Lines 100000 >/dev/null) &
		"$1" top -a -n 10 -I 0.5 --limit 1000' - "$ARCPROF" "$CLASSES" 3>&-
	[ "$status" -eq 0 ]
	grep -qE '  Words\.[a-zA-Z]+  \[java\]$' <<<"$output"
	grep -qE '  Lines\.[a-zA-Z]+  \[java\]$' <<<"$output"
	! grep -qE '  Words\.[a-zA-Z]+  \[java\]$' without || false
}

@test "top: a running JVM has its functions and its heap, and is left alone afterwards" {
	skip_unless_perf
	use_any_jdk
	start java -Xmx64m -cp "$CLASSES" Words 100
	run_arcprof top -n 2 -I 1 -p "$p"
	[ "$status" -eq 0 ]
	grep -qE '  Words\.[a-zA-Z]+  \[java\]$' <<<"$output"
	# CPU time, memory, heap, each with its track
	grep -qE "^ *$p 100\.0% +[0-9]+ .* [0-9.]+[MG] .* [0-9.]+[KM] .*  java\$" <<<"$output"
	for _ in {1..100}; do
		grep -qx arcprof "/proc/$p"/task/*/comm || break
		sleep 0.1
	done
	! grep -qx arcprof "/proc/$p"/task/*/comm || false
}
