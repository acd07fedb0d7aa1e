#!/usr/bin/env bash
# SciPy 1.17.1: scipy.io.arff.loadarff refuses a quoted nominal value if a space stands between the comma and the quote,
# although it reads such a space before numbers and before values without quotes. liac-arff 2.5.0 reads all of them.
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
