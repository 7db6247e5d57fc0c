"""Idempotency-Key: a creation whose answer was lost is sent again, and nothing is made twice."""

import concurrent.futures
import sqlite3

import pytest
from test_access import make_caller, rule_for

TRAININGS = "/api/v1/workloads/trainings"
PROJECTS = "/api/v1/org-unit/projects"
RULES = "/api/v1/authorization/access-rules"


def training(server, name="once", **more):
    body = {"name": name, "projectId": server.project_id("team-a"), "clusterId": server.cluster_id()}
    return {**body, "spec": {"image": "x"}, **more}


def send(server, path, body, key, token="admin"):
    return server.request("POST", path, body, token=token, headers={"Idempotency-Key": key})


def count(server):
    return server.get("/api/v1/workloads/count").json["count"]


def created_records(server, name):
    rows = server.get(
        "/api/v1/audit/log", start="2020-01-01T00:00:00Z", end="2100-01-01T00:00:00Z", numberOfSamples=100
    )
    return [row for row in rows.json["audit_logs"] if row["action"] == "create" and row.get("entity_name") == name]


def test_the_same_request_has_the_same_answer(server):
    body = training(server, useGivenNameAsPrefix=True)
    first = send(server, TRAININGS, body, "k1")
    assert first.status == 202 and "Idempotency-Replayed" not in first.headers, first
    again = send(server, TRAININGS, body, "k1")
    assert (again.status, again.body) == (202, first.body)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert count(server) == 1
    assert len(created_records(server, "once")) == 1
    server.kill()
    server.start()
    assert send(server, TRAININGS, body, "k1").body == first.body and count(server) == 1
    assert send(server, TRAININGS, body, "k2").json["workloadId"] != first.json["workloadId"]
    assert count(server) == 2


def test_another_request_with_the_key_is_a_conflict(server):
    assert send(server, TRAININGS, training(server), "k").status == 202
    other = send(server, TRAININGS, training(server, "other"), "k")
    assert other.status == 409 and "another request" in other.json["message"], other
    assert count(server) == 1
    project = {"name": "new", "clusterId": server.cluster_id(), "resources": []}
    assert send(server, PROJECTS, project, "k").status == 201, "a key of one operation says nothing of another"


def test_a_key_is_the_callers_own(server):
    account, token = make_caller(server, "second")
    assert server.post(RULES, rule_for(account, "L1 researcher", "tenant", "1")).status == 201
    body = training(server, useGivenNameAsPrefix=True)
    first, second = (send(server, TRAININGS, body, "k", t) for t in ("admin", token))
    assert first.json["workloadId"] != second.json["workloadId"]
    assert send(server, TRAININGS, body, "k", token).body == second.body


def test_what_was_refused_may_be_sent_again(server):
    assert send(server, TRAININGS, training(server, spec={}), "k").status == 400
    assert send(server, TRAININGS, training(server, "Bad Name"), "k").status == 400
    assert send(server, TRAININGS, training(server), "k").status == 202


@pytest.mark.parametrize("key", ["", "x" * 256, "\u00e9"])
def test_a_key_that_is_none_is_refused(server, key):
    answer = server.request("POST", TRAININGS, training(server), headers={"Idempotency-Key": key.encode("latin-1")})
    assert answer.status == 400 and "Idempotency-Key" in answer.json["message"], answer
    assert count(server) == 0


def test_of_many_at_once_one_is_carried_out(server):
    body = training(server, useGivenNameAsPrefix=True)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: send(server, TRAININGS, body, "k"), range(24)))
    assert {answer.status for answer in answers} <= {202, 409}
    # An answer that is not kept yet is read again: what the workload is doing by then may differ, and nothing else.
    made = [{**answer.json, "actualPhase": ""} for answer in answers if answer.status == 202]
    assert made and all(one == made[0] for one in made), made
    assert all("carried out" in answer.json["message"] for answer in answers if answer.status == 409)
    assert count(server) == 1


def test_a_submission_whose_answer_was_not_kept_is_read_again(server):
    first = send(server, TRAININGS, training(server), "k").json
    with sqlite3.connect(server.data / "prorata.db") as db:
        assert db.execute("UPDATE idempotency_keys SET status = 0, answer = ''").rowcount == 1
    again = send(server, TRAININGS, training(server), "k")
    assert again.status == 202 and {**again.json, "actualPhase": ""} == {**first, "actualPhase": ""}, again


def test_an_answer_that_was_not_kept_is_read_again(server):
    """As after kill -9 between the change and its answer."""
    project = {"name": "new", "clusterId": server.cluster_id(), "resources": []}
    first = send(server, PROJECTS, project, "k").json
    with sqlite3.connect(server.data / "prorata.db") as db:
        assert db.execute("UPDATE idempotency_keys SET status = 0, answer = ''").rowcount == 1
    again = send(server, PROJECTS, project, "k")
    assert again.status == 201 and again.json["id"] == first["id"], again
    assert server.delete(f"{PROJECTS}/{first['id']}").status in (202, 204)
    server.wait_for("the project to go", lambda: server.get(f"{PROJECTS}/{first['id']}").status == 404)
    gone = send(server, PROJECTS, project, "k")
    assert gone.status == 409 and first["id"] in gone.json["message"], gone


@pytest.mark.parametrize(
    ("path", "body", "secret"),
    [
        ("/api/v1/users", {"email": "k@lab.example"}, "tempPassword"),
        ("/api/v1/service-accounts", {"name": "robot"}, "clientSecret"),
        ("/api/v1/apps", {"name": "robot"}, "secret"),
    ],
)
def test_no_secret_is_kept(server, path, body, secret):
    first = send(server, path, body, "k")
    assert first.status == 201 and first.json[secret], first
    again = send(server, path, body, "k")
    assert again.status == 409 and "secret" in again.json["message"], again
    assert first.json[secret].encode() not in again.body
    with sqlite3.connect(server.data / "prorata.db") as db:
        assert db.execute("SELECT status, answer FROM idempotency_keys").fetchall() == [(0, "")]


def test_a_key_lasts_a_day(server):
    body = training(server, useGivenNameAsPrefix=True)
    first = send(server, TRAININGS, body, "k")
    with sqlite3.connect(server.data / "prorata.db") as db:
        db.execute("UPDATE idempotency_keys SET created_ms = created_ms - 86400000 - 60000")
    assert send(server, TRAININGS, body, "k").json["workloadId"] != first.json["workloadId"]
    with sqlite3.connect(server.data / "prorata.db") as db:
        db.execute("UPDATE idempotency_keys SET created_ms = created_ms - 86400000 - 60000")

    def keys():
        with sqlite3.connect(server.data / "prorata.db") as db:
            return db.execute("SELECT count(*) FROM idempotency_keys").fetchone()[0]

    server.wait_for("the key to go", lambda: keys() == 0)
