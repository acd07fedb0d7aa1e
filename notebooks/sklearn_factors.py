"""Time linear factor models of scikit-learn, for speed.py.

    sklearn_factors.py rows FOLDER     write the rows of digits and of patches into a folder
    sklearn_factors.py FILE            time the models on rows of a file
    sklearn_factors.py tiles           print the numbers that the results factors/... compare ours with
    sklearn_factors.py chorales        the same by SciPy, of slow features
    sklearn_factors.py lines           the same by SciPy, of a Boltzmann machine without hidden units on 3by3
    sklearn_factors.py fonts FOLDER    print the errors that the result transfer/fonts compares ours with, of glyphs that
                                       go test ./notebooks/thesis -run MonoFonts -write-fonts FOLDER writes

A file NAME-ROWSxVARIABLES.u8 has a byte v for each value, which stands for v/255. Each printed
line has a model, its processor seconds, and the mean objective of the rows: log p, or the
objective of sparse coding. Patches, and the tiles of the data set olivettipatches, are cut from the Olivetti faces,
if HELMHOLTZ_DATA has these, and the chorales are its music/jsb.json.gz.
"""

import gzip
import json
import os
import pathlib
import re
import sys
import time
import warnings

import numpy

FACTORS = 10
ATOMS, ALPHA, BATCH, PASSES = 64, 0.1, 128, 5
DATA = pathlib.Path(os.environ.get("HELMHOLTZ_DATA", "."))
FACES = DATA / "faces" / "olivettifaces-400x64x64.u8.gz"


def write_rows(folder):
    from sklearn.datasets import load_digits

    digits = load_digits().data / 16
    write(folder, "digits", digits[:, digits.std(axis=0) > 0.02])
    if FACES.exists():
        images = faces()
        random = numpy.random.default_rng(1)
        at = [(random.integers(400), random.integers(52), random.integers(52)) for _ in range(20480)]
        write(folder, "patches", numpy.array([images[i, y:y + 12, x:x + 12].ravel() for i, y, x in at]))


def faces():
    return numpy.frombuffer(gzip.decompress(FACES.read_bytes()), numpy.uint8).reshape(400, 64, 64) / 255


def write(folder, name, rows):
    path = folder / f"{name}-{rows.shape[0]}x{rows.shape[1]}.u8"
    path.write_bytes(numpy.round(rows * 255).astype(numpy.uint8).tobytes())


def tiles():
    """Print mean log p, or the mean objective, of the test tiles under models of the training tiles."""
    from scipy.optimize import minimize_scalar
    from sklearn.decomposition import PCA, FactorAnalysis, FastICA, MiniBatchDictionaryLearning
    from sklearn.linear_model import LinearRegression

    cut = faces().reshape(80, 5, 8, 8, 8, 8).transpose(0, 1, 2, 4, 3, 5)  # of each fifth picture to test on
    train, test = cut[:, :4].reshape(-1, 64), cut[:, 4].reshape(-1, 64)
    print("ppca", PCA(FACTORS).fit(train).score(test))
    print("factor-analysis", FactorAnalysis(FACTORS, svd_method="lapack", tol=1e-9, max_iter=10000).fit(train).score(test))
    # FastICA has no density: give each source of variance 1 the scale of the density 1/(π cosh s) that fits best,
    # and what lies outside the plane of the sources the noise of probabilistic PCA.
    centred, later = train - train.mean(axis=0), test - train.mean(axis=0)
    values, vectors = numpy.linalg.eigh(centred.T @ centred / len(centred))
    plane, noise = vectors[:, -FACTORS:], values[:-FACTORS].mean()
    ica = FastICA(FACTORS, fun="logcosh", whiten=False, max_iter=10000, tol=1e-8, random_state=1)
    white = centred @ plane / numpy.sqrt(values[-FACTORS:])
    unmixing = ica.fit(white).components_
    scales = [minimize_scalar(lambda a: (numpy.log(numpy.cosh(a * s))).mean() - numpy.log(a), bounds=(0.01, 10), method="bounded").x
              for s in (white @ unmixing.T).T]
    unmixing = numpy.diag(scales) @ unmixing
    s = later @ plane / numpy.sqrt(values[-FACTORS:]) @ unmixing.T
    outside = (later ** 2).sum(axis=1) - ((later @ plane) ** 2).sum(axis=1)
    log_p = (-numpy.log(numpy.pi * numpy.cosh(s)).sum(axis=1) + numpy.linalg.slogdet(unmixing)[1] - numpy.log(values[-FACTORS:]).sum() / 2
             - outside / noise / 2 - (64 - FACTORS) / 2 * numpy.log(2 * numpy.pi * noise))
    print("fastica", log_p.mean())
    model = MiniBatchDictionaryLearning(ATOMS, alpha=ALPHA, batch_size=100, max_iter=10, max_no_improvement=None, tol=0, fit_algorithm="cd", n_jobs=1,
                                        transform_algorithm="lasso_cd", transform_alpha=ALPHA, transform_max_iter=10000, random_state=1)
    print("dictionary", dictionary_objective(later)(model.fit(centred)))
    left = numpy.arange(64) % 8 < 4
    scale = train[:, left].std(axis=0)
    for name, rows in ("training", train), ("test", test):
        errors = (rows[:, left] - LinearRegression().fit(train[:, ~left], train[:, left]).predict(rows[:, ~left])) / scale
        print("linear-regression", name, -(errors ** 2).sum(axis=1).mean() / 2 - 16 * numpy.log(2 * numpy.pi) - numpy.log(scale).sum())


def chorales():
    """Print the mean squared changes of the slowest features of test chorales."""
    from scipy.linalg import eigh

    def rolls(split):
        roll = numpy.zeros((sum(map(len, split)), 88))
        first = numpy.cumsum([0] + [len(of) for of in split])
        for t, keys in enumerate(step for of in split for step in of):
            roll[t, numpy.array(keys, int) - 21] = 1
        return roll, numpy.delete(numpy.diff(roll, axis=0), first[1:-1] - 1, axis=0)

    data = json.loads(gzip.decompress((DATA / "music" / "jsb.json.gz").read_bytes()))
    rows, steps = rolls(data["train"])
    used = rows.std(axis=0) > 0
    _, vectors = eigh(steps.T[used] @ steps[:, used] / len(steps), numpy.cov(rows.T[used], bias=True))
    later = rolls(data["test"])[1][:, used]
    print("slow", *((later @ vectors[:, :5]) ** 2).mean(axis=0))


def lines():
    """Print the highest mean log p of the patterns of 3by3, columns twice as likely as rows, that pairs of units reach."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    columns = [numpy.tile([k & 1, k >> 1 & 1, k >> 2], (3, 1)) for k in range(1, 7)]
    rows = numpy.array([of.ravel() for of in columns + columns] + [of.T.ravel() for of in columns], float)
    states = (numpy.arange(512)[:, None] >> numpy.arange(9)) & 1
    pairs = numpy.triu_indices(9)  # a unit with itself stands for its bias

    def features(x):
        return x[:, pairs[0]] * x[:, pairs[1]]

    data, all_states = features(rows).mean(axis=0), features(states)

    def cost(theta):
        energy = all_states @ theta
        z = logsumexp(energy)
        return z - data @ theta, numpy.exp(energy - z) @ all_states - data

    print("pairs", -minimize(cost, numpy.zeros(45), jac=True, method="L-BFGS-B", options={"maxiter": 100000, "maxfun": 100000, "ftol": 1e-14, "gtol": 1e-9}).fun)


def fonts(folder):
    """Print the percentage of glyphs of mono fonts whose digit logistic regression on glyphs of other fonts gets wrong."""
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression

    known, mono = (numpy.fromfile(folder / name, numpy.uint8).reshape(-1, 197) for name in ("known-5720x197.u8", "mono-5130x197.u8"))
    for name, features in ("pixels", lambda x: x), ("pca", PCA(50, svd_solver="full").fit(known[:, :-1] / 255).transform):
        x, later = features(known[:, :-1] / 255), features(mono[:, :-1] / 255)
        mean, scale = x.mean(axis=0), x.std(axis=0, ddof=1) + 1e-3
        model = LogisticRegression(C=1 / (1e-4 * len(x)), max_iter=10000, tol=1e-6).fit((x - mean) / scale, known[:, -1])
        print(name, 100 * (model.predict((later - mean) / scale) != mono[:, -1]).mean())


def main():
    warnings.filterwarnings("ignore")
    if sys.argv[1] == "rows":
        return write_rows(pathlib.Path(sys.argv[2]))
    if sys.argv[1] == "fonts":
        return fonts(pathlib.Path(sys.argv[2]))
    if sys.argv[1] in ("tiles", "chorales", "lines"):
        return {"tiles": tiles, "chorales": chorales, "lines": lines}[sys.argv[1]]()
    from sklearn.decomposition import PCA, FactorAnalysis, MiniBatchDictionaryLearning

    n, d = map(int, re.search(r"-(\d+)x(\d+)\.u8$", sys.argv[1]).groups())
    rows = numpy.fromfile(sys.argv[1], numpy.uint8).reshape(n, d) / 255
    centred = rows - rows.mean(axis=0)
    for name, model, x, objective in [
        ("ppca", PCA(FACTORS, svd_solver="covariance_eigh"), rows, lambda m: m.score(rows)),
        ("factor-analysis", FactorAnalysis(FACTORS, svd_method="lapack", max_iter=1000), rows, lambda m: m.score(rows)),
        ("dictionary", MiniBatchDictionaryLearning(ATOMS, alpha=ALPHA, batch_size=BATCH, max_iter=PASSES, max_no_improvement=None, tol=0, fit_algorithm="cd", n_jobs=1,
                                                   transform_algorithm="lasso_cd", transform_alpha=ALPHA, random_state=1), centred, dictionary_objective(centred)),
    ]:
        seconds = min(timed(model, x) for _ in range(3 if n < 10000 else 1))
        print(f"{name} {seconds:.6f} s {objective(model):.10g}")


def timed(model, rows):
    start = time.process_time()
    model.fit(rows)
    return time.process_time() - start


def dictionary_objective(rows):
    def objective(model):
        codes = model.transform(rows)
        return ((rows - codes @ model.components_) ** 2).sum(axis=1).mean() / 2 + ALPHA * abs(codes).sum(axis=1).mean()

    return objective


if __name__ == "__main__":
    main()
