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


def test_pods_that_had_ended_go_with_their_workload(server):
    """They are listed with it, as gone since then; lists of what is there lack them."""
    ended = server.submit("ended", "team-a", spec={"annotations": FAILS, "backoffLimit": 0})
    server.wait_phase(ended, "Failed")
    runs = server.submit("runs", "team-a")
    server.wait_phase(runs, "Running")
    every = "/api/v1/workloads/pods"
    assert {pod["name"] for pod in server.get(every).json["pods"]} == {"ended-0-0", "runs-0-0"}
    for workload_id in (ended, runs):
        assert server.delete(f"/api/v1/workloads/trainings/{workload_id}").status == 202
    for workload_id, name, code in ((ended, "ended-0-0", 3), (runs, "runs-0-0", None)):
        server.wait_for("it is gone", lambda gone=workload_id: server.workload(gone)["deletedAt"])
        (pod,) = pods_of(server, workload_id)
        assert (pod["name"], pod["exitCode"]) == (name, code) and pod["deletedAt"], pod
    deleted_at = server.workload(ended)["deletedAt"]
    assert pods_of(server, ended)[0]["deletedAt"] == deleted_at
    assert server.get(every).json["pods"] == [] and server.get(every + "/count").json == {"count": 0}
    gone = server.get(every, deleted="true").json["pods"]
    assert {pod["name"] for pod in gone} == {"ended-0-0", "runs-0-0"}
    assert all(pod["completedAt"] <= pod["deletedAt"] for pod in gone), gone
    assert server.get(every + "/count", deleted="true").json == {"count": 2}
    since = f"deletedAt>={deleted_at}"
    assert "ended-0-0" in {pod["name"] for pod in server.get(every, deleted="true", filterBy=since).json["pods"]}
