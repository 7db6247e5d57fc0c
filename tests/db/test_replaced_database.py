"""A database that is removed or replaced under its server: no answer says that a write is kept, and nothing that an
answer said was kept is lost."""

import contextlib
import shutil
import sqlite3

import pytest
from servers import Server


@pytest.fixture
def server(folder):
    made = Server(folder, "--quick-start").start()
    made.sign_in()
    made.early = copy_of(made)
    for name in ("kept-1", "kept-2"):
        made.submit(name, "team-a", 0)
    yield made
    if made.process:
        made.stop()


def copy_of(server):
    path = server.folder / "early.db"
    with contextlib.closing(sqlite3.connect(server.data / "prorata.db")) as database:
        database.execute("VACUUM INTO ?", (str(path),))
    return path


def remove(server, *names):
    for name in names:
        (server.data / name).unlink()


def put_empty(server):
    (server.folder / "empty").touch()
    (server.folder / "empty").rename(server.data / "prorata.db")


# What is done to the files of a running server, the name that the log says, and whether a person must decide then.
SHAPES = {
    "all removed": (lambda s: remove(s, "prorata.db", "prorata.db-wal", "prorata.db-shm"), "prorata.db", True),
    "the database removed": (lambda s: remove(s, "prorata.db"), "prorata.db", True),
    "an empty file in its place": (put_empty, "prorata.db", True),
    "an older copy in its place": (lambda s: shutil.move(s.early, s.data / "prorata.db"), "prorata.db", True),
    "the log removed": (lambda s: remove(s, "prorata.db-wal"), "prorata.db-wal", False),
    "the log's index removed": (lambda s: remove(s, "prorata.db-shm"), "prorata.db-shm", False),
    "log and index removed": (lambda s: remove(s, "prorata.db-wal", "prorata.db-shm"), "prorata.db-wal", False),
}


def names(server):
    return {workload["name"] for workload in server.get("/api/v1/workloads").json["workloads"]}


def check_kept(server, lost, must_decide):
    """After its end: the next start is refused where a person must decide, and has all then."""
    assert f"{lost} was removed or replaced" in server.tail() and server.process.returncode == 70, server.tail()
    rescued = server.data / "prorata.db.rescued"
    assert rescued.exists() == must_decide, server.tail()
    if must_decide:
        server.start(wait=False)
        assert server.process.wait(60) == 2 and "prorata.db.rescued, which a server kept" in server.tail()
        assert rescued.stat().st_mode & 0o777 == 0o600
        rescued.rename(server.data / "prorata.db")
    server.start()
    assert {"kept-1", "kept-2"} <= names(server)


def ready(server):
    try:
        answer = server.request("GET", "/readyz", token=None)
    except OSError:  # it has ended
        return 0, ""
    return answer.status, answer.body.decode()


@pytest.mark.parametrize("shape", SHAPES)
def test_no_write_is_answered_into_a_file_that_is_gone(server, shape):
    change, lost, must_decide = SHAPES[shape]
    project, cluster = server.project_id("team-a"), server.cluster_id()
    change(server)
    status, text = ready(server)
    assert status == 0 or (status == 503 and "the database's file was removed or replaced" in text)
    body = {"name": "late", "projectId": project, "clusterId": cluster, "spec": {"image": "x"}}
    with contextlib.suppress(OSError):
        answer = server.post("/api/v1/workloads/trainings", body)
        raise AssertionError(f"answered: {answer}")
    assert server.process.wait(60) == 70
    check_kept(server, lost, must_decide)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_stop_keeps_it_as_well(server, shape):
    change, lost, must_decide = SHAPES[shape]
    change(server)
    server.stop()
    check_kept(server, lost, must_decide)


def test_the_replaced_database_goes_on_where_a_person_decides_so(server):
    shutil.move(server.early, server.data / "prorata.db")
    server.stop()
    (server.data / "prorata.db.rescued").rename(server.folder / "aside")
    server.start()
    assert not names(server)


def test_a_folder_may_be_renamed(server):
    server.data = server.data.rename(server.folder / "renamed")
    assert ready(server)[0] == 200
    server.submit("kept-3", "team-a", 0)
    assert server.stop() == 0
    server.start()
    assert names(server) == {"kept-1", "kept-2", "kept-3"}


def test_without_room_for_the_copy_the_log_says_so(server):
    (server.data / "prorata.db.rescued-part").mkdir()
    remove(server, "prorata.db")
    server.stop()
    assert server.process.returncode == 70
    assert "what was in it could not be kept" in server.tail() and (server.data / "prorata.db-wal").exists()
