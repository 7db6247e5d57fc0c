"""The machine's labels are people's: they decide its node pool and what may run on it, and outlive the server."""

import os


def test_labels_of_the_machine_stay_over_a_restart(make_server):
    server = make_server("--backend", "local", "--local-gpus", "2", "--quick-start")
    (node,) = server.get("/api/v1/nodes").json["nodes"]
    pool = {"name": "dgx", "labelKey": "node-model", "labelValue": "dgx-2", "clusterId": server.cluster_id()}
    assert server.post("/api/v1/node-pools", pool).status == 201
    changed = server.request(
        "PATCH", f"/api/v1/nodes/{node['name']}", {"labels": {"node-model": "dgx-2", "run-ai/node-type": "a100"}}
    )
    assert changed.status == 200 and changed.json["nodePool"] == "dgx", changed
    assert server.post(f"/api/v1/nodes/{node['id']}/cordon", {"reason": "a new fan"}).status == 200
    server.kill()
    server.start()
    (node,) = server.get("/api/v1/nodes").json["nodes"]
    assert node["prorata"]["cordon"]["reason"] == "a new fan"
    answer = server.post(f"/api/v1/nodes/{node['id']}/uncordon")
    assert answer.status == 200 and not answer.json["prorata"]["cordoned"], "nobody else closed it"
    told = server.get("/api/v1/events", kind="nodes").json["events"]
    assert [e["reason"] for e in told] == ["NodeSchedulable", "NodeNotSchedulable"], "it did not join again"
    assert node["nodePool"] == "dgx" and node["prorata"]["labels"] == {
        "kubernetes.io/hostname": os.uname().nodename,
        "node-model": "dgx-2",
        "run-ai/node-type": "a100",
    }
    job = server.submit(
        "typed", "team-a", 1, spec={"nodeType": "a100", "nodePools": ["dgx"], "command": "sleep 600", "image": "none"}
    )
    server.wait_phase(job, "Running")
    server.delete(f"/api/v1/workloads/trainings/{job}")
    server.wait_for("its end", lambda: not server.get("/api/v1/workloads").json["workloads"])
