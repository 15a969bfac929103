#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
make-perf.py [--pipe] - writes a small perf.data file whose content is known: two events with ids, three processes, one
of which forks, then runs another program; records out of order, kernel and user callers, a loss.
"""
import struct
import sys

IP, TID, TIME, CALLCHAIN, ID, CPU, PERIOD, IDENTIFIER = 1, 2, 4, 32, 64, 128, 256, 1 << 16
TYPE = IP | TID | TIME | CALLCHAIN | CPU | PERIOD | IDENTIFIER
KERNEL, USER = 2**64 - 128, 2**64 - 512
PIPE = "--pipe" in sys.argv
BUILD_ID = bytes(range(20))


def padded(s):
    s = s.encode() + b"\0"
    return s + b"\0" * (-len(s) % 8)


def attr(kind, config, period):
    a = struct.pack("<IIQQQQQ", kind, 112, config, period, TYPE, 4, 1 << 18 | 1 << 8 | 1 << 9)
    return a + b"\0" * (112 - len(a))


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(pid, tid, time, event=1):
    return struct.pack("<IIQIIQ", pid, tid, time, 0, 0, event)


def comm(pid, tid, name, time, misc=0):
    return record(3, misc, struct.pack("<II", pid, tid) + padded(name) + trailer(pid, tid, time))


def fork(pid, ppid, tid, ptid, time):
    return record(7, 0, struct.pack("<IIIIQ", pid, ppid, tid, ptid, time) + trailer(pid, tid, time))


def mmap2(pid, addr, size, off, path, time):
    return record(10, 2, struct.pack("<IIQQQIIQQII", pid, pid, addr, size, off, 8, 1, 77, 0, 5, 2) + padded(path) +
                  trailer(pid, pid, time))


def sample(pid, tid, time, period, chain, event=1, misc=2, cpu=0):
    chain = [x for x in chain]
    ip = next(x for x in chain if x < 2**64 - 4095)
    return record(9, misc, struct.pack("<QQIIQIIQQ", event, ip, pid, tid, time, cpu, 0, period, len(chain)) +
                  b"".join(struct.pack("<Q", x) for x in chain))


events = [(attr(1, 0, 1000000), [1, 2], "cpu-clock"), (attr(1, 2, 1), [3], "page-faults")]
data = b"".join([
    comm(100, 100, "outer", 0), comm(100, 101, "helper", 0),
    mmap2(100, 0x400000, 0x1000, 0x1000, "/opt/none/outer", 0),
    sample(100, 100, 5000, 1000000, [USER, 0x400100, 0x400201]),
    sample(100, 101, 3000, 1000000, [KERNEL, 0xffffffff81000010, 0xffffffff81000021, USER, 0x400100, 0x400301], misc=1),
    fork(200, 100, 200, 100, 6000),
    sample(200, 200, 7000, 2000000, [USER, 0x400100, 0x400201], cpu=1),
    comm(200, 200, "inner", 8000, misc=1 << 13),
    mmap2(200, 0x500000, 0x1000, 0, "/opt/none/inner", 8100),
    sample(200, 200, 9000, 1000000, [USER, 0x500100], event=2),
    sample(200, 200, 9500, 7, [USER, 0x500100], event=3),
    record(2, 0, struct.pack("<QQ", 1, 4) + trailer(200, 200, 9600)),
    sample(300, 300, 9700, 1000000, [USER, 0x700100]),
])

if PIPE:
    out = struct.pack("<8sQ", b"PERFILE2", 16)
    for a, ids, name in events:
        out += record(64, 0, a + b"".join(struct.pack("<Q", i) for i in ids))
    out += data
else:
    head = 104
    ids_at, ids, attrs = head, b"", b""
    for a, numbers, name in events:
        attrs += a + struct.pack("<QQ", ids_at + len(ids), 8 * len(numbers))
        ids += b"".join(struct.pack("<Q", i) for i in numbers)
    attrs_at = ids_at + len(ids)
    data_at = attrs_at + len(attrs)
    at = data_at + len(data) + 16 * 4

    def string(s):
        return struct.pack("<I", len(s) + 1) + s.encode() + b"\0"

    build_ids = struct.pack("<IHHi", 0, 2, 8 + 4 + 24 + 16, -1) + BUILD_ID + b"\0\0\0\0" + padded("/opt/none/outer")
    cmdline = struct.pack("<I", 2) + string("perf") + string("record")
    desc = struct.pack("<II", 2, 112)
    for a, numbers, name in events:
        desc += a + struct.pack("<I", len(numbers)) + string(name) + b"".join(struct.pack("<Q", i) for i in numbers)
    sections, bodies = b"", b""
    for body in (build_ids, string("box"), cmdline, desc):
        sections += struct.pack("<QQ", at + len(bodies), len(body))
        bodies += body
    out = struct.pack("<8sQQQQQQQQQQQQ", b"PERFILE2", 104, 128, attrs_at, len(attrs), data_at, len(data), 0, 0,
                      1 << 2 | 1 << 3 | 1 << 11 | 1 << 12, 0, 0, 0)
    out += ids + attrs + data + sections + bodies
sys.stdout.buffer.write(out)
