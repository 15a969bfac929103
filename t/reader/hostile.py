# SPDX-License-Identifier: GPL-2.0-or-later
"""
hostile.py - changes traces and reads them with the Python module: any answer will do but an exception that is not
arcprof.Error, and but taking too long. Checksums are put right, or nothing changed would get past the first of them.

    hostile.py <number of changes> <trace>...
"""
import random
import resource
import signal
import struct
import sys
import zlib

import arcprof
from arcprof._demangle import demangle
from arcprof._file import Damage, File

INTERESTING = [0, 1, 0x7f, 0x80, 0xff]


def chunks_of(path):
    f = File(path)
    damage = Damage()
    return [(c, f.payload(c, damage)) for c in f.chunks(damage)], open(path, "rb").read(64)


def pack(c, raw, seq):
    body = zlib.compress(raw, 1) if c.flags & 1 else raw
    if len(body) > len(raw):
        body, flags = raw, 0
    else:
        flags = c.flags & 1
    head = struct.pack("<8s4sIIIIIQQIII", bytes.fromhex("f54368556e4b0d0a"), c.type.encode("latin-1"), flags, len(body),
                       len(raw), zlib.crc32(body), c.epoch, 0, 0, 0, seq, 0)
    return head + struct.pack("<I", zlib.crc32(head)) + body


def change(rng, raw):
    raw = bytearray(raw)
    for _ in range(rng.randrange(1, 6)):
        if not raw:
            break
        at, what = rng.randrange(len(raw)), rng.randrange(5)
        if what == 0:
            raw[at] = rng.choice(INTERESTING)
        elif what == 1:
            raw[at] ^= 1 << rng.randrange(8)
        elif what == 2:
            raw[at:at + rng.randrange(1, 9)] = b"\xff" * rng.randrange(9)
        elif what == 3:
            raw[at & ~3:at & ~3] = raw[(at // 2) & ~3:((at // 2) & ~3) + 4 * rng.randrange(32)]
        else:
            del raw[at & ~3:(at & ~3) + 4 * rng.randrange(1, 16)]
    return bytes(raw)


def read(data):
    with arcprof.Trace(data, memory=64 << 20) as t:
        for i, s in enumerate(t.samples()):
            if s.stack and i < 200:
                for f in s.stack.frames():
                    assert f.name is not None
        str(t.damaged), t.processes, t.threads
        nodes = list(t.nodes())
        for n in nodes:
            assert n.parent is None or n.parent < n.id <= n.last < len(nodes)
        list(t.functions())


def too_long(*_):
    raise RuntimeError("this takes more than 20 s of CPU time")


def main(nr, paths):
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    signal.signal(signal.SIGPROF, too_long)
    rng, refused, read_all = random.Random(7), 0, 0
    names = ["_ZNSt3mapIiSsSt4lessIiESaISt4pairIKiSsEEE4findERS3_", "_Z1fIJidEEvDpT_", "_ZN1AIS_S_E1gES0_S0_S0_",
             "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"]
    for i in range(nr):
        path = rng.choice(paths)
        chunks, head = chunks_of(path)
        picked = rng.randrange(len(chunks))
        out = head
        for k, (c, raw) in enumerate(chunks):
            out += pack(c, change(rng, raw) if k == picked or rng.randrange(10) == 0 else raw, k)
        if rng.randrange(8) == 0:		# also what no checksum covers
            at = rng.randrange(len(out))
            out = out[:at] + bytes([rng.randrange(256)]) * rng.randrange(9) + out[at + rng.randrange(9):]
        signal.setitimer(signal.ITIMER_PROF, 20)
        try:
            read(out)
            read_all += 1
        except arcprof.Error as e:
            assert str(e)
            refused += 1
        except BaseException:
            open("hostile.data", "wb").write(out)
            print("change %d of %s: see hostile.data" % (i, path))
            raise
        name = list(rng.choice(names))
        for _ in range(rng.randrange(1, 5)):
            name[rng.randrange(2, len(name))] = rng.choice("SIETJDpLXZNK_0123456789abcdefv")
        name = "".join(name) * rng.choice((1, 1, 1, 50))
        assert len(demangle(name)) <= max(len(name), 1 << 17)
    signal.setitimer(signal.ITIMER_PROF, 20)
    # names that would become endless, and one that is deep
    for name in "_ZN1AIS_" + "S0_" * 3 + "".join("S%X_S%X_" % (i, i) for i in range(9)) + "E1fEv", "_Z1f" + "P" * 9999, \
            "_Z1f" + "".join("St4pairI%sE" % ("S%s_" % c * 2) for c in "0123456789ABCDEFGH"), "_Z" + "N" * 9999:
        assert len(demangle(name)) <= max(len(name), 1 << 17)
    print("%d changed traces: %d read, %d refused" % (nr, read_all, refused))


main(int(sys.argv[1]), sys.argv[2:])
