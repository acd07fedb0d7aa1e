#!/usr/bin/env bash
# pyagrum 3.3.1, BNLearner: logLikelihood, mutualInformation and the BIC score are in bits; G2, of the same learner, is
# in nats.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q pyagrum==3.3.1 numpy==2.4.6 pandas==3.1.1
"$home/v/bin/python" - <<'PY'
import sys

import numpy as np
import pandas
import pyagrum

a = np.arange(40) % 5 < 2
b = np.where(np.arange(40) < 30, a, ~a)
learner = pyagrum.BNLearner(pandas.DataFrame({"a": a.astype(int), "b": b.astype(int)}).astype(str))
learner.useNoPrior()
learner.useScoreBIC()


def entropy(*columns):
    """Returns the entropy of the rows in nats."""
    p = np.unique(np.stack(columns), axis=1, return_counts=True)[1] / len(a)
    return -(p * np.log(p)).sum()


nats = {
    "logLikelihood": -40 * entropy(a),
    "mutualInformation": entropy(a) + entropy(b) - entropy(a, b),
    "BIC": -40 * entropy(a) - np.log(40) / 2,
    "G2": 80 * (entropy(a) + entropy(b) - entropy(a, b)),
}
seen = {
    "logLikelihood": learner.logLikelihood(["a"]),
    "mutualInformation": learner.mutualInformation("a", "b"),
    "BIC": learner.score("a"),
    "G2": learner.G2("a", "b")[0],
}
for name in nats:
    print(f"{name}: {seen[name]:.5f}, enumerated {nats[name]:.5f} nats, ratio {seen[name] / nats[name]:.6f}")
for name in nats:
    if abs(seen[name] / nats[name] * (1 if name == "G2" else np.log(2)) - 1) > 1e-6:
        sys.exit(f"{name} of pyagrum behaves otherwise now")
PY
