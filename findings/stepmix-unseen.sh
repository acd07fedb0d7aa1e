#!/usr/bin/env bash
# stepmix 3.0.0, measurement="categorical": a category above the largest one of the fit gets the probability of the first
# category of the next variable, in score and in predict_proba. Only the last variable raises an error.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q stepmix==3.0.0 numpy==2.4.6 scipy==1.17.1 scikit-learn==1.9.1 pandas==3.1.1
"$home/v/bin/python" - <<'PY'
import sys

import numpy as np
from stepmix import StepMix

rows = np.random.default_rng(1).integers(0, 3, size=(100, 2))
model = StepMix(n_components=2, measurement="categorical", random_state=1, verbose=0, progress_bar=0).fit(rows)
parameters = model.get_parameters()
weights, probabilities = parameters["weights"], parameters["measurement"]["pis"]  # variable 1 has columns 0 to 2


def enumerated(first, second):
    """Returns log p from the columns of two categories."""
    return np.log((weights * probabilities[:, first] * probabilities[:, second]).sum())


seen, unseen = model.score(np.array([[2, 1]])), model.score(np.array([[3, 1]]))
print(f"categories 2 and 1: score {seen:.6f}, enumerated {enumerated(2, 3 + 1):.6f}")
print(f"categories 3 and 1: score {unseen:.6f}; were 3 the first category of the next variable: {enumerated(3, 3 + 1):.6f}")
try:
    model.score(np.array([[1, 3]]))
    last = "no error"
except IndexError as error:
    last = f"IndexError: {error}"
print(f"categories 1 and 3: {last}")
if abs(unseen - enumerated(3, 4)) > 1e-9 or abs(seen - enumerated(2, 4)) > 1e-9 or last == "no error":
    sys.exit("stepmix behaves otherwise now")
PY
