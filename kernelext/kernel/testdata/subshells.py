"""Run %hm lines in a subshell (JEP 91) with Jupyter's own client while a cell runs.

    subshells.py
"""

from jupyter_client.manager import start_new_kernel

TIMEOUT = 120  # seconds


def ask(channel, kind, content=None, subshell=None):
    message = client.session.msg(kind, content or {})
    if subshell:
        message["header"]["subshell_id"] = subshell
    channel.send(message)
    while True:
        reply = channel.get_msg(timeout=TIMEOUT)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            return reply


def execute(code, subshell=None):
    content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
    reply = ask(client.shell_channel, "execute_request", content, subshell)
    printed = ""
    while True:
        message = client.get_iopub_msg(timeout=TIMEOUT)
        if message["parent_header"].get("msg_id") != reply["parent_header"]["msg_id"]:
            continue
        printed += message["content"].get("text", "")
        if message["content"].get("execution_state") == "idle":
            return reply, printed


manager, client = start_new_kernel(kernel_name="helmholtz", startup_timeout=TIMEOUT)
try:
    info = ask(client.shell_channel, "kernel_info_request")["content"]
    assert "kernel subshells" in info["supported_features"], info
    running = client.execute("!sleep 30")
    while True:
        message = client.get_iopub_msg(timeout=TIMEOUT)
        if message["parent_header"].get("msg_id") == running and message["msg_type"] == "execute_input":
            break
    created = ask(client.control_channel, "create_subshell_request")["content"]
    assert created["status"] == "ok", created
    subshell = created["subshell_id"]
    listed = ask(client.control_channel, "list_subshell_request")["content"]
    assert listed["subshell_id"] == [subshell], listed
    reply, printed = execute("%hm runs", subshell)
    assert reply["content"]["status"] == "ok" and "no runs yet" in printed, (reply, printed)
    assert reply["parent_header"]["subshell_id"] == subshell, reply
    reply, _ = execute("%hm stop nothing", subshell)
    assert reply["content"]["status"] == "error" and "no run" in reply["content"]["evalue"], reply
    found = ask(client.shell_channel, "complete_request", {"code": "%hm res", "cursor_pos": 7}, subshell)["content"]
    assert found["matches"] == ["resume"], found
    deleted = ask(client.control_channel, "delete_subshell_request", {"subshell_id": subshell})["content"]
    assert deleted["status"] == "ok", deleted
    manager.interrupt_kernel()
    while client.get_shell_msg(timeout=TIMEOUT)["parent_header"].get("msg_id") != running:
        pass
    print("a subshell runs %hm lines while a cell runs")
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
