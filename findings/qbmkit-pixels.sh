#!/usr/bin/env bash
# qbmkit 0.12.1: learn(samples) takes the number of pixels from the largest sample, so that a machine of pictures whose
# first pixels are off in all rows has fewer pixels than the pictures, and their probabilities are of other pictures.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q qbmkit==0.12.1 numpy==2.4.6 scipy==1.17.1
"$home/v/bin/python" - <<'PY'
import sys

import numpy as np
import qbm

pictures = np.array([[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 1, 1]] * 10)  # four pixels, the first two off
samples = pictures @ (8, 4, 2, 1)
machine = qbm.learn(samples, steps=2)
found = len(machine.probabilities())
print("pictures of 4 pixels, 16 possible pictures; the machine has", found, "probabilities")
if found != 4:
    sys.exit("qbmkit behaves otherwise now")
PY
