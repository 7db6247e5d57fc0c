"""Templates of workloads: what they come to, scopes, rights, names, pages, and submissions from them."""

import pytest
from test_access import department_id, make_caller

TEMPLATES = "/api/v1/workload-templates"
TRAININGS = f"{TEMPLATES}/trainings"
WORKSPACES = f"{TEMPLATES}/workspaces"
NOBODY = "9f0e6c1e-8a53-4a55-9d6c-2f0f6f1d9a10"
GPU_HALF = {"gpuDevicesRequest": 1, "gpuRequestType": "portion", "gpuPortionRequest": 0.5}


@pytest.fixture(scope="module")
def server(module_server):
    module_server.sign_in()
    return module_server


def meta(name, scope="tenant", scope_id=None):
    return {"name": name, "scopeType": scope, **({"scopeId": scope_id} if scope_id else {})}


def create(server, name, spec=None, path=TRAININGS, token="admin", scope=("tenant", None), **body):
    return server.request("POST", path, {"meta": meta(name, *scope), "spec": spec, **body}, token=token)


def made(server, name, spec=None, **more):
    answer = create(server, name, spec, **more)
    assert answer.status == 202, answer
    return answer.json


def asset(server, kind, name, spec, scope="tenant", **more):
    answer = server.post(f"/api/v1/asset/{kind}", {"meta": {"name": name, "scope": scope, **more}, "spec": spec})
    assert answer.status == 202, answer
    return answer.json["meta"]["id"]


def names(answer):
    assert answer.status == 200, answer
    return [entry["meta"]["name"] for entry in answer.json["entries"]]


# What lies below, what a template says itself, what both come to. Lists have keys; all else replaces.
MERGES = [
    ("a value of the asset stays", {"image": "a"}, {"command": "run"}, {"image": "a", "command": "run"}),
    ("the template's own value wins", {"image": "a"}, {"image": "b"}, {"image": "b"}),
    ("a null says nothing", {"image": "a"}, {"image": None}, {"image": "a"}),
    (
        "variables by name",
        {"image": "a", "environmentVariables": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"environmentVariables": [{"name": "B", "value": "3"}, {"name": "C", "value": "4"}]},
        {
            "image": "a",
            "environmentVariables": [
                {"name": "A", "value": "1"},
                {"name": "B", "value": "3"},
                {"name": "C", "value": "4"},
            ],
        },
    ),
    (
        "an item is replaced whole",
        {"environmentVariables": [{"name": "A", "value": "1"}]},
        {"environmentVariables": [{"name": "A", "configMap": {"name": "m", "key": "k"}}]},
        {"environmentVariables": [{"name": "A", "configMap": {"name": "m", "key": "k"}}]},
    ),
    (
        "an item that is taken out stays marked",
        {"environmentVariables": [{"name": "A", "value": "1"}]},
        {"environmentVariables": [{"name": "A", "exclude": True}]},
        {"environmentVariables": [{"name": "A", "exclude": True}]},
    ),
    (
        "users and rights stand in security",
        {"runAsUid": 5, "uidGidSource": "custom"},
        {"security": {"runAsUid": 7}},
        {"security": {"runAsUid": 7, "uidGidSource": "custom"}},
    ),
    (
        "ports by container port",
        {
            "connections": [
                {
                    "name": "Jupyter",
                    "internalToolInfo": {
                        "toolType": "jupyter-notebook",
                        "connectionType": "NodePort",
                        "containerPort": 8888,
                    },
                }
            ]
        },
        {"ports": [{"container": 8888, "serviceType": "LoadBalancer"}, {"container": 80}]},
        {"ports": [{"container": 8888, "serviceType": "LoadBalancer"}, {"container": 80}]},
    ),
    (
        "an exposed URL of a tool",
        {
            "connections": [
                {
                    "name": "TensorBoard",
                    "internalToolInfo": {
                        "toolType": "tensorboard",
                        "connectionType": "ExternalUrl",
                        "containerPort": 6006,
                    },
                }
            ]
        },
        {},
        {"exposedUrls": [{"container": 6006, "toolType": "tensorboard", "toolName": "TensorBoard"}]},
    ),
    (
        "a tool outside",
        {
            "connections": [
                {
                    "name": "Runs",
                    "isExternal": True,
                    "externalToolInfo": {"toolType": "wandb", "externalUrl": "https://wandb.ai/x"},
                }
            ]
        },
        {},
        {"relatedUrls": [{"name": "Runs", "type": "wandb", "url": "https://wandb.ai/x"}]},
    ),
    ("pools replace", {}, {"nodePools": ["a", "b"]}, {"nodePools": ["a", "b"]}),
]


@pytest.mark.parametrize("case", MERGES, ids=lambda case: case[0])
def test_environment_below_the_templates_own(server, case):
    _, below, own, expected = case
    name = case[0].replace(" ", "-").replace("'", "")
    environment = asset(server, "environment", name, below)
    template = made(server, name, own, assets={"environment": environment})
    assert template["combinedSpec"] == expected
    assert template["spec"] == own if own else "spec" not in template


GPUS = [
    ("the asset's amount", GPU_HALF, {}, GPU_HALF),
    ("more devices of the same part", GPU_HALF, {"gpuDevicesRequest": 2}, {**GPU_HALF, "gpuDevicesRequest": 2}),
    (
        "another kind of part takes the lower one away",
        GPU_HALF,
        {"gpuRequestType": "memory", "gpuMemoryRequest": "4G"},
        {"gpuDevicesRequest": 1, "gpuRequestType": "memory", "gpuMemoryRequest": "4G"},
    ),
    (
        "extended resources by name",
        {"extendedResources": [{"resource": "a.b/c", "quantity": "1"}]},
        {"extendedResources": [{"resource": "a.b/c", "quantity": "2"}, {"resource": "d.e/f", "quantity": "1"}]},
        {"extendedResources": [{"resource": "a.b/c", "quantity": "2"}, {"resource": "d.e/f", "quantity": "1"}]},
    ),
]


@pytest.mark.parametrize("case", GPUS, ids=lambda case: case[0])
def test_compute_resources_below_the_templates_own(server, case):
    name = case[0].replace(" ", "-").replace("'", "")
    compute = asset(server, "compute", name, case[1])
    template = made(server, name, {"image": "x", "compute": case[2]}, assets={"compute": compute})
    assert template["combinedSpec"]["compute"] == case[3]


def test_a_template_says_where_each_value_comes_from(server):
    environment = asset(
        server, "environment", "sources", {"image": "a", "environmentVariables": [{"name": "A", "value": "1"}]}
    )
    compute = asset(server, "compute", "sources", {"gpuDevicesRequest": 1, "cpuCoreRequest": 2})
    template = made(
        server,
        "sources",
        {"compute": {"gpuDevicesRequest": 2}, "environmentVariables": [{"name": "B", "value": "2"}]},
        assets={"environment": environment, "compute": compute},
    )
    mine = {"from": "template", "id": template["meta"]["id"], "name": "sources"}
    theirs = {"from": "environment", "id": environment, "name": "sources"}
    assert template["combinedSources"] == {
        "spec": {
            "image": theirs,
            "environmentVariables[A]": theirs,
            "environmentVariables[B]": mine,
            "compute.gpuDevicesRequest": mine,
            "compute.cpuCoreRequest": {"from": "compute", "id": compute, "name": "sources"},
        }
    }


def test_life_of_a_template(server):
    body = {"meta": meta("life"), "spec": {"image": "x"}}
    answer = server.post(TRAININGS, body)
    assert answer.status == 202, answer
    template = answer.json
    assert template["meta"]["workloadType"] == "Training" and template["meta"]["createdBy"] == "admin@prorata.local"
    assert template["meta"]["scopeType"] == "tenant" and template["meta"]["scopeId"] == "1"
    assert template["runnable"] == {"isRunnable": True, "issue": None}
    path = f"{TRAININGS}/{template['meta']['id']}"
    assert server.get(path).json == template
    assert server.get(f"{TEMPLATES}/{template['meta']['id']}").json == template
    # Of another type it is none.
    assert server.get(f"{WORKSPACES}/{template['meta']['id']}").status == 404
    assert server.delete(f"{WORKSPACES}/{template['meta']['id']}").status == 404
    changed = server.request("PUT", path, {"meta": {"name": "life2", "description": "new"}, "spec": {"command": "c"}})
    assert changed.status == 200, changed
    assert changed.json["spec"] == {"command": "c"} and changed.json["meta"]["description"] == "new"
    assert changed.json["meta"]["updatedBy"] == "admin@prorata.local" and changed.json["meta"]["updatedAt"]
    assert changed.json["runnable"]["isRunnable"] is False and "image" in changed.json["runnable"]["issue"]
    assert server.delete(path).status == 204
    assert server.get(path).status == 404 and server.delete(path).status == 404
    assert server.request("PUT", path, {"meta": {"name": "x"}}).status == 404


# fieldsToClear and body of a PATCH, and what is left of image, compute.{gpuDevicesRequest, cpuCoreRequest}, variables.
SPEC = {
    "image": "x",
    "compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 2},
    "environmentVariables": [{"name": "A", "value": "1"}],
}
PATCHES = [
    ("nothing", {}, SPEC),
    ("one value", {"spec": {"image": "y"}}, {**SPEC, "image": "y"}),
    ("a null changes nothing", {"spec": {"image": None}}, SPEC),
    (
        "an object member by member",
        {"spec": {"compute": {"gpuDevicesRequest": 2}}},
        {**SPEC, "compute": {"gpuDevicesRequest": 2, "cpuCoreRequest": 2}},
    ),
    ("a list whole", {"spec": {"environmentVariables": []}}, {**SPEC, "environmentVariables": []}),
    ("a cleared value", {"fieldsToClear": ["spec.image"]}, {k: v for k, v in SPEC.items() if k != "image"}),
    (
        "a cleared value inside",
        {"fieldsToClear": ["spec.compute.cpuCoreRequest"]},
        {**SPEC, "compute": {"gpuDevicesRequest": 1}},
    ),
    ("cleared first, then set", {"fieldsToClear": ["spec"], "spec": {"image": "z"}}, {"image": "z"}),
    ("what is not there is clear", {"fieldsToClear": ["spec.command", "assets.compute"]}, SPEC),
]


@pytest.mark.parametrize("case", PATCHES, ids=lambda case: case[0])
def test_patch(server, case):
    template = made(server, "patched", SPEC)
    path = f"{TRAININGS}/{template['meta']['id']}"
    answer = server.request("PATCH", path, case[1])
    assert answer.status == 200, answer
    assert answer.json["spec"] == case[2] and answer.json["meta"]["name"] == "patched"
    assert server.delete(path).status == 204


BAD_PATCHES = [
    ("the name", {"fieldsToClear": ["meta.name"]}),
    ("an unknown root", {"fieldsToClear": ["image"]}),
    ("nothing", {"fieldsToClear": [""]}),
    ("no list", {"fieldsToClear": "spec.image"}),
    ("an unknown asset", {"assets": {"compute": NOBODY}}),
    ("a bad amount", {"spec": {"compute": {"gpuDevicesRequest": -1}}}),
]


@pytest.mark.parametrize("case", BAD_PATCHES, ids=lambda case: case[0])
def test_patch_refuses(server, case):
    template = made(server, "unpatched", SPEC)
    path = f"{TRAININGS}/{template['meta']['id']}"
    assert server.request("PATCH", path, case[1]).status == 400
    assert server.get(path).json == template
    assert server.delete(path).status == 204


def test_patch_of_assets_and_description(server):
    compute = asset(server, "compute", "patch-assets", {"gpuDevicesRequest": 1})
    template = made(server, "patch-assets", {"image": "x"}, assets={"compute": compute})
    path = f"{TRAININGS}/{template['meta']['id']}"
    assert server.request("PATCH", path, {"meta": {"name": "patch-assets", "description": "d"}}).status == 200
    cleared = server.request("PATCH", path, {"fieldsToClear": ["assets.compute", "meta.description"]}).json
    assert "compute" not in cleared["combinedSpec"] and "description" not in cleared["meta"]
    assert "assets" not in cleared


def test_names_are_taken_once_in_a_scope(server):
    project = server.project_id("team-a")
    ask = {"templateName": "taken", "scopeType": "tenant"}
    assert server.get(f"{TEMPLATES}/name-availability", **ask).status == 204
    made(server, "taken")
    assert server.get(f"{TEMPLATES}/name-availability", **ask).status == 409
    # The contract of creations and changes has no 409.
    again = create(server, "taken")
    assert again.status == 400 and again.json["message"] == "meta.name: taken is taken in this scope"
    assert create(server, "taken", path=WORKSPACES).status == 400  # whatever the type
    made(server, "taken", scope=("project", project))
    ask = {"templateName": "taken", "scopeType": "project", "scopeId": project}
    assert server.get(f"{TEMPLATES}/name-availability", **ask).status == 409
    ask["scopeId"] = server.project_id("team-b")
    assert server.get(f"{TEMPLATES}/name-availability", **ask).status == 204
    ask["scopeId"] = "99999"
    assert server.get(f"{TEMPLATES}/name-availability", **ask).status == 400
    other = made(server, "untaken")
    path = f"{TRAININGS}/{other['meta']['id']}"
    assert server.request("PUT", path, {"meta": {"name": "taken"}}).status == 400
    assert server.request("PATCH", path, {"meta": {"name": "taken"}}).status == 400


def test_scopes(server):
    department, project, other = department_id(server), server.project_id("team-a"), server.project_id("team-b")
    of = {
        "sc-tenant": ("tenant", None),
        "sc-cluster": ("cluster", server.cluster_id()),
        "sc-department": ("department", str(department)),
        "sc-project": ("project", project),
        "sc-other": ("project", other),
    }
    ids = {name: made(server, name, scope=scope)["meta"]["id"] for name, scope in of.items()}
    search = {"search": "sc-", "limit": 100}
    assert names(server.get(TEMPLATES, **search)) == sorted(of)
    _, token = make_caller(server, "ann", ("L1 researcher", "project", project))
    seen = ["sc-cluster", "sc-department", "sc-project", "sc-tenant"]
    assert names(server.request("GET", TRAININGS + "?search=sc-", token=token)) == seen
    for_project = server.get(TEMPLATES, complyToProject=project, complyToWorkloadType="Training", **search)
    assert names(for_project) == seen and for_project.json["entries"][0]["complianceIssues"] == []
    assert server.request("GET", f"{TEMPLATES}/count?search=sc-", token=token).json == {"count": 4}
    for name, id in ids.items():
        expected = 404 if name == "sc-other" else 200
        assert server.request("GET", f"{TEMPLATES}/{id}", token=token).status == expected, name
        expected = {"sc-other": 404, "sc-project": 204}.get(name, 403)
        assert server.request("DELETE", f"{TRAININGS}/{id}", token=token).status == expected, name
    assert create(server, "sc-theirs", token=token, scope=("project", project)).status == 202
    assert create(server, "sc-theirs", token=token, scope=("project", other)).status == 400  # not to be seen
    assert create(server, "sc-theirs", token=token).status == 403
    fields = server.get(TEMPLATES, filterBy=f"departmentId=={department}", search="sc-").json["entries"]
    assert [e["meta"]["departmentId"] for e in fields] == [str(department)]
    assert [e["meta"]["name"] for e in fields] == ["sc-department"]


def test_pages_filters_and_orders(server):
    for i in range(5):
        made(server, f"page-{i}", {"image": "x"} if i % 2 else {}, path=WORKSPACES if i > 2 else TRAININGS)
    first = server.get(TEMPLATES, search="page-", limit=2)
    assert names(first) == ["page-0", "page-1"]
    assert first.json["pagination"] == {"limit": 2, "offset": 0, "nextOffset": 2}
    last = server.get(TEMPLATES, search="page-", limit=2, offset=4)
    assert names(last) == ["page-4"] and last.json["pagination"] == {"limit": 2, "offset": 4}
    assert names(server.get(WORKSPACES, search="page-")) == ["page-3", "page-4"]
    assert names(server.get(TEMPLATES, search="page-", sortBy="name", sortOrder="desc", limit=1)) == ["page-4"]
    assert names(server.get(TEMPLATES, filterBy="runnable==true,name=^page-")) == ["page-1", "page-3"]
    assert names(server.get(TEMPLATES, filterBy="workloadType==Workspace,name=^page-")) == ["page-3", "page-4"]
    assert server.get(f"{TEMPLATES}/count", filterBy="runnable==false,name=^page-").json == {"count": 3}
    for sort in ("runnable", "scopeType", "clusterId", "projectId", "departmentId", "createdAt", "updatedBy"):
        assert len(names(server.get(TEMPLATES, search="page-", sortBy=sort))) == 5
    assert server.get(TEMPLATES, limit=0).status == 400
    assert server.get(TEMPLATES, filterBy="colour==red").status == 400
    assert server.get(TEMPLATES, complyToProject=99999).status == 400


REFUSALS = [
    ("no meta", {"spec": {}}),
    ("no name", {"meta": {"scopeType": "tenant"}}),
    ("an empty name", {"meta": meta("")}),
    ("no scope", {"meta": {"name": "x"}}),
    ("the system's scope", {"meta": meta("x", "system")}),
    ("no id of the scope", {"meta": meta("x", "project")}),
    ("an unknown project", {"meta": meta("x", "project", "99999")}),
    ("a project by name", {"meta": meta("x", "project", "team-a")}),
    ("an unknown environment", {"meta": meta("x"), "assets": {"environment": NOBODY}}),
    ("an environment that is no id", {"meta": meta("x"), "assets": {"environment": "one"}}),
    ("a list of assets", {"meta": meta("x"), "assets": []}),
    ("an unknown data source", {"meta": meta("x"), "assets": {"datasources": [{"id": NOBODY}]}}),
    ("too many data sources", {"meta": meta("x"), "assets": {"datasources": [{"id": NOBODY}] * 65}}),
    ("a long description", {"meta": {**meta("x"), "description": "x" * 251}}),
    ("a specification that is text", {"meta": meta("x"), "spec": "image"}),
    ("a bad amount", {"meta": meta("x"), "spec": {"compute": {"gpuDevicesRequest": 0.5}}}),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case[0])
def test_create_refuses(server, case):
    assert server.post(TRAININGS, case[1]).status == 400


def test_assets_of_a_template(server):
    project = server.project_id("team-a")
    compute = asset(server, "compute", "narrow", {"gpuDevicesRequest": 1}, "project", projectId=project)
    # An asset that holds for less than the template does is no part of it; nor is one of another kind.
    assert create(server, "wide", assets={"compute": compute}).status == 400
    assert create(server, "wide", assets={"environment": compute}).status == 400
    made(server, "narrow", {"image": "x"}, assets={"compute": compute}, scope=("project", project))
    # Nor one that the caller cannot see.
    other = asset(
        server, "compute", "hidden", {"gpuDevicesRequest": 1}, "project", projectId=server.project_id("team-b")
    )
    _, token = make_caller(server, "ben", ("L1 researcher", "project", project))
    answer = create(server, "peek", assets={"compute": other}, scope=("project", project), token=token)
    assert answer.status == 400 and "there is no compute" in answer.json["message"]


def test_a_projects_templates_go_with_it(server):
    body = {"name": "brief", "clusterId": server.cluster_id(), "resources": []}
    project = server.post("/api/v1/org-unit/projects", body).json["id"]
    template = made(server, "brief", scope=("project", project))
    assert server.delete(f"/api/v1/org-unit/projects/{project}").status in (202, 204)
    server.wait_for("its end", lambda: server.get(f"/api/v1/org-unit/projects/{project}").status == 404)
    assert server.get(f"{TEMPLATES}/{template['meta']['id']}").status == 404
