#!/bin/bash
# The units of systemd, as the package installs them, on a machine of their own: a Debian tree (t/fresh) with systemd as
# PID 1, a server of ClickHouse and JVMs, booted by QEMU's emulation. In it they are enabled as the
# how-to "a fleet in ten minutes" says, and then: record and name Java, answer ctl, push, live on after a SIGKILL,
# refuse wrong options at once, and stop in order. (What CPU time is there, emulation does not tell.)
#
# usage: t/stress/units.sh [SUITE]	a release of Debian, default bookworm. Needs root; installs what it takes
# Prints a line for each thing; the status is 1 when one failed. The console is in build/units/console.
set -u
cd "$(dirname "$0")/../.." || exit 1
suite=${1:-bookworm}
work=$PWD/build/units
[ "$(id -u)" -eq 0 ] || { echo "units.sh: needs root" >&2; exit 1; }
t/install build deb fresh || exit 1
command -v qemu-system-x86_64 >/dev/null || { echo "units.sh: needs qemu-system-x86_64 (package qemu-system-x86)" >&2; exit 1; }
PATH=$PATH:/usr/sbin:/sbin
command -v mke2fs >/dev/null || { echo "units.sh: needs mke2fs (package e2fsprogs)" >&2; exit 1; }
deb=$(t/deb | tail -n 1)
[ -f "$deb" ] || { echo "units.sh: there is no package" >&2; exit 1; }
mkdir -p "$work/classes"
javac --release 8 -nowarn -d "$work/classes" t/workloads/Passing.java 2>/dev/null || exit 1

# ---- the tree ----

# What runs in the machine, once it is up: a line for each thing, and "done".
cat >"$work/in-the-machine" <<'END'
#!/bin/bash
export LC_ALL=C.UTF-8
nr_failed=0

check() {	# <what> <command>...
	local what=$1
	shift
	if "$@" >/tmp/said 2>&1; then
		echo "ok - $what"
	else
		echo "not ok - $what"
		sed 's/^/# /' /tmp/said
		nr_failed=$((nr_failed + 1))
	fi
}

within() {	# <seconds> <command>...: it succeeds at last
	local until=$((SECONDS + $1))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$until" ] || return 1
		sleep 0.5
	done
}

property() {	# <unit> <property>
	systemctl show -P "$2" "$1"
}

nr_traces() {
	find /var/lib/arcprof -name '2*.arc' | wc -l
}

is_active() {
	[ "$(property "$1" ActiveState)" = active ]
}

more_traces() {	# <than>
	[ "$(nr_traces)" -gt "$1" ]
}

is_another() {	# <process>: the recorder runs, and is not that one
	[ "$(property arcprof MainPID)" -gt 1 ] && [ "$(property arcprof MainPID)" -ne "$1" ] &&
		arcprof ctl status | grep -q 'state: recording'
}


start_jvms() {
	local i
	for ((i = 0; i < 3; i++)); do
		setpriv --reuid nobody --regid nogroup --clear-groups \
			nice -n 10 java -Xmx16m -XX:+UseSerialGC -cp /srv/classes Passing 100000000 100000000 >/dev/null 2>&1 &
	done
}

names_java() {
	find /var/lib/arcprof -name '2*.arc' | sort | tail -n 3 | while read -r f; do
		arcprof report --xprof "$f" 2>/dev/null
	done | grep -q ' Passing\.burn$'
}

on_server() {	# at least that many traces
	local nr
	nr=$(curl -s 'http://127.0.0.1:8123/' --data-binary 'SELECT uniqExact(trace) FROM nodes') || return 1
	echo "$nr of $1"
	[ "$nr" -ge "$1" ]
}

figures() {
	local pid
	pid=$(property arcprof MainPID)
	echo "# $1: $(awk '/^VmRSS:/ { print int($2 / 1024) }' "/proc/$pid/status") MiB resident," \
		"$(awk '/^VmHWM:/ { print int($2 / 1024) }' "/proc/$pid/status") at most," \
		"$(($(property arcprof MemoryCurrent) >> 20)) in its control group;" \
		"$(property arcprof NRestarts) restarts; $(nr_traces) traces"
}

stays_below() {	# <MiB>
	local kib
	kib=$(awk '/^VmRSS:/ { print $2 }' "/proc/$(property arcprof MainPID)/status")
	echo "$kib KiB resident"
	[ "$kib" -le $(($1 * 1024)) ]
}

systemctl start clickhouse-server
within 120 curl -s http://127.0.0.1:8123/ping >/dev/null
check "the server's tables are made" arcprof fleet create -q http://127.0.0.1:8123/

check "nothing is enabled by the package" sh -c '! systemctl is-enabled arcprof arcprof-push'

# as the how-to says it
echo ARCPROF_URL=http://127.0.0.1:8123/ >>/etc/default/arcprof
echo 'ARCPROF_OPTIONS="-a -F 19 --segment 5s --keep 100M --max-cpu 1% --max-memory 100M"' >>/etc/default/arcprof
start_jvms
check "both are enabled and started" systemctl enable --now arcprof arcprof-push
check "the recorder runs" within 30 is_active arcprof
check "push runs" within 30 is_active arcprof-push
check "ctl status answers" within 60 sh -c 'arcprof ctl status | grep -q "state: recording"'
arcprof ctl status | sed 's/^/# /'
check "traces are written" within 60 more_traces 1
check "Java of another user has its names" within 60 names_java
check "traces are on the server" within 150 on_server 2
check "within 100 MiB" stays_below 100
figures "at rest"

pid=$(property arcprof MainPID)
nr=$(nr_traces)
kill -KILL "$pid"
check "it is started again after SIGKILL" within 90 is_another "$pid"
check "what was in hand has its name" more_traces "$nr"
check "and can be read" sh -c 'for f in /var/lib/arcprof/2*.arc; do arcprof report --xprof "$f" | grep -q " of cpu-clock " || exit 1; done'
check "Java has its names again" within 60 names_java
push=$(property arcprof-push MainPID)
kill -KILL "$push"
check "push is started again" within 90 sh -c "[ \"\$(systemctl show -P MainPID arcprof-push)\" -ne $push ] && systemctl is-active -q arcprof-push"
check "each trace is on the server once" within 150 on_server "$(nr_traces)"

check "restart" systemctl restart arcprof
check "it runs again" within 60 sh -c 'arcprof ctl status | grep -q "state: recording"'
check "stop" systemctl stop arcprof arcprof-push
check "it has ended in order" sh -c '[ "$(systemctl show -P Result arcprof)" = success ]'
check "nothing half is left" sh -c '! find /var/lib/arcprof -name "*.part" | grep .'
check "the last trace is whole" sh -c 'arcprof report --check "$(find /var/lib/arcprof -name "2*.arc" | sort | tail -n 1)"'

cp /etc/default/arcprof /tmp/default
echo 'ARCPROF_OPTIONS="--nosuch"' >>/etc/default/arcprof
systemctl start arcprof 2>/dev/null
check "wrong options: it ends" within 20 sh -c '[ "$(systemctl show -P ActiveState arcprof)" = failed ]'
sleep 1
check "and is not started again" sh -c '[ "$(systemctl show -P NRestarts arcprof)" -eq 0 ]'
cp /tmp/default /etc/default/arcprof
systemctl reset-failed arcprof
check "it starts again with others" systemctl start arcprof
check "and records" within 60 sh -c 'arcprof ctl status | grep -q "state: recording"'
check "the package's removal stops it" sh -c 'dpkg -r arcprof && ! systemctl is-active arcprof'
journalctl -b -o cat -u arcprof -u arcprof-push --no-pager | sed 's/^/# journal: /' | tail -n 60
echo "done, $nr_failed failed"
END
chmod 755 "$work/in-the-machine"

# Run in the tree.
cat >"$work/prepare" <<END
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends systemd-sysv linux-image-cloud-amd64 initramfs-tools \\
	openjdk-17-jre-headless curl clickhouse-server util-linux procps >/dev/null
dpkg -i "$PWD/$deb"
mkdir -p /srv/classes
cp $work/classes/*.class /srv/classes/
cp $work/in-the-machine /usr/local/sbin/
cat >/etc/systemd/system/try-units.service <<'UNIT'
[Unit]
Description=tries the units
[Service]
Type=exec
ExecStart=/bin/sh -c '/usr/local/sbin/in-the-machine >/dev/ttyS0 2>&1; systemctl poweroff'
[Install]
WantedBy=multi-user.target
UNIT
systemctl enable try-units
END
if ! t/fresh -w -k "$work/$suite" "$suite" sh "$work/prepare" >"$work/prepare.log" 2>&1; then
	tail -n 20 "$work/prepare.log" >&2
	exit 1
fi

# ---- the machine ----

tree=$work/$suite/tree
rm -f "$work/disk"
mke2fs -q -t ext4 -O ^has_journal -d "$tree" "$work/disk" "$(($(du -smx "$tree" | cut -f 1) + 1000))M" >&2 || exit 1
timeout -k 5 1500 qemu-system-x86_64 -accel tcg,thread=single -cpu max,-cx16 -smp 2 -m 3072 -no-reboot -nodefaults \
	-display none -serial stdio -drive "file=$work/disk,format=raw,if=virtio" \
	-kernel "$(find "$tree/boot" -name 'vmlinuz-*' | tail -n 1)" -initrd "$(find "$tree/boot" -name 'initrd.img-*' | tail -n 1)" \
	-append "console=ttyS0 root=/dev/vda rw panic=-1 systemd.mask=serial-getty@ttyS0.service mitigations=off tsc=reliable no_timer_check" \
	</dev/null >"$work/console" 2>&1
rm -f "$work/disk"
tr -d '\r' <"$work/console" | grep -E '^(ok|not ok) - |^# |^done, '
tr -d '\r' <"$work/console" | grep -qx 'done, 0 failed'
