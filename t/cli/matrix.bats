#!/usr/bin/env bats
# What a program knows of itself is what arcprof says of it, on JVMs of this machine: t/matrix/run.  t/check runs this
# file in a tree that has the JDKs of all these tests (t/fresh, t/matrix/jdks), where it can make one.
# bats file_tags=matrix
load ../lib
load ../java

# Nothing is wrong, and what is missing has a reason.
all_is_right() {	# <version> <collector>...
	local version=$1 collectors=() home
	shift
	home=$(old_jdk "$version") || skip "no JDK $version is installed"
	skip_unless_perf
	for collector; do collectors+=(-c "$collector"); done
	"$TOP/t/matrix/run" -t 1500 "${collectors[@]}" "$home"
}

@test "matrix: JDK 8" {
	all_is_right 8 Serial
}

@test "matrix: JDK 11" {
	all_is_right 11 G1
}

@test "matrix: JDK 17" {
	all_is_right 17 G1 Z
}

@test "matrix: JDK 21" {
	all_is_right 21 G1 Z
}

@test "matrix: JDK 25" {
	all_is_right 25 G1 Z
}

@test "matrix: numbers and shares, which no clock decides" {
	skip_unless_java
	skip_unless_perf
	"$TOP/t/matrix/run" -n -t 1500 -c Serial "$(jdks | tail -n 1)"
}

# What no version is known of is there one day.
@test "matrix: the newest JDK" {
	newest=$(jdks | tail -n 1)
	version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$newest/release")
	[ "${version:-0}" -gt 25 ] || skip "no JDK after 25 is installed"
	all_is_right "$version" G1 Z
}
