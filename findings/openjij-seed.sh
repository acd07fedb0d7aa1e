#!/usr/bin/env bash
# openjij 0.12.2: with a seed, SASampler draws all num_reads from the same random numbers: they are one sample, repeated.
# Without a seed they are independent, and rightly distributed.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q openjij==0.12.2 numpy==2.4.6
"$home/v/bin/python" - <<'PY'
import sys

import numpy as np
import openjij

fields, pairs = {0: 0.3, 1: -0.7, 2: 0.2}, {(0, 1): 0.5, (1, 2): -1.1}


def share(**seed):
    """Draws 4,000 times at the temperature 1, and returns how many different states there are, and p(spin 0 = +1)."""
    drawn = openjij.SASampler().sample_ising(
        fields, pairs, num_reads=4000, beta_min=1.0, beta_max=1.0, num_sweeps=200, **seed)
    rows = np.array([[of.sample[i] for i in range(3)] for of in drawn.data(sorted_by=None)])
    return len(np.unique(rows, axis=0)), (rows[:, 0] == 1).mean()


results = {f"seed {seed}": share(seed=seed) for seed in (1, 2, 3)} | {"no seed": share()}
for name, (states, on) in results.items():
    print(f"{name}: {states} of 8 states among 4,000 reads, p(spin 0 = +1) = {on:.3f} (0.258 is true)")
if {states for name, (states, _) in results.items() if name != "no seed"} != {1} or results["no seed"][0] != 8:
    sys.exit("openjij behaves otherwise now")
PY
