#!/usr/bin/env bats
# Probes in class files: what is rewritten verifies, runs, and counts what it must (t/rewrite).
# bats file_tags=stored
load ../lib
. "$BATS_TEST_DIRNAME/../rewrite/lib.bash"

compile() {	# <folder> <javac option or source>...
	javac -nowarn -Xlint:-options -d "$@"
}

setup_file() {
	local home n=0
	while read -r home; do
		use_verifier "$home" "$BATS_FILE_TMPDIR/$n" || return 1
		echo "$home" >"$BATS_FILE_TMPDIR/$n/home"
		compile "$BATS_FILE_TMPDIR/$n/known" --release 8 "$TOP/t/rewrite/Known.java" || return 1
		n=$((n + 1))
	done < <(jdks)
}

# for_each_jdk <command>...: with JAVA_HOME and verifier set; skips without any.
for_each_jdk() {
	local d nr=0
	for d in "$BATS_FILE_TMPDIR"/[0-9]; do
		[ -e "$d/home" ] || continue
		JAVA_HOME=$(cat "$d/home")
		verifier=$d
		"$@" || { echo "$* on $JAVA_HOME"; return 1; }
		nr=$((nr + 1))
	done
	[ "$nr" -gt 0 ] || skip "no JDK is installed"
}

# The same on the last one, for what concerns class files more than who loads them.
for_newest_jdk() {
	local d
	for d in "$BATS_FILE_TMPDIR"/[0-9]; do
		[ -e "$d/home" ] && verifier=$d
	done
	[ -n "${verifier-}" ] || skip "no JDK is installed"
	JAVA_HOME=$(cat "$verifier/home")
	"$@"
}

# All that the program printed was counted, every event fitted, and nothing stayed open.
counts_hold() {	# <class> [<property>...]
	run_counted classes "$@" >got || { cat rewriting printed; return 1; }
	tail -n 1 got | grep -qx 'misfits 0 open 0' && [ -s printed ] && [ -z "$(not_counted got)" ] ||
		{ head rewriting; not_counted got; tail -n 1 got; return 1; }
}

known() {	# <version> <option>...
	local old=-Dold=false
	rm -rf classes
	cp -r "$verifier/known" classes
	set_version "$1" classes/*.class
	[ "$1" -ge 50 ] || old=-Dold=true
	REWRITE=(--quiet "${@:2}")
	counts_hold Known "$old"
}

@test "rewrite: a program's calls, returns and exceptions are counted to the last one" {
	for_each_jdk known 52
}

@test "rewrite: so they are in class files of JDK 1.1, 5 and 6" {
	for_newest_jdk known 45
	for_newest_jdk known 49
	for_each_jdk known 50
}

@test "rewrite: so they are when every jump is widened and the numbers are large" {
	for_each_jdk known 52 --widen --first=40000
}

@test "rewrite: the same when instructions are counted, and lines of calls are reported" {
	for_newest_jdk known 52 --count --sites --widen
}

odd() {
	local c option
	mkdir -p classes odd
	compile odd "$TOP/t/rewrite/Odd.java"
	"$JAVA_HOME/bin/java" -cp odd Odd classes
	for c in Old Twin; do
		"$JAVA_HOME/bin/java" "${VERIFY[@]}" -cp classes "$c" >expected || return
		for option in --quiet --widen; do
			REWRITE=("$option")
			run_counted classes "$c" >got && cmp expected printed || return
			tail -n 1 got | grep -qx 'misfits 0 open 0' || return
		done
	done
	grep -qx 'Twin fails (I)I 2 0 2 0' got
}

@test "rewrite: subroutines, wide instructions, and two calls of super() in one constructor" {
	for_newest_jdk odd
}

# A loop of more than 32 KiB with probes, which has less without: its jumps must become wide.
big_source() {	# <class> <returns>
	echo "public class $1 { static int run(int k, String s, long w, double d, int[][] a, Object... o) {"
	echo 'Object last = a[0]; char[] c = new char[1]; StringBuilder b = null; int n = 0; while (n < 3) {'
	seq 1 "$2" | awk '{ print "if (k == " $1 ") return " $1 ";" }'
	echo 'n++; w += n; d = w; last = s; c[0]++; b = new StringBuilder(s); } return (int) (w + d) + b.length() + c[0]; }'
	echo 'public static void main(String[] x) { System.out.println(run(7, "s", 1, 2, new int[1][]) + run(-1, "s", 1, 2, new int[1][])); } }'
}

big() {
	mkdir -p classes
	big_source Big 2900 >Big.java
	big_source TooBig 3900 >TooBig.java
	compile classes Big.java TooBig.java
	REWRITE=()
	run_counted classes Big >got && grep -q ' 2 branches widened' rewriting && grep -qx 25 printed || return
	grep -q '^Big run .* 2 2 0 0$' got && tail -n 1 got | grep -qx 'misfits 0 open 0' || return
	grep -q '^left alone: TooBig.run(.*: too large with probes$' rewriting || return
	run_counted classes TooBig >got && grep -qx 25 printed
	! grep -q '^TooBig run' got || false
	grep -qx 'TooBig main (\[Ljava/lang/String;)V 1 1 0 0' got
}

@test "rewrite: jumps that become too long are widened; a method that becomes too long is left alone and named" {
	for_newest_jdk big
}

slice() {
	rm -rf plain probed
	"$JAVA_HOME/bin/jimage" extract --dir plain --include 'regex:/java.base/java/(util/[A-Z]|time/[A-Z]|lang/[A-O]).*' \
		"$JAVA_HOME/lib/modules"
	"$BUILD/t/tools/rewrite-classes" plain probed >rewriting
	cat rewriting
	[ "$(grep -c '^left alone' rewriting)" -eq 1 ] && grep -q '^left alone: java/lang/Object.<init>' rewriting || return
	verify_jdk "$PWD/probed" java.base >verified
	cat verified
	[ "$(tail -n 1 verified | sed 's/.*, //')" = '0 refused' ] && [ "$(awk 'END { print $1 }' verified)" -gt 500 ]
}

@test "rewrite: hundreds of classes of the JDK verify" {
	for_each_jdk slice
}

spoilt() {
	rm -rf plain probed
	"$JAVA_HOME/bin/jimage" extract --dir plain --include 'regex:/java.base/java/util/zip/C.*' "$JAVA_HOME/lib/modules"
	"$BUILD/t/tools/rewrite-classes" plain probed
	JVM_OPTIONS=(-Dspoil=true)
	verify_jdk "$PWD/probed" >verified
	cat verified
	grep -q 'CRC32C: java.lang.VerifyError' verified
}

@test "rewrite: and that is worth something: a class that is wrong does not" {
	for_each_jdk spoilt
}

@test "rewrite: ASM finds the types of each method's stack and locals in order" {
	[ -e "$ASM" ] || skip "libasm-java is not installed"
	[ -e "$BATS_FILE_TMPDIR/0/home" ] || skip "no JDK is installed"
	JAVA_HOME=$(cat "$BATS_FILE_TMPDIR/0/home")
	verifier=$BATS_FILE_TMPDIR/0
	"$JAVA_HOME/bin/jimage" extract --dir plain --include 'regex:/java.base/java/util/[A-L].*' "$JAVA_HOME/lib/modules"
	cp -r "$verifier/known" plain/known
	"$BUILD/t/tools/rewrite-classes" --quiet plain probed
	"$BUILD/t/tools/rewrite-classes" --quiet --widen plain widened
	check_asm probed widened | tee checked
	[ "$(tail -n 1 checked | sed 's/.*, //')" = '0 refused' ]
	[ "$(awk 'END { print $1 }' checked)" -gt 400 ]
	# And it looks: without room for operands in its first method, a class is refused.
	perl -0777 -pi -e 's/\0.(\0.\0\0..\x11..\xb8)/\0\0$1/s' probed/java.base/java/util/ArrayList.class
	mkdir spoilt
	cp probed/java.base/java/util/ArrayList.class spoilt
	check_asm spoilt | tee checked
	grep -q '^jdk ArrayList.class: ' checked
}

@test "rewrite: a damaged class is copied unchanged, and named" {
	printf '\312\376\272\276\0\0\0\064\0\020' >Cut.class
	run "$BUILD/t/tools/rewrite-classes" Cut.class Copy.class
	echo "$output"
	[[ $output == *"not a class file, or damaged"* ]]
	cmp Cut.class Copy.class
}
