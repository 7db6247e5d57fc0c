"""Clusters: the one that runs, others that are registered; and what is refused."""

import pytest

CLUSTERS = "/api/v1/clusters"
NOWHERE = "7ff1b4de-0000-4000-8000-000000000000"


def test_the_cluster_that_runs(module_server):
    (cluster,) = module_server.get(CLUSTERS).json
    assert cluster["tenantId"] == 1 and cluster["status"]["state"] == "Connected" and cluster["lastLiveness"]
    assert module_server.get(f"{CLUSTERS}/{cluster['uuid']}").json["name"] == cluster["name"]
    for path in (CLUSTERS, f"{CLUSTERS}/{cluster['uuid']}"):
        shown = module_server.get(path, verbosity="metadata").json
        assert "status" not in (shown[0] if isinstance(shown, list) else shown)


def test_a_registered_cluster_waits_and_has_its_own_defaults(server):
    answer = server.post(CLUSTERS, {"name": "second", "version": "2.24"})
    assert answer.status == 201, answer
    second = answer.json
    assert (
        second["status"]["state"] == "WaitingToConnect"
        and second["version"] == "2.24"
        and second["lastLiveness"] is None
    )
    assert [c["name"] for c in server.get(CLUSTERS).json][1] == "second"
    for path, key in (
        ("node-pools", "nodepools"),
        ("org-unit/departments", "departments"),
        ("org-unit/projects", "projects"),
    ):
        made = server.get(f"/api/v1/{path}", filterBy=f"clusterId=={second['uuid']}").json[key]
        assert [m["name"] for m in made] == ["default"], path
    path = f"{CLUSTERS}/{second['uuid']}"
    assert server.request("PUT", path, {"name": "other"}).status == 204
    assert server.get(path).json["name"] == "other"
    assert server.delete(path).status == 204
    assert server.get(path).status == 404 and len(server.get(CLUSTERS).json) == 1
    assert server.get("/api/v1/org-unit/projects/count").json == {"count": 3}


def test_the_same_names_live_in_two_clusters(server):
    second = server.post(CLUSTERS, {"name": "second"}).json["uuid"]
    body = {"name": "team-a", "clusterId": second, "resources": []}
    made = server.post("/api/v1/org-unit/projects", body)
    assert made.status == 201 and made.json["clusterId"] == second, made
    assert server.post("/api/v1/org-unit/projects", body).status == 409


def test_the_only_cluster_stays(server):
    answer = server.delete(f"{CLUSTERS}/{server.cluster_id()}")
    assert answer.status == 400 and "only one" in answer.json["message"]


REFUSED = [
    ("no name", {}, 400),
    ("an empty name", {"name": ""}, 400),
    ("a name too long", {"name": "x" * 256}, 400),
    ("a name that is a number", {"name": 1}, 400),
    ("a name that is taken", {"name": "simulated"}, 400),
]


@pytest.mark.parametrize("what,body,status", REFUSED, ids=[r[0] for r in REFUSED])
def test_create_cluster_refuses(module_server, what, body, status):
    answer = module_server.post(CLUSTERS, body)
    assert answer.status == status and "name" in answer.json["message"], answer
    assert len(module_server.get(CLUSTERS).json) == 1


@pytest.mark.parametrize("uuid", [NOWHERE, "simulated", "%00"])
def test_no_such_cluster(module_server, uuid):
    for method, body in (("GET", None), ("PUT", {"name": "x"}), ("DELETE", None)):
        assert module_server.request(method, f"{CLUSTERS}/{uuid}", body).status in (400, 404)


def test_who_may_not(server):
    from test_access import make_caller

    project = server.project_id("team-a")
    _, token = make_caller(server, "ann", ("Viewer", "project", project))
    assert server.request("GET", CLUSTERS, token=token).status == 200
    cluster = server.cluster_id()
    tries = [
        ("POST", CLUSTERS, {"name": "x"}),
        ("PUT", f"{CLUSTERS}/{cluster}", {"name": "x"}),
        ("DELETE", f"{CLUSTERS}/{cluster}", None),
        ("POST", "/api/v1/node-pools", {"name": "x", "clusterId": cluster, "labelKey": "a", "labelValue": "b"}),
        ("DELETE", "/api/v1/node-pools/1", None),
        ("PATCH", "/api/v1/node-pools/1", {}),
        ("POST", "/api/v1/org-unit/projects", {"name": "x", "clusterId": cluster, "resources": []}),
        ("PUT", f"/api/v1/org-unit/projects/{project}", {"resources": []}),
        ("DELETE", f"/api/v1/org-unit/projects/{project}", None),
        ("PATCH", f"/api/v1/org-unit/projects/{project}/resources", []),
        ("POST", "/api/v1/org-unit/departments", {"name": "x", "clusterId": cluster, "resources": []}),
        ("DELETE", "/api/v1/org-unit/departments/3", None),
    ]
    for method, path, body in tries:
        assert server.request(method, path, body, token=token).status == 403, (method, path)
    other = server.project_id("team-b")
    for path in (
        f"/api/v1/org-unit/projects/{other}",
        f"/api/v1/org-unit/projects/{other}/metrics?metricType=GPU_QUOTA&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z",
    ):
        assert server.request("GET", path, token=token).status == 404, path


def test_an_administrator_of_one_department_creates_there_alone(server):
    from test_access import make_caller

    (research,) = server.get("/api/v1/org-unit/departments", filterBy="name==research").json["departments"]
    _, token = make_caller(server, "bob", ("Department administrator", "department", research["id"]))
    body = {"name": "mine", "clusterId": server.cluster_id(), "resources": []}
    made = server.request("POST", "/api/v1/org-unit/projects", {**body, "parentId": research["id"]}, token=token)
    assert made.status == 201, made
    refused = server.request("POST", "/api/v1/org-unit/projects", {**body, "name": "theirs"}, token=token)
    assert refused.status in (400, 403), refused
    shown = server.request("GET", "/api/v1/org-unit/projects", token=token).json["projects"]
    assert sorted(p["name"] for p in shown) == ["mine", "team-a", "team-b"]
    assert [
        d["name"] for d in server.request("GET", "/api/v1/org-unit/departments", token=token).json["departments"]
    ] == ["research"]
    telemetry = server.request("GET", "/api/v1/org-unit/projects/telemetry?telemetryType=GPU_QUOTA", token=token).json
    assert telemetry["values"] == [{"value": "4"}]


def test_there_is_no_agent_to_install(server):
    path = f"/api/v1/clusters/{server.cluster_id()}/cluster-install-info"
    answer = server.get(path, version="2.24.0")
    assert answer.status == 200 and answer.json["installationStr"].startswith("# nothing to install"), answer
    assert answer.json["clientSecret"] == ""
    assert server.get(path).status == 400
    other = server.post("/api/v1/clusters", {"name": "second", "version": "2.24.0"}).json["uuid"]
    answer = server.get(f"/api/v1/clusters/{other}/cluster-install-info", version="2.24.0")
    assert "prorata serve" in answer.json["installationStr"]
