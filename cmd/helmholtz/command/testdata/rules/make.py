"""Makes a case of TestFilesOfFirstRules with the program of commit 44faa003, which did not record by which rules it
read files:

    make.py PROGRAM CASE EVALUATION -- FLAGS OF TRAIN

CASE is a folder beside this script that holds the files that the flags name. The script adds whole, a run; half, the
same run stopped within its training; and made.json, which holds the processor's instruction set and what the program
prints for "eval whole --json" with the flags EVALUATION, such as "--samples 50 --rows new.csv". Train for many epochs,
or with many samples, so that there is time to stop.
"""

import json
import pathlib
import shutil
import signal
import subprocess
import sys

program, case, evaluation, dashes, *flags = sys.argv[1:]
assert dashes == "--", __doc__
home = pathlib.Path(__file__).parent / case


def train(out):
    shutil.rmtree(home / out, ignore_errors=True)
    return subprocess.Popen([program, "train", *flags, "--out", out], cwd=home, stdout=subprocess.DEVNULL)


assert train("whole").wait() == 0
epochs = len((home / "whole/metrics.jsonl").read_text().splitlines())
half = train("half")
metrics = home / "half/metrics.jsonl"
while not metrics.exists() or len(metrics.read_text().splitlines()) < epochs // 3:
    assert half.poll() is None
half.send_signal(signal.SIGINT)
assert half.wait() == 130 and len(metrics.read_text().splitlines()) < epochs, "it was not stopped in time: train longer"
evaluation = ["--json", *evaluation.split()]
printed = subprocess.run([program, "eval", "whole", *evaluation], cwd=home, stdout=subprocess.PIPE, check=True)
session = json.loads((home / "whole/sessions.jsonl").read_text().splitlines()[-1])
made = {"instruction_set": session["instruction_set"], "flags": evaluation, "evaluation": json.loads(printed.stdout)}
(home / "made.json").write_text(json.dumps(made, indent=1) + "\n")
