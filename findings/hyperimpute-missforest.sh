#!/usr/bin/env bash
# hyperimpute 0.1.17 with scikit-learn 1.9.1 and pandas 3.1.1: the imputer missforest fills every gap of a number with
# the column's mean and every gap of a category with the class 0, though another is more frequent, without a word. The
# imputers hyperimpute, ice and EM raise errors; sklearn_missforest imputes.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q hyperimpute==0.1.17 scikit-learn==1.9.1 pandas==3.1.1 numpy==2.4.6 torch==2.15.0
"$home/v/bin/python" -W ignore - 2>/dev/null <<'PY'
import sys

import numpy as np
import pandas as pd
from hyperimpute.plugins.imputers import Imputers

rng = np.random.default_rng(0)
a = rng.normal(size=200)
b = a + rng.normal(scale=0.5, size=200)
rows = pd.DataFrame({"a": a, "b": b, "c": (a + b > 0).astype(float)})
for name in "bc":
    rows.loc[rng.random(200) < 0.3, name] = np.nan
print(f"mean of b {rows.b.mean():.4f}, share of ones in c {rows.c.mean():.2f}")


def imputed(method):
    try:
        filled = Imputers().get(method).fit_transform(rows.copy()).to_numpy(float)
    except Exception as error:
        return type(error).__name__
    return [sorted(set(filled[rows[name].isna(), k].round(4).tolist())) for k, name in ((1, "b"), (2, "c"))]


results = {method: imputed(method) for method in ("missforest", "sklearn_missforest", "hyperimpute", "ice", "EM")}
for method, values in results.items():
    print(method, values if isinstance(values, str) else
          f"fills {len(values[0])} different values into b, {values[1]} into c")
constant = results["missforest"] == [[round(rows.b.mean(), 4)], [0.0]]
raised = [results[method] for method in ("hyperimpute", "ice", "EM")]
if not constant or raised != ["TypeError", "TypeError", "ValueError"] or len(results["sklearn_missforest"][0]) < 9:
    sys.exit("hyperimpute behaves otherwise now")
PY
