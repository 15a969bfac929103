# shellcheck shell=bash
# jdks.bash - java.bash for tests that run on each JDK: all compile the programs of t/workloads before the first test.
load ../java

setup_file() {
	prepare_jdks
}
