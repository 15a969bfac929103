# shellcheck shell=bash disable=SC2154
# tomcat.bash - Tomcat with one servlet, of Shop.java, under load: for scripts that have sourced lib.bash and
# stand in $DIR. Needs libtomcat10-java, tomcat10-common and apache2-utils.
TOMCAT=/usr/share/tomcat10

tomcat_can() {
	[ -e "$TOMCAT/lib/catalina.jar" ] && command -v ab >/dev/null
}

# Makes the folder of the server.
web() {
	rm -rf web
	mkdir -p web/conf web/webapps/ROOT/WEB-INF/classes
	cat >web/conf/server.xml <<'EOT'
<Server port="-1"><Service name="Catalina"><Connector port="0" maxKeepAliveRequests="-1"/>
<Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine></Service></Server>
EOT
	javac -cp "$TOMCAT/lib/servlet-api.jar" -d web/webapps/ROOT/WEB-INF/classes "$TOP/t/perf/Shop.java"
}

# Runs it, with $options, in front of which stands a command or nothing, and sends requests to it. What the JVM has
# taken before them and after each turn goes to the file "parts".
tomcat() {	# <command before java...>
	local i port pid
	: >web/log
	"$@" java "${options[@]}" -cp "$TOMCAT/bin/bootstrap.jar:$TOMCAT/bin/tomcat-juli.jar" \
		-Dcatalina.home="$TOMCAT" -Dcatalina.base="$DIR/web" -Djava.io.tmpdir="$DIR/web" \
		org.apache.catalina.startup.Bootstrap start >web/log 2>&1 &
	pid=$!
	for ((i = 0; i < 300; i++)); do
		port=$(sed -n 's/.*Starting ProtocolHandler.*-\([0-9]*\)"\].*/\1/p' web/log)
		[ -z "$port" ] || break
		sleep 0.1
	done
	curl -fs "http://localhost:$port/cpu" >parts
	for ((i = 0; i < ${turns_of_ab:-4}; i++)); do
		ab -q -k -c 4 -n "${requests:-15000}" "http://localhost:$port/order" >ab
		grep -q '^Failed requests: *0$' ab || { echo "requests failed" >&2; exit 1; }
		curl -fs "http://localhost:$port/cpu" >>parts
	done
	curl -fs "http://localhost:$port/stop"
	wait "$pid"
}
