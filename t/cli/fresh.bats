# bats file_tags=stored
# A bare machine (t/fresh), with a tree of a few of this machine's programs in place of debootstrap's; and turns (t/turn).
load ../lib

setup_file() {
	[ "$(id -u)" -eq 0 ] || return 0
	cd "$BATS_FILE_TMPDIR" || return 1
	mkdir -p bin checkout/t var
	cat >bin/debootstrap <<-'END'
		#!/bin/bash
		[ "$2" = small ] || { echo "E: No such script: $2"; exit 1; }
		tree=$3
		mkdir -p "$tree"/{etc/apt/apt.conf.d,etc/dpkg/dpkg.cfg.d,var/cache/apt/archives,proc,sys,dev,run,mnt,srv,tmp,bin}
		for program in bash sh ls cat env sleep mount umount tty mkdir id; do
			file=$(command -v $program)
			cp -L "$file" "$tree/bin/"
			ldd "$file" | grep -o '/[^ ]*' | xargs -I{} cp -L --parents {} "$tree"
		done
	END
	chmod +x bin/debootstrap
	cp "$TOP/t/fresh" "$TOP/t/install" "$TOP/t/packages" checkout/t/
	cd checkout && git init -q && git add . &&
		git -c user.name=t -c user.email=t@t commit -q -m one && echo later >not-committed
}

# A fresh tree of "small": what it says is in out, its status in $status.
fresh() {
	status=0
	PATH=$BATS_FILE_TMPDIR/bin:$PATH TMPDIR=$PWD FRESH_MIRROR=${MIRROR-http://127.0.0.1:9/} FRESH_CACHE=${CACHE-} \
		SECRET=1 "$BATS_FILE_TMPDIR/checkout/t/fresh" "$@" >out 2>&1 </dev/null || status=$?
	cat out
}

skip_unless_it_can() {
	skip_unless_root
	skip_unless_command git
	unshare --mount true 2>/dev/null || skip "no namespaces can be made here"
}

@test "t/fresh: a command runs in a clone of the last commit, with nothing of the machine, and its status is kept" {
	skip_unless_it_can
	fresh small sh -c 'cd t && ls && cd .. && ls && tty; id -u; env; (sleep 1008 &) ; sleep 1008 & exit 7'
	[ "$status" -eq 7 ]
	grep -qx fresh out
	grep -qx 'not a tty' out
	! grep -q 'not-committed\|SECRET\|FRESH' out || false
	! pgrep -f -x 'sleep 1008' || false
	[ -z "$(ls -d arcprof-fresh.* 2>/dev/null)" ]
	! grep -q "$PWD" /proc/mounts || false
}

@test "t/fresh: what is killed leaves nothing that runs or is mounted, and its tree goes with the next" {
	skip_unless_it_can
	PATH=$BATS_FILE_TMPDIR/bin:$PATH TMPDIR=$PWD FRESH_MIRROR=http://127.0.0.1:9/ FRESH_CACHE='' \
		"$BATS_FILE_TMPDIR/checkout/t/fresh" small sh -c 'echo up >/srv/up; sleep 1007; true' >out 2>&1 3>&- &
	fresh=$!
	for _ in {1..600}; do
		[ ! -e arcprof-fresh.*/tree/srv/up ] || break
		kill -0 $fresh
		sleep .1
	done
	[ -e arcprof-fresh.*/tree/srv/up ]
	sleeping=$(pgrep -f -x 'sleep 1007')
	kill -KILL $fresh
	wait $fresh || true
	for _ in {1..100}; do
		[ -e "/proc/$sleeping" ] || break
		sleep .1
	done
	[ ! -e "/proc/$sleeping" ]
	! grep -q "$PWD" /proc/mounts || false
	ls -d arcprof-fresh.*
	fresh small ls
	[ -z "$(ls -d arcprof-fresh.* 2>/dev/null)" ]
}

@test "t/fresh: the second tree is made from the cache that the first left" {
	skip_unless_it_can
	CACHE=$PWD/cache fresh small ls
	[ "$status" -eq 0 ]
	printf '#!/bin/sh\nexit 1\n' >nothing
	chmod +x nothing
	mkdir bin
	mv nothing bin/debootstrap
	status=0
	PATH=$PWD/bin:$PATH TMPDIR=$PWD FRESH_MIRROR=http://127.0.0.1:9/ FRESH_CACHE=$PWD/cache \
		"$BATS_FILE_TMPDIR/checkout/t/fresh" small ls
}

@test "t/fresh: -w runs in the working tree itself, -k leaves the tree for the next time" {
	skip_unless_it_can
	fresh -w -k kept small sh -c 'cat not-committed; echo of the tree >t/made; echo of the release >/srv/left; ls /srv'
	[ "$status" -eq 0 ]
	grep -qx later out
	! grep -qx arcprof out || false
	[ "$(cat "$BATS_FILE_TMPDIR/checkout/t/made")" = "of the tree" ]
	rm "$BATS_FILE_TMPDIR/checkout/t/made"
	! grep -q "$PWD" /proc/mounts || false
	fresh -k kept nosuch cat /srv/left
	[ "$status" -eq 0 ]
	grep -qx "of the release" out
}

@test "t/fresh: a shallow clone whose HEAD is detached, of another owner, will do" {
	skip_unless_it_can
	git clone -q --depth 1 "file://$BATS_FILE_TMPDIR/checkout" shallow
	git -C shallow checkout -q --detach
	chown -R 12345 shallow
	PATH=$BATS_FILE_TMPDIR/bin:$PATH TMPDIR=$PWD FRESH_MIRROR=http://127.0.0.1:9/ FRESH_CACHE='' \
		shallow/t/fresh small cat .git/shallow >out
	[ "$(cat out)" = "$(git -C "$BATS_FILE_TMPDIR/checkout" rev-parse HEAD)" ]
}

@test "t/fresh: an obstacle is reported in one line" {
	skip_unless_it_can
	fresh nosuch true
	[ "$status" -eq 125 ]
	[ "$(tail -n 1 out)" = "t/fresh: cannot make a tree of nosuch from http://127.0.0.1:9/" ]
	fresh small
	[ "$status" -eq 125 ]
	[ "$(cat out)" = "t/fresh: usage: t/fresh [-w] [-k <folder>] <suite> <command> [<argument>...]" ]
	status=0
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	as_nobody "$BATS_FILE_TMPDIR/checkout/t/fresh" small true >out 2>&1 || status=$?
	[ "$status" -eq 125 ]
	grep -qx 't/fresh: needs root, to make a tree with debootstrap and to mount file systems in it' out
	[ -z "$(ls -d arcprof-fresh.* 2>/dev/null)" ]
}

@test "t/turn: one command at a time, before what t/beside has started, and its status is kept" {
	local status=0
	: >turn
	for i in 1 2 3; do
		"$TOP/t/turn" sh -c 'echo in; sleep .1; echo out' 9<turn >>said &
	done
	wait
	[ "$(xargs <said)" = "in out in out in out" ]
	# shellcheck disable=SC2016
	setsid -w "$TOP/t/beside" -n 10 sh -c '"$1" sh -c "nice; sed s/.*-[0-9]*.// /proc/self/autogroup; exit 7"
		echo $?; nice; sed s/.*-[0-9]*.// /proc/self/autogroup' sh "$TOP/t/turn" 9<turn >said || status=$?
	cat said
	[ "$status" -eq 0 ]
	if [ "$(id -u)" -eq 0 ] && [ -e /proc/self/autogroup ]; then
		[ "$(xargs <said)" = "0 nice 0 7 10 nice 10" ]
	else
		[[ "$(xargs <said)" == *" 7 10"* ]]
	fi
}
