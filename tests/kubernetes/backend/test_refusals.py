"""What the cluster refuses or changes: the reason is on the workload, and nothing is left behind."""

import pytest
from kube_workloads import events_of, life

CREATE = {"verb": "create", "resource": "pods", "subresource": ""}
LARGER = {"name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}, "requests": {"cpu": "8"}}}


def wait_for_event(server, workload, text):
    server.wait_for(text, lambda: any(text in e["message"] for e in events_of(server, workload)))


def test_an_exceeded_quota_is_told_and_tried_again(server, kube):
    kube.fault(CREATE, status={"code": 403, "reason": "Forbidden", "message": "exceeded quota: gpus, used 8"})
    work = server.submit("work", "team-a")
    wait_for_event(server, work, "exceeded quota: gpus")
    server.wait_phase(work, "Running")


def test_what_can_never_be_made_fails_its_workload(server, kube):
    kube.fault(CREATE, times=0, status={"code": 422, "reason": "Invalid", "message": "spec.containers: too odd"})
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Failed")
    wait_for_event(server, work, "too odd")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"spec": {"schedulerName": "kai-scheduler"}}, "kai-scheduler"),
        ({"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}}, "scheduling gate"),
        ({"spec": {"containers": [LARGER]}}, "more than was planned"),
    ],
)
def test_a_pod_that_admission_gives_to_others_is_not_bound(server, kube, change, word):
    kube.fault(CREATE, skip=1, mutate=change)  # the first one finds no namespace
    work = server.submit("work", "team-a")
    wait_for_event(server, work, word)
    server.wait_for("it is gone", lambda: not kube.pods())
    assert not kube.requests("POST", "/binding")
    server.wait_phase(work, "Running")


@pytest.mark.parametrize("grace", ["", "?gracePeriodSeconds=0"])
def test_a_pod_deleted_by_somebody_is_started_again(server, kube, grace):
    work = server.submit("work", "team-a", spec={"backoffLimit": 0})
    server.wait_phase(work, "Running")
    (name,) = kube.pods()
    kube.ask("DELETE", f"/api/v1/namespaces/runai-team-a/pods/{name}{grace}")
    server.wait_for("another pod", lambda: set(kube.live_pods()) - {name}, seconds=60)
    wait_for_event(server, work, name)


def test_an_evicted_pod_is_started_again(server, kube):
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    (name,) = kube.pods()
    status = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on memory."}
    kube.patch(f"/api/v1/namespaces/runai-team-a/pods/{name}", {"status": status}, "/status")
    server.wait_for("another pod", lambda: set(kube.live_pods()) - {name}, seconds=60)
    wait_for_event(server, work, "low on memory")


def test_a_label_that_somebody_takes_off_comes_back(server, kube):
    work = server.submit("work", "team-a", spec=life(stop_delay="100ms"))
    server.wait_phase(work, "Running")
    (name,) = kube.pods()
    path = f"/api/v1/namespaces/runai-team-a/pods/{name}"
    kube.patch(path, {"metadata": {"labels": {"prorata.io/instance": None}}})
    server.wait_for("the label", lambda: name in kube.pods())
    assert server.workload(work)["phase"] == "Running"
    server.delete(f"/api/v1/workloads/trainings/{work}")
    server.wait_for("it is gone", lambda: kube.ask("GET", path).code == 404)


def test_a_pod_that_ends_without_our_label_holds_its_devices(server, kube):
    """To a watch it looks as if it were gone."""
    ends = server.submit("ends", "team-a", 4, spec=life(stop_delay="4s"))
    server.wait_phase(ends, "Running")
    (name,) = kube.pods()
    path = f"/api/v1/namespaces/runai-team-a/pods/{name}"
    server.delete(f"/api/v1/workloads/trainings/{ends}")
    server.wait_for("it ends", lambda: kube.ask("GET", path).json["metadata"].get("deletionTimestamp"))
    kube.patch(path, {"metadata": {"labels": {"prorata.io/instance": None}}})
    server.wait_for("it is gone for us", lambda: not server.get("/api/v1/workloads").json["workloads"])
    assert kube.ask("GET", path).code == 404, "its devices are given away before it is gone"


def test_an_image_that_cannot_be_pulled_is_told(server, kube):
    work = server.submit("work", "team-a", spec=life(start_after="60s"))
    server.wait_for("its pod", lambda: any(p["spec"].get("nodeName") for p in kube.pods().values()))
    (name,) = kube.pods()
    waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image x"}
    status = {"containerStatuses": [{"name": "main", "state": {"waiting": waiting}, "ready": False, "restartCount": 0}]}
    kube.patch(f"/api/v1/namespaces/runai-team-a/pods/{name}", {"status": status}, "/status")
    wait_for_event(server, work, "Back-off pulling image")


def test_a_cluster_that_does_not_answer_is_waited_for(server, kube):
    kube.fault({"path": "/api*"}, times=0, reset=True)
    work = server.submit("work", "team-a")
    server.wait_for("it is planned", lambda: server.workload(work)["phase"] != "Creating")
    assert server.get("/api/v1/workloads").status == 200
    kube.control("DELETE", "faults")
    server.wait_phase(work, "Running", seconds=60)
    assert len(kube.pods()) == 1
    assert len(events_of(server, work)) < 12, "it tells of it once, not with each try"


def problem_of(server):
    (part,) = [part for part in server.get("/api/v1/about").json["parts"] if part["name"] == "Backend"]
    return part["problem"] or ""


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"delayMs": 10000}, id="it answers after ten seconds"),
        pytest.param({"status": {"code": 401, "reason": "Unauthorized", "message": "expired"}}, id="no credentials"),
        pytest.param({"cutAfterBytes": 20}, id="answers are cut"),
    ],
)
def test_a_cluster_that_answers_badly_is_told_of_and_waited_for(server, kube, fault):
    """Nothing is lost meanwhile, and no start is needed afterwards."""
    kube.fault({"path": "/api*"}, times=0, **fault)
    for resource in ("pods", "nodes"):
        kube.control("POST", "watches", {"resource": resource, "how": "close"})
    work = server.submit("work", "team-a")
    server.wait_for("what is wrong", lambda: problem_of(server), seconds=60)
    assert server.workload(work)["phase"] != "Running"
    kube.control("DELETE", "faults")
    server.wait_phase(work, "Running", seconds=60)
    server.wait_for("all is well", lambda: not problem_of(server), seconds=60)
    assert len(kube.pods()) == 1


def test_a_pod_that_has_ended_holds_nothing_though_a_finalizer_keeps_its_object(server, kube):
    works = [server.submit(f"w{i}", "team-a", 4) for i in range(2)]
    for work in works:
        server.wait_phase(work, "Running")
    for name in kube.pods():
        path = f"/api/v1/namespaces/runai-team-a/pods/{name}"
        kube.patch(path, {"metadata": {"finalizers": ["example.com/keeps"]}})
    server.post(f"/api/v1/workloads/trainings/{works[0]}/suspend")
    server.wait_phase(works[0], "Stopped")
    server.wait_phase(server.submit("next", "team-b", 4), "Running")
    assert len(kube.pods()) == 3, "the object is still there"
    assert not any(p["status"].get("reason", "").startswith("OutOf") for p in kube.pods().values())


def test_warnings_of_the_cluster_are_told_once(server, kube):
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    (pod,) = kube.pods().values()
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "work.1", "namespace": "runai-team-a"},
        "involvedObject": {
            "kind": "Pod",
            "namespace": "runai-team-a",
            "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"],
        },
        "type": "Warning",
        "reason": "FailedMount",
        "message": "MountVolume.SetUp failed for volume x",
    }
    path = "/api/v1/namespaces/runai-team-a/events"
    assert kube.ask("POST", path, event).code == 201
    wait_for_event(server, work, "MountVolume.SetUp failed")
    kube.patch(f"{path}/work.1", {"count": 7})
    assert kube.ask("POST", path, event | {"metadata": {"name": "work.2"}, "message": "another"}).code == 201
    wait_for_event(server, work, "another")
    assert sum("MountVolume.SetUp failed" in e["message"] for e in events_of(server, work)) == 1


def test_a_pod_that_does_not_go_stays_counted(server, kube):
    work = server.submit("work", "team-a", 4, spec=life(stuck="true"))
    other = server.submit("other", "team-a", 4)
    server.wait_phase(work, "Running")
    server.wait_phase(other, "Running")
    server.post(f"/api/v1/workloads/trainings/{work}/suspend")
    waiting = server.submit("waiting", "team-b", 4)
    server.wait_for("the deletion", lambda: kube.requests("DELETE", "/pods/"))
    server.wait_for("it is taken from another", lambda: server.workload(waiting)["phase"] != "Creating")
    assert server.workload(work)["phase"] == "Stopping"
    assert len(kube.requests("POST", "/binding")) <= 3
    assert not any(p["status"].get("reason", "").startswith("OutOf") for p in kube.pods().values())


def test_a_namespace_without_its_account_yet_is_waited_for(server, kube):
    message = 'pods "x" is forbidden: error looking up service account runai-team-a/default: not found'
    kube.fault(CREATE, times=2, skip=1, status={"code": 403, "reason": "Forbidden", "message": message})
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    assert not any("forbidden" in event["message"] for event in events_of(server, work))


def test_a_budget_holds_work_that_gives_way_until_it_allows_it(make_server, kube):
    """And work that its owner stops is held by nothing."""
    flags = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start", "--kube-respect-budgets"]
    server = make_server(*flags)
    works = [server.submit(f"w{i}", "team-a", 4) for i in range(2)]
    for work in works:
        server.wait_phase(work, "Running")
    path = "/apis/policy/v1/namespaces/runai-team-a/poddisruptionbudgets"
    budget = {
        "metadata": {"name": "all-stay"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"prorata.io/project": "team-a"}}},
    }
    assert kube.ask("POST", path, budget).code == 201
    other = server.submit("other", "team-b", 2)
    server.wait_for(
        "the budget is named",
        lambda: any("PodDisruptionBudget" in e["message"] for work in works for e in events_of(server, work)),
    )
    assert len(kube.live_pods()) == 2 and server.workload(other)["phase"] == "Pending"
    assert kube.ask("DELETE", f"{path}/all-stay").code == 200
    server.wait_phase(other, "Running", seconds=60)
    assert kube.ask("POST", path, budget).code == 201
    running = next(work for work in works if server.workload(work)["phase"] == "Running")
    server.post(f"/api/v1/workloads/trainings/{running}/suspend")
    server.wait_phase(running, "Stopped")
    kube.ask("DELETE", f"{path}/all-stay")
