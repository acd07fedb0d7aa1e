#!/usr/bin/env bash
# duckdb 2.0.1 writes 32-bit integers of a wide range with PARQUET_VERSION V2 as differences of more than 32 bits.
# pyarrow 26.0.1 refuses the file, fastparquet 2026.9.0 reads other numbers without a word, polars 2.1.0 reads it.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q duckdb==2.0.1 pyarrow==26.0.1 fastparquet==2026.9.0 polars==2.1.0 pandas==3.1.1
cd "$home"
"$home/v/bin/python" - <<'PY'
import sys

import duckdb
import fastparquet
import polars
import pyarrow.parquet

wide = [2147483647, -2147483648, 5, -7, 0]
rows = ",".join(f"({v})" for v in wide)
duckdb.sql(f"copy (select x::int x from (values {rows}) t(x)) to 'wide.parquet' (format parquet, parquet_version V2)")


def read(name, reader):
    try:
        values = [int(v) for v in reader()]
        print(f"{name}: {values}")
        return "right" if values == wide else "wrong"
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:80]}")
        return "refused"


print("written:", wide)
seen = {
    "duckdb": read("duckdb", lambda: [v for v, in duckdb.sql("from 'wide.parquet'").fetchall()]),
    "polars": read("polars", lambda: polars.read_parquet("wide.parquet")["x"].to_list()),
    "pyarrow": read("pyarrow", lambda: pyarrow.parquet.read_table("wide.parquet")["x"].to_pylist()),
    "fastparquet": read("fastparquet", lambda: fastparquet.ParquetFile("wide.parquet").to_pandas()["x"].tolist()),
}
if seen != {"duckdb": "right", "polars": "right", "pyarrow": "refused", "fastparquet": "wrong"}:
    sys.exit(f"they behave otherwise now: {seen}")
PY
