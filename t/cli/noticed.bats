#!/usr/bin/env bats
# What a program can notice of a recorder in itself: no more than arcprof-record(1) lists.
load ../lib
load ../jdks
load ../live

# look <file> <pid>|self: without what the program opens anew now and then
look() {
	"$TOP/t/noticed" "$2" | grep -vE "^file (pipe|.*/(live|recorder|said)[^/]*$)" | sort >"$1"
}

listed() {	# <line>: its row in the manual
	grep -F "|$1|" "$TOP/Documentation/arcprof-record.adoc"
}

# nothing_but_listed <before> <after> [stays]: what is there now is listed, and nothing that was there is gone
nothing_but_listed() {
	local line bad=0
	comm -13 "$1" "$2" >new
	comm -23 "$1" "$2" >gone
	while read -r line; do
		if ! listed "$line" >row; then
			echo "$2, not listed: $line"
			bad=1
		elif [ "${3-}" = stays ] && ! grep -qF '|stays' row; then
			echo "$2, still there: $line"
			bad=1
		fi
	done <new
	sed "s/^/$2, gone: /" gone
	[ "$bad" -eq 0 ] && [ ! -s gone ]
}

readonly WAYS=("-e cpu-clock" "-e wall" "-e lock,alloc,live" "-e native-memory" --callflow)

@test "noticed: a native program that was launched finds what the manual lists" {
	local way
	skip_unless_perf
	bash "$TOP/t/noticed" self >said 2>err.said
	sort said >plain
	for way in "${WAYS[@]}" "-e mark"; do
		# shellcheck disable=SC2086 # several words
		"$ARCPROF" record -q $way -o trace -- bash "$TOP/t/noticed" self >said 2>err.said
		sort said >launched
		nothing_but_listed plain launched
	done
}

@test "noticed: a native process that is attached to finds nothing" {
	local way pid
	skip_unless_perf
	sleep 300 3>&- &
	pid=$!
	LIVE=$pid
	look before "$pid"
	for way in -e\ cpu-clock -e\ wall; do
		# shellcheck disable=SC2086
		start_recorder $way -p "$pid"
		look during "$pid"
		diff before during
		end_recorder
		look after "$pid"
		diff before after
	done
}

nr_sockets() {
	find "/proc/$LIVE/fd" -lname 'socket:*' | wc -l
}

attached() {
	local way sockets
	start_live
	say spin 50
	sockets=$(nr_sockets)
	look before "$LIVE"
	for way in "-e cpu-clock,wall,lock,alloc,live,native-memory" --callflow; do
		echo "-- $way"
		# shellcheck disable=SC2086
		start_recorder $way -p "$LIVE"
		say spin 20
		look during "$LIVE"
		end_recorder
		alone
		say spin 20
		look after "$LIVE"
		nothing_but_listed before during
		nothing_but_listed before after stays
		# the JVM's own, where it listens for who attaches
		[ "$(nr_sockets)" -le $((sockets + 1)) ]
	done
	end_live
}

@test "noticed: a JVM that is attached to finds what the manual lists, and little of it afterwards" {
	one_jdk newest attached
}
