"""Random clusters decided twice: by `prorata simulate`, and by a second scheduler that was written for clarity alone
after the rules (plain/). Every pod stands where that one puts it, and fair shares are its shares. PLAIN_CLUSTERS:
how many, PLAIN_SEED: the first."""

import json
import os
import random

import pytest
from clusters import simulate
from plain.eviction import Evictions

FIRST, COUNT, CHUNK = int(os.environ.get("PLAIN_SEED", "1")), int(os.environ.get("PLAIN_CLUSTERS", "150")), 50
CYCLES = 3
SPARING = (
    2,
    110,
    282,
    391,
    402,
    446,
    494,
    624,
    627,
    669,
    774,
    984,
    1277,
    1623,
    1625,
    1628,
    1691,
    1910,
    2262,
    2465,
)  # where it tells
RANKS = {"Crowded": (144, 258, 848), "Maker": (98, 854, 1072)}  # where rank within quotas tells
WAITED = (153, 236, 262, 5126)  # where a pod has waited a cycle for a shared device
GIB = 2**30
SMALL, LARGE = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb"


class Maker:
    """A cluster from a seed. What runs in it fits."""

    def __init__(self, seed):
        self.dice, self.affinity_dice = random.Random(seed), random.Random(-seed - 1)
        self.people_dice = random.Random(-2 * seed - 1)
        self.bounds_people, self.is_fair = (self.people_dice.random() < 0.3 for _ in range(2))
        self.has_budgets = self.people_dice.random() < 0.3
        self.kinds = self.dice.choice(
            (
                ["whole"],
                ["whole", "part"],
                ["part", "memory", "whole"],
                ["whole", "whole", "part", "memory", "several", "cpu"],
                ["whole", "instance", "instance", "cpu"],
            )
        )
        self.has_memory, self.has_groups, self.has_topology = self.happens(0.3), self.happens(0.4), self.happens(0.4)
        self.choices, self.workloads, self.running = (["default"], ["default"], ["default", "other"]), (2, 9), 0.6
        self.by_rank = seed % 2 == 0

    def one(self, *choices):
        return self.dice.choice(choices)

    def happens(self, chance):
        return self.dice.random() < chance

    def make(self):
        sizes = self.one((16000,), (16000,), (8000, 16000))
        self.pools = self.one(*self.choices)
        nodes = [
            {
                "name": f"n{i}",
                "nodePool": self.one(*self.pools),
                "gpus": self.one(0, 1, 2, 2, 3, 4),
                "gpuMemoryMib": self.one(*sizes),
                "cpuCores": self.one(32, 32, 4),
                "memoryBytes": self.one(64, 8) * GIB,
                "maxPods": self.one(110, 110, 110, 4),
                "labels": {"host": f"n{i}", **self.racks()},
                **self.cut_up(),
            }
            for i in range(self.dice.randint(3, 6) if self.has_topology else self.dice.randint(1, 4))
        ]
        departments = [
            self.queue(f"d{i}", (None, None, 0, 1, 2, 3), (None, None, None, 2, 3)) for i in range(self.one(1, 1, 2))
        ]
        projects = [
            {
                **self.queue(f"p{i}", (0, 1, 1, 2, 3, None, 0.5), (None, None, None, None, 1, 3)),
                "department": self.one(*departments)["name"],
                **self.bounds(),
                **self.fairness(),
            }
            for i in range(self.dice.randint(1, 3))
        ]
        if self.happens(0.25):
            for queue in departments + projects:
                queue |= {
                    f"{action}MinRuntimeSeconds": self.one(None, 0, 1800, 3600) for action in ("preempt", "reclaim")
                }
        self.room = {
            n["name"]: {
                "cpu": n["cpuCores"],
                "memory": n["memoryBytes"],
                "gpu": n["gpus"],
                "pods": n["maxPods"],
                "groups": {},
                **n.get("migInstances", {}),
            }
            for n in nodes
        }
        self.nodes = nodes
        strategies = [
            {"gpu": self.one("binpack", "binpack", "binpack", "binpack", "spread"), "cpu": "binpack"}
            for _ in self.pools
        ]
        return {
            "version": 1,
            "now": "2026-01-01T12:00:00Z",
            "nodes": nodes,
            "departments": departments,
            "projects": projects,
            "people": self.people(projects),
            "nodePools": [
                {"name": name, "placementStrategy": strategy, "reclaimByRank": self.by_rank}
                for name, strategy in zip(self.pools, strategies, strict=True)
            ],
            "topologies": [{"name": "dc", "levels": ["zone", "rack"]}],
            "settings": {"maxConsolidationVictims": None, "stalenessGraceSeconds": self.one(-1, -1, 0)},
            "workloads": [
                self.workload(f"w{i}", self.one(*projects)["name"]) for i in range(self.dice.randint(*self.workloads))
            ],
        }

    def racks(self):
        zone = self.one("z0", "z1")
        return {} if not self.has_topology or self.happens(0.1) else {"zone": zone, "rack": zone + self.one("r0", "r1")}

    def topology(self):
        if not self.has_topology or self.happens(0.5):
            return {}
        return {
            "topology": {
                "name": "dc",
                **self.one(
                    {"required": "rack"},
                    {"required": "zone"},
                    {"preferred": "rack"},
                    {"preferred": "zone"},
                    {"required": "zone", "preferred": "rack"},
                    {"required": "rack", "preferred": "rack"},
                ),
            }
        }

    def sub_groups(self):
        """A tree of two levels, and its leaves."""
        if not self.has_groups or self.happens(0.5):
            return {}, [None]
        leaves = [
            {"name": f"l{i}", "minPods": self.one(0, 1, 1, 2), **self.topology()} for i in range(self.one(1, 2, 2, 3))
        ]
        sets = [{"name": f"s{i}", **self.topology()} for i in range(self.one(0, 0, 1, 2))]
        for leaf in leaves:
            leaf |= {"parent": self.one(*sets)["name"]} if sets and self.happens(0.7) else {}
        sets = [group for group in sets if any(leaf.get("parent") == group["name"] for leaf in leaves)]
        for group in sets:
            group |= self.one({}, {}, {"minSubGroups": 1})
        return {"subGroups": leaves + sets, **self.one({}, {}, {"minSubGroups": self.one(0, 1)})}, [
            leaf["name"] for leaf in leaves
        ]

    def affinity(self):
        """From dice of its own, which leaves the rest of the cluster as it is without."""
        if not self.has_topology or self.affinity_dice.random() < 0.6:
            return {}
        return {
            "podAffinity": {
                "type": self.affinity_dice.choice(("required", "required", "preferred")),
                "key": self.affinity_dice.choice(("rack", "rack", "zone")),
            }
        }

    def bounds(self):
        """On people, from dice of their own too."""
        if not self.bounds_people:
            return {}
        choose = self.people_dice.choice
        return {
            "maxGpusPerPerson": choose((None, 0, 1, 1, 2, 2.5, 3)),
            "maxWorkloadsPerPerson": choose((None, None, 1, 2)),
        }

    def fairness(self):
        if not self.is_fair:
            return {}
        return {"fairAmongPeople": self.people_dice.random() < 0.8}

    def people(self, projects):
        return [
            {"project": project["name"], "name": name, "gpuHours": self.people_dice.choice((0, 0.25, 1.5, 3))}
            for project in projects
            for name in ("bob", "ann")
            if project.get("fairAmongPeople")
        ]

    def submitter(self):
        if not self.bounds_people and not self.is_fair:
            return {}
        return {"submittedBy": self.people_dice.choice(("ann", "ann", "bob", "cy", None))}

    def budget(self):
        return {"overBudget": "It is used up"} if self.has_budgets and self.people_dice.random() < 0.5 else {}

    def cut_up(self):
        if "instance" not in self.kinds or self.happens(0.3):
            return {}
        return {
            "gpus": 0,
            "migStrategy": "mixed",
            "migInstances": {SMALL: self.one(1, 2, 3), **self.one({}, {LARGE: self.one(1, 2)})},
        }

    def queue(self, name, deserved, limit):
        resources = [
            {
                "nodePool": pool,
                "rank": self.one(100, 100, 100, 200),
                "gpu": {
                    "deserved": self.one(*deserved),
                    "limit": self.one(*limit),
                    "overQuotaWeight": self.one(0, 1, 1, 1, 3),
                },
            }
            for pool in self.pools
        ]
        if self.happens(0.25):
            resources[0]["cpu"] = {"deserved": self.one(0, 1, 4), "limit": None, "overQuotaWeight": self.one(0, 1)}
            resources[0]["memory"] = {"deserved": self.one(0, GIB), "limit": None, "overQuotaWeight": self.one(0, 1)}
        return {"name": name, "createdAt": f"2026-01-01T11:0{self.one(0, 1, 2)}:00Z", "resources": resources}

    def request(self):
        kind, request = (
            self.one(*self.kinds),
            {"cpuCores": self.one(0, 0, 1, 2), "memoryBytes": self.one(0, GIB) if self.has_memory else 0},
        )
        return {
            **request,
            **{
                "whole": {"gpuDevices": self.one(1, 1, 1, 2)},
                "part": {"gpuPortion": self.one(0.2, 0.3, 0.5, 0.5, 0.6, 0.8)},
                "memory": {"gpuMemoryMib": self.one(2000, 4000, 5000, 8000)},
                "cpu": {"gpuDevices": 0, "cpuCores": self.one(1, 2)},
                "several": {"gpuDevices": 2, "gpuPortion": self.one(0.3, 0.5)},
                "instance": {"gpuDevices": 0, "migInstances": self.one({SMALL: 1}, {SMALL: 1}, {SMALL: 2}, {LARGE: 1})},
            }[kind],
        }

    def workload(self, name, project):
        groups, leaves = self.sub_groups()
        count, request, runs = (
            self.dice.randint(2, 5) if self.has_topology or leaves != [None] else self.one(1, 1, 1, 2, 3),
            self.request(),
            self.happens(self.running),
        )
        workload = {
            "name": name,
            "project": project,
            **self.submitter(),
            **self.budget(),
            "createdAt": f"2026-01-01T10:00:0{self.dice.randint(0, 6)}Z",
            "priority": self.one(50, 50, 50, 40, 60, 100),
            "minPods": self.one(count, count, 1),
            "pods": [],
            **self.topology(),
            **groups,
            **self.affinity(),
        }
        self.home = self.one(*self.pools)
        workload["nodePools"] = self.one([self.home], self.pools, self.pools[::-1])
        are_unlike = self.happens(0.15)
        if self.happens(0.2):
            workload["preemptibility"] = self.one("preemptible", "non-preemptible")
        if runs and self.happens(0.08):
            workload["deleting"] = True
        for i in range(count):
            pod = {
                "name": f"{name}-{i}",
                **(self.request() if are_unlike else request),
                **({} if leaves == [None] else {"subGroup": leaves[i % len(leaves)]}),
            }
            if self.happens(0.08):
                pod["nodeSelector"] = {"host": [self.one(*self.room)]}
            if runs and (i < workload["minPods"] or self.happens(0.7)):
                self.run(pod, workload)
            workload["pods"].append(pod)
        return workload

    def run(self, pod, workload):
        for node in self.dice.sample(self.nodes, len(self.nodes)):
            room = self.room[node["name"]]
            if (
                node["nodePool"] != self.home
                or node["name"] not in pod.get("nodeSelector", {"host": [node["name"]]})["host"]
                or room["pods"] < 1
                or room["cpu"] < pod["cpuCores"]
                or room["memory"] < pod["memoryBytes"]
                or not self.take_devices(pod, node, room)
            ):
                continue
            room["cpu"] -= pod["cpuCores"]
            room["memory"] -= pod["memoryBytes"]
            room["pods"] -= 1
            status = "Releasing" if workload.get("deleting") or self.happens(0.05) else "Running"
            pod |= {
                "status": status,
                "node": node["name"],
                "startedAt": f"2026-01-01T{self.one('10:30', '11:15', '11:45')}:00Z",
            }
            return

    def take_devices(self, pod, node, room):
        for profile, count in pod.get("migInstances", {}).items():
            if room.get(profile, 0) < count:
                return False
            room[profile] -= count
        memory = pod.get("gpuMemoryMib") or round(pod.get("gpuPortion", 0) * 1000) * node["gpuMemoryMib"] // 1000
        count = pod.get("gpuDevices", 1)
        if not memory:
            fits = room["gpu"] >= count
            room["gpu"] -= count if fits else 0
            return fits
        joined = [name for name, used in sorted(room["groups"].items()) if used + memory <= node["gpuMemoryMib"]][
            :count
        ]
        opens = count - len(joined)
        if memory > node["gpuMemoryMib"] or opens > room["gpu"] or opens + 1 > room["pods"]:
            return False
        room["gpu"] -= opens
        room["pods"] -= opens
        pod["gpuGroups"] = joined + [str(len(room["groups"]) + i) for i in range(opens)]
        for name in pod["gpuGroups"]:
            room["groups"][name] = room["groups"].get(name, 0) + memory
        return True


class Crowded(Maker):
    """One that reclaims find crowded: workloads of whole devices, of unlike size, more than is due to their
    projects."""

    def __init__(self, seed):
        super().__init__(seed)
        self.kinds, self.has_memory, self.has_groups, self.has_topology = ["whole"], False, False, False
        self.choices, self.workloads, self.running = [["default"]], (6, 10), 0.85

    def make(self):
        document = super().make()
        names = [project["name"] for project in document["projects"]]
        for workload in document["workloads"]:
            is_running = any("node" in pod for pod in workload["pods"])
            workload["project"] = self.one(names[0], names[0], names[-1]) if is_running else names[-1]
            workload |= {"priority": self.one(50, 50, 50, 60), "preemptibility": "preemptible"}
        return document

    def queue(self, name, deserved, limit):
        return super().queue(name, (None, 3, 4, 6) if name[0] == "d" else (1, 2, 2, 3), (None,))

    def request(self):
        return {**super().request(), "gpuDevices": self.one(1, 1, 2, 2, 3)}


def places(plain):
    return {
        pod.name: [pod.status, *((pod.node, sorted(pod.entries[-1][2])) if pod.entries else ())]
        for pod in plain.pods.values()
    }


def check_alike(document, seed):
    plain = Evictions(document)
    for cycle in simulate(document, CYCLES)["cycles"]:
        plain.cycle()
        if plain.in_doubt:
            break
        got = {
            pod["name"]: [
                pod["status"],
                *((pod["node"], sorted(pod["gpuGroups"])) if pod["status"] != "Pending" else ()),
            ]
            for pod in cycle["pods"]
        }
        assert got == places(plain), f"seed {seed}, cycle {cycle['cycle']}: {json.dumps(document)}"
        for queue in cycle["queues"]:
            share = float(plain.results[queue["nodePool"], (queue["kind"], queue["name"])]["gpu"]) / 1000
            assert cycle["cycle"] > 1 or abs(queue["gpu"]["fairShare"] - share) < 0.0021, f"seed {seed}: {queue}"
        plain.obey()


@pytest.mark.parametrize("first", range(FIRST, FIRST + COUNT, CHUNK))
def test_both_decide_alike(first):
    for seed in range(first, min(first + CHUNK, FIRST + COUNT)):
        check_alike(Maker(seed).make(), seed)


def test_both_let_rank_decide():
    for maker in (Crowded, Maker):
        for seed in RANKS[maker.__name__]:
            check_alike(maker(seed).make(), seed)


def test_both_wait_one_cycle_for_a_shared_device():
    for seed in WAITED:
        check_alike(Maker(seed).make(), seed)


def test_both_spare_what_is_due():
    for seed in (*SPARING, *range(FIRST, FIRST + COUNT // 10)):
        check_alike(Crowded(seed).make(), seed)
