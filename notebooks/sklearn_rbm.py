"""Train a scikit-learn RBM for a test of helmholtz import.

    sklearn_rbm.py boltzmann/testdata/sklearn.npz

The archive has the parameters of a BernoulliRBM of 9 visible and 5 hidden units as scikit-learn names them,
and, for all 512 rows v (unit i of a row is bit i of its number), log p by enumeration and the free energy
that scikit-learn itself computes. Needs only scikit-learn.
"""

import sys

import numpy as np
from scipy.special import logsumexp
from sklearn.neural_network import BernoulliRBM


def every(n):
    """Return all states of n units, one per row."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


def main():
    lines = np.zeros((6, 3, 3))
    for k in range(3):
        lines[k, k], lines[3 + k, :, k] = 1, 1
    rbm = BernoulliRBM(n_components=5, learning_rate=0.1, batch_size=6, n_iter=2000, random_state=1).fit(lines.reshape(6, 9))
    v, h = every(9), every(5)
    b, c, w = rbm.intercept_visible_, rbm.intercept_hidden_, rbm.components_.T
    joint = (v @ b)[:, None] + (h @ c)[None] + v @ w @ h.T  # -E(v,h)
    np.savez(sys.argv[1], components_=rbm.components_, intercept_visible_=b, intercept_hidden_=c,
             log_p=logsumexp(joint, axis=1) - logsumexp(joint), free_energy=rbm._free_energy(v))


if __name__ == "__main__":
    main()
