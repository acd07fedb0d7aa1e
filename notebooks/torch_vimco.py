"""Time VIMCO steps of a sigmoid belief net of 784-200-200-200 units in PyTorch.

    torch_vimco.py THREADS

It prints "VIMCO step 7.21 ms": the median of 200 steps on 32 rows with 10 samples each. The gradient is
written out, layer by layer, since that is faster than autograd at this size.
"""

import statistics
import sys
import time

import torch
from torch.nn.functional import softplus

UNITS = [784, 200, 200, 200]
ROWS, SAMPLES, RATE = 32, 10, 0.002


class Layer:
    def __init__(self, outputs, inputs):
        self.weight = torch.randn(outputs, inputs) * (2 / (outputs + inputs)) ** 0.5
        self.bias = -torch.ones(outputs)

    def logits(self, parents):
        return torch.addmm(self.bias, parents, self.weight.t())

    def move(self, residuals, parents):
        self.weight.addmm_(residuals.t(), parents, alpha=RATE)
        self.bias.add_(residuals.sum(0), alpha=RATE)


def log_probability(logits, states):
    return (states * logits - softplus(logits)).sum(1)


def step(x, p, q, prior):
    """Move p and q along the gradient of log (1/S) Σ ω by VIMCO with geometric means."""
    depth = len(q)
    states, log_q, residuals_q = [x.repeat_interleave(SAMPLES, 0)], 0, []
    for i, layer in enumerate(q):
        # The samples of a row share its logits in the first layer.
        logits = layer.logits(x).repeat_interleave(SAMPLES, 0) if i == 0 else layer.logits(states[i])
        probabilities = torch.sigmoid(logits)
        drawn = (torch.rand_like(probabilities) < probabilities).float()
        log_q = log_q + log_probability(logits, drawn)
        residuals_q.append(drawn - probabilities)
        states.append(drawn)
    log_p = log_probability(prior.expand(len(states[depth]), -1), states[depth])
    residuals_p = []
    for i, layer in enumerate(p):
        logits = layer.logits(states[i + 1])
        log_p = log_p + log_probability(logits, states[i])
        residuals_p.append(states[i] - torch.sigmoid(logits))

    ratios = (log_p - log_q).view(ROWS, SAMPLES)
    weights = torch.softmax(ratios, 1)
    bound = ratios.logsumexp(1, keepdim=True)
    means = (ratios.sum(1, keepdim=True) - ratios) / (SAMPLES - 1)
    replaced = torch.where(torch.eye(SAMPLES, dtype=torch.bool), means.unsqueeze(1), ratios.unsqueeze(1))
    of_p = (weights / ROWS).reshape(-1, 1)
    of_q = ((bound - replaced.logsumexp(2) - weights) / ROWS).reshape(-1, 1)

    for i in range(depth):
        p[i].move(residuals_p[i] * of_p, states[i + 1])
        weighted = residuals_q[i] * of_q
        if i == 0:
            q[i].move(weighted.view(ROWS, SAMPLES, -1).sum(1), x)
        else:
            q[i].move(weighted, states[i])
    prior.add_(((states[depth] - torch.sigmoid(prior)) * of_p).sum(0), alpha=RATE)


def main():
    torch.set_grad_enabled(False)
    torch.set_num_threads(int(sys.argv[1]))
    p = [Layer(UNITS[i], UNITS[i + 1]) for i in range(len(UNITS) - 1)]
    q = [Layer(UNITS[i + 1], UNITS[i]) for i in range(len(UNITS) - 1)]
    prior, x = -torch.ones(UNITS[-1]), (torch.rand(ROWS, UNITS[0]) < 0.13).float()
    seconds = []
    for n in range(220):
        begun = time.perf_counter()
        step(x, p, q, prior)
        if n >= 20:
            seconds.append(time.perf_counter() - begun)
    print(f"VIMCO step {1e3 * statistics.median(seconds):.3f} ms")


if __name__ == "__main__":
    main()
