"""What the kernel has to withstand: death of each of its processes, interrupts
at the wrong moment, large cells, questions of two clients at once.

    withstand.py FOLDER
"""

import glob
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import psutil
from jupyter_client import BlockingKernelClient
from jupyter_client.manager import KernelManager

TIMEOUT = 120  # seconds
USABLE = 6  # seconds after an interrupt

folder = pathlib.Path(sys.argv[1])

STUBBORN = 'func main() { signal.Ignore(os.Interrupt); fmt.Println("begun"); for { time.Sleep(time.Second) } }'
POLITE = 'func main() { fmt.Println("begun"); for { time.Sleep(time.Second) } }'

START = """\
import (
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/kernelext"
	"github.com/helmholtz-go/helmholtz/runs"
)

%%
set, err := dataset.Open("glyphs")
if err != nil {
	panic(err)
}
%DATA%
experiment := hm.RWS().Epochs(%EPOCHS%).Samples(2).Experiment(hm.New(set.Shape()).Dense(10, 5), set)
if err := runs.Claim(experiment, set, "runs/%NAME%"); err != nil {
	panic(err)
}
if err := kernelext.Open().Start("%NAME%", experiment).Err(); err != nil {
	panic(err)
}
"""

OWN = """\
var rows [][]float64
for i := range set.Train().Rows {
	var row []float64
	for _, v := range set.Train().Row(i) {
		row = append(row, float64(255-v)/255)
	}
	rows = append(rows, row)
}
if set, err = dataset.FromRows("own", set.Shape(), rows, nil); err != nil {
	panic(err)
}
"""

WAIT = '%%\n_, err := kernelext.Open().Run("%NAME%").Wait(context.Background())\nfmt.Println(err)'


class Kernel:
    def __init__(self, **environment):
        self.manager = KernelManager(kernel_name="helmholtz", connection_file=str(folder / f"kernel-{uuid.uuid4()}.json"))
        log = open(folder / "kernel.log", "a")
        self.manager.start_kernel(cwd=str(folder), stdout=log, stderr=log, extra_arguments=["-raw_error"], env={**os.environ, **environment})
        self.client = self.connect()
        self.process = psutil.Process(self.manager.provisioner.pid)

    def connect(self):
        client = BlockingKernelClient()
        client.load_connection_file(self.manager.connection_file)
        client.start_channels()
        client.wait_for_ready(timeout=TIMEOUT)
        return client

    def run(self, code, client=None, **more):
        printed = []

        def keep(message):
            printed.append(message["content"].get("text", ""))

        reply = (client or self.client).execute_interactive(code, output_hook=keep, timeout=TIMEOUT, **more)
        return reply["content"]["status"], "".join(printed)

    def begin(self, code, until="begun"):
        """Start a cell, return its id when it has printed something."""
        request = self.client.execute(code)
        while True:
            message = self.client.get_iopub_msg(timeout=TIMEOUT)
            if message["msg_type"] == "stream" and until in message["content"]["text"]:
                return request

    def status(self, request):
        """The status of the reply to a request."""
        while True:
            reply = self.client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"]["msg_id"] == request:
                return reply["content"]["status"]

    def shutdown(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel()


def check(what, holds, *details):
    print("ok " if holds else "NO ", what, *details, flush=True)
    if not holds:
        check.failed = True


check.failed = False


def gone(processes):
    return [p for p in processes if p.is_running() and p.status() != psutil.STATUS_ZOMBIE] == []


def await_true(condition):
    deadline = time.monotonic() + 10
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def left_behind(pid):
    return glob.glob(f"{tempfile.gettempdir()}/helmholtz-kernel-{pid}-*")


def deaths():
    for victim in ("the kernel", "its guard", "GoNB", "a cell"):
        kernel = Kernel()
        request = kernel.begin(STUBBORN)
        processes = kernel.process.children(recursive=True)
        named = {
            "the kernel": lambda p: p.pid == kernel.process.pid,
            "its guard": lambda p: p.ppid() == kernel.process.pid,
            "GoNB": lambda p: p.name() == "gonb",
            "a cell": lambda p: p.name().startswith("gonb_"),
        }
        next(p for p in [kernel.process, *processes] if named[victim](p)).kill()
        if victim == "the kernel":
            kernel.manager.provisioner.process.wait(10)
            kernel.client.stop_channels()
        else:
            check(f"a cell is an error with the death of {victim}", kernel.status(request) == "error")
            check("and the next one runs", kernel.run("!echo 1") == ("ok", "1\n"))
            kernel.shutdown()
        check(f"no process outlives {victim}", await_true(lambda: gone(processes)))
        check("nor a directory or socket", await_true(lambda: not left_behind(kernel.process.pid)))


def resumption():
    resume("a named data set", "named", "")
    resume("rows of a cell", "own", OWN)


def resume(what, prefix, data):
    whole, killed, ended = (f"{prefix}-{name}" for name in ("whole", "killed", "ended"))

    def cell(text, name, epochs=4):
        return text.replace("%NAME%", name).replace("%EPOCHS%", str(epochs)).replace("%DATA%", data)

    def digest(name):
        return hashlib.sha256((folder / "runs" / name / "checkpoint.safetensors").read_bytes()).hexdigest()

    kernel = Kernel()
    kernel.run(cell(START, whole))
    kernel.run(cell(WAIT, whole))
    kernel.run(cell(START, killed))
    check(f"a run on {what} trains after its cell", "running" in kernel.run("%hm runs")[1])
    # Once an epoch is done there is something to resume.
    check("an epoch ends", await_true(lambda: (folder / "runs" / killed / "metrics.jsonl").exists()))
    kernel.process.kill()
    kernel.manager.provisioner.process.wait(10)
    kernel.client.stop_channels()
    kernel = Kernel()
    runs = kernel.run("%hm runs")[1]
    check("the next kernel finds the run of one that was killed", killed in runs and "interrupted" in runs, runs)
    kernel.run(f"%hm resume {killed}")
    kernel.run('import "github.com/helmholtz-go/helmholtz/kernelext"\n' + cell(WAIT, killed))
    check("it ends in the same bytes as one that was not", digest(killed) == digest(whole))
    kernel.run(cell(START, ended, 1000))
    kernel.begin(POLITE)
    kernel.manager.interrupt_kernel()
    check("an interrupt of a cell stops no run", await_true(lambda: "running" in kernel.run("%hm runs")[1]))
    check("%hm stop does", f"{ended} is stopped" in kernel.run(f"%hm stop {ended}")[1])
    kernel.run(f"%hm resume {ended}")
    check("another experiment of its name is an error of the cell", kernel.run(cell(START, ended, 999))[0] == "error")
    kernel.shutdown()
    check("the log says which run a kernel leaves", f"the run {ended} with it, after epoch" in (folder / "kernel.log").read_text())


def interrupts():
    with tempfile.TemporaryDirectory() as cache:
        kernel = Kernel(GOCACHE=cache)
        for name, code in (("a polite cell", POLITE), ("a cell that ignores it", STUBBORN)):
            request = kernel.begin(code)
            interrupted(kernel, request, name)
        program = 'import "net/http"\nfunc main() { fmt.Println(http.StatusOK) }\n'
        for delay in (0.2, 1, 2):
            check("the cache is emptied", await_true(lambda: emptied(cache)))
            request = kernel.client.execute(program)
            time.sleep(delay)
            interrupted(kernel, request, f"{delay} s into compilation")
        check("what was interrupted compiles later", kernel.run(program) == ("ok", "200\n"))
        kernel.shutdown()


def emptied(cache):
    """Empty Go's build cache. What the last compiler wrote as it was killed may appear meanwhile."""
    return subprocess.run(["go", "clean", "-cache"], env={**os.environ, "GOCACHE": cache}, stderr=subprocess.DEVNULL).returncode == 0


def interrupted(kernel, request, name):
    began = time.monotonic()
    kernel.manager.interrupt_kernel()
    status = kernel.status(request)
    works = kernel.run("!echo 1") == ("ok", "1\n")
    seconds = time.monotonic() - began
    check(f"interrupt of {name}", status == "error" and works and seconds < USABLE, f"{seconds:.2f} s")


def large_cells():
    kernel = Kernel()
    size = 3 << 20
    status, _ = kernel.run("%%writefile large.txt\n" + "x" * size)
    check("a cell of 3 MB", status == "ok" and os.path.getsize(folder / "large.txt") >= size)
    os.remove(folder / "large.txt")
    status, _ = kernel.run("%%writefile large.txt\n" + "x" * (50 << 20))
    check("a cell of 50 MB is refused", status == "error" and not (folder / "large.txt").exists())
    status, printed = kernel.run('!head -c 30000000 /dev/zero | tr "\\0" z')
    check("30 MB printed", len(printed) == 30_000_000)
    kernel.shutdown()


def questions():
    kernel = Kernel()
    other = kernel.connect()
    for client, text in ((kernel.client, "one"), (other, "two")):
        status, printed = kernel.run("%with_inputs\n!read line; echo got $line", client, allow_stdin=True, stdin_hook=lambda _: client.input(text))
        check(f"a question reaches client {text}", printed == f"got {text}\n")
        check("and no other", not (kernel.client.stdin_channel.msg_ready() or other.stdin_channel.msg_ready()))
    other.stop_channels()
    kernel.shutdown()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for part in (questions, large_cells, deaths, resumption, interrupts):
        part()
    sys.exit(check.failed)


main()
