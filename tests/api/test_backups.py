"""Backups in the data folder: made and listed by system administrators of the tenant, never sent."""

import concurrent.futures
import hashlib
import subprocess

import pytest
from servers import PRORATA
from test_access import make_caller

PATH = "/api/v1/admin/backup"


def test_create_backup_and_list_them(server):
    assert server.get(PATH).json == {"backups": []}
    answer = server.post(PATH, {})
    assert answer.status == 201, answer
    made = answer.json
    assert set(made) == {"name", "sizeBytes", "sha256", "createdAt"}
    path = server.data / "backups" / made["name"]
    assert path.stat().st_mode & 0o777 == 0o600 and path.parent.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_size == made["sizeBytes"] and hashlib.sha256(path.read_bytes()).hexdigest() == made["sha256"]
    listed = server.get(PATH).json["backups"]
    assert [(item["name"], item["sizeBytes"]) for item in listed] == [(made["name"], made["sizeBytes"])]
    restored = server.folder / "restored"
    subprocess.run([PRORATA, "restore", "--data", restored, path], check=True, capture_output=True)
    assert list((restored / "keys").iterdir())


def test_create_backup_without_keys(server):
    path = server.data / "backups" / server.post(PATH, {"withoutKeys": True}).json["name"]
    assert b"keys/" not in path.read_bytes()


def test_create_backup_keeps_the_newest(server):
    (server.data / "backups").mkdir()
    (server.data / "backups/mine.txt").write_text("mine")
    names = [server.post(PATH, {"keep": 2}).json["name"] for _ in range(4)]
    assert [item["name"] for item in server.get(PATH).json["backups"]] == names[:1:-1]
    assert {path.name for path in (server.data / "backups").iterdir()} == {*names[2:], "mine.txt"}


@pytest.mark.parametrize("body", [{"keep": 0}, {"keep": "3"}, {"keep": 1001}, {"file": "/etc/x"}, {"withoutKeys": 1}])
def test_create_backup_refuses(server, body):
    assert server.post(PATH, body).status == (201 if "file" in body else 400)
    assert len(server.get(PATH).json["backups"]) == ("file" in body)


def test_one_backup_at_a_time(server):
    server.sign_in()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: server.post(PATH, {}), range(16)))
    made = [answer.json["name"] for answer in answers if answer.status == 201]
    assert made and {answer.status for answer in answers} <= {201, 409}
    for name in set(made):
        subprocess.run(
            [PRORATA, "restore", "--data", server.folder / name, server.data / "backups" / name],
            check=True,
            capture_output=True,
        )
    assert not list((server.data / "backups").glob(".*"))


@pytest.mark.parametrize(
    "role, scope",
    [
        ("Department administrator", "department"),
        ("Viewer", "tenant"),
        ("Editor", "tenant"),
        ("System administrator", "department"),
    ],
)
def test_backups_are_for_system_administrators_of_the_tenant(server, role, scope):
    where = "1" if scope == "tenant" else server.get("/api/v1/org-unit/departments").json["departments"][0]["id"]
    _, token = make_caller(server, "caller", (role, scope, where))
    for method, body in (("GET", None), ("POST", {})):
        answer = server.request(method, PATH, body, token=token)
        assert answer.status in (403, 404), answer
    assert not (server.data / "backups").exists()
