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

@test "binary: stripped it is below 9.2 MB; with zstd 9.5 MB, or 10.6 MB where libelf needs all of it; with ncurses 0.3 MB more" {
	skip_unless_command strip
	strip -o stripped "$ARCPROF"
	size=$(stat -c %s stripped)
	echo "$size bytes"
	most=9200000
	[[ $(arcprof version) == *"zstd            not"* ]] || most=9500000	# 0.3 MB
	if pkgconf --static --libs libelf | grep -q zstd; then
		most=10600000
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

# Each file that "make install prefix=/usr" makes, where there is a compiler for Java and one for manual pages.
installed() {
	local file title
	cat <<-'END'
		usr/bin/arcprof
		usr/include/arcprof-trace.h
		usr/include/arcprof.h
		usr/lib/libarcprof-hookit.a
		usr/lib/libarcprof-java.so
		usr/lib/libarcprof.a
		usr/lib/pkgconfig/arcprof-trace.pc
		usr/lib/pkgconfig/arcprof.pc
		usr/lib/python3/dist-packages/arcprof/_tables.py
		usr/lib/systemd/system/arcprof-push.service
		usr/lib/systemd/system/arcprof.service
		usr/share/bash-completion/completions/arcprof
		usr/share/doc/arcprof/CHANGELOG.md
		usr/share/doc/arcprof/COPYING
		usr/share/doc/arcprof/README.md
		usr/share/doc/arcprof/examples/arcprof.default
		usr/share/fish/vendor_completions.d/arcprof.fish
		usr/share/java/arcprof.jar
		usr/share/zsh/site-functions/_arcprof
	END
	for file in "$TOP"/share/python/arcprof/*.py; do
		echo "usr/lib/python3/dist-packages/arcprof/${file##*/}"
	done
	for file in "$TOP"/Documentation/examples/*; do
		echo "usr/share/doc/arcprof/examples/${file##*/}"
	done
	for file in "$TOP"/Documentation/arcprof*.adoc; do
		title=$(sed -n '1s/^= //p' "$file")		# arcprof-trace(5)
		title=${title%)}
		echo "usr/share/man/man${title#*(}/${title%(*}.${title#*(}"
	done
}

@test "install: everything that belongs there is installed, and nothing else" {
	make -s -C "$TOP" install DESTDIR="$PWD/root" prefix=/usr >/dev/null
	find root ! -type d -printf '%P\n' | LC_ALL=C sort >found
	installed | LC_ALL=C sort >wanted
	command -v asciidoctor >/dev/null || sed -i '\|/man/|d' wanted
	command -v javac >/dev/null || sed -i '/java/d' wanted
	diff wanted found
	[ -x root/usr/bin/arcprof ]
	grep -qx 'ExecStart=/usr/bin/arcprof record $ARCPROF_OPTIONS -o /var/lib/arcprof/' root/usr/lib/systemd/system/arcprof.service
	grep -q '^ExecStart=/usr/bin/arcprof fleet push ' root/usr/lib/systemd/system/arcprof-push.service
	[ -z "$(find root -name '*.wants')" ]		# they are not enabled
	if command -v systemd-analyze; then
		sed -i "s|^ExecStart=/usr/bin/arcprof|ExecStart=$ARCPROF|" root/usr/lib/systemd/system/*.service
		systemd-analyze verify --man=no root/usr/lib/systemd/system/*.service 2>&1 | tee said
		[ ! -s said ]
	fi
	PYTHONPATH=root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 python3 -c "import arcprof; arcprof.Trace('$TOP/t/data/mixed/trace').metrics"
	mkdir -p root/var/cache/arcprof root/var/cache/arcprof-agent
	touch root/var/cache/arcprof/kept root/var/cache/arcprof-agent/placed
	make -s -C "$TOP" uninstall DESTDIR="$PWD/root" prefix=/usr >/dev/null
	[ -z "$(find root ! -type d)" ]
}

@test "install: the examples compile with what is installed, and run" {
	local example flags
	skip_unless_command pkg-config
	make -s -C "$TOP" install DESTDIR="$PWD/root" prefix=/usr STRIP= MAN_PAGES= >/dev/null
	flags=$(PKG_CONFIG_PATH=$PWD/root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root \
		PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config --cflags --libs arcprof)
	cd root/usr/share/doc/arcprof/examples
	for example in *.c; do
		# shellcheck disable=SC2086	# words
		gcc -Wall -Wextra -Werror -Wno-unused-parameter -pthread -o example "$example" $flags
		./example
	done
	command -v javac >/dev/null || return 0
	javac -cp ../../../java/arcprof.jar ThreadTimeExample.java
	java -cp ../../../java/arcprof.jar:. -Djava.library.path=../../../../lib ThreadTimeExample | grep -E '[0-9] ms'
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
