"""Everything at once: writers, readers, streams, a failing node, metrics, a drain in the midst. Run under
ThreadSanitizer, whose reports fail the test through the server's log and exit status."""

import socket
import threading

import pytest

ROUNDS = 12


class Crew:
    """Threads whose first failure is the test's."""

    def __init__(self):
        self.threads, self.failures = [], []

    def start(self, work, *arguments):
        def run():
            try:
                work(*arguments)
            except Exception as failure:  # re-raised by join
                self.failures.append(failure)

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()

    def join(self):
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]


def write(server, project, name):
    for i in range(ROUNDS):
        workload = server.submit(f"{name}-{i}", project, 1)
        assert server.post(f"/api/v1/workloads/trainings/{workload}/suspend").status == 202
        assert server.post(f"/api/v1/workloads/trainings/{workload}/resume").status == 202
        assert server.delete(f"/api/v1/workloads/trainings/{workload}").status == 202


READS = [
    "/api/v1/workloads?sortBy=createdAt&sortOrder=desc",
    "/api/v1/workloads/count",
    "/api/v1/nodes",
    "/api/v1/org-unit/projects",
    "/api/v1/node-pools",
    "/api/v1/scheduler/snapshot",
    "/metrics",
    "/readyz",
    "/api/v1/workloads/pods",
    "/api/v1/nodes/telemetry?telemetryType=ALLOCATED_GPUS",
    "/",
    "/api/v1/swagger.json",
]


def read(server):
    for _ in range(ROUNDS):
        for path in READS:
            answer = server.request("GET", path)
            assert answer.status == 200, (path, answer)


def sign_in(server):
    for i in range(3):
        assert server.request(
            "POST",
            "/api/v1/token",
            {"grantType": "password", "username": "nobody@example.com", "password": str(i)},
            token=None,
        ).status in (400, 429)


def follow(server, over):
    """An event stream, read until told; the server may end it when it stops."""
    head = f"GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=1) as connection:
        connection.sendall(head.encode())
        while not over.is_set():
            try:
                if not connection.recv(65536):
                    return
            except TimeoutError:
                continue
            except ConnectionResetError:
                return


def fail_nodes(server):
    node = server.get("/api/v1/simulation/nodes").json["nodes"][0]["name"]
    for _ in range(ROUNDS // 2):
        assert server.post(f"/api/v1/simulation/nodes/{node}/fail").status == 202
        assert server.post(f"/api/v1/simulation/nodes/{node}/recover").status == 202


@pytest.mark.parametrize("is_stopped_in_the_midst", [False, True], ids=["to the end", "stopped in the midst"])
def test_everything_at_once(make_server, is_stopped_in_the_midst):
    server = make_server("--quick-start", "--log-level", "warn")
    server.sign_in()
    over = threading.Event()
    streams, crew = Crew(), Crew()
    for _ in range(3):
        streams.start(follow, server, over)
    for number in range(2):
        crew.start(write, server, "team-a", f"a{number}")
        crew.start(write, server, "team-b", f"b{number}")
        crew.start(read, server)
    crew.start(fail_nodes, server)
    crew.start(sign_in, server)
    if is_stopped_in_the_midst:
        server.wait_for("some work", lambda: server.get("/api/v1/workloads").json["workloads"])
        assert server.stop() == 0
        for thread in crew.threads:
            thread.join()  # their requests fail from now on
    else:
        crew.join()
        assert server.stop() == 0
    over.set()
    streams.join()
