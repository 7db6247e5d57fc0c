"""What is submitted suspended holds nothing until it is resumed."""

import pytest

HALF = {"compute": {"gpuRequestType": "portion", "gpuPortionRequest": 0.5}}
OF = {
    "trainings": {},
    "workspaces": {},
    "distributed": {"distributedFramework": "PyTorch", "numWorkers": 1},
}


def reasons(server, workload):
    events = server.get(f"/api/v1/workloads/{workload}/events?limit=50").json["events"]
    return [event["reason"] for event in events]


@pytest.mark.parametrize("kind", OF)
def test_what_is_held_begins_when_it_is_resumed(server, kind):
    extra = {"masterSpecSameAsWorker": True} if kind == "distributed" else {}
    held = server.submit("held", "team-a", 1, kind=kind, spec=OF[kind], suspend=True, **extra)
    server.wait_phase(held, "Stopped")
    seen = server.workload(held)
    assert seen["phaseMessage"] == "Suspended by admin@prorata.local", seen
    assert "Scheduled" not in reasons(server, held) and "Suspended" in reasons(server, held)
    # The GPUs are free for who came later.
    later = server.submit("later", "team-a", 2)
    server.wait_phase(later, "Running")
    assert server.workload(held)["phase"] == "Stopped"
    assert server.post(f"/api/v1/workloads/{kind}/{held}/resume").status == 202
    server.wait_phase(held, "Running")


def test_what_is_held_stays_so_over_a_restart(server):
    held = server.submit("held", "team-a", 1, suspend=True)
    server.stop()
    server.start()
    server.wait_phase(held, "Stopped")
    assert server.workload(held)["runningPods"] == 0


@pytest.mark.parametrize("suspend", ["yes", 1, None])
def test_a_wish_to_hold_is_true_or_false(module_server, suspend):
    body = {
        "name": "held",
        "projectId": module_server.project_id("team-a"),
        "clusterId": module_server.cluster_id(),
        "spec": {"image": "x"},
        "suspend": suspend,
    }
    answer = module_server.post("/api/v1/workloads/trainings", body)
    assert answer.status == 400 and "suspend" in answer.json["message"], answer


def test_false_holds_nothing(server):
    server.wait_phase(server.submit("begins", "team-a", spec=HALF, gpus=None, suspend=False), "Running")
