# shellcheck shell=bash
# lib.bash - a JVM that verifies rewritten classes, for t/rewrite/sweep and t/cli/rewrite.bats.
# Needs TOP.
BUILD=${BUILD:-$TOP/build}
ARCPROF=${ARCPROF:-$BUILD/arcprof}
. "$TOP/t/java.bash"

# HotSpot trusts the JDK's own classes otherwise; and lines must not depend on what an archive has linked before.
JVM_OPTIONS=()
VERIFY=(-XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote -Xshare:off)

# javac <option or source>...: that of JAVA_HOME, as it is quick for little.
javac() {
	"$JAVA_HOME/bin/javac" -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC "$@"
}

# use_verifier <JDK> <folder>: compiles what is needed there; sets JAVA_HOME.
use_verifier() {
	export JAVA_HOME=$1
	verifier=$2
	rm -rf "$verifier"
	mkdir -p "$verifier/classes" "$verifier/nothing" "$verifier/counter"
	javac -nowarn -d "$verifier/classes" "$TOP/t/rewrite/VerifyClasses.java" &&
		printf 'Premain-Class: VerifyClasses\nCan-Redefine-Classes: true\n' >"$verifier/manifest" &&
		"$JAVA_HOME/bin/jar" cfm "$verifier/verify.jar" "$verifier/manifest" -C "$verifier/classes" . &&
		javac -d "$verifier/nothing" --patch-module java.base="$TOP/t/rewrite/nothing" \
			"$TOP"/t/rewrite/nothing/java/lang/*.java &&
		javac -d "$verifier/counter" --patch-module java.base="$TOP/t/rewrite/counter" \
			"$TOP/t/rewrite/counter/java/lang/ArcProbe.java"
}

# verify_jdk <folder> [<module>...]; JVM_OPTIONS has more options.
verify_jdk() {
	timeout -k 5 1800 "$JAVA_HOME/bin/java" "${VERIFY[@]}" "${JVM_OPTIONS[@]}" --add-modules ALL-SYSTEM \
		--patch-module java.base="$verifier/nothing" -javaagent:"$verifier/verify.jar" -cp "$verifier/verify.jar" VerifyClasses jdk "$@"
}

# verify_jars <class path> <jar>...
verify_jars() {
	local path=$1
	shift
	timeout -k 5 1800 "$JAVA_HOME/bin/java" "${VERIFY[@]}" --add-modules ALL-SYSTEM --patch-module java.base="$verifier/nothing" \
		-cp "$verifier/verify.jar:$path" VerifyClasses jars "$@"
}

ASM=${ASM:-/usr/share/java/asm-all.jar}

# check_asm <folder | jar>...: the same by ASM, where it is installed.
check_asm() {
	[ -e "$verifier/asm/AsmCheck.class" ] ||
		javac -cp "$ASM" -d "$verifier/asm" "$TOP/t/rewrite/AsmCheck.java" || return
	timeout -k 5 1800 "$JAVA_HOME/bin/java" -cp "$verifier/asm:$ASM" AsmCheck "$@"
}

# run_counted <classes> <class> [<property>...]: runs it rewritten; "class method descriptor entered returned
# thrown unseen" of each method, "arc caller callee times" and the last line of the counter go to stdout.
# What the program prints goes to the file "printed".  REWRITE has options of rewrite-classes.
run_counted() {
	local classes=$1 class=$2
	shift 2
	rm -rf rewritten
	"$BUILD/t/tools/rewrite-classes" "${REWRITE[@]}" --map=map "$classes" rewritten >rewriting || return
	timeout -k 5 120 "$JAVA_HOME/bin/java" "${VERIFY[@]}" --patch-module java.base="$verifier/counter" -Darcprobe=counts "$@" \
		-cp rewritten "$class" >printed || return
	awk '
		FNR == NR { name[$1] = $2 " " $3 " " $4; short[$1] = $2 "." $3; next }
		$1 == "arc" { print "arc", short[$2], short[$3], $4; next }
		$1 == "misfits" { print; next }
		{ print name[$1], $2, $3, $4, $5 }' map counts
}

# Lines of "printed" that are not among those of run_counted() in the file given.
not_counted() {
	LC_ALL=C comm -23 <(LC_ALL=C sort printed) <(LC_ALL=C sort "$1")
}

# set_version <major> <class>...: as an older compiler would have written them.
set_version() {
	local version=$1 file
	shift
	for file; do
		printf "\\0\\0\\0\\x$(printf %02x "$version")" | dd of="$file" bs=1 seek=4 conv=notrunc status=none
	done
}
