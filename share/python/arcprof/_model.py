# SPDX-License-Identifier: MIT
"""From a trace to its tree of contexts: of samples, of exact calls with samples beside them, or merged."""
from ._file import M32, M64, Error, Invalid, Span, records, varints
from ._names import TIERS, frame_of, mark_name
from ._tables import (FRAME_MARK, FRAME_NAMED, FRAME_NONE, FRAME_SITE, K_ANY, K_JAVA, K_JAVA_INLINED, K_MARK, K_NATIVE,
                      K_NATIVE_INLINED, K_THREAD, KINDS, MARK_DAMAGED, MARK_PRUNED, NATIVE_KINDS)
from ._tree import Metric, Source, Tree, settle_kinds

MAX_METRICS = 32
MAX_EVENTS = 64
LEAF = 1 << 20		# samples that end in a function say more about its kind than stacks that pass through it
COUNTED = 1 << 50	# what is counted is what the tree says it is
LOOK_BACK = 128
MAX_LOST_LEVEL = 1 << 20
VIRTUAL = 1


def build(trace, options):
    """The finished tree, by what the trace has."""
    names = trace.names
    if "merged" in names.labels:
        tree = Merged(trace, options).read()
    elif "itrace.engine" in names.labels:
        raise Error("%s: an instruction trace, which has neither samples nor counted calls" % trace.path)
    elif "callflow" in names.labels and not options.samples:
        tree = Calls(trace, options).read()
    else:
        metrics = SampleColumns(names, options.metrics)
        reader = SampleReader(trace, Tree(metrics.sources, metrics.metrics), metrics, None)
        reader.read()
        tree = reader.tree
        settle_kinds(names.consumers, names)
    if len(tree.metrics) + len(tree.sources) > MAX_METRICS + 1:
        raise Error("too many metrics: choose fewer")
    tree.finish(names.consumers)
    return tree


def events_of(names):
    out = []
    while len(out) < MAX_EVENTS and names.event(len(out)) is not None:
        out.append((names.event(len(out)), names.event(len(out), ".unit") or "events"))
    return out


def call_metrics(names):
    out = []
    while len(out) < MAX_METRICS and "call.metric.%d" % len(out) in names.labels:
        out.append((names.labels["call.metric.%d" % len(out)], names.labels.get("call.metric.%d.unit" % len(out), "")))
    return out


def unknown_metric(name, known):
    return Error("unknown metric '%s' (the trace has: %s)" % (name, ", ".join(known) or "none"))


class Cut:
    """
    What of samples lies in a window of time. A sample of a wait is written when the wait is over, and weighs what it
    lasted, so it is cut at both ends; others are in the window or are not. What arcprof's own threads wait is no wait
    of the program's.
    """

    LASTING = "wall", "wakers", "lock", "blame"

    def __init__(self, names, window):
        events = events_of(names)
        self.window = window
        self.lasting = {i for i, (name, unit) in enumerate(events)
                        if name in self.LASTING and unit == "ns" and "import" not in names.labels}
        self.wall = next((i for i, (name, _) in enumerate(events) if name == "wall"), None)
        self.own = {t.number for t in names.threads.values() if t.own}

    def parts(self, run):
        begin, end, reset = self.window
        for s in run:
            time, thread, event, weight = s[0], s[1], s[3], s[4]
            if event in self.lasting and weight and time:
                since, until = max(max(time - weight, 0), begin, reset), min(time, end)
                if since >= until or event == self.wall and thread in self.own:
                    continue
                if until - since < min(weight, time):
                    s = until, thread, s[2], event, until - since, *s[5:]
            elif time < reset or not begin <= time < end or event == self.wall and thread in self.own:
                continue
            yield s


class SampleColumns:
    """Each event that is wanted, without names all samples, is a source and a metric."""

    def __init__(self, names, wanted):
        events = events_of(names)
        self.column_of, self.nr_events = {}, len(events)
        known = [name for name, _ in events]
        chosen = []
        for name in wanted or []:
            if name not in known:
                raise unknown_metric(name, known)
            if known.index(name) not in chosen:
                chosen.append(known.index(name))
        if not wanted:
            chosen = [0] if events else []
        self.sources, self.metrics = [], []
        for i, e in enumerate(chosen):
            self.column_of[e] = i
            self.sources.append(Source(events[e][0], "samples"))
            self.metrics.append(Metric(*events[e], i))
        if not chosen:
            self.sources, self.metrics = [Source("samples", "samples")], [Metric("samples", "samples", 0)]

    def column(self, event):
        if not self.nr_events:
            return 0
        return self.column_of.get(event)


class SampleReader:
    """Adds samples to a tree; with a graft, to one of calls."""

    def __init__(self, trace, tree, columns, graft):
        self.trace, self.names, self.tree, self.columns, self.graft = trace, trace.names, tree, columns, graft
        self.has_processes, self.has_threads = (self.names.has_level(x) for x in ("processes", "threads"))
        self.threads = {}		# (root, number) -> (its node, whether its calls are counted)
        self.nodes = {}			# of the epoch: (thread node, stack) -> node, and the weight of its innermost level
        self.levels = {}		# of the epoch: frame -> levels
        self.stacks = None

    def read(self):
        cut, weighted = Cut(self.names, self.trace.window), bool(self.columns.nr_events)
        for stacks, run in self.trace.sample_runs():
            if self.stacks is not stacks:
                self.stacks, self.nodes, self.levels = stacks, {}, {}
            self._run(cut.parts(run), weighted)

    def _run(self, run, weighted):
        """Those that are alike are counted, and placed once: the first of them has the time that says what was where."""
        counts, first = {}, {}
        roots_by_time = self.graft and self.graft.by_time
        for time, thread, stack, event, weight, nr, _, _ in run:
            root = self.graft.root(thread, time) if roots_by_time and thread in roots_by_time else None
            key = thread, stack, event, weight, root
            if key in counts:
                counts[key] += nr
                first[key][1] += 1
            else:
                counts[key] = nr
                first[key] = [time, 1]
        for (thread, stack, event, weight, root), nr in counts.items():
            column = self.columns.column(event)
            if column is None:
                continue
            time, nr_records = first[thread, stack, event, weight, root]
            node = self._place(thread, stack, time, nr_records, root)
            self.tree.count(node, column, nr, (weight if weighted else 1) * nr_records)

    def _place(self, thread, stack, time, nr_records, root):
        if root is None and self.graft:
            root = self.graft.root(thread, time)
        known = self.threads.get((root, thread))
        if known is None:
            known = self.threads[root, thread] = self._thread(root, thread)
        top, counted, number = known
        lost = not 0 < stack < len(self.stacks.parents)
        if counted and not lost:
            node = self._grafted(top, number, stack, time, nr_records)
        elif not stack and top:
            return top
        elif lost:
            return self._damaged(top)
        else:
            node = self._plain(top, number, stack, time)
        levels = self._levels(self.stacks.frame_of[stack], time)
        if levels:
            levels[-1].weight += LEAF * nr_records
        return node

    def _thread(self, root, number):
        tree, names = self.tree, self.names
        at = len(self.threads)
        if not number and not self.has_threads:
            return 0, root is not None, at
        if root is not None:
            return self.graft.roots[root][2], True, at
        thread, proc = names.thread(number)
        node = 0
        if proc or self.has_processes:
            node = tree.child(node, names.process(proc))
        return tree.child(node, thread), False, at

    def _damaged(self, top):
        levels = self.names.levels(frame_of(FRAME_MARK, 0, MARK_DAMAGED), 0)
        return self.tree.child(top, levels[0].consumer)

    def _levels(self, frame, time):
        out = self.levels.get(frame)
        if out is None:
            out = self.levels[frame] = self.names.levels(self.stacks.frames[frame], time)
        return out

    def _plain(self, top, thread, stack, time):
        parents, known, chain, at = self.stacks.parents, self.nodes, [], stack
        while at and not (node := known.get((thread, at))):
            chain.append(at)
            at = parents[at]
        if not at:
            node = top
        tree, own = self.tree, self.names
        for at in reversed(chain):
            for level in self._levels(self.stacks.frame_of[at], time):
                c = level.consumer
                if node and c == own.own and tree.consumer[node] == c:
                    continue
                node = tree.child(node, c)
                level.weight += 1
            known[thread, at] = node
        return node

    def _grafted(self, top, thread, stack, time, nr_records):
        node = self.nodes.get((thread, stack))
        if node:
            return node
        chain = self.stacks.chain(stack)
        runs = [self._levels(self.stacks.frame_of[at], time) for at in reversed(chain)]
        node, missing, path = self.graft.node(top, runs)
        times = nr_records if missing else 1	# each is looked up anew
        for level in path:
            level.weight += times
        if not missing:
            self.nodes[thread, stack] = node
        return node


# ---- exact calls ----

class CallTree:
    """Of a thread: nodes as (parent, consumer), and their values. -1 is for values of nodes that are not defined."""

    __slots__ = ("nodes", "values")

    def __init__(self):
        self.nodes, self.values = {}, {}


class Calls:
    def __init__(self, trace, options):
        self.trace, self.names, self.options = trace, trace.names, options
        self.records, self.functions, self.trees, self.consumers = {}, {}, {}, {}
        self.thrown = {}	# exits by exceptions of nodes, without samples
        self.damaged = self.names.consumers.add(mark_name(MARK_DAMAGED), K_MARK)

    def read(self):
        self._choose()
        # what counting a call cost depends on its tier
        self.names.split_tiers = bool(self.options.calibrate and "callflow.tiers" in self.names.labels and
                                      not self.events.column_of)
        for raw in self.trace.payloads("Call"):
            self.trace.budget.spend(len(raw))
            self._chunk(raw)
        tree = self.tree = Tree(self.sources, self.metrics)
        for number in self.records:
            self._build(number)
        if self.events.column_of:
            graft = Graft(self)
            SampleReader(self.trace, tree, self.events, graft).read()
            tree = self.tree = tree.drop_empty()
        settle_kinds(self.names.consumers, self.names)
        if self.options.calibrate and self.of_trace:
            calibrate(self)
        if self.names.split_tiers:
            tree = self.tree = tree.merge_tiers(self.names.consumers)
        return tree

    # ---- metrics ----

    def _choose(self):
        """Columns of what calls consumed, then of sampled events: all of the former and the first of the latter."""
        names = self.names
        self.of_trace, events = call_metrics(names), events_of(names)
        candidates = []		# name, unit, number, whether an event
        for i, (name, unit) in enumerate(self.of_trace + events):
            is_event = i >= len(self.of_trace)
            name += ".sampled" if any(c[0] == name for c in candidates) else ""
            candidates.append((name, unit, i - len(self.of_trace) if is_event else i, is_event))
        known = [c[0] for c in candidates]
        chosen = []
        for name in self.options.metrics or []:
            if name not in known:
                if not known and name == "calls":
                    continue
                raise unknown_metric(name, known)
            if candidates[known.index(name)] not in chosen:
                chosen.append(candidates[known.index(name)])
        if not self.options.metrics:
            chosen = [c for c in candidates if not c[3]] + [c for c in candidates if c[3]][:1]
        self.sources, self.metrics = [Source("calls", "calls")], []
        self.events, self.column_of = SampleColumns(names, None), {}
        self.events.column_of = {}
        for name, unit, number, is_event in chosen:
            if is_event:
                self.events.column_of[number] = len(self.metrics)
                self.sources.append(Source(name, "samples"))
            else:
                self.column_of[number] = len(self.metrics)
            self.metrics.append(Metric(name, unit, len(self.sources) - 1 if is_event else 0))
        self.are_consumed = not chosen
        if not chosen:
            self.metrics.append(Metric("calls", "calls", 0))

    # ---- records ----

    def _chunk(self, raw):
        try:
            for major, minor, time, body in records(raw):
                if major != 0xca:
                    continue
                try:
                    if minor == 1:
                        self._consumer(body)
                    elif minor == 2:
                        self._tree(body)
                    elif minor == 3:
                        self._nodes(body)
                    elif minor == 4:
                        self._values(body, time)
                except Invalid:
                    self.trace.damage.nr_records += 1
        except Invalid:
            self.trace.damage.nr_records += 1

    def _consumer(self, body):
        s = Span(body)
        number = s.key()
        self.functions[number] = frame_of(s.varint() & M32, s.varint(), s.varint())

    def _tree(self, body):
        s = Span(body)
        tree, proc, thread, flags, java_id, start, end = \
            s.key(), s.u32(), s.u32(), s.u32(), s.varint(), s.varint(), s.varint()
        for _ in range(11):
            s.varint()
        self._get(tree)
        self.records[tree] = proc, thread, flags, java_id, start, end, s.text()

    def _get(self, number):
        t = self.trees.get(number)
        if t is None:
            t = self.trees[number] = CallTree()
            self.records.setdefault(number, (0, 0, 0, 0, 0, 0, ""))
        return t

    def _nodes(self, body):
        s = Span(body)
        tree, first, nr = s.key(), s.key(), s.u32()
        if nr > (len(body) - 12) // 2 or nr > M32 - first:
            raise Invalid
        v, nodes = varints(body, 12), self._get(tree).nodes
        if len(v) < 2 * nr:
            raise Invalid
        for i in range(nr):
            number = first + i
            nodes[number] = number - v[2 * i] & M32, v[2 * i + 1] & M32

    def _values(self, body, time):
        s = Span(body)
        tree, width, nr = s.key(), s.u32(), s.u32()
        if width > MAX_METRICS or nr > (len(body) - 12) // (2 + width):
            raise Invalid
        t, v, step = self._get(tree), varints(body, 12), 2 + width
        if len(v) < nr * step:
            raise Invalid
        begin, end, reset = self.trace.window
        if time < reset or not begin <= time < end:
            return
        nodes, values, node, own = t.nodes, t.values, 0, len(self.of_trace)
        for at in range(0, nr * step, step):
            node = node + v[at] & M32
            got = v[at + 1:at + 2 + min(width, own)]
            got += [0] * (own - width)
            key = node if node in nodes else -1
            old = values.get(key)
            values[key] = got if old is None else [a + b for a, b in zip(old, got)]

    # ---- the tree ----

    def consumer(self, function):
        out = self.consumers.get(function)
        if out is None:
            frame = self.functions.get(function)
            out = self.damaged
            if frame and frame[0] != FRAME_NONE:
                # what is inlined at the first instruction is not called by that name
                levels = self.names.levels(frame, 0)
                out = levels[0].consumer if levels else self.damaged
            self.consumers[function] = out
        return out

    def sites(self):
        """Consumers that are call sites; those of native functions are known by their names alone."""
        def is_site(frame):
            known = self.names.functions.get(frame[1]) if frame[0] == FRAME_NAMED else None
            return frame[0] == FRAME_SITE or bool(known and known[0] == K_NATIVE)

        if "callflow.sites" not in self.names.labels:
            return set()
        return {consumer for number, consumer in self.consumers.items() if is_site(self.functions.get(number) or (0, 0))}

    def root(self, number):
        proc, thread, flags, java_id, _, _, name = self.records[number]
        names = self.names
        consumer, of_thread = names.thread(thread)
        if not thread or name or flags & VIRTUAL:
            p = names.procs.get(proc)
            if thread and not flags & VIRTUAL:
                key = names.consumers.items[consumer][4]
            else:
                key = (p.pid if p else 0) << 32 | java_id & M32
            consumer = names.consumers.add(name or "[no name]", K_THREAD, key=key)
            of_thread = proc
        process = names.process(of_thread or proc)
        return self.tree.child(self.tree.child(0, process), consumer)

    def _build(self, number):
        t = self.trees[number]
        to = {0: self.root(number)}
        with_samples = bool(self.events.column_of)
        order = sorted(set(t.values) | (set(t.nodes) if with_samples else set()))
        nothing = [0] * (1 + len(self.of_trace))
        thrown = [1 + i for i, (name, _) in enumerate(self.of_trace) if name == "thrown" and not with_samples]
        for node in order:
            v = t.values.get(node, nothing)
            if not with_samples and not any(v) or node < 0 and not any(v):
                continue
            at = self._where(t, node, to)
            values = [0] * self.tree.nr_columns
            for m, column in self.column_of.items():
                values[column] = v[1 + m]
            if self.are_consumed:
                values[0] = v[0]
            self.tree.add(at, v[0], values)
            for i in thrown[:1]:
                self.thrown[at] = self.thrown.get(at, 0) + v[i]

    def _where(self, t, node, to):
        """The node of the tree; what is not defined, or is its own ancestor, is damaged."""
        chain, tree = [], self.tree
        while node > 0 and node not in to and node in t.nodes:
            to[node] = None
            chain.append(node)
            node = t.nodes[node][0]
        at = to.get(node)
        if at is None:
            at = tree.child(to[0], self.damaged)
        for node in reversed(chain):
            parent, consumer = t.nodes[node]
            if consumer or parent:
                at = tree.child(at, self.consumer(consumer))
            to[node] = at
        return at


class Graft:
    """
    Where samples belong in a tree of calls: a stack without its other frames is a path of counted functions. It is
    followed to the innermost one that was open; the frames below that go below it in the tree.
    """

    def __init__(self, calls):
        self.calls, self.names, self.tree = calls, calls.names, calls.tree
        self.max_depth = self.names.label_number("callflow.depth")
        self.pruned = self.names.consumers.add(mark_name(MARK_PRUNED), K_MARK)
        self.nr_contexts = len(self.tree.parent)
        self.roots, self.roots_of = [], {}
        for number, (_, thread, _, _, start, end, _) in calls.records.items():
            if thread:
                self.roots_of.setdefault(thread, []).append(len(self.roots))
                self.roots.append((start, end, calls.root(number)))
        self.by_time = {thread for thread, roots in self.roots_of.items() if len(roots) > 1}
        self.consumer_of, self.by_own_name = {}, {}
        self._add_functions()

    def root(self, thread, time):
        """Of several trees of a thread that of the time; None: none of its calls were counted."""
        roots = self.roots_of.get(thread)
        if not roots:
            return None
        best = roots[-1]
        for i in reversed(roots):
            start, end, _ = self.roots[i]
            if start <= time and (not end or time < end):
                return i
            if time < start < self.roots[best][0]:
                best = i
        return best

    def _add_functions(self):
        names = self.names
        for number, frame in self.calls.functions.items():
            consumer = self.calls.consumers.get(number)
            if not consumer or consumer == self.calls.damaged:
                continue
            levels = names.levels(frame, 0)
            if not levels:
                continue
            level = levels[0]
            if level.function:
                self._add_function(level.function, consumer)
            level.weight += COUNTED

    def _add_function(self, function, consumer):
        self.consumer_of[function] = consumer
        own = own_name(function[0])
        if own:
            key = own, function[1]
            self.by_own_name[key] = consumer if self.by_own_name.get(key, consumer) == consumer else 0

    def _consumer(self, function):
        if not function:
            return 0
        out = self.consumer_of.get(function)
        return self.by_own_name.get(function, 0) if out is None else out

    def _context(self, parent, consumer):
        node = self.tree.find(parent, consumer)
        return node if node < self.nr_contexts else 0

    def _folded(self, root, at, consumer):
        for _ in range(LOOK_BACK):
            if at == root:
                break
            if self.tree.consumer[at] == consumer:
                return at
            at = self.tree.parent[at]
        return 0

    def node(self, root, runs):
        """
        The node, whether it has a counted function in a context that the tree does not have, and the levels below the
        innermost context.
        """
        at, depth, ended, missing, path = root, 0, False, False, []
        for levels in runs:
            for level in levels:
                consumer = self._consumer(level.function)
                ended = ended or level.kind == K_MARK
                if consumer and ended:
                    missing = True
                elif consumer:
                    node = self._context(at, consumer)
                    if not node and self.max_depth and depth >= self.max_depth:
                        node = self._folded(root, at, consumer)
                    if node:
                        at, depth, missing = node, depth + 1, False
                        path.clear()
                        continue
                    missing = True
                    pruned = self._context(at, self.pruned)
                    ended = bool(pruned) or at != root
                    at = pruned or at
                path.append((level, consumer or level.consumer))
        for _, consumer in path:
            at = self.tree.child(at, consumer)
        return at, missing, [level for level, _ in path]


def own_name(name):
    """"leaf" of "int (anonymous namespace)::leaf<T>(int)": all that compilers say of some functions they inlined."""
    unnamed, start, i, nested = "(anonymous namespace)", 0, 0, 0
    while i < len(name):
        c = name[i]
        if name.startswith(unnamed, i):
            i += len(unnamed) - 1
        elif c == "<":
            nested += 1
        elif c == ">":
            nested -= 1
        elif c == "(" and not nested:
            break
        elif c in " :" and not nested:
            start = i + 1
        i += 1
    return name[start:i]


# ---- what counting calls cost ----

def costs_of(text):
    """(within, between, doubt, thrown, site) in thousandths; None: that is not what the text says."""
    parts = text.split(" ")
    if len(parts) not in (3, 4, 5, 6, 13) or not all(p.isascii() and p.isdigit() for p in parts):
        return None
    v = [int(p) for p in parts]
    more = v[4:] if len(v) < 13 else []
    costs = (*v[:2], *(v[3:4] or [0]), *more, *[0] * (2 - len(more)))
    return costs if all(x <= M64 for x in v) else None


def calibrate(calls):
    """
    Takes from exact calls what counting them cost: a call's own context "within", its caller's "between". Call sites
    are contexts between the two.
    """
    names, tree = calls.names, calls.tree
    numbers = [next((i for i, (name, _) in enumerate(calls.of_trace) if name == m.name), None) for m in tree.metrics]

    def costs(before, after):
        found = [costs_of(names.labels.get("%s%d%s" % (before, n, after), "")) if n is not None else None
                 for n in numbers]
        return found if any(found) else None

    def costs_of_tiers(before):
        found = [costs(before, "." + tier if tier else "") or [None] * len(numbers) for tier in TIERS]
        out = [[cost or found[0][m] for m, cost in enumerate(of_tier)] for of_tier in found]
        return out if any(map(any, out)) else None

    native = costs("call.metric.", ".calibration")
    jvms = {}
    for i in range(16):
        text = names.labels.get("call.java.%d" % i)
        if text is None:
            break
        digits = text[:16].split(" ")[0]
        try:
            jvms[int(digits, 16)] = costs_of_tiers("call.java.%d.metric." % i)
        except ValueError:
            jvms[0] = None
    of_process = {}
    for p in names.procs.values():
        if p.jvm and jvms.get(p.jvm):
            of_process[names.process(p.number)] = jvms[p.jvm]
    _take_away(tree, names, native, of_process, calls.thrown, calls.sites())


def _take_away(tree, names, native, of_process, thrown, sites):
    nr, width = len(tree.parent), tree.nr_columns
    shown = range(len(tree.metrics))
    delta = [[0] * len(tree.metrics) for _ in range(nr)]
    doubt = [[0] * len(tree.metrics) for _ in range(nr)]
    java, has = [None] * nr, [False] * len(tree.metrics)
    for i in range(1, nr):
        parent, n = tree.parent[i], tree.n[i]
        java[i] = java[parent] if parent else of_process.get(tree.consumer[i])
        _, _, _, kind, key = names.consumers.items[tree.consumer[i]]
        costs = native if kind in NATIVE_KINDS else java[i][key] if kind == K_JAVA and java[i] else None
        site = parent if tree.consumer[parent] in sites else 0
        if not costs or not n or tree.consumer[i] in sites or (
                not site and costs is not native and "callflow.sites" in names.labels):
            continue
        above = tree.parent[site] if site else parent
        for m in shown:
            if costs[m]:
                within, between, unsure, more, of_site = costs[m]
                has[m] = True
                delta[i][m] = min(delta[i][m] + n * within, M64)
                delta[above][m] = min(delta[above][m] + n * between, M64)
                delta[above][m] = min(delta[above][m] + min(thrown.get(i, 0), n) * more, M64)
                doubt[i][m] = min(doubt[i][m] + n * unsure, M64)
                doubt[above][m] = min(doubt[above][m] + n * unsure, M64)
                if site:
                    delta[site][m] = min(delta[site][m] + n * of_site, M64)
                    doubt[site][m] = min(doubt[site][m] + n * unsure, M64)
    nr_has = sum(has)
    if not nr_has:
        return
    keep = width + nr_has <= MAX_METRICS
    doubts = keep and width + 2 * nr_has <= MAX_METRICS
    for i in range(1, nr):
        base = tree.base[i]
        for m in shown:
            d = min((delta[i][m] + 500 & M64) // 1000, base[m])
            base[m] -= d
            if keep and has[m]:
                base.append(d)
                if doubts:
                    base.append(doubt[i][m] // 1000)
    tree.base[0] = [0] * len(tree.base[-1])
    tree.nr_columns = len(tree.base[0])


# ---- merged traces ----

class Merged:
    """The tree of a merged trace. Where nodes are missing, what follows them is damaged until a root comes."""

    def __init__(self, trace, options):
        self.trace, self.names, self.options = trace, trace.names, options
        self.sources, self.metrics, self.consumers, self.path = [], [], {}, []
        self.tree, self.nr_nodes = None, 0
        self.damaged = self.names.consumers.add(mark_name(MARK_DAMAGED), K_MARK)

    def _bad(self, what):
        raise Error("%s: %s" % (self.trace.path, what))

    def read(self):
        if self.trace.window[0] or self.trace.window[1] <= M64:
            self._bad("a merged trace does not say when its samples were taken")
        read = {1: None, 2: self._source, 3: self._metric, 4: self._consumer, 5: self._nodes}
        for raw in self.trace.payloads("Call"):
            self.trace.budget.spend(len(raw))
            try:
                for major, minor, _, body in records(raw):
                    if major == 0xcb and read.get(minor):
                        try:
                            read[minor](Span(body))
                        except Invalid:
                            self.trace.damage.nr_records += 1
            except Invalid:
                self.trace.damage.nr_records += 1
        self._begin()
        if self.options.samples and self.sources[0].kind == "calls":
            self._bad("a merged trace has its samples in the tree of its calls; metrics chooses")
        return self._pick()

    def _source(self, s):
        number, _, name, kind = s.key(), s.u64(), s.text(), s.text()
        if self.tree or number != len(self.sources) + 1:
            self._bad("the sources of the merged tree are not in order")
        if kind == "calls" and self.sources:
            self._bad("the merged tree has calls behind another source")
        if len(self.sources) == MAX_METRICS:
            self._bad("the merged tree has too many sources")
        self.sources.append(Source(name, "calls" if kind == "calls" else "samples"))

    def _metric(self, s):
        number, source, _, name, unit = s.key(), s.key(), s.u64(), s.text(), s.text()
        if self.tree or number != len(self.metrics) + 1 or source > len(self.sources):
            self._bad("the metrics of the merged tree are not in order")
        if len(self.metrics) == MAX_METRICS:
            self._bad("the merged tree has too many metrics")
        self.metrics.append(Metric(name, unit, source - 1))

    def _consumer(self, s):
        number, key, kind, name, module, detail = s.key(), s.u64(), s.text(), s.text(), s.text(), s.text()
        kind = KINDS.index(kind) if kind in KINDS else K_ANY
        self.consumers[number] = self.names.consumers.add(name, kind, module, detail, key)

    def _begin(self):
        if self.tree is None:
            if not self.sources or not self.metrics:
                self._bad("the merged tree has no metrics")
            self.tree = Tree(self.sources, self.metrics)

    def _nodes(self, s):
        first, level, nr, nodes = s.key(), s.u32(), s.u32(), s.data_bytes()
        self._begin()
        follows = first == self.nr_nodes + 1
        if level > (len(self.path) if follows else MAX_LOST_LEVEL) or nr > len(nodes):
            self._bad("nodes of the merged tree have no path")
        if not follows:
            node = self.tree.child(0, self.damaged) if level else 0
            self.path = [node] * level
        try:
            v = varints(nodes)
        except Invalid:
            v = []
        nr_sources, nr_metrics, path, tree = len(self.sources), len(self.metrics), self.path, self.tree
        step = 2 + nr_sources + nr_metrics
        if len(v) < nr * step:
            self._bad("nodes of the merged tree are cut off")
        for i in range(nr):
            row = v[i * step:(i + 1) * step]
            if i and row[0] > len(path):
                self._bad("nodes of the merged tree have no path")
            del path[len(path) - row[0] if i else min(len(path), level):]
            node = tree.child(path[-1] if path else 0, self.consumers.get(row[1] & M32, self.damaged))
            tree.add(node, row[2], row[2 + nr_sources:] + row[3:2 + nr_sources])
            path.append(node)
        self.nr_nodes = first + nr - 1

    def _pick(self):
        known = [m.name for m in self.metrics]
        for name in self.options.metrics or []:
            if name not in known:
                raise unknown_metric(name, known)
        if self.options.metrics:
            return self.tree.pick([known.index(name) for name in self.options.metrics])
        first = next((i for i, s in enumerate(self.sources) if s.kind == "samples"), len(self.sources))
        wanted = [i for i, m in enumerate(self.metrics) if m.source <= first]
        return self.tree.pick(wanted) if 0 < len(wanted) < len(known) else self.tree
