# SPDX-License-Identifier: GPL-2.0-or-later
"""
compare-module.py - holds what the Python module reads of traces against "arcprof report": metrics, sources, contexts
and functions must be equal to the last digit; samples and their stacks against "arcprof query".

    compare-module.py <trace>...
"""
import json
import os
import subprocess
import sys

import arcprof

ARCPROF = os.environ["ARCPROF"]


def report(path, *args):
    out = subprocess.run([ARCPROF, "report", "-q", "-i", path, "--format", "json", *args], capture_output=True).stdout
    return json.loads(out) if out else None


def differ(what, want, got):
    for pair in zip(want, got):
        assert pair[0] == pair[1], "%s:\n report %s\n module %s" % (what, *pair)
    assert len(want) == len(got), (what, len(want), len(got))


def compare_model(path, args, options):
    tree, flat, t = report(path, "--xtree", *args), report(path, "--xprof", *args), arcprof.Trace(path, **options)
    nr, sources = len(t.metrics), [m.source for m in t.metrics]

    def sums(r):
        n = tuple(r["ns"][s] for s in sources) if "ns" in r else (r["n"],) * nr
        return n, tuple(r["base"][:nr]), tuple(r["cum"][:nr])

    differ(path, [(m["name"], m["unit"], m["total"]) for m in tree["metrics"]][:nr],
           [(m.name, m.unit, m.total) for m in t.metrics])
    differ(path, [(s["name"], s["kind"], s["n"]) for s in tree["sources"]], [(s.name, s.kind, s.n) for s in t.sources])
    nodes = list(t.nodes())
    differ(path, [(n["id"], n["parent"], n["level"], n["rl"], n["name"], n["kind"], n["module"], *sums(n))
                  for n in tree["nodes"]],
           [(n.id, n.parent, n.level, n.recursion, n.name, n.kind, n.module, n.n, n.base, n.cum) for n in nodes])
    functions = list(t.functions())
    differ(path, sorted([(r["name"], r["kind"], r["module"] or "", r.get("pid", 0), r.get("tid", 0), *sums(r),
                          tuple(r["cum_recursive"][:nr])) for r in flat["rows"]]),
           sorted([(f.name, f.kind, f.module or "", f.pid or 0, f.tid or 0, f.n, f.base, f.cum, f.cum_recursive)
                   for f in functions]))
    return t, len(nodes), len(functions)


def compare_samples(path):
    """All that the model has, with the functions of their stacks; those of one moment are in any order."""
    query, t = arcprof.Query(path, samples=True), arcprof.Trace(path, samples=True)
    names, known = {f["id"]: f["name"] for f in query.functions()}, {}
    want = []
    for s in query.samples():
        frames = query.stack(s["stack"], known) if s["stack"] else []
        want.append((s["time"], s["thread"], s["cpu"], s["user"], s["weight"], s["stack"] or 0,
                     [(names[f["function"]], f["file"], f["line"], f["level"] > 0) for f in frames]))
    got = []
    for s in t.samples():
        if "event.0" in t.labels and s.event != t.metrics[0].name:
            continue
        frames = s.stack.frames() if s.stack else []
        got.append((s.time_ns, s.thread, s.cpu, s.user, s.weight, s.stack.number if s.stack else 0,
                    [(f.name, f.file, f.line, f.inlined) for f in frames]))
    differ(path, sorted(want, key=str), sorted(got, key=str))
    return len(got)


def main(paths):
    for path in paths:
        labels = arcprof.Trace(path).labels
        if "itrace.engine" in labels:
            try:
                arcprof.Trace(path).metrics
            except arcprof.Error as e:
                print(path, e)
                continue
            raise AssertionError("an instruction trace is not read")
        t, nr_nodes, nr_functions = compare_model(path, [], {})
        nr_samples = 0
        if "callflow" in labels:
            compare_model(path, ["--samples"], {"samples": True})
            compare_model(path, ["--no-calibrate"], {"calibrate": False})
            compare_model(path, ["--metric", t.metrics[-1].name], {"metrics": [t.metrics[-1].name]})
        if "merged" not in labels:
            duration = report(path, "--xtree")["source"]["duration_ns"] or 0
            if duration:
                window = "%dns" % (duration // 4), "%dns" % (duration // 2)
                compare_model(path, ["--from", window[0], "--to", window[1]],
                              {"from_ns": duration // 4, "to_ns": duration // 2})
            if any(True for _ in t.samples()):
                nr_samples = compare_samples(path)
        print(path, nr_nodes, "contexts", nr_functions, "functions", nr_samples, "samples")


main(sys.argv[1:])
