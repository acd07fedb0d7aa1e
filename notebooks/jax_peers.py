"""Time training steps in JAX, the peer of `helmholtz bench train`.

    jax_peers.py METHOD [--units 784,200,…] [--rows B] [--samples S] [--steps N]
    jax_peers.py rnn-rbm | temporal-belief [--width 88] [--frames 61] [--steps N]

METHOD is rws. It prints the median of five calls of N steps each, jitted as one scan: "step 7.21 ms". The
sequences have one length, so that no step computes padding. rnn-rbm has 150 hidden and 100 recurrent units and
15 sweeps of contrastive divergence, temporal-belief 100 hidden units and ten particles, with lag 2: the usual
settings of helmholtz, with Adam and ten sequences in a minibatch.
"""

import argparse
import functools
import statistics
import time

import jax
import jax.numpy as jnp
from jax.nn import log_sigmoid, sigmoid, softplus

RATE = 0.002
HIDDEN, RECURRENT, SWEEPS = 150, 100, 15
STATES, PARTICLES, LAG = 100, 10, 2
SEQUENCES = 10


def draw(key, probabilities):
    return (jax.random.uniform(key, probabilities.shape) < probabilities).astype(jnp.float32)


def log_probability(logits, states):
    return (states * logits - softplus(logits)).sum(-1)


def normal(key, *shape):
    return jax.random.normal(key, shape) * (2 / sum(shape)) ** 0.5


# Reweighted wake-sleep. Each network is a list of layers, and each layer a pair of weights and biases.


def machine(units, key):
    keys = iter(jax.random.split(key, 2 * len(units)))
    layer = lambda outputs, inputs: (normal(next(keys), outputs, inputs), -jnp.ones(outputs))
    pairs = list(zip(units, units[1:]))
    return [layer(a, b) for a, b in pairs], [layer(b, a) for a, b in pairs], -jnp.ones(units[-1])


def logits(layer, parents):
    return parents @ layer[0].T + layer[1]


def rws(parameters, x, key, samples):
    """Return the parameters after a step of RWS with a wake phase of p and q, and a sleep phase of q."""
    p, q, prior = parameters
    keys = iter(jax.random.split(key, 2 * len(p) + 1))
    states, means_q, means_p, ratios = [jnp.repeat(x, samples, 0)], [], [], 0
    for i, layer in enumerate(q):
        a = jnp.repeat(logits(layer, x), samples, 0) if i == 0 else logits(layer, states[i])
        means_q.append(sigmoid(a))
        states.append(draw(next(keys), means_q[-1]))
        ratios -= log_probability(a, states[-1])
    ratios += log_probability(prior, states[-1])
    for layer, child, parent in zip(p, states, states[1:]):
        a = logits(layer, parent)
        means_p.append(sigmoid(a))
        ratios += log_probability(a, child)
    weights = (jax.nn.softmax(ratios.reshape(-1, samples), 1) / len(x)).reshape(-1, 1)

    moved_p, moved_q = [], [None] * len(q)
    for (w, b), child, mean, parent in zip(p, states, means_p, states[1:]):
        residuals = (child - mean) * weights
        moved_p.append((w + RATE * residuals.T @ parent, b + RATE * residuals.sum(0)))
    dream = draw(next(keys), jnp.broadcast_to(sigmoid(prior), states[-1].shape))
    for i in reversed(range(len(q))):
        parent, dream = dream, draw(next(keys), sigmoid(logits(p[i], dream)))
        asleep = (parent - sigmoid(logits(q[i], dream))) / len(dream)
        awake = (states[i + 1] - means_q[i]) * weights
        of_w = awake.reshape(len(x), samples, -1).sum(1).T @ x if i == 0 else awake.T @ states[i]
        w, b = q[i]
        moved_q[i] = (w + RATE * (of_w + asleep.T @ dream), b + RATE * (awake.sum(0) + asleep.sum(0)))
    return moved_p, moved_q, prior + RATE * ((states[-1] - sigmoid(prior)) * weights).sum(0)


# Sequences: arrays of steps × sequences × units. Gradients through time and of belief networks are by autograd, as is usual in JAX.


def adam(state, gradients):
    """Return the parameters, the moments and the number of steps after a step of Adam."""
    parameters, first, second, n = state
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g * g, second, gradients)
    move = lambda p, m, s: p + RATE * (m / (1 - 0.9 ** (n + 1))) / (jnp.sqrt(s / (1 - 0.999 ** (n + 1))) + 1e-8)
    return jax.tree.map(move, parameters, first, second), first, second, n + 1


def adam_state(parameters):
    zeros = lambda: jax.tree.map(jnp.zeros_like, parameters)
    return parameters, zeros(), zeros(), 0


def rnn_rbm(width, key):
    k = jax.random.split(key, 5)
    return {"w": normal(k[0], width, HIDDEN), "b": jnp.zeros(width), "c": jnp.zeros(HIDDEN), "u": normal(k[1], RECURRENT, RECURRENT),
            "v": normal(k[2], width, RECURRENT), "d": jnp.zeros(RECURRENT), "u0": jnp.zeros(RECURRENT),
            "to_b": normal(k[3], RECURRENT, width), "to_c": normal(k[4], RECURRENT, HIDDEN)}


def rnn_rbm_step(state, v, key):
    """Return the state after a step of contrastive divergence, and the mean log pseudo-likelihood before it."""
    steps, sequences, _ = v.shape

    def biases(m):
        def recur(u, vt):
            return jnp.tanh(m["d"] + u @ m["u"] + vt @ m["v"]), u
        past = jax.lax.scan(recur, jnp.broadcast_to(m["u0"], (sequences, RECURRENT)), v)[1]
        return m["b"] + past @ m["to_b"], m["c"] + past @ m["to_c"]

    m = state[0]
    (b, c), back = jax.vjp(biases, m)

    def sweep(fantasy, key):
        above, below = jax.random.split(key)
        h = draw(above, sigmoid(c + fantasy @ m["w"]))
        return draw(below, sigmoid(b + h @ m["w"].T)), None
    fantasy = jax.lax.scan(sweep, v, jax.random.split(key, SWEEPS))[0]
    above, n = c + v @ m["w"], steps * sequences
    awake, asleep = sigmoid(above), sigmoid(c + fantasy @ m["w"])
    gradients = back(((v - fantasy) / n, (awake - asleep) / n))[0]
    gradients["w"] += (jnp.einsum("tnd,tnh->dh", v, awake) - jnp.einsum("tnd,tnh->dh", fantasy, asleep)) / n

    here = softplus(above).sum(-1)

    def flipped(j):
        sign = 1 - 2 * v[:, :, j]
        return -softplus(sign * b[:, :, j] + softplus(above + sign[:, :, None] * m["w"][j]).sum(-1) - here)
    pseudo = jax.lax.map(flipped, jnp.arange(v.shape[2])).sum() / n
    return adam(state, gradients), pseudo


def belief(width, key):
    k = jax.random.split(key, 6)
    return {"hidden": (normal(k[0], STATES, STATES), normal(k[1], STATES, width), jnp.zeros(STATES), jnp.zeros(STATES)),
            "visible": (normal(k[2], width, STATES), jnp.zeros((width, width)), jnp.zeros(width), jnp.zeros(width)),
            "recognition": (normal(k[3], STATES, STATES), normal(k[4], STATES, 2 * width), jnp.zeros(STATES), jnp.zeros(STATES))}


def belief_step(state, v, key):
    """Return the state after a step of reweighted wake-sleep by particle filters, and the mean log p̂ before it."""
    steps, sequences, width = v.shape
    m, first = state[0], jnp.arange(steps)[:, None, None] == 0
    before = jnp.concatenate([jnp.zeros((1, sequences, width)), v[:-1]])

    def observed(net, parents):
        """Return the logits from the observed parents, of all steps at once."""
        return parents @ net[1].T + net[2] + first * net[3]

    both = jnp.concatenate([before, v], 2)
    rows = jnp.arange(sequences)[:, None]

    def filtered(carried, now):
        last, logs = carried
        vt, of_hidden, of_visible, of_recognition, key = now
        draws, point = jax.random.split(key)
        a = of_recognition[:, None] + last @ m["recognition"][0].T
        h = draw(draws, sigmoid(a))
        logs += log_probability(of_hidden[:, None] + last @ m["hidden"][0].T, h) - log_probability(a, h)
        logs += log_probability(of_visible[:, None] + h @ m["visible"][0].T, vt[:, None])
        total = jax.nn.logsumexp(logs, 1, keepdims=True)
        logs -= total
        weights = jnp.exp(logs)
        points = (jnp.arange(PARTICLES) + jax.random.uniform(point, (sequences, 1))) / PARTICLES
        chosen = jax.vmap(jnp.searchsorted)(jnp.cumsum(weights, 1), points).clip(max=PARTICLES - 1)
        few = 1 / (weights**2).sum(1, keepdims=True) < 0.5 * PARTICLES
        ancestors = jnp.where(few, chosen, jnp.arange(PARTICLES))
        return (h[rows, ancestors], jnp.where(few, -jnp.log(PARTICLES), logs)), (last, h, weights, ancestors, total)

    begin = jnp.zeros((sequences, PARTICLES, STATES)), jnp.full((sequences, PARTICLES), -jnp.log(PARTICLES))
    inputs = v, observed(m["hidden"], before), observed(m["visible"], before), observed(m["recognition"], both), jax.random.split(key, steps)
    _, (last, h, weights, ancestors, totals) = jax.lax.scan(filtered, begin, inputs)

    # The weight of a particle is that of its descendants, LAG steps later or at the end.
    smoothed = jnp.concatenate([weights[LAG:]] + [weights[-1:]] * LAG)
    for back in reversed(range(LAG)):
        parents = jnp.concatenate([ancestors[back:], jnp.broadcast_to(jnp.arange(PARTICLES), (back, sequences, PARTICLES))])
        inside = (jnp.arange(steps) + back < steps - 1)[:, None, None]
        sums = jnp.einsum("tns,tnsp->tnp", smoothed, jax.nn.one_hot(parents, PARTICLES))
        smoothed = jnp.where(inside, sums, smoothed)

    def weighted(m):
        a = observed(m["hidden"], before)[:, :, None] + last @ m["hidden"][0].T
        seen = observed(m["visible"], before)[:, :, None] + h @ m["visible"][0].T
        guess = observed(m["recognition"], both)[:, :, None] + last @ m["recognition"][0].T
        return ((log_probability(a, h) + log_probability(seen, v[:, :, None])) * smoothed + log_probability(guess, h) * weights).sum() / (steps * sequences)
    return adam(state, jax.grad(weighted)(m)), totals.sum() / (steps * sequences)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=["rws", "rnn-rbm", "temporal-belief"])
    parser.add_argument("--units", default="784,300,200,100,75,50,35,30,25,20,15,10,10")
    parser.add_argument("--rows", type=int, default=32)
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--width", type=int, default=88, help="units per step of a sequence")
    parser.add_argument("--frames", type=int, default=61, help="steps of a sequence")
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    key = jax.random.key(0)
    if options.method == "rws":
        units = [int(n) for n in options.units.split(",")]
        state, x = machine(units, key), draw(key, jnp.full((options.steps, options.rows, units[0]), 0.13))
        step = lambda state, x, key: (rws(state, x, key, options.samples), 0.0)
    else:
        begin, step = {"rnn-rbm": (rnn_rbm, rnn_rbm_step), "temporal-belief": (belief, belief_step)}[options.method]
        state = adam_state(begin(options.width, key))
        x = draw(key, jnp.full((options.steps, options.frames, SEQUENCES, options.width), 0.05))

    @functools.partial(jax.jit, donate_argnums=0)
    def train(state, key):
        return jax.lax.scan(lambda state, now: step(state, *now), state, (x, jax.random.split(key, options.steps)))

    seconds = []
    for _ in range(6):
        begun = time.perf_counter()
        state, measured = jax.block_until_ready(train(state, key))
        seconds.append((time.perf_counter() - begun) / options.steps)
    objective = "" if options.method == "rws" else f", at last {measured[-1]:.3f} nats a step of a sequence"
    print(f"step {1e3 * statistics.median(seconds[1:]):.3f} ms{objective}")


if __name__ == "__main__":
    main()
