"""Compute resources and environments: scopes, rights, bad input."""

import pytest
from test_access import department_id, make_caller

COMPUTE = "/api/v1/asset/compute"
ENVIRONMENT = "/api/v1/asset/environment"


def names(answer):
    assert answer.status == 200, answer
    return sorted(entry["meta"]["name"] for entry in answer.json["entries"])


def create(server, name, scope="tenant", token="admin", path=COMPUTE, spec=None, **meta):
    return server.request(
        "POST",
        path,
        {"meta": {"name": name, "scope": scope, **meta}, "spec": spec or {"gpuDevicesRequest": 1}},
        token=token,
    )


def test_predefined_assets(server):
    answer = server.get(COMPUTE)
    assert set(names(answer)) >= {"one-gpu", "two-gpus", "half-gpu", "small-fraction", "cpu-only"}
    one = next(e for e in answer.json["entries"] if e["meta"]["name"] == "one-gpu")
    assert one["meta"]["scope"] == "system" and one["meta"]["kind"] == "compute"
    assert one["spec"] == {"gpuDevicesRequest": 1, "cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"}
    assert names(server.get(COMPUTE, name="two-gpus")) == ["two-gpus"]
    environments = server.get(ENVIRONMENT)
    assert len(environments.json["entries"]) == 1 and environments.json["entries"][0]["spec"]["image"]
    # They stay as they are.
    path = f"{COMPUTE}/{one['meta']['id']}"
    assert server.delete(path).status == 403
    assert server.request("PUT", path, {"meta": {"name": "x"}, "spec": {}}).status == 403
    assert create(server, "x", "system").status == 400
    # An id of one kind is none of the other.
    assert server.get(f"{ENVIRONMENT}/{one['meta']['id']}").status == 404


def test_life_of_an_asset(server):
    spec = {"gpuDevicesRequest": 2, "cpuCoreRequest": 0.5, "cpuMemoryRequest": "2G"}
    made = create(server, "mine", spec=spec, description="for tests")
    assert made.status == 202, made
    meta = made.json["meta"]
    assert (
        made.json["spec"] == spec and meta["createdBy"] == "admin@prorata.local" and meta["description"] == "for tests"
    )
    path = f"{COMPUTE}/{meta['id']}"
    assert server.get(path).json["meta"] == meta
    changed = server.request("PUT", path, {"meta": {"name": "ours"}, "spec": {"gpuDevicesRequest": 1}})
    assert (
        changed.status == 202
        and changed.json["meta"]["name"] == "ours"
        and changed.json["spec"] == {"gpuDevicesRequest": 1}
    )
    assert "description" not in changed.json["meta"]
    assert create(server, "ours").status == 409
    assert create(server, "other").status == 202
    assert server.request("PUT", path, {"meta": {"name": "other"}, "spec": {}}).status == 409
    assert server.delete(path).status == 202
    assert server.get(path).status == 404 and server.delete(path).status == 404


def test_scopes(server):
    department, project, other = department_id(server), server.project_id("team-a"), server.project_id("team-b")
    cluster = server.cluster_id()
    before = names(server.get(COMPUTE))
    assert create(server, "of-tenant").status == 202
    assert create(server, "of-cluster", "cluster", clusterId=cluster).status == 202
    assert create(server, "of-department", "department", departmentId=str(department)).status == 202
    made = create(server, "of-project", "project", projectId=project)
    assert made.json["meta"]["projectId"] == int(project) and made.json["meta"]["projectName"] == "team-a"
    assert create(server, "of-other", "project", projectId=int(other)).status == 202
    above = ["of-cluster", "of-department", "of-tenant"]
    assert names(server.get(COMPUTE)) == sorted(before + above + ["of-other", "of-project"])
    assert names(server.get(COMPUTE, projectId=project)) == sorted(before + above + ["of-project"])
    assert names(server.get(COMPUTE, projectId=project, scope="project")) == ["of-project"]
    assert names(server.get(COMPUTE, departmentId=department)) == sorted(before + above)
    assert names(server.get(COMPUTE, departmentId=department, includeDescendants="true")) == sorted(
        before + above + ["of-other", "of-project"]
    )
    assert names(server.get(COMPUTE, clusterId=cluster)) == sorted(before + ["of-cluster", "of-tenant"])
    assert (
        create(server, "of-project", "project", projectId=int(other)).status == 202
    )  # a name is taken in its scope alone

    _, token = make_caller(server, "ann", ("L1 researcher", "project", project))
    # What holds for the project comes from the scopes above, and is read there; it isn't the caller's to change.
    assert names(server.request("GET", COMPUTE, token=token)) == sorted(before + above + ["of-project"])
    for entry in server.get(COMPUTE).json["entries"]:
        if entry["meta"]["name"] in above:
            path = f"{COMPUTE}/{entry['meta']['id']}"
            assert server.request("GET", path, token=token).status == 200
            assert server.request("DELETE", path, token=token).status == 403
    theirs = next(e for e in server.get(COMPUTE).json["entries"] if e["meta"]["name"] == "of-other")["meta"]["id"]
    for method in ("GET", "DELETE"):
        assert server.request(method, f"{COMPUTE}/{theirs}", token=token).status == 404
    assert create(server, "mine", "project", token, projectId=int(project)).status == 202
    assert create(server, "mine", "project", token, projectId=int(other)).status == 400  # not to be seen
    assert create(server, "mine", "tenant", token).status == 403


def test_a_viewer_of_assets_does_not_write(server):
    _, token = make_caller(server, "eve", ("Viewer", "tenant", "1"))
    assert create(server, "x", token=token).status == 403
    made = create(server, "x").json["meta"]["id"]
    assert server.request("DELETE", f"{COMPUTE}/{made}", token=token).status == 403
    assert server.request("GET", f"{COMPUTE}/{made}", token=token).status == 200


def test_further_parts_on_request(server):
    entry = server.get(COMPUTE, name="one-gpu").json["entries"][0]
    assert "usedBy" not in entry and "compliance" not in entry
    project = server.project_id("team-a")
    entry = server.get(
        COMPUTE, name="one-gpu", usageInfo="true", complyToProject=project, complyToWorkloadType="Training"
    ).json["entries"][0]
    assert entry["usedBy"]["trainings"] == [] and entry["compliance"]["compliance"] is True
    assert server.get(f"{COMPUTE}/{entry['meta']['id']}", complyToProject=99999).status == 400
    environment = server.get(ENVIRONMENT, statusInfo="true").json["entries"][0]
    assert environment["status"]["status"] == "No issues found"


def test_environments_by_kind(server):
    types = {"workspace": True, "training": False}
    made = create(server, "notebook", path=ENVIRONMENT, spec={"image": "jupyter/base"}, workloadSupportedTypes=types)
    assert made.status == 202 and made.json["meta"]["workloadSupportedTypes"] == types
    assert "notebook" in names(server.get(ENVIRONMENT, isWorkspace="true"))
    assert "notebook" not in names(server.get(ENVIRONMENT, isTraining="true"))
    assert "quickstart" in names(server.get(ENVIRONMENT, isTraining="true"))


REFUSALS = [
    ("no meta", {"spec": {}}),
    ("no spec", {"meta": {"name": "x", "scope": "tenant"}}),
    ("no name", {"meta": {"scope": "tenant"}, "spec": {}}),
    ("empty name", {"meta": {"name": "", "scope": "tenant"}, "spec": {}}),
    ("no scope", {"meta": {"name": "x"}, "spec": {}}),
    ("unknown scope", {"meta": {"name": "x", "scope": "galaxy"}, "spec": {}}),
    ("project without an id", {"meta": {"name": "x", "scope": "project"}, "spec": {}}),
    ("unknown project", {"meta": {"name": "x", "scope": "project", "projectId": 99999}, "spec": {}}),
    ("project id as words", {"meta": {"name": "x", "scope": "project", "projectId": "team-a"}, "spec": {}}),
    ("project id of another type", {"meta": {"name": "x", "scope": "project", "projectId": ["3"]}, "spec": {}}),
    ("project id with a fraction", {"meta": {"name": "x", "scope": "project", "projectId": 3.5}, "spec": {}}),
    ("no project id", {"meta": {"name": "x", "scope": "project", "projectId": None}, "spec": {}}),
    ("unknown department", {"meta": {"name": "x", "scope": "department", "departmentId": "99999"}, "spec": {}}),
    ("cluster no uuid", {"meta": {"name": "x", "scope": "cluster", "clusterId": "1"}, "spec": {}}),
    (
        "unknown cluster",
        {"meta": {"name": "x", "scope": "cluster", "clusterId": "9f0e6c1e-8a53-4a55-9d6c-2f0f6f1d9a10"}, "spec": {}},
    ),
    ("long description", {"meta": {"name": "x", "scope": "tenant", "description": "x" * 251}, "spec": {}}),
    ("negative devices", {"meta": {"name": "x", "scope": "tenant"}, "spec": {"gpuDevicesRequest": -1}}),
    ("half a device", {"meta": {"name": "x", "scope": "tenant"}, "spec": {"gpuDevicesRequest": 0.5}}),
    ("memory without a number", {"meta": {"name": "x", "scope": "tenant"}, "spec": {"cpuMemoryRequest": "lots"}}),
    ("unknown way to share", {"meta": {"name": "x", "scope": "tenant"}, "spec": {"gpuRequestType": "magic"}}),
    ("a portion without its size", {"meta": {"name": "x", "scope": "tenant"}, "spec": {"gpuRequestType": "portion"}}),
    (
        "a portion of two devices",
        {
            "meta": {"name": "x", "scope": "tenant"},
            "spec": {"gpuRequestType": "portion", "gpuPortionRequest": 0.5, "gpuDevicesRequest": 2},
        },
    ),
    (
        "more than a device",
        {"meta": {"name": "x", "scope": "tenant"}, "spec": {"gpuRequestType": "portion", "gpuPortionRequest": 1.5}},
    ),
]


def test_refusals(server):
    before = names(server.get(COMPUTE))
    for name, body in REFUSALS:
        answer = server.post(COMPUTE, body)
        assert answer.status == 400, (name, answer)
        assert answer.json["message"], name
    assert names(server.get(COMPUTE)) == before


@pytest.mark.parametrize("asset_id", ["x", "9f0e6c1e-8a53-4a55-9d6c-2f0f6f1d9a10"])
def test_unknown_assets(server, asset_id):
    assert server.get(f"{COMPUTE}/{asset_id}").status in (400, 404)
    assert server.delete(f"{COMPUTE}/{asset_id}").status in (400, 404)
