"""Where one address makes most tries to sign in, the log, the next start and doctor name --trusted-proxy."""

import json
import os
import subprocess

from servers import PRORATA

HINT = "start with --trusted-proxy 127.0.0.1"


def try_sign_ins(server, count, accounts):
    for i in range(count):
        server.request(
            "POST",
            "/api/v1/token",
            {"grantType": "password", "username": f"user{i % accounts}@example.org", "password": "wrong"},
            token=None,
        )


def doctor(server, *words):
    done = subprocess.run(
        [PRORATA, "doctor", "--data", str(server.data), "--listen", "127.0.0.1:0", "--json", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ,
    )
    return [finding for finding in json.loads(done.stdout)["findings"] if finding["check"] == "sign-in"]


def test_a_crowd_is_told_once_and_again_at_the_next_start(make_server):
    server = make_server()
    try_sign_ins(server, 49, 12)
    assert HINT not in server.log.read_text() and not doctor(server)
    try_sign_ins(server, 21, 12)
    assert server.log.read_text().count(HINT) == 1
    found = doctor(server)
    assert len(found) == 1 and found[0]["level"] == "note" and HINT in json.dumps(found)
    assert not doctor(server, "--trusted-proxy", "127.0.0.1")
    server.kill()
    server.start()
    assert server.log.read_text().count(HINT) == 2
    server.stop()
    server.arguments += ["--trusted-proxy", "127.0.0.1"]
    server.start().stop()
    assert server.log.read_text().count(HINT) == 2 and not doctor(server)


def test_a_few_people_are_no_crowd(server):
    try_sign_ins(server, 60, 9)
    assert HINT not in server.log.read_text()
