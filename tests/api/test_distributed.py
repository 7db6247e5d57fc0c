"""Distributed trainings: workers, masters, gangs, elastic replicas."""

import pytest

IMAGE = "gcr.io/run-ai-demo/quickstart"


def submit(server, name, spec, **extra):
    body = {
        "name": name,
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": IMAGE, **spec},
        **extra,
    }
    return server.post("/api/v1/workloads/distributed", body)


def pod_names(server, workload_id):
    return [pod["name"] for pod in server.get(f"/api/v1/workloads/{workload_id}/pods").json["pods"]]


def test_create_distributed_runs_as_one_gang(server):
    answer = submit(server, "d1", {"numWorkers": 4, "compute": {"gpuDevicesRequest": 1}})
    assert answer.status == 202 and answer.json["spec"]["distributedFramework"] == "PyTorch", answer
    workload_id = answer.json["workloadId"]
    row = server.wait_phase(workload_id, "Running")
    assert row["requestedPods"] == {"number": 4} and row["runningPods"] == 4 and row["allocatedResources"]["gpu"] == 4
    assert (
        row["workloadRequestedResources"]["gpu"]["request"] == 4
        and row["podsRequestedResources"]["gpu"]["request"] == 1
    )
    assert pod_names(server, workload_id) == [f"d1-worker-{i}" for i in range(4)]
    second = submit(server, "d2", {"numWorkers": 5, "compute": {"gpuDevicesRequest": 1}}).json["workloadId"]
    server.wait_phase(second, "Pending")
    assert all(pod["nodeName"] is None for pod in server.get(f"/api/v1/workloads/{second}/pods").json["pods"])


def test_master_comes_on_top_of_the_workers(server):
    same = submit(server, "same", {"numWorkers": 2, "compute": {"gpuDevicesRequest": 1}}, masterSpecSameAsWorker=True)
    assert same.status == 202 and same.json["masterSpecSameAsWorker"] is True and "masterSpec" not in same.json, same
    workload_id = same.json["workloadId"]
    assert server.wait_phase(workload_id, "Running")["allocatedResources"]["gpu"] == 3
    assert pod_names(server, workload_id) == ["same-master-0", "same-worker-0", "same-worker-1"]
    assert server.get(f"/api/v1/workloads/distributed/{workload_id}").json["masterSpecSameAsWorker"] is True
    server.delete(f"/api/v1/workloads/distributed/{workload_id}")
    own = submit(
        server,
        "own",
        {"numWorkers": 2, "compute": {"gpuDevicesRequest": 2}},
        masterSpec={"image": "other:1", "compute": {"cpuCoreRequest": 0.5}},
    )
    assert own.status == 202 and own.json["masterSpec"]["image"] == "other:1", own
    row = server.wait_phase(own.json["workloadId"], "Running")
    assert row["allocatedResources"]["gpu"] == 4 and row["images"] == [IMAGE, "other:1"]
    master = server.get(f"/api/v1/workloads/{own.json['workloadId']}/pods").json["pods"][0]
    assert (
        master["name"] == "own-master-0"
        and master["containers"][0]["image"] == "other:1"
        and master["requestedResources"]["gpu"]["request"] == 0
    )


def test_elastic_training_takes_what_there_is(server):
    answer = submit(
        server, "e1", {"numWorkers": 3, "minReplicas": 2, "maxReplicas": 6, "compute": {"gpuDevicesRequest": 1}}
    )
    assert answer.status == 202, answer
    row = server.wait_for(
        "four of six run",
        lambda: (lambda w: w if w["runningPods"] == 4 else None)(server.workload(answer.json["workloadId"])),
    )
    assert row["requestedPods"] == {"number": 6, "min": 2, "max": 6}


def test_a_half_used_node_does_not_spoil_a_required_affinity(make_server, folder):
    """The first pod would go to the fuller node of rack-0, where the second finds no place beside it."""
    path = folder / "cluster.yaml"
    path.write_text(
        "nodes:\n"
        + "".join(
            f"- {{name: n{i}, gpus: 4, cpuCores: 32, memoryBytes: 64000000000, labels: {{rack: rack-{i // 2}}}}}\n"
            for i in range(4)
        )
    )
    server = make_server("--quick-start", "--cluster", str(path))
    for name, gpus in (("half", 2), ("whole", 4)):
        server.wait_phase(server.submit(name, "team-a", gpus=gpus), "Running")
    together = submit(
        server,
        "together",
        {"numWorkers": 3, "compute": {"gpuDevicesRequest": 2}, "podAffinity": {"type": "Required", "key": "rack"}},
    )
    assert together.status == 202, together
    server.wait_phase(together.json["workloadId"], "Running")
    assert {
        pod["nodeName"] for pod in server.get(f"/api/v1/workloads/{together.json['workloadId']}/pods").json["pods"]
    } == {"n2", "n3"}


def test_suspended_distributed_comes_back_whole(server):
    workload_id = submit(server, "d1", {"numWorkers": 2, "compute": {"gpuDevicesRequest": 2}}).json["workloadId"]
    path = f"/api/v1/workloads/distributed/{workload_id}"
    server.wait_phase(workload_id, "Running")
    before = {pod["id"] for pod in server.get(f"/api/v1/workloads/{workload_id}/pods").json["pods"]}
    assert server.post(path + "/suspend").status == 202
    server.wait_phase(workload_id, "Stopped")
    assert server.post(path + "/resume").status == 202
    server.wait_phase(workload_id, "Running")
    after = server.get(f"/api/v1/workloads/{workload_id}/pods").json["pods"]
    assert [pod["name"] for pod in after] == ["d1-worker-0", "d1-worker-1"]
    assert not before & {pod["id"] for pod in after}


REFUSALS = [
    ("no workers", {}, {}, "spec.numWorkers: required"),
    ("zero workers", {"numWorkers": 0}, {}, "spec.numWorkers: "),
    ("workers as text", {"numWorkers": "2"}, {}, "spec.numWorkers: "),
    ("too many workers", {"numWorkers": 100000}, {}, "spec.numWorkers: at most"),
    ("an unknown framework", {"numWorkers": 1, "distributedFramework": "Ray"}, {}, "spec.distributedFramework: "),
    (
        "elastic TensorFlow",
        {"numWorkers": 2, "minReplicas": 1, "distributedFramework": "TF"},
        {},
        "spec.minReplicas: only with the framework PyTorch",
    ),
    ("a minimum above the workers", {"numWorkers": 2, "minReplicas": 3}, {}, "spec.minReplicas: at most"),
    ("a maximum below the workers", {"numWorkers": 2, "maxReplicas": 1}, {}, "spec.maxReplicas: at least"),
    ("MPI without a launcher", {"numWorkers": 2, "distributedFramework": "MPI"}, {}, "masterSpec: required by MPI"),
    (
        "two masters",
        {"numWorkers": 2},
        {"masterSpecSameAsWorker": True, "masterSpec": {"image": "a"}},
        "masterSpec: not together",
    ),
    (
        "a bad master",
        {"numWorkers": 2},
        {"masterSpec": {"compute": {"gpuDevicesRequest": -2}}},
        "masterSpec.compute.gpuDevicesRequest: ",
    ),
]


@pytest.mark.parametrize("what,spec,extra,message", REFUSALS, ids=[row[0].replace(" ", "-") for row in REFUSALS])
def test_create_distributed_refuses(module_server, what, spec, extra, message):
    answer = submit(module_server, "bad", spec, **extra)
    assert answer.status == 400 and answer.json["message"].startswith(message), answer
