#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a profile of pprof with five samples of one stack, each with a value of these types, in ns.  The first
samples have labels, one after the other: text, or a number.

usage: make-pprof.py FILE TYPE... [--label KEY=VALUE[;KEY=VALUE]]...
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


args = sys.argv[2:]
labels = [args[i + 1] for i in range(len(args)) if args[i] == '--label']
types = args[:args.index('--label')] if labels else args
texts = [''] + types + ['nanoseconds', 'main', 'work']


def string(text):
    if text not in texts:
        texts.append(text)
    return texts.index(text)


def label(pair):
    key, value = pair.split('=', 1)
    return field(3, field(1, string(key)) + (field(3, int(value)) if value.isdigit() else field(2, string(value))))


unit, main, work = len(types) + 1, len(types) + 2, len(types) + 3
profile = b''.join(field(1, field(1, 1 + i) + field(2, unit)) for i in range(len(types)))
values = b''.join(varint(1000 * (i + 1)) for i in range(len(types)))
for sample in labels + [''] * (5 - len(labels)):
    said = b''.join(label(pair) for pair in sample.split(';') if pair)
    profile += field(2, field(1, varint(2) + varint(1)) + field(2, values) + said)
for i, name in (1, main), (2, work):
    profile += field(4, field(1, i) + field(4, field(1, i)))
    profile += field(5, field(1, i) + field(2, name) + field(3, name))
profile += b''.join(field(6, text.encode()) for text in texts)
with open(sys.argv[1], 'wb') as f:
    f.write(gzip.compress(profile))
