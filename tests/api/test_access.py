"""What a caller may do and where: access rules, roles, users; 403 for what is not allowed, 404 for what is not to be
seen."""

import pytest
from people import ROLES


def make_caller(server, name, *rules):
    """A service account with these (role, scope type, scope id); its token."""
    account = server.post("/api/v1/service-accounts", {"name": name}).json
    for role, scope_type, scope_id in rules:
        answer = server.post("/api/v1/authorization/access-rules", rule_for(account, role, scope_type, scope_id))
        assert answer.status == 201, answer
    answer = server.request(
        "POST",
        "/api/v1/token",
        {"grantType": "client_credentials", "clientId": account["clientId"], "clientSecret": account["clientSecret"]},
        token=None,
    )
    return account, answer.json["accessToken"]


def rule_for(account, role, scope_type, scope_id):
    return {
        "subjectId": account["clientId"],
        "subjectType": "service-account",
        "roleId": ROLES[role],
        "scopeId": str(scope_id),
        "scopeType": scope_type,
    }


def department_id(server, name="research"):
    departments = server.get("/api/v1/org-unit/departments").json["departments"]
    return next(d["id"] for d in departments if d["name"] == name)


def test_without_rules_nothing_is_allowed(server):
    _, token = make_caller(server, "no-rules")
    for path in (
        "/api/v1/org-unit/projects",
        "/api/v1/nodes",
        "/api/v1/clusters",
        "/api/v1/workloads",
        "/api/v1/users",
        "/api/v1/asset/compute",
        "/v1/k8s/setting",
        "/api/v1/authorization/roles",
        "/api/v1/authorization/access-rules",
    ):
        answer = server.request("GET", path, token=token)
        assert answer.status == 403, (path, answer)
        assert answer.json["code"] == 403
    session = server.request("GET", "/api/v1/session", token=token).json
    assert session["permissions"] == [] and session["roles"] == []
    assert server.request("GET", "/api/v1/authorization/permissions", token=token).json == []


def test_a_researcher_sees_the_own_project_alone(server):
    mine, other = server.project_id("team-a"), server.project_id("team-b")
    _, token = make_caller(server, "ann", ("L1 researcher", "project", mine))

    def get(path):
        return server.request("GET", path, token=token)

    assert [p["name"] for p in get("/api/v1/org-unit/projects").json["projects"]] == ["team-a"]
    assert get(f"/api/v1/org-unit/projects/{mine}").status == 200
    assert get(f"/api/v1/org-unit/projects/{other}").status == 404
    (project,) = get("/api/v1/org-unit/projects").json["projects"]
    assert [r["nodePool"] for r in project["resources"]] == [{"id": "1", "name": "default"}], "what a form offers"
    assert get("/api/v1/clusters").status == 200 and len(get("/api/v1/clusters").json) == 1
    for path in (
        "/api/v1/nodes",
        "/api/v1/users",
        "/api/v1/org-unit/departments",
        "/api/v1/authorization/access-rules",
    ):
        assert get(path).status == 403, path
    assert server.request("DELETE", f"/api/v1/org-unit/projects/{mine}", token=token).status == 403


def test_workloads_of_other_projects_are_not_there(server):
    mine, other = server.project_id("team-a"), server.project_id("team-b")
    _, token = make_caller(server, "ann", ("L1 researcher", "project", mine))
    hidden = server.submit("hidden", "team-b", gpus=0)
    shown = server.submit("shown", "team-a", gpus=0)
    listed = server.request("GET", "/api/v1/workloads", token=token).json["workloads"]
    assert [w["name"] for w in listed] == ["shown"]
    assert server.request("GET", "/api/v1/workloads/count", token=token).json["count"] == 1
    for suffix in ("", "/pods", "/events", "/history"):
        assert server.request("GET", f"/api/v1/workloads/{shown}{suffix}", token=token).status == 200, suffix
        assert server.request("GET", f"/api/v1/workloads/{hidden}{suffix}", token=token).status == 404, suffix
    assert server.request("DELETE", f"/api/v1/workloads/trainings/{hidden}", token=token).status == 404
    body = {"name": "intruder", "projectId": other, "clusterId": server.cluster_id(), "spec": {"image": "x"}}
    assert server.request("POST", "/api/v1/workloads/trainings", body, token=token).status in (400, 403, 404)
    assert server.request("DELETE", f"/api/v1/workloads/trainings/{shown}", token=token).status == 202


def test_a_viewer_reads_and_does_not_write(server):
    _, token = make_caller(server, "eve", ("Viewer", "tenant", "1"))
    assert len(server.request("GET", "/api/v1/org-unit/projects", token=token).json["projects"]) >= 2
    assert server.request("GET", "/api/v1/nodes", token=token).status == 200
    project = server.project_id("team-a")
    body = {"name": "x", "projectId": project, "clusterId": server.cluster_id(), "spec": {"image": "x"}}
    assert server.request("POST", "/api/v1/workloads/trainings", body, token=token).status == 403
    assert server.request("PUT", "/v1/k8s/setting", {"key": "cpuQuota", "value": False}, token=token).status == 403
    assert server.request("POST", "/api/v1/users", {"email": "a@example.org"}, token=token).status == 403


def test_a_department_administrator_manages_rules_inside(server):
    department, project = department_id(server), server.project_id("team-a")
    _, token = make_caller(server, "dora", ("Department administrator", "department", department))
    account, other = make_caller(server, "ann")
    path = "/api/v1/authorization/access-rules"

    def create(role, scope_type, scope_id):
        return server.request("POST", path, rule_for(account, role, scope_type, scope_id), token=token)

    rule = create("L1 researcher", "project", project)
    assert rule.status == 201, rule
    assert create("L1 researcher", "department", department).status == 201
    assert create("L1 researcher", "tenant", "1").status == 403
    assert create("System administrator", "project", project).status == 403
    elsewhere = server.project_id("default")
    assert create("L1 researcher", "project", elsewhere).status == 400  # not to be seen
    # The list shows what lies inside.
    scopes = {(r["scopeType"], r["scopeId"]) for r in server.request("GET", path, token=token).json["accessRules"]}
    assert scopes == {("department", str(department)), ("project", str(project))}
    assert server.request("GET", "/api/v1/workloads", token=other).status == 200
    assert server.request("DELETE", f"{path}/{rule.json['id']}", token=token).status == 204
    assert server.request("DELETE", f"{path}/{rule.json['id']}", token=token).status == 404


RULE_REFUSALS = [
    ("unknown role", {"roleId": 99}, 400),
    ("role no number", {"roleId": "1"}, 400),
    ("unknown subject", {"subjectId": "nobody"}, 400),
    ("empty subject", {"subjectId": ""}, 400),
    ("unknown kind of subject", {"subjectType": "robot"}, 400),
    ("unknown project", {"scopeId": "99999"}, 400),
    ("project no number", {"scopeId": "team-a"}, 400),
    ("project id with something behind", {"scopeId": "1; DROP TABLE users"}, 400),
    ("unknown scope type", {"scopeType": "galaxy"}, 400),
    ("cluster no uuid", {"scopeType": "cluster", "scopeId": "1"}, 400),
]


@pytest.mark.parametrize(
    "giver, scope, role, status, message",
    [
        (
            "Project administrator",
            "project",
            "Editor",
            403,
            "roleId: Editor may create department, and you may not here",
        ),
        ("Project administrator", "project", "Viewer", 403, "roleId: Viewer may read department, and you may not here"),
        (
            "Project administrator",
            "project",
            "System administrator",
            403,
            "roleId: only a system administrator gives this role",
        ),
        ("Project administrator", "project", "L1 researcher", 201, ""),
        ("Project administrator", "project", "AI practitioner", 201, ""),
        ("Project administrator", "project", "Project administrator", 201, ""),
        ("Department administrator", "department", "Editor", 201, ""),
        ("Department administrator", "department", "Project administrator", 201, ""),
        (
            "Department administrator",
            "department",
            "Viewer",
            403,
            "roleId: Viewer may read events-history, and you may not here",
        ),
        ("Department administrator", "project", "L1 researcher", 201, ""),
        ("System administrator", "project", "System administrator", 201, ""),
    ],
)
def test_nobody_gives_more_than_he_has(server, giver, scope, role, status, message):
    project = server.project_id("team-a")
    place = {"project": project, "department": department_id(server)}[scope]
    above = {
        "Department administrator": ("department", department_id(server)),
        "Project administrator": ("project", project),
        "System administrator": ("project", project),
    }[giver]
    _, token = make_caller(server, "giver", (giver, *above))
    account, _ = make_caller(server, "taker")
    answer = server.request(
        "POST", "/api/v1/authorization/access-rules", rule_for(account, role, scope, place), token=token
    )
    assert answer.status == status and (not message or answer.json["message"] == message), answer


@pytest.mark.parametrize("path", ["snapshot", "decisions"])
@pytest.mark.parametrize("role", ["System administrator", "L1 researcher", "Viewer"])
def test_the_whole_cluster_is_shown_to_who_reads_all_of_it(server, role, path):
    for scope, place, status in (
        ("project", server.project_id("team-a"), 403),
        ("department", department_id(server), 403),
        ("cluster", server.cluster_id(), 200),
    ):
        _, token = make_caller(server, scope, (role, scope, place))
        assert server.request("GET", f"/api/v1/scheduler/{path}", token=token).status == status, scope


@pytest.mark.parametrize(
    "rights", [("System administrator", "project"), ("System administrator", "department"), ("Editor", "department")]
)
def test_who_steers_the_simulation_needs_the_cluster(server, rights):
    place = {"project": server.project_id("team-a"), "department": department_id(server)}[rights[1]]
    _, token = make_caller(server, "narrow", (*rights, place))
    node = server.get("/api/v1/simulation/nodes").json["nodes"][0]["name"]
    for method, path, body in (
        ("POST", "nodes", {"name": "mine", "gpus": 8}),
        ("POST", f"nodes/{node}/fail", None),
        ("POST", f"nodes/{node}/recover", None),
        ("DELETE", f"nodes/{node}", None),
        ("PUT", "clock", {"speed": 2}),
    ):
        assert server.request(method, f"/api/v1/simulation/{path}", body, token=token).status in (403, 404), path
    assert [found["name"] for found in server.get("/api/v1/simulation/nodes").json["nodes"] if found["ready"]][
        0
    ] == node


@pytest.mark.parametrize(
    "scope_type, scope_id",
    [
        ("project", " {}"),
        ("project", "+{}"),
        ("project", "00{}"),
        ("project", "{} "),
        ("project", "{}.0"),
        ("project", "0x{}"),
        ("tenant", "999"),
        ("tenant", "x"),
    ],
)
def test_ids_of_scopes_are_written_one_way(server, scope_type, scope_id):
    account, _ = make_caller(server, "padded")
    answer = server.post(
        "/api/v1/authorization/access-rules",
        rule_for(account, "Viewer", scope_type, scope_id.format(server.project_id("team-a"))),
    )
    assert answer.status == 400 and answer.json["message"].startswith("scopeId: there is no"), answer


def test_access_rule_refusals(server):
    account, _ = make_caller(server, "ann")
    good = rule_for(account, "Viewer", "project", server.project_id("team-a"))
    for name, change, status in RULE_REFUSALS:
        answer = server.post("/api/v1/authorization/access-rules", {**good, **change})
        assert answer.status == status, (name, answer)
    for member in good:
        answer = server.post("/api/v1/authorization/access-rules", {k: v for k, v in good.items() if k != member})
        assert answer.status == 400 and member in answer.json["message"], answer
    assert server.post("/api/v1/authorization/access-rules", good).status == 201
    assert server.post("/api/v1/authorization/access-rules", good).status == 400


def test_access_rule_lists(server):
    account, _ = make_caller(server, "ann")
    project, cluster = server.project_id("team-a"), server.cluster_id()
    path = "/api/v1/authorization/access-rules"
    made = server.post(
        path,
        {"subjectId": "ann", "subjectType": "service-account", "roleId": 5, "scopeType": "project", "scopeId": project},
    ).json
    assert made["subjectId"] == account["clientId"]  # a name is resolved
    assert (made["roleName"], made["scopeName"], made["clusterId"]) == ("L1 researcher", "team-a", cluster)
    listed = server.get(path)
    assert listed.json["totalRecords"] == 2 and listed.json["displayRecords"] == 2
    assert server.get(path, limit=1).json["displayRecords"] == 1
    cases = [
        ({"subjectType": "user"}, 1),
        ({"scopeType": "project"}, 1),
        ({"roleId": 5}, 1),
        ({"clusterId": cluster}, 1),
        ({"subjectIds": f"{account['clientId']},x"}, 1),
        ({"filterBy": "roleName==L1 researcher"}, 1),
        ({"filterBy": "scopeName=@team,subjectType!=user"}, 1),
        ({"filterBy": "roleId<=1"}, 1),
        ({"search": "team-"}, 1),
        ({"search": "nothing"}, 0),
        ({"filterBy": "createdAt>=2030-01-01"}, 0),
    ]
    for query, count in cases:
        assert len(server.get(path, **query).json["accessRules"]) == count, query
    assert server.get(path, filterBy="magic==1").status == 400
    assert server.get(path, sortBy="roleName", sortOrder="desc").json["accessRules"][0]["roleId"] == 1
    assert server.get(path + "/count").json["count"] == 2
    assert server.get(f"{path}/{made['id']}").json["scopePath"]
    assert server.delete(f"{path}/{made['id']}").status == 204
    assert server.get(path + "/count").json["count"] == 1
    assert server.get(path, includeDeleted="true").json["totalRecords"] == 2
    assert server.get(f"{path}/{made['id']}").status == 404


def test_access_rule_batches(server):
    account, _ = make_caller(server, "ann")
    a, b = server.project_id("team-a"), server.project_id("team-b")
    subjects = [
        {"subjectId": account["clientId"], "subjectType": "service-account"},
        {"subjectId": "nobody@example.org", "subjectType": "user"},
    ]
    scopes = [{"scopeId": a, "scopeType": "project"}, {"scopeId": b, "scopeType": "project"}]
    answer = server.post(
        "/api/v1/authorization/access-rules/batch-create",
        {"payload": {"roleId": 5, "subjects": subjects, "scopes": scopes}},
    )
    assert answer.status == 200, answer
    assert {r["scopeId"] for r in answer.json["succeeded"]} == {a, b}
    assert {f["payload"]["subjectId"] for f in answer.json["failed"]} == {"nobody@example.org"}
    ids = [r["id"] for r in answer.json["succeeded"]]
    trial = server.post(
        "/api/v1/authorization/access-rules/batch", {"ids": [ids[0], "999999"], "action": "validate_delete"}
    ).json
    assert trial["succeeded"] == [str(ids[0])] and [f["code"] for f in trial["failed"]] == [404]
    done = server.post(
        "/api/v1/authorization/access-rules/batch", {"ids": [str(i) for i in ids], "action": "delete"}
    ).json
    assert done["succeeded"] == [str(i) for i in ids] and done["failed"] == []
    assert server.post("/api/v1/authorization/access-rules/batch", {"ids": [], "action": "delete"}).status == 400


def test_the_last_administrator_stays(server):
    rules = server.get("/api/v1/authorization/access-rules", roleId=1).json["accessRules"]
    assert len(rules) == 1
    assert server.delete(f"/api/v1/authorization/access-rules/{rules[0]['id']}").status == 400
    admin = server.get("/api/v1/users").json[0]
    assert server.delete(f"/api/v1/users/{admin['id']}").status == 400
    assert server.get("/api/v1/users/count").json["count"] == 1
    user = server.post("/api/v1/users", {"email": "second@example.org"}).json
    made = server.post(
        "/api/v1/authorization/access-rules",
        {"subjectId": "Second@example.org", "subjectType": "user", "roleId": 1, "scopeType": "tenant", "scopeId": "1"},
    )
    assert made.status == 201 and made.json["subjectId"] == "second@example.org"
    assert server.delete(f"/api/v1/users/{user['id']}").status == 204
    assert server.get("/api/v1/authorization/access-rules/count").json["count"] == 1  # the rule went with the user


def test_users(server):
    made = server.post("/api/v1/users", {"email": "Ann.O-x+1@example.org"})
    assert made.status == 201 and set(made.json) == {"id", "username", "tempPassword"}
    assert server.post("/api/v1/users", {"email": "ann.o-x+1@EXAMPLE.org"}).status == 409
    for email in (
        "",
        "x",
        "x@y",
        "a b@example.org",
        "@example.org",
        "x@example.o",
        "x" * 250 + "@example.org",
        None,
        1,
    ):
        assert server.post("/api/v1/users", {"email": email}).status == 400, email
    user = server.get(f"/api/v1/users/{made.json['id']}").json
    assert user["username"] == "Ann.O-x+1@example.org" and user["isLocal"] is True and user["lastLogin"] is None
    assert server.get("/api/v1/users/nobody").status == 404
    assert len(server.get("/api/v1/users").json) == 2
    assert [u["username"] for u in server.get("/api/v1/users", filterBy="username=@ann").json] == [
        "Ann.O-x+1@example.org"
    ]
    assert len(server.get("/api/v1/users", sortBy="username", sortOrder="desc", limit=1).json) == 1
    assert server.get("/api/v1/users", limit=501).status == 400
    for true in ("true", "True", "TRUE", "1"):
        assert server.get("/api/v1/users/count", filterBy=f"isLocal=={true}").json["count"] == 2, true
    assert server.get("/api/v1/users/count", filterBy="isLocal==False").json["count"] == 0
    assert server.get("/api/v1/users/count", filterBy="isLocal==yes").status == 400


def test_roles(server):
    roles = server.get("/api/v1/authorization/roles").json
    assert {r["name"]: r["id"] for r in roles}.items() >= ROLES.items()
    assert all(r["custom"] is False and r["permissions"] for r in roles)
    assert server.get("/api/v1/authorization/roles/5").json["name"] == "L1 researcher"
    assert server.get("/api/v1/authorization/roles/99").status == 404
    assert server.get("/api/v1/authorization/roles/x").status == 400


def test_permitted_scopes(server):
    department, project = department_id(server), server.project_id("team-a")
    _, token = make_caller(server, "ann", ("L1 researcher", "project", project), ("Viewer", "department", department))
    path = "/api/v1/authorization/permitted-scopes"
    answer = server.request("POST", path, {"resourceType": "workloads"}, token=token).json
    assert answer["create"] == {
        "system": False,
        "tenants": [],
        "clusters": [],
        "departments": [],
        "projects": [str(project)],
    }
    assert answer["read"]["departments"] == [str(department)] and answer["read"]["projects"] == []
    only = server.request("POST", path, {"resourceType": "workloads", "action": "read"}, token=token).json
    assert only["create"]["projects"] == [] and only["read"] == answer["read"]
    assert server.post(path, {"resourceType": "workloads"}).json["delete"]["tenants"] == ["1"]
    assert server.post(path, {"resourceType": "magic"}).status == 400
    assert server.post(path, {}).status == 400
    mine = server.request("GET", "/api/v1/authorization/me/access-rules", token=token).json["accessRules"]
    assert mine["totalRecords"] == 2 and {r["scopeName"] for r in mine["accessRules"]} == {"team-a", "research"}
    assert (
        server.request("GET", "/api/v1/authorization/me/access-rules?search=team-a", token=token).json["accessRules"][
            "displayRecords"
        ]
        == 1
    )
    assert server.request("GET", "/api/v1/authorization/me/access-rules/count", token=token).json["count"] == 2


def test_tenant_settings(server):
    settings = {s["key"]: s for s in server.get("/v1/k8s/setting").json}
    assert settings["departments"]["value"] == "true" and settings["departments"]["source"] == "default"
    assert server.get("/v1/k8s/setting/cpuQuota").json is True
    for value in (False, "false"):
        answer = server.request("PUT", "/v1/k8s/setting", {"key": "cpuQuota", "value": value})
        assert answer.status == 200 and answer.json == {"msg": "saved"}
    assert server.get("/v1/k8s/setting/cpuQuota").json is False
    assert server.get("/v1/k8s/setting/magic").status == 404
    for body in (
        {},
        {"key": "magic", "value": True},
        {"key": "cpuQuota"},
        {"key": "cpuQuota", "value": 1},
        {"key": "cpuQuota", "value": "yes"},
    ):
        assert server.request("PUT", "/v1/k8s/setting", body).status == 400, body


@pytest.mark.parametrize("path", ["/api/v1/users/x/logout", "/api/v1/users/x/password"])
def test_unknown_users(server, path):
    assert server.post(path).status == 404


def test_emails_are_looked_up_one_by_one_below_the_tenant(server):
    for name in ("ann", "bob"):
        assert server.post("/api/v1/users", {"email": f"{name}@lab.example"}).status == 201
    _, below = make_caller(server, "lead", ("Project administrator", "project", server.project_id("team-a")))
    _, above = make_caller(server, "boss", ("System administrator", "tenant", "1"))

    def names(token, query=""):
        answer = server.request("GET", "/api/v1/users" + query, token=token)
        assert answer.status == 200, answer
        count = server.request("GET", "/api/v1/users/count" + query, token=token)
        assert count.status == 200 and count.json["count"] == len(answer.json)
        return [user["username"] for user in answer.json]

    assert names(below) == [] and names(below, "?filterBy=username=@lab") == [] and names(below, "?search=ann") == []
    assert names(below, "?filterBy=username==ann@lab.example") == ["ann@lab.example"]
    assert set(names(above)) >= {"ann@lab.example", "bob@lab.example"}
