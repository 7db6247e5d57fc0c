"""Roles that administrators make, and access rules that end at a date."""

import contextlib
import datetime
import sqlite3

import pytest
from test_access import department_id, make_caller, rule_for

ROLES = "/api/v2/authorization/roles"
RULES = "/api/v1/authorization/access-rules"
SETS = "/api/v1/authorization/permission-sets"
EVERYTHING = {"create", "read", "update", "delete"}


def body(name="Night operator", **more):
    return {"name": name, "description": "stops what hangs", "permissionSets": [{"name": "Basics"}], **more}


def create(server, *arguments, token="admin", **more):
    answer = server.request("POST", ROLES, body(*arguments, **more), token=token)
    assert answer.status == 201, answer
    return answer.json


def permissions_of(role):
    return {p["resourceType"]: set(p["actions"]) for p in role["permissions"]}


def caller_with(server, name, role_id, scope_type, scope_id, **more):
    account, token = make_caller(server, name)
    rule = {**rule_for(account, "Viewer", scope_type, scope_id), "roleId": role_id, **more}
    answer = server.post(RULES, rule)
    assert answer.status == 201, answer
    return account, token, answer.json


def in_future(**delta):
    return (datetime.datetime.now(datetime.UTC) + datetime.timedelta(**delta)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def test_a_role_is_made_changed_and_deleted(server):
    role = create(server, permissions=[{"resourceType": "workloads", "actions": ["read", "update"]}])
    assert role["custom"] and role["enabled"] and role["id"] > 1000 and role["createdBy"] == "admin@prorata.local"
    assert permissions_of(role) == {
        **dict.fromkeys(["settings", "roles", "workload-properties", "policies", "registries"], {"read"}),
        "workloads": {"read", "update"},
    }
    assert [s["name"] for s in role["permissionSets"]] == ["Basics"]
    assert server.get(f"{ROLES}/{role['id']}").json == role
    assert server.get(f"/api/v1/authorization/roles/{role['id']}").json["permissions"] == role["permissions"]
    assert role["id"] in [r["id"] for r in server.get("/api/v1/authorization/roles").json]
    changed = server.request(
        "PUT",
        f"{ROLES}/{role['id']}",
        {"name": "Watcher", "description": "", "permissionSets": [{"name": "View projects"}]},
    )
    assert changed.status == 200 and changed.json["name"] == "Watcher", changed
    assert permissions_of(changed.json) == {"project": {"read"}, "cluster": {"read"}}
    assert changed.json["createdAt"] == role["createdAt"]
    assert server.delete(f"{ROLES}/{role['id']}").status == 204
    for method in ("GET", "DELETE", "PUT"):
        answer = server.request(method, f"{ROLES}/{role['id']}", body() if method == "PUT" else None)
        assert answer.status == 404, answer
    assert create(server)["id"] > role["id"], "an id is never used again"


def test_lists_of_roles_go_on(server):
    made = [create(server, f"made {i}")["id"] for i in range(3)]
    found, path = [], f"{ROLES}?limit=5"
    while path:
        page = server.get(path).json
        found += page["roles"]
        path = f"{ROLES}?limit=5&offset={page['next']}" if "next" in page else None
    assert [r["id"] for r in found] == [*range(1, 19), *made]
    assert [r["id"] for r in server.get(f"{ROLES}?search=MADE").json["roles"]] == made


@pytest.mark.parametrize(
    "change, status",
    [
        ({"name": ""}, 400),
        ({"name": "   "}, 400),
        ({"name": "x" * 101}, 400),
        ({"name": "viewer"}, 409),
        ({"name": "taken"}, 409),
        ({"description": None}, 400),
        ({"permissionSets": []}, 400),
        ({"permissionSets": [{"id": "nothing"}]}, 400),
        ({"permissionSets": [{}]}, 400),
        ({"permissionSets": ["Basics"]}, 400),
        ({"permissions": [{"resourceType": "everything", "actions": ["read"]}]}, 400),
        ({"permissions": [{"resourceType": "nodes", "actions": ["sync"]}]}, 400),
        ({"permissions": [{"resourceType": "nodes", "actions": []}], "permissionSets": []}, 400),
        ({"permissions": "nodes"}, 400),
        ({"enabled": "yes"}, 400),
    ],
)
def test_a_bad_role_is_refused(module_server, change, status):
    if not module_server.get(f"{ROLES}?search=Taken").json["roles"]:
        create(module_server, "Taken")
    answer = module_server.post(ROLES, {**body(), **change})
    assert answer.status == status, answer


def test_predefined_roles_stay_as_they_are(module_server):
    for method in ("PUT", "DELETE"):
        answer = module_server.request(method, f"{ROLES}/7", body() if method == "PUT" else None)
        assert answer.status == 403 and "predefined" in answer.json["message"], answer


def test_the_sets_are_whole(module_server):
    """Together they hold each permission that a role may hold, but for the tenant's own and the clusters' settings."""
    sets = module_server.get(SETS).json["permissionSets"]
    assert len({s["id"] for s in sets}) == len({s["name"] for s in sets}) == len(sets)
    assert module_server.get(f"{SETS}/{sets[0]['id']}").json == sets[0]
    assert module_server.get(f"{SETS}/unknown").status == 404
    union = {}
    for one in sets:
        for kind, actions in permissions_of(one).items():
            union.setdefault(kind, set()).update(actions)
    every = permissions_of(module_server.get(f"{ROLES}/1").json)
    assert set(every) - set(union) == {"tenant", "cluster-config", "storage-class-configuration"}


def test_a_role_gives_what_it_says_and_follows_its_changes(server):
    project = server.project_id("team-a")
    more = {"permissionSets": [{"name": "View projects"}, {"name": "View workloads"}]}
    role = create(server, **more)
    account, token, rule = caller_with(server, "watcher", role["id"], "project", project)
    assert rule["roleName"] == "Night operator" and rule["status"]["phase"] == "Ready"
    workload = server.submit("runs", "team-a", gpus=0)

    def status(method, path, body=None):
        return server.request(method, path, body, token=token).status

    suspend = f"/api/v1/workloads/trainings/{workload}/suspend"
    assert status("GET", f"/api/v1/workloads/{workload}") == 200 and status("POST", suspend) == 403
    session = server.request("GET", "/api/v1/session", token=token).json
    assert [r["roleName"] for r in session["roles"]] == ["Night operator"]
    assert "trainings" in {p["resourceType"] for p in session["permissions"]}
    scopes = server.request(
        "POST", "/api/v1/authorization/permitted-scopes", {"resourceType": "workloads", "action": "read"}, token=token
    )
    assert scopes.json["read"]["projects"] == [project]
    assert [
        r["roleName"]
        for r in server.get(f"{RULES}?filterBy=roleName==Night operator".replace(" ", "%20")).json["accessRules"]
    ]
    path = f"{ROLES}/{role['id']}"
    assert server.request("PUT", path, body(permissionSets=[{"name": "Manage workloads"}])).status == 200
    assert status("POST", suspend) == 202
    assert server.request("PUT", path, {**body(), **more, "enabled": False}).status == 200
    assert status("GET", f"/api/v1/workloads/{workload}") == 403, "a role that is off gives nothing"
    phase = server.get(f"{RULES}/{rule['id']}").json["status"]
    assert phase == {"phase": "NotReady", "message": "the role is switched off"}
    answer = server.delete(path)
    assert answer.status == 409 and "1 access rule gives it" in answer.json["message"], answer
    assert server.delete(f"{RULES}/{rule['id']}").status == 204 and server.delete(path).status == 204


def test_nobody_puts_more_into_a_role_than_he_holds(server):
    maker = create(
        server,
        "Maker",
        permissionSets=[{"name": "Manage roles"}, {"name": "Manage access"}, {"name": "View workloads"}],
    )
    _, token, _ = caller_with(server, "maker", maker["id"], "tenant", "1")
    create(server, "Seer", token=token, permissionSets=[{"name": "View workloads"}])
    wide = create(server, "Wide", permissionSets=[{"name": "Manage hardware"}])
    for sets in ("Manage hardware", "Manage workloads", "Manage people"):
        answer = server.request("POST", ROLES, body("More", permissionSets=[{"name": sets}]), token=token)
        assert answer.status == 403, (sets, answer)
        answer = server.request(
            "PUT", f"{ROLES}/{maker['id']}", body("Maker", permissionSets=[{"name": sets}]), token=token
        )
        assert answer.status == 403, (sets, answer)
    # And he gives no rule with more.
    account, _ = make_caller(server, "friend")
    rule = {**rule_for(account, "Viewer", "tenant", "1"), "roleId": wide["id"]}
    answer = server.request("POST", RULES, rule, token=token)
    assert answer.status == 403 and "Wide may create cluster" in answer.json["message"], answer
    # Rights over a project are not rights over the tenant.
    _, below, _ = caller_with(server, "below", maker["id"], "project", server.project_id("team-a"))
    assert server.request("POST", ROLES, body("Below"), token=below).status == 403


def test_who_gives_rules_by_a_role_that_was_made_gives_what_he_has(server):
    """A predefined administrator gives people work that he does not do; others do not, and not to themselves."""
    project = server.project_id("team-a")
    giver = create(server, "Giver", permissionSets=[{"name": "Basics"}, {"name": "Manage access"}])
    worker = create(server, "Worker", permissionSets=[{"name": "Basics"}, {"name": "Manage workloads"}])
    me, token, _ = caller_with(server, "giver", giver["id"], "project", project)
    friend, _ = make_caller(server, "friend")

    def give(account, role_id, token):
        rule = {**rule_for(account, "Viewer", "project", project), "roleId": role_id}
        return server.request("POST", RULES, rule, token=token)

    for account in (me, friend):
        refused = give(account, worker["id"], token)
        assert refused.status == 403 and "Worker may create " in refused.json["message"], refused
        l1 = give(account, 5, token)
        assert l1.status == 403 and "L1 researcher may " in l1.json["message"], l1
    assert give(friend, giver["id"], token).status == 201, "what he has, he gives"
    scope = {"scopeType": "project", "scopeId": project}
    several = {"subjects": [{"subjectId": friend["clientId"], "subjectType": "service-account"}], "scopes": [scope]}
    batch = server.request("POST", f"{RULES}/batch-create", {"payload": {**several, "roleId": 5}}, token=token)
    assert not batch.json["succeeded"] and batch.json["failed"][0]["code"] == 403, batch
    # With the work he has the right to hand it on; with a predefined administrator's role as well.
    caller_rule = {**rule_for(me, "Viewer", "project", project), "roleId": worker["id"]}
    assert server.post(RULES, caller_rule).status == 201
    assert give(friend, worker["id"], token).status == 201
    _, administrator, _ = caller_with(server, "dora", 2, "department", department_id(server))
    other, _ = make_caller(server, "other")
    assert give(other, worker["id"], administrator).status == 201


def test_a_rule_ends_at_its_date(server):
    project = server.project_id("team-a")
    account, token, rule = caller_with(server, "guest", 7, "project", project, expiresAt=in_future(hours=1))
    assert rule["expiresAt"] and server.request("GET", "/api/v1/workloads", token=token).status == 200
    own = server.request("GET", "/api/v1/authorization/me/access-rules", token=token).json["accessRules"]["accessRules"]
    assert own[0]["expiresAt"] == rule["expiresAt"]
    with contextlib.closing(sqlite3.connect(server.data / "prorata.db", timeout=60)) as database, database:
        an_hour_before = "UPDATE access_rules SET expires_ms = expires_ms - 3600000 WHERE expires_ms > 0"
        assert database.execute(an_hour_before).rowcount == 1
    server.wait_for("it ends", lambda: server.request("GET", "/api/v1/workloads", token=token).status == 403)
    assert server.get(f"{RULES}/{rule['id']}").status == 404
    assert rule["id"] not in [r["id"] for r in server.get(RULES).json["accessRules"]]
    assert rule["id"] in [r["id"] for r in server.get(RULES, includeDeleted="true").json["accessRules"]]
    again = server.post(RULES, {**rule_for(account, "Viewer", "project", project)})
    assert again.status == 201 and server.request("GET", "/api/v1/workloads", token=token).status == 200, again


@pytest.mark.parametrize("expires", ["1969-12-31T23:59:59Z", "2020-01-01T00:00:00Z", "soon", 7])
def test_a_rule_ends_in_the_future(module_server, expires):
    account = module_server.post("/api/v1/service-accounts", {"name": f"past-{str(expires)[:4]}"}).json
    answer = module_server.post(RULES, {**rule_for(account, "Viewer", "tenant", "1"), "expiresAt": expires})
    assert answer.status == 400 and "expiresAt" in answer.json["message"], answer


def test_the_last_administrator_has_no_end(server):
    rule = {"subjectId": "b@lab.example", "subjectType": "user", "roleId": 1, "scopeId": "1", "scopeType": "tenant"}
    assert server.post("/api/v1/users", {"email": "b@lab.example"}).status == 201
    assert server.post(RULES, {**rule, "expiresAt": in_future(days=1)}).status == 201
    first = next(r for r in server.get(RULES).json["accessRules"] if r["subjectId"] == "admin@prorata.local")
    answer = server.delete(f"{RULES}/{first['id']}")
    assert answer.status == 400 and "last system administrator" in answer.json["message"], answer


def test_several_subjects_and_scopes_in_one_request(server):
    accounts = [make_caller(server, f"many-{i}")[0]["clientId"] for i in range(3)]
    scopes = [{"scopeType": "project", "scopeId": server.project_id(name)} for name in ("team-a", "team-b")]
    role = create(server, permissionSets=[{"name": "View workloads"}])
    ends = in_future(days=2)
    subjects = [{"subjectId": a, "subjectType": "service-account"} for a in [*accounts, "nobody"]]
    payload = {"subjects": subjects, "scopes": scopes, "roleId": role["id"], "expiresAt": ends}
    answer = server.post(f"{RULES}/batch-create", {"payload": payload})
    assert answer.status == 200 and len(answer.json["succeeded"]) == 6 and len(answer.json["failed"]) == 2, answer
    assert {r["expiresAt"][:19] for r in answer.json["succeeded"]} == {ends[:19]}
    assert {f["payload"]["subjectId"] for f in answer.json["failed"]} == {"nobody"}


def test_nobody_gives_rights_for_longer_than_he_has_them(server):
    end, sooner, later = (in_future(days=days) for days in (7, 6, 8))
    _, token, _ = caller_with(server, "guest-admin", 1, "tenant", "1", expiresAt=end)
    other, _ = make_caller(server, "other")

    def give(role, **more):
        rule = {**rule_for(other, role, "tenant", "1"), **more}
        return server.request("POST", RULES, rule, token=token)

    for role in ("Viewer", "L1 researcher", "System administrator"):
        for more in ({}, {"expiresAt": later}):
            answer = give(role, **more)
            assert answer.status == 403 and "ends before" in answer.json["message"], (role, more, answer)
        assert give(role, expiresAt=sooner).status == 201, role
    project = {**rule_for(other, "Viewer", "project", server.project_id("team-b")), "expiresAt": end}
    assert server.request("POST", RULES, project, token=token).status == 201
