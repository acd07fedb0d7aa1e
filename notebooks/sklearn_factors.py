"""Time linear factor models of scikit-learn, for speed.py.

    sklearn_factors.py rows FOLDER     write the rows of digits and of patches into a folder
    sklearn_factors.py FILE            time the models on rows of a file

A file NAME-ROWSxVARIABLES.u8 has a byte v for each value, which stands for v/255. Each printed
line has a model, its processor seconds, and the mean objective of the rows: log p, or the
objective of sparse coding. Patches are cut from the Olivetti faces,
if HELMHOLTZ_DATA has these.
"""

import gzip
import os
import pathlib
import re
import sys
import time
import warnings

import numpy

FACTORS = 10
ATOMS, ALPHA, BATCH, PASSES = 64, 0.1, 128, 5


def write_rows(folder):
    from sklearn.datasets import load_digits

    digits = load_digits().data / 16
    write(folder, "digits", digits[:, digits.std(axis=0) > 0.02])
    faces = pathlib.Path(os.environ.get("HELMHOLTZ_DATA", ".")) / "faces" / "olivettifaces-400x64x64.u8.gz"
    if faces.exists():
        images = numpy.frombuffer(gzip.decompress(faces.read_bytes()), numpy.uint8).reshape(400, 64, 64) / 255
        random = numpy.random.default_rng(1)
        at = [(random.integers(400), random.integers(52), random.integers(52)) for _ in range(20480)]
        write(folder, "patches", numpy.array([images[i, y:y + 12, x:x + 12].ravel() for i, y, x in at]))


def write(folder, name, rows):
    path = folder / f"{name}-{rows.shape[0]}x{rows.shape[1]}.u8"
    path.write_bytes(numpy.round(rows * 255).astype(numpy.uint8).tobytes())


def main():
    warnings.filterwarnings("ignore")
    if sys.argv[1] == "rows":
        return write_rows(pathlib.Path(sys.argv[2]))
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
