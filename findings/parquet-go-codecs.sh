#!/usr/bin/env bash
# parquet-go 0.32.0 reads all row groups of a column by the codec of the first one: a file whose second part fastparquet
# 2026.9.0 appended with another compression, which pyarrow reads, fails in its second row group.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
cd "$home"
python3 -m venv v
v/bin/pip install -q fastparquet==2026.9.0 pyarrow==26.0.1 pandas==3.1.1
v/bin/python - <<'PY'
import fastparquet
import pandas
import pyarrow.parquet

rows = pandas.DataFrame({"x": [1.5, 2.5, 3.5, 4.5]})
fastparquet.write("two.parquet", rows, compression="UNCOMPRESSED")
fastparquet.write("two.parquet", rows, compression="GZIP", append=True)
print("pyarrow:", pyarrow.parquet.read_table("two.parquet")["x"].to_pylist())
PY
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/parquet-go/parquet-go"
)

func main() {
	rows, err := parquet.ReadFile[struct {
		X *float64 `parquet:"x,optional"`
	}]("two.parquet")
	fmt.Printf("parquet-go: %d rows, error: %v\n", len(rows), err)
	if err == nil {
		fmt.Println("parquet-go behaves otherwise now")
		os.Exit(1)
	}
}
GO
go mod init probe 2>/dev/null
go get github.com/parquet-go/parquet-go@v0.32.0 2>/dev/null
go run .
