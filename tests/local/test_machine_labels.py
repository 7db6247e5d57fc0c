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
    server.kill()
    server.start()
    (node,) = server.get("/api/v1/nodes").json["nodes"]
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
