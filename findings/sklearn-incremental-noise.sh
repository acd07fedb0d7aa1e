#!/usr/bin/env bash
# scikit-learn 1.9.1: IncrementalPCA divides the variance of the noise by the number of batches, as if only the last batch
# had any. Components and their variances agree with PCA, but get_covariance and each log p from it are wrong.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q scikit-learn==1.9.1 numpy==2.4.6 scipy==1.17.1
"$home/v/bin/python" - <<'PY'
import sys

import numpy as np
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA, IncrementalPCA

rng = np.random.default_rng(0)
rows = 2 * rng.normal(size=(1200, 2)) @ rng.normal(size=(2, 8)) + rng.normal(size=(1200, 8))


def judged(name, model):
    """Prints the variances and the mean log p of a fitted model, and returns the variance of its noise."""
    log_p = multivariate_normal(model.mean_, model.get_covariance()).logpdf(rows).mean()
    print(f"{name}: explained variances {model.explained_variance_.round(2)}, noise {model.noise_variance_:.4f}, "
          f"mean log p {log_p:.2f}")
    return model.noise_variance_


right = judged("PCA", PCA(2).fit(rows))
ratios = []
for batches in (1, 2, 4, 12, 60):
    model = IncrementalPCA(2, batch_size=1200 // batches).fit(rows)
    ratios.append(right / judged(f"IncrementalPCA, {batches} batches", model) / batches)
if max(abs(ratio - 1) for ratio in ratios) > 0.1:
    sys.exit("scikit-learn behaves otherwise now")
PY
