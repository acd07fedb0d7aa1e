#!/usr/bin/env bash
# hmmlearn 0.3.3: aic and bic of GMMHMM count the mixing weights of one state only, so that they penalise a mixture in
# more than one state too little. GaussianHMM counts all its parameters, and both count those that params= keeps fixed.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q hmmlearn==0.3.3 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1
"$home/v/bin/python" -W ignore - 2>/dev/null <<'PY'
import sys

import numpy as np
from hmmlearn.hmm import GaussianHMM, GMMHMM

rng = np.random.default_rng(0)
rows = np.vstack([rng.normal(0, 1, (150, 2)), rng.normal(3, 0.5, (100, 2)), rng.normal(0, 1, (50, 2))])


def counted(model):
    """Fits the model, and returns the number of parameters that its AIC counts."""
    model.fit(rows)
    return round(model.aic(rows) / 2 + model.score(rows))


missing = []
for states, components in ((1, 3), (2, 3), (4, 3), (6, 2)):
    means = states * components * 2
    free = states**2 - 1 + states * (components - 1) + 2 * means
    number = counted(GMMHMM(states, components, covariance_type="diag", random_state=1, n_iter=5))
    print(f"GMMHMM of {states} states with {components} components: {number} parameters counted, {free} free")
    missing.append(free - number == (states - 1) * (components - 1))
plain = counted(GaussianHMM(3, "diag", random_state=1, n_iter=5))
fixed = counted(GaussianHMM(3, "diag", random_state=1, n_iter=5, params="m"))
print(f"GaussianHMM of 3 states: {plain} counted, 20 free; with the means alone fitted: {fixed} counted, 6 fitted")
if not all(missing) or (plain, fixed) != (20, 20):
    sys.exit("hmmlearn behaves otherwise now")
PY
