#!/usr/bin/env bash
# tomotopy 0.14.0, LDAModel: perplexity and ll_per_word score the words together with the topics drawn for them, not the
# words alone. A model of three topics is then worse than no model, and one topic seems better for data that have three.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q tomotopy==0.14.0 numpy==2.4.6 scipy==1.17.1
"$home/v/bin/python" - <<'PY'
import sys

import numpy as np
import tomotopy
from scipy.special import gammaln

rng = np.random.default_rng(0)
topics = rng.dirichlet(np.full(12, 0.3), size=3)
counts = np.array([rng.multinomial(40, shares @ topics) for shares in rng.dirichlet(np.full(3, 0.3), size=60)])
words = counts.sum()


def urns(table, prior):
    """Returns the log-likelihood of counts drawn from one Dirichlet-multinomial a row."""
    k = table.shape[1]
    constant = len(table) * (gammaln(k * prior) - k * gammaln(prior))
    return constant + gammaln(table + prior).sum() - gammaln(table.sum(axis=1) + k * prior).sum()


def trained(k):
    """Trains a model of k topics, and returns its perplexity, and words alone and words with topics by hand."""
    model = tomotopy.LDAModel(k=k, alpha=0.1, eta=0.1, seed=1)
    model.optim_interval = 0
    for row in counts:
        model.add_doc([f"w{word}" for word, number in enumerate(row) for _ in range(number)])
    model.train(500, workers=1)
    in_row, in_topic = np.zeros((len(counts), k)), np.zeros((k, 12))
    for row, document in enumerate(model.docs):
        np.add.at(in_row[row], document.topics, 1)
        np.add.at(in_topic, (document.topics, document.words), 1)
    given = urns(in_topic, 0.1)
    return model.perplexity, np.exp(-given / words), np.exp(-(given + urns(in_row, 0.1)) / words)


share = counts.sum(axis=0) / words
print(f"perplexity of word counts alone: {np.exp(-share @ np.log(share)):.3f}")
one, three = trained(1), trained(3)
for name, (seen, given, joint) in (("1 topic", one), ("3 topics", three)):
    print(f"{name}: perplexity {seen:.3f}; by hand: words given topics {given:.3f}, words with topics {joint:.3f}")
if abs(three[0] - three[2]) > 0.001 or one[0] > three[0]:
    sys.exit("tomotopy behaves otherwise now")
PY
