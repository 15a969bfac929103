# SPDX-License-Identifier: GPL-2.0-or-later
"""
trace.py - a reader of traces written from arcprof-trace(5) alone: what that page does not say, this does not know.

Trace(bytes) decodes all records by the schema in the file; contexts() is the tree of a profile, calls() that of
exact calls, blocks() the blocks of an instruction trace.
"""
import os
import re
import struct
import subprocess
import zlib
from collections import defaultdict

M64 = (1 << 64) - 1
FILE_MAGIC = bytes.fromhex("894172630d0a1a0a")
CHUNK_MAGIC = bytes.fromhex("f54368556e4b0d0a")
NATIVE, KERNEL, ANON, JIT, INTERP, STUB, MARK, METHOD = range(1, 9)


class Span:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("record ends early")
        self.at += n
        return self.data[self.at - n:self.at]

    def integer(self, n, signed=False):
        return int.from_bytes(self.take(n), "little", signed=signed)

    def varint(self):
        v = 0
        for i in range(10):
            b = self.take(1)[0]
            v |= (b & 0x7f) << 7 * i
            if not b & 0x80:
                return v & M64
        raise ValueError("varint of more than ten bytes")

    def zigzag(self):
        v = self.varint()
        return (v >> 1) ^ -(v & 1)


def chunks(data):
    """(type, epoch, payload) of each whole chunk."""
    off = 64
    if data[:8] == FILE_MAGIC and zlib.crc32(data[:60]) == struct.unpack_from("<I", data, 60)[0]:
        off = struct.unpack_from("<H", data, 10)[0]
    while off + 64 <= len(data):
        head = data[off:off + 64]
        kind = head[8:12].decode("latin-1")
        flags, stored, raw, crc, epoch = struct.unpack_from("<IIIII", head, 12)
        stride, head_crc = struct.unpack_from("<4xI", head, 52)[0], struct.unpack_from("<I", head, 60)[0]
        stride = struct.unpack_from("<I", head, 56)[0]
        body = data[off + 64:off + 64 + stored]
        if head[:8] != CHUNK_MAGIC or zlib.crc32(head[:60]) != head_crc or len(body) < stored or zlib.crc32(body) != crc:
            off = data.find(CHUNK_MAGIC, off + 1)
            if off < 0:
                return
            continue
        off += 64 + stored
        if flags & ~3:
            continue
        if flags & 1:
            body = zlib.decompress(body)
        if flags & 2:
            rows = raw // stride
            plain = bytearray(body)
            for k in range(stride):
                plain[k:rows * stride:stride] = body[k * rows:(k + 1) * rows]
            body = bytes(plain)
        yield kind, epoch, body


def records(payload):
    """(major, minor, time, body) of each record."""
    at, time = 0, 0
    while at + 8 <= len(payload):
        type_len, major, minor = struct.unpack_from("<HHI", payload, at)
        kind, length, head = type_len & 3, type_len & 0xfffc, 8
        if kind != 1:
            time, head = struct.unpack_from("<Q", payload, at + 8)[0], 16
        if kind == 3:
            length, head = struct.unpack_from("<I", payload, at + 16)[0], 20
        if length < head or at + length > len(payload):
            return
        yield major, minor, time, payload[at + head:at + length]
        at += length


class Schema:
    def __init__(self):
        self.rows = []

    def learn(self, body):
        s = Span(body)
        codes = [s.integer(4) for _ in range(3)]
        name, fields = (s.take(s.varint()).decode() for _ in range(2))
        self.rows.append((*codes, name, fields.split()))

    def decode(self, major, minor, body):
        for m, code, mask, name, fields in self.rows:
            if m == major and minor & mask == code:
                values = {}
                self._fields(fields, 0, Span(body), minor, values)
                return name, values
        return None, {}

    def _fields(self, words, at, s, minor, out):
        """Returns the index behind the group's end, or of the end."""
        while at < len(words) and words[at] != ")":
            word = words[at]
            at += 1
            if word.startswith("*"):
                group, begin = [], at
                at = self._end(words, begin) + 1
                for _ in range(out[word[1:-1]]):
                    element = dict(out)		# a group inside may be counted by a field outside
                    self._fields(words, begin, s, minor, element)
                    group.append(element)
                out[word] = group
                continue
            name, kind = word.split(":")[:2]
            if kind == "v":
                out[name] = s.varint()
            elif kind == "z":
                out[name] = s.zigzag()
            elif kind in "sb":
                out[name] = s.take(s.varint())
            elif kind[0] == "m":
                shift, bits = kind[1:].split(".")
                out[name] = minor >> int(shift) & (1 << int(bits)) - 1
            elif kind[0] in "uxi":
                out[name] = s.integer(int(kind[1:]) // 8, kind[0] == "i")
            else:
                return
        return

    def _end(self, words, at):
        depth = 0
        while words[at] != ")" or depth:
            depth += words[at].startswith("*") - (words[at] == ")")
            at += 1
        return at


def text(b):
    return b.decode("utf-8", "surrogateescape")


def demangle(names):
    """C++ and Rust as c++filt has them, but for std::string and the like, which it writes out."""
    names = sorted(names)
    out = subprocess.run(["c++filt", "--"], input="\n".join(names) + "\n", capture_output=True, text=True, check=True)
    text = re.sub(r"std::(?:__cxx11::|__1::)?basic_([a-z_]+)<char, std::(?:__1::)?char_traits<char>"
                  r"(?:, std::(?:__1::)?allocator<char>)? >(?: (?=>))?", r"std::\1", out.stdout)
    return dict(zip(names, text.split("\n")))


class Trace:
    def __init__(self, data):
        self.labels, self.procs, self.threads, self.modules, self.methods = {}, {}, {}, {}, {}
        self.codes, self.stubs = defaultdict(list), defaultdict(list)
        self.symbols, self.lines = defaultdict(list), defaultdict(dict)
        self.consumers, self.trees, self.nodes = {}, {}, defaultdict(dict)
        self.values = defaultdict(lambda: defaultdict(lambda: [0, []]))
        self.sources, self.metrics, self.merged, self.path = {}, {}, [], []
        self.samples, self.flow = [], []	# with their stacks; maps and branches in the order of the file
        self.table = {}
        schema = Schema()
        for kind, epoch, payload in chunks(data):
            if kind in ("Stak", "Samp") and epoch != getattr(self, "epoch", None):
                self.epoch, self.frames, self.stack = epoch, {}, {}
            self.weights = {}
            for major, minor, time, body in records(payload):
                if (major, minor) == (0xc4, 1):
                    schema.learn(body)
                    continue
                try:
                    name, f = schema.decode(major, minor, body)
                except ValueError:
                    continue
                if name:
                    getattr(self, "on_" + re.sub(r"\W", "_", name), self.ignore)(time, f)
        self.names = demangle({s[2] for m in self.symbols.values() for s in m} |
                              {v[0] for m in self.lines.values() for v in m.values()})
        for m in self.symbols.values():
            m.sort()

    def ignore(self, time, f):
        pass

    def on_label(self, time, f):
        self.labels[text(f["key"])] = text(f["value"])

    def on_proc(self, time, f):
        self.procs[f["proc"]] = (text(f["comm"]), f["pid"])

    on_fork = on_exec = on_proc

    def on_thread(self, time, f):
        if not self.threads.get(f["thread"], (0, 0, False))[2]:	# Java's name stays
            self.threads[f["thread"]] = (f["proc"], text(f["name"]), False)

    def on_thread_java(self, time, f):
        self.threads[f["thread"]] = (f["proc"], text(f["name"]), True)

    def on_module(self, time, f):
        self.modules[f["module"]] = (text(f["path"]), f["flags"])

    def on_map(self, time, f):
        self.flow.append(("map", f))

    def on_branches_user(self, time, f):
        self.flow.append(("branches", f))

    on_branches_kernel = on_branches_user

    def on_method(self, time, f):
        name = text(f["class"])
        # the VM's number of a hidden class follows "/", packages are told apart by "."
        name = re.sub(r"\x00", "/", name.replace(".0x", "\x000x").replace("/0x", "\x000x").replace("/", "."))
        self.methods[f["proc"], f["method"]] = (name + "." if name else "") + text(f["name"])

    def on_code(self, time, f):
        self.codes[f["proc"], f["compile_id"]].append(f)

    def on_stub(self, time, f):
        self.stubs[f["proc"]].append((f["addr"], f["size"], time, text(f["name"])))

    def on_symbol(self, time, f):
        self.symbols[f["module"]].append((f["off"], f["size"], text(f["name"])))

    def on_line(self, time, f):
        self.lines[f["module"], f["off"]][f["depth"]] = (text(f["func"]), text(f["file"]), f["line"])

    def on_frames(self, time, f):
        last = defaultdict(int)
        for i, x in enumerate(f["*nr("]):
            last[x["kind"]] = last[x["kind"]] + x["b"] & M64
            self.frames[f["first"] + i] = (x["kind"], x["a"], last[x["kind"]], x["c"], x["d"])

    def on_stacks(self, time, f):
        at = f["first"]
        for run in f["*runs("]:
            parent = at - run["up"]
            for x in run["*n("]:
                self.stack[at] = (parent, x["frame"])
                parent, at = at, at + 1

    def on_sample_user(self, time, f):
        event = f.get("event_wide", f["event"])
        if "weight" not in f:
            weight = self.weights.get(event, 1)
        else:
            weight = f["weight"]
            if "event_wide" not in f:
                self.weights[event] = weight
        frames, node = [], f["stack"]
        while node:
            node, frame = self.stack.get(node, (0, None))
            frames.append(self.frames.get(frame, (MARK, 0, 11, 0, 0)))
        self.samples.append((time, event, f["thread"], weight, frames[::-1]))

    on_sample_kernel = on_sample_user

    def on_call_consumer(self, time, f):
        self.consumers[f["consumer"]] = (f["kind"], f["a"], f["b"], 0, 0)

    def on_call_tree(self, time, f):
        self.trees[f["tree"]] = f

    def on_call_nodes(self, time, f):
        for i, x in enumerate(f["*nr("]):
            number = f["first"] + i
            self.nodes[f["tree"]][number] = (number - x["up"] & 0xffffffff, x["consumer"])

    def on_call_values(self, time, f):
        node = 0
        for x in f["*nr("]:
            node += x["skip"]
            v = self.values[f["tree"]][node]
            v[0] += x["calls"]
            base = [m["base"] for m in x["*metrics("]]
            v[1] = [a + b for a, b in zip(v[1], base)] if v[1] else base

    def on_tree_source(self, time, f):
        self.sources[f["source"]] = f["total"]

    def on_tree_metric(self, time, f):
        self.metrics[f["metric"]] = f["total"]

    def on_tree_consumer(self, time, f):
        name = "mark" if text(f["kind"]) == "mark" else text(f["name"])
        self.consumers[f["consumer"]] = (name, text(f["module"]))

    def on_tree_nodes(self, time, f):
        s, level = Span(f["nodes"]), f["level"]
        for i in range(f["nr"]):
            up = s.varint()
            level = level - up + 1 if i else f["level"]
            self.path[level:] = [self.consumers[s.varint()]]
            numbers = [s.varint() for _ in range(len(self.sources) + len(self.metrics))]
            self.merged.append((tuple(self.path), numbers))

    # ---- names ----

    def symbol(self, module, off):
        best = None
        for s in self.symbols[module]:
            if s[0] > off:
                break
            best = s
        return best if best and off - best[0] < max(best[1], 1) else None

    def native(self, module, off):
        if module not in self.modules:
            return [("[unknown in unknown module]", "")]
        path, flags = self.modules[module]
        symbol = self.symbol(module, off)
        if flags & 8:
            through = symbol and self.names[symbol[2]].endswith("_through")
            return [] if through else [("[arcprof]", "[arcprof]")]
        lines = self.lines.get((module, off), {})
        if symbol:
            names = [self.names[symbol[2]]]
        elif lines and lines[len(lines) - 1][0]:
            names = [self.names[lines[len(lines) - 1][0]]]
        else:
            names = ["[unknown in %s]" % os.path.basename(path)]
        for depth in range(len(lines) - 2, -1, -1):
            names.append(self.names[lines[depth][0]] or "[unknown inlined function]")
        return [(n, path) for n in names]

    def inlined(self, proc, pc, compile_id, method):
        for code in reversed(self.codes[proc, compile_id]):
            if 0 <= pc - code["addr"] < code["size"]:
                break
        else:
            return [method]
        if not code["inline"]:
            return [method or code["method"]]
        s, at = Span(code["inline"]), code["addr"]
        for _ in range(s.varint()):
            at += s.varint()
            frames = [(s.varint(), s.varint()) for _ in range(s.varint())]
            if at > pc and frames:
                return [m for m, _ in reversed(frames)]
        return [method or code["method"]]

    def at_time(self, proc, addr, time):
        """Of the stubs that cover the address the last known by then, else the first after it."""
        there = [s for s in self.stubs[proc] if 0 <= addr - s[0] < s[1]]
        before = [s for s in there if s[2] <= time]
        return max(before, key=lambda s: s[2]) if before else min(there, key=lambda s: s[2]) if there else None

    def resolve(self, frame, time):
        """Names and modules of a frame's functions, outermost first."""
        kind, a, b, c, d = frame
        if kind in (NATIVE, KERNEL):
            return self.native(a, b)
        if kind in (JIT, INTERP, METHOD):
            methods = self.inlined(a, b, c, d) if kind == JIT else [b]
            return [(self.methods.get((a, m), "[unknown Java method]"), "") for m in methods]
        if kind in (STUB, ANON):
            stub = self.at_time(a, b, time)
            return [(stub[3] if stub else "[unknown in JVM code cache]" if kind == STUB else
                     "[unknown in anonymous memory]", "")]
        return [("mark %d" % b, "")]

    def top(self, thread):
        proc, name, _ = self.threads[thread]
        return [(self.procs[proc][0], ""), (name, "")]

    def tree_top(self, tree):
        name = text(tree["name"])
        if tree["thread"] in self.threads:
            top = self.top(tree["thread"])
            return top[:1] + [(name, "")] if name else top
        return [(self.procs[tree["proc"]][0], ""), (name or "[no name]", "")]

    # ---- what reports show ----

    def contexts(self):
        """{path of (name, module): [samples, weight of event 0]}"""
        out = defaultdict(lambda: [0, 0])
        for time, event, thread, weight, frames in self.samples:
            if event:
                continue
            path = self.top(thread)
            for f in frames:
                path += self.resolve(f, time)
            out[tuple(path)][0] += 1
            out[tuple(path)][1] += weight
        return out

    def calls(self):
        """{path of (name, module): [calls, base of each metric...]}"""
        out = defaultdict(list)
        for number, nodes in self.values.items():
            for node, (calls, base) in nodes.items():
                path = []
                while node:
                    node, consumer = self.nodes[number][node]
                    if consumer:
                        path = self.resolve(self.consumers[consumer], 0)[:1] + path
                path = tuple(self.tree_top(self.trees[number]) + path)
                new = [calls] + base
                out[path] = [a + b for a, b in zip(out[path], new)] if out[path] else new
        return out

    def merged_contexts(self):
        """{path of (name, module): [n of the first source, each metric, n of the other sources]} of a merged trace."""
        out = defaultdict(list)
        nr = len(self.sources)
        for path, numbers in self.merged:
            row = numbers[:1] + numbers[nr:] + numbers[1:nr]
            out[path] = [a + b for a, b in zip(out[path], row)] if out[path] else row
        sums = [sum(x) for x in zip(*(n for _, n in self.merged))]
        assert sums == list(self.sources.values()) + list(self.metrics.values()), "totals"
        return out

    def blocks(self):
        """(instructions, function, offset in it, what ended it) of each block."""
        maps = defaultdict(list)
        for kind, f in self.flow:
            if kind == "map":
                maps[f["proc"]].append(f)
                continue
            at = f["start"]
            for x in f["*nr("]:
                proc, name, off = self.threads[f["thread"]][0], None, 0
                for m in reversed(maps[proc]):
                    if 0 <= at - m["addr"] < m["size"]:
                        where = at - m["addr"] + m["pgoff"]
                        symbol = self.symbol(m["module"], where)
                        name = self.names[symbol[2]] if symbol else None
                        off = where - symbol[0] if symbol else where
                        break
                yield x["instructions"], name, off, x["what"] & 15
                at = at + x["span"] + x["to"] & M64
