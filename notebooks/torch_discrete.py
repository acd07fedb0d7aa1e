"""Compute numbers that the results factors/discrete, deterministic and boltzmann/up-down compare ours with.

    torch_discrete.py gradients CHECKPOINT
    torch_discrete.py training
    torch_discrete.py deterministic
    torch_discrete.py belief

CHECKPOINT is DIR/checkpoint.safetensors. The first reads its parameters, of an autoencoder with linear networks,
which this command draws and hardly moves:

    helmholtz train autoencoder --dataset 3by3 --validation 0 --hidden= --code 6 --latent straight-through --lr 1e-12 --batch 18000 --epochs 1 --out DIR

It prints the length of the exact gradient of the encoder, and for each estimator the length of its bias and the
standard deviation of one draw, both in units of that length. The second trains autoencoders on all 18,000 rows of
3by3, and prints mean log p of their distribution and its standard deviation over ten seeds. The third minimises the
free energy of deterministic Helmholtz machines with one layer of six units by L-BFGS, and prints the lowest of ten
starts, and the mean and the standard deviation over the starts. The fourth maximises log p of belief networks in the same way.
"""

import itertools
import json
import math
import pathlib
import sys

import numpy
import torch
from torch.distributions import Bernoulli, kl_divergence
from torch.distributions.relaxed_bernoulli import LogitRelaxedBernoulli
from torch.nn.functional import logsigmoid, softplus

CODE, SAMPLES, BATCH, EPOCHS, SEEDS = 6, 5, 100, 30, 10
TEMPERATURES = [0.25, 0.5, 1, 2]
RATE = 0.3


def states(n):
    return torch.tensor(list(itertools.product([0, 1], repeat=n)), dtype=torch.float64)


def lines():
    """Return the 18 patterns of equal probability: those of rows once, and those of columns twice."""
    some = [s.tolist() for s in states(3) if 0 < s.sum() < 3]
    rows = [[on for on in s for _ in range(3)] for s in some]
    columns = [s * 3 for s in some]
    return torch.tensor(rows + 2 * columns, dtype=torch.float64)


def log_bernoulli(x, logits):
    return (x * logits - softplus(logits)).sum(-1)


class Networks:
    """Encoders a = x·e + c, decoders b + z·d and priors, of one model or of several in the first dimension."""

    def __init__(self, encoder, c, decoder, b, prior):
        self.parameters = [p.requires_grad_() for p in (encoder, c, decoder, b, prior)]
        self.encoder, self.c, self.decoder, self.b, self.prior = self.parameters

    def logits(self, x):
        return x @ self.encoder + self.c.unsqueeze(-2)

    def outputs(self, z):
        return z @ self.decoder + self.b.unsqueeze(-2)

    def joint(self, x):
        """Return log p(x,z) of the rows x and all states z."""
        z = states(CODE).to(x)
        outputs = self.outputs(z)
        return x @ outputs.transpose(-1, -2) - softplus(outputs).sum(-1).unsqueeze(-2) + log_bernoulli(z, self.prior.unsqueeze(-2)).unsqueeze(-2)

    def log_p(self, x):
        return self.joint(x).logsumexp(-1)


def bound(net, x, a, temperature):
    """Return a bound for each row of logits a, by one draw, whose derivative is the estimator's."""
    prior = net.prior.unsqueeze(-2)
    if temperature is None:
        q = torch.sigmoid(a)
        z = (torch.bernoulli(q) - q).detach() + q
        return log_bernoulli(x, net.outputs(z)) - kl_divergence(Bernoulli(logits=a), Bernoulli(logits=prior.expand_as(a))).sum(-1)
    t = torch.tensor(temperature, dtype=a.dtype)
    q = LogitRelaxedBernoulli(t, logits=a)
    y = q.rsample()
    return log_bernoulli(x, net.outputs(torch.sigmoid(y))) + (LogitRelaxedBernoulli(t, logits=prior.expand_as(a)).log_prob(y) - q.log_prob(y)).sum(-1)


def tensors(path):
    """Return the tensors of a safetensors file."""
    data = pathlib.Path(path).read_bytes()
    n = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + n]), data[8 + n:]
    return {name: torch.tensor(numpy.frombuffer(body[slice(*of["data_offsets"])], numpy.float32).reshape(of["shape"]), dtype=torch.float64)
            for name, of in header.items() if name != "__metadata__"}


def gradients(path):
    of = tensors(path)
    net = Networks(*(of[name] for name in ("encoder.0.weights", "encoder.0.biases", "decoder.0.weights", "decoder.0.biases", "prior")))
    x, z = lines(), states(CODE)
    inputs = torch.cat([x, torch.ones(len(x), 1)], 1)  # of the encoder's weights and biases

    a = net.logits(x).detach().requires_grad_()
    log_q = log_bernoulli(z, a.unsqueeze(1))
    signal = net.joint(x) - log_q
    exact, = torch.autograd.grad((log_q.exp() * signal).sum(), a)
    length = (inputs.T @ exact / len(x)).norm()
    print(f"exact {length:.6f}")

    def report(name, mean, squares, draws):
        """mean and squares are of the gradient with respect to the logits, by rows and of |gradient|²."""
        noise = ((squares - (mean ** 2).sum(-1)) * (inputs ** 2).sum(1)).mean()  # of one draw of each of as many rows, times their number
        bias = (inputs.T @ (mean - exact) / len(x)).norm() ** 2 - (noise / draws if draws else 0)
        print(f"{name} bias {bias.clamp(min=0).sqrt() / length:.4f} deviation {noise.sqrt() / length:.4f}")

    q, f, size = log_q.exp().detach(), signal.detach(), ((z - torch.sigmoid(a).detach().unsqueeze(1)) ** 2).sum(-1)
    best = (q * f * size).sum(1, keepdim=True) / (q * size).sum(1, keepdim=True)
    report("score function", exact, (q * (f - best) ** 2 * size).sum(1), 0)
    for name, temperature in [("straight-through", None)] + [(f"gumbel-softmax {t}", t) for t in TEMPERATURES]:
        torch.manual_seed(1)
        total, squares, rounds, draws = 0, 0, 100, 10000
        for _ in range(rounds):
            logits = a.detach().repeat_interleave(draws, 0).requires_grad_()
            g, = torch.autograd.grad(bound(net, x.repeat_interleave(draws, 0), logits, temperature).sum(), logits)
            total, squares = total + g.view(len(x), draws, -1).mean(1) / rounds, squares + (g ** 2).sum(1).view(len(x), draws).mean(1) / rounds
        report(name, total, squares, len(x) * rounds * draws)


def train(temperature):
    """Return log p after training, by seed; the seeds are trained side by side."""
    torch.manual_seed(1)
    patterns = lines().float()
    rows, mean = patterns.repeat(1000, 1), patterns.mean(0)
    deviation = (2 / (9 + CODE)) ** 0.5
    net = Networks(deviation * torch.randn(SEEDS, 9, CODE), torch.zeros(SEEDS, CODE), deviation * torch.randn(SEEDS, CODE, 9),
                   torch.log(mean / (1 - mean)).repeat(SEEDS, 1), torch.zeros(SEEDS, CODE))
    adam = torch.optim.Adam(net.parameters, lr=RATE)
    for _ in range(EPOCHS):
        order = torch.stack([torch.randperm(len(rows)) for _ in range(SEEDS)])
        for i in range(0, len(rows), BATCH):
            x = rows[order[:, i:i + BATCH]].repeat_interleave(SAMPLES, 1)
            adam.zero_grad()
            (-bound(net, x, net.logits(x), temperature).mean(1).sum()).backward()
            adam.step()
    return net.log_p(patterns).mean(-1).detach()


def training():
    for name, temperature in ("straight-through", None), ("gumbel-softmax 0.5", 0.5):
        log_p = train(temperature)
        print(f"{name} log p {log_p.mean():.4f} sd {log_p.std():.4f}", flush=True)


def minima(form, starts=10, units=6):
    """Return the free energies, and the means of −log p, that L-BFGS reaches, in rising order of the former."""
    from scipy.optimize import minimize

    x, z = lines(), states(units)
    shapes = [(9, units), (units,), (units, 9), (9,), (units,)]
    sizes = [math.prod(s) for s in shapes]

    def log_probabilities(q, w, b):
        """Return log p and log(1 − p) of units whose parents have the activities q."""
        if form == "logistic":
            a = q @ w + b
            return logsigmoid(a), logsigmoid(-a)
        off = -softplus(b) + torch.log(1 - q.unsqueeze(-1) * torch.sigmoid(w)).sum(-2)
        on = torch.log(-torch.expm1(off))
        if form == "printed-product":
            odds = b.exp() + q @ w.exp()
            return on + torch.log(odds / (1 + odds)), torch.log((1 + odds * off.exp()) / (1 + odds))
        return on, off

    def networks(flat):
        return [part.view(shape) for part, shape in zip(flat.split(sizes), shapes)]

    def free_energy(flat):
        r, c, w, b, top = networks(flat)
        a = x @ r + c
        q = torch.sigmoid(a)
        on, off = log_probabilities(q, w, b)
        above, below = log_probabilities(torch.zeros(1, 0), torch.zeros(0, units), top)
        divergence = q * (logsigmoid(a) - above) + (1 - q) * (logsigmoid(-a) - below)
        return (divergence.sum(1) - (x * on + (1 - x) * off).sum(1)).mean()

    def negative_log_p(flat):
        _, _, w, b, top = networks(torch.as_tensor(flat))
        on, off = log_probabilities(z, w, b)
        above, below = log_probabilities(torch.zeros(1, 0), torch.zeros(0, units), top)
        return -(x @ on.T + (1 - x) @ off.T + (z @ above.T + (1 - z) @ below.T).T).logsumexp(1).mean().item()

    def value(flat):
        flat = torch.tensor(flat, requires_grad=True)
        f = free_energy(flat)
        f.backward()
        return f.item(), flat.grad.numpy()

    random, found = numpy.random.default_rng(1), []
    for _ in range(starts):
        deviation = (2 / (9 + units)) ** 0.5
        odds = form != "logistic"
        start = numpy.concatenate([
            deviation * random.standard_normal(sizes[0]), numpy.zeros(sizes[1]),
            deviation * random.standard_normal(sizes[2]) - odds * math.log(units), numpy.full(sizes[3], -1.0 * odds), numpy.full(sizes[4], -1.0 * odds)])
        of = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(-15, 15)] * len(start), options={"maxiter": 3000, "maxfun": 4000, "ftol": 1e-12, "gtol": 1e-6})
        found.append((of.fun, negative_log_p(of.x)))
    return sorted(found)


def deterministic():
    torch.set_default_dtype(torch.float64)
    for form in ("logistic", "printed-product"):
        f, log_p = numpy.array(minima(form)).T
        print(f"{form} lowest {f[0]:.4f} mean {f.mean():.4f} sd {f.std(ddof=1):.4f}; -log p mean {log_p.mean():.4f} sd {log_p.std(ddof=1):.4f}", flush=True)
        print(f.round(4))


def belief(starts=10, lower=12, upper=6):
    """Print the highest mean log p that L-BFGS reaches for a belief network: an RBM above one directed layer."""
    from scipy.optimize import minimize

    torch.set_default_dtype(torch.float64)
    x, h = lines(), states(lower)
    sizes = [lower * 9, 9, lower * upper, lower, upper]

    def value(flat):
        flat = torch.tensor(flat, requires_grad=True)
        w, b, top, a, c = flat.split(sizes)
        outputs = h @ w.view(lower, 9) + b
        prior = h @ a + softplus(h @ top.view(lower, upper) + c).sum(1)
        log_p = (x @ outputs.T - softplus(outputs).sum(1) + prior).logsumexp(1) - prior.logsumexp(0)
        loss = -log_p.mean()
        loss.backward()
        return loss.item(), flat.grad.numpy()

    random = numpy.random.default_rng(1)
    print("belief", sorted(round(-minimize(value, random.standard_normal(sum(sizes)), jac=True, method="L-BFGS-B", bounds=[(-15, 15)] * sum(sizes),
                                           options={"maxiter": 1000}).fun, 4) for _ in range(starts))[::-1])


def main():
    torch.set_num_threads(1)
    if sys.argv[1] == "gradients":
        gradients(sys.argv[2])
    else:
        {"training": training, "deterministic": deterministic, "belief": belief}[sys.argv[1]]()


if __name__ == "__main__":
    main()
