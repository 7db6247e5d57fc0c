"""What tests submit to the stand-in, and what they read of it."""

TEST = "test.prorata.io"


def nodes_of(server):
    return {node["name"]: node for node in server.get(f"/api/v1/clusters/{server.cluster_id()}/nodes").json["nodes"]}


def life(**annotations):
    """Annotations of a specification that say how the stand-in's kubelet treats the pod."""
    named = [{"name": f"{TEST}/{name.replace('_', '-')}", "value": str(value)} for name, value in annotations.items()]
    return {"annotations": named}


def events_of(server, workload_id):
    return server.get(f"/api/v1/workloads/{workload_id}/events").json["events"]


def gang(server, name, workers, project="team-a", gpus=1, **annotations):
    """A distributed training without a master."""
    spec = {"numWorkers": workers, "distributedFramework": "PyTorch", **life(**annotations)}
    return server.submit(name, project, gpus, kind="distributed", spec=spec)


def end_pods(kube, name):
    """The pods of a workload end well, as their kubelet tells it: lives that tests see running have no end of their
    own."""
    for pod_name, pod in kube.live_pods().items():
        if pod_name.startswith(name):
            over = {"exitCode": 0, "reason": "Completed"}
            containers = [
                {**one, "ready": False, "state": {"terminated": over}} for one in pod["status"]["containerStatuses"]
            ]
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod_name}"
            kube.patch(path, {"status": {"phase": "Succeeded", "containerStatuses": containers}}, "/status")
