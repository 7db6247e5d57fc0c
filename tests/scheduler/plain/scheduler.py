"""A second scheduler, written for clarity alone after docs/scheduler.md and the rules it is made from, and not after
the code in C: some cycles of some node pools; whole devices, parts of them, device memory and MIG; gangs, elastic
workloads, sub-groups, topology."""

from fractions import Fraction

from plain.cluster import INFINITE, RESOURCES, Cluster, add, nothing
from plain.topology import Finder


class Scheduler(Cluster):
    def __init__(self, document):
        super().__init__(document)
        # (class, workload) in the order of decisions: 0 something was evicted for it, 1 it waits, 2 it was moved
        self.promises, self.promised = [], []  # promised: who had one from the cycle before, in their order
        # workloads that lost a place or a promise in an earlier cycle
        self.displaced, self.displaced_now = set(), set()
        self.in_doubt = False  # a rule that is not here may have decided

    def cycle(self):
        """Decides once."""
        self.displaced_now, self.results = set(), {}
        self.promises = []
        self.take_turns()
        self.keep_promises()
        for turn in range(max(len(workload["pools"]) for workload in self.workloads.values())):
            for pool in self.pools if not self.in_doubt else ():
                self.enter(pool, turn)
                self.divide()
                self.results.update({(pool, queue): shares for queue, shares in self.shares.items()})
                if turn == 0 or any(
                    self.is_turn(pod.workload) for pod in self.pods.values() if pod.status == "Pending"
                ):
                    self.plan_pool()

    def plan_pool(self):
        self.allocate()
        if "spread" not in self.strategies.values():
            self.evict_for("consolidation")
        self.evict_for("reclaim")
        self.evict_for("preempt")
        self.evict_stale()

    # What is placed at once, and whether there is enough of it (10.3, 10.4).
    def may_wait(self, name):
        return self.is_turn(name) and self.is_candidate(name)

    def is_candidate(self, name):
        workload = self.workloads[name]

        def exists(pod):
            return pod.is_held or pod.status == "Pending" or pod.evicted

        return (
            any(pod.status == "Pending" for pod in self.pods_of(name))
            and not workload["deleting"]
            and not workload["lost"]
            and workload["root"].is_satisfied(exists)
        )

    def unit(self, name):
        workload = self.workloads[name]

        def placeable(pod):
            return pod.evicted or (pod.status == "Pending" and not workload["lost"])

        return workload["root"].collect(lambda pod: pod.is_held, placeable, lambda pod: pod.evicted)[
            : workload["first"]
        ]

    # Who is first (3.2, 3.3, 3.6).
    def take_turns(self):
        """In a project that is fair among people: what the submitter has used, and an hour of what theirs that come
        before it hold or ask for, and of what it holds."""
        sums = {}

        def place_in_line(name):
            workload = self.workloads[name]
            return not self.held(name), -workload["priority"], workload["created"], name

        for name in sorted(self.workloads, key=place_in_line):
            workload = self.workloads[name]
            project, person = self.projects[workload["project"]], workload["person"]
            workload["turn"] = 0
            if person is None or not project.get("fairAmongPeople"):
                continue
            own = workload["project"], person
            held = sum(self.charge_in_place(pod)["gpu"] for pod in self.held(name))
            waits = [pod for pod in self.pods_of(name) if pod.status == "Pending"]
            workload["turn"] = sums.get(own, self.used.get(own, 0)) + held
            memory = self.smallest_of(workload["pools"][0])
            sums[own] = workload["turn"] + sum(self.charge(pod, memory)["gpu"] for pod in waits)

    def rank_workload(self, name, taken=()):
        workload = self.workloads[name]
        left = [
            (sum(pod.is_held and pod.name not in taken for pod in leaf.pods), leaf.minimum)
            for leaf in workload["root"].leaves()
        ]
        state = (
            0
            if any(count < minimum for count, minimum in left)
            else 1 + any(count > minimum for count, minimum in left)
        )
        return -workload["priority"], workload["turn"], state, workload["created"], name

    def dominant(self, queue, value):
        ratios = []
        for r in RESOURCES:
            share = self.allocatable_share(queue, r)
            share = self.total[r] if share == INFINITE else share
            ratios.append(Fraction(value[r]) / share if share > 0 else Fraction(value[r]) * (1 if r == "gpu" else 1000))
        return max(ratios)

    def rank_queue(self, queue, asked, victims):
        """What the rules of 3.2 look at, in their order: smaller goes first."""
        held, numbers = self.allocated(queue), self.numbers(queue)
        after = add(held, asked)
        shares = [self.allocatable_share(queue, r) for r in RESOURCES]
        return [
            all(self.shares[queue][r] < held[r] for r in RESOURCES),
            not all(after[r] <= numbers[r][0] for r in RESOURCES),
            -numbers["rank"],
            any(share == 0 and after[r] > 0 for share, r in zip(shares, RESOURCES, strict=True)),
            self.dominant(queue, add(after, victims, -1)),
            self.dominant(queue, held),
            shares,
            numbers["created"],
            queue[1],
        ]

    @staticmethod
    def goes_first(a, b):
        for left, right in zip(a, b, strict=True):
            if isinstance(left, list):
                pairs = list(zip(left, right, strict=True))
                less, more = all(x <= y for x, y in pairs), all(x >= y for x, y in pairs)
                left, right = more, less
            if left != right:
                return left < right
        return False

    def pick(self, names, taken=None, popped=None):
        """The workload that is next to be served; with taken, next to give way."""
        yields = taken is not None

        def rank(queue, head):
            if not yields:
                return self.rank_queue(queue, self.amounts(self.unit(head), self.smallest), nothing())
            victims = popped.get(queue, nothing())
            for pod in self.held(head):
                victims = add(victims, self.charge_in_place(pod)) if pod.name not in taken else victims
            return self.rank_queue(queue, nothing(), victims)

        def best(entries):
            found = None
            for queue, head in entries:
                entry = rank(queue, head), head
                if found is None or (
                    self.goes_first(found[0], entry[0]) if yields else self.goes_first(entry[0], found[0])
                ):
                    found = entry
            return found and found[1]

        def heads(department):
            for queue in self.queues("project", department):
                own = [name for name in names if self.workloads[name]["project"] == queue[1]]
                if own:
                    yield queue, (max if yields else min)(own, key=lambda name: self.rank_workload(name, taken or ()))

        tops = [(queue, best(heads(queue[1]))) for queue in self.queues("department")]
        return best([(queue, head) for queue, head in tops if head])

    # Limits, quota (4.2) and nodes (4.4, 5).
    def is_allowed(self, name, amounts, quota_alone=False):
        rules = [] if quota_alone else [(1, False)]
        rules += [] if self.workloads[name]["preemptible"] else [(0, True)]
        for bound, non_preemptible in rules:
            for queue in self.path(name):
                held, numbers = self.allocated(queue, non_preemptible), self.numbers(queue)
                if any(amounts[r] > 0 and held[r] + amounts[r] > numbers[r][bound] for r in RESOURCES):
                    return False
        return quota_alone or not (self.person_lacks(name, amounts) or self.budget_lacks(name, amounts))

    def group_fits(self, node, group, memory):
        return (
            group["used"] != 0
            and group["taken"] != group["going"]
            and self.device_memory(node) - group["taken"] + group["going"] >= memory
        )

    def fit(self, pod, node):
        """None where it does not fit; else whether now, and how many shared devices it may join."""
        idle, _, groups, _ = self.look(node)
        amounts = pod.amounts()
        if not self.matches(pod, node) or any(amount and amount > self.free(node, d) for d, amount in amounts.items()):
            return None
        now, joins = all(amount <= idle[d] for d, amount in amounts.items() if amount), 0
        if pod.shared:
            memory = self.part(pod, node)
            joins = min(sum(self.group_fits(node, group, memory) for group in groups.values()), pod.shared)
            opens = pod.shared - joins
            if (
                not 0 < memory <= self.device_memory(node)
                or opens > self.free(node, "gpu")
                or opens + 1 > self.free(node, "pods")
            ):
                return None
            now = now and opens <= idle["gpu"] and opens + 1 <= idle["pods"]
        return now, joins

    def score(self, pod, node, now, joins):
        d = "gpu" if pod.needs_gpu else "cpu"
        capacity, free = self.look(node)[3], self.free(node, d)
        all_free = [self.free(other, d) for other in self.nodes if self.look(other)[3][d] > 0]
        if capacity[d] == 0 or max(all_free) == 0:
            score = Fraction(0)
        elif self.strategies[d] == "spread":
            score = Fraction(free, capacity[d])
        elif min(all_free) == max(all_free):
            score = Fraction(9)
        else:
            score = 9 * (1 - Fraction(free - min(all_free), max(all_free) - min(all_free)))
        return (
            score
            + 10 * (d == "cpu" and not any(capacity[gpus] for gpus in ("gpu", *self.profiles)))
            + 1000 * now
            + 10000 * (joins > 0 and self.strategies["gpu"] == "binpack")
        )

    def choose_devices(self, pod, node, at_once=False):
        """The groups that the pod gets, and whether it has to wait for one (5.6); at_once: of those that need no
        waiting."""
        idle, _, groups, _ = self.look(node)
        memory, whole = self.part(pod, node), self.device_memory(node)

        def is_later(name):
            return whole - groups[name]["taken"] < memory or groups[name]["taken"] == 0

        def free(dimension):
            return min(self.free(node, dimension), idle[dimension]) if at_once else self.free(node, dimension)

        fits = [name for name in groups if self.group_fits(node, groups[name], memory)]
        fits = [name for name in fits if not (at_once and is_later(name))]
        fits.sort(key=lambda name: (not name.isdigit(), int(name) if name.isdigit() else 0, name))
        spreads = self.strategies["gpu"] == "spread"
        fits.sort(key=lambda name: groups[name]["used"] if spreads else -groups[name]["used"])
        opens = max(pod.shared - len(fits), 0)
        if spreads:
            opens = max(opens, min(free("gpu"), free("pods") - 1, pod.shared))
        chosen = fits[: pod.shared - opens]
        now = {d: free(d) if at_once else idle[d] for d in ("gpu", "pods")}
        waits = opens > now["gpu"] or opens + 1 > now["pods"] or any(map(is_later, chosen))
        names, number = set(groups), 0
        while len(chosen) < pod.shared:
            if str(number) not in names:
                chosen.append(str(number))
            number += 1
        return tuple(chosen), waits

    def starts_at_once(self, pod, node):
        """How many shared devices it joins there without waiting; None where it has to wait (5.6)."""
        fit = self.fit(pod, node)
        groups, waits = self.choose_devices(pod, node, at_once=True) if fit and fit[0] else ((), True)
        return None if waits else len(self.look(node)[2].keys() & set(groups))

    def put(self, pod, node, now, promise_only, at_once=False):
        self.seen.pop(node, None)
        groups, waits = self.choose_devices(pod, node, at_once) if pod.shared else ((), False)
        self.seen.clear()
        if pod.evicted and pod.origin[0] == node and set(pod.origin[2]) == set(groups):
            pod.status, pod.entries = pod.before
            pod.evicted = pod.withdrawn = False
            return
        waits = waits or promise_only or not now
        stays = [entry for entry in pod.entries if entry[1] == "releasing"] if pod.evicted else []
        pod.entries = stays + [(node, "promised" if waits else "stays", groups)]
        pod.status = "Pipelined" if waits else "Binding"
        pod.moved, pod.evicted, pod.withdrawn = pod.evicted, False, False
        self.placed.append(pod)

    def place(self, name, nodes, promise_only):
        """All of the unit or nothing."""
        unit, saved, workload = self.unit(name), self.save(), self.workloads[name]
        if not unit or not self.is_allowed(name, self.amounts(unit, self.largest)):
            return False

        def size(pod):
            return [-self.amounts([pod], self.largest)[r] for r in RESOURCES]

        orders = [unit] if len({tuple(size(pod)) for pod in unit}) == 1 else [unit, sorted(unit, key=size)]
        for self.largest_first, order in enumerate(orders):
            self.tried = None
            if self.place_group(name, workload["root"], order, nodes, {}, promise_only):
                return True
            self.restore(saved)
            for domain in self.domains(name, nodes) if self.tried and len(unit) > 1 else ():
                if self.place_group(name, workload["root"], order, domain, {}, promise_only):
                    return True
                self.restore(saved)
        return False

    def label(self, name, node):
        return self.nodes[node]["labels"].get(self.workloads[name]["affinity"]["key"])

    def domains(self, name, nodes):
        """The nodes by the label of a required affinity whose place is still open, best for the pod that was tried
        first."""
        if not self.is_bound_together(name) or self.held(name):
            return []
        best = {}
        for node in nodes:
            fit, value = self.fit_lawfully(name, self.tried, node), self.label(name, node)
            if fit and value is not None:
                score = self.score(self.tried, node, *fit)
                best[value] = max(best.get(value, score), score)
        return [
            [node for node in nodes if self.label(name, node) == value]
            for value in sorted(best, key=best.get, reverse=True)
        ]

    def place_group(self, name, group, unit, nodes, scores, promise_only):
        pods = [pod for pod in unit if pod in group.all_pods()]
        sets = [(nodes, scores)]
        if group.topology and pods:
            stands = [pod.node for pod in group.all_pods() if pod.is_held]
            sets = Finder(self, group.topology, nodes, pods, stands).sets(scores)
        for nodes, scores in sets if pods else ():
            saved = self.save()
            members = group.in_order(lambda pod: pod.is_held)
            if self.largest_first:
                members.sort(
                    key=lambda member: min(map(pods.index, set(pods) & set(member.all_pods())), default=len(pods))
                )
            if all(self.place_group(name, member, unit, nodes, scores, promise_only) for member in members) and (
                group.is_set or all(self.place_pod(name, pod, nodes, scores, promise_only) for pod in pods)
            ):
                return True
            self.restore(saved)
        return not pods

    def place_pod(self, name, pod, nodes, scores, promise_only):
        self.tried = self.tried or pod
        together, bonus = self.together(name, nodes)
        fits = [(node, self.fit_lawfully(name, pod, node)) for node in nodes]
        fits = [(node, fit) for node, fit in fits if fit and (node in together or not self.is_bound_together(name))]
        if not fits:
            return False

        def score(entry):
            return self.score(pod, entry[0], *entry[1]) + scores.get(entry[0], 0) + bonus * (entry[0] in together)

        node, fit = max(fits, key=score)
        if (
            pod.shared
            and name in self.promised
            and not promise_only
            and (not fit[0] or self.choose_devices(pod, node)[1])
        ):
            at_once = [(node, (True, self.starts_at_once(pod, node))) for node, _ in fits]
            at_once = [entry for entry in at_once if entry[1][1] is not None]
            if at_once:
                self.put(pod, max(at_once, key=score)[0], True, False, at_once=True)
                return True
        self.put(pod, node, fit[0], promise_only)
        return True

    def fit_lawfully(self, name, pod, node):
        fit = self.fit(pod, node)
        return fit if fit and self.is_allowed(name, self.charge(pod, self.device_memory(node) or 100)) else None

    def is_bound_together(self, name):
        return (self.workloads[name]["affinity"] or {}).get("type") == "required"

    def together(self, name, nodes):
        """Nodes that an affinity to the workload's other pods leaves or prefers, and by how much it does the latter."""
        if not self.workloads[name]["affinity"]:
            return [], 0
        held = min(self.held(name), key=lambda pod: pod.name, default=None)
        value = held and self.label(name, held.node)
        if value is None:  # nobody stands there yet, or on a node without the label
            return [node for node in nodes if self.label(name, node) is not None], 0
        return [node for node in nodes if self.label(name, node) == value], 2000000

    def commit(self, name=None):
        """name: for whom others were evicted."""
        self.seen.clear()
        evicts = any(pod.evicted or pod.moved for pod in self.pods.values())
        for pod in self.placed:
            self.workloads[pod.workload]["home"] = self.workloads[pod.workload]["home"] or self.pool
            if pod.status == "Pipelined":
                self.promises.append((2 if pod.moved else 0 if pod.workload == name and evicts else 1, pod.workload))
        self.placed = []
        for pod in self.pods.values():
            if (pod.evicted or pod.moved) and pod.before[0] != "Pipelined":
                self.workloads[pod.workload]["lost"] = True
            if pod.evicted or pod.moved:
                self.displaced_now.add(pod.workload)
            if pod.evicted and pod.withdrawn:
                pod.status = "Releasing" if pod.entries else "Pending"
            pod.evicted = pod.withdrawn = pod.moved = False

    # From cycle to cycle (the preface's promises).
    def obey(self):
        """What `simulate` does between cycles."""
        self.displaced |= self.displaced_now
        ranks = {name: [rank for rank, other in self.promises if other == name] for _, name in self.promises}
        waits = [name for name in ranks if any(pod.status == "Pipelined" for pod in self.pods_of(name))]
        self.promised = sorted(waits, key=lambda name: 2 if 2 in ranks[name] else min(ranks[name]))
        for pod in self.pods.values():
            pod.was_promised = pod.status == "Pipelined"
            if pod.status == "Binding":
                pod.status, pod.started, pod.entries = "Running", self.now, [pod.entries[-1]]
            elif pod.status == "Pipelined" or (
                pod.status == "Releasing" and not self.workloads[pod.workload]["deleting"]
            ):
                pod.status, pod.started, pod.entries = "Pending", None, []
        for workload in self.workloads.values():
            workload["lost"] = False
        self.seen.clear()

    def keep_promises(self):
        for name in self.promised:
            for pool in self.workloads[name]["pools"]:
                self.enter(pool, 0)
                if self.may_stand(name) and self.is_candidate(name) and self.start(name):
                    break
            else:
                self.in_doubt = self.in_doubt or self.is_candidate(name)  # then all are tried at the promised places
            while (
                not self.in_doubt
                and self.is_candidate(name)
                and any(pod.was_promised and pod.status == "Pending" for pod in self.pods_of(name))
            ):
                self.in_doubt = not self.start(name)

    @staticmethod
    def must_wait(leaf):
        held = [pod.status for pod in leaf.pods if pod.is_held]
        return "Pipelined" in held and len(held) - held.count("Pipelined") < leaf.minimum

    def start(self, name):
        """Places a unit by the ordinary rules; a gang of which one place is only promised is promised whole."""
        was_pending = [pod for pod in self.pods_of(name) if pod.status == "Pending"]
        if not self.place(name, self.nodes, False):
            return False
        if any(self.must_wait(leaf) for leaf in self.workloads[name]["root"].leaves()):
            for pod in was_pending:
                if pod.status == "Binding":
                    pod.status, pod.entries = "Pipelined", [(pod.node, "promised", pod.entries[-1][2])]
        self.commit()
        return True

    def allocate(self):
        waiting = [name for name in self.workloads if self.may_wait(name)]
        while waiting:
            name = self.pick(waiting)
            waiting.remove(name)
            if self.start(name) and any(pod.status == "Pending" for pod in self.pods_of(name)):
                waiting.append(name)
