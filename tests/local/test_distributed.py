"""Distributed workloads: what launchers need to find each other on one machine, and a real job of several processes."""

import itertools
import json
import pathlib

import pytest
from pods import log_lines, log_of, quoted

RANKS = """
import os
from mpi4py import MPI
world = MPI.COMM_WORLD
total = world.allreduce(world.rank)
place = f"in {os.environ['POD_NAME']} on {os.environ['CUDA_VISIBLE_DEVICES']}"
os.write(1, f"rank {world.rank} of {world.size} {place} sum {total}\\n".encode())
"""


def distributed(server, folder, name, framework, workers, script, gpus=1, **extra):
    """With its master a workload is complete, and who still works is stopped: no pod ends before all have printed."""
    folder.chmod(0o777)
    pods = workers + bool(extra.get("masterSpecSameAsWorker"))
    script += f"; touch printed-$POD_NAME; until [ $(ls | grep -c ^printed-{name}-) = {pods} ]; do sleep 0.05; done"
    spec = {
        "command": "/bin/sh -c",
        "args": quoted(script),
        "workingDir": str(folder),
        "numWorkers": workers,
        "distributedFramework": framework,
    }
    return server.submit(name, "team-a", gpus, kind="distributed", spec=spec, **extra)


def printed(server, word):
    """What comes after the word on each line, over all pods."""
    return sorted(line.split(f" {word} ", 1)[1] for line in log_lines(server) if f" {word} " in line)


def test_mpirun_starts_ranks_in_the_workers(local):
    """Open MPI as it comes from Debian, without ssh; the launcher holds no GPU, each worker has one and two slots."""
    workload = local.submit(
        "mpi",
        "team-a",
        1,
        kind="distributed",
        spec={"numWorkers": 2, "distributedFramework": "MPI", "slotsPerWorker": 2},
        masterSpec={"command": "mpirun /usr/bin/python3 -c", "args": quoted(RANKS), "compute": {"cpuCoreRequest": 0.1}},
    )
    local.wait_phase(workload, "Completed", seconds=60)
    lines = sorted(line for line in log_of(local, workload).splitlines() if line.startswith("rank"))
    assert [line.split(" in ")[0] for line in lines] == [f"rank {rank} of 4" for rank in range(4)]
    assert all(line.endswith(" sum 6") for line in lines)
    places = {line.split(" in ")[1].split(" on ")[0]: line.split(" on ")[1].split()[0] for line in lines}
    assert set(places) == {"mpi-worker-0", "mpi-worker-1"}
    assert sorted(places.values()) == ["0", "1"], "each worker's ranks see its device alone"
    assert [line.split(" in ")[1].split()[0] for line in lines] == ["mpi-worker-0"] * 2 + ["mpi-worker-1"] * 2


def test_an_mpi_workload_that_is_stopped_leaves_no_rank(local):
    program = RANKS + "import time; time.sleep(1000)"
    workload = local.submit(
        "mpi",
        "team-a",
        1,
        kind="distributed",
        spec={"numWorkers": 2, "distributedFramework": "MPI"},
        masterSpec={
            "command": "mpirun /usr/bin/python3 -c",
            "args": quoted(program),
            "compute": {"cpuCoreRequest": 0.1},
        },
    )
    local.wait_for("both ranks", lambda: len(printed(local, "rank")) == 2)
    local.post(f"/api/v1/workloads/distributed/{workload}/suspend")
    local.wait_phase(workload, "Stopped", seconds=60)
    local.wait_for("no process of it", lambda: not processes_with(f"RUNAI_JOB_UUID={workload}"))
    assert not list(pathlib.Path("/tmp").glob(f"prorata-mpi-{workload}*"))


def processes_with(entry):
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if entry.encode() in path.read_bytes().split(b"\0"):
                found.append(path.parent.name)
        except OSError:
            pass
    return found


def test_torchrun_needs_no_options(local, folder):
    names = [
        "PET_NNODES",
        "PET_NODE_RANK",
        "PET_NPROC_PER_NODE",
        "PET_MASTER_ADDR",
        "WORLD_SIZE",
        "RANK",
        "MASTER_ADDR",
    ]
    script = "echo it $" + " $".join(names) + "; [ $PET_MASTER_PORT = $MASTER_PORT ] && echo port $MASTER_PORT"
    workload = distributed(local, folder, "torch", "PyTorch", 1, script, gpus=2, masterSpecSameAsWorker=True)
    local.wait_phase(workload, "Completed")
    assert printed(local, "it") == ["2 0 2 127.0.0.1 2 0 127.0.0.1", "2 1 2 127.0.0.1 2 1 127.0.0.1"]
    assert len(set(printed(local, "port"))) == 1 and len(printed(local, "port")) == 2


def test_an_elastic_training_meets_at_one_point(local):
    spec = {
        "command": "/bin/sh -c",
        "args": quoted("echo it $PET_NNODES $PET_RDZV_BACKEND $PET_RDZV_ENDPOINT $PET_RDZV_ID"),
        "minReplicas": 1,
        "maxReplicas": 3,
        "numWorkers": 2,
        "distributedFramework": "PyTorch",
    }
    workload = local.submit("elastic", "team-a", 1, kind="distributed", spec=spec)
    local.wait_phase(workload, "Completed")
    points = printed(local, "it")
    assert len(set(points)) == 1
    nodes, backend, point, name = points[0].split()
    assert (nodes, backend, name) == ("1:3", "c10d", workload) and point.startswith("127.0.0.1:")


def test_tensorflow_knows_the_others(local, folder):
    workload = distributed(local, folder, "tf", "TF", 2, 'echo "it $TF_CONFIG"', masterSpecSameAsWorker=True)
    local.wait_phase(workload, "Completed")
    configs = [json.loads(text) for text in printed(local, "it")]
    tasks = sorted((config["task"]["type"], config["task"]["index"]) for config in configs)
    assert tasks == [("chief", 0), ("worker", 0), ("worker", 1)]
    assert all(config["cluster"] == configs[0]["cluster"] for config in configs)
    addresses = configs[0]["cluster"]["chief"] + configs[0]["cluster"]["worker"]
    first = int(addresses[0].split(":")[1])
    assert addresses == [f"127.0.0.1:{first + i}" for i in range(3)]


@pytest.mark.parametrize(
    "framework,variables,want",
    [
        ("JAX", "$NUM_PROCESSES $PROCESS_ID $COORDINATOR_ADDRESS", ["2 0 127.0.0.1", "2 1 127.0.0.1"]),
        ("XGBoost", "$WORLD_SIZE $RANK $WORKER_ADDRS", ["2 0 127.0.0.1,127.0.0.1", "2 1 127.0.0.1,127.0.0.1"]),
    ],
)
def test_other_frameworks(local, folder, framework, variables, want):
    workload = distributed(local, folder, "others", framework, 2, f"echo it {variables}")
    local.wait_phase(workload, "Completed")
    assert printed(local, "it") == want


def test_workloads_have_ports_of_their_own_also_after_a_restart(local, folder):
    names = [
        distributed(
            local, folder, f"job-{i}", "PyTorch", 2, "echo port $RUNAI_JOB_NAME $MASTER_PORT; sleep 1000", gpus=0
        )
        for i in range(2)
    ]
    local.wait_for("four pods", lambda: len(printed(local, "port")) == 4)
    local.kill()
    local.start()
    names.append(
        distributed(local, folder, "job-2", "PyTorch", 2, "echo port $RUNAI_JOB_NAME $MASTER_PORT; sleep 1000", gpus=0)
    )
    local.wait_for("six pods", lambda: len(printed(local, "port")) == 6)
    ports = {}
    for line in printed(local, "port"):
        ports.setdefault(line.split()[0], set()).add(int(line.split()[1]))
    assert all(len(found) == 1 for found in ports.values())
    first = sorted(min(found) for found in ports.values())
    assert all(later - earlier >= 2 for earlier, later in itertools.pairwise(first))
