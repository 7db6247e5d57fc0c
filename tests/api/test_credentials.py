"""Credentials: their secrets go in and never come out; what is in use stays."""

import sqlite3
import subprocess

import pytest
from servers import PRORATA
from test_access import make_caller
from test_data_sources import CREDENTIALS, SOURCES, create, made

SECRET = "no-one-sees-this-9d2f"
# kind in the URL, kind of the asset, a specification, and what is shown of it.
KINDS = [
    ("password", "password", {"user": "robot", "password": SECRET}, {"user": "robot"}),
    ("access-key", "accessKey", {"accessKeyId": "AKIA", "secretAccessKey": SECRET}, {"accessKeyId": "AKIA"}),
    (
        "docker-registry",
        "dockerRegistry",
        {"url": "https://r.example", "user": "robot", "password": SECRET},
        {"url": "https://r.example", "user": "robot"},
    ),
    (
        "generic-secret",
        "genericSecret",
        {"keyValuePairs": [{"key": "TOKEN", "value": SECRET}, {"key": "mode", "value": SECRET}]},
        {"keyValuePairs": [{"key": "TOKEN"}, {"key": "mode"}]},
    ),
    ("ngc-api-key", "ngcApiKey", {"ngcApiKey": SECRET}, {}),
    ("ngc-api-key", "ngcApiKey", {"ngc_api_key": SECRET}, {}),
]


@pytest.fixture(scope="module")
def server(module_server):
    module_server.sign_in()
    return module_server


def credential(server, name, kind="password", spec=None, **more):
    return create(server, kind, name, spec or {"user": "robot", "password": SECRET}, path=CREDENTIALS, **more)


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case[0])
def test_life_of_a_credential(server, case):
    path, kind, spec, shown = case
    answer = credential(server, f"life-{path}", path, spec)
    assert answer.status == 202, answer
    assert answer.json["spec"] == shown and answer.json["meta"]["kind"] == kind
    one = f"{CREDENTIALS}/{path}/{answer.json['meta']['id']}"
    told = [answer, server.get(one), server.get(f"{CREDENTIALS}/{path}"), server.get(CREDENTIALS, usageInfo="true")]
    assert all(SECRET.encode() not in a.body for a in told)
    # Another name alone: the rest stays, the secret too.
    kept = server.request("PUT", one, {"meta": {"description": "kept"}})
    assert kept.status == 202 and kept.json["meta"]["name"] == f"life-{path}", kept
    assert kept.json["meta"]["description"] == "kept" and kept.json["spec"] == shown
    renamed = server.request("PUT", one, {"meta": {"name": f"renamed-{path}"}})
    assert renamed.status == 202 and renamed.json["spec"] == shown, renamed
    assert server.request("PUT", one, {"meta": {"name": f"renamed-{path}"}, "spec": {}}).json["spec"] == shown
    # Another secret.
    assert server.request("PUT", one, {"meta": {"name": "x" + path}, "spec": spec}).json["spec"] == shown
    # One of the cluster: then there is none here, and none to keep.
    existing = server.request("PUT", one, {"meta": {"name": path}, "spec": {"existingSecretName": "there"}})
    assert existing.status == 202 and existing.json["spec"] == {"existingSecretName": "there"}
    assert server.request("PUT", one, {"meta": {"name": path}, "spec": {}}).status == 400
    assert server.delete(one).status == 202 and server.get(one).status == 404


REFUSALS = [
    ("password", {"password": "x"}, "spec.user"),
    ("password", {"user": "x"}, "spec.password"),
    ("password", {"user": "x", "password": "y", "existingSecretName": "z"}, "not both"),
    ("password", {"existingSecretName": "Not A Name"}, "existingSecretName"),
    ("access-key", {"accessKeyId": "x"}, "spec.secretAccessKey"),
    ("docker-registry", {"user": "x", "password": "y"}, "spec.url"),
    ("generic-secret", {"keyValuePairs": []}, "spec.keyValuePairs"),
    ("generic-secret", {"keyValuePairs": [{"key": "a", "value": "1"}] * 2}, "duplicate"),
    ("generic-secret", {"keyValuePairs": [{"key": "a"}]}, "value"),
    ("generic-secret", {"keyValuePairs": [{"key": f"k{i}", "value": "x" * 200} for i in range(200)]}, "at most 16384"),
    ("ngc-api-key", {}, "spec.ngcApiKey"),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: f"{case[0]} {case[2]}")
def test_create_refuses(server, case):
    answer = credential(server, "refused", case[0], case[1])
    assert answer.status == 400 and case[2] in answer.json["message"], answer


def test_what_is_in_use_stays(server):
    answer = credential(server, "used")
    one, id = f"{CREDENTIALS}/password/{answer.json['meta']['id']}", answer.json["meta"]["id"]
    git = {"repository": "https://git.example/x.git", "path": "/d", "credentialId": id}
    source = made(server, "git", "uses", git)
    refused = server.delete(one)
    assert refused.status == 412 and "in use by 1 asset" in refused.json["message"], refused
    used = server.get(one, usageInfo="true").json["usedBy"]["assets"]
    assert used == {"environments": [], "datasources": [{"id": source, "name": "uses", "kind": "git"}]}
    variable = {"name": "TOKEN", "credential": {"assetId": id, "key": "password"}}
    environment = server.post(
        "/api/v1/asset/environment",
        {"meta": {"name": "uses", "scope": "tenant"}, "spec": {"image": "x", "environmentVariables": [variable]}},
    ).json["meta"]["id"]
    assert "in use by 2 assets" in server.delete(one).json["message"]
    # What is made from them names the secret that stands for the credential.
    template = server.post(
        "/api/v1/workload-templates/trainings",
        {
            "meta": {"name": "uses", "scopeType": "tenant"},
            "assets": {"environment": environment, "datasources": [{"id": source}]},
        },
    ).json
    path = f"/api/v1/workload-templates/trainings/{template['meta']['id']}"
    for name in (id, "there"):
        spec = server.get(path).json["combinedSpec"]
        assert spec["storage"]["git"][0]["passwordSecret"] == name
        assert spec["environmentVariables"] == [{"name": "TOKEN", "secret": {"name": name, "key": "password"}}]
        changed = server.request("PUT", one, {"meta": {"name": "used"}, "spec": {"existingSecretName": "there"}})
        assert changed.status == 202
    assert server.delete(f"{SOURCES}/git/{source}").status == 202
    assert server.delete(f"/api/v1/asset/environment/{environment}").status == 202
    assert server.delete(one).status == 202


def test_rights(server):
    project, other = server.project_id("team-a"), server.project_id("team-b")
    _, researcher = make_caller(server, "rob", ("L1 researcher", "project", project))
    _, viewer = make_caller(server, "val", ("Viewer", "project", project))
    hidden = credential(server, "hidden", scope="project", projectId=other).json["meta"]["id"]
    assert credential(server, "mine", scope="project", projectId=project, token=researcher).status == 202
    assert credential(server, "mine2", scope="project", projectId=project, token=viewer).status == 403
    assert credential(server, "mine3", token=researcher).status == 403
    for method in ("GET", "DELETE"):
        path = f"{CREDENTIALS}/password/{hidden}"
        assert server.request(method, path, token=researcher).status == 404


def test_a_secret_is_in_no_file_and_in_no_record(make_server):
    server = make_server("--quick-start")
    server.sign_in()
    spec = {"keyValuePairs": [{"key": "plain", "value": SECRET}]}
    made_one = [
        credential(server, "one"),
        credential(server, "two", "generic-secret", spec),
    ]
    assert all(a.status == 202 for a in made_one)
    path = f"{CREDENTIALS}/password/{made_one[0].json['meta']['id']}"
    assert server.request("PUT", path, {"meta": {"name": "one"}, "spec": {"password": SECRET + "2"}}).status == 202
    records = server.get("/api/v1/audit/log", start="2020-01-01T00:00:00Z", end="2100-01-01T00:00:00Z")
    assert records.status == 200 and SECRET.encode() not in records.body
    assert b'"credential"' in records.body
    server.stop()
    for file in server.data.rglob("*"):
        if file.is_file():
            assert SECRET.encode() not in file.read_bytes(), file

    def sealed():
        with sqlite3.connect(server.data / "prorata.db") as db:
            return dict(db.execute("SELECT asset_uuid, secret_sealed FROM credential_secrets"))

    before = sealed()
    done = subprocess.run([PRORATA, "keys", "rotate", "--data", server.data], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    after = sealed()
    assert before.keys() == after.keys() and len(before) == 2
    assert not set(before.values()) & set(after.values()), "each is sealed again"
