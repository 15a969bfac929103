# SPDX-License-Identifier: MIT
"""
What a trace says of processes, threads, modules, symbols and methods, and what a frame is called: its function,
and those that are inlined there.
"""
from bisect import bisect_right

from ._demangle import demangle
from ._file import M32, M64, Error, Invalid, Span, records
from ._tables import (FRAME_ANON, FRAME_INTERP, FRAME_JIT, FRAME_KERNEL, FRAME_MARK, FRAME_METHOD, FRAME_NAMED, FRAME_NATIVE,
                      FRAME_NONE, FRAME_SITE, FRAME_STUB, FRAMES, JAVA_KINDS, K_ANY, K_JAVA, K_JAVA_COMPILED, K_JAVA_INLINED,
                      K_JAVA_INTERPRETED, K_KERNEL, K_MARK, K_NATIVE, K_NATIVE_INLINED, K_PROCESS, K_STUB, K_THREAD,
                      K_UNRESOLVED, MARK_GUESSED, MARK_LEFT_OUT, MARK_READ_LATER, MARK_SEARCHED, MARKS, NATIVE_KINDS,
                      OF_FUNCTION)

# Of a consumer whose kind is settled last: native and Java functions are never one, though both be called "main".
KEY_NATIVE, KEY_JAVA, KEY_BITS = 1, 2, 2
TIERS = "", "interpreted", "c1", "c2", "inlined"

# As a query names frames; without a kind it is a mark.
CODES = ("mark",) + FRAMES[1:]
MAX_LEVELS = 256
LOOK_BACK = 64
PARTS = (" [clone .", ".cold", ".part.", ".constprop.", ".isra.")
NOT_INLINED = 1 << 31
# Of a call site: a line, or with the first of these a bytecode index.
PLACE_BCI, PLACES = 1 << 16, (1 << 17) - 1


# They say how the frames outside them were found: nothing is missing.
NOTES = MARK_GUESSED, MARK_READ_LATER, MARK_SEARCHED


def mark_name(mark, count=0):
    if mark == MARK_LEFT_OUT and count:
        unit = 10 ** max(0, len(str(count)) - 2)
        return f"[... {'about ' if unit > 1 else ''}{count // unit * unit} frame{'' if count == 1 else 's'} ...]"
    return MARKS[mark] if mark < len(MARKS) else "[unwalkable: reason unknown to this version]"


def frame_of(kind, a, b, c=0, d=0):
    """As a tuple without what the kind does not have; an unknown kind is a mark without a reason."""
    a, c, d = a & M32, c & M32, d & M32
    if kind in (FRAME_NATIVE, FRAME_KERNEL, FRAME_ANON, FRAME_STUB, FRAME_NAMED):
        return kind, a, b, 0, 0
    if kind == FRAME_JIT:
        return kind, a, b, c, d
    if kind == FRAME_INTERP:
        return kind, a, b & M32, c, 0
    if kind == FRAME_METHOD:
        return kind, a, b & M32, b >> 32 if b >> 32 < len(TIERS) else 0, 0
    if kind == FRAME_SITE:
        return kind, a, b & PLACES << 32 | b & M32, 0, 0
    if kind == FRAME_MARK:
        return kind, a, b, 0, 0
    return (FRAME_MARK if kind else FRAME_NONE), 0, 0, 0, 0


def java_class(name):
    """java/util/HashMap is java.util.HashMap, but the VM's number of a hidden class follows a slash."""
    out = []
    for i, c in enumerate(name):
        hidden = name[i + 1:i + 3] == "0x"
        out.append("." if c == "/" and not hidden else "/" if c == "." and hidden else c)
    return "".join(out)


def whole_function(name):
    """Without what says that a compiler made a part or a clone of it."""
    cuts = [at for at in (name.find(p) for p in PARTS) if at > 0]
    return name[:min(cuts)] if cuts else name


class Consumers:
    """What consumes: functions, processes, threads, marks; numbered from 1."""

    def __init__(self):
        self.items, self.known = [None], {}	# (name, module, detail, kind, key)

    def add(self, name, kind, module="", detail="", key=0):
        x = (name, module, detail, kind, key)
        at = self.known.get(x)
        if at is None:
            at = self.known[x] = len(self.items)
            self.items.append(x)
        return at


class Level:
    """A function in a frame. weight says how much of it there is, beside its other kinds."""

    __slots__ = ("consumer", "kind", "function", "file", "line", "weight")

    def __init__(self, consumer, kind, function=None, file=None, line=0):
        self.consumer, self.kind, self.function, self.file, self.line, self.weight = \
            consumer, kind, function, file, line, 0


class Module:
    __slots__ = ("number", "path", "flags", "build_id", "content", "symbols", "offsets")

    def __init__(self, number):
        self.number, self.path, self.flags, self.build_id, self.content = number, "", 0, b"", 0
        self.symbols, self.offsets = [], None

    def symbol(self, off):
        if self.offsets is None:
            self.symbols.sort(key=lambda s: s[0])
            self.offsets = [s[0] for s in self.symbols]
        at = bisect_right(self.offsets, off)
        if not at:
            return None
        start, size, name = self.symbols[at - 1]
        return name if off - start < max(size, 1) else None


class Proc:
    __slots__ = ("number", "pid", "name", "stubs", "addresses", "jvm", "start", "end", "parent")

    def __init__(self, number):
        self.number, self.pid, self.name, self.stubs, self.addresses, self.jvm = number, 0, "", [], None, 0
        self.start = self.end = self.parent = None

    def stub(self, addr, time):
        """Of those that cover the address the last one known by then, else the first one after it."""
        if self.addresses is None:
            self.stubs.sort(key=lambda s: (s[0], s[2]))
            self.addresses = [s[0] for s in self.stubs]
        at, best = bisect_right(self.addresses, addr), None
        for s in reversed(self.stubs[max(at - LOOK_BACK, 0):at]):
            if addr - s[0] >= s[1]:
                continue
            if best is None or (best[2] > time or s[2] > best[2] if s[2] <= time else best[2] > time and s[2] < best[2]):
                best = s
        return best


class ThreadName:
    __slots__ = ("number", "proc", "tid", "name", "java", "start", "end")

    def __init__(self, number):
        self.number, self.proc, self.tid, self.name, self.java, self.start, self.end = number, 0, 0, "", False, None, None

    @property
    def own(self):
        """arcprof's, not the program's"""
        return self.java and self.name == "[arcprof]"


class Code:
    __slots__ = ("addr", "size", "method", "level", "inline", "pcs", "at")

    def __init__(self, addr, size, method, level, inline):
        self.addr, self.size, self.method, self.level, self.inline, self.pcs = addr, size, method, level, inline, None

    def frames(self, off):
        """[(method, bytecode index + 1)] from the innermost; empty: not known."""
        if self.pcs is None:
            self._index()
        at = bisect_right(self.pcs, off)
        if at == len(self.pcs):
            return []
        s, out = Span(self.inline, self.at[at]), []
        for _ in range(min(s.varint(), MAX_LEVELS)):
            out.append((s.varint() & M64, s.varint()))
        return out

    def _index(self):
        self.pcs, self.at = [], []
        s, pc = Span(self.inline), 0
        try:
            nr = s.varint()
            if nr > len(self.inline):
                return
            for _ in range(nr):
                pc = pc + s.varint() & M64
                at = s.at
                for _ in range(min(s.varint(), len(self.inline))):
                    s.varint()
                    s.varint()
                self.pcs.append(min(pc, M32))
                self.at.append(at)
        except Invalid:
            pass


def hash_u64(x):
    x ^= x >> 30
    x = x * 0xbf58476d1ce4e5b9 & M64
    x ^= x >> 27
    x = x * 0x94d049bb133111eb & M64
    return x ^ x >> 31


def content_of(build_id, size, mtime):
    """The hash by which call.java.K names a JVM."""
    if not 0 < len(build_id) <= 64:
        return hash_u64(size * 0x9e3779b97f4a7c15 & M64 ^ mtime)
    h = len(build_id) * 0x9e3779b97f4a7c15 & M64
    for i in range(0, len(build_id), 8):
        h = (h ^ int.from_bytes(build_id[i:i + 8], "little")) * 0xc2b2ae3d27d4eb4f & M64
        h ^= h >> 29
    return hash_u64(h)


class Names:
    """Filled by one pass over the chunks of a trace that are not samples."""

    def __init__(self, budget):
        self.budget = budget
        self.labels, self.procs, self.threads, self.modules, self.methods = {}, {}, {}, {}, {}
        self.sources, self.method_lines, self.functions, self.codes, self.lines = {}, {}, {}, {}, {}
        self.consumers = Consumers()
        self.own, self.split_tiers = 0, False
        self.frames, self.demangled = {}, {}
        self.read = {
            (0x19, 0x34): self._proc, (0x19, 0x63): self._proc, (0x19, 0x81): self._proc, (0x19, 0x65): self._end,
            (0x19, 0x67): self._end, (0x19, 0x66): self._thread, (0x19, 0x42): self._java_thread,
            (0x19, 0x82): self._module, (0x19, 0x01): self._map, (0x19, 0x83): self._method,
            (0x19, 0x87): self._method_lines, (0x19, 0x41): self._code, (0x19, 0x85): self._stub,
            (0xc1, 1): self._symbol, (0xc1, 2): self._line, (0xc1, 3): self._function,
        }

    # ---- records ----

    def take(self, raw, damage):
        """The records of a chunk."""
        self.budget.spend(len(raw))
        try:
            for major, minor, time, body in records(raw):
                if major == 0xc3:
                    f = self._label
                else:
                    f = self.read.get((major, minor))
                    if not f:
                        continue
                try:
                    f(Span(body), time)
                except Invalid:
                    damage.nr_records += 1
        except Invalid:
            damage.nr_records += 1

    def _label(self, s, time):
        key = s.text()
        self.labels[key] = s.text()

    def proc(self, number):
        p = self.procs.get(number)
        if p is None:
            p = self.procs[number] = Proc(number)
        return p

    def _proc(self, s, time):
        number, parent, pid, name = s.u32(), s.u32(), s.u32(), s.text()
        p = self.proc(number)
        p.pid, p.name = pid, name or p.name
        if parent:
            p.parent = parent
        p.start = min(p.start or time, time)

    def _thread(self, s, time, java=False):
        number, proc, tid, name = s.u32(), s.u32(), s.u32(), s.text()
        t = self.threads.get(number)
        if t is None:
            t = self.threads[number] = ThreadName(number)
        t.proc, t.tid = proc, tid
        if name and (java or not t.java):	# Java's name stays
            t.name, t.java = name, java
        t.start = min(t.start or time, time)

    def _java_thread(self, s, time):
        self._thread(s, time, True)

    def _end(self, s, time):
        proc, thread, _ = s.u32(), s.u32(), s.u32()
        x = self.threads.get(thread) if thread else self.procs.get(proc)
        if x:
            x.end = time

    def module(self, number):
        m = self.modules.get(number)
        if m is None:
            m = self.modules[number] = Module(number)
        return m

    def _module(self, s, time):
        number, flags, _, _, size, mtime, build_id, path = \
            s.u32(), s.u32(), s.u64(), s.u64(), s.u64(), s.u64(), s.data_bytes(), s.text()
        m = self.module(number)
        m.flags, m.path, m.build_id = flags, path, build_id if len(build_id) <= 64 else b""
        m.content = content_of(build_id, size, mtime)

    def _map(self, s, time):
        proc, module, _, _, _ = s.u32(), s.u32(), s.u64(), s.u64(), s.u64()
        m = self.modules.get(module)
        if m and base_name(m.path) == "libjvm.so":
            self.proc(proc).jvm = m.content

    def _method(self, s, time):
        proc, method, cls, name, signature, source = s.u32(), s.u32(), s.text(), s.text(), s.text(), s.text()
        self.methods[proc, method] = (java_class(cls) + "." if cls else "") + name, signature, source

    def _method_lines(self, s, time):
        proc, method, table = s.u32(), s.u32(), s.pairs()
        if (proc, method) in self.methods and table:
            self.method_lines[proc, method] = table

    def _code(self, s, time):
        addr, proc, method, compile_id, level, size, inline = \
            s.u64(), s.u32(), s.u32(), s.u32(), s.u32(), s.u32(), s.data_bytes()
        self.codes.setdefault((proc, compile_id), []).append(Code(addr, size, method, level, inline))

    def _stub(self, s, time):
        addr, size, proc, name = s.u64(), s.u64(), s.u32(), s.text()
        self.proc(proc).stubs.append((addr, size, time, name))

    def _symbol(self, s, time):
        off, size, module, name = s.u64(), s.u64(), s.u32(), s.text()
        self.module(module).symbols.append((off, size, name))

    def _line(self, s, time):
        off, module, depth, _, line, func, file = s.u64(), s.u32(), s.u32(), s.u32(), s.u32(), s.text(), s.text()
        if not depth:
            self.lines[module, off] = self.latest = []
        levels = self.lines.get((module, off))
        # the level before it may be lost
        if levels is not None and levels is self.latest and len(levels) == depth:
            levels.append((line, func, file))

    def _function(self, s, time):
        number, kind, name, module, file = s.key(), s.u32(), s.text(), s.text(), s.text()
        self.functions[number] = OF_FUNCTION[kind] if kind < len(OF_FUNCTION) else K_ANY, name, module, file

    latest = None

    # ---- what there is above functions ----

    def label_number(self, key):
        digits = ""
        for c in self.labels.get(key, "").lstrip():
            if not "0" <= c <= "9":
                break
            digits += c
        return min(int(digits[:30] or "0"), M64)

    def event(self, number, what=""):
        return self.labels.get("event.%d%s" % (number, what))

    def has_level(self, level):
        levels = self.labels.get("consumers")
        return levels is None or level in levels

    def process(self, proc):
        p = self.procs.get(proc)
        if not p:
            return self.consumers.add("[unknown process]", K_PROCESS)
        return self.consumers.add(p.name or "[no name]", K_PROCESS, key=p.pid << 32)

    def thread(self, number):
        """Its consumer, and the number of its process."""
        t = self.threads.get(number)
        if not t:
            return self.consumers.add("[unknown thread]", K_THREAD), 0
        p = self.procs.get(t.proc)
        name = t.name
        if not name and p and not t.tid and p.pid:
            name = "[virtual threads]"
        if not name and p:
            name = p.name
        key = (p.pid if p else 0) << 32 | t.tid
        return self.consumers.add(name or "[no name]", K_THREAD, key=key), t.proc

    # ---- frames ----

    def levels(self, frame, time):
        """The functions of a frame, outermost first. Each distinct frame is resolved once."""
        key, stub = frame, None
        if frame[0] in (FRAME_STUB, FRAME_ANON):
            p = self.procs.get(frame[1])
            stub = p.stub(frame[2], time) if p else None
            if stub:
                key = frame[0], frame[1], 0, stub, 0
        out = self.frames.get(key)
        if out is None:
            out = self.frames[key] = self._resolve(frame, stub)
        return out

    def _resolve(self, frame, stub):
        kind = frame[0]
        if kind in (FRAME_NATIVE, FRAME_KERNEL):
            return self._native(frame, K_NATIVE if kind == FRAME_NATIVE else K_KERNEL)
        if kind in (FRAME_STUB, FRAME_ANON):
            return self._stubs(frame, stub)
        if kind == FRAME_JIT:
            return self._jit(frame)
        if kind == FRAME_INTERP:
            return [self._java(K_JAVA_INTERPRETED, frame[1], frame[2], frame[3])]
        if kind == FRAME_METHOD:
            return [self._java(K_JAVA, frame[1], frame[2], None, frame[3] if self.split_tiers else 0)]
        if kind == FRAME_SITE:
            return [self._site(frame[1], frame[2])]
        if kind == FRAME_NAMED:
            return self._named(frame)
        if kind == FRAME_MARK:
            return [self._level(mark_name(frame[2], frame[1]), K_UNRESOLVED if frame[2] in NOTES else K_MARK)]
        return [self._level("[unknown in frame of unknown kind]", K_UNRESOLVED)]

    def _level(self, name, kind, module="", function=None, file=None, line=0, tier=0):
        if kind in NATIVE_KINDS:
            consumer = self.consumers.add(name, K_ANY, module, key=KEY_NATIVE)
        elif kind in JAVA_KINDS:
            consumer = self.consumers.add(name, K_ANY, module, key=KEY_JAVA | tier << KEY_BITS)
        else:
            consumer = self.consumers.add(name, kind, module)
        return Level(consumer, kind, function, file or None, line if file else 0)

    def readable(self, name):
        out = self.demangled.get(name)
        if out is None:
            out = self.demangled[name] = demangle(name)
        return out

    def _native_level(self, name, kind, module, file, line):
        return self._level(name, kind, module, (whole_function(name), module), file, line)

    def _native(self, frame, kind):
        m = self.modules.get(frame[1])
        if not m:
            return [self._level("[unknown in unknown module]", K_UNRESOLVED)]
        symbol = m.symbol(frame[2])
        if m.flags & 8:		# the agent and what starts it are one, whatever they do
            if symbol is not None and symbol.endswith("_through"):
                return []	# stands for a function of the program, and calls it
            level = self._level("[arcprof]", K_NATIVE, "[arcprof]")
            self.own = level.consumer
            return [level]
        lines = self.lines.get((frame[1], frame[2]), [])[:MAX_LEVELS]
        if symbol is None and lines:
            symbol = lines[-1][1] or None
        if symbol is not None:
            out = [self._native_level(self.readable(symbol), kind, m.path, lines[-1][2] if lines else None,
                                      lines[-1][0] if lines else 0)]
        else:
            out = [self._level("[unknown in %s]" % base_name(m.path), K_UNRESOLVED, m.path)]
        for line, func, file in lines[-2::-1]:
            name = self.readable(func) if func else "[unknown inlined function]"
            out.append(self._native_level(name, K_NATIVE_INLINED, m.path, file, line))
        return out

    def _stubs(self, frame, stub):
        if not stub:
            where = "JVM code cache" if frame[0] == FRAME_STUB else "anonymous memory"
            return [self._level("[unknown in %s]" % where, K_UNRESOLVED)]
        if frame[0] == FRAME_STUB:
            return [self._level(stub[3], K_STUB)]
        return [self._level(stub[3], K_NATIVE, "[anonymous memory]")]

    def _java(self, kind, proc, method, bci, tier=0):
        known = self.methods.get((proc, method))
        if not known:
            return self._level("[unknown Java method]", kind, tier=tier)
        name, signature, source = known
        line = self._line_of(proc, method, bci) if bci is not None and source else 0
        return self._level(name, kind, "", (name, signature), source if bci is not None else None, line, tier)

    def _site(self, proc, site):
        known = self.methods.get((proc, site & M32))
        name, place = known[0] if known else "[unknown Java method]", site >> 32
        name += f" bci {place - PLACE_BCI}" if place & PLACE_BCI else f":{place}"
        return self._level(name, K_JAVA, "", name)

    def _line_of(self, proc, method, bci):
        at = line = best = best_line = 0
        for d_at, d_line in self.method_lines.get((proc, method), ()):
            at, line = at + d_at & M32, line + d_line & M32
            if at == bci:
                return line
            if best <= at < bci:
                best, best_line = at, line
        return best_line

    def _jit(self, frame):
        _, proc, addr, c, method = frame
        code = None
        for x in reversed(self.codes.get((proc, c & ~NOT_INLINED), ())):
            if 0 <= addr - x.addr < x.size:
                code = x
                break
        frames = []
        if code and not c & NOT_INLINED:
            try:
                frames = code.frames(addr - code.addr)
            except Invalid:
                pass
        if not frames:
            frames = [(method or (code.method if code else 0), 0)]
        out = []
        for i, (m, bci) in enumerate(reversed(frames)):
            out.append(self._java(K_JAVA_INLINED if i else K_JAVA_COMPILED, proc, m & M32, bci - 1 if bci else None))
        return out

    def _named(self, frame):
        known = self.functions.get(frame[1])
        if not known:
            return [self._level("[unknown function]", K_UNRESOLVED)]
        kind, name, module, file = known
        if kind in NATIVE_KINDS:
            name = self.readable(name)
            function = whole_function(name), module
        else:
            function = name, ""
        return [self._level(name, kind, module, function, file, min(frame[2], M32))]


def base_name(path):
    slash = path.rfind("/")
    return path[slash + 1:] if 0 <= slash < len(path) - 1 else path


class Budget:
    """How many bytes of names, stacks and trees may be kept: a small file may claim a lot of them."""

    def __init__(self, nr_bytes):
        self.left = self.all = nr_bytes

    def spend(self, nr_bytes):
        self.left -= nr_bytes
        if self.left < 0:
            raise Error("names, stacks and trees take more than %d MiB; memory=... allows more" % (self.all >> 20))

