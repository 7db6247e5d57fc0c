"""The published exercise "Understanding Preemption" from its first line to its last, with the set-up that it makes
itself: by both generations' command line, and by HTTP. No workload names a node pool."""

import re
from functools import partial

import pytest
from servers import ROOT, Client

CLUSTER = """nodes:
- {name: small, count: 2, gpus: 2, cpuCores: 16, memoryBytes: 64Gi}
- {name: large, gpus: 8, cpuCores: 64, memoryBytes: 256Gi, labels: {exercise: preemption}}
"""
POOL = "single-node-pool"
TRAINING, WORKSPACE = "large-training-job", "jupyter-workspace"


@pytest.fixture
def server(make_server, folder):
    (folder / "cluster.yaml").write_text(CLUSTER)
    return make_server("--cluster", str(folder / "cluster.yaml"))


def make_pool(server):
    body = {"name": POOL, "clusterId": server.cluster_id(), "labelKey": "exercise", "labelValue": "preemption"}
    made = server.post("/api/v1/node-pools", body)
    assert made.status == 201, made
    return made.json["id"]


def phases(server):
    return {w["name"]: w["phase"] for w in server.get("/api/v1/workloads", limit=500).json["workloads"]}


def wait_phases(server, **wanted):
    server.wait_for(wanted, lambda: {n.replace("-", "_"): phase for n, phase in phases(server).items()} == wanted)


def held_of_quota(server, name):
    """(GPUs held, GPUs owed) in the exercise's pool."""
    project = server.get("/api/v1/org-unit/projects", filterBy=f"name=={name}").json["projects"][0]
    status = next(s for s in project["status"]["nodePoolQuotaStatuses"] if s["nodePoolName"] == POOL)
    own = next(r for r in project["resources"] if r["nodePool"]["name"] == POOL)
    return status["allocated"]["gpu"], own["gpu"]["deserved"]


def wait_held(server, a, b):
    server.wait_for(
        f"{a} and {b} of 4",
        lambda: (held_of_quota(server, "project-a"), held_of_quota(server, "project-b")) == ((a, 4), (b, 4)),
    )


# The words of both generations of the command line.
OLD = {
    "list": ("list", "--all-projects"),
    "train": ("submit",),
    "work": ("submit", "--interactive"),
    "describe training": ("describe",),
    "describe workspace": ("describe",),
    "delete training": ("delete",),
    "delete workspace": ("delete",),
}
PRESENT = {
    "list": ("workload", "list", "-A"),
    "train": ("training", "submit"),
    "work": ("workspace", "submit"),
    "describe training": ("training", "describe"),
    "describe workspace": ("workspace", "describe"),
    "delete training": ("training", "delete", "-y"),
    "delete workspace": ("workspace", "delete", "-y"),
}


@pytest.mark.parametrize("words", [OLD, PRESENT], ids=["old", "present"])
def test_by_the_command_line(server, folder, words):
    client = Client(server, folder / "home").sign_in()

    def runai(*spoken):
        done = client.finish(*words.get(spoken[0], spoken[:1]), *spoken[1:])
        assert done.returncode == 0, done
        return done.stdout

    # 1. A clean environment.
    runai("train", "left-over", "--project", "default", "--image", "x", "-g", "1")
    assert "left-over" in runai("list")
    runai("delete training", "left-over", "--project", "default")
    server.wait_for("nothing is left", lambda: "left-over" not in runai("list"))
    assert re.search(r"^total +3 +3 +12 +0\.00 +12\.00$", runai("cluster-info"), re.M)

    # 2. and 3. The node pool, and the projects with quota in it.
    make_pool(server)
    for name, about in (
        ("project-a", "First project for preemption demo"),
        ("project-b", "Second project for preemption demo"),
    ):
        said = runai(
            "project",
            "create",
            name,
            "--description",
            about,
            "--gpu-quota",
            "4",
            "--node-pool",
            POOL,
            "--raise-department",
        )
        assert said.endswith(f"project {name} created successfully\n"), said

    # Step 1: more than the quota.
    script = (ROOT / "tests/whole/scripts/07_preemption_exercise.sh").read_text()
    python = re.search(r'--command "(.*)"$', script, re.M).group(1).replace('\\"', '"')
    flags = ("--project", "project-a", "--image", "pytorch/pytorch:latest", "-g", "8")
    runai("train", TRAINING, *flags, "--command", *((python,) if words is OLD else ("--", "sh", "-c", python)))
    wait_phases(server, large_training_job="Running")
    wait_held(server, 8, 0)

    # Step 2: what is allocated.
    described = partial(runai, "describe training", TRAINING, "--project", "project-a")
    assert re.search(r"^ *(STATUS|Phase): +Running$", described(), re.M)
    assert re.search(rf"^{POOL} +1 +1 +8 +8\.00 +0\.00$", runai("cluster-info"), re.M)

    # Step 3: the owner wants its GPUs.
    flags = ("--image", "jupyter/tensorflow-notebook", "-g", "4", "--port", "8888:8888")
    runai("work", WORKSPACE, "--project", "project-b", *flags)
    wait_phases(server, large_training_job="Pending", jupyter_workspace="Running")
    wait_held(server, 0, 4)  # one pod cannot shrink to 4

    # Step 4: events, and why it waits.
    events = described("--show-events")
    assert f"Yields to {WORKSPACE} of project project-b" in events
    for word in ("Preempted", "Scheduled", "Started"):
        assert word in events, events
    assert "Started" in runai("describe workspace", WORKSPACE, "--project", "project-b", "--show-events")
    assert re.search(r"^ *Priority: +low( \(40\))?$", runai("describe training", TRAINING), re.M)
    server.wait_for("why", lambda: re.search("(?i)why pending: +Needs 8 GPUs", described()))
    assert re.search(
        rf"^{POOL} +4\.00 +unlimited +2 +0\.00 ", runai("get", "resources", "--project", "project-a"), re.M
    )
    assert re.search(
        rf"^{POOL} +4\.00 +unlimited +2 +4\.00 ", runai("get", "resources", "--project", "project-b"), re.M
    )
    assert POOL in runai("get", "node-pools") and "project-a" in runai("describe", "project", "project-a")
    assert re.search(r"nvidia\.com/gpu: +4\.00 of 8", runai("describe", "node", "large")), "in place of kubectl"

    # Step 5: the GPUs come back.
    runai("delete workspace", WORKSPACE, "--project", "project-b")
    server.wait_for("it runs again", lambda: phases(server) == {TRAINING: "Running"})
    wait_held(server, 8, 0)


def test_by_the_api(server):
    pool = make_pool(server)
    resources = [{"nodePool": {"id": pool}, "gpu": {"deserved": 4}}]

    def make_project(name):
        body = {"name": name, "clusterId": server.cluster_id(), "resources": resources}
        made = server.post("/api/v1/org-unit/projects", body)
        assert made.status == 201, made
        assert made.json["effective"]["defaultNodePools"] == [POOL] and made.json["defaultNodePools"] is None

    make_project("project-a")
    make_project("project-b")
    training = server.submit(TRAINING, "project-a", gpus=8)
    assert server.workload(training)["requestedNodePools"] == [POOL]
    wait_phases(server, large_training_job="Running")
    wait_held(server, 8, 0)
    workspace = server.submit(WORKSPACE, "project-b", gpus=4, kind="workspaces")

    def why():
        return (server.get(f"/api/v1/workloads/{workspace}/explanation").json or {}).get("sentence") or ""

    # The department owns nothing in the new pool: said by what it is, with the way out.
    server.wait_for(
        "the reason", lambda: f"department default deserves 0 GPUs in node pool {POOL}, and 4 is more" in why()
    )
    fixes = [f["sentence"] for f in server.get(f"/api/v1/workloads/{workspace}/what-if").json["fixes"]]
    assert f"Raise the quota of department default from 0 to 4 GPUs in node pool {POOL}" in fixes, fixes
    department = server.get("/api/v1/org-unit/departments", filterBy="name==default").json["departments"][0]["id"]
    raised = [{"nodePool": {"id": pool}, "gpu": {"deserved": 8}}]
    path = f"/api/v1/org-unit/departments/{department}/resources"
    assert server.request("PATCH", path, raised).status == 200
    wait_phases(server, large_training_job="Pending", jupyter_workspace="Running")
    wait_held(server, 0, 4)
    events = server.get(f"/api/v1/workloads/{training}/events", limit=500).json["events"]
    assert {"Preempted", "Scheduled", "Started"} <= {e["reason"] for e in events}
    assert any(f"Yields to {WORKSPACE} of project project-b" in e["message"] for e in events), events
    assert server.delete(f"/api/v1/workloads/workspaces/{workspace}").status == 202
    server.wait_for("it runs again", lambda: phases(server) == {TRAINING: "Running"})
    wait_held(server, 8, 0)
