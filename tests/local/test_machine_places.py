"""What is shared has a share: one person, pod or address takes all that one may have, and others still get in."""

import os
import re
import socket
import subprocess
import sys
import urllib.request

import pytest
from people import make_person
from pods import submit

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="users of the machine are needed")
# Answers a whole request, and holds what is no whole one.
REPLICA = """
import asyncio, os
async def serve(reader, writer):
    try:
        await reader.readuntil(b"\\r\\n\\r\\n")
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\nConnection: close\\r\\n\\r\\nhere")
        await writer.drain()
    except (asyncio.IncompleteReadError, OSError):
        pass
    writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ["PORT"]), backlog=1024)
    await server.serve_forever()
asyncio.run(main())
"""
# Connects so many times, says something, and tells for each line of its input how many connections are still there.
HOLDER = """
import select, socket, sys
port, count, said = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].encode()
held = []
for i in range(count):
    own = f"127.0.{i // 200 + 1}.{i % 200 + 1}"
    held.append(socket.create_connection(("127.0.0.1", port), 60, source_address=(own, 0)))
    held[-1].sendall(said)
for line in sys.stdin:
    gone = select.poll()
    for one in held:
        gone.register(one, select.POLLRDHUP)
    print(count - len(gone.poll(0)), flush=True)
"""


def figures(server, place):
    """Bound, taken, refused."""
    text = server.get("/metrics").body.decode()
    names = ("prorata_places", "prorata_places_taken", "prorata_places_refused_total")
    return tuple(int(re.search(rf'^{name}{{place="{place}"}} (\d+)$', text, re.M)[1]) for name in names)


def refusals(server, place):
    """Lines of the log."""
    return [
        line for line in server.tail(100000).splitlines() if "places are scarce" in line and f"place={place} " in line
    ]


class Holder:
    """Connections of a user of this machine to one port, from many addresses of loopback."""

    def __init__(self, user, url, count, said=""):
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, url.rsplit(":", 1)[1], str(count), said],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            user=user,
            group=user,
            extra_groups=[],
        )

    def count(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def done(self):
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def hold():
    made = []

    def make(*words):
        made.append(Holder(*words))
        return made[-1]

    yield make
    for holder in made:
        holder.done()


def call(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def serve(server, folder, name, project, **scaling):
    """An inference, and its address."""
    folder.chmod(0o755)
    script = folder / "replica.py"
    script.write_text(REPLICA)
    script.chmod(0o644)
    spec = {"command": "/usr/bin/python3", "args": str(script), "workingDir": str(folder), **scaling}
    workload = server.submit(name, project, 0, "inferences", spec)
    server.wait_phase(workload, "Running")
    (url,) = server.workload(workload)["urls"]
    return url


@needs_root
@pytest.mark.parametrize("said", ["", "GET / HTTP/1.1"], ids=["idle", "in the middle of a request"])
def test_places_of_inferences_are_shared(start, folder, hold, said):
    """1,000: 250 for one caller, 500 for one inference. Where all are taken, who holds least still gets in."""
    server = start()
    alpha, bravo = serve(server, folder, "alpha", "team-a"), serve(server, folder, "bravo", "team-b")
    assert call(alpha) == call(bravo) == "here"
    greedy = hold(65531, alpha, 300, said)
    server.wait_for("a quarter, whatever address it comes from", lambda: greedy.count() == 250)
    assert figures(server, "inferences")[:2] == (1000, 250)
    assert call(alpha) == call(bravo) == "here"
    others = [hold(65532, alpha, 250, said), hold(65533, bravo, 250, said), hold(65534, bravo, 250, said)]
    server.wait_for("all taken", lambda: figures(server, "inferences")[:2] == (1000, 1000))
    for _ in range(3):
        assert call(alpha) == call(bravo) == "here"
    assert greedy.count() + sum(other.count() for other in others) >= 994, "one goes for each that comes"
    assert figures(server, "inferences")[2] >= 52
    server.wait_for("a line in the log", lambda: refusals(server, "inferences"))
    assert len(refusals(server, "inferences")) < 52, "one for all of a minute"


def test_who_leaves_while_waiting_for_a_replica_has_no_place(start, folder):
    """Both who is gone and who sends no more; who is still there waits on."""
    server = start()
    url = serve(
        server,
        folder,
        "none",
        "team-a",
        autoscaling={"minReplicas": 0, "maxReplicas": 1, "initialReplicas": 0},
        command="false",
    )
    address = ("127.0.0.1", int(url.rsplit(":", 1)[1]))
    waiting = [socket.create_connection(address, 60) for _ in range(6)]
    server.wait_for("all wait", lambda: figures(server, "inferences")[1] == 6)
    for one in waiting[:2]:
        one.close()
    for one in waiting[2:4]:
        one.shutdown(socket.SHUT_WR)
    server.wait_for("those have no place", lambda: figures(server, "inferences")[1] == 2)
    assert waiting[2].recv(1) == waiting[3].recv(1) == b""
    for one in waiting:
        one.close()


@pytest.fixture
def machine(start):
    return start("--workloads-per-person", "100")


def test_places_of_shells_are_shared_between_people(machine):
    """256: 64 for one account, the last 32 for administrators."""
    place = [("L1 researcher", "project", machine.project_id("team-a"))]
    tokens = [make_person(machine, f"person-{i}@example.org", *place) for i in range(4)]
    pods = [submit(machine, f"pod-{i}", "sleep 1000", gpus=0) for i in range(15)]
    for pod in pods:
        machine.wait_phase(pod, "Running")

    def enter(pod, token):
        return machine.request("POST", f"/api/v1/workloads/{pod}/exec", {"command": ["sleep", "1000"]}, token=token)

    wanted = [pods[i // 16] for i in range(224)]
    for i, pod in enumerate(wanted):
        assert enter(pod, tokens[i // 64]).status == 201, i
    for token, why in (
        (tokens[0], "you hold 64, all that one account may have of 256"),
        (tokens[3], "all 256 places are"),
    ):
        refused = enter(pods[14], token)
        assert refused.status == 503 and f"shells: {why}" in refused.json["message"], refused
    assert refused.headers["Retry-After"]
    assert figures(machine, "shells") == (256, 224, 2)
    machine.wait_for("a line in the log", lambda: refusals(machine, "shells"))
    assert enter(pods[14], "admin").status == 201
