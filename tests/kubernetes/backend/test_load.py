"""What metrics.k8s.io says of pods and nodes becomes their CPU and memory, and those of the workload."""

import datetime

from kube_workloads import nodes_of
from servers import Client

GROUP = "/apis/metrics.k8s.io/v1beta1"


def measured(name, age_s=0, **more):
    then = datetime.datetime.now(datetime.UTC) - datetime.timedelta(seconds=age_s)
    return {
        "apiVersion": "metrics.k8s.io/v1beta1",
        "metadata": {"name": name, **more.pop("metadata", {})},
        "timestamp": then.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "window": "15s",
        **more,
    }


def measure_pod(kube, pod, *usages, age_s=0):
    """As the metrics server has it: with the labels of the pod, by which it is asked."""
    containers = [{"name": f"c{i}", "usage": {"cpu": cpu, "memory": memory}} for i, (cpu, memory) in enumerate(usages)]
    body = measured(
        pod["metadata"]["name"],
        age_s,
        kind="PodMetrics",
        containers=containers,
        metadata={"labels": pod["metadata"]["labels"]},
    )
    answer = kube.ask("POST", f"{GROUP}/namespaces/{pod['metadata']['namespace']}/pods", body)
    assert answer.code == 201, answer


def last_of(server, path, *types):
    """The latest value of each type; None: nothing has measured it."""
    now = datetime.datetime.now(datetime.UTC)
    start, end = ((now + datetime.timedelta(seconds=s)).strftime("%Y-%m-%dT%H:%M:%SZ") for s in (-60, 0))
    answer = server.get(f"{path}/metrics", metricType=",".join(types), start=start, end=end, numberOfSamples=1)
    assert answer.status in (200, 207), answer  # 207: some of them nobody has measured
    values = {m["type"]: m["values"] for m in answer.json["measurements"]}
    return [float(values[kind][-1]["value"]) if values.get(kind) else None for kind in types]


def cpu_and_memory(server, path):
    return last_of(server, path, "CPU_USAGE_CORES", "CPU_MEMORY_USAGE_BYTES")


def test_cpu_and_memory_come_from_the_metrics_server(server, kube, folder):
    kube.needs_kubelet()
    workload = server.submit("job", "team-a", 1)
    unmeasured = server.submit("other", "team-b", 1)
    server.wait_phase(workload, "Running")
    server.wait_phase(unmeasured, "Running")
    (pod,) = (pod for pod in kube.live_pods().values() if pod["metadata"]["namespace"] == "runai-team-a")
    measure_pod(kube, pod, ("1500m", "1Gi"), ("250m", "1Mi"))
    body = measured(pod["spec"]["nodeName"], kind="NodeMetrics", usage={"cpu": "3", "memory": "8Gi"})
    assert kube.ask("POST", f"{GROUP}/nodes", body).code == 201

    path = f"/api/v1/workloads/{workload}"
    used = [1.75, (1 << 30) + (1 << 20)]
    server.wait_for("the workload's", lambda: cpu_and_memory(server, path) == used, seconds=60)
    (own,) = server.get(f"{path}/pods").json["pods"]
    assert cpu_and_memory(server, f"{path}/pods/{own['id']}") == used
    node = nodes_of(server)[pod["spec"]["nodeName"]]["id"]
    server.wait_for("the node's", lambda: cpu_and_memory(server, f"/api/v1/nodes/{node}") == [3, 8 << 30], seconds=60)
    assert cpu_and_memory(server, f"/api/v1/workloads/{unmeasured}") == [None, None]
    shown = nodes_of(server)[pod["spec"]["nodeName"]]["prorata"]
    assert (shown["usedCpuCores"], shown["usedCpuMemoryBytes"]) == (3, 8 << 30)
    (figure,) = server.get("/api/v1/nodes/telemetry", telemetryType="USED_CPU_CORES").json["values"]
    assert figure == {"value": "3"}, "of the nodes that are measured"
    pools = server.get("/api/v1/overview").json["nodePools"]
    assert [p["cpuCores"]["used"] for p in pools if p["nodes"]] == [3]
    (share,) = last_of(server, f"/api/v1/clusters/{server.cluster_id()}", "CPU_UTILIZATION")
    assert share == 3 / shown["cpuCores"] * 100, "of the cores of the node that is measured"
    top = [line.split() for line in Client(server, folder / "home").sign_in().run("top").splitlines()]
    assert any(line[:2] == [pod["spec"]["nodeName"], "3.00"] and "8.0" in line for line in top), top
    assert any(line[:3] == ["job-0-0", pod["spec"]["nodeName"], "1.75"] for line in top), top

    server.stop()  # what nobody measures any more after a restart is not known
    assert kube.ask("DELETE", f"{GROUP}/nodes/{pod['spec']['nodeName']}").code == 200
    assert (
        kube.ask("DELETE", f"{GROUP}/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}").code
        == 200
    )
    server.start()
    for what in (path, f"{path}/pods/{own['id']}", f"/api/v1/nodes/{node}"):
        server.wait_for(f"the end of {what}", lambda what=what: cpu_and_memory(server, what) == [None, None])

    measure_pod(kube, pod, ("1500m", "1Gi"), ("250m", "1Mi"))
    server.wait_for("the workload's again", lambda: cpu_and_memory(server, path) == used, seconds=60)
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    server.wait_for("nothing is used any more", lambda: cpu_and_memory(server, path) == [0, 0])


def test_what_was_measured_before_a_pod_was_made_is_not_its(server, kube):
    kube.needs_kubelet()
    workload = server.submit("job", "team-a", 1)
    later = server.submit("later", "team-b", 1)
    server.wait_phase(workload, "Running")
    server.wait_phase(later, "Running")
    pods = {pod["metadata"]["namespace"]: pod for pod in kube.live_pods().values()}
    measure_pod(kube, pods["runai-team-a"], ("1", "1Gi"), age_s=3600)
    measure_pod(kube, pods["runai-team-b"], ("2", "2Gi"))
    server.wait_for(
        "the other's", lambda: cpu_and_memory(server, f"/api/v1/workloads/{later}") == [2, 2 << 30], seconds=60
    )
    assert cpu_and_memory(server, f"/api/v1/workloads/{workload}") == [None, None]


def test_a_small_change_is_not_told(server, kube):
    kube.needs_kubelet()
    little, much = (server.submit(name, team, 1) for name, team in (("little", "team-a"), ("much", "team-b")))
    server.wait_phase(little, "Running")
    server.wait_phase(much, "Running")
    pods = {pod["metadata"]["namespace"]: pod for pod in kube.live_pods().values()}

    def used():
        return [cpu_and_memory(server, f"/api/v1/workloads/{workload}") for workload in (little, much)]

    for pod in pods.values():
        measure_pod(kube, pod, ("2", "2Gi"))
    server.wait_for("the first figures", lambda: used() == [[2, 2 << 30]] * 2, seconds=60)
    for team, cpu in (("a", "2050m"), ("b", "3")):
        pod = pods[f"runai-team-{team}"]["metadata"]
        assert kube.ask("DELETE", f"{GROUP}/namespaces/{pod['namespace']}/pods/{pod['name']}").code == 200
        measure_pod(kube, pods[pod["namespace"]], (cpu, "2Gi"))
    server.wait_for("the large change", lambda: used()[1] == [3, 2 << 30], seconds=60)
    assert used()[0] == [2, 2 << 30]


def test_work_goes_on_while_metrics_do_not_answer(make_server, kube):
    """The server that serves metrics.k8s.io hangs: watches and binds take no notice."""
    kube.needs_kubelet()
    kube.fault({"path": f"{GROUP}/nodes"}, times=0, hang=True)
    server = make_server("--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start")
    server.wait_for("nodes", lambda: len(nodes_of(server)) == 2)
    server.wait_for("it is asked", lambda: kube.requests("GET", "metrics.k8s.io"))
    server.wait_phase(server.submit("job", "team-a", 1), "Running")


def test_a_cluster_without_metrics_is_left_alone(make_server, kube):
    """404: pods are not asked for after nodes, and nothing is logged."""
    kube.needs_kubelet()
    kube.fault({"path": f"{GROUP}/nodes"}, times=0, status={"code": 404, "reason": "NotFound"})
    server = make_server("--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start")
    server.wait_for("nodes", lambda: len(nodes_of(server)) == 2)
    server.wait_for("it is asked", lambda: kube.requests("GET", "metrics.k8s.io"))
    server.wait_phase(server.submit("job", "team-a", 1), "Running")
    assert len(kube.requests("GET", "metrics.k8s.io")) == 1
    assert "metrics.k8s.io" not in server.log.read_text()
