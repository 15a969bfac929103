# shellcheck shell=bash disable=SC2154
# live.bash - a program that runs while tests attach to it: t/workloads/Live.java. Needs lib.bash and java.bash.

# A JVM has one recorder at a time, and one of all the machine has all. Who has a JVM of its own recorded shares this
# lock until the test ends, and who records all JVMs has it alone, of all suites that run: for a minute at most, which
# is less than a suite waits for.
lock_jvms() {	# <-s or -x>
	[ -z "${JVMS_LOCKED-}" ] || return 0
	exec 6>>"/tmp/arcprof-test-jvms.$UID"
	flock -w 60 "$1" 6 || echo "# others have the JVMs of the machine"
	JVMS_LOCKED=yes
}

# start_live <option of java>...: runs it, with its number in $LIVE; LIVE_MAIN: another class that talks like it.
start_live() {
	lock_jvms -s
	rm -f live.in
	mkfifo live.in
	# shellcheck disable=SC2086 # the class and its arguments
	java "$@" -cp "$CLASSES" ${LIVE_MAIN-Live} <live.in >live.out 2>live.err 3>&- 6>&- &
	LIVE=$!
	exec 7>live.in
	NR_SAID=0
	heard ready
}

# Waits for its answer number $NR_SAID + 1.
heard() {
	local i said=()
	for ((i = 0; i < 1200; i++)); do
		[ ! -e live.out ] || mapfile said <live.out
		[ "${#said[@]}" -gt "$NR_SAID" ] && [[ ${said[NR_SAID]} == *$'\n' ]] && break
		kill -0 "$LIVE" || { cat live.err; return 1; }
		sleep 0.05
	done
	NR_SAID=$((NR_SAID + 1))
	[[ ${said[NR_SAID - 1]} == "$1"$'\n' ]] || { echo "wanted '$1', got:"; tail -n 3 live.out; return 1; }
}

# Tells it to do something, and waits until it is done.
say() {
	echo "$*" >&7
	heard "$*"
}

end_live() {
	[ -n "${LIVE-}" ] || return 0
	exec 7>&-
	wait "$LIVE"
	local status=$?
	LIVE=
	return $status
}

# For a teardown() of more than this: whatever happened.
kill_live() {
	[ -z "${RECORDER-}" ] || kill_recorder "$RECORDER"
	[ -z "${LIVE-}" ] || kill -KILL "$LIVE" 2>/dev/null || true
}

teardown() {
	kill_live
}

# No thread of ours is left, once the JVM knows that we are gone.
alone() {
	local i
	for i in {1..600}; do
		! grep -qx arcprof "/proc/$LIVE"/task/*/comm && return
		sleep 0.1
	done
	return 1
}

# start_recorder <argument of record>...: in the background; returns when it records.
start_recorder() {
	"$ARCPROF" record -o trace "$@" >recorder.out 2>recorder.err </dev/null 3>&- 6>&- 7>&- &
	RECORDER=$!
	until_it_records
}

until_it_records() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$ARCPROF" ctl -p "$RECORDER" 2>/dev/null | grep -qx 'state: recording' && return
		kill -0 "$RECORDER" 2>/dev/null || break
		sleep 0.05
	done
	cat recorder.err
	RECORDER=
	return 1
}

ctl() {
	"$ARCPROF" ctl -p "$RECORDER" "$@"
}

# Ends it with a signal, or as the command given does.
end_recorder() {
	"${@:-kill}" "$RECORDER"
	status=0
	wait "$RECORDER" || status=$?
	RECORDER=
	cat recorder.err
	return "$status"
}
