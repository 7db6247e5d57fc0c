"""What each person of a project may have: set by the API for a project or a department, it makes work wait, with a
sentence that names the bound; and fair turns among people."""

import pytest
from servers import Server
from test_access import make_caller

UNITS = "/api/v1/org-unit/"
UNIT_KEYS = ("name", "description", "parentId", "resources", "defaultNodePools", "nodeTypes", "enforceRunaiScheduler")


def set_rules(server, kind, name, rules):
    unit = server.get(UNITS + kind, filterBy=f"name=={name}").json[kind][0]
    path = f"{UNITS}{kind}/{unit['id']}"
    kept = {
        key: unit[key]
        for key in (
            "name",
            "description",
            "parentId",
            "resources",
            "defaultNodePools",
            "nodeTypes",
            "enforceRunaiScheduler",
        )
        if key in unit
    }
    answer = server.request("PUT", path, {**kept, "schedulingRules": rules})
    assert answer.status == 200, answer
    return answer.json


class Person:
    """Submits to team-a."""

    def __init__(self, server: Server, name):
        self.server = server
        _, self.token = make_caller(server, name, ("L1 researcher", "project", server.project_id("team-a")))

    def submit(self, name, gpus=1, project="team-a", **spec):
        server = self.server
        body = {
            "name": name,
            "projectId": server.project_id(project),
            "clusterId": server.cluster_id(),
            "spec": {"image": "x", "compute": {"gpuDevicesRequest": gpus}, **spec},
        }
        answer = server.request("POST", "/api/v1/workloads/trainings", body, token=self.token)
        assert answer.status == 202, answer
        return answer.json["workloadId"]


@pytest.fixture
def ann(server):
    return Person(server, "ann")


@pytest.fixture
def bob(server):
    return Person(server, "bob")


def wait_sentence(server, workload, code):
    def find():
        answer = server.get(f"/api/v1/workloads/{workload}/explanation")
        return answer.json if answer.json.get("code") == code else None

    return server.wait_for(f"{workload} waits by {code}", find)["sentence"]


def test_who_holds_their_part_waits_and_nobody_else(server, ann, bob):
    set_rules(server, "projects", "team-a", {"maxGpusPerPerson": 1})
    first = ann.submit("first")
    server.wait_phase(first, "Running")
    second = ann.submit("second")
    sentence = "Needs 1 GPU; its submitter holds 1 of the 1 GPU that each person of project team-a may hold."
    assert wait_sentence(server, second, "OverPersonLimit") == sentence
    waiting = server.workload(second)
    assert waiting["phase"] == "Pending" and waiting["conditions"] is not None
    server.wait_phase(bob.submit("third", 2), "Pending")
    server.wait_phase(bob.submit("fourth"), "Running")
    assert server.post(f"/api/v1/workloads/trainings/{first}/suspend").status == 202
    server.wait_phase(second, "Running")


def test_a_bound_that_is_raised_lets_go(server, ann):
    set_rules(server, "projects", "team-a", {"maxWorkloadsPerPerson": 1})
    server.wait_phase(ann.submit("first"), "Running")
    second = ann.submit("second")
    assert wait_sentence(server, second, "OverPersonLimit") == (
        "Its submitter has 1 running of the 1 workload that each person of project team-a may have."
    )
    set_rules(server, "projects", "team-a", {"maxWorkloadsPerPerson": 2})
    server.wait_phase(second, "Running")


def test_a_departments_bound_holds_in_each_of_its_projects(server, ann):
    set_rules(server, "departments", "research", {"maxGpusPerPerson": 1})
    assert set_rules(server, "projects", "team-b", {"maxGpusPerPerson": 2.5})["effective"]["schedulingRules"] == {
        "maxGpusPerPerson": 2.5
    }
    server.wait_phase(server.submit("a1", "team-a"), "Running")
    held = server.submit("a2", "team-a")
    for name in ("b1", "b2"):
        server.wait_phase(server.submit(name, "team-b"), "Running")
    assert "each person of project team-a" in wait_sentence(server, held, "OverPersonLimit")


def test_what_is_waited_for_is_bounded(server, ann, bob):
    set_rules(server, "projects", "team-a", {"maxWaitingGpusPerPerson": 3})
    server.wait_phase(bob.submit("full", 2), "Running")
    server.wait_phase(server.submit("other", "team-b", 2), "Running")
    names = {name: ann.submit(name, gpus) for name, gpus in (("one", 2), ("two", 2), ("three", 1))}
    assert wait_sentence(server, names["two"], "NotReady") == (
        "Its submitter has work for 2 GPUs waiting before it, and each person of project team-a may have work for 3 "
        "waiting; it joins the queue when that has started."
    )
    for name in ("one", "three"):  # what comes behind and fits joins
        code = server.wait_for(
            f"{name} is explained",
            lambda name=name: server.get(f"/api/v1/workloads/{names[name]}/explanation").json.get("code"),
        )
        assert code != "NotReady", name
    set_rules(server, "projects", "team-a", {})
    server.wait_for(
        "two has joined",
        lambda: server.get(f"/api/v1/workloads/{names['two']}/explanation").json.get("code") not in (None, "NotReady"),
    )


def test_one_that_asks_for_more_than_may_wait_starts_all_the_same(server, ann):
    set_rules(server, "projects", "team-a", {"maxWaitingGpusPerPerson": 1})
    server.wait_phase(ann.submit("large", 2), "Running")


def test_what_if_knows_who_asks(server, ann):
    set_rules(server, "projects", "team-a", {"maxGpusPerPerson": 1})
    server.wait_phase(ann.submit("first"), "Running")
    workload = {
        "name": "draft",
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": "x", "compute": {"gpuDevicesRequest": 1}},
    }
    draft = {"type": "Training", "workload": workload}
    mine = server.request("POST", "/api/v1/scheduler/what-if", draft, token=ann.token)
    assert mine.status == 200, mine
    assert "its submitter holds 1 of the 1 GPU" in mine.body.decode(), mine
    assert "submitter" not in server.post("/api/v1/scheduler/what-if", draft).body.decode()


def test_who_has_used_least_goes_first(server, ann, bob):
    set_rules(server, "departments", "research", {"fairAmongPeople": True})
    server.wait_phase(ann.submit("held"), "Running")
    server.wait_phase(server.submit("filling", "team-b", 2), "Running")
    last = ann.submit("last")
    server.wait_phase(last, "Running")
    first, second = ann.submit("first"), bob.submit("second")
    for workload in (first, second):
        server.wait_phase(workload, "Pending")
        server.wait_for("planned", lambda w=workload: server.get(f"/api/v1/workloads/{w}/explanation").json.get("code"))
    queue = server.get("/api/v1/scheduler/queue", nodePool="default").json["workloads"]
    assert [entry["workload"] for entry in queue] == ["second", "first"], queue
    assert queue[0]["rule"] == "fair among people: who has used least first"
    assert server.delete(f"/api/v1/workloads/trainings/{last}").status == 202
    server.wait_phase(second, "Running")
    assert server.workload(first)["phase"] == "Pending"
    (project,) = (p for p in server.get("/api/v1/scheduler/snapshot").json["projects"] if p["name"] == "team-a")
    assert project["fairAmongPeople"] is True


def test_a_change_of_a_bound_is_an_event(server):
    set_rules(server, "projects", "team-a", {"maxGpusPerPerson": 0.5, "maxWorkloadsPerPerson": 3})
    text = server.get("/api/v1/events", sortOrder="desc").body.decode()
    assert "GPUs of each person from none to 0.5; running workloads of each person from none to 3" in text, text
