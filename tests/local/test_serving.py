"""Inferences on this machine: replicas behind one address, as many as their own metrics ask for."""

import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from pods import log_of, supervisors_of
from test_strays import adopt, copy_database, put_back, strays

MODEL = pathlib.Path(__file__).with_name("model_server.py")
FAST = ("--inference-interval", "0.1")


@pytest.fixture
def script(folder):
    folder.chmod(0o755)
    copy = folder / "model.py"
    copy.write_bytes(MODEL.read_bytes())
    copy.chmod(0o644)
    return copy


def folder_of(script):
    return pathlib.Path(script).parent


def submit(server, name, script, page="", scaling=None, gpus=0, **spec):
    return server.submit(
        name,
        "team-a",
        gpus,
        "inferences",
        {
            "command": "/usr/bin/python3",
            "args": f"{script} {page}",
            "workingDir": str(folder_of(script)),
            **({"autoscaling": scaling} if scaling else {}),
            **spec,
        },
    )


def scaling(least, most, metric="queue_depth", threshold=10, **more):
    return {
        "minReplicas": least,
        "maxReplicas": most,
        "metric": metric,
        "metricThreshold": threshold,
        "metricThresholdPercentage": 100,
        **more,
    }


def call(url, timeout=60):
    with urllib.request.urlopen(url, timeout=timeout) as answer:
        return answer.read().decode()


def answers(url):
    try:
        return call(url)
    except OSError:
        return None


def running(server, workload_id):
    return server.workload(workload_id)["runningPods"]


def events(server, workload_id, reason):
    rows = server.get(f"/api/v1/workloads/{workload_id}/events?limit=200").json["events"]
    return [row["message"] for row in rows if row["reason"] == reason]


def test_replicas_answer_at_one_address_and_outlive_the_server(start, script):
    server = start()
    workload_id = submit(server, "web", script, scaling={"minReplicas": 2, "maxReplicas": 2})
    server.wait_for("both", lambda: running(server, workload_id) == 2)
    (url,) = server.workload(workload_id)["urls"]
    server.wait_for("who answers", lambda: {answers(url) for _ in range(4)} == {"web-0-0", "web-1-0"})
    before = supervisors_of(server)
    server.kill()
    server.start()
    server.wait_for("they answer again", lambda: {answers(url) for _ in range(4)} == {"web-0-0", "web-1-0"})
    assert supervisors_of(server) == before and server.workload(workload_id)["urls"] == [url]
    assert server.delete(f"/api/v1/workloads/inferences/{workload_id}").status == 202
    server.wait_for("nobody answers", lambda: answers(url) is None)


def test_adopted_replicas_answer_at_one_address(start, script):
    """Of an inference that a backup does not know."""
    server = start()
    copy_database(server)
    server.start()
    workload_id = submit(server, "web", script, scaling={"minReplicas": 2, "maxReplicas": 2})
    server.wait_for("both", lambda: running(server, workload_id) == 2)
    put_back(server)
    server.start()
    assert adopt(server, strays(server)[0]["id"]).status == 200
    (url,) = server.workload(workload_id)["urls"]
    server.wait_for("who answers", lambda: {answers(url) for _ in range(4)} == {"web-0-0", "web-1-0"})
    server.kill()
    server.start()
    server.wait_for("they answer again", lambda: {answers(url) for _ in range(4)} == {"web-0-0", "web-1-0"})


@pytest.mark.skipif(os.geteuid() != 0, reason="another user than the pod's is needed")
def test_another_user_who_listens_at_a_replicas_port_gets_no_connection(start, script, folder):
    late = folder / "late.sh"
    late.write_text(f"#!/bin/sh\necho $PORT\nwhile ! [ -e {folder}/go ]; do sleep 0.05; done\nexec python3 {script}\n")
    late.chmod(0o755)
    server = start(*FAST)
    workload_id = submit(
        server, "web", script, scaling={"minReplicas": 1, "maxReplicas": 1}, command=str(late), args="late"
    )
    port = int(server.wait_for("its port", lambda: log_of(server, workload_id).strip()))
    thief = subprocess.Popen(
        [sys.executable, str(script)],
        env={"PORT": str(port), "METRICS_PORT": str(port + 1), "POD_NAME": "thief"},
        user=65533,
        group=65533,
        extra_groups=[],
    )
    try:
        (url,) = server.workload(workload_id)["urls"]
        server.wait_for("the thief listens", lambda: answers(f"http://127.0.0.1:{port}") == "thief")
        with pytest.raises(OSError):
            call(url, timeout=1)
        server.wait_for("the log says so", lambda: f"at port {port} of an inference's replica" in server.tail())
    finally:
        thief.kill()
        thief.wait()
    (folder / "go").touch()
    server.wait_for("the replica answers", lambda: answers(url) == "web-0-0")
    server.kill()
    server.start()
    server.wait_for("it answers again", lambda: answers(url) == "web-0-0")


def test_replicas_follow_the_metric(start, script, folder):
    server = start(*FAST)
    page = folder / "page"
    page.write_text('queue_depth{shard="a"} 25\n')
    workload_id = submit(server, "busy", script, page, scaling(1, 3))
    server.wait_for("three", lambda: running(server, workload_id) == 3)
    assert any("queue_depth is" in message for message in events(server, workload_id, "Scaled"))
    page.write_text("queue_depth 2\n")
    server.wait_for("one", lambda: running(server, workload_id) == 1)
    assert server.workload(workload_id)["requestedPods"] == {"number": 1, "min": 1, "max": 3}
    page.write_text("another 9\n")
    server.wait_for("it says so", lambda: events(server, workload_id, "MetricMissing"))


def figures(server, path):
    """The last value of each type; None as long as one has none."""
    now = time.time()
    at = [time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second)) for second in (now - 60, now + 1)]
    rows = server.get(
        f"/api/v1/workloads/inferences/{path}/metrics?metricType=THROUGHPUT,LATENCY&start={at[0]}&end={at[1]}"
    ).json["measurements"]
    values = {row["type"]: float(row["values"][-1]["value"]) for row in rows if row["values"]}
    return values if len(values) == 2 else None


def test_get_inference_workload_metrics_says_what_pages_say(start, script):
    """The page counts ten a second by its own clock. A look that comes late makes one figure more and the next less, so
    the rate is waited for; the latency is right in each."""
    server = start("--inference-interval", "0.5")
    workload_id = submit(server, "counts", script, "counting")
    server.wait_for("it runs", lambda: running(server, workload_id) == 1)
    pod = server.get(f"/api/v1/workloads/{workload_id}/pods").json["pods"][0]["id"]

    def told():
        found = figures(server, workload_id)
        if not found or not found["LATENCY"]:  # of the time before it ran
            return False
        assert found["LATENCY"] == pytest.approx(250, abs=0.1), found
        return found["THROUGHPUT"] == pytest.approx(10, rel=0.05)

    server.wait_for("ten a second", told, seconds=60)
    assert server.wait_for("the replica's", lambda: figures(server, f"{workload_id}/pods/{pod}"))


@pytest.mark.parametrize("page", ["endless", "huge", "silent"])
def test_a_hostile_page_holds_up_nobody(start, script, page, folder):
    server = start(*FAST)
    hostile = submit(server, "hostile", script, page, scaling(1, 3))
    good = folder / "page"
    good.write_text("queue_depth 25\n")
    other = submit(server, "other", script, good, scaling(1, 3))
    server.wait_for("three", lambda: running(server, other) == 3, seconds=60)
    assert running(server, hostile) == 1
    server.wait_for("it says so", lambda: events(server, hostile, "MetricMissing"), seconds=60)


def test_no_replica_while_nobody_calls(start, script):
    server = start(*FAST)
    workload_id = submit(server, "rare", script, scaling={"minReplicas": 0, "maxReplicas": 1})
    server.wait_phase(workload_id, "Running")
    (url,) = server.workload(workload_id)["urls"]
    server.wait_for("none", lambda: running(server, workload_id) == 0 and not supervisors_of(server))
    assert server.workload(workload_id)["phase"] == "Running"
    assert call(url) == "rare-1-0"
    server.wait_for("none again", lambda: running(server, workload_id) == 0 and not supervisors_of(server))
    server.kill()
    server.start()
    assert call(url) == "rare-2-0"
    kept, got = threading.Event(), []

    def hold():
        request = urllib.request.urlopen(url, timeout=60)
        got.append(request.read())
        kept.wait(20)

    holder = threading.Thread(target=hold)
    holder.start()
    kept.set()
    holder.join()
    assert got


def test_a_caller_waits_no_longer_than_is_said(start, script):
    server = start(*FAST)
    workload_id = submit(
        server,
        "broken",
        "/nowhere.py",
        scaling={"minReplicas": 0, "maxReplicas": 1, "initialReplicas": 0},
        servingConfiguration={"initializationTimeoutSeconds": 1},
    )
    server.wait_phase(workload_id, "Running")
    (url,) = server.workload(workload_id)["urls"]
    begun = time.monotonic()
    with pytest.raises(ConnectionError):  # it is the server that gives up, not our own timeout
        call(url)
    assert time.monotonic() - begun > 0.5


def test_an_inference_that_asks_who_calls_is_refused(local):
    answer = local.post(
        "/api/v1/workloads/inferences",
        {
            "name": "closed",
            "projectId": local.project_id("team-a"),
            "clusterId": local.cluster_id(),
            "spec": {"image": "none", "servingPort": {"authorizationType": "authenticatedUsers"}},
        },
    )
    assert answer.status == 400 and answer.json["message"].startswith("spec.servingPort.authorizationType: "), answer
