"""The local backend with GPUs, as NVIDIA's management library tells of them: here a library of ours whose devices are a
text file (tests/support/fake_nvml)."""

import datetime
import os
import re
import subprocess

import pytest
from pods import RUNS, events_of, has_cgroups, submit, supervisors_of, wait_log
from servers import PRORATA


@pytest.fixture
def machine(gpu_machine):
    return gpu_machine


def node_of(server):
    return server.get("/api/v1/nodes").json["nodes"][0]


def test_the_driver_names_the_devices(machine):
    server = machine()
    info = node_of(server)["gpuInfo"]
    assert info["gpuCount"] == 4 and info["gpuType"] == "Fake-GPU-80-GB"
    workload = submit(server, "two", RUNS, gpus=2)
    assert wait_log(server, workload, "up").startswith("GPU-0,GPU-1\n")


def test_without_a_driver_it_is_a_cpu_machine(machine, gpus):
    gpus.lines = ["nodriver"]
    gpus.write()
    server = machine()
    assert not node_of(server).get("gpuInfo")
    workload = submit(server, "cpu", "echo ok", gpus=0)
    server.wait_phase(workload, "Completed")


def test_a_library_that_cannot_be_used_is_said_at_once(folder):
    text = folder / "no-library.so"
    text.write_text("this is no library")
    ended = subprocess.run(
        [
            PRORATA,
            "serve",
            "--data",
            folder / "data",
            "--listen",
            "127.0.0.1:0",
            "--backend",
            "local",
            "--local-nvml",
            text,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ, PRORATA_ADMIN_PASSWORD="a password here"),
    )
    assert ended.returncode != 0 and "no-library.so" in ended.stderr


def test_a_failed_gpu_ends_its_pods_and_takes_no_more(machine, gpus):
    server = machine()
    first = submit(server, "first", RUNS, spec={"backoffLimit": 0})
    other = submit(server, "other", RUNS)
    wait_log(server, first, "up")
    wait_log(server, other, "up")
    gpus.set(0, "lost")
    server.wait_phase(first, "Failed")
    assert any("GPU 0 failed: GPU is lost" in message for message in events_of(server, first))
    assert server.workload(other)["phase"] == "Running"
    # Three are left; one is in use.
    fits = submit(server, "fits", RUNS, gpus=2)
    assert wait_log(server, fits, "up").startswith("GPU-2,GPU-3\n")
    waits = submit(server, "waits", RUNS)
    gpus.set(0)
    assert wait_log(server, waits, "up").startswith("GPU-0\n")


def test_a_gpu_that_is_lost_at_the_start_keeps_its_number(machine, gpus):
    gpus.set(1, "lost")
    server = machine()
    assert node_of(server)["gpuInfo"]["gpuCount"] == 4
    server.wait_for("the failure seen", lambda: "GPU is lost" in server.get("/api/v1/events").body.decode())
    workload = submit(server, "around", RUNS, gpus=3)
    assert wait_log(server, workload, "up").startswith("GPU-0,GPU-2,GPU-3\n")


def test_memory_errors_count_as_a_failure(machine, gpus):
    server = machine()
    workload = submit(server, "errors", RUNS, spec={"backoffLimit": 0})
    wait_log(server, workload, "up")
    gpus.set(0, "ecc=3")
    server.wait_phase(workload, "Failed")
    assert any("3 memory errors" in message for message in events_of(server, workload))


def test_what_nobody_submitted_is_avoided(machine, gpus):
    stranger = subprocess.Popen(["sleep", "1000"])
    try:
        gpus.set(0, f"proc={stranger.pid}:1000")
        server = machine()
        server.wait_for(
            "the stranger seen",
            lambda: (
                node_of(server)["prorata"].get("unhealthyGpus")
                or "nobody submitted" in server.get("/api/v1/events").body.decode()
            ),
        )
        workload = submit(server, "around", RUNS)
        assert wait_log(server, workload, "up").startswith("GPU-1\n")
        waits = submit(server, "all", RUNS, gpus=3, project="team-b")
        server.wait_phase(waits, "Pending")
    finally:
        stranger.kill()
        stranger.wait()


def stranger_on(gpus, index, **options):
    """A process that nobody submitted, on a device."""
    stranger = subprocess.Popen(["sleep", "1000"], **options)
    gpus.set(index, f"proc={stranger.pid}:1000")
    return stranger


def test_a_process_that_only_says_it_is_a_pods_is_a_stranger(machine, gpus):
    """Also on a device that a pod holds, and with a living pod's uuid."""
    server = machine()
    held = submit(server, "held", RUNS)
    wait_log(server, held, "up")
    with stranger_on(gpus, 0, env={"PRORATA_POD": next(iter(supervisors_of(server)))}) as stranger:
        try:
            server.wait_for(
                "the stranger seen",
                lambda: (
                    f"GPU 0 is used by sleep (process {stranger.pid} of " in server.get("/api/v1/events").body.decode()
                ),
            )
            assert server.workload(held)["phase"] == "Running"
            server.delete(f"/api/v1/workloads/trainings/{held}")
            next_one = submit(server, "next", RUNS)
            assert wait_log(server, next_one, "up").startswith("GPU-1\n")
            # The next device that is used so is named, too.
            gpus.set(3, f"proc={stranger.pid}:1000")
            server.wait_for(
                "it is told", lambda: "GPU 3 is used by sleep" in server.get("/api/v1/events").body.decode()
            )
        finally:
            stranger.kill()


def process_of(server, workload, name):
    """The number that the pod's script has printed after the name."""
    return int(wait_log(server, workload, f"{name}=").split(f"{name}=")[1].split()[0])


@pytest.mark.parametrize("how", ["by its cgroup", "by its supervisor"])
def test_what_a_pod_starts_is_its_own_whatever_it_does_to_itself(machine, gpus, how, request):
    if how == "by its supervisor":
        request.getfixturevalue("without_cgroups")
    server = machine()
    assert has_cgroups(server) == (how == "by its cgroup")
    script = "(setsid env -i /bin/sh -c 'echo child=$$; exec sleep 1000' &) ; " + RUNS
    workload = submit(server, "own", script)
    gpus.set(0, f"proc={process_of(server, workload, 'child')}:1000")

    def whose():
        return [
            process.get("workloadId")
            for node in server.get("/api/v1/devices").json["nodes"]
            for device in node["readings"]
            for process in device["processes"]
        ]

    server.wait_for("the process seen", whose)
    assert whose() == [workload]
    assert "nobody submitted" not in server.get("/api/v1/events").body.decode()


@pytest.mark.parametrize(
    "policy, phase", [(["--local-stray", "warn"], "Running"), (["--local-stray", "kill"], "Failed"), ([], None)]
)
def test_a_pod_on_a_device_that_it_does_not_hold_is_seen(machine, gpus, policy, phase):
    server = machine(*policy)
    is_held = "GPUs are held" in server.log.read_text()
    print("GPUs are held" if is_held else "GPUs are only asked for")
    own = submit(server, "own", RUNS)
    wait_log(server, own, "up")
    workload = submit(server, "strays", "echo child=$$; " + RUNS, spec={"backoffLimit": 0})
    child = process_of(server, workload, "child")
    gpus.set(0, f"proc={child}:1000")  # the other pod's
    gpus.set(2, f"proc={child}:1000")  # nobody's
    server.wait_for(
        "it is told",
        lambda: any(
            f"(process {child}) uses GPU 0, which the pod does not hold" in m for m in events_of(server, workload)
        ),
    )
    server.wait_phase(workload, phase or ("Running" if is_held else "Failed"))
    assert server.workload(own)["phase"] == "Running"
    if phase == "Running":
        server.wait_for(
            "both are told",
            lambda: any("uses GPU 2, which the pod does not hold" in m for m in events_of(server, workload)),
        )
        assert len([m for m in events_of(server, workload) if "which the pod does not hold" in m]) == 2, (
            "each device once"
        )
        next_one = submit(server, "next", RUNS)
        assert wait_log(server, next_one, "up").startswith("GPU-3\n"), "nothing is placed beside it"


def test_a_pod_without_gpus_is_seen_on_one(machine, gpus):
    server = machine("--local-stray", "kill")
    workload = submit(server, "none", "echo child=$$; " + RUNS, gpus=0, spec={"backoffLimit": 0})
    gpus.set(1, f"proc={process_of(server, workload, 'child')}:1000")
    server.wait_phase(workload, "Failed")


def test_who_has_many_processes_on_a_device_hides_none(machine, gpus):
    server = machine("--local-gpu-memory", "kill")
    many = "for i in $(seq 300); do sleep 1000 & done; echo started; wait"
    workload = server.submit(
        "half",
        "team-a",
        0,
        spec={
            "command": "/bin/sh -c",
            "args": f"'{many}'",
            "backoffLimit": 0,
            "compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5},
        },
    )
    wait_log(server, workload, "started")
    gpus.set(0, "proc=pod:1000")
    server.wait_phase(workload, "Failed")


def test_what_nobody_submitted_can_be_ignored(machine, gpus):
    gpus.set(0, f"proc={os.getpid()}:1000")
    server = machine("--local-foreign", "ignore")
    workload = submit(server, "same", RUNS)
    assert wait_log(server, workload, "up").startswith("GPU-0\n")


@pytest.mark.parametrize("policy, phase", [("warn", "Running"), ("kill", "Failed")])
def test_a_part_of_a_gpu_is_watched(machine, gpus, policy, phase):
    server = machine("--local-gpu-memory", policy)
    workload = server.submit(
        "half",
        "team-a",
        0,
        spec={
            "command": "/bin/sh -c",
            "args": f"'{RUNS}'",
            "backoffLimit": 0,
            "compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5},
        },
    )
    wait_log(server, workload, "up")
    gpus.set(0, "proc=pod:50000")  # of the shell and of its sleep: 100,000 MiB together
    server.wait_for(
        "the warning", lambda: any("MiB are its part" in message for message in events_of(server, workload))
    )
    server.wait_phase(workload, phase)


def most(server, of, metric):
    """The largest of the latest values of a metric."""
    now = datetime.datetime.now(datetime.UTC)
    start, end = ((now + datetime.timedelta(seconds=s)).strftime("%Y-%m-%dT%H:%M:%S.%fZ") for s in (-1, 0))
    answer = server.get(f"/api/v1/{of}/metrics", metricType=metric, start=start, end=end, numberOfSamples=1)
    return max((float(m["values"][-1]["value"]) for m in answer.json["measurements"] if m["values"]), default=0)


def wait_most(server, of, metric, want):
    server.wait_for(f"{metric} is {want}", lambda: most(server, of, metric) == want)


def test_utilization_and_memory_are_measured(machine, gpus):
    """The memory of a device that one pod has alone is all that is used of it. A hundredth more is not told."""
    server = machine()
    workload = submit(server, "busy", RUNS)
    wait_log(server, workload, "up")
    gpus.set(0, "util=73 used=5000 proc=pod:1000")
    node = f"nodes/{node_of(server)['id']}"
    wait_most(server, node, "GPU_UTILIZATION_PER_GPU", 73)
    wait_most(server, f"workloads/{workload}", "GPU_MEMORY_USAGE_BYTES", 5000 << 20)
    wait_most(server, node, "GPU_MEMORY_USAGE_BYTES_PER_GPU", 5000 << 20)
    gpus.set(0, "util=74 used=5040 proc=pod:1000")
    wait_most(server, node, "GPU_UTILIZATION_PER_GPU", 74)
    assert most(server, f"workloads/{workload}", "GPU_MEMORY_USAGE_BYTES") == 5000 << 20


def test_of_a_shared_gpu_each_pod_uses_the_memory_of_its_processes(machine, gpus):
    server = machine()
    half = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}
    spec = {"command": "/bin/sh -c", "args": f"'{RUNS}'", "compute": half}
    both = [server.submit(name, "team-a", 0, spec=spec) for name in ("one", "two")]
    for workload in both:
        wait_log(server, workload, "up")
    gpus.set(0, "used=9000 proc=pod:1000")  # of the shell and its sleep
    for workload in both:
        (pod,) = server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
        wait_most(server, f"workloads/{workload}/pods/{pod['id']}", "GPU_MEMORY_USAGE_BYTES", 2000 << 20)


def test_idle_limits_go_by_what_the_driver_measures(machine, gpus):
    server = machine()
    for index in range(4):
        gpus.set(index, "util=0")
    project = next(p for p in server.get("/api/v1/org-unit/projects").json["projects"] if p["name"] == "team-a")
    path = f"/api/v1/org-unit/projects/{project['id']}"
    kept = {key: project[key] for key in ("name", "resources", "description", "defaultNodePools")}
    answer = server.request("PUT", path, {**kept, "schedulingRules": {"trainingJobMaxIdleDurationSeconds": 6}})
    assert answer.status == 200, answer.body
    wide = submit(server, "wide", RUNS, gpus=2)
    gpus.set(int(wait_log(server, wide, "up").split(",")[0].split("-")[1]), "util=1")
    idle, busy = submit(server, "idle", RUNS), submit(server, "busy", RUNS)
    device = int(wait_log(server, busy, "up").split()[0].split("-")[1])
    gpus.set(device, "util=40")
    server.wait_phase(idle, "Stopped")
    told = r"GPUs idle for (\d+) s \(training idle limit of project team-a\)"
    found = re.search(told, "\n".join(events_of(server, idle)))
    assert found and int(found[1]) >= 6, events_of(server, idle)  # more where the turn that sees it comes late
    for workload in (busy, wide):  # of two GPUs one that hardly works is enough
        assert server.workload(workload)["phase"] == "Running"


def test_devices_are_free_when_the_driver_lets_go(machine, gpus):
    server = machine()
    workload = submit(server, "leaves", RUNS, gpus=4)
    wait_log(server, workload, "up")
    server.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    server.wait_phase(workload, "Stopped")
    again = submit(server, "again", RUNS, gpus=4, project="team-b")
    wait_log(server, again, "up")


def mig(profile, count=1):
    return {"compute": {"extendedResources": [{"resource": f"nvidia.com/mig-{profile}", "quantity": str(count)}]}}


def test_instances_of_a_divided_gpu_are_given_out_one_by_one(machine, gpus):
    gpus.lines = ["gpu GPU-0 81920 mig=3g.40gb", "gpu GPU-1 81920 mig=1g.10gb,1g.10gb"]
    gpus.write()
    server = machine()
    assert not node_of(server)["gpuInfo"], "a divided GPU is no device of its own"
    pods = [submit(server, f"small-{i}", RUNS, gpus=0, spec=mig("1g.10gb")) for i in range(2)]
    large = submit(server, "large", RUNS, gpus=0, spec=mig("3g.40gb"))
    for workload in [*pods, large]:
        wait_log(server, workload, "up")
    seen = [server.request("GET", f"/api/v1/workloads/{w}/logs").body.decode().splitlines()[0] for w in [*pods, large]]
    assert sorted(seen[:2]) == ["MIG-GPU-1-1", "MIG-GPU-1-2"] and seen[2] == "MIG-GPU-0-1"
    waits = submit(server, "waits", RUNS, gpus=0, spec=mig("1g.10gb"))
    server.wait_for(
        "an explanation", lambda: server.workload(waits)["phase"] == "Pending" and server.workload(waits)["explanation"]
    )
    # Who holds what is known after a restart, too.
    server.kill()
    server.start()
    server.delete(f"/api/v1/workloads/trainings/{pods[0]}")
    wait_log(server, waits, "up")
    assert server.request("GET", f"/api/v1/workloads/{waits}/logs").body.decode().splitlines()[0] == seen[0]


def test_who_shares_a_device_is_held_to_its_part_by_mps(machine):
    server = machine()
    shared = submit(
        server,
        "shared",
        "echo $CUDA_MPS_ACTIVE_THREAD_PERCENTAGE $CUDA_MPS_PINNED_DEVICE_MEM_LIMIT; " + RUNS,
        gpus=0,
        spec={"compute": {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.25}},
    )
    wait_log(server, shared, "up")
    assert server.request("GET", f"/api/v1/workloads/{shared}/logs").body.decode().splitlines()[0] == "25 0=20480M"
