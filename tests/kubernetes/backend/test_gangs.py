"""Pods of a gang are all created before any is bound; where one cannot be made, none stays."""

import json

from kube_workloads import events_of, gang

CREATE = {"verb": "create", "resource": "pods", "subresource": ""}


def test_all_are_created_before_the_first_is_bound(server, kube):
    work = gang(server, "work", 5)
    server.wait_phase(work, "Running")
    order = [
        "bind" if r["path"].endswith("/binding") else "create"
        for r in kube.control("GET", "requests")
        if r["method"] == "POST" and "/pods" in r["path"]
    ]
    assert order == ["create"] * len(kube.pods()) + ["bind"] * len(kube.pods())
    assert len(kube.pods()) >= 5


def test_one_that_is_refused_undoes_all(server, kube):
    quota = {"code": 403, "reason": "Forbidden", "message": 'pods "x" is forbidden: exceeded quota: gpus'}
    kube.fault({"verb": "create", "resource": "pods", "subresource": ""}, skip=3, status=quota)
    work = gang(server, "work", 4)
    server.wait_for("the reason", lambda: any("exceeded quota" in e["message"] for e in events_of(server, work)))
    server.wait_for("nothing is left", lambda: not kube.pods())
    assert not kube.requests("POST", "/binding")
    server.wait_phase(work, "Running")
    assert len(kube.requests("POST", "/binding")) == len(kube.live_pods())


def test_a_binding_whose_answer_is_lost_is_not_sent_twice_in_vain(server, kube):
    kube.fault({"subresource": "binding"}, times=2, skip=1, dropAnswer=True)
    kube.fault({"subresource": "binding"}, status={"code": 500, "reason": "InternalError", "message": "etcd"})
    work = gang(server, "work", 4)
    server.wait_phase(work, "Running")
    assert {pod["status"]["phase"] for pod in kube.pods().values()} == {"Running"}


def test_a_gang_that_is_deleted_while_it_is_created_leaves_nothing(server, kube):
    kube.fault({"verb": "create", "resource": "pods", "subresource": ""}, times=0, delayMs=500)
    work = gang(server, "work", 4)
    server.wait_for("creates", lambda: len(kube.requests("POST", "/pods")) >= 4)
    server.delete(f"/api/v1/workloads/distributed/{work}")
    server.wait_for("it is gone", lambda: not server.get("/api/v1/workloads").json["workloads"])
    server.wait_for("nothing is left", lambda: not kube.pods())
    assert not kube.requests("POST", "/binding")


def test_a_pod_that_waits_for_its_gang_says_so_in_its_condition(server, kube):
    """One of three cannot be made: what kubectl describe shows of the others. The workload itself says why."""
    server.wait_phase(server.submit("first", "team-a"), "Running")  # its namespace is there
    bound = len(kube.requests("POST", "/binding"))
    down = {"code": 500, "reason": "InternalError", "message": "a webhook is down"}
    kube.fault(CREATE, times=0, skip=2, status=down)
    work = gang(server, "work", 3)

    def conditions():
        pods = [pod for name, pod in kube.pods().items() if name.startswith("work")]
        found = [c for pod in pods for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled"]
        return [tuple(c.get(key, "") for key in ("status", "reason", "message")) for c in found]

    sentence = "waits: 1 of the 3 pods that start with it are not ready to be bound"
    server.wait_for("the conditions", lambda: conditions() == [("False", "Unschedulable", sentence)] * 2, seconds=60)
    assert len(kube.requests("POST", "/binding")) == bound
    kube.control("DELETE", "faults")
    server.wait_phase(work, "Running", seconds=60)
    assert {c[0] for c in conditions()} == {"True"}


def test_a_gang_whose_binding_is_refused_half_way_is_undone_whole(server, kube):
    """Two have their nodes, and the cluster refuses the third: none stays, and then all start."""
    conflict = {"code": 409, "reason": "Conflict", "message": "pod is being deleted, cannot be assigned to a host"}
    kube.fault({"subresource": "binding"}, skip=2, status=conflict)
    work = gang(server, "work", 3)
    server.wait_for("why", lambda: any("cannot be assigned" in e["message"] for e in events_of(server, work)))
    first = {json.loads(r["body"])["metadata"]["uid"] for r in kube.requests("POST", "/binding")}
    server.wait_phase(work, "Running", seconds=60)
    pods = [pod["metadata"]["uid"] for pod in kube.live_pods().values()]
    assert len(first) == len(pods) == 3 and not first & set(pods), "all three were undone"
