"""Measure the speed targets against PyTorch, JAX, other programs and an earlier version, in one run.

    speed.py [--torch-python PYTHON] [--jax-python PYTHON] [--before COMMIT]
             [--rounds N] [--steps N] [--work DIR]
    speed.py --family boltzmann [--torch-python PYTHON] [--sklearn-python PYTHON] [--rounds N] [--steps N] [--work DIR]
    speed.py --family energies [--rounds N] [--work DIR]
    speed.py --family sequences --jax-python PYTHON [--rounds N] [--steps N] [--work DIR]
    speed.py --family pairs [--rounds N] [--steps N] [--work DIR]
    speed.py --family estimators [--torch-python PYTHON] [--rounds N] [--steps N] [--work DIR]
    speed.py --family factors --sklearn-python PYTHON [--rounds N] [--work DIR]
    speed.py --family tables --pandas-python PYTHON [--rounds N] [--work DIR]
    speed.py --family serve --sklearn-python PYTHON [--rounds N] [--work DIR]
    speed.py --family parts [--rounds N] [--steps N] [--work DIR]
    speed.py --family growth [--torch-python PYTHON] [--jax-python PYTHON] [--parts PART,...] [--work DIR]

Run it in a clone with its history, with HELMHOLTZ_DATA set and nothing else running. The peers torch_peers.py,
jax_peers.py and others are next to this script; a peer without PYTHON is omitted. COMMIT is built too, and its
evaluation is compared. Each round measures everything once; a line of the table has the median of the rounds'
ratios, and their range. The first line names the processor and the versions of the peers.

The family boltzmann times PCD-1 and AIS with 100 chains on an RBM of 784 and 500 units. It compares them with
their products alone in float32, with PyTorch in its fastest form, and with scikit-learn.

The family energies compares the processor time of a step of each energy with that of its products alone.

The family sequences compares a step of RNN-RBMs and of temporal belief networks on the chorales with JAX, on
sequences of one length.

The family pairs compares two runs side by side, each on one core, with one run on one core, and times a start
of the program.

The family estimators compares a step of each gradient estimator at 784-200-200-200 units with
a step of RWS, and VIMCO with PyTorch.

The family factors compares the processor time of fits on digits and on patches of faces, with one thread,
with scikit-learn's, by sklearn_factors.py. Dictionaries learn until they reach the objective of scikit-learn's;
the other models are fitted completely.

The family tables compares the opening of CSV files of 100,000 × 200 values with pandas' read_csv, by
pandas_tables.py: the time by the clock, the time of the processors and the peak memory.
It checks that all values equal the values of pandas in float32. It also measures a second start of the program on such a
file, whose values the first has kept in the cache, and the peak memory of training on a million rows of 50 values.

The family serve compares POST /score of helmholtz serve, with the exact log p of a probabilistic PCA, with a FastAPI service of a
mixture by scikit-learn, by the same client, sklearn_serve.py: requests with one row from 16 clients,
and with 1,000 rows from one.

The family parts measures, by a profile, where a step of RWS in fixed point spends the processor's time, in
microseconds of all processors together. It also measures the time of the layers of 35 and fewer units, as the
difference from a machine without them.

The family growth measures how the cost of a step of RWS, in fixed point, grows with each size of the machine
and of the data, and compares it with the same step of the peers. Each part varies one size. Measurements stay
in the folder growth of --work, in a file for each part, and are not repeated; the table and the figures show all
parts that are there. So the parts may be measured one by one, in quiet hours.
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYERS = "300,200,100,75,50,35,30,25,20,15,10,10"
EPOCH = 1875  # steps of 32 images; Fisher blocks are refreshed every 1,000


def main():
    options = parse_options()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.family == "growth":
        return growth(options)
    print(described(options), flush=True)
    measure, targets = FAMILIES[options.family](options)
    rounds = []
    for n in range(options.rounds):
        rounds.append(measure())
        print(f"round {n + 1} of {options.rounds}: " + ", ".join(f"{k} {v:.4g}" for k, v in rounds[-1].items()), flush=True)
    write_table(targets, rounds)


def described(options):
    """Return the processor and the versions of the peers."""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    peers = [f"{package} {output(python, '-c', f'import importlib.metadata as m; print(m.version({package!r}))').strip()}"
             for package, python in (("torch", options.torch_python), ("jax", options.jax_python), ("scikit-learn", options.sklearn_python),
                                     ("pandas", options.pandas_python)) if python]
    return ", ".join([f"{os.cpu_count()} cores of {cpu[1] if cpu else 'an unknown processor'}", *peers])


def helmholtz(options):
    programs = {"now": build(ROOT, options.work / "now"), "before": build_commit(options)}
    runs = {"float32": train(programs["before"], options.work, "float32"),
            "fixed": train(programs["now"], options.work, "fixed", "--arithmetic", "fixed")}
    return lambda: measure(programs, runs, options), TARGETS


def boltzmann(options):
    program = build(ROOT, options.work / "now")
    return lambda: measure_boltzmann(program, options), BOLTZMANN_TARGETS


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", choices=[*FAMILIES, "growth"], default="helmholtz")
    parser.add_argument("--torch-python", help="Python with PyTorch")
    parser.add_argument("--jax-python", help="Python with JAX")
    parser.add_argument("--sklearn-python", help="Python with scikit-learn")
    parser.add_argument("--pandas-python", help="Python with pandas")
    parser.add_argument("--before", default="f7f841d", help="commit that evaluation is compared with (default %(default)s, before products with bits)")
    parser.add_argument("--parts", default=",".join(GROWTH), help="parts of the family growth (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=400, help="timed steps per round (default %(default)s)")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "speed")
    options = parser.parse_args()
    if options.family == "sequences" and not options.jax_python:
        parser.error("give a Python with JAX with --jax-python")
    if options.family in ("factors", "serve") and not options.sklearn_python:
        parser.error("give a Python with scikit-learn with --sklearn-python")
    if options.family == "tables" and not options.pandas_python:
        parser.error("give a Python with pandas with --pandas-python")
    if options.rounds < 1:
        parser.error(f"{options.rounds} rounds: give at least 1")
    return options


def build(source, program):
    subprocess.run(["go", "build", "-o", program, "./cmd/helmholtz"], cwd=source, check=True)
    return program


def build_commit(options):
    tree, program = options.work / "tree", options.work / "before"
    subprocess.run(["git", "worktree", "add", "--quiet", "--force", "--detach", tree, options.before], cwd=ROOT, check=True)
    try:
        return build(tree, program)
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=ROOT, check=True)


def train(program, work, name, *flags):
    run = work / f"run-{name}"
    if not run.exists():
        subprocess.run([program, "train", "--dataset", "mnist", "--validation", "0", "--algorithm", "rws",
                        "--layers", LAYERS, "--epochs", "1", "--out", run, *flags], check=True, stdout=subprocess.DEVNULL)
    return run


def measure(programs, runs, options):
    """Return the rates of one round, all per second."""
    rates = {}
    for algorithm in "rws", "nrws":
        for arithmetic in "float32", "fixed":
            flags = ["--kstep", "1000"] if algorithm == "nrws" else []
            t = json.loads(output(programs["now"], "bench", "train", "--dataset", "mnist", "--validation", "0", "--subset", "8000",
                                  "--layers", LAYERS, "--algorithm", algorithm, "--arithmetic", arithmetic,
                                  "--steps", str(options.steps), "--json", *flags))
            rates[f"{algorithm} {arithmetic}"] = epochs(t["step_ms"], t["refresh_ms"] if algorithm == "nrws" else 0)
            rates["products"] = t["flop_per_step"]  # the same for all
    bench = output("go", "test", "./internal/kernels", "-run", "^$", "-bench", "^BenchmarkMulPacked$/^320x785x300$", "-benchtime", "0.5s")
    fastest = max(float(rate) for rate in re.findall(r"([\d.]+) GFLOP/s", bench))
    rates["products"] = epochs(rates["products"] / fastest / 1e6, 0)
    for name, program, run in ("before", "before", "float32"), ("float32", "now", "float32"), ("fixed", "now", "fixed"):
        answer = json.loads(output(programs[program], "bench", "eval", runs[run], "--samples", "1000", "--rows", "200", "--json"))
        rates[f"evaluation {name}"] = answer["samples_per_s"]
    if options.torch_python:
        rates["rws torch"] = epochs(torch_step(options, "rws"), 0)
        printed = output(options.torch_python, TORCH, "nrws", "--steps", 20)  # with two threads PyTorch 2.15 could not invert the blocks
        rates["nrws torch"] = epochs(step_ms(printed), 1e3 * float(re.search(r"refresh ([\d.]+) s", printed)[1]))
    if options.jax_python:
        rates["rws jax"] = epochs(step_ms(output(options.jax_python, JAX, "rws")), 0)
    return rates


TORCH, JAX = ROOT / "notebooks" / "torch_peers.py", ROOT / "notebooks" / "jax_peers.py"


def torch_step(options, method, *flags):
    """Return the milliseconds of a step in PyTorch, in its fastest form: eager or compiled, with one thread or two."""
    forms = [["--threads", n, *compiled] for n in (1, 2) for compiled in ([], ["--compile"])]
    return min(step_ms(output(options.torch_python, TORCH, method, *form, *flags)) for form in forms)


def step_ms(printed):
    """Return the milliseconds of a step that a program has printed."""
    return float(re.search(r"step ([\d.]+) ms", printed)[1])


# An epoch of 20 steps of scikit-learn's PCD-1.
SKLEARN_RBM = """
import time, numpy as np
from sklearn.neural_network import BernoulliRBM
rows, rbm = (np.random.rand(2000, 784) < 0.13).astype(np.float32), BernoulliRBM(500, batch_size=100, n_iter=1)
rbm.fit(rows); begun = time.perf_counter(); rbm.fit(rows)
print(f"step {50 * (time.perf_counter() - begun):.3f} ms")
"""
TEMPERATURES = 14500  # of the published schedule


def measure_boltzmann(program, options):
    """Return the results of one round: milliseconds per step, a ratio of times, and peak memory in MB."""
    times = {}
    bench = output("go", "test", "./boltzmann", "-run", "^$", "-bench", "StepOverItsProducts", "-benchtime", f"{max(1, options.steps // 10)}x", "-cpu", "2")
    for name, unit in ("pcd", "ms/step"), ("pcd over products", "×products"):
        times[name] = float(re.search(rf"([\d.e+-]+) {unit}", bench)[1])
    run = options.work / "rbm"
    shutil.rmtree(run, ignore_errors=True)
    _, times["pcd memory"] = measured(program, "train", "--dataset", "mnist", "--validation", "0", "--algorithm", "pcd", "--layers", "500", "--epochs", "1", "--out", run)
    answer, times["ais memory"] = measured(program, "eval", run, "--schedule", "published", "--rows", "100", "--json")
    times["ais"] = json.loads(answer)["seconds"] * 1e3 / TEMPERATURES
    bench = output("go", "test", "./boltzmann", "-run", "^$", "-bench", "^BenchmarkAnnealing$/^products$", "-benchtime", "2s", "-cpu", "2")
    times["ais products"] = float(re.search(r"([\d.e+-]+) ms/step", bench)[1])
    if options.torch_python:
        times["torch"] = torch_step(options, "pcd", "--units", "784,500", "--rows", 100)
    if options.sklearn_python:
        times["scikit-learn"] = step_ms(output(options.sklearn_python, "-c", SKLEARN_RBM))
    return times


ENERGIES = ["convolutional", "spike-and-slab", "mean-covariance", "student-t", "conditional", "gated"]


def energies(options):
    return measure_energies, [(f"{energy}: a step over its products", energy, None, "<=", 2) for energy in ENERGIES]


def measure_energies():
    """Return the processor time of a step of each energy over that of its products."""
    bench = output("go", "test", "./boltzmann/energies", "-run", "^$", "-bench", "StepOverItsProducts", "-cpu", "1")
    return {energy: float(re.search(rf"/{energy}\s.*?([\d.e+-]+) ×products", bench)[1]) for energy in ENERGIES}


SEQUENCES = {"rnn-rbm": [], "temporal-belief": ["--natural=false", "--lr", "0.002"]}


def sequences(options):
    program = build(ROOT, options.work / "now")
    return lambda: measure_sequences(program, options), [(f"{family}, times JAX", f"{family} jax", family, ">=", 3) for family in SEQUENCES]


def measure_sequences(program, options):
    """Return the milliseconds of a step of each family, of ours and of JAX's."""
    times = {}
    for family, flags in SEQUENCES.items():
        times[family] = json.loads(output(program, "bench", "train", family, "--dataset", "jsb", *flags, "--steps", str(options.steps), "--json"))["step_ms"]
        times[f"{family} jax"] = step_ms(output(options.jax_python, JAX, family))
    return times


SIZES = {"3by3, 6-3": ["--dataset", "3by3", "--layers", "6,3"], "miniglyphs, 20-10": ["--dataset", "miniglyphs", "--layers", "20,10"],
         "MNIST, 200-200-200": ["--dataset", "mnist", "--layers", "200,200,200"], "MNIST, twelve layers": ["--dataset", "mnist", "--layers", LAYERS]}


def pairs(options):
    program = build(ROOT, options.work / "now")
    targets = [(f"{size}: steps a second of two runs, over the steps of one", f"{size} alone", f"{size} both", ">=", 1.8) for size in SIZES]
    return lambda: measure_pairs(program, options), targets + [("a start of the program, s", "start", None, "<=", 0.05)]


def measure_pairs(program, options):
    """Return the milliseconds of a step of one run on one core, half those of two runs side by side, and the seconds of a start."""
    times = {}
    for size, flags in SIZES.items():
        steps = {}
        for runs in ("alone", 1), ("both", 2):
            command = [program, "bench", "train", *flags, "--validation", "0", "--steps", options.steps * (20 if size.startswith("3by3") else 1), "--json"]
            started = [subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True, env={**os.environ, "GOMAXPROCS": "1", "HELMHOLTZ_BACKEND": "cpu"})
                       for _ in range(runs[1])]
            steps[runs[0]] = [json.loads(run.communicate()[0])["step_ms"] for run in started]
        times[f"{size} alone"], times[f"{size} both"] = steps["alone"][0], statistics.mean(steps["both"]) / 2
    begun = time.perf_counter()
    output(program, "version")
    return {**times, "start": time.perf_counter() - begun}


ESTIMATORS = ["rws", "reinforce", "vimco", "vimco-arithmetic", "ovis", "tvo", "jsa"]


def estimators(options):
    program = build(ROOT, options.work / "now")
    return lambda: measure_estimators(program, options), ESTIMATOR_TARGETS


def measure_estimators(program, options):
    """Return the milliseconds of a step of each estimator, and of VIMCO in PyTorch."""
    times = {}
    for algorithm in ESTIMATORS:
        answer = output(program, "bench", "train", "--dataset", "mnist", "--validation", "0", "--subset", "3200", "--layers", "200,200,200",
                        "--algorithm", algorithm, "--arithmetic", "fixed", "--steps", str(options.steps), "--json")
        times[algorithm] = json.loads(answer)["step_ms"]
    if options.torch_python:
        times["torch"] = torch_step(options, "vimco", "--units", "784,200,200,200")
    return times


FITS = ["ppca", "factor-analysis", "dictionary"]


def factors(options):
    folder = options.work / "rows"
    folder.mkdir(exist_ok=True)
    output(options.sklearn_python, PEER, "rows", folder)
    files = {path.name.split("-")[0]: path.resolve() for path in sorted(folder.glob("*.u8"))}
    program = options.work / "factors.test"
    subprocess.run(["go", "test", "-c", "-o", program, "./factors"], cwd=ROOT, check=True)
    targets = [(f"{fit} of {rows}, times scikit-learn", f"{rows} {fit} scikit-learn", f"{rows} {fit}", ">=", 1) for rows in files for fit in FITS]
    return lambda: measure_factors(program.resolve(), files, options), targets


PEER = ROOT / "notebooks" / "sklearn_factors.py"


def measure_factors(program, files, options):
    """Return the processor seconds of each fit."""
    times = {}
    for rows, path in files.items():
        os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "GOMAXPROCS": "1", "HELMHOLTZ_ROWS": str(path)})
        for line in output(options.sklearn_python, PEER, path).splitlines():
            fit, seconds, _, objective = line.split()
            times[f"{rows} {fit} scikit-learn"] = float(seconds)
        os.environ["HELMHOLTZ_OBJECTIVE"] = objective  # of the last model, the dictionary
        bench = output(program, "-test.run", "^$", "-test.bench", "Peers", "-test.benchtime", "1x")
        for fit in FITS:
            times[f"{rows} {fit}"] = float(re.search(rf"Peers/{fit}\S*\s.*?([\d.e+-]+) processor-s", bench)[1])
    return times


TABLES = {"long": "numbers of 17 digits", "short": "numbers of 3 digits", "mixed": "numbers and words"}
PANDAS = ROOT / "notebooks" / "pandas_tables.py"


def tables(options):
    options.work = options.work.resolve()
    program, opener = build(ROOT, options.work / "now").resolve(), options.work / "dataset.test"
    subprocess.run(["go", "test", "-c", "-o", opener, "./dataset"], cwd=ROOT, check=True)
    files = {name: options.work / f"{name}.csv" for name in TABLES}
    for name, path in files.items():
        if not path.exists():
            output(options.pandas_python, PANDAS, "write", name, 100000, 200, path)
        os.environ.update({"HELMHOLTZ_TABLE": str(path), "HELMHOLTZ_VALUES": str(options.work / "values.f4"), "HELMHOLTZ_CACHE": "off"})
        output(opener, "-test.run", "^$", "-test.bench", "Table", "-test.benchtime", "1x")
        output(options.pandas_python, PANDAS, "compare", path, os.environ.pop("HELMHOLTZ_VALUES"))
    million = options.work / "million.csv"
    if not million.exists():
        output(options.pandas_python, PANDAS, "write", "short", 1000000, 50, million)
    targets = [(f"{kind}: {what}, times pandas", f"{name} {what}", f"{name} {what} pandas", "<=", most)
               for name, kind in TABLES.items() for what, most in (("seconds", 1.5), ("processor seconds", 1.5), ("memory", 2))]
    return lambda: measure_tables(program, opener, files, million, options), targets + [
        ("a second start over the first", "second start", "first start", "<=", 0.1), ("peak memory of training on a million rows, MB", "million", None, "<=", 3000)]


def measure_tables(program, opener, files, million, options):
    """Return the seconds, processor seconds and memory of each opening, of two starts, and the memory of training."""
    results = {}
    for name, path in files.items():
        os.environ.update({"HELMHOLTZ_TABLE": str(path), "HELMHOLTZ_CACHE": "off"})
        bench, results[f"{name} memory"] = measured(opener, "-test.run", "^$", "-test.bench", "Table", "-test.benchtime", "1x")
        results[f"{name} seconds"] = seconds(bench)
        results[f"{name} processor seconds"] = float(re.search(r"([\d.e+-]+) processor-s", bench)[1])
        line, results[f"{name} memory pandas"] = measured(options.pandas_python, PANDAS, "read", path)
        results[f"{name} seconds pandas"], results[f"{name} processor seconds pandas"] = map(float, line.split())
    cache = options.work / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    os.environ.update({"HELMHOLTZ_TABLE": str(files["long"]), "HELMHOLTZ_CACHE": "", "XDG_CACHE_HOME": str(cache)})
    for start in "first start", "second start":
        results[start] = seconds(output(opener, "-test.run", "^$", "-test.bench", "Table", "-test.benchtime", "1x"))
    run = options.work / "million"
    shutil.rmtree(run, ignore_errors=True)
    _, results["million"] = measured(program, "train", "ppca", "--dataset", million, "--binarization", "real", "--out", run)
    return results


SERVED = ROOT / "notebooks" / "sklearn_serve.py"
LOADS = {"one row": (1, 16), "1,000 rows": (1000, 1)}


def serve(options):
    options.work = options.work.resolve()
    program, table, run = build(ROOT, options.work / "now").resolve(), options.work / "served.csv", options.work / "served"
    output(options.sklearn_python, SERVED, "write", table)
    shutil.rmtree(run, ignore_errors=True)
    output(program, "train", "ppca", "--components", 3, "--dataset", table, "--binarization", "real", "--out", run)
    commands = {"": [program, "serve", run], " FastAPI": [options.sklearn_python, SERVED, "serve", table]}
    targets = []
    for load in LOADS:
        targets += [(f"rows a second in requests with {load}, times FastAPI", f"{load} rate", f"{load} rate FastAPI", ">=", 1),
                    (f"median latency with {load}, times FastAPI", f"{load} median", f"{load} median FastAPI", "<=", 1),
                    (f"99th percentile of the latency with {load}, times FastAPI", f"{load} most", f"{load} most FastAPI", "<=", 1)]
    return lambda: measure_serve(commands, options), targets


def measure_serve(commands, options):
    """Return the rows a second, and the median and the 99th percentile of the latency in milliseconds, of each service and load."""
    results = {}
    for name, command in commands.items():
        with subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True) as service:
            address = json.loads(service.stdout.readline())["address"]
            for load, (rows, clients) in LOADS.items():
                numbers = output(options.sklearn_python, SERVED, "load", address, rows, clients, 5).split()
                results.update({f"{load} {what}{name}": float(v) for what, v in zip(("rate", "median", "most"), numbers)})
            service.terminate()
    return results


def seconds(bench):
    """Return the seconds of an operation that a benchmark has printed."""
    return float(re.search(r"([\d.e+-]+) ns/op", bench)[1]) / 1e9


# The parts of a step, with their functions in the profile; all other functions are the rest.
PARTS = [
    ("sums selected by bits", "bitsProduct"), ("tables of subsets", "subsets"), ("sums written as floats", "writeRows|writeColumns"),
    ("units drawn", "draw(AVX|Score)"), ("units drawn, with residuals", "drawResidual"), ("residuals and log-probabilities", "residual|score|math.log"),
    ("samples gathered", "gather|Gather"), ("bits packed", "bitsOf"), ("numbers rounded", "fix(AVX)|largest|transpose|packRow|packColumns"),
    ("parameters updated", "[Aa]xpy"), ("rows copied and cleared", "memmove|memclr|duff"), ("goroutines and the collector", "runtime"), ("the rest", ""),
]


def parts(options):
    program = build(ROOT, options.work / "now")
    rows = [(f"{name}, µs", name, None, "", None) for name, _ in PARTS]
    return lambda: measure_parts(program, options), rows + [("a step, µs of the clock", "step", None, "", None), ("of it the layers of 35 and fewer units", "thin", None, "", None)]


def measure_parts(program, options):
    """Return the processor time of each part of a step, and the time of the step by the clock, in microseconds."""
    profile, step = options.work / "step.pprof", {}
    for layers, flags in (LAYERS, ["--profile", profile]), ("300,200,100,75,50", []):
        step[layers] = json.loads(output(program, "bench", "train", "--dataset", "mnist", "--validation", "0", "--subset", "32", "--layers", layers,
                                         "--algorithm", "rws", "--arithmetic", "fixed", "--steps", str(options.steps), "--json", *flags))["step_ms"] * 1e3
    times = dict.fromkeys([name for name, _ in PARTS], 0)
    for line in output("go", "tool", "pprof", "-top", "-nodecount=1000", "-unit=us", "-focus=engine/cpu", program, profile).splitlines():
        if found := re.match(r" *([\d.]+)us +[\d.]+% +[\d.]+% +[\d.]+us +[\d.]+% +(\S+)", line):
            part = next(name for name, functions in PARTS if re.search(functions, found[2].replace("github.com/helmholtz-go/helmholtz/internal/kernels", "")))
            times[part] += float(found[1]) / (options.steps + 1)  # the epoch before has one step
    return {**times, "step": step[LAYERS], "thin": step[LAYERS] - step["300,200,100,75,50"]}


def machine(layers=(200, 200, 200), data="mnist", units=784, batch=32, samples=10, algorithm="rws", threads=2):
    return locals()


# Each part has the size that varies and the machine for each of its values. All evaluations use one
# machine.
GROWTH = {
    "width": ("units of two layers", {n: machine((n, n)) for n in (100, 200, 500, 1000, 2000, 4000)}),
    "natural": ("units of two layers, NRWS", {n: machine((n, n), algorithm="nrws") for n in (100, 200, 500, 1000, 2000, 4000)}),
    "depth": ("layers of 200 units", {n: machine((200,) * n) for n in (1, 2, 5, 10, 20)}),
    "samples": ("samples", {n: machine(samples=n) for n in (1, 2, 5, 10, 20, 50, 100)}),
    "minibatch": ("rows in a minibatch", {n: machine(batch=n) for n in (1, 10, 32, 100, 320, 1000)}),
    "rows": ("training rows", {10**n: machine((200,), data=10**n, batch=100) for n in range(3, 8)}),
    "evaluation": ("samples of an evaluation", {n: machine() for n in (1, 10, 100, 1000, 10000)}),
    "threads": ("threads", {n: machine(threads=n) for n in (1, 2)}),
    "threads-wide": ("threads, layers of 1,000", {n: machine((1000, 1000), threads=n) for n in (1, 2)}),
    "3by3": ("samples, 9-6-3 units", {n: machine((6, 3), "3by3", 9, samples=n) for n in (5, 10, 50)}),
    "miniglyphs": ("samples, 196-100-50-25 units", {n: machine((100, 50, 25), "miniglyphs", 196, samples=n) for n in (5, 10, 50)}),
}
FIGURES = {"growth.png": ("width", "depth", "samples", "minibatch"), "growth-data.png": ("natural", "rows", "evaluation")}
MEASURED = 1e6  # microseconds of measured steps, by an estimate of their time


def growth(options):
    """Measure the parts and write the table and the figures of all parts."""
    options.work = options.work.resolve()
    folder = options.work / "growth"
    folder.mkdir(exist_ok=True)
    program = build(ROOT, options.work / "now").resolve()
    for part in options.parts.split(","):
        label, points = GROWTH[part]
        path = folder / f"{part}.jsonl"
        done = read_lines(path)
        for x, m in points.items():
            for name, measure in (("helmholtz", ours), ("JAX", jax_us), ("PyTorch", torch_us)):
                if name != "helmholtz" and (part in ("natural", "rows", "evaluation") or not peer_python(options, name)) or (x, name) in done:
                    continue
                line = {"label": label, "x": x, "program": name, **measure(program, m, x, part, options)}
                print(part, json.dumps(line), flush=True)
                with path.open("a") as f:
                    f.write(json.dumps(line) + "\n")
    write_growth(folder, program)


def read_lines(path):
    """Return the measurements in a file by the size and the program."""
    lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return {(line["x"], line["program"]): line for line in lines}


def peer_python(options, name):
    return options.jax_python if name == "JAX" else options.torch_python


def steps_of(m):
    """Return how many steps to measure, from the number of weights."""
    units = (m["units"], *m["layers"])
    estimate = max(100, m["batch"] * m["samples"] * sum(a * b for a, b in zip(units, units[1:])) * 12 / 2e5)
    return int(min(2000, max(6, MEASURED / estimate)))


def ours(program, m, x, part, options):
    """Return the microseconds of a step or of an evaluated row, the operations, and the peak of memory."""
    os.environ.update({"GOMAXPROCS": str(m["threads"]), "HELMHOLTZ_BACKEND": "cpu"})
    steps, layers = steps_of(m), ",".join(map(str, m["layers"]))
    data = ["--dataset", m["data"], "--validation", "0", "--subset", str(max(100, m["batch"] * min(steps // 3, 10000 // m["batch"])))]
    if part == "rows":
        os.environ["GOMEMLIMIT"] = "1800MiB"
        data = ["--dataset", random_rows(options.work / f"rows-{x}.npy", x), "--validation", "0"]
    if part == "evaluation":
        run = options.work / "run-growth"
        if not run.exists():
            output(program, "train", *data, "--algorithm", "rws", "--layers", layers, "--epochs", "1", "--arithmetic", "fixed", "--out", run)
        answer, memory = measured(program, "bench", "eval", run, "--samples", str(x), "--rows", str(max(20, min(10000, 200000 // x))), "--json")
        return {"us": x * 1e6 / json.loads(answer)["samples_per_s"], "operations": x, "memory_mb": memory}
    answer, memory = measured(program, "bench", "train", *data, "--layers", layers, "--batch", str(m["batch"]), "--samples", str(m["samples"]),
                              "--algorithm", m["algorithm"], "--arithmetic", "fixed", "--steps", str(steps), "--json",
                              *(["--kstep", "1000"] if m["algorithm"] == "nrws" else []), *(["--baseline=false"] if m["samples"] == 1 else []))
    os.environ.pop("GOMEMLIMIT", None)
    t = json.loads(answer)
    return {"us": 1e3 * t["step_ms"] + t["refresh_ms"], "operations": t["flop_per_step"], "memory_mb": memory}  # a refresh every 1,000 steps


def random_rows(path, rows, units=784):
    """Write an NPY array of random truth values, unless the file exists."""
    if not path.exists():
        header = f"{{'descr': '|b1', 'fortran_order': False, 'shape': ({rows}, {units}), }}".encode().ljust(117) + b"\n"
        source, bit = random.Random(rows), bytes(i & 1 for i in range(256))
        with path.open("wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
            for _ in range(rows // 1000):
                f.write(source.randbytes(1000 * units).translate(bit))
    return path


def torch_us(program, m, x, part, options):
    threads = (1,) if part.startswith("threads") and x == 1 else (1, 2)
    return {"us": 1e3 * min(step_ms(output(options.torch_python, TORCH, "rws", "--threads", n, *sizes(m), "--steps", max(5, steps_of(m) // 3))) for n in threads)}


def jax_us(program, m, x, part, options):
    cores = ("taskset", "-c", "0") if part.startswith("threads") and x == 1 else ()
    return {"us": 1e3 * step_ms(output(*cores, options.jax_python, JAX, "rws", *sizes(m), "--steps", min(50, max(2, steps_of(m) // 20))))}


def sizes(m):
    """Return the flags of a peer for a machine."""
    return "--units", ",".join(map(str, [m["units"], *m["layers"]])), "--rows", m["batch"], "--samples", m["samples"]


def write_growth(folder, program):
    """Write growth.md, a table of all parts, and the figures."""
    rows = []
    for part, (label, points) in GROWTH.items():
        lines, before = read_lines(folder / f"{part}.jsonl"), None
        for x in points:
            line = lines.get((x, "helmholtz"))
            if line is None:
                continue
            exponents, flag = ("", ""), ""
            if before:
                span = math.log(x / before["x"])
                exponents = [f"{math.log(line[k] / before[k]) / span:.2f}" for k in ("us", "operations")]
                flag = "faster" if line["us"] / before["us"] > 1.2 * line["operations"] / before["operations"] else ""
            peers = [f"{lines[x, name]['us'] / line['us']:.2f}" if (x, name) in lines else "" for name in ("JAX", "PyTorch")]
            rows.append(" | ".join([f"| {label if before is None else ''}", f"{x:,}", f"{line['us']:,.0f}", *exponents, flag, f"{line['memory_mb']:.0f}", *peers]) + " |")
            before = line
    table = "| | size | µs | exponent | of operations | grows | MB | times JAX | times PyTorch |\n|---|---|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    (folder / "growth.md").write_text(table)
    print(table)
    for name, parts in FIGURES.items():
        panels = [path for path in (folder / f"{part}.jsonl" for part in parts) if path.exists()]
        if panels:
            output(program, "bench", "growth", *panels, "--out", folder / name)


def measured(*command):
    """Return the output of a command, and its peak memory in MB."""
    process = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"speed.py: {command[0]} ended with status {process.returncode}")
    return printed, usage.ru_maxrss / 1e3


def epochs(step_ms, refresh_ms):
    """Return the number of epochs per second, given the times of a step and of a refresh."""
    return 1e3 / EPOCH / (step_ms + refresh_ms / 1000)


def output(*command):
    done = subprocess.run([str(c) for c in command], cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "HELMHOLTZ_BACKEND": "cpu"})
    if done.returncode != 0:
        sys.exit(f"speed.py: {command[0]} ended with status {done.returncode}")
    return done.stdout


# Each comparison has a name, measures a and b, of which a/b counts, or a alone, and the target.
TARGETS = [
    ("RWS, fixed, times JAX", "rws fixed", "rws jax", ">=", 3.3),
    ("RWS, fixed, times PyTorch", "rws fixed", "rws torch", ">=", 3.3),
    ("NRWS, fixed, times PyTorch", "nrws fixed", "nrws torch", ">=", 15),
    ("RWS step, fixed, over its float32 products at the kernel's rate", "products", "rws fixed", "<=", 0.68),
    ("evaluation, float32, times before", "evaluation float32", "evaluation before", ">=", 1.25),
    ("evaluation, fixed, times before", "evaluation fixed", "evaluation before", ">=", 1.9),
    ("RWS, fixed, times float32", "rws fixed", "rws float32", "", None),
    ("NRWS, fixed, times float32", "nrws fixed", "nrws float32", "", None),
]

BOLTZMANN_TARGETS = [
    ("PCD-1 step, not centred, over its float32 products", "pcd over products", None, "<=", 1),
    ("PCD-1, times PyTorch", "torch", "pcd", ">=", 2.5),
    ("PCD-1, times scikit-learn", "scikit-learn", "pcd", ">=", 3),
    ("AIS of 14,500 temperatures over its float32 products", "ais", "ais products", "<=", 0.85),
    ("peak memory of PCD-1, MB", "pcd memory", None, "<=", 300),
    ("peak memory of AIS, MB", "ais memory", None, "<=", 300),
]

ESTIMATOR_TARGETS = [("VIMCO, fixed, times PyTorch", "torch", "vimco", "", None), ("RWS, ms a step", "rws", None, "", None)] + [
    (f"{name} step over RWS step", name, "rws", "", None) for name in ESTIMATORS[1:]]

FAMILIES = {"helmholtz": helmholtz, "boltzmann": boltzmann, "energies": energies, "sequences": sequences, "pairs": pairs, "estimators": estimators,
            "factors": factors, "tables": tables, "serve": serve, "parts": parts}


def write_table(targets, rounds):
    print("\n| | median | range | target | |\n|---|---|---|---|---|")
    for name, a, b, relation, target in targets:
        goal = "" if target is None else f"{relation} {target}"
        if a not in rounds[0] or b and b not in rounds[0]:
            print(f"| {name} | not measured | | {goal} | |")
            continue
        ratios = [r[a] / r[b] if b else r[a] for r in rounds]
        median = statistics.median(ratios)
        met = "" if target is None else "met" if (median >= target if relation == ">=" else median <= target) else "missed"
        print(f"| {name} | {median:.2f} | {min(ratios):.2f}–{max(ratios):.2f} | {goal} | {met} |")


if __name__ == "__main__":
    main()
