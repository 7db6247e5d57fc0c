"""Network topologies: made, listed, used by a node pool, deleted; and what is refused."""

import pytest

TOPOLOGIES = "/api/v1/network-topologies"
LEVELS = ["topology/zone", "topology/rack", "kubernetes.io/hostname"]


def create(server, **change):
    body = {"name": "hall", "clusterId": server.cluster_id(), "levels": LEVELS}
    body.update(change)
    return server.post(TOPOLOGIES, {k: v for k, v in body.items() if v is not None})


def test_topology_lives(server):
    answer = create(server)
    assert answer.status == 201, answer
    made = answer.json
    assert (
        made["levels"] == LEVELS
        and made["name"] == "hall"
        and made["nodePools"] == []
        and made["createdBy"] == "admin@prorata.local"
    )
    assert server.get(f"{TOPOLOGIES}/{made['id']}").json == made
    assert server.get(TOPOLOGIES).json == {"networkTopologies": [made]}
    assert server.get(TOPOLOGIES, filterBy="name==yard").json == {"networkTopologies": []}
    assert server.get(TOPOLOGIES + "/count").json == {"count": 1}
    assert create(server).status == 400, "the name is taken"
    pool = server.post(
        "/api/v1/node-pools",
        {
            "name": "racks",
            "clusterId": server.cluster_id(),
            "labelKey": "a",
            "labelValue": "b",
            "networkTopologyId": made["id"],
        },
    )
    assert pool.status == 201 and pool.json["networkTopologyName"] == "hall", pool
    assert server.get(f"{TOPOLOGIES}/{made['id']}").json["nodePools"] == ["racks"]
    refused = server.delete(f"{TOPOLOGIES}/{made['id']}")
    assert refused.status == 400 and "racks" in refused.json["message"]
    assert server.delete(f"/api/v1/node-pools/{pool.json['id']}").status == 204
    assert server.delete(f"{TOPOLOGIES}/{made['id']}").status == 204
    assert server.get(f"{TOPOLOGIES}/{made['id']}").status == 404


def test_a_topology_that_nodes_know_nothing_of_is_off_and_says_so(server):
    levels = ["rack", "kubernetes.io/hostname"]
    made = create(server, levels=levels).json
    assert made["phase"] == "Ready" and made["status"] == {"message": "", "nodesWithoutLabels": []}
    (default,) = server.get("/api/v1/node-pools", filterBy="name==default").json["nodepools"]
    path = f"/api/v1/node-pools/{default['id']}"
    assert server.request("PATCH", path, {"networkTopologyId": made["id"]}).status == 200
    message = "Topology hall is off in default: node-0 and node-1 lack labels of its levels"
    off = server.get(f"{TOPOLOGIES}/{made['id']}").json
    assert off["phase"] == "Off" and off["status"] == {
        "message": message.replace(" in default", ""),
        "nodesWithoutLabels": ["node-0", "node-1"],
    }
    assert server.get(path).json["phaseMessage"] == message
    assert [t["name"] for t in server.get(TOPOLOGIES, filterBy="phase==Off").json["networkTopologies"]] == ["hall"]
    gang = server.post(
        "/api/v1/workloads/distributed",
        {
            "name": "gang",
            "projectId": server.project_id("team-a"),
            "clusterId": server.cluster_id(),
            "spec": {"image": "gcr.io/run-ai-demo/quickstart", "numWorkers": 3, "compute": {"gpuDevicesRequest": 2}},
        },
    ).json["workloadId"]
    server.wait_phase(gang, "Pending")
    why = server.wait_for(
        "an explanation", lambda: server.get(f"/api/v1/workloads/{gang}/explanation").json["nodePools"]
    )
    assert message in [finding["message"] for finding in why], why


def test_simulated_nodes_have_their_names_as_hostnames(server):
    made = create(server, levels=["kubernetes.io/hostname"]).json
    (default,) = server.get("/api/v1/node-pools", filterBy="name==default").json["nodepools"]
    server.request("PATCH", f"/api/v1/node-pools/{default['id']}", {"networkTopologyId": made["id"]})
    assert server.post("/api/v1/simulation/nodes", {"name": "late", "gpus": 2}).status in (200, 201, 202)
    assert server.post(
        "/api/v1/simulation/nodes", {"name": "named", "gpus": 2, "labels": {"kubernetes.io/hostname": "other"}}
    ).status in (200, 201, 202)
    labels = {node["name"]: node["prorata"]["labels"] for node in server.get("/api/v1/nodes").json["nodes"]}
    assert {name: of["kubernetes.io/hostname"] for name, of in labels.items()} == {
        "node-0": "node-0",
        "node-1": "node-1",
        "late": "late",
        "named": "other",
    }
    assert server.get(f"{TOPOLOGIES}/{made['id']}").json["phase"] == "Ready"


REFUSED = [
    ("no name", {"name": None}),
    ("a capital", {"name": "Hall"}),
    ("no levels", {"levels": None}),
    ("levels of nothing", {"levels": []}),
    ("levels as text", {"levels": "rack"}),
    ("a level that is no label key", {"levels": ["a b"]}),
    ("too many levels", {"levels": ["a"] * 17}),
]


@pytest.mark.parametrize("what,change", REFUSED, ids=[r[0] for r in REFUSED])
def test_create_topology_refuses(module_server, what, change):
    answer = create(module_server, **change)
    assert answer.status == 400 and next(iter(change)) in answer.json["message"], answer
    assert module_server.get(TOPOLOGIES + "/count").json == {"count": 0}
