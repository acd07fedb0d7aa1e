"""jupyter-console as the second client of a kernel.

    console.py FOLDER
"""

import pathlib
import sys
import uuid

import pexpect
from jupyter_client import BlockingKernelClient
from jupyter_client.manager import KernelManager

TIMEOUT = 60  # seconds


def main():
    folder = pathlib.Path(sys.argv[1])
    manager = KernelManager(kernel_name="helmholtz", connection_file=str(folder / f"kernel-{uuid.uuid4()}.json"))
    with open(folder / "kernel.log", "w") as log:
        manager.start_kernel(cwd=str(folder), stdout=log, stderr=log)
    try:
        client = BlockingKernelClient()
        client.load_connection_file(manager.connection_file)
        client.start_channels()
        client.wait_for_ready(timeout=TIMEOUT)
        converse(client, manager.connection_file)
        client.stop_channels()
    finally:
        manager.shutdown_kernel()


def converse(client, connection_file):
    arguments = ["-m", "jupyter_console", "--simple-prompt", "--existing", connection_file]
    console = pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=TIMEOUT)
    console.setecho(False)
    console.expect(r"In \[\d+\]: ")
    client.execute_interactive("%env SHARED=both", output_hook=lambda _: None, timeout=TIMEOUT)
    for line, answer in (
        ("!echo $SHARED", "both"),
        ("%hm runs", "no runs yet"),
        ("%hm dance", "is unknown"),
    ):
        console.sendline(line)
        console.expect_exact(answer)
        console.expect(r"In \[\d+\]: ")
        print("ok ", line, flush=True)
    console.close(force=True)
    type_function(connection_file)
    reply = client.execute_interactive("!true", output_hook=lambda _: None, timeout=TIMEOUT)
    assert reply["content"]["status"] == "ok", reply
    print("ok  after the console is gone")


def type_function(connection_file):
    """Type a function, line by line, as in a terminal. The console asks the kernel after each line whether the cell is complete."""
    arguments = ["-m", "jupyter_console", "--existing", connection_file]
    console = pexpect.spawn(sys.executable, arguments, encoding="utf-8", timeout=TIMEOUT, dimensions=(40, 100))
    cell = 0  # number of the last prompt
    for line, answer in (
        ("", None),
        ("func twice(x int) int {", r"\.\.\.: "),
        ("return 2 * x", r"\.\.\.: "),
        ("}", None),
        ("%%", r"\.\.\.: "),
        ("fmt.Println(twice(21))", r"42\r\n"),
        ("", None),
        ("%%", r"\.\.\.: "),
        ("undefinedName()", "Line 2: undefined: undefinedName"),
    ):
        if line:
            console.send(line + "\r")
        console.expect(answer or rf"In \[(?:\x1b\[[\d;]*m)*(?!{cell}\D)(\d+)\D")
        cell = cell if answer else console.match[1]
    print("ok  a function typed in a terminal", flush=True)
    console.close(force=True)


main()
