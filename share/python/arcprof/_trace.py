# SPDX-License-Identifier: MIT
"""A trace, as programs see it."""
from collections import namedtuple

from . import _html
from ._file import M64, Damage, Error, File, Invalid
from ._model import Cut, build, events_of
from ._names import CODES, Budget, Names
from ._stacks import LOST, Stacks, samples
from ._tables import FRAME_INTERP, FRAME_MARK, FRAME_NAMED, FRAME_NONE, FRAME_SITE, K_PROCESS, K_THREAD, KINDS
from ._tree import Metric, Source

NO_ADDRESS = FRAME_NONE, FRAME_MARK, FRAME_NAMED, FRAME_SITE

Process = namedtuple("Process", "number pid name parent start_ns end_ns")
Process.__doc__ = "A process image: an exec makes a new one. Times are since the start; None: not known."
Thread = namedtuple("Thread", "number process tid name java start_ns end_ns")
Thread.__doc__ = "process is its number; tid 0 is a virtual thread; java: the name is Java's."
Frame = namedtuple("Frame", "name kind module file line inlined code address")
Frame.__doc__ = "A function on a stack. kind is how it ran there; inlined: into the frame before it."
Node = namedtuple("Node", "id parent last level recursion function name kind module n base cum")
Node.__doc__ = "A context. n, base and cum have a number for each metric; id..last is its subtree."
Function = namedtuple("Function", "id name kind module pid tid n base cum cum_recursive")
Function.__doc__ = "Sums over the contexts of a function; in cum recursion counts once."
Options = namedtuple("Options", "metrics samples calibrate")

NO_END = M64 + 1


class Sample:
    """A sample: time_ns since the start, the number of its thread, what it stands for, and its stack. None: not known."""

    __slots__ = ("time_ns", "thread", "cpu", "user", "event", "weight", "count", "_trace", "_stacks", "_node", "_time")

    @property
    def stack(self):
        """A Stack; None: none was taken."""
        if not self._node:
            return None
        return Stack(self._trace, self._stacks, self._node, self._time)

    def __repr__(self):
        return "Sample(time_ns=%d, thread=%d, cpu=%d, event=%r, weight=%d)" % (
            self.time_ns, self.thread, self.cpu, self.event, self.weight)


class Stack:
    """A stack; equal ones are equal, so that a dict can have them as keys."""

    __slots__ = ("_trace", "_stacks", "_node", "_time")

    def __init__(self, trace, stacks, node, time):
        self._trace, self._stacks, self._node, self._time = trace, stacks, node, time

    @property
    def number(self):
        """As "arcprof query" numbers stacks; None: the part of the trace that had it is lost."""
        return None if self._node == LOST else self._stacks.first + self._node

    def frames(self):
        """Frames, outermost first, inlined ones included."""
        return self._trace._frames(self._stacks, self._node, self._time)

    def __eq__(self, other):
        return isinstance(other, Stack) and (self._stacks, self._node) == (other._stacks, other._node)

    def __hash__(self):
        return hash((id(self._stacks), self._node))


class Trace:
    """
    A trace: a path, an open file, or bytes. metrics chooses metrics by their names; without, what calls consumed and
    the first event. samples=True: the samples of a trace with exact calls, not the calls. calibrate=False: calls with
    what counting them cost. from_ns, to_ns: a part of the time since the start. memory: how many bytes of names,
    stacks and trees are read at most.
    """

    def __init__(self, source="arcprof.data", metrics=None, samples=False, calibrate=True, from_ns=0, to_ns=None,
                 memory=1 << 29):
        self.damage = Damage()
        self.file = File(source)
        self.path = self.file.name
        self.budget = Budget(memory)
        self.options = Options([metrics] if isinstance(metrics, str) else metrics, samples, calibrate)
        self.names = Names(self.budget)
        self._tree, self._shown = None, {}
        for raw in self.payloads("Meta"):
            self.names.take(raw, self.damage)
        self._start = self.names.label_number("start.mono_ns")
        if (from_ns or to_ns) and "import" in self.names.labels and not self._start:
            raise Error("%s: the profile does not say when its samples were taken" % self.path)
        self.window = (self._start + from_ns if from_ns else 0, self._start + to_ns if to_ns else NO_END,
                       self.names.label_number("reset.mono_ns"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """What was read stays; samples can no longer be."""
        self.file.close()

    # ---- chunks ----

    def _chunks(self):
        first = self.damage.first is None and not self.damage.nr_bytes
        damage = self.damage if first else Damage()	# a later pass finds the same
        for c in self.file.chunks(damage):
            if c.type not in ("Meta", "Stak", "Call", "Samp", "Brch", "schm") and not c.type[0].islower():
                raise Error("%s: needs a newer reader: chunk %d is of the unknown type '%s'" % (
                    self.path, c.seq, c.type))
            yield c

    def payloads(self, kind):
        """What is in chunks of that type."""
        for c in self._chunks():
            if c.type == kind:
                raw = self.file.payload(c, self.damage)
                if raw is not None:
                    yield raw

    def sample_runs(self):
        """(Stacks, samples) of each chunk of samples. Stacks of an epoch are one object, which grows."""
        stacks, seen, before = Stacks(0, 0), 0, 0
        for c in self._chunks():
            if c.type not in ("Stak", "Samp"):
                continue
            if c.epoch != stacks.epoch:
                before += max(seen - 1, 0)
                stacks, seen = Stacks(c.epoch, before), 0
            raw = self.file.payload(c, self.damage)
            if raw is None:
                continue
            if c.type == "Stak":
                self.budget.spend(0)
                stacks.take(raw, self.damage)
            else:
                seen = len(stacks.parents)
                yield stacks, samples(raw, stacks, self.damage)

    # ---- what the trace says of itself ----

    @property
    def damaged(self):
        """What was found damaged so far, in words; None: nothing."""
        return str(self.damage) or None

    @property
    def labels(self):
        """A dict: arcprof-trace(5) describes them."""
        return self.names.labels

    @property
    def start_ns(self):
        """When the recording began, by CLOCK_MONOTONIC."""
        return self._start or self.file.start_mono_ns

    def _since(self, time):
        return None if not time else max(time - self.start_ns, 0)

    @property
    def processes(self):
        return [Process(p.number, p.pid, p.name, p.parent, self._since(p.start), self._since(p.end))
                for p in self.names.procs.values()]

    @property
    def threads(self):
        return [Thread(t.number, t.proc, t.tid, t.name, t.java, self._since(t.start), self._since(t.end))
                for t in self.names.threads.values()]

    # ---- samples ----

    def samples(self):
        """
        Each sample, of all events, in the order of the file, which is roughly that of time. Memory does not depend on
        how many there are.
        """
        events = [name for name, _ in events_of(self.names)]
        cut, no_modes = Cut(self.names, self.window), "import.modes" in self.names.labels
        for stacks, run in self.sample_runs():
            for time, thread, node, event, weight, nr, cpu, user in cut.parts(run):
                s = Sample()
                s.time_ns, s.thread = self._since(time), thread
                s.cpu, s.user = None if cpu == 0xffff else cpu, None if no_modes else user
                s.event = events[event] if event < len(events) else None
                s.weight, s.count = weight, nr
                s._trace, s._stacks, s._node, s._time = self, stacks, node, time
                yield s

    def _frames(self, stacks, node, time):
        if node == LOST:
            node = 1
        out = []
        for at in reversed(stacks.chain(node)):
            frame = stacks.frames[stacks.frame_of[at]]
            known = self._shown.get((frame, time if frame[0] in (3, 6) else 0))
            if known is None:
                known = self._name_frame(frame, time)
                if len(self._shown) > 1 << 20:
                    self._shown.clear()
                self._shown[frame, time if frame[0] in (3, 6) else 0] = known
            out += known
        return out

    def _name_frame(self, frame, time):
        names, kind = self.names, frame[0]
        stub = None
        if kind in (3, 6) and frame[1] in names.procs:
            stub = names.procs[frame[1]].stub(frame[2], time)
        own, out = names.own, []
        for level in names._resolve(frame, stub):
            name, module = names.consumers.items[level.consumer][:2]
            address = frame[3] if kind == FRAME_INTERP else frame[2] if kind not in NO_ADDRESS else None
            out.append(Frame(name, KINDS[level.kind], module or None, level.file, level.line or None, bool(out),
                             CODES[kind], address))
        names.own = own or names.own
        return out

    # ---- the model ----

    @property
    def tree(self):
        if self._tree is None:
            self._tree = build(self, self.options)
        return self._tree

    @property
    def metrics(self):
        """Metric(name, unit, source, total); source is a number in sources."""
        return self.tree.metrics

    @property
    def sources(self):
        """Source(name, kind, n): what n counts, "calls" or "samples"."""
        return self.tree.sources

    def _numbers(self, tree, i):
        """n by metric, of a context"""
        return tuple(tree.n_of(i, m.source) for m in tree.metrics)

    def nodes(self):
        """Contexts in the order of "report --xtree"."""
        tree, items = self.tree, self.names.consumers.items
        nr = len(tree.metrics)
        for at, i in enumerate(tree.order):
            name, module, _, kind, _ = items[tree.consumer[i]]
            parent = tree.parent[i]
            yield Node(at, tree.rank[parent] if parent else None, tree.last[at], tree.level[i], tree.recursion[i],
                       tree.consumer[i], name, KINDS[kind], module or None, self._numbers(tree, i),
                       tuple(tree.base[i][:nr]), tuple(tree.cum[i][:nr]))

    def functions(self):
        """Functions, and processes, threads and marks like them, as in "report --xprof", in no order."""
        tree = self.tree
        sums = {}
        nr = len(tree.metrics)
        for i in tree.order:
            s = sums.get(tree.consumer[i])
            if s is None:
                s = sums[tree.consumer[i]] = [[0] * nr for _ in range(4)]
            to = s[3] if tree.recursion[i] > 1 else s[2]
            for m, n in enumerate(self._numbers(tree, i)):
                s[0][m] += n
                s[1][m] += tree.base[i][m]
                to[m] += tree.cum[i][m]
        for c, s in sums.items():
            name, module, _, kind, key = self.names.consumers.items[c]
            yield Function(c, name, KINDS[kind], module or None, key >> 32 if kind in (K_PROCESS, K_THREAD) else None,
                           key & 0xffffffff if kind == K_THREAD else None, *(tuple(min(v, M64) for v in x) for x in s))

    def _repr_html_(self):
        """What a notebook shows: the functions that consume most of the first metric by themselves."""
        return _html.table(self)
