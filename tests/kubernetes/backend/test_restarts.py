"""A server that is killed at any step: each pod exists once, on the planned node, and nothing is lost."""

import pytest
from kube_workloads import gang, life

CREATE = {"verb": "create", "resource": "pods", "subresource": ""}
BIND = {"subresource": "binding"}


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


def test_what_runs_goes_on_and_what_ended_meanwhile_is_known(server, kube):
    lasting = server.submit("lasting", "team-a")
    short = server.submit("short", "team-b", spec=life(ends_after="1s"))
    server.wait_phase(lasting, "Running")
    server.wait_phase(short, "Running")
    before = set(kube.pods())
    server.kill()
    while any(p["status"]["phase"] == "Running" and n.startswith("short") for n, p in kube.pods().items()):
        pass
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
