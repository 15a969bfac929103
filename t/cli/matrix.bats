#!/usr/bin/env bats
# What a program knows of itself is what arcprof says of it, on JVMs of this machine: t/matrix/run.
load ../lib
load ../java

# Nothing is wrong, and what is missing has a reason.
all_is_right() {	# <home of a JDK>
	skip_unless_java
	skip_unless_perf
	"$TOP/t/matrix/run" -t 1500 "$1"
}

@test "matrix: JDK 8" {
	home=$(old_jdk 8) || skip "no JDK 8 is installed"
	all_is_right "$home"
}

@test "matrix: JDK 11" {
	home=$(old_jdk 11) || skip "no JDK 11 is installed"
	all_is_right "$home"
}

@test "matrix: the newest JDK" {
	all_is_right "$(jdks | tail -n 1)"
}
