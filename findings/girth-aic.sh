#!/usr/bin/env bash
# girth 0.8.0, twopl_mml: AIC and BIC are both −2 log-likelihood without any penalty. The null model has the same numbers,
# so that the difference, by which a model is judged, is always 0.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q girth==0.8.0 numpy==2.4.6 scipy==1.17.1
"$home/v/bin/python" -W ignore - <<'PY'
import sys

import girth
import numpy as np

rng = np.random.default_rng(0)
slopes, difficulties = np.array([1, 1.5, 0.8, 2, 1.2, 1]), np.array([-1, 0, 0.5, 1, -0.3, 0.2])
ability = rng.normal(size=(800, 1))
answers = (rng.random((800, 6)) < 1 / (1 + np.exp(-slopes * (ability - difficulties)))).astype(int)
points, weights = np.polynomial.hermite_e.hermegauss(61)


def log_likelihood(slopes, difficulties):
    """Integrates over the ability by quadrature."""
    logits = slopes * (points[:, None] - difficulties)
    log_p = answers @ logits.T - np.logaddexp(0, logits).sum(axis=1)
    return np.log(np.exp(log_p) @ (weights / weights.sum())).sum()


fit = girth.twopl_mml(answers.T)
exact = log_likelihood(fit["Discrimination"], fit["Difficulty"])
chance = 800 * sum(p * np.log(p) + (1 - p) * np.log(1 - p) for p in answers.mean(axis=0))
print(f"by quadrature: −2 log-likelihood {-2 * exact:.1f}, AIC {-2 * exact + 24:.1f}, "
      f"BIC {-2 * exact + 12 * np.log(800):.1f}; AIC of independent answers {-2 * chance + 12:.1f}")
for name in ("AIC", "BIC"):
    print(name, {key: round(float(value), 1) for key, value in fit[name].items()})
same = {float(fit[name][key]) for name in ("AIC", "BIC") for key in ("null", "final")}
if len(same) != 1 or abs(same.pop() + 2 * exact) > 1:
    sys.exit("girth behaves otherwise now")
PY
