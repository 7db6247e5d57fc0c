"""Pods of a gang are all created before any is bound; where one cannot be made, none stays."""

from kube_workloads import events_of, gang


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
