#!/usr/bin/env bats
# The browser in a terminal: what is on the screen, by tmux, and that the terminal is what it was afterwards.
# bats file_tags=stored
load ../lib

trace=t/data/java/trace

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || exit
	skip_unless_command tmux
	[[ $(arcprof version) != *"ncurses         not"* ]] || skip "built without ncurses"
	}

teardown() {
	mux kill-server 2>/dev/null || true
}

mux() {
	env -u TMUX tmux -S ./tmux "$@"
}

# browse <command>...: on a terminal of 24 lines by 80, until the first screen is there.
browse() {
	[ "$1" != arcprof ] || set -- "$ARCPROF" "${@:2}"
	printf 'stty -g >before\n%s\necho "end $?"\nstty -g >after\nexec sleep 100\n' "$(printf '%q ' "$@")" >run
	mux -f /dev/null new-session -d -x 80 -y 24 "exec bash ./run"
	until_shows 'q quit'
}

screen() {
	mux capture-pane -p
}

# eventually <command>...: it succeeds before long.
eventually() {
	local i
	for i in {1..200}; do
		! "$@" || return 0
		sleep 0.02
	done
	echo "never: $*"
	screen
	return 1
}

shows() {
	screen | grep -qE -- "$1"
}

# The same twice, since a screen may be read while it is drawn.
is_drawn() {
	local now
	now=$(screen)
	grep -qE -- "$1" <<<"$now" && sleep 0.02 && [ "$(screen)" = "$now" ]
}

until_shows() {
	eventually is_drawn "$1"
}

# The file wanted, below the two lines on top.
has_wanted() {
	screen | tail -n +3 | head -n "$(wc -l <wanted)" | sed 's/ *$//' | cmp -s - wanted
}

# The same after "r", which may come before the new size is known.
prints_wanted() {
	mux send-keys r
	sleep 0.1
	has_wanted
}

# The shell's screen, and its cursor.
is_left() {
	[ "$(mux display-message -p '#{alternate_on} #{cursor_flag}')" = "0 1" ]
}

# type_keys <key>... -- <pattern>: what follows is on the screen, and was not before.
type_keys() {
	local keys=()
	while [ "$1" != -- ]; do
		keys+=("$1")
		shift
	done
	if shows "$2"; then
		echo "before its key: $2"
		screen
		return 1
	fi
	mux send-keys "${keys[@]}"
	until_shows "$2"
}

until_same_terminal() {
	until_shows "$1"
	is_left
	eventually test -s after
	diff before after
}

@test "browser: the summary, the list and a stanza have the numbers of the reports" {
	NO_COLOR=1 browse arcprof view --terminal "$TOP/$trace"
	until_shows 'Hottest stacks'
	screen | sed -n '3,20p' | sed 's/ *$//' >shown
	NO_COLOR=1 on_terminal "$ARCPROF" report --summary --no-pager "$TOP/$trace" | head -n 18 | cut -c -80 | diff - shown
	type_keys 2 -- 'Samples +Function$'
	# %Base %Cum amount unit n name
	screen | awk '/^ +[0-9.]+ +[0-9.]+ / && !/…/ { print $5, $1, $2, substr($0, 38) }' >shown
	arcprof report --xprof "$TOP/$trace" |
		awk '$2 ~ /^[0-9]+[.][0-9]+$/ { name = $0; for (i = 0; i < 7; i++) sub(/^ *[^ ]+/, "", name)
			sub(/^ +/, "", name); print $1, $2, $3, name }' >all
	[ "$(grep -cxFf all shown)" -eq "$(wc -l <shown)" ]
	[ "$(wc -l <shown)" -ge 8 ]
	type_keys 1 / Seed.fib Enter Enter -- 'Self +Seed\.fib'	# from the text
	screen | awk '$6 ~ /^r?(Parent|Self|Child)$/ { print $6, $5, $1, $2, $7 }' >shown
	arcprof report --xarc "$TOP/$trace" | awk '/^===/ { if (own) printf "%s", stanza; stanza = ""; own = 0; next }
		$1 == "Self" && / Seed\.fib$/ { own = 1 }
		$1 ~ /^r?(Parent|Self|Child)$/ { stanza = stanza $1 " " $2 " " $3 " " $4 " " ($1 == "rSelf" ? "Seed.fib" : $NF) "\n" }' |
		diff - shown
	grep -q '^Parent ' shown
	type_keys BSpace -- 'Hottest functions'
	type_keys q -- '^end 0'
	until_same_terminal '^end 0'
}

# The lines of a report that have no wide characters.
narrow() {
	head -n 18 | grep -v 'server' | cut -c -80 | sed 's/ *$//'
}

is_report() {
	screen | tail -n +3 | narrow | cmp -s - wanted
}

@test "browser: reports are what arcprof report prints" {
	NO_COLOR=1 browse arcprof view --terminal "$TOP/t/data/facts/trace"
	for report in account locks threads; do
		COLUMNS=80 NO_COLOR=1 on_terminal "$ARCPROF" report --$report --no-pager "$TOP/t/data/facts/trace" | narrow >wanted
		[ "$(wc -l <wanted)" -ge 5 ]
		mux send-keys 4
		until_shows '^ *account'
		mux send-keys Home / "$report " Enter Enter
		eventually is_report
	done
}

@test "browser: it sorts, filters, and follows the size of the terminal" {
	browse arcprof view --terminal "$TOP/$trace"
	type_keys 2 -- 'by base: 346 functions'
	type_keys s s s -- 'by name: 346'
	screen | sed -n '6,22p' | cut -c38- | grep -v … | LC_ALL=C sort -c
	type_keys e -- 'by name: 363'
	type_keys f Seed. -- 'by name: [0-9] functions with .Seed'
	[ "$(screen | grep -c ' Seed\.')" -ge 2 ]
	mux resize-window -x 120 -y 40
	until_shows '%Base +%Cum +Base +Cum +Samples'
	[ "$(screen | tail -n 1 | grep -c 'only names with: Seed.')" -eq 1 ]
	type_keys Escape -- 'by name: 363'
	type_keys 1 -- 'Hottest'
	mux resize-window -x 70 -y 24
	COLUMNS=70 NO_COLOR=1 on_terminal "$ARCPROF" report --summary --no-pager "$TOP/$trace" | head -n 20 | cut -c -70 >wanted
	eventually prints_wanted
}

@test "browser: part of the time can be selected, and a report without times says so" {
	browse arcprof view --terminal "$TOP/$trace"
	type_keys 2 t Home Space End Enter -- '^ time'
	until_shows 'by base: 346'
	type_keys t Home Right Right Enter -- 'from 1[0-9.]+ ms to'
	type_keys 4 / leaks Enter Enter -- 'from.* does not apply to --leaks'
	type_keys w 2 -- 'by base: 346'
	type_keys '?' -- 'Enter, Right +open'
}

@test "browser: source lines are those of report --annotate, from the folders of --source" {
	run_arcprof view --no-browser --source . "$TOP/$trace"
	[ "$status" -eq 2 ]
	NO_COLOR=1 browse arcprof view --terminal --source "$TOP/t/data/java" "$TOP/$trace"
	type_keys 2 / Seed.fib Enter a -- 'Seed[.]java'
	screen | sed -n '3,23p' | sed 's/ *$//' >shown
	grep -q 'int fib(int n)' shown
	arcprof report --annotate Seed.fib --source "$TOP/t/data/java" "$TOP/$trace" | head -n 21 | cut -c -80 |
		sed 's/ *$//' | diff - shown
}

@test "browser: Ctrl-Z stops it, a signal ends it, and the terminal is what it was" {
	browse arcprof view --terminal "$TOP/$trace"
	type_keys 2 -- 'by base: '
	p=$(pgrep -P "$(mux display-message -p '#{pane_pid}')")
	mux send-keys C-z
	eventually grep -q 'State:.T' "/proc/$p/status"
	eventually is_left
	kill -CONT "$p"
	until_shows 'by base: '
	kill -TERM "$p"
	until_same_terminal '^end 143'
}

@test "browser: names of programs reach no terminal as control characters, and UTF-8 stays" {
	printf 'main;evil\033]0;title\007;größer\xe6\x97\xa5\xe6\x9c\xac 5\nmain;\xc2\x9bevil 3\n' >folded
	browse arcprof view --terminal --import folded
	type_keys 2 -- 'by base: '
	screen | grep -qF '\xc2\x9bevil'
	screen | grep -qF 'evil\x1b]0'
	screen | grep -qF 'title\x07'
}

@test "browser: without a terminal there is a message of one line" {
	run_arcprof view --terminal "$TOP/$trace"
	[[ $status -eq 1 && -z $output && $stderr == "arcprof view: standard "*" is not a terminal" ]]
	on_terminal env TERM=dumb "$ARCPROF" view --terminal "$TOP/$trace" >said
	[ "$(cat said)" = "arcprof view: a terminal of the type 'dumb' (TERM) shows no screens" ]
	run_arcprof view --terminal --no-browser "$TOP/$trace"
	[ "$status" -eq 2 ]
	mkdir nowhere
	browse env TERMINFO="$PWD/nowhere" HOME="$PWD/nowhere" TERM=strange "$ARCPROF" view --terminal "$TOP/$trace"
}
