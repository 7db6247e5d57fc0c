"""What one person or project may submit is bounded: size and number, each with its setting; what-if says the same."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from test_access import make_caller

TRAININGS = "/api/v1/workloads/trainings"


def body(server, name, project="team-a", **spec):
    return {
        "name": name,
        "projectId": server.project_id(project),
        "clusterId": server.cluster_id(),
        "spec": {"image": "x", **spec},
    }


def variables(size):
    return [{"name": f"V{i}", "value": "v" * 3500} for i in range(size // 3500)]


def what_if(server, workload, **extra):
    return server.post("/api/v1/scheduler/what-if", {"type": "Training", "workload": workload, "fixes": False, **extra})


def check_refused(answer, number, setting):
    assert answer.status == 400, answer
    assert number in answer.json["message"] and setting in answer.json["message"], answer


def test_the_size_of_a_specification_is_bounded(server):
    small, large = (body(server, "sized", environmentVariables=variables(size)) for size in (200_000, 300_000))
    check_refused(server.post(TRAININGS, large), "262144", "workload-max-bytes")
    check_refused(what_if(server, large), "262144", "workload-max-bytes")
    assert what_if(server, small).status == 200
    assert server.post(TRAININGS, small).status == 202


def test_a_master_counts_with_its_workers(server):
    half = variables(150_000)
    large = body(server, "both", environmentVariables=half, distributedFramework="PyTorch", numWorkers=1)
    answer = server.post(
        "/api/v1/workloads/distributed", {**large, "masterSpec": {"image": "x", "environmentVariables": half}}
    )
    check_refused(answer, "262144", "workload-max-bytes")
    assert server.post("/api/v1/workloads/distributed", large).status == 202


@pytest.mark.parametrize("setting", ["workloads-per-project", "workloads-per-person"])
def test_the_number_of_unfinished_workloads_is_bounded_and_no_race_passes(make_server, setting):
    server = make_server("--quick-start", f"--{setting}", "3")
    server.sign_in()
    bodies = [body(server, f"many-{i}") for i in range(12)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda one: server.post(TRAININGS, one), bodies))
    assert sorted(answer.status for answer in answers) == [202] * 3 + [400] * 9
    for answer in answers:
        if answer.status == 400:
            check_refused(answer, "3", setting)
    check_refused(what_if(server, body(server, "one-more")), "3", setting)
    made = [answer.json["workloadId"] for answer in answers if answer.status == 202]
    assert server.post(f"{TRAININGS}/{made[0]}/suspend").status == 202
    server.wait_phase(made[0], "Stopped")
    assert server.post(f"{TRAININGS}/{made[0]}/resume").status == 202, "what is there may go on"
    assert server.delete(f"{TRAININGS}/{made[0]}").status == 202
    server.wait_for("the deletion", lambda: server.get("/api/v1/workloads/count").json["count"] == 2)
    assert what_if(server, body(server, "one-more")).status == 200
    assert server.post(TRAININGS, body(server, "one-more")).status == 202


def test_a_person_is_bounded_over_all_projects_and_alone(make_server):
    server = make_server("--quick-start", "--workloads-per-person", "1")
    _, other = make_caller(server, "other", ("L1 researcher", "project", server.project_id("team-a")))
    server.submit("mine", "team-a")
    check_refused(server.post(TRAININGS, body(server, "elsewhere", "team-b")), "1", "workloads-per-person")
    assert server.request("POST", TRAININGS, body(server, "theirs"), token=other).status == 202


def test_what_has_completed_does_not_count(make_server):
    server = make_server(
        "--quick-start", "--workloads-per-person", "1", "--workloads-per-project", "1", "--speed", "1000"
    )
    done = server.submit("done", "team-a", spec={"annotations": [{"name": "prorata.io/sim-duration", "value": "1s"}]})
    server.wait_phase(done, "Completed")
    server.submit("next", "team-a")


def test_rows_from_before_stay_and_can_be_deleted(make_server):
    server = make_server("--quick-start")
    before = [server.submit(f"before-{i}", "team-a", gpus=0) for i in range(3)]
    assert server.stop() == 0
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("UPDATE workloads SET spec_json = json_set(spec_json, '$.args', ?)", ("a" * 900_000,))
    server.arguments += ["--workloads-per-project", "2"]
    server.port = None
    server.start()
    check_refused(server.post(TRAININGS, body(server, "after")), "3", "workloads-per-project")
    for workload in before:
        assert server.get(f"{TRAININGS}/{workload}").status == 200
        assert server.delete(f"{TRAININGS}/{workload}").status == 202
    server.wait_for("the deletion", lambda: server.get("/api/v1/workloads/count").json["count"] == 0)
    server.submit("after", "team-a")


def test_the_counts_are_answered_from_indexes(server):
    with sqlite3.connect(f"file:{server.data / 'prorata.db'}?mode=ro", uri=True) as database:
        for column in ("project_id", "created_by"):
            plan = database.execute(
                f"EXPLAIN QUERY PLAN SELECT count(*) FROM workloads WHERE {column} = ?1 AND deleted_ms = 0"
                " AND phase > 'Completed' AND phase < 'Failed'",
                ("x",),
            ).fetchall()
            assert all("COVERING INDEX" in row[3] and "phase>" in row[3] for row in plan), plan


def test_sums_of_vast_amounts_stay_within_64_bits(make_server):
    """Quotas in several node pools, and what pods that wait ask for."""
    server = make_server("--backend", "simulated", "--quick-start")
    for name in ("second", "third"):
        pool = {"name": name, "clusterId": server.cluster_id(), "labelKey": "kind", "labelValue": name}
        assert server.post("/api/v1/node-pools", pool).status in (200, 201, 202)
    pools = [pool["id"] for pool in server.get("/api/v1/node-pools").json["nodepools"]]
    vast = {"deserved": 3.9e12, "limit": 3.9e12, "units": "MB"}
    for name in ("team-a", "team-b"):
        path = f"/api/v1/org-unit/projects/{server.project_id(name)}/resources"
        assert server.request("PUT", path, [{"nodePool": {"id": pool}, "memory": vast} for pool in pools]).status == 200
    spec = {"parallelism": 2000, "completions": 2000, "compute": {"cpuMemoryRequest": "8Pi"}}
    answer = server.post(TRAININGS, body(server, "vast", **spec))
    assert answer.status == 202, answer
    server.wait_phase(answer.json["workloadId"], "Pending")
    project = "/api/v1/org-unit/projects/" + server.project_id("team-a")
    server.wait_for(
        "what it asks for", lambda: server.get(project).json["status"]["quotaStatus"]["requested"]["memory"] > 4.6e12
    )

    def quota():
        now = datetime.now(UTC)
        period = {"start": (now - timedelta(minutes=1)).isoformat(), "end": now.isoformat()}
        answer = server.get(f"{project}/metrics", metricType="CPU_MEMORY_QUOTA_MB", **period)
        assert answer.status == 200, answer
        return [float(value["value"]) for m in answer.json["measurements"] for value in m["values"]]

    server.wait_for("the quota of all pools", lambda: max(quota(), default=0) > 9e12)
    assert server.get("/healthz").status == 200
