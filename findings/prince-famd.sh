#!/usr/bin/env bash
# prince 0.23.0: FAMD.row_coordinates centres and scales categories by their shares among the rows of the call, not of
# the rows that it was fitted to: coordinates of a row depend on its company, and a row alone loses its categories.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q prince==0.23.0 scikit-learn==1.9.1 pandas==3.1.1 numpy==2.4.6
"$home/v/bin/python" -W ignore - <<'PY'
import sys

import numpy as np
import pandas as pd
import prince

rng = np.random.default_rng(0)
rows = pd.DataFrame({"colour": rng.choice(["red", "green", "blue"], 60), "size": rng.normal(size=60)})
famd = prince.FAMD(n_components=2, random_state=0).fit(rows)
mca = prince.MCA(n_components=2, random_state=0).fit(rows.assign(size=np.where(rows["size"] > 0, "large", "small")))


def coordinates(model, table, count):
    return model.row_coordinates(table.head(count)).to_numpy()[0]


off = {}
for count in (60, 10, 2, 1):
    off[count] = np.abs(coordinates(famd, rows, count) - coordinates(famd, rows, 60)).max()
    print(f"FAMD, the first row among {count} rows: {coordinates(famd, rows, count).round(3)}")
one = rows.head(1)
other = one.assign(colour="red" if one["colour"][0] != "red" else "blue")
ignored = np.array_equal(famd.row_coordinates(one), famd.row_coordinates(other))
print("FAMD, a row alone: another colour changes nothing:", ignored)
table = rows.assign(size=np.where(rows["size"] > 0, "large", "small"))
steady = np.abs(coordinates(mca, table, 1) - coordinates(mca, table, 60)).max()
print(f"MCA, the same row alone and among 60 rows differs by {steady:.0e}")
if min(off[10], off[2], off[1]) < 0.01 or not ignored or steady > 1e-9:
    sys.exit("prince behaves otherwise now")
PY
