#!/usr/bin/env python3
"""Trains the same small experiments with two programs and compares everything that they write and print.

    internal/net/net.py OLD NEW [FOLDER]

Every file of every run must have the same bytes, except that these are left out:
- clock.json and sessions.jsonl, which hold times, the host and the version;
- schema.toml, if the old program does not write it;
- "seconds" in metrics and steps, and the checksums of lines that contain them; times in printed text;
- with --rules, "rules" in experiment files and the checksum behind it: a program from before dataset's
  Rules 2 does not write them. Checkpoints of tables and real numbers contain them and differ all the same, as do
  evaluations by few samples, which had standard errors, and fits to all rows at once, which had minibatches.
EXCUSED names the commands whose help may differ, with the reason.
"""
import difflib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cmd/helmholtz/command/testdata/runs")
EXCUSED = {  # the families hm and boltzmann have commands of their own since they are trained like every other family
    "train": "flags of Boltzmann machines moved to train boltzmann",
    "bench train": "flags of Boltzmann machines moved to bench train boltzmann",
    "": "the commands impute, serve and features are new",
    "impute": "rows may come from standard input",
    "plot": "formats of figures have one name, --figure-format",
    "data": "the command cache is new",
    **{command: "a table may have a schema (--schema, --header, --decimal, --write-schema)" for command in ("new", "import", "data show")},
    **{command: "tables may be LaTeX, and compare prepares them and figures for a paper" for command in ("compare", "history", "runs", "tune", "sweep plan", "sweep report", "reproduce list")},
    **{command: "data may have moved (--dataset), and samples have the kinds of a table (--within)" for command in ("eval", "inpaint", "sample")},
}
FAMILIES = "--resume is a flag of every family"  # the help of train FAMILY
BITS = "--dataset 3by3 --subset 64 --validation 18 --epochs 2 "
REAL = "--dataset rows.txt --shape 2x2 --binarization real --validation 8 --epochs 2 "
BATCHED = REAL + "--batch 8 "
PCD = "train " + BITS + "--algorithm pcd --batch 9 "
VOICES = "--dataset voices --subset 4 --validation 2 --hidden 3 --batch 2 --epochs 1 "
LONG = "--dataset glyphs --subset 2000 --validation 50 --seed 3 "
EVAL = "eval RUN --json --samples 5 --log-z2 10 --log-z2-inner 3"
EXACT = "eval RUN --json"  # machines of few units
ROWS = [  # name, commands, where RUN is the name; ^ before a command interrupts it after the first epoch
    ("hm", "train " + BITS + "--layers 4 --algorithm nrws --optimizer adam --tanh 3 --record-steps 1 --keep 1 --measure every=1,samples=3,rows=5", EVAL),
    ("hm-default", "train " + BITS + "--layers 4,2 --schedule cosine --lr 0.01", EVAL),
    ("hm-later", "train --config hm/experiment.toml --lr 0.01 --algorithm rws", "train --resume RUN --epochs 3", EVAL),
    ("hm-from", "train --config hm/experiment.toml --from hm --from-checkpoint 1 --l2 0.01", EVAL),
    ("hm-seeds", "train " + BITS + "--layers 4 --algorithm bihm --weight-init small-normal --seeds 2 --workers 1", EVAL),
    ("hm-whole", "train " + LONG + "--layers 20,5 --algorithm nrws --kstep 10 --epochs 12", EVAL),
    ("hm-stopped", "^train " + LONG + "--layers 20,5 --algorithm nrws --kstep 10 --epochs 12", "train --resume RUN", EVAL),
    ("hm-conv", "train --dataset miniglyphs --subset 64 --validation 18 --conv 2@3x3/1 --layers 4 --algorithm nbihm --epochs 1", EVAL),
    ("jsa", "train " + BITS + "--layers 4 --algorithm jsa", EVAL),
    ("vimco", "train " + BITS + "--layers 4 --algorithm vimco --units bernoulli", EVAL),
    ("labels", "train --dataset miniglyphs --subset 64 --validation 18 --labels 30 --algorithm bihm --layers 8,4 --label-layer lower --classes 10 --epochs 1", EVAL),
    ("table", "train --dataset people.csv --columns height=real,city=categorical --binarization real --groups data --standardize --layers 4 --algorithm rws --lr 0.001 --epochs 1", EVAL),
    ("suggested", "new RUN.toml --dataset people.csv --layers 4 --epochs 2", "train --config RUN.toml", "new RUN-2.toml --config RUN.toml --lr 0.5"),
    ("cd", PCD.replace("pcd", "cd") + "--layers 4 --optimizer cosine-rate --adaptation 0.01", EXACT),
    ("pcd", PCD + "--layers 4 --keep 1 --record-steps 2", EXACT),
    ("pcd-flags", "train " + BITS + "--algorithm pcd --layers 7 --gibbs-steps 2 --chains 5 --metric marginal --damping 0.3 --patience 9 --max-norm 8 --sparsity 0.02 --sparsity-target 0.1 --batch 9", EXACT),
    ("pcd-later", "train --config pcd/experiment.toml --schedule constant --lr 0.1 --chains 20", "train --resume RUN --epochs 3", EXACT),
    ("pcd-from", "train --config pcd/experiment.toml --from pcd --from-checkpoint best --lr 0.01", EXACT),
    ("pcd-other", "train --config pcd/experiment.toml --algorithm cd --batch 10 --seeds 2 --workers 1", EXACT),
    ("pcd-whole", "train " + LONG + "--layers 20 --algorithm pcd --epochs 40", EXACT),
    ("pcd-stopped", "^train " + LONG + "--layers 20 --algorithm pcd --epochs 40", "train --resume RUN", EXACT),
    ("pt", PCD.replace("pcd", "pt") + "--layers 4 --temperatures 3 --optimizer adam", EXACT),
    ("ptt", PCD.replace("pcd", "ptt") + "--layers 4", EXACT),
    ("pl", PCD.replace("pcd", "pl") + "--layers 4 --units bernoulli,bernoulli", EXACT),
    ("kinds", PCD + "--units bernoulli,categorical --hidden-categories 3 --layers 6", EXACT),
    ("gaussian", PCD + "--layers 4 --binarization grey --units gaussian --variance-rate 0.02", EXACT),
    ("classes", "train --dataset miniglyphs --subset 64 --validation 18 --algorithm cd --batch 9 --layers 5 --classes 10 --discriminative 0.5 --epochs 1", EXACT),
    ("belief", PCD + "--layers 4,3 --belief", EXACT.replace("RUN", "RUN/layer-2")),
    ("upper", "train --on pcd --algorithm cd --layers 3 --batch 9 --epochs 1", EXACT),
    ("pretrained", PCD + "--layers 5,4 --pretrain 1 --pretrain-lr 0.1 --lr 0.05", EXACT.replace("RUN", "RUN/deep")),
    ("pretrained-again", "train --config pretrained/deep/experiment.toml --epochs 1 --mean-field 5", EXACT),
    ("updown", "train --up-down belief/layer-2 --lr 0.02 --gibbs-steps 3 --batch 9 --epochs 2", EVAL.split(" --log")[0]),
    ("general", "train general-boltzmann " + BITS + "--hidden 12 --batch 9 --lr 0.1", "train --config RUN/experiment.toml --seed 5 --out RUN-5", "eval RUN --json --chains 5"),
    ("autoencoder", "train autoencoder " + BITS + "--binarization grey --decoder normal --latent straight-through --batch 9"),
    ("deterministic", "train deterministic " + BITS + "--layers 4 --batch 9"),
    ("ppca", "train ppca " + REAL + "--components 2 --seeds 2 --workers 1"),
    ("factors", "train factor-analysis " + REAL + "--factors 1"),
    ("ica", "train ica " + REAL + "--sources 2"),
    ("sparse", "train sparse-coding " + BATCHED + "--atoms 3"),
    ("rnn", "train rnn-rbm " + VOICES + "--recurrent 2 --cd 1"),
    ("temporal", "train temporal-belief " + VOICES + "--deep 2 --particles 2"),
    ("conditional", "train conditional-rbm " + BITS + "--hidden 3 --batch 9"),
    ("conditional-gaussian", "train conditional-gaussian-rbm " + BATCHED + "--hidden 3"),
    ("convolutional", "train convolutional-rbm " + BITS + "--filters 2 --window 2 --pool 1 --batch 9"),
    ("gated", "train gated-rbm " + BATCHED + "--hidden 3 --factors 2"),
    ("covariance", "train mean-covariance-rbm " + BATCHED + "--hidden 3 --factors 2"),
    ("student", "train student-t " + BATCHED + "--hidden 3 --factors 2"),
    ("spikes", "train spike-and-slab-rbm " + BATCHED + "--hidden 3"),
    ("sweep", "sweep run sweep.toml --workers 1", "sweep status RUN", "sweep report RUN"),
    ("tuned", "tune rates.toml --workers 1 --epochs 6"),
    ("tuned-one", "tune pcd/experiment.toml --workers 1 --epochs 20"),
] + [(f"v{v}-{of}", "!" + f"v{v}/{of}/half", "train --resume RUN", EVAL) for v in (1, 2, 3) for of in ("nrws", "bihm-adam-later", "rows", "labels")]
RATES = """seeds = 2
base = "hm/experiment.toml"
[grid]
method.learning_rate = [0.01, 0.02]
"""
SWEEP = RATES + """[[together]]
method.preset = ["nws", "rws"]
epochs = [1, 2]
"""


def prepare(home):
    os.makedirs(home)
    draw = random.Random(1)
    rows = "".join(" ".join(f"{draw.gauss(0, 1):.4f}" for _ in range(4)) + "\n" for _ in range(40))
    people = "height,city,smoker\n" + "".join(f"{150 + i % 50}.5,{'ABC'[i % 3]},{'yn'[i % 7 // 4]}\n" for i in range(100))
    for name, text in {"rows.txt": rows, "people.csv": people, "rates.toml": RATES, "sweep.toml": SWEEP}.items():
        with open(os.path.join(home, name), "w") as f:
            f.write(text)


def call(program, home, run, command):
    """Runs a command in a folder and returns what it prints, with its exit code."""
    if command.startswith("!"):  # a run of an earlier version
        shutil.copytree(os.path.join(FIXTURES, command[1:]), os.path.join(home, run))
        return ""
    args = command.lstrip("^").replace("RUN", run).split()
    if args[0] in ("train", "sweep", "tune") and not {"--resume", "--out", "status", "report"} & set(args):
        args += ["--out", run]
    child = subprocess.Popen([program, *args], cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if command.startswith("^"):
        metrics = os.path.join(home, run, "metrics.jsonl")
        while child.poll() is None and not (os.path.exists(metrics) and os.path.getsize(metrics) > 0):
            time.sleep(0.005)
        child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    if command.startswith("^"):
        return f"{command.replace('RUN', run)}: {child.returncode}\n"  # the epoch that it stopped in depends on the machine
    if "--resume" in command or args[0] in ("sweep", "tune"):  # progress
        err = ""
    return f"{command.replace('RUN', run)}: {child.returncode}\n{out}{err}"


def normal(path, text, rules):
    """Returns text without what is left out."""
    if path.endswith("l"):  # .jsonl, .toml
        text = re.sub(rb'"seconds":[^,}]*,?|,?"checksum":"[0-9a-f]*"', b"", text)
    if rules and path.endswith(".toml"):
        text = re.sub(rb"(?m)^ *rules = .*\n|^# checksum: .*\n", b"", text)
    return re.sub(rb'"seconds":[^,}]*|"version":"[^"]*"|(?<=  )[\dhms.]+, [\dhms.]+ left', b"", text)


def files(home, rules):
    found = {}
    for folder, _, names in os.walk(home):
        for name in names:
            path = os.path.join(folder, name)
            if name not in ("clock.json", "sessions.jsonl"):
                with open(path, "rb") as f:
                    found[os.path.relpath(path, home)] = normal(name, f.read(), rules)
    return found


def helps(program, command=""):
    """Returns the help of a command and of all commands below it."""
    text = subprocess.run([program, *command.split(), "--help"] + (["all"] if command == "train" else []), capture_output=True, text=True).stdout
    all = {command: text}
    for line in re.findall(r"^Available Commands:\n((?:  .*\n)+)", text, re.M):
        for name in re.findall(r"^  (\S+)", line, re.M):
            all.update(helps(program, f"{command} {name}".strip()))
    return all


def main():
    rules = "--rules" in sys.argv
    old, new, home = ([a for a in sys.argv[1:] if a != "--rules"] + ["build/net"])[:3]
    shutil.rmtree(home, ignore_errors=True)
    os.environ.update(GOMAXPROCS="1", HELMHOLTZ_BACKEND="cpu")
    os.nice(10)
    wrote, failed = {}, []
    for name, program in (("old", os.path.abspath(old)), ("new", os.path.abspath(new))):
        at = os.path.join(home, "work")  # one place, since some files name absolute paths
        prepare(at)
        for run, *commands in ROWS:
            for i, command in enumerate(commands):
                with open(os.path.join(at, f"{run}.{i}.txt"), "w") as f:
                    f.write(call(program, at, run, command))
        wrote[name] = files(at, rules)
        os.rename(at, os.path.join(home, name))
    for path in sorted(wrote["old"].keys() | wrote["new"].keys()):
        if os.path.basename(path) == "schema.toml" and path not in wrote["old"]:
            continue
        if wrote["old"].get(path) != wrote["new"].get(path):
            failed.append(f"{path} differs")
    for name in wrote:
        for whole in ("hm-whole", "pcd-whole"):
            if wrote[name][f"{whole}/checkpoint.safetensors"] != wrote[name].get(whole.replace("whole", "stopped") + "/checkpoint.safetensors"):
                failed.append(f"{name}: {whole} does not end like its interrupted run")
    codes = [text.split(b"\n")[0] for path, text in wrote["new"].items() if re.search(r"\.\d\.txt$", path) and text]
    failed += [f"{c.decode()} is no success" for c in codes if not c.endswith(b": 0") and not c.startswith(b"^")]
    before, now = helps(old), helps(new)
    for command, text in before.items():
        excuse = EXCUSED.get(command, FAMILIES if re.match("(bench )?train .", command) else "")
        if text != now.get(command) and not (excuse and command in now):
            failed.append("the help of helmholtz %s differs:\n%s" % (command, "\n".join(difflib.unified_diff(text.splitlines(), now.get(command, "").splitlines(), lineterm="", n=0))))
    print("\n".join(failed + [f"{len(ROWS)} experiments, {len(wrote['new'])} files, {len(now)} commands, {len(failed)} differences"]))
    sys.exit(len(failed) > 0)


main()
