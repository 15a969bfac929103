#!/usr/bin/env bats
# Waits for locks of native code: a program that says how long its threads waited, against what reports say.
load ../lib

setup_file() {
	gcc -O1 -g -o "$BATS_FILE_TMPDIR/known" "$TOP/t/cli/native-locks.c" -lpthread
}

record() {	# <event>...: the files truth, table and tree
	"$ARCPROF" record -e "$1" -o trace "$BATS_FILE_TMPDIR/known" >truth 2>err || { cat truth err; return 1; }
	# a sample of the CPU may hit the first or last instructions of a thread, which have no callers
	[[ $(cat err) == *" 0 lost"* && ($1 == *clock* || $(cat err) == *" 100.0 % complete stacks"*) ]] || { cat err; return 1; }
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --locks --format json >table
	"$ARCPROF" report -i trace --xprof --metric lock --format json >rows
}

lock() {	# <name> <field>
	jq -r --arg c "$1" ".locks[] | select(.class == \$c) | .$2" table
}

charged() {	# <name>: ns of it in the stacks
	jq -r --arg f "$1" '[.rows[] | select(.name == $f) | .cum[0]] | add // 0' rows
}

@test "native locks: waits take as long as the program says, by the lock's name" {
	record lock
	cat truth table
	[ "$(wc -l <truth)" -eq 5 ]
	while read -r kind name n ns; do
		[ "$(lock "$name" kind)" = "$kind" ]
		[ "$(lock "$name" slow)" -eq "$n" ]
		within "$(lock "$name" wait_ns)" "$ns" 3
		# all of it is in stacks that end in the lock
		[ "$(charged "$name")" = "$(lock "$name" wait_ns)" ]
	done <truth
	[ "$(charged want_mutex)" = "$(jq '[.locks[] | select(.kind == "mutex").wait_ns] | add' table)" ]
	[ "$(charged want_condition)" = "$(lock happened wait_ns)" ]
	[ "$(lock shared_mutex waiters)" -eq 2 ]
	[ "$(jq '[.locks[].identity] | length' table)" -eq 5 ]
}

@test "native locks: the owner is named, and charged with the waits of others" {
	record lock
	[ "$(lock shared_mutex owner)" = holder ]
	[ $((10 * $(lock shared_mutex owner_wait_ns))) -ge $((8 * $(lock shared_mutex wait_ns))) ]
	[ "$(lock rwlock owner)" = writer ]
	[ "$(lock happened owner)" = null ]
	"$ARCPROF" report -i trace --xprof --blame --format json >blame
	# it is charged where it has the lock
	charged_to hold_mutex "$(jq '[.locks[] | select(.kind == "mutex").wait_ns] | add' table)" 3
	charged_to write_slowly "$(lock rwlock wait_ns)" 3
	# a condition has no owner
	[ "$(jq '.metrics[0].total' blame)" = "$(jq .source.lock_wait_ns table)" ]
	[ "$(jq '.source.wait_ns - .source.lock_wait_ns' table)" = "$(lock happened wait_ns)" ]
}

charged_to() {	# <function> <ns> <percent>: in the file blame
	within "$(jq --arg f "$1" '[.rows[] | select(.name == $f).cum[0]] | add // 0' blame)" "$2" "$3"
}

# Ten wait for 400 ms each, at the same time: 4 s, none of them of before.
@test "native locks: an owner charged with several waits at once is charged for as long as they last" {
	cat >ten.c <<-'EOF'
	#include <pthread.h>
	#include <unistd.h>
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static void *wait_for(void *x) {
		pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return x;
	}
	int main(void) {
		pthread_t t[10];
		pthread_mutex_lock(&lock);
		usleep(600000);
		for (int i = 0; i < 10; i++) pthread_create(&t[i], NULL, wait_for, NULL);
		usleep(400000);
		pthread_mutex_unlock(&lock);
		for (int i = 0; i < 10; i++) pthread_join(t[i], NULL);
	}
	EOF
	gcc -O1 -g -pthread ten.c -o ten
	"$ARCPROF" record -q -e lock -o trace ./ten
	"$ARCPROF" query --metric blame --format csv trace "SELECT sum(weight), (max(time) - min(began)) AS long
		FROM samples WHERE name != '[over before anybody looked]'" | tail -n 1 | tee blame
	# what all have waited is ten times as much
	awk -F, '{ exit !($1 > 3.8e9 && $1 / $2 > 9) }' blame || { cat blame; return 1; }
}

# Of the short turns there are some 80 stacks.
@test "native locks: two that have one in turn are charged by how long others wait for each" {
	"$ARCPROF" record -q -e lock -o trace "$BATS_FILE_TMPDIR/known" turns 400 200 >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --xprof --blame --format json >blame
	cat truth
	jq -r '.rows[] | select(.name | test("^have_")) | "\(.name) \(.cum[0])"' blame
	charged_to have_long "$(awk '/long/ { print $2 }' truth)" 8
	charged_to have_short "$(awk '/short/ { print $2 }' truth)" 50
}

# Per lock, 256 owners are distinguished. A late thread finds the lock free, and does not wait.
@test "native locks: one that very many threads have had" {
	timeout -s KILL 60 "$ARCPROF" record -q -e lock -o trace "$BATS_FILE_TMPDIR/known" owners 400 >truth
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --locks --format json >table
	cat truth table
	[ "$(lock shared_mutex slow)" -le "$(awk '{ print $3 }' truth)" ]
	within "$(lock shared_mutex slow)" "$(awk '{ print $3 }' truth)" 10
	within "$(lock shared_mutex wait_ns)" "$(awk '{ print $4 }' truth)" 10
}

@test "native locks: beside samples of the CPU and of memory" {
	record lock,cpu-clock,native-memory
	within "$(lock shared_mutex wait_ns)" "$(awk '$2 == "shared_mutex" { print $4 }' truth)" 3
	# our library is on no stack
	run grep -q pthread_mutex_lock rows
	[ "$status" -eq 1 ]
}

# open_waits <ms that it goes on> <ms of the recording>: what threads of a deadlock wait at the end
open_waits() {
	cat >dead.c <<-'EOF'
		#include <pthread.h>
		#include <stdlib.h>
		#include <unistd.h>
		static pthread_mutex_t first, second, mutex;
		static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
		static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
		static void *one(void *x)
		{
			pthread_mutex_lock(&first);
			usleep(200000);
			pthread_mutex_lock(&second);
			return x;
		}
		static void *two(void *x)
		{
			pthread_mutex_lock(&second);
			usleep(200000);
			pthread_mutex_lock(&first);
			return x;
		}
		static void give_back(void *x) { pthread_mutex_unlock(x); }
		static void *waits(void *x)
		{
			pthread_mutex_lock(&mutex);
			pthread_cleanup_push(give_back, &mutex);
			pthread_cond_wait(&never, &mutex);
			pthread_cleanup_pop(1);
			return x;
		}
		static void *reads(void *x) { pthread_rwlock_rdlock(&rwlock); return x; }
		int main(int argc, char **argv)
		{
			void *(*const f[])(void *) = { one, two, reads, waits, waits };
			pthread_t t[5];
			pthread_rwlock_wrlock(&rwlock);
			for (int i = 0; i < 5; i++)
				pthread_create(t + i, 0, f[i], 0);
			usleep(500000);
			pthread_cancel(t[4]);
			if (!fork())
				_exit(0);
			usleep(1000 * atoi(argv[argc - 1]));
			return 0;
		}
	EOF
	gcc -g -pthread -o dead dead.c
	status=0
	"$ARCPROF" record -q -e lock -o trace -d "$2ms" -- ./dead "$1" || status=$?
	[ $status -eq 0 ] || [ $status -eq 143 ]	# it got SIGTERM
	"$ARCPROF" report -i trace --check >check || { cat check; return 1; }
	"$ARCPROF" report -i trace --locks --format json >table
	"$ARCPROF" report -i trace --xprof --metric lock --format json >rows
	"$ARCPROF" report -i trace --metric lock --format folded >folded
	"$ARCPROF" report -i trace --xtree --metric lock --format json >tree
	cat table folded
	total=$(jq '.source.duration_ns' tree)
	[ "$(jq '.locks | length' table)" -ge 4 ]
	for name in first second; do
		[ "$(lock $name slow)" -eq 1 ]
		within "$(($(lock $name wait_ns) + 200000000))" "$total" 10
	done
	within "$(lock rwlock wait_ns)" "$total" 10
	# the one that was cancelled has waited until then
	[ "$(lock never slow)" -eq 2 ]
	within "$(($(lock never wait_ns) - 500000000))" "$total" 10
	for name in first second rwlock never; do
		[ "$(charged $name)" = "$(lock $name wait_ns)" ]
	done
}

@test "native locks: waits that go on at the end, of a deadlock say, are there with their stacks" {
	open_waits 5000 2000
	grep -q ';start_thread;one;second ' folded
	grep -q ';start_thread;two;first ' folded
	grep -q ';start_thread;reads;rwlock ' folded
	grep -q ';start_thread;waits;never ' folded
}

@test "native locks: waits that go on when the process ends are as long as that" {
	open_waits 1000 10000
	grep -q ';\[unwalkable: no user stack\];second ' folded
}

@test "native locks: of a recorder that was killed there is no table, and no sum is wrong" {
	"$ARCPROF" record -q -e lock -o trace -- "$BATS_FILE_TMPDIR/known" owners 100000 >/dev/null 2>&1 3>&- &
	recorder=$!
	for _ in {1..100}; do
		[ "$(stat -c %s trace 2>/dev/null || echo 0)" -lt 10000 ] || break
		sleep 0.1
	done
	program=$(pgrep -P $recorder)
	kill -KILL $recorder
	kill -KILL "$program"
	wait $recorder || true
	run_arcprof report -i trace --locks
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"the recording was cut off before the waits for each lock were added up"* ]]
	"$ARCPROF" report -i trace --check >check || true
	[ "$(grep -c ^ok check)" -gt 5 ]
	[ "$(grep -c ^BAD check)" -eq 0 ]
}

@test "native locks: a program that is not asked for them has its own" {
	nm -D "$BUILD/libarcprof-waits.so" | grep -q ' T pthread_mutex_lock'
	run grep pthread_ <(nm -D "$BUILD/libarcprof-memory.so" "$BUILD/libarcprof-preload.so")
	[ "$status" -eq 1 ]
}

# bats test_tags=stored
@test "native locks: they are refused for a running program" {
	run_arcprof record -e lock -o trace -p $$
	[ "$status" -eq 125 ]
	[[ $stderr == *"process $$: lock of a running process can be recorded of JVMs only"* ]]
	[[ $stderr == *"arcprof record -e lock -- program"* ]]
	[ ! -e trace ]
}
