"""A training becomes a Pod: created, bound to the planned node, run, ended; and its GPUs are free when it is gone."""

import datetime
import time
import uuid

import pytest
from kube_workloads import end_pods, events_of, gang, life, nodes_of


def test_nodes_of_the_cluster_are_the_nodes_of_the_server(server):
    nodes = nodes_of(server)
    assert sorted(nodes) == ["node-00000", "node-00001"]
    assert {node["status"] for node in nodes.values()} == {"Ready"}
    assert {node["gpuInfo"]["gpuCount"] for node in nodes.values()} == {4}


def test_a_training_runs_and_completes(server, kube):
    first = server.submit("first", "team-a", 2, spec=life(ends_after="300ms"))
    server.wait_phase(first, "Completed")
    (pod,) = kube.pods().values()
    assert pod["metadata"]["namespace"] == "runai-team-a"
    assert pod["spec"]["schedulerName"] == "prorata"
    assert pod["spec"]["nodeName"].startswith("node-0000")
    assert pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "2"
    assert len(kube.requests("POST", "/binding")) == 1


def test_a_training_that_fails_is_tried_again(server, kube):
    bad = server.submit("bad", "team-a", spec={"backoffLimit": 0, **life(ends_after="100ms", exit_code=3)})
    server.wait_phase(bad, "Failed")
    assert any("exit code 3" in event["message"] for event in events_of(server, bad))


def test_suspending_and_deleting_end_the_pod(server, kube):
    first = server.submit("first", "team-a", 4)
    server.wait_phase(first, "Running")
    assert len(kube.live_pods()) == 1
    server.post(f"/api/v1/workloads/trainings/{first}/suspend")
    server.wait_phase(first, "Stopped")
    assert not kube.live_pods()
    server.post(f"/api/v1/workloads/trainings/{first}/resume")
    server.wait_phase(first, "Running")
    assert len(kube.live_pods()) == 1
    server.delete(f"/api/v1/workloads/trainings/{first}")
    server.wait_for("no pods", lambda: not kube.pods())


def test_gpus_are_free_only_when_the_pod_is_gone(server, kube):
    slow = server.submit("slow", "team-a", 4, spec=life(stop_delay="2s"))
    other = server.submit("other", "team-a", 4)
    server.wait_phase(slow, "Running")
    server.wait_phase(other, "Running")
    server.delete(f"/api/v1/workloads/trainings/{slow}")
    third = server.submit("third", "team-b", 4)
    server.wait_phase(third, "Running")
    on = [pod["spec"]["nodeName"] for pod in kube.live_pods().values()]
    assert sorted(on) == ["node-00000", "node-00001"]
    assert not any(pod["status"].get("reason", "").startswith("OutOf") for pod in kube.pods().values())


def test_the_log_of_a_pod_is_read_while_it_runs_and_after_it_has_ended(server, kube):
    kube.needs_kubelet()
    work = server.submit("work", "team-a", spec=life(log="one\\ntwo", ends_after="1s"))
    server.wait_for("its log", lambda: "one" in server.get(f"/api/v1/workloads/{work}/logs").body.decode())
    server.wait_phase(work, "Completed")
    assert "two" in server.get(f"/api/v1/workloads/{work}/logs").body.decode()


def test_a_specification_that_no_pod_can_have_is_refused_at_once(server):
    spec = {"image": "i", "compute": {"gpuPortionRequest": 0.5, "gpuRequestType": "portion", "gpuDevicesRequest": 1}}
    body = {"name": "half", "projectId": server.project_id("team-a"), "clusterId": server.cluster_id(), "spec": spec}
    answer = server.post("/api/v1/workloads/trainings", body)
    assert answer.status == 400, answer


def test_a_finished_pod_goes_from_the_cluster_after_its_time(make_server, kube):
    server = make_server(
        "--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start", "--kube-finished", "0.001"
    )
    work = server.submit("work", "team-a", spec=life(ends_after="100ms"))
    server.wait_phase(work, "Completed")
    server.wait_for("its pod is gone", lambda: not kube.pods(), seconds=60)
    assert server.workload(work)["phase"] == "Completed"


def test_what_ended_while_the_server_was_down_is_known_before_it_goes(make_server, kube):
    flags = ["--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start", "--kube-finished", "0.001"]
    server = make_server(*flags)
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    server.kill()
    end_pods(kube, "work")
    time.sleep(4)  # longer than finished pods are kept
    server.start()
    server.wait_phase(work, "Completed")
    assert len(kube.requests("POST", "/binding")) == 1, "it ran once"


def test_a_pod_made_by_an_order_that_came_too_late_goes(server, kube):
    """Its row had ended by then: no node is given to it, and nobody asks for it."""
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    ((_, pod),) = kube.pods().items()
    for name, row in (("late", str(uuid.uuid4())), ("foreign", None)):
        copy = {"metadata": {"name": name, "labels": pod["metadata"]["labels"], "annotations": {}}, "spec": pod["spec"]}
        copy["spec"] = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        if row:
            copy["metadata"]["annotations"]["prorata.io/pod-id"] = row
        answer = kube.ask("POST", f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods", copy)
        assert answer.code == 201, answer
    server.wait_for("it is gone", lambda: "late" not in kube.pods(), seconds=20)
    assert {"foreign", pod["metadata"]["name"]} <= set(kube.pods()), "what does not say whose it is stays"
    assert server.workload(work)["phase"] == "Running"


def test_a_workload_of_the_same_name_loses_nothing_to_the_one_before(server, kube):
    """What is left of the first is deleted late: its pod's name is the second's by then."""
    kube.settings(removeMs=300)
    first = server.submit("same", "team-a")
    server.wait_phase(first, "Running")
    kube.fault({"verb": "delete", "resource": "pods"}, times=0, skip=1, delayMs=3000)
    server.delete(f"/api/v1/workloads/trainings/{first}")
    server.wait_for("it is gone", lambda: not server.get("/api/v1/workloads").json["workloads"])
    second = server.submit("same", "team-a")
    server.wait_phase(second, "Running")
    (pod,) = kube.live_pods().values()
    assert len(kube.requests("DELETE", "/pods")) == 2
    time.sleep(3)  # the second is done by then
    assert [p["metadata"]["uid"] for p in kube.live_pods().values()] == [pod["metadata"]["uid"]]
    assert server.workload(second)["phase"] == "Running"


def test_a_gang_of_the_same_name_has_a_service_of_its_own(server, kube):
    def selector():
        return kube.ask("GET", "/api/v1/namespaces/runai-team-a/services/same").json["spec"]["selector"]

    first = gang(server, "same", 2)
    server.wait_phase(first, "Running")
    before = selector()
    kube.fault({"verb": "delete", "resource": "services"}, times=0, delayMs=1500)
    server.delete(f"/api/v1/workloads/distributed/{first}")
    server.wait_for("it is gone", lambda: not server.get("/api/v1/workloads").json["workloads"])
    second = gang(server, "same", 2)
    server.wait_phase(second, "Running")
    time.sleep(2)
    assert selector() != before and second in selector().values()


def written(kube, name):
    """Events about a pod that we wrote: reason and message."""
    items = kube.ask("GET", "/api/v1/namespaces/runai-team-a/events").json["items"]
    return {
        item["reason"]: item["message"]
        for item in items
        if item["involvedObject"]["name"].startswith(name) and item["reportingComponent"] == "prorata"
    }


def test_the_cluster_is_told_what_was_done_with_a_pod(server, kube):
    """And no name of another project's workload."""
    work = server.submit("work", "team-a", 4)
    more = server.submit("more", "team-a", 4)
    server.wait_phase(work, "Running")
    server.wait_phase(more, "Running")
    (place,) = {pod["spec"]["nodeName"] for name, pod in kube.pods().items() if name.startswith("work")}
    server.wait_for("where it is bound", lambda: written(kube, "work").get("Scheduled", "").endswith(f" to {place}"))
    for name in ("secret-1", "secret-2"):
        server.wait_phase(server.submit(name, "team-b", 1), "Running")
    server.wait_for("why it stopped", lambda: {**written(kube, "more"), **written(kube, "work")}.get("Preempted"))
    assert "secret" not in str(written(kube, "more")) + str(written(kube, "work"))


def test_a_pod_that_gives_way_says_so_to_whoever_watches_it(server, kube):
    kube.settings(stopMs=2000)
    for name in ("one", "two"):
        server.wait_phase(server.submit(name, "team-a", 4), "Running")
    server.submit("owed", "team-b", 1)

    def targets():
        conditions = [c for pod in kube.pods().values() for c in pod["status"].get("conditions", [])]
        return [(c["status"], c["reason"]) for c in conditions if c["type"] == "DisruptionTarget"]

    server.wait_for("the condition", lambda: targets() == [("True", "PreemptionByScheduler")])


def test_events_that_nobody_takes_hold_nothing_up(make_server, kube):
    kube.fault({"verb": "create", "resource": "events"}, times=0, hang=True)
    server = make_server("--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start")
    made = [server.submit(f"w{i}", "team-a", 1, spec=life(ends_after="200ms")) for i in range(30)]
    for workload in made:
        server.wait_phase(workload, "Completed", seconds=60)
    assert kube.requests("POST", "/events"), "some are on their way"
    kube.control("DELETE", "faults")


def test_a_namespace_that_somebody_deletes_is_made_again(server, kube):
    """While it goes it takes no pods, and the workload says so."""
    work = server.submit("work", "team-a")
    server.wait_phase(work, "Running")
    path = "/api/v1/namespaces/runai-team-a"
    assert kube.ask("DELETE", path).code == 200
    for name in kube.pods():
        kube.ask("DELETE", f"{path}/pods/{name}?gracePeriodSeconds=0")
    server.wait_for("why", lambda: any("terminated" in e["message"] for e in events_of(server, work)))
    kube.ask("PUT", f"{path}/finalize", {"metadata": {"name": "runai-team-a"}, "spec": {"finalizers": []}})
    server.wait_phase(work, "Running", seconds=60)


@pytest.mark.parametrize("ahead_ms", [3600_000, -3600_000])
def test_a_cluster_whose_clock_is_an_hour_off_tells_sane_times(server, kube, ahead_ms):
    """Times are the cluster's; none of them lies in the future, and no pod ends before it began."""
    kube.settings(clockMs=ahead_ms)
    work = server.submit("work", "team-a", spec=life(ends_after="300ms"))
    server.wait_phase(work, "Completed")
    told = server.workload(work)
    began, ended = (datetime.datetime.fromisoformat(told[key]) for key in ("createdAt", "completedAt"))
    assert began <= ended <= datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=5), told
    assert 0 <= told["totalRunningTimeSeconds"] < 60 and 0 <= told["totalPendingTimeSeconds"] < 60, told
    server.wait_phase(server.submit("next", "team-a", 4), "Running")
