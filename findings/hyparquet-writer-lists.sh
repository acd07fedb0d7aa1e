#!/usr/bin/env bash
# hyparquet-writer 0.17.0: a column of arrays of numbers without a schema is written as JSON texts. hyparquet 1.31.5
# reads the arrays again; pyarrow 26.0.1 and duckdb 2.0.1 read texts, and polars 2.1.0 reads bytes.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
python3 -m venv v
v/bin/pip install -q pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1
npm install --silent --no-fund --no-audit hyparquet-writer@0.17.0 hyparquet@1.31.5
cat > write.mjs <<'JS'
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { parquetWriteFile } from "hyparquet-writer";

parquetWriteFile({ filename: "x.parquet", columnData: [{ name: "x", data: [[0, 1.5], [1, 0]] }] });
const rows = await parquetReadObjects({ file: await asyncBufferFromFile("x.parquet") });
console.log("hyparquet:", JSON.stringify(rows.map((row) => row.x)));
JS
node write.mjs
v/bin/python - <<'PY'
import sys

import duckdb
import polars
import pyarrow.parquet

seen = {
    "pyarrow": pyarrow.parquet.read_table("x.parquet")["x"].to_pylist(),
    "duckdb": [v for v, in duckdb.sql("from 'x.parquet'").fetchall()],
    "polars": polars.read_parquet("x.parquet")["x"].to_list(),
}
for name, values in seen.items():
    print(f"{name}: {values}")
texts = ["[0,1.5]", "[1,0]"]
if seen != {"pyarrow": texts, "duckdb": texts, "polars": [v.encode() for v in texts]}:
    sys.exit("hyparquet-writer, or a reader, behaves otherwise now")
PY
