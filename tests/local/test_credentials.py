"""Credentials that the server keeps reach pods of this machine: as variables, as files, and for git."""

import pytest
from pods import give, run

KINDS = {
    "password": (
        {"user": "robot", "password": "open sesame"},
        {"username": "robot", "password": "open sesame"},
    ),
    "access-key": (
        {"accessKeyId": "AKIA1", "secretAccessKey": "s3/secret"},
        {"AccessKeyId": "AKIA1", "SecretKey": "s3/secret"},
    ),
    "generic-secret": (
        {"keyValuePairs": [{"key": "a", "value": "1"}, {"key": "b.c", "value": "two\nlines"}]},
        {"a": "1", "b.c": "two\nlines"},
    ),
    "ngc-api-key": ({"ngcApiKey": "nvapi-1"}, {"NGC_API_KEY": "nvapi-1"}),
    "docker-registry": (
        {"url": "https://r.example", "user": "robot", "password": 'a"b'},
        {
            ".dockerconfigjson": '{"auths":{"https://r.example":{"username":"robot","password":"a\\"b",'
            '"auth":"cm9ib3Q6YSJi"}}}'
        },
    ),
}


def credential(server, name, spec, kind="password", **scope):
    meta = {"name": name, **(scope or {"scope": "project", "projectId": int(server.project_id("team-a"))})}
    answer = server.post(f"/api/v1/asset/credentials/{kind}", {"meta": meta, "spec": spec})
    assert answer.status == 202, answer.body
    return answer.json["meta"]["id"]


def variable(secret, key):
    return {"environmentVariables": [{"name": "A", "secret": {"name": secret, "key": key}}]}


def test_every_kind_has_its_keys_as_variables_and_as_files(machine):
    for kind, (spec, keys) in KINDS.items():
        id = credential(machine, kind, spec, kind)
        variables = [{"name": f"V{i}", "secret": {"name": id, "key": key}} for i, key in enumerate(keys)]
        script = 'i=0; for f in $(ls -A); do printf "%s=[" "$f"; cat "$f"; echo "]"; done; '
        script += " ".join(f'printf "%s\\n" "<$V{i}>";' for i in range(len(keys)))
        log, _ = run(
            machine,
            f"cd $PRORATA_PATH_KEYS && {script}",
            spec={
                "environmentVariables": variables,
                "storage": {"secretVolume": [{"secret": id, "mountPath": "/keys"}]},
            },
        )
        for key, value in keys.items():
            assert f"{key}=[{value}]\n" in log, (kind, log)
            assert f"<{value}>\n" in log, (kind, log)


def test_a_credential_is_found_by_its_name_too_the_nearest_scope_first(machine):
    for value, scope in (("tenant", {"scope": "tenant"}), ("project", {})):
        credential(machine, "login", {"user": "x", "password": value}, **scope)
        log, _ = run(machine, "echo $A", spec=variable("login", "password"))
        assert log == f"{value}\n"


def test_the_machines_own_secret_comes_before_a_credential_of_that_name(machine):
    give(machine, "secrets", "login", word="of the machine")
    credential(machine, "login", {"keyValuePairs": [{"key": "word", "value": "kept"}]}, "generic-secret")
    log, _ = run(machine, "echo $A", spec=variable("login", "word"))
    assert log == "of the machine\n"


@pytest.mark.parametrize("by", ["id", "name"])
def test_a_credential_of_another_project_is_not_there(machine, by):
    other = int(machine.project_id("team-b"))
    id = credential(machine, "login", {"user": "x", "password": "y"}, scope="project", projectId=other)
    name = id if by == "id" else "login"
    _, events = run(machine, "true", phase="Failed", spec=variable(name, "password"))
    assert any(f"no secret {name} for project team-a" in event for event in events), events


def test_a_key_that_a_credential_lacks_is_named(machine):
    credential(machine, "login", {"user": "x", "password": "y"})
    _, events = run(machine, "true", phase="Failed", spec=variable("login", "token"))
    message = "environmentVariables: A: secret login: key token: has password, username"
    assert any(message in event for event in events), events


def test_a_changed_secret_reaches_the_next_pod_and_a_deleted_one_does_not(machine):
    id = credential(machine, "login", {"user": "x", "password": "old"})
    path = f"/api/v1/asset/credentials/password/{id}"
    changed = {"meta": {"name": "login"}, "spec": {"user": "x", "password": "new"}}
    assert machine.request("PUT", path, changed).status == 202
    assert run(machine, "echo $A", spec=variable(id, "password"))[0] == "new\n"
    assert machine.delete(path).status in (202, 204)
    _, events = run(machine, "true", phase="Failed", spec=variable(id, "password"))
    assert any(f"no secret {id}" in event for event in events), events


def test_a_secret_is_in_no_log_and_in_no_answer(machine):
    id = credential(machine, "login", {"user": "x", "password": "hush-hush-7"})
    run(machine, "true", spec=variable(id, "password"))
    assert "hush-hush-7" not in machine.get("/api/v1/workloads").body.decode()
    for file in machine.data.rglob("*"):
        if file.is_file():
            assert b"hush-hush-7" not in file.read_bytes(), file
