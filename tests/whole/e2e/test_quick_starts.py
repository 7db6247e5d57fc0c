"""The public quick starts, by curl's means: plain HTTP against a real server on a simulated cluster of 2 nodes x 2
GPUs."""

import itertools
import os
import pty
import re
import subprocess
import termios

import pytest
from servers import PASSWORD, PRORATA


def running(server):
    workloads = server.get("/api/v1/workloads", limit=500).json["workloads"]
    return {w["name"] for w in workloads if w["phase"] == "Running"}


def phases(server):
    return {w["name"]: w["phase"] for w in server.get("/api/v1/workloads", limit=500).json["workloads"]}


def wait_running(server, *names):
    server.wait_for(f"exactly {names} run", lambda: running(server) == set(names))


def reasons(server, workload_id):
    return [e["reason"] for e in server.get(f"/api/v1/workloads/{workload_id}/events", limit=500).json["events"]]


def start_over_quota(server):
    ids = {"a1": server.submit("a1", "team-a", gpus=1)}
    ids["a2"] = server.submit("a2", "team-a", gpus=2)
    ids["b1"] = server.submit("b1", "team-b", gpus=1)
    wait_running(server, "a1", "a2", "b1")
    return ids


def quota_status(server, project):
    return server.get("/api/v1/org-unit/projects", filterBy=f"name=={project}").json["projects"][0]["status"][
        "quotaStatus"
    ]


def test_over_quota_and_reclaim(server):
    ids = start_over_quota(server)
    server.wait_for("team-a is over its quota by one", lambda: quota_status(server, "team-a")["allocated"]["gpu"] == 3)
    assert quota_status(server, "team-b")["allocated"]["gpu"] == 1

    ids["b2"] = server.submit("b2", "team-b", gpus=1)
    wait_running(server, "a2", "b1", "b2")
    assert server.wait_phase(ids["a1"], "Pending")
    assert "Preempted" in reasons(server, ids["a1"])
    assert "Preempted" not in reasons(server, ids["a2"])
    event = next(
        e for e in server.get(f"/api/v1/workloads/{ids['a1']}/events").json["events"] if e["reason"] == "Preempted"
    )
    assert "b2" in event["message"] and "team-b" in event["message"], event

    explanation = server.wait_for(
        "a1 is explained",
        lambda: (lambda a: a.json if a.status == 200 and a.json.get("sentence") else None)(
            server.get(f"/api/v1/workloads/{ids['a1']}/explanation")
        ),
    )
    assert any(c.isdigit() for c in explanation["sentence"]), explanation

    assert server.delete(f"/api/v1/workloads/trainings/{ids['a2']}").status == 202
    wait_running(server, "a1", "b1", "b2")


ONE_NODE = "nodes:\n  - {name: node-0, gpus: 4}\n"
SLEEPS = {"command": "sleep", "args": "1000"}


def start_one_of_four(make_server, folder):
    (folder / "one.yaml").write_text(ONE_NODE)
    return make_server("--quick-start", "--cluster", str(folder / "one.yaml"))


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(lambda make_server, folder: make_server("--quick-start"), id="two nodes of 2"),
        pytest.param(start_one_of_four, id="one node of 4"),
        pytest.param(
            lambda make_server, folder: make_server("--quick-start", "--backend", "local", "--local-gpus", "4"),
            id="this machine",
        ),
    ],
)
def test_a1_gives_way_whoever_came_first(make_server, folder, start):
    server = start(make_server, folder)
    sizes = {"a1": ("team-a", 1), "a2": ("team-a", 2), "b1": ("team-b", 1), "b2": ("team-b", 1)}
    for order in itertools.permutations(("a1", "a2", "b1")):
        ids = {}
        for name in order:
            ids[name] = server.submit(name, *sizes[name], spec=SLEEPS)
            wait_running(server, *ids)
        ids["b2"] = server.submit("b2", *sizes["b2"], spec=SLEEPS)
        wait_running(server, "a2", "b1", "b2")
        assert phases(server)["a1"] == "Pending", order
        assert "Preempted" in reasons(server, ids["a1"]) and "Preempted" not in reasons(server, ids["a2"]), order
        assert (
            quota_status(server, "team-a")["allocated"]["gpu"]
            == 2
            == quota_status(server, "team-b")["allocated"]["gpu"]
        ), order
        for workload_id in (ids[name] for name in ("a1", "a2", "b1", "b2")):
            assert server.delete(f"/api/v1/workloads/trainings/{workload_id}").status == 202
        server.wait_for("all are gone", lambda: not phases(server))


def test_consolidation_moves_the_single_job(server):
    # Bin-pack fills one node with two jobs; the third stands alone on the other.
    ids = {
        name: server.submit(name, project) for name, project in (("c1", "team-a"), ("c2", "team-a"), ("c3", "team-b"))
    }
    wait_running(server, "c1", "c2", "c3")
    pods = server.get("/api/v1/workloads/pods", limit=100).json["pods"]
    node_of = {p["workloadId"]: p["nodeName"] for p in pods}
    alone = next(n for n in ids if sum(node_of[ids[n]] == node_of[ids[m]] for m in ids) == 1)
    leaves = next(n for n in ids if n != alone)
    assert server.delete(f"/api/v1/workloads/trainings/{ids[leaves]}").status == 202
    server.wait_for("it has left", lambda: leaves not in running(server))
    stays = next(n for n in ids if n not in (alone, leaves))
    server.submit("big", "team-b", gpus=2)
    wait_running(server, "big", alone, stays)


def test_two_of_four_are_taken_back_at_once(server):
    for project in ("team-a", "team-b"):
        unit = server.get("/api/v1/org-unit/projects", filterBy=f"name=={project}").json["projects"][0]
        resources = unit["resources"]
        resources[0]["gpu"]["deserved"] = 1
        answer = server.request("PATCH", f"/api/v1/org-unit/projects/{unit['id']}/resources", resources)
        assert answer.status in (200, 202), answer
    for number in range(1, 5):
        server.submit(f"a{number}", "team-a")
    wait_running(server, "a1", "a2", "a3", "a4")
    ids = {f"b{number}": server.submit(f"b{number}", "team-b") for number in range(1, 5)}
    server.wait_for(
        "two and two",
        lambda: (
            len([n for n in running(server) if n[0] == "a"]) == 2
            and len([n for n in running(server) if n[0] == "b"]) == 2
        ),
    )
    gone = next(n for n in sorted(running(server)) if n[0] == "b")
    server.delete(f"/api/v1/workloads/trainings/{ids[gone]}")
    server.wait_for("a pending one takes its place", lambda: len(running(server)) == 4 and gone not in running(server))


def submit_gang(server, name, project, pods):
    body = {
        "name": name,
        "projectId": server.project_id(project),
        "clusterId": server.cluster_id(),
        "spec": {
            "image": "pytorch",
            "numWorkers": pods,
            "distributedFramework": "PyTorch",
            "compute": {"gpuDevicesRequest": 1},
        },
        "masterSpecSameAsWorker": True,
    }
    answer = server.post("/api/v1/workloads/distributed", body)
    assert answer.status == 202, answer
    return answer.json["workloadId"]


def preemption_exercise(server, training, pod_count):
    server.wait_phase(training, "Running")
    workspace = server.submit("jupyter", "project-b", gpus=1, kind="workspaces")
    server.wait_phase(workspace, "Running")
    server.wait_phase(training, "Pending")
    pods = server.get(f"/api/v1/workloads/{training}/pods", limit=100).json["pods"]
    assert not [p for p in pods if p["k8sPhase"] == "Running"], "the gang stops whole"
    event = next(
        e
        for e in server.get(f"/api/v1/workloads/{training}/events", limit=500).json["events"]
        if e["reason"] == "Preempted"
    )
    assert "jupyter" in event["message"] and "project-b" in event["message"], event
    assert server.delete(f"/api/v1/workloads/workspaces/{workspace}").status == 202
    server.wait_phase(training, "Running")
    assert server.workload(training)["runningPods"] == pod_count
    found = reasons(server, training)
    assert {"Preempted", "Scheduled", "Started"} <= set(found), found


def test_preemption_exercise_with_one_pod(make_server):
    server = make_server("--scenario", "preemption", command="demo")
    preemption_exercise(server, server.submit("large-training-job", "project-a", gpus=8), 1)


def test_preemption_exercise_with_a_gang(make_server):
    server = make_server("--scenario", "preemption", command="demo")
    preemption_exercise(server, submit_gang(server, "large-gang", "project-a", 7), 8)


def run_printed(server, line, home):
    """A line of the greeting in a shell with a terminal, where somebody types the password when they are asked."""
    own, theirs = pty.openpty()
    process = subprocess.Popen(
        ["bash", "-c", line],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "HOME": str(home)},
    )
    if " login user " in line:
        server.wait_for(
            "the question",
            lambda: process.poll() is not None or not termios.tcgetattr(theirs)[3] & termios.ECHO,
        )
        os.write(own, f"{PASSWORD}\n".encode())
    said = process.communicate(timeout=60)[0]
    os.close(own)
    os.close(theirs)
    assert process.returncode == 0, (line, said)
    return said


LOCAL = ("--backend", "local", "--local-images", "ignore")

# What it is called, how the server is started, the project that the commands name, GPUs that a1 gets.
GREETINGS = [
    ("a plain server", "serve", (), "default", 1),
    ("the quick start", "serve", ("--quick-start",), "team-a", 1),
    ("the demo", "demo", (), "team-a", 1),
    ("the preemption exercise", "demo", ("--scenario", "preemption"), "project-a", 1),
    ("this machine", "serve", (*LOCAL, "--local-gpus", "2"), "default", 1),
    ("the quick start on this machine", "serve", (*LOCAL, "--local-gpus", "4", "--quick-start"), "team-a", 1),
    ("this machine without GPUs", "serve", (*LOCAL, "--local-gpus", "0"), "default", 0),
]


@pytest.mark.parametrize("command, flags, project, gpus", [g[1:] for g in GREETINGS], ids=[g[0] for g in GREETINGS])
def test_the_printed_commands_work_as_printed(make_server, folder, command, flags, project, gpus):
    server = make_server(*flags, command=command)
    home = folder / "home"
    home.mkdir()

    def printed():
        return re.findall(r"^  (\S+ (?:config|training|workload) .*)$", server.log.read_text(errors="replace"), re.M)

    lines = server.wait_for("three commands", lambda: printed() if len(printed()) == 3 else None)
    assert all(line.startswith(f"{PRORATA} ") for line in lines) and f" -p {project}" in lines[1], lines
    for line in lines[:2]:
        run_printed(server, line, home)
    server.wait_for("a1 runs", lambda: running(server) == {"a1"})
    assert re.search(r" a1 +Training +Running +\S+ +1/1 +%.2f" % gpus, run_printed(server, lines[2], home))
