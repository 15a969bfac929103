#!/usr/bin/env bats
# The classes of arcprof.jar for JMH, against the names it has (lib/api/java-stubs), and JUnit, the real one.
load ../lib
load ../java

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	skip_unless_perf
	use_any_jdk
}

@test "JMH: each fork is recorded after its warm-up, and its hottest functions are a result" {
	classes=$BUILD/java-stubs:$BUILD/arcprof.jar:.
	compile_java -cp "$classes" -d . "$TOP/t/data/harness/Forks.java" "$TOP/Documentation/examples/Orders.java"
	run java -cp "$classes" Forks "arcprof=$ARCPROF;limit=9;delay=0" java -cp . Orders 0.5
	[ "$status" -eq 0 ]
	[[ $output == "$ARCPROF record -q -D 0ms -o ./b.Orders.price_n_30-1.data -- java -cp . Orders 0.5"* ]]
	grep -q '^arcprof: \./b\.Orders\.price_n_30-1\.data$' <<<"$output"
	grep -q ' Orders\.price$' <<<"$output"
	# the warm-up is twice 20 ms, and a JVM starts within a second; a second fork has a file of its own
	run java -cp "$classes" Forks "arcprof=$ARCPROF;events=cpu-clock;dir=.;limit=0" true
	[[ $output == "$ARCPROF record -q -D 1040ms -o ./b.Orders.price_n_30-2.data -e cpu-clock -- true"* ]]
	run java -cp "$classes" Forks "nosuch=1" true
	[[ $status -ne 0 && $output == *"unknown option 'nosuch=1'"* ]]
}

@test "JUnit: a class is recorded, and fails when it is over budget" {
	jars=/usr/share/java
	[ -e $jars/junit-jupiter-engine.jar ] || skip "JUnit 5 is not installed"
	classes=.:$BUILD/arcprof.jar:$jars/picocli.jar:$jars/opentest4j.jar:$jars/opentest4j-reporting-events.jar
	classes=$classes:$jars/opentest4j-reporting-schema.jar:$jars/apiguardian-api.jar
	for jar in jupiter-api jupiter-engine platform-commons platform-console platform-engine platform-launcher platform-reporting; do
		classes=$classes:$jars/junit-$jar.jar
	done
	compile_java -cp "$classes" -d . "$TOP/t/data/harness/ShopTest.java"
	for most in 3 2; do
		echo "ShopTest\$Shop.query n <= $most per ShopTest\$Shop.handle" >limits
		run java -Dlimits=limits "-Darcprof=$ARCPROF" -cp "$classes" org.junit.platform.console.ConsoleLauncher -c ShopTest
		echo "$output"
		[ "$status" -eq $((3 - most)) ]
		grep -q '1 tests successful' <<<"$output"
	done
	grep -q 'over budget (arcprof-ShopTest.data)' <<<"$output"
	grep -q 'limits:1: violated: .* is 3, limit <= 2' <<<"$output"
}
