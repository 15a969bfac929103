# shellcheck shell=bash disable=SC2034
# java.bash - the JDKs of this machine, and programs of all kinds to run on them; for t/cli
# and t/perf.  Needs TOP, ARCPROF and BUILD.

# Homes of JDKs, one of each version, each with a compiler; none that cannot compile t/workloads.
jdks() {
	local java home
	[ -z "${KNOWN_JDKS-}" ] || { echo "$KNOWN_JDKS"; return; }
	for java in /usr/lib/jvm/*/bin/java; do
		home=$(dirname "$(dirname "$(readlink -f "$java")")")
		[ -x "$home/bin/javac" ] && [ -r "$home/release" ] || continue
		! grep -qE '^JAVA_VERSION="(1\.8|9|1[0-5])[."]' "$home/release" || continue
		echo "$(sed -n 's/^JAVA_VERSION="\(.*\)"/\1/p' "$home/release") $home"
	done | sort -V -u -k 1,1 | cut -d ' ' -f 2-
}

# Prints the home of a JDK that jdks() may leave out; fails if there is none.
old_jdk() {	# <version>
	local java
	for java in /usr/lib/jvm/*/bin/javac; do
		"$java" -version 2>&1 | grep -qE "^javac (1\.)?$1([.-]|$)" || continue
		dirname "$(dirname "$(readlink -f "$java")")"
		return
	done
	return 1
}

# javac as it is quick for little.
compile_java() {
	"$JAVA_HOME/bin/javac" -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -nowarn -cp "$BUILD/arcprof.jar" "$@" >&2
}

# Those that this JDK can compile.
java_workloads() {
	if [ "$JDK" -lt 21 ]; then
		grep -LF 'Thread.ofVirtual().name(' "$TOP"/t/workloads/*.java
	else
		printf '%s\n' "$TOP"/t/workloads/*.java
	fi
}

# use_jdk <home>: sets JAVA_HOME, PATH, JDK (17, 25, ...) and CLASSES with all of t/workloads; those for arcprof's own
# library need arcprof.jar beside it.
# Two suites may run at a time, and one of them compiles.
use_jdk() {
	export JAVA_HOME=$1
	PATH=$1/bin:$ORIGINAL_PATH
	IFS= read -r -d '' JDK <"$1/release" || :
	JDK=${JDK#*JAVA_VERSION=\"}
	JDK=${JDK%%[!0-9]*}
	CLASSES=$BUILD/t/java/$JDK
	workloads_are_compiled || {
		mkdir -p "$CLASSES"
		(flock 9 && compile_workloads) 9>"$CLASSES/.lock"
	}
}

workloads_are_compiled() {
	local source
	for source in "$TOP"/t/workloads/*.java; do
		[ "$CLASSES/.stamp" -nt "$source" ] || return 1
	done
}

compile_workloads() {
	workloads_are_compiled && return
	[ -e "$BUILD/arcprof.jar" ] || make -s -C "$TOP" java >&2
	# shellcheck disable=SC2046
	compile_java -d "$CLASSES" $(java_workloads) && touch "$CLASSES/.stamp"
}
ORIGINAL_PATH=${ORIGINAL_PATH:-$PATH}

# For setup_file(): the programs of t/workloads are compiled by each JDK before the first test.
prepare_jdks() {
	local home
	export ORIGINAL_PATH KNOWN_JDKS
	KNOWN_JDKS=$(jdks)
	for home in $(jdks); do
		use_jdk "$home"
	done
}

# For what any JDK does.
use_any_jdk() {
	skip_unless_java
	use_jdk "$(jdks | tail -n 1)"
}

# Calls a function in the folder of the JDK in use.
in_its_folder() {
	mkdir -p "jdk-$JDK"
	cd "jdk-$JDK" || return 1
	echo "-- JDK $JDK"
	"$@"
	cd ..
}

# on_each_jdk [<version>] <command>...
# Calls a function on each JDK (of at least that version), in a folder of its own.
on_each_jdk() {
	local home least=0 nr=0
	if [ "$1" -eq "$1" ] 2>/dev/null; then
		least=$1
		shift
	fi
	for home in $(jdks); do
		use_jdk "$home"
		[ "$JDK" -ge "$least" ] || continue
		nr=$((nr + 1))
		in_its_folder "$@"
	done
	[ "$nr" -gt 0 ] || skip "no JDK of version $least or later is installed"
}

# The same for tests that record.
each_jdk() {
	skip_unless_perf
	on_each_jdk "$@"
}

# The same on one JDK, "oldest" or "newest": for what does not depend on it, or is done by another program on the other.
one_jdk() {
	skip_unless_perf
	on_one_jdk "$@"
}

on_one_jdk() {
	local of=$1
	shift
	[ -n "$(jdks)" ] || skip "no JDK is installed"
	[ "$of" = newest ] && use_jdk "$(jdks | tail -n 1)" || use_jdk "$(jdks | head -n 1)"
	in_its_folder "$@"
}

# On the oldest and on the newest, where these are two.
outer_jdks() {
	one_jdk oldest "$@"
	[ "$(jdks | wc -l)" -eq 1 ] || one_jdk newest "$@"
}

JAVA_PROGRAMS="mixed javac ant maven groovy jruby clojure h2"

# As many sources as the argument says, with generics, lambdas, switches and inner classes.
java_sources() {
	mkdir -p "$1/src/gen"
	for i in $(seq "$2"); do
		cat >"$1/src/gen/C$i.java" <<EOF
package gen;
import java.util.*;
import java.util.function.*;
public class C$i<T extends Comparable<T>> implements Comparator<T> {
	enum Colour { RED, GREEN, BLUE; Colour next() { return values()[(ordinal() + 1) % values().length]; } }
	private final Map<String, List<T>> map = new TreeMap<>();
	@Override public int compare(T a, T b) { return a.compareTo(b); }
	public Function<T, String> name(String prefix) { return t -> prefix + t + "$i"; }
	public <R> List<R> mapped(Collection<? extends T> in, Function<? super T, ? extends R> f) {
		List<R> out = new ArrayList<>();
		for (T t : in) out.add(f.apply(t));
		return out;
	}
	int pick(String s) { switch (s) { case "a": return 1; case "b": return 2; default: return s.length(); } }
	public Optional<T> best() {
		return map.values().stream().flatMap(List::stream).filter(Objects::nonNull).max(this);
	}
	class Inner { long sum(int... xs) { long s = $i; for (int x : xs) s += x * Colour.RED.next().ordinal(); return s; } }
	public static void main(String[] a) { System.out.println(new C$i<String>().new Inner().sum(1, 2, 3)); }
}
EOF
	done
}

# java_program <name> <size>: prepares it in the current folder and sets the array COMMAND; WHY_NOT says
# why it cannot run here.  size 1 is about a second of CPU time; 1/20 is a size, too.
java_program() {
	local size=$2
	COMMAND=()
	WHY_NOT=
	case $1 in
	mixed) COMMAND=("$JAVA_HOME/bin/java" -cp "$CLASSES" Mixed $((4 * $size)) 2) ;;
	javac)
		java_sources . $((200 * $size))
		COMMAND=("$JAVA_HOME/bin/javac" -proc:none -d classes src/gen/*.java)
		mkdir -p classes
		;;
	ant)
		java_sources . $((100 * $size))
		cat >build.xml <<-'EOF'
		<project default="all">
		  <target name="all">
		    <delete dir="classes"/><mkdir dir="classes"/>
		    <javac srcdir="src" destdir="classes" includeantruntime="false" fork="false"/>
		    <jar destfile="all.jar" basedir="classes"/>
		    <checksum file="build.xml" property="sum"/>
		    <java classname="gen.C1" classpath="classes" fork="true"/>
		  </target>
		</project>
		EOF
		COMMAND=(sh -c 'ant -q | grep -v "^Total time"')
		;;
	maven)
		cat >pom.xml <<-'EOF'
		<project><modelVersion>4.0.0</modelVersion><groupId>t</groupId><artifactId>t</artifactId>
		<version>1</version><packaging>pom</packaging></project>
		EOF
		COMMAND=(sh -c 'mvn -o -q -B validate && echo valid')
		;;
	groovy)
		cat >script.groovy <<-EOF
		def words = (1..($((40000 * $size)))).collect { "w" + (it * 7919) % 1013 }
		def counts = words.groupBy { it }.collectEntries { k, v -> [k, v.size()] }
		println counts.sort { a, b -> b.value <=> a.value ?: a.key <=> b.key }.take(3)
		println((1..($((30000 * $size)))).findAll { it % 7 == 0 }.inject(0L) { a, b -> a * 31 + b })
		EOF
		COMMAND=(groovy script.groovy)
		;;
	jruby)
		cat >script.rb <<-EOF
		words = (1..($((100000 * $size)))).map { |i| "w" + (i * 7919 % 1013).to_s }
		p words.group_by { |w| w }.map { |k, v| [k, v.size] }.sort_by { |k, n| [-n, k] }.first(3)
		def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end
		p fib(24), (1..($((50000 * $size)))).select { |i| i % 7 == 0 }.inject(0) { |a, b| (a * 31 + b) % 1000003 }
		EOF
		COMMAND=(jruby script.rb)
		;;
	clojure)
		cat >script.clj <<-EOF
		(defn words [n] (map #(str "w" (mod (* % 7919) 1013)) (range n)))
		(println (take 3 (sort-by (fn [[k v]] [(- v) k]) (frequencies (words $((100000 * $size)))))))
		(println (reduce (fn [a b] (mod (+ (* a 31) b) 1000003)) 0 (filter #(zero? (mod % 7)) (range $((300000 * $size))))))
		EOF
		COMMAND=(clojure script.clj)
		;;
	h2)
		COMMAND=("$JAVA_HOME/bin/java" -cp "$CLASSES:/usr/share/java/h2.jar" H2Load $((20 * $size)))
		[ -e /usr/share/java/h2.jar ] || WHY_NOT="libh2-java is not installed"
		;;
	esac
	case $1 in
	ant | groovy | jruby | clojure) command -v "$1" >/dev/null || WHY_NOT="$1 is not installed" ;;
	esac
	case $1 in
	ant) [ "$JDK" -lt 24 ] || WHY_NOT="ant starts with a security manager, which JDK $JDK has not" ;;
	maven) command -v mvn >/dev/null || WHY_NOT="maven is not installed" ;;
	esac
}
