"""A person closes a node for what is new: what runs stays, who waits is told, the backend undoes nothing."""

import uuid

import pytest
from test_access import make_caller
from test_audit import records


def node(server, name="node-0"):
    (found,) = [n for n in server.get("/api/v1/nodes").json["nodes"] if n["name"] == name]
    return found


def cordon(server, name="node-0", reason="a loud fan", **more):
    path = f"/api/v1/nodes/{node(server, name)['id']}/cordon"
    return server.request("POST", path, {"reason": reason}, **more)


def uncordon(server, name="node-0"):
    return server.post(f"/api/v1/nodes/{node(server, name)['id']}/uncordon")


def place_of(server, workload):
    return {pod["nodeName"] for pod in server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]}


def test_nothing_new_is_placed_there_and_what_runs_stays(server):
    runs = server.submit("runs", "team-a", 1)
    server.wait_phase(runs, "Running")
    (used,) = place_of(server, runs)
    for name in ("node-0", "node-1"):
        answer = cordon(server, name)
        assert answer.status == 200 and answer.json["prorata"]["cordoned"], answer
        cordoned = answer.json["prorata"]["cordon"]
        assert (cordoned["reason"], cordoned["by"]) == ("a loud fan", "admin@prorata.local") and cordoned["at"]
    waits = server.submit("waits", "team-a", 1)
    server.wait_for("why", lambda: "cordoned" in server.get(f"/api/v1/workloads/{waits}/explanation").body.decode())
    assert server.workload(runs)["phase"] == "Running" and place_of(server, runs) == {used}
    answer = uncordon(server, used)
    assert answer.status == 200 and not answer.json["prorata"]["cordoned"] and answer.json["prorata"]["cordon"] is None
    server.wait_phase(waits, "Running")
    assert place_of(server, waits) == {used}


def test_it_outlives_a_kill_and_what_the_cluster_file_says(server):
    assert cordon(server).status == 200
    server.kill()
    server.start()
    assert node(server)["prorata"]["cordon"]["reason"] == "a loud fan"
    assert cordon(server, reason="another").json["prorata"]["cordon"]["reason"] == "another"
    assert uncordon(server).status == uncordon(server).status == 200, "twice is once"
    jobs = [server.submit(f"job-{i}", "team-a", 1) for i in range(4)]
    for job in jobs:
        server.wait_phase(job, "Running")


def test_what_the_cluster_cordoned_itself_stays(make_server, tmp_path):
    (tmp_path / "c.yaml").write_text("nodes: [{name: node-0, gpus: 2, cordoned: true}]")
    server = make_server("--cluster", str(tmp_path / "c.yaml"))
    refused = uncordon(server)
    assert refused.status == 409 and "the cluster itself cordoned it" in refused.json["message"], refused
    assert cordon(server).status == 200
    taken_back = uncordon(server)
    assert taken_back.status == 200 and taken_back.json["prorata"]["cordoned"], "the cluster's own stays"


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": None}, {"reason": 7}, {"reason": "x" * 201}, [], None])
def test_it_refuses(module_server, body):
    answer = module_server.post(f"/api/v1/nodes/{node(module_server)['id']}/cordon", body)
    assert answer.status in (400, 415), answer
    assert node(module_server)["prorata"]["cordon"] is None


def test_of_whom_and_what(server):
    assert server.post(f"/api/v1/nodes/{uuid.uuid4()}/cordon", {"reason": "x"}).status == 404
    assert server.post("/api/v1/nodes/node-0/uncordon").status == 400
    _, viewer = make_caller(server, "viewer", ("Viewer", "cluster", server.cluster_id()))
    assert cordon(server, token=viewer).status == 403
    assert node(server)["prorata"]["cordon"] is None


def test_the_audit_says_who_and_why(server):
    cordon(server)
    (record,) = [r for r in records(server) if r["entity_type"] == "node"]
    assert "a loud fan" in str(record) and "admin@prorata.local" in str(record), record
