#!/bin/bash
# What "record -e jvm" costs a JVM, on every JDK: the ratio of its CPU time with and without, in turns, as
# median with the spread, of a program that collects, compiles and loads (Happens), of one that computes (Mixed),
# of a database (H2Load, where Debian's libh2-java is installed) and of a web server (libtomcat10-java,
# tomcat10-common and apache2-utils). Of the last two, the start-up, in which classes are loaded and most is
# compiled, and the steady load afterwards are apart; and what the recorder takes, in percent of the JVM.
#
# Then what a mark takes, in ns, and an event with three named values: in C without a recorder and with one, in
# Java with one.
#
# usage: t/perf/events.sh [TURNS [PART...]]	parts: programs, h2, tomcat, marks; run it on a quiet machine
set -u
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"
turns=${1:-5}
shift
parts=" ${*:-programs h2 tomcat marks} "
H2=/usr/share/java/h2.jar
TOMCAT=/usr/share/tomcat10
cd "$DIR" || exit 1
mkdir passes marks.java

cat >timed <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" >/dev/null 2>/dev/null; } 2>cpu
EOT
chmod +x timed

cpu() {	# seconds
	awk '{ print $1 + $2 }' cpu
}

ratio() {	# <java arguments>: of one turn
	local before after with
	./timed java "$@"
	before=$(cpu)
	"$ARCPROF" record -q -e jvm -o trace -- ./timed java "$@" >/dev/null 2>/dev/null
	with=$(cpu)
	./timed java "$@"
	after=$(cpu)
	echo "$before $after $with" | awk '{ print 2 * $3 / ($1 + $2) }'
}

median() {	# of lines: median (least - greatest)
	sort -n | awk '{ v[NR] = $1 } END { printf "%.3f (%.3f - %.3f)", v[int((NR + 1) / 2)], v[1], v[NR] }'
}

programs() {
	local i program
	for program in 'Happens 200' 'Mixed 3'; do
		# shellcheck disable=SC2086
		for ((i = 0; i < turns; i++)); do
			ratio -cp "$CLASSES" $program
		done | median >result
		echo "JDK $JDK  -e jvm, CPU time of ${program% *}: x $(cat result)"
	done
}

# What the JVM has taken at the end of each part goes to the file "parts".
h2() {	# <command before java...>
	"$@" java -cp "$CLASSES:$H2:passes" Passes 5 H2Load 60 2>&1 | grep '^[0-9.]*$' >parts
}

tomcat() {	# <command before java...>
	local i port pid
	: >web/log
	"$@" java -cp "$TOMCAT/bin/bootstrap.jar:$TOMCAT/bin/tomcat-juli.jar" -Dcatalina.home="$TOMCAT" \
		-Dcatalina.base="$DIR/web" -Djava.io.tmpdir="$DIR/web" org.apache.catalina.startup.Bootstrap start \
		>web/log 2>&1 &
	pid=$!
	for ((i = 0; i < 300; i++)); do
		port=$(sed -n 's/.*Starting ProtocolHandler.*-\([0-9]*\)"\].*/\1/p' web/log)
		[ -z "$port" ] || break
		sleep 0.1
	done
	curl -fs "http://localhost:$port/cpu" >parts
	for ((i = 0; i < 4; i++)); do
		ab -q -k -c 4 -n 15000 "http://localhost:$port/order" >ab
		grep -q '^Failed requests: *0$' ab || { echo "requests failed" >&2; exit 1; }
		curl -fs "http://localhost:$port/cpu" >>parts
	done
	curl -fs "http://localhost:$port/stop"
	wait "$pid"
}

cat >spent <<'EOT'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$@" 2>&1; } 2>all
EOT
chmod +x spent

# Without, with, without: appends "start-up load recorder", as ratios, and the seconds without to ratios.
phases() {	# <function>
	"$1" env
	mv parts first
	"$1" ./spent "$ARCPROF" record -q -e jvm -o trace --
	mv parts with
	"$1" env
	paste first with parts | awk -v all="$(awk '{ print $1 + $2 }' all)" '
		{ a[NR] = ($1 + $3) / 2; b[NR] = $2 }
		END {
			print b[1] / a[1], (b[NR] - b[2]) / (a[NR] - a[2]), 100 * (all - b[NR]) / b[NR], a[1], a[NR] - a[2]
		}' >>ratios
}

column() {	# <number>
	awk -v nr="$1" '{ print $nr }' ratios | median
}

start_and_load() {	# <function> <name>
	local i
	rm -f ratios
	for ((i = 0; i < turns; i++)); do
		phases "$1"
	done
	echo "JDK $JDK  -e jvm, CPU time of $2: start-up x $(column 1), load x $(column 2)," \
		"recorder $(column 3) %; seconds: start-up $(column 4), load $(column 5)"
}

web() {
	mkdir -p web/conf web/webapps/ROOT/WEB-INF/classes
	cat >web/conf/server.xml <<'EOT'
<Server port="-1"><Service name="Catalina"><Connector port="0" maxKeepAliveRequests="-1"/>
<Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine></Service></Server>
EOT
	javac -cp "$TOMCAT/lib/servlet-api.jar" -d web/webapps/ROOT/WEB-INF/classes "$TOP/t/perf/Shop.java"
}

marks_in_c() {
	local i what
	gcc -O2 -I "$TOP/lib/api" "$TOP/t/data/marks/marks.c" "$BUILD/libarcprof.a" -o marks -pthread || exit 1
	for what in cost emit; do	# a mark, an event with three values
		for ((i = 0; i < turns; i++)); do
			./marks $what 10000
		done | median >off
		for ((i = 0; i < turns; i++)); do
			"$ARCPROF" record -q -e mark -o trace -- ./marks $what 1000
		done | median >on
		echo "C  $what: $(cat off) ns without a recorder, $(cat on) ns with one"
	done
}

marks_in_java() {	# cost or emit
	local i
	for ((i = 0; i < turns; i++)); do
		"$ARCPROF" record -q -e mark -o trace -- java -Darcprof.library="$TOP/build/libarcprof-java.so" \
			-cp "$TOP/build/arcprof.jar:marks.java" Marks "$1" 3000 2>/dev/null
	done | median
}

wanted() {	# <part> [<file that it needs>]
	case $parts in *" $1 "*) [ -e "${2:-/}" ] ;; *) false ;; esac
}

one_jdk() {
	if wanted programs; then
		programs
	fi
	if wanted h2 "$H2"; then
		javac -d passes "$TOP/t/perf/Passes.java"
		start_and_load h2 H2
	fi
	if wanted tomcat "$TOMCAT/lib/catalina.jar"; then
		web
		start_and_load tomcat Tomcat
	fi
	if wanted marks; then
		javac -cp "$TOP/build/arcprof.jar" -d marks.java "$TOP/t/workloads/Marks.java" || exit 1
		echo "JDK $JDK  a mark: $(marks_in_java cost) ns, an event with a text and two numbers: $(marks_in_java emit) ns"
	fi
}

make -s -C "$TOP" java >&2 || exit 1
if wanted marks; then
	marks_in_c
fi
for home in $(jdks); do
	use_jdk "$home" || exit 1
	one_jdk
done
