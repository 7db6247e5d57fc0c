"""What happened, as the page of events asks for it: by kind, type, project, workload, node, words and time."""

import urllib.parse

import pytest
from contract import check_answer
from test_access import make_caller

EVENTS = "/api/v1/events"
FAILING = {
    "annotations": [
        {"name": "prorata.io/sim-duration", "value": "1s"},
        {"name": "prorata.io/sim-exit-code", "value": "3"},
    ],
    "backoffLimit": 0,
}


def ask(server, token="admin", **query):
    answer = server.request("GET", f"{EVENTS}?{urllib.parse.urlencode(query)}", token=token)
    assert answer.status == 200, answer
    check_answer("list_events", answer)
    return answer.json["events"]


def told(events):
    return {(e["workloadName"], e["reason"]) for e in events}


@pytest.fixture
def busy(server):
    """team-a runs one and has failed one; team-b takes back what the first borrowed."""
    server.ids = {name: server.submit(name, "team-a") for name in ("a1", "a2", "a3")}
    for workload in server.ids.values():
        server.wait_phase(workload, "Running")
    server.ids["b"] = server.submit("b", "team-b", gpus=2)
    server.wait_phase(server.ids["b"], "Running")
    server.ids["flop"] = server.submit("flop", "team-a", gpus=0, spec=FAILING)
    server.wait_phase(server.ids["flop"], "Failed")
    return server


def test_kinds_part_what_happened(busy):
    starts = ask(busy, kind="starts", workloadId=busy.ids["b"])
    assert {"Scheduled", "Pulled", "Created", "Started"} <= {e["reason"] for e in starts}
    assert {e["workloadName"] for e in starts} == {"b"}
    (evicted,) = {w for w, reason in told(ask(busy, kind="evictions")) if reason == "Preempted"}
    assert evicted in ("a1", "a2", "a3")
    assert told(ask(busy, kind="failures")) == {("flop", "Failed")}
    assert told(ask(busy, kind="people")) == {(name, "Submitted") for name in busy.ids}
    warnings = ask(busy, type="Warning")
    assert {"Preempted", "Failed"} <= {e["reason"] for e in warnings} and {e["type"] for e in warnings} == {"Warning"}
    assert busy.get(EVENTS, kind="other").status == 400


def test_projects_nodes_words_and_times_narrow_them(busy):
    of_b = ask(busy, projectId=busy.project_id("team-b"))
    assert {e["projectName"] for e in of_b} == {"team-b"}
    (started,) = [e for e in of_b if e["reason"] == "Started"]
    on_node = ask(busy, node=started["nodeName"])
    assert started["id"] in {e["id"] for e in on_node} and {e["nodeName"] for e in on_node} == {started["nodeName"]}
    assert ask(busy, node="nowhere") == []
    assert told(ask(busy, search="exit code 3")) == {("flop", "Failed")}
    assert {e["workloadName"] for e in ask(busy, search="FLOP")} == {"flop"}
    at = started["createdAt"]
    older, newer = ask(busy, end=at), ask(busy, start=at)
    assert all(e["createdAt"] <= at for e in older) and all(e["createdAt"] >= at for e in newer)
    assert {e["id"] for e in older} | {e["id"] for e in newer} == {e["id"] for e in ask(busy)}
    page = ask(busy, end=at, offset=2, limit=3)
    assert [e["id"] for e in page] == [e["id"] for e in older[2:5]], "pages are of what the period has"


def test_a_researcher_finds_nothing_of_others_by_any_filter(busy):
    _, token = make_caller(busy, "ann", ("L1 researcher", "project", busy.project_id("team-a")))
    mine = ask(busy, token)
    assert {e["projectName"] for e in mine} == {"team-a"}
    (yields,) = [e["message"] for e in mine if e["reason"] == "Preempted"]
    assert "team-b" not in yields and "another project" in yields
    assert ask(busy, token, projectId=busy.project_id("team-b")) == []
    assert ask(busy, token, workloadId=busy.ids["b"]) == []
    # The stored sentence names team-b; a hit would tell so.
    assert ask(busy, token, search="project team-b") == [] and ask(busy, token, search="team-b") == []
    assert ask(busy, search="team-b which held") or ask(busy, search="team-b")
