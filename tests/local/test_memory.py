"""How much memory a pod may use: what bounds it on this machine, how much it is, and who is told what when it was not
enough. Which of cgroup v2, v1 or nothing bounds it here is asked of the machine, and each test says it."""

import os
import pathlib

import pytest
from pods import events_of, log_of, processes_of, run, submit, supervisors_of, wait_log
from servers import Client
from test_users import refused

HOG = "/usr/bin/python3 -c 'x = b\"1\" * (300 << 20)'"


def mounts(kind):
    return [line.split() for line in open("/proc/self/mounts") if line.split()[2] == kind]


def bounded_by():
    """cgroup v2, cgroup v1 or nothing, as the machine has it."""
    if os.geteuid() == 0:
        if any("memory" in (pathlib.Path(line[1]) / "cgroup.controllers").read_text() for line in mounts("cgroup2")):
            return "cgroup v2"
        if any("memory" in line[3].split(",") and os.access(line[1], os.W_OK) for line in mounts("cgroup")):
            return "cgroup v1"
    return "nothing"


BY = bounded_by()
needs_bounds = pytest.mark.skipif(BY == "nothing", reason="nothing bounds memory here")
OWN_BOUND = {
    "cgroup v1": "cat $(awk '$3 == \"cgroup\" && $4 ~ /memory/ { print $2 }' /proc/mounts)"
    "$(sed -n 's/^[0-9]*:memory://p' "
    ""
    ""
    ""
    ""
    ""
    "/proc/self/cgroup)/memory.limit_in_bytes",
    "cgroup v2": "cat $(awk '$3 == \"cgroup2\" { print $2 }' /proc/mounts | head -n 1)$(sed -n 's/^0:://p' "
    "/proc/self/cgroup)/memory.max",
    "nothing": "true",
}[BY]


def machine_mib(server):
    return next(
        int(word.split("=")[1])
        for line in server.log.read_text().splitlines()
        if "this machine is the cluster" in line
        for word in line.split()
        if word.startswith("memory_mib=")
    )


def left_cgroups(uuid):
    return [
        path
        for kind in ("cgroup", "cgroup2")
        for line in mounts(kind)
        for path, _, _ in os.walk(line[1])  # passes over what others remove meanwhile
        if os.path.basename(path) == uuid
    ]


def test_what_bounds_pods_is_told(start):
    server = start()
    assert f"bounds of pods: memory by {BY}," in server.log.read_text()
    assert ("memory of pods is not bounded" in server.log.read_text()) == (BY == "nothing")


@needs_bounds
def test_a_pod_without_a_limit_has_its_share(start):
    """Of four GPUs: one is a quarter, half of one an eighth; without GPUs it is an eighth, too; never below the
    request."""
    server = start()
    whole = machine_mib(server)
    portion = {"gpuRequestType": "portion", "gpuDevicesRequest": 1, "gpuPortionRequest": 0.25}
    for name, gpus, compute, wanted in (
        ("one", 1, {}, whole // 4),
        ("two", 2, {}, whole // 2),
        ("part", 1, portion, max(512, whole // 16)),
        ("none", 0, {}, whole // 8),
        ("asks", 0, {"cpuMemoryRequest": f"{whole // 8 + 100}Mi"}, whole // 8 + 100),
    ):
        workload = submit(server, name, OWN_BOUND, gpus=gpus, spec={"compute": {"gpuDevicesRequest": gpus, **compute}})
        server.wait_phase(workload, "Completed", "Failed")
        bound = int(log_of(server, workload))
        assert abs(bound / 2**20 - wanted) <= 1, (BY, name, bound, wanted)
        assert any(
            f"memory: at most {bound >> 20} MiB (--local-memory-default)" in event
            or f"memory: at most {bound >> 30} GiB (" in event
            for event in events_of(server, workload)
        )


@needs_bounds
@pytest.mark.parametrize(
    "script",
    [HOG, f"{HOG}; echo lived; sleep 1000", f"{HOG} & sleep 1000"],
    ids=["the command", "a child of it", "another child of it"],
)
def test_a_pod_that_uses_more_ends_as_a_whole_and_is_told_why(start, folder, script):
    server = start("--local-memory-default", "64Mi")
    workload = submit(server, "hog", f"exec {script}" if script == HOG else script, gpus=0, spec={"backoffLimit": 0})
    server.wait_phase(workload, "Failed")
    wanted = "used more than its memory bound of 64 MiB (--local-memory-default); ask for more with cpuMemoryLimit"
    assert any(wanted in event for event in events_of(server, workload)), (BY, events_of(server, workload))
    assert wanted in server.workload(workload)["podMessage"]
    assert wanted in Client(server, folder / "home").sign_in().run("training", "describe", "hog", "-p", "team-a")
    (pod,) = server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
    assert processes_of(pod["id"]) == []
    server.wait_for("its cgroups gone", lambda: not left_cgroups(pod["id"]))


@needs_bounds
def test_the_limit_asked_for_wins(start):
    server = start("--local-memory-default", "64Mi")
    more = submit(
        server,
        "more",
        f"{HOG}; echo lived; {OWN_BOUND}",
        gpus=0,
        spec={"compute": {"gpuDevicesRequest": 0, "cpuMemoryLimit": "1G"}},
    )
    server.wait_phase(more, "Completed")
    assert log_of(server, more) == f"lived\n{10**9 // 4096 * 4096}\n"
    less = submit(
        server,
        "less",
        HOG,
        gpus=0,
        spec={"backoffLimit": 0, "compute": {"gpuDevicesRequest": 0, "cpuMemoryLimit": "48Mi"}},
    )
    server.wait_phase(less, "Failed")
    assert any("its memory bound of 48 MiB (cpuMemoryLimit)" in event for event in events_of(server, less)), events_of(
        server, less
    )


@needs_bounds
def test_the_bound_is_known_after_a_restart(start):
    server = start("--local-memory-default", "64Mi")
    workload = submit(
        server,
        "hog",
        f"echo up; while [ ! -e $HOME/go ]; do sleep 0.05; done; exec {HOG}",
        gpus=0,
        spec={"backoffLimit": 0},
    )
    wait_log(server, workload, "up")
    server.kill()
    server.start()
    pod, supervisor = next(iter(supervisors_of(server).items()))
    leader = next(pid for pid in processes_of(pod) if pid != supervisor)
    home = dict(
        word.split(b"=", 1)
        for word in pathlib.Path(f"/proc/{leader}/environ").read_bytes().split(b"\0")
        if b"=" in word
    )[b"HOME"]
    pathlib.Path(home.decode(), "go").touch()
    server.wait_phase(workload, "Failed")
    assert any("its memory bound of 64 MiB (--local-memory-default)" in event for event in events_of(server, workload))


def test_none_bounds_nothing(start):
    server = start("--local-memory-default", "none")
    _, events = run(server, "true")
    assert any("nothing bounds its memory" in event for event in events), events


@pytest.mark.parametrize("text", ["half", "0", "-1Gi", "1.5.Gi"])
def test_a_default_that_is_none_is_refused(folder, text):
    assert "local-memory-default: share, none, or an amount" in refused(folder, "--local-memory-default", text)
