"""What `prorata verify` says of audit records that somebody touched; and what it says where nobody did."""

import pathlib
import shutil
import sqlite3
import subprocess
import tempfile

import pytest
from servers import PRORATA, Server, moved_clock


def verify(data):
    answer = subprocess.run([PRORATA, "verify", "--data", str(data)], capture_output=True, text=True, timeout=60)
    return answer.returncode, answer.stdout + answer.stderr


@pytest.fixture(scope="module")
def original():
    """A folder of a server that has stopped, with a dozen records and the heads of two starts."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-"))
    server = Server(path, "--quick-start").start()
    for number in range(5):
        assert server.post("/api/v1/users", {"email": f"u{number}@example.org"}).status == 201
    assert server.stop() == 0
    server.start()
    server.sign_in()
    for number in range(5, 10):
        assert server.post("/api/v1/users", {"email": f"u{number}@example.org"}).status == 201
    assert server.stop() == 0
    yield server.data
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def data(original, folder):
    shutil.copytree(original, folder / "data")
    return folder / "data"


def change(data, *statements):
    connection = sqlite3.connect(data / "prorata.db")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_chain_that_nobody_touched_is_whole(data):
    status, text = verify(data)
    assert status == 0 and "audit: records 1 to 12 are whole, and 4 heads agree" in text, text


@pytest.mark.parametrize("seconds", [3 * 10**11, -(10**10)], ids=["beyond the year 9999", "before 1970"])
def test_heads_of_a_clock_that_no_line_can_say_are_whole(folder, seconds):
    (folder / "shift").write_text(str(seconds))
    server = Server(folder, environment=moved_clock(folder / "shift")).start()
    server.sign_in()
    assert server.stop() == 0
    status, text = verify(server.data)
    assert status == 0 and "audit: records 1 to 1 are whole, and 2 heads agree" in text, text


COPY = (
    "INSERT INTO audit_records SELECT {seq}, time_ms, subject_type, 'somebody', address, operation, action, method,"
    " url, entity_type, entity_id, entity_name, cluster_id, department_id, project_id, status, count, last_ms, request,"
    " details_json, changes_json, key_id, mac FROM audit_records WHERE seq = 4"
)
TOUCHED = [
    ("changed", ["UPDATE audit_records SET subject = 'somebody' WHERE seq = 4"], "record 4 of "),
    ("a time changed", ["UPDATE audit_records SET time_ms = time_ms + 1 WHERE seq = 4"], "record 4 of "),
    ("a place changed", ["UPDATE audit_records SET project_id = 7 WHERE seq = 9"], "record 9 of "),
    (
        "text moved from one column to the next",
        [
            "UPDATE audit_records SET entity_id = substr(entity_id, 1, 4),"
            " entity_name = substr(entity_id, 5) || entity_name WHERE seq = 5"
        ],
        "record 5 of ",
    ),
    ("taken away", ["DELETE FROM audit_records WHERE seq = 5"], "record 5 was taken away"),
    ("several taken away", ["DELETE FROM audit_records WHERE seq IN (5, 6, 7)"], "records 5 to 7 were taken away"),
    (
        "taken away, the rest moved up",
        [
            "DELETE FROM audit_records WHERE seq = 5",
            "UPDATE audit_records SET seq = seq - 1 WHERE seq = 6",
        ],
        "record 5 of ",
    ),
    ("the first taken away", ["DELETE FROM audit_records WHERE seq = 1"], "record 1 was taken away"),
    ("added at the end", [COPY.format(seq=13)], "record 13 of "),
    (
        "swapped",
        [
            "UPDATE audit_records SET seq = 100 WHERE seq = 4",
            "UPDATE audit_records SET seq = 4 WHERE seq = 5",
            "UPDATE audit_records SET seq = 5 WHERE seq = 100",
        ],
        "record 4 of ",
    ),
    ("cut at the end", ["DELETE FROM audit_records WHERE seq > 10"], "records 11 to 12 were taken away from the end"),
    ("all gone", ["DELETE FROM audit_records"], "records 1 to 12 were taken away from the end"),
    (
        "a base made up",
        [
            "DELETE FROM audit_records WHERE seq < 5",
            "INSERT INTO audit_base SELECT 1, 4, 0, mac, key_id, mac FROM audit_records WHERE seq = 5",
        ],
        "the beginning, behind record 4, was changed",
    ),
    (
        "the key's name changed",
        ["UPDATE audit_records SET key_id = 'x' WHERE seq = 3"],
        "record 3 was made with another key",
    ),
    ("a MAC of no length", ["UPDATE audit_records SET mac = x'' WHERE seq = 3"], "record 3 of "),
]


@pytest.mark.parametrize("statements,problem", [row[1:] for row in TOUCHED], ids=[row[0] for row in TOUCHED])
def test_the_first_record_that_was_touched_is_named(data, statements, problem):
    change(data, *statements)
    status, text = verify(data)
    assert status == 1 and f"audit: {problem}" in text, text


def test_another_key_proves_nothing(data):
    (data / "keys/audit.key").write_bytes(b"x" * 32)
    status, text = verify(data)
    assert status == 1 and "audit: record 1 was made with another key" in text, text


def test_no_key_proves_nothing(data):
    (data / "keys/audit.key").unlink()
    status, text = verify(data)
    assert status == 1 and "audit: there is no keys/audit.key" in text, text


def test_an_older_database_contradicts_the_heads(data, folder, original):
    """Also when a server has gone on with it, past the number that the head names."""
    older = folder / "older"
    shutil.copytree(data, older)
    change(older, "DELETE FROM audit_records WHERE seq > 8")
    status, text = verify(older)
    assert status == 1 and "records 9 to 12 were taken away from the end, or the database is an older one" in text
    path = folder / "server"
    path.mkdir()
    shutil.move(older, path / "data")
    server = Server(path).start()
    try:
        assert "records are missing: the last head names record 12, the database ends at 8" in server.tail()
        server.sign_in()
        for number in range(6):
            assert server.post("/api/v1/users", {"email": f"new{number}@example.org"}).status == 201
    finally:
        server.stop()
    status, text = verify(server.data)
    assert status == 1 and "audit: record 12 is not the one that the head of " in text, text


def test_a_head_that_nobody_signed_is_named(data):
    heads = data / "audit.heads"
    lines = heads.read_text().splitlines()
    heads.write_text("\n".join(lines[:-1] + [lines[-1].replace(" 12 ", " 11 ")]) + "\n")
    status, text = verify(data)
    assert status == 1 and "was not signed with this key" in text, text
    heads.write_text("\n".join(lines) + "\nnonsense\n")
    assert "line 5 of audit.heads is not a head" in verify(data)[1]


def test_without_heads_the_end_proves_nothing(data):
    """What the documents say: a cut at the end shows by a head alone."""
    (data / "audit.heads").unlink()
    change(data, "DELETE FROM audit_records WHERE seq > 10")
    status, text = verify(data)
    assert status == 0 and "records 1 to 10 are whole, and 0 heads agree" in text, text


def test_a_backup_carries_the_key_and_one_without_keys_does_not(data, folder):
    for options, whole in ((), True), (("--without-keys",), False):
        file, copy = folder / "backup.tar", folder / f"copy-{whole}"
        subprocess.run([PRORATA, "backup", "--data", str(data), *options, str(file)], check=True, capture_output=True)
        subprocess.run([PRORATA, "restore", "--data", str(copy), str(file)], check=True, capture_output=True)
        status, text = verify(copy)
        said = "records 1 to 12 are whole" if whole else "there is no key here, so the records prove nothing"
        assert status == 0 and said in text, text
