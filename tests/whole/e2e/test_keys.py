"""Sealed secrets: the server starts without their key and says so; `prorata keys rotate` gives them another one."""

import sqlite3
import subprocess

from servers import PRORATA

PROVIDER = (
    "INSERT INTO identity_provider VALUES (1, 'Lab', 'https://id.lab.example', 'prorata', ?, 'openid', "
    "'groups', 'email', 'x', 600, '', 0)"
)
LOST = "1.1700000000000-00000000.AAAA"


def rotate(data, status=0):
    done = subprocess.run([PRORATA, "keys", "rotate", "--data", data], capture_output=True, text=True)
    assert done.returncode == status, done
    return done.stdout + done.stderr


def seal_keys(server):
    return sorted(path.name for path in (server.data / "keys").glob("sealing-*.key"))


def test_a_secret_whose_key_is_lost_is_named_and_the_server_starts(make_server):
    server = make_server()
    assert server.get("/readyz").body == b"ok\n" or b"warning" not in server.get("/readyz").body
    server.stop()
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute(PROVIDER, [LOST])
    database.close()
    server.start()
    assert (
        b"warning: 1 sealed secrets cannot be used, identity_provider.client_secret first" in server.get("/readyz").body
    )
    assert "the key that sealed this secret is not in the folder keys" in server.tail()
    server.stop()
    assert "identity_provider.client_secret stays as it is" in rotate(server.data)


def test_the_key_is_replaced_while_no_server_holds_the_folder(make_server):
    server = make_server()
    before = seal_keys(server)
    assert str(server.process.pid) in rotate(server.data, status=2) and seal_keys(server) == before
    server.stop()
    assert "0 secrets were sealed again" in rotate(server.data)
    after = seal_keys(server)
    assert len(after) == 1 and after != before
    assert (server.data / "keys" / after[0]).stat().st_mode & 0o777 == 0o600
    server.start()


def test_what_is_no_folder_of_a_server_is_refused(folder):
    assert "prorata.db" in rotate(folder, status=2)
    assert not list(folder.iterdir())
    done = subprocess.run([PRORATA, "keys", "--data", folder], capture_output=True, text=True)
    assert done.returncode == 2 and "keys rotate" in done.stderr
