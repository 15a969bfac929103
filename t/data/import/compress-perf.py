# Compresses the records of a perf.data file of a pipe, as "perf record -z" does: one stream of zstd, cut
# anywhere. The arguments are the file and how many records it becomes.
import struct, subprocess, sys

data, nr = open(sys.argv[1], "rb").read(), int(sys.argv[2])
head, plain, at = data[:16], b"", 16
while at < len(data):
    kind, misc, size = struct.unpack_from("<IHH", data, at)
    if kind >= 64:
        head += data[at:at + size]
    else:
        plain += data[at:at + size]
    at += size
packed = subprocess.run(["zstd", "-qc"], input=plain, capture_output=True, check=True).stdout
step = -(-len(packed) // nr)
for i in range(0, len(packed), step):
    part = packed[i:i + step]
    head += struct.pack("<IHH", 81, 0, 8 + len(part)) + part
sys.stdout.buffer.write(head)
