"""Writes ../ziggurat-tables.ts: the tables of NumPy's ziggurats, read out of the library that NumPy installs.

    python make_ziggurat_tables.py     # NumPy 2.4.6, with ar and readelf (binutils)

They follow from Marsaglia and Tsang (2000) only up to the last bits (NumPy's were computed in double precision, once),
and the last bits decide which draws are kept. So they are taken as the constants that they are.
"""

import base64
import re
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

TABLES = {"ki": "Q", "wi": "d", "fi": "d", "ke": "Q", "we": "d", "fe": "d"}
archive = Path(np.__file__).parent / "random/lib/libnpyrandom.a"

with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["ar", "x", str(archive)], cwd=folder, check=True)
    path = next(Path(folder).glob("*distributions_distributions*.o"))
    content = path.read_bytes()
    sections = subprocess.run(["readelf", "-S", "-W", path], capture_output=True, text=True, check=True).stdout
    symbols = subprocess.run(["readelf", "-s", "-W", path], capture_output=True, text=True, check=True).stdout

start = int(re.search(r" \.rodata +\S+ +\S+ +(\S+)", sections).group(1), 16)
values = []
for name, kind in TABLES.items():
    offset = start + int(re.search(rf"(\S+) +2048 OBJECT .* {name}_double", symbols).group(1), 16)
    # Every integer is below 2^53, so that a double holds it.
    values += map(float, struct.unpack(f"<256{kind}", content[offset : offset + 2048]))

text = base64.b64encode(struct.pack(f"<{len(values)}d", *values)).decode()
lines = "\n".join(f"  '{text[i : i + 100]}'," for i in range(0, len(text), 100))
(Path(__file__).resolve().parent.parent / "ziggurat-tables.ts").write_text(
    f"""/**
 * Six tables of 256 numbers for the ziggurats of `ziggurat.ts`, little-endian doubles in base64: for the normal
 * distribution the thresholds, widths and heights, then the same for the exponential. The values are NumPy's (BSD
 * licence), written by golden/make_ziggurat_tables.py.
 */
const packed = [
{lines}
].join('')

const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0))
const view = new DataView(bytes.buffer)
const table = (index: number): Float64Array =>
  Float64Array.from({{ length: 256 }}, (_, i) => view.getFloat64((index * 256 + i) * 8, true))

/** [256] each: a draw below `threshold` is kept at once; `width` scales it to x; `height` is the density at x. */
export const normalTables = {{ threshold: table(0), width: table(1), height: table(2) }}
export const exponentialTables = {{ threshold: table(3), width: table(4), height: table(5) }}
"""
)
