"""Templates, assets and submissions made from them, by the command line."""

import json
import os
import re
import subprocess

from servers import PRORATA


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


SECRET = "hunter2hunter2"


def fed(client, text, *words, status=0):
    """As client.run, with an input."""
    done = subprocess.run(
        [PRORATA, *words],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(client.home)},
        timeout=60,
    )
    assert done.returncode == status, done
    return done.stdout + done.stderr


def test_assets_are_made_from_files_and_deleted(client, server, folder):
    file = folder / "asset.yaml"
    file.write_text("server: nas\npath: /exports\nmountPath: /data\n")
    made = ("-f", str(file))
    client.run("datasource", "create", "images", "--type", "nfs", *made, "-p", "team-a", "--description", "pictures")
    (entry,) = server.get("/api/v1/asset/datasource").json["entries"]
    assert entry["meta"]["projectName"] == "team-a" and entry["meta"]["description"] == "pictures"
    assert entry["spec"]["nfs"]["mountPath"] == "/data"
    assert "images" in client.run("datasource", "list") and "nas" in client.run("datasource", "describe", "images")
    assert "is taken" in client.run("datasource", "create", "images", "--type", "nfs", *made, "-p", "team-a", status=1)
    file.write_text("path: /etc\nmountPath: /host\n")
    client.run("datasource", "create", "etc", "--type", "host-path", *made)
    file.write_text("gpuDevicesRequest: 1\n")
    client.run("compute", "create", "one", *made, "--department", "research")
    file.write_text("image: torch\n")
    client.run("environment", "create", "torch", *made, "--cluster")
    entries = server.get("/api/v1/asset/compute").json["entries"]
    compute = next(e["meta"]["id"] for e in entries if e["meta"]["scope"] == "department")
    body = {"meta": {"description": "x"}, "spec": {"args": "y"}, "assets": {"compute": compute}}
    file.write_text(json.dumps(body))
    client.run("template", "create", "nightly", "--type", "training", *made, "-p", "team-a")
    shown = json.loads(client.run("template", "describe", "nightly", "--json"))
    assert shown["combinedSpec"] == {"args": "y", "compute": {"gpuDevicesRequest": 1}}
    assert shown["meta"]["description"] == "x" and shown["meta"]["scopeType"] == "project"
    assert "use --yes" in client.run("template", "delete", "nightly", status=1)
    for word, name in (("template", "nightly"), ("compute", "one"), ("environment", "torch")):
        assert f"{word} {name} of scope" in client.run(word, "delete", name, "-y")
    client.run("datasource", "delete", "images", "-p", "team-a", "--yes")
    client.run("datasource", "delete", "etc", "-y")
    assert "no datasource was found" in client.run("datasource", "delete", "etc", "-y", status=1)


def test_credentials_come_from_the_input_and_never_out(client, server, folder):
    kinds = {
        "password": {"user": "robot", "password": SECRET},
        "access-key": {"accessKeyId": "AKIA", "secretAccessKey": SECRET},
        "docker-registry": {"url": "https://r.example", "user": "robot", "password": SECRET},
        "generic-secret": {"keyValuePairs": [{"key": "TOKEN", "value": SECRET}]},
        "ngc-api-key": {"ngcApiKey": SECRET},
    }
    for kind, spec in kinds.items():
        said = fed(client, json.dumps(spec), "credential", "create", f"my-{kind}", "--type", kind, "-f", "-")
        said += client.run("credential", "describe", f"my-{kind}") + client.run("credential", "list", "--json")
        assert SECRET not in said
    assert "password" not in client.run("credential", "create", "--help").lower().replace("--type password", "")
    for kind in kinds:
        client.run("credential", "delete", f"my-{kind}", "-y")
    assert server.get("/api/v1/asset/credentials").json["entries"] == []


def test_what_is_no_asset_is_refused(client, folder):
    password = ("credential", "create", "x", "--type", "password", "-f", "-")
    assert "--type: one of password, access-key, " in client.run("credential", "create", "x", "-f", "-", status=1)
    for kind in ("", "nfs", "or", "password,", "Password", "../users"):
        assert "--type: one of" in client.run("credential", "create", "x", "--type", kind, "-f", "-", status=1)
    assert "--type: a compute has none" in client.run("compute", "create", "x", "--type", "nfs", "-f", "-", status=1)
    assert "--file is missing" in client.run("compute", "create", "x", status=1)
    for text in ("", "- a\n", "5", "a: [", "user: robot", f"user: {{}}\npassword: {SECRET}\n", "\0", "x" * (1 << 21)):
        assert SECRET not in fed(client, text, *password, status=1)
    assert "only one of them" in fed(client, "{}", *password, "-p", "team-a", "--cluster", status=1)
    assert "no project was found" in fed(client, "{}", *password, "-p", "nowhere", status=1)
    client.run("compute", "create", "x", "-f", str(folder / "nothing"), status=1)
    client.run("compute", "create", "x", "-f", str(folder), status=1)
    client.run("compute", "create", "-f", "-", status=1)
    assert client.server.get("/api/v1/asset/credentials").json["entries"] == []
