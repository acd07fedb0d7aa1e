#!/usr/bin/env bash
# fastparquet 2026.9.0: reads lists of lists, lists of structures, and the lists of text that polars 2.1.0 writes as
# columns of None, without a word. pyarrow 26.0.1 and duckdb 2.0.1 read them.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q fastparquet==2026.9.0 polars==2.1.0 pyarrow==26.0.1 duckdb==2.0.1 pandas==3.1.1
cd "$home"
"$home/v/bin/python" - 2>/dev/null <<'PY'
import sys

import duckdb
import fastparquet
import polars
import pyarrow.parquet

columns = {
    "pictures of two rows": [[[0, 1], [1, 1]], [[1, 0], [0, 0]]],
    "texts": [["a", "b"], ["c"]],
    "structures": [[{"x": 1}], [{"x": 2}, {"x": 3}]],
    "numbers": [[1, 2], [3]],
}
seen = {}
for name, rows in columns.items():
    polars.DataFrame({"x": rows}).write_parquet("x.parquet")
    arrow = pyarrow.parquet.read_table("x.parquet")["x"].to_pylist()
    duck = [v for v, in duckdb.sql("from 'x.parquet'").fetchall()]
    fast = [v if v is None else [int(x) for x in v] for v in fastparquet.ParquetFile("x.parquet").to_pandas()["x"]]
    print(f"{name}: written {rows}, read by fastparquet {fast}")
    seen[name] = arrow == rows and duck == rows, fast == rows, set(map(str, fast)) == {"None"}
lost = {name: (True, False, True) for name in columns} | {"numbers": (True, True, False)}
if seen != lost:
    sys.exit(f"they behave otherwise now: {seen}")
PY
