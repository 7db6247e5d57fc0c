"""A group of its own for each pod, and what is found by it: processes that a pod leaves when its supervisor is killed,
on a machine without cgroups, whatever they did to themselves."""

import os
import pathlib
import signal
import subprocess

import pytest
from pods import has_cgroups, kind_of, submit, supervisors_of, wait_log
from test_users import refused

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
HIDES = "(setsid env -i /bin/sh -c 'echo left=$$; exec sleep 98766' &) ; echo main=$$; while true; do sleep 0.05; done"


@pytest.fixture
def machine(make_server):
    """Servers without GPUs, in folders of their own."""
    made = []

    def start(*more):
        made.append(make_server("--backend", "local", "--local-gpus", "0", "--quick-start", *more))
        return made[-1]

    yield start
    for server in made:
        for workload in server.get("/api/v1/workloads").json["workloads"]:
            server.delete(f"/api/v1/workloads/{kind_of(workload)}/{workload['id']}")
        server.wait_for("all pods gone", lambda: not supervisors_of(server))


def number_of(server, workload, name):
    """The process that the pod's script has printed after the name."""
    return int(wait_log(server, workload, f"{name}=").split(f"{name}=")[1].split()[0])


def groups_of(pid):
    line = next(
        line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("Groups:")
    )
    return {int(group) for group in line.split()[1:]}


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def lose_supervisor(server, workload, is_down=False):
    """Its supervisor is killed; returns when the server has dealt with it."""
    parent = next(
        line
        for line in pathlib.Path(f"/proc/{number_of(server, workload, 'main')}/status").read_text().splitlines()
        if line.startswith("PPid")
    )
    if is_down:
        server.kill()
    os.kill(int(parent.split()[1]), signal.SIGKILL)
    if is_down:
        server.start()
    server.wait_phase(workload, "Failed")


def test_each_pod_has_a_group_of_its_own(machine):
    server = machine()
    pods = [submit(server, f"pod-{i}", HIDES, gpus=0) for i in range(2)]
    own = []
    for workload in pods:
        main, left = groups_of(number_of(server, workload, "main")), groups_of(number_of(server, workload, "left"))
        own.append({group for group in main if 2000065536 <= group < 2000131072})
        assert len(own[-1]) == 1 and left == main
    assert own[0] != own[1]


@pytest.mark.parametrize("is_down", [False, True])
def test_what_hides_is_found_without_cgroups(machine, without_cgroups, is_down):
    server = machine()
    assert not has_cgroups(server)
    workload = submit(server, "hides", HIDES, gpus=0, spec={"backoffLimit": 0})
    other = submit(server, "other", HIDES, gpus=0)
    left, others = number_of(server, workload, "left"), number_of(server, other, "left")
    uuid = next(
        uuid
        for uuid, pid in supervisors_of(server).items()
        if f"PRORATA_POD={uuid}".encode() in environment_of(number_of(server, workload, "main"))
    )
    with subprocess.Popen(["sleep", "1000"], env={"PRORATA_POD": uuid}) as stranger:
        try:
            lose_supervisor(server, workload, is_down)
            assert not lives(left)
            assert lives(others), "another pod's"
            assert stranger.poll() is None, "a stranger that says it is the pod's"
        finally:
            stranger.kill()


def environment_of(pid):
    return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


def test_another_server_with_the_same_groups_loses_nothing(machine, without_cgroups):
    servers = [machine("--local-gid-range", "2000131000+1") for _ in range(2)]
    pods = [submit(server, "pod", HIDES, gpus=0, spec={"backoffLimit": 0}) for server in servers]
    first, second = (number_of(server, workload, "left") for server, workload in zip(servers, pods, strict=True))
    assert groups_of(first) & groups_of(second) == {2000131000}
    lose_supervisor(servers[0], pods[0])
    assert not lives(first) and lives(second)


def test_without_groups_the_session_of_the_command_is_ended(machine, without_cgroups):
    server = machine("--local-gid-range", "none")
    assert (
        "pods have no group of their own, which would mark processes left behind: --local-gid-range none"
        in server.log.read_text()
    )
    script = "env -i /bin/sh -c 'echo left=$$; exec sleep 98766' & echo main=$$; wait"
    workload = submit(server, "stays", script, gpus=0, spec={"backoffLimit": 0})
    left = number_of(server, workload, "left")
    lose_supervisor(server, workload)
    assert not lives(left)


@pytest.mark.parametrize(
    "text, message",
    [
        ("60578+1", "local-gid-range: 60578+1 overlaps systemd-homed's users"),
        ("5", "local-gid-range: START+COUNT"),
        ("2000000000+1", "local-gid-range: 2000000000+1 overlaps --local-uid-range"),
    ],
)
def test_a_range_of_others_is_refused(folder, text, message):
    assert message in refused(folder, "--local-gid-range", text)


def test_a_range_that_nobody_asked_for_stops_no_start(machine):
    log = machine("--local-uid-range", "2000000000+131072").log.read_text()
    assert "local-gid-range: 2000065536+65536 overlaps --local-uid-range" in log
