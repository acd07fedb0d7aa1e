"""Train one RBM with helmholtz, PyTorch and scikit-learn, and evaluate all three with helmholtz eval.

    peers_rbm.py --torch-python PYTHON --sklearn-python PYTHON [--rates 0.05,0.1,0.2] [--epochs N] [--seed N] [--work DIR]

The machine has 784 visible and 500 hidden units. Each program takes the same number of PCD-1 steps on one thread, with
100 chains, minibatches of 100 rows and a learning rate that falls along a cosine. The 60,000 training rows of MNIST are
rounded to 0 or 1. The PyTorch code is the plain algorithm; helmholtz also centres the gradient. This script prints a
table of log p of the 10,000 test rows by AIS and the processor time of each training run, start-up included. MNIST must
be in the folder HELMHOLTZ_DATA.
"""

import argparse
import gzip
import json
import math
import os
import pathlib
import resource
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HIDDEN, BATCH = 500, 100
DATA = ["--dataset", "mnist", "--binarization", "fixed", "--validation", "0"]


def minibatches(rate, epochs):
    """Yield the rows and the learning rate of each minibatch, in a new order each epoch."""
    import numpy as np
    with gzip.open(pathlib.Path(os.environ["HELMHOLTZ_DATA"], "mnist", "train-images-idx3-ubyte.gz")) as file:
        rows = (np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) >= 128).astype(np.float32)
    random, steps = np.random.default_rng(1), len(rows) // BATCH
    for step in range(epochs * steps):
        if step % steps == 0:
            order = random.permutation(len(rows)).reshape(steps, BATCH)
        yield rows[order[step % steps]], rate * (1 + math.cos(math.pi * step / (epochs * steps))) / 2


def by_torch(rate, epochs, seed):
    import torch
    torch.set_grad_enabled(False)
    torch.manual_seed(seed)
    W, b, c, v = 0.01 * torch.randn(784, HIDDEN), torch.zeros(784), torch.zeros(HIDDEN), torch.zeros(BATCH, 784)
    for rows, η in minibatches(rate, epochs):
        x, η = torch.from_numpy(rows), η / BATCH
        given = torch.sigmoid(torch.addmm(c, x, W))
        h = torch.bernoulli(torch.sigmoid(torch.addmm(c, v, W)))
        v = torch.bernoulli(torch.sigmoid(torch.addmm(b, h, W.t())))
        means = torch.sigmoid(torch.addmm(c, v, W))
        W.addmm_(x.t(), given, alpha=η).addmm_(v.t(), means, alpha=-η)
        b.add_((x - v).sum(0), alpha=η)
        c.add_((given - means).sum(0), alpha=η)
    return W.numpy(), b.numpy(), c.numpy()


def by_sklearn(rate, epochs, seed):
    from sklearn.neural_network import BernoulliRBM
    rbm = BernoulliRBM(HIDDEN, batch_size=BATCH, random_state=seed)
    for rows, rbm.learning_rate in minibatches(rate, epochs):
        rbm.partial_fit(rows)
    return rbm.components_.T, rbm.intercept_visible_, rbm.intercept_hidden_


PEERS = {"PyTorch": by_torch, "scikit-learn": by_sklearn}


def run(*command):
    """Run a command on one thread, and return its output and its processor time in seconds."""
    threads = {name: "1" for name in ("GOMAXPROCS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([str(c) for c in command], cwd=ROOT, env={**os.environ, **threads}, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    if sys.argv[1:2] == ["train"]:  # this script runs in a peer's Python
        import numpy as np
        _, _, name, out, rate, epochs, seed = sys.argv
        W, b, c = PEERS[name](float(rate), int(epochs), int(seed))
        np.savez(out, W=W, b=b, c=c)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch-python", required=True, help="Python with PyTorch")
    parser.add_argument("--sklearn-python", required=True, help="Python with scikit-learn")
    parser.add_argument("--rates", type=lambda text: [float(rate) for rate in text.split(",")], default=[0.05, 0.1, 0.2])
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="random seed (default %(default)s)")
    parser.add_argument("--schedule", default="adaptive:1000", help="AIS schedule (default %(default)s)")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "peers")
    options = parser.parse_args()
    if "HELMHOLTZ_DATA" not in os.environ:
        parser.error("set HELMHOLTZ_DATA to the folder that contains the folder mnist")
    pythons = {"PyTorch": options.torch_python, "scikit-learn": options.sklearn_python}
    options.work = options.work.resolve()
    options.work.mkdir(parents=True)
    program = options.work / "helmholtz"
    run("go", "build", "-o", program, "./cmd/helmholtz")
    print("| program | η | log p | log Z, its interval | effective sample size | processor time, s |\n|---|---|---|---|---|---|", flush=True)
    for name in "helmholtz", *PEERS:
        for rate in options.rates:
            to = options.work / f"{name}-{rate}"
            if name in PEERS:
                weights = f"{to}.npz"
                _, seconds = run(pythons[name], __file__, "train", name, weights, rate, options.epochs, options.seed)
                run(program, "import", weights, "--coding", "01", "--sign", "minus", *DATA, "--out", to)
            else:
                _, seconds = run(program, "train", *DATA, "--algorithm", "pcd", "--layers", HIDDEN, "--batch", BATCH, "--lr", rate,
                                 "--epochs", options.epochs, "--seed", options.seed, "--out", to)
            e = json.loads(run(program, "eval", to, "--schedule", options.schedule, "--json")[0])
            low = f"{e['log_z_low']:.1f} to" if isinstance(e["log_z_low"], float) else "below"
            print(f"| {name} | {rate} | −{-e['log_p']:.2f} ± {e['log_p_se']:.2f} | {e['log_z']:.1f}, {low} {e['log_z_high']:.1f} | "
                  f"{100 * e['ess']:.0f} %{', optimistic' if e['optimistic'] else ''} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
