# SPDX-License-Identifier: MIT
"""The tree of contexts: n and base of each, and what follows from them."""
from ._file import M64
from ._names import KEY_BITS
from ._tables import K_ANY, K_JAVA


class Source:
    """A stream of events of one kind, with an n of its own."""

    def __init__(self, name, kind):
        self.name, self.kind, self.n = name, kind, 0

    def __repr__(self):
        return "Source(%r, %r, n=%d)" % (self.name, self.kind, self.n)


class Metric:
    """What base and cum are of. source is the number of the source whose n belongs to it."""

    def __init__(self, name, unit, source):
        self.name, self.unit, self.source, self.total = name, unit, source, 0

    def __repr__(self):
        return "Metric(%r, %r, total=%d)" % (self.name, self.unit, self.total)


class Tree:
    """
    Contexts, 0 is above all roots. The columns of base are the metrics, then n of all sources but the first, then
    what calibration took.
    """

    def __init__(self, sources, metrics):
        self.sources, self.metrics = sources, metrics
        self.nr_columns = len(metrics) + len(sources) - 1
        self.parent, self.consumer, self.n, self.base = [0], [0], [0], [[0] * self.nr_columns]
        self.known = {}

    def counter(self, source):
        """The column that is n of the source; None: n itself."""
        return len(self.metrics) + source - 1 if source else None

    def child(self, parent, consumer):
        key = parent << 32 | consumer
        at = self.known.get(key)
        if at is None:
            at = self.known[key] = len(self.parent)
            self.parent.append(parent)
            self.consumer.append(consumer)
            self.n.append(0)
            self.base.append([0] * self.nr_columns)
        return at

    def find(self, parent, consumer):
        return self.known.get(parent << 32 | consumer, 0)

    def add(self, node, n, values):
        """values of all columns"""
        self.n[node] += n
        self.base[node] = [a + b for a, b in zip(self.base[node], values)]

    def count(self, node, metric, nr, weight):
        """Samples."""
        counter = self.counter(self.metrics[metric].source)
        if counter is None:
            self.n[node] += nr
        else:
            self.base[node][counter] += nr
        self.base[node][metric] += weight

    def drop_empty(self):
        """Without contexts that have nothing, and nothing below them."""
        keep = [bool(n) or any(b) for n, b in zip(self.n, self.base)]
        for i in range(len(keep) - 1, 0, -1):
            if keep[i]:
                keep[self.parent[i]] = True
        out, at = Tree(self.sources, self.metrics), [0] * len(keep)
        for i in range(1, len(keep)):
            if keep[i]:
                at[i] = out.child(at[self.parent[i]], self.consumer[i])
                out.add(at[i], self.n[i], self.base[i])
        return out

    def merge_tiers(self, consumers):
        """With one context for those that only tiers tell apart, which are keys of methods."""
        out, at = Tree(self.sources, self.metrics), [0] * len(self.parent)
        out.nr_columns, out.base[0] = self.nr_columns, [0] * self.nr_columns
        for i in range(1, len(self.parent)):
            consumer = self.consumer[i]
            name, module, detail, kind, key = consumers.items[consumer]
            if kind == K_JAVA and key:
                consumer = consumers.add(name, kind, module, detail)
            at[i] = out.child(at[self.parent[i]], consumer)
            out.add(at[i], self.n[i], self.base[i])
        return out

    def pick(self, wanted):
        """Only these metrics, by their numbers, and their sources; calls stay."""
        sources = [0] if self.sources[0].kind == "calls" else []
        metrics = []
        for m in wanted:
            x = self.metrics[m]
            if x.source not in sources:
                sources.append(x.source)
            metrics.append(Metric(x.name, x.unit, sources.index(x.source)))
        out = Tree([self.sources[s] for s in sources], metrics)
        for i in range(1, len(self.parent)):
            ns = [self.n_of(i, s) for s in sources]
            out.add(out.child(self.parent[i], self.consumer[i]), ns[0], [self.base[i][m] for m in wanted] + ns[1:])
        return out

    def n_of(self, node, source):
        return self.base[node][self.counter(source)] if source else self.n[node]

    # ---- when all is there ----

    def finish(self, consumers):
        """Sums up, and numbers the contexts in the order of reports."""
        self.n = [min(n, M64) for n in self.n]
        self.base = [[min(v, M64) for v in b] for b in self.base]
        self.cum = [list(b) for b in self.base]
        for i in range(len(self.parent) - 1, 0, -1):
            up = self.cum[self.parent[i]]
            for m, v in enumerate(self.cum[i]):
                up[m] += v
        self.cum = [[min(v, M64) for v in c] for c in self.cum]
        self._order(consumers)
        for s, source in enumerate(self.sources):
            source.n = sum(self.n_of(i, s) for i in range(1, len(self.parent))) & M64
        for m, metric in enumerate(self.metrics):
            metric.total = self.cum[0][m]

    def _order(self, consumers):
        """Children by cum, base, n, then name: self.order is the preorder, self.rank its inverse."""
        by_name = sorted(range(1, len(consumers.items)), key=lambda c: self._name_key(consumers.items[c], c))
        rank = [0] * len(consumers.items)
        for i, c in enumerate(by_name):
            rank[c] = i
        counter = self.counter(self.metrics[0].source)
        columns = range(1, len(self.cum[0]))

        def key(i):
            cum, base = self.cum[i], self.base[i]
            n = self.n[i] if counter is None else base[counter]
            out = [-cum[0], -base[0], -n]
            for m in columns:
                out += (-cum[m], -base[m])
            out.append(rank[self.consumer[i]])
            return out

        children = {}
        for i in range(1, len(self.parent)):
            children.setdefault(self.parent[i], []).append(i)
        self.order, self.rank = [], [0] * len(self.parent)
        self.level, self.recursion = [0] * len(self.parent), [0] * len(self.parent)
        todo, open_ = [(0, False)], {}
        self.last = [0] * len(self.parent)
        while todo:
            i, done = todo.pop()
            if done:
                open_[self.consumer[i]] -= 1
                self.last[self.rank[i]] = len(self.order) - 1
                continue
            if i:
                self.rank[i] = len(self.order)
                self.order.append(i)
                self.level[i] = self.level[self.parent[i]] + 1 if self.parent[i] else 0
                open_[self.consumer[i]] = self.recursion[i] = open_.get(self.consumer[i], 0) + 1
                todo.append((i, True))
            below = children.get(i)
            if below:
                if len(below) > 1:
                    below.sort(key=key)
                todo.extend((c, False) for c in reversed(below))

    @staticmethod
    def _name_key(x, number):
        name, module, detail, kind, key = x
        raw = lambda s: s.encode("utf-8", "surrogateescape")
        return raw(name), raw(module), raw(detail), kind, key, number


def settle_kinds(consumers, names):
    """A function that ran as several kinds of code gets the one that has most weight."""
    weights = {}
    for levels in names.frames.values():
        for level in levels:
            w = weights.setdefault(level.consumer, {})
            w[level.kind] = w.get(level.kind, 0) + level.weight + 1
    for c, (name, module, detail, kind, key) in enumerate(consumers.items[1:], 1):
        if kind != K_ANY or not key:
            continue
        best, best_weight = K_ANY, 0
        for kind in sorted(weights.get(c, ())):
            if weights[c][kind] > best_weight:
                best, best_weight = kind, weights[c][kind]
        consumers.items[c] = name, module, detail, best, key >> KEY_BITS
