"""Nodes of the cluster as they change: what runs goes on, nothing new comes where it must not, the sums are right."""

import shutil

import pytest
from kube_workloads import events_of, life, nodes_of


def wait_for_node(server, name, what, condition):
    server.wait_for(what, lambda: condition(nodes_of(server).get(name)))


def fill(server, count, gpus=4):
    ids = [server.submit(f"fill-{i}", "team-a", gpus) for i in range(count)]
    for workload in ids:
        server.wait_phase(workload, "Running")
    return ids


def told(server, name):
    """What the server tells of a node, oldest first."""
    answer = server.get("/api/v1/events", kind="nodes", node=name, sortOrder="asc", limit=500)
    return [(e["reason"], e["message"]) for e in answer.json["events"] if e["involvedObject"]["kind"] == "Node"]


def test_a_cordoned_node_takes_nothing_new(server, kube):
    fill(server, 1)
    (pod,) = kube.live_pods().values()
    used = pod["spec"]["nodeName"]
    other = {"node-00000": "node-00001", "node-00001": "node-00000"}[used]
    kube.patch_node(other, {"spec": {"unschedulable": True}})
    server.wait_for("it is heard of", lambda: snapshot_node(server, other).get("cordoned"))
    waiting = server.submit("waiting", "team-a", 1)
    server.wait_phase(waiting, "Pending")
    server.wait_for("why", lambda: "cordon" in why(server, waiting))
    kube.patch_node(other, {"spec": {"unschedulable": None}})
    server.wait_phase(waiting, "Running")
    assert kube.live_pods().keys() >= {pod["metadata"]["name"]}
    assert told(server, other) == [
        ("NodeNotSchedulable", f"{other} was cordoned in the cluster"),
        ("NodeSchedulable", f"{other} was uncordoned in the cluster"),
    ], "once each; and the nodes that the cluster begins with did not join"


def why(server, workload):
    return server.get(f"/api/v1/workloads/{workload}/explanation").body.decode().lower()


def test_a_node_that_is_not_ready_keeps_its_pods(server, kube):
    fill(server, 2)
    conditions = [{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}]
    kube.patch_node("node-00000", {"status": {"conditions": conditions}}, "/status")
    wait_for_node(server, "node-00000", "not ready", lambda node: node["status"] == "NotReady")
    assert len(kube.live_pods()) == 2
    kube.patch_node("node-00000", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}, "/status")
    wait_for_node(server, "node-00000", "ready", lambda node: node["status"] == "Ready")
    assert len(kube.live_pods()) == 2
    server.kill()
    server.start()
    wait_for_node(server, "node-00000", "ready", lambda node: node["status"] == "Ready")
    assert told(server, "node-00000") == [
        ("NodeNotReady", "node-00000 is not ready: NodeUnknown"),
        ("NodeReady", "node-00000 is ready again"),
    ]


def test_a_new_node_is_used_and_a_deleted_one_is_gone(server, kube):
    fill(server, 2)
    waiting = server.submit("waiting", "team-a", 4)
    allocatable = {"cpu": "8", "memory": "32Gi", "pods": "110", "nvidia.com/gpu": "4"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": "new-node",
            "labels": {"nvidia.com/gpu.product": "H100", "nvidia.com/gpu.memory": "81920"},
        },
        "status": {
            "allocatable": allocatable,
            "capacity": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    assert kube.ask("POST", "/api/v1/nodes", node).code == 201
    server.wait_phase(waiting, "Running")
    assert nodes_of(server)["new-node"]["gpuInfo"]["gpuType"] == "H100"
    assert kube.ask("DELETE", "/api/v1/nodes/new-node").code == 200
    server.wait_for("the node is gone", lambda: "new-node" not in nodes_of(server))
    server.wait_phase(waiting, "Pending")
    assert told(server, "new-node") == [
        ("RegisteredNode", "new-node joined the cluster with 4 GPUs"),
        ("RemovingNode", "new-node left the cluster"),
    ]


def test_a_label_moves_a_node_to_another_pool(server, kube):
    cluster = server.cluster_id()
    body = {"name": "fast", "clusterId": cluster, "labelKey": "kind", "labelValue": "fast"}
    assert server.post("/api/v1/node-pools", body).status in (200, 201, 202)
    kube.patch_node("node-00001", {"metadata": {"labels": {"kind": "fast"}}})
    wait_for_node(server, "node-00001", "the pool", lambda node: node["nodePool"] == "fast")
    work = server.submit("work", "team-a", 4, spec={"nodePools": ["fast"]})
    server.wait_phase(work, "Running")
    assert [pod["spec"]["nodeName"] for pod in kube.live_pods().values()] == ["node-00001"]


def test_sick_gpus_take_nothing_new_and_come_back(server, kube):
    def set_gpus(count):
        kube.patch_node("node-00000", {"status": {"allocatable": {"nvidia.com/gpu": str(count)}}}, "/status")

    kube.patch_node("node-00001", {"spec": {"unschedulable": True}})
    two = server.submit("two", "team-a", 2)
    server.wait_phase(two, "Running")
    set_gpus(3)
    three = server.submit("three", "team-b", 1)
    server.wait_phase(three, "Running")
    set_gpus(0)
    server.wait_for("all withheld", lambda: len(withheld(server, "node-00000")) == 4)
    four = server.submit("four", "team-b", 1)
    server.wait_phase(four, "Pending")
    assert server.workload(two)["phase"] == server.workload(three)["phase"] == "Running"
    set_gpus(4)
    server.wait_phase(four, "Running")


def test_what_pods_of_others_hold_is_theirs(server, kube):
    def other(name, node, gpus):
        container = {"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}
        spec = {"nodeName": node, "containers": [container]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}

    for node in ("node-00000", "node-00001"):
        assert kube.ask("POST", "/api/v1/namespaces/default/pods", other(f"on-{node}", node, 3)).code == 201
    server.wait_for("others are seen", lambda: all(len(withheld(server, n)) == 3 for n in nodes_of(server)))
    one, two = server.submit("one", "team-a", 1), server.submit("two", "team-a", 1)
    server.wait_phase(one, "Running")
    server.wait_phase(two, "Running")
    third = server.submit("third", "team-b", 2)
    server.wait_phase(third, "Pending")
    kube.ask("DELETE", "/api/v1/namespaces/default/pods/on-node-00000?gracePeriodSeconds=0")
    server.wait_phase(third, "Running")
    assert not any(pod["status"].get("reason", "").startswith("OutOf") for pod in kube.pods().values())


def nodes_of_cycle(server):
    """As the latest cycle saw them; none where there was none yet."""
    return server.get("/api/v1/scheduler/snapshot").json.get("nodes", [])


def snapshot_node(server, name):
    """Empty where the latest cycle did not see it."""
    return next((node for node in nodes_of_cycle(server) if node["name"] == name), {})


def withheld(server, name):
    """The devices of a node that take nothing new."""
    return snapshot_node(server, name).get("unhealthyGpus", [])


@pytest.mark.parametrize("reason", ["OutOfcpu", "OutOfnvidia.com/gpu", "UnexpectedAdmissionError"])
def test_a_pod_that_the_kubelet_refuses_is_tried_elsewhere(server, kube, reason):
    """Its backoff limit is untouched."""
    work = server.submit("work", "team-a", 1, spec={"backoffLimit": 0, **life(reject=reason)})
    server.wait_for("refused on both", lambda: len(kube.requests("POST", "/binding")) >= 2)
    bound = [r["body"] for r in kube.requests("POST", "/binding")][:2]
    assert ("node-00000" in bound[0]) != ("node-00000" in bound[1])
    assert any(reason in event["message"] + event["reason"] for event in events_of(server, work))
    assert server.workload(work)["phase"] in ("Pending", "Initializing")


def test_the_taint_of_gpu_nodes_keeps_others_away_alone(server, kube):
    taint = {"spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]}}
    for name in ("node-00000", "node-00001"):
        kube.patch_node(name, taint)
        server.wait_for("it is heard of", lambda name=name: snapshot_node(server, name).get("taints"))
    with_gpu = server.submit("with-gpu", "team-a", 1)
    without = server.submit("without", "team-a", spec={"compute": {"cpuCoreRequest": 0.1}})
    server.wait_phase(with_gpu, "Running")
    server.wait_phase(without, "Pending")
    server.wait_for("why", lambda: "taint" in why(server, without))


def test_pods_of_a_later_time_than_the_rows_keep_their_gpus(server, kube, folder):
    server.stop()
    shutil.copytree(server.data, folder / "kept")
    server.start()
    lost = server.submit("lost", "team-a", 4)
    server.wait_phase(lost, "Running")
    server.stop()
    shutil.rmtree(server.data)
    shutil.copytree(folder / "kept", server.data)
    server.data.chmod(0o700)
    server.start()
    server.token = None
    ((stray, pod),) = kube.live_pods().items()
    server.wait_for("it is counted", lambda: len(withheld(server, pod["spec"]["nodeName"])) == 4)
    one = server.submit("one", "team-a", 4)
    two = server.submit("two", "team-a", 4)
    server.wait_for("one runs", lambda: "Running" in {server.workload(w)["phase"] for w in (one, two)})
    server.wait_for("one waits", lambda: "Pending" in {server.workload(w)["phase"] for w in (one, two)})
    assert stray in kube.live_pods()


def test_a_node_that_is_made_again_under_its_name_gives_its_gpus_once(server, kube):
    """Its pods go on, as with a kubelet that registers again; or they are lost, where its absence was seen."""
    (first,) = fill(server, 1)
    (pod,) = kube.live_pods().values()
    node = kube.node(pod["spec"]["nodeName"])
    place = node["metadata"]["name"]
    assert kube.ask("DELETE", f"/api/v1/nodes/{place}").code == 200
    again = {"metadata": {"name": place, "labels": {**node["metadata"]["labels"], "again": "yes"}}}
    assert kube.ask("POST", "/api/v1/nodes", {**node, **again}).code == 201
    server.wait_for("the new one", lambda: snapshot_node(server, place).get("labels", {}).get("again") == "yes")
    works = [first, *(server.submit(f"other-{i}", "team-b", 4) for i in range(2))]

    def phases():
        return sorted(server.workload(work)["phase"] for work in works)

    server.wait_for("two run, and one waits", lambda: phases() == ["Pending", "Running", "Running"])
    server.wait_for("each has a node", lambda: sorted(places(kube)) == ["node-00000", "node-00001"])
    assert not any(p["status"].get("reason", "").startswith("OutOf") for p in kube.pods().values())


def places(kube):
    """Nodes of pods that are not on their way out."""
    live = [pod for pod in kube.live_pods().values() if "deletionTimestamp" not in pod["metadata"]]
    return [pod["spec"].get("nodeName", "") for pod in live]


def test_a_node_that_goes_while_a_pod_is_bound_to_it_is_left(server, kube):
    kube.fault({"subresource": "binding"}, delayMs=1500)
    work = server.submit("work", "team-a", 1)
    server.wait_for("the binding", lambda: kube.requests("POST", "/binding"))
    nodes = ["node-00000", "node-00001"]
    planned, other = sorted(nodes, key=lambda name: name not in kube.requests("POST", "/binding")[0]["body"])
    assert kube.ask("DELETE", f"/api/v1/nodes/{planned}").code == 200
    server.wait_phase(work, "Running", seconds=60)
    server.wait_for(
        "it alone is left", lambda: [p["spec"].get("nodeName") for p in kube.live_pods().values()] == [other]
    )


def test_a_node_that_does_not_list_gpus_gets_no_pod_with_one(server, kube):
    """The kubelet would drop the request, and run it without."""
    for part in ("allocatable", "capacity"):
        kube.patch_node("node-00000", {"status": {part: {"nvidia.com/gpu": None}}}, "/status")
    server.wait_for("it is heard of", lambda: len(withheld(server, "node-00000")) in (0, 4) and gpus(server)[:1] == [0])
    works = [server.submit(f"w{i}", "team-a", 2) for i in range(3)]
    server.wait_for("two run", lambda: sum(server.workload(w)["phase"] == "Running" for w in works) == 2)
    assert {pod["spec"]["nodeName"] for pod in kube.live_pods().values()} == {"node-00001"}


def gpus(server):
    """Usable ones of each node."""
    nodes = sorted(nodes_of_cycle(server), key=lambda node: node["name"])
    return [node.get("gpus", 0) - len(node.get("unhealthyGpus", [])) for node in nodes]


def test_a_very_large_pod_of_others_is_read(server, kube):
    kube.control("POST", "fill", {"nodes": 0, "gpus": 0, "pods": 1, "podBytes": 1_400_000})
    server.wait_for("it is seen", lambda: 'objects{of="pods of others"} 1' in server.get("/metrics").body.decode())
    server.wait_phase(server.submit("work", "team-a", 1), "Running")


def test_what_no_machine_has_is_counted_as_the_most_that_is_believed(server, kube):
    vast = {"cpu": "1000000000000000000", "memory": "9E", "pods": "9E", "nvidia.com/gpu": "9E"}
    for name in ("node-00000", "node-00001"):
        kube.patch_node(name, {"metadata": {"labels": {"nvidia.com/gpu.memory": "1000000000000"}}})
        kube.patch_node(name, {"status": {"allocatable": vast, "capacity": vast}}, "/status")
        wait_for_node(server, name, "it is heard of", lambda node: node["gpuInfo"]["gpuCount"] == 64)

    server.kill()
    server.start()
    wait_for_node(server, "node-00000", "it is heard of again", lambda node: node["gpuInfo"]["gpuCount"] == 64)
    server.wait_phase(server.submit("work", "team-a", 1), "Initializing", "Running")
    own = nodes_of(server)["node-00000"]["prorata"]
    assert own["cpuCores"] == 1_000_000 and own["cpuMemoryBytes"] == 64 << 40, own
    (pool,) = server.get("/api/v1/overview").json["nodePools"]
    assert pool["cpuCores"]["total"] == 2_000_000 and pool["cpuMemoryBytes"]["total"] == 128 << 40, pool
