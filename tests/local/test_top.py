"""GPUs as measured, who holds them, and who else uses them: GET /devices and prorata top."""

import os
import subprocess

import pytest
from pods import RUNS, submit, wait_log
from servers import Client
from test_exec import RESEARCHER, VIEWER, token_of


@pytest.fixture
def machine(gpu_machine):
    return gpu_machine


@pytest.fixture
def stranger():
    process = subprocess.Popen(["sleep", "1000"])
    yield process
    process.kill()
    process.wait()


def devices_of(server, token="admin"):
    return server.request("GET", "/api/v1/devices", token=token).json["nodes"][0]


@pytest.fixture
def used(machine, gpus, stranger):
    """A server whose GPU 0 a pod of team-a uses and GPU 3 a stranger."""
    gpus.set(3, f"used=2048 util=5 temp=41 proc={stranger.pid}:2000")
    server = machine()
    server.wait_for("the stranger seen", lambda: any(r["processes"] for r in devices_of(server)["readings"]))
    workload = submit(server, "job", RUNS)
    wait_log(server, workload, "up")
    gpus.set(0, "used=10000 util=73 temp=66 proc=pod:4000")
    server.wait_for("the pod seen", lambda: devices_of(server)["readings"][0]["processes"])
    return server


def test_devices_as_measured(used, stranger):
    node = devices_of(used)
    first, last = node["readings"][0], node["readings"][3]
    assert (
        first["name"],
        first["utilization"],
        first["memoryUsedMib"],
        first["memoryMib"],
        first["temperatureCelsius"],
    ) == ("GPU-0", 73, 10000, 81920, 66)
    assert {(p["podName"], p["workloadName"], p["foreign"], p["memoryMib"]) for p in first["processes"]} == {
        ("job-0-0", "job", False, 4000)
    }
    assert last["processes"] == [
        {
            "pid": stranger.pid,
            "user": "root" if os.geteuid() == 0 else last["processes"][0]["user"],
            "command": "sleep",
            "memoryMib": 2000,
            "foreign": True,
        }
    ]
    assert node["readings"][1]["temperatureCelsius"] is None
    assert [d["state"] for d in node["devices"]] == ["allocated", "free", "free", "down"]


def test_a_stranger_does_not_learn_whose_it_is(used):
    assert used.request("GET", "/api/v1/devices", token=token_of(used, "none", RESEARCHER, "team-a")).status == 403, (
        "the role sees no nodes"
    )
    token = token_of(used, "other", VIEWER, "team-b")
    node = devices_of(used, token)
    assert node["readings"][0]["processes"] and not any(
        "podName" in p or "workloadName" in p for p in node["readings"][0]["processes"]
    )
    assert "job" not in str(node["devices"][0])


def test_top(used, folder, stranger):
    text = Client(used, folder / "home").sign_in().run("top")
    lines = [line.split() for line in text.splitlines()]
    assert any(
        line[1:7] == ["0", "73%", "10000/81920", "MiB", "66", "C"] and "team-a/job" in line and line[-1] == "job-0-0"
        for line in lines
    ), text
    assert any(str(stranger.pid) in line and "sleep" in line and "2000" in line for line in lines), text
    assert "Processes that nobody submitted:" in text


def test_top_of_a_simulated_cluster_has_no_readings(server, folder):
    client = Client(server, folder / "home").sign_in()
    text = client.run("top")
    assert text.count("free") == 4 and "nobody submitted" not in text
    assert all(node["readings"] == [] for node in server.get("/api/v1/devices").json["nodes"])


def test_unhealthy_devices_say_why(used, gpus):
    gpus.set(1, "lost")
    used.wait_for("the loss", lambda: not devices_of(used)["readings"][1]["healthy"])
    assert devices_of(used)["readings"][1]["reason"] == "GPU is lost"
