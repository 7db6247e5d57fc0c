"""What a change of quotas leads to: what is said is what then happens; who may ask; what is refused; nothing is
written."""

import random

import pytest
from contract import check_answer
from test_access import department_id, make_caller

PATH = "/api/v1/scheduler/what-if/quota"
UNITS = "/api/v1/org-unit"


def change(server, name, kind="projects", pool=None, **gpu):
    unit = server.project_id(name) if kind == "projects" else department_id(server, name)
    return {kind: [{"id": unit, "resources": [{"gpu": gpu, **({"nodePool": {"id": pool}} if pool else {})}]}]}


def ask(server, question, token="admin"):
    answer = server.request("POST", PATH, question, token=token)
    check_answer("ask_what_if_quota", answer)
    return answer


def make(server, question):
    for kind, units in question.items():
        for unit in units:
            path = f"{UNITS}/{kind}/{unit['id']}/resources"
            assert server.request("PATCH", path, unit["resources"]).status == 200


def run(server, *workloads):
    """Submits (name, project, gpus) one after the other; each runs or waits before the next comes."""
    for name, project, gpus in workloads:
        server.submit(name, project, gpus=gpus)
    rest(server, {"projects": [{"id": server.project_id("team-a"), "resources": []}]})


def is_at_rest(server, question):
    answer = ask(server, question)
    return answer.status == 200 and answer.json["queues"] == [] and answer.json["cycles"] == 1


def rest(server, question):
    """Waits until the scheduler knows the change and has nothing to do, and pods have come and gone."""

    def settled():
        if not is_at_rest(server, question):
            return False
        phases = {w["phase"] for w in server.get("/api/v1/workloads", limit=500).json["workloads"]}
        return phases <= {"Running", "Pending"} and is_at_rest(server, question)

    server.wait_for("rest", settled, seconds=60)


def running(server):
    listed = server.get("/api/v1/workloads", limit=500).json["workloads"]
    return {w["name"] for w in listed if w["phase"] == "Running"}


def receipts(server):
    return server.get("/api/v1/scheduler/receipts", limit=500).json["receipts"]


def expected(before, answer):
    """Who runs in the end, by the answer."""
    outcomes = {w["workload"]: w["outcome"] for w in answer["workloads"]}
    gone = {name for name, outcome in outcomes.items() if outcome in ("GivesWay", "StaysPending")}
    return (before | {name for name, outcome in outcomes.items() if outcome in ("Starts", "Keeps")}) - gone


def check(server, question):
    """Asks, makes the change and compares; the answer.

    In place of a workload that moves a new pod is made a cycle after the old one is gone. Who takes that place
    meanwhile is stopped for it, which no answer tells."""
    before, known = running(server), len(receipts(server))
    answer = ask(server, question).json
    assert answer["atRest"] and answer["cycles"] <= 50, answer
    make(server, question)
    rest(server, question)
    new = receipts(server)
    new = new[: len(new) - known]
    assert running(server) == expected(before, answer), (question, answer)
    said = {w["workload"] for w in answer["workloads"] if w["action"]}
    moved = {w["workload"] for w in answer["workloads"] if w["outcome"] == "Restarts"}
    assert said <= {r["workload"] for r in new}, (question, answer)
    assert {r["workload"] for r in new if r["beneficiary"] not in moved} <= said, (question, answer, new)
    return answer


# What it is called, what runs and waits, the change, verdict, what becomes of whom, words of the sentence.
CASES = [
    ("a raise that nobody needs", [("a1", "team-a", 1)], {"deserved": 3}, "NoEffect", {}, "No project gains or loses"),
    (
        "a raise takes back what is borrowed",
        [("b1", "team-b", 2), ("b2", "team-b", 1), ("a1", "team-a", 1), ("a2", "team-a", 2)],
        {"deserved": 3},
        "Losses",
        {"a2": "Starts", "b1": "GivesWay"},
        "Project team-b loses 2 GPUs: 1 workload gives way; project team-a gains 2 GPUs: 1 workload starts",
    ),
    (
        "a quota that is lowered is taken from",
        [("a1", "team-a", 2), ("b1", "team-b", 2), ("b2", "team-b", 1)],
        {"deserved": 0, "overQuotaWeight": 0},
        "Losses",
        {"a1": "GivesWay", "b2": "Starts"},
        "Project team-a loses 2 GPUs: 1 workload gives way; project team-b gains 1 GPU: 1 workload starts",
    ),
    (
        "a limit keeps out what waits, and takes nothing",
        [("a1", "team-a", 2), ("b1", "team-b", 1)],
        {"deserved": 2, "limit": 2},
        "NoEffect",
        {},
        "No project gains or loses",
    ),
]


@pytest.mark.parametrize("workloads, gpu, verdict, outcomes, words", [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_what_is_said_happens(server, workloads, gpu, verdict, outcomes, words):
    run(server, *workloads)
    answer = check(server, change(server, "team-a", **gpu))
    assert (answer["verdict"], {w["workload"]: w["outcome"] for w in answer["workloads"]}) == (verdict, outcomes), (
        answer
    )
    assert words in answer["sentence"], answer


def test_it_tells_both_sides_numbers_and_what_is_lost(server):
    run(server, ("b1", "team-b", 2), ("b2", "team-b", 1), ("a1", "team-a", 1), ("a2", "team-a", 2))
    answer = ask(server, change(server, "team-a", deserved=3)).json
    numbers = {q["name"]: q for q in answer["queues"] if q["kind"] == "project"}
    assert (numbers["team-a"]["before"]["quota"], numbers["team-a"]["after"]["quota"]) == (2, 3)
    assert (numbers["team-a"]["before"]["allocated"], numbers["team-a"]["after"]["allocated"]) == (1, 3)
    assert (numbers["team-b"]["before"]["allocated"], numbers["team-b"]["after"]["allocated"]) == (3, 1)
    assert numbers["team-b"]["after"]["fairShare"] < 3 and numbers["team-b"]["id"] == server.project_id("team-b")
    victim = next(w for w in answer["workloads"] if w["outcome"] == "GivesWay")
    assert (victim["workload"], victim["project"], victim["gpus"], victim["pods"]) == ("b1", "team-b", 2, 1)
    assert (victim["action"], victim["beneficiaryProject"]) == ("reclaim", "team-a") and victim["lostSeconds"] >= 0
    totals = answer["totals"]
    assert (totals["gpusGained"], totals["gpusLost"], totals["starts"], totals["givesWay"]) == (2, 2, 1, 1)


def test_what_happens_anyway_is_not_blamed_on_the_change(server):
    run(server, ("b1", "team-b", 2))
    server.submit("a1", "team-a", gpus=2)  # starts anyway
    answer = ask(server, change(server, "team-b", deserved=3)).json
    assert (answer["verdict"], answer["workloads"]) == ("NoEffect", []), answer


def test_more_than_there_is_is_named(server):
    answer = ask(server, change(server, "team-a", deserved=9)).json
    assert [(e["department"], e["promisedTo"], e["promised"], e["available"]) for e in answer["exceeded"]] == [
        ("research", "projects", 11, 4),
        (None, "projects", 11, 4),
    ], answer
    assert ask(server, change(server, "team-a", deserved=1)).json["exceeded"] == []
    wide = ask(server, change(server, "research", "departments", deserved=-1)).json["exceeded"]
    assert [(e["department"], e["promisedTo"], e["promised"]) for e in wide] == [(None, "departments", None)]
    both = {**change(server, "research", "departments", deserved=12), **change(server, "team-a", deserved=9)}
    assert {e["department"] for e in ask(server, both).json["exceeded"]} == {None}
    server.request("PUT", "/v1/k8s/setting", {"key": "limitProjectsToDepartmentQuota", "value": True})
    refused = ask(server, change(server, "team-a", deserved=9))
    assert refused.status == 400 and "more than the department's 4" in refused.json["message"], refused
    assert ask(server, both).status == 200, "the department grows first"


def test_nothing_is_written(server):
    before = server.get(f"{UNITS}/projects/{server.project_id('team-a')}").json
    trail = "/api/v1/audit/log?start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z"
    records = len(server.get(trail).json["logs"])
    assert ask(server, change(server, "team-a", deserved=0, limit=0)).status == 200
    assert server.get(f"{UNITS}/projects/{server.project_id('team-a')}").json == before
    assert len(server.get(trail).json["logs"]) == records


def test_who_may_not_make_the_change_may_not_ask(server):
    mine, department = server.project_id("team-a"), department_id(server)
    question = change(server, "team-a", deserved=3)
    _, own = make_caller(server, "own", ("Project administrator", "project", mine))
    answer = ask(server, question, own)
    assert answer.status == 403 and "are the department's to change" in answer.json["message"], answer
    same = {"projects": [{"id": mine, "resources": []}]}
    assert ask(server, same, own).json["verdict"] == "NoEffect", "what stays as it is may be said"
    _, other = make_caller(server, "other", ("Project administrator", "project", server.project_id("team-b")))
    hidden = ask(server, question, other)
    assert (hidden.status, hidden.json["message"]) == (400, f'projects[0].id: no project "{mine}"')
    _, viewer = make_caller(server, "viewer", ("Viewer", "department", department))
    assert ask(server, question, viewer).status == 403
    _, above = make_caller(server, "above", ("Department administrator", "department", department))
    assert ask(server, question, above).status == 200
    assert ask(server, change(server, "research", "departments", deserved=9), above).status == 403
    server.request("PUT", "/v1/k8s/setting", {"key": "administratorsSetOwnQuota", "value": True})
    assert ask(server, question, own).status == 200


def test_strangers_have_no_names(server):
    run(server, ("secret-1", "team-b", 2), ("secret-2", "team-b", 2))
    server.wait_phase(server.submit("a1", "team-a", gpus=2), "Running")
    first = {"projects": [{"id": server.project_id("team-b"), "resources": [{"gpu": {"deserved": 1}, "rank": "High"}]}]}
    make(server, first)
    server.submit("a2", "team-a", gpus=1)
    rest(server, first)
    server.request("PUT", "/v1/k8s/setting", {"key": "administratorsSetOwnQuota", "value": True})
    _, token = make_caller(server, "own", ("Project administrator", "project", server.project_id("team-a")))
    question = change(server, "team-a", deserved=3)
    answer = ask(server, question, token)
    assert b"secret" not in answer.body and b"team-b" not in answer.body, answer
    (victim,) = [w for w in answer.json["workloads"] if w["outcome"] == "GivesWay"]
    assert (victim["workload"], victim["workloadId"]) == ("another project's workload", None)
    assert (victim["project"], victim["projectId"], victim["gpus"]) == ("another project", None, 2)
    assert "another project loses 2 GPUs: 1 workload gives way" in answer.json["sentence"]
    assert "Project team-b loses 2 GPUs" in ask(server, question).json["sentence"]


BAD = [
    ("nothing", {}, "projects: expected"),
    ("empty lists", {"projects": [], "departments": []}, "projects: expected"),
    ("no list", {"projects": {}}, "projects"),
    ("no id", {"projects": [{"resources": []}]}, "projects[0].id"),
    ("no resources", {"projects": [{"id": "{a}"}]}, "projects[0].resources"),
    ("no such project", {"projects": [{"id": "999", "resources": []}]}, 'projects[0].id: no project "999"'),
    ("a department for a project", {"projects": [{"id": "{d}", "resources": []}]}, "projects[0].id: no project"),
    ("no such department", {"departments": [{"id": "x", "resources": []}]}, 'departments[0].id: no department "x"'),
    ("twice", {"projects": [{"id": "{a}", "resources": []}] * 2}, "projects[1].id: duplicate"),
    ("too many", {"projects": [{"id": "{a}", "resources": []}] * 101}, "projects"),
    ("less than nothing", {"gpu": {"deserved": -2}}, "projects[0].resources[0].gpu.deserved"),
    ("beyond all numbers", {"gpu": {"deserved": 1e308}}, "projects[0].resources[0].gpu.deserved"),
    ("an injection", {"projects": [{"id": "1 OR 1=1", "resources": []}]}, "projects[0].id: no project"),
    ("a text", {"gpu": {"deserved": "3"}}, "projects[0].resources[0].gpu.deserved"),
    ("a limit below", {"gpu": {"deserved": 3, "limit": 2}}, "projects[0].resources[0].gpu.limit: not below"),
    ("a weight", {"gpu": {"overQuotaWeight": -1}}, "projects[0].resources[0].gpu.overQuotaWeight"),
    ("no such rank", {"rank": "Highest"}, "projects[0].resources[0].rank"),
    ("no such pool", {"nodePool": {"id": "999"}}, "projects[0].resources[0].nodePool.id"),
]


@pytest.mark.parametrize("question, words", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_what_cannot_be_is_refused_as_the_change_is(module_server, question, words):
    server = module_server
    ids = {"{a}": server.project_id("team-a"), "{d}": department_id(server)}
    if question and not {"projects", "departments"} & set(question):
        question = {"projects": [{"id": "{a}", "resources": [question]}]}
    for units in question.values():
        for unit in units:
            if isinstance(unit, dict) and unit.get("id") in ids:
                unit["id"] = ids[unit["id"]]
    answer = server.post(PATH, question)
    assert answer.status == 400 and answer.json["message"].startswith(words), answer


def test_what_may_not_be_taken_may_not_be_asked(server):
    server.wait_phase(server.submit("w1", "team-a", gpus=1, kind="workspaces"), "Running")
    question = change(server, "team-a", deserved=0)
    rest(server, {"projects": [{"id": server.project_id("team-a"), "resources": []}]})
    answer = ask(server, question)
    assert answer.status == 400 and answer.json["message"].startswith("projects[0].resources: gpu.deserved"), answer
    path = f"{UNITS}/projects/{server.project_id('team-a')}/resources"
    made = server.request("PATCH", path, question["projects"][0]["resources"])
    assert made.json["message"] == answer.json["message"].removeprefix("projects[0].")


POOLS = """nodePools: [{name: default}, {name: b}]
nodes:
- {name: n, count: 3, gpus: 4, cpuCores: 64, memoryBytes: 1Ti}
- {name: m, nodePool: b, count: 2, gpus: 4, cpuCores: 64, memoryBytes: 1Ti}
"""


class Lottery:
    """A cluster that is asked for more than it has, and changes of its quotas; the same for the same seed."""

    def __init__(self, server, seed):
        self.server, self.dice = server, random.Random(seed)
        self.pools = [p["id"] for p in server.get("/api/v1/node-pools").json["nodepools"]]
        cluster = server.cluster_id()
        self.units = {"departments": [], "projects": []}
        for i in range(2):
            body = {"name": f"d{i}", "clusterId": cluster, "resources": self.quotas(8)}
            self.units["departments"].append(server.post(f"{UNITS}/departments", body).json["id"])
        for i in range(4):
            parent = self.units["departments"][i % 2]
            body = {"name": f"p{i}", "clusterId": cluster, "parentId": parent, "resources": self.quotas(5)}
            self.units["projects"].append(server.post(f"{UNITS}/projects", body).json["id"])
        for i in range(44):
            self.submit(f"w{i:02}", cluster)

    def quotas(self, most):
        return [{"nodePool": {"id": p}, "gpu": {"deserved": self.dice.randint(0, most)}} for p in self.pools]

    def submit(self, name, cluster):
        kind = self.dice.choice(["trainings"] * 3 + ["distributed"])
        spec = {
            "image": "x",
            "nodePools": self.dice.choice([["default"], ["b"], ["default", "b"]]),
            "compute": {"gpuDevicesRequest": self.dice.choice([1, 1, 1, 2, 4])},
            "priorityClass": self.dice.choice(["low", "medium", "medium"]),
        }
        body = {"name": name, "projectId": self.dice.choice(self.units["projects"]), "clusterId": cluster, "spec": spec}
        if kind == "distributed":
            spec.update(distributedFramework="PyTorch", numWorkers=self.dice.randint(1, 3))
            body["masterSpecSameAsWorker"] = True
        answer = self.server.post(f"/api/v1/workloads/{kind}", body)
        assert answer.status == 202, answer

    def draw(self):
        kind = self.dice.choice(["projects", "projects", "departments"])
        deserved = self.dice.randint(0, 10)
        gpu = {
            "deserved": deserved,
            "limit": self.dice.choice([None, None, deserved + self.dice.randint(0, 4)]),
            "overQuotaWeight": self.dice.randint(0, 5),
        }
        entry = {"nodePool": {"id": self.dice.choice(self.pools)}, "gpu": gpu}
        entry["rank"] = self.dice.choice(["Low", "MediumLow", "High"])
        return {kind: [{"id": self.dice.choice(self.units[kind]), "resources": [entry]}]}


def open_nodes(server, nodes, question):
    """One after the other, each once the scheduler has done all that the one before lets it do: so the same seed leads
    to the same cluster, however fast the server is."""
    for count, node in enumerate(nodes, 1):
        assert server.post(f"/api/v1/nodes/{node}/uncordon").status < 300

        def is_seen(count=count):
            seen = server.get("/api/v1/scheduler/snapshot").json["nodes"]
            return sum(not n.get("cordoned") for n in seen) == count

        server.wait_for(f"{count} nodes", is_seen)
        rest(server, question)


def test_random_changes_lead_to_what_was_said(make_server, folder):
    (folder / "cluster.yaml").write_text(POOLS)
    server = make_server("--cluster", str(folder / "cluster.yaml"))
    nodes = [node["id"] for node in server.get("/api/v1/nodes").json["nodes"]]
    for node in nodes:
        assert server.post(f"/api/v1/nodes/{node}/cordon", {"reason": "not yet"}).status < 300
    lottery = Lottery(server, seed=20)
    open_nodes(server, nodes, {"projects": [{"id": lottery.units["projects"][0], "resources": []}]})
    outcomes = set()
    for _ in range(12):
        outcomes |= {w["outcome"] for w in check(server, lottery.draw())["workloads"]}
    assert {"Starts", "GivesWay", "Restarts"} <= outcomes, outcomes
