"""GET /workloads and its relatives: filters, sort, search, pages, counts, telemetry, pods, events, metrics, and who
sees what."""

import datetime

import pytest

SORT_FIELDS = [
    "type",
    "name",
    "clusterId",
    "projectId",
    "projectName",
    "departmentId",
    "departmentName",
    "createdAt",
    "deletedAt",
    "submittedBy",
    "phase",
    "completedAt",
    "nodepool",
    "distributedFramework",
    "allocatedGPU",
    "idleGpus",
    "idleAllocatedGpus",
    "phaseUpdatedAt",
    "category",
    "priority",
    "totalPendingTimeSeconds",
    "totalRunningTimeSeconds",
    "priorityClassName",
    "guaranteedRuntimeEndsAt",
    "aiApplicationId",
    "aiApplicationName",
]


@pytest.fixture(scope="module")
def filled(module_server):
    """Six workloads, settled: train-0..2 (team-a, 0, 1, 2 GPUs; all run), wait (team-a, 8 GPUs), desk (workspace of
    team-b), dist (team-b)."""
    server = module_server
    ids = {f"train-{gpus}": server.submit(f"train-{gpus}", "team-a", gpus=gpus) for gpus in range(3)}
    ids["wait"] = server.submit("wait", "team-a", gpus=8, spec={"priorityClass": "medium"})
    ids["desk"] = server.submit("desk", "team-b", gpus=0, kind="workspaces")
    ids["dist"] = server.submit(
        "dist",
        "team-b",
        gpus=0,
        kind="distributed",
        spec={"numWorkers": 2, "distributedFramework": "MPI"},
        masterSpecSameAsWorker=True,
    )
    for name, workload_id in ids.items():
        server.wait_phase(workload_id, "Pending" if name == "wait" else "Running")
    server.ids = ids
    return server


def names(answer):
    assert answer.status == 200, answer
    return [row["name"] for row in answer.json["workloads"]]


FILTERS = [
    ("name==train-1", {"train-1"}),
    ("name=@RAIN", {"train-0", "train-1", "train-2"}),
    ("name=^train,name!=train-0", {"train-1", "train-2"}),
    ("name=$0", {"train-0"}),
    ("name!@train", {"wait", "desk", "dist"}),
    ("name=@_", set()),
    ("name=@%", set()),
    ("type==Workspace", {"desk"}),
    ("projectName==team-b", {"desk", "dist"}),
    ("projectName==team-a,phase!=Running", {"wait"}),
    ("departmentName==research,type==Distributed", {"dist"}),
    ("phase==Pending", {"wait"}),
    ("allocatedGPU>=1", {"train-1", "train-2"}),
    ("allocatedGPU==2", {"train-2"}),
    ("allocatedGPU<=0", {"train-0", "wait", "desk", "dist"}),
    ("submittedBy==admin@prorata.local,type==Workspace", {"desk"}),
    ("category==Build", {"desk"}),
    ("priority>=80", {"wait", "desk"}),
    ("priorityClassName==medium", {"wait"}),
    ("distributedFramework==MPI", {"dist"}),
    ("nodepool==default,name=^train", {"train-0", "train-1", "train-2"}),
    ("nodepool==other", set()),
    ("createdAt>=2021-01-01T00:00:00Z,name==wait", {"wait"}),
    ("createdAt<=2021-01-01T00:00:00Z", set()),
    ("completedAt>=2021-01-01", set()),
    ("totalRunningTimeSeconds>=0,type==Workspace", {"desk"}),
    ("totalPendingTimeSeconds>=100000", set()),
    ("guaranteedRuntimeEndsAt>=2021-01-01", set()),
    ("idleGpus>=0", set()),
]


@pytest.mark.parametrize("condition,wanted", FILTERS, ids=[row[0] for row in FILTERS])
def test_get_workloads_filter(filled, condition, wanted):
    assert set(names(filled.get("/api/v1/workloads", filterBy=condition))) == wanted
    assert filled.get("/api/v1/workloads/count", filterBy=condition).json == {"count": len(wanted)}


BAD_QUERIES = [
    "filterBy=owner==me",
    "filterBy=name",
    "filterBy=name==",
    "filterBy=name~x",
    "filterBy=allocatedGPU>=many",
    "filterBy=allocatedGPU=@1",
    "filterBy=createdAt>=yesterday",
    "filterBy=nodepool>=a",
    "filterBy=allocatedGPU>=0x10",
    "sortBy=owner",
    "sortOrder=up",
    "limit=0",
    "limit=501",
    "limit=x",
    "offset=-1",
    "offset=99999999999",
    "deleted=perhaps",
]


@pytest.mark.parametrize("query", BAD_QUERIES)
def test_get_workloads_refuses(filled, query):
    answer = filled.request("GET", "/api/v1/workloads?" + query.replace(">", "%3E"))
    assert answer.status == 400 and answer.json["message"], answer


def test_get_workloads_sorts_by_every_field(filled):
    for field in SORT_FIELDS:
        up, down = (names(filled.get("/api/v1/workloads", sortBy=field, sortOrder=order)) for order in ("asc", "desc"))
        assert up == down[::-1], field
    assert names(filled.get("/api/v1/workloads", sortBy="name")) == [
        "desk",
        "dist",
        "train-0",
        "train-1",
        "train-2",
        "wait",
    ]
    assert names(filled.get("/api/v1/workloads", sortBy="allocatedGPU", sortOrder="desc"))[:2] == ["train-2", "train-1"]


def test_get_workloads_pages(filled):
    seen, offset = [], 0
    while offset is not None:
        page = filled.get("/api/v1/workloads", sortBy="name", limit=4, offset=offset)
        seen += names(page)
        offset = page.json.get("next")
        assert offset in (None, 4)
    assert seen == names(filled.get("/api/v1/workloads", sortBy="name", limit=6))
    assert "next" not in filled.get("/api/v1/workloads", limit=6).json
    assert filled.get("/api/v1/workloads", offset=100).json == {"workloads": []}


def test_get_workloads_search(filled):
    assert set(names(filled.get("/api/v1/workloads", search="TRAIN-"))) == {"train-0", "train-1", "train-2"}
    assert set(names(filled.get("/api/v1/workloads", search="team-b"))) == {"desk", "dist"}
    assert names(filled.get("/api/v1/workloads", search="no such thing")) == []


SEARCHED = [
    "name",
    "type",
    "projectName",
    "departmentName",
    "submittedBy",
    "phase",
    "distributedFramework",
    "category",
    "priorityClassName",
]


def test_get_workloads_search_looks_at_every_field_that_it_may(filled):
    rows = filled.get("/api/v1/workloads").json["workloads"]
    words = {str(row[field]) for row in rows for field in SEARCHED if row.get(field)} | {"%", "_", "e", "TRAIN", "\\"}
    assert {"team-a", "admin@prorata.local", "Running", "MPI"} <= words
    for word in sorted(words):
        having = {row["name"] for row in rows if any(word.lower() in str(row.get(f) or "").lower() for f in SEARCHED)}
        answer = filled.get("/api/v1/workloads", search=word)
        assert set(names(answer)) == having, word
        assert filled.get("/api/v1/workloads/count", search=word).json["count"] == len(having), word


def test_get_workload_has_every_required_field(filled):
    required = {
        "type",
        "name",
        "id",
        "source",
        "priority",
        "priorityClassName",
        "clusterId",
        "projectName",
        "projectId",
        "departmentName",
        "departmentId",
        "namespace",
        "createdAt",
        "phase",
        "conditions",
        "k8sPhase",
        "tenantId",
        "runningPods",
        "phaseUpdatedAt",
        "k8sPhaseUpdatedAt",
        "updatedAt",
        "deletedAt",
        "category",
    }
    for row in filled.get("/api/v1/workloads").json["workloads"]:
        assert not required - set(row), row["name"]
        full = filled.workload(row["id"])
        assert not set(row) - set(full) and "pendingSchedulingMessages" in full
    assert filled.get("/api/v1/workloads/11111111-1111-4111-8111-111111111111").status == 404
    assert filled.get("/api/v1/workloads/not-an-id").status == 400


def test_get_workload_requests_and_allocation(filled):
    row = filled.workload(filled.ids["train-2"])
    assert row["podsRequestedResources"]["gpu"]["request"] == row["workloadRequestedResources"]["gpu"]["request"] == 2
    assert row["allocatedResources"]["gpu"] == 2 and row["requestedNodePools"] == row["currentNodePools"] == ["default"]
    assert row["images"] == ["gcr.io/run-ai-demo/quickstart"]
    assert row["actionsSupport"] == {"delete": True, "suspend": True}


def telemetry(server, **query):
    answer = server.get("/api/v1/workloads/telemetry", **query)
    assert answer.status == 200, answer
    return {
        tuple(group["value"] for group in row.get("groups", [])): float(row["value"]) for row in answer.json["values"]
    }


def test_get_workloads_telemetry(filled):
    assert telemetry(filled, telemetryType="WORKLOADS_COUNT") == {(): 6}
    assert telemetry(filled, telemetryType="GPU_ALLOCATION") == {(): 3}
    assert telemetry(filled, telemetryType="WORKLOADS_COUNT", groupBy="Phase") == {("Pending",): 1, ("Running",): 5}
    assert telemetry(filled, telemetryType="WORKLOADS_COUNT", groupBy="Type,Phase", filterByPhases="Running") == {
        ("Distributed", "Running"): 1,
        ("Training", "Running"): 3,
        ("Workspace", "Running"): 1,
    }
    assert telemetry(filled, telemetryType="GPU_ALLOCATION", groupBy="ProjectId") == {
        (filled.project_id("team-a"),): 3,
        (filled.project_id("team-b"),): 0,
    }
    assert sum(telemetry(filled, telemetryType="PENDING_TIME_DISTRIBUTION").values()) == 1
    assert len(telemetry(filled, telemetryType="PENDING_TIME_DISTRIBUTION")) == 4
    assert telemetry(filled, telemetryType="WORKLOADS_COUNT", nodepoolName="other") == {(): 0}
    for query in (
        "",
        "telemetryType=MOOD",
        "telemetryType=WORKLOADS_COUNT&groupBy=Mood",
        "telemetryType=WORKLOADS_COUNT&groupBy=Type,Phase,Category",
        "telemetryType=PENDING_TIME_DISTRIBUTION&groupBy=Type,Phase",
        "telemetryType=WORKLOADS_COUNT&filterByPhases=Napping",
    ):
        assert filled.request("GET", "/api/v1/workloads/telemetry?" + query).status == 400, query


def test_list_pods(filled):
    pods = filled.get("/api/v1/workloads/pods", limit=500, verbosity="full").json["pods"]
    assert len(pods) == 8 and filled.get("/api/v1/workloads/pods/count").json == {"count": 8}
    assert {pod["name"] for pod in pods if pod["workloadName"] == "dist"} == {
        "dist-master-0",
        "dist-worker-0",
        "dist-worker-1",
    }
    assert all("workloadName" not in pod for pod in filled.get("/api/v1/workloads/pods").json["pods"])
    one = filled.get("/api/v1/workloads/pods", filterBy=f"workloadId=={filled.ids['wait']}").json["pods"]
    assert len(one) == 1 and one[0]["nodeName"] is None and one[0]["requestedResources"]["gpu"]["request"] == 8
    assert filled.get("/api/v1/workloads/pods", completed="true").json["pods"] == []
    assert len(filled.get("/api/v1/workloads/pods", completed="false", limit=500).json["pods"]) == 8
    assert filled.get("/api/v1/workloads/pods", completed="perhaps").status == 400
    assert filled.get("/api/v1/workloads/pods", filterBy="mood==x").status == 400
    for field in ("clusterId", "workloadId", "nodeName", "currentNodepool", "createdAt", "completedAt", "deletedAt"):
        assert filled.get("/api/v1/workloads/pods", sortBy=field).status == 200


def test_events_of_one_workload_and_of_all(filled):
    path = f"/api/v1/workloads/{filled.ids['train-1']}/events"
    events = filled.get(path).json["events"]
    times = [event["createdAt"] for event in events]
    assert times == sorted(times, reverse=True)
    assert {event["reason"] for event in events} >= {"Submitted", "Scheduled", "Started"}
    assert [event["id"] for event in filled.get(path, sortOrder="asc", limit=500).json["events"]] == [
        event["id"] for event in filled.get(path, limit=500).json["events"]
    ][::-1]
    assert all({"createdAt", "type", "clusterId", "message"} <= set(event) for event in events)
    page = filled.get("/api/v1/events", limit=3).json
    assert len(page["events"]) == 3 and page["next"] == 3
    everything = filled.get("/api/v1/events", limit=500).json["events"]
    assert {event["workloadName"] for event in everything if event["workloadName"]} == set(filled.ids)
    assert {event["projectName"] for event in everything if event["workloadName"] == "desk"} == {"team-b"}


def test_get_workload_history(filled):
    records = filled.get(f"/api/v1/workloads/{filled.ids['desk']}/history", limit=500).json["records"]
    assert {record["meta"]["type"] for record in records} == {"Event", "PhaseUpdate"}
    times = [record["meta"]["creationTimestamp"] for record in records]
    assert times == sorted(times, reverse=True)
    assert all(
        set(record["spec"]) == {"event" if record["meta"]["type"] == "Event" else "phaseUpdate"} for record in records
    )
    page = filled.get(f"/api/v1/workloads/{filled.ids['desk']}/history", limit=2, offset=1).json
    assert page["records"] == records[1:3] and page["next"] == 3


def test_get_workload_metrics(filled):
    def span():
        now = datetime.datetime.now(datetime.UTC)
        start = now - datetime.timedelta(hours=1)
        return {
            "start": start.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "end": now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "numberOfSamples": 3,
        }

    path = f"/api/v1/workloads/{filled.ids['train-2']}/metrics"

    def sampled():
        answer = filled.get(path, metricType="GPU_ALLOCATION,POD_COUNT", **span())
        return answer if answer.status == 200 else None

    answer = filled.wait_for("samples", sampled)
    assert [m["type"] for m in answer.json["measurements"]] == ["GPU_ALLOCATION", "POD_COUNT"]
    assert answer.json["measurements"][0]["values"][-1]["value"] == "2"
    assert filled.get(path, metricType="GPU_ALLOCATION,NIM_NUM_REQUESTS_RUNNING", **span()).status == 207
    assert filled.get(path, metricType="MOOD", **span()).status == 400
    assert filled.get(path, metricType="GPU_ALLOCATION").status == 400
    pod = filled.get(f"/api/v1/workloads/{filled.ids['train-2']}/pods").json["pods"][0]["id"]
    pods = f"/api/v1/workloads/{filled.ids['train-2']}/pods/{pod}/metrics"
    assert filled.get(pods, metricType="GPU_UTILIZATION", **span()).status in (200, 207)
    assert (
        filled.get(
            f"/api/v1/workloads/{filled.ids['desk']}/pods/{pod}/metrics", metricType="GPU_UTILIZATION", **span()
        ).status
        == 404
    )


def researcher(server, name, project):
    """A token of a service account that may work in one project."""
    account = server.post("/api/v1/service-accounts", {"name": name}).json
    roles = server.get("/api/v1/authorization/roles").json
    role = next(role["id"] for role in roles if role["name"] == "L1 researcher")
    rule = {
        "subjectId": account["clientId"],
        "subjectType": "service-account",
        "roleId": role,
        "scopeType": "project",
        "scopeId": server.project_id(project),
        "clusterId": server.cluster_id(),
    }
    made = server.post("/api/v1/authorization/access-rules", rule)
    assert made.status == 201, made
    token = server.request(
        "POST",
        "/api/v1/token",
        {"grantType": "client_credentials", "clientID": account["clientId"], "clientSecret": account["clientSecret"]},
        token=None,
    )
    assert token.status == 200, token
    return token.json["accessToken"]


def test_callers_see_their_own_projects_only(filled):
    token = researcher(filled, "reader-b", "team-b")

    def get(path):
        return filled.request("GET", path, token=token)

    assert set(names(get("/api/v1/workloads"))) == {"desk", "dist"}
    assert get("/api/v1/workloads/count").json == {"count": 2}
    assert get("/api/v1/workloads/pods/count").json == {"count": 4}
    assert {event["workloadName"] for event in get("/api/v1/events?limit=500").json["events"]} == {"desk", "dist"}
    values = get("/api/v1/workloads/telemetry?telemetryType=WORKLOADS_COUNT").json["values"]
    assert [row["value"] for row in values] == ["2"]
    foreign = filled.ids["train-1"]
    for path in (
        f"/api/v1/workloads/{foreign}",
        f"/api/v1/workloads/{foreign}/pods",
        f"/api/v1/workloads/{foreign}/events",
        f"/api/v1/workloads/{foreign}/history",
        f"/api/v1/workloads/{foreign}/logs",
        f"/api/v1/workloads/{foreign}/explanation",
        f"/api/v1/workloads/trainings/{foreign}",
    ):
        assert get(path).status == 404, path
    for method, path in (
        ("DELETE", f"/api/v1/workloads/trainings/{foreign}"),
        ("POST", f"/api/v1/workloads/trainings/{foreign}/suspend"),
    ):
        assert filled.request(method, path, token=token).status == 404
    batch = filled.request("POST", "/api/v1/workloads/batch", {"ids": [foreign], "action": "delete"}, token=token).json
    assert batch["succeeded"] == [] and batch["failed"][0]["code"] == 404
    body = {
        "name": "x",
        "projectId": filled.project_id("team-a"),
        "clusterId": filled.cluster_id(),
        "spec": {"image": "a"},
    }
    refused = filled.request("POST", "/api/v1/workloads/trainings", body, token=token)
    assert refused.status == 400 and refused.json["message"].startswith("projectId: no project"), refused
    body["projectId"] = filled.project_id("team-b")
    made = filled.request("POST", "/api/v1/workloads/trainings", body, token=token)
    assert made.status == 202 and made.json["createdBy"] == "reader-b", made
    filled.request("DELETE", f"/api/v1/workloads/trainings/{made.json['workloadId']}", token=token)
