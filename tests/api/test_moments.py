"""The scheduler at a moment that has passed: what a cycle decided, and why a workload was where it was."""

import datetime

import pytest
from contract import check_answer
from test_access import make_caller

DECISIONS = "/api/v1/scheduler/decisions"


def now():
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def explain(server, workload, at=None, token=None):
    query = f"?at={at}" if at else ""
    who = {"token": token} if token else {}
    answer = server.request("GET", f"/api/v1/workloads/{workload}/explanation{query}", **who)
    assert answer.status == 200, answer
    check_answer("get_workload_explanation", answer)
    return answer.json


@pytest.fixture(scope="module")
def past(module_server):
    """A cluster that is full, one workload that gets a place back, and one that waits; server.moment is then."""
    server = module_server
    server.first = server.submit("first", "team-b", gpus=2)
    server.wait_phase(server.first, "Running")
    server.other = server.submit("other", "team-b", gpus=2)
    server.wait_phase(server.other, "Running")
    server.waited = server.submit("waited", "team-a", gpus=2)
    server.big = server.submit("big", "team-a", gpus=3)
    server.wait_for("why it waits", lambda: explain(server, server.big)["code"])
    server.then = explain(server, server.big)

    def recorded():
        server.moment = now()
        told = explain(server, server.big, server.moment)
        return told if told["phase"] == "Pending" and told["code"] else None

    server.told = server.wait_for("its cycle in the journal", recorded)
    return server


def test_why_it_waited_is_said_again_when_it_is_gone(past):
    assert (past.told["sentence"], past.told["code"]) == (past.then["sentence"], past.then["code"])
    assert past.told["cycle"]["time"] <= past.moment and "cycle" not in past.then
    assert past.delete(f"/api/v1/workloads/trainings/{past.big}").status == 202
    assert explain(past, past.big, past.moment)["sentence"] == past.told["sentence"]


def test_what_ran_and_what_was_not_there(past):
    told = explain(past, past.first, past.moment)
    assert told["phase"] in ("Running", "Bound") and told["sentence"].startswith("first ")
    path = f"/api/v1/workloads/{past.first}/explanation"
    answer = past.get(path, at="2020-01-01T00:00:00Z")
    assert answer.status == 404 and "cycle" in answer.json["message"], "it says which there are"
    assert past.get(path, at="then").status == 400


def test_what_a_cycle_decided(past):
    def placed():
        answer = past.get(DECISIONS, at=now(), limit=500)
        check_answer("get_scheduler_decisions", answer)
        cycles = past.get(DECISIONS, limit=500).json["cycles"]
        decided = [past.get(DECISIONS, at=c["time"]).json["cycles"][0] for c in cycles if c["decisions"]]
        return next((d for c in decided for d in c["decided"] if d["workload"] == "first"), None)

    decision = past.wait_for("the decision", placed)
    assert decision["verb"] == "bind" and decision["node"].startswith("node-") and decision["why"]
    assert past.get(DECISIONS, at="2020-01-01T00:00:00Z").status == 404
    assert past.get(DECISIONS, at="x").status == 400


def test_names_of_others_stay_hidden_in_the_past(past):
    _, token = make_caller(past, "ann", ("L1 researcher", "project", past.project_id("team-a")))
    mine = explain(past, past.waited, past.moment, token)
    assert "team-b" not in str(mine)
    path = f"/api/v1/workloads/{past.first}/explanation?at={past.moment}"
    assert past.request("GET", path, token=token).status == 404
    assert past.request("GET", f"{DECISIONS}?at={past.moment}", token=token).status == 403
