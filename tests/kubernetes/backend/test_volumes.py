"""A pod is bound when its claims have volumes, and to a node that reaches them. The test plays the provisioner."""

import pytest
from kube_workloads import events_of, gang, nodes_of

CLASSES, VOLUMES = "/apis/storage.k8s.io/v1/storageclasses", "/api/v1/persistentvolumes"
CLAIMS = "/api/v1/namespaces/runai-team-a/persistentvolumeclaims"
SELECTED, ZONE = "volume.kubernetes.io/selected-node", "topology.kubernetes.io/zone"


@pytest.fixture
def storage(kube):
    """Makes objects of the cluster that no namespace has, and takes them away."""
    made = []

    def make(path, body):
        answer = kube.ask("POST", path, body)
        assert answer.code == 201, answer
        made.append(f"{path}/{body['metadata']['name']}")

    yield make
    for path in made:
        kube.ask("PATCH", path, {"metadata": {"finalizers": None}}, {"Content-Type": "application/merge-patch+json"})
        kube.ask("DELETE", path)


def make_class(storage, name, mode, provisioner="example.com/disks"):
    storage(CLASSES, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
                      "provisioner": provisioner, "volumeBindingMode": mode})  # fmt: skip


def make_volume(storage, name, zone=None):
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"],
            "nfs": {"server": "nfs.example.com", "path": "/x"}}  # fmt: skip
    if zone:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    storage(VOLUMES, {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})


def fill(kube, claim, volume):
    """What the cluster's controllers do."""
    kube.patch(f"{CLAIMS}/{claim}", {"spec": {"volumeName": volume}})
    kube.patch(f"{CLAIMS}/{claim}", {"status": {"phase": "Bound"}}, "/status")


def claim_of(name, class_name, **more):
    item = {"claimName": name, "path": "/data", "claimInfo": {"size": "1Gi", "storageClass": class_name}, **more}
    return {"storage": {"pvc": [item]}}


def selected_node(kube, name):
    claim = kube.ask("GET", f"{CLAIMS}/{name}")
    return claim.code == 200 and claim.json["metadata"].get("annotations", {}).get(SELECTED)


def nodes_with(kube, name):
    """Nodes of the live pods of a workload; None: it has none yet."""
    return [pod["spec"].get("nodeName") for pod_name, pod in kube.live_pods().items() if pod_name.startswith(name)]


def scheduled(kube, name):
    """The condition PodScheduled of a workload's one live pod."""
    (pod,) = [pod for pod_name, pod in kube.live_pods().items() if pod_name.startswith(name)]
    found = [c for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled"]
    return tuple(found[0].get(key, "") for key in ("status", "reason", "message")) if found else ("", "", "")


def zones(server, kube):
    found = dict(zip(sorted(nodes_of(server)), ("a", "b"), strict=True))
    for name, zone in found.items():
        kube.patch_node(name, {"metadata": {"labels": {ZONE: zone}}})
    return found


def has_event(server, workload, reason, part):
    return any(e["reason"] == reason and part in e["message"] for e in events_of(server, workload))


def test_a_claim_that_waits_for_its_first_consumer_gets_the_node(server, kube, storage):
    make_class(storage, "late", "WaitForFirstConsumer")
    make_volume(storage, "late-1")
    workload = server.submit("job", "team-a", 1, spec=claim_of("scratch", "late"))
    server.wait_for("the selected node", lambda: selected_node(kube, "scratch"))
    assert nodes_with(kube, "job") == [None], "it is bound before its claim"
    server.wait_for("the event", lambda: has_event(server, workload, "VolumeBinding", "scratch has no volume yet"))
    server.wait_for("what kubectl describe shows", lambda: scheduled(kube, "job")[:2] == ("False", "Unschedulable"))
    assert "claim scratch has no volume yet" in scheduled(kube, "job")[2]
    fill(kube, "scratch", "late-1")
    server.wait_phase(workload, "Running")
    assert scheduled(kube, "job")[0] == "True"
    assert nodes_with(kube, "job") == [selected_node(kube, "scratch")]


def test_a_provisioner_that_gives_a_claim_back_gets_another_node(server, kube, storage):
    make_class(storage, "late", "WaitForFirstConsumer")
    make_volume(storage, "late-1")
    workload = server.submit("job", "team-a", 1, spec=claim_of("scratch", "late"))
    server.wait_for("the selected node", lambda: selected_node(kube, "scratch"))
    first = selected_node(kube, "scratch")
    kube.patch(f"{CLAIMS}/scratch", {"metadata": {"annotations": {SELECTED: None}}})
    server.wait_for("another node", lambda: selected_node(kube, "scratch") not in (None, False, first))
    fill(kube, "scratch", "late-1")
    server.wait_phase(workload, "Running")
    assert has_event(server, workload, "FailedBinding", "its provisioner gave it back")
    assert nodes_with(kube, "job") not in ([], [first])


def test_the_clusters_storage_classes_are_listed(server, kube, storage):
    make_class(storage, "fast", "Immediate")
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    storage(CLASSES, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "example.com/nfs",
                      "metadata": {"name": "home", "annotations": default}, "allowVolumeExpansion": True})  # fmt: skip
    cluster = server.cluster_id()
    found = {row["storageClassName"]: row for row in server.get("/api/v2/storage-classes").json["items"]}
    assert found["fast"]["spec"] == {
        "provisioner": "example.com/disks",
        "allowVolumeExpansion": False,
        "isDefault": False,
    }
    assert found["home"]["spec"]["isDefault"] and found["home"]["spec"]["allowVolumeExpansion"]
    (one,) = server.get("/api/v1/storage-classes", name="home", clusterId=cluster).json["items"]
    assert one["cluster_id"] == cluster and one["Spec"]["provisioner"] == "example.com/nfs"
    names = server.get(f"/v1/k8s/clusters/{cluster}/storage-classes").json["storageClasses"]
    assert {"fast", "home"} <= set(names)


def test_a_claim_without_a_class_is_for_a_volume_that_is_there(server, kube, storage):
    make_volume(storage, "there")
    workload = server.submit("job", "team-a", 1, spec=claim_of("static", "runai-none"))
    server.wait_for("the claim", lambda: kube.ask("GET", f"{CLAIMS}/static").code == 200)
    assert kube.ask("GET", f"{CLAIMS}/static").json["spec"]["storageClassName"] == ""
    fill(kube, "static", "there")
    server.wait_phase(workload, "Running")


def test_a_volume_of_a_zone_is_met_there(server, kube, storage):
    zone_of = zones(server, kube)
    server.wait_phase(server.submit("filler", "team-a", 1), "Running")
    (other,) = set(zone_of) - set(nodes_with(kube, "filler"))
    make_volume(storage, "far", zone_of[other])
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "far"},
             "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}},
                      "storageClassName": "", "volumeName": "far"}}  # fmt: skip
    assert kube.ask("POST", CLAIMS, claim).code == 201
    fill(kube, "far", "far")
    spec = {"storage": {"pvc": [{"claimName": "far", "existingPvc": True, "path": "/data"}]}}
    workload = server.submit("job", "team-a", 1, spec=spec)
    server.wait_phase(workload, "Running")
    assert has_event(server, workload, "FailedBinding", "does not reach")
    assert nodes_with(kube, "job") == [other]


def test_a_gang_waits_for_the_claim_that_it_shares(server, kube, storage):
    make_class(storage, "late", "WaitForFirstConsumer")
    make_volume(storage, "shared-1")
    spec = {"numWorkers": 3, "distributedFramework": "PyTorch", **claim_of("shared", "late")}
    workload = server.submit("gang", "team-a", 1, kind="distributed", spec=spec)
    server.wait_for("the selected node", lambda: selected_node(kube, "shared"))
    server.wait_for("three pods", lambda: len(kube.pods()) == 3)
    assert not any(pod["spec"].get("nodeName") for pod in kube.pods().values())
    fill(kube, "shared", "shared-1")
    server.wait_phase(workload, "Running")
    assert all(pod["spec"]["nodeName"] for pod in kube.live_pods().values())


def test_a_claim_that_is_made_later_is_waited_for(server, kube, storage):
    server.submit("first", "team-a", 1)  # its namespace is there
    make_volume(storage, "soon")
    spec = {"storage": {"pvc": [{"claimName": "soon", "existingPvc": True, "path": "/data"}]}}
    workload = server.submit("job", "team-a", 1, spec=spec)
    server.wait_for("the event", lambda: has_event(server, workload, "VolumeBinding", "claim soon is not there"))
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "soon"},
             "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}},
                      "storageClassName": ""}}  # fmt: skip
    assert kube.ask("POST", CLAIMS, claim).code == 201
    fill(kube, "soon", "soon")
    server.wait_phase(workload, "Running")


def test_a_class_that_makes_no_volumes_is_named(server, kube, storage):
    make_class(storage, "by-hand", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")
    workload = server.submit("job", "team-a", 1, spec=claim_of("disk", "by-hand"))
    server.wait_for("the event", lambda: has_event(server, workload, "ClaimUnbound", "bind it to a volume beforehand"))
    assert not any(pod["spec"].get("nodeName") for pod in kube.pods().values())


def test_a_pod_that_waits_for_its_claim_is_stopped(server, kube, storage):
    make_class(storage, "at-once", "Immediate")
    waits = server.submit("job", "team-a", 1, spec=claim_of("slow", "at-once"))
    server.wait_for("the event", lambda: has_event(server, waits, "VolumeBinding", "its storage class makes one"))
    assert selected_node(kube, "slow") is None
    assert server.delete(f"/api/v1/workloads/trainings/{waits}").status == 202
    server.wait_for("its end", lambda: not kube.pods())
    whole = gang(server, "gang", 2)
    server.wait_phase(whole, "Running")
