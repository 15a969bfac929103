#!/usr/bin/env bats
# bats file_tags=stored
load ../lib

@test "binary: it is a static position-independent executable that needs nothing" {
	skip_unless_command readelf
	readelf -hW "$ARCPROF" | grep -q 'Type: *DYN'
	readelf -dW "$ARCPROF" >dynamic
	! grep NEEDED dynamic || false
	readelf -lW "$ARCPROF" >segments
	! grep INTERP segments || false
	file "$ARCPROF" | grep -q 'static-pie linked'
}

@test "binary: stripped it is below 9.1 MB; with zstd 9.4 MB, or 10.5 MB where libelf needs all of it; with ncurses 0.3 MB more" {
	skip_unless_command strip
	strip -o stripped "$ARCPROF"
	size=$(stat -c %s stripped)
	echo "$size bytes"
	most=9100000
	[[ $(arcprof version) == *"zstd            not"* ]] || most=9400000	# 0.3 MB
	if pkgconf --static --libs libelf | grep -q zstd; then
		most=10500000
	fi
	[[ $(arcprof version) == *"ncurses         not"* ]] || most=$((most + 300000))
	[ "$size" -lt $most ]
}

@test "binary: it runs in an empty root" {
	skip_unless_root
	mkdir root
	cp "$ARCPROF" root/arcprof
	run chroot root /arcprof --version
	[ "$status" -eq 0 ]
	run chroot root /arcprof doctor
	[ "$status" -eq 0 ]
}

@test "binary: without sysfs it still samples every CPU" {
	skip_unless_root
	skip_unless_perf
	unshare -m true 2>/dev/null || skip "no mount namespace can be made"
	# the clock of an idle CPU may not tick: each has something to do, and ends by itself
	for cpu in $(seq 0 $(($(getconf _NPROCESSORS_ONLN) - 1))); do
		taskset -c "$cpu" timeout 2 sh -c 'while :; do :; done' 3>&- &
	done
	unshare -m sh -c 'mount -t tmpfs none /sys && exec "$0" record -q -a --no-java -d 0.5' "$ARCPROF"
	for cpu in $(seq 0 $(($(getconf _NPROCESSORS_ONLN) - 1))); do
		arcprof report --cpu "$cpu" --xprof | head -n 1 >head
		cat head
		! grep -q ' 0 samples' head || false
	done
}

@test "binary: no stack or segment is executable and writable" {
	skip_unless_command readelf
	readelf -lW "$ARCPROF" >segments
	! grep -E 'RWE' segments || false
}

@test "install: all that belongs there, and nothing else" {
	make -s -C "$TOP" install DESTDIR="$PWD/root" prefix=/usr >/dev/null
	[ -x root/usr/bin/arcprof ]
	[ -f root/usr/share/bash-completion/completions/arcprof ]
	[ -f root/usr/share/zsh/site-functions/_arcprof ]
	[ -f root/usr/share/fish/vendor_completions.d/arcprof.fish ]
	[ -f root/usr/share/doc/arcprof/COPYING ]
	[ -f root/usr/lib/libarcprof.a ]
	grep -qx 'ExecStart=/usr/bin/arcprof record $ARCPROF_OPTIONS -o /var/lib/arcprof/' root/usr/lib/systemd/system/arcprof.service
	grep -q '^ExecStart=/usr/bin/arcprof fleet push ' root/usr/lib/systemd/system/arcprof-push.service
	[ -z "$(find root -name '*.wants')" ]		# they are not enabled
	if command -v systemd-analyze; then
		sed -i "s|^ExecStart=/usr/bin/arcprof|ExecStart=$ARCPROF|" root/usr/lib/systemd/system/*.service
		systemd-analyze verify --man=no root/usr/lib/systemd/system/*.service 2>&1 | tee said
		[ ! -s said ]
	fi
	[ -f root/usr/include/arcprof.h ]
	[ -f root/usr/include/arcprof-trace.h ]
	[ -f root/usr/lib/pkgconfig/arcprof.pc ]
	[ -f root/usr/lib/pkgconfig/arcprof-trace.pc ]
	[ -f root/usr/share/doc/arcprof/examples/thread-time.c ]
	[ -f root/usr/lib/python3/dist-packages/arcprof/__init__.py ]
	PYTHONPATH=root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 python3 -c "import arcprof; arcprof.Trace('$TOP/t/data/mixed/trace').metrics"
	if command -v asciidoctor >/dev/null; then
		for c in $(arcprof --dump commands); do
			[ -f "root/usr/share/man/man1/arcprof-$c.1" ]
		done
	fi
	mkdir -p root/var/cache/arcprof root/var/cache/arcprof-agent
	touch root/var/cache/arcprof/kept root/var/cache/arcprof-agent/placed
	make -s -C "$TOP" uninstall DESTDIR="$PWD/root" prefix=/usr >/dev/null
	[ -z "$(find root -type f)" ]
}

@test "install: the binary is stripped, and nothing that is built already is built again as another user" {
	skip_unless_root
	mkdir tree
	git -C "$TOP" ls-files -z | tar -c -C "$TOP" --null -T - -f - | tar -x -C tree --no-same-owner
	mkdir tree/build
	sh -c 'cd tree && git init -q && git add -A . && git -c user.name=n -c user.email=e@e commit -qm m && sh ./GIT-VERSION-GEN build/version.h'
	grep -q 'g[0-9a-f]' tree/build/version.h
	cp tree/build/version.h before
	chown -R 12345 tree
	(cd tree && sh ./GIT-VERSION-GEN build/version.h)
	cmp tree/build/version.h before
	make -s -C "$TOP" install DESTDIR="$PWD/root" prefix=/usr >/dev/null
	readelf -SW root/usr/bin/arcprof >sections
	! grep -q '\.symtab' sections || false
}

@test "install: a source archive has the manual pages, for those without asciidoctor" {
	skip_unless_command asciidoctor
	archive=$TOP/$(make -s -C "$TOP" dist | tail -n 1)
	tar -tzf "$archive" >files
	rm -f "$archive"
	for c in $(arcprof --dump commands); do
		grep -q "/man/arcprof-$c.1$" files
	done
	grep -q '/man/arcprof-trace.5$' files
}

@test "t/install: a user who may not install sees what to type" {
	skip_unless_root
	tree=$BATS_RUN_TMPDIR/tree	# where others may go
	mkdir -p "$tree/t"
	cp "$TOP/t/install" "$tree/t/"
	echo "build nosuch-package nosuch-command" >"$tree/t/packages"
	chmod -R a+rX "$BATS_RUN_TMPDIR" "$tree"
	status=0
	as_nobody sh "$tree/t/install" build >out 2>&1 || status=$?
	cat out
	[ "$status" -eq 1 ]
	grep -qx 'hint: sudo apt-get install --no-install-recommends nosuch-package' out
}

@test "t/install: --list names what is missing, for the clang that is there, and nothing twice" {
	mkdir -p tree/t bin
	cp "$TOP/t/install" tree/t/
	cat >tree/t/packages <<-'END'
		test  there                 sh
		test  nosuch-package        nosuch-command
		test  nosuch-file?          /nosuch/file
		test  rt-CLANG-dev          clang:rt.MACHINE.a
		build nosuch-other          nosuch-other
	END
	printf '#!/bin/sh\necho "package known"\n' >bin/apt-cache
	cat >bin/clang <<-'END'
		#!/bin/sh
		case $1 in
		-dumpversion) echo 19.1.7 ;;
		-print-file-name=*) echo "${1#*=}" ;;	# as clang says it of a file that it does not find
		esac
	END
	chmod +x bin/*
	[ "$(PATH=$PWD/bin:$PATH sh tree/t/install --list test)" = " nosuch-package nosuch-file rt-19-dev" ]
	touch "tree/rt.$(uname -m).a"
	[ "$(PATH=$PWD/bin:$PATH sh tree/t/install --list test)" = " nosuch-package nosuch-file" ]
}

@test "make: what is missing to build is one line with the names of its packages" {
	mkdir -p tree/t
	cp "$TOP/t/needs" tree/t/
	printf '#!/bin/sh\n[ "$*" = "--list build" ] && echo " libone-dev two"\n' >tree/t/install
	chmod +x tree/t/install
	printf 'BUILD = build\ninclude build/needs.mk\nall: ; @echo built\n' >tree/Makefile
	mkdir tree/build
	CC=false CFLAGS='' LINK='' LDLIBS='' tree/t/needs build >tree/build/needs.mk
	status=0
	make -C tree >out 2>&1 || status=$?
	cat out
	[ "$status" -eq 2 ]
	[ "$(grep -c 'to build arcprof, install libone-dev two' out)" -eq 1 ]
	[ "$(grep -vc 'directory' out)" -eq 1 ]
	# it asks again
	[ ! -e tree/build/needs.mk ]
}

@test "make: a goal that few use names the package of a tool that is missing, before it builds" {
	for goal in deb man; do
		status=0
		make -C "$TOP" ASCIIDOCTOR=nosuch-tool MAN_READY= V=1 -W Documentation/arcprof.adoc \
			-o build/arcprof "$goal" >out 2>&1 || status=$?
		cat out
		[ "$status" -eq 2 ]
		grep -q 'nosuch-tool is not installed' out
		! grep -q 'arcprof.deb' out || false
	done
}

@test "package: the Debian package depends on nothing and holds the binary, the same each time" {
	skip_unless_command dpkg-deb
	export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
	deb=$TOP/$(make -s -C "$TOP" deb | tail -n 1)
	mv "$deb" first.deb
	make -s -C "$TOP" deb
	cmp "$deb" first.deb
	dpkg-deb --field "$deb" >control
	grep -q '^Package: arcprof$' control
	! grep -q '^Depends:' control || false
	dpkg-deb --fsys-tarfile "$deb" | tar -t >files
	grep -qx './usr/bin/arcprof' files
	# what recordings keep stays until it is purged
	dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./postrm | sed "s|/var/|$PWD/var/|g" >postrm
	mkdir -p var/cache/arcprof
	touch var/cache/arcprof/kept
	sh postrm remove
	[ -e var/cache/arcprof/kept ]
	sh postrm purge
	[ ! -e var/cache/arcprof ]
	rm -f "$deb"
}
