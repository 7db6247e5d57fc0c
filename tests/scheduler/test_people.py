"""What each person of a project may have, and fair turns among them: a row each, by docs/scheduler.md, 3.6 and 4.7."""

import pytest
from clusters import POOLS, cases, check_first_cycle, cluster, node, project, queue, simulate, work

ANN, BOB = {"submittedBy": "ann"}, {"submittedBy": "bob"}
RUNNING, PENDING = ("Running", "n0"), ("Pending", None)
TWO_POOLS = [queue(8), queue(8, pool="big")]

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    (
        "GPUs: what goes beyond waits though there is room, what asks for less goes before it",
        cluster(
            [node("n0", 8)],
            [project("a", 8, maxGpusPerPerson=3)],
            [
                work("r", "a", 2, on="n0", **ANN),
                work("w", "a", age=1, pod={"gpuDevices": 2}, **ANN),
                work("x", "a", age=2, **ANN),
            ],
        ),
        {"w-0": PENDING, "x-0": ("Binding", "n0")},
    ),
    (
        "GPUs: each person has a bound of their own, and nobody is bound who is not known",
        cluster(
            [node("n0", 8)],
            [project("a", 8, maxGpusPerPerson=1)],
            [work("u", "a", **ANN), work("v", "a", **ANN), work("w", "a", **BOB), work("x", "a", 2)],
        ),
        {
            "u-0": ("Binding", "n0"),
            "v-0": PENDING,
            "w-0": ("Binding", "n0"),
            "x-0": ("Binding", "n0"),
            "x-1": ("Binding", "n0"),
        },
    ),
    (
        "GPUs: the same person has a bound in each project",
        cluster(
            [node("n0", 8)],
            [project("a", 4, maxGpusPerPerson=1), project("b", 4, maxGpusPerPerson=1)],
            [work("v", "a", **ANN), work("w", "b", **ANN), work("x", "b", **ANN)],
        ),
        {"v-0": ("Binding", "n0"), "w-0": ("Binding", "n0"), "x-0": PENDING},
    ),
    (
        "GPUs: of all node pools together",
        cluster(
            [node("n0", 4), node("n1", 4, nodePool="big")],
            [{**project("a", 8, maxGpusPerPerson=2), "resources": TWO_POOLS}],
            [
                work("r", "a", on="n0", **ANN),
                work("v", "a", age=1, nodePools=["big"], **ANN),
                work("w", "a", age=2, nodePools=["big"], **ANN),
            ],
            **POOLS,
        ),
        {"v-0": ("Binding", "n1"), "w-0": PENDING},
    ),
    (
        "GPUs: parts of devices by their portion",
        cluster(
            [node("n0", 4)],
            [project("a", 4, maxGpusPerPerson=0.5)],
            [
                work("v", "a", pod={"gpuPortion": 0.3}, **ANN),
                work("w", "a", age=1, pod={"gpuPortion": 0.3}, **ANN),
                work("x", "a", age=2, pod={"gpuPortion": 0.2}, **ANN),
            ],
        ),
        {"v-0": ("Binding", "n0"), "w-0": PENDING, "x-0": ("Binding", "n0")},
    ),
    (
        "GPUs: an elastic workload grows up to the bound",
        cluster([node("n0", 8)], [project("a", 8, maxGpusPerPerson=2)], [work("w", "a", 4, minPods=1, **ANN)]),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n0"), "w-2": PENDING, "w-3": PENDING},
    ),
    (
        "GPUs: work without any is not held up",
        cluster(
            [node("n0", 4)],
            [project("a", 4, maxGpusPerPerson=0)],
            [work("w", "a", pod={"gpuDevices": 0, "cpuCores": 1}, **ANN)],
        ),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "workloads: of any kind, and growth is not another one",
        cluster(
            [node("n0", 8)],
            [project("a", 8, maxWorkloadsPerPerson=2)],
            [
                work("r", "a", pod={"gpuDevices": 0, "cpuCores": 1}, on="n0", **ANN),
                work("v", "a", 3, age=1, minPods=1, **ANN),
                work("w", "a", age=2, **ANN),
                work("x", "a", age=3, **BOB),
            ],
        ),
        {
            "v-0": ("Binding", "n0"),
            "v-1": ("Binding", "n0"),
            "v-2": ("Binding", "n0"),
            "w-0": PENDING,
            "x-0": ("Binding", "n0"),
        },
    ),
    (
        "a higher priority takes the place of its submitter's own, and of nobody else",
        cluster(
            [node("n0", 4)],
            [project("a", 4, maxGpusPerPerson=1)],
            [
                work("r", "a", on="n0", **ANN),
                work("s", "a", age=1, on="n0", priority=40, **BOB),
                work("w", "a", age=2, priority=60, **ANN),
            ],
        ),
        {"r-0": ("Releasing", "n0"), "s-0": RUNNING, "w-0": ("Pipelined", "n0")},
    ),
    (
        "a higher priority that its submitter's own do not help takes nothing",
        cluster(
            [node("n0", 2)],
            [project("a", 2, maxGpusPerPerson=1)],
            [
                work("r", "a", on="n0", priority=60, **ANN),
                work("s", "a", age=1, on="n0", priority=40, **BOB),
                work("w", "a", age=2, priority=60, **ANN),
            ],
        ),
        {"r-0": RUNNING, "s-0": RUNNING, "w-0": PENDING},
    ),
    (
        "within the bound a higher priority takes others' place",
        cluster(
            [node("n0", 1)],
            [project("a", 1, maxGpusPerPerson=1)],
            [work("s", "a", on="n0", priority=40, **BOB), work("w", "a", age=2, priority=60, **ANN)],
        ),
        {"s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "nobody is reclaimed from for who is over the bound",
        cluster(
            [node("n0", 2)],
            [project("a", 2, maxGpusPerPerson=1), project("b", 0)],
            [work("r", "a", on="n0", **ANN), work("s", "b", on="n0", **BOB), work("w", "a", age=1, **ANN)],
        ),
        {"r-0": RUNNING, "s-0": RUNNING, "w-0": PENDING},
    ),
    (
        "and the next of the project reclaims in its place",
        cluster(
            [node("n0", 2)],
            [project("a", 2, maxGpusPerPerson=1), project("b", 0)],
            [
                work("r", "a", on="n0", **ANN),
                work("s", "b", on="n0", **BOB),
                work("w", "a", age=1, **ANN),
                work("x", "a", age=2, **BOB),
            ],
        ),
        {"s-0": ("Releasing", "n0"), "w-0": PENDING, "x-0": ("Pipelined", "n0")},
    ),
]

FAIR = {"fairAmongPeople": True}


def used(name, hours, project="a"):
    return {"project": project, "name": name, "gpuHours": hours}


FAIR_CYCLE = [
    (
        "who has used less goes first, though it came later",
        cluster(
            [node("n0", 1)],
            [project("a", 1, **FAIR)],
            [work("v", "a", **ANN), work("w", "a", age=1, **BOB)],
            people=[used("ann", 2), used("bob", 1)],
        ),
        {"v-0": PENDING, "w-0": ("Binding", "n0")},
    ),
    (
        "switched off past use says nothing",
        cluster(
            [node("n0", 1)],
            [project("a", 1)],
            [work("v", "a", **ANN), work("w", "a", age=1, **BOB)],
            people=[used("ann", 2), used("bob", 1)],
        ),
        {"v-0": ("Binding", "n0"), "w-0": PENDING},
    ),
    (
        "a higher priority still goes first",
        cluster(
            [node("n0", 1)],
            [project("a", 1, **FAIR)],
            [work("v", "a", priority=60, **ANN), work("w", "a", age=1, **BOB)],
            people=[used("ann", 2)],
        ),
        {"v-0": ("Binding", "n0"), "w-0": PENDING},
    ),
    (
        "what waits of a person comes in turns with others'",
        cluster(
            [node("n0", 4)],
            [project("a", 4, **FAIR)],
            [
                *(work(f"v{i}", "a", age=i, **ANN) for i in range(4)),
                *(work(f"w{i}", "a", age=9, **BOB) for i in range(4)),
            ],
        ),
        {
            **{f"v{i}-0": ("Binding", "n0") if i < 2 else PENDING for i in range(4)},
            **{f"w{i}-0": ("Binding", "n0") if i < 2 else PENDING for i in range(4)},
        },
    ),
    (
        "what a person holds counts as an hour",
        cluster(
            [node("n0", 3)],
            [project("a", 3, **FAIR)],
            [work("r", "a", 2, on="n0", **ANN), work("v", "a", age=1, **ANN), work("w", "a", age=2, **BOB)],
            people=[used("bob", 1.5)],
        ),
        {"v-0": PENDING, "w-0": ("Binding", "n0")},
    ),
    (
        "and no longer than that",
        cluster(
            [node("n0", 3)],
            [project("a", 3, **FAIR)],
            [work("r", "a", 2, on="n0", **ANN), work("v", "a", age=1, **ANN), work("w", "a", age=2, **BOB)],
            people=[used("bob", 2.5)],
        ),
        {"v-0": ("Binding", "n0"), "w-0": PENDING},
    ),
    (
        "use of another project says nothing",
        cluster(
            [node("n0", 1)],
            [project("a", 1, **FAIR), project("b", 0, **FAIR)],
            [work("v", "a", **ANN), work("w", "a", age=1, **BOB)],
            people=[used("ann", 2, "b")],
        ),
        {"v-0": ("Binding", "n0"), "w-0": PENDING},
    ),
    (
        "who has used most gives way first",
        cluster(
            [node("n0", 2)],
            [project("a", 0, **FAIR), project("b", 1)],
            [work("r", "a", on="n0", age=1, **ANN), work("s", "a", on="n0", **BOB), work("w", "b", age=2)],
            people=[used("bob", 3)],
        ),
        {"r-0": RUNNING, "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "the room reserved for a gang is not used up by who comes after it in turn",
        cluster(
            [node("n0", 4)],
            [project("a", 4, **FAIR)],
            [
                work("r", "a", 2, on="n0", **ANN),
                work("g", "a", 4, age=2, **BOB),
                work("v", "a", age=1, **ANN),
            ],
            nodePools=[{"name": "default", "reservation": True}],
        ),
        {"v-0": PENDING, "g-0": PENDING},
    ),
    (
        "and is used by who comes before it",
        cluster(
            [node("n0", 4)],
            [project("a", 4, **FAIR)],
            [
                work("r", "a", 2, on="n0", **ANN),
                work("g", "a", 4, age=1, **BOB),
                work("v", "a", age=2, **ANN),
            ],
            nodePools=[{"name": "default", "reservation": True}],
            people=[used("bob", 5)],
        ),
        {"v-0": ("Binding", "n0"), "g-0": PENDING},
    ),
]


@pytest.mark.parametrize("document, want", cases(FIRST_CYCLE + FAIR_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


# sentence, the project's bounds, workloads, whose explanation, its first sentence, the forecast
SENTENCES = [
    (
        "what is held and what may be",
        {"maxGpusPerPerson": 3},
        [work("r", "a", 2, on="n0", **ANN), work("w", "a", age=1, pod={"gpuDevices": 2}, **ANN)],
        "Needs 2 GPUs; its submitter holds 2 of the 3 GPUs that each person of project a may hold",
        ("unknown", "Depends on its submitter's other workloads to end"),
    ),
    (
        "more than anybody may have",
        {"maxGpusPerPerson": 3},
        [work("w", "a", pod={"gpuDevices": 4}, **ANN)],
        "Needs 4 GPUs; each person of project a may hold 3",
        ("never", "Cannot start as asked: it is more than each person of its project may have"),
    ),
    (
        "the number of workloads",
        {"maxWorkloadsPerPerson": 1},
        [work("r", "a", on="n0", **ANN), work("w", "a", age=1, **ANN)],
        "Its submitter has 1 running of the 1 workload that each person of project a may have",
        ("unknown", "Depends on its submitter's other workloads to end"),
    ),
    (
        "no workload at all",
        {"maxWorkloadsPerPerson": 0},
        [work("w", "a", **ANN)],
        "No person of project a may have a workload running",
        ("never", "Cannot start as asked: it is more than each person of its project may have"),
    ),
]


@pytest.mark.parametrize("bounds, workloads, sentence, forecast", cases(SENTENCES))
def test_sentences(bounds, workloads, sentence, forecast):
    document = cluster([node("n0", 8)], [project("a", 8, **bounds)], workloads)
    waiting = next(w for w in simulate(document, explain=True)["cycles"][0]["workloads"] if w["name"] == "w")
    assert [(e["code"], e["message"]) for e in waiting["explanation"]] == [("OverPersonLimit", sentence)]
    assert (waiting["forecast"]["kind"], waiting["forecast"]["sentence"]) == forecast


def test_who_is_over_starts_when_their_own_ends():
    document = cluster(
        [node("n0", 8)],
        [project("a", 8, maxGpusPerPerson=1)],
        [work("r", "a", on="n0", **ANN), work("w", "a", age=1, **ANN)],
    )
    document["workloads"][0]["deleting"] = True
    document["workloads"][0]["pods"][0]["status"] = "Releasing"
    check_first_cycle(document, {"w-0": ("Binding", "n0")})
