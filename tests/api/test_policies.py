"""Policies: what is set in a scope, what holds in a place, and what may be set at all."""

import threading

import pytest
from test_access import department_id, make_caller
from test_audit import records

PATH = "/api/v2/policy/"
KINDS = ("trainings", "workspaces", "distributed", "inferences")


class Policies:
    """Sets policies of one server, and takes all away again."""

    def __init__(self, server):
        self.server, self.set = server, set()
        self.cluster, self.department = server.cluster_id(), department_id(server)
        self.project, self.other = int(server.project_id("team-a")), int(server.project_id("team-b"))
        self.ids = {
            "tenant": {},
            "cluster": {"clusterId": self.cluster},
            "department": {"departmentId": self.department},
            "project": {"projectId": self.project},
        }

    def send(self, method, policy=None, scope="tenant", kind="trainings", token="admin", query="", **more):
        meta = {"name": "house rules", "scope": scope, **self.ids[scope], **more.pop("meta", {})}
        body = {"meta": meta, "policy": policy, **more}
        answer = self.server.request(method, PATH + kind + query, body, token=token)
        if answer.status == 200:
            self.set.add((kind, scope))
        return answer

    def put(self, policy, scope="tenant", kind="trainings"):
        answer = self.send("PUT", policy, scope, kind)
        assert answer.status == 200, answer
        return answer.json

    def get(self, scope="project", kind="trainings", token="admin", **ids):
        query = "&".join(f"{k}={v}" for k, v in {"scope": scope, **(ids or self.ids[scope])}.items())
        return self.server.request("GET", f"{PATH}{kind}?{query}", token=token)

    def effective(self, scope="project", kind="trainings"):
        answer = self.get(scope, kind)
        assert answer.status == 200, answer
        return answer.json["effective"]

    def delete(self, scope, kind="trainings", token="admin"):
        query = "&".join(f"{k}={v}" for k, v in {"scope": scope, **self.ids[scope]}.items())
        return self.server.request("DELETE", f"{PATH}{kind}?{query}", token=token)

    def clear(self):
        for kind, scope in self.set:
            self.delete(scope, kind)
        self.set.clear()


@pytest.fixture
def policies(module_server):
    made = Policies(module_server)
    yield made
    made.clear()


def test_life_of_a_policy(policies):
    before = policies.get("tenant")
    assert before.status == 200 and before.json["policy"] is None and "meta" not in before.json
    assert "effectiveUpdatedAt" not in before.json
    rules = {"compute": {"gpuDevicesRequest": {"max": 4}}, "image": {"canEdit": False}}
    made = policies.put({"defaults": {"image": "ubuntu"}, "rules": rules})
    assert made["policy"] == {"defaults": {"image": "ubuntu"}, "rules": rules}
    assert made["meta"]["scope"] == "tenant" and made["meta"]["createdBy"] == "admin@prorata.local"
    assert made["effectiveUpdatedAt"] == made["meta"]["updatedAt"]
    effective = made["effective"]
    assert effective["rules"]["image"] == {"canEdit": False, "sourceOfRule": {"scope": "tenant"}}
    assert effective["rules"]["terminationGracePeriodSeconds"]["sourceOfRule"]["scope"] == "system"
    assert effective["sourceOfDefaults"]["image"] == {"scope": "tenant"}
    assert policies.get("tenant").json == made
    assert policies.delete("tenant").status == 204
    assert policies.delete("tenant").status == 404
    assert policies.get("tenant").json == before.json


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_set_for_itself(policies, kind):
    image = {"image": "x"}
    wanted = {"worker": image} if kind == "distributed" else image
    policies.put({"defaults": wanted}, "project", kind)
    for other in KINDS:
        assert (policies.get("project", other).json["policy"] is None) == (other != kind)


def test_a_second_put_replaces_and_keeps_the_id(policies):
    first = policies.put({"defaults": {"image": "a", "workingDir": "/w"}})
    second = policies.put({"defaults": {"image": "b"}})
    assert second["policy"] == {"defaults": {"image": "b"}}
    assert second["meta"]["id"] == first["meta"]["id"] and second["meta"]["createdAt"] == first["meta"]["createdAt"]


def test_an_answer_may_be_sent_back(policies):
    made = policies.put({"defaults": {"image": "a"}, "rules": {"image": {"required": True}}})
    again = policies.put(made["effective"], "project")
    assert again["policy"]["rules"]["image"] == {"required": True}
    assert again["policy"]["defaults"]["image"] == "a" and "sourceOfDefaults" not in again["policy"]


# What wins, by the field: scopes that set it, from far to near, and whose value holds.
SCOPES = ("tenant", "cluster", "department", "project")
DEFAULTS = {
    "image": ({"image": "SCOPE"}, lambda d: d["image"]),
    "a variable": (
        {"environmentVariables": {"instances": [{"name": "HOME", "value": "SCOPE"}]}},
        lambda d: d["environmentVariables"]["instances"][0]["value"],
    ),
    "an attribute": (
        {"storage": {"pvc": {"attributes": {"claimName": "SCOPE"}}}},
        lambda d: d["storage"]["pvc"]["attributes"]["claimName"],
    ),
}


def fill(template, scope):
    if isinstance(template, dict):
        return {k: fill(v, scope) for k, v in template.items()}
    if isinstance(template, list):
        return [fill(v, scope) for v in template]
    return scope if template == "SCOPE" else template


@pytest.mark.parametrize("name", DEFAULTS)
def test_of_defaults_the_nearest_wins(policies, name):
    template, read = DEFAULTS[name]
    for i, scope in enumerate(SCOPES):
        policies.put({"defaults": fill(template, scope)}, scope)
        assert read(policies.effective()["defaults"]) == scope
        assert read(policies.effective(SCOPES[0])["defaults"]) == SCOPES[0], "what is set below holds below"
        sources = policies.effective()["sourceOfDefaults"].values()
        assert scope in {source["scope"] for source in sources}, i


RULES = {
    "image": ({"image": {"options": [{"value": "SCOPE"}]}}, "nearest"),
    "a list": ({"environmentVariables": {"instances": {"locked": ["SCOPE"]}}}, "nearest"),
    "an attribute": ({"storage": {"nfs": {"attributes": {"server": {"options": [{"value": "SCOPE"}]}}}}}, "nearest"),
    "compute": ({"compute": {"gpuRequestType": {"options": [{"value": "portion", "displayed": "SCOPE"}]}}}, "farthest"),
    "security": ({"security": {"capabilities": {"options": [{"value": "SCOPE"}]}}}, "farthest"),
}


def source_of(rules):
    """Of the only rule that is no part of the system's policy."""
    found = []
    for key, value in rules.items():
        if isinstance(value, dict) and "sourceOfRule" in value:
            found += [value["sourceOfRule"]] if value["sourceOfRule"]["scope"] != "system" else []
        elif isinstance(value, dict) and key != "sourceOfRule":
            found += source_of(value)
    return found


@pytest.mark.parametrize("name", RULES)
def test_of_rules_the_nearest_wins_but_of_compute_and_security_the_farthest(policies, name):
    template, who = RULES[name]
    for scope in SCOPES:
        policies.put({"rules": fill(template, scope)}, scope)
        wins = SCOPES[0] if who == "farthest" else scope
        (source,) = source_of(policies.effective()["rules"])
        assert source == {"scope": wins, **policies.ids[wins]}
        assert wins in str(policies.effective()["rules"])


def test_instances_add_up_and_the_nearest_of_two_stays(policies):
    def put(scope, **values):
        instances = [{"name": k, "value": v} for k, v in values.items()]
        policies.put({"defaults": {"environmentVariables": {"instances": instances}}}, scope)

    put("tenant", HOME="/home", PROXY="far")
    put("project", PROXY="near", MODE="x")
    effective = policies.effective()
    instances = effective["defaults"]["environmentVariables"]["instances"]
    assert {i["name"]: i["value"] for i in instances} == {"HOME": "/home", "PROXY": "near", "MODE": "x"}
    sources = [effective["sourceOfDefaults"][f"environmentVariables.instances[{i}]"]["scope"] for i in range(3)]
    assert sources == ["tenant", "project", "project"]


def test_rules_of_one_field_do_not_mix(policies):
    policies.put({"rules": {"backoffLimit": {"min": 1, "max": 9}}})
    policies.put({"rules": {"backoffLimit": {"max": 3}}}, "project")
    source = {"scope": "project", "projectId": policies.project}
    assert policies.effective()["rules"]["backoffLimit"] == {"max": 3, "sourceOfRule": source}


def test_a_neighbour_is_not_touched(policies):
    policies.put({"defaults": {"image": "x"}}, "project")
    assert "image" not in policies.get("project", projectId=policies.other).json["effective"]["defaults"]


def test_distributed_has_a_worker_and_a_master(policies):
    policy = {
        "defaults": {"worker": {"numWorkers": 2}, "master": {"image": "m"}},
        "rules": {"worker": {"compute": {"gpuDevicesRequest": {"max": 1}}}, "master": {"image": {"canEdit": False}}},
    }
    policies.put(policy, kind="distributed")
    effective = policies.effective(kind="distributed")
    assert effective["defaults"]["worker"]["numWorkers"] == 2 and effective["defaults"]["master"]["image"] == "m"
    assert effective["rules"]["master"]["image"]["canEdit"] is False
    assert effective["rules"]["master"]["terminationGracePeriodSeconds"]["max"] == 300


# What cannot be set: policy, what the message says.
BAD = [
    ({"rules": {"imge": {"canEdit": False}}}, "policy.rules.imge: a policy of trainings has no such field"),
    ({"rules": {"image": {"maximum": 1}}}, "policy.rules.image.maximum: a policy of trainings has no such field"),
    ({"defaults": {"numWorkers": 2}}, "policy.defaults.numWorkers: a policy of trainings has no such field"),
    ({"default": {}}, "policy.default: a policy of trainings has no such field"),
    (
        {"defaults": {"environmentVariables": {"instances": [{"name": "A", "vaule": "x"}]}}},
        "policy.defaults.environmentVariables.instances[0].vaule: a policy of trainings has no such field",
    ),
    ({"rules": {"autoscaling": {"maxReplicas": {"max": 2}}}}, "policy.rules.autoscaling"),
    ({"rules": {"compute": {"gpuDevicesRequest": {"max": "4"}}}}, "max: expected a whole number"),
    ({"rules": {"compute": {"cpuMemoryRequest": {"max": "4 GB"}}}}, "an amount such as 8G or 8Gi"),
    ({"rules": {"compute": {"cpuMemoryRequest": {"max": "1.2.3G"}}}}, "max: expected an amount"),
    ({"rules": {"compute": {"gpuDevicesRequest": {"min": 4, "max": 2}}}}, "min is above max: no value is left"),
    ({"rules": {"compute": {"cpuMemoryRequest": {"min": "1Gi", "max": "100M"}}}}, "min is above max"),
    ({"rules": {"compute": {"gpuDevicesRequest": {"step": 0}}}}, "step: expected a number above 0"),
    ({"rules": {"compute": {"cpuCoreLimit": {"defaultFrom": {"factor": 2}}}}}, "defaultFrom.field: required"),
    ({"rules": {"compute": {"cpuCoreLimit": {"defaultFrom": {"field": "image"}}}}}, "defaultFrom.field: expected"),
    ({"rules": {"compute": {"cpuCoreLimit": {"defaultFrom": {"field": "compute.x"}}}}}, "defaultFrom.field: expected"),
    (
        {"rules": {"compute": {"cpuMemoryLimit": {"defaultFrom": {"field": "compute.cpuCoreLimit"}}}}},
        "a number and a quantity do not go together",
    ),
    (
        {"defaults": {"compute": {"gpuDevicesRequest": 8}}, "rules": {"compute": {"gpuDevicesRequest": {"max": 4}}}},
        "policy.defaults.compute.gpuDevicesRequest: at most 4",
    ),
    (
        {"defaults": {"image": "a"}, "rules": {"image": {"options": [{"value": "b"}]}}},
        'policy.defaults.image: one of "b"',
    ),
    ({"defaults": {"labels": {"instances": [{"value": "x"}]}}}, "each instance needs a name"),
    ({"defaults": {"labels": {"instances": [{"name": "a"}, {"name": "a"}]}}}, "an instance is there twice"),
    ({"defaults": {"labels": {"instances": [{"name": "a", "exclude": True}]}}}, "exclude is for specifications"),
    (
        {"defaults": {"labels": {"instances": [{"name": f"l{i}"} for i in range(257)]}}},
        "policy.defaults.labels.instances: at most 256 items",
    ),
    (
        {"rules": {"image": {"options": [{"value": str(i)} for i in range(257)]}}},
        "policy.rules.image.options: at most 256 items",
    ),
    (
        {"imposedAssets": ["5f3c1f6e-7a0b-4a53-9a36-0d3f2a1b7c55"]},
        "policy.imposedAssets[0]: no data source of this id holds here",
    ),
    ([], "policy: expected an object"),
    (None, "policy: required"),
]


@pytest.mark.parametrize("policy, message", BAD, ids=[message for _, message in BAD])
def test_what_is_refused(policies, policy, message):
    for query in ("", "?validateOnly=true", "?validateOnly=True", "?validateOnly=1"):
        answer = policies.send("PUT", policy, query=query)
        assert answer.status == 400 and message in answer.json["message"], answer
    assert policies.get("tenant").json["policy"] is None


META = [
    ({"scope": "system"}, "meta.scope: the system's policy stays as it is"),
    ({"scope": "planet"}, "meta.scope: one of"),
    ({"scope": "project"}, "meta.projectId: required with the scope project"),
    ({"scope": "project", "projectId": 777}, "meta.projectId: there is no project 777"),
    ({"scope": "project", "projectId": "7"}, "meta.projectId: expected a whole number"),
    ({"scope": "department", "departmentId": "x"}, "meta.departmentId: there is no department x"),
    ({"scope": "cluster", "clusterId": "00000000-0000-4000-8000-000000000000"}, "meta.clusterId: there is no cluster"),
    ({"name": ""}, "meta.name: at least 1 character"),
]


@pytest.mark.parametrize("meta, message", META, ids=[message for _, message in META])
def test_a_wrong_place_is_refused(policies, meta, message):
    answer = policies.send("PUT", {"defaults": {"image": "x"}}, meta=meta)
    assert answer.status == 400 and message in answer.json["message"], answer


def test_a_place_that_is_not_there_cannot_be_read(policies):
    assert policies.get("project", projectId=777).status == 404
    assert policies.get("department", departmentId="nine").status == 404
    for query in ("", "?scope=project", "?scope=system", "?scope=cluster&clusterId=x"):
        assert policies.server.get(PATH + "trainings" + query).status == 400


def test_to_check_only_stores_nothing(policies):
    policies.put({"defaults": {"image": "a"}})
    for method in ("PUT", "PATCH"):
        answer = policies.send(method, {"defaults": {"workingDir": "/w"}}, "project", query="?validateOnly=true")
        assert answer.status == 200 and answer.json["policy"] == {"defaults": {"workingDir": "/w"}}
        assert answer.json["effective"]["defaults"]["image"] == "a"
    assert policies.get("project").json["policy"] is None


PATCHES = [
    ("a member comes", {"rules": {"image": {"canEdit": False}}}, [], {"canEdit": False, "required": True}),
    ("a value is replaced", {"rules": {"image": {"required": False}}}, [], {"required": False}),
    ("null changes nothing", {"rules": {"image": {"required": None}}}, [], {"required": True}),
    ("a rule's member goes", {}, ["rules.image.required"], None),
    ("a rule goes", {}, ["$.rules.image"], None),
    ("all rules go", None, ["policy.rules"], None),
    ("what is not set may be reset", {}, ["rules.compute.cpuCoreLimit"], {"required": True}),
    ("first the reset, then the rest", {"rules": {"image": {"canEdit": True}}}, ["rules.image"], {"canEdit": True}),
]


@pytest.mark.parametrize("policy, reset, image", [row[1:] for row in PATCHES], ids=[row[0] for row in PATCHES])
def test_a_patch_changes_a_part(policies, policy, reset, image):
    policies.put({"defaults": {"workingDir": "/w"}, "rules": {"image": {"required": True}}})
    answer = policies.send("PATCH", policy, reset=reset)
    assert answer.status == 200, answer
    assert answer.json["policy"].get("rules", {}).get("image") == image
    assert answer.json["policy"]["defaults"] == {"workingDir": "/w"}
    assert policies.get("tenant").json["policy"] == answer.json["policy"]


def test_a_patch_replaces_lists_and_refuses_unknown_paths(policies):
    def names(*values):
        return {"defaults": {"labels": {"instances": [{"name": value} for value in values]}}}

    policies.send("PATCH", names("a", "b"))
    assert policies.send("PATCH", names("c")).json["policy"] == names("c")
    for path in ("rules.imge", "rulez", "", "rules..image", "x" * 300):
        answer = policies.send("PATCH", {}, reset=[path])
        assert answer.status == 400 and answer.json["message"].startswith("reset: no field"), answer


def test_who_changes_at_once_loses_nothing(policies):
    fields = ("image", "workingDir", "command", "args", "category", "nodeType")
    threads = [
        threading.Thread(target=policies.send, args=("PATCH", {"defaults": {field: field}}, "project"))
        for field in fields
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert policies.get("project").json["policy"]["defaults"] == {field: field for field in fields}


def test_the_list(policies):
    for scope in SCOPES:
        policies.put({"defaults": {"image": scope}}, scope)
    policies.put({"defaults": {"image": "w"}}, "project", "workspaces")
    listed = policies.server.get("/api/v2/policy").json["policies"]
    assert [entry["meta"]["scope"] for entry in listed] == [*SCOPES, "project"]
    assert listed[0]["status"]["clusters"] == [{"clusterId": policies.cluster, "status": "Ready"}]

    def scopes(**query):
        answer = policies.server.get("/api/v2/policy", **query)
        assert answer.status == 200, answer
        return [(entry["type"], entry["meta"]["scope"]) for entry in answer.json["policies"]]

    assert scopes(workloadType="Workspace") == [("workspace", "project")]
    assert scopes(scope="department") == [("training", "department")]
    assert len(scopes(projectId=policies.project)) == 2 and scopes(projectId=policies.other) == []
    assert scopes(workloadType="DistributedInference") == []
    assert ("fallback", "system") in scopes(includeFallbackPolicies="true")


def test_who_may_set_and_read(policies):
    server = policies.server
    _, mine = make_caller(server, "reader-of-policies", ("L1 researcher", "project", policies.project))
    _, boss = make_caller(server, "boss-of-policies", ("Department administrator", "department", policies.department))
    policies.put({"defaults": {"image": "x"}})
    policies.put({"defaults": {"workingDir": "/w"}}, "project")
    told = policies.get("project", token=mine)
    assert told.status == 200 and told.json["effective"]["defaults"] == {
        "image": "x",
        "workingDir": "/w",
        "security": {"privileged": False},
    }
    assert policies.get("project", token=mine, projectId=policies.other).status == 404
    assert policies.get("tenant", token=mine).status == 403
    assert policies.send("PUT", {"defaults": {}}, "project", token=mine).status == 403
    assert policies.delete("project", token=mine).status == 403
    listed = server.request("GET", "/api/v2/policy", token=mine).json["policies"]
    assert [entry["meta"]["scope"] for entry in listed] == ["project"]
    assert policies.get("department", token=boss).status == 200
    assert policies.send("PUT", {"defaults": {}}, "department", token=boss).status == 403


def test_a_policy_goes_with_its_project(server):
    policies = Policies(server)
    new = {"name": "short", "clusterId": policies.cluster, "parentId": policies.department, "resources": []}
    project = server.post("/api/v1/org-unit/projects", new).json["id"]
    policies.ids["project"] = {"projectId": int(project)}
    policies.put({"defaults": {"image": "x"}}, "project")
    assert server.delete(f"/api/v1/org-unit/projects/{project}").status < 300
    again = server.post("/api/v1/org-unit/projects", new).json["id"]
    assert policies.get("project", projectId=again).json["policy"] is None
    assert server.get("/api/v2/policy").json["policies"] == []


def test_the_audit_tells_of_it(policies):
    policies.put({"defaults": {"image": "audited"}}, "project")
    policies.delete("project")
    gone, made = [r for r in records(policies.server) if r["entity_type"] == "policy"][:2]
    assert made["action"] == "update" and made["entity_name"] == "house rules"
    assert {"field": "policy.defaults.image", "after": "audited"} in made["changes"]
    assert gone["action"] == "delete" and gone["entity_name"] == "training policy of the project"
