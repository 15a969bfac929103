# SPDX-License-Identifier: MIT
"""
The bytes of a trace: chunks, records and their fields, as arcprof-trace(5) has them. What is damaged is
skipped and described; memory depends on a chunk, of which no more than 4 MiB is ever decompressed.
"""
import os
import struct
import zlib

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
FILE_MAGIC = bytes.fromhex("894172630d0a1a0a")
CHUNK_MAGIC = bytes.fromhex("f54368556e4b0d0a")
HEADER = struct.Struct("<8sHHIII QQ 16x I I")
CHUNK = struct.Struct("<8s4sIIIIIQQIIII")
MAX_RAW = 4 << 20
WINDOW = 512 << 10
RESCAN = 16		# damaged payloads are checked again for at most so many times the file's size


class Error(Exception):
    """Why a trace cannot be read. Of Query: what arcprof says on standard error; status is its exit status."""

    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


class Invalid(Exception):
    """A record that is not what its code promises; it is skipped and counted."""


# ---- fields ----

def varints(b, pos=0):
    """All varints from pos on; one that is cut off is left out."""
    out, v, shift = [], 0, 0
    add = out.append
    for c in memoryview(b)[pos:]:
        if c < 0x80:
            if shift:
                add((v | c << shift) & M64)
                v = shift = 0
            else:
                add(c)
        else:
            v |= (c & 0x7f) << shift
            shift += 7
            if shift > 63:
                if shift > 70:
                    raise Invalid
    return out


def unzigzag(v):
    return v >> 1 ^ -(v & 1)


class Span:
    """The fields of a record, one after the other."""

    __slots__ = ("data", "at")

    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def u32(self):
        self.at += 4
        if self.at > len(self.data):
            raise Invalid
        return int.from_bytes(self.data[self.at - 4:self.at], "little")

    def u64(self):
        self.at += 8
        if self.at > len(self.data):
            raise Invalid
        return int.from_bytes(self.data[self.at - 8:self.at], "little")

    def key(self):
        v = self.u32()
        if not v:
            raise Invalid
        return v

    def varint(self):
        v, data, at = 0, self.data, self.at
        for shift in range(0, 70, 7):
            if at >= len(data):
                raise Invalid
            c = data[at]
            at += 1
            v |= (c & 0x7f) << shift
            if c < 0x80:
                self.at = at
                return v & M64
        raise Invalid

    def data_bytes(self):
        n = self.varint()
        if n > len(self.data) - self.at:
            raise Invalid
        self.at += n
        return bytes(self.data[self.at - n:self.at])

    def text(self):
        return self.data_bytes().decode("utf-8", "surrogateescape")

    def pairs(self):
        """Of zigzag varints, as their differences."""
        return [(unzigzag(self.varint()), unzigzag(self.varint())) for _ in range(self._count(2))]

    def _count(self, least):
        n = self.varint()
        if n > (len(self.data) - self.at) // least:
            raise Invalid
        return n


def records(raw):
    """(major, minor, time, body) of each record; an impossible length ends them with Invalid."""
    at, end, time = 0, len(raw), 0
    view = memoryview(raw)
    head = struct.Struct("<HHI").unpack_from
    u64 = struct.Struct("<Q").unpack_from
    while at < end:
        if end - at < 8:
            raise Invalid
        type_len, major, minor = head(raw, at)
        kind, length, size = type_len & 3, type_len & 0xfffc, 8
        if kind != 1:
            if end - at < 16:
                raise Invalid
            time, size = u64(raw, at + 8)[0], 16
        if kind == 3:
            if end - at < 20:
                raise Invalid
            length, size = int.from_bytes(raw[at + 16:at + 20], "little"), 20
        if length & 3 or length < size or length > end - at:
            raise Invalid
        yield major, minor, time, view[at + size:at + length]
        at += length


# ---- chunks ----

class Chunk:
    __slots__ = ("offset", "type", "flags", "epoch", "seq", "raw_len", "stride", "stored")

    def is_(self, *types):
        return self.type in types


class Damage:
    """What was skipped: first in words, and how much in all."""

    def __init__(self):
        self.first, self.nr_bytes, self.nr_records, self.no_end = None, 0, 0, True

    def skip(self, offset, length, why):
        self.nr_bytes += length
        if self.first is None:
            self.first = "offset %d: %s" % (offset, why)

    def __str__(self):
        if self.first:
            return self.first
        if self.nr_records:
            return "%d records in whole chunks are invalid" % self.nr_records
        return "the file has no end: the recording goes on, or was cut off" if self.no_end else ""


class File:
    """The chunks of a trace. source is a path, bytes, or an open file that can be sought in."""

    def __init__(self, source):
        self.data, self.file, self.name = None, None, "trace"
        if isinstance(source, (bytes, bytearray, memoryview)):
            self.data = bytes(source)
            self.size = len(self.data)
        elif hasattr(source, "read"):
            self.name = str(getattr(source, "name", "trace"))
            self._take(source, close=False)
        else:
            self.name = os.fspath(source)
            try:
                self._take(open(source, "rb"), close=True)
            except OSError as e:
                raise Error("%s: %s" % (self.name, e.strerror)) from None
        self.window, self.window_at = b"", 0
        self._read_header()

    def _take(self, f, close):
        if f.seekable():
            self.file = f
            self.size = f.seek(0, os.SEEK_END)
        else:
            self.data = f.read()
            self.size = len(self.data)
            if close:
                f.close()

    def close(self):
        if self.file:
            self.file.close()
            self.file = None

    def _at(self, offset, length):
        """So many bytes from there; fewer at the end of the file."""
        if self.data is not None:
            return self.data[offset:offset + length]
        begin = offset - self.window_at
        if begin < 0 or begin + length > len(self.window):
            if self.file is None:
                raise Error("%s: closed" % self.name)
            self.file.seek(offset)
            self.window, self.window_at, begin = self.file.read(max(length, WINDOW)), offset, 0
        return self.window[begin:begin + length]

    def _read_header(self):
        if not self.size:
            raise Error("%s: empty" % self.name)
        head = self._at(0, HEADER.size)
        self.start_real_ns = self.start_mono_ns = self.first = 0
        self.has_header = False
        if len(head) == HEADER.size:
            magic, version, size, _, _, _, real, mono, _, crc = HEADER.unpack(head)
            if magic == FILE_MAGIC and crc == zlib.crc32(head[:60]):
                if version != 1:
                    raise Error("%s: trace version %d, this module reads version 1" % (self.name, version))
                self.start_real_ns, self.start_mono_ns = real, mono
                self.first, self.has_header = max(size, HEADER.size), True
                return
        self.first = self._search(0)
        if self.first == self.size:
            raise Error("%s: not an arcprof trace" % self.name)

    def _header_at(self, offset):
        head = self._at(offset, CHUNK.size)
        if len(head) < CHUNK.size or head[:8] != CHUNK_MAGIC:
            return None
        f = CHUNK.unpack(head)
        if f[12] != zlib.crc32(head[:60]) or f[4] > MAX_RAW or f[3] > f[4]:
            return None
        return f

    def _search(self, offset):
        """The next chunk's header, or the end of the file."""
        while offset + CHUNK.size <= self.size:
            if self.data is not None:
                text, begin = self.data, offset
            else:
                self._at(offset, CHUNK.size)
                text, begin = self.window, offset - self.window_at
                if len(text) - begin < CHUNK.size:	# the file has become shorter
                    break
            hit = text.find(CHUNK_MAGIC, begin)
            if hit < 0:
                offset += len(text) - begin - len(CHUNK_MAGIC) + 1
                continue
            offset += hit - begin
            if self._header_at(offset):
                return offset
            offset += 1
        return self.size

    def chunks(self, damage):
        """Each whole chunk; what is between them goes to damage."""
        at, seq, checked = self.first, 0, 0
        damage.no_end = True
        if not self.has_header:
            damage.skip(0, at, "the file header is damaged")
        while at < self.size:
            f = self._header_at(at)
            if not f:
                end = self._search(at + 1)
                damage.skip(at, end - at, "no chunk where one should be")
                at = end
                continue
            c = Chunk()
            c.offset, c.type, c.flags, c.raw_len, c.epoch, c.seq, c.stride = \
                at, f[1].decode("latin-1"), f[2], f[4], f[6], f[10], f[11]
            cut = f[3] > self.size - at - CHUNK.size
            c.stored = b"" if cut else self._at(at + CHUNK.size, f[3])
            checked += f[3]
            if len(c.stored) < f[3] or zlib.crc32(c.stored) != f[5]:
                end = self._search(at + 8) if cut or checked // RESCAN <= self.size else at + CHUNK.size + f[3]
                damage.skip(at, end - at, "chunk %d '%s' %s" % (c.seq, printable(c.type), "is cut off" if cut else
                                                                "has a wrong checksum"))
                at = end
                continue
            end = at + CHUNK.size + f[3]
            if c.seq < seq:
                damage.skip(at, end - at, "chunk %d again, or in the wrong place" % c.seq)
                at = end
                continue
            if c.seq > seq:
                damage.skip(at, 0, "%d chunks are missing" % (c.seq - seq))
            seq, at = c.seq + 1, end
            if c.type == "done":
                damage.no_end = False
            yield c

    def payload(self, c, damage):
        """What is in the chunk, or None."""
        raw = self._decode(c)
        if raw is None:
            damage.skip(c.offset, CHUNK.size + len(c.stored),
                        "chunk %d '%s' cannot be decoded (flags 0x%x)" % (c.seq, printable(c.type), c.flags))
        return raw

    @staticmethod
    def _decode(c):
        if c.flags & ~3:
            return None
        raw = c.stored
        if c.flags & 1:
            z = zlib.decompressobj()
            try:
                raw = z.decompress(raw, c.raw_len + 1)
            except zlib.error:
                return None
            if not z.eof and c.raw_len == 0:
                return None
        if len(raw) != c.raw_len:
            return None
        if c.flags & 2:
            if not c.stride or c.stride > 256 or c.stride & 3:
                return None
            rows = c.raw_len // c.stride
            plain = bytearray(raw)
            for k in range(c.stride):
                plain[k:rows * c.stride:c.stride] = raw[k * rows:(k + 1) * rows]
            raw = bytes(plain)
        return raw


def printable(s):
    return "".join(c if " " < c <= "~" else "?" for c in s)
