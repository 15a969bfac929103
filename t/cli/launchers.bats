#!/usr/bin/env bats
# What a program prints, and how it ends, is the same with and without recording: for each way of starting a JVM, which must
# really be recorded, and for programs that start none.
# bats file_tags=stored
load ../lib
load ../jdks

# same <status> <JVMs> <program> [<arg>...]: ends so, bare and recorded; so many JVMs told the recorder of themselves.
same() {
	local want=$1 jvms=$2 bare=0 recorded=0 got
	shift 2
	"$@" >bare.out 2>bare.err </dev/null || bare=$?
	"$ARCPROF" record -q -o trace -- "$@" >out 2>err </dev/null || recorded=$?
	echo "$* (status $bare, recorded $recorded)"
	cmp bare.out out || { diff bare.out out; return 1; }
	cmp bare.err err || { diff bare.err err; return 1; }
	[ "$bare" -eq "$want" ]
	[ "$recorded" -eq "$want" ]
	"$ARCPROF" dump -i trace --format json >dump
	got=$(jq '[.records[] | select(.name == "stub") | .fields.proc] | unique | length' dump)
	[ "$got" -eq "$jvms" ] || { echo "$got JVMs, not $jvms"; return 1; }
}

tools() {
	same 0 1 sh -c 'java -version 2>&1 | head -n 1'
	same 1 1 java -cp "$CLASSES" NoSuchClass
	echo 'class A { public static void main(String[] a) { System.exit(5); } }' >A.java
	same 0 1 javac A.java
	same 5 1 java A
	same 0 1 jar cvf a.jar A.class
	grep -q A.class out
}
@test "launchers: java, javac, jar and a pipeline" {
	one_jdk newest tools
}

@test "launchers: a script that starts a JVM" {
	skip_unless_perf
	skip_unless_command mvn
	same 0 1 mvn -v
}

families() {
	same 0 2 java -cp "$CLASSES" Family 10 java -cp "$CLASSES" Family 10
}
@test "launchers: a JVM that starts a JVM" {
	one_jdk oldest families
}

cleared() {
	same 0 1 env -i "$JAVA_HOME/bin/java" -cp "$CLASSES" Family 10
	echo 'class B { public static void main(String[] a) throws Exception {
		ProcessBuilder b = new ProcessBuilder(a).inheritIO();
		b.environment().clear();
		System.exit(b.start().waitFor()); } }' >B.java
	javac B.java
	same 0 2 java B "$JAVA_HOME/bin/java" -cp "$CLASSES" Family 10
}
@test "launchers: a JVM that is started with a cleared environment" {
	one_jdk oldest cleared
}

@test "launchers: whatever function runs it, a program gets the variables it lacks, and the rest unchanged" {
	skip_unless_perf
	gcc -Wall -O2 "$TOP/t/launchers/runs.c" -o runs
	for how in execv execve execvp execvpe spawn spawnp fork-null; do
		echo "$how"
		PATH=$PWD:$PATH ./runs "$how" >want
		PATH=$PWD:$PATH arcprof record -q -o trace -- ./runs "$how" >out
		grep -vE '^(LD_PRELOAD|ARCPROF_AGENT|ASAN_OPTIONS)=' out | diff want -
		[ "$(grep -cE '^(LD_PRELOAD|ARCPROF_AGENT|ASAN_OPTIONS)=' out)" -eq 3 ]
	done
	arcprof record -q -o trace -- env -i LD_PRELOAD=libc.so.6 ASAN_OPTIONS=detect_leaks=0 env >out
	grep -q '^LD_PRELOAD=libc.so.6:/.*/preload-[^:]*$' out
	grep -q '^ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0$' out
	arcprof record -q -o trace -- env -i ./runs missing
}

# Its options are listed in what the second JVM prints of its environment.
assembled() {
	mkdir -p only
	cp "$CLASSES/Family.class" only/
	jar cf family.jar -C only Family.class
	java -XX:AOTCacheOutput=bare.aot -cp family.jar Family 10 2>want >/dev/null
	arcprof record -q -o trace -- java -XX:AOTCacheOutput=bare.aot -cp family.jar Family 10 2>err >/dev/null
	grep '^Picked up' want
	grep '^Picked up' err | diff - <(grep '^Picked up' want)
}
@test "launchers: a JVM that hands its options to another one" {
	skip_unless_perf
	on_each_jdk 25 assembled
}

image() {
	jlink --add-modules java.base,java.management --output image
	same 0 1 image/bin/java -cp "$CLASSES" Family 10
}
@test "launchers: an image made by jlink" {
	one_jdk newest image
}

hosts() {
	local flags="-Wall -O2 -I$JAVA_HOME/include -I$JAVA_HOME/include/linux" lib=$JAVA_HOME/lib/server
	gcc $flags "$TOP/t/launchers/host.c" -o host
	same 3 1 ./host "$lib/libjvm.so"
	gcc $flags -DLINKED "$TOP/t/launchers/host.c" -L"$lib" -ljvm -Wl,-rpath,"$lib" -o host
	same 3 1 ./host
	grep -q '^1 option$' out
}
@test "launchers: a program that loads libjvm, and one that is linked with it" {
	one_jdk newest hosts
}

@test "launchers: programs that start no JVM: dlsym, static, sanitizers, setuid" {
	skip_unless_perf
	gcc -Wall -O2 "$TOP/t/launchers/lookups.c" -o lookups
	same 0 0 ./lookups
	grep -q '^next puts: found$' out
	grep -q '^own JVM: not found, an error$' out

	echo 'int printf(const char *, ...); int geteuid(void); int main(void) { printf("%d\n", geteuid()); return 4; }' >p.c
	gcc -static p.c -o static
	same 4 0 ./static
	if gcc -fsanitize=address p.c -o asan 2>/dev/null; then
		same 4 0 ./asan
		same 4 0 env ASAN_OPTIONS=detect_leaks=0 ./asan
	fi
	if gcc -fsanitize=thread p.c -o tsan 2>/dev/null; then
		same 4 0 ./tsan
	fi
	if [ "$(id -u)" -eq 0 ]; then
		gcc p.c -o setuid
		chmod 4755 setuid
		chmod 711 "$BATS_RUN_TMPDIR" . ..
		same 4 0 setpriv --reuid=65534 "$PWD/setuid"
		grep -qx 0 out
	fi
}

@test "launchers: programs of musl" {
	skip_unless_perf
	skip_unless_command musl-gcc
	musl-gcc -Wall -O2 "$TOP/t/launchers/lookups.c" -o lookups
	readelf -l lookups | grep -q ld-musl
	same 0 0 ./lookups
	grep -q '^next puts: found$' out
	# its dynamic linker does not know $PLATFORM
	musl-gcc -Wall -O2 "$TOP/t/launchers/maps.c" -o maps
	arcprof record -q -o trace -- ./maps | grep -q '/preload-[^/]*-$PLATFORM.so$'
}

@test "launchers: programs of 32 bits" {
	skip_unless_perf
	[ -e /lib/ld-linux.so.2 ] && [ -e /lib32/libc.so.6 ] || skip "no 32-bit C library is installed"
	echo 'int puts(const char *); void exit(int); void _start(void) { puts("32 bits"); exit(6); }' >p.c
	gcc -m32 -fno-builtin -fno-pie -no-pie -nostdlib -Wl,-dynamic-linker,/lib/ld-linux.so.2 p.c /lib32/libc.so.6 -o p
	run ./p
	[ "$status" -ne 126 ] || skip "the kernel runs no programs of 32 bits"
	same 6 0 ./p
}

@test "launchers: a JVM runs without the agent when its file has gone" {
	skip_unless_perf
	skip_unless_java
	skip_unless_root	# whose agent lies where others need it
	chmod 711 "$BATS_RUN_TMPDIR" .. .
	mkdir -m 777 out
	cp "$ARCPROF" out/
	cd out
	mkdir -m 777 cache
	java -version 2>want
	XDG_CACHE_HOME=$PWD/cache as_nobody ./arcprof record -q -o trace -- \
		sh -c "rm '$PWD'/cache/arcprof/agent-*.so && java -version" >out 2>err
	[ "$(ls cache/arcprof/preload-* | wc -l)" -eq 5 ]
	grep -q '^arcprof record: warning: 1 JVM ran without the agent' err
	grep -vE '^(arcprof record|hint): ' err | diff want -
}

# environment <command>...: prints ours.
environment() {
	env | grep -v '^_=' | sort >want
	"$@" | grep -v '^_=' | sort | diff want -
}

@test "launchers: preloaded libraries stay, and the environment is as documented" {
	skip_unless_perf
	echo 'int getpid(void) { return 42; }' >mine.c
	gcc -shared -fPIC mine.c -o mine.so
	echo 'int printf(const char *, ...); int getpid(void); int main(void) { printf("%d\n", getpid()); return 0; }' >p.c
	gcc p.c -o p
	same 0 0 env LD_PRELOAD="$PWD/mine.so" ./p
	LD_PRELOAD=$PWD/mine.so "$ARCPROF" record -q -o trace -- ./p >out
	grep -qx 42 out
	arcprof record -q -o trace -- env | grep -vE '^(LD_PRELOAD|ARCPROF_AGENT|ASAN_OPTIONS)=' >recorded
	environment cat recorded
	# nothing is needed where there is to be no agent
	environment arcprof record -q --no-java -o trace -- env
}

@test "launchers: itrace leaves a native program's environment alone, and not that of a JVM" {
	# few instructions, unlike env
	gcc -O1 -static -x c -o environ - <<-'END'
		#include <string.h>
		#include <unistd.h>
		extern char **environ;
		int main(void)
		{
			for (char **e = environ; *e; e++)
				if (write(1, *e, strlen(*e)) < 0 || write(1, "\n", 1) < 0)
					return 1;
			return 0;
		}
	END
	environment arcprof itrace -q -o trace -- ./environ
	printf '#!/bin/sh\necho "$ARCPROF_AGENT"\n' >script
	chmod +x script
	[[ $(arcprof itrace -q --limit 1000 -o trace -- ./script) == /*' -agentpath:/'* ]]
}

left_behind() {
	printf '#!/bin/sh\nsetsid "$@" >/dev/null 2>&1 </dev/null &\necho $! >daemon\nexit 3\n' >start
	chmod +x start
	run_arcprof record -o trace -- ./start java -cp "$CLASSES" Deep 100
	[ "$status" -eq 3 ]
	[[ $stderr == *"'./start' has ended, but 1 process that it started goes on, such as "*": recorded until now"* ]]
	[[ $stderr == *"hint: --wait "* ]]
	run_arcprof record --wait -o trace -- ./start java -cp "$CLASSES" Deep 100
	[ "$status" -eq 3 ]
	[[ $stderr != *"goes on"* ]]
	arcprof report -i trace --thread deep --xprof | grep 'Deep\.down'
	# the program has ended by then: the first signal is the recorder's
	rm daemon
	"$ARCPROF" record --wait -o trace -- ./start sleep 60 2>err 3>&- &
	until [ -s daemon ]; do kill -0 $!; sleep 0.02; done
	while pgrep -x -P $! start >ends; do sleep 0.02; done
	kill -INT $!
	status=0
	wait $! || status=$?
	kill "$(<daemon)"
	[ "$status" -eq 3 ]
	grep "goes on" err
	run_arcprof record --wait -a -o trace
	[ "$status" -eq 2 ]
}
@test "launchers: a daemon that a start script leaves behind is recorded with --wait, otherwise named" {
	skip_unless_perf
	one_jdk newest left_behind
}

@test "launchers: a message says that programs run elsewhere are not recorded" {
	skip_unless_perf
	printf '#!/bin/sh\nexit 0\n' >systemd-run
	chmod +x systemd-run
	run_arcprof record -o trace -- ./systemd-run true
	[[ $stderr == *"what 'systemd-run' has systemd run is not recorded: it is not a child of the program"* ]]
	# what a script becomes counts
	run_arcprof record -o trace -- sh -c 'exec ./systemd-run true'
	[[ $stderr == *"what 'systemd-run' has systemd run is not recorded"* ]]
	run_arcprof record -o trace -- ./systemd-run --scope true
	[[ $stderr != *"is not recorded"* ]]
}

@test "launchers: with -a, what others start does not count as left behind by the program" {
	skip_unless_perf
	skip_unless_root
	setsid sh -c 'while :; do sleep 1 & sleep .02; done' 3>&- &
	run_arcprof record -a --no-java -o trace -- sleep 0.3
	kill -KILL -- -$!
	wait $! || true
	[[ $stderr != *"it started"* ]] || { echo "$stderr"; return 1; }
}
