#!/bin/sh
# heat2d, compiled with mpicc: right at several numbers of ranks, and a picture of the right form each time.
. "${0%/*}/common.sh"
mpicc -O2 -Wall -Wextra -Werror -o heat2d "$SOURCE/examples/heat2d/heat2d.c" "$SOURCE/examples/heat2d/png.c" -lm
for n in 1 2 3 4; do
  rm -f plate.png
  mpiexec -n $n ./heat2d --size 40 --picture plate.png >out || fail "$n ranks: $(cat out)"
  grep -q ': right$' out || fail "$n ranks: $(cat out)"
  python3 - plate.png <<'PYTHON' || fail "$n ranks: plate.png is no picture"
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, pixels = 8, b""
while at < len(data):
    length, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + length]
    assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
    pixels += body if kind == b"IDAT" else b""
    at += 12 + length
assert len(zlib.decompress(pixels)) == 512 * 513 and len(set(pixels)) > 200
PYTHON
done
mpiexec -n 2 ./heat2d --size 0 >out 2>&1 && fail "a size of 0 was taken"
grep -q -- '--size' out || fail "no word about --size: $(cat out)"
mpicc -o hello "$SOURCE/examples/hello.c"
[ "$(mpiexec -n 3 ./hello | grep -c 'hello from rank [012] of 3')" -eq 3 ] || fail "hello"
