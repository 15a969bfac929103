#!/usr/bin/env bats
# The classes of arcprof.jar for JMH, against the names it has (lib/api/java-stubs), and JUnit, the real one; the
# plugin for pytest, the real one.
load ../lib
load ../java

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	skip_unless_perf
}

@test "JMH: each fork is recorded after its warm-up, and its hottest functions are a result" {
	use_any_jdk
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
	use_any_jdk
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

@test "pytest: a marked test and the run are recorded, and fail when they are over budget" {
	python3 -c 'import pytest' 2>/dev/null || skip "pytest is not installed"
	export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 ARCPROF
	cp "$TOP/t/data/harness/test_shop.py" .
	echo '[total] base cpu <= 60 s' >wide.limits
	echo '[total] base cpu <= 1 us' >narrow.limits
	pytest=(python3 -m pytest -p arcprof.pytest -p no:cacheprovider)
	run "${pytest[@]}" --arcprof-budget wide.limits test_shop.py
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output == *"over budget ($PWD/arcprof-test_shop.py_test_over.data):"*"narrow.limits:1: violated: "* ]]
	[[ $output == *"recorded: $PWD/arcprof-pytest.data"*"1 failed, 2 passed"* ]]
	arcprof budget -q -f wide.limits arcprof-test_shop.py_test_within.data
	run "${pytest[@]}" --arcprof-budget narrow.limits --arcprof-options='-F 1000' --arcprof-output=run.data -k plain
	[[ $status -eq 1 && $output == *"over budget ($PWD/run.data):"*"narrow.limits:1: violated: "*"1 passed"* ]]
	ARCPROF=/nonexistent run "${pytest[@]}" --arcprof -k plain
	[[ $status -eq 4 && $output == *"arcprof cannot be started: "*"/nonexistent"* ]]
}
