"""Read a trained model of any family, without Go. Draw from a Helmholtz machine and estimate log p of rows.

    weights.py CHECKPOINT --list
    weights.py CHECKPOINT [ROWS] [--samples K] [--draws N] [--seed SEED]

CHECKPOINT is the checkpoint.safetensors of a run, or a model file. --list prints the
tensors of any family; read(CHECKPOINT) returns them as NumPy arrays by their names, which
runs/TENSORS.md explains. The second form needs a Helmholtz machine of dense layers without
labels: Bernoulli or Gaussian units, categorical variables, tanh layers. ROWS is a text file
with one row per line and one number per visible unit: 0 or 1, or the value of a unit of real
numbers. Without ROWS, the rows are N draws x ~ p, whose mean log p is minus the machine's
entropy and says nothing about data. Needs only numpy and safetensors.
"""

import argparse
import json
import os
import sys

import numpy as np
from safetensors import safe_open


def read(path):
    """Return the header of a checkpoint or a model file of any family, and its tensors by name."""
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
        header = json.loads(metadata.get("model") or metadata["helmholtz"])  # the latter in format 1
        return header, {name: file.get_tensor(name) for name in file.keys()}


class Variables:
    """Consecutive units of a layer: independent binary or real units, or one categorical variable of which
    at most one unit is on (rest) or exactly one. States are 0, 1 or real numbers, with one row per sample."""

    def __init__(self, units, kind, rest=False):
        self.units, self.kind, self.rest = units, kind, rest
        self.outputs = 2 * units if kind == "gaussian" else units

    def split(self, a):
        """Return μ and σ of Gaussian units from their outputs."""
        return a[:, :self.units], np.exp(a[:, self.units:]) + 0.01

    def log_probabilities(self, a):
        """Return the log-probability of each category; the last is that of no unit if there is a rest."""
        a = np.hstack([a, np.zeros((len(a), int(self.rest)))])
        return a - np.logaddexp.reduce(a, axis=1, keepdims=True)

    def possible(self, state):
        if self.kind == "gaussian":
            return np.isfinite(state).all()
        on = state.sum(axis=1)
        return np.isin(state, (0, 1)).all() and (self.kind == "bernoulli" or ((on == 1) | (on == 0) & self.rest).all())

    def log_probability(self, a, state):
        """Return the log-probability of each row of states, a density for Gaussian units."""
        if self.kind == "gaussian":
            mean, sd = self.split(a)
            return -(((state - mean) / sd) ** 2 / 2 + np.log(sd * np.sqrt(2 * np.pi))).sum(axis=1)
        if self.kind == "bernoulli":  # −log(1+exp) needs no clipping
            return -np.logaddexp(0, np.where(state == 1, -1, 1) * a).sum(axis=1)
        if self.rest:
            state = np.hstack([state, 1 - state.sum(axis=1, keepdims=True)])
        return (state * self.log_probabilities(a)).sum(axis=1)

    def draw(self, a, random):
        if self.kind == "gaussian":
            mean, sd = self.split(a)
            return random.normal(mean, sd)
        if self.kind == "bernoulli":
            return (random.random(a.shape) < 1 / (1 + np.exp(-a))).astype(float)
        above = np.cumsum(np.exp(self.log_probabilities(a)), axis=1) > random.random((len(a), 1))
        return (np.argmax(above, axis=1)[:, None] == np.arange(self.units)).astype(float)


class Machine:
    """Layers h⁰ = x, h¹ … hᴹ. A state is a list of their arrays, with one row per sample."""

    def __init__(self, path):
        self.header, tensors = read(path)
        if "generative.0" not in tensors or self.header.keys() & {"activation"}:
            sys.exit(f"{path} has no Helmholtz machine: list its tensors with --list")
        units = self.header["units"]
        kinds = (self.header.get("kinds") or []) + ["bernoulli"] * len(units)
        groups = (self.header.get("groups") or []) + [None] * len(units)
        labels = ["a label"] if self.header.get("classes") or any(k == "categorical" and not g for k, g in zip(kinds, groups)) else []
        if other := [key for key in ("convolutions",) if self.header.get(key)] + labels:
            sys.exit(f"{path} has {', '.join(other)}: name a machine of dense layers without labels, or list the tensors with --list")
        self.layers = []
        for n, kind, groups_of in zip(units, kinds, groups):
            if kind == "categorical":
                self.layers.append([Variables(g["units"], "gaussian" if g.get("real") else "categorical", g.get("rest", False)) for g in groups_of])
            else:
                self.layers.append([Variables(n, kind)])
        # Off units of a layer of Bernoulli units count as 0 or −1 for the next layer, by the coding of the machine.
        # Units of groups count as 0 or 1 in either coding, and real numbers as they are.
        self.signed = [kind == "bernoulli" and self.header["coding"] == "pm1" for kind in kinds[:len(units)]]
        top = len(units) - 1
        self.generative = [self.conditional(tensors, f"generative.{i}", i, i + 1) for i in range(top + 1)]
        self.recognition = [self.conditional(tensors, f"recognition.{i}", i, i - 1) for i in range(1, top + 1)]
        if left := sorted(name for name in tensors if name.startswith(("generative.", "recognition.", "classifier"))):
            sys.exit(f"{path} has tensors that this program does not know: {', '.join(left)}")

    def conditional(self, tensors, name, layer, parents):
        """Take the matrices of a conditional out of tensors, from the parents to the units: its tanh layers, then the layer itself.
        Each has one row per output: the bias, and a weight for each input."""
        inputs = self.header["units"][parents] if parents < len(self.layers) else 0
        sizes = self.header.get("tanh") or [] if inputs else []
        matrices = []
        for k, size in enumerate([*sizes, sum(v.outputs for v in self.layers[layer])]):
            key = name if k == len(sizes) else f"{name}.tanh.{k + 1}"
            matrices.append(tensors.pop(key).astype(float))
            if matrices[-1].shape != (size, 1 + inputs):
                sys.exit(f"the shape of {key} is {matrices[-1].shape}, want {(size, 1 + inputs)}")
            inputs = size
        return matrices

    def outputs(self, conditional, parents, layer):
        """Return the outputs of a conditional, given the states of its parents in a layer."""
        z = 2 * parents - 1 if layer < len(self.signed) and self.signed[layer] else parents
        for matrix in conditional[:-1]:
            z = np.tanh(matrix[:, 0] + z @ matrix[:, 1:].T)
        return conditional[-1][:, 0] + z @ conditional[-1][:, 1:].T

    def parts(self, layer, a):
        """Return the variables of a layer, each with its outputs and the slice of its units."""
        outputs = units = 0
        for v in self.layers[layer]:
            yield v, a[:, outputs:outputs + v.outputs], slice(units, units + v.units)
            outputs, units = outputs + v.outputs, units + v.units

    def log_probability(self, layer, a, state):
        return sum(v.log_probability(part, state[:, of]) for v, part, of in self.parts(layer, a))

    def draw(self, layer, a, random):
        return np.hstack([v.draw(part, random) for v, part, _ in self.parts(layer, a)])

    def log_p(self, h):
        """Return log p(x,h) of each row; the top layer has no parents."""
        h = [*h, np.zeros((len(h[0]), 0))]
        return sum(self.log_probability(i, self.outputs(layer, h[i + 1], i + 1), h[i]) for i, layer in enumerate(self.generative))

    def log_q(self, h):
        """Return log q(h|x) of each row."""
        return sum(self.log_probability(i, self.outputs(layer, h[i - 1], i - 1), h[i]) for i, layer in enumerate(self.recognition, 1))

    def dream(self, n, random):
        """Return n draws of all layers from p, from the top down."""
        h = [np.zeros((n, 0))]
        for i, layer in reversed(list(enumerate(self.generative))):
            h.insert(0, self.draw(i, self.outputs(layer, h[0], i + 1), random))
        return h[:-1]

    def infer(self, x, random):
        """Return x with a draw h ~ q(h|x) for each of its rows, from the bottom up."""
        h = [x]
        for i, layer in enumerate(self.recognition, 1):
            h.append(self.draw(i, self.outputs(layer, h[-1], i - 1), random))
        return h

    def possible(self, x):
        """Report whether rows x have the form of the visible units."""
        return x.shape[1] == self.header["units"][0] and all(v.possible(x[:, of]) for v, _, of in self.parts(0, x))

    def estimate(self, x, samples, random):
        """Return log (1/K) Σ p(x,h)/q(h|x) for each row of x, with K samples h ~ q(h|x)."""
        draws = (self.infer(x, random) for _ in range(samples))
        return np.logaddexp.reduce([self.log_p(h) - self.log_q(h) for h in draws]) - np.log(samples)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("checkpoint")
    options.add_argument("rows", nargs="?")
    for name, normal in ("samples", 1000), ("draws", 100), ("seed", 1):
        options.add_argument(f"--{name}", type=int, default=normal)
    options.add_argument("--list", action="store_true")
    given = options.parse_args()
    if os.path.isdir(given.checkpoint):
        options.error(f"{given.checkpoint} is a directory: give {os.path.join(given.checkpoint, 'checkpoint.safetensors')}")
    if given.list:
        for name, tensor in read(given.checkpoint)[1].items():
            print(f"{name}  {'×'.join(map(str, tensor.shape)) or 'a number'}  {tensor.dtype}  {tensor.min():.4g} to {tensor.max():.4g}")
        return
    machine, random = Machine(given.checkpoint), np.random.default_rng(given.seed)
    x = np.loadtxt(given.rows, ndmin=2) if given.rows else machine.dream(given.draws, random)[0]
    if not machine.possible(x):
        sys.exit(f"{given.rows} does not fit, with rows of {x.shape[1]} values: give rows of {machine.header['units'][0]} values, "
                 "0 or 1 for a binary unit, with one unit of each categorical variable on")
    estimates = machine.estimate(x, given.samples, random)
    error = f" ± {estimates.std(ddof=1) / np.sqrt(len(x)):.3f}" if len(x) > 1 else ""
    text = f"{estimates.mean():.3f}{error} nats, of {len(x)} rows with {given.samples} samples each"
    print(f"log p(x) = {text}" if given.rows else f"minus the machine's entropy, by its own draws: {text}")


if __name__ == "__main__":
    main()
