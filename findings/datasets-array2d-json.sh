#!/usr/bin/env bash
# datasets 5.2.0: Dataset.to_json of 4 rows with a column of Array2D of 2 × 3 writes 2 rows, and a number in place of each
# array, without a warning. Columns of lists of lists are written as lists, and to_parquet writes both.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q datasets==5.2.0 pyarrow==26.0.1 pandas==3.1.1 numpy==2.4.6
HF_HOME="$home" "$home/v/bin/python" - <<'PY'
import io
import json
import sys

import datasets

datasets.disable_progress_bars()
arrays = [[[6 * r + 3 * y + x for x in range(3)] for y in range(2)] for r in range(4)]


def written(kind):
    features = datasets.Features({"x": kind, "label": datasets.Value("int64")})
    file = io.BytesIO()
    datasets.Dataset.from_dict({"x": arrays, "label": [0, 1, 2, 3]}, features=features).to_json(file)
    return [json.loads(line) for line in file.getvalue().splitlines()]


wanted = [{"x": x, "label": r} for r, x in enumerate(arrays)]
lists = written(datasets.List(datasets.List(datasets.Value("int64"))))
array = written(datasets.Array2D((2, 3), "int64"))
print("4 rows of lists of lists:", lists)
print("4 rows of Array2D:", array)
if lists != wanted or array == wanted:
    sys.exit("datasets behave otherwise now")
PY
