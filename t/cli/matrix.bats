#!/usr/bin/env bats
# What a program knows of itself is what arcprof says of it, on JVMs of this machine: t/matrix/run.
load ../lib
load ../java

# Nothing is wrong, and what is missing has a reason.
all_is_right() {	# <home of a JDK> <collector>...
	local home=$1 collectors=()
	shift
	skip_unless_java
	skip_unless_perf
	for collector; do collectors+=(-c "$collector"); done
	"$TOP/t/matrix/run" -t 1500 "${collectors[@]}" "$home"
}

@test "matrix: JDK 8" {
	home=$(old_jdk 8) || skip "no JDK 8 is installed"
	all_is_right "$home" Serial
}

@test "matrix: JDK 11" {
	home=$(old_jdk 11) || skip "no JDK 11 is installed"
	all_is_right "$home" Serial G1
}

@test "matrix: the oldest of the newer JDKs" {
	[ "$(jdks | wc -l)" -gt 1 ] || skip "one JDK from 16 on is installed"
	all_is_right "$(jdks | head -n 1)" G1 Z
}

@test "matrix: the newest JDK" {
	all_is_right "$(jdks | tail -n 1)" G1 Z
}
