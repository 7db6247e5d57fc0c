"""Slow clients: each loses its own connection, and nobody else waits."""

import contextlib
import http.client
import os
import re
import socket
import threading
import time

import hostile
import pytest
from slow_clients import KINDS, slow_clients
from test_events_stream import Stream

BOUND = 5  # seconds; a second, and what a busy machine adds


def dribble(connection, over):
    """A byte now and then, until told or the server has had enough."""
    while not over.is_set():
        try:
            connection.send(b"x")
        except OSError:
            return
        time.sleep(0.2)


def test_a_body_that_dribbles_in_is_answered_408(server):
    over = threading.Event()
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(
        b"POST /api/v1/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
    )
    feeder = threading.Thread(target=dribble, args=(connection, over))
    feeder.start()
    try:
        got = b""
        while piece := connection.recv(65536):
            got += piece
    except ConnectionResetError:
        pass
    finally:
        over.set()
        feeder.join()
        connection.close()
    assert got.startswith(b"HTTP/1.1 408 "), got[:200]
    assert b"Connection: close" in got and b"it came too slowly" in got


def test_a_refused_body_is_not_waited_for(server):
    """The answer comes at once and the connection ends, though five megabytes were promised."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    connection.sendall(b"POST /api/v1/token HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n")
    got = b""
    while piece := connection.recv(65536):
        got += piece
    connection.close()
    assert got.startswith(b"HTTP/1.1 413 ")


def test_half_sent_requests_hold_up_nobody(make_server):
    """One address gets a quarter of the threads; the rest answer others, here under another loopback address."""
    server = make_server("--quick-start", environment={"PRORATA_HTTP_THREADS": "16"})
    halves = []
    try:
        for _ in range(40):
            halves.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            halves[-1].sendall(b"GET /healthz HTTP/1.1\r\n")
        with socket.create_connection(("127.0.0.1", server.port), timeout=60, source_address=("127.0.0.2", 0)) as other:
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert other.recv(65536).startswith(b"HTTP/1.1 200 ")
    finally:
        for half in halves:
            half.close()
    refused = server.wait_for(
        "the metric",
        lambda: [line for line in metrics(server) if line.startswith("prorata_http_connections_refused_total ")],
    )
    assert int(float(refused[0].split()[1])) > 0


def metrics(server):
    return server.get("/metrics").body.decode().splitlines()


def metric(server, name):
    return next(float(line.split()[-1]) for line in metrics(server) if line.startswith(name + " "))


def cut(server, reason):
    return metric(server, 'prorata_http_connections_cut_total{reason="%s"}' % reason)


# What the server then waits for, and cuts; None: these clients hold no worker.
REASONS = {
    "head": "head",
    "nothing": "head",
    "body": "body",
    "chunks": "body",
    "continue": "body",
    "idle": "idle",
    "garbage": None,
    "half-closed": None,
    "reading": "answer",
}


def time_others(server, kind):
    """What requests and sign-ins of others take beside six hundred slow clients from sixty addresses: more than there
    are threads."""
    reason = REASONS[kind]
    before = cut(server, reason) if reason else 0
    times = []
    with slow_clients(server.port, kind):
        for i in range(10):
            begin = time.monotonic()
            if i < 8:
                assert server.get("/api/v1/workloads", limit=1).status == 200
            else:
                server.sign_in()
            times.append(time.monotonic() - begin)
        if reason:
            server.wait_for("a cut", lambda: cut(server, reason) > before)
    return sorted(times)


@pytest.mark.parametrize("kind", KINDS)
def test_others_are_answered_beside_six_hundred_slow_clients(module_server, kind):
    time_others(module_server, kind)


@pytest.mark.skipif(not os.environ.get("PRORATA_LONG"), reason="measures time; make test-long")
@pytest.mark.parametrize("kind", KINDS)
def test_six_hundred_slow_clients_hold_up_nobody(module_server, kind):
    assert time_others(module_server, kind)[-2] < BOUND, "one may meet the moment in which all come"


def test_a_connection_that_rests_is_kept_while_there_are_places(server):
    """Over a stream's silence of 15 s; how long it is kept at least, the answer says."""
    rests = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    with Stream(server) as stream:
        for is_first in (True, False):
            rests.request("GET", "/healthz")
            answer = rests.getresponse()
            answer.read()
            assert answer.status == 200 and answer.headers["Connection"] == "keep-alive"
            assert int(answer.headers["Keep-Alive"].removeprefix("timeout=")) >= 15
            while is_first and stream.block().get("") != "heartbeat":
                pass
    assert cut(server, "idle") == 0
    rests.close()


def test_slow_bodies_behind_a_proxy_count_for_the_clients_it_names(make_server):
    """All connections come from one address; whose bodies they are, the proxy says."""
    server = make_server("--quick-start", "--trusted-proxy", "127.0.0.1", environment={"PRORATA_HTTP_THREADS": "16"})
    head = (
        b"POST /api/v1/token HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\n"
        b"Content-Length: 500\r\n\r\n{"
    )
    with contextlib.ExitStack() as stack:

        def begin(client):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            connection.sendall(head % client)
            return connection

        honest = begin(b"203.0.113.1")
        greedy = [begin(b"203.0.113.2") for _ in range(20)]
        assert greedy[0].recv(65536).startswith(b"HTTP/1.1 408 ")
        honest.sendall(b" " * 499)
        assert honest.recv(65536).startswith(b"HTTP/1.1 400 "), "the whole body was read: there is no JSON in it"


def test_streams_have_places_and_an_end(make_server):
    """A quarter of the threads may be streams, and a quarter of these one account's; the next is told to come again,
    and ordinary requests go on."""
    server = make_server("--quick-start", environment={"PRORATA_HTTP_THREADS": "32"})
    token = server.sign_in()
    head = f"GET /api/v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    streams = []
    try:
        statuses = []
        for i in range(9):
            connection = socket.create_connection(
                ("127.0.0.1", server.port), timeout=60, source_address=(f"127.0.0.{2 + i}", 0)
            )
            streams.append(connection)
            connection.sendall(head)
            statuses.append(int(connection.recv(65536).split()[1]))
        assert statuses == [200] * 2 + [503] * 7
        assert server.get("/api/v1/clusters").status == 200
    finally:
        for connection in streams:
            connection.close()
    assert server.stop() == 0  # streams end when the server stops


def test_an_answer_without_body_read_closes_the_connection(server):
    """GET with a body: answered, and what follows is not taken for a request."""
    data = b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 38\r\n\r\nGET /readyz HTTP/1.1\r\nHost: x\r\n\r\n12345"
    assert hostile.answers(server.port, data) == 1


def one_more(server, seen):
    """The clients of requests for nonsense, as logged, once they are one more than those seen."""
    found = re.findall(r'path="/api/v1/nonsense".*remote=(\S+)', server.log.read_text())
    return found if len(found) > len(seen) else None


def test_only_a_trusted_proxy_names_the_client(make_server):
    """The log and the limits of sign-in go by the address that the proxy itself appended."""
    trusting = make_server("--quick-start", "--trusted-proxy", "127.0.0.1")
    other = make_server("--quick-start")
    for server, wanted in ((trusting, ["203.0.113.9", "127.0.0.1"]), (other, ["127.0.0.1", "127.0.0.1"])):
        seen = []
        for forwarded in ("198.51.100.7, 203.0.113.9", "nonsense"):
            server.request("GET", "/api/v1/nonsense", token=None, headers={"X-Forwarded-For": forwarded})
            # The line follows the answer.
            seen = server.wait_for("its line", lambda: one_more(server, seen))
        assert seen == wanted
