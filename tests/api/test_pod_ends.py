"""What pods say of their ends: exit codes, how often they were tried, and when they start again."""

from datetime import datetime

FAILS = [
    {"name": "prorata.io/sim-duration", "value": "1ms"},
    {"name": "prorata.io/sim-exit-code", "value": "3"},
]


def pods_of(server, workload_id):
    return server.get(f"/api/v1/workloads/{workload_id}/pods").json["pods"]


def test_a_pod_that_failed_says_its_code_and_when_it_starts_again(server):
    workload_id = server.submit("t1", "team-a", spec={"annotations": FAILS, "backoffLimit": 6})
    (failed, *_) = server.wait_for(
        "a next try", lambda: [pod for pod in pods_of(server, workload_id) if pod["nextTryAt"]]
    )
    assert failed["exitCode"] == 3
    wait = datetime.fromisoformat(failed["nextTryAt"]) - datetime.fromisoformat(failed["completedAt"])
    assert wait.total_seconds() >= 0


def test_a_pod_that_failed_for_good_has_no_next_try(server):
    workload_id = server.submit("t1", "team-a", spec={"annotations": FAILS, "backoffLimit": 0})
    server.wait_phase(workload_id, "Failed")
    assert [(pod["exitCode"], pod["restarts"], pod["nextTryAt"]) for pod in pods_of(server, workload_id)] == [
        (3, 0, None)
    ]


def test_a_pod_that_runs_has_no_code(server):
    workload_id = server.submit("t1", "team-a")
    server.wait_phase(workload_id, "Running")
    assert [(pod["exitCode"], pod["restarts"], pod["nextTryAt"]) for pod in pods_of(server, workload_id)] == [
        (None, 0, None)
    ]
