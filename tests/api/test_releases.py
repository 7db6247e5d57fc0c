"""Paths that other releases of Run:ai have: the same operations by their other names, and what came later."""

import base64
import json

import pytest

KEYS = "/api/v1/access-keys"
APPS = "/api/v1/user-applications"
QUOTAS = "/api/v1/org-unit/{}/node-pool-resources"


def patch(server, path, body):
    return server.request("PATCH", path, body)


def project_of(server, name):
    (project,) = server.get("/api/v1/org-unit/projects", filterBy=f"name=={name}").json["projects"]
    return project


def claims(token):
    return json.loads(base64.b64decode(token.split(".")[1] + "=="))


def test_a_user_application_is_an_access_key(server):
    made = server.post(APPS, {"name": "old-script"})
    assert made.status == 201 and made.json["secret"] == made.json["clientSecret"], made
    one = f"{APPS}/{made.json['id']}"
    assert server.get(one).json == server.get(f"{KEYS}/{made.json['id']}").json
    assert [key["name"] for key in server.get(APPS).json["accessKeys"]] == ["old-script"]
    everybody = "/api/v1/administration/user-applications"
    assert [key["clientId"] for key in server.get(everybody).json["accessKeys"]] == [made.json["clientId"]]
    renewed = server.post(f"{one}/secret").json
    assert renewed["clientSecret"] not in ("", made.json["secret"])
    assert server.delete(f"{everybody}/{made.json['id']}").status == 204 and server.get(one).status == 404


def test_an_access_rule_by_its_older_path(server):
    rule = {"subjectId": "gpu-users", "subjectType": "group", "roleId": 8, "scopeType": "tenant", "scopeId": "1"}
    made = server.post("/api/v1/access-rules", rule)
    assert made.status == 201 and made.json["roleName"] == "L2 researcher", made
    assert server.get(f"/api/v1/authorization/access-rules/{made.json['id']}").json["id"] == made.json["id"]


def test_a_rule_may_name_a_person_by_id(server):
    person = server.post("/api/v1/users", {"email": "ann@example.org"}).json
    rule = {"subjectId": person["id"], "subjectType": "user", "roleId": 5, "scopeType": "tenant", "scopeId": "1"}
    made = server.post("/api/v1/access-rules", rule)
    assert made.status == 201 and made.json["subjectId"] == "ann@example.org", made


def test_an_alias_needs_the_rights_of_its_operation(server):
    assert server.request("GET", APPS, token=None).status == 401
    assert server.request("PUT", APPS, {}).status == 405


def test_aliases_count_as_their_operations(server):
    def count():
        line = 'prorata_http_requests_total{operation="get_access_keys",status="200"}'
        found = [row for row in server.request("GET", "/metrics").body.decode().splitlines() if row.startswith(line)]
        return float(found[0].split()[-1]) if found else 0

    assert server.get(APPS).status == 200
    server.wait_for("the answer to be counted", lambda: count() == 1)


def test_the_tenant(server):
    (tenant,) = server.get("/api/v1/tenants").json
    assert (tenant["id"], tenant["name"], tenant["status"]) == (1, "prorata", "Ready")
    assert server.get("/api/v1/tenants", name="prorata").json == [tenant]
    assert server.get("/api/v1/tenants", name="other").json == server.get("/api/v1/tenants", alias="x").json == []
    assert server.get("/api/v1/tenants/1").json == tenant and server.get("/api/v1/tenants/2").status == 404
    assert claims(server.sign_in())["tenant_id"] == "1"


@pytest.mark.parametrize("kind", ["email", "slack"])
def test_the_state_of_a_kind_of_channel(server, kind):
    state = f"/api/v1/{kind}/state"
    assert server.get(state).json == {"enabled": False}
    refused = patch(server, state, {"enabled": True})
    assert refused.status == 501 and "is set up" in refused.json["message"], refused
    assert patch(server, state, {}).json == patch(server, state, {"enabled": None}).json == {"enabled": False}


def test_switching_one_kind_leaves_the_other(server):
    channels = "/api/v1/notification-channels"
    email = {"smtpHost": "127.0.0.1", "from": "a@example.com", "recipients": ["b@example.com"]}
    assert server.post(channels, {"type": "email", "config": email}).status == 200
    hook = {"webhookUrl": "http://127.0.0.1:1/hook"}
    assert server.post(channels, {"type": "slack", "config": hook}).status == 200
    assert patch(server, "/api/v1/email/state", {"enabled": False}).json == {"enabled": False}
    assert server.get("/api/v1/slack/state").json == {"enabled": True}
    assert server.get("/api/v1/slack/state/detailed").json == {"enabled": True, "workspaceName": None}
    state = server.get("/api/v1/notification-state").json
    assert not state["email"]["enabled"] and state["slack"]["enabled"]


def test_validating_says_why_a_channel_does_not_work(server):
    email = {"smtpHost": "127.0.0.1", "smtpPort": 1, "from": "a@example.com", "recipients": ["b@example.com"]}
    answer = server.post("/api/v1/email/validate", email)
    assert answer.status == 200 and answer.json["status"] is False and "127.0.0.1" in answer.json["message"], answer
    assert server.post("/api/v1/email/validate", {"smtpHost": 5}).status == 400


def rows(server, units, **query):
    answer = server.get(QUOTAS.format(units), **query)
    assert answer.status == 200, answer
    return answer.json["resources" if units == "projects" else "nodePoolResources"]


def test_quotas_by_node_pool(server):
    project = project_of(server, "team-a")
    (row,) = rows(server, "projects", filterBy="orgUnitName==team-a")
    assert row["orgUnitId"] == project["id"] and row["parentId"] == project["parentId"]
    assert row["clusterId"] == project["clusterId"] and row["rank"] == "MediumLow"
    expected = project["resources"][0]
    assert row["nodePoolId"] == expected["nodePool"]["id"] and row["nodePoolName"] == "default"
    assert row["resources"] == {kind: expected[kind] for kind in ("gpu", "cpu", "memory")}
    assert row["quotaStatus"]["allocated"]["gpu"] == 0
    every = rows(server, "projects")
    assert len(every) == server.get(QUOTAS.format("projects") + "/count").json["count"]
    assert rows(server, "projects", sortBy="gpuDeserved", sortOrder="desc", limit=1)[0]["resources"]["gpu"][
        "deserved"
    ] == max(one["resources"]["gpu"]["deserved"] for one in every)
    (department,) = [row for row in rows(server, "departments") if row["orgUnitId"] == project["parentId"]]
    assert "parentId" not in department and department["nodePoolName"] == "default"
    assert server.get(QUOTAS.format("projects"), filterBy="name==x").status == 400


def test_many_quotas_are_changed_each_by_itself(server):
    batch = QUOTAS.format("projects") + "/batch"
    a, b = (rows(server, "projects", filterBy=f"orgUnitName=={name}")[0] for name in ("team-a", "team-b"))
    changes = [
        {"orgUnitId": a["orgUnitId"], "nodePoolId": a["nodePoolId"], "resources": {"gpu": {"deserved": 1}}},
        {"orgUnitId": "999", "nodePoolId": a["nodePoolId"], "rank": "High"},
        {"orgUnitId": b["orgUnitId"], "nodePoolId": "999", "rank": "High"},
        {"orgUnitId": b["orgUnitId"], "nodePoolId": b["nodePoolId"], "rank": "High"},
    ]
    answer = patch(server, batch, {"patchRequests": changes})
    assert answer.status == 200, answer
    done = answer.json
    assert (done["totalRequested"], done["totalSuccessful"], done["totalFailed"]) == (4, 2, 2)
    assert [one["orgUnitName"] for one in done["succeeded"]] == ["team-a", "team-b"]
    assert done["succeeded"][0]["resources"]["gpu"]["deserved"] == 1 and done["succeeded"][1]["rank"] == "High"
    assert [one["request"] for one in done["failed"]] == changes[1:3]
    assert [one["error"]["code"] for one in done["failed"]] == [404, 400]
    assert project_of(server, "team-a")["resources"][0]["gpu"] == {**a["resources"]["gpu"], "deserved": 1}
    assert patch(server, batch, {"patchRequests": []}).status == 400
    assert patch(server, batch, {"patchRequests": changes * 26}).status == 400


def test_storage_classes_without_kubernetes(server):
    cluster = server.cluster_id()
    assert server.get("/api/v1/storage-classes", clusterId=cluster).json == {"items": []}
    assert server.get("/api/v2/storage-classes").json == {"items": []}
    assert server.get(f"/v1/k8s/clusters/{cluster}/storage-classes").json == {"storageClasses": []}
    (none,) = server.get("/api/v2/storage-classes", includeNone="True").json["items"]
    assert none["storageClassName"] == "runai-none" and none["clusterId"] == cluster
    assert none["spec"] == {
        "provisioner": "kubernetes.io/no-provisioner",
        "allowVolumeExpansion": False,
        "isDefault": False,
    }
    (old,) = server.get("/api/v1/storage-classes", includeNone="true", name="runai-none").json["items"]
    assert old["storage_class_name"] == "runai-none" and old["Spec"]["is_default"] is False
    assert server.get("/api/v1/storage-classes", clusterId="00000000-0000-4000-8000-000000000000").status == 404


def test_lists_of_what_there_is_none(server):
    assert server.get("/api/v1/idps").json == []
    assert server.get("/api/v1/asset/registries").json == {"entries": []}


def test_roles_of_ones_own_cannot_be_turned_off(server):
    key = "tenant.enable_custom_roles"
    assert server.request("PUT", "/v1/k8s/setting", {"key": key, "value": True}).status == 200
    refused = server.request("PUT", "/v1/k8s/setting", {"key": key, "value": False})
    assert refused.status == 400 and "always on" in refused.json["message"]


def test_the_history_of_a_claim(server):
    spec = {"existingPvc": True, "claimName": "scratch", "path": "/scratch"}
    meta = {"name": "scratch", "scope": "project", "projectId": int(server.project_id("team-a"))}
    claim = server.post("/api/v1/asset/datasource/pvc", {"meta": meta, "spec": spec}).json["meta"]["id"]
    path = f"/api/v1/asset/datasource/pvc/{claim}/history"

    def told(**query):
        answer = server.get(path, **query).json
        return [record["spec"]["event"]["reason"] for record in answer["records"]], answer.get("next")

    assert told() == (["Created"], None)

    def is_changed():
        """A change in the millisecond of the creation is told with it."""
        body = {"meta": {"description": "of the group"}, "spec": {"path": "/s"}}
        change = server.request("PUT", f"/api/v1/asset/datasource/pvc/{claim}", body)
        return change.status == 202 and told()[0] == ["Updated", "Created"]

    server.wait_for("a change", is_changed)
    assert told(limit=1) == (["Updated"], 1) and told(offset=1) == (["Created"], None)
    (first,) = server.get(path, offset=1).json["records"]
    assert first["meta"]["type"] == "Event" and first["spec"]["event"]["clusterId"] == server.cluster_id()
    assert "scratch: Created by admin@prorata.local" in first["spec"]["event"]["message"]
    assert server.get(path.replace(claim, "00000000-0000-4000-8000-000000000000")).status == 404
