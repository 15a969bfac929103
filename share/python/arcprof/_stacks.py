# SPDX-License-Identifier: MIT
"""The stacks and samples of a trace, in the order of the file. Numbers of stacks are of the file's own epochs."""
import struct

from ._file import M64, Invalid, Span, records, unzigzag, varints
from ._names import frame_of
from ._tables import FRAME_MARK, FRAME_NONE, MARK_DAMAGED

MAX_FRAMES = 1 << 22
MAX_NODES = 1 << 24
LOST = -1		# a stack whose chunk is missing


class Numbers:
    """The file's numbers, which ascend, to ours, which have no holes."""

    def __init__(self):
        self.segments, self.end = [], 1		# [first, number, ours]

    def add(self, first, nr, ours):
        if first < self.end or first + nr > 0xffffffff:
            return False
        if self.segments and first == self.end and ours == self.segments[-1][2] + self.segments[-1][1]:
            self.segments[-1][1] += nr
        else:
            self.segments.append([first, nr, ours])
        self.end = first + nr
        return True

    def ours(self, number):
        """None: there is no such number."""
        for first, nr, ours in self.segments if len(self.segments) < 3 else self._near(number):
            if 0 <= number - first < nr:
                return ours + number - first
        return None

    def _near(self, number):
        lo, hi = 0, len(self.segments)
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if self.segments[mid][0] <= number:
                lo = mid
            else:
                hi = mid
        return self.segments[lo:lo + 1]


class Stacks:
    """
    Of one epoch: parents and frames by node, frames as tuples (_names.frame_of). Node and frame 0 are none,
    1 stands for what is lost. A parent is always below its node.
    """

    def __init__(self, epoch, first):
        self.epoch = epoch
        self.first = first			# nodes of the epochs before
        self.frames = [(FRAME_NONE, 0, 0, 0, 0), (FRAME_MARK, 0, MARK_DAMAGED, 0, 0)]
        self.parents, self.frame_of = [0, 0], [0, 1]
        self.nodes, self.frame_numbers = Numbers(), Numbers()

    def take(self, raw, damage):
        try:
            for major, minor, _, body in records(raw):
                try:
                    if major == 0xc0 and minor == 1:
                        self._frames(body)
                    elif major == 0xc0 and minor == 2:
                        self._nodes(body)
                except Invalid:
                    damage.nr_records += 1
        except Invalid:
            damage.nr_records += 1

    def _frames(self, body):
        s = Span(body)
        first, nr = s.u32(), s.u32()
        if nr > (len(body) - 8) // 5 or len(self.frames) + nr > MAX_FRAMES + 2 or \
                not self.frame_numbers.add(first, nr, len(self.frames)):
            raise Invalid
        v = varints(body, 8)
        last, add = [0] * 10, self.frames.append
        for i in range(0, min(5 * nr, len(v) // 5 * 5), 5):
            kind = v[i] & 0xffffffff
            at = kind if kind < 10 else 0
            last[at] = last[at] + unzigzag(v[i + 2]) & M64
            add(frame_of(kind, v[i + 1], last[at], v[i + 3], v[i + 4]))
        if len(v) < 5 * nr:		# their numbers are taken
            self.frames += [frame_of(FRAME_NONE, 0, 0)] * (nr - len(v) // 5)
            raise Invalid

    def _nodes(self, body):
        s = Span(body)
        number, runs = s.u32(), s.u32()
        v = varints(body, 8)
        at, end = 0, len(v)
        parents, frames, frame_numbers = self.parents, self.frame_of, self.frame_numbers
        shift = None		# the usual case: one segment, so the difference is constant
        if len(frame_numbers.segments) == 1:
            first, nr, ours = frame_numbers.segments[0]
            shift, low, high = ours - first, first, first + nr
        for _ in range(runs):
            if at + 2 > end:
                raise Invalid
            up, n = v[at], v[at + 1]
            at += 2
            if not n or n > end - at or len(parents) + n > MAX_NODES + 2 or not number:
                raise Invalid
            parent = 0
            if up != number:
                parent = self.nodes.ours(number - up) if 0 < up < number else None
                parent = 1 if parent is None else parent
            node = len(parents)
            if not self.nodes.add(number, n, node):
                raise Invalid
            for f in v[at:at + n]:
                if shift is not None and low <= f < high:
                    f += shift
                else:
                    f = frame_numbers.ours(f & 0xffffffff)
                    f = 1 if f is None else f
                parents.append(parent)
                frames.append(f)
                parent = node
                node += 1
            at += n
            number += n

    def chain(self, node):
        """Nodes of a stack from the innermost out."""
        out = []
        while node:
            out.append(node)
            node = self.parents[node]
        return out


PLAIN = struct.Struct("<HHIQII")
SAMPLE, WEIGHT, WIDE, SUM = 0x20, 0x60, 0xa0, 0xe0


def samples(raw, stacks, damage):
    """(time, thread, node of stacks, event, weight, number, CPU, whether in user mode) of each sample."""
    weights = {}
    nodes = stacks.nodes
    shift = low = high = 0
    if len(nodes.segments) == 1:
        low, nr, ours = nodes.segments[0]
        shift, high = ours - low, low + nr
    at, end, unpack = 0, len(raw), PLAIN.unpack_from
    u64 = struct.Struct("<Q").unpack_from
    while at + 24 <= end:
        type_len, major, minor, time, thread, stack = unpack(raw, at)
        length = type_len & 0xfffc
        if major != 0x10 or type_len & 3 not in (0, 2) or length < 24 or at + length > end:
            break
        kind, event, nr = minor & 0xfc, minor >> 8 & 0xff, 1
        if kind == SAMPLE:
            weight = weights.get(event, 1)
        elif length < 32:
            break
        elif kind == WIDE or kind == SUM:
            if length < (36 if kind == WIDE else 44):
                break
            weight = u64(raw, at + 24)[0]
            event = int.from_bytes(raw[at + 32:at + 36], "little")
            if kind == SUM:
                nr = u64(raw, at + 36)[0]
        else:
            weight = weights[event] = u64(raw, at + 24)[0]
        if low <= stack < high:
            stack += shift
        elif stack:
            stack = nodes.ours(stack)
            stack = LOST if stack is None else stack
        yield time, thread, stack, event, weight, nr, minor >> 16, minor & 3 == 3
        at += length
    else:
        damage.nr_records += at < end
        return
    yield from _odd_samples(raw[at:], stacks, weights, damage)


def _odd_samples(raw, stacks, weights, damage):
    """The rest of a chunk from a record on that is none of the usual ones."""
    try:
        for major, minor, time, body in records(raw):
            if major != 0x10:
                continue
            try:
                s = Span(body)
                thread, stack, kind, event, nr = s.u32(), s.u32(), minor & 0xfc, minor >> 8 & 0xff, 1
                if kind == SAMPLE:
                    weight = weights.get(event, 1)
                else:
                    weight = s.u64()
                    if kind == WIDE or kind == SUM:
                        event = s.u32()
                    else:
                        weights[event] = weight
                    if kind == SUM:
                        nr = s.u64()
            except Invalid:
                damage.nr_records += 1
                continue
            if stack:
                stack = stacks.nodes.ours(stack)
                stack = LOST if stack is None else stack
            yield time, thread, stack, event, weight, nr, minor >> 16, minor & 3 == 3
    except Invalid:
        damage.nr_records += 1
