"""What is shared has a share: the figures of all places, and connections and bodies. Streams: test_events_stream.py;
shells and inferences: tests/local/test_machine_places.py."""

import contextlib
import re
import select
import socket

from people import make_person

BODY = 1_000_000


def figure(server, place, what):
    name = {"bound": "prorata_places", "taken": "prorata_places_taken", "refused": "prorata_places_refused_total"}[what]
    return int(re.search(rf'^{name}{{place="{place}"}} (\d+)$', server.get("/metrics").body.decode(), re.M)[1])


def refusals(server, place):
    """Lines of the log."""
    lines = server.tail(100000).splitlines()
    return [line for line in lines if "places are scarce" in line and f"place={place} " in line]


def test_all_places_have_figures(module_server):
    bounds = {
        "streams": 64,
        "shells": 256,
        "questions": 8,
        "sign-ins": 64,
        "issuer-calls": 16,
        "connections": 256,
        "body-mebibytes": 16,
        "answer-mebibytes": 64,
    }
    assert {place: figure(module_server, place, "bound") for place in bounds} == bounds
    assert figure(module_server, "connections", "taken") >= 1, "that of the question"


def test_places_of_connections_are_shared_between_addresses(make_server):
    """A quarter of 16 for one address; others get in."""
    server = make_server("--http-threads", "16", "--metrics-open")
    with contextlib.ExitStack() as held:
        for _ in range(40):
            half = held.enter_context(socket.create_connection(("127.0.0.1", server.port), 60, ("127.0.0.2", 0)))
            with contextlib.suppress(OSError):  # it is cut already
                half.sendall(b"GET /healthz HTTP/1.1\r\n")
        server.wait_for("some are cut", lambda: figure(server, "connections", "refused") > 0)
        assert server.get("/healthz").status == 200
    lines = server.wait_for("a line in the log", lambda: refusals(server, "connections"))
    assert 'address="127.0.0.2"' in lines[0]


def begin_body(server, token):
    connection = socket.create_connection(("127.0.0.1", server.port), 60)
    head = f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {BODY}"
    connection.sendall(f"POST /api/v1/workloads/trainings HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n{{".encode())
    return connection


def test_places_of_bodies_are_shared_between_people(make_server):
    """Four of 16 MiB for one account, which are four bodies; the fifth hears 503 while those come."""
    server = make_server("--quick-start")
    place = ("L1 researcher", "project", server.project_id("team-a"))
    greedy, other = (make_person(server, f"person-{i}@example.org", place) for i in range(2))

    def is_refused():
        """Those that come too slowly hear 408 after 5 s, and are begun again."""
        with contextlib.ExitStack() as held:
            bodies = [held.enter_context(begin_body(server, greedy)) for _ in range(5)]
            answered = select.select(bodies, [], [], 60)[0]
            try:
                if b" 503 " not in answered[0].recv(65536).split(b"\r\n")[0]:
                    return False
            except ConnectionResetError:  # the answer went with what was not read
                return False
            for token in (other, "admin"):
                answer = server.request("POST", "/api/v1/workloads/trainings", b" " * BODY, token=token)
                assert answer.status in (400, 415), answer
            return True

    server.wait_for("the fifth is refused", is_refused)
    assert figure(server, "body-mebibytes", "refused") >= 1
    server.wait_for("a line in the log", lambda: refusals(server, "body-mebibytes"))
