"""Run the same cells and requests through two Jupyter kernels and compare all
messages that come back, apart from ids, times and names of temporary files.

    differential.py KERNEL KERNEL FOLDER
"""

import json
import re
import sys

from jupyter_client.manager import start_new_kernel

TIMEOUT = 120  # seconds

CELLS = [
    "",
    '%%\nfmt.Println("hello")',
    "func twice(x int) int { return 2 * x }",
    "%%\nfmt.Println(twice(21))",
    "%%\nfmt.Println(undefined)",
    "func main() {",
    '%%\npanic("trouble")',
    "%%\nos.Exit(3)",
    '%%\nfmt.Fprintln(os.Stderr, "to standard error")',
    "!echo from the shell; exit 4",
    '!printf "no newline"',
    "%env NAME=value",
    '%%\nfmt.Println(os.Getenv("NAME"))',
    "%ls",
    "%unknown",
    "%%unknown",
    "%%writefile written.txt\n%hm is a line of the file\n",
    "!cat written.txt",
    '%noautoget\nimport "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.DisplayHTML("<b>bold</b>")\n'
    'gonbui.UpdateHTML("id", "one")\ngonbui.UpdateHTML("id", "two")\ngonbui.Sync()',
    "%with_inputs\n!read line; echo read $line",
    'func TestTwice(t *testing.T) { if twice(2) != 4 { t.Fatal("not 4") } }\n%test',
    "%rm twice",
    "%%\nfmt.Println(twice(21))",
    '%%\nfmt.Println("%hm inside of a line")',
    "%help",
]

REQUESTS = [
    ("kernel_info_request", {}),
    ("complete_request", {"code": "%%\nfmt.Printl", "cursor_pos": 13}),
    ("complete_request", {"code": "%l", "cursor_pos": 2}),
    ("inspect_request", {"code": "%%\nfmt.Println()", "cursor_pos": 9, "detail_level": 0}),
    ("inspect_request", {"code": "%ls", "cursor_pos": 2, "detail_level": 0}),
    ("complete_request", {"code": "", "cursor_pos": 0}),
]

# What differs from one kernel process to the next. GoNB marks the lines of a
# stack trace where they reach it in one piece.
VARIABLE = [
    (r" \\u001b\[7m\[\[ Cell \[\d+\] Line \d+ \]\]\\u001b\[0m ", ""),
    (r"/\S*gonb_[0-9a-f]+", "TEMPORARY"),
    (r"gonb_[0-9a-f]+", "TEMPORARY"),
    (r"0x[0-9a-f]+", "ADDRESS"),
    (r"\b\d+\.\d+s\b", "TIME"),
    (r"pid=\d+", "PID"),
    (r"TEMPORARY/main", "main"),  # this kernel leaves paths of builds out
]

# What this kernel adds or replaces: who it is, and why a cell failed. Tests in Go check it.
OWN = {
    "kernel_info_reply": ("banner", "help_links", "implementation", "implementation_version", "language_info", "supported_features"),
    "error": ("evalue", "status", "traceback"),
    "execute_reply": ("evalue", "traceback"),
}


def transcript(name, folder):
    """All messages of a kernel about each cell and request, without what varies."""
    manager, client = start_new_kernel(kernel_name=name, cwd=folder, extra_arguments=["-raw_error"], stderr=open(f"{folder}/{name}.log", "w"))
    try:
        messages = [(cell, converse(client, "execute_request", {"code": cell, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": True, "stop_on_error": True})) for cell in CELLS]
        messages += [(f"{kind} {content}", converse(client, kind, content)) for kind, content in REQUESTS]
        silent = {"code": "!echo silent", "silent": True, "store_history": False}
        messages.append(("a silent cell", converse(client, "execute_request", silent)))
        return messages
    finally:
        client.stop_channels()
        manager.shutdown_kernel()


def converse(client, kind, content):
    request = client.session.msg(kind, content)
    client.shell_channel.send(request)
    own = lambda message: message["parent_header"].get("msg_id") == request["header"]["msg_id"]
    heard = []
    while True:
        if client.stdin_channel.msg_ready():
            question = client.get_stdin_msg(timeout=TIMEOUT)
            heard.append(("stdin", question["msg_type"], question["content"]))
            client.input("an answer")
        if not client.iopub_channel.msg_ready():
            try:
                message = client.get_iopub_msg(timeout=0.05)
            except Exception:
                continue
        else:
            message = client.get_iopub_msg(timeout=TIMEOUT)
        if not own(message):
            continue
        heard.append(("iopub", message["msg_type"], message["content"]))
        if message["content"].get("execution_state") == "idle":
            break
    while True:
        reply = client.get_shell_msg(timeout=TIMEOUT)
        if own(reply):
            heard.append(("shell", reply["msg_type"], reply["content"]))
            return normalised(heard)


def normalised(heard):
    """What a cell prints is joined: how the system cuts it up varies."""
    printed = {}
    rest = []
    for channel, kind, content in heard:
        content = {name: value for name, value in content.items() if name not in OWN.get(kind, ())}
        if {"text/html", "text/markdown"} & content.get("data", {}).keys():
            content["data"].pop("text/plain", None)
        if kind == "stream":
            printed[content["name"]] = printed.get(content["name"], "") + content["text"]
        else:
            rest.append((channel, kind, content))
    text = json.dumps([rest, printed], sort_keys=True)
    for pattern, name in VARIABLE:
        text = re.sub(pattern, name, text)
    return json.loads(text)


def main():
    names, folder = sys.argv[1:3], sys.argv[3]
    one, other = (transcript(name, folder) for name in names)
    different = 0
    for (what, a), (_, b) in zip(one, other):
        if a != b:
            different += 1
            print(f"--- {what!r}")
            for name, messages in zip(names, (a, b)):
                print(f"{name}: {json.dumps(messages)[:3000]}")
    count = sum(len(messages[0]) for _, messages in one)
    print(f"{len(one)} requests, {count} messages and what they print; {different} differ")
    sys.exit(different > 0)


main()
