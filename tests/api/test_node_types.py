"""A project's list of node types: it holds workloads that name no type, of each kind its own; both labels are read."""

import json
import subprocess

import pytest
from servers import PRORATA

CLUSTER = """
nodes:
- {name: a-0, gpus: 2, labels: {run.ai/type: a100}}
- {name: b-0, gpus: 4, labels: {run-ai/node-type: v100}}
- {name: c-0, gpus: 4, labels: {run.ai/type: h100, run-ai/node-type: a100}}
- {name: d-0, gpus: 8}
"""


@pytest.fixture
def cluster(make_server, folder):
    (folder / "cluster.yaml").write_text(CLUSTER)
    return make_server("--cluster", str(folder / "cluster.yaml")).give_default(18)


def project(server, name, gpus=8, **extra):
    answer = server.post(
        "/api/v1/org-unit/projects",
        {
            "name": name,
            "clusterId": server.cluster_id(),
            "resources": [
                {
                    "nodePool": {"id": server.get("/api/v1/node-pools").json["nodepools"][0]["id"], "name": "default"},
                    "gpu": {"deserved": gpus},
                }
            ],
            **extra,
        },
    )
    assert answer.status == 201, answer
    return answer.json


def node_of(server, workload):
    server.wait_phase(workload, "Running")
    return {pod["nodeName"] for pod in server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]}


def body(server, name, project_name, **spec):
    return {
        "name": name,
        "projectId": server.project_id(project_name),
        "clusterId": server.cluster_id(),
        "spec": {"image": "x", **spec},
    }


def test_a_workload_without_a_type_is_held_to_the_list(cluster):
    project(cluster, "held", nodeTypes={"training": ["1", "v100"], "names": {"1": "a100"}})
    places = [node_of(cluster, cluster.submit(f"t{i}", "held", 2)) for i in range(3)]
    assert sorted(map(sorted, places)) == [["a-0"], ["b-0"], ["b-0"]]
    waits = cluster.submit("waits", "held", 1)
    cluster.wait_phase(waits, "Pending")
    sentence = cluster.wait_for(
        "why", lambda: (cluster.get(f"/api/v1/workloads/{waits}/explanation").json or {}).get("sentence")
    )
    assert (
        "Project held lets work of this kind use nodes of type a100 or v100, 2 of 4 in node pool default, "
        "with 0 of 6 GPUs free" in sentence
    )


def test_a_list_is_for_its_kind(cluster):
    project(cluster, "two", nodeTypes={"training": ["a100"], "workspace": ["h100"]})
    assert node_of(cluster, cluster.submit("desk", "two", 1, "workspaces")) == {"c-0"}
    assert node_of(cluster, cluster.submit("job", "two", 1)) == {"a-0"}
    gang = cluster.submit(
        "gang",
        "two",
        0,
        "distributed",
        {"numWorkers": 2, "distributedFramework": "PyTorch"},
        masterSpec={"image": "x", "compute": {"gpuDevicesRequest": 1}},
    )
    assert node_of(cluster, gang) == {"a-0"}


def test_a_type_of_the_list_may_be_named_by_id_or_label(cluster):
    project(cluster, "named", nodeTypes={"training": ["1", "2"], "names": {"1": "a100", "2": "v100"}})
    for type_name, node in (("v100", "b-0"), ("1", "a-0")):
        assert node_of(cluster, cluster.submit(f"by-{type_name}", "named", 1, spec={"nodeType": type_name})) == {node}
    refused = cluster.post("/api/v1/workloads/trainings", body(cluster, "no", "named", nodeType="h100"))
    assert (
        refused.status == 400 and refused.json["message"] == "spec.nodeType: the project allows no h100 for this kind"
    )
    gang = {
        **body(cluster, "no", "named", numWorkers=1, distributedFramework="PyTorch"),
        "masterSpec": {"image": "x", "nodeType": "h100"},
    }
    refused = cluster.post("/api/v1/workloads/distributed", gang)
    assert (
        refused.status == 400
        and refused.json["message"] == "masterSpec.nodeType: the project allows no h100 for this kind"
    )


def test_a_department_s_list_counts_where_the_project_has_none(cluster):
    department = cluster.post(
        "/api/v1/org-unit/departments",
        {
            "name": "d",
            "clusterId": cluster.cluster_id(),
            "resources": [],
            "nodeTypes": {"training": ["h100"], "workspace": ["a100"]},
        },
    ).json
    made = project(cluster, "below", parentId=department["id"], nodeTypes={"training": ["v100"]})
    assert made["effective"]["nodeTypes"] == {"training": ["v100"], "workspace": ["a100"]} and made["nodeTypes"] == {
        "training": ["v100"]
    }
    assert node_of(cluster, cluster.submit("job", "below", 1)) == {"b-0"}
    assert node_of(cluster, cluster.submit("desk", "below", 1, "workspaces", {"preemptibility": "preemptible"})) == {
        "a-0"
    }


def test_a_list_holds_what_is_submitted_after_it(cluster):
    made = project(cluster, "later")
    assert node_of(cluster, cluster.submit("before", "later", 8)) == {"d-0"}
    update = {key: made[key] for key in ("name", "resources")} | {"nodeTypes": {"training": ["v100"]}}
    assert cluster.request("PUT", f"/api/v1/org-unit/projects/{made['id']}", update).status == 200
    assert node_of(cluster, cluster.submit("after", "later", 1)) == {"b-0"}
    assert cluster.get("/api/v1/workloads", filterBy="name==before").json["workloads"][0]["phase"] == "Running"


def test_what_if_and_simulate_know_the_list(cluster, folder):
    project(cluster, "asks", nodeTypes={"training": ["a100"]})

    def ask(name, gpus):
        return cluster.post(
            "/api/v1/scheduler/what-if",
            {"type": "Training", "workload": body(cluster, name, "asks", compute={"gpuDevicesRequest": gpus})},
        )

    asked = cluster.wait_for(
        "an answer", lambda: (lambda answer: answer if answer.status == 200 else None)(ask("big", 4))
    )
    assert asked.json["verdict"] == "Waits" and "nodes of type a100" in asked.json["explanation"][0]["message"], asked
    asked = ask("fits", 2)
    assert asked.json["verdict"] == "Starts" and [n["name"] for n in asked.json["nodes"]] == ["a-0"]
    cluster.submit("big", "asks", 4)
    snapshot = cluster.wait_for(
        "the workload",
        lambda: (lambda s: s if s["workloads"] else None)(cluster.get("/api/v1/scheduler/snapshot").json),
    )
    assert snapshot["workloads"][0]["pods"][0]["nodeTypes"] == ["a100"]
    (folder / "snapshot.json").write_text(json.dumps(snapshot))
    done = subprocess.run(
        [PRORATA, "simulate", str(folder / "snapshot.json")], capture_output=True, text=True, check=True
    )
    (workload,) = json.loads(done.stdout)["cycles"][0]["workloads"]
    assert (
        workload["status"] == "Pending"
        and "Project asks lets work of this kind use nodes of type a100" in workload["explanation"][0]["message"]
    )
    del snapshot["workloads"][0]["pods"][0]["nodeTypes"]
    (folder / "snapshot.json").write_text(json.dumps(snapshot))
    done = subprocess.run(
        [PRORATA, "simulate", str(folder / "snapshot.json")], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["cycles"][0]["pods"][0]["status"] == "Binding"
