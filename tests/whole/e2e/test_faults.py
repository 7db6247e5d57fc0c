"""kill -9 under load, and a full disk: what was answered stays, and what is left is consistent."""

import concurrent.futures
import json
import os
import random
import sqlite3
import subprocess
import threading

import pytest

LONG = bool(os.environ.get("PRORATA_LONG"))
ROUNDS = 1000 if LONG else 7  # of each seed
SEEDS = (random.randrange(1 << 30),) if LONG else (1, 2, 3)


def held_devices(server):
    """(node, device) -> pods that hold it whole, as the database says."""
    connection = sqlite3.connect(f"file:{server.data}/prorata.db?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT node_name, gpu_indices_json, name, gpu_portion_milli, gpu_memory_mib FROM pods "
            "WHERE deleted_ms = 0 AND status IN ('Binding', 'Bound', 'Running', 'Releasing')"
        ).fetchall()
    finally:
        connection.close()
    held = {}
    for node, indices, name, portion, memory in rows:
        if portion == 0 and memory == 0:
            for index in json.loads(indices):
                held.setdefault((node, index), []).append(name)
    return held


def all_workloads(server):
    """Their ids, however many there are."""
    found, page = set(), None
    while page is None or len(page) == 500:
        page = server.get("/api/v1/workloads", limit=500, offset=len(found), sortBy="name").json["workloads"]
        found |= {workload["id"] for workload in page}
    return found


def check_consistent(server, answered, deleted):
    workloads = all_workloads(server)
    missing = [n for i, n in answered.items() if i not in workloads and i not in deleted]
    assert not missing, f"answered and lost: {missing}"
    twice = {d: pods for d, pods in held_devices(server).items() if len(pods) > 1}
    assert not twice, f"held twice: {twice}"
    connection = sqlite3.connect(f"file:{server.data}/prorata.db?mode=ro", uri=True)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    lost = connection.execute(
        "SELECT w.name, w.phase FROM workloads w WHERE w.deleted_ms = 0 AND w.desired_phase = 'Running' "
        "AND w.phase IN ('Pending', 'Running', 'Initializing') "
        "AND (SELECT count(*) FROM pods p WHERE p.workload_id = w.id AND p.deleted_ms = 0) < w.min_pods"
    ).fetchall()
    connection.close()
    assert not lost, f"workloads without their pods: {lost}"


@pytest.mark.parametrize("number", range(len(SEEDS)))
def test_kill_9_under_load_loses_nothing_answered(make_server, number):
    server = make_server("--quick-start")
    seed = SEEDS[number]
    print("seed", seed)
    rng = random.Random(seed)
    projects = {name: server.project_id(name) for name in ("team-a", "team-b")}
    cluster = server.cluster_id()
    answered, deleted = {}, set()
    lock = threading.Lock()
    number = iter(range(1, 1000000))

    def submit_and_delete(count, stop):
        for _ in range(count):
            if stop.is_set():
                return
            with lock:
                n = next(number)
                victim = rng.choice(sorted(answered)) if answered and rng.random() < 0.6 else None
                body = {
                    "name": f"w{n}",
                    "projectId": projects[rng.choice(("team-a", "team-b"))],
                    "clusterId": cluster,
                    "spec": {"image": "x", "compute": {"gpuDevicesRequest": rng.choice((0, 1, 1, 2))}},
                }
            try:
                answer = server.request("POST", "/api/v1/workloads/trainings", body)
                if answer.status == 202:
                    with lock:
                        answered[answer.json["workloadId"]] = body["name"]
                if victim:
                    with lock:  # asked for: it may be gone whether or not the answer comes
                        deleted.add(victim)
                    server.delete(f"/api/v1/workloads/trainings/{victim}")
            except OSError:
                return  # the server was killed under us: nothing was answered

    for _round_number in range(ROUNDS):
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            futures = [pool.submit(submit_and_delete, 12, stop) for _ in range(4)]
            threading.Event().wait(rng.uniform(0.02, 0.4))
            server.kill()
            stop.set()
            for future in futures:
                future.result()
        with lock:
            for gone in deleted:  # bound the table: what was deleted needs no further look
                answered.pop(gone, None)
        server.start()
        check_consistent(server, answered, deleted)
    server.wait_for("what runs holds at most the cluster", lambda: len(held_devices(server)) <= 4)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_full_disk_refuses_writes_and_recovers(make_server, folder):
    disk = folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], check=True)
    try:
        full_disk(make_server, disk)
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def full_disk(make_server, disk):
    server = make_server("--data", str(disk / "data"), "--quick-start")
    answered = [server.submit("before", "team-a", gpus=0)]
    ballast = disk / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
    body = {
        "name": "x",
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "spec": {"image": "x"},
    }
    for number in range(3000):  # what the write-ahead log has room for still goes through
        body["name"] = f"full-{number}"
        answer = server.post("/api/v1/workloads/trainings", body)
        if answer.status != 202:
            break
        answered.append(answer.json["workloadId"])
    assert answer.status == 503, answer
    assert "full" in answer.json["message"], answer
    assert server.get("/api/v1/workloads").status == 200, "reads go on"
    assert server.request("GET", "/readyz", token=None).status == 503
    ballast.unlink()
    server.wait_for("writes resume", lambda: server.request("GET", "/readyz", token=None).status == 200)
    answered.append(server.submit("after", "team-a", gpus=0))
    for workload_id in answered:
        assert server.get(f"/api/v1/workloads/{workload_id}").status == 200
    assert server.stop() == 0
