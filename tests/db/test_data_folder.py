"""A folder that has lost its database is no new one: the start refuses it, says why and changes nothing there."""

import pathlib
import shutil
import subprocess
import tempfile

import pytest
from servers import PRORATA, Server


@pytest.fixture(scope="module")
def killed():
    """The data folder of a young server that was killed: nearly all of its database is in the write-ahead log."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="prorata-killed-"))
    server = Server(path, "--quick-start").start()
    server.submit("kept", "team-a", 0)
    server.kill()
    yield server.data
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def server(killed, folder):
    """A server on a copy of that folder, not started."""
    made = Server(folder)
    shutil.copytree(killed, made.data)
    (made.data / "prorata.db-shm").unlink(missing_ok=True)
    yield made
    if made.process:
        made.stop()


def content(data):
    """Path -> bytes, of all that a start may not touch: `lock` names who tried last, and SQLite makes -shm anew."""
    names = {"lock", "prorata.db-shm"}
    return {path: path.read_bytes() for path in data.rglob("*") if path.is_file() and path.name not in names}


def refused(server):
    before = content(server.data)
    server.start(wait=False)
    assert server.process.wait(60) == 2, server.tail()
    assert content(server.data) == before
    return server.tail()


def cut(size):
    def change(path):
        path.write_bytes(path.read_bytes()[:size])

    return change


def drop_log(data):
    (data / "prorata.db-wal").unlink()


def spoil_log(data):
    (data / "prorata.db-wal").write_bytes(bytes(100000))


SHAPES = [
    ("empty", cut(0), "an empty prorata.db"),
    ("missing", pathlib.Path.unlink, "no prorata.db"),
    ("shorter than its header", cut(50), "a prorata.db that was cut off"),
    ("shorter than a page", cut(4095), "a prorata.db that was cut off"),
    ("zeros", lambda path: path.write_bytes(bytes(4096)), "a prorata.db that is no database"),
    ("another's", lambda path: path.write_bytes(b"hello " * 1000), "a prorata.db that is no database"),
]


@pytest.mark.parametrize("shape, change, says", SHAPES, ids=[row[0] for row in SHAPES])
@pytest.mark.parametrize("has_log", [True, False], ids=["beside its log", "without its log"])
def test_what_is_no_database_beside_what_a_server_left_is_refused(server, shape, change, says, has_log):
    change(server.data / "prorata.db")
    if not has_log:
        drop_log(server.data)
    log = "prorata.db-wal, " if has_log else ""
    text = refused(server)
    assert f"holds {log}keys, journal and {says}: this is no new folder" in text
    assert "To begin again here, end what runs and move" in text


def test_an_empty_database_beside_its_log_alone_is_refused(server):
    for name in ("keys", "journal"):
        shutil.rmtree(server.data / name)
    cut(0)(server.data / "prorata.db")
    assert "holds prorata.db-wal and an empty prorata.db" in refused(server)


@pytest.mark.parametrize("change, says", [(drop_log, "a prorata.db without tables"), (spoil_log, "has tables")])
def test_a_young_database_that_lost_its_log_is_refused(server, change, says):
    change(server.data)
    assert says in refused(server) and "no new folder" in server.tail()


def test_a_folder_in_place_of_the_database_is_refused(server):
    (server.data / "prorata.db").unlink()
    (server.data / "prorata.db").mkdir()
    assert "prorata.db: not a file" in refused(server)


def test_the_way_back_is_to_put_the_database_back(server):
    path = server.data / "prorata.db"
    kept = path.read_bytes()
    cut(0)(path)
    refused(server)
    path.write_bytes(kept)
    server.start()
    assert [workload["name"] for workload in server.get("/api/v1/workloads").json["workloads"]] == ["kept"]


@pytest.mark.parametrize("left", [["prorata.db"], ["prorata.db", "prorata.db-wal"]], ids=["alone", "with its log"])
def test_a_start_that_wrote_nothing_begins_anew(folder, left):
    server = Server(folder)
    server.data.mkdir(mode=0o700)
    for name in left:
        (server.data / name).touch(mode=0o600)
    server.start()
    try:
        assert server.get("/api/v1/workloads").status == 200
    finally:
        server.stop()


@pytest.mark.parametrize("change", [cut(0), pathlib.Path.unlink], ids=["empty", "missing"])
@pytest.mark.parametrize(
    "words, status",
    [(["verify"], 2), (["doctor", "--listen", "127.0.0.1:0"], 1), (["backup", "FOLDER/site.tar"], 2)],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_commands_leave_the_log_as_it_is(server, folder, change, words, status):
    change(server.data / "prorata.db")
    before = content(server.data)
    words = [word.replace("FOLDER", str(folder)) for word in words]
    done = subprocess.run(
        [PRORATA, words[0], "--data", server.data, *words[1:]], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == status and "prorata.db" in done.stdout + done.stderr, done
    assert content(server.data) == before
