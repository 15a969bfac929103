#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a profile of pprof with five samples of one stack, each with a value of these types, in ns.

usage: make-pprof.py FILE TYPE...
"""
import gzip
import sys


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    return varint(number << 3 | 2) + varint(len(data)) + data


types = sys.argv[2:]
texts = [''] + types + ['nanoseconds', 'main', 'work']
unit, main, work = len(types) + 1, len(types) + 2, len(types) + 3
profile = b''.join(field(1, field(1, 1 + i) + field(2, unit)) for i in range(len(types)))
values = b''.join(varint(1000 * (i + 1)) for i in range(len(types)))
profile += 5 * field(2, field(1, varint(2) + varint(1)) + field(2, values))
for i, name in (1, main), (2, work):
    profile += field(4, field(1, i) + field(4, field(1, i)))
    profile += field(5, field(1, i) + field(2, name) + field(3, name))
profile += b''.join(field(6, text.encode()) for text in texts)
with open(sys.argv[1], 'wb') as f:
    f.write(gzip.compress(profile))
