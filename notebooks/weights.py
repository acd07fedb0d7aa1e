"""Read a trained model of any family, without Go. Draw from a Helmholtz machine and estimate its log p(x).

    weights.py CHECKPOINT --list
    weights.py CHECKPOINT [ROWS] [--samples K] [--draws N] [--seed SEED]

CHECKPOINT is the checkpoint.safetensors of a run, or a model file. --list prints the
tensors of any family; read(CHECKPOINT) returns them as NumPy arrays by their names, which
runs/FORMAT.md explains. The second form needs a Helmholtz machine of dense layers of
Bernoulli units. ROWS is a text file of 0 and 1 with one row per line; without it, the rows
are N draws x ~ p. Needs only numpy and safetensors.
"""

import argparse
import json
import sys

import numpy as np
from safetensors import safe_open


def read(path):
    """Return the header of a checkpoint or a model file of any family, and its tensors by name."""
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        header = json.loads(metadata.get("model") or metadata["helmholtz"])  # the latter in format 1
        return header, {name: file.get_tensor(name) for name in file.keys()}


class Machine:
    """Layers h⁰ = x, h¹ … hᴹ. A state is a list of their arrays of 0 and 1, with one row per sample."""

    def __init__(self, path):
        self.header, tensors = read(path)
        if "generative.0" not in tensors:
            sys.exit(f"{path} has no Helmholtz machine: list its tensors with --list")
        if other := {"kinds", "convolutions", "classes", "groups"} & self.header.keys():
            sys.exit(f"{path} has {', '.join(other)}: name a machine of dense Bernoulli layers, or list the tensors with --list")
        top = len(self.header["units"]) - 1
        # Each has one row per unit: the bias, and a weight for each unit of the parent layer.
        self.generative = [tensors[f"generative.{i}"].astype(float) for i in range(top + 1)]
        self.recognition = [tensors[f"recognition.{i}"].astype(float) for i in range(1, top + 1)]

    def logits(self, layer, parents):
        """Return a in P(on) = σ(a). Parents that are off count as 0 or −1, by the coding of the machine."""
        values = parents if self.header["coding"] == "01" else 2 * parents - 1
        return layer[:, 0] + values @ layer[:, 1:].T

    def log_probability(self, layers, states, parents):
        """Return the log-probability of each row of states given its parents. Logits make clipping unnecessary."""
        return sum(-np.logaddexp(0, np.where(on == 1, -1, 1) * self.logits(layer, given)).sum(axis=1)
                   for layer, on, given in zip(layers, states, parents))

    def log_p(self, h):
        """Return log p(x,h) of each row; the top layer has no parents."""
        return self.log_probability(self.generative, h, h[1:] + [np.zeros((len(h[0]), 0))])

    def log_q(self, h):
        """Return log q(h|x) of each row."""
        return self.log_probability(self.recognition, h[1:], h)

    def dream(self, n, random):
        """Return n draws of all layers from p, from the top down."""
        h = [np.zeros((n, 0))]
        for layer in reversed(self.generative):
            h.insert(0, draw(self.logits(layer, h[0]), random))
        return h[:-1]

    def infer(self, x, random):
        """Return x with a draw h ~ q(h|x) for each of its rows, from the bottom up."""
        h = [x]
        for layer in self.recognition:
            h.append(draw(self.logits(layer, h[-1]), random))
        return h

    def estimate(self, x, samples, random):
        """Return log (1/K) Σ p(x,h)/q(h|x) for each row of x, with K samples h ~ q(h|x)."""
        draws = (self.infer(x, random) for _ in range(samples))
        return np.logaddexp.reduce([self.log_p(h) - self.log_q(h) for h in draws]) - np.log(samples)


def draw(logits, random):
    return (random.random(logits.shape) < 1 / (1 + np.exp(-logits))).astype(float)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkpoint")
    options.add_argument("rows", nargs="?")
    for name, normal in ("samples", 1000), ("draws", 100), ("seed", 1):
        options.add_argument(f"--{name}", type=int, default=normal)
    options.add_argument("--list", action="store_true")
    given = options.parse_args()
    if given.list:
        for name, tensor in read(given.checkpoint)[1].items():
            print(f"{name}  {'×'.join(map(str, tensor.shape)) or 'a number'}  {tensor.dtype}  {tensor.min():.4g} to {tensor.max():.4g}")
        return
    machine, random = Machine(given.checkpoint), np.random.default_rng(given.seed)
    x = np.loadtxt(given.rows, ndmin=2) if given.rows else machine.dream(given.draws, random)[0]
    if x.shape[1] != machine.header["units"][0] or not np.isin(x, (0, 1)).all():
        sys.exit(f"{given.rows} has rows of {x.shape[1]} values: give rows of {machine.header['units'][0]} values 0 or 1")
    estimates = machine.estimate(x, given.samples, random)
    error = estimates.std(ddof=1) / np.sqrt(len(x))
    print(f"log p(x) = {estimates.mean():.3f} ± {error:.3f} nats, of {len(x)} rows with {given.samples} samples each")


if __name__ == "__main__":
    main()
