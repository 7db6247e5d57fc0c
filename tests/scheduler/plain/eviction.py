"""Reclaim, preemption and consolidation of the second scheduler: who may, from whom, and the search (6 to 9)."""

from fractions import Fraction

from plain.cluster import INFINITE, RESOURCES, add, nothing
from plain.scheduler import Scheduler


def seconds(text):
    return int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:19])


class Evictions(Scheduler):
    def evict_for(self, action):
        waiting = [name for name in self.workloads if self.may_wait(name)]
        while waiting:
            name = self.pick(waiting)
            waiting.remove(name)
            workload = self.workloads[name]
            if (
                workload["lost"]
                or not any(pod.status == "Pending" for pod in self.pods_of(name))
                or not self.may_try(action, name)
            ):
                continue
            asked = self.amounts(self.unit(name), self.smallest)
            victims = [
                other
                for other in self.workloads
                if other != name
                and self.workloads[other]["preemptible"]
                and self.workloads[other]["home"] == self.pool
                and self.held(other)
                and self.may_be_victim(action, name, asked, other)
            ]
            if victims and self.solve(action, name, victims):
                self.commit(name)

    def evict_stale(self):
        """With a grace of 0: what has pods and not its minimum, of surplus sub-groups one a cycle (9.1)."""

        def is_used(pod):
            return pod.is_held or pod.status == "Releasing"

        def find(group):
            pods = group.all_pods()
            if not any(map(is_used, pods)):
                return None
            if not group.is_satisfied(is_used):
                return None if any(pod.status == "Succeeded" for pod in pods) else group
            return next(filter(None, map(find, group.members)), None) if group.is_set else None

        freed = False
        for name in self.workloads if self.grace == 0 else ():
            root = self.workloads[name]["root"]
            group = find(root) if self.workloads[name]["home"] == self.pool else None
            if not group or (group is not root and freed):
                continue
            freed = freed or group is not root
            for pod in group.all_pods():
                if pod.is_held:
                    self.evict(pod)
            self.commit()

    # Who may (6.3, 7, 8).
    def may_try(self, action, name):
        unit, workload, project = self.unit(name), self.workloads[name], self.path(name)[0]
        self.takes_own = self.person_lacks(name, self.amounts(unit, self.largest))
        self.takes_kept = self.budget_lacks(name, self.amounts(unit, self.largest))
        if action != "preempt" and (self.takes_own or self.takes_kept):
            return False
        if action == "preempt":
            return self.is_allowed(name, self.amounts(unit, self.largest), quota_alone=True)
        if action == "consolidation":
            enough = sum(map(self.free_milli, self.nodes)) >= self.amounts(unit, self.largest)["gpu"]
            memory = sum(self.free_milli(node) * self.device_memory(node) for node in self.nodes)
            return workload["preemptible"] and enough and memory >= sum(1000 * pod.mib * pod.shared for pod in unit)
        asked, held, numbers = self.amounts(unit, self.smallest), self.allocated(project), self.numbers(project)
        if not workload["preemptible"]:
            bound = add(self.allocated(project, True), asked)
            if any(bound[r] > numbers[r][0] for r in RESOURCES):
                return False
        return all(held[r] + asked[r] <= self.shares[project][r] for r in RESOURCES)

    # From whom (6.4, 7, 9.4).
    def leveled(self, name, other):
        mine, theirs = self.path(name), self.path(other)
        level = 0 if mine[1] == theirs[1] else 1
        return mine[level], theirs[level]

    def protection(self, action, name, other):
        starts = [seconds(pod.started) for pod in self.pods_of(other) if pod.started]
        if action == "consolidation" or not starts:
            return False
        path = [self.projects[self.path(other)[0][1]], self.departments[self.path(other)[1][1]]]
        if action == "reclaim" and self.path(name)[1] != self.path(other)[1]:
            del path[0]
        values = [queue.get(action + "MinRuntimeSeconds") for queue in path]
        return seconds(self.now) < min(starts) + next((value for value in values if value is not None), 0)

    def may_be_victim(self, action, name, asked, other):
        mine, theirs = self.workloads[name], self.workloads[other]
        is_same = mine["project"] == theirs["project"]
        if all(len(leaf.pods) <= leaf.minimum for leaf in theirs["root"].leaves()) and self.protection(
            action, name, other
        ):
            return False
        if action == "preempt":
            is_whose = not self.takes_own or theirs["person"] == mine["person"]
            is_whose = is_whose and (not self.takes_kept or theirs["over budget"])
            return is_same and is_whose and theirs["priority"] < mine["priority"]
        if action == "consolidation" or is_same:
            return action == "consolidation"
        a, b = self.leveled(name, other)
        with_unit, held, quota_a, quota_b = (
            add(self.allocated(a), asked),
            self.allocated(b),
            self.numbers(a),
            self.numbers(b),
        )
        if any(with_unit[r] > quota_a[r][0] for r in RESOURCES):
            return any(held[r] > self.allocatable_share(b, r) for r in RESOURCES)
        differences = [held[r] - quota_b[r][0] for r in RESOURCES if asked[r] > 0 and quota_b[r][0] != INFINITE]
        return (
            any(d > 0 for d in differences)
            or not any(d < 0 for d in differences)
            or self.rank_decides(name, other, asked, self.allocated(self.path(name)[0]), self.allocated(a))
        )

    def rank_decides(self, name, other, asked, held_by_project, held_by_side):
        """Quotas of siblings are more than there is, and within its quota the higher one takes from the lower one."""
        mine, theirs = self.leveled(name, other)
        project, department = self.path(name)
        siblings = self.queues("department") if mine[0] == "department" else self.queues("project", department[1])
        r = next((r for r in RESOURCES if asked[r] > 0), "gpu")
        there_is = self.total[r] if mine[0] == "department" else self.shares[department][r]
        quotas = [self.numbers(queue)[r][0] for queue in siblings]
        return (
            self.pools[self.pool].get("reclaimByRank", False)
            and self.numbers(mine)["rank"] > self.numbers(theirs)["rank"]
            and INFINITE not in (self.numbers(mine)[r][0], self.numbers(theirs)[r][0])
            and sum(quota for quota in quotas if quota != INFINITE) > there_is
            and all(
                held[q] + asked[q] <= self.numbers(queue)[q][0]
                for queue, held in ((project, held_by_project), (mine, held_by_side))
                for q in RESOURCES
            )
        )

    # The search (6.6, 6.7).
    def solve(self, action, name, candidates):
        start = self.save()
        count = len(self.unit(name))
        every = all(pod.needs_gpu for pod in self.pods_of(name))
        self.feasible = [node for node in self.nodes if not every or self.free_milli(node) > 0]
        self.frozen = {
            (queue, np): self.allocated(queue, np)
            for queue in self.queues("project") + self.queues("department")
            for np in (False, True)
        }
        if action == "reclaim":
            project = self.path(name)[0]
            held = add(self.allocated(project), self.amounts(self.unit(name), self.smallest))
            is_within = all(held[r] <= self.numbers(project)[r][0] for r in RESOURCES)
            due = {
                queue: {
                    r: self.numbers(queue)[r][0] if is_within else self.allocatable_share(queue, r) for r in RESOURCES
                }
                for queue, np in self.frozen
                if not np and queue != self.path(name)[1]
            }
            if self.search(action, name, candidates, start, count, due):
                return True
        return self.search(action, name, candidates, start, count, {})

    def search(self, action, name, candidates, start, count, due):
        """due: what queues are left, in this search."""
        workload, self.due, self.failed = self.workloads[name], due, set()
        for generator in (self.by_node, self.by_nodes):
            recorded, found, failed, tried = [], 0, count + 1, 1
            while failed - found > 1:
                workload["first"] = tried
                victims = self.generate(action, name, candidates, recorded, generator)
                taken, put_back = self.really_taken(victims or [])
                self.restore(start)
                if victims is None:
                    failed = tried
                else:
                    found, recorded = (
                        tried,
                        taken + [pod for pod in put_back if self.is_left_in_part(pod.workload, taken)],
                    )
                tried = min(2 * found, count) if failed > count else (found + failed) // 2
            workload["first"] = None
            if found and self.generate(action, name, candidates, recorded, generator) is not None:
                return True
        self.restore(start)
        return False

    @staticmethod
    def really_taken(victims):
        """Who has no place, then who has another or a promise; and those who were put back."""
        taken = [pod for pod in victims if pod.evicted] + [pod for pod in victims if pod.status == "Pipelined"]
        return taken, [pod for pod in victims if pod not in taken]

    def is_left_in_part(self, name, gone):
        root = self.workloads[name]["root"]
        return root.is_whole(lambda pod: pod.is_held) and not root.is_whole(lambda pod: pod.is_held and pod not in gone)

    def generate(self, action, name, candidates, recorded, generator):
        """The victims of the first scenario that is valid."""
        pending = self.unit(name)

        def valid(victims):
            return self.simulate(action, name, pending, victims)

        if recorded and valid(recorded):
            return recorded
        left, taken, popped, units = list(candidates), set(), {}, []
        rest, passed = {queue: self.frozen[queue, False] for queue in self.due}, {}
        for pod in recorded:
            self.count_down(rest, [pod])
        while left:
            victim = self.pick(left, taken, popped)
            unit = self.workloads[victim]["root"].take(lambda pod: pod.is_held and pod.name not in taken)
            taken.update(pod.name for pod in unit)
            for queue in self.path(victim):
                for pod in unit:
                    popped[queue] = add(popped.get(queue, nothing()), self.charge_in_place(pod))
            if all(pod.name in taken for pod in self.held(victim)):
                left.remove(victim)
            if any(pod in recorded for pod in unit):
                continue
            project, priority = self.path(victim)[0], self.workloads[victim]["priority"]
            if priority > passed.get(project, INFINITE) or self.leaves_less_than_due(rest, unit):
                passed[project] = min(priority, passed.get(project, INFINITE))
                continue
            self.count_down(rest, unit)
            units.append(unit)
            gone = recorded + [pod for unit in units for pod in unit]
            room = {
                node: self.free_milli(node) + sum(self.charge_in_place(pod)["gpu"] for pod in gone if pod.node == node)
                for node in self.nodes
            }
            if self.may_suffice(name, pending, room, {pod.node for pod in gone}):
                found = next((s for s in generator(pending, units, recorded, room) if valid(s)), None)
                if found is not None:
                    return found
        return None

    # What is due is spared (the preface).
    def count_down(self, rest, pods):
        for queue in self.path(pods[0].workload):
            if queue in rest:
                rest[queue] = add(rest[queue], self.amounts_in_place(pods), -1)

    def amounts_in_place(self, pods):
        charges = [self.charge_in_place(pod) for pod in pods]
        return {r: sum(charge[r] for charge in charges) for r in RESOURCES}

    def leaves_less_than_due(self, rest, unit):
        amounts = self.amounts_in_place(unit)
        return any(
            amounts[r] > 0 and self.due[queue][r] != INFINITE and rest[queue][r] - amounts[r] < self.due[queue][r]
            for queue in self.path(unit[0].workload)
            if queue in rest
            for r in RESOURCES
        )

    @staticmethod
    def first_fit(wanted, rooms):
        rooms = sorted(rooms, reverse=True)
        for amount in sorted(wanted, reverse=True):
            at = next((i for i, free in enumerate(rooms) if free >= amount), None)
            if at is None:
                return False
            rooms[at] -= amount
        return True

    def wanted(self, pods):
        return [self.charge(pod, self.largest)["gpu"] for pod in pods]

    def may_suffice(self, name, pending, room, victims_nodes):
        nodes = victims_nodes.union(self.feasible)
        return (
            self.first_fit(self.wanted(pending), room.values())
            and all(any(self.matches(pod, node) for node in nodes) for pod in pending)
            and self.levels_may_suffice(name, pending, room)
        )

    def levels_may_suffice(self, name, pending, room):
        """Sets that require a level, into its domains; one inside another counts with it."""

        def outermost(group, key):
            if not group.is_set:
                return []
            own = group.topology and (group.topology["name"], group.topology.get("required"))
            return [group] if own == key else [inner for member in group.members for inner in outermost(member, key)]

        root = self.workloads[name]["root"]
        keys = {
            (group.topology["name"], group.topology["required"])
            for group in root.sets()
            if group.topology and group.topology.get("required")
        }
        for topology, required in keys:
            levels = self.topologies[topology]
            domains = {}
            for node in self.nodes:
                labels = self.nodes[node]["labels"]
                if all(level in labels for level in levels):
                    domain = tuple(labels[level] for level in levels[: levels.index(required) + 1])
                    domains[domain] = domains.get(domain, 0) + room[node]
            groups = [
                [pod for pod in pending if pod in group.all_pods()] for group in outermost(root, (topology, required))
            ]
            if not self.first_fit([sum(self.wanted(pods)) for pods in groups if pods], domains.values()):
                return False
        return True

    def select(self, units, recorded, nodes):
        """Units with a pod on one of the nodes; then with all that was taken so far of gangs that would be left in
        part."""
        chosen = {i for i, unit in enumerate(units) if any(pod.node in nodes for pod in unit)}
        yield recorded + [pod for i in sorted(chosen) for pod in units[i]]
        some = set(chosen)
        for i in some:
            name = units[i][0].workload
            gone = recorded + [pod for j in some for pod in units[j]]
            if not self.workloads[name]["root"].is_whole(lambda pod: pod.is_held and pod not in gone):
                last = max(j for j in some if units[j][0].workload == name)
                chosen |= {j for j in range(last) if units[j][0].workload == name}
        if chosen != some:
            yield recorded + [pod for i in sorted(chosen) for pod in units[i]]

    def by_node(self, pending, units, recorded, room):
        for node in sorted({pod.node for pod in units[-1]}):
            yield from self.select(units, recorded, {node})

    def by_nodes(self, pending, units, recorded, room):
        wanted = self.wanted(pending)
        victims_nodes = list(dict.fromkeys(pod.node for unit in units for pod in unit))
        nodes = sorted((node for node in victims_nodes if room[node] >= min(wanted)), key=lambda node: room[node])
        others = set(self.feasible).union(pod.node for pod in recorded).difference(victims_nodes)
        demand, first = sum(wanted) - sum(room[node] for node in others), 0
        while demand > 0 and first < len(nodes):
            demand -= room[nodes[first]]
            first += 1
        more = 0
        while demand <= 0:
            yield from self.select(units, recorded, set(nodes[: first + more]))
            if first + more >= len(nodes):
                return
            more = 2 * more or 1

    # One scenario (6.8).
    def evict(self, pod):
        pod.before, pod.origin, pod.evicted = (pod.status, list(pod.entries)), pod.entries[-1], True
        pod.withdrawn = pod.status == "Pipelined"
        if pod.withdrawn:
            pod.entries = pod.entries[:-1]
        else:
            pod.entries = [(pod.node, "releasing", pod.entries[-1][2])]
        pod.status = "Releasing"
        self.seen.clear()

    def simulate(self, action, name, pending, victims):
        key = tuple(pod.name for pod in pending), tuple(pod.name for pod in victims)
        if not victims or key in self.failed:
            return False
        saved = self.save()

        def is_whole(other):
            return self.workloads[other]["root"].is_whole(lambda pod: pod.is_held)

        stood_whole = {pod.workload for pod in victims if is_whole(pod.workload)}
        nodes = {pod.node for pod in victims}.union(self.feasible)
        acting = {pod.workload for pod in victims} | {name}
        served = {other for other in self.workloads if self.may_wait(other)} | acting
        for pod in victims:
            self.evict(pod)
        while served:
            next_one = self.pick(sorted(served))
            served.remove(next_one)
            if next_one not in acting or self.workloads[next_one]["deleting"]:
                continue
            every = all(pod.needs_gpu for pod in self.pods_of(next_one))
            given = [node for node in self.nodes if node in nodes or not every]
            if not self.place(next_one, given, True) and next_one == name:
                break
        else:
            if (
                all(pod.is_held for pod in pending)
                and all(map(is_whole, stood_whole))
                and self.is_lawful(action, name, pending, victims)
            ):
                return True
        self.restore(saved)
        self.failed.add(key)
        return False

    def is_lawful(self, action, name, pending, victims):
        if action == "consolidation":
            return not any(pod.evicted for pod in victims)
        for other in {pod.workload for pod in victims}:
            for leaf in self.workloads[other]["root"].leaves():
                used = sum((pod.is_held or pod.status == "Releasing") and not pod.withdrawn for pod in leaf.pods)
                taken = sum(pod in leaf.pods for pod in victims)
                if taken and used - taken < leaf.minimum and self.protection(action, name, other):
                    return False
        is_lawful = action == "preempt" or self.is_fair(name, self.amounts(pending, self.smallest), victims)
        if is_lawful and action == "reclaim" and name in self.displaced:
            self.in_doubt = True  # who was displaced itself has to reclaim for good
        return is_lawful

    # Fairness (6.9).
    def chunks(self, name, victims):
        core, seen = nothing(), {id(leaf): 0 for leaf in self.workloads[name]["root"].leaves()}
        for pod in victims:
            leaf = next((leaf for leaf in self.workloads[name]["root"].leaves() if pod in leaf.pods), None)
            if leaf is None:
                continue
            given = self.charge_in_place(pod, pod.origin[0]) if pod.evicted else nothing()
            seen[id(leaf)] += 1
            if seen[id(leaf)] <= leaf.minimum:
                core = add(core, given)
            else:
                yield given
        yield core

    def is_fair(self, name, asked, victims):
        left = {queue: self.frozen[queue, False] for queue, np in self.frozen if not np}
        involved = {}
        names = list(dict.fromkeys(pod.workload for pod in victims))
        for other in sorted(names, key=lambda other: self.workloads[other]["project"]):
            mine, theirs = self.leveled(name, other)
            for chunk in self.chunks(other, victims):
                if not any(chunk.values()):
                    continue
                keeps_share = any(left[theirs][r] > self.allocatable_share(theirs, r) for r in RESOURCES)
                is_owed = all(
                    self.frozen[mine, False][r] + asked[r] <= self.numbers(mine)[r][0] for r in RESOURCES
                ) and any(left[theirs][r] > self.numbers(theirs)[r][0] for r in RESOURCES)
                by_rank = self.rank_decides(
                    name, other, asked, self.frozen[self.path(name)[0], False], self.frozen[mine, False]
                )
                if not keeps_share and not is_owed and not by_rank:
                    return False
                for queue in self.path(other):
                    left[queue] = add(left[queue], chunk, -1)
                    involved.setdefault(queue, set()).update(r for r in RESOURCES if chunk[r] > 0)
        return all(self.is_level_fair(name, queue, asked, left, involved) for queue in self.path(name))

    def is_level_fair(self, name, queue, asked, left, involved):
        def saturation(of, value, r):
            share = self.shares[of][r]
            return Fraction(value) / share if share else INFINITE if value > 0 else 0

        siblings = self.queues(queue[0], None if queue[0] == "department" else self.path(name)[1][1])
        for sibling in siblings:
            for r in RESOURCES if sibling in involved and sibling != queue else ():
                mine = saturation(queue, left[queue][r] + asked[r], r)
                if (
                    (r in involved[sibling] or asked[r] > 0)
                    and mine > 1
                    and self.shares[sibling][r] > 0
                    and mine >= saturation(sibling, left[sibling][r], r)
                ):
                    return False
        bound = add(self.frozen[queue, True], asked)
        return self.workloads[name]["preemptible"] or all(bound[r] <= self.numbers(queue)[r][0] for r in RESOURCES)
