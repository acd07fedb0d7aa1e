"""Time training steps in PyTorch, the peer of `helmholtz bench train`.

    torch_peers.py METHOD [--threads N] [--compile] [--units 784,200,…] [--rows B] [--samples S] [--steps N]

METHOD is rws, nrws, vimco or pcd. It prints the median of the steps, "step 7.21 ms", and for nrws also the
time of a refresh of the Fisher blocks. The gradients are written out, layer by layer, since that is faster
than autograd at these sizes. --compile compiles a step by torch.compile.
"""

import argparse
import statistics
import time

import torch
from torch.nn.functional import softplus

RATE, DAMPING = 0.002, 0.2


class Layer:
    def __init__(self, outputs, inputs):
        self.weight = torch.randn(outputs, inputs) * (2 / (outputs + inputs)) ** 0.5
        self.bias = -torch.ones(outputs)
        self.block = None  # products with the inverse Fisher blocks, one block for each unit

    def logits(self, parents):
        return torch.addmm(self.bias, parents, self.weight.t())

    def move(self, gradient):
        """Take a step along the gradient, whose first column is for the bias."""
        if self.block:
            gradient = self.block(gradient)
        self.weight.add_(gradient[:, 1:], alpha=RATE)
        self.bias.add_(gradient[:, 0], alpha=RATE)


def gradient(residuals, parents):
    return torch.cat([residuals.sum(0)[:, None], residuals.t() @ parents], 1)


def inverse(parents, information):
    """Return the products with (Σ information · u uᵀ + α)⁻¹ of each unit, by Woodbury's identity if that is smaller."""
    u = torch.cat([torch.ones(len(parents), 1), parents], 1)
    if len(u) < u.shape[1]:
        inner = torch.linalg.inv(torch.diag_embed(DAMPING / information.t().clamp_min(1e-8)) + u @ u.t())

        def product(g):
            y = torch.bmm(inner, (g @ u.t())[:, :, None])[:, :, 0]
            return (g - y @ u) * ((1 + DAMPING) / DAMPING)
    else:
        fisher = torch.einsum("no,ni,nj->oij", information, u, u)
        fisher.diagonal(dim1=1, dim2=2).add_(DAMPING)
        whole = torch.linalg.inv(fisher) * (1 + DAMPING)

        def product(g):
            return torch.bmm(whole, g[:, :, None])[:, :, 0]
    return product


def log_probability(logits, states):
    return (states * logits - softplus(logits)).sum(1)


def draw(probabilities):
    return (torch.rand_like(probabilities) < probabilities).float()


class Machine:
    """A sigmoid belief net p, its recognition network q and the biases of its top layer."""

    def __init__(self, units):
        self.p = [Layer(a, b) for a, b in zip(units, units[1:])]
        self.q = [Layer(b, a) for a, b in zip(units, units[1:])]
        self.prior = -torch.ones(units[-1])

    def wake(self, x, samples):
        """Draw samples of q, and return their states, log p/q, and the probabilities of all units."""
        states, means_q, means_p, ratios = [x.repeat_interleave(samples, 0)], [], [], 0
        for i, layer in enumerate(self.q):
            # The samples of a row share its logits in the first layer.
            logits = layer.logits(x).repeat_interleave(samples, 0) if i == 0 else layer.logits(states[i])
            means_q.append(torch.sigmoid(logits))
            states.append(draw(means_q[-1]))
            ratios = ratios - log_probability(logits, states[-1])
        ratios = ratios + log_probability(self.prior.expand(len(states[-1]), -1), states[-1])
        for layer, child, parent in zip(self.p, states, states[1:]):
            logits = layer.logits(parent)
            means_p.append(torch.sigmoid(logits))
            ratios = ratios + log_probability(logits, child)
        return states, ratios.view(len(x), samples), means_p, means_q

    def gradients(self, x, samples, vimco):
        """Return the gradients of p, of q and of the prior, and the Fisher blocks' parents and information."""
        n = len(x) * samples
        states, ratios, means_p, means_q = self.wake(x, samples)
        weights = torch.softmax(ratios, 1)
        of_p = of_q = (weights / len(x)).reshape(-1, 1)
        if vimco:  # with geometric means
            means = (ratios.sum(1, keepdim=True) - ratios) / (samples - 1)
            replaced = torch.where(torch.eye(samples, dtype=torch.bool), means.unsqueeze(1), ratios.unsqueeze(1))
            of_q = ((ratios.logsumexp(1, keepdim=True) - replaced.logsumexp(2) - weights) / len(x)).reshape(-1, 1)
        p = [gradient((child - mean) * of_p, parent) for child, mean, parent in zip(states, means_p, states[1:])]
        q = []
        for i, (mean, child) in enumerate(zip(means_q, states[1:])):
            residuals = (child - mean) * of_q
            q.append(gradient(residuals.view(len(x), samples, -1).sum(1), x) if i == 0 else gradient(residuals, states[i]))
        prior = ((states[-1] - torch.sigmoid(self.prior)) * of_p).sum(0)
        if not vimco:
            self.sleep(q, n)
        information = [(parent, mean * (1 - mean) * of_p) for parent, mean in zip(states[1:], means_p)]
        first = means_q[0] * (1 - means_q[0])
        information.append((x, first.view(len(x), samples, -1)[:, 0] / len(x)))
        information += [(parent, mean * (1 - mean) / n) for parent, mean in zip(states[1:], means_q[1:])]
        return p, q, prior, information

    def sleep(self, q, n):
        """Add the gradients on n dreams to those of q."""
        state = draw(torch.sigmoid(self.prior).expand(n, -1))
        for i in reversed(range(len(self.p))):
            parent, state = state, draw(torch.sigmoid(self.p[i].logits(state)))
            q[i] += gradient((parent - torch.sigmoid(self.q[i].logits(state))) / n, state)

    def step(self, x, samples, vimco=False):
        p, q, prior, _ = self.gradients(x, samples, vimco)
        for layer, g in zip(self.p + self.q, p + q):
            layer.move(g)
        self.prior.add_(prior, alpha=RATE)

    def refresh(self, x, samples):
        for layer, (parents, information) in zip(self.p + self.q, self.gradients(x, samples, False)[3]):
            layer.block = inverse(parents, information)


class RBM:
    def __init__(self, visible, hidden, chains):
        self.weights, self.b, self.c = torch.randn(visible, hidden) * 0.01, torch.zeros(visible), torch.zeros(hidden)
        self.v = draw(torch.full((chains, visible), 0.5))

    def step(self, x):
        """Take a step of persistent contrastive divergence with one sweep."""
        up = torch.sigmoid(torch.addmm(self.c, x, self.weights))
        h = draw(torch.sigmoid(torch.addmm(self.c, self.v, self.weights)))
        self.v.copy_(draw(torch.sigmoid(torch.addmm(self.b, h, self.weights.t()))))
        down = torch.sigmoid(torch.addmm(self.c, self.v, self.weights))
        self.weights.add_(x.t() @ up - self.v.t() @ down, alpha=RATE / len(x))
        self.b.add_((x - self.v).sum(0), alpha=RATE / len(x))
        self.c.add_((up - down).sum(0), alpha=RATE / len(x))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=["rws", "nrws", "vimco", "pcd"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--units", default="784,300,200,100,75,50,35,30,25,20,15,10,10")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    torch.set_grad_enabled(False)
    torch.set_num_threads(options.threads)
    units = [int(n) for n in options.units.split(",")]
    x = draw(torch.full((options.rows, units[0]), 0.13))
    if options.method == "pcd":
        machine, arguments = RBM(units[0], units[1], options.rows), (x,)
    else:
        machine, arguments = Machine(units), (x, options.samples, *([True] if options.method == "vimco" else []))
    if options.method == "nrws":
        machine.refresh(x, options.samples)
        begun = time.perf_counter()
        machine.refresh(x, options.samples)
        print(f"refresh {time.perf_counter() - begun:.3f} s")
    step, seconds = torch.compile(machine.step) if options.compile else machine.step, []
    for n in range(options.steps + 10):
        begun = time.perf_counter()
        step(*arguments)
        if n >= 10:
            seconds.append(time.perf_counter() - begun)
    print(f"step {1e3 * statistics.median(seconds):.3f} ms")


if __name__ == "__main__":
    main()
