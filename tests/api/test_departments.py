"""Departments: made, listed, changed, deleted with their projects; and what is refused."""

import pytest
from test_roles import caller_with
from test_roles import create as create_role

DEPARTMENTS = "/api/v1/org-unit/departments"
PROJECTS = "/api/v1/org-unit/projects"


def create(server, name="biology", **extra):
    return server.post(
        DEPARTMENTS, {"name": name, "clusterId": server.cluster_id(), "resources": [{"gpu": {"deserved": 3}}], **extra}
    )


def create_project(server, parent, name="genomes", gpus=1):
    return server.post(
        PROJECTS,
        {
            "name": name,
            "parentId": parent,
            "clusterId": server.cluster_id(),
            "resources": [{"gpu": {"deserved": gpus}}],
        },
    )


def names(answer):
    assert answer.status == 200, answer
    return [d["name"] for d in answer.json["departments"]]


def test_create_department_fills_in_the_defaults(server):
    answer = create(server, description="life")
    assert answer.status == 201, answer
    department = answer.json
    assert (
        department["id"].isdigit()
        and department["description"] == "life"
        and department["createdBy"] == "admin@prorata.local"
    )
    assert department["children"] == [] and department["schedulingRules"] is None and department["nodeTypes"] == {}
    (resources,) = department["resources"]
    assert (
        resources["gpu"]["deserved"] == 3 and resources["gpu"]["limit"] is None and resources["priority"] == "MediumLow"
    )
    assert department["totalResources"]["gpuQuota"] == 3
    assert server.get(f"{DEPARTMENTS}/{department['id']}").json == department


def test_department_tells_of_its_projects(server):
    department = create(server).json["id"]
    projects = [
        create_project(server, department, name, gpus).json["id"] for name, gpus in (("genomes", 1), ("proteins", 0.5))
    ]
    shown = server.get(f"{DEPARTMENTS}/{department}").json
    assert [(c["id"], c["name"]) for c in shown["children"]] == list(
        zip(projects, ["genomes", "proteins"], strict=True)
    )
    (sums,) = shown["projectsAggregatedResources"]
    assert sums["nodePool"]["name"] == "default" and sums["gpu"]["deserved"] == 1.5 and sums["cpu"]["deserved"] is None


def test_verbosity_decides_on_status(module_server):
    for verbosity, has_status in (("meta", False), ("brief", False), ("verbose", True)):
        department = module_server.get(DEPARTMENTS, verbosity=verbosity).json["departments"][0]
        assert ("status" in department) is has_status, verbosity
        assert department["resources"] and department["totalResources"]
    assert module_server.get(DEPARTMENTS, verbosity="loud").status == 400


def test_department_holds_what_its_projects_hold(server):
    server.wait_phase(server.submit("a1", "team-a"), "Running")
    server.wait_phase(server.submit("b1", "team-b"), "Running")

    def allocated():
        (department,) = server.get(DEPARTMENTS, filterBy="name==research").json["departments"]
        return department["status"]["quotaStatus"]["allocated"]["gpu"] == 2

    server.wait_for("figures", allocated)
    assert names(server.get(DEPARTMENTS, filterBy="gpuAllocated>=2")) == ["research"]


def test_update_department(server):
    department = create(server, description="old").json["id"]
    body = {
        "description": "new",
        "resources": [{"gpu": {"deserved": 2, "limit": 4}, "rank": "VeryHigh"}],
        "schedulingRules": {"interactiveJobTimeLimitSeconds": 60},
    }
    answer = server.request("PUT", f"{DEPARTMENTS}/{department}", body)
    assert answer.status == 200, answer
    assert answer.json["description"] == "new" and answer.json["schedulingRules"] == {
        "interactiveJobTimeLimitSeconds": 60
    }
    assert answer.json["resources"][0]["gpu"] == {"deserved": 2, "limit": 4, "overQuotaWeight": 2}
    assert answer.json["resources"][0]["priority"] == "VeryHigh"
    patched = server.request("PATCH", f"{DEPARTMENTS}/{department}/resources", [{"gpu": {"deserved": 1}}])
    assert patched.json[0]["gpu"]["deserved"] == 1 and patched.json[0]["gpu"]["limit"] == 4
    put = server.request("PUT", f"{DEPARTMENTS}/{department}/resources", [])
    assert put.json[0]["gpu"] == {"deserved": 0, "limit": None, "overQuotaWeight": 2}


def test_department_does_not_go_under_its_projects_where_the_tenant_says_so(server):
    department = create(server).json["id"]
    create_project(server, department, gpus=2)
    server.request("PUT", "/v1/k8s/setting", {"key": "limitProjectsToDepartmentQuota", "value": "true"})
    refused = server.request("PATCH", f"{DEPARTMENTS}/{department}/resources", [{"gpu": {"deserved": 1}}])
    assert refused.status == 400 and "more than the department's 1" in refused.json["message"], refused
    assert server.request("PATCH", f"{DEPARTMENTS}/{department}/resources", [{"gpu": {"deserved": 2}}]).status == 200


def test_delete_department_takes_its_projects_along(server):
    department = create(server).json["id"]
    project = create_project(server, department).json["id"]
    assert server.delete(f"{DEPARTMENTS}/{department}").status == 204
    assert server.get(f"{DEPARTMENTS}/{department}").status == 404
    assert server.get(f"{PROJECTS}/{project}").status == 404


def work_of_research(server):
    """The path of a department of two projects, one with a workload that runs and one that is stopped."""
    server.wait_phase(server.submit("a1", "team-a"), "Running")
    stopped = server.submit("a2", "team-a")
    server.wait_phase(stopped, "Running")
    assert server.post(f"/api/v1/workloads/trainings/{stopped}/suspend").status == 202
    server.wait_phase(stopped, "Stopped")
    (department,) = server.get(DEPARTMENTS, filterBy="name==research").json["departments"]
    return f"{DEPARTMENTS}/{department['id']}"


def test_delete_department_with_work_is_refused(server):
    research = work_of_research(server)
    for query in ("", "?withProjects=false"):
        refused = server.delete(research + query)
        assert refused.status == 409, refused
        assert refused.json["message"].endswith(": work is not over in team-a (2 workloads)"), refused
        assert "withProjects=true" in refused.json["details"], refused
    assert server.get(research).json["status"]["phase"] == "Ready"
    assert {w["phase"] for w in server.get("/api/v1/workloads").json["workloads"]} == {"Running", "Stopped"}


def test_delete_department_does_not_ask_for_what_is_over(server):
    annotations = [{"name": "prorata.io/sim-duration", "value": "1s"}]
    server.wait_phase(server.submit("a1", "team-a", spec={"annotations": annotations}), "Completed")
    (department,) = server.get(DEPARTMENTS, filterBy="name==research").json["departments"]
    assert server.delete(f"{DEPARTMENTS}/{department['id']}").status == 204


def test_delete_department_says_what_went(server):
    research = work_of_research(server)
    answer = server.delete(research + "?withProjects=true")
    assert answer.status == 200, answer
    went = [(project["name"], project["namespace"], project["workloads"]) for project in answer.json["projects"]]
    assert went == [("team-a", "runai-team-a", 2), ("team-b", "runai-team-b", 0)], answer
    period = {"start": "2000-01-01T00:00:00Z", "end": "2100-01-01T00:00:00Z", "numberOfSamples": 100}
    (record,) = [
        r
        for r in server.get("/api/v1/audit/log", **period).json["audit_logs"]
        if r["action"] == "delete" and r["entity_type"] == "department"
    ]
    assert record["metadata"]["projects"] == "team-a (2 workloads), team-b", record


def test_delete_department_counts_nothing_for_who_may_not_read_it(server):
    research = work_of_research(server)
    allowed = [{"resourceType": "department", "actions": ["read", "delete"]}]
    role = create_role(server, "clears departments", permissionSets=[], permissions=allowed)
    _, token, _ = caller_with(server, "sweeper", role["id"], "department", research.rsplit("/", 1)[1])
    refused = server.request("DELETE", research, token=token)
    assert refused.status == 409 and refused.json["message"].endswith(": work is not over in team-a"), refused
    answer = server.request("DELETE", research + "?withProjects=true", token=token)
    assert [project["workloads"] for project in answer.json["projects"]] == [None, None], answer


def test_delete_department_waits_for_workloads(server):
    server.wait_phase(server.submit("a1", "team-a"), "Running")
    (department,) = server.get(DEPARTMENTS, filterBy="name==research").json["departments"]
    assert server.delete(f"{DEPARTMENTS}/{department['id']}?withProjects=true").status == 200
    server.wait_for("the department is gone", lambda: names(server.get(DEPARTMENTS)) == ["default"])
    assert [p["name"] for p in server.get(PROJECTS).json["projects"]] == ["default"]


def test_default_department_stays(server):
    (department,) = server.get(DEPARTMENTS, filterBy="name==default").json["departments"]
    answer = server.delete(f"{DEPARTMENTS}/{department['id']}")
    assert answer.status == 400 and "default" in answer.json["message"]


def test_nothing_is_created_in_a_department_that_is_being_deleted(server):
    server.wait_phase(
        server.submit(
            "slow", "team-a", spec={"annotations": [{"name": "prorata.io/sim-stop-duration", "value": "20s"}]}
        ),
        "Running",
    )
    (department,) = server.get(DEPARTMENTS, filterBy="name==research").json["departments"]
    assert server.delete(f"{DEPARTMENTS}/{department['id']}?withProjects=true").status == 200
    assert server.get(f"{DEPARTMENTS}/{department['id']}").json["status"]["phase"] == "Deleting"
    refused = create_project(server, department["id"])
    assert refused.status == 400 and "parentId" in refused.json["message"], refused


REFUSED = [
    ("a capital", {"name": "Biology"}, 400, "name"),
    ("no name", {"name": None}, 400, "name"),
    ("a name too long", {"name": "b" * 64}, 400, "name"),
    ("a name that is taken", {"name": "research"}, 409, "research"),
    ("a cluster that is not there", {"clusterId": "7ff1b4de-0000-4000-8000-000000000000"}, 400, "clusterId"),
    ("no cluster", {"clusterId": None}, 400, "clusterId"),
    ("no resources", {"resources": None}, 400, "resources"),
    ("a limit below the quota", {"resources": [{"gpu": {"deserved": 2, "limit": 1}}]}, 400, "resources[0].gpu.limit"),
    ("a pool that is not there", {"resources": [{"nodePool": {"id": "99"}}]}, 400, "resources[0].nodePool.id"),
    ("a rank that is not there", {"resources": [{"rank": "First"}]}, 400, "resources[0].rank"),
    ("a default pool that is not there", {"defaultNodePools": ["h100"]}, 400, "defaultNodePools"),
]


@pytest.mark.parametrize("what,change,status,word", REFUSED, ids=[r[0] for r in REFUSED])
def test_create_department_refuses(module_server, what, change, status, word):
    body = {"name": "refused", "clusterId": module_server.cluster_id(), "resources": []}
    body.update(change)
    answer = module_server.post(DEPARTMENTS, {k: v for k, v in body.items() if v is not None})
    assert answer.status == status and word in answer.json["message"], answer
    assert names(module_server.get(DEPARTMENTS)) == ["default", "research"]


LISTS = [
    ("all by name", {}, ["default", "research"]),
    ("sorted", {"sortBy": "name", "sortOrder": "desc"}, ["research", "default"]),
    ("by quota", {"filterBy": "totalGpuQuota>=4,name!=default"}, ["research"]),
    ("by cluster", {"filterBy": "clusterId=@zzz"}, []),
    ("by average", {"sortBy": "avgGpuUtilization30d"}, ["default", "research"]),
    ("a page", {"limit": 1, "offset": 1}, ["research"]),
]


@pytest.mark.parametrize("what,query,want", LISTS, ids=[r[0] for r in LISTS])
def test_list_departments(module_server, what, query, want):
    assert names(module_server.get(DEPARTMENTS, **query)) == want


def test_count_departments(module_server):
    assert module_server.get(DEPARTMENTS + "/count").json == {"count": 2}
    assert module_server.get(DEPARTMENTS + "/count", filterBy="name==research").json == {"count": 1}


@pytest.mark.parametrize(
    "query", [{"filterBy": "phase==Ready"}, {"sortBy": "phase"}, {"limit": "501"}, {"offset": "-1"}]
)
def test_list_departments_refuses(module_server, query):
    assert module_server.get(DEPARTMENTS, **query).status == 400


@pytest.mark.parametrize("department", ["4711", "research", "2", "0", "99999999999999999999"])
def test_no_such_department(module_server, department):
    for method, path, body in (
        ("GET", "", None),
        ("DELETE", "", None),
        ("PUT", "", {"resources": []}),
        ("PATCH", "/resources", []),
    ):
        answer = module_server.request(method, f"{DEPARTMENTS}/{department}{path}", body)
        assert answer.status == 404, answer


def test_departments_telemetry(module_server):
    answer = module_server.get(DEPARTMENTS + "/telemetry", telemetryType="GPU_QUOTA", groupBy="CLUSTER_ID")
    (value,) = answer.json["values"]
    assert (
        value["value"] == "4"
        and value["groups"][0]["key"] == "CLUSTER_ID"
        and value["groups"][0]["value"] == module_server.cluster_id()
    )
    assert module_server.get(DEPARTMENTS + "/telemetry", telemetryType="GPU_QUOTA", nodepoolName="h100").json[
        "values"
    ] == [{"value": "0"}]
    assert module_server.get(DEPARTMENTS + "/telemetry", telemetryType="GPU_QUOTA", groupBy="ClusterId").status == 400
