#!/bin/bash
# Months of a machine's service in an hour: a recorder that writes segments and keeps few, a flight recorder that dumps
# at signals, and "fleet push" to a server of ClickHouse, all on a small disk of their own, while a thousand JVMs and
# many more native programs come and go. Recorder and push are killed (-9) each minute and started again, at moments
# that differ; in turn the server goes away and comes back, the disk is full and has room again, and the time of day is
# set forth and back, for these processes alone (steps.c). Only what is in a control group of its own is recorded.
#
# Prints each minute what they take, and at the end a verdict on numbers, each of which fails it:
#  - memory of the flight recorder, which lives all the time, and of recorders of one age: no slope
#  - descriptors and threads: no more in the end
#  - segments told by recorders that ended: as many as there are on the disk, also when that was full
#  - segments, traces and dumps within their bounds
#  - each segment that ever was: on the server, once, with all its rows, and nothing else there
#
# usage: t/stress/soak.sh [MINUTES]	the default is 60, the least 4. Needs root and clickhouse-server.
# With less than 20 there are too few figures to judge slopes.
set -u
minutes=${1:-60}
case $minutes in
'' | *[!0-9]*) minutes=0 ;;
esac
if [ $# -gt 1 ] || [ "$minutes" -lt 4 ]; then
	echo "usage: t/stress/soak.sh [MINUTES]: 4 or more; 60 are the default" >&2
	exit 2
fi
if [ "$(id -u)" -ne 0 ] || ! PATH=$PATH:/usr/sbin command -v clickhouse-server >/dev/null; then
	echo "soak.sh: needs root, and clickhouse-server" >&2
	exit 1
fi
# what is mounted goes with the last process
if [ -z "${ARCPROF_SOAK_INNER-}" ]; then
	export ARCPROF_SOAK_INNER=1
	exec unshare --mount --propagation private "$0" "$minutes"
fi
# shellcheck source=../perf/lib.bash
. "$(dirname "$0")/../perf/lib.bash"
# shellcheck source=../fleet/clickhouse.bash
. "$TOP/t/fleet/clickhouse.bash"
make -s -C "$TOP" build/t/workloads/passing build/t/stress/stepped || exit 1
use_jdk "$(jdks | head -n 1)"

DISK=40M KEEP=4M SPOOL=6M RING=2M DUMPS=6M
KEEP_BYTES=$((4 << 20)) DUMPS_BYTES=$((6 << 20)) SPOOL_BYTES=$((6 << 20))
JVMS=$((1000 * minutes / 60))

cd "$DIR" || exit 1
mkdir programs ledger disk
mount -t tmpfs -o size=$DISK,mode=700 none disk || exit 1
mkdir -m 700 disk/dumps
export ARCPROF_STEPS=$DIR/steps XDG_CACHE_HOME=$DIR/cache
echo 0 >steps
touch figures ended good failed
# what is built meanwhile is of no concern
cp "$BUILD/t/stress/stepped" "$ARCPROF" .
SERVICE=$DIR/stepped
export ARCPROF=$DIR/arcprof
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)/arcprof-soak-$$
mkdir "$group" || exit 1
recorder='' flight='' push='' jvms='' programs=''

end_all() {
	local pid
	touch stop
	for pid in $recorder $flight $push $jvms $programs; do
		kill -KILL "$pid" 2>/dev/null
	done
	while read -r pid; do
		kill -KILL "$pid" 2>/dev/null
	done <"$group/cgroup.procs"
	stop_servers
	cd / && umount "$DIR/disk"
	sleep 0.5
	rmdir "$group"
	rm -rf "$DIR"
}
trap end_all EXIT
trap 'exit 130' INT TERM HUP

fail() {	# not said for ever
	[ "$(wc -l <"$DIR/failed")" -ge 40 ] || echo "FAILED: $*" | tee -a "$DIR/failed"
}

# ---- the service ----

lives() {	# <pid>
	[ -n "$1" ] && kill -0 "$1" 2>/dev/null
}

start_recorder() {
	local i
	touch mark
	"$SERVICE" record -G "/${group##*/}" -F 99 --segment 2s --keep $KEEP --label service=soak -o disk/traces \
		>>recorder.said 2>&1 &
	recorder=$!
	recorder_since=$SECONDS
	nr_recorders=$((nr_recorders + 1))
	# what the one before has left gets its name before another is begun
	for ((i = 0; i < 100; i++)); do
		lives "$recorder" || break
		[ -z "$(find disk/traces -name '.*.part' -newer mark 2>/dev/null)" ] || break
		sleep 0.05
	done
	sweep
	before=$(nr_segments)
}

start_flight() {
	local i
	"$SERVICE" record -G "/${group##*/}" --no-java -F 99 --mode wrap --max-size $RING --keep $DUMPS --when signal:USR1 \
		--holdoff 1s -o disk/dumps/flight.data >>flight.said 2>&1 &
	flight=$!
	for ((i = 0; i < 100; i++)); do	# a signal would end it before
		! "$ARCPROF" ctl status -p "$flight" 2>/dev/null | grep -q 'state: recording' || break
		sleep 0.1
	done
}

start_push() {
	"$SERVICE" fleet push "$url" --every 1s --retry 4s --timeout 10s --spool disk/spool --spool-size $SPOOL disk/traces \
		>>push.said 2>&1 &
	push=$!
	nr_pushes=$((nr_pushes + 1))
}

start_what_ended() {
	lives "$recorder" || start_recorder
	lives "$push" || start_push
}

kill_now() {	# <pid>
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# Told are the segments that it has closed.
end_recorder() {
	local told
	lives "$recorder" || return	# it had no room to begin
	kill -TERM "$recorder"
	wait "$recorder" 2>/dev/null
	recorder=''
	sweep
	told=$(sed -nE 's/.*; wrote ([0-9]+) traces? to .*/\1/p' recorder.said | tail -n 1)
	echo "  a recorder ended: $told segments told, $(($(nr_segments) - before)) found"
	[ "$told" = $(($(nr_segments) - before)) ] || fail "segments told are not those on the disk"
}

# ---- what is measured ----

nr_segments() {
	find ledger -type f | wc -l
}

# Each segment, once it has its name: a copy, for the count at the end.
sweep() {
	local name key
	while read -r name key; do
		[ -e "ledger/$key-$name" ] || cp "disk/traces/$name" "ledger/$key-$name" 2>/dev/null
	done < <(find disk/traces -name '2*.arc' -printf '%f %i-%T@\n' 2>/dev/null)
}

kib() {	# <path>...
	find "$@" -type f -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { printf "%d", n / 1024 }'
}

of() {	# <pid>: memory in KiB, descriptors, threads
	if lives "$1"; then
		awk '$1 == "VmRSS:" { rss = $2 } $1 == "Threads:" { n = $2 } END { printf "%d ", rss; printf "%d", n }' \
			"/proc/$1/status" | { read -r rss n; echo "$rss $(find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l) $n"; }
	else
		echo "- - -"
	fi
}

hold() {	# <what> <bytes> <path>...: they never take more
	local what=$1 bytes=$2 kib
	shift 2
	kib=$(kib "$@")
	[ "$kib" -le $((bytes / 1024)) ] || fail "$what take $kib KiB, which is more than $((bytes / 1024))"
}

on_server() {
	ask 1 'SELECT uniqExact(trace) FROM nodes' --max-time 5 2>/dev/null || echo -
}

show() {	# <minute>
	# shellcheck disable=SC2046,SC2183	# three numbers each
	printf '%3d  %7s %4s %3s  %7s %4s %3s  %7s %4s %3s  %6d %6d %6d  %6d %6s %5d %6d  %s\n' "$1" $(of "$recorder") \
		$(of "$flight") $(of "$push") "$(kib disk/traces)" "$(kib disk/spool)" "$(kib disk/dumps)" "$(nr_segments)" \
		"$(on_server)" "$(wc -l <ended)" "$(awk '{ n += $1 } END { print n + 0 }' good)" "$(cut -d ' ' -f 1 /proc/loadavg)"
}

# ---- what comes and goes ----

some_jvms() {
	local i pause
	echo "$BASHPID" >"$group/cgroup.procs"
	pause=$(awk -v s=$((minutes * 60 - 10)) -v n="$JVMS" 'BEGIN { print s / n }')
	for ((i = 0; i < JVMS; i++)); do
		("$JAVA_HOME/bin/java" -Xmx16m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$CLASSES" Passing 200 2500 \
			>>java.said 2>&1 && echo >>ended) &
		[ "$(jobs -rp | wc -l)" -lt 8 ] || wait -n
		sleep "$pause"
	done
	wait
}

some_programs() {
	local first=0
	echo "$BASHPID" >"$group/cgroup.procs"
	while [ ! -e stop ]; do
		"$BUILD/t/workloads/passing" programs 4 $first 3 4 >>good
		first=$((first + 4))
	done
}

set_clock() {	# <seconds>; never empty for who reads
	printf '%-20d' "$1" 1<>steps
}

fill_disk() {
	head -c 100M /dev/zero >>disk/fill 2>/dev/null
}

# What happens at that second; each of four minutes has something of its own.
happen() {	# <second>
	local minute=$(($1 / 60)) second=$(($1 % 60))
	case $((minute % 4)):$second in
	0:15) end_recorder ;;
	1:5) kill_now "$(cat server1/pid)" ;;
	1:35) start_server 1 & ;;
	2:5 | 2:9) fill_disk ;;
	2:20) rm -f disk/fill ;;
	2:26) end_recorder ;;
	3:5) set_clock 3600 ;;
	3:20) set_clock -86400 ;;
	3:40) set_clock 0 ;;
	esac
	if [ "$second" -eq 29 ] && [ $((SECONDS - recorder_since)) -gt 10 ]; then
		echo "$minute recorder $(of "$recorder")" >>figures
	elif [ "$second" -eq 58 ]; then
		echo "$minute flight $(of "$flight")" >>figures
		show $((minute + 1))
	fi
	[ "$second" -ne $((30 + minute * 7 % 20)) ] || kill_now "$recorder"
	[ "$second" -ne $((10 + minute * 11 % 45)) ] || kill_now "$push"
	[ $(($1 % 7)) -ne 0 ] || kill -USR1 "$flight"
}

# ---- the verdict ----

# Of the second half, as tables of symbols grow to their bound at first: a line through its figures may rise by a
# twentieth of their mean and by 2 MiB, and its last half may have a third more descriptors on average, and 20.
slope() {	# <of what>
	awk -v what="$1" -v minutes="$minutes" '
		BEGIN { from = int(minutes / 2); middle = int(minutes * 3 / 4) }
		$2 == what && $1 >= from && $3 != "-" {
			n++; x += $1; y += $3; xx += $1 * $1; xy += $1 * $3
			late = $1 >= middle; count[late]++; fds[late] += $4; threads[late] += $5
			first = n == 1 ? $1 : first; last = $1
		}
		END {
			# some are low and some high, by the age of a recorder and what ran just then
			if (n < 6) { print what ": too few figures for a slope"; exit minutes >= 20 }
			slope = (n * xy - x * y) / (n * xx - x * x)
			for (i = 0; i < 2; i++) { fds[i] /= count[i]; threads[i] /= count[i] }
			printf "%s: %.0f KiB on average, %+.1f KiB a minute; descriptors %.0f, then %.0f, threads %.1f, then %.1f\n",
				what, y / n, slope, fds[0], fds[1], threads[0], threads[1]
			exit slope * (last - first) > y / n / 20 + 2048 || fds[1] > fds[0] * 4 / 3 + 20 || threads[1] > threads[0] + 2
		}' figures || fail "$1 grows"
}

count_all() {
	local try
	for try in 1 2 3; do
		"$SERVICE" fleet push "$url" --spool disk/spool disk/traces >>push.said 2>&1 && break
		sleep "$try"
	done
	# of those that a killed recorder has left it warns
	find ledger -type f -print0 | xargs -0 "$SERVICE" export -q --table tables >>export.said 2>&1
	! grep -v 'has no end: the recording was cut off' export.said || fail "the segments cannot all be read"
	zcat tables/nodes.tsv.gz | tail -n +2 | cut -f 2 | sort | uniq -c | awk '{ print $2, $1 }' | sort >expected
	ask 1 'SELECT trace, count() FROM nodes GROUP BY trace FORMAT TSV' | tr '\t' ' ' | sort >stored
	join -a 1 -a 2 -e 0 -o 0,1.2,2.2 expected stored >both
	awk '{ n++; rows += $2 } $3 == 0 { missing++ } $2 == 0 { unknown++ } $2 && $3 > $2 { double++ } $3 && $3 < $2 { partly++ }
		END {
			printf "%d segments with %d rows: %d missing on the server, %d partly there, %d there twice, %d unknown\n",
				n, rows, missing, partly, double, unknown
			exit !n || missing || unknown || double || partly
		}' both || fail "what is on the server is not what was recorded"
}

names_of_java() {
	find ledger -type f | sort -t - -k 3 | tail -n 8 | while read -r file; do
		"$ARCPROF" report --xprof "$file" 2>/dev/null | grep -c ' Passing\.burn$'
	done | awk '{ n += $1 } END { print n + 0 }'
}

read -r -a tcp < <(free_ports 2)
configure_server 1 "${tcp[@]}"
start_server 1 || exit 1
url=$(cat server1/url)
"$ARCPROF" fleet create -q "$url" || exit 1
nr_recorders=0 nr_pushes=0
start_recorder
start_flight
start_push
some_jvms &
jvms=$!
some_programs &
programs=$!
echo "$minutes minutes, $JVMS JVMs; KiB, descriptors and threads of each, KiB on the disk"
printf '%3s  %16s  %16s  %16s  %20s  %6s %6s %5s %6s  %s\n' min recorder 'flight recorder' push 'traces  spool  dumps' \
	segm. stored JVMs progr. load
begin=$SECONDS next=0
while [ $((SECONDS - begin)) -lt $((minutes * 60)) ]; do
	for ((; next <= SECONDS - begin; next++)); do
		happen $next
	done
	start_what_ended
	sweep
	# one more segment than is kept is closed before the oldest goes
	hold segments $((KEEP_BYTES + (1 << 20))) disk/traces
	hold dumps $((DUMPS_BYTES + 2 * (2 << 20) + (1 << 20))) disk/dumps
	hold 'recordings in the spool' $((SPOOL_BYTES + (1 << 20))) disk/spool
	lives "$flight" || { fail "the flight recorder has ended: $(tail -n 1 flight.said)"; start_flight; }
	sleep 0.5
done
touch stop
wait "$jvms" "$programs"
jvms='' programs=''
sleep 1
end_recorder
kill -TERM "$flight"
wait "$flight"
flight=''
kill_now "$push"
push=''
echo "$nr_recorders recorders, $nr_pushes pushes; $(grep -c 'nothing is stored' recorder.said) times without room," \
	"$(find disk/dumps -name 'flight-2*' | wc -l) dumps kept of $(grep -c 'wrote the last' flight.said)"
echo "JVMs that ended as they should: $(wc -l <ended) of $JVMS"
[ "$(wc -l <ended)" -eq "$JVMS" ] || fail "JVMs were disturbed: $(tail -n 1 java.said)"
slope recorder
slope flight
count_all
[ "$(names_of_java)" -gt 0 ] || fail "Java code has no names in the last segments"
# what was said but for what is said each time
grep -hvE 'wrote |signal:USR1|samples were lost|nothing is stored|sent [0-9]|trying again|still being written|goes on|continues' \
	recorder.said flight.said push.said | sort | uniq -c | sort -rn | head -n 20
[ ! -s failed ] && echo "passed"
