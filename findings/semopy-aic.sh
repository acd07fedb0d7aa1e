#!/usr/bin/env bash
# semopy 2.3.11: the LogLik of calc_stats is no log-likelihood, but the least value of the objective, which falls as the
# fit improves. AIC and BIC subtract it, so that of two models with the same number of parameters they prefer the worse.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q semopy==2.3.11 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1
"$home/v/bin/python" -W ignore - <<'PY'
import sys

import numpy as np
import pandas as pd
import semopy

rng = np.random.default_rng(0)
left, right = rng.normal(size=(2, 500, 1))
noise = rng.normal(scale=0.6, size=(500, 6))
rows = pd.DataFrame(np.hstack([left, left, left, right, right, right]) + noise, columns=list("abcdef"))


def judged(name, text):
    """Fits two factors, and returns the exact log-likelihood, LogLik and AIC."""
    model = semopy.Model(text)
    model.fit(rows)
    stats = semopy.calc_stats(model).loc["Value"]
    covariance = model.calc_sigma()[0]
    data = (rows - rows.mean())[model.vars["observed"]].to_numpy()
    quadratic = (data @ np.linalg.inv(covariance) * data).sum()
    exact = -0.5 * (len(data) * np.linalg.slogdet(2 * np.pi * covariance)[1] + quadratic)
    print(f"{name}: log-likelihood {exact:.1f}, LogLik {stats['LogLik']:.3f}, AIC {stats['AIC']:.2f}, "
          f"{len(model.param_vals)} parameters, chi² {stats['chi2']:.0f}")
    return exact, stats["LogLik"], stats["AIC"], len(model.param_vals)


good = judged("right factors", "F =~ a + b + c\nG =~ d + e + f")
bad = judged("wrong factors", "F =~ a + b + d\nG =~ c + e + f")
if good[3] != bad[3] or good[0] < bad[0] + 50 or good[2] < bad[2]:
    sys.exit("semopy behaves otherwise now")
PY
