#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a request of OpenTelemetry's profiles: of each resource a profile with one sample of 1000 ns of "work", which
"main" called. Attributes that are numbers are numbers.

usage: make-otlp.py FILE NANOSECONDS RESOURCE...	of RESOURCE the attributes: KEY=VALUE[;KEY=VALUE]...
"""
import struct
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


def attribute(pair):
    key, value = pair.split('=', 1)
    return field(1, key.encode()) + field(2, field(3, int(value)) if value.isdigit() else field(1, value.encode()))


def profile(time_ns):
    sample = field(1, 1) + field(4, varint(1000))
    return field(1, field(1, 1) + field(2, 2)) + field(2, sample) + varint(3 << 3 | 1) + struct.pack('<Q', time_ns)


out = b''
for resource in sys.argv[3:]:
    attributes = b''.join(field(1, attribute(pair)) for pair in resource.split(';'))
    out += field(1, field(1, attributes) + field(2, field(2, profile(int(sys.argv[2])))))
tables = field(1, b'') + b''.join(field(2, line) for line in (b'', field(3, field(1, 1)), field(3, field(1, 2))))
tables += b''.join(field(3, name) for name in (b'', field(1, 3), field(1, 4))) + field(4, b'')
tables += b''.join(field(5, text) for text in (b'', b'cpu', b'nanoseconds', b'work', b'main')) + field(6, b'')
tables += field(7, b'') + field(7, field(1, varint(1) + varint(2)))
with open(sys.argv[1], 'wb') as f:
    f.write(out + field(2, tables))
