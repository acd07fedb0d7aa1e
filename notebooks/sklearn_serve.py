"""Serve scores of scikit-learn's GaussianMixture by FastAPI, and load a service with requests, for speed.py.

    sklearn_serve.py write FILE              write a table of 5,000 rows and eight columns
    sklearn_serve.py serve FILE              fit a mixture of three Gaussians to the table, print the address in JSON, and serve
                                             POST /score until a signal
    sklearn_serve.py load ADDRESS ROWS CLIENTS SECONDS
                                             send requests to /score with this many rows, from this many clients at once, and print
                                             the rows a second and the median and the 99th percentile of the latency in milliseconds
"""

import csv
import http.client
import json
import random
import statistics
import sys
import threading
import time

NAMES = [f"x{k}" for k in range(8)]


def rows(n, seed):
    source = random.Random(seed)
    centres = [[source.gauss(0, 3) for _ in NAMES] for _ in range(3)]
    return [[round(c + source.gauss(0, 1), 3) for c in source.choice(centres)] for _ in range(n)]


def write(path):
    with open(path, "w", newline="") as f:
        csv.writer(f).writerows([NAMES] + rows(5000, 1))


def serve(path):
    import socket

    import fastapi
    import numpy
    import pydantic
    import sklearn.mixture
    import uvicorn

    mixture = sklearn.mixture.GaussianMixture(3, random_state=1).fit(numpy.loadtxt(path, delimiter=",", skiprows=1))
    row = pydantic.create_model("Row", **{name: (float, ...) for name in NAMES})
    body = pydantic.create_model("Body", rows=(list[row], ...))
    app = fastapi.FastAPI()

    @app.post("/score")
    def score(q: body):
        log_p = mixture.score_samples(numpy.array([[getattr(r, name) for name in NAMES] for r in q.rows]))
        return {"unit": "nats", "rows": [{"row": k + 1, "log_p": v} for k, v in enumerate(log_p.tolist())]}

    listener = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"address": "http://127.0.0.1:%d" % listener.getsockname()[1]}), flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


def load(address, n, clients, seconds):
    body = json.dumps({"rows": [dict(zip(NAMES, row)) for row in rows(n, 2)]})
    latencies, failures = [], []
    ready, end = threading.Barrier(clients), []

    def client():
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
        for timed in False, True:
            if timed:
                if ready.wait() == 0:
                    end.append(time.perf_counter() + seconds)
                ready.wait()
            while True:
                start = time.perf_counter()
                connection.request("POST", "/score", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                if answer.status != 200 or len(json.loads(answer.read())["rows"]) != n:
                    failures.append(answer.status)
                if not timed:
                    break
                latencies.append(time.perf_counter() - start)
                if time.perf_counter() > end[0]:
                    return

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit(f"{len(failures)} requests failed, the first with status {failures[0]}")
    cuts = statistics.quantiles(latencies, n=100)
    print(len(latencies) * n / seconds, 1000 * statistics.median(latencies), 1000 * cuts[98])


if __name__ == "__main__":
    if sys.argv[1] == "load":
        load(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    else:
        {"write": write, "serve": serve}[sys.argv[1]](sys.argv[2])
