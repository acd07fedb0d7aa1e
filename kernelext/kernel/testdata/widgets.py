"""A front end speaks with the program of a cell over a comm, as GoNB's widgets
do in the browser, while another client listens.

    widgets.py KERNEL FOLDER
"""

import pathlib
import re
import sys
import uuid

from jupyter_client import BlockingKernelClient
from jupyter_client.manager import KernelManager

TIMEOUT = 120  # seconds

CELL = """\
%noautoget
import "github.com/janpfeifer/gonb/gonbui/comms"
%%
answers := make(chan string)
comms.Subscribe("/answer", func(_ string, value string) { answers <- value })
for _, question := range []string{"one", "two", "three"} {
	comms.Send("/question", question)
	fmt.Println(question, <-answers)
}
"""


def main():
    kernel, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    manager = KernelManager(kernel_name=kernel, connection_file=str(folder / f"kernel-{uuid.uuid4()}.json"))
    with open(folder / "kernel.log", "w") as log:
        manager.start_kernel(cwd=str(folder), stdout=log, stderr=log)
    try:
        converse(connect(manager), connect(manager))
    finally:
        manager.shutdown_kernel()


def connect(manager):
    client = BlockingKernelClient()
    client.load_connection_file(manager.connection_file)
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT)
    return client


def converse(client, listener):
    comm = uuid.uuid4().hex
    request = client.execute(CELL)
    questions, printed = [], []

    def answer(question):
        questions.append(question)
        send(client, "comm_msg", {"comm_id": comm, "data": {"address": "/answer", "value": question.upper()}})

    while True:
        message = client.get_iopub_msg(timeout=TIMEOUT)
        kind, content = message["msg_type"], message["content"]
        if kind == "display_data":  # the script that would open the comm in a browser
            for kernel in re.findall(r'_kernel_id: "([^"]+)"', content["data"].get("text/html", "")):
                send(client, "comm_open", {"comm_id": comm, "target_name": "gonb_comm", "kernel_id": kernel, "data": {}})
        elif kind == "comm_msg" and content["comm_id"] == comm and content["data"]["address"] == "/question":
            answer(content["data"]["value"])
        elif kind == "stream":
            printed.append(content["text"])
        elif kind == "status" and content["execution_state"] == "idle" and message["parent_header"]["msg_id"] == request:
            break
    assert questions == ["one", "two", "three"], questions
    assert "".join(printed) == "one ONE\ntwo TWO\nthree THREE\n", printed
    print("ok  three questions and answers over a comm")

    heard = []
    while len(heard) < len(questions):
        message = listener.get_iopub_msg(timeout=TIMEOUT)
        if message["msg_type"] == "comm_msg" and message["content"]["data"]["address"] == "/question":
            heard.append(message["content"]["data"]["value"])
    assert heard == questions, heard
    assert not listener.shell_channel.msg_ready(), listener.get_shell_msg()
    print("ok  the other client hears the same, and gets no replies")


def send(client, kind, content):
    client.shell_channel.send(client.session.msg(kind, content))


main()
