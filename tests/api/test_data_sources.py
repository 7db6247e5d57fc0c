"""Data sources: kinds, rights, what a template and a submission get of them."""

import pytest
from test_access import make_caller

SOURCES = "/api/v1/asset/datasource"
CREDENTIALS = "/api/v1/asset/credentials"
NOBODY = "9f0e6c1e-8a53-4a55-9d6c-2f0f6f1d9a10"


@pytest.fixture(scope="module")
def server(module_server):
    module_server.sign_in()
    return module_server


def create(server, kind, name, spec, scope="tenant", token="admin", path=SOURCES, **more):
    body = {"meta": {"name": name, "scope": scope, **more}, "spec": spec}
    return server.request("POST", f"{path}/{kind}", body, token=token)


def made(server, kind, name, spec, **more):
    answer = create(server, kind, name, spec, **more)
    assert answer.status == 202, answer
    return answer.json["meta"]["id"]


def password(server, name, **more):
    return made(server, "password", name, {"user": "robot", "password": "hidden"}, path=CREDENTIALS, **more)


# kind in the URL, kind of the asset, its member in the list of all, a specification, and where a submission has it.
KINDS = [
    ("pvc", "pvc", "pvc", {"path": "/d", "existingPvc": True, "claimName": "c"}, "pvc"),
    ("pvc", "pvc", "pvc", {"path": "/d", "claimInfo": {"size": "1Gi"}}, "pvc"),
    ("nfs", "nfs", "nfs", {"server": "nas", "path": "/exports", "mountPath": "/d", "readOnly": True}, "nfs"),
    ("host-path", "hostPath", "hostPath", {"path": "/srv", "mountPath": "/d"}, "hostPath"),
    ("git", "git", "git", {"repository": "https://git.example/x.git", "path": "/d", "branch": "main"}, "git"),
    ("s3", "s3", "s3", {"bucket": "b", "path": "/d", "url": "https://s3.example"}, "s3"),
    ("config-map", "config-map", "configMap", {"configMap": "m", "mountPath": "/d"}, "configMapVolume"),
]


@pytest.mark.parametrize("case", enumerate(KINDS), ids=lambda case: f"{case[0]}-{case[1][0]}")
def test_life_of_a_data_source(server, case):
    number, (path, kind, within, spec, storage) = case
    name = f"life-{number}"
    answer = create(server, path, name, {**spec, "colour": "red"})
    assert answer.status == 202, answer
    meta = answer.json["meta"]
    assert meta["kind"] == kind and answer.json["spec"] == spec  # what the kind lacks is left out
    one = f"{SOURCES}/{path}/{meta['id']}"
    assert server.get(one).json["spec"] == spec
    other = "nfs" if path != "nfs" else "git"
    assert server.get(f"{SOURCES}/{other}/{meta['id']}").status == 404
    assert name in [e["meta"]["name"] for e in server.get(f"{SOURCES}/{path}").json["entries"]]
    assert server.get(SOURCES, name=name).json["entries"][0]["spec"] == {within: spec}
    assert create(server, path, name, spec).status == 409
    template = server.post(
        "/api/v1/workload-templates/trainings",
        {
            "meta": {"name": name, "scopeType": "tenant"},
            "spec": {"image": "x"},
            "assets": {"datasources": [{"id": meta["id"], "kind": kind}]},
        },
    ).json
    assert template["combinedSpec"]["storage"] == {storage: [spec]}
    (source,) = [v for k, v in template["combinedSources"]["spec"].items() if k.startswith("storage.")]
    assert source == {"from": "datasource", "id": meta["id"], "name": name}
    used = server.get(one, usageInfo="true").json["usedBy"]["templates"]
    assert used == [{"id": template["meta"]["id"], "name": name}]
    renamed = server.request("PUT", one, {"meta": {"name": f"renamed-{number}"}})
    assert renamed.status == 202 and renamed.json["spec"] == spec, renamed
    assert renamed.json["meta"]["name"] == f"renamed-{number}"
    changed = server.request("PUT", one, {"meta": {"name": name}, "spec": {**spec, "readOnly": True}})
    assert changed.status == 202, changed
    assert server.delete(one).status == 202 and server.get(one).status == 404
    after = server.get(f"/api/v1/workload-templates/trainings/{template['meta']['id']}").json
    assert "data source" in after["runnable"]["issue"]


def test_a_volume_keeps_the_claim_that_a_change_does_not_name(server):
    claims = {"there": {"existingPvc": True, "claimName": "c"}, "made": {"claimInfo": {"size": "1Gi"}}}
    for name, claim in claims.items():
        one = f"{SOURCES}/pvc/{made(server, 'pvc', f'claim-{name}', {'path': '/d', **claim})}"
        moved = server.request("PUT", one, {"meta": {"name": f"claim-{name}"}, "spec": {"path": "/p"}})
        assert moved.status == 202 and moved.json["spec"] == {"path": "/p", **claim}, moved
        assert server.get(one).json["spec"] == {"path": "/p", **claim}


def test_a_template_mounts_a_data_source_elsewhere(server):
    nfs = {"server": "nas", "path": "/exports", "mountPath": "/d"}
    source = made(server, "nfs", "elsewhere", nfs)
    assets = {"datasources": [{"id": source, "overrides": {"containerPath": "/there"}}]}
    body = {"meta": {"name": "elsewhere", "scopeType": "tenant"}, "spec": {"image": "x"}, "assets": assets}
    template = server.post("/api/v1/workload-templates/workspaces", body).json
    assert template["combinedSpec"]["storage"]["nfs"] == [{**nfs, "mountPath": "/there"}]


REFUSALS = [
    ("nfs", {"path": "/x", "mountPath": "/d"}, "spec.server"),
    ("nfs", {"server": "nas", "path": "exports", "mountPath": "/d"}, "path"),
    ("pvc", {"path": "/d"}, "spec.claimInfo.size"),
    ("pvc", {"path": "/d", "existingPvc": True}, "spec.claimName"),
    ("host-path", {"path": "/srv"}, "spec.mountPath"),
    ("git", {"path": "/d"}, "spec.repository"),
    ("git", {"repository": "r", "path": "/d", "credentialId": NOBODY}, "there is no credential"),
    ("s3", {"path": "/d"}, "spec.bucket"),
    ("config-map", {"mountPath": "/d"}, "spec.configMap"),
    ("secrets", {"mountPath": "/d"}, "spec.credentialAssetId"),
    ("secrets", {"mountPath": "/d", "credentialAssetId": NOBODY}, "there is no credential"),
    ("nfs", None, "spec"),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case[0]} {case[2]}")
def test_create_refuses(server, case):
    answer = create(server, case[0], "refused", case[1])
    assert answer.status == 400 and case[2] in answer.json["message"], answer


def test_unknown_kinds(server):
    assert server.get(f"{SOURCES}/floppy").status in (400, 404)
    assert create(server, "floppy", "x", {}).status in (400, 404)


def test_scopes_and_rights(server):
    project, other = server.project_id("team-a"), server.project_id("team-b")
    nfs = {"server": "nas", "path": "/exports", "mountPath": "/d"}
    _, researcher = make_caller(server, "dan", ("L1 researcher", "project", project))
    _, viewer = make_caller(server, "vic", ("Viewer", "project", project))
    _, storage = make_caller(server, "sam", ("Data source administrator", "project", project))
    hidden = made(server, "nfs", "sr-hidden", nfs, scope="project", projectId=other)
    shared = made(server, "nfs", "sr-shared", nfs)
    for token, status in ((researcher, 202), (viewer, 403), (storage, 202)):
        answer = create(server, "nfs", f"sr-{status}-{token[-6:]}", nfs, "project", token, projectId=project)
        assert answer.status == status, answer
        assert create(server, "nfs", "sr-x", nfs, "project", token, projectId=other).status in (400, 403)
        assert server.request("GET", f"{SOURCES}/nfs/{hidden}", token=token).status == 404
        assert server.request("GET", f"{SOURCES}/nfs/{shared}", token=token).status == 200
        assert server.request("DELETE", f"{SOURCES}/nfs/{shared}", token=token).status == 403
        names = [e["meta"]["name"] for e in server.request("GET", SOURCES, token=token).json["entries"]]
        assert "sr-shared" in names and "sr-hidden" not in names
    # A credential holds wherever the data source does.
    narrow = password(server, "sr-narrow", scope="project", projectId=project)
    git = {"repository": "https://git.example/x.git", "path": "/d", "credentialId": narrow}
    assert create(server, "git", "sr-wide", git).status == 400
    assert create(server, "git", "sr-narrow", git, "project", projectId=project).status == 202


def test_a_submission_mounts_data_sources(server):
    source = made(server, "nfs", "mounted", {"server": "nas", "path": "/exports", "mountPath": "/d"})
    body = {
        "name": "mounts",
        "projectId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
        "assets": {"datasources": [{"id": source}]},
        "spec": {"image": "x", "storage": {"nfs": [{"server": "own", "path": "/own", "mountPath": "/d"}]}},
    }
    answer = server.post("/api/v1/workloads/trainings", body)
    assert answer.status == 202, answer
    assert answer.json["spec"]["storage"]["nfs"] == [{"server": "own", "path": "/own", "mountPath": "/d"}]
