"""Who gives way to whom, by docs/scheduler.md, 6 to 9: a row each, a small cluster and who runs where."""
import pytest

from clusters import (EARLIER, NOW, TOPOLOGY, cases, check_first_cycle, cluster, department, node, pod, project, queue,
                      rack, simulate, work)

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # 6: reclaim
    ("an owner takes back what was lent, from the youngest", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 1)],
        [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")]),
     {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("nobody reclaims over its fair share", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 1)],
        [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a non-preemptible workload keeps what it has", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 2)],
        [work("r", "b", pods=2, on="n0", preemptibility="non-preemptible"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a surplus pod goes before a whole workload", cluster(
        [node("n0", 3)], [project("a", 1), project("b", 1)],
        [work("r", "b", pods=2, on="n0", minPods=1), work("s", "b", on="n0", age=5), work("w", "a")]),
     {"r-0": ("Running", "n0"), "r-1": ("Releasing", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("a gang goes as a whole", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 0)], [work("r", "b", pods=2, on="n0"), work("w", "a")]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("above its fair share by one, it loses one", cluster(
        [node("n0", 5)], [project("a", 3), project("b", 2)],
        [work("q", "a", pods=2, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")]),
     {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("exactly at its fair share and quota, it keeps all", cluster(
        [node("n0", 4)], [project("a", 3), project("b", 2)],
        [work("q", "a", pods=2, on="n0"), work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("within quota, from someone over quota inside a fair share", cluster(
        [node("n0", 5)], [project("a", 3), project("b", 1, weight=5)],
        [work("q", "a", pods=1, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(4)), work("w", "a")]),
     {"r3-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("between departments the same", cluster(
        [node("n0", 5)], [project("a", None, "d"), project("b", None, "e")],
        [work("q", "a", pods=2, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")],
        departments=[department("d", 3), department("e", 2)]),
     {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("a department at its share keeps all", cluster(
        [node("n0", 4)], [project("a", None, "d"), project("b", None, "e")],
        [work("q", "a", pods=2, on="n0"), work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a")],
        departments=[department("d", 3), department("e", 2)]),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a department that would be further over its share takes from none that is less", cluster(
        [node("n0", 5)], [project("a", 2, "d"), project("b", 2, "d"), project("c", 2, "e")],
        [work("q", "b", pods=2, on="n0"), *(work(f"r{i}", "c", on="n0", age=i) for i in range(3)), work("w", "a")],
        departments=[department("d", 2, weight=0), department("e", 2, weight=0)]),
     {"r2-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("nor one that would be over its share of CPU alone", cluster(
        [node("n0", 5)], [project("a", 2, "d"), project("b", 2, "d"), project("c", 2, "e")],
        [work("q", "b", pods=2, on="n0", pod={"cpuCores": 1}), work("w", "a", pod={"cpuCores": 1}),
         *(work(f"r{i}", "c", on="n0", age=i, pod={"cpuCores": 1}) for i in range(3))],
        departments=[{**department(name), "resources": [{**queue(gpus, weight=0), "cpu": {"deserved": 2, "limit": None, "overQuotaWeight": 0}}]}
                     for name, gpus in (("d", 3), ("e", 2))]),
     {"r2-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a non-preemptible workload reclaims within quota", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", preemptibility="non-preemptible")]),
     {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("CPU over its share stops a reclaim of GPUs", cluster(
        [node("n0", 1, cpuCores=4)],
        [{**project("a", 1), "resources": [{**queue(1), "cpu": {"deserved": 0, "limit": None, "overQuotaWeight": 0}}]}, project("b", 0)],
        [work("q", "a", on="n0", pod={"gpuDevices": 0, "cpuCores": 1}), work("r", "b", on="n0"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a search without budget evicts nobody", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")],
        settings={"scenariosPerWorkload": 0}), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("one scenario may be enough", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")],
        settings={"scenariosPerWorkload": 1}), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("who waits for its delay causes no eviction", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", preemptionDelaySeconds=86400)]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("who was displaced three times in a row may displace others", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=3, lastDisplacedAt=NOW)]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("the fourth time it has to be patient for a minute", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=4, lastDisplacedAt="2026-01-01T11:59:01Z")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("and then may again", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=4, lastDisplacedAt=EARLIER)]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("half an hour at most", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=99, lastDisplacedAt="2026-01-01T11:28:00Z")]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("patience keeps nobody from free room", cluster(
        [node("n0", 1)], [project("a", 1)], [work("w", "a", displacedTimes=99, lastDisplacedAt=NOW)]), {"w-0": ("Binding", "n0")}),
    ("a minimum run time protects from reclaim", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("until it is over", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=60)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("an elastic workload gives its surplus all the same", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
        [work("r", "b", pods=2, minPods=1, on="n0", started=EARLIER), work("w", "a")]),
     {"r-0": ("Running", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("between departments a project's minimum run time does not count", cluster(
        [node("n0", 1)], [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=120)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[department("d", 1), department("e", 0)]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("the node pool's minimum run time is the default", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        nodePools=[{"name": "default", "reclaimMinRuntimeSeconds": 120}]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    # 6.3, 6.9: the worked cases that are not above
    ("6.3: exactly at its fair share afterwards", cluster(
        [node("n0", 4)], [project("a", 2), project("b", 0)],
        [work("q", "a", on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")]),
     {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("6.3: non-preemptible, quota zero, fair share free", cluster(
        [node("n0", 2)], [project("a", 0, weight=5), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a", preemptibility="non-preemptible")]),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("6.3: preemptible, quota zero, fair share free", cluster(
        [node("n0", 2)], [project("a", 0), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")]),
     {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("6.9: both at their fair share", cluster(
        [node("n0", 6)], [project("a", 3), project("b", 3)],
        [work("q", "a", pods=3, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")]),
     {"r2-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("6.9: non-preemptible, and the department's quota is used up by such", cluster(
        [node("n0", 4)], [project("a", 2, "d"), project("c", 3, "d"), project("b", 0, "e")],
        [work("q", "c", pods=3, on="n0", preemptibility="non-preemptible"), work("r", "b", on="n0"),
         work("w", "a", preemptibility="non-preemptible")],
        departments=[department("d", 3), department("e", 0)]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("6.9: non-preemptible, and only preemptible ones use up the department's quota", cluster(
        [node("n0", 4)], [project("a", 1, "d"), project("c", 2, "d")],
        [*(work(f"r{i}", "c", on="n0", age=i) for i in range(4)), work("w", "a", preemptibility="non-preemptible")],
        departments=[department("d", 3)]), {"r3-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("6.9: its department over its share, the other at none: no", cluster(
        [node("n0", 3)], [project("a", 1, "d"), project("c", 0, "d"), project("b", 1, "e")],
        [work("q", "c", on="n0"), work("r", "b", pods=2, on="n0"), work("w", "a")],
        departments=[department("d", 1, weight=0), department("e", 1, weight=1)]),
     {"r-0": ("Running", "n0"), "q-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("6.9: a department's quota is measured by the smallest device, whichever the pod would get", cluster(
        [node("n0", 1, gpuMemoryMib=8000), node("n1", 1)], [project("a", 2, "d"), project("b", 0, "e")],
        [work("q", "a", on="n1", preemptibility="non-preemptible", pod={"gpuPortion": 0.5, "gpuGroups": ["0"], "gpuIndices": [0]}),
         work("r", "b", on="n1", pod={"gpuPortion": 0.5, "gpuGroups": ["0"], "gpuIndices": [0]}), work("s", "b", on="n0"),
         work("w", "a", preemptibility="non-preemptible", pod={"gpuMemoryMib": 8000})],
        departments=[department("d", 1), department("e", 0)]),
     {"r-0": ("Running", "n1"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    # 6.6: the topology filter
    ("6.6: victims in the one rack that can hold the gang", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")], [project("a", 2), project("b", 1)],
        [work("r", "b", on="n0"), work("s", "b", on="n1", age=1), work("t", "b", on="n2", age=2),
         work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n1"), "t-0": ("Releasing", "n2"), "w-0": ("Pipelined", "n1"),
      "w-1": ("Pipelined", "n2")}),
    ("6.6: no rack can hold it, and nobody is evicted", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 2), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n1"),
         work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pending", None)}),
    # 9.4: whose minimum run time counts
    ("9.4: the department's where the project says nothing", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[{**department("d"), "reclaimMinRuntimeSeconds": 120}]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("9.4: the project's before the department's", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=30)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[{**department("d"), "reclaimMinRuntimeSeconds": 120}]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("9.4: between departments the victim's department's", cluster(
        [node("n0", 1)], [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=0)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[department("d", 1), {**department("e", 0), "reclaimMinRuntimeSeconds": 120}]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("9.4: by the method queue the project's, also between departments", cluster(
        [node("n0", 1)], [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=120)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[department("d", 1), department("e", 0)], settings={"reclaimMinRuntimeMethod": "queue"}),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("9.4: preemption asks project, department, pool", cluster(
        [node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0", started=EARLIER), work("w", "a", priority=60)],
        departments=[{**department("d"), "preemptMinRuntimeSeconds": 30}],
        nodePools=[{"name": "default", "preemptMinRuntimeSeconds": 120}]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("9.4: consolidation asks nobody", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4, reclaimMinRuntimeSeconds=120, preemptMinRuntimeSeconds=120)],
        [work("r", "a", on="n0", started=EARLIER), work("s", "a", on="n1", age=5, started=EARLIER), work("w", "a", pod={"gpuDevices": 2})]),
     {"w-0": ("Pipelined", "n1"), "s-0": ("Pipelined", "n0"), "r-0": ("Running", "n0")}),
    # 6.6, 10.5: which part of an elastic workload goes
    ("the pod in the way goes, not the surplus elsewhere", cluster(
        [node("n0", 1), node("n1", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", pods=2, minPods=1, on=["n0", "n1"]), work("w", "a", pod={"nodeSelector": {"host": ["n0"]}})]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Running", "n1"), "w-0": ("Pipelined", "n0")}),
    ("where the gang would be left in part, the surplus goes with it", cluster(
        [node("n0", 2), node("n1", 1)], [project("a", 2), project("b", 0)],
        [work("r", "b", pods=3, minPods=2, on=["n0", "n0", "n1"]),
         work("w", "a", pod={"gpuDevices": 2, "nodeSelector": {"host": ["n0"]}})]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "r-2": ("Releasing", "n1"), "w-0": ("Pipelined", "n0")}),
    ("what is optional in a sub-group goes with what is not", cluster(
        [node("n0", 2), node("n1", 1)], [project("a", 2), project("b", 0)],
        [work("r", "b", minSubGroups=0, pods=[pod("r-0", "y", "n0"), pod("r-1", "y", "n0"), pod("r-2", "z", "n1")],
              subGroups=[{"name": "x"}, {"name": "y", "parent": "x", "minPods": 2}, {"name": "z", "parent": "x"}]),
         work("w", "a", pod={"gpuDevices": 2, "nodeSelector": {"host": ["n0"]}})]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "r-2": ("Releasing", "n1"), "w-0": ("Pipelined", "n0")}),
    # reclaims that answer each other
    ("a gang goes as a whole although another of its project is entitled to a part then", cluster(
        [node("n0", 2)], [project("a", 0), project("b", 1)],
        [work("r", "b", pods=2, on="n0"), work("w", "a"), work("x", "b", age=5)]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("not for one that lost its own place within the hour", cluster(
        [node("n0", 2)], [project("a", 0), project("b", 1)],
        [work("r", "b", pods=2, on="n0"), work("w", "a", displacedTimes=1, lastDisplacedAt="2026-01-01T11:00:01Z"),
         work("x", "b", age=5)]),
     {"r-0": ("Running", "n0"), "r-1": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("and then again", cluster(
        [node("n0", 2)], [project("a", 0), project("b", 1)],
        [work("r", "b", pods=2, on="n0"), work("w", "a", displacedTimes=1, lastDisplacedAt="2026-01-01T11:00:00Z"),
         work("x", "b", age=5)]),
     {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    # 1.2: the order of the actions
    ("pods are moved together before another project loses one", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 2), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n1", age=5), work("w", "a", pod={"gpuDevices": 2})]),
     {"r-0": ("Running", "n0"), "s-0": ("Pipelined", "n0"), "w-0": ("Pipelined", "n1")}),
    ("an action that is not listed is not taken", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")],
        actions=["allocate", "consolidation", "preempt"]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("in the order of the list", cluster(
        [node("n0", 2)], [project("a", 2), project("b", 0)],
        [work("r", "a", on="n0"), work("s", "b", on="n0"), work("w", "a", priority=60)], actions=["preempt", "reclaim"]),
     {"r-0": ("Releasing", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    # 1.9
    ("only the first of a project are looked at where a depth says so", cluster(
        [node("n0", 1)], [project("a", 9), project("b", 9)],
        [work("v", "a", pod={"gpuDevices": 2}), work("w", "a", age=1), work("x", "b", pod={"gpuDevices": 2})],
        settings={"depthPerAction": {"allocate": 1}}), {"v-0": ("Pending", None), "w-0": ("Pending", None)}),
    ("for that action alone", cluster(
        [node("n0", 1)], [project("a", 2), project("b", 0)],
        [work("r", "b", on="n0"), work("v", "a", pod={"gpuDevices": 2}), work("w", "a", age=1)],
        settings={"depthPerAction": {"allocate": 1}}), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("and who lost a pod in the cycle is none of them", cluster(
        [node("n0", 1), node("n1", 2)], [project("a", 1), project("b", 2)],
        [work("r", "b", pods=[pod("r-0", on="n1"), pod("r-1", on="n0"), pod("r-2")], minPods=1, priority=70),
         work("s", "b", on="n1", priority=50), work("v", "b", priority=60),
         work("w", "a", pod={"nodeAffinity": [{"matchExpressions": [{"key": "host", "operator": "In", "values": ["n0"]}]}]})],
        settings={"depthPerAction": {"preempt": 1}}),
     {"r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0"), "s-0": ("Releasing", "n1"), "v-0": ("Pipelined", "n1")}),
    # affinity and deletion
    ("a reclaim takes from nodes that an affinity term allows", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n1", age=5),
         work("w", "a", pod={"nodeAffinity": [{"matchExpressions": [{"key": "rack", "operator": "NotIn", "values": ["r1"]}]}]})]),
     {"r-0": ("Releasing", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")}),
    ("and so does a preemption", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 2)],
        [work("r", "a", on="n0"), work("s", "a", on="n1", age=5),
         work("w", "a", priority=60, pod={"nodeAffinity": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r0"]}]}]})]),
     {"r-0": ("Releasing", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")}),
    ("a pod that may stand nowhere else is not moved, another is", cluster(
        [rack("n0", 2, "r0"), rack("n1", 2, "r1")], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", age=5, on="n1", pod={"nodeAffinity": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]}]}),
         work("w", "a", age=9, pod={"gpuDevices": 2})]),
     {"r-0": ("Pipelined", "n1"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")}),
    ("nobody is evicted where what is being deleted makes room", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", deleting=True, pod={"status": "Releasing", "node": "n0"}), work("w", "a")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    # 9.4 and elastic workloads
    ("a protected elastic workload may be preempted down to its minimum", cluster(
        [node("n0", 3)], [project("a", 3, preemptMinRuntimeSeconds=120)],
        [work("r", "a", pods=3, minPods=2, on="n0", started=EARLIER), work("w", "a", priority=60)]),
     {"r-1": ("Running", "n0"), "r-2": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("and not below it", cluster(
        [node("n0", 3)], [project("a", 3, preemptMinRuntimeSeconds=120)],
        [work("r", "a", pods=3, minPods=2, on="n0", started=EARLIER), work("w", "a", priority=60, pod={"gpuDevices": 2})]),
     {"r-1": ("Running", "n0"), "r-2": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("the earliest start of its pods counts", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
        [work("r", "b", pods=[pod("r-0", on="n0"), pod("r-1", on="n0", started=EARLIER)]), work("w", "a")]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("who has no start is not protected", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=9999)],
        [work("r", "b", on="n0", started=None), work("w", "a")]),
     {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    # 7: preemption
    ("higher priority takes the place of lower in the same project", cluster(
        [node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a", priority=60)]),
     {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("equal priority never does", cluster(
        [node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a minimum run time protects from preemption", cluster(
        [node("n0", 1)], [project("a", 1, preemptMinRuntimeSeconds=120)],
        [work("r", "a", on="n0", started=EARLIER), work("w", "a", priority=60)]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    # 8: consolidation
    ("pods move together to make room", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1", age=5), work("w", "a", pod={"gpuDevices": 2})]),
     {"w-0": ("Pipelined", "n1"), "s-0": ("Pipelined", "n0"), "r-0": ("Running", "n0")}),
    ("not for a non-preemptible workload", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", pod={"gpuDevices": 2}, preemptibility="non-preemptible")]),
     {"w-0": ("Pending", None), "r-0": ("Running", "n0"), "s-0": ("Running", "n1")}),
    ("not where the setting says 0", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", pod={"gpuDevices": 2})],
        settings={"maxConsolidationVictims": 0}), {"w-0": ("Pending", None)}),
    ("as many as the setting says, the first to give way", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1", age=5, pod={"nodeSelector": {"host": ["n1"]}}),
         work("w", "a", age=9, pod={"gpuDevices": 2})],
        settings={"maxConsolidationVictims": 1}), {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pending", None)}),
    ("with one more it is found", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1", age=5, pod={"nodeSelector": {"host": ["n1"]}}),
         work("w", "a", age=9, pod={"gpuDevices": 2})],
        settings={"maxConsolidationVictims": 2}), {"r-0": ("Pipelined", "n1"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")}),
    # Gangs in scenarios (ours)
    ("a surplus pod stays where its gang needs it", cluster(
        [node("n0", 1), node("n1", 1), node("n2", 1)], [project("a", 4)],
        [work("r", "a", pods=3, on=["n0", "n1", "n2"], minPods=2), work("w", "a", priority=60, pod={"nodeSelector": {"host": ["n0"]}})]),
     {"r-0": ("Pipelined", "n1"), "r-1": ("Releasing", "n1"), "r-2": ("Running", "n2"), "w-0": ("Pipelined", "n0")}),
    ("no gang is left in part: its surplus goes with it", cluster(
        [node("n0", 2), node("n1", 1)], [project("a", 4)],
        [work("r", "a", pods=3, on=["n0", "n0", "n1"], minPods=2), work("w", "a", priority=60, pod={"gpuDevices": 2})]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "r-2": ("Releasing", "n1"), "w-0": ("Pipelined", "n0")}),
    ("nor by what an earlier try put back", cluster(
        [node("n0", 1), node("n1", 3)], [project("a", 4)],
        [work("r", "a", pods=3, on=["n1", "n0", "n1"]), work("w", "a", pods=2, priority=60)]),
     {"r-0": ("Releasing", "n1"), "r-1": ("Releasing", "n0"), "r-2": ("Releasing", "n1"), "w-0": ("Pipelined", "n1"), "w-1": ("Pipelined", "n1")}),
    # 9.1: stale gangs
    ("a gang below its minimum stops after its grace", cluster(
        [node("n0", 2)], [project("a", 4)],
        [{**work("w", "a", pods=2, minPods=2, on="n0", staleSeconds=60),
          "pods": [{"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"}, {"name": "w-1", "gpuDevices": 9}]}]),
     {"w-0": ("Releasing", "n0")}),
    ("not before", cluster(
        [node("n0", 2)], [project("a", 4)],
        [{**work("w", "a", pods=2, minPods=2, on="n0", staleSeconds=59),
          "pods": [{"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"}, {"name": "w-1", "gpuDevices": 9}]}]),
     {"w-0": ("Running", "n0")}),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


def test_queues_give_way_in_turn_the_younger_first():
    victims = [work(f"{q}-{p}", q, on="n0", priority=p, preemptibility="preemptible") for q in ("q1", "q2") for p in (100, 99, 98)]
    document = cluster([node("n0", 6)], [project("q1", 1), {**project("q2", 1), "createdAt": "2026-01-01T11:59:59Z"}, project("q3", 4)],
                       [*victims, work("w", "q3", pod={"gpuDevices": 4})])
    evicted = [d["workload"] for d in simulate(document)["cycles"][0]["decisions"] if d["verb"] == "evict"]
    assert evicted == ["q1-98", "q2-98", "q1-99", "q2-99"]
