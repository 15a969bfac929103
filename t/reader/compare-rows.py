# SPDX-License-Identifier: GPL-2.0-or-later
"""
compare-rows.py - holds what rows.c prints of traces against "arcprof report" and "arcprof query".

    compare-rows.py <rows> <trace>...
"""
import collections
import json
import os
import subprocess
import sys

ARCPROF = os.environ["ARCPROF"]


def report(path, *args):
    out = subprocess.run([ARCPROF, "report", "-q", "-i", path, "--format", "json", *args], capture_output=True).stdout
    return json.loads(out) if out else None


def query(path, sql, *args):
    out = subprocess.run([ARCPROF, "query", "-q", "-i", path, "--format", "json", sql, *args], capture_output=True)
    return json.loads(out.stdout)["rows"] if out.stdout else []


def sums(row, sources):
    """n, base, cum as the library has them: of the metrics that are not counters themselves."""
    nr = len(sources)
    return [[row["ns"][s] for s in sources] if "ns" in row else [row["n"]] * nr, row["base"][:nr], row["cum"][:nr]]


def compare(rows, path, options, args):
    got = collections.defaultdict(list)
    out = subprocess.run([rows, path, "all", *options], capture_output=True)
    for line in out.stdout.decode(errors="surrogateescape").splitlines():
        row = json.loads(line)
        got[row.pop("table")].append(row)
    assert not out.returncode or b"no end" in out.stderr, (path, out.stderr)
    tree, flat = report(path, "--xtree", *args), report(path, "--xprof", *args)
    names = [m["name"] for m in got["metrics"]]
    source_of = {m: i for i, s in enumerate(tree["sources"]) for m in s["metrics"]}
    sources = [source_of[n] for n in names]
    assert [n["id"] for n in tree["nodes"]] == [n["row"] for n in got["nodes"]]
    for want, n in zip(tree["nodes"], got["nodes"]):
        assert [want[k] for k in ("id", "parent", "level", "rl", "name")] == \
            [n[k] for k in ("id", "parent", "level", "rl", "name")], (want, n)
        assert sums(want, sources) == [n["n"], n["base"], n["cum"]], (want, n)
    want = sorted([r["name"], r["kind"], r["module"] or None, r.get("pid", 0), r.get("tid", 0), *sums(r, sources),
                   r["cum_recursive"][:len(names)]] for r in flat["rows"])
    have = sorted([f[k] for k in ("name", "kind", "module", "pid", "tid", "n", "base", "cum", "cum_recursive")]
                  for f in got["functions"] if f["nodes"])
    key = lambda r: [str(x) for x in r]
    assert sorted(want, key=key) == sorted(have, key=key), [x for x in zip(sorted(want, key=key), sorted(have, key=key))
                                                          if x[0] != x[1]][:2]
    for table in "labels", "metrics", "processes", "threads", "modules", "samples", "calls", "events", "dispatches":
        rows_of = query(path, "SELECT * FROM " + table, *args)
        assert len(rows_of) == len(got[table]), (table, len(rows_of), len(got[table]))
        for want, have in zip(rows_of, got[table]):
            for k in have:
                assert k == "row" or want[k] == have[k], (path, table, want, have)
    frames = collections.defaultdict(list)
    for f in query(path, "SELECT * FROM frames ORDER BY id, level", *args):
        frames[f["id"]].append(dict(name=f["name"], code=f["kind"] or "named", file=f["file"], line=f["line"],
                                    # SQL has no integers of 64 bits without a sign
                                    address="%.12g" % (f["address"] or 0 if f["kind"] else 0), function=f["function"], inlined=int(f["level"] > 0)))
    stacks = []
    for s in query(path, "SELECT * FROM stacks ORDER BY id", *args):
        stacks.append((stacks[s["parent"] - 1] if s["parent"] else []) + frames[s["frame"]])
    assert len(stacks) == len(got["stacks"])
    for want, have in zip(stacks, got["stacks"]):
        for f in have["frames"]:
            f["address"] = "%.12g" % f["address"]
        assert want[:300] == have["frames"], (want, have)
    print(path, *options, {k: len(v) for k, v in got.items()})


def main(rows, paths):
    for path in paths:
        compare(rows, path, [], [])
        if query(path, "SELECT value FROM labels WHERE key = 'callflow'"):
            compare(rows, path, ["samples"], ["--samples"])


main(sys.argv[1], sys.argv[2:])
