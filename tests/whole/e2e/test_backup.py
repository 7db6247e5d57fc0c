"""Backup, restore and verify: what was answered before a backup is in it, and a folder is made whole or not at all."""

import hashlib
import io
import os
import shutil
import sqlite3
import subprocess
import tarfile
import threading

import pytest
from servers import PRORATA, Server

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")


def prorata(*words, status=0):
    done = subprocess.run([PRORATA, *map(str, words)], capture_output=True, text=True, timeout=120, umask=0o022)
    assert done.returncode == status, done
    return done.stdout + done.stderr


@pytest.fixture
def backed_up(make_server, folder):
    """A stopped server's folder, and a backup of it."""
    server = make_server("--quick-start")
    server.submit("kept", "team-a", 0)
    prorata("backup", "--data", server.data, folder / "site.tar")
    server.stop()
    return server


def pack(path, entries):
    """A tar file of (name, content), with right sums at its end."""
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in entries)
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in [*entries, ("SHA256SUMS", sums.encode())]:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def unpack(path):
    with tarfile.open(path) as tar:
        return [(info.name, tar.extractfile(info).read()) for info in tar if info.name != "SHA256SUMS"]


@pytest.mark.parametrize("words, still_signed_in", [([], True), (["--without-keys"], False)])
def test_a_machine_is_lost_and_its_backup_restored_elsewhere(make_server, folder, words, still_signed_in):
    server = make_server("--quick-start")
    answered, going, enough = [], threading.Event(), threading.Event()
    project, cluster = server.project_id("team-a"), server.cluster_id()

    def submit():
        for number in range(100000):
            answer = server.post(
                "/api/v1/workloads/trainings",
                {
                    "name": f"w{number}",
                    "projectId": project,
                    "clusterId": cluster,
                    "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}},
                },
            )
            assert answer.status == 202, answer
            answered.append(answer.json["workloadId"])
            if len(answered) >= 50:
                enough.set()
            if going.is_set():
                return

    load = threading.Thread(target=submit)
    load.start()
    try:
        assert enough.wait(60)
        before = list(answered)
        says = prorata("backup", "--data", server.data, *words, folder / "site.tar")
    finally:
        going.set()
        load.join()
    backup = folder / "site.tar"
    assert backup.stat().st_mode & 0o777 == 0o600 and not list(folder.glob(".prorata-backup*"))
    assert hashlib.sha256(backup.read_bytes()).hexdigest() in says
    assert any(name.startswith("keys/") for name, _ in unpack(backup)) == still_signed_in
    server.kill()
    shutil.rmtree(server.data)

    assert "restored" in prorata("restore", "--data", folder / "elsewhere" / "data", backup)
    assert "whole" in prorata("verify", "--data", folder / "elsewhere" / "data")
    other = Server(folder / "elsewhere")
    other.start()
    try:
        other.token = server.token
        assert (other.get("/api/v1/workloads").status == 200) == still_signed_in
        other.token = None  # the password is the one from before, with and without keys
        found = {workload["id"] for workload in other.get("/api/v1/workloads", limit=500).json["workloads"]}
        assert set(before) <= found
        assert other.get("/api/v1/workloads/count").json["count"] >= len(before)
    finally:
        other.stop()


def test_a_backup_replaces_only_what_a_broken_off_one_left(backed_up, folder):
    (folder / ".prorata-backup.part").write_text("half")
    (folder / ".prorata-backup.db").write_text("half")
    old = (folder / "site.tar").read_bytes()
    prorata("backup", "--data", backed_up.data, folder / "second.tar")
    assert not list(folder.glob(".prorata-backup*")) and (folder / "site.tar").read_bytes() == old
    assert "No such file" in prorata("backup", "--data", folder / "nowhere", folder / "third.tar", status=2)
    assert not (folder / "third.tar").exists()


def sums_of_others(path):
    data = bytearray(path.read_bytes())
    data[data.index(b"team-a")] ^= 1
    path.write_bytes(data)


def change_database(path, *statements):
    entries = dict(unpack(path))
    loose = path.with_suffix(".db")
    loose.write_bytes(entries["prorata.db"])
    database = sqlite3.connect(loose)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    pack(path, [("prorata.db", loose.read_bytes())])


def break_page(path):
    entries = dict(unpack(path))
    data = bytearray(entries["prorata.db"])
    data[5 * 4096 : 6 * 4096] = bytes(4096)
    pack(path, [("prorata.db", bytes(data))])


TEXT = "UPDATE sqlite_schema SET sql = replace(sql, 'DEFAULT 0', 'DEFAULT 1') WHERE name = 'users'"
# What somebody put into the schema of a database or took out of it.
SCHEMAS = [
    (
        "a trigger more",
        ["CREATE TRIGGER evil AFTER INSERT ON sessions BEGIN UPDATE users SET email = 'x'; END"],
        "the schema has the trigger evil of sessions, which no migration makes",
    ),
    ("a trigger less", ["DROP TRIGGER projects_get_numbers"], "lacks the trigger projects_get_numbers of projects"),
    ("a view more", ["CREATE VIEW evil AS SELECT 1"], "has the view evil, which no migration makes"),
    ("a table more", ["CREATE TABLE ballast(data)"], "has the table ballast, which no migration makes"),
    ("an index more", ["CREATE INDEX evil ON users(email)"], "has the index evil of users, which no migration makes"),
    ("a table less", ["DROP TABLE saved_views"], "lacks the table saved_views"),
    (
        "another trigger of the name",
        [
            "DROP TRIGGER projects_get_numbers",
            "CREATE TRIGGER projects_get_numbers AFTER INSERT ON projects BEGIN SELECT 1; END",
        ],
        "has the trigger projects_get_numbers of projects otherwise than the migrations make it",
    ),
    (
        "a column of another text",
        ["PRAGMA writable_schema = ON", TEXT],
        "has the table users otherwise than the migrations make it",
    ),
]
HARMS = [
    ("a flipped byte", sums_of_others, "damaged"),
    ("cut off", lambda p: p.write_bytes(p.read_bytes()[:100000]), "cut off"),
    ("cut off at its sums", lambda p: p.write_bytes(p.read_bytes()[:-1536]), "cut off"),
    ("no backup", lambda p: p.write_bytes(b"hello " * 1000), "not a backup"),
    ("empty", lambda p: p.write_bytes(b""), "cut off, or not a backup"),
    ("a newer schema", lambda p: change_database(p, "PRAGMA user_version = 9999"), "newer release"),
    (
        "a database of another program",
        lambda p: change_database(p, "PRAGMA application_id = 5"),
        "not a prorata database",
    ),
    ("a broken page", break_page, "damaged"),
    (
        "a lost reference",
        lambda p: change_database(p, "PRAGMA foreign_keys = OFF", "DELETE FROM departments"),
        "refers to",
    ),
    *((text, lambda p, sql=sql: change_database(p, *sql), says) for text, sql, says in SCHEMAS),
    ("a way out of the folder", lambda p: pack(p, [*unpack(p), ("keys/../../out.key", b"x" * 32)]), "another file"),
    ("a path from the root", lambda p: pack(p, [("/tmp/prorata.db", b"x"), *unpack(p)]), "another file"),
    ("a file twice", lambda p: pack(p, [*unpack(p), *unpack(p)]), "File exists"),
    ("no database", lambda p: pack(p, [e for e in unpack(p) if e[0] != "prorata.db"]), "no database"),
]


@pytest.mark.parametrize("name, harm, says", HARMS, ids=[name for name, _, _ in HARMS])
def test_what_is_no_whole_backup_makes_no_folder(backed_up, folder, name, harm, says):
    harm(folder / "site.tar")
    assert says in prorata("restore", "--data", folder / "new", folder / "site.tar", status=2)
    left = {path.name for path in (folder / "new").iterdir()} if (folder / "new").exists() else set()
    assert left <= {"lock"}
    assert not (folder / "out.key").exists()


def test_a_restore_refuses_a_folder_that_holds_something(backed_up, folder):
    before = {path: path.stat().st_mtime_ns for path in backed_up.data.rglob("*")}
    assert "not empty" in prorata("restore", "--data", backed_up.data, folder / "site.tar", status=2)
    assert {path: path.stat().st_mtime_ns for path in backed_up.data.rglob("*")} == before
    (folder / "other").mkdir()
    (folder / "other/thesis.txt").write_text("mine")
    assert "thesis.txt" in prorata("restore", "--data", folder / "other", folder / "site.tar", status=2)
    assert [path.name for path in (folder / "other").iterdir()] == ["thesis.txt"]


def test_a_restore_that_was_broken_off_is_no_new_folder_and_goes_again(backed_up, folder):
    new = Server(folder / "new")
    (new.data / "restore.part").mkdir(parents=True)
    (new.data / "keys").mkdir()
    (new.data / "restore.part/prorata.db").write_text("half")
    (new.data / "keys/1-half.key").write_text("half")
    new.start(wait=False)
    assert new.process.wait(30) == 2 and "restore.part" in new.tail()
    prorata("restore", "--data", new.data, folder / "site.tar")
    assert "whole" in prorata("verify", "--data", new.data)


@pytest.mark.parametrize("name, statements, says", SCHEMAS, ids=[name for name, _, _ in SCHEMAS])
def test_verify_names_what_is_not_as_the_migrations_make_it(backed_up, name, statements, says):
    database = sqlite3.connect(backed_up.data / "prorata.db")
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    assert says in prorata("verify", "--data", backed_up.data, status=1)


def test_verify_reads_all_of_it(backed_up):
    assert '"ok": true' in prorata("verify", "--data", backed_up.data, "--json")
    key = next((backed_up.data / "keys").glob("*.key"))
    key.write_bytes(b"short")
    assert "not a key" in prorata("verify", "--data", backed_up.data, status=1)
    path = backed_up.data / "prorata.db"
    data = bytearray(path.read_bytes())
    data[5 * 4096 : 6 * 4096] = bytes(4096)
    path.write_bytes(data)
    assert '"ok": false' in prorata("verify", "--data", backed_up.data, "--json", status=1)


@needs_root
def test_a_full_disk_leaves_nothing_and_says_how_much_is_missing(backed_up, folder):
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(disk)], check=True)
    try:
        assert "make room for" in prorata("backup", "--data", backed_up.data, disk / "site.tar", status=1)
        (disk / "data").mkdir()
        (disk / "filler").write_bytes(bytes(900 << 10))
        assert "make room for" in prorata("restore", "--data", disk / "data", folder / "site.tar", status=1)
        assert {path.name for path in disk.rglob("*")} <= {"data", "filler", "lock"}
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)
