"""Workloads as trees of sub-groups, for scheduler.py: what is placed at once, what is evicted at once (3.5,
10)."""

from fractions import Fraction


class Group:
    """A leaf has pods, a set has members by name; minimum: pods of a leaf, satisfied members of a set."""

    def __init__(self, name, minimum, topology=None):
        self.name, self.minimum, self.topology = name, minimum, topology
        self.members, self.pods = [], []

    @property
    def is_set(self):
        return bool(self.members)

    def leaves(self):
        return [leaf for member in self.members for leaf in member.leaves()] if self.is_set else [self]

    def sets(self):
        return [self] + [group for member in self.members for group in member.sets()] if self.is_set else []

    def all_pods(self):
        return [pod for leaf in self.leaves() for pod in leaf.pods]

    # Counting; counts: whether a pod counts.
    def filled(self, counts):
        if self.is_set:
            return sum(member.is_satisfied(counts) for member in self.members)
        return sum(counts(pod) for pod in self.pods)

    def is_satisfied(self, counts):
        return self.filled(counts) >= self.minimum

    def is_whole(self, counts):
        """No part of a gang: here and inside all of the minimum, or nothing."""
        some = any(counts(pod) for pod in self.all_pods())
        return not some or (self.is_satisfied(counts) and all(member.is_whole(counts) for member in self.members))

    def in_order(self, counts):
        def rank(member):
            filled = member.filled(counts)
            if filled < member.minimum:
                return 0, 0, 0, member.name
            return 1, member.minimum == 0, Fraction(filled, member.minimum or 1), member.name

        return sorted(self.members, key=rank)

    # The next unit to place.
    def collect(self, held, placeable, back):
        """back: pods that the statement evicted. Of what stood in part before it, these alone."""

        def exists(pod):
            return held(pod) or placeable(pod)

        def gives_back(member):
            return any(map(back, member.all_pods()))

        if not self.is_set:
            may = placeable if self.is_satisfied(exists) else back
            return [pod for pod in self.pods if may(pod)][: max(self.minimum - self.filled(held), 1)]
        order = self.in_order(held)
        if self.filled(held) >= self.minimum:
            units = (m.collect(held, placeable, back) for m in order if m.is_satisfied(exists) or gives_back(m))
            return next((unit for unit in units if unit), [])
        members = [m for m in order if m.is_satisfied(held) or m.is_satisfied(exists)][: self.minimum]
        if len(members) < self.minimum:
            placeable, members = back, [m for m in order if m.is_satisfied(held) or gives_back(m)][: self.minimum]
        return [pod for m in members if not m.is_satisfied(held) for pod in m.collect(held, placeable, back)]

    # The next unit to evict.
    def take_surplus(self, left):
        if not self.is_set:
            return [pod for pod in self.pods if left(pod)][-1:] if self.filled(left) > self.minimum else []
        members = self.in_order(left)[::-1]
        surplus = next((unit for unit in (member.take_surplus(left) for member in members) if unit), [])
        if surplus or self.filled(left) <= self.minimum:
            return surplus
        return next(
            (unit for unit in ([pod for pod in member.all_pods() if left(pod)] for member in members) if unit), []
        )

    def take(self, left):
        surplus = self.take_surplus(left) if self.filled(left) > 0 else []
        return surplus or [pod for pod in self.all_pods() if left(pod)]


def make_groups(spec, pods):
    """The root of a workload of the snapshot."""
    sub_groups = {
        s["name"]: Group(s["name"], 0, s.get("topology"))
        for s in sorted(spec.get("subGroups", []), key=lambda s: s["name"])
    }
    root = Group("", 0, spec.get("topology"))
    if not sub_groups:
        leaf = Group("default", spec.get("minPods", len(pods)))
        leaf.pods, root.members, root.minimum = pods, [leaf], 1
        return root
    for sub_group in sorted(spec["subGroups"], key=lambda s: s["name"]):
        (sub_groups[sub_group["parent"]] if sub_group.get("parent") else root).members.append(
            sub_groups[sub_group["name"]]
        )
    for sub_group in spec["subGroups"]:
        group = sub_groups[sub_group["name"]]
        group.minimum = (
            sub_group.get("minSubGroups", len(group.members)) if group.is_set else sub_group.get("minPods", 0)
        )
    root.minimum = spec.get("minSubGroups", len(root.members))
    in_order = sorted(spec["pods"], key=lambda p: (-p.get("priority", 0), p["name"]))
    for pod, its in zip(pods, in_order, strict=True):
        sub_groups[its["subGroup"]].pods.append(pod)
    return root
