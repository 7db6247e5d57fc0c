"""The state of a cluster for scheduler.py: pods, nodes, queues and fair shares, looked up anew at every question.
After docs/scheduler.md and the rules it is made from, not after the code in C"""

from fractions import Fraction

from plain.groups import make_groups

INFINITE = float("inf")
RESOURCES = ("gpu", "cpu", "memory")
SCALE = {"gpu": 1000, "cpu": 1000, "memory": 1}
HELD = ("Running", "Binding", "Pipelined")


class Pod:
    """entries: where it stands, as (node, "stays" | "releasing" | "promised", groups); the last one is its place."""

    def __init__(self, spec, workload):
        self.name, self.workload = spec["name"], workload
        self.cpu, self.memory = round(spec.get("cpuCores", 0) * 1000), spec.get("memoryBytes", 0)
        self.mig = spec.get("migInstances", {})
        self.selector = spec.get("nodeSelector", {})
        self.portion, self.mib = round(spec.get("gpuPortion", 0) * 1000), spec.get("gpuMemoryMib", 0)
        is_shared = self.portion or self.mib
        devices = spec.get("gpuDevices", 1 if is_shared else 0)
        self.shared, self.gpus = (devices, 0) if is_shared else (0, devices)
        self.status = spec.get("status", "Pending")
        self.started = spec.get("startedAt") if self.status == "Running" else None
        kind = {"Running": "stays", "Releasing": "releasing"}.get(self.status)
        self.entries = [(spec["node"], kind, tuple(spec.get("gpuGroups", ())))] if kind else []
        self.evicted = self.withdrawn = self.moved = False
        self.before = self.origin = None  # what it was when it was evicted, and where

    def amounts(self):
        """Of a node, besides shared devices."""
        return {"cpu": self.cpu, "memory": self.memory, "gpu": self.gpus, "pods": 1, **self.mig}

    @property
    def needs_gpu(self):
        return bool(self.gpus or self.shared or self.mig)

    @property
    def is_held(self):
        return self.status in HELD

    @property
    def node(self):
        return self.entries[-1][0]


def add(a, b, sign=1):
    return {r: a[r] + sign * b[r] for r in RESOURCES}


def gpus_of(instances):
    """Profiles such as nvidia.com/mig-2g.10gb count by their first number."""
    return sum(count * int(profile.split("mig-")[1].split("g.")[0]) for profile, count in instances.items())


def nothing():
    return dict.fromkeys(RESOURCES, 0)


class Cluster:
    def __init__(self, document):
        self.now, self.grace = document["now"], document["settings"]["stalenessGraceSeconds"]
        self.all_nodes = {node["name"]: node for node in sorted(document["nodes"], key=lambda n: n["name"])}
        self.pools = {pool["name"]: pool for pool in sorted(document["nodePools"], key=lambda pool: pool["name"])}
        self.topologies = {topology["name"]: topology["levels"] for topology in document.get("topologies", [])}
        self.projects = {q["name"]: q for q in sorted(document["projects"], key=lambda q: q["name"])}
        people = document.get("people", [])
        self.used = {(use["project"], use["name"]): round(use["gpuHours"] * 1000) for use in people}
        self.departments = {q["name"]: q for q in sorted(document["departments"], key=lambda q: q["name"])}
        self.workloads, self.pods = {}, {}
        for spec in sorted(document["workloads"], key=lambda w: w["name"]):
            self.add_workload(spec)
        self.profiles = {profile for node in self.all_nodes.values() for profile in node.get("migInstances", {})}.union(
            profile for pod in self.pods.values() for profile in pod.mig
        )
        self.placed = []  # pods, by the open statement
        self.seen = {}  # answers about nodes; emptied at every change

    def add_workload(self, spec):
        pods = [Pod(p, spec["name"]) for p in sorted(spec["pods"], key=lambda p: (-p.get("priority", 0), p["name"]))]
        priority = spec.get("priority", 50)
        self.pods.update({pod.name: pod for pod in pods})
        self.workloads[spec["name"]] = {
            "name": spec["name"],
            "project": spec["project"],
            "person": spec.get("submittedBy"),
            "over budget": "overBudget" in spec,
            "created": spec["createdAt"],
            "priority": priority,
            "preemptible": spec.get("preemptibility", "preemptible" if priority < 100 else "non-preemptible")
            == "preemptible",
            "root": make_groups(spec, pods),
            "deleting": spec.get("deleting", False),
            "affinity": spec.get("podAffinity"),
            "pods": [pod.name for pod in pods],
            "lost": False,
            "first": None,
            "pools": spec.get("nodePools") or ["default"],
            "home": None,
        }

    # Pools: everything below is about the one that is entered.
    def enter(self, pool, turn):
        """turn: whose preference it is now, from 0."""
        self.pool, self.turn = pool, turn
        self.nodes = {name: node for name, node in self.all_nodes.items() if node["nodePool"] == pool}
        self.strategies = self.pools[pool].get("placementStrategy", {"gpu": "binpack", "cpu": "binpack"})
        memories = [self.device_memory(n) for n in self.nodes if self.nodes[n]["gpus"]]
        self.smallest, self.largest = self.smallest_of(pool), max(memories, default=100)
        self.total = {
            "gpu": 1000 * sum(n["gpus"] + gpus_of(n.get("migInstances", {})) for n in self.nodes.values()),
            "cpu": 1000 * sum(n["cpuCores"] for n in self.nodes.values()),
            "memory": sum(n["memoryBytes"] for n in self.nodes.values()),
        }
        for name, workload in self.workloads.items():
            nodes = [pod.node for pod in self.pods_of(name) if pod.is_held or pod.status == "Releasing"]
            workload["home"] = self.all_nodes[nodes[0]]["nodePool"] if nodes else None

    def may_stand(self, name):
        return self.workloads[name]["home"] in (None, self.pool)

    def smallest_of(self, pool):
        nodes = [name for name, node in self.all_nodes.items() if node["nodePool"] == pool and node["gpus"]]
        return min(map(self.device_memory, nodes), default=100)

    def is_turn(self, name):
        return self.may_stand(name) and self.workloads[name]["pools"][self.turn : self.turn + 1] == [self.pool]

    # Pods.
    def pods_of(self, workload):
        return [self.pods[name] for name in self.workloads[workload]["pods"]]

    def held(self, workload):
        return [pod for pod in self.pods_of(workload) if pod.is_held]

    def save(self):
        return {name: dict(pod.__dict__) for name, pod in self.pods.items()}, len(self.placed)

    def restore(self, saved):
        self.seen.clear()
        del self.placed[saved[1] :]
        for name, values in saved[0].items():
            self.pods[name].__dict__ = dict(values)

    # Nodes.
    def device_memory(self, node):
        return self.all_nodes[node]["gpuMemoryMib"] // 100 * 100

    def part(self, pod, node):
        return pod.mib or pod.portion * self.device_memory(node) // 1000

    def look(self, node):
        """What is idle, what is releasing, the shared devices and the capacity of a node."""
        if node in self.seen:
            return self.seen[node]
        spec = self.all_nodes[node]
        capacity = {
            "cpu": spec["cpuCores"] * 1000,
            "memory": spec["memoryBytes"],
            "gpu": spec["gpus"],
            "pods": spec.get("maxPods", 110),
            **dict.fromkeys(self.profiles, 0),
            **spec.get("migInstances", {}),
        }
        idle, releasing, groups = dict(capacity), dict.fromkeys(capacity, 0), {}
        for pod in self.pods.values():
            for where, kind, names in pod.entries:
                if where != node:
                    continue
                for d, amount in pod.amounts().items():
                    idle[d] -= amount if capacity[d] and kind != "promised" else 0
                    releasing[d] += {"releasing": amount, "promised": -amount, "stays": 0}[kind] if capacity[d] else 0
                for name in names:
                    group = groups.setdefault(
                        name, {"used": 0, "taken": 0, "going": 0, "stays": 0, "releasing": 0, "promised": 0}
                    )
                    memory = self.part(pod, node)
                    group["used"] += memory
                    group["taken"] += memory if kind != "promised" else 0
                    group["going"] += {"releasing": memory, "promised": -memory, "stays": 0}[kind]
                    group[kind] += 1
        for group in groups.values():
            for d in ("gpu", "pods"):
                idle[d] -= group["stays"] + group["releasing"] > 0
                releasing[d] += (group["releasing"] > 0) - (group["promised"] > 0) if group["stays"] == 0 else 0
        self.seen[node] = idle, releasing, groups, capacity
        return self.seen[node]

    def free(self, node, dimension):
        idle, releasing, _, _ = self.look(node)
        return idle[dimension] + releasing[dimension]

    def free_milli(self, node):
        """GPUs idle and releasing, with the free parts of shared devices and MIG instances."""
        memory, free = self.device_memory(node), self.free(node, "gpu") * 1000
        free += 1000 * gpus_of({profile: self.free(node, profile) for profile in self.profiles})
        for group in self.look(node)[2].values():
            room = memory - group["taken"] + group["going"]
            if room > 0 and group["stays"] + group["promised"] > 0:
                free += room * 1000 // memory
        return free

    def matches(self, pod, node):
        is_cut_up = self.nodes[node].get("migStrategy") == "mixed"
        return (not pod.needs_gpu or is_cut_up == bool(pod.mig)) and all(
            self.nodes[node]["labels"].get(key) in values for key, values in pod.selector.items()
        )

    # Queues: ("project", name) and ("department", name).
    def path(self, workload):
        project = self.workloads[workload]["project"]
        return [("project", project), ("department", self.projects[project]["department"])]

    def queues(self, kind, department=None):
        if kind == "department":
            return [(kind, name) for name in self.departments]
        return [(kind, name) for name, q in self.projects.items() if department in (None, q["department"])]

    def numbers(self, queue):
        spec = (self.projects if queue[0] == "project" else self.departments)[queue[1]]
        resources = next(resources for resources in spec["resources"] if resources["nodePool"] == self.pool)
        numbers = {"rank": resources.get("rank", 100), "created": spec["createdAt"]}
        for r in RESOURCES:
            of = resources.get(r, {})
            bounds = (of.get("deserved", 0 if r == "gpu" else None), of.get("limit"))
            numbers[r] = [INFINITE if bound is None else round(bound * SCALE[r]) for bound in bounds]
            numbers[r].append(Fraction(str(of.get("overQuotaWeight", 1))))
        return numbers

    def charge(self, pod, memory):
        each = pod.portion or (-(-pod.mib * 100 // memory) * 10 if pod.mib else 1000)
        return {"gpu": each * (pod.shared or pod.gpus) + 1000 * gpus_of(pod.mig), "cpu": pod.cpu, "memory": pod.memory}

    def gpus_of_pod(self, pod):
        return [gpus_of({profile: count}) for profile, count in pod.mig.items()]

    def charge_in_place(self, pod, node=None):
        return self.charge(pod, self.device_memory(node or pod.node) or 100)

    def amounts(self, pods, memory):
        total = nothing()
        for pod in pods:
            total = add(total, self.charge(pod, memory))
        return total

    def allocated(self, queue, non_preemptible=False):
        total = nothing()
        for pod in self.pods.values():
            if (
                pod.is_held
                and pod.node in self.nodes
                and queue in self.path(pod.workload)
                and not (non_preemptible and self.workloads[pod.workload]["preemptible"])
            ):
                total = add(total, self.charge_in_place(pod))
        return total

    def person_lacks(self, name, amounts):
        """Whether the submitter's bound in the project is in the way (4.7); it counts what is held in all pools."""
        workload = self.workloads[name]
        project = self.projects[workload["project"]]
        if workload["person"] is None:
            return False
        own = [
            other
            for other in self.workloads.values()
            if (other["project"], other["person"]) == (workload["project"], workload["person"])
        ]
        holding = [other for other in own if self.held(other["name"])]
        most, most_gpus = project.get("maxWorkloadsPerPerson"), project.get("maxGpusPerPerson")
        if most is not None and workload not in holding and len(holding) >= most:
            return True
        held = sum(self.charge_in_place(pod)["gpu"] for other in own for pod in self.held(other["name"]))
        return most_gpus is not None and amounts["gpu"] > 0 and held + amounts["gpu"] > round(most_gpus * 1000)

    def budget_lacks(self, name, amounts):
        """Whether a budget that is used up keeps it within its project's quota (4.8)."""
        project = self.path(name)[0]
        held, deserved = self.allocated(project)["gpu"], self.numbers(project)["gpu"][0]
        return self.workloads[name]["over budget"] and amounts["gpu"] > 0 and held + amounts["gpu"] > deserved

    def divide(self):
        """The fair shares, as fractions, by queue."""
        in_quota = dict.fromkeys(self.queues("project"), 0)
        requested = {queue: self.allocated(queue) for queue in self.queues("department") + self.queues("project")}
        for pod in self.pods.values():
            has_come = (
                self.may_stand(pod.workload) and self.pool in self.workloads[pod.workload]["pools"][: self.turn + 1]
            )
            if pod.status == "Pending" and has_come:
                amounts, (project, department) = self.charge(pod, self.smallest), self.path(pod.workload)
                if self.workloads[pod.workload]["over budget"]:
                    in_quota[project] += amounts["gpu"]
                    amounts = {**amounts, "gpu": 0}
                for queue in (project, department):
                    requested[queue] = add(requested[queue], amounts)
        for project, asked in in_quota.items():
            left = max(0, self.numbers(project)["gpu"][0] - requested[project]["gpu"])
            department = "department", self.projects[project[1]]["department"]
            for queue in (project, department):
                requested[queue] = add(requested[queue], {**nothing(), "gpu": min(asked, left)})
        self.shares = {queue: {} for queue in requested}
        for r in RESOURCES:
            self.divide_level(r, self.total[r], self.queues("department"), requested)
            for queue in self.queues("department"):
                self.divide_level(r, self.shares[queue][r], self.queues("project", queue[1]), requested)

    def divide_level(self, r, total, queues, requested):
        numbers = {queue: self.numbers(queue) for queue in queues}
        able = {queue: min(requested[queue][r], numbers[queue][r][1]) for queue in queues}
        share = {
            queue: Fraction(
                min(total, numbers[queue][r][0], able[queue])
                if numbers[queue][r][0] == INFINITE
                else min(numbers[queue][r][0], able[queue])
            )
            for queue in queues
        }
        left, unit, cut = total - sum(share.values()), 1000 if r == "gpu" else 1, {}
        for rank in sorted({n["rank"] for n in numbers.values()}, reverse=True):
            again = True
            while again and left > 0:
                again = False
                lacking = [queue for queue in queues if numbers[queue]["rank"] == rank and share[queue] < able[queue]]
                weights, amount = sum(numbers[queue][r][2] for queue in lacking), left
                for queue in lacking if weights else ():
                    if left == 0 or numbers[queue][r][2] == 0:
                        continue
                    want, part = able[queue] - share[queue], amount * numbers[queue][r][2] / weights
                    cut.pop(queue, None) if want <= part else None
                    give = want if want <= part else part // unit * unit
                    if want > part and part > give:
                        cut[queue] = part - give
                    share[queue] += give
                    left -= give
                    again = again or (give > 0 and want < part)
        for queue in sorted(cut, key=lambda q: (-numbers[q]["rank"], -cut[q], numbers[q]["created"], q[1])):
            give = min(unit, max(left, 0))
            share[queue] += give
            left -= give
        for queue in queues:
            self.shares[queue][r] = share[queue]

    def allocatable_share(self, queue, r):
        deserved, limit, _ = self.numbers(queue)[r]
        return limit if deserved == INFINITE else min(max(deserved, self.shares[queue][r]), limit)
