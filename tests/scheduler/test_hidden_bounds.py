"""Work that waits though the numbers seem to allow it: the sentence names the bound that is not seen (5.5, 12.8)."""

import pytest
from clusters import cluster, node, project, simulate, work


def said_of_w(nodes, projects, workloads):
    document = cluster(nodes, projects, workloads)
    (workload,) = (w for w in simulate(document)["cycles"][0]["workloads"] if w["name"] == "w")
    return {line["code"]: line["message"] for line in workload["explanation"]}


@pytest.mark.parametrize(
    ("held_mib", "asked_mib", "words"),
    [
        (0, 16350, "; no GPU of default has so much memory; a GPU of 16384 MiB counts as 16300"),
        (8190, 8190, " in default; 0.497 of its 1 GPU are free; a GPU of 16384 MiB counts as 16300"),
        (9000, 9000, " in default; 0.447 of its 1 GPU are free"),
        (0, 16400, "; no GPU of default has so much memory"),
    ],
)
def test_a_gpu_counts_for_less_memory_than_it_has(held_mib, asked_mib, words):
    held = [work("r", "a", pod={"gpuMemoryMib": held_mib}, on="n0")] if held_mib else []
    asks = work("w", "a", pod={"gpuMemoryMib": asked_mib})
    said = said_of_w([node("n0", 1, gpuMemoryMib=16384)], [project("a", 8)], [*held, asks])
    assert said["NotEnoughGpus"] == f"Needs {asked_mib} MiB of a GPU{words}"


@pytest.mark.parametrize("quota_of_b", [0, 5])
def test_own_work_and_that_of_others_never_go_together(quota_of_b):
    """The share of a forbids to take from b, and own work is too little: both are named, where b is over its share."""
    own = [work(f"a{i}", "a", on="n0", priority=40) for i in range(3)]
    others = [work(f"b{i}", "b", on="n0") for i in range(5)]
    large = work("w", "a", pod={"gpuDevices": 4}, priority=90)
    said = said_of_w([node("n0", 8)], [project("a", 0), project("b", quota_of_b)], [*own, *others, large])
    room = "3 workloads of project a in node pool default with a lower priority could give way, but that makes no room"
    along = "; work of project b, over its fair share, never goes along with them"
    assert said["NothingToPreempt"] == (room if quota_of_b else room + along)
