#!/usr/bin/env bash
# SciPy 1.17.1: savemat writes the fill value of NumPy for each masked entry, without a word: 1e+20 among floats, 999999
# among integers, 1 among booleans, and reduced to their bits among small integers. numpy.savez writes what was under
# the mask, pyarrow writes nulls.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q scipy==1.17.1 numpy==2.4.6 pyarrow==26.0.1
"$home/v/bin/python" -W error - <<'PY'
import io
import sys

import numpy as np
import pyarrow
from scipy.io import loadmat, savemat

gaps = {
    "float64": np.ma.masked_array([0.5, 2.5], [False, True]),
    "int64": np.ma.masked_array([1, 2], [False, True]),
    "uint8": np.ma.masked_array(np.array([1, 2], np.uint8), [False, True]),
    "bool": np.ma.masked_array([False, False], [False, True]),
}
seen = {}
for name, values in gaps.items():
    file = io.BytesIO()
    savemat(file, {"x": values})
    file.seek(0)
    seen[name] = loadmat(file)["x"].ravel().tolist()
    file = io.BytesIO()
    np.savez(file, x=values)
    file.seek(0)
    print(f"{name} {values}: savemat {seen[name]}, savez {np.load(file)['x'].tolist()}, "
          f"pyarrow {pyarrow.array(values).to_pylist()}")
if seen != {"float64": [0.5, 1e20], "int64": [1, 999999], "uint8": [1, 63], "bool": [0, 1]}:
    sys.exit(f"SciPy behaves otherwise now: {seen}")
PY
