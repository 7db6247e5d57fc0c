"""What must hold, looked at from outside: in the database's file and in /proc."""

import json
import os
import pathlib
import sqlite3
import threading
import time

from world import GPUS

SETTLED_S = 60
SLOW_S = 4
HOLDING = ("Binding", "Bound", "Running", "Releasing")
PLACED_MILLI = 1000


def read(world, sql):
    connection = sqlite3.connect(f"file:{world.server.data}/prorata.db?mode=ro", uri=True)
    try:
        connection.row_factory = sqlite3.Row
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def pods_of(world):
    return read(
        world,
        "SELECT p.*, w.name AS workload, w.uuid AS workload_uuid, w.min_pods, w.pods_wanted, w.type, w.phase FROM "
        "pods p "
        f"JOIN workloads w ON w.id = p.workload_id WHERE p.deleted_ms = 0 AND p.status IN {HOLDING}",
    )


def held_twice(world):
    """Devices that rows give away more than once: never, at any moment."""
    held = {}
    for pod in pods_of(world):
        indices = json.loads(pod["gpu_indices_json"])
        for index in indices:
            held.setdefault(index, []).append((pod["gpu_allocated_milli"] // len(indices), pod["name"]))
    return [f"device {i} is held by {h}" for i, h in held.items() if sum(milli for milli, _ in h) > PLACED_MILLI]


def used_twice(world):
    """Devices that processes of several pods have been told to use, together more than once. Who has ended meanwhile is
    left out."""

    def look():
        users = {}
        for environment in world.marked().values():
            for device in environment.get("CUDA_VISIBLE_DEVICES", "").split(","):
                if device:
                    users.setdefault(device, {})[environment["PRORATA_POD"]] = float(
                        environment.get("RUNAI_GPU_PORTION", 1)
                    )
        return users

    first = look()
    if all(sum(pods.values()) <= 1.001 for pods in first.values()):
        return []
    second = look()
    return [
        f"{device} is used by {sorted(pods)}"
        for device, pods in second.items()
        if sum(portion for pod, portion in pods.items() if pod in first.get(device, ())) > 1.001
    ]


class Watch:
    """Looks again and again whether processes share a device that is not theirs to share."""

    def __init__(self, world):
        self.world, self.found, self.stopping = world, [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.stopping.wait(0.1):
            self.found += used_twice(self.world)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()


def answers_lost(world):
    """Every answered write is there, and nothing that nobody asked for."""
    rows = {
        row["uuid"]: row for row in read(world, "SELECT uuid, name, desired_phase, phase, deleted_ms FROM workloads")
    }
    wrong = []
    for workload, known in world.known.items():
        row = rows.get(workload)
        if row is None:
            wrong.append(f"{known['name']} was answered and is not there")
        elif known["wish"] == "Deleted" and row["desired_phase"] != "Deleted":
            wrong.append(f"{known['name']} was deleted and is wanted {row['desired_phase']}")
        elif known["wish"] not in (None, "Deleted") and row["desired_phase"] == "Deleted":
            wrong.append(f"{known['name']} is deleted, and nobody asked for it")
        elif (
            known["wish"] == "Stopped"
            and row["desired_phase"] != "Stopped"
            and row["phase"] not in ("Completed", "Failed")
        ):
            wrong.append(f"{known['name']} was suspended and is wanted {row['desired_phase']}")
    wrong += [f"{row['name']} was asked for by nobody" for row in rows.values() if row["name"] not in world.unsure]
    return wrong


def unsettled(world):
    """What must come true in a while: rows and processes agree, gangs are whole, what was to go is gone."""
    pods = {pod["uuid"]: pod for pod in pods_of(world)}
    processes = world.marked()
    supervisors = {}
    for pid, environment in processes.items():
        if world.is_supervisor(pid) and environment["PRORATA_POD"] not in supervisors:
            supervisors[environment["PRORATA_POD"]] = pid
    wrong = []
    for uuid, pod in pods.items():
        if pod["status"] != "Running":
            wrong.append(f"{pod['name']} is still {pod['status']}")
        elif uuid not in supervisors:
            wrong.append(f"{pod['name']} is Running without a supervisor")
        elif not any(
            environment["PRORATA_POD"] == uuid and pid != supervisors[uuid] for pid, environment in processes.items()
        ):
            wrong.append(f"{pod['name']} is Running without a process")
    for pod in pods.values():
        bad = world.broken.keys() & set(json.loads(pod["gpu_indices_json"]))
        if bad:
            wrong.append(f"{pod['name']} is on device {bad}, which has failed")
    for pid, environment in processes.items():
        if environment["PRORATA_POD"] not in pods:
            wrong.append(f"process {pid} is an orphan: {cmdline(pid)} of pod {environment['PRORATA_POD']}")
    running = {}
    for pod in pods.values():
        running.setdefault(pod["workload_uuid"], []).append(pod)
    for mates in running.values():
        if mates[0]["type"] == "Distributed" and len(mates) < mates[0]["min_pods"]:
            done = read(
                world,
                f"SELECT count(*) FROM pods WHERE status = 'Succeeded' AND workload_id = "
                f"{mates[0]['workload_id']} AND deleted_ms = 0",
            )[0][0]
            if len(mates) + done < mates[0]["min_pods"]:
                wrong.append(f"{mates[0]['workload']} is a gang of {len(mates)} of {mates[0]['min_pods']}")
    for row in read(world, "SELECT name, desired_phase, phase FROM workloads WHERE deleted_ms = 0"):
        if row["desired_phase"] == "Deleted" or row["phase"] in (
            "Stopping",
            "Deleting",
            "Creating",
            "Initializing",
            "Resuming",
            "Terminating",
        ):
            wrong.append(f"{row['name']} is still {row['phase']}, wanted {row['desired_phase']}")
    wrong += [
        f"{row['pod']} has failed and is not tried again"
        for row in read(
            world,
            "SELECT p.name AS pod FROM pods p JOIN workloads w ON w.id = p.workload_id WHERE p.deleted_ms = 0 AND "
            "p.status = 'Failed' AND p.attempt < 3 "  # later ones wait for long
            "AND w.deleted_ms = 0 AND w.desired_phase = 'Running' AND w.phase NOT IN ('Completed', 'Failed') AND "
            "NOT EXISTS (SELECT 1 FROM pods n "
            "WHERE n.workload_id = p.workload_id AND n.role = p.role AND n.pod_index = p.pod_index AND n.attempt "
            "> p.attempt)",
        )
    ]
    wrong += cgroups_left(world, pods)
    return wrong


def cmdline(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return "(gone)"


def cgroups_left(world, pods):
    return [f"a cgroup is left of pod {entry.name}" for entry in world.cgroups() if entry.name not in pods]


def settle(world):
    begin = time.monotonic()
    until, has_told = begin + SETTLED_S, not os.environ.get("FAULTS_TALK")
    while True:
        wrong = unsettled(world)
        if not wrong:
            return
        if not has_told and time.monotonic() > begin + SLOW_S:
            has_told = True
            print("slow:", wrong, flush=True)
        if world.server.process.poll() is not None:
            raise AssertionError(f"the server ended with {world.server.process.returncode}:\n{world.server.tail()}")
        assert time.monotonic() < until, wrong
        time.sleep(0.1)


def idle_for_no_reason(world):
    """Wanted, not running, nothing in their way: pods are missing."""
    rows = read(
        world,
        "SELECT w.name, w.phase, (SELECT count(*) FROM pods p WHERE p.workload_id = w.id AND p.deleted_ms = 0) AS "
        "pods FROM workloads w "
        "WHERE w.deleted_ms = 0 AND w.desired_phase = 'Running' AND w.phase NOT IN ('Completed', 'Failed')",
    )
    return [f"{row['name']} is {row['phase']} and has no pod" for row in rows if row["pods"] == 0]


def ends_without_reason(world):
    wrong = [
        f"pod {row['name']} ended without a reason"
        for row in read(
            world,
            "SELECT name FROM pods WHERE reason = '' AND (completed_ms > 0 OR status IN ('Failed', 'Succeeded', "
            "'Deleted'))",
        )
    ]
    return wrong + [
        f"{row['name']} is {row['phase']} without a word"
        for row in read(
            world,
            "SELECT name, phase FROM workloads WHERE phase IN ('Failed', 'Completed', 'Stopped') AND "
            "phase_message = ''",
        )
    ]


def broken_file(world):
    return [row[0] for row in read(world, "PRAGMA integrity_check") if row[0] != "ok"]


def bad_log(world):
    text = world.server.log.read_text(errors="replace")
    words = (
        "AddressSanitizer",
        "LeakSanitizer",
        "ThreadSanitizer",
        "runtime error",
        "breaks an invariant",
        "was refused",
    )
    return [line for line in text.splitlines() if any(word in line for word in words)]


def listed_by_the_api(world):
    """The API tells what the rows say."""
    answer = world.ask("GET", "/api/v1/workloads?limit=500")
    if answer is None or answer.status != 200:
        return [f"the list of workloads is not answered: {answer}"]
    told = {w["id"] for w in answer.json["workloads"]}
    rows = {row["uuid"] for row in read(world, "SELECT uuid FROM workloads WHERE deleted_ms = 0")}
    return [f"workload {uuid} is told of in one place only" for uuid in told ^ rows]


def ends(world):
    """How many pods ended how."""
    return {
        row[0]: row[1]
        for row in read(
            world, "SELECT reason, count(*) FROM pods WHERE completed_ms > 0 AND started_ms > 0 GROUP BY reason"
        )
    }


ALWAYS = (answers_lost, held_twice, used_twice, ends_without_reason, broken_file, bad_log)


def check(world):
    for rule in ALWAYS:
        wrong = rule(world)
        assert not wrong, (rule.__name__, wrong)
    assert not world.bad_answers, world.bad_answers
    settle(world)
    for rule in (*ALWAYS, idle_for_no_reason, listed_by_the_api):
        wrong = rule(world)
        assert not wrong, (rule.__name__, wrong)


def check_all_is_free(world):
    """At the very end: nothing is wanted, so nothing is there, and a workload gets all devices."""
    settle(world)
    world.server.token = None
    workload = world.server.submit("all", "team-a", gpus=GPUS, spec={"command": "sleep infinity"})
    world.unsure.add("all")
    world.server.wait_phase(workload, "Running")
    world.server.delete(f"/api/v1/workloads/trainings/{workload}")
    settle(world)
    assert not world.marked(), [cmdline(pid) for pid in world.marked()]
    assert not pods_of(world)
    until = time.monotonic() + SETTLED_S
    while folders := [f.name for f in (world.server.data / "pods").iterdir() if (f / "state").exists()]:
        assert time.monotonic() < until, f"kept of pods that are gone: {folders}"
        time.sleep(0.1)
