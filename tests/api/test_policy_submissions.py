"""Policies at work: what a submission is filled with, and every rule that it breaks."""

import copy
import itertools

import pytest
from test_policies import Policies

NUMBERS = itertools.count(1)
GIB = 1 << 30


@pytest.fixture(scope="module")
def rules(module_server):
    """One policy after the other on one server: set(policy), submit(spec)."""
    return Rules(module_server)


class Rules(Policies):
    def submit(self, spec, kind="trainings", **more):
        body = {
            "name": f"w{next(NUMBERS)}",
            "projectId": str(self.project),
            "clusterId": self.cluster,
            "spec": copy.deepcopy(spec),
            **copy.deepcopy(more),
        }
        return self.server.request("POST", f"/api/v1/workloads/{kind}", body)

    def only(self, policy, kind="trainings", scope="tenant"):
        self.clear()
        self.put(policy, scope, kind)

    def filled(self, spec, kind="trainings", **more):
        answer = self.submit(spec, kind, **more)
        assert answer.status == 202, answer
        return answer.json["spec"] if "masterSpec" not in more else answer.json

    def issues(self, spec, kind="trainings", **more):
        answer = self.submit(spec, kind, **more)
        if answer.status == 202:
            return []
        assert answer.status == 400 and answer.json["code"] == 400, answer
        found = answer.json["complianceIssues"]
        member, _, rest = answer.json["message"].partition(".")
        assert member in ("spec", "masterSpec")
        field = found[0]["field"].removeprefix("worker.").removeprefix("master.")
        assert rest.startswith(f"{field}: {found[0]['details']}") and f"(rule {found[0]['rule']})" in rest
        return [(issue["field"], issue["rule"]) for issue in found]


X = {"image": "x"}


def compute(**values):
    return {**X, "compute": values}


def variables(*items):
    return {**X, "environmentVariables": [{"name": k, "value": v} for k, v in items]}


# A rule of compute, a specification, and the rules that it breaks (of the field that is ruled).
G, M, C = "gpuDevicesRequest", "cpuMemoryRequest", "cpuCoreRequest"
AMOUNTS = [
    ("at the maximum", {G: {"max": 2}}, {G: 2}, []),
    ("above the maximum", {G: {"max": 2}}, {G: 3}, ["max"]),
    ("at the minimum", {G: {"min": 1}}, {G: 1}, []),
    ("below the minimum", {G: {"min": 1}}, {G: 0}, ["min"]),
    ("nothing said, nothing checked", {G: {"min": 1}}, {}, []),
    ("required and there", {G: {"required": True}}, {G: 0}, []),
    ("required and not there", {G: {"required": True}}, {}, ["required"]),
    ("required and null", {G: {"required": True}}, {G: None}, ["required"]),
    ("on a step from 0", {G: {"step": 2}}, {G: 4}, []),
    ("off the step from 0", {G: {"step": 2}}, {G: 3}, ["step"]),
    ("on a step from the minimum", {G: {"min": 1, "step": 2}}, {G: 3}, []),
    ("off the step from the minimum", {G: {"min": 1, "step": 2}}, {G: 2}, ["step"]),
    ("two at once", {G: {"max": 2, "step": 2}}, {G: 3}, ["max", "step"]),
    ("a number at its maximum", {C: {"max": 0.5}}, {C: 0.5}, []),
    ("a whole number under a number's rule", {C: {"max": 0.5}}, {C: 1}, ["max"]),
    ("a step that binary numbers cannot have", {C: {"step": 0.1}}, {C: 0.7}, []),
    ("off such a step", {C: {"step": 0.1}}, {C: 0.75}, ["step"]),
    ("a step from a minimum with a part", {C: {"min": 0.25, "step": 0.5}}, {C: 1.25}, []),
    ("100M is less than 1Gi", {M: {"max": "1Gi"}}, {M: "100M"}, []),
    ("1.1Gi is more than 1Gi", {M: {"max": "1Gi"}}, {M: "1.1Gi"}, ["max"]),
    ("1G is less than 1Gi", {M: {"max": "1G"}}, {M: "1Gi"}, ["max"]),
    ("1024Mi are 1Gi", {M: {"min": "1Gi", "max": "1Gi"}}, {M: "1024Mi"}, []),
    ("plain bytes", {M: {"min": "1Gi"}}, {M: str(GIB - 1)}, ["min"]),
    ("not to be set", {G: {"canEdit": False}}, {G: 1}, ["canEdit"]),
    ("not to be set, and not set", {G: {"canEdit": False}}, {}, []),
]


@pytest.mark.parametrize("rule, values, broken", [row[1:] for row in AMOUNTS], ids=[row[0] for row in AMOUNTS])
def test_amounts(rules, rule, values, broken):
    rules.only({"rules": {"compute": rule}})
    field = f"compute.{next(iter(rule))}"
    assert rules.issues({**X, "compute": values}) == [(field, name) for name in broken]


def options(*values):
    return {"options": [{"value": value} for value in values]}


# A rule, a specification, what it breaks.
VALUES = [
    ("one of the options", {"image": options("x", "y")}, X, []),
    ("none of the options", {"image": options("y")}, X, [("image", "options")]),
    ("no value is no option's business", {"workingDir": options("/a")}, X, []),
    ("each of a list is an option", {"nodePools": options("default")}, {**X, "nodePools": ["default"]}, []),
    (
        "each of a list that is none",
        {"nodePools": options("a")},
        {**X, "nodePools": ["a", "default", "b"]},
        [("nodePools", "options")] * 2,
    ),
    ("an empty list is none", {"nodePools": {"required": True}}, {**X, "nodePools": []}, [("nodePools", "required")]),
    ("false is a value", {"createHomeDir": {"required": True}}, {**X, "createHomeDir": False}, []),
    ("a boolean may be required", {"createHomeDir": {"required": True}}, X, [("createHomeDir", "required")]),
    (
        "text that may not be set",
        {"workingDir": {"canEdit": False}},
        {**X, "workingDir": "/w"},
        [("workingDir", "canEdit")],
    ),
    (
        "an object that may not be set",
        {"nodeAffinityRequired": {"canEdit": False}},
        {**X, "nodeAffinityRequired": {"nodeSelectorTerms": []}},
        [("nodeAffinityRequired", "canEdit")],
    ),
    (
        "fields in groups of groups",
        {"probes": {"readiness": {"handler": {"httpGet": {"port": {"max": 99}}}}}},
        {**X, "probes": {"readiness": {"handler": {"httpGet": {"port": 100}}}}},
        [("probes.readiness.handler.httpGet.port", "max")],
    ),
    (
        "every rule that is broken is told",
        {"image": options("y"), "workingDir": {"required": True}, "compute": {G: {"max": 1}, C: {"required": True}}},
        compute(gpuDevicesRequest=2),
        [("compute.cpuCoreRequest", "required"), ("compute." + G, "max"), ("image", "options")]
        + [("workingDir", "required")],
    ),
    (
        "a grace period under the system's policy",
        {},
        {**X, "terminationGracePeriodSeconds": 301},
        [("terminationGracePeriodSeconds", "max")],
    ),
    (
        "privileged under the system's policy",
        {},
        {**X, "security": {"privileged": True}},
        [("security.privileged", "canEdit")],
    ),
    ("the system's value may be said", {}, {**X, "security": {"privileged": False}}, []),
]


@pytest.mark.parametrize("rule, spec, broken", [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_values(rules, rule, spec, broken):
    rules.only({"rules": rule})
    assert sorted(rules.issues(spec)) == sorted(broken)


HOME = {"environmentVariables": {"instances": [{"name": "HOME", "value": "/home"}]}}
MINE = {**X, "environmentVariables": [{"name": "MINE", "value": "1"}]}
NFS = {"path": "/export", "server": "files", "mountPath": "/data"}


def ruled(**values):
    return {"environmentVariables": {"instances": values}}


def nfs(**attributes):
    return {"storage": {"nfs": {"attributes": attributes}}}


# Defaults, rules, a specification, what it breaks.
ITEMS = [
    ("an instance comes by itself", HOME, ruled(canAdd=False), X, []),
    ("none may be added", HOME, ruled(canAdd=False), MINE, [("environmentVariables[0]", "canAdd")]),
    (
        "each that was added is told",
        {},
        ruled(canAdd=False),
        variables(("A", "1"), ("B", "2")),
        [("environmentVariables[0]", "canAdd"), ("environmentVariables[1]", "canAdd")],
    ),
    ("what is the policy's was not added", HOME, ruled(canAdd=False), variables(("HOME", "/other")), []),
    ("what is not locked may be excluded", HOME, ruled(canAdd=False), None, []),
    (
        "what is locked stays as it is",
        HOME,
        ruled(locked=["HOME"]),
        variables(("HOME", "/other")),
        [("environmentVariables[0]", "locked")],
    ),
    ("the same again is no change", HOME, ruled(locked=["HOME"]), variables(("HOME", "/home")), []),
    ("what is locked is not excluded", HOME, ruled(locked=["HOME"]), None, [("environmentVariables[0]", "locked")]),
    (
        "a key that is locked and has no default",
        {},
        ruled(locked=["HOME"]),
        variables(("HOME", "/h")),
        [("environmentVariables[0]", "locked")],
    ),
    ("others may be added beside it", HOME, ruled(locked=["HOME"]), MINE, []),
    (
        "attributes of every item",
        {},
        nfs(server={"options": [{"value": "files"}]}, readOnly={"required": True}),
        {**X, "storage": {"nfs": [{**NFS, "readOnly": True}, {**NFS, "mountPath": "/b", "server": "x"}]}},
        [("storage.nfs[1].readOnly", "required"), ("storage.nfs[1].server", "options")],
    ),
    (
        "an attribute that stays as it is",
        {"storage": {"nfs": {"attributes": {"server": "files"}}}},
        nfs(server={"canEdit": False}),
        {**X, "storage": {"nfs": [{**NFS, "server": "x"}, {"path": "/e", "mountPath": "/c"}]}},
        [("storage.nfs[0].server", "canEdit")],
    ),
    (
        "what is excluded is not looked at",
        {},
        nfs(server={"options": [{"value": "files"}]}),
        {**X, "storage": {"nfs": [{**NFS, "server": "x", "exclude": True}]}},
        [],
    ),
    (
        "an instance's own value stands in for the attribute's",
        {"storage": {"nfs": {"instances": [NFS], "attributes": {"server": "other"}}}},
        nfs(server={"canEdit": False}),
        {**X, "storage": {"nfs": [NFS]}},
        [],
    ),
    (
        "a rule under another name than its field",
        {},
        {"ports": {"attributes": {"customExternalPort": {"canEdit": False}}}},
        {**X, "ports": [{"container": 80, "external": 30080, "serviceType": "NodePort"}]},
        [("ports[0].external", "canEdit")],
    ),
]
EXCLUDED = {**X, "environmentVariables": [{"name": "HOME", "exclude": True}]}


@pytest.mark.parametrize("defaults, rule, spec, broken", [row[1:] for row in ITEMS], ids=[row[0] for row in ITEMS])
def test_items(rules, defaults, rule, spec, broken):
    rules.only({"defaults": defaults, "rules": rule})
    assert sorted(rules.issues(EXCLUDED if spec is None else spec)) == sorted(broken)


# Defaults, rules, a specification, and the part of it that comes of it.
FILLS = [
    ("what is empty is filled", {"image": "d", "workingDir": "/w"}, {}, X, {"image": "x", "workingDir": "/w"}),
    ("null is empty", {"workingDir": "/w"}, {}, {**X, "workingDir": None}, {"workingDir": "/w"}),
    ("a group's gaps", {"compute": {C: 0.5, M: "1Gi"}}, {}, compute(cpuCoreRequest=1), {"compute": {C: 1, M: "1Gi"}}),
    ("a default satisfies what is required", {"workingDir": "/w"}, {"workingDir": {"required": True}}, X, {}),
    ("the default again is no change", {"image": "x"}, {"image": {"canEdit": False}}, X, {"image": "x"}),
    (
        "as large, in other words",
        {"compute": {M: "1Gi"}},
        {"compute": {M: {"canEdit": False}}},
        compute(**{M: "1024Mi"}),
        {},
    ),
    (
        "instances come",
        HOME,
        {},
        MINE,
        {"environmentVariables": [{"name": "MINE", "value": "1"}, HOME["environmentVariables"]["instances"][0]]},
    ),
    (
        "but not where the request has its own",
        HOME,
        {},
        variables(("HOME", "/o")),
        {"environmentVariables": [{"name": "HOME", "value": "/o"}]},
    ),
    ("nor where it excludes them", HOME, {}, EXCLUDED, {"environmentVariables": [{"name": "HOME", "exclude": True}]}),
    (
        "attributes fill gaps",
        {"storage": {"nfs": {"attributes": {"server": "files", "readOnly": True}}}},
        {},
        {**X, "storage": {"nfs": [{"path": "/e", "mountPath": "/d", "readOnly": False}]}},
        {"storage": {"nfs": [{"path": "/e", "mountPath": "/d", "readOnly": False, "server": "files"}]}},
    ),
    (
        "and those of instances",
        {"storage": {"nfs": {"instances": [{"path": "/e", "mountPath": "/d"}], "attributes": {"server": "files"}}}},
        {},
        X,
        {"storage": {"nfs": [{"path": "/e", "mountPath": "/d", "server": "files"}]}},
    ),
    (
        "twice as much as another field",
        {},
        {"compute": {"cpuCoreLimit": {"defaultFrom": {"field": "compute.cpuCoreRequest", "factor": 2}}}},
        compute(cpuCoreRequest=1.5),
        {"compute": {C: 1.5, "cpuCoreLimit": 3.0}},
    ),
    (
        "as much as a field beside it",
        {},
        {"compute": {"cpuMemoryLimit": {"defaultFrom": {"field": M}}}},
        compute(**{M: "1Gi"}),
        {"compute": {M: "1Gi", "cpuMemoryLimit": "1Gi"}},
    ),
    (
        "a part of a quantity",
        {},
        {"compute": {"cpuMemoryLimit": {"defaultFrom": {"field": M, "factor": 1.5}}}},
        compute(**{M: "1Gi"}),
        {"compute": {M: "1Gi", "cpuMemoryLimit": "1536Mi"}},
    ),
    (
        "from what was filled in itself",
        {},
        {
            "parallelism": {"defaultFrom": {"field": "completions"}},
            "completions": {"defaultFrom": {"field": "backoffLimit"}},
        },
        {**X, "backoffLimit": 3},
        {"parallelism": 3, "completions": 3},
    ),
    ("nothing to take it from", {}, {"compute": {"cpuCoreLimit": {"defaultFrom": {"field": C}}}}, X, {}),
    (
        "what was said stays",
        {},
        {"compute": {"cpuCoreLimit": {"defaultFrom": {"field": C, "factor": 2}}}},
        compute(cpuCoreRequest=1, cpuCoreLimit=1),
        {"compute": {C: 1, "cpuCoreLimit": 1}},
    ),
]


def cut(value, part):
    """The members of value that part has, however deep."""
    return {key: cut(value[key], part[key]) for key in part} if isinstance(part, dict) else value


@pytest.mark.parametrize("defaults, rule, spec, part", [row[1:] for row in FILLS], ids=[row[0] for row in FILLS])
def test_defaults(rules, defaults, rule, spec, part):
    rules.only({"defaults": defaults, "rules": rule})
    filled = rules.filled(spec)
    assert cut(filled, part) == part


def test_a_submission_without_a_specification(rules):
    rules.only({"defaults": {"image": "d"}})
    assert rules.filled(None)["image"] == "d"
    rules.clear()
    assert rules.submit(None).status == 400


def test_the_answer_of_a_refusal(rules):
    rules.only({"defaults": {"image": "d"}, "rules": {"compute": {G: {"max": 1}}, "image": {"canEdit": False}}})
    answer = rules.submit(compute(gpuDevicesRequest=3))
    assert answer.json["complianceIssues"] == [
        {
            "field": "compute.gpuDevicesRequest",
            "details": "at most 1 by the tenant's policy, got 3",
            "rule": "max",
        },
        {"field": "image", "details": 'fixed at "d" by the tenant\'s policy, got "x"', "rule": "canEdit"},
    ]
    assert (
        answer.json["message"] == "spec.compute.gpuDevicesRequest: at most 1 by the tenant's policy, got 3 (rule max)"
    )
    assert answer.json["details"] == "1 more rule is broken: complianceIssues names them"


def test_scopes_act_together(rules):
    rules.clear()
    rules.put({"rules": {"compute": {G: {"max": 2}}, "image": options("t")}}, "tenant")
    rules.put({"rules": {"compute": {G: {"max": 4}}, "image": options("x")}}, "project")
    assert rules.issues(compute(gpuDevicesRequest=3)) == [("compute." + G, "max")]
    assert rules.issues(compute(gpuDevicesRequest=2)) == []


@pytest.mark.parametrize("kind, types", [("workspaces", "workspaces"), ("trainings", "trainings")])
def test_a_policy_is_of_its_kind(rules, kind, types):
    rules.only({"rules": {"image": options("y")}}, kind)
    for other in ("workspaces", "trainings"):
        assert rules.issues(X, other) == ([("image", "options")] if other == types else [])


GANG = {**X, "distributedFramework": "PyTorch", "numWorkers": 2}
DISTRIBUTED = [
    ("the worker's rules are for workers", {"worker": {"numWorkers": {"max": 1}}}, {}, [("worker.numWorkers", "max")]),
    ("the master's are for masters", {"master": {"image": options("m")}}, {}, []),
    (
        "a master of its own",
        {"master": {"image": options("m")}, "worker": {"image": options("x")}},
        {"masterSpec": {"image": "n"}},
        [("master.image", "options")],
    ),
    (
        "a master like the workers",
        {"master": {"image": options("m")}},
        {"masterSpecSameAsWorker": True},
        [("master.image", "options")],
    ),
    ("a master without an image has the worker's", {"master": {"image": options("x")}}, {"masterSpec": {}}, []),
]


@pytest.mark.parametrize("rule, more, broken", [row[1:] for row in DISTRIBUTED], ids=[row[0] for row in DISTRIBUTED])
def test_distributed(rules, rule, more, broken):
    rules.only({"rules": rule}, "distributed")
    assert rules.issues(GANG, "distributed", **more) == broken


def test_defaults_of_worker_and_master(rules):
    rules.only({"defaults": {"worker": {"numWorkers": 3}, "master": {"workingDir": "/m"}}}, "distributed")
    made = rules.filled({**X, "distributedFramework": "PyTorch"}, "distributed", masterSpec={"image": "m"})
    assert made["spec"]["numWorkers"] == 3 and made["masterSpec"]["workingDir"] == "/m"
    assert "workingDir" not in made["spec"]


def test_what_if_asks_the_policies_too(rules):
    rules.only({"rules": {"compute": {G: {"max": 1}}}})
    body = {"name": "q", "projectId": str(rules.project), "clusterId": rules.cluster, "spec": compute(**{G: 2})}
    answer = rules.server.post("/api/v1/scheduler/what-if", {"type": "Training", "workload": body})
    assert answer.status == 400 and answer.json["complianceIssues"][0]["rule"] == "max"
    assert answer.json["message"].startswith("workload.spec.compute.gpuDevicesRequest: at most 1")
    body["spec"]["compute"][G] = 1
    assert rules.server.post("/api/v1/scheduler/what-if", {"type": "Training", "workload": body}).status == 200


def test_what_runs_is_not_touched(rules):
    rules.clear()
    made = rules.submit(compute(gpuDevicesRequest=0)).json
    path = f"/api/v1/workloads/trainings/{made['workloadId']}"
    before = rules.server.get(path).json["spec"]
    rules.put({"defaults": {"workingDir": "/w"}, "rules": {"image": options("y")}})
    assert rules.server.get(path).json["spec"] == before
    assert (
        rules.server.post(path + "/suspend", {}).status == 202 and rules.server.post(path + "/resume", {}).status == 202
    )


def test_what_was_filled_passes_again(rules):
    policy = {
        "defaults": {**HOME, "image": "x", "storage": {"nfs": {"instances": [NFS], "attributes": {"readOnly": True}}}},
        "rules": {
            "environmentVariables": {"instances": {"locked": ["HOME"], "canAdd": False}},
            "storage": {"nfs": {"instances": {"canAdd": False, "locked": ["files"]}}},
            "image": {"canEdit": False},
            "compute": {"cpuCoreLimit": {"defaultFrom": {"field": C, "factor": 2}}},
        },
    }
    rules.only(policy)
    once = rules.filled(compute(cpuCoreRequest=1))
    assert rules.filled(once) == once
