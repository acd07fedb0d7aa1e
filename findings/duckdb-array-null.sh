#!/usr/bin/env bash
# duckdb 2.0.1 writes a NULL among arrays of fixed size to Parquet as a list with as many entries as an array has.
# pyarrow 26.0.1 refuses the file; polars 2.1.0, fastparquet 2026.9.0 and duckdb read it. All read lists with a NULL.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q duckdb==2.0.1 pyarrow==26.0.1 polars==2.1.0 fastparquet==2026.9.0 pandas==3.1.1
cd "$home"
"$home/v/bin/python" - <<'PY'
import sys

import duckdb
import fastparquet
import polars
import pyarrow.parquet

readers = {
    "duckdb": lambda: [v for v, in duckdb.sql("from 'x.parquet'").fetchall()],
    "polars": lambda: polars.read_parquet("x.parquet")["x"].to_list(),
    "fastparquet": lambda: fastparquet.ParquetFile("x.parquet").to_pandas()["x"].tolist(),
    "pyarrow": lambda: pyarrow.parquet.read_table("x.parquet")["x"].to_pylist(),
}
right = [[1, 2], None, [3, 4]]
refused = {}
for kind in ("int[2]", "int[]"):
    rows = "(values ([1, 2]), (null), ([3, 4])) t(x)"
    duckdb.sql(f"copy (select x::{kind} x from {rows}) to 'x.parquet' (format parquet)")
    entries = pyarrow.parquet.ParquetFile("x.parquet").metadata.row_group(0).column(0).num_values
    print(f"{kind}, {entries} entries for the rows {right}:")
    for name, read in readers.items():
        try:
            rows = [v if v is None else [int(x) for x in v] for v in read()]
            refused[kind, name] = rows != right
            print(f"  {name}: {rows}")
        except pyarrow.ArrowInvalid as error:
            refused[kind, name] = True
            print(f"  {name}: {error}")
if [case for case, no in refused.items() if no] != [("int[2]", "pyarrow")]:
    sys.exit(f"they behave otherwise now: {refused}")
PY
