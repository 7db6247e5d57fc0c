"""What must hold, looked at from outside: in the database's file, and in /proc or in the cluster."""

import json
import os
import threading
import time

from rows import failed_and_not_tried_again, pods_of, rows_of, workloads_on_their_way

SLOW_S = 4
PLACED_MILLI = 1000


def held_twice(world):
    """Devices that rows give away more than once: never, at any moment."""
    held = {}
    for pod in pods_of(world):
        indices = json.loads(pod["gpu_indices_json"])
        for index in indices:
            milli = pod["gpu_allocated_milli"] // len(indices)
            held.setdefault((pod["node_id"], index), []).append((milli, pod["name"]))
    return [
        f"device {i} of node {node} is held by {h}"
        for (node, i), h in held.items()
        if sum(milli for milli, _ in h) > PLACED_MILLI
    ]


def used_twice(world):
    return world.see()


class Watch:
    """Looks again and again whether pods use what is not theirs to use."""

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
        row["uuid"]: row for row in rows_of(world, "SELECT uuid, name, desired_phase, phase, deleted_ms FROM workloads")
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
    """What must come true in a while: rows and what runs agree, gangs are whole, what was to go is gone."""
    waits = [f"{pod['name']} is still {pod['status']}" for pod in pods_of(world) if pod["status"] != "Running"]
    return waits + world.wrong() + workloads_on_their_way(world) + failed_and_not_tried_again(world)


def settle(world):
    begin = time.monotonic()
    until, has_told = begin + world.SETTLED_S, not os.environ.get("FAULTS_TALK")
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
    rows = rows_of(
        world,
        "SELECT w.name, w.phase, (SELECT count(*) FROM pods p WHERE p.workload_id = w.id AND p.deleted_ms = 0) AS "
        "pods FROM workloads w "
        "WHERE w.deleted_ms = 0 AND w.desired_phase = 'Running' AND w.phase NOT IN ('Completed', 'Failed')",
    )
    return [f"{row['name']} is {row['phase']} and has no pod" for row in rows if row["pods"] == 0]


def ends_without_reason(world):
    wrong = [
        f"pod {row['name']} ended without a reason"
        for row in rows_of(
            world,
            "SELECT name FROM pods WHERE reason = '' AND (completed_ms > 0 OR status IN ('Failed', 'Succeeded', "
            "'Deleted'))",
        )
    ]
    return wrong + [
        f"{row['name']} is {row['phase']} without a word"
        for row in rows_of(
            world,
            "SELECT name, phase FROM workloads WHERE phase IN ('Failed', 'Completed', 'Stopped') AND "
            "phase_message = ''",
        )
    ]


def broken_file(world):
    return [row[0] for row in rows_of(world, "PRAGMA integrity_check") if row[0] != "ok"]


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


def refused_for_want_of_room(world):
    """By a node of a cluster: it was given what another has."""
    return [row["message"] for row in rows_of(world, "SELECT message FROM events WHERE reason LIKE 'OutOf%'")]


def listed_by_the_api(world):
    """The API tells what the rows say."""
    answer = world.ask("GET", "/api/v1/workloads?limit=500")
    if answer is None or answer.status != 200:
        return [f"the list of workloads is not answered: {answer}"]
    told = {w["id"] for w in answer.json["workloads"]}
    rows = {row["uuid"] for row in rows_of(world, "SELECT uuid FROM workloads WHERE deleted_ms = 0")}
    return [f"workload {uuid} is told of in one place only" for uuid in told ^ rows]


def ends(world):
    """How many pods ended how."""
    return {
        row[0]: row[1]
        for row in rows_of(
            world, "SELECT reason, count(*) FROM pods WHERE completed_ms > 0 AND started_ms > 0 GROUP BY reason"
        )
    }


ALWAYS = (
    answers_lost, held_twice, used_twice, ends_without_reason, broken_file, bad_log, refused_for_want_of_room,
)  # fmt: skip


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
    """At the very end: nothing is wanted, so nothing is there, and new workloads get all devices."""
    settle(world)
    world.server.token = None
    made = []
    for number, (spec, gpus) in enumerate(world.whole()):
        name = f"all-{number}"
        world.unsure.add(name)
        made.append(world.server.submit(name, "team-a", gpus=gpus, spec=spec))
    for workload in made:
        try:
            world.server.wait_phase(workload, "Running")
        except AssertionError:
            why = world.server.get(f"/api/v1/workloads/{workload}/explanation").body.decode()
            raise AssertionError(f"it does not get its devices: {why}") from None
    for workload in made:
        world.server.delete(f"/api/v1/workloads/trainings/{workload}")
    settle(world)
    until = time.monotonic() + world.SETTLED_S
    while left := world.left():
        assert time.monotonic() < until, f"left of pods that are gone: {left}"
        time.sleep(0.1)
