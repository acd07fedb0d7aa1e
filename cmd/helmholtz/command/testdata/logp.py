"""Print log p of rows by the formulas of runs/TENSORS.md. Arguments: FAMILY CHECKPOINT ROWS, and JSON of settings."""

import json
import sys

import numpy as np
import weights

family, checkpoint, rows, settings = sys.argv[1], sys.argv[2], np.loadtxt(sys.argv[3], ndmin=2), json.loads(sys.argv[4])
model, t = weights.read(checkpoint)
t = {name: tensor.astype(float) for name, tensor in t.items()}


def every(n):
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)


def log_sum(a, axis=None):
    return np.logaddexp.reduce(a, axis=axis)


def softplus(a):
    return np.logaddexp(0, a)


def linear():
    c = t["loadings"] @ t["loadings"].T + np.diag(t["noise"])
    x = rows - t["mean"]
    return -(np.linalg.slogdet(2 * np.pi * c)[1] + np.einsum("ri,ij,rj->r", x, np.linalg.inv(c), x)) / 2


def ica():
    density = {
        1: lambda s: -softplus(s) - softplus(-s),
        2: lambda s: -np.log(np.pi * np.cosh(s)),
        3: lambda s: -np.sqrt(2) * abs(s) - np.log(2) / 2,
        4: lambda s: np.log(8 / (3 * np.pi * np.sqrt(5))) - 3 * np.log1p(s * s / 5),
        5: lambda s: np.logaddexp(-(s - 1) ** 2 / 2, -(s + 1) ** 2 / 2) - np.log(2) - np.log(2 * np.pi) / 2,
        6: lambda s: -s**4 / 4 + np.log(2) / 2 - np.log(3.625609908221908),
    }
    x = rows - t["mean"]
    z = x @ t["plane"]
    s = (z / t["spread"]) @ t["turn"].T
    beside = x.shape[1] - z.shape[1]
    log_p = sum(density[int(d)](s[:, k]) for k, d in enumerate(t["densities"])) + np.linalg.slogdet(t["turn"])[1] - np.log(t["spread"]).sum()
    if beside:
        r = x - z @ t["plane"].T
        log_p -= (r**2).sum(1) / (2 * t["noise"][0]) + beside / 2 * np.log(2 * np.pi * t["noise"][0])
    return log_p


def boltzmann():
    b, c, w = t["biases.visible"], t["biases.hidden"], t["weights"]
    if model["visible"] == "bernoulli":
        free = lambda v: v @ b + softplus(c + v @ w).sum(1)
        return free(rows) - log_sum(free(every(len(b))))
    v, variance = (rows - t["data.means"]) / t["data.deviations"], np.exp(t["log_variances"])
    h = every(len(c))
    log_z = log_sum(h @ c + (((b + h @ w.T) ** 2 - b**2) / (2 * variance)).sum(1)) + np.log(2 * np.pi * variance).sum() / 2
    return -((v - b) ** 2 / (2 * variance)).sum(1) + softplus(c + (v / variance) @ w).sum(1) - log_z - np.log(t["data.deviations"]).sum()


def predicted():
    """Conditional machines of real units, with the mean g of v if all hidden units are off, and their inputs c + Wᵀv."""
    v, u = settings["predicted"], settings["given"]
    log_p = []
    for x in (rows - t["mean"]) @ t["scaling"].T:
        g, c = t["visible_biases"], t["hidden_biases"]
        if family == "gated-rbm":
            w = np.einsum("fk,f,fv->vk", t["gates"], t["given_filters"] @ x[u], t["predicted_filters"])
        else:
            g, c, w = g + t["direct_weights"] @ x[u], c + t["weights"][:, u] @ x[u], t["weights"][:, v].T
        h = every(len(c))
        log_z = log_sum(h @ c + (((g + h @ w.T) ** 2).sum(1) - (g**2).sum()) / 2) + len(v) / 2 * np.log(2 * np.pi)
        log_p.append(-((x[v] - g) ** 2).sum() / 2 + softplus(c + x[v] @ w).sum() - log_z + t["log_scaling"][0])
    return np.array(log_p)


def convolutional():
    height, width, pool = settings["height"], settings["width"], settings["pool"]

    def free(v):
        image, sums = v.reshape(-1, height, width), v @ t["visible_biases"]
        for k, window in enumerate(t["weights"]):
            side = len(window)
            places = np.array([[(image[:, y:y + side, x:x + side] * window).sum((1, 2)) for x in range(width - side + 1)] for y in range(height - side + 1)])
            inputs = np.exp(places + t["hidden_biases"][k])
            for y in range(0, len(inputs), pool):
                for x in range(0, inputs.shape[1], pool):
                    sums = sums + np.log1p(inputs[y:y + pool, x:x + pool].sum((0, 1)))
        return sums

    return free(rows) - log_sum(free(every(height * width)))


families = {"ppca": linear, "factor-analysis": linear, "ica": ica, "boltzmann": boltzmann, "conditional-gaussian-rbm": predicted,
            "gated-rbm": predicted, "convolutional-rbm": convolutional}
print(json.dumps(families[family]().tolist()))
