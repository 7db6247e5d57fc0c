"""A start answers its probes before the database is open, says what it waits for, and obeys a signal meanwhile."""

import re

import old_folder
import pytest
from servers import Server

NEWEST = old_folder.NUMBERS[-1]


# The files whose writing is held, and what /readyz says then: a small file is written at the end.
HELD = {
    ".before-part": f"migrating: the database is copied before migration 2 of {NEWEST}",
    "prorata.db-wal": f"migrating: migration {NEWEST} of {NEWEST} runs",
}


@pytest.fixture
def migrating(folder, failing_disk):
    """(server, order): on a folder of schema 1, not started; writing order holds what it does to its files."""
    environment, order = failing_disk
    server = Server(folder, environment=environment)
    old_folder.write(server.data)
    yield server, order
    order.unlink(missing_ok=True)
    server.stop()


def start(server):
    """Starts it and returns when its port is known."""
    server.log.write_text("")
    server.start(wait=False)
    server.port = int(
        server.wait_for("the port", lambda: re.search(r"migrating: .* port=(\d+)", server.tail())).group(1)
    )


def reason(server):
    answer = server.request("GET", "/readyz", token=None)
    return answer.json["message"] if answer.status == 503 else ""


def hold(server, order, held):
    order.write_text("hold " + held)
    start(server)
    server.wait_for("the held step", lambda: reason(server) == HELD[held])


@pytest.mark.parametrize("held", HELD)
def test_probes_say_what_a_start_waits_for(migrating, held):
    server, order = migrating
    hold(server, order, held)
    message = HELD[held]
    assert server.request("GET", "/healthz", token=None).status == 200
    for method, path in (
        ("GET", "/api/v1/workloads"),
        ("POST", "/api/v1/token"),
        ("GET", "/"),
        ("GET", "/metrics"),
        ("GET", "/nowhere"),
    ):
        answer = server.request(method, path, token=None)
        assert answer.status == 503 and answer.headers["Retry-After"], (path, answer)
        assert answer.json["message"] == "the server is starting: " + message
    order.unlink()
    server.wait_ready()
    assert len(server.get("/api/v1/workloads").json["workloads"]) == 7 and old_folder.version(server.data) == NEWEST


def test_a_migration_asks_the_service_manager_for_time(migrating, manager):
    server, order = migrating
    server.environment["NOTIFY_SOCKET"] = manager.path
    hold(server, order, "prorata.db-wal")
    server.wait_for("the status", lambda: "STATUS=" + HELD["prorata.db-wal"] in manager.hear())
    held = manager.hear().count("EXTEND_TIMEOUT_USEC=300000000")
    assert held >= 1 and "READY=1" not in manager.lines
    order.unlink()
    server.wait_ready()
    server.wait_for("READY", lambda: "READY=1" in manager.hear())


@pytest.mark.parametrize("held, version", [(".before-part", 1), ("prorata.db-wal", NEWEST)])
def test_a_signal_ends_a_start_between_two_steps(migrating, held, version):
    server, order = migrating
    hold(server, order, held)
    server.process.terminate()
    server.wait_for("the signal is taken", lambda: reason(server) == "stopping")
    order.unlink()
    assert server.process.wait(60) == 0 and "before the start was done" in server.tail()
    assert old_folder.version(server.data) == version
    server.port = None
    server.start()
    assert len(server.get("/api/v1/workloads").json["workloads"]) == 7


@pytest.mark.parametrize("held", HELD)
def test_a_start_that_was_killed_is_begun_again(migrating, held):
    server, order = migrating
    hold(server, order, held)
    server.kill()
    order.unlink()
    assert old_folder.version(server.data) == 1
    server.port = None
    server.start()
    assert len(server.get("/api/v1/workloads").json["workloads"]) == 7
    assert [path.name for path in server.data.glob("prorata.db.before-*")] == ["prorata.db.before-2"]


def test_a_start_that_fails_says_why_and_closes_its_port(folder):
    server = Server(folder)
    server.data.mkdir(mode=0o700)
    (server.data / "prorata.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    server.start(wait=False)
    assert server.process.wait(60) != 0 and "prorata.db" in server.tail()
