#!/usr/bin/env bats
# Control groups and containers of processes.
load ../lib
load ../java
load ../live

ID=$(printf 'c%.0s' {1..64})

# Where groups are made; sets GROUPS_AT, and MINE, the path of the test's own group.
prepare_groups() {
	skip_unless_root
	skip_unless_perf
	GROUPS_AT=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	MINE=arcprof-test-$$
	[ -n "$GROUPS_AT" ] && mkdir "$GROUPS_AT/$MINE" 2>/dev/null ||
		skip "no control group can be made (cgroup2 is not mounted, or cannot be written)"
	mkdir "$GROUPS_AT/$MINE/docker-$ID.scope" "$GROUPS_AT/$MINE/plain"
}

# in_group <group> <command...>
in_group() {
	echo "$BASHPID" >"$GROUPS_AT/$MINE/$1/cgroup.procs"
	exec "${@:2}"
}

teardown() {
	local job
	kill_live
	for job in $(jobs -p); do
		kill "$job" 2>/dev/null || true
	done
	wait
	[ -z "${MINE-}" ] || rmdir "$GROUPS_AT/$MINE/plain/below" 2>/dev/null || true
	[ -z "${MINE-}" ] || rmdir "$GROUPS_AT/$MINE/docker-$ID.scope" "$GROUPS_AT/$MINE/plain" "$GROUPS_AT/$MINE"
}

# Programs that run all the time, each in its group.
start_burners() {
	(in_group "docker-$ID.scope" sh -c 'while :; do :; done') 3>&- &
	(in_group plain sh -c 'while :; do :; done') 3>&- &
}

n_of() {	# <option...>: samples that the selection finds
	arcprof report -i trace --xprof --format json "$@" 2>/dev/null | jq '[.rows[].n] | add // 0'
}

@test "record -a: reports select and group by the control group and the container of processes" {
	prepare_groups
	start_burners
	run_arcprof record -a --no-java -F 199 --call-graph no -d 1.5 -o trace
	[ "$status" -eq 0 ]
	all=$(n_of) container=$(n_of --container "$ID") plain=$(n_of --cgroup "$MINE/plain")
	echo "$all samples, $container in the container, $plain in the other group"
	[ "$container" -gt 0 ]
	[ "$plain" -gt 0 ]
	[ "$(n_of --container cccccc)" -eq "$container" ]
	[ "$(n_of --container 'c*')" -eq "$container" ]
	[ "$(n_of --label "container=$ID")" -eq "$container" ]
	[ "$(n_of --cgroup "/$MINE")" -eq $((container + plain)) ]
	[ "$(n_of --cgroup "/$MINE/pl*")" -eq "$plain" ]
	arcprof report -i trace --group container --xtree --format json >tree
	[ "$(jq --arg id "$ID" '.nodes[] | select(.kind == "group" and .name == $id) | .cum[0]' tree)" -eq \
		"$(arcprof report -i trace --container "$ID" --xtree --format json | jq '.metrics[0].total')" ]
	[ "$(jq '[.nodes[] | select(.kind == "group") | .cum[0]] | add' tree)" -eq "$(jq '.metrics[0].total' tree)" ]
	arcprof report -i trace --group cgroup --check
	run_arcprof report -i trace --group cgroup --xtree --cgroup "$MINE"
	[[ $output == *"/$MINE/plain"* ]]
	[[ $output == *"(container=cccccccccccc)"* ]]
	run_arcprof report -i trace --xtree --container dddddddd
	[ "$status" -eq 1 ]
	[[ $stderr == *"nothing matches --container 'dddddddd'"* ]]
	run_arcprof query trace "SELECT DISTINCT cgroup FROM processes WHERE container = '$ID'"
	[ "${output##*$'\n'}" = "/$MINE/docker-$ID.scope" ]
	arcprof export --table tables trace
	zcat tables/nodes.tsv.gz | cut -f 8 | sort -u >labels
	grep -qx "cgroup=/$MINE/docker-$ID.scope,container=$ID" labels
	# of a folder, a condition sees the same columns
	mkdir folder
	cp trace folder/
	arcprof fleet fetch -q folder --where "labels LIKE '%,container=$ID'" -o part
	[ "$(arcprof report -i part --xprof --format json | jq '[.rows[].n] | add')" -eq "$container" ]
	arcprof fleet fetch -q folder --label "container=$ID" -o part
	[ "$(arcprof report -i part --xprof --format json | jq '[.rows[].n] | add')" -eq "$container" ]
	run_arcprof fleet report folder --label container=dddd
	[ "$status" -eq 1 ]
	# merged they are one, but when asked to stay apart
	arcprof merge -o trace.all trace trace
	arcprof merge --by-container -o trace.apart trace trace
	mv trace trace.one
	for trace in trace.all trace.apart; do
		cp "$trace" trace
		echo "$trace: $(n_of), of the container $(n_of --container "$ID")"
		[ "$(n_of)" -eq $((2 * all)) ]
	done
	[ "$(n_of --container "$ID")" -eq $((2 * container)) ]
	cp trace.all trace
	[ "$(n_of --cgroup "$MINE")" -eq 0 ]
}

# The JVM that was started in namespaces of its own, once the agent is in it.
attached_jvm() {
	local i pid
	for i in {1..600}; do
		pid=$(cat "$GROUPS_AT/$MINE/plain/cgroup.procs" | xargs -I{} sh -c \
			'grep -qx java /proc/{}/comm && grep -lx arcprof /proc/{}/task/*/comm' 2>/dev/null | head -n 1 || true)
		[ -z "$pid" ] || return 0
		sleep 0.1
	done
	cat java.err
	return 1
}

@test "record -G: of groups that are below others, or named twice, each process is sampled once" {
	prepare_groups
	start_burners
	run_arcprof record -G "$MINE/plain,$MINE,/$MINE/,$MINE/plain/" -F 499 --call-graph no -d 1 -o trace
	[ "$status" -eq 0 ]
	[[ $stderr == *"recording control group $MINE for 1 s"* ]]
	# each of the two programs has one thread
	arcprof report -i trace --xprof --format json --comm sh | jq '.metrics[0].total / 1e6 | round' >ms
	cat ms
	[ "$(cat ms)" -gt 100 ]
	[ "$(cat ms)" -le 2200 ]
	[ "$(n_of --cgroup "$MINE/plain")" -le 550 ]
	run_arcprof record -G "$MINE,$MINE/none" -d 10ms
	[[ $stderr == *"no control group '$MINE/none'"* ]]
}

# of <jq filter>: what the account of ./trace says.
of() {
	arcprof report --account --format json trace | jq -r "$1"
}

# charged <group>: ms by the kernel's own account
charged() {
	awk '$1 == "usage_usec" { printf "%d\n", $2 / 1000 }' "$GROUPS_AT/$MINE/$1/cpu.stat"
}

skip_unless_charged() {
	grep -q '^usage_usec' "$GROUPS_AT/$MINE/plain/cpu.stat" || skip "control groups have no CPU time here"
}

@test "record -G: the account is what the kernel charged the groups" {
	prepare_groups
	skip_unless_charged
	start_burners
	local before after ms
	before=$(charged plain)
	arcprof record -G "$MINE/plain,$MINE/docker-$ID.scope" -F 997 -d 1.5 -o trace 2>err
	after=$(charged plain)
	cat err
	grep -q ' % of CPU time sampled' err
	arcprof report --check trace >check || { cat check; return 1; }
	grep -q 'ok   samples and threads of accounts = what was counted  *2 checked' check
	[ "$(of .clock)" = cgroup ]
	[ "$(of '.totals.share > .85 and .totals.share < 1.15')" = true ]
	[ "$(of '[.threads[].name] | sort | join(" ")')" = "$MINE/docker-$ID.scope $MINE/plain" ]
	[ "$(of 'all(.threads[]; .share > .8 and .share < 1.2)')" = true ]
	ms=$(of ".threads[] | select(.name == \"$MINE/plain\") | .cpu_ns / 1e6 | floor")
	echo "the kernel: $((after - before)) ms, the account: $ms ms"
	[ "$ms" -le $((after - before)) ]
	[ "$ms" -ge $(((after - before) / 2)) ]
	arcprof report --not-sampled --check trace >check || { cat check; return 1; }
	run_arcprof report --xprof trace
	[[ $output == *" % of CPU time sampled; "* ]]
	printf '"[not sampled]" base cpu-clock <= %s %%\n' 99 >limits
	arcprof budget --all -f limits trace
	# of several files, each has what was charged in it
	arcprof record -q -G "$MINE" -F 997 --segment 500ms -d 1200ms -o dir
	arcprof report --check dir >check || { cat check; return 1; }
	[ "$(arcprof report --account --format json dir | jq '.totals.share > .85 and .totals.share < 1.15')" = true ]
	[ "$(arcprof report --account --format json dir | jq -r '[.threads[].name] | join(" ")')" = "$MINE" ]
}

@test "record -G: what enters a group, and leaves it, is charged while it is there" {
	prepare_groups
	skip_unless_charged
	local before after
	sh -c 'while :; do :; done' 3>&- &
	local pid=$!
	mkdir "$GROUPS_AT/$MINE/plain/below"
	before=$(charged plain)
	start_recorder -G "$MINE/plain" -F 997
	sleep .3
	echo $pid >"$GROUPS_AT/$MINE/plain/below/cgroup.procs"
	sleep .7
	echo $pid >"$GROUPS_AT/$MINE/docker-$ID.scope/cgroup.procs"
	# a group below it is no more, and what it was charged is its parent's
	rmdir "$GROUPS_AT/$MINE/plain/below"
	after=$(charged plain)
	end_recorder
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(of '.totals.share > .8 and .totals.share < 1.2')" = true ]
	[ "$(of '.totals.cpu_ns / 1e6 | floor')" -ge $((after - before - 5)) ]
	[ "$(of '.totals.cpu_ns / 1e6 | floor')" -le $((after - before + 5)) ]
}

@test "record -G: a group that is removed meanwhile has an account" {
	prepare_groups
	skip_unless_charged
	local ms
	mkdir "$GROUPS_AT/$MINE/plain/below"
	start_recorder -G "$MINE/plain/below" -F 997
	(in_group plain/below "$(workload short)" 1000 300) >truth 3>&-
	ms=$(charged plain/below)
	rmdir "$GROUPS_AT/$MINE/plain/below"
	end_recorder
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(of '.totals.share > .8 and .totals.share < 1.2')" = true ]
	echo "the kernel: $ms ms, the account: $(of '.totals.cpu_ns / 1e6 | floor') ms"
	[ "$(of '.totals.cpu_ns / 1e6 | floor')" -ge $((ms * 90 / 100 - 10)) ]
	[ "$(of '.totals.cpu_ns / 1e6 | floor')" -le $((ms * 115 / 100 + 10)) ]
}

@test "record -G: a group that is removed after the interval was changed has no account" {
	prepare_groups
	skip_unless_charged
	local group
	mkdir "$GROUPS_AT/$MINE/plain/below"
	for group in plain plain/below; do
		start_recorder -G "$MINE/$group" -F 499
		(in_group plain/below "$(workload short)" 500 300) >truth 3>&-
		ctl set interval cpu-clock=1ms
		(in_group plain/below "$(workload short)" 500 300) >truth 3>&-
		[ $group = plain ] || rmdir "$GROUPS_AT/$MINE/plain/below"
		end_recorder
		run_arcprof report --account trace
		[ $group != plain ] || [ "$status" -eq 0 ]
		[ $group = plain ] || [ "$status" -eq 1 ]
		arcprof report --check trace >check || { cat check; return 1; }
	done
}

@test "record -G: the account of the root group is the machine's" {
	prepare_groups
	skip_unless_charged
	[ ! -e "$GROUPS_AT/cgroup.type" ] || skip "what is mounted is a group of a container"
	start_burners
	arcprof record -q --no-java --call-graph no -G / -F 997 -d 1.5 -o trace
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(of '.threads[0].name | .[:3]')" = CPU ]
	[ "$(of '.totals.share > .8 and .totals.share < 1.2')" = true ]
}

@test "record -G: a JVM that starts in a container meanwhile is named, and nothing outside the group is recorded" {
	prepare_groups
	use_any_jdk
	unshare --mount --pid --fork --mount-proc true 2>/dev/null || skip "no namespaces can be made here"
	(in_group "docker-$ID.scope" sh -c 'while :; do :; done') 3>&- &
	mkfifo live.in
	start_recorder -G "$MINE/plain" -F 199
	(in_group plain unshare --mount --pid --fork --mount-proc sh -c "mount -t tmpfs none /mnt && cp -r '$CLASSES'/Live*.class /mnt &&
		mount -t tmpfs none /tmp && mount -t tmpfs none /var/tmp && exec java -cp /mnt Live" <live.in >live.out 2>java.err) 3>&- &
	exec 7>live.in
	attached_jvm
	echo spin 400 >&7
	exec 7>&-
	wait $!
	end_recorder
	arcprof report -i trace --check
	arcprof report -i trace --xprof --format json >xprof
	jq -e '[.rows[] | select(.name == "Live.spin") | .cum[0]] | add > 100000000' xprof
	jq -e 'any(.rows[]; .kind == "thread" and .name == "main")' xprof
	# a process that ends at once, such as the one that moves itself there, may be gone before its group is read
	[ "$(n_of --cgroup "$MINE/plain")" -ge "$(($(n_of) - 2))" ]
	run_arcprof query trace "SELECT DISTINCT cgroup FROM processes"
	[ "${output##*$'\n'}" = "/$MINE/plain" ]
	arcprof report --check trace >check || { cat check; return 1; }
	grep -q 'accounts = what was counted' check
	run_arcprof record -G "$MINE/none" -d 10ms
	[ "$status" -eq 125 ] || [ "$status" -eq 1 ]
	[[ $stderr == *"no control group '$MINE/none'"* ]]
	run_arcprof record -G "$MINE/plain" --sched -d 10ms
	[ "$status" -eq 2 ]
	[[ $stderr == *"cannot be combined: --cgroup and --sched"* ]]
}

@test "record -G: a JVM is sampled while it is in the group" {
	prepare_groups
	skip_unless_charged
	use_any_jdk
	start_live
	echo "$LIVE" >"$GROUPS_AT/$MINE/plain/cgroup.procs"
	start_recorder -G "$MINE/plain" -F 499
	say spin 300
	echo "$LIVE" >"$GROUPS_AT/$MINE/docker-$ID.scope/cgroup.procs"
	sleep .5	# until it is noticed
	say spin 600
	echo "$LIVE" >"$GROUPS_AT/$MINE/plain/cgroup.procs"
	sleep .5
	say spin 300
	end_recorder
	end_live
	arcprof report --account trace
	arcprof report --check trace >check || { cat check; return 1; }
	[ "$(of '.totals.share > .8 and .totals.share < 1.2')" = true ]
	arcprof report -i trace --xprof --format json | jq -e '[.rows[] | select(.name == "Live.spin")] | length > 0'
	# what two events count of its threads is counted once
	arcprof dump trace | sed -n 's/.* key="event.0.rate_hz" value="\([0-9]*\).*/\1/p' >rate
	[ "$(cat rate)" -gt 400 ]
}
