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
    assert made["levels"] == LEVELS and made["name"] == "hall" and made["nodePools"] == [] and made["createdBy"] == "admin@prorata.local"
    assert server.get(f"{TOPOLOGIES}/{made['id']}").json == made
    assert server.get(TOPOLOGIES).json == {"networkTopologies": [made]}
    assert server.get(TOPOLOGIES, filterBy="name==yard").json == {"networkTopologies": []}
    assert server.get(TOPOLOGIES + "/count").json == {"count": 1}
    assert create(server).status == 400, "the name is taken"
    pool = server.post("/api/v1/node-pools", {"name": "racks", "clusterId": server.cluster_id(), "labelKey": "a", "labelValue": "b",
                                              "networkTopologyId": made["id"]})
    assert pool.status == 201 and pool.json["networkTopologyName"] == "hall", pool
    assert server.get(f"{TOPOLOGIES}/{made['id']}").json["nodePools"] == ["racks"]
    refused = server.delete(f"{TOPOLOGIES}/{made['id']}")
    assert refused.status == 400 and "racks" in refused.json["message"]
    assert server.delete(f"/api/v1/node-pools/{pool.json['id']}").status == 204
    assert server.delete(f"{TOPOLOGIES}/{made['id']}").status == 204
    assert server.get(f"{TOPOLOGIES}/{made['id']}").status == 404


REFUSED = [
    ("no name", {"name": None}), ("a capital", {"name": "Hall"}), ("no levels", {"levels": None}), ("levels of nothing", {"levels": []}),
    ("levels as text", {"levels": "rack"}), ("a level that is no label key", {"levels": ["a b"]}), ("too many levels", {"levels": ["a"] * 17}),
]


@pytest.mark.parametrize("what,change", REFUSED, ids=[r[0] for r in REFUSED])
def test_create_topology_refuses(module_server, what, change):
    answer = create(module_server, **change)
    assert answer.status == 400 and next(iter(change)) in answer.json["message"], answer
    assert module_server.get(TOPOLOGIES + "/count").json == {"count": 0}
