"""Runs of a training that fail alone: each is tried once, and the training says at its end which failed."""

import pytest

FAILS = [
    {"name": "prorata.io/sim-duration", "value": "1ms"},
    {"name": "prorata.io/sim-exit-code", "value": "3"},
]


def test_each_run_is_tried_and_the_end_says_which_failed(server):
    spec = {"completions": 12, "parallelism": 3, "backoffLimit": 0, "backoffLimitPerIndex": 0, "annotations": FAILS}
    sweep = server.submit("sweep", "team-a", 1, spec=spec)
    server.wait_phase(sweep, "Failed")
    said = server.workload(sweep)["phaseMessage"]
    assert said == "12 of 12 runs failed: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and more", said
    pods = server.get(f"/api/v1/workloads/{sweep}/pods?limit=100").json["pods"]
    assert len(pods) == 12, "each once"


def test_without_it_the_first_failures_end_all(server):
    spec = {"completions": 12, "parallelism": 1, "backoffLimit": 0, "annotations": FAILS}
    sweep = server.submit("sweep", "team-a", 1, spec=spec)
    server.wait_phase(sweep, "Failed")
    assert server.workload(sweep)["phaseMessage"].startswith("Failed 1 time, and backoffLimit allows 0")


def test_other_kinds_know_no_such_thing(server):
    spec = {"backoffLimit": 1, "backoffLimitPerIndex": 0, "annotations": FAILS}
    workspace = server.submit("desk", "team-a", 1, kind="workspaces", spec=spec)
    server.wait_phase(workspace, "Failed")
    assert server.workload(workspace)["phaseMessage"].startswith("Failed 2 times, and backoffLimit allows 1")


@pytest.mark.parametrize("limit", [1, -1, "0", True, 0.5])
def test_another_number_of_tries_is_refused(module_server, limit):
    body = {
        "name": "sweep",
        "projectId": module_server.project_id("team-a"),
        "clusterId": module_server.cluster_id(),
        "spec": {"image": "x", "backoffLimitPerIndex": limit},
    }
    answer = module_server.post("/api/v1/workloads/trainings", body)
    assert answer.status == 400 and "backoffLimitPerIndex" in answer.json["message"], answer
