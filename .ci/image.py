"""Run notebooks in a JupyterLab of this machine as a browser does, over HTTP and its
websockets, with the token test, and fail where a cell does: image.py URL SECONDS NOTEBOOK...

SECONDS is when the image was started, in seconds since 1970."""

import asyncio
import json
import sys
import time
import urllib.request
import uuid

import tornado.websocket

FIRST_CELL = 3  # seconds
PATIENCE = 60  # seconds for JupyterLab to start


def call(url, body=None):
    """What the server answers to a request, as JSON says it."""
    request = urllib.request.Request(url, json.dumps(body).encode() if body else None, {"Authorization": "token test"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def wait_for(url):
    """Return once the page of JupyterLab can be loaded."""
    for _ in range(10 * PATIENCE):
        try:
            return urllib.request.urlopen(url + "/lab?token=test").read()
        except OSError:
            time.sleep(0.1)
    sys.exit(f"image.py: no JupyterLab answers at {url}")


async def execute(socket, session, code):
    """Run a cell, and return when the kernel is idle again."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "session": session, "username": "", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True}
    await socket.write_message(json.dumps(
        {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell", "buffers": []}))
    idle = reply = None
    while not (idle and reply):
        message = json.loads(await socket.read_message())
        if message["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        if message["msg_type"] == "execute_reply":
            reply = message["content"]
        idle = idle or message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
    if reply["status"] != "ok":
        sys.exit("image.py: a cell failed:\n" + code + "\n" + "\n".join(reply.get("traceback", [])))


async def run(url, path):
    cells = call(f"{url}/api/contents/{path}")["content"]
    kernel = cells["metadata"]["kernelspec"]["name"]
    began = time.monotonic()
    session = call(url + "/api/sessions", {"path": path, "name": path, "type": "notebook", "kernel": {"name": kernel}})
    channels = f"{url}/api/kernels/{session['kernel']['id']}/channels?token=test&session_id={session['id']}"
    socket = await tornado.websocket.websocket_connect(channels.replace("http", "ws", 1), max_message_size=1 << 30)
    times = []
    for cell in cells["cells"]:
        if cell["cell_type"] == "code":
            await execute(socket, session["id"], "".join(cell["source"]))
            times.append(time.monotonic() - began)
            began = time.monotonic()
    socket.close()
    print(f"{path}: {len(times)} cells in {sum(times):.1f} s, the first in {times[0]:.1f} s", flush=True)
    return times[0]


async def main():
    url, started, *notebooks = sys.argv[1:]
    wait_for(url)
    print(f"JupyterLab can be used {time.time() - float(started):.1f} s after the start of the image", flush=True)
    if b"Helmholtz" not in urllib.request.urlopen(url + "/static/index.html").read():
        sys.exit("image.py: %hm docs would not show the site")
    first = [await run(url, path) for path in notebooks]
    if first[0] > FIRST_CELL:
        print(f"image.py: the first cell took more than {FIRST_CELL} s: on a machine that does nothing else it should not")


asyncio.run(main())
