#!/usr/bin/env bash
# numpyro 0.22.0: diagnostics.effective_sample_size of chains whose neighbours have a correlation of −0.95 is negative,
# for each of four seeds. It is right up to a correlation of −0.5.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q numpyro==0.22.0 jax==0.10.2 numpy==2.4.6
JAX_PLATFORMS=cpu "$home/v/bin/python" - <<'PY'
import sys

import numpy as np
from numpyro.diagnostics import effective_sample_size


def chains(correlation, seed):
    """Returns four autoregressive chains of 2,000 values with this correlation between neighbours."""
    x = np.random.default_rng(seed).normal(size=(4, 2000))
    for t in range(1, 2000):
        x[:, t] = correlation * x[:, t - 1] + np.sqrt(1 - correlation**2) * x[:, t]
    return x


least = {}
for correlation in (0.5, 0.0, -0.5, -0.95):
    sizes = [round(float(effective_sample_size(chains(correlation, seed)))) for seed in range(4)]
    true = 8000 * (1 - correlation) / (1 + correlation)
    print(f"correlation {correlation}: true {true:.0f}, seeds 0 to 3 {sizes}")
    least[correlation] = min(sizes)
if least[-0.95] > 0 or min(least[0.5], least[0.0], least[-0.5]) <= 0:
    sys.exit("numpyro behaves otherwise now")
PY
