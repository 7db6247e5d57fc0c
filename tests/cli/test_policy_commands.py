"""Policies by the command line, and the example of docs/policies.md."""

import json
import re

import pytest
import yaml
from servers import ROOT

EXAMPLE = re.search(r"```yaml\n(.*?)```", (ROOT / "docs/policies.md").read_text(), re.S)[1]


@pytest.fixture
def example(folder):
    path = folder / "policy.yaml"
    path.write_text(EXAMPLE)
    return str(path)


def test_the_documents_example(client, example):
    assert client.run("policy", "apply", "training", "-f", example) == "policy of trainings in the tenant applied\n"
    checked = client.run("policy", "apply", "training", "-f", example, "--project", "team-a", "--validate-only")
    assert checked == "policy of trainings in a project is good; nothing was stored\n"
    shown = client.run("policy", "effective", "training", "--project", "team-a")
    assert re.search(r"^ image +\"ubuntu\" +required true +tenant *$", shown, re.M), shown
    assert re.search(r"^ compute.gpuDevicesRequest +- +max 4 +tenant *$", shown, re.M), shown
    assert re.search(r"^ terminationGracePeriodSeconds +- +max 300 +system *$", shown, re.M), shown
    assert re.search(r"^ environmentVariables.instances\[0\] +{.*HTTP_PROXY.*} +- +tenant *$", shown, re.M), shown
    said = client.run("training", "submit", "big", "-p", "team-a", "-g", "8", status=1)
    assert "spec.compute.gpuDevicesRequest: at most 4 by the tenant's policy, got 8 (rule max)" in said
    asked = client.run("training", "submit", "big", "-p", "team-a", "-g", "8", "--what-if", status=1)
    assert "at most 4 by the tenant's policy" in asked
    client.run("training", "submit", "small", "-p", "team-a", "-g", "0")
    spec = json.loads(client.run("workload", "describe", "small", "-p", "team-a", "-o", "json"))
    assert '"ubuntu"' in json.dumps(spec)


def test_a_policy_is_shown_as_it_is_applied(client, example, folder):
    client.run("policy", "apply", "workspace", "-f", example, "--project", "team-a", "--name", "house rules")
    described = client.run("policy", "describe", "workspace", "--project", "team-a")
    assert yaml.safe_load(described) == yaml.safe_load(EXAMPLE)
    again = folder / "again.yaml"
    again.write_text(described)
    client.run("policy", "apply", "workspaces", "-f", str(again), "--department", "research")
    as_json = folder / "policy.json"
    as_json.write_text(client.run("policy", "describe", "workspace", "--project", "team-a", "--json"))
    client.run("policy", "apply", "workspace", "-f", str(as_json), "--cluster")
    listed = client.run("policy", "list", "--system")
    assert re.search(r"^ house rules +workspace +project \d+ +admin@prorata.local ", listed, re.M), listed
    assert re.search(r"^ research|^ department +workspace +department \d+ ", listed, re.M), listed
    assert re.search(r"^ cluster +workspace +cluster ", listed, re.M) and "System policy" in listed
    assert client.run("policy", "delete", "workspace", "--project", "team-a") == "policy of workspaces deleted\n"
    assert "no policy is set here" in client.run("policy", "describe", "workspace", "--project", "team-a", status=1)


def test_a_part_is_merged(client, folder):
    one, other = folder / "one.yaml", folder / "other.yaml"
    one.write_text("defaults: {image: a}\n")
    other.write_text("policy: {rules: {image: {canEdit: false}}}\n")
    client.run("policy", "apply", "training", "-f", str(one))
    client.run("policy", "apply", "training", "-f", str(other), "--merge")
    both = {"defaults": {"image": "a"}, "rules": {"image": {"canEdit": False}}}
    assert yaml.safe_load(client.run("policy", "describe", "training")) == both


def test_what_is_wrong_is_named(client, folder):
    def error(*words):
        return client.run("policy", *words, status=1)

    bad = folder / "bad.yaml"
    bad.write_text("rules: {imge: {required: true}}\n")
    unknown = "policy.rules.imge: a policy of trainings has no such field"
    assert unknown in error("apply", "training", "-f", str(bad))
    assert "--file is missing" in error("apply", "training")
    assert "TYPE: training, workspace, distributed or inference, got job" in error("apply", "job", "-f", str(bad))
    assert "no project was found with the name team-z" in error("effective", "training", "-p", "team-z")
    assert "only one of them" in error("delete", "training", "-p", "team-a", "--cluster")
    assert "no policy is set here" in error("delete", "training")
    bad.write_text("rules: [\n")
    assert "bad.yaml" in error("apply", "training", "-f", str(bad))
