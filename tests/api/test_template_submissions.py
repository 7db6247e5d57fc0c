"""Submissions from templates and assets: what lies below what, and what is refused."""

from test_access import make_caller
from test_templates import NOBODY, TEMPLATES, TRAININGS, WORKSPACES, asset, create, made, server

__all__ = ["server"]


def submit(server, name, template=None, kind="trainings", project="team-a", token="admin", **body):
    body = {"name": name, "projectId": server.project_id(project), "clusterId": server.cluster_id(), **body}
    if template:
        body["templateId"] = template["meta"]["id"] if isinstance(template, dict) else template
    return server.request("POST", f"/api/v1/workloads/{kind}", body, token=token)


def test_a_template_follows_its_assets(server):
    compute = asset(server, "compute", "follow", {"gpuDevicesRequest": 1})
    template = made(server, "follow", {"image": "x"}, assets={"compute": compute})
    path = f"{TRAININGS}/{template['meta']['id']}"
    used = server.get(f"/api/v1/asset/compute/{compute}", usageInfo="true").json["usedBy"]
    assert used["templates"] == [{"id": template["meta"]["id"], "name": "follow"}]
    change = {"meta": {"name": "follow"}, "spec": {"gpuDevicesRequest": 2}}
    assert server.request("PUT", f"/api/v1/asset/compute/{compute}", change).status == 202
    assert server.get(path).json["combinedSpec"]["compute"] == {"gpuDevicesRequest": 2}
    assert server.delete(f"/api/v1/asset/compute/{compute}").status == 202
    gone = server.get(path).json
    assert gone["runnable"]["isRunnable"] is False and compute in gone["runnable"]["issue"]
    assert gone["combinedSpec"] == {"image": "x"}
    answer = submit(server, "from-gone", template)
    assert answer.status == 400 and answer.json["message"].startswith("templateId:"), answer
    # It can be mended.
    assert server.request("PATCH", path, {"fieldsToClear": ["assets"]}).json["runnable"]["isRunnable"] is True
    assert submit(server, "from-mended", template).status == 202


def test_submission_from_a_template(server):
    environment = asset(
        server,
        "environment",
        "submit",
        {"image": "a", "environmentVariables": [{"name": n, "value": "asset"} for n in "ABC"]},
    )
    template = made(
        server,
        "submit",
        {"environmentVariables": [{"name": n, "value": "template"} for n in "BC"], "backoffLimit": 2},
        assets={"environment": environment},
    )
    bare = submit(server, "bare", template)
    assert bare.status == 202, bare
    assert bare.json["spec"]["image"] == "a" and bare.json["spec"]["backoffLimit"] == 2
    own = {"environmentVariables": [{"name": "C", "value": "request"}], "backoffLimit": 3, "image": None}
    answer = submit(server, "own", template, spec=own)
    assert answer.status == 202, answer
    values = {v["name"]: v["value"] for v in answer.json["spec"]["environmentVariables"]}
    assert values == {"A": "asset", "B": "template", "C": "request"}
    assert answer.json["spec"]["backoffLimit"] == 3 and answer.json["spec"]["image"] == "a"


def test_submission_from_assets(server):
    environment = asset(server, "environment", "direct", {"image": "a", "command": "asset"})
    compute = asset(server, "compute", "direct", {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.5})
    template = made(server, "direct", {"image": "t", "command": "template", "args": "template"})
    answer = submit(
        server,
        "direct",
        template,
        assets={"environment": environment, "compute": compute},
        spec={"command": "request"},
    )
    assert answer.status == 202, answer
    spec = answer.json["spec"]
    assert (spec["image"], spec["command"], spec["args"]) == ("a", "request", "template")
    assert spec["compute"]["cpuCoreRequest"] == 0.5
    assert submit(server, "alone", assets={"environment": environment}).status == 202
    assert submit(server, "none", assets={"environment": NOBODY}).status == 400


def test_submission_refuses_templates(server):
    project = server.project_id("team-a")
    workspace = made(server, "ws", {"image": "x"}, path=WORKSPACES)
    other = made(server, "of-b", {"image": "x"}, scope=("project", server.project_id("team-b")))
    empty = made(server, "empty", {})
    _, token = make_caller(server, "cat", ("L1 researcher", "project", project))
    for template, message in (
        (NOBODY, "there is no workload template"),
        (workspace, "is for the type Workspace"),
        (other, "does not hold for this project"),
    ):
        answer = submit(server, "refused", template)
        assert answer.status == 400 and "templateId" in answer.json["message"], answer
        assert message in answer.json["message"], answer
    # A hidden one is as good as none.
    hidden = submit(server, "refused", other, token=token)
    assert hidden.status == 400 and "there is no workload template" in hidden.json["message"]
    assert submit(server, "refused", empty).status == 400
    assert submit(server, "completed", empty, spec={"image": "x"}).status == 202
    assert submit(server, "refused", "not-an-id").status == 400


def test_distributed_from_a_template(server):
    compute = asset(server, "compute", "master", {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.25})
    template = made(
        server,
        "gang",
        {"image": "w", "distributedFramework": "PyTorch", "numWorkers": 1},
        path=f"{TEMPLATES}/distributed",
        masterSpecSameAsWorker=False,
        master={"spec": {"image": "m"}, "assets": {"compute": compute}},
    )
    assert template["runnable"]["isRunnable"], template["runnable"]
    assert template["combinedMasterSpec"] == {
        "image": "m",
        "compute": {"gpuDevicesRequest": 0, "cpuCoreRequest": 0.25},
    }
    assert template["combinedSources"]["masterSpec"]["compute.cpuCoreRequest"]["from"] == "compute"
    answer = submit(server, "gang", template, "distributed")
    assert answer.status == 202, answer
    assert answer.json["masterSpec"]["image"] == "m" and answer.json["spec"]["image"] == "w"
    answer = submit(server, "gang2", template, "distributed", masterSpec={"image": "own"}, spec={"numWorkers": 2})
    assert answer.json["masterSpec"]["image"] == "own" and answer.json["spec"]["numWorkers"] == 2
    assert answer.json["masterSpec"]["compute"]["cpuCoreRequest"] == 0.25


def test_large_templates(server):
    many = [{"name": f"V{i}", "value": "x" * 20} for i in range(200)]
    template = made(server, "large", {"image": "x", "environmentVariables": many})
    more = [{"name": f"V{i}", "value": "y"} for i in range(50, 256)]
    answer = submit(server, "large", template, spec={"environmentVariables": more})
    assert answer.status == 202, answer
    assert len(answer.json["spec"]["environmentVariables"]) == 256
    more.append({"name": "ONE_MORE", "value": "y"})
    answer = submit(server, "larger", template, spec={"environmentVariables": more})
    assert answer.status == 400 and "at most 256 items, got 257" in answer.json["message"]
    assert create(server, "too-large", {"image": "x", "args": "x" * 500_000}).status == 400


def test_inference_from_a_template(server):
    spec = {"image": "x", "servingPort": {"container": 8000}, "autoscaling": {"minReplicas": 1, "maxReplicas": 1}}
    template = made(server, "serve", spec, path=f"{TEMPLATES}/inferences")
    assert template["meta"]["workloadType"] == "Inference" and template["runnable"]["isRunnable"], template
    answer = submit(server, "serve", template, "inferences", spec={"autoscaling": {"minReplicas": 2, "maxReplicas": 2}})
    assert answer.status == 202, answer
    assert answer.json["spec"]["servingPort"]["container"] == 8000
    assert answer.json["spec"]["autoscaling"]["maxReplicas"] == 2
    assert server.delete(f"{TEMPLATES}/inferences/{template['meta']['id']}").status == 204
