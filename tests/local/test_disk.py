"""A disk that pods fill by printing: the database keeps its room."""
import os
import subprocess

import pytest

from test_local import log_of, stop_command, submit, wait_log

TOLD = "from here on output is not kept: the disk is down to its reserve"


@pytest.fixture
def small(make_server, folder):
    """A server on a disk of 64 MiB, of which it keeps 3.2."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(disk)], check=True)
    server = None
    try:
        server = make_server("--backend", "local", "--local-gpus", "0", "--quick-start", "--data", str(disk / "data"))
        server.data = disk / "data"
        yield server
    finally:
        if server:
            server.kill()
            stop_command(server, "--pods", "--grace", "1s")
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_who_prints_much_does_not_stop_everybody(small):
    steps = submit(small, "steps", "i=0; while true; do i=$((i+1)); echo step $i; sleep 0.05; done", gpus=0)
    wait_log(small, steps, "step 1")
    flood = submit(small, "flood", "head -c 100000000 /dev/zero | tr '\\0' 'x' | fold -w 99; sleep 1000", gpus=0)
    small.wait_for("both to be told", lambda: all(TOLD in log_of(small, w, tail=1) for w in (steps, flood)), 60)
    disk = os.statvfs(small.data)
    assert disk.f_bavail >= disk.f_blocks // 40
    for number in range(5):
        submit(small, f"other-{number}", "true", gpus=0)
    pod = small.get(f"/api/v1/workloads/{flood}/pods").json["pods"][0]["id"]
    assert small.delete(f"/api/v1/workloads/trainings/{flood}").status == 202
    for path in (small.data / "pods" / pod / "log").iterdir():
        path.unlink()
    wait_log(small, steps, "bytes of output are lost")
    count = log_of(small, steps).count(TOLD)
    assert count == 1 and "step" in log_of(small, steps, tail=1)
