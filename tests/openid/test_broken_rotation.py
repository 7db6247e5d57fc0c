"""`prorata keys rotate` that ends by SIGKILL before each of its steps on the disk: no secret is lost, whatever stands
there then."""

import os
import shutil
import signal
import sqlite3
import subprocess

from servers import PASSWORD, PRORATA

SECRETS = 3  # of a client, a session at the issuer, a second factor
STEPS_MAX = 500
KEYS_MAX = 16  # that a folder has room for


def rotate(data, environment, step=0):
    """0: it went through."""
    environment = {**os.environ, **environment, "DIES_AT": str(step)}
    done = subprocess.run([PRORATA, "keys", "rotate", "--data", data], env=environment, capture_output=True, text=True)
    if done.returncode != -signal.SIGKILL:
        assert done.returncode == 0 and f"{SECRETS} secrets were sealed again" in done.stdout, done
        assert len(list((data / "keys").glob("sealing*"))) == 1, "one key, and nothing unfinished"
    return done.returncode


def sealed(data):
    """The id of the key of each secret, read from a copy: looking must not repair anything."""
    copy = data.parent / "looked-at"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(data, copy)
    with sqlite3.connect(copy / "prorata.db") as database:
        texts = database.execute(
            "SELECT client_secret_sealed FROM identity_provider UNION ALL SELECT refresh_sealed FROM external_sessions "
            "UNION ALL SELECT secret_sealed FROM second_factors"
        ).fetchall()
    database.close()
    return [text.split(".")[1] for (text,) in texts]


def look(data, before):
    """What stands there, after it was checked: each secret's key is there."""
    keys = {path.name[len("sealing-") : -len(".key")] for path in (data / "keys").glob("sealing-*.key")}
    used = sealed(data)
    assert len(used) == SECRETS and set(used) <= keys, (used, keys)
    files = frozenset(path.name for path in (data / "keys").glob("*.part"))
    return len(keys), files, before in used, sum(used.count(key) for key in keys) == SECRETS


def fill(site, browser):
    browser.sign_in(site)
    answer = site.post("/api/v1/me/second-factor", {"currentPassword": PASSWORD})
    assert answer.status in (200, 201), answer
    assert site.stop() == 0


def check_server(site, data):
    """A server on what is left: it starts, and opens every secret."""
    usual, site.data = site.data, data
    site.start()
    assert b"warning" not in site.get("/readyz").body, site.tail()
    assert site.stop() == 0
    site.data = usual


def test_a_rotation_that_is_killed_loses_nothing(site, ann, folder, build_shim):
    fill(site, ann)
    shim, seen = build_shim("dies_at_step/dies_at_step"), set()
    (before,) = set(sealed(site.data))
    for step in range(1, STEPS_MAX):
        data = folder / "broken"
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(site.data, data)
        if rotate(data, shim, step) == 0:
            break
        state = look(data, before)
        if state not in seen:
            seen.add(state)
            check_server(site, data)
        assert rotate(data, shim) == 0, "the second one finishes"
    else:
        raise AssertionError("it never went through")
    keys = {(count, is_old) for count, _, is_old, _ in seen}
    assert keys == {(1, True), (2, True), (2, False), (1, False)}, "every step of the rotation was met"


def test_rotations_that_are_killed_again_and_again_fill_no_folder(site, ann, folder, build_shim):
    fill(site, ann)
    shim, step = build_shim("dies_at_step/dies_at_step"), 1
    (before,) = set(sealed(site.data))
    data = folder / "broken"
    while True:  # the first step behind the new key
        shutil.rmtree(data, ignore_errors=True)
        shutil.copytree(site.data, data)
        assert rotate(data, shim, step) != 0 and step < STEPS_MAX
        if look(data, before)[0] == 2:
            break
        step += 1
    for _ in range(KEYS_MAX + 1):
        rotate(data, shim, step)
    assert rotate(data, shim) == 0
    check_server(site, data)
