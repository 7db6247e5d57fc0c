"""What the DCGM exporter on a node says becomes the utilization of its pods, and the node's devices."""

import datetime

EXPORTER = "/api/v1/namespaces/default/pods"


def export(kube, node, page):
    """An exporter on a node, and its page."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"dcgm-{node}",
            "labels": {"app": "nvidia-dcgm-exporter"},
            "annotations": {"test.prorata.io/metrics": page},
        },
        "spec": {"nodeName": node, "containers": [{"name": "exporter", "image": "dcgm"}]},
    }
    answer = kube.ask("POST", EXPORTER, pod)
    assert answer.code == 201, answer


def test_utilization_and_devices_come_from_the_exporter(server, kube):
    kube.needs_kubelet()
    workload = server.submit("job", "team-a", 2)
    server.wait_phase(workload, "Running")
    ((name, pod),) = kube.pods().items()
    node = pod["spec"]["nodeName"]
    of_pod = f'Hostname="{node}",namespace="runai-team-a",pod="{name}"'
    export(
        kube,
        node,
        f'DCGM_FI_DEV_GPU_UTIL{{gpu="0",UUID="GPU-a",{of_pod}}} 60\n'
        f'DCGM_FI_DEV_GPU_UTIL{{gpu="1",UUID="GPU-b",{of_pod}}} 80\n'
        'DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-b"} 55\n'
        'DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b"} 1000\n'
        'DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-b"} 79000\n'
        'DCGM_FI_DEV_XID_ERRORS{gpu="3",UUID="GPU-d"} 79\n',
    )

    def readings():
        nodes = server.get("/api/v1/devices").json["nodes"]
        return next(item["readings"] for item in nodes if item["name"] == node)

    first, second, third, fourth = server.wait_for("the node's devices", readings, seconds=60)
    assert (first["name"], first["utilization"]) == ("GPU-a", 60)
    assert (second["temperatureCelsius"], second["memoryUsedMib"], second["memoryMib"]) == (55, 1000, 80000)
    assert (third["name"], third["utilization"]) == ("", None)
    assert (fourth["healthy"], fourth["reason"]) == (False, "fallen off the bus")

    listed = server.get(f"/api/v1/clusters/{server.cluster_id()}/nodes").json["nodes"]
    node_id = next(item["id"] for item in listed if item["name"] == node)

    def most(of, metric):
        now = datetime.datetime.now(datetime.UTC)
        start, end = ((now + datetime.timedelta(seconds=s)).strftime("%Y-%m-%dT%H:%M:%SZ") for s in (-60, 1))
        answer = server.get(f"/api/v1/{of}/metrics", metricType=metric, start=start, end=end, numberOfSamples=5)
        return max((float(m["values"][-1]["value"]) for m in answer.json["measurements"] if m["values"]), default=0)

    of_node, of_workload = f"nodes/{node_id}", f"workloads/{workload}"
    server.wait_for(
        "the mean of its devices is the pod's utilization", lambda: most(of_node, "GPU_UTILIZATION_PER_GPU") == 70
    )
    server.wait_for(
        "the memory of the device that tells it", lambda: most(of_workload, "GPU_MEMORY_USAGE_BYTES") == 1000 << 20
    )
    server.wait_for("the node's, too", lambda: most(of_node, "GPU_MEMORY_USAGE_BYTES_PER_GPU") == 1000 << 20)
