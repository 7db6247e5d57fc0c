"""The overview in few answers: exact counts, who waits and what is owed, the devices; and what a caller may not
read."""

import sqlite3
import time

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


def test_overview_counts_who_waits(busy):
    assert ask(busy)["waiting"] == {"count": 3, "gpus": 7, "gpusOwed": 1, "gpusRefused": 3}


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
        "cpuCores": pool["cpuCores"],
        "cpuMemoryBytes": pool["cpuMemoryBytes"],
    }
    held = [(p["cpuCoresAllocated"], p["cpuMemoryAllocatedBytes"]) for p in seen["projects"]]
    for key, of_projects in (("cpuCores", [h[0] for h in held]), ("cpuMemoryBytes", [h[1] for h in held])):
        assert pool[key]["total"] > pool[key]["allocated"] == sum(of_projects), key
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
                holder = {**brief["workloads"][part["workload"]], "share": part["share"]}
                assert (holder.pop("departmentId"), holder.pop("departmentName")) == (department_id(busy), "research")
                held.setdefault(index, []).append(holder)
        assert [held.get(d["index"], []) for d in full["prorata"]["devices"]] == [
            d["workloads"] for d in full["prorata"]["devices"]
        ]
        assert node["gpusDown"] == [] and len(node["utilization"]) == 2 and "releasing" not in str(node["held"])


def set_device_samples(server, workload, minutes):
    """The workload began 20 minutes ago on one device, which worked until so many minutes ago. Which one it is."""
    now = int(time.time() * 1000)
    with sqlite3.connect(server.data / "prorata.db") as db:
        pod, node, index, name = db.execute(
            "SELECT p.id, p.node_id, p.gpu_indices_json ->> 0, n.name FROM pods p JOIN nodes n ON n.id = p.node_id "
            "JOIN workloads w ON w.id = p.workload_id WHERE w.uuid = ?",
            (workload,),
        ).fetchone()
        metric = f"GPU_UTILIZATION_PER_GPU:{index}"
        db.execute("UPDATE pods SET started_ms = ? WHERE id = ?", (now - 20 * 60_000, pod))
        db.execute("DELETE FROM samples WHERE scope = 'node' AND scope_id = ? AND metric = ?", (node, metric))
        db.executemany(
            "INSERT INTO samples VALUES ('node', ?, 0, ?, ?, ?)",
            [(node, metric, now - m * 60_000, value) for m, value in ((40, 0), (19, 90), (minutes, 0), (1, 0))],
        )
    return name, index


def test_overview_nodes_mark_what_is_idle_and_what_is_drained(server):
    lazy = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "0"}]}
    long, short = (server.submit(name, "team-a", 1, spec=lazy) for name in ("long", "short"))
    server.wait_phase(long, "Running")
    server.wait_phase(short, "Running")
    server.kill()
    name, index = set_device_samples(server, long, 6)
    set_device_samples(server, short, 3)
    server.start()
    brief = ask(server, OVERVIEW + "/nodes")
    assert [(n["name"], n["gpusIdle"]) for n in brief["nodes"] if n["gpusIdle"]] == [(name, [index])]
    assert {w["departmentName"] for w in brief["workloads"]} == {"research"}
    assert not any("drained" in n for n in brief["nodes"])
    drained = brief["nodes"][0]["id"]
    assert server.post(f"/api/v1/nodes/{drained}/drain", {"reason": "a loud fan"}).status == 200
    after = ask(server, OVERVIEW + "/nodes")["nodes"][0]
    assert after["drained"] and after["cordoned"]


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
    assert (seen["waiting"]["count"], seen["waiting"]["gpus"]) == (1, 2)
    assert "team-b" not in str(seen) and "b-never" not in str(seen)
    assert ask(busy, OVERVIEW + "/counts", token) == {"workloads": 2, "projects": 1}
    assert ask(busy, "/api/v1/session", token)["counts"] == {"workloads": 2, "projects": 1}
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
