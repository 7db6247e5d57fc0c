"""A disk that pods fill by printing: the database keeps its room."""

import os
import subprocess

import pytest
from pods import log_of, stop_command, submit, wait_log

TOLD = "from here on output is not kept: the disk is down to its reserve"


@pytest.fixture
def small(make_server, folder):
    """small(*arguments): a server on a disk of 64 MiB, of which it keeps 3.2."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], check=True)
    started = []

    def start(*arguments):
        started.append(
            make_server(
                "--backend", "local", "--local-gpus", "0", "--quick-start", "--data", str(disk / "data"), *arguments
            )
        )
        started[0].data = disk / "data"
        return started[0]

    try:
        yield start
    finally:
        for server in started:
            server.kill()
            stop_command(server, "--pods", "--grace", "1s")
        subprocess.run(["umount", "-l", str(disk)], check=True)


FLOOD = "head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99; echo end of it; sleep 1000"


def test_logs_take_a_tenth_of_a_small_disk(small):
    server = small()
    flood = submit(server, "flood", FLOOD, gpus=0)
    wait_log(server, flood, "end of it", 60)
    server.wait_for(
        "the bound holds",
        lambda: sum(path.stat().st_size for path in (server.data / "pods").glob("*/log/*")) <= 64 * 1024 * 1024 // 10,
    )
    assert TOLD not in log_of(server, flood)


def test_who_prints_much_does_not_stop_everybody(small):
    small = small("--local-log-project", "0", "--local-log-total", "0")
    steps = submit(small, "steps", "i=0; while true; do i=$((i+1)); echo step $i; sleep 0.05; done", gpus=0)
    wait_log(small, steps, "step 1")
    flood = submit(small, "flood", FLOOD.replace("echo end of it;", ""), gpus=0)
    small.wait_for("both to be told", lambda: all(TOLD in log_of(small, w, tail=1) for w in (steps, flood)), 60)
    disk = os.statvfs(small.data)
    assert disk.f_bavail >= disk.f_blocks // 40
    for number in range(5):
        submit(small, f"other-{number}", "true", gpus=0)
    pod = small.get(f"/api/v1/workloads/{flood}/pods").json["pods"][0]["id"]
    assert small.delete(f"/api/v1/workloads/trainings/{flood}").status == 202
    small.wait_for("its log is gone", lambda: not (small.data / "pods" / pod).exists())
    wait_log(small, steps, "bytes of output are lost")
    count = log_of(small, steps).count(TOLD)
    assert count == 1 and "step" in log_of(small, steps, tail=1)


def events_of(server, reason):
    return [
        event["message"]
        for event in server.get("/api/v1/events", limit=500).json["events"]
        if event["reason"] == reason
    ]


def node_of(server):
    return server.get("/api/v1/nodes").json["nodes"][0]


def test_nothing_starts_on_a_disk_without_room(small, folder):
    for path in (folder, folder / "disk"):
        path.chmod(0o711)
    server = small("--local-scratch", str(folder / "disk" / "scratch"))
    hog = submit(
        server,
        "hog",
        # It fills what the database frees meanwhile, too.
        "head -c 55000000 /dev/zero > file; while true; do while [ $(df -k --output=avail . | tail -1) -gt 2200 ]; "
        "do head -c 100000 /dev/zero >> file; done; sleep 0.1; done",
        gpus=0,
        spec={"terminationGracePeriodSeconds": 1},
    )
    said = server.wait_for("it is told", lambda: events_of(server, "DiskPressure"))
    assert len(said) == 1 and said[0].startswith("no pod starts: ") and "--local-disk-reserve" in said[0]
    server.wait_for("the node takes nothing", lambda: node_of(server)["status"] != "Ready")
    waits = submit(server, "waits", "true", gpus=0)
    server.kill()
    server.start()
    server.wait_for(
        "it is seen again", lambda: len(events_of(server, "DiskPressure")) == 2 and node_of(server)["status"] != "Ready"
    )
    server.wait_phase(waits, "Pending")
    assert server.workload(hog)["phase"] == "Running"
    assert server.delete(f"/api/v1/workloads/trainings/{hog}").status == 202
    server.wait_phase(waits, "Completed")
    assert events_of(server, "DiskHasRoom")
