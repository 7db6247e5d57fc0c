"""Policies on what is chosen from and changed: assets, templates, inferences that serve."""

import itertools

import pytest
from test_policy_submissions import G, Rules, compute, options

NUMBERS = itertools.count(1)
C = "cpuCoreRequest"


@pytest.fixture(scope="module")
def rules(module_server):
    return Rules(module_server)


def make(rules, path, meta, spec):
    answer = rules.server.post(path, {"meta": {"name": f"a{next(NUMBERS)}", **meta}, "spec": spec})
    assert answer.status in (201, 202), answer
    return answer.json["meta"]["id"]


def reasons(rules, path, **query):
    answer = rules.server.get(path, complyToProject=rules.project, **query)
    assert answer.status == 200, answer
    told = answer.json["compliance"]
    assert told["compliance"] == (not told["reason"]) and told["imposed"] is False
    return [(reason["field"], reason["rule"]) for reason in told["reason"]]


def test_assets_comply_or_say_why_not(rules):
    rules.only({"rules": {"compute": {G: {"max": 1}, C: {"required": True}}, "image": options("x")}})
    compute_path, environment = "/api/v1/asset/compute/", "/api/v1/asset/environment/"
    big = make(rules, compute_path[:-1], {"scope": "tenant"}, {G: 4})
    good = make(rules, compute_path[:-1], {"scope": "tenant"}, {G: 1})
    other = make(rules, environment[:-1], {"scope": "tenant"}, {"image": "y"})
    assert reasons(rules, compute_path + big) == [("compute." + G, "max")]
    assert reasons(rules, compute_path + big, complyToWorkloadType="Workspace") == []
    assert reasons(rules, compute_path + good, complyToWorkloadType="Training") == []
    assert reasons(rules, environment + other, complyToWorkloadType="Training") == [("image", "options")]
    listed = rules.server.get(compute_path[:-1], complyToProject=rules.project).json["entries"]
    told = {entry["meta"]["id"]: entry["compliance"]["compliance"] for entry in listed}
    assert told[big] is False and told[good] is True
    assert "compliance" not in rules.server.get(compute_path + big).json
    assert rules.server.get(compute_path + big, complyToProject=777).status == 400


def test_assets_of_replicas(rules):
    rules.only({"rules": {"master": {"compute": {G: {"max": 0}}}}}, "distributed")
    one = "/api/v1/asset/compute/" + make(rules, "/api/v1/asset/compute", {"scope": "tenant"}, {G: 1})
    asked = {"complyToWorkloadType": "Distributed"}
    assert reasons(rules, one, **asked, complyToReplicaType="Worker") == []
    assert reasons(rules, one, **asked, complyToReplicaType="Master") == [("master.compute." + G, "max")]


TEMPLATES = "/api/v1/workload-templates"


def template(rules, spec):
    meta = {"name": f"t{next(NUMBERS)}", "scopeType": "project", "scopeId": str(rules.project)}
    return rules.server.post(f"{TEMPLATES}/trainings", {"meta": meta, "spec": spec})


def test_templates_are_refused_and_told(rules):
    rules.clear()
    made = template(rules, compute(**{G: 2})).json["meta"]["id"]
    rules.put({"rules": {"compute": {G: {"max": 1}}, "workingDir": {"required": True}}})
    refused = template(rules, compute(**{G: 2}))
    assert refused.status == 400 and refused.json["complianceIssues"][0]["field"] == "compute." + G
    assert template(rules, compute(**{G: 1})).status in (201, 202), "what is required may come later"
    listed = rules.server.get(TEMPLATES, complyToProject=rules.project, limit=500).json["entries"]
    (told,) = [entry for entry in listed if entry["meta"]["id"] == made]
    assert [issue["rule"] for issue in told["complianceIssues"]] == ["max"]
    path = f"{TEMPLATES}/trainings/{made}"
    assert rules.server.request("PATCH", path, {"spec": {"workingDir": "/w"}}).status == 400
    assert rules.server.request("PATCH", path, {"spec": {"compute": {G: 1}}}).status == 200


def test_an_inference_is_checked_when_it_changes_too(rules):
    rules.only({"rules": {"autoscaling": {"maxReplicas": {"max": 2}}}}, "inferences")

    def serving(replicas):
        bounds = {"minReplicas": replicas, "maxReplicas": replicas}
        return {"image": "x", "servingPort": {"container": 8080}, "autoscaling": bounds}

    assert rules.issues(serving(3), "inferences") == [("autoscaling.maxReplicas", "max")]
    made = rules.submit(serving(2), "inferences")
    assert made.status == 202, made
    path = f"/api/v1/workloads/inferences/{made.json['workloadId']}"
    refused = rules.server.request("PATCH", path, {"spec": {"autoscaling": {"minReplicas": 3, "maxReplicas": 3}}})
    assert refused.status == 400 and refused.json["complianceIssues"][0]["rule"] == "max", refused
