#!/usr/bin/env bats
load ../lib

@test "kmod: its decoder knows branches, and their lengths, as objdump does" {
	skip_unless_command objdump
	[ "$(uname -m)" = x86_64 ] || skip "decodes x86-64 code only"
	make -s -C "$TOP" build/t/tools/kbranch >&2
	objdump -d -w --insn-width=15 "$(ldd "$(command -v bash)" | awk '$1 == "libc.so.6" { print $3 }')" |
		"$BUILD/t/tools/kbranch" >result || { cat result; return 1; }
	cat result
	# all that there are to be found were
	for kind in call ret jmp 'call \*' 'jmp \*' cond; do
		grep -qE "^[1-9][0-9]{2,} $kind\$" result
	done
}

@test "kmod: what DKMS needs is installed, sources alone" {
	make -s -C "$TOP" kmod-install DESTDIR="$PWD/root" MODULE_VERSION=1.2.3 >&2
	cd root/usr/src/arcprof-1.2.3
	grep -qx 'PACKAGE_VERSION="1.2.3"' dkms.conf
	for object in $(sed -n 's/.*:\?= *//p' Kbuild | tr ' ' '\n' | grep '\.o$' | grep -vx arcprof.o); do
		[ -f "${object%.o}.c" ]
	done
	[ -f x86/cpu.h ]
	[ -f arm64/cpu.h ]
	! ls ./*.o ./*.ko ./*.mod.c 2>/dev/null | grep . || false
}

@test "kmod: without the headers of the kernel the build says what is missing" {
	run make -C "$TOP/kmod" KDIR="$PWD/none"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output == *"headers"* ]]
}

@test "vm: a plan that cannot run here is skipped, with the reason" {
	mkdir bin
	for p in sh awk sed grep dirname basename ls cat mkdir head tail cp; do
		ln -s "$(command -v $p)" bin/
	done
	run env PATH="$PWD/bin" "$TOP/t/vm/check" x86_64-stable boot
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output == *"ok 1 - x86_64-stable # SKIP qemu-system-x86_64 is not installed"* ]]
	[[ $output == *"1..1" ]]
}
