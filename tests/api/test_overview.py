"""The overview in few answers: exact counts, who waits and what is owed, the devices; and what a caller may not
read."""

import pytest
from test_access import department_id, make_caller

OVERVIEW = "/api/v1/overview"


def ask(server, path=OVERVIEW, token="admin"):
    answer = server.request("GET", path, token=token)
    assert answer.status == 200, answer
    return answer.json


def share(answer, project):
    (found,) = [p for p in answer["projects"] if p["name"] == project]
    (only,) = found["nodePools"]
    return only


def submit_waiting(server, name, project, gpus, **spec):
    """The workload, once the scheduler has said why it waits."""
    workload = server.submit(name, project, gpus, spec=spec)
    server.wait_for("its explanation", lambda: (server.workload(workload).get("explanation") or {}).get("sentence"))
    return workload


@pytest.fixture(scope="module")
def busy(module_server):
    """Of 4 GPUs team-a holds its 2 and waits for 2 more; team-b holds 1 of its 2, waits for 2 on one node, and for 3
    that its quota can never give to what is not preemptible."""
    server = module_server
    server.wait_phase(server.submit("a1", "team-a", gpus=2), "Running")
    server.wait_phase(server.submit("b1", "team-b"), "Running")
    submit_waiting(server, "a2", "team-a", 2)
    submit_waiting(server, "b-never", "team-b", 3, preemptibility="non-preemptible")
    submit_waiting(server, "b2", "team-b", 2)
    server.wait_for(
        "the figures of that cycle",
        lambda: share(ask(server), "team-b")["refused"] == 3 and share(ask(server), "team-b")["waiting"] == 2,
    )
    return server


def test_overview_tells_what_is_held_and_owed(busy):
    seen = ask(busy)
    assert share(seen, "team-a") == {
        "name": "default",
        "quota": 2,
        "limit": None,
        "held": 2,
        "nonPreemptible": 0,
        "fairShare": 2,
        "waiting": 2,
        "owed": 0,
        "refused": 0,
    }
    assert share(seen, "team-b") == {
        "name": "default",
        "quota": 2,
        "limit": None,
        "held": 1,
        "nonPreemptible": 0,
        "fairShare": 2,
        "waiting": 2,
        "owed": 1,
        "refused": 3,
    }
    assert [p["name"] for p in seen["projects"]] == ["default", "team-a", "team-b"] and seen["projects"][1][
        "departmentName"
    ] == "research"
    assert seen["phases"] == {"Pending": 3, "Running": 2}
    assert seen["clusters"] == [{"id": busy.cluster_id(), "name": busy.get("/api/v1/clusters").json[0]["name"]}]


def test_overview_tells_who_waits_the_most_owed_first(busy):
    waiting = ask(busy)["waiting"]
    assert {k: v for k, v in waiting.items() if k != "workloads"} == {
        "count": 3,
        "gpus": 7,
        "gpusOwed": 1,
        "gpusRefused": 3,
    }
    assert [(w["name"], w["owed"], w["gpus"]) for w in waiting["workloads"]] == [
        ("b2", True, 2),
        ("a2", False, 2),
        ("b-never", False, 3),
    ]
    listed = {w["id"]: w for w in busy.get("/api/v1/workloads", filterBy="phase==Pending").json["workloads"]}
    for w in waiting["workloads"]:
        row = listed[w["id"]]
        assert (w["projectId"], w["projectName"], w["type"], w["nodePool"]) == (
            row["projectId"],
            row["projectName"],
            "Training",
            "default",
        )
        assert (w["sentence"], w["forecast"]) == (row["explanation"]["sentence"], row["explanation"]["forecast"])
        assert (w["waitingSince"], w["phaseReason"], w["pods"]) == (row["phaseUpdatedAt"], row["phaseReason"], 1)
    assert (
        waiting["workloads"][2]["phaseReason"] == "NonPreemptibleOverQuota"
        and waiting["workloads"][0]["phaseReason"] is None
    )


def test_overview_counts_nodes_and_devices_by_pool(busy):
    seen = ask(busy)
    (pool,) = seen["nodePools"]
    assert pool == {
        "id": "1",
        "name": "default",
        "gpuType": pool["gpuType"],
        "nodes": 2,
        "nodesReady": 2,
        "gpuNodes": 2,
        "gpuNodesReady": 2,
        "gpus": 4,
        "gpusDown": 0,
        "gpusAllocated": 3,
        "gpusIdle": pool["gpusIdle"],
        "gpusFree": 1,
    }
    assert pool["gpuType"] and seen["notReady"] == []


def test_overview_nodes_are_the_nodes_in_brief(busy):
    brief = ask(busy, OVERVIEW + "/nodes")
    for node, full in zip(brief["nodes"], busy.get("/api/v1/nodes").json["nodes"], strict=True):
        assert (node["id"], node["name"], node["nodePool"], node["status"], node["gpuCount"]) == (
            full["id"],
            full["name"],
            full["nodePool"],
            full["status"],
            full["gpuInfo"]["gpuCount"],
        )
        held = {}
        for part in node["held"]:
            for index in part["gpus"]:
                held.setdefault(index, []).append({**brief["workloads"][part["workload"]], "share": part["share"]})
        assert [held.get(d["index"], []) for d in full["prorata"]["devices"]] == [
            d["workloads"] for d in full["prorata"]["devices"]
        ]
        assert node["gpusDown"] == [] and len(node["utilization"]) == 2 and "releasing" not in str(node["held"])


def test_overview_of_one_department_or_project(busy):
    here = department_id(busy)
    seen = ask(busy, f"{OVERVIEW}?departmentId={here}")
    assert (
        [p["name"] for p in seen["projects"]] == ["team-a", "team-b"]
        and seen["waiting"]["count"] == 3
        and seen["phases"]["Running"] == 2
    )
    seen = ask(busy, f"{OVERVIEW}?projectId={busy.project_id('team-a')}")
    assert [p["name"] for p in seen["projects"]] == ["team-a"] and seen["phases"] == {"Pending": 1, "Running": 1}
    assert (seen["waiting"]["count"], seen["waiting"]["gpus"], seen["waiting"]["gpusRefused"]) == (1, 2, 0)
    assert seen["nodePools"][0]["gpusAllocated"] == 3, "the hardware is everybody's"
    seen = ask(busy, f"{OVERVIEW}?departmentId=nonsense")
    assert seen["projects"] == [] and seen["waiting"]["count"] == 0 and seen["phases"] == {}


def test_overview_counts(busy):
    assert ask(busy, OVERVIEW + "/counts") == {
        "workloads": 5,
        "projects": 3,
        "departments": 2,
        "nodes": 2,
        "nodePools": 1,
    }


def test_a_researcher_sees_the_own_part_alone(busy):
    _, token = make_caller(busy, "ann", ("L1 researcher", "project", busy.project_id("team-a")))
    seen = ask(busy, token=token)
    assert sorted(seen) == ["clusters", "phases", "projects", "waiting"], "no nodes where one may not read them"
    assert [p["name"] for p in seen["projects"]] == ["team-a"] and seen["phases"] == {"Pending": 1, "Running": 1}
    assert [w["name"] for w in seen["waiting"]["workloads"]] == ["a2"] and seen["waiting"]["gpus"] == 2
    assert "team-b" not in str(seen) and "b-never" not in str(seen)
    assert ask(busy, OVERVIEW + "/counts", token) == {"workloads": 2, "projects": 1}
    assert busy.request("GET", OVERVIEW + "/nodes", token=token).status == 403


def test_a_viewer_of_a_project_sees_the_hardware_without_others_names(busy):
    _, token = make_caller(busy, "eve", ("Viewer", "project", busy.project_id("team-a")))
    brief = ask(busy, OVERVIEW + "/nodes", token)
    assert sorted((w["name"], w["id"] is None, w["projectName"]) for w in brief["workloads"]) == [
        ("a1", False, "team-a"),
        ("another project's workload", True, None),
    ]
    assert "team-b" not in str(brief) and ask(busy, token=token)["nodePools"][0]["gpusAllocated"] == 3


def test_without_rules_the_overview_is_empty(busy):
    _, token = make_caller(busy, "nobody")
    assert ask(busy, token=token) == {} and ask(busy, OVERVIEW + "/counts", token) == {}
    assert busy.request("GET", OVERVIEW, token=None).status == 401


def test_a_node_that_failed_is_told_with_its_reason(server):
    server.wait_phase(server.submit("pair", "team-a", gpus=2), "Running")
    assert server.post("/api/v1/simulation/nodes/node-1/fail").status in (200, 202, 204)
    (pool,) = server.wait_for(
        "down", lambda: (lambda p: p if p[0]["nodesReady"] == 1 else None)(ask(server)["nodePools"])
    )
    assert (pool["gpus"], pool["gpusDown"], pool["gpuNodesReady"]) == (2, 2, 1)
    (broken,) = ask(server)["notReady"]
    assert broken["name"] == "node-1" and broken["nodePool"] == "default"
    (down,) = [n for n in ask(server, OVERVIEW + "/nodes")["nodes"] if n["name"] == "node-1"]
    assert down["status"] == "NotReady" and down["gpusDown"] == [0, 1]


def test_more_wait_than_are_shown(server):
    server.wait_phase(server.submit("all", "team-a", gpus=2), "Running")
    server.wait_phase(server.submit("rest", "team-b", gpus=2), "Running")
    names = [f"w{i}" for i in range(11)]
    for name in names:
        submit_waiting(server, name, "team-a", 1)
    waiting = ask(server)["waiting"]
    assert (waiting["count"], waiting["gpus"], [w["name"] for w in waiting["workloads"]]) == (11, 11, names[:8])
