#!/usr/bin/env bash
# dwave-samplers 1.8.0: SimulatedAnnealingSampler visits the spins in a fixed order, and always flips a spin whose flip
# costs nothing. Three spins that attract each other, without fields, then cycle for ever through two states that are
# not the lowest, at each temperature and after any number of sweeps. Gibbs acceptance or a random order cure it.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q dwave-samplers==1.8.0 dimod==0.12.23 numpy==2.4.6
"$home/v/bin/python" - <<'PY'
import itertools
import sys

import dimod
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler

triangle = dimod.BinaryQuadraticModel.from_ising({}, {(0, 1): -0.5, (1, 2): -0.5, (0, 2): -0.5})
states = np.array(list(itertools.product((-1, 1), repeat=3)))
lowest = np.abs(states.sum(axis=1)) == 3
p = np.exp(0.5 * (states.sum(axis=1) ** 2 - 3) / 2)
true = (p / p.sum())[lowest].sum()


def share(**settings):
    """Returns the share of 4,000 reads that end in one of the two lowest states."""
    drawn = SimulatedAnnealingSampler().sample(triangle, num_reads=4000, seed=5, **settings)
    rows = drawn.record.sample
    return (np.abs(rows.sum(axis=1)) == 3).mean()


at_one = dict(beta_range=[1, 1], beta_schedule_type="linear")
found = {}
for sweeps in (10, 100, 1000):
    found[f"at temperature 1, {sweeps} sweeps"] = share(num_sweeps=sweeps, **at_one), true
    found[f"annealed, {sweeps} sweeps"] = share(num_sweeps=sweeps), 1
cured = {
    "at temperature 1, Gibbs": (share(num_sweeps=100, proposal_acceptance_criteria="Gibbs", **at_one), true),
    "at temperature 1, random order": (share(num_sweeps=100, randomize_order=True, **at_one), true),
}
for name, (value, right) in (found | cured).items():
    print(f"{name}: share in the lowest states {value:.3f} ({right:.3f} is true)")
if min(right - value for value, right in found.values()) < 0.1 or max(abs(v - r) for v, r in cured.values()) > 0.05:
    sys.exit("dwave-samplers behaves otherwise now")
PY
