#!/usr/bin/env bash
# SciPy 1.17.1: whether scipy.io.arff.loadarff reads a quoted nominal value behind a space or refuses it depends on the
# first row of the data: it learns there how values are quoted. liac-arff 2.5.0 reads the rows in both orders.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q scipy==1.17.1 numpy==2.4.6 liac-arff==2.5.0
"$home/v/bin/python" - <<'PY'
import io
import sys

import arff
from scipy.io.arff import loadarff

head = "@relation staff\n@attribute age numeric\n@attribute job {nurse, 'head clerk', pilot}\n@attribute score numeric\n@data\n"


def read(rows):
    try:
        return [tuple(row) for row in loadarff(io.StringIO(head + rows))[0]]
    except ValueError as error:
        return f"ValueError: {error}"


quoted, bare = "41.5, 'head clerk', 3\n", "30.5, nurse, 2\n"
first, second = read(quoted + bare), read(bare + quoted)
print("the quoted row first:", first)
print("the quoted row second:", second)
print("liac-arff, the quoted row second:", arff.loads(head + bare + quoted)["data"])
if isinstance(first, str) or not isinstance(second, str):
    sys.exit("SciPy behaves otherwise now")
PY
