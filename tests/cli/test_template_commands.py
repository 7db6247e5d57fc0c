"""Templates, assets and submissions made from them, by the command line."""

import json
import re


def save(server, path, name, spec, scope="tenant", **more):
    key = "scopeType" if "templates" in path else "scope"
    answer = server.post(f"/api/v1/{path}", {"meta": {"name": name, key: scope}, "spec": spec, **more})
    assert answer.status == 202, answer
    return answer.json["meta"]["id"]


def spec_of(server, name):
    id = server.get("/api/v1/workloads", filterBy=f"name=={name}").json["workloads"][0]["id"]
    return server.get(f"/api/v1/workloads/trainings/{id}").json["spec"]


def test_assets_are_listed_and_shown(client, server):
    save(server, "asset/environment", "torch", {"image": "pytorch/pytorch"})
    save(server, "asset/datasource/nfs", "images", {"server": "nas", "path": "/exports", "mountPath": "/data"})
    save(server, "workload-templates/trainings", "nightly", {"image": "x"})
    save(server, "workload-templates/workspaces", "empty", {})
    assert re.search(r"^ half-gpu +1 x 0.5 +system ", client.run("compute", "list"), re.M)
    assert re.search(r"^ torch +pytorch/pytorch +tenant +admin@", client.run("environment", "list"), re.M)
    assert re.search(r"^ images +nfs +tenant ", client.run("datasource", "list", "-p", "team-a"), re.M)
    listed = client.run("template", "list")
    assert re.search(r"^ nightly +Training +tenant ", listed, re.M), listed
    assert re.search(r"^ empty +Workspace, incomplete +tenant ", listed, re.M), listed
    assert client.run("list", "templates").split() == ["NAME", "DESCRIPTION", "empty", "nightly"]
    shown = json.loads(client.run("template", "describe", "nightly", "--json"))
    assert shown["combinedSpec"] == {"image": "x"}
    assert 'mountPath: "/data"' in client.run("datasource", "describe", "images")
    said = client.run("template", "describe", "nowhere", status=1)
    assert "no template was found with the name nowhere" in said


def test_submissions_from_templates_and_assets(client, server, folder):
    save(
        server, "asset/environment", "torch", {"image": "torch", "environmentVariables": [{"name": "A", "value": "1"}]}
    )
    save(server, "asset/datasource/nfs", "images", {"server": "nas", "path": "/exports", "mountPath": "/data"})
    save(server, "workload-templates/trainings", "nightly", {"image": "x", "args": "template", "backoffLimit": 2})
    client.run(
        "training", "submit", "one", "-p", "team-a", "--template", "nightly", "--backoff-limit", "3", "-e", "B=2"
    )
    spec = spec_of(server, "one")
    assert (spec["image"], spec["args"], spec["backoffLimit"]) == ("x", "template", 3)
    flags = ["--environment", "torch", "--compute", "cpu-only", "--datasource", "type=nfs,name=images", "-e", "B=2"]
    client.run("training", "submit", "two", "-p", "team-a", *flags)
    spec = spec_of(server, "two")
    assert spec["image"] == "torch" and spec["storage"]["nfs"][0]["mountPath"] == "/data"
    assert {v["name"]: v["value"] for v in spec["environmentVariables"]} == {"A": "1", "B": "2"}
    said = client.run("training", "submit", "three", "-p", "team-a", "--template", "nowhere", status=1)
    assert "no template was found with the name nowhere" in said
    path = folder / "job.yaml"
    path.write_text("type: Training\nname: four\nproject: team-a\ntemplate: nightly\nspec:\n  args: file\n")
    assert "four" in client.run("workload", "submit", "-f", str(path))
    assert spec_of(server, "four")["args"] == "file"
    path.write_text(json.dumps({"type": "training", "spec": {"image": "y"}}))
    dry = json.loads(client.run("workload", "submit", "five", "-f", str(path), "-p", "team-a", "--dry-run", "--json"))
    assert dry["name"] == "five" and dry["projectId"] == server.project_id("team-a") and "type" not in dry
    client.run("workload", "submit", "five", "-f", str(path), "-p", "team-a")
    path.write_text("type: Lorry\nname: six\nproject: team-a\n")
    assert "type: Training, Workspace" in client.run("workload", "submit", "-f", str(path), status=1)
    path.write_text("- a\n")
    client.run("workload", "submit", "-f", str(path), status=1)
    assert "--file is missing" in client.run("workload", "submit", status=1)
