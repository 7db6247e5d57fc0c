"""Inferences: submitting, reading, deleting; what is refused."""

import concurrent.futures

import pytest

IMAGE = "vllm/vllm-openai:v0.10.0"


def body(server, name, spec, **extra):
    return {
        "name": name,
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": IMAGE, **spec},
        **extra,
    }


def submit(server, name, spec, **extra):
    return server.post("/api/v1/workloads/inferences", body(server, name, spec, **extra))


def pods(server, workload_id):
    return server.get(f"/api/v1/workloads/{workload_id}/pods").json["pods"]


def test_create_inference1_runs_its_replicas(server):
    answer = submit(
        server,
        "llm",
        {
            "compute": {"gpuDevicesRequest": 1},
            "servingPort": {"container": 8000},
            "autoscaling": {"minReplicas": 2, "maxReplicas": 3, "metric": "concurrency", "metricThreshold": 10},
        },
    )
    assert answer.status == 202, answer
    spec = answer.json["spec"]
    assert spec["servingPort"] == {"container": 8000, "protocol": "http", "authorizationType": "public"}
    assert spec["autoscaling"]["initialReplicas"] == 2 and spec["autoscaling"]["metricThresholdPercentage"] == 70
    assert (spec["category"], spec["priorityClass"], spec["preemptibility"]) == (
        "Deploy",
        "very-high",
        "non-preemptible",
    )
    assert "backoffLimit" not in spec
    workload_id = answer.json["workloadId"]
    row = server.wait_phase(workload_id, "Running")
    assert row["type"] == "Inference" and row["priority"] == 150 and row["preemptible"] is False
    assert row["requestedPods"] == {"number": 2, "min": 2, "max": 3}
    assert row["workloadRequestedResources"]["gpu"]["request"] == 2
    assert [pod["name"] for pod in pods(server, workload_id)] == ["llm-0-0", "llm-1-0"]
    shown = server.get(f"/api/v1/workloads/inferences/{workload_id}")
    assert shown.status == 200 and shown.json["spec"] == spec and shown.json["actualPhase"] == "Running"
    assert server.get(f"/api/v1/workloads/trainings/{workload_id}").status == 404
    listed = server.get("/api/v1/workloads?filterBy=type==Inference").json["workloads"]
    assert [workload["id"] for workload in listed] == [workload_id]
    assert server.delete(f"/api/v1/workloads/inferences/{workload_id}").status == 202
    server.wait_for("deletion", lambda: server.get(f"/api/v1/workloads/inferences/{workload_id}").json["deletedAt"])


def test_each_replica_starts_as_it_fits(server):
    # The quota of 2 GPUs has room for one replica of 2; the other waits, for what is not preemptible borrows nothing.
    workload_id = submit(
        server, "wide", {"compute": {"gpuDevicesRequest": 2}, "autoscaling": {"minReplicas": 2, "maxReplicas": 2}}
    ).json["workloadId"]
    server.wait_for("one replica", lambda: [pod["k8sPhase"] for pod in pods(server, workload_id)].count("Running") == 1)


def test_a_batch_suspends_and_resumes(server):
    workload_id = submit(server, "svc", {"compute": {"gpuDevicesRequest": 1}}).json["workloadId"]
    server.wait_phase(workload_id, "Running")
    for action, phase in (("suspend", "Stopped"), ("resume", "Running"), ("delete", None)):
        answer = server.post("/api/v1/workloads/batch", {"ids": [workload_id], "action": action})
        assert answer.status == 200 and not answer.json["failed"], answer
        if phase:
            server.wait_phase(workload_id, phase)


def test_ask_what_if_about_an_inference(module_server):
    question = {"type": "Inference", "workload": body(module_server, "asked", {"compute": {"gpuDevicesRequest": 1}})}
    answer = module_server.post("/api/v1/scheduler/what-if", question)
    assert answer.status == 200 and answer.json["verdict"] == "Starts", answer


def scaling(**members):
    return {"autoscaling": members}


# What is wrong, the specification, and what the message begins with.
REFUSALS = [
    ("no image", {"image": None}, "spec.image: required"),
    ("a port out of range", {"servingPort": {"container": 70000}}, "spec.servingPort.container: "),
    (
        "users nobody asks for",
        {"servingPort": {"authorizedUsers": ["a@b.c"]}},
        "spec.servingPort.authorizedUsers: only with",
    ),
    (
        "no user where users are asked for",
        {"servingPort": {"authorizationType": "authorizedUsers"}},
        "spec.servingPort.authorizedUsers: required",
    ),
    ("a maximum below the minimum", scaling(minReplicas=3, maxReplicas=2), "spec.autoscaling.maxReplicas: at least"),
    ("replicas without end", scaling(minReplicas=100000), "spec.autoscaling.minReplicas: at most"),
    ("a start above the maximum", scaling(initialReplicas=2), "spec.autoscaling.initialReplicas: from minReplicas"),
    (
        "an activation above the maximum",
        scaling(activationReplicas=2),
        "spec.autoscaling.activationReplicas: at most maxReplicas",
    ),
    ("replicas by nothing", scaling(maxReplicas=2), "spec.autoscaling.metric: required where"),
    (
        "a metric without a threshold",
        scaling(maxReplicas=2, metric="latency"),
        "spec.autoscaling.metricThreshold: required",
    ),
    ("a threshold without a metric", scaling(metricThreshold=2), "spec.autoscaling.metric: required with"),
    ("a threshold of none", scaling(metric="latency", metricThreshold=0), "spec.autoscaling.metricThreshold: "),
    ("a name that no series has", scaling(metric="a b", metricThreshold=1), "spec.autoscaling.metric: "),
    (
        "a metrics port that is none",
        {"annotations": [{"name": "prometheus.io/port", "value": "http"}]},
        "spec.annotations[0].value: a port",
    ),
    (
        "a metrics path that is none",
        {"annotations": [{"name": "prometheus.io/path", "value": "metrics"}]},
        "spec.annotations[0].value: a path",
    ),
]


def test_no_replica_at_rest_keeps_one_where_none_can_wake(server):
    made = submit(server, "rests", {"servingPort": {"container": 8000}, "autoscaling": {"minReplicas": 0}})
    assert made.status == 202 and made.json["spec"]["autoscaling"]["minReplicas"] == 1, made
    workload_id = made.json["workloadId"]
    assert server.wait_phase(workload_id, "Running")["requestedPods"]["min"] == 1
    events = server.get(f"/api/v1/workloads/{workload_id}/events").json["events"]
    (told,) = [event["message"] for event in events if event["reason"] == "Submitted"]
    assert told.endswith(
        "it keeps 1 replica, not 0: the simulated backend cannot hold its address while no replica runs"
    )


@pytest.mark.parametrize("what,spec,message", REFUSALS, ids=[row[0].replace(" ", "-") for row in REFUSALS])
def test_create_inference1_refuses(module_server, what, spec, message):
    answer = submit(module_server, "bad", spec)
    assert answer.status == 400 and answer.json["message"].startswith(message), answer


def patch(server, workload_id, spec):
    return server.request("PATCH", f"/api/v1/workloads/inferences/{workload_id}", {"spec": spec})


def names(server, workload_id):
    return sorted(pod["name"] for pod in pods(server, workload_id))


def history(server, workload_id):
    answer = server.get(f"/api/v1/workloads/{workload_id}/history").json
    records = next(rows for rows in answer.values() if isinstance(rows, list))
    return [record["spec"]["phaseUpdate"]["phase"] for record in records if "phaseUpdate" in record["spec"]]


def test_update_inference_spec_rolls_replica_by_replica(server):
    two = {"minReplicas": 2, "maxReplicas": 2}
    workload_id = submit(server, "svc", {"autoscaling": two})
    workload_id = workload_id.json["workloadId"]
    server.wait_phase(workload_id, "Running")
    server.wait_for("both", lambda: server.workload(workload_id)["runningPods"] == 2)
    answer = patch(
        server,
        workload_id,
        {"image": "vllm/vllm-openai:v0.11.0", "environmentVariables": [{"name": "A", "value": "1"}]},
    )
    assert answer.status == 202 and answer.json["spec"]["image"] == "vllm/vllm-openai:v0.11.0", answer
    assert answer.json["actualPhase"] == "Updating" and answer.json["spec"]["autoscaling"]["minReplicas"] == 2
    server.wait_phase(workload_id, "Running")
    assert names(server, workload_id) == ["svc-2-0", "svc-3-0"]
    row = server.workload(workload_id)
    assert row["images"] == ["vllm/vllm-openai:v0.11.0"] and row["environmentVariables"] == {"A": "1"}
    assert "Updating" in history(server, workload_id)
    # The number of replicas follows bounds that moved, without new replicas of those that stay.
    assert patch(server, workload_id, {"autoscaling": {"minReplicas": 1, "maxReplicas": 1}}).status == 202
    server.wait_for("one", lambda: names(server, workload_id) == ["svc-2-0"])
    server.wait_phase(workload_id, "Running")
    assert server.workload(workload_id)["requestedPods"] == {"number": 1, "min": 1, "max": 1}
    spec = server.get(f"/api/v1/workloads/inferences/{workload_id}").json["spec"]
    assert spec["autoscaling"] == {"minReplicas": 1, "maxReplicas": 1, "initialReplicas": 1}


def test_an_update_finds_room_where_there_is_none(server):
    """Both GPUs of the quota are taken: an old replica gives way, or the update would never come."""
    workload_id = submit(
        server, "full", {"compute": {"gpuDevicesRequest": 1}, "autoscaling": {"minReplicas": 2, "maxReplicas": 2}}
    ).json["workloadId"]
    server.wait_for("both", lambda: server.workload(workload_id)["runningPods"] == 2)
    assert patch(server, workload_id, {"compute": {"gpuDevicesRequest": 2}}).status == 202
    server.wait_for("a new replica waits", lambda: len(pods(server, workload_id)) == 3)
    assert server.workload(workload_id)["phase"] == "Updating"


UPDATE_REFUSALS = [
    ("what is fixed", {"servingPort": {"container": 9}}, "spec.servingPort: is fixed"),
    ("no image at all", {"image": None}, "spec.image: required"),
    ("bounds the wrong way round", {"autoscaling": {"minReplicas": 3}}, "spec.autoscaling.maxReplicas: at least"),
    ("a pool that is none", {"nodePools": ["moon"]}, "spec.nodePools[0]: the cluster has no node pool moon"),
]


@pytest.mark.parametrize(
    "what,spec,message", UPDATE_REFUSALS, ids=[row[0].replace(" ", "-") for row in UPDATE_REFUSALS]
)
def test_update_inference_spec_refuses(module_server, what, spec, message):
    workload_id = submit(module_server, "upd-" + what.split()[0] + str(len(what)), {}).json["workloadId"]
    before = module_server.get(f"/api/v1/workloads/inferences/{workload_id}").json["spec"]
    answer = patch(module_server, workload_id, spec)
    assert answer.status == 400 and answer.json["message"].startswith(message), answer
    assert module_server.get(f"/api/v1/workloads/inferences/{workload_id}").json["spec"] == before


def test_changes_at_once_are_all_made(server):
    workload_id = submit(server, "shared", {}).json["workloadId"]

    def change(number):
        return patch(server, workload_id, {"environmentVariables": [{"name": "A", "value": str(number)}]}).status

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(change, range(8))) == [202] * 8
    events = server.get(f"/api/v1/workloads/{workload_id}/events?limit=100").json["events"]
    assert sum(event["reason"] == "Updated" for event in events) == 8
