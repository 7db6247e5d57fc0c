"""A server that is killed at any step: each pod exists once, on the planned node, and nothing is lost."""

import contextlib
import sqlite3

import pytest
from kube_workloads import end_pods, gang, life

CREATE = {"verb": "create", "resource": "pods", "subresource": ""}
BIND = {"subresource": "binding"}
STRAY = "00000000-0000-4000-8000-000000000001"


def once_each(kube):
    """The pods of ours; none was made twice, for no two have one row."""
    pods = kube.pods()
    rows = [pod["metadata"]["annotations"]["prorata.io/pod-id"] for pod in pods.values()]
    assert len(rows) == len(set(rows))
    return pods


@pytest.mark.parametrize(
    ("match", "skip", "fault"),
    [
        pytest.param(CREATE, 0, {"hang": True}, id="before the first create"),
        pytest.param(CREATE, 1, {"hang": True}, id="between creates"),
        pytest.param(CREATE, 0, {"answerFirst": 700}, id="while a create is under way"),
        pytest.param(BIND, 0, {"hang": True}, id="between creates and bindings"),
        pytest.param(BIND, 1, {"hang": True}, id="between bindings"),
        pytest.param(BIND, 0, {"delayMs": 700}, id="before a binding's answer"),
    ],
)
def test_killed_while_a_gang_starts(server, kube, match, skip, fault):
    kube.fault(match, times=0, skip=skip, **fault)
    work = gang(server, "work", 3)
    what = "/binding" if match is BIND else "/pods"
    server.wait_for("the step", lambda: len(kube.requests("POST", what)) > skip)
    server.kill()
    kube.control("DELETE", "faults")
    server.start()
    server.wait_phase(work, "Running")
    pods = once_each(kube)
    assert {pod["status"]["phase"] for pod in pods.values()} == {"Running"}
    by_node = {}
    for pod in pods.values():
        by_node[pod["spec"]["nodeName"]] = by_node.get(pod["spec"]["nodeName"], 0) + 1
    assert max(by_node.values()) <= 4


@contextlib.contextmanager
def no_writes(server):
    """The database takes none meanwhile: what the server decides waits, and it hears the cluster all the same."""
    with contextlib.closing(sqlite3.connect(f"{server.data}/prorata.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def test_a_pod_deleted_just_before_it_is_ordered_again_runs_once(server, kube):
    """It has no node when the server is killed; somebody deletes it while the order to bind it is being written."""
    kube.fault(BIND, times=0, hang=True)
    work = server.submit("work", "team-a", 4)
    server.wait_for("the binding", lambda: kube.requests("POST", "/binding"))
    server.kill()
    kube.control("DELETE", "faults")
    ((name, pod),) = kube.pods().items()
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{name}"
    kube.fault({"verb": "list", "resource": "pods"}, times=0, hang=True)
    server.start()
    with no_writes(server):
        kube.control("DELETE", "faults")
        server.wait_for("it compares", lambda: "compared pods with the cluster" in server.log.read_text())
        assert kube.ask("DELETE", path).code == 200
        heard = 'kubernetes_objects{of="pods"} 0'
        server.wait_for("it hears of that", lambda: heard in server.get("/metrics").body.decode())
    server.wait_phase(work, "Running")
    assert set(kube.live_pods()) == {name}, "it is made again, and nothing else beside it"


def test_a_label_that_somebody_took_off_meanwhile_costs_nothing(server, kube):
    work = server.submit("work", "team-a", 4)
    server.wait_phase(work, "Running")
    ((name, pod),) = kube.pods().items()
    server.kill()
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{name}"
    kube.patch(path, {"metadata": {"labels": {"prorata.io/instance": None}}})
    assert not kube.pods()
    server.start()
    server.wait_for("its label", lambda: name in kube.pods())
    server.wait_phase(server.submit("next", "team-a", 4), "Running")
    assert server.workload(work)["phase"] == "Running"
    assert {pod["status"]["phase"] for pod in kube.pods().values()} == {"Running"}
    places = [pod["spec"]["nodeName"] for pod in kube.pods().values()]
    assert len(set(places)) == len(places) == 2, "no node has both"


def test_a_label_that_somebody_took_off_unseen_costs_nothing(server, kube):
    """The watch is down meanwhile, and its versions are too old after: a new list does not have the pod."""
    work = server.submit("work", "team-a", 4)
    server.wait_phase(work, "Running")
    ((name, pod),) = kube.pods().items()
    kube.fault({"verb": "watch", "resource": "pods"}, times=0, status={"code": 500, "reason": "InternalError"})
    kube.control("POST", "watches", {"resource": "pods", "how": "close"})
    server.wait_for("it is down", lambda: 'watch_up{of="pods"} 0' in server.get("/metrics").body.decode())
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{name}"
    kube.patch(path, {"metadata": {"labels": {"prorata.io/instance": None}}})
    kube.control("POST", "compact")
    kube.control("DELETE", "faults")
    server.wait_for("its label", lambda: name in kube.pods(), seconds=60)
    assert server.workload(work)["phase"] == "Running"
    assert len(kube.requests("POST", "/binding")) == 1, "it is not started again"


def test_a_pod_that_came_and_went_while_nobody_watched_is_gone(server, kube):
    """Neither the list before nor the one after has it, and no event tells of it."""
    kube.fault({"verb": "watch", "resource": "pods"}, times=0, status={"code": 500, "reason": "InternalError"})
    kube.control("POST", "watches", {"resource": "pods", "how": "close"})
    server.wait_for("it is down", lambda: 'watch_up{of="pods"} 0' in server.get("/metrics").body.decode())
    work = server.submit("work", "team-a", 4)
    server.wait_for("its pod", lambda: kube.live_pods())
    server.delete(f"/api/v1/workloads/trainings/{work}")
    server.wait_for("its pod is gone", lambda: not kube.pods())
    kube.control("POST", "compact")
    kube.control("DELETE", "faults")
    server.wait_for("it is gone", lambda: not server.get("/api/v1/workloads").json["workloads"], seconds=60)


def test_what_runs_goes_on_and_what_ended_meanwhile_is_known(server, kube):
    lasting = server.submit("lasting", "team-a")
    short = server.submit("short", "team-b")
    server.wait_phase(lasting, "Running")
    server.wait_phase(short, "Running")
    before = set(kube.pods())
    server.kill()
    end_pods(kube, "short")
    server.start()
    server.wait_phase(short, "Completed")
    server.wait_phase(lasting, "Running")
    assert set(kube.pods()) == before


def test_a_pod_that_was_deleted_while_the_server_was_down_is_started_again(server, kube):
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    (name,) = kube.pods()
    server.kill()
    assert kube.ask("DELETE", f"/api/v1/namespaces/runai-team-a/pods/{name}?gracePeriodSeconds=0").code == 200
    server.start()
    server.wait_for("another pod", lambda: set(kube.live_pods()) - {name}, seconds=60)
    server.wait_phase(work, "Running")


def test_a_workload_that_is_stopping_is_stopped_after_a_restart(server, kube):
    work = server.submit("work", "team-a", 4, spec=life(stop_delay="1s"))
    server.wait_phase(work, "Running")
    server.post(f"/api/v1/workloads/trainings/{work}/suspend")
    server.kill()
    server.start()
    server.wait_phase(work, "Stopped")
    assert not kube.live_pods()


def test_a_service_of_a_workload_that_was_deleted_meanwhile_goes(server, kube):
    """The server is killed after the workload's end and before the deletion; a stray's service stays."""
    services = "/api/v1/namespaces/runai-team-a/services"

    def names():
        return {item["metadata"]["name"] for item in kube.ask("GET", services).json["items"]}

    works = {name: gang(server, name, 2) for name in ("gone", "stays")}
    for work in works.values():
        server.wait_phase(work, "Running")
    kube.fault({"path": "/api/v1/services*"}, times=0, hang=True)
    server.delete(f"/api/v1/workloads/distributed/{works['gone']}")
    server.wait_for("it is gone", lambda: len(server.get("/api/v1/workloads").json["workloads"]) == 1)
    assert names() == {"gone", "stays"}
    server.kill()
    kube.control("DELETE", "faults")
    (pod, *_) = (name for name in kube.pods() if name.startswith("stays"))
    meta = kube.pods()[pod]["metadata"]
    foreign = {"metadata": {"name": "foreign", "labels": {"app": "x"}}, "spec": {"ports": [{"port": 80}]}}
    stray = {"metadata": {"name": "stray", "labels": {**meta["labels"], "prorata.io/workload": STRAY}},
             "spec": {"containers": [{"name": "main", "image": "i"}], "nodeName": "node-00000"}}  # fmt: skip
    of_stray = {**foreign, "metadata": {"name": "stray", "labels": stray["metadata"]["labels"]}}
    for path, body in ((services, foreign), (services.replace("services", "pods"), stray), (services, of_stray)):
        assert kube.ask("POST", path, body).code == 201
    server.start()
    server.wait_for("the service goes", lambda: "gone" not in names(), seconds=60)
    assert names() == {"stays", "foreign", "stray"}
