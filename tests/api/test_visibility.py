"""Names of others in sentences: hidden by what they name, never by their letters. Here everything is called `same`."""

import pytest
from test_access import make_caller

CLUSTER = "nodes:\n- {name: same, gpus: 2, labels: {pool: same}}\n- {name: other, gpus: 1}\n"


@pytest.fixture
def same(make_server, folder):
    """Node pool, node, department and project `same`: the project, of a stranger, holds all of the pool. team-a waits
    there."""
    (folder / "cluster.yaml").write_text(CLUSTER)
    server = make_server("--quick-start", "--cluster", str(folder / "cluster.yaml"))
    cluster = server.cluster_id()
    pool = server.post(
        "/api/v1/node-pools", {"name": "same", "clusterId": cluster, "labelKey": "pool", "labelValue": "same"}
    )
    assert pool.status < 300, pool
    pool = server.get("/api/v1/node-pools", filterBy="name==same").json["nodepools"][0]["id"]
    quota = [{"nodePool": {"id": pool}, "gpu": {"deserved": 2, "limit": -1, "overQuotaWeight": 2}}]
    department = server.post("/api/v1/org-unit/departments", {"name": "same", "clusterId": cluster, "resources": quota})
    assert department.status < 300, department
    project = server.post(
        "/api/v1/org-unit/projects",
        {"name": "same", "clusterId": cluster, "parentId": department.json["id"], "resources": quota},
    )
    assert project.status < 300, project
    one = [{"nodePool": {"id": pool}, "gpu": {"deserved": 1}}]
    (research,) = server.get("/api/v1/org-unit/departments", filterBy="name==research").json["departments"]
    for path in (f"departments/{research['id']}", f"projects/{server.project_id('team-a')}"):
        assert server.request("PATCH", f"/api/v1/org-unit/{path}/resources", one).status == 200
    server.wait_for(
        "the node in its pool", lambda: server.get("/api/v1/nodes", filterBy="nodePool==same").json["nodes"]
    )
    server.wait_phase(server.submit("theirs", "same", gpus=2, spec={"nodePools": ["same"]}), "Running")
    server.mine = server.submit("mine", "team-a", spec={"nodePools": ["same"]})
    server.wait_for("its explanation", lambda: (server.workload(server.mine).get("explanation") or {}).get("sentence"))
    return server


def texts(value):
    """All texts of an answer."""
    if isinstance(value, dict):
        return [t for v in value.values() for t in texts(v)]
    return (
        [t for v in value for t in texts(v)] if isinstance(value, list) else [value] if isinstance(value, str) else []
    )


def check_masked(answer, *wanted):
    assert answer.status == 200, answer
    assert b"\\u0001" not in answer.body and b"\\u0004" not in answer.body
    told = texts(answer.json)
    for text in wanted:
        assert any(text in t for t in told), (text, told)
    assert not any("theirs" in t for t in told)
    return told


def test_a_pool_keeps_its_name_where_a_strangers_project_has_the_same(same):
    _, token = make_caller(same, "ann", ("L1 researcher", "project", same.project_id("team-a")))

    def get(path):
        return same.request("GET", path, token=token)

    told = check_masked(
        get(f"/api/v1/workloads/{same.mine}/explanation"),
        "Needs 1 GPU in same;",
        "of other projects in node pool same could give way",
        "another project holds most, 2 GPUs",
        "that another project holds",
    )
    assert not any("same holds" in t or "in another project" in t for t in told)
    listed = check_masked(get("/api/v1/workloads"), "Needs 1 GPU in same;")
    assert not any("in another project" in t for t in listed)
    assert any(t.startswith("Needs 1 GPU in same;") for t in texts(get(f"/api/v1/workloads/{same.mine}").json))
    body = {
        "type": "Training",
        "workload": {
            "name": "asked",
            "projectId": same.project_id("team-a"),
            "clusterId": same.cluster_id(),
            "spec": {"image": "x", "nodePools": ["same"], "compute": {"gpuDevicesRequest": 1}},
        },
    }
    what_if = same.request("POST", "/api/v1/scheduler/what-if", body, token=token)
    check_masked(what_if, "Needs 1 GPU in same;")
    assert what_if.json["explanation"][0]["nodePool"] == "same"


def test_who_may_know_them_is_told_all_names(same):
    answer = same.get(f"/api/v1/workloads/{same.mine}/explanation")
    told = texts(answer.json)
    assert any("; project same holds most, 2 GPUs" in t for t in told) and any(
        t.startswith("Needs 1 GPU in same;") for t in told
    )
    assert b"another project" not in answer.body and b"\\u000" not in answer.body


def test_receipts_hide_the_winner_and_nothing_else(same):
    """team-a lends from its quota in `same` to nobody; the stranger takes its own back from team-a."""
    same.delete(f"/api/v1/workloads/trainings/{same.mine}")
    theirs = same.get("/api/v1/workloads", filterBy="name==theirs").json["workloads"][0]["id"]
    same.delete(f"/api/v1/workloads/trainings/{theirs}")
    loser = same.submit("loser", "team-a", gpus=2, spec={"nodePools": ["same"]})
    same.wait_phase(loser, "Running")
    winner = same.submit("same", "same", gpus=2, spec={"nodePools": ["same"]})
    same.wait_phase(winner, "Running", "Initializing", seconds=60)
    _, token = make_caller(same, "bob", ("L1 researcher", "project", same.project_id("team-a")))
    (receipt,) = same.request("GET", "/api/v1/scheduler/receipts", token=token).json["receipts"]
    assert receipt["sentence"].startswith("Yields to another project's workload of project another project, which held")
    assert (
        "project team-a held 2" in receipt["sentence"] and receipt["nodePool"] == "same" and receipt["node"] == "same"
    )
    assert receipt["beneficiary"] == "another project's workload" and receipt["beneficiaryProject"] == "another project"
    assert receipt["beneficiaryQueue"]["department"]["name"] == "another department"
    (everything,) = same.get("/api/v1/scheduler/receipts").json["receipts"]
    assert everything["sentence"].startswith("Yields to same of project same, which held")
    gone = same.project_id("same")
    assert same.delete(f"/api/v1/org-unit/projects/{gone}").status in (202, 204)
    same.wait_for("it is gone", lambda: same.get(f"/api/v1/org-unit/projects/{gone}").status == 404)
    same.wait_for(
        "the cycle knows",
        lambda: (
            not any(
                t == "same"
                for t in texts([q.get("project") for q in same.get("/api/v1/scheduler/queue").json.get("queue", [])])
            )
        ),
    )
    (later,) = same.request("GET", "/api/v1/scheduler/receipts", token=token).json["receipts"]
    assert later["sentence"] == receipt["sentence"] and later["beneficiaryProject"] == "another project"
    (everything,) = same.get("/api/v1/scheduler/receipts").json["receipts"]
    assert everything["sentence"].startswith("Yields to same of project same, which held")


def test_events_and_phases_name_no_stranger(same):
    """The loser's own events and phase, read by its owner."""
    for workload in same.get("/api/v1/workloads").json["workloads"]:
        same.delete(f"/api/v1/workloads/trainings/{workload['id']}")
    loser = same.submit("loser", "team-a", gpus=2, spec={"nodePools": ["same"]})
    same.wait_phase(loser, "Running")
    same.wait_phase(same.submit("theirs", "same", gpus=2, spec={"nodePools": ["same"]}), "Running", seconds=60)
    _, token = make_caller(same, "bob", ("L1 researcher", "project", same.project_id("team-a")))
    for path in (
        f"/api/v1/workloads/{loser}",
        f"/api/v1/workloads/{loser}/events",
        f"/api/v1/workloads/{loser}/history",
        f"/api/v1/workloads/{loser}/pods",
        "/api/v1/events",
        "/api/v1/workloads",
    ):
        answer = same.request("GET", path, token=token)
        assert (
            answer.status == 200
            and b"theirs" not in answer.body
            and b"project same" not in answer.body
            and b"\\u000" not in answer.body
        ), answer.body
    mine = same.request("GET", f"/api/v1/workloads/{loser}/events", token=token).json["events"]
    assert any(
        "Yields to another project's workload of project another project" in event["message"] for event in mine
    ), mine
    everything = same.get(f"/api/v1/workloads/{loser}/events")
    assert (
        any("Yields to theirs of project same" in event["message"] for event in everything.json["events"])
        and b"\\u000" not in everything.body
    )
