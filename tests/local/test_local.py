"""The local backend: workloads as real processes of this machine, with pretended GPUs. What runs is looked at in /proc,
not believed."""

import datetime
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

import pytest
from pods import (
    GPUS,
    HOLDS_30_MB,
    RUNS,
    log_lines,
    log_of,
    pods_of,
    processes_of,
    quoted,
    read_quietly,
    stop_command,
    submit,
    supervisors_of,
    used,
    wait_log,
)
from servers import PRORATA


def test_the_machine_is_the_node(local):
    nodes = local.get("/api/v1/nodes").json["nodes"]
    assert [node["name"] for node in nodes] == [os.uname().nodename]
    assert nodes[0]["gpuInfo"]["gpuCount"] == GPUS


def test_the_cluster_has_the_machines_name_until_somebody_renames_it(local):
    def name():
        return local.get("/api/v1/clusters").json[0]["name"]

    def start_again_after(change):
        assert local.stop() == 0
        with sqlite3.connect(local.data / "prorata.db") as database:
            database.execute(change)
        database.close()
        local.start()

    assert name() == os.uname().nodename
    start_again_after("UPDATE clusters SET name = 'simulated', updated_ms = created_ms")
    assert name() == os.uname().nodename, "a folder of an older version"
    start_again_after("UPDATE clusters SET name = 'simulated', updated_ms = created_ms + 1")
    assert name() == "simulated", "somebody wants it so"


def test_a_command_runs_with_its_devices_and_variables(local):
    workload = submit(
        local,
        "env",
        "env; pwd; id -u; echo all; exit 0",
        gpus=2,
        spec={"workingDir": "/usr", "environmentVariables": [{"name": "GREETING", "value": "good day"}]},
    )
    local.wait_phase(workload, "Completed")
    lines = log_of(local, workload).splitlines()
    assert "CUDA_VISIBLE_DEVICES=0,1" in lines and "NVIDIA_VISIBLE_DEVICES=0,1" in lines
    assert "GREETING=good day" in lines and "RUNAI_PROJECT=team-a" in lines and "RUNAI_NUM_OF_GPUS=2" in lines
    assert "RUNAI_JOB_NAME=env" in lines and "/usr" in lines and lines[-1] == "all"
    if os.geteuid() == 0:
        assert lines[-2] != "0", "a pod ran as root"


def test_a_part_of_a_device_is_shown_where_its_processes_run(local):
    submit(local, "whole", "echo devices=$CUDA_VISIBLE_DEVICES; sleep 60")
    submit(
        local,
        "half",
        "echo devices=$CUDA_VISIBLE_DEVICES; sleep 60",
        spec={"compute": {"gpuRequestType": "portion", "gpuDevicesRequest": 1, "gpuPortionRequest": 0.5}},
    )
    told = local.wait_for(
        "both told their device",
        lambda: (
            [
                w
                for w in local.get("/api/v1/workloads", sortBy="name").json["workloads"]
                if "devices=" in log_of(local, w["id"])
            ][1:]
            and {
                w["name"]: int(log_of(local, w["id"]).split("devices=")[1].split()[0])
                for w in local.get("/api/v1/workloads").json["workloads"]
            }
        ),
    )
    (node,) = local.get("/api/v1/nodes").json["nodes"]
    shown = {w["name"]: (d["index"], w["share"]) for d in node["prorata"]["devices"] for w in d["workloads"]}
    assert shown == {"whole": (told["whole"], 1), "half": (told["half"], 0.5)} and told["whole"] != told["half"]


def test_a_pod_without_gpus_sees_none(local):
    workload = submit(local, "cpu", "echo devices:$CUDA_VISIBLE_DEVICES:$NVIDIA_VISIBLE_DEVICES", gpus=0)
    local.wait_phase(workload, "Completed")
    assert log_of(local, workload) == "devices::void\n"


@pytest.mark.parametrize(
    "script, reason, message",
    [
        ("exit 7", "Error", "exit code 7"),
        ("kill -SEGV $$", "Error", "SIGSEGV"),
    ],
)
def test_a_failure_says_how(local, script, reason, message):
    workload = submit(local, "bad", script, spec={"backoffLimit": 0})
    local.wait_phase(workload, "Failed")
    events = local.get(f"/api/v1/workloads/{workload}/events").json["events"]
    assert any(message in event["message"] for event in events), events
    said = local.workload(workload)["phaseMessage"]
    assert (
        said.startswith("Failed 1 time, and backoffLimit allows 0; bad-0-0 ended with exit code ") and message in said
    )
    assert f"bad: {said}" in [event["message"] for event in events]


@pytest.mark.parametrize(
    "spec, message",
    [
        ({}, "no command"),
        ({"command": "/no/such/program"}, "command /no/such/program: No such file"),
        ({"command": "'/no/such\nended 1'"}, "command /no/such?ended 1: No such file"),
        ({"command": "true", "workingDir": "/no/such/folder"}, "No such file"),
        (
            {"command": "true", "environmentVariables": [{"name": "KEY", "secret": {"name": "s", "key": "k"}}]},
            "no secret s",
        ),
    ],
)
def test_what_cannot_start_says_why(local, spec, message):
    workload = local.submit("bad", "team-a", spec={"backoffLimit": 0, **spec})
    local.wait_phase(workload, "Failed")
    events = local.get(f"/api/v1/workloads/{workload}/events").json["events"]
    assert any(message in event["message"] for event in events), events


def test_pods_outlive_the_server(local, folder):
    folder.chmod(0o755)
    at_folder = {"workingDir": str(folder), "backoffLimit": 0}
    runs = submit(local, "runs", "i=0; while true; do i=$((i+1)); echo step $i; sleep 0.1; done")
    ends = submit(local, "ends", "echo begun; until test -e go; do sleep 0.05; done; echo done; exit 3", spec=at_folder)
    wait_log(local, runs, "step 3")
    wait_log(local, ends, "begun")
    before = supervisors_of(local)
    assert len(before) == 2
    local.kill()
    (folder / "go").touch()
    until = time.monotonic() + 60
    while len(supervisors_of(local)) > 1:
        assert time.monotonic() < until
        time.sleep(0.05)
    seen = max(int(line.split()[-1]) for line in log_lines(local) if " step " in line)
    local.start()
    local.wait_phase(ends, "Failed")
    assert "done" in log_of(local, ends)
    events = local.get(f"/api/v1/workloads/{ends}/events").json["events"]
    assert any("exit code 3" in event["message"] for event in events), events
    assert local.workload(runs)["phase"] == "Running"
    assert supervisors_of(local).items() <= before.items(), "it was started a second time"
    wait_log(local, runs, f"step {seen + 5}")
    assert log_of(local, runs).startswith("step 1\nstep 2\n")


def test_a_stop_tells_the_command_first(local):
    workload = submit(
        local,
        "polite",
        "trap 'echo told; sleep 0.3; echo saved; exit 0' TERM; echo up; while true; do sleep 0.05; done",
    )
    wait_log(local, workload, "up")
    pod = pods_of(local, workload)[0]
    assert local.post(f"/api/v1/workloads/trainings/{workload}/suspend").status == 202
    local.wait_phase(workload, "Stopped")
    # The pod's row is over; its log stays.
    files = list((local.data / "pods" / pod["id"] / "log").iterdir())
    assert "saved" in files[0].read_text()


def test_nothing_but_the_log_is_kept_of_a_stopped_pod(local):
    workload = submit(local, "stopped", "echo up; while true; do sleep 0.05; done")
    wait_log(local, workload, "up")
    local.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    local.wait_phase(workload, "Stopped")
    folder = next((local.data / "pods").glob("*/log")).parent
    local.wait_for("it was forgotten", lambda: not (folder / "state").exists())


def test_a_command_that_will_not_go_is_killed(local):
    workload = submit(
        local,
        "stubborn",
        "trap '' TERM; echo up; (setsid sleep 1000 &); while true; do sleep 0.05; done",
        spec={"terminationGracePeriodSeconds": 1},
    )
    wait_log(local, workload, "up")
    uuid = next(iter(supervisors_of(local)))
    assert len(processes_of(uuid)) >= 2
    local.post(f"/api/v1/workloads/trainings/{workload}/suspend")
    local.wait_phase(workload, "Stopped")
    assert processes_of(uuid) == []


def test_nothing_that_a_pod_starts_outlives_it(local):
    workload = submit(
        local, "litter", "(setsid sh -c 'sleep 1000' &) ; (setsid sh -c '(setsid sleep 1001 &)' &); sleep 0.3; echo end"
    )
    local.wait_phase(workload, "Completed")
    uuid = next((local.data / "pods").glob("*/log")).parent.name
    assert processes_of(uuid) == []


def test_a_killed_supervisor_leaves_no_orphans_and_is_told(local):
    workload = submit(local, "lost", "(setsid sleep 1000 &); echo up; sleep 1000", spec={"backoffLimit": 0})
    wait_log(local, workload, "up")
    uuid, supervisor = next(iter(supervisors_of(local).items()))
    os.kill(supervisor, signal.SIGKILL)
    local.wait_phase(workload, "Failed")
    assert processes_of(uuid) == []
    events = local.get(f"/api/v1/workloads/{workload}/events").json["events"]
    assert any("its supervisor was killed" in event["message"] for event in events), events


def has_cgroups():
    return os.geteuid() == 0 and any(line.split()[2] == "cgroup2" for line in open("/proc/self/mounts"))


@pytest.mark.skipif(not has_cgroups(), reason="needs root and cgroup v2")
def test_a_process_that_hides_its_environment_is_found_too(local):
    workload = submit(local, "hides", "(env -i setsid sleep 98765 &); echo up; sleep 1000", spec={"backoffLimit": 0})
    wait_log(local, workload, "up")
    os.kill(next(iter(supervisors_of(local).values())), signal.SIGKILL)
    local.wait_phase(workload, "Failed")
    left = [entry for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline") if b"98765" in read_quietly(entry)]
    assert left == []


def test_a_supervisor_killed_while_the_server_is_down(local):
    workload = submit(local, "lost", "(setsid sleep 1000 &); echo up; sleep 1000", spec={"backoffLimit": 0})
    wait_log(local, workload, "up")
    uuid, supervisor = next(iter(supervisors_of(local).items()))
    local.kill()
    os.kill(supervisor, signal.SIGKILL)
    local.start()
    local.wait_phase(workload, "Failed")
    assert processes_of(uuid) == []


def test_over_quota_is_given_back(local):
    """The quota quick start with processes: team-a borrows all, team-b asks for its own, a younger job of team-a
    yields."""
    script = "trap 'echo yields; exit 0' TERM; echo up; while true; do sleep 0.05; done"
    first = submit(local, "a1", script, gpus=2)
    second = submit(local, "a2", script, gpus=2)
    for workload in (first, second):
        wait_log(local, workload, "up")
    claim = submit(local, "b1", script, project="team-b", gpus=2)
    local.wait_phase(claim, "Running")
    assert local.workload(first)["phase"] == "Running"
    assert local.workload(second)["phase"] == "Pending"
    assert len(supervisors_of(local)) == 2
    local.post(f"/api/v1/workloads/trainings/{claim}/suspend")
    local.wait_phase(second, "Running")


def test_a_long_log_is_kept_in_bounds_and_read_in_parts(local):
    workload = submit(
        local,
        "talks",
        "i=0; yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -n 3000000; echo "
        "last words; sleep 1000",
    )
    local.wait_for("the end of the log", lambda: log_of(local, workload, tail=1) == "last words\n", 120)
    files = list((local.data / "pods").glob("*/log/*"))
    assert len(files) > 2 and sum(f.stat().st_size for f in files) <= 145 << 20
    assert log_of(local, workload, tail=3).splitlines() == ["0123456789" * 7] * 2 + ["last words"]
    assert log_of(local, workload, tail=1, timestamps="true")[:2] == "20"


def test_parts_of_a_line_become_one(local):
    workload = submit(local, "parts", "printf one; sleep 0.2; printf two; sleep 0.2; echo three; printf open")
    local.wait_phase(workload, "Completed")
    assert log_of(local, workload) == "onetwothree\nopen"


def test_workers_find_each_other(local):
    """A gang of processes that adds up its ranks through its master, as torchrun's rendezvous does."""
    program = (
        "import os, socket, time\n"
        "rank, size = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])\n"
        "address = (os.environ['MASTER_ADDR'], int(os.environ['MASTER_PORT']))\n"
        "if rank == 0:\n"
        "    listener = socket.create_server(address)\n"
        "    peers = [listener.accept()[0] for _ in range(size - 1)]\n"
        "    total = sum(int(peer.recv(16)) for peer in peers)\n"
        "    for peer in peers: peer.sendall(str(total).encode())\n"
        "else:\n"
        "    while True:\n"
        "        try: peer = socket.create_connection(address); break\n"
        "        except OSError: time.sleep(0.05)\n"
        "    peer.sendall(str(rank).encode()); total = int(peer.recv(16))\n"
        "os.write(1, f'rank {rank} of {size} total {total}\\n'.encode())\n"
        "if rank == 0:\n"
        "    for peer in peers: peer.recv(16)\n"  # nothing more: it has printed and ended
    )  # with its master the workload is complete, and who still works is stopped
    body = {
        "command": "/usr/bin/python3 -c",
        "args": quoted(program),
        "numWorkers": 3,
        "distributedFramework": "PyTorch",
    }
    workload = local.submit("gang", "team-a", 1, kind="distributed", spec=body, masterSpecSameAsWorker=True)
    local.wait_phase(workload, "Completed", "Failed")
    texts = sorted(line.split(" F ")[1] for line in log_lines(local))
    assert texts == [f"rank {rank} of 4 total 6" for rank in range(4)]


def test_stop_leaves_pods_and_stop_pods_ends_them(local):
    workload = submit(local, "stays", "trap 'echo told; exit 0' TERM; echo up; while true; do sleep 0.05; done")
    wait_log(local, workload, "up")
    ended = stop_command(local)
    assert (ended.returncode, ended.stdout) == (0, "the server has stopped\n"), ended
    assert local.process.wait(10) == 0 and len(supervisors_of(local)) == 1
    local.start()
    assert local.workload(workload)["phase"] == "Running"
    ended = stop_command(local, "--pods", "--grace", "5s")
    assert (ended.returncode, ended.stdout) == (0, "the server has stopped\n1 pods have ended\n"), ended
    assert supervisors_of(local) == {}
    # It was not its own failure: it runs again.
    local.start()
    local.wait_for("it runs again", lambda: supervisors_of(local))
    local.wait_phase(workload, "Running")


@pytest.mark.parametrize(
    "words", [[], ["--data"], ["--data", "/no/such/folder"], ["--nonsense"], ["--data", "x", "--grace", "soon"]]
)
def test_stop_refuses_nonsense(words):
    ended = subprocess.run([PRORATA, "stop", *words], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2 and ended.stderr.startswith("prorata stop: ")


def test_a_folder_belongs_to_one_backend(local):
    assert local.stop() == 0
    local.arguments = []
    local.start(wait=False)
    assert local.process.wait(30) != 0
    assert "belongs to the backend local" in local.tail()
    local.arguments = ["--backend", "local", "--local-gpus", str(GPUS), "--quick-start"]
    local.start()


@pytest.mark.parametrize("by", ["cgroups, where there are any", "processes"])
def test_cpu_and_memory_of_pods_are_measured(start, request, by):
    if by == "processes":
        request.getfixturevalue("without_cgroups")
    server = start("--local-gpus", "1")
    workload = submit(server, "busy", HOLDS_30_MB, gpus=0)
    wait_log(server, workload, "up")

    of = f"workloads/{workload}"
    server.wait_for("its cores", lambda: 0.05 < used(server, of, "CPU_USAGE_CORES") < 4)
    server.wait_for("its memory", lambda: 30e6 < used(server, of, "CPU_MEMORY_USAGE_BYTES") < 300e6)
    (node,) = server.get("/api/v1/nodes").json["nodes"]
    of = f"nodes/{node['id']}"
    server.wait_for("the machine's cores", lambda: used(server, of, "CPU_USAGE_CORES") > 0.05)
    assert 30e6 < used(server, of, "CPU_MEMORY_USAGE_BYTES") < node["prorata"]["cpuMemoryBytes"]


def test_what_nothing_measures_is_not_idle(local):
    workload = submit(local, "unknown", RUNS)
    wait_log(local, workload, "up")

    def now_span():
        now = datetime.datetime.now(datetime.UTC)
        start, end = ((now + datetime.timedelta(seconds=s)).strftime("%Y-%m-%dT%H:%M:%SZ") for s in (-60, 0))
        return {"start": start, "end": end, "numberOfSamples": 2}

    def samples(metric):
        (pod,) = local.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
        path = f"/api/v1/workloads/{workload}" + ("" if metric == "GPU_ALLOCATION" else f"/pods/{pod['id']}")
        return local.get(f"{path}/metrics", metricType=metric, **now_span())

    local.wait_for("samples of the workload", lambda: samples("GPU_ALLOCATION").status == 200)
    assert samples("GPU_UTILIZATION").status == 207
    assert local.get("/api/v1/workloads/idle", minIdleSeconds=0).json["total"]["count"] == 0
    (pool,) = local.get("/api/v1/overview").json["nodePools"]
    assert pool["gpusAllocated"] == 1 and pool["gpusIdle"] is None
    for kind, values in (("ALLOCATED_GPUS", [{"value": "1"}]), ("IDLE_ALLOCATED_GPUS", [])):
        assert local.get("/api/v1/nodes/telemetry", telemetryType=kind).json["values"] == values
    (node,) = local.get("/api/v1/nodes").json["nodes"]
    cluster = f"clusters/{local.cluster_id()}"
    for owner, by in ((cluster, {}), (f"nodes/{node['id']}", {}), (cluster, {"groupBy": "Project"})):
        answer = local.get(f"/api/v1/{owner}/metrics", metricType="GPU_UTILIZATION", **by, **now_span())
        assert answer.json["measurements"] and not any(m["values"] for m in answer.json["measurements"]), owner
