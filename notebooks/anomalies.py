"""Find digits of a class that training has not seen, by log p and by scikit-learn's usual methods.

    anomalies.py --helmholtz PROGRAM [--classes N] [--work DIR]

For each class in turn, models learn 70 % of the other classes of scikit-learn's digits (8×8 grey levels), and score
the remaining rows and the rows of the class: the lower log p, the more anomalous a row. The table shows the area under
the ROC curve and the share of anomalies found at several false-alarm rates, as means over the classes with standard
errors. The script needs scikit-learn.
"""

import argparse
import csv
import pathlib
import subprocess
import tempfile

import numpy
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.mixture import GaussianMixture

RATES = (0.01, 0.05, 0.1, 0.2)  # false-alarm rates

MACHINES = {
    "Helmholtz machine, NRWS, pixels on or off": ["--binarization", "fixed", "--algorithm", "nrws", "--layers", "50,20", "--lr", "0.05", "--damping", "0.1", "--kstep", "50", "--schedule", "cosine", "--epochs", "60"],
    "probabilistic PCA, 15 components, grey levels": ["ppca", "--binarization", "grey", "--components", "15"],
}


def by_helmholtz(program, settings, train, test, work):
    """Return −log p of the test rows under a machine trained on the training rows."""
    for name, rows in (("train", train), ("test", test)):
        numpy.save(work / f"{name}.npy", (rows * 255 / 16).astype(numpy.uint8).reshape(-1, 1, 8, 8))
    family = [s for s in settings[:1] if not s.startswith("-")]
    run, scores = work / "run", work / "scores.csv"
    train_by = [program, "train", *settings, "--dataset", work / "train.npy", "--validation", "100", "--out", run]
    estimate = [] if family else ["--samples", "500"]
    for command in (train_by, [program, "eval", run, "--rows", work / "test.npy", "--table", scores, *estimate]):
        subprocess.run(command, check=True, capture_output=True)
    with open(scores, newline="", encoding="utf-8") as file:
        return numpy.array([-float(row["log_p"]) for row in csv.DictReader(file)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--helmholtz", required=True, metavar="PROGRAM")
    parser.add_argument("--classes", type=int, default=10, metavar="N")
    parser.add_argument("--work", type=pathlib.Path, metavar="DIR")
    options = parser.parse_args()

    digits = load_digits()
    found = {}
    for unseen in range(options.classes):
        random = numpy.random.default_rng(unseen)
        normal = random.permutation(digits.data[digits.target != unseen])
        train, rest = normal[: len(normal) * 7 // 10], normal[len(normal) * 7 // 10 :]
        test = numpy.concatenate([rest, digits.data[digits.target == unseen]])
        anomaly = numpy.arange(len(test)) >= len(rest)
        scores = {
            "isolation forest": -IsolationForest(n_estimators=300, random_state=unseen).fit(train).score_samples(test),
            "Gaussian mixture, 10 components": -GaussianMixture(10, reg_covar=1.0, random_state=unseen).fit(train).score_samples(test),
        }
        for name, settings in MACHINES.items():
            with tempfile.TemporaryDirectory(dir=options.work) as work:
                scores[name] = by_helmholtz(options.helmholtz, settings, train, test, pathlib.Path(work))
        for name, score in scores.items():
            false, true, _ = roc_curve(anomaly, score)
            row = [roc_auc_score(anomaly, score), *numpy.interp(RATES, false, true)]
            found.setdefault(name, []).append(row)
    print("| score | area under the ROC curve | " + " | ".join(f"found at {100 * r:g} % false alarms" for r in RATES) + " |")
    print("|---|" + "---:|" * (1 + len(RATES)))
    for name, rows in sorted(found.items(), key=lambda item: -numpy.mean(item[1], axis=0)[0]):
        mean, error = numpy.mean(rows, axis=0), numpy.std(rows, axis=0, ddof=1) / len(rows) ** 0.5
        cells = [f"{mean[0]:.3f} ± {error[0]:.3f}"] + [f"{100 * m:.0f} ± {100 * e:.0f} %" for m, e in zip(mean[1:], error[1:])]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
