#!/usr/bin/env bats
# Labels of the samples of imported profiles: they are labels like those of threads.
# bats file_tags=stored
load ../lib

# A profile as Go writes it: no processes, threads or times.
profile() {
	python3 "$TOP/t/data/import/make-pprof.py" p.pb.gz cpu --label 'endpoint=/cart;tenant=acme' \
		--label 'endpoint=/pay;size=5120' --label 'endpoint=/cart' --label 'thread name=a,b' "$@"
}

# "/cart 2000": what each label of the key has.
by_label() {	# <key> <option>...
	arcprof report --by-label "$1" --xprof --format json "${@:2}" |
		jq -r '.rows[] | select(.kind == "label") | "\(.name) \(.cum[0])"' | sort
}

@test "import: labels of a pprof profile separate, select and are queried" {
	profile
	by_label endpoint --import p.pb.gz >got
	printf '%s\n' '[no endpoint] 2000' 'endpoint=/cart 2000' 'endpoint=/pay 1000' | diff - got
	[ "$(arcprof report --import p.pb.gz --label tenant=acme --format json | jq '.metrics[0].total')" -eq 1000 ]
	# where nobody asks for them they change nothing
	arcprof report --import p.pb.gz --xtree --format json | jq -c '[.nodes[] | [.name, .base[0], .cum[0]]]' >got
	[ "$(cat got)" = '[["main",0,5000],["work",5000,5000]]' ]
	run_arcprof report --import p.pb.gz
	[[ $output == *"labels of samples with replaced characters, cut or left out: 1"* ]]
	arcprof query --import p.pb.gz --format csv "SELECT labels, time, weight, name FROM samples ORDER BY labels" >got
	diff got - <<-'E'
		labels,time,weight,name
		,,1000,work
		endpoint=/cart,,1000,work
		"endpoint=/cart,tenant=acme",,1000,work
		"endpoint=/pay,size=5120",,1000,work
		thread_name=a?b,,1000,work
	E
	# stacks begin with code all the same
	arcprof query --import p.pb.gz --format csv "SELECT DISTINCT f.name, k.level, k.parent IS NULL AS outermost
		FROM samples s JOIN stacks k ON k.id = s.stack JOIN frames f ON f.id = k.frame" >got
	printf 'name,level,outermost\nwork,1,0\n' | diff - got
}

@test "import: labels of samples come back from what --format pprof and otlp write" {
	profile
	by_label endpoint --import p.pb.gz >want
	for format in pprof otlp; do
		arcprof report -q --import p.pb.gz --format $format -o out.$format
		by_label endpoint --import out.$format | diff want -
	done
	[ "$(by_label size --import out.pprof | head -n 1)" = '[no size] 4000' ]
}

@test "import: attributes of OpenTelemetry's resources are labels of their processes, and keep them apart" {
	python3 "$TOP/t/data/import/make-otlp.py" p.otlp 1790000000000000000 \
		'service.name=shop;service.version=1.2;k8s.pod.name=a;host.name=n1;process.pid=7;telemetry.sdk.name=x' \
		'service.name=shop;service.version=1.2;k8s.pod.name=b;host.name=n1' 'service.name=pay;shard=7'
	arcprof export -q --table tables p.otlp
	# t, service, version, host, process, labels and base of what "work" consumed
	zcat tables/nodes.tsv.gz | awk -F'\t' -v OFS='\t' 'NR > 1 && $17 != 0 { print $1, $3, $4, $5, $6, $8, $22 }' | sort >got
	sed 's/ /\t/g' <<-'E' | diff - got
		1790000000 pay   pay service=pay,shard=7 1000
		1790000000 shop 1.2  shop host.name=n1,k8s.pod.name=a,service=shop,version=1.2 1000
		1790000000 shop 1.2  shop host.name=n1,k8s.pod.name=b,service=shop,version=1.2 1000
	E
	# the host of all of them is that of the recording
	python3 "$TOP/t/data/import/make-otlp.py" q.otlp 1790000000000000000 'host.name=n1;a=1' 'host.name=n1;a=2'
	arcprof export -q --table tables q.otlp
	[ "$(zcat tables/nodes.tsv.gz | tail -n +2 | cut -f 5 | sort -u)" = n1 ]
	arcprof report --label k8s.pod.name=b --import p.otlp --format json | jq -e '.metrics[0].total == 1000'
}
