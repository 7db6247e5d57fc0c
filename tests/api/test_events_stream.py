"""GET /events/stream: what changed, from where one left off, for those who may see it; and logs that are followed."""

import json
import socket
import time

import pytest
from test_access import make_caller
from test_workloads_list import researcher


class Stream:
    """A stream read line by line from a socket of its own."""

    def __init__(self, server, path="/api/v1/events/stream", token=None, **headers):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        headers = {
            "Host": "localhost",
            "Authorization": "Bearer " + (token or server.token or server.sign_in()),
            **headers,
        }
        self.socket.sendall(
            (f"GET {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode()
        )
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        for line in iter(self.file.readline, b"\r\n"):
            name, value = line.decode().split(":", 1)
            self.headers[name.lower()] = value.strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()

    def block(self):
        """The fields up to the next empty line; None at the end of the stream."""
        fields = {}
        while True:
            line = self.file.readline().decode()
            if not line:
                return None
            line = line.rstrip("\n")
            if not line:
                return fields
            name, _, value = line.partition(": ")
            fields[name] = value

    def event(self, seconds=60):
        """The next event with data, as (event, id or None, data)."""
        until = time.monotonic() + seconds
        while True:
            assert time.monotonic() < until, "no event but heartbeats"
            fields = self.block()
            if fields is None:
                return None
            if "data" in fields:
                return fields["event"], int(fields["id"]) if "id" in fields else None, json.loads(fields["data"])

    def read_to_the_end(self, seconds=60):
        until = time.monotonic() + seconds
        while self.file.readline():
            assert time.monotonic() < until, "it has no end"

    def until(self, kind, thing=None):
        while True:
            event, number, data = self.event()
            if event == "change" and data["kind"] == kind and thing in (None, data["id"]):
                return number, data


def test_stream_says_what_changed(server):
    with Stream(server) as stream:
        assert stream.status == 200 and stream.headers["content-type"] == "text/event-stream"
        first = stream.block()
        assert int(first["retry"]) > 0 and int(first["id"]) > 0
        workload_id = server.submit("t1", "team-a")
        seen = {}
        while not {"workload", "pod", "event", "queue"} <= set(seen):
            event, _, data = stream.event()
            assert event == "change" and data["revision"] > int(first["id"])
            seen[data["kind"]] = data["id"]
        assert seen["workload"] == workload_id


def test_stream_goes_on_from_the_last_event(server):
    with Stream(server) as stream:
        start = int(stream.block()["id"])
    workload_id = server.submit("t1", "team-a")
    server.wait_phase(workload_id, "Running")
    with Stream(server, **{"Last-Event-ID": str(start)}) as stream:
        number, data = stream.until("workload", workload_id)
        while number is None:  # the id stands with the last change of a revision
            number = stream.event()[1]
    second = server.submit("t2", "team-b")
    with Stream(server, f"/api/v1/events/stream?lastEventId={number}") as stream:
        _, data = stream.until("workload", second)
        assert data["revision"] > number


def test_stream_from_the_sessions_revision_misses_nothing(server):
    revision = server.get("/api/v1/session").json["revision"]
    workload_id = server.submit("t1", "team-a")
    server.wait_phase(workload_id, "Running")
    with Stream(server, f"/api/v1/events/stream?lastEventId={revision}") as stream:
        assert stream.until("workload", workload_id)[1]["revision"] > revision


@pytest.mark.parametrize("last", ["9000000000000000000", "4611686018427387904"])
def test_stream_resets_who_comes_from_another_life(server, last):
    with Stream(server, **{"Last-Event-ID": last}) as stream:
        event, number, data = stream.event()
        assert event == "reset" and number == data["revision"] < int(last)


def test_stream_resets_who_was_away_over_a_restart(server):
    with Stream(server) as stream:
        before = int(stream.block()["id"])
    server.submit("t1", "team-a")
    server.wait_for(
        "all is quiet", lambda: server.get("/api/v1/workloads/count", filterBy="phase==Running").json["count"] == 1
    )
    assert server.stop() == 0
    server.start()
    with Stream(server, **{"Last-Event-ID": str(before)}) as stream:
        assert stream.event()[0] == "reset"


@pytest.mark.parametrize("last", ["-1", "x", "1.5", "99999999999999999999"])
def test_stream_refuses_a_bad_last_event(module_server, last):
    with Stream(module_server, **{"Last-Event-ID": last}) as stream:
        assert stream.status == 400


def test_stream_shows_only_what_the_caller_may_see(server):
    token = researcher(server, "reader-b", "team-b")
    with Stream(server, token=token) as stream:
        assert stream.status == 200
        stream.block()
        foreign = server.submit("t1", "team-a")
        server.wait_phase(foreign, "Running")
        own = server.submit("t2", "team-b")
        seen = []
        while not seen or seen[-1] != ("workload", own):
            _, _, data = stream.event()
            seen.append((data["kind"], data["id"]))
    ids = {thing for _, thing in seen}
    assert foreign not in ids and server.project_id("team-a") not in ids
    assert not {kind for kind, _ in seen} & {"setting", "access", "node"}


def test_stream_needs_a_caller(server):
    answer = server.request("GET", "/api/v1/events/stream", token=None)
    assert answer.status == 401


def test_places_are_shared_between_people(make_server):
    """64 threads have 16 places: 4 for one account, the last 2 for administrators."""
    server = make_server(
        "--quick-start", "--http-threads", "64", "--trusted-proxy", "127.0.0.1"
    )  # an address has no share of connections
    tokens = [researcher(server, f"reader-{i}", "team-a") for i in range(4)]
    own = [Stream(server, token=tokens[0]) for _ in range(4)]
    assert [stream.status for stream in own] == [200] * 4
    with Stream(server, token=tokens[0]) as refused:
        assert refused.status == 503 and b"you hold 4, all that one account may have of 16" in refused.file.read()
    others = [Stream(server, token=token) for token in tokens[1:] for _ in range(4)]
    assert [stream.status for stream in others] == [200] * 10 + [503] * 2
    with Stream(server, token=tokens[3]) as refused:
        assert refused.status == 503 and b"streams: all 16 places are taken" in refused.file.read()
    administrators = [Stream(server) for _ in range(3)]
    assert [stream.status for stream in administrators] == [200, 200, 503]
    for stream in own + others + administrators:
        stream.__exit__()
    for _ in range(30):  # a page that is loaded again and again: nothing is written that shows who has gone
        with Stream(server, token=tokens[0]) as stream:
            assert stream.status == 200


def test_who_has_no_role_has_no_stream(server):
    _, token = make_caller(server, "nobody")
    with Stream(server, token=token) as stream:
        assert stream.status == 403


def test_stream_ends_when_the_server_stops(server):
    with Stream(server) as stream:
        stream.block()
        assert server.stop() == 0
        while stream.event() is not None:
            pass


def test_followed_logs_end_with_the_pod(server):
    workload_id = server.submit(
        "t1", "team-a", spec={"annotations": [{"name": "prorata.io/sim-duration", "value": "1h"}]}
    )
    server.wait_phase(workload_id, "Running")
    with Stream(server, f"/api/v1/workloads/{workload_id}/logs?follow=true") as stream:
        assert stream.status == 200 and stream.headers["content-type"].startswith("text/plain")
        assert stream.file.readline() and stream.file.readline()
        assert server.request("PUT", "/api/v1/simulation/clock", {"speed": 100000}).status == 200
        stream.read_to_the_end()
    assert server.wait_phase(workload_id, "Completed")
    with Stream(server, f"/api/v1/workloads/{workload_id}/logs?follow=true&pod=nobody") as stream:
        assert stream.status == 404
