"""Rounds of faults against a server whose pods are real processes, and one whose pods are a cluster's. Each round:
clients submit, delete, suspend and resume while the server is killed, halted and ended, its disk fills, its clock
jumps, and what runs the pods fails; then all is looked at from outside. A round that fails names its seed:
FAULTS_SEED=N FAULTS_ROUNDS=M repeats it. The seeds are the same each time, but for the long tests."""

import collections
import os
import random
import time

import pytest
from checks import Watch, check, check_all_is_free, ends
from kube_world import Cluster
from local_world import Machine

ROUNDS = {"local": 5, "kubernetes": 3}  # of each seed
LONG_ROUNDS = 300
LONG = bool(os.environ.get("PRORATA_LONG"))
SEEDS = (1, 2, 3)
if LONG:
    SEEDS = (random.randrange(1 << 30),)
if "FAULTS_SEED" in os.environ:
    SEEDS = (int(os.environ["FAULTS_SEED"]),)
CLIENTS = 3
STEPS = 6
KEPT = 9


def rounds_of(backend):
    return int(os.environ.get("FAULTS_ROUNDS", LONG_ROUNDS if LONG else ROUNDS[backend]))


@pytest.fixture
def make_world(folder):
    """make_world(backend, seed): one at a time; the one before ends."""
    made = []

    def make(backend, seed):
        if made:
            made.pop().close()
        folder.chmod(0o755)  # pods are another user
        place = folder / f"seed-{seed}"
        place.mkdir()
        made.append({world.BACKEND: world for world in (Machine, Cluster)}[backend](place, seed))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small tmpfs needs root")
def test_how_a_pod_ends_on_a_full_disk_is_not_lost(make_world):
    world = make_world("local", SEEDS[0])
    server = world.server
    ends = server.submit(
        "ends", "team-a", spec={"command": "/bin/sh -c", "args": "'sleep 1; exit 3'", "backoffLimit": 0}
    )
    world.unsure.add("ends")
    server.wait_phase(ends, "Running")
    state = next((server.data / "pods").glob("*/state")).read_text()
    supervisor = next(line.split()[1] for line in state.splitlines() if line.startswith("supervisor "))
    world.fill_disk()
    server.wait_for("the end of it", lambda: not os.path.exists(f"/proc/{supervisor}/fd"))
    world.empty_disk()
    server.wait_phase(ends, "Failed")
    events = [event["message"] for event in server.get(f"/api/v1/workloads/{ends}/events").json["events"]]
    assert any("exit code 3" in event for event in events), events


@pytest.mark.parametrize("backend", ROUNDS)
def test_rounds_of_faults(make_world, backend):
    rounds, ended = rounds_of(backend), collections.Counter()
    for seed in SEEDS:
        ended += play(make_world(backend, seed), seed, rounds)
    # How many end well depends on the faults that a seed draws: that some do is sure, and that some fail.
    ran = ended["Completed"] + ended["Error"]
    assert ended["Completed"] and ended["Error"] and ran > rounds * len(SEEDS), f"hardly a pod ran: {ended}"


def play(world, seed, rounds):
    """Rounds in a world of their own; how many pods ended how."""
    print(f"{world.BACKEND}: seed {seed}, {rounds} rounds")
    slowest = 0.0
    for number in range(rounds):
        faults = []
        try:
            with Watch(world) as watch:
                clients = world.clients(CLIENTS, STEPS)
                faults = world.some_faults()
                for client in clients:
                    client.join()
                begin = time.monotonic()
                world.calm()
                check(world)
                slowest = max(slowest, time.monotonic() - begin)
            assert not watch.found, watch.found
            world.tidy(KEPT)
        except AssertionError as error:
            keep = os.environ.get("FAULTS_KEEP")
            if keep:
                os.system(f"cp -a {world.folder} {keep}")
            raise AssertionError(f"seed {seed}, round {number} after {faults}: {error}") from None
        if os.environ.get("FAULTS_TALK"):
            print(number, faults, f"{time.monotonic() - begin:.1f} s", flush=True)
    world.shift = 0
    world.write_clock()
    world.heal()
    world.empty()
    check_all_is_free(world)
    check(world)
    ended = ends(world)
    print(f"pods that ran and ended: {ended}")
    print(f"slowest to settle {slowest:.1f} s; " + ", ".join(f"{n} {what}" for what, n in sorted(world.counts.items())))
    assert world.server.stop() == 0
    return collections.Counter(ended)
