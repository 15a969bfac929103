#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a profile as another program would, of folded stacks whose numbers are ns and a sample each ms.

usage: t/perf/formats-gen.py FORMAT <FOLDED >PROFILE"""
import json
import struct
import sys

NS = 1000000


def read_stacks():
    """(frames from the outermost on, samples) of each line; process and thread are frames."""
    for line in sys.stdin:
        if not line.startswith("#"):
            stack, _, number = line.rstrip("\n").rpartition(" ")
            yield [f.replace(" ", "_") for f in stack.split(";")], int(number) // NS


class Tree:
    """Stacks as nodes: (name, parent), numbered from 1; children of each; samples at each."""

    def __init__(self):
        self.ids, self.nodes, self.children, self.at = {}, [("(root)", 0)], [[]], [0]

    def node(self, name, parent):
        key = (name, parent)
        if key not in self.ids:
            self.ids[key] = len(self.nodes)
            self.nodes.append(key)
            self.children.append([])
            self.children[parent].append(len(self.nodes) - 1)
            self.at.append(0)
        return self.ids[key]

    def read(self):
        for frames, n in read_stacks():
            at = 0
            for name in frames:
                at = self.node(name, at)
            self.at[at] += n
        return self


def address(names, name):
    return 0x400000 + 256 * names.setdefault(name, len(names))


def perf_script(out):
    names, time = {}, 0
    for frames, n in read_stacks():
        stack = "".join("\t%16x %s (/usr/bin/program)\n" % (address(names, f), f) for f in reversed(frames))
        for _ in range(n):
            time += NS
            out.write("program  4711/4711  %d.%09d:    1000000 cpu-clock: \n%s\n" % (time // 10**9, time % 10**9, stack))


def perf_data(out):
    """As perf record -o - writes it: IP, TID, TIME, PERIOD and CALLCHAIN."""
    out, names, time = out.buffer, {}, 0
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, NS, 1 | 2 | 4 | 32 | 256, 0, 0).ljust(112, b"\0")
    out.write(struct.pack("<8sQ", b"PERFILE2", 16) + struct.pack("<IHH", 64, 0, 8 + len(attr) + 8) + attr +
              struct.pack("<Q", 1))
    for frames, n in read_stacks():
        chain = [2**64 - 512] + [address(names, f) for f in reversed(frames)]
        tail = struct.pack("<QQ%dQ" % len(chain), NS, len(chain), *chain)
        for _ in range(n):
            time += NS
            body = struct.pack("<QIIQ", chain[1], 4711, 4711, time) + tail
            out.write(struct.pack("<IHH", 9, 2, 8 + len(body)) + body)


def cpuprofile(out):
    tree, samples = Tree().read(), []
    for i, n in enumerate(tree.at):
        samples += [i + 1] * n
    nodes = [{"id": i + 1, "callFrame": {"functionName": name, "scriptId": "1", "url": "file:///p.js", "lineNumber": 1,
                                         "columnNumber": 1}, "children": [c + 1 for c in tree.children[i]]}
             for i, (name, _) in enumerate(tree.nodes)]
    out.write(json.dumps({"nodes": nodes, "startTime": 0, "endTime": 1000 * len(samples), "samples": samples,
                          "timeDeltas": [0] + [1000] * (len(samples) - 1)}))


def heapprofile(out):
    """A list of nodes, as nested lists would be too deep for the module json."""
    tree = Tree().read()

    def put(i):
        stack = [(i, iter(tree.children[i]))]
        head(i)
        while stack:
            child = next(stack[-1][1], None)
            if child is None:
                out.write("]}")
                stack.pop()
                continue
            if child != tree.children[stack[-1][0]][0]:
                out.write(",")
            head(child)
            stack.append((child, iter(tree.children[child])))

    def head(i):
        out.write('{"callFrame":{"functionName":%s,"scriptId":"1","url":"","lineNumber":0,"columnNumber":0},'
                  '"selfSize":%d,"id":%d,"children":[' % (json.dumps(tree.nodes[i][0]), tree.at[i], i + 1))

    out.write('{"head":')
    put(0)
    out.write(',"samples":[]}')


def gperftools(out):
    names, stacks = {}, list(read_stacks())
    total = sum(n for _, n in stacks)
    out.write("heap profile: %d: %d [%d: %d] @ heapprofile\n" % (total, total, total, total))
    for frames, n in stacks:
        line = "1: 1 [1: 1] @ %s\n" % " ".join("%#x" % address(names, f) for f in reversed(frames))
        out.write(line * n)
    out.write("\nMAPPED_LIBRARIES:\n")


def heaptrack(out):
    out.write("v 10400 2\nX program\nI 1000 100\n")
    names, tree, at = {}, Tree(), 0

    def string(name):
        if name not in names:
            names[name] = len(names) + 1
            out.write("s %s\n" % name)
            out.write("i %x %x %x\n" % (4096 + names[name], module, names[name]))
        return names[name] - 1      # the module is the first, and has no address

    names["/usr/bin/program"] = module = 1
    out.write("s /usr/bin/program\n")
    for i, (frames, n) in enumerate(read_stacks()):
        at = 0
        for name in frames:
            before, ip = len(tree.nodes), string(name)
            parent, at = at, tree.node(name, at)
            if at == before:
                out.write("t %x %x\n" % (ip, parent))
        out.write("a 1 %x\n" % at)
        out.write(("+ %x\n" % i) * n)


def dhat(out):
    names, out_pps = {}, []
    for frames, n in read_stacks():
        ids = [names.setdefault(f, len(names) + 1) for f in reversed(frames)]
        out_pps.append({"tb": n, "tbk": n, "mb": n, "mbk": n, "gb": n, "gbk": n, "eb": 0, "ebk": 0, "fs": ids})
    out.write(json.dumps({"dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": True, "bkacc": False,
                          "tu": "instrs", "Mtu": "Minstr", "tuth": 500, "cmd": "program", "pid": 1, "te": 2, "tg": 1,
                          "pps": out_pps,
                          "ftbl": ["[root]"] + ["0x%X: %s (p.c:1)" % (4096 + 16 * i, f) for f, i in names.items()]}))


def gc_log(out):
    at = 0
    for _, n in read_stacks():
        for _ in range(n):
            at += 1
            out.write("[%d.%03ds][info][gc] GC(%d) Pause Young (Normal) (G1 Evacuation Pause) 6M->6M(64M) 1.000ms\n" %
                      (at // 1000, at % 1000, at))


def jstack(out):
    tid = 0
    out.write("Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):\n\n")
    for frames, n in read_stacks():
        stack = "".join("\tat p.%s(P.java:1)\n" % f.replace("[", "").replace("]", "") for f in reversed(frames))
        for _ in range(n):
            tid += 1
            out.write('"worker-%d" #%d prio=5 os_prio=0 cpu=1.00ms elapsed=2.00s tid=0x%016x nid=0x%x runnable '
                      '[0x00007f0000000000]\n   java.lang.Thread.State: RUNNABLE\n%s\n' %
                      (tid % 1000, tid, tid, tid % 1000 + 1, stack))


{name.replace("_", "-"): f for name, f in (
    ("perf_script", perf_script), ("perf_data", perf_data), ("cpuprofile", cpuprofile), ("heapprofile", heapprofile),
    ("gperftools", gperftools), ("heaptrack", heaptrack), ("dhat", dhat), ("gc_log", gc_log), ("jstack", jstack),
)}[sys.argv[1]](sys.stdout)
