"""Trainings and workspaces over HTTP: submission with its refusals, what is answered, suspend, resume, delete,
batch."""

import uuid

import pytest

IMAGE = "gcr.io/run-ai-demo/quickstart"


def creation(server, name="t1", project="team-a", **changes):
    body = {
        "name": name,
        "projectId": server.project_id(project),
        "clusterId": server.cluster_id(),
        "spec": {"image": IMAGE, "compute": {"gpuDevicesRequest": 1}},
    }
    body.update(changes)
    return {key: value for key, value in body.items() if value != "absent"}


def test_create_training_answers_what_was_asked_with_defaults(server):
    answer = server.post("/api/v1/workloads/trainings", creation(server))
    assert answer.status == 202, answer
    created = answer.json
    assert created["name"] == created["requestedName"] == "t1"
    assert created["desiredPhase"] == "Running" and created["actualPhase"] == "Creating"
    assert created["createdBy"] == "admin@prorata.local" and created["deletedAt"] is None
    assert created["projectId"] == server.project_id("team-a")
    spec = created["spec"]
    assert spec["image"] == IMAGE and spec["compute"]["gpuDevicesRequest"] == 1
    assert (spec["category"], spec["priorityClass"], spec["preemptibility"]) == ("Train", "low", "preemptible")
    assert (spec["backoffLimit"], spec["terminationGracePeriodSeconds"], spec["completions"]) == (6, 30, 1)
    got = server.get(f"/api/v1/workloads/trainings/{created['workloadId']}").json
    assert got["spec"] == spec
    row = server.wait_phase(created["workloadId"], "Running")
    assert (row["type"], row["priority"], row["priorityClassName"], row["preemptible"]) == ("Training", 40, "low", True)
    assert row["runningPods"] == 1 and row["allocatedResources"]["gpu"] == 1 and row["currentNodePools"] == ["default"]
    assert row["requestedPods"] == {"number": 1, "parallelism": 1, "completions": 1}
    pods = server.get(f"/api/v1/workloads/{created['workloadId']}/pods").json["pods"]
    assert [pod["name"] for pod in pods] == ["t1-0-0"] and pods[0]["k8sPhase"] == "Running" and pods[0]["nodeName"]
    assert len(pods[0]["gpuIndices"]) == 1


def test_create_workspace_is_not_preemptible(server):
    workload_id = server.submit("w1", "team-a", gpus=0, kind="workspaces")
    row = server.workload(workload_id)
    assert (row["type"], row["category"], row["priorityClassName"], row["preemptible"]) == (
        "Workspace",
        "Build",
        "high",
        False,
    )
    assert server.get(f"/api/v1/workloads/workspaces/{workload_id}").status == 200
    assert server.get(f"/api/v1/workloads/trainings/{workload_id}").status == 404


def test_copy_of_an_answered_specification_is_the_same_workload(server):
    first = server.submit(
        "t1", "team-a", gpus=0, spec={"parallelism": 2, "priorityClass": "build", "command": "sh -c 'x'"}
    )
    spec = server.get(f"/api/v1/workloads/trainings/{first}").json["spec"]
    answer = server.post("/api/v1/workloads/trainings", creation(server, "t2", spec=spec))
    assert answer.status == 202 and answer.json["spec"] == spec
    rows = [server.workload(i) for i in (first, answer.json["workloadId"])]
    for field in ("requestedPods", "priority", "preemptible", "command"):
        assert rows[0][field] == rows[1][field]


def test_name_as_prefix_gets_random_characters(server):
    names = set()
    for _ in range(3):
        answer = server.post("/api/v1/workloads/trainings", creation(server, "run", useGivenNameAsPrefix=True))
        assert answer.status == 202 and answer.json["requestedName"] == "run"
        names.add(answer.json["name"])
    assert len(names) == 3 and all(name.startswith("run-") for name in names)


REFUSALS = [
    # what is wrong, changes to the body, how the message begins
    ("no name", {"name": "absent"}, "name: "),
    ("a name with capitals", {"name": "Train"}, "name: a lower-case letter"),
    ("a name that begins with a digit", {"name": "1a"}, "name: a lower-case letter"),
    ("a name that ends in -", {"name": "a-"}, "name: a lower-case letter"),
    ("a name that is too long", {"name": "a" * 64}, "name: at most 63"),
    ("a prefix that is too long", {"name": "a" * 58, "useGivenNameAsPrefix": True}, "name: at most 57"),
    ("a name with a dot", {"name": "a.b"}, "name: a lower-case letter"),
    ("no project", {"projectId": "absent"}, "projectId: "),
    ("an unknown project", {"projectId": "999999"}, "projectId: no project 999999"),
    ("a project that is no number", {"projectId": "team-a"}, "projectId: no project team-a"),
    ("a project beyond 64 bits", {"projectId": "9" * 30}, "projectId: no project"),
    ("a project as a number", {"projectId": 1}, "projectId: "),
    ("no cluster", {"clusterId": "absent"}, "clusterId: "),
    (
        "another cluster",
        {"clusterId": "11111111-1111-4111-8111-111111111111"},
        "clusterId: project team-a is in cluster",
    ),
    ("a cluster that is no uuid", {"clusterId": "here"}, "clusterId: "),
    ("an unknown template", {"templateId": "11111111-1111-4111-8111-111111111111"}, "templateId: there is no"),
    ("no specification", {"spec": "absent"}, "spec: required"),
    ("a specification of null", {"spec": None}, "spec: required"),
    ("no image", {"spec": {}}, "spec.image: required"),
    (
        "an unknown pool",
        {"spec": {"image": IMAGE, "nodePools": ["default", "h100"]}},
        "spec.nodePools[1]: the cluster has no node pool h100",
    ),
    (
        "negative GPUs",
        {"spec": {"image": IMAGE, "compute": {"gpuDevicesRequest": -1}}},
        "spec.compute.gpuDevicesRequest: ",
    ),
    (
        "a portion above one",
        {"spec": {"image": IMAGE, "compute": {"gpuPortionRequest": 1.01}}},
        "spec.compute.gpuPortionRequest: at most 1",
    ),
    ("an unknown priority", {"spec": {"image": IMAGE, "priorityClass": "urgent"}}, "spec.priorityClass: one of"),
    ("an open quote", {"spec": {"image": IMAGE, "args": "'a"}}, "spec.args: the quote"),
    (
        "a bad simulated life",
        {"spec": {"image": IMAGE, "annotations": [{"name": "prorata.io/sim-duration", "value": "soon"}]}},
        "spec.annotations[0].value: ",
    ),
]


@pytest.mark.parametrize("what,changes,message", REFUSALS, ids=[row[0].replace(" ", "-") for row in REFUSALS])
def test_create_training_refuses(module_server, what, changes, message):
    answer = module_server.post("/api/v1/workloads/trainings", creation(module_server, **changes))
    assert answer.status == 400 and answer.json["code"] == 400, answer
    assert answer.json["message"].startswith(message), answer


ACCEPTED = [
    ("a name of 63", {"name": "a" * 63}),
    ("a prefix of 57", {"name": "b" * 57, "useGivenNameAsPrefix": True}),
    ("no GPU", {"name": "c1", "spec": {"image": IMAGE}}),
    ("more GPUs than there are", {"name": "c2", "spec": {"image": IMAGE, "compute": {"gpuDevicesRequest": 64}}}),
    ("an old priority", {"name": "c3", "spec": {"image": IMAGE, "priorityClass": "train"}}),
    ("an old specification's portion", {"name": "c4", "spec": {"image": IMAGE, "compute": {"gpuPortionRequest": 0.5}}}),
    ("fields of tomorrow", {"name": "c5", "spec": {"image": IMAGE, "fromTomorrow": {"a": [1]}}, "alsoNew": 1}),
    ("pools in order", {"name": "c6", "spec": {"image": IMAGE, "nodePools": ["default"]}}),
    (
        "null wherever it may stand",
        {
            "name": "c7",
            "templateId": None,
            "spec": {"image": IMAGE, "compute": None, "nodePools": None, "priorityClass": None},
        },
    ),
]


@pytest.mark.parametrize("what,changes", ACCEPTED, ids=[row[0].replace(" ", "-") for row in ACCEPTED])
def test_create_training_accepts(module_server, what, changes):
    answer = module_server.post("/api/v1/workloads/trainings", creation(module_server, **changes))
    assert answer.status == 202, answer
    module_server.delete(f"/api/v1/workloads/trainings/{answer.json['workloadId']}")


def test_name_is_free_again_after_deletion(server):
    first = server.submit("t1", "team-a")
    taken = server.post("/api/v1/workloads/trainings", creation(server))
    assert taken.status == 400 and taken.json["message"].startswith("name: "), taken
    assert server.submit("t1", "team-b")
    assert server.delete(f"/api/v1/workloads/trainings/{first}").status == 202
    server.wait_for(
        "t1 is gone", lambda: server.get("/api/v1/workloads", filterBy="projectName==team-a").json["workloads"] == []
    )
    assert server.submit("t1", "team-a")
    deleted = server.get("/api/v1/workloads", deleted="true").json["workloads"]
    assert [row["id"] for row in deleted] == [first] and deleted[0]["deletedAt"]


def test_request_that_can_never_be_served_stays_pending_and_says_why(server):
    workload_id = server.submit("huge", "team-a", gpus=64)
    server.wait_phase(workload_id, "Pending")
    why = server.wait_for(
        "an explanation",
        lambda: (lambda e: e if e["code"] else None)(server.get(f"/api/v1/workloads/{workload_id}/explanation").json),
    )
    assert "64" in why["sentence"] and why["pool"] == "default" and why["numbers"]["requestedGpus"] == 64
    assert why["numbers"]["project"]["quota"] == 2 and why["numbers"]["project"]["name"] == "team-a"
    assert any(event["reason"] == "Unschedulable" for event in why["evidence"])


def test_suspend_resume_delete_training(server):
    workload_id = server.submit("t1", "team-a")
    path = f"/api/v1/workloads/trainings/{workload_id}"
    server.wait_phase(workload_id, "Running")
    for _ in range(2):  # repeating is harmless
        assert server.post(path + "/suspend").status == 202
    stopped = server.wait_phase(workload_id, "Stopped")
    assert stopped["actionsSupport"] == {"delete": True, "suspend": False} and stopped["allocatedResources"]["gpu"] == 0
    assert server.get(path).json["desiredPhase"] == "Stopped"
    for _ in range(2):
        assert server.post(path + "/resume").status == 202
    server.wait_phase(workload_id, "Running")
    for _ in range(2):
        assert server.delete(path).status in (202, 404)
    gone = server.wait_for("deleted", lambda: (lambda w: w if w["deletedAt"] else None)(server.workload(workload_id)))
    assert gone["name"] == "t1"
    assert server.post(path + "/resume").status == 404
    reasons = [
        event["reason"]
        for event in server.get(f"/api/v1/workloads/{workload_id}/events", sortOrder="asc").json["events"]
    ]
    for reason in ("Submitted", "Scheduled", "Started", "Suspended", "Resumed"):
        assert reason in reasons
    phases = [
        record["spec"]["phaseUpdate"]["phase"]
        for record in server.get(f"/api/v1/workloads/{workload_id}/history", limit=500).json["records"]
        if record["meta"]["type"] == "PhaseUpdate"
    ][::-1]
    wanted = ["Creating", "Running", "Stopping", "Stopped", "Resuming", "Running", "Deleting"]
    at = -1
    for phase in wanted:
        at = phases.index(phase, at + 1)


def test_completed_training_can_only_be_deleted(server):
    annotations = [{"name": "prorata.io/sim-duration", "value": "10ms"}]
    workload_id = server.submit("t1", "team-a", spec={"annotations": annotations})
    path = f"/api/v1/workloads/trainings/{workload_id}"
    done = server.wait_phase(workload_id, "Completed")
    assert done["completedAt"]
    refused = server.post(path + "/resume")
    assert refused.status == 400 and "Completed" in refused.json["message"], refused
    assert server.post(path + "/suspend").status == 202
    assert server.workload(workload_id)["phase"] == "Completed"
    assert server.delete(path).status == 202
    server.wait_for("the deletion", lambda: server.workload(workload_id)["deletedAt"])
    assert server.workload(workload_id)["phase"] == "Completed", "how it ended stays said"


def test_batch_workloads(server):
    ids = [server.submit(f"t{i}", "team-a", gpus=0) for i in range(3)] + [
        server.submit("w", "team-b", gpus=0, kind="workspaces")
    ]
    unknown = str(uuid.uuid4())
    answer = server.post("/api/v1/workloads/batch", {"ids": ids + [unknown], "action": "suspend"})
    assert answer.status == 200 and answer.json["succeeded"] == ids, answer
    assert [(item["id"], item["code"]) for item in answer.json["failed"]] == [(unknown, 404)]
    for workload_id in ids:
        server.wait_phase(workload_id, "Stopped")
    assert server.post("/api/v1/workloads/batch", {"ids": ids, "action": "delete"}).json["succeeded"] == ids
    server.wait_for("all are gone", lambda: server.get("/api/v1/workloads").json["workloads"] == [])
    for body in (
        {"ids": [], "action": "delete"},
        {"ids": [unknown] * 101, "action": "delete"},
        {"ids": ids, "action": "restart"},
        {"ids": ["x"], "action": "delete"},
        {"ids": ids},
    ):
        assert server.post("/api/v1/workloads/batch", body).status == 400


def test_logs_of_a_training(server):
    workload_id = server.submit("t1", "team-a")
    server.wait_phase(workload_id, "Running")
    path = f"/api/v1/workloads/{workload_id}/logs"
    answer = server.wait_for("lines", lambda: (lambda a: a if a.body else None)(server.get(path)))
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")
    assert len(server.get(path, tail=1).body.splitlines()) == 1
    stamped = server.get(path, tail=1, timestamps="true").body.decode()
    assert stamped[:4].isdigit() and stamped[10] == "T"
    assert server.get(path, pod="t1-9-9").status == 404
    assert server.get(path, container="other").status == 404
    assert server.get(path, tail="x").status == 400 and server.get(path, since="yesterday").status == 400


def test_dictionaries(server):
    types = server.get("/api/v1/workload-types").json["types"]
    assert {"Workspace", "Training", "Distributed", "Inference"} <= {row["name"] for row in types}
    training = [row for row in types if row["name"] == "Training"][0]
    assert (training["categoryName"], training["priorityName"]) == ("Train", "low")
    assert server.get(f"/api/v1/workload-types/{training['id']}").json == training
    assert server.get(f"/api/v1/workload-types/{uuid.uuid4()}").status == 404
    assert all(
        row["group"] != "run.ai" for row in server.get("/api/v1/workload-types", externalTypesOnly="true").json["types"]
    )
    assert [row["name"] for row in server.get("/api/v1/workload-types", filterBy="name=^Train").json["types"]] == [
        "Training"
    ]
    values = [row["value"] for row in server.get("/api/v1/workload-priorities").json["priorities"]]
    assert values == [25, 40, 65, 80, 90, 125, 150]
    high = server.get("/api/v1/workload-priorities", filterBy="value>=100", sortBy="value", sortOrder="desc").json[
        "priorities"
    ]
    assert [row["name"] for row in high] == ["very-high", "high"]
    assert server.get("/api/v1/workload-priorities", filterBy="value==x").status == 400
    categories = server.get("/api/v1/workload-categories").json["categories"]
    assert [row["name"] for row in categories] == ["Build", "Train", "Deploy"]
    assert server.get(f"/api/v1/workload-categories/{categories[0]['id']}").json == categories[0]
    assert server.get(f"/api/v1/workload-categories/{uuid.uuid4()}").status == 404
