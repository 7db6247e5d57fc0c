"""A person empties a node: what may be preempted leaves it, gangs whole; the rest stays unless forced."""

import pytest
from test_access import make_caller
from test_audit import records
from test_distributed import submit as submit_distributed
from test_inferences import submit as submit_inference
from test_node_cordon import cordon, node, place_of, uncordon

FIRM = {"preemptibility": "non-preemptible"}


def drain(server, name="node-0", reason="a new fan", token=None, **body):
    path = f"/api/v1/nodes/{node(server, name)['id']}/drain"
    return server.request("POST", path, {"reason": reason, **body}, **({"token": token} if token else {}))


def other(name):
    return {"node-0": "node-1", "node-1": "node-0"}[name]


def running(server, name, gpus=1, **spec):
    workload = server.submit(name, "team-a", gpus, spec=spec)
    server.wait_phase(workload, "Running")
    (place,) = place_of(server, workload)
    return workload, place


def reasons(server, workload):
    return [event["reason"] for event in server.get(f"/api/v1/workloads/{workload}/events").json["events"]]


def is_on(server, workload, name):
    return server.workload(workload)["phase"] == "Running" and place_of(server, workload) == {name}


def test_what_may_be_preempted_moves_and_the_rest_stays_unless_forced(server):
    firm, place = running(server, "firm", **FIRM)
    loose, beside = running(server, "loose")
    assert beside == place, "bin packing"
    answer = drain(server, place)
    drained = answer.json["prorata"]["cordon"]
    assert answer.status == 200 and answer.json["prorata"]["cordoned"], answer
    assert (drained["reason"], drained["draining"], drained["force"]) == ("a new fan", True, False)
    server.wait_for("it moves", lambda: is_on(server, loose, other(place)))
    assert "Drained" in reasons(server, loose) and server.workload(loose)["phase"] == "Running"
    assert is_on(server, firm, place) and "Drained" not in reasons(server, firm)
    assert drain(server, place, force=True).json["prorata"]["cordon"]["force"]
    server.wait_for("all leave", lambda: is_on(server, firm, other(place)))
    server.wait_for("it is empty", lambda: node(server, place)["prorata"]["podCount"] == 0)


@pytest.fixture
def narrow(make_server, tmp_path):
    """Three nodes of one GPU each."""
    (tmp_path / "c.yaml").write_text("nodes: [{name: node, count: 3, gpus: 1}]")
    return make_server("--quick-start", "--cluster", str(tmp_path / "c.yaml"))


def by_id(server, workload):
    return {pod["id"]: pod["nodeName"] for pod in server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]}


def test_of_replicas_those_elsewhere_stay(narrow):
    spec = {"compute": {"gpuDevicesRequest": 1}, "autoscaling": {"minReplicas": 2, "maxReplicas": 2}}
    inference = submit_inference(narrow, "llm", spec).json["workloadId"]
    narrow.wait_phase(inference, "Running")
    before = by_id(narrow, inference)
    gone, stays = sorted(before, key=before.get)
    assert drain(narrow, before[gone], force=True).status == 200

    def is_moved():
        now = by_id(narrow, inference)
        return gone not in now and len(now) == 2 and None not in now.values() and before[gone] not in now.values()

    narrow.wait_for("another replica elsewhere", is_moved)
    assert by_id(narrow, inference)[stays] == before[stays]


def test_work_goes_on_with_what_ends_after_its_preemption(narrow):
    job = narrow.submit("job", "team-a", spec={"terminateAfterPreemption": True})
    narrow.wait_phase(job, "Running")
    (place,) = place_of(narrow, job)
    assert drain(narrow, place).status == 200
    narrow.wait_for(
        "it moves", lambda: place not in place_of(narrow, job) and narrow.workload(job)["phase"] == "Running"
    )


def test_a_gang_leaves_whole(narrow):
    server = narrow
    gang = submit_distributed(server, "gang", {"numWorkers": 2, "compute": {"gpuDevicesRequest": 1}}).json["workloadId"]
    server.wait_phase(gang, "Running")
    before = {pod["id"] for pod in server.get(f"/api/v1/workloads/{gang}/pods").json["pods"]}
    places = place_of(server, gang)
    first = sorted(places)[0]
    assert drain(server, first).status == 200

    def is_elsewhere():
        return server.workload(gang)["phase"] == "Running" and first not in place_of(server, gang)

    server.wait_for("the gang elsewhere", is_elsewhere)
    after = server.get(f"/api/v1/workloads/{gang}/pods").json["pods"]
    assert len(after) == 2 and not before & {pod["id"] for pod in after}
    assert reasons(server, gang).count("Drained") == 2


def test_who_finds_no_other_place_waits_and_says_why(server):
    first, place = running(server, "first", 2)
    running(server, "second", 2)
    assert drain(server, place).status == 200
    server.wait_phase(first, "Pending")
    server.wait_for("why", lambda: "cordoned" in server.get(f"/api/v1/workloads/{first}/explanation").body.decode())
    assert uncordon(server, place).json["prorata"]["cordon"] is None
    server.wait_for("it is back", lambda: is_on(server, first, place))


def test_a_drain_goes_on_after_a_kill(server):
    loose, place = running(server, "loose")
    assert drain(server, place).status == 200
    server.kill()
    server.start()
    assert node(server, place)["prorata"]["cordon"]["draining"]
    server.wait_for("it moves", lambda: is_on(server, loose, other(place)))


def test_a_cordon_ends_the_drain(server):
    firm, place = running(server, "firm", **FIRM)
    drain(server, place)
    closed = cordon(server, place).json["prorata"]["cordon"]
    assert not closed["draining"] and not closed["force"]
    assert is_on(server, firm, place)


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": "x", "force": "yes"}, {"reason": "x", "force": 1}, []])
def test_it_refuses(module_server, body):
    answer = module_server.post(f"/api/v1/nodes/{node(module_server)['id']}/drain", body)
    assert answer.status == 400, answer
    assert node(module_server)["prorata"]["cordon"] is None


def test_of_whom_and_what(server):
    _, viewer = make_caller(server, "viewer", ("Viewer", "cluster", server.cluster_id()))
    assert drain(server, token=viewer).status == 403
    assert node(server)["prorata"]["cordon"] is None
    assert drain(server, force=True).status == 200
    (record,) = [r for r in records(server) if r["entity_type"] == "node" and "a new fan" in str(r)]
    assert "admin@prorata.local" in str(record), record
