"""The machine's Unix socket: who connects is who he is. Users and groups are made for the tests, and taken away."""

import contextlib
import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import uuid

import pytest
from machine_people import ASK, Door
from pods import events_of, log_of, quoted, supervisors_of
from servers import ADMIN, PASSWORD, PRORATA

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("useradd"), reason="needs root, and useradd to make users"
)


def test_who_connects_is_who_he_is(door):
    answer = door.ask(door.alice)
    assert answer.status == 200 and answer.json["name"] == f"{door.alice}@localhost", answer
    workload = door.ask(
        door.alice,
        "/api/v1/workloads/trainings",
        "POST",
        {
            "name": "mine",
            "projectId": door.server.project_id("team-a"),
            "clusterId": door.server.cluster_id(),
            "spec": {"image": "i", "compute": {"gpuDevicesRequest": 1}},
        },
    )
    assert workload.status == 202 and workload.json["createdBy"] == f"{door.alice}@localhost", workload
    other = door.ask(door.alice, f"/api/v1/org-unit/projects/{door.server.project_id('team-b')}")
    assert other.status == 404, "rights in one project are no rights in another"
    assert door.ask(door.alice, "/api/v1/users", "POST", {"email": "x@y.z"}).status == 403


def test_without_a_match_the_administrator_is_told_what_would_let_him_in(door):
    answer = door.ask(door.bob)
    assert answer.status == 403, answer
    said = answer.json
    assert door.bob in said["message"] and str(pwd.getpwnam(door.bob).pw_uid) in said["message"]
    assert (
        door.gpu in said["details"]
        and "--socket-group" in said["details"]
        and "Tell the administrator" in said["details"]
    )
    assert door.server.get("/api/v1/users").status == 200
    assert door.bob not in door.server.get("/api/v1/users").body.decode(), "and no account was made"


def test_a_group_that_the_process_holds_does_not_count(door):
    """The machine's database does: it says who is in the group now."""
    gid = int(
        subprocess.run(["getent", "group", door.gpu], capture_output=True, text=True, check=True).stdout.split(":")[2]
    )
    assert door.ask(door.bob, groups=[gid]).status == 403
    assert door.ask(door.alice, groups=[]).status == 200


@pytest.mark.parametrize(
    "wish, word",
    [
        ({"uid": 2000000001, "gid": 2000000001, "groups": []}, "user of pods"),
        ({"uid": 65534, "gid": 65534, "groups": []}, "nobody"),
        ({"uid": 12345678, "gid": 12345678, "groups": []}, "has no name"),
        ({}, "root"),
    ],
)
def test_who_is_no_person_is_refused(door, wish, word):
    answer = door.ask(**wish)
    assert answer.status == 403 and word in answer.json["message"], answer


def test_who_carries_a_pods_group_is_refused(door):
    entry = pwd.getpwnam(door.alice)
    for wish in ({"groups": [entry.pw_gid, 2000065536 + 7]}, {"gid": 2000065536 + 7}):
        answer = door.ask(door.alice, **wish)
        assert answer.status == 403 and "pod" in answer.json["message"], answer


def cgroup_folders():
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind = line.split()[:3]
        if kind in ("cgroup", "cgroup2"):
            yield pathlib.Path(folder)


def test_who_is_in_a_pods_cgroup_is_refused(door):
    for top in cgroup_folders():
        folder = top / f"prorata-{os.getpid():x}-1" / str(uuid.uuid4())
        try:
            folder.mkdir(parents=True)
            # A process of its own, since this one must not stay in there.
            script = f'echo $$ > {folder}/cgroup.procs && exec "$@"'
            entry = pwd.getpwnam(door.alice)
            wish = {
                "path": str(door.path),
                "method": "GET",
                "url": "/api/v1/session",
                "body": None,
                "headers": {},
                "uid": entry.pw_uid,
                "gid": entry.pw_gid,
                "groups": [],
            }
            done = subprocess.run(
                ["sh", "-c", script, "sh", sys.executable, "-c", ASK, json.dumps(wish)],
                capture_output=True,
                text=True,
                timeout=60,
            )
        except OSError:
            continue
        finally:
            for path in (folder, folder.parent):
                with contextlib.suppress(OSError):
                    path.rmdir()
        if done.returncode:
            continue
        status, _, text = json.loads(done.stdout)
        assert status == 403 and "pod" in json.loads(text)["message"], text
        return
    pytest.skip("no cgroup can be made here")


def test_root_where_a_setting_says_so(make_server, people, place):
    door = Door(make_server, people, place, "--socket-root", "administrator")
    answer = door.ask()
    assert answer.status == 200 and answer.json["name"] == "root@localhost", answer
    assert door.ask(url="/api/v1/users").status == 200


def test_an_account_that_an_administrator_made_is_not_taken_over(door):
    refused = door.server.post("/api/v1/users", {"email": f"{door.alice}@localhost"})
    assert refused.status == 400, "the API makes no account with such a name at all"
    assert door.ask(door.alice).status == 200
    door.server.stop()
    with contextlib.closing(sqlite3.connect(door.server.data / "prorata.db")) as database, database:
        database.execute("UPDATE users SET machine_uid = NULL WHERE email LIKE '%@localhost'")
    door.server.start()
    answer = door.ask(door.alice)
    assert answer.status == 403 and "an administrator made" in answer.json["message"], answer


def test_a_name_that_has_gone_to_another_number_is_another_person(door):
    assert door.ask(door.alice).status == 200
    old = pwd.getpwnam(door.alice).pw_uid
    subprocess.run(["usermod", "-u", str(old + 4321), door.alice], check=True, capture_output=True)
    answer = door.ask(door.alice)
    assert answer.status == 403 and str(old) in answer.json["message"], answer


def test_a_number_that_has_gone_to_another_name_is_another_account(door):
    assert door.ask(door.alice).json["name"] == f"{door.alice}@localhost"
    uid = pwd.getpwnam(door.alice).pw_uid
    subprocess.run(["userdel", door.alice], check=True)
    subprocess.run(["usermod", "-u", str(uid), "-a", "-G", door.gpu, door.bob], check=True, capture_output=True)
    name = f"{door.bob}@localhost"
    door.server.wait_for("the other account", lambda: door.ask(door.bob).json.get("name") == name)


def test_the_account_signs_in_by_the_socket_alone(door):
    assert door.ask(door.alice).status == 200
    for password in ("", "!", door.alice):
        answer = door.server.request(
            "POST",
            "/api/v1/token",
            {"grantType": "password", "username": f"{door.alice}@localhost", "password": password},
            token=None,
        )
        assert answer.status in (400, 401), answer


def test_rights_end_with_the_group(door):
    assert door.ask(door.alice).status == 200
    subprocess.run(["gpasswd", "-d", door.alice, door.gpu], check=True, capture_output=True)
    door.server.wait_for("rights have ended", lambda: door.ask(door.alice).status == 403)


def test_a_token_that_is_shown_wins(door):
    token = door.server.sign_in()
    answer = door.ask(door.bob, headers={"Authorization": f"Bearer {token}"})
    assert answer.status == 200 and answer.json["name"] == ADMIN
    assert door.ask(door.alice, headers={"Authorization": "Bearer nonsense"}).status == 401, (
        "and a wrong one is no other"
    )


def test_who_signs_in_by_a_password_has_the_rights_of_that_account_alone(door):
    answer = door.ask(door.alice, "/api/v1/session", "POST", {"username": ADMIN, "password": PASSWORD})
    assert answer.status in (200, 201) and answer.json["name"] == ADMIN
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    assert door.ask(door.alice, headers={"Cookie": cookie}).json["name"] == ADMIN


def send_raw(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(text)
        connection.shutdown(socket.SHUT_WR)
        got = b""
        with contextlib.suppress(ConnectionResetError):
            while chunk := connection.recv(65536):
                got += chunk
    return got


HEADERS = [
    "X-Prorata-Peer: " + "0" * 64,
    "X-Prorata-Peer: ",
    "X-Forwarded-For: unix:0",
    "X-Prorata-Peer: unix:0",
    "X-Remote-User: root",
]


def test_tcp_is_never_taken_for_the_socket(door):
    assert door.ask(door.alice).status == 200
    for port in (door.server.port, door.relay_port()):
        for header in HEADERS:
            for path in ("/socket", "/api/v1/session"):
                text = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n"
                text += "GET /api/v1/session HTTP/1.1\r\nHost: localhost\r\n\r\n"
                answers = send_raw(port, text.encode())
                statuses = {int(found) for found in re.findall(rb"HTTP/1\.1 (\d+)", answers)}
                assert statuses and statuses <= {401, 404}, answers
    assert {
        int(found)
        for found in re.findall(
            rb"HTTP/1\.1 (\d+)", send_raw(door.relay_port(), b"GET /api/v1/session HTTP/1.1\r\nHost: a\r\n\r\n" * 2)
        )
    } == {404}


def test_a_proxy_cannot_speak_for_the_socket(make_server, people, place):
    door = Door(make_server, people, place, "--trusted-proxy", "127.0.0.1")
    assert door.ask(door.alice, headers={"X-Forwarded-For": "10.1.2.3"}).status == 200
    assert "remote=unix:" in door.server.log.read_text() and "10.1.2.3" not in door.server.log.read_text()
    assert (
        door.server.request("GET", "/api/v1/session", token=None, headers={"X-Forwarded-For": "unix:1000"}).status
        == 401
    )


@pytest.fixture
def machine(make_server, people, place):
    """The same with this machine as the cluster; all pods are gone at the end."""
    made = Door(make_server, people, place, "--backend", "local", "--local-gpus", "4")
    yield made
    for workload in made.server.get("/api/v1/workloads").json["workloads"]:
        made.server.delete(f"/api/v1/workloads/trainings/{workload['id']}")
    made.server.wait_for("all pods gone", lambda: not supervisors_of(made.server))


def submit(door, user, name, script, **spec):
    body = {
        "name": name,
        "projectId": door.server.project_id("team-a"),
        "clusterId": door.server.cluster_id(),
        "spec": {"image": "i", "command": "/bin/sh -c", "args": quoted(script), "backoffLimit": 0, **spec},
    }
    answer = door.ask(user, "/api/v1/workloads/trainings", "POST", body)
    assert answer.status == 202, answer
    return answer.json["workloadId"]


def output(door, workload):
    door.server.wait_phase(workload, "Completed", "Failed")
    return log_of(door.server, workload)


def test_pods_run_as_who_submitted_them(machine):
    alice = pwd.getpwnam(machine.alice)
    lines = output(machine, submit(machine, machine.alice, "me", "id -u; id -G; echo $USER")).splitlines()
    assert int(lines[0]) == alice.pw_uid and lines[2] == machine.alice, lines
    assert set(os.getgrouplist(machine.alice, alice.pw_gid)) <= set(map(int, lines[1].split()))
    other = machine.server.submit("other", "team-a", 0, spec={"command": "id -u"})
    assert int(output(machine, other)) >= 2000000000, "and others' pods as their project's user, as before"
    refused = machine.ask(machine.alice, "/api/v1/workloads/trainings", "POST", {
        "name": "root", "projectId": machine.server.project_id("team-a"), "clusterId": machine.server.cluster_id(),
        "spec": {"image": "i", "command": "id", "security": {"runAsUid": 0}}})  # fmt: skip
    assert refused.status == 400, refused


CONNECT = """
import http.client, os, socket
connection = http.client.HTTPConnection("localhost")
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect("%s")
connection.request("GET", "/api/v1/session")
print(connection.getresponse().status, os.getuid())
"""


def test_a_pod_of_a_person_is_not_the_person(machine):
    """It has his number and his groups, and is refused all the same."""
    script = f"exec {sys.executable} -c '{CONNECT % machine.path}'"
    uid = pwd.getpwnam(machine.alice).pw_uid
    assert output(machine, submit(machine, machine.alice, "inside", script)).split() == ["403", str(uid)]
    detached = f"setsid {sys.executable} -c '{CONNECT % machine.path}' & wait"
    assert output(machine, submit(machine, machine.alice, "detached", detached)).split() == ["403", str(uid)]


def test_a_persons_pod_is_entered_by_that_person_alone(machine):
    """Who shares the project may stop it, and may not be that person on the machine."""
    carol = machine.people.user("carol", machine.gpu)
    workload = submit(machine, machine.alice, "mine", "sleep 600")
    machine.server.wait_phase(workload, "Running")
    path, body = f"/api/v1/workloads/{workload}/exec", {"command": ["id"]}
    for answer in (machine.ask(carol, path, "POST", body), machine.server.post(path, body)):
        assert answer.status == 403 and machine.alice in answer.json["message"], answer
    assert machine.ask(machine.alice, path, "POST", body).status == 201
    assert machine.ask(carol, f"/api/v1/workloads/trainings/{workload}", "DELETE").status in (200, 202, 204)


def test_what_a_persons_inference_runs_is_changed_by_that_person_alone(door):
    """Else who shares the project would have a command of his run as that person."""
    body = {
        "name": "serve",
        "projectId": door.server.project_id("team-a"),
        "clusterId": door.server.cluster_id(),
        "spec": {"image": "i", "servingPort": {"container": 8080}, "compute": {"gpuDevicesRequest": 1}},
    }
    made = door.ask(door.alice, "/api/v1/workloads/inferences", "POST", body)
    assert made.status == 202, made
    path, change = f"/api/v1/workloads/inferences/{made.json['workloadId']}", {"spec": {"command": "id"}}
    answer = door.server.request("PATCH", path, change)
    assert answer.status == 403 and "may say what runs in them" in answer.json["message"], answer
    assert door.ask(door.alice, path, "PATCH", change).status in (200, 202)


def test_a_pod_of_somebody_who_is_another_now_does_not_start(machine):
    """The name and the number must still be one: neither another's files nor another's name."""
    block = machine.server.submit("block", "team-a", 4, spec={"command": "sleep 600"})
    machine.server.wait_phase(block, "Running")
    workload = submit(machine, machine.alice, "later", "id -u", compute={"gpuDevicesRequest": 4})
    old = pwd.getpwnam(machine.alice).pw_uid
    subprocess.run(["usermod", "-u", str(old + 4321), machine.alice], check=True, capture_output=True)
    machine.server.delete(f"/api/v1/workloads/trainings/{block}")
    machine.server.wait_for("refused", lambda: any(str(old) in text for text in events_of(machine.server, workload)))
    assert machine.server.workload(workload)["phase"] != "Completed"


AGES = {"start": "2020-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z", "numberOfSamples": 1000}


def records_of(door, **wanted):
    """Who, by what, with what result, and whether the account was made: of the records with these values, the oldest
    first."""
    answer = door.server.get("/api/v1/audit/log", **AGES)
    found = answer.json["audit_logs"] if answer.status == 200 else []
    found = [record for record in found if all(record[key] == value for key, value in wanted.items())]
    return [
        (record["subject"], record["metadata"]["operation"], record["result"], record["metadata"].get("account"))
        for record in reversed(found)
    ]


def test_a_sign_in_by_the_socket_has_a_record_of_its_own(door):
    alice, body = f"{door.alice}@localhost", {"name": "x", "email": "x@y.z"}
    assert door.ask(door.alice, "/api/v1/users", "POST", body).status == 403, "the first request is a write"
    assert door.ask(door.alice, times=3).status == 200
    made = (alice, "socket", "Succeeded", "made")
    door.server.wait_for("the refused write", lambda: len(records_of(door, subject=alice)) == 2)
    assert records_of(door, subject=alice) == [made, (alice, "create_user", "Failed", None)]
    assert door.server.post(f"/api/v1/users/{door.ask(door.alice).json['subjectId']}/logout").status in (200, 204)
    assert door.ask(door.alice, method="HEAD").status == 200
    again = (alice, "socket", "Succeeded", None)
    assert records_of(door, subject=alice, action="sign-in") == [made, again], "another session, the same account"


def test_a_person_of_the_machine_who_is_refused_has_a_record(door):
    """Whom no group lets in, and who finds an account that isn't his: also by requests that only read."""
    bob = f"{door.bob}@localhost"
    assert door.ask(door.bob).status == 403 and door.ask(door.alice).status == 200
    door.server.wait_for("bob's record", lambda: records_of(door, subject=bob))
    assert records_of(door, subject=bob, action="sign-in", http_status_code=403) == [
        (bob, "get_session", "Failed", None)
    ]
    old = pwd.getpwnam(door.alice).pw_uid
    subprocess.run(["usermod", "-u", str(old + 4321), door.alice], check=True, capture_output=True)
    assert door.ask(door.alice).status == 403
    wanted = {"subject": f"{door.alice}@localhost", "result": "Failed"}
    door.server.wait_for("the record of the other number", lambda: records_of(door, **wanted))
    assert len(records_of(door, **wanted)) == 1


def test_what_is_done_and_tried_by_the_socket_is_audited(door):
    uid = pwd.getpwnam(door.alice).pw_uid
    assert door.ask(door.alice).status == 200
    assert door.ask(uid=2000000001, gid=2000000001, groups=[]).status == 403

    def records():
        answer = door.server.get("/api/v1/audit/log", **AGES)
        return answer.body.decode() if answer.status == 200 else ""

    door.server.wait_for("the record of a refusal", lambda: "unix:2000000001" in records())
    assert f"unix:{uid}" in records() and f"{door.alice}@localhost" in records()


def test_the_doctor_says_whether_it_can_be_had(door, folder):
    def look(*flags, status=0):
        words = [PRORATA, "doctor", "--json", "--listen", "127.0.0.1:0", *flags]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == status, done
        return [(f["level"], f["message"]) for f in json.loads(done.stdout)["findings"] if f["check"] == "socket"]

    place = ("--socket", str(door.path))
    assert look() == [("note", "none: people of this machine need a password, too")]
    assert look(*place, "--socket-group", f"{door.gpu}=a:Viewer")[0][0] == "good"
    assert "no group nowhere" in look(*place, "--socket-group", "nowhere=a:Viewer")[1][1]
    assert look(*place, "--socket-group", "nowhere=a:King", status=1)[0][0] == "problem"
    folder.chmod(0o777)
    others = ("--socket", str(folder / "x.sock"), "--socket-root", "administrator")
    assert "others than root" in look(*others, status=1)[0][1]
