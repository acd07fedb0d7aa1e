#!/usr/bin/env bash
# apache-arrow 21.2.0 (JavaScript): the text and the JSON of a decimal of 256 bits are its last digit alone, and a negative
# decimal of 64 bits becomes a large positive text. Number() of both, and texts of 128 bits, are right.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
python3 -m venv v
v/bin/pip install -q pyarrow==26.0.1
npm install --silent --no-fund --no-audit apache-arrow@21.2.0
v/bin/python - <<'PY'
from decimal import Decimal

import pyarrow as pa

values = [Decimal("1.25"), Decimal("-3.50"), Decimal("123456.78")]
print("written, with two digits after the point:", *values)
for bits, kind in ((64, pa.decimal64), (128, pa.decimal128), (256, pa.decimal256)):
    table = pa.table({"x": pa.array(values, kind(18, 2))})
    with pa.ipc.new_file(f"{bits}.arrow", table.schema) as writer:
        writer.write_table(table)
PY
cat > read.cjs <<'JS'
const fs = require("fs");
const { tableFromIPC } = require("apache-arrow");
const seen = {};
for (const bits of [64, 128, 256]) {
  const values = [...tableFromIPC(fs.readFileSync(`${bits}.arrow`)).getChild("x")];
  seen[bits] = values.map(String).join(" ");
  console.log(`${bits} bits: texts ${seen[bits]}; JSON ${JSON.stringify(values)}; Number ${values.map(Number).join(" ")}`);
}
const right = "125 -350 12345678";
if (seen[128] !== right || seen[256] !== "5 -0 8" || seen[64] !== "125 18446744073709551266 12345678") {
  console.error("apache-arrow behaves otherwise now");
  process.exit(1);
}
JS
node read.cjs || exit 1
