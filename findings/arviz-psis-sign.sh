#!/usr/bin/env bash
# arviz-stats 0.8.0: array_stats.psislw, whose documentation names its argument "ary" only, takes log-likelihoods, the
# negative of log importance weights: given log weights, it smooths the wrong tail, returns the reciprocal weights, and
# judges them.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q arviz-stats==0.8.0 numpy==2.4.6 scipy==1.17.1
"$home/v/bin/python" - <<'PY'
import sys

import numpy as np
from arviz_stats.base import array_stats

rng = np.random.default_rng(1)
draws = rng.normal(scale=0.5, size=10_000)  # of a narrow q, for a normal p
log_weights = -0.5 * draws**2 + 0.5 * (draws / 0.5) ** 2 + np.log(0.5)  # large where q is small


def judged(log_ratios):
    smoothed, k = array_stats.psislw(log_ratios)
    return float(np.corrcoef(smoothed, log_weights)[0, 1]), float(k), float((np.exp(smoothed) * draws**2).sum())


for name, sign in (("log weights", 1), ("their negative", -1)):
    correlation, k, square = judged(sign * log_weights)
    print(f"given {name}: correlation with log weights {correlation:+.2f}, k {k:.2f}, E x² {square:.2f} (1 is true)")
if judged(log_weights)[0] > -0.9 or judged(-log_weights)[0] < 0.9:
    sys.exit("arviz-stats behaves otherwise now")
PY
