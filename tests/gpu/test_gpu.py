"""The local backend on real GPUs: pods are where the scheduler put them, and nowhere else, as NVIDIA's own tool sees
it."""

import csv
import io
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "local"))
from pods import kind_of, log_of, supervisors_of, wait_log

HOLDS = pathlib.Path(__file__).with_name("holds.py")


def smi(query, fields):
    text = subprocess.run(
        ["nvidia-smi", f"--query-{query}={fields}", "--format=csv,noheader,nounits"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if row]


def processes():
    """GPU UUID -> the processes that compute on it."""
    found = {}
    for pid, gpu in smi("compute-apps", "pid,gpu_uuid"):
        found.setdefault(gpu, set()).add(int(pid))
    return found


def pod_of(pid):
    for entry in pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
        if entry.startswith(b"PRORATA_POD="):
            return entry.split(b"=", 1)[1].decode()
    return None


@pytest.fixture
def server(make_server, folder):
    folder.chmod(0o755)
    made = make_server("--backend", "local", "--quick-start")
    yield made
    for workload in made.get("/api/v1/workloads").json["workloads"]:
        made.delete(f"/api/v1/workloads/{kind_of(workload)}/{workload['id']}")
    made.wait_for("all pods gone", lambda: not supervisors_of(made))


@pytest.fixture
def program(folder):
    copy = folder / "holds.py"
    copy.write_bytes(HOLDS.read_bytes())
    copy.chmod(0o644)
    return {"command": "/usr/bin/python3", "args": str(copy)}


def test_the_node_is_what_the_driver_says(server):
    node = server.get("/api/v1/nodes").json["nodes"][0]
    gpus = smi("gpu", "uuid,memory.total")
    assert node["gpuInfo"]["gpuCount"] == len(gpus)


def test_each_pod_stays_on_its_devices(server, program):
    gpus = [row[0] for row in smi("gpu", "uuid")]
    pods = [server.submit(f"one-{i}", "team-a", 1, spec=program) for i in range(len(gpus))]
    seen = {}
    for workload in pods:
        wait_log(server, workload, "up", seconds=60)
        devices = [line.split()[1] for line in log_of(server, workload).splitlines() if line.startswith("device ")]
        assert len(devices) == 1, "a pod sees its own devices and no other"
        seen[workload] = devices[0]
    assert sorted(seen.values()) == sorted(gpus), "no device twice"
    for gpu, pids in processes().items():
        owners = {pod_of(pid) for pid in pids} - {None}
        assert len(owners) == 1, f"{gpu} is used by the pods {owners}"
    # What ends lets go of its device, and the next one starts there.
    next_one = server.submit("next", "team-a", 1, spec=program)
    server.delete(f"/api/v1/workloads/trainings/{pods[0]}")
    wait_log(server, next_one, "up", seconds=60)
    assert f"device {seen[pods[0]]}" in log_of(server, next_one)


def test_two_pods_share_a_device(server, program):
    half = {**program, "compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}}
    pods = [server.submit(f"half-{i}", "team-a", 0, spec=half) for i in range(2)]
    for workload in pods:
        wait_log(server, workload, "up", seconds=60)
    devices = {log_of(server, workload).splitlines()[0] for workload in pods}
    assert len(devices) == 1
    assert len(processes()[devices.pop().split()[1]]) >= 2
