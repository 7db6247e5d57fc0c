"""Scenario files: what may stand in them, and what is wrong with one that is refused. docs: README.md."""

import pathlib

import yaml

CASES = pathlib.Path(__file__).with_name("cases")
BACKENDS = ("simulated", "local")
PHASES = (
    "Creating",
    "Initializing",
    "Resuming",
    "Pending",
    "Deleting",
    "Running",
    "Updating",
    "Stopped",
    "Stopping",
    "Degraded",
    "Failed",
    "Completed",
    "Terminating",
)
KINDS = {"training": "trainings", "workspace": "workspaces", "distributed": "distributed"}


class Mistake(Exception):
    """One line: file, place, what is wrong."""


class Place:
    """Where in the file one is, for messages."""

    def __init__(self, file, path=""):
        self.file, self.path = file, path

    def __truediv__(self, key):
        return Place(
            self.file, f"{self.path}[{key}]" if isinstance(key, int) else f"{self.path}.{key}" if self.path else key
        )

    def fail(self, message):
        raise Mistake(f"{self.file}: {self.path + ': ' if self.path else ''}{message}")

    def wants(self, value, kind, words):
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self.fail(f"expected {words}, got {value!r}")
        return value

    def keys(self, value, known, needed=()):
        self.wants(value, dict, "a mapping")
        for key in value:
            if key not in known:
                self.fail(f"unknown key {key!r}; known: {', '.join(sorted(known))}")
        for key in needed:
            if key not in value:
                self.fail(f"{key} is missing")
        return value

    def one_of(self, value, known, what):
        if value not in known:
            self.fail(f"no {what} {value!r}; known: {', '.join(sorted(map(str, known))) or 'none'}")
        return value


NUMBER = (int, float)
QUEUE = {"gpus": NUMBER, "limit": NUMBER, "weight": NUMBER, "rank": str, "cpus": NUMBER, "cpuLimit": NUMBER}
UNIT = {**QUEUE, "name": str, "pools": dict, "rules": dict}
LIFE = {"runs": NUMBER, "exit": int, "stops": NUMBER}
SUBMISSION = (
    "name",
    "project",
    "gpus",
    "kind",
    "priority",
    "preemptible",
    "life",
    "spec",
    "master",
    "masterLife",
    "portion",
    "gpuMemory",
)
EXPECTATION = PHASES + ("gone", "pods", "devices", "nodes", "why", "events", "decided", "used")


def check_typed(place, value, types, needed=()):
    place.keys(value, types, needed)
    for key, kind in types.items():
        if key in value and value[key] is not None:
            (place / key).wants(
                value[key], kind, {str: "a text", dict: "a mapping", int: "a whole number"}.get(kind, "a number")
            )


def has_part_of_gpu(step):
    submitted = isinstance(step, dict) and step.get("submit")
    return isinstance(submitted, dict) and bool({"portion", "gpuMemory"} & set(submitted))


class Scenario:
    """A file that was read and checked."""

    def __init__(self, path):
        self.path, self.id = path, path.stem
        place = Place(path.name)
        try:
            body = yaml.safe_load(path.read_text())
        except yaml.YAMLError as error:
            place.fail(f"no YAML: {' '.join(str(error).split())}")
        place.keys(
            body,
            (
                "name",
                "teaches",
                "gpus",
                "nodes",
                "only",
                "because",
                "anyDevice",
                "server",
                "departments",
                "projects",
                "nodePools",
                "pool",
                "steps",
            ),
            ("name", "teaches", "projects", "steps"),
        )
        for key in {"name", "teaches", "anyDevice"} & set(body):
            (place / key).wants(body[key], str, "a text")
        self.name, self.teaches, self.body = body["name"], body["teaches"], body
        self.any_device = "anyDevice" in body
        self.read_cluster(place, body)
        self.read_units(place, body)
        self.workloads, self.present = {}, set()
        (place / "steps").wants(body["steps"], list, "a list")
        self.steps = [self.read_step(place / "steps" / i, step) for i, step in enumerate(body["steps"])]
        if not self.steps or self.steps[-1][0] != "expect":
            (place / "steps").fail("the last one is no expect")

    def read_cluster(self, place, body):
        only = body.get("only")
        if only is not None:
            (place / "only").one_of(only, BACKENDS, "backend")
            if not isinstance(body.get("because"), str):
                place.fail("only: needs a reason under because")
        elif "because" in body:
            (place / "because").fail("is said of scenarios with only")
        self.backends = (only,) if only else BACKENDS
        if ("gpus" in body) == ("nodes" in body):
            place.fail("either gpus (of the one node) or nodes (of a simulated cluster)")
        if "nodes" in body and only != "simulated":
            (place / "nodes").fail("several nodes are simulated ones: only: simulated")
        if "nodePools" in body and "nodes" not in body:
            (place / "nodePools").fail("needs nodes")
        if "gpus" in body:
            (place / "gpus").wants(body["gpus"], int, "a whole number")
        self.gpus = body.get("gpus", 0)
        self.nodes, self.node_pools = body.get("nodes"), body.get("nodePools", [])
        self.pool_names = {"default"} | {p["name"] for p in self.node_pools if isinstance(p, dict) and "name" in p}
        self.server = (place / "server").keys(body.get("server", {}), ("retry-delay", "staleness-grace"))
        self.pool = (place / "pool").keys(
            body.get("pool", {}), ("placementStrategy", "minGuaranteedRuntime", "reclaimByRank")
        )
        self.has_gpu_faults = any(isinstance(s, dict) and "gpu" in s for s in body["steps"] or [])
        if not only and not any(has_part_of_gpu(step) for step in body["steps"] or []):
            self.backends += ("kubernetes",)

    def read_units(self, place, body):
        self.departments = body.get("departments", [])
        self.projects = body["projects"]
        for key, units, types in (
            ("departments", self.departments, UNIT),
            ("projects", self.projects, {**UNIT, "department": str}),
        ):
            (place / key).wants(units, list, "a list")
            for i, unit in enumerate(units):
                here = place / key / i
                check_typed(here, unit, types, ("name",))
                for pool, queue in (unit.get("pools") or {}).items():
                    (here / "pools").one_of(pool, self.pool_names, "node pool")
                    check_typed(here / "pools" / pool, queue, QUEUE)
                if unit.get("department") is not None:
                    (here / "department").one_of(
                        unit["department"], [d["name"] for d in self.departments], "department"
                    )
        self.units = {u["name"]: ("departments", u) for u in self.departments}
        self.units.update({u["name"]: ("projects", u) for u in self.projects})

    def read_step(self, place, step):
        place.keys(step, STEPS)
        if len(step) != 1:
            place.fail("one step has one key")
        ((what, value),) = step.items()
        here = place / what
        reader = getattr(self, f"read_{what.replace(' ', '_')}")
        reader(here, value)
        return what, value, here

    def known(self, place, name):
        place.one_of(name, self.present, "workload")

    def read_submit(self, place, value):
        place.keys(value, SUBMISSION, ("name", "project"))
        (place / "project").one_of(value["project"], [p["name"] for p in self.projects], "project")
        (place / "kind").one_of(value.get("kind", "training"), KINDS, "kind")
        check_typed(place / "life", value.get("life", {}), LIFE)
        check_typed(place / "masterLife", value.get("masterLife", {}), LIFE)
        if value["name"] in self.workloads:
            (place / "name").fail(f"{value['name']} was submitted before")
        self.workloads[value["name"]] = value
        self.present.add(value["name"])

    def read_suspend(self, place, value):
        self.known(place, value)

    read_resume = read_suspend

    def read_delete(self, place, value):
        self.known(place, value)
        self.present.discard(value)

    def read_quota(self, place, value):
        check_typed(place, value, {**QUEUE, "of": str, "pool": str}, ("of",))
        (place / "of").one_of(value["of"], self.units, "project or department")

    def read_pool(self, place, value):
        place.keys(value, ("name", "placementStrategy", "minGuaranteedRuntime", "reclaimByRank"), ("name",))
        (place / "name").one_of(value["name"], self.pool_names, "node pool")

    def read_node(self, place, value):
        place.keys(value, ("fail", "recover", "remove", "add"))
        if self.backends != ("simulated",):
            place.fail("nodes come and go on the simulated backend: only: simulated")

    def read_gpu(self, place, value):
        place.keys(value, ("fail", "heal"))
        if self.backends != ("local",):
            place.fail("devices fail on the local backend: only: local")
        for index in value.values():
            if not isinstance(index, int) or not 0 <= index < self.gpus:
                place.fail(f"no device {index!r}")

    def read_kill(self, place, value):
        place.wants(value, str, "a pod's name")
        if self.backends != ("local",):
            place.fail("processes are killed on the local backend: only: local")

    def read_wait(self, place, value):
        place.wants(value, NUMBER, "a number of seconds")

    def read_expect(self, place, value):
        place.keys(value, EXPECTATION)
        named = set()
        for phase in PHASES + ("gone",):
            for name in (place / phase).wants(value.get(phase, []), list, "a list of workloads"):
                if phase == "gone":
                    (place / phase).one_of(name, set(self.workloads) - self.present, "deleted workload")
                    continue
                self.known(place / phase, name)
                if name in named:
                    place.fail(f"duplicate: {name}")
                named.add(name)
        if named != self.present:
            place.fail(f"nothing is said of {', '.join(sorted(self.present - named))}")
        for key in ("pods", "devices", "nodes", "why", "events"):
            for name in (place / key).wants(value.get(key, {}), dict, "a mapping of workloads"):
                self.known(place / key, name)
        for name in (place / "used").wants(value.get("used", {}), dict, "a mapping of projects"):
            (place / "used").one_of(name, self.units, "project or department")
        (place / "decided").wants(value.get("decided", []), list, "a list of decisions")


STEPS = ("submit", "suspend", "resume", "delete", "quota", "pool", "node", "gpu", "kill", "wait", "expect")


def read_all():
    return [Scenario(path) for path in sorted(CASES.glob("*.yaml"))]
