#!/usr/bin/env bash
# qbmkit 0.12.1: SemiQuantumRBM with hidden_paulis=("Z",) is a classical RBM, but no usual convention of signs reads
# its parameters: among spins that are +1 where a pixel is on, the visible biases have their sign, and of the weights
# and the hidden biases just one has the opposite sign.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q qbmkit==0.12.1 numpy==2.4.6 scipy==1.17.1
"$home/v/bin/python" - <<'PY'
import itertools
import sys

import numpy as np
import qbm

theta = np.random.default_rng(1).normal(size=3 + 2 + 6)
machine = qbm.SemiQuantumRBM(3, 2, ("Z",), theta=theta)
a, b, w = theta[:3], theta[3:5], theta[5:].reshape(3, 2)
spins = 2 * np.array(list(itertools.product((0, 1), repeat=3))) - 1  # the first pixel is the highest bit


def log_p(a, b, w):
    score = spins @ a + np.log(2 * np.cosh(b + spins @ w)).sum(1)
    return score - np.log(np.exp(score).sum())


right = set()
for signs in itertools.product((1, -1), repeat=3):
    off = np.abs(log_p(signs[0] * a, signs[1] * b, signs[2] * w) - np.log(machine.probabilities())).max()
    print("signs of visible biases, hidden biases, weights: %2d %2d %2d: log p differs by up to %.1e nats" % (*signs, off))
    if off < 1e-12:
        right.add(signs)
if right != {(1, 1, -1), (1, -1, 1)}:
    sys.exit("qbmkit behaves otherwise now")
PY
