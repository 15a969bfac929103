#!/usr/bin/env bats
# The Python module, which reads traces itself, and its class that asks arcprof: against reports and the tables.
# bats file_tags=stored
load ../lib
load ../java

events=$TOP/t/data/events/trace

setup() {
	trace_errors_only
	cd "$BATS_TEST_TMPDIR" || return 1
	skip_unless_command python3
	export PYTHONPATH=$BUILD/python PYTHONDONTWRITEBYTECODE=1 ARCPROF
}

@test "python: what it reads of every stored trace is equal to the reports, samples and stacks included" {
	python3 "$TOP/t/reader/compare-module.py" "$TOP"/t/data/*/trace
}

@test "python: it reads without arcprof, and with nothing but Python" {
	ln -s "$TOP/t/data/java/trace" arcprof.data
	env -i PYTHONPATH="$PYTHONPATH" PATH=/nonexistent "$(python3 -c 'import sys; print(sys.executable)')" -I -S -c '
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import arcprof
t = arcprof.Trace()
assert sum(f.base[0] for f in t.functions()) == t.metrics[0].total > 0
' "$BUILD/python"
}

@test "python: a notebook shows a trace as a table, with names of the program as text" {
	cat >check.py <<-'E'
		import html.parser, sys, arcprof
		class Cells(html.parser.HTMLParser):
		    def __init__(self):
		        super().__init__()
		        self.rows, self.open = [], []
		    def handle_starttag(self, tag, attrs):
		        self.open.append(tag)
		        if tag == "tr":
		            self.rows.append([])
		        elif tag in ("td", "th"):
		            self.rows[-1].append("")
		    def handle_endtag(self, tag):
		        assert self.open.pop() == tag
		    def handle_data(self, data):
		        if self.open[-1] in ("td", "th"):
		            self.rows[-1][-1] += data
		def rows_of(trace):
		    cells = Cells()
		    cells.feed(trace._repr_html_())
		    assert not cells.open
		    return cells.rows
		rows = rows_of(arcprof.Trace(sys.argv[1]))
		assert rows[0] == ["Self", "%Self", "%Cum", "Function"] and 2 <= len(rows) <= 21, rows
		print(rows[1][3])
		from arcprof import _html
		assert _html.plain("<b>\n&\u202e") == "&lt;b&gt;\\n&amp;\\u202e"
	E
	python3 check.py "$TOP/t/data/java/trace" >top
	arcprof report "$TOP/t/data/java/trace" --xprof --sort base --format json |
		jq -r '[.rows[] | select(.kind != "process" and .kind != "thread")] | sort_by(-.base[0], .name)[0].name' | diff - top
}

@test "python: new recordings of native code, Java, exact calls, and of all merged, are read as reports do" {
	skip_unless_command gcc
	gcc -O1 -g -finstrument-functions "$TOP/t/data/callflow/treetest.c" "$BUILD/libarcprof-hookit.a" -o treetest -pthread
	arcprof record -q --callflow -o calls.data -- ./treetest >out
	"$ARCPROF" record -q -o native.data -- gcc -O2 -x c -c -o /dev/null "$TOP/t/data/callflow/treetest.c" ||
		skip "events cannot be opened"
	set -- calls.data native.data
	if [ -n "$(jdks)" ]; then
		use_jdk "$(jdks | tail -n 1)"
		compile_java -d . "$TOP/t/data/java/Seed.java"
		arcprof record -q -o java.data -- java -cp . Seed 1 >out
		set -- "$@" java.data
	fi
	arcprof merge -q "$@" -o merged.data
	python3 "$TOP/t/reader/compare-module.py" "$@" merged.data
}

@test "python: it knows every kind of function, frame and mark that the program knows, in the same order" {
	cat >check.py <<-'E'
		import re, sys
		from arcprof import _names, _tables
		top = sys.argv[1]
		rows = re.findall(r'^(?:KIND\(|FUNCTION\((\d+), )\w+, "([\w-]+)", \w+,\s+([^)]*)\)$',
		                  open(top + "/lib/trace/kinds.h").read(), re.M)
		def check(numbers, want):
		    got = tuple(_tables.KINDS[k] for k in numbers)
		    assert got == tuple(want), (got, want)
		assert len(rows) > 20
		check(range(len(_tables.KINDS)), [name for _, name, _ in rows])
		check(_tables.OF_FUNCTION, [name for _, name in sorted((int(n), name) for n, name, _ in rows if n)])
		check(_tables.NATIVE_KINDS, [name for _, name, what in rows if "KIND_NATIVE" in what])
		check(_tables.JAVA_KINDS, [name for _, name, what in rows if "KIND_JAVA" in what])
		rows = re.findall(r'^(FRAME|MARK)\((\w+), "(.*?)"\)', open(top + "/lib/trace/marks.h").read(), re.M)
		frames = [(kind, text) for row, kind, text in rows if row == "FRAME"]
		marks = [(reason, text) for row, reason, text in rows if row == "MARK"]
		assert [getattr(_tables, "FRAME_" + kind) for kind, _ in frames] == list(range(len(frames))), frames
		assert _names.CODES[1:] == tuple(text for _, text in frames[1:]), frames	# 0 is read as a mark
		assert _tables.MARKS == tuple(text for _, text in marks), marks
		assert marks[_tables.MARK_DAMAGED][0] == "DAMAGED" and marks[_tables.MARK_PRUNED][0] == "PRUNED"
	E
	python3 check.py "$TOP"
}

# The page has the rows of lib/trace/table.h: a unit test compares them.
@test "python: of each record it reads the fields that the table of records has" {
	cat >check.py <<-'E'
		import re, sys
		from unittest.mock import MagicMock
		from arcprof import _model, _names
		READS = {"u32": "u32", "x32": "u32", "i32": "u32", "u64": "u64", "x64": "u64", "v": "varint", "s": "text",
		         "b": "data_bytes"}
		VALUES = {"u32": 1, "key": 1, "u64": 1, "varint": 1, "text": "", "data_bytes": b"", "pairs": []}
		page = open(sys.argv[1] + "/Documentation/arcprof-trace.adoc").read()
		def fields(text):
		    text = re.sub(r"nr:v \*nr\( \w+:z \w+:z \)", "nr:pairs", text)
		    return [READS.get(f.split(":")[1], f.split(":")[1]) for f in text.split(" *")[0].split(" ")]
		rows = {(int(major, 16), int(minor, 16)): fields(text) for major, minor, text in
		        re.findall(r"^([0-9a-f]{1,2})/([0-9a-f]{1,2}) +[\w.]+ +(\w+:.*)$", page, re.M)}
		def reads(function, *rest):
		    got = []
		    span = MagicMock()
		    for what, value in VALUES.items():
		        def read(what=what, value=value):
		            got.append("u32" if what == "key" else what)
		            return value
		        setattr(span, what, read)
		    _model.Span = lambda body: span
		    try:
		        function(span, *rest)
		    except (_names.Invalid, IndexError, TypeError):
		        pass	# the fields are read; nothing follows from values that are made up
		    return got
		readers = {code: (f, 0) for code, f in _names.Names(_names.Budget(1 << 20)).read.items()}
		calls, merged = _model.Calls, _model.Merged
		for f, kind, code in ((calls._consumer, calls, (0xca, 1)), (calls._tree, calls, (0xca, 2)),
		                      (calls._nodes, calls, (0xca, 3)), (calls._values, calls, (0xca, 4)),
		                      (merged._source, merged, (0xcb, 2)), (merged._metric, merged, (0xcb, 3)),
		                      (merged._consumer, merged, (0xcb, 4)), (merged._nodes, merged, (0xcb, 5))):
		    readers[code] = (lambda s, *rest, f=f: f(MagicMock(), s, *rest)), *((0,) if f is calls._values else ())
		for code, (f, *rest) in readers.items():
		    got = reads(f, *rest)
		    assert got == rows[code][:len(got)] and len(got) >= min(3, len(rows[code])), (code, got, rows[code])
		assert len(readers) > 20
	E
	python3 check.py "$TOP"
}

@test "python: what a thread waited for has the kind that queries give it" {
	"$ARCPROF" record -q -e wall -o w.data -- sh -c 'sleep 0.2; :' >out 2>&1 || skip "waits cannot be recorded"
	arcprof query --format csv w.data 'select distinct kind from functions order by kind' | tail -n +2 >want
	grep -qx reason want
	python3 -c 'import sys, arcprof
print("\n".join(sorted({n.kind for n in arcprof.Trace(sys.argv[1]).nodes()})))' w.data | diff want -
	python3 "$TOP/t/reader/compare-module.py" w.data
}

@test "python: files that were changed are read as far as they make sense, or refused, at once" {
	python3 "$TOP/t/reader/hostile.py" 120 "$TOP"/t/data/*/trace
}

@test "python: a file that claims more memory than it may take is refused, and so is one that is not a trace" {
	cat >check.py <<-'E'
		import arcprof, io, os, struct, sys, zlib
		def fails(source, **options):
		    try:
		        list(arcprof.Trace(source, **options).nodes())
		    except arcprof.Error as e:
		        return str(e)
		    raise AssertionError(source)
		events = sys.argv[1]
		assert "memory=" in fails(events, memory=4096)
		assert "No such file" in fails("missing")
		assert "not an arcprof trace" in fails(b"x" * 200)
		assert "empty" in fails(b"")
		assert "unknown metric 'nope' (the trace has: cpu, wall" in fails(events, metrics="nope")
		data = open(events, "rb").read()
		whole = [n.cum for n in arcprof.Trace(data).nodes()]
		assert [n.cum for n in arcprof.Trace(io.BytesIO(data)).nodes()] == whole
		t = arcprof.Trace(data[:len(data) // 2])
		list(t.nodes())
		assert t.damaged
		r, w = os.pipe()	# of a pipe, which cannot be sought in
		if not os.fork():
		    os.write(w, data[:60000])
		    os._exit(0)
		os.close(w)
		assert arcprof.Trace(os.fdopen(r, "rb")).damaged
		with arcprof.Trace(events) as t:
		    stack = next(s.stack for s in t.samples() if s.stack)
		assert stack.frames() and stack == stack and {stack: 1}
	E
	python3 check.py "$events"
}

@test "python: names are demangled as the reports do" {
	skip_unless_command nm
	lib=$(g++ -print-file-name=libstdc++.so.6 2>/dev/null) && [ -e "$lib" ] || skip "no C++ library is installed"
	nm -D --defined-only "$lib" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u >names
	"$BUILD/t/tools/demangle" <names >want
	python3 -c '
import sys
from arcprof._demangle import demangle
for line in sys.stdin:
    print(demangle(line[:-1]))' <names >got
	[ "$(wc -l <names)" -gt 1000 ]
	diff want got
}

@test "python: the tables of every stored trace are those of the reports" {
	cat >check.py <<-'E'
		import arcprof, json, os, subprocess, sys
		for path in sys.argv[1:]:
		    def report(*args):
		        out = subprocess.run([os.environ["ARCPROF"], "report", "-q", "-i", path, "--format", "json", *args],
		                             capture_output=True, text=True).stdout
		        return json.loads(out) if out else None
		    want, trace = report("--xtree"), arcprof.Query(path)
		    try:
		        got = []
		        for n in trace.nodes(order="id"):
		            got.append([n["id"], n["parent"], n["name"], n["n"], n["base"], n["cum"]])
		    except arcprof.Error as e:
		        assert "no end" in str(e), e
		    assert got == [[n["id"], n["parent"], n["name"], n["n"], n["base"][0], n["cum"][0]] for n in want["nodes"]], path
		    if want["n_means"] == "samples" and not want["source"].get("merged_by"):
		        timed = sum(1 for s in arcprof.Query(path).samples()) if got else 0
		        assert timed == want["sources"][0]["n"], (path, timed)
		    print(path, len(got))
	E
	python3 check.py "$TOP"/t/data/*/trace
}

@test "python: a stack ends in the function of its sample, and goes through its node" {
	cat >check.py <<-'E'
		import arcprof, sys
		t, known, nr = arcprof.Query(sys.argv[1], samples=True), {}, 0
		parent = {n["id"]: (n["parent"], n["function"]) for n in t.nodes()}
		for s in t.samples(where="stack IS NOT NULL"):
		    functions, node = [], s["node"]
		    while node is not None:
		        node, f = parent[node]
		        functions.insert(0, f)
		    stack = [f["function"] for f in t.stack(s["stack"], known)]
		    own = [f for f in functions[2:]]
		    short = [f for i, f in enumerate(stack) if not i or f != stack[i - 1]]
		    assert stack == own or short == [f for i, f in enumerate(own) if not i or f != own[i - 1]], s
		    nr += 1
		assert nr > 5
		print(nr)
	E
	python3 check.py "$events"
	python3 check.py "$TOP/t/data/java/trace"
}

@test "python: parameters are values, whatever is in them" {
	cat >check.py <<-'E'
		import arcprof, sys
		t = arcprof.Query(sys.argv[1])
		one = lambda *a: next(iter(t.query(*a)))
		assert one("SELECT ? AS a, '?' AS b /* ? */ -- ?", ["x' OR '1"]) == {"a": "x' OR '1", "b": "?"}
		assert one("SELECT ? AS a, ? AS b, ? AS c, ? AS d", [-1, 2.5, None, True]) == {"a": -1, "b": 2.5, "c": None, "d": 1}
		assert [r["a"] for r in t.query("SELECT 1 AS a UNION ALL SELECT 2")] == [1, 2]
		assert list(t.query("SELECT 1 WHERE 0")) == []
		assert one("SELECT '\u00e9\n' || char(93, 44) AS a")["a"] == "\u00e9\n],"
		for wrong in ("SELECT 1", ["a"]), ("SELECT ?, ?", [1]), ("SELECT ?", [b"x"]), ("SELECT ?", ["a\0"]):
		    try:
		        list(t.query(*wrong))
		    except (ValueError, TypeError):
		        continue
		    raise AssertionError(wrong)
	E
	python3 check.py "$events"
}

@test "python: failures are exceptions with what arcprof says" {
	cat >check.py <<-'E'
		import arcprof, sys
		def fails(trace, sql):
		    try:
		        list(trace.query(sql))
		    except arcprof.Error as e:
		        return str(e), e.status
		    raise AssertionError(sql)
		t = arcprof.Query(sys.argv[1])
		assert "no such column" in fails(t, "SELECT nope FROM nodes")[0]
		assert fails(t, "DELETE FROM nodes")[1] == 1
		assert "No such file" in fails(arcprof.Query("missing"), "SELECT 1")[0]
		assert "0.2 s" in fails(arcprof.Query(sys.argv[1], timeout="200ms"),
		                        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c")[0]
		for row in t.samples():		# the rest is not wanted
		    break
		assert arcprof.Query(sys.argv[1], metric="wall").metrics().__next__()["name"] == "wall"
	E
	python3 check.py "$events"
}

@test "python: the examples of the page run" {
	awk '/^----$/ { n++; next } n % 2 { print >"example." n }' "$TOP/Documentation/arcprof-python.adoc"
	cp "$events" arcprof.data
	nr=0
	for example in example.*; do
		python3 "$example" >out || { cat "$example"; return 1; }
		[ -s out ]
		nr=$((nr + 1))
	done
	[ "$nr" -eq 4 ]
}
