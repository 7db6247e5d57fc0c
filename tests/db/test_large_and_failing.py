"""A start does not read the whole database, damage is told wherever it is met, and a disk is called full only where it
is."""

import os
import pathlib
import sqlite3

import old_folder
import pytest
from servers import Server

MIB = 1 << 20


def ready(server):
    try:
        answer = server.request("GET", "/readyz", token=None)
    except ConnectionRefusedError:
        return 0, ""
    return answer.status, answer.body.decode()


def grow(server, mib):
    """Puts that much into a table that nobody reads."""
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("CREATE TABLE ballast(data BLOB) STRICT")
        database.executemany("INSERT INTO ballast VALUES (zeroblob(?))", [(MIB,)] * mib)
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()


def read_bytes(server):
    counts = dict(line.split(": ") for line in pathlib.Path(f"/proc/{server.process.pid}/io").read_text().splitlines())
    return int(counts["rchar"])


def damage_ballast(server):
    with sqlite3.connect(server.data / "prorata.db") as database:
        page = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'ballast'").fetchone()[0]
    database.close()
    with open(server.data / "prorata.db", "r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


def test_a_start_does_not_read_the_whole_database(make_server):
    server = make_server("--quick-start")
    assert server.stop() == 0
    grow(server, 300)
    server.start()
    assert read_bytes(server) < 40 * MIB
    assert ready(server)[0] == 200


def test_a_start_reads_no_workload_that_is_over(folder):
    server = Server(folder)
    hour_ago = "(1000 * unixepoch()) - 3600000"
    old_folder.write(
        server.data,
        old_folder.copies(
            "workloads",
            10000,
            id="1000 + i",
            uuid=old_folder.uuids("00000001"),
            name="'over-' || i",
            phase="'Completed'",
            completed_ms=hour_ago,
            listing_json="t.listing_json || printf('%2000s', '')",
        ),
    )
    server.start().stop()
    server.start()
    try:
        assert read_bytes(server) < 5 * MIB
        assert server.get("/api/v1/workloads/count").json["count"] == 10007
    finally:
        server.stop()


def test_damage_after_an_unclean_end_is_found_while_it_serves(make_server):
    server = make_server("--quick-start")
    server.stop()
    grow(server, 1)
    server.start()
    server.submit("a", "team-a", 0)
    server.kill()
    wal = (server.data / "prorata.db-wal").read_bytes()
    assert wal
    damage_ballast(server)
    (server.data / "prorata.db-wal").write_bytes(wal)  # looking at it has taken the log in
    server.start(wait=False)
    server.wait_for("the damage is told", lambda: "damaged: prorata verify" in ready(server)[1])
    assert ready(server)[0] == 503 and server.get("/api/v1/workloads").status == 200


def test_a_database_that_lost_its_end_is_refused(make_server):
    server = make_server()
    server.stop()
    path = server.data / "prorata.db"
    whole = path.read_bytes()
    os.truncate(path, len(whole) - 8192)
    server.start(wait=False)
    assert server.process.wait(60) == 1 and "malformed" in server.tail()
    path.write_bytes(whole)
    server.start()


@pytest.fixture
def failing(make_server, failing_disk):
    """A server, and the file that says what of its disk fails."""
    environment, order = failing_disk
    server = make_server("--quick-start", environment=environment)
    server.sign_in()
    return server, order


def test_a_disk_that_fails_is_not_called_full(failing):
    server, order = failing
    order.write_text("write")
    answer = server.post("/api/v1/service-accounts", {"name": "xx"})
    assert answer.status == 503 and "refuses writes" in answer.json["message"], answer
    assert ready(server)[0] == 503 and "refuses writes" in ready(server)[1]
    assert "is full" not in server.tail()
    order.unlink()
    server.wait_for("writes resume", lambda: ready(server)[0] == 200)
    assert server.post("/api/v1/service-accounts", {"name": "xx"}).status < 300


def test_reads_that_fail_are_told(failing):
    server, order = failing
    order.write_text("read")
    paths = [
        "/api/v1/workloads",
        "/api/v1/nodes",
        "/api/v1/users",
        "/api/v1/asset/compute",
        "/api/v1/org-unit/projects",
    ]
    server.wait_for("a read fails", lambda: [server.get(path) for path in paths] and ready(server)[0] == 503)
    assert "cannot be read" in ready(server)[1] or "cycles fail" in ready(server)[1]
    order.unlink()
    server.wait_for("reads succeed", lambda: ready(server)[0] == 200)
    assert server.get("/api/v1/workloads").status == 200
