"""What does not end though it is told to: supervisors that do not obey, processes that SIGKILL does not end, starts
that hang."""

import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess

import pytest
from pods import processes_of, stop_command, submit, supervisors_of, wait_log

RUNS = "echo up devices=$CUDA_VISIBLE_DEVICES; while true; do sleep 0.05; done"
FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")
needs_freezer = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access(FREEZER / "cgroup.procs", os.W_OK), reason="no freezer of cgroup v1"
)


@pytest.fixture
def server(make_server, request):
    """All that a process may take beyond its grace are two seconds, or what the test says."""
    limit = str(getattr(request, "param", 2))
    server = make_server("--backend", "local", "--local-gpus", "2", "--quick-start", "--local-unkillable-limit", limit)
    yield server
    server.kill()
    stop_command(server, "--pods", "--grace", "1s")


@pytest.fixture
def frozen(folder):
    """Freezes processes, which nothing ends until they are thawed."""
    group = FREEZER / folder.name

    def freeze(pids):
        group.mkdir()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):  # a sleep that has just ended
                (group / "cgroup.procs").write_text(str(pid))
        (group / "freezer.state").write_text("FROZEN")

    def thaw():
        if group.exists():
            (group / "freezer.state").write_text("THAWED")

    freeze.thaw = thaw
    yield freeze
    thaw()
    for _ in range(100):
        try:
            group.rmdir()
            break
        except FileNotFoundError:
            break
        except OSError:
            subprocess.run(["sleep", "0.05"], check=True)


def run(server, name, gpus=1):
    workload = submit(server, name, RUNS, gpus=gpus, spec={"terminationGracePeriodSeconds": 1})
    wait_log(server, workload, "up")
    server.wait_phase(workload, "Running")
    return workload, server.get(f"/api/v1/workloads/{workload}/pods").json["pods"][0]["id"]


def events(server, path="events"):
    return server.get(f"/api/v1/{path}").body.decode()


@pytest.mark.parametrize("server", [20], indirect=True)
def test_a_supervisor_that_is_stopped_is_ended_with_its_pod(server):
    workload, pod = run(server, "held")
    os.kill(supervisors_of(server)[pod], signal.SIGSTOP)
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    assert processes_of(pod) == [] and "is lost" not in events(server)
    again, _ = run(server, "again", gpus=2)
    assert server.workload(again)["phase"] == "Running"


@needs_freezer
def test_a_process_that_does_not_end_costs_its_device_until_it_is_gone(server, frozen):
    workload, pod = run(server, "stuck")
    device = int(wait_log(server, workload, "devices=").split("devices=")[1].split()[0])
    pids = [pid for pid in processes_of(pod) if pid != supervisors_of(server)[pod]]
    frozen(pids)
    server.delete(f"/api/v1/workloads/trainings/{workload}")
    server.wait_for(
        "the workload gone", lambda: all(w["id"] != workload for w in server.get("/api/v1/workloads").json["workloads"])
    )
    server.wait_for("the node's event", lambda: f"GPU {device} is lost: process" in events(server))
    assert "Unkillable" in events(server)
    other, _ = run(server, "other")
    assert int(wait_log(server, other, "devices=").split("devices=")[1].split()[0]) != device
    waits = submit(server, "waits", RUNS)
    server.wait_phase(waits, "Pending")
    server.kill()
    server.start()
    assert server.workload(waits)["phase"] == "Pending", "a restart has forgotten it"
    server.wait_for(
        "the device out of scheduling", lambda: server.get(f"/api/v1/workloads/{waits}/explanation").status == 200
    )
    frozen.thaw()
    server.wait_phase(waits, "Running")
    assert "may be used" in events(server) and processes_of(pod) == []
    server.wait_for("its folder gone", lambda: not (server.data / "pods" / pod / "state").exists())


@needs_freezer
def test_what_ends_after_the_grace_and_before_the_limit_is_not_lost(make_server, frozen):
    server = make_server("--backend", "local", "--local-gpus", "2", "--quick-start")
    workload, pod = run(server, "slow")
    supervisor = supervisors_of(server)[pod]
    frozen([pid for pid in processes_of(pod) if pid != supervisor])
    os.kill(supervisor, signal.SIGKILL)
    server.wait_for("the supervisor gone", lambda: not os.path.exists(f"/proc/{supervisor}/fd/3"))
    assert server.workload(workload)["phase"] == "Running", "it still holds its device"
    server.delete(f"/api/v1/workloads/trainings/{workload}")
    frozen.thaw()
    server.wait_for(
        "its end", lambda: processes_of(pod) == [] and "slow" not in server.get("/api/v1/workloads").body.decode()
    )
    assert "is lost" not in events(server)


@pytest.fixture
def silent(folder):
    """A file system that does not answer, where the pods' user can get at it."""
    folder.chmod(0o711)
    place = folder / "silent"
    place.mkdir()
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError:
        pytest.skip("no FUSE")
    libc = ctypes.CDLL(None, use_errno=True)
    if (
        libc.mount(
            b"silent",
            str(place).encode(),
            b"fuse",
            0,
            f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other".encode(),
        )
        < 0
    ):
        os.close(fd)
        pytest.skip("FUSE cannot be mounted here")
    yield str(place)
    os.close(fd)  # whoever waits is told that it is gone
    libc.umount2(str(place).encode(), 2)


def test_a_start_that_hangs_tells_what_it_waits_for_and_can_be_stopped(server, silent):
    workload = submit(server, "hangs", "true", spec={"workingDir": f"{silent}/x", "terminationGracePeriodSeconds": 1})
    server.wait_for(
        "the event", lambda: "waits for its working folder" in events(server, f"workloads/{workload}/events"), 60
    )
    server.delete(f"/api/v1/workloads/trainings/{workload}")
    server.wait_for(
        "its end", lambda: supervisors_of(server) == {} and "hangs" not in server.get("/api/v1/workloads").body.decode()
    )
