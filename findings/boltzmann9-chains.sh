#!/usr/bin/env bash
# boltzmann9 0.1.9: the persistent chains of RBM.cd_step are not persistent where the rows do not divide by the
# minibatch: a smaller last minibatch replaces them by coin flips, and so does the next one of full size.
set -euo pipefail
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 -m venv "$home/v"
"$home/v/bin/pip" install -q boltzmann9==0.1.9 torch==2.15.0 numpy==2.4.6
"$home/v/bin/python" - <<'PY'
import sys

import torch
from boltzmann9.model import RBM

torch.manual_seed(1)
machine = RBM({"visible_blocks": {"v": 8}, "hidden_blocks": {"h": 2}})
with torch.no_grad():  # all units on or all off: a Gibbs step changes the mode with a probability below 1e-20
    machine.W.fill_(30.0)
    machine.bv.fill_(-30.0)
    machine.bh.fill_(-120.0)
machine.v_chain = torch.ones(100, 8)


def on(rows):
    """Trains on a minibatch at a rate of 0, and returns the share of the chains in which all units are on."""
    machine.cd_step(torch.ones(rows, 8), lr=0.0, k=1)
    return machine.v_chain.min(dim=1).values.mean().item()


before = [on(100) for _ in range(20)]
last = on(60)
after = on(100)
print(f"share of chains in the mode where they began: {min(before)} after 20 minibatches of 100 rows,")
print(f"{last:.2f} after one of 60 rows, {after:.2f} after the next one of 100 rows")
if not (min(before) == 1 and last < 0.9 and after < 0.9):
    sys.exit("boltzmann9 behaves otherwise now")
PY
