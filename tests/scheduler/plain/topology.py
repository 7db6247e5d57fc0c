"""Which node sets a topology constraint leaves, in order, for scheduler.py (5.8)."""

from fractions import Fraction


class Finder:
    """Domains are tuples of label values from the top: () is the root."""

    def __init__(self, cluster, constraint, nodes, pods, stands):
        self.cluster, self.levels = cluster, cluster.topologies[constraint["name"]]
        self.level = {
            key: self.levels.index(constraint[key]) + 1 if constraint.get(key) else None
            for key in ("required", "preferred")
        }
        self.nodes = [node for node in nodes if self.domain(node) is not None]
        self.pods, self.stands = pods, stands

    def domain(self, node):
        labels = self.cluster.nodes[node]["labels"]
        return tuple(labels[key] for key in self.levels) if all(key in labels for key in self.levels) else None

    def within(self, domain):
        return [node for node in self.nodes if self.domain(node)[: len(domain)] == domain]

    def amounts(self, pod):
        return {
            **pod.amounts(),
            "gpu": self.cluster.charge(pod, self.cluster.smallest)["gpu"] - 1000 * sum(self.cluster.gpus_of_pod(pod)),
        }

    def scaled_free(self, node, d):
        return self.cluster.free(node, d) * (1000 if d == "gpu" else 1)

    def ratio(self, domain):
        ratio = Fraction(0)
        for d in self.dimensions:
            wanted = sum(self.amounts(pod).get(d, 0) for pod in self.pods)
            free = sum(self.scaled_free(node, d) for node in self.within(domain))
            if d != "pods" and wanted:
                ratio = max(ratio, Fraction(wanted, free) if free > 0 else Fraction(1000))
        return ratio

    def count(self, node):
        """How many of the smallest pods it takes."""
        counts = []
        for d in self.dimensions:
            smallest = min(self.amounts(pod).get(d, 0) for pod in self.pods)
            free = self.cluster.free_milli(node) if d == "gpu" and smallest < 1000 else self.scaled_free(node, d)
            if smallest:
                counts.append(max(free, 0) // smallest)
        return min(counts)

    def may_fit(self, domain):
        kinds = [d for d in self.dimensions if d not in ("cpu", "memory", "pods")]
        if all(len({self.amounts(pod).get(d, 0) > 0 for pod in self.pods}) == 1 for d in kinds):
            alike = all(len({self.amounts(pod).get(d, 0) for pod in self.pods}) == 1 for d in self.dimensions)
            if sum(map(self.count, self.within(domain))) < len(self.pods):
                return False
            if alike or any(pod.shared for pod in self.pods):
                return True
        return self.ratio(domain) <= 1

    def list(self, level):
        """Domains of a level in the sorted tree; where all nodes lie deeper in one, that one."""
        domains = [self.top]
        while len(domains[0]) < level:
            domains = [
                child
                for domain in domains
                for child in sorted(
                    {self.domain(node)[: len(domain) + 1] for node in self.within(domain)},
                    key=lambda child: (-self.ratio(child), ".".join(child)),
                )
            ]
        return domains

    def sets(self, scores):
        """[(nodes, score by node)]."""
        if not self.nodes:
            return []
        self.dimensions = sorted({d for pod in self.pods for d in self.amounts(pod)})
        domains = [self.domain(node) for node in self.nodes]
        depth = max(d for d in range(len(self.levels) + 1) if len({domain[:d] for domain in domains}) == 1)
        required, preferred = self.level["required"], self.level["preferred"]
        self.top = domains[0][: min(depth, preferred or depth)]
        if not self.may_fit(self.top):
            return []
        if preferred:
            order = self.list(preferred)
            scores = {
                node: (i + 1) * 10 // len(order) * 100000
                for i, domain in enumerate(order)
                for node in self.within(domain)
            }
        occupied = {self.domain(node)[:required] for node in self.stands if self.domain(node)} if required else set()
        found = []
        for level in range(preferred or required, (required or 0) - 1, -1):
            for domain in self.list(level):
                if (
                    domain not in found
                    and self.may_fit(domain)
                    and (not (required and self.stands) or domain[:required] in occupied)
                ):
                    found.append(domain)
        return [(self.within(domain), scores) for domain in found]
