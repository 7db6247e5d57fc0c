"""Projects: made, listed, changed, deleted; and what is refused."""

import urllib.parse

import pytest

PROJECTS = "/api/v1/org-unit/projects"


def pool(server, name="default"):
    pools = server.get("/api/v1/node-pools", filterBy=f"name=={name}").json["nodepools"]
    return {"id": pools[0]["id"], "name": name}


def department(server, name="research"):
    return server.get("/api/v1/org-unit/departments", filterBy=f"name=={name}").json["departments"][0]


def create(server, name="team-c", gpus=1, **extra):
    body = {
        "name": name,
        "clusterId": server.cluster_id(),
        "resources": [{"nodePool": pool(server), "gpu": {"deserved": gpus}}],
        **extra,
    }
    return server.post(PROJECTS, body)


def names(answer):
    assert answer.status == 200, answer
    return [p["name"] for p in answer.json["projects"]]


def test_create_project_fills_in_the_defaults(server):
    answer = create(server, gpus=1.5)
    assert answer.status == 201, answer
    project = answer.json
    assert project["parent"]["name"] == "default" and project["parentId"] == project["parent"]["id"]
    assert project["status"]["phase"] == "Ready" and project["status"]["namespace"] == "runai-team-c"
    assert (
        project["description"] == ""
        and project["requestedNamespace"] is None
        and project["enforceRunaiScheduler"] is True
    )
    assert project["createdBy"] == "admin@prorata.local"
    (resources,) = project["resources"]
    assert resources["gpu"] == {"deserved": 1.5, "limit": None, "overQuotaWeight": 2}
    assert (
        resources["cpu"]["deserved"] is None
        and resources["memory"]["deserved"] is None
        and resources["memory"]["units"] == "MB"
    )
    assert resources["priority"] == resources["rank"] == "MediumLow"
    assert project["totalResources"] == {"gpuQuota": 1.5, "cpuQuota": None, "memoryQuota": None}
    assert project["id"].isdigit()
    assert server.get(f"{PROJECTS}/{project['id']}").json == project


def test_create_project_takes_what_it_is_given(server):
    body = {
        "parentId": department(server)["id"],
        "description": "with everything",
        "requestedNamespace": "their-own",
        "schedulingRules": {"trainingJobTimeLimitSeconds": 600, "interactiveJobTimeLimitSeconds": None},
        "defaultNodePools": ["default"],
        "nodeTypes": {"training": ["1"], "names": {"1": "dgx"}},
        "enforceRunaiScheduler": False,
        "resources": [
            {
                "nodePool": pool(server),
                "gpu": {"deserved": 1, "limit": 3, "overQuotaWeight": 0},
                "cpu": {"deserved": 4000, "limit": 8000},
                "memory": {"deserved": 1.5, "limit": 2, "units": "GB"},
                "rank": "High",
            }
        ],
    }
    answer = create(server, **body)
    assert answer.status == 201, answer
    project = answer.json
    assert project["parent"]["name"] == "research" and project["description"] == "with everything"
    assert project["requestedNamespace"] == project["status"]["namespace"] == "their-own"
    assert project["schedulingRules"] == {"trainingJobTimeLimitSeconds": 600}
    assert project["defaultNodePools"] == ["default"] and project["nodeTypes"] == body["nodeTypes"]
    assert project["enforceRunaiScheduler"] is False
    (resources,) = project["resources"]
    assert resources["gpu"] == {"deserved": 1, "limit": 3, "overQuotaWeight": 0}
    assert resources["cpu"] == {"deserved": 4000, "limit": 8000, "overQuotaWeight": 1}
    assert resources["memory"] == {"deserved": 1.5, "limit": 2, "overQuotaWeight": 1, "units": "GB"}
    assert resources["priority"] == "High"
    assert project["totalResources"] == {"gpuQuota": 1, "cpuQuota": 4000, "memoryQuota": 1500}


def test_project_inherits_what_it_does_not_tighten(server):
    body = {
        "name": "strict",
        "clusterId": server.cluster_id(),
        "resources": [],
        "defaultNodePools": ["default"],
        "schedulingRules": {"trainingJobTimeLimitSeconds": 100, "interactiveJobTimeLimitSeconds": 50},
    }
    parent = server.post("/api/v1/org-unit/departments", body).json["id"]
    rules = {
        "trainingJobTimeLimitSeconds": 500,
        "interactiveJobTimeLimitSeconds": 20,
        "trainingJobMaxIdleDurationSeconds": 7,
    }
    project = create(server, parentId=parent, schedulingRules=rules).json
    assert project["effective"]["schedulingRules"] == {
        "trainingJobTimeLimitSeconds": 100,
        "interactiveJobTimeLimitSeconds": 20,
        "trainingJobMaxIdleDurationSeconds": 7,
    }
    assert project["effective"]["defaultNodePools"] == ["default"] and project["defaultNodePools"] is None


def test_minimum_run_times_are_the_nearest(server):
    body = {
        "name": "calm",
        "clusterId": server.cluster_id(),
        "resources": [],
        "schedulingRules": {"preemptMinRuntimeSeconds": 60, "reclaimMinRuntimeSeconds": 90},
    }
    parent = server.post("/api/v1/org-unit/departments", body).json["id"]
    project = create(
        server, parentId=parent, schedulingRules={"preemptMinRuntimeSeconds": 300, "reclaimMinRuntimeSeconds": 0}
    ).json
    assert project["effective"]["schedulingRules"] == {"preemptMinRuntimeSeconds": 300, "reclaimMinRuntimeSeconds": 0}
    other = create(server, parentId=parent, name="other").json
    assert other["effective"]["schedulingRules"] == {"preemptMinRuntimeSeconds": 60, "reclaimMinRuntimeSeconds": 90}


@pytest.mark.parametrize(
    "rule,taker,code",
    [
        ("reclaimMinRuntimeSeconds", {"project": "team-b"}, "NothingToReclaim"),
        (
            "preemptMinRuntimeSeconds",
            {"project": "team-a", "spec": {"priorityClass": "high", "preemptibility": "preemptible"}},
            "NothingToPreempt",
        ),
    ],
)
def test_minimum_run_time_of_a_project_protects(server, rule, taker, code):
    path = f"{PROJECTS}/{server.project_id('team-a')}"
    project = server.get(path).json
    kept = {
        key: project[key]
        for key in ("description", "parentId", "resources", "defaultNodePools", "nodeTypes", "enforceRunaiScheduler")
    }
    assert server.request("PUT", path, {**kept, "schedulingRules": {rule: 3600}}).status == 200
    held = [server.submit(f"a{i}", "team-a") for i in range(4)]
    for workload in held:
        server.wait_phase(workload, "Running")
    until = server.workload(held[3])["guaranteedRuntimeEndsAt"]
    assert (until is not None) == (rule == "preemptMinRuntimeSeconds")
    spec = {**taker.get("spec", {}), "compute": {"gpuDevicesRequest": 1}}
    late = server.submit("late", taker["project"], spec=spec)
    why = server.wait_for(
        "why it waits",
        lambda: next(
            (
                f
                for f in server.get(f"/api/v1/workloads/{late}/explanation").json.get("findings") or []
                if f["code"] == code
            ),
            None,
        ),
    )
    assert (
        why["reclaim"][0]["project"] == "team-a"
        and why["protectedUntil"]
        and why["reclaim"][0]["reason"] == "ProtectedByMinRunTime"
    ), why
    if until:
        ends = {server.workload(workload)["guaranteedRuntimeEndsAt"] for workload in held}
        assert min(ends)[:18] == why["protectedUntil"][:18]
        found = server.get("/api/v1/workloads", filterBy="guaranteedRuntimeEndsAt>=2021-01-01").json["workloads"]
        assert {w["id"] for w in found} == set(held)
    assert server.request("PUT", path, {**kept, "schedulingRules": {rule: 0}}).status == 200
    server.wait_phase(late, "Running")


REFUSED = [
    ("a capital", {"name": "Team"}, 400, "name"),
    (
        "a protection below nothing",
        {"schedulingRules": {"preemptMinRuntimeSeconds": -1}},
        400,
        "preemptMinRuntimeSeconds",
    ),
    (
        "a protection for ever",
        {"schedulingRules": {"reclaimMinRuntimeSeconds": 2**62}},
        400,
        "reclaimMinRuntimeSeconds",
    ),
    ("a bound on people below nothing", {"schedulingRules": {"maxGpusPerPerson": -1}}, 400, "maxGpusPerPerson"),
    ("half a workload", {"schedulingRules": {"maxWorkloadsPerPerson": 0.5}}, 400, "maxWorkloadsPerPerson"),
    ("a protection as text", {"schedulingRules": {"reclaimMinRuntimeSeconds": "1h"}}, 400, "reclaimMinRuntimeSeconds"),
    ("an underscore", {"name": "team_c"}, 400, "name"),
    ("a dash at the end", {"name": "team-"}, 400, "name"),
    ("a digit first", {"name": "1team"}, 400, "name"),
    ("an empty name", {"name": ""}, 400, "name"),
    ("a name too long for its namespace", {"name": "a" * 58}, 400, "name"),
    ("a number as the name", {"name": 5}, 400, "name"),
    ("no name", {"name": None}, 400, "name"),
    ("a namespace that is taken", {"requestedNamespace": "runai-team-a"}, 409, "requestedNamespace"),
    ("a name that is taken", {"name": "team-a"}, 409, "name: project team-a exists in this cluster"),
    ("a namespace that cannot be one", {"requestedNamespace": "No Space"}, 400, "requestedNamespace"),
    ("a cluster that is not there", {"clusterId": "7ff1b4de-0000-4000-8000-000000000000"}, 400, "clusterId"),
    ("a cluster by its name", {"clusterId": "default"}, 400, "clusterId"),
    ("a department that is not there", {"parentId": "4711"}, 400, "parentId"),
    ("a department by its name", {"parentId": "research"}, 400, "parentId"),
    ("a project as the department", {"parentId": "2"}, 400, "parentId"),
    ("no resources", {"resources": None}, 400, "resources"),
    ("resources as an object", {"resources": {}}, 400, "resources"),
    (
        "a pool that is not there",
        {"resources": [{"nodePool": {"id": "99"}, "gpu": {"deserved": 1}}]},
        400,
        "resources[0].nodePool.id",
    ),
    ("a pool without an id", {"resources": [{"nodePool": {"name": "default"}}]}, 400, "nodePool"),
    (
        "the same pool twice",
        {"resources": [{"gpu": {"deserved": 1}}, {"gpu": {"deserved": 1}}]},
        400,
        "resources[1].nodePool.id",
    ),
    ("a text as the quota", {"resources": [{"gpu": {"deserved": "2"}}]}, 400, "gpu.deserved"),
    ("a negative quota", {"resources": [{"gpu": {"deserved": -2}}]}, 400, "resources[0].gpu.deserved"),
    ("a quota finer than a hundredth", {"resources": [{"gpu": {"deserved": 0.001}}]}, 400, "resources[0].gpu.deserved"),
    ("a quota beyond its bound", {"resources": [{"gpu": {"deserved": 1e9}}]}, 400, "resources[0].gpu.deserved"),
    ("a limit below the quota", {"resources": [{"gpu": {"deserved": 2, "limit": 1}}]}, 400, "resources[0].gpu.limit"),
    (
        "a CPU limit below the quota",
        {"resources": [{"cpu": {"deserved": 2000, "limit": 1}}]},
        400,
        "resources[0].cpu.limit",
    ),
    ("a negative weight", {"resources": [{"gpu": {"overQuotaWeight": -1}}]}, 400, "resources[0].gpu.overQuotaWeight"),
    ("memory without units", {"resources": [{"memory": {"deserved": 1}}]}, 400, "memory"),
    ("memory in other units", {"resources": [{"memory": {"deserved": 1, "units": "KB"}}]}, 400, "units"),
    ("a rank that is not there", {"resources": [{"priority": "Highest"}]}, 400, "resources[0].priority"),
    ("a rank that is a number", {"resources": [{"rank": 5}]}, 400, "rank"),
    (
        "a time limit of nothing",
        {"schedulingRules": {"trainingJobTimeLimitSeconds": 0}},
        400,
        "trainingJobTimeLimitSeconds",
    ),
    (
        "a time limit as text",
        {"schedulingRules": {"trainingJobTimeLimitSeconds": "1h"}},
        400,
        "trainingJobTimeLimitSeconds",
    ),
    ("a default pool that is not there", {"defaultNodePools": ["h100"]}, 400, "defaultNodePools"),
    ("a description that is a list", {"description": []}, 400, "description"),
    ("a description without end", {"description": "x" * 5000}, 400, "description"),
]


@pytest.mark.parametrize("what,change,status,word", REFUSED, ids=[r[0] for r in REFUSED])
def test_create_project_refuses(module_server, what, change, status, word):
    body = {"name": "refused", "clusterId": module_server.cluster_id(), "resources": []}
    body.update(change)
    answer = module_server.post(PROJECTS, {k: v for k, v in body.items() if v is not None})
    assert answer.status == status, answer
    assert answer.json["code"] == status and word in answer.json["message"], answer
    assert names(module_server.get(PROJECTS)) == ["default", "team-a", "team-b"]


def test_update_project_replaces_and_keeps_the_name(server):
    project = create(server, description="old", defaultNodePools=["default"]).json
    body = {
        "description": "new",
        "resources": [{"nodePool": pool(server), "gpu": {"deserved": 2}, "priority": "Low"}],
        "name": "other",
    }
    answer = server.request("PUT", f"{PROJECTS}/{project['id']}", body)
    assert answer.status == 200, answer
    assert answer.json["description"] == "new" and answer.json["defaultNodePools"] is None
    assert answer.json["name"] == "team-c" and answer.json["parentId"] == project["parentId"]
    assert answer.json["resources"][0]["gpu"]["deserved"] == 2 and answer.json["resources"][0]["rank"] == "Low"


def test_resources_alone_are_put_and_patched(server):
    path = f"{PROJECTS}/{create(server, gpus=2).json['id']}/resources"
    entry = {"nodePool": pool(server), "gpu": {"limit": 3}}
    patched = server.request("PATCH", path, [entry])
    assert patched.status == 200, patched
    assert patched.json[0]["gpu"] == {"deserved": 2, "limit": 3, "overQuotaWeight": 2}
    put = server.request("PUT", path, [entry])
    assert put.json[0]["gpu"] == {"deserved": 0, "limit": 3, "overQuotaWeight": 2}
    assert server.request("PATCH", path, [{"nodePool": {"id": "99"}}]).status == 400
    assert server.request("PATCH", path, {"nodePool": {"id": "1"}}).status == 400
    assert server.request("PUT", f"{PROJECTS}/4711/resources", []).status == 404


def test_quota_does_not_go_under_what_non_preemptible_workloads_hold(server):
    workload = server.submit("firm", "team-a", gpus=2, kind="workspaces")
    server.wait_phase(workload, "Running")
    path = f"{PROJECTS}/{server.project_id('team-a')}"
    server.wait_for(
        "figures", lambda: server.get(path).json["status"]["quotaStatus"]["allocatedNonPreemptible"]["gpu"] == 2
    )
    refused = server.request("PATCH", path + "/resources", [{"gpu": {"deserved": 1}}])
    assert refused.status == 400 and "non-preemptible workloads hold 2" in refused.json["message"], refused
    assert server.get(path).json["resources"][0]["gpu"]["deserved"] == 2
    assert server.request("PATCH", path + "/resources", [{"gpu": {"deserved": 3}}]).status == 200


def test_quota_status_tells_what_is_held(server):
    server.wait_phase(server.submit("a1", "team-a", gpus=1), "Running")
    path = f"{PROJECTS}/{server.project_id('team-a')}"
    status = server.wait_for(
        "figures",
        lambda: (lambda s: s if s["quotaStatus"]["allocated"]["gpu"] else None)(server.get(path).json["status"]),
    )
    assert status["quotaStatus"]["allocated"]["gpu"] == 1 and status["quotaStatus"]["requested"]["gpu"] == 1
    (entry,) = status["nodePoolQuotaStatuses"]
    assert (
        entry["nodePoolName"] == "default"
        and entry["allocated"]["gpu"] == 1
        and entry["prorata"]["fairShare"]["gpu"] == 1
    )


def test_projects_within_the_departments_quota_where_the_tenant_says_so(server):
    setting = {"key": "limitProjectsToDepartmentQuota", "value": "true"}
    assert create(server, name="before", gpus=100, parentId=department(server)["id"]).status == 201
    assert server.delete(f"{PROJECTS}/{server.project_id('before')}").status == 204
    assert server.request("PUT", "/v1/k8s/setting", setting).status == 200
    refused = create(server, gpus=1, parentId=department(server)["id"])
    assert refused.status == 400 and "more than the department's 4" in refused.json["message"], refused
    assert create(server, gpus=0, parentId=department(server)["id"]).status == 201


def test_delete_project(server):
    project = create(server).json["id"]
    assert server.delete(f"{PROJECTS}/{project}").status == 204
    assert server.get(f"{PROJECTS}/{project}").status == 404
    assert server.delete(f"{PROJECTS}/{project}").status == 404
    assert create(server).json["id"] != project


def test_delete_project_waits_for_its_workloads(server):
    workload = server.submit("a1", "team-a")
    server.wait_phase(workload, "Running")
    project = server.project_id("team-a")
    assert server.delete(f"{PROJECTS}/{project}").status == 202
    server.wait_for("the project is gone", lambda: server.get(f"{PROJECTS}/{project}").status == 404)
    gone = server.get("/api/v1/workloads", deleted="true").json["workloads"]
    assert [w["name"] for w in gone] == ["a1"]


def test_default_project_stays(server):
    answer = server.delete(f"{PROJECTS}/{server.project_id('default')}")
    assert answer.status == 400 and "default" in answer.json["message"]


LISTS = [
    ("all by name", {}, ["default", "team-a", "team-b"]),
    ("sorted", {"sortBy": "name", "sortOrder": "desc"}, ["team-b", "team-a", "default"]),
    ("by quota", {"sortBy": "totalGpuQuota", "filterBy": "name!=default"}, ["team-a", "team-b"]),
    ("by their department", {"filterBy": "parentName==research"}, ["team-a", "team-b"]),
    ("by phase", {"filterBy": "phase==Ready", "limit": 500}, ["default", "team-a", "team-b"]),
    ("by quota and name", {"filterBy": "totalGpuQuota<=2,name=$-b"}, ["team-b"]),
    ("by time", {"filterBy": "createdAt>=2020-01-01T00:00:00Z"}, ["default", "team-a", "team-b"]),
    ("by average", {"filterBy": "avgGpuAllocation24h>=1000"}, []),
    ("search", {"search": "TEAM"}, ["team-a", "team-b"]),
    ("search by the department", {"search": "resea"}, ["team-a", "team-b"]),
    ("a page", {"limit": 1, "offset": 1}, ["team-a"]),
]


@pytest.mark.parametrize("what,query,want", LISTS, ids=[r[0] for r in LISTS])
def test_list_projects(module_server, what, query, want):
    assert names(module_server.get(PROJECTS, **query)) == want


def test_list_projects_says_where_the_next_page_is(module_server):
    assert module_server.get(PROJECTS, limit=2).json["next"] == 2
    assert "next" not in module_server.get(PROJECTS, limit=2, offset=2).json


def test_count_projects(module_server):
    assert module_server.get(PROJECTS + "/count").json == {"count": 3}
    assert module_server.get(PROJECTS + "/count", filterBy="name=^team").json == {"count": 2}
    assert module_server.get(PROJECTS + "/count", search="team-a").json == {"count": 1}


BAD_LISTS = [
    "filterBy=colour==red",
    "filterBy=name",
    "filterBy=totalGpuQuota==two",
    "filterBy=createdAt==monday",
    "sortBy=colour",
    "sortOrder=sideways",
    "limit=0",
    "limit=501",
    "limit=x",
    "offset=-1",
    "filterBy=name==",
]


@pytest.mark.parametrize("query", BAD_LISTS)
def test_list_projects_refuses(module_server, query):
    answer = module_server.get(PROJECTS + "?" + urllib.parse.quote(query, safe="=&"))
    assert answer.status == 400 and query.split("=")[0] in answer.json["message"], answer


@pytest.mark.parametrize("project", ["4711", "team-a", "-1", "0", "99999999999999999999", "1e3", "%00", "1%2F2"])
def test_no_such_project(module_server, project):
    for method, path, body in (
        ("GET", "", None),
        ("DELETE", "", None),
        ("PUT", "", {"resources": []}),
        ("PATCH", "/resources", []),
    ):
        answer = module_server.request(method, f"{PROJECTS}/{project}{path}", body)
        assert answer.status in (400, 404), answer


def test_priorities_and_ranks(module_server):
    priorities = module_server.get("/api/v1/org-unit/priorities").json["priorities"]
    assert [p["name"] for p in priorities if p["isDefault"]] == ["MediumLow"]
    assert [p["value"] for p in priorities] == sorted(p["value"] for p in priorities)
    assert module_server.get("/api/v1/org-unit/ranks").json["ranks"] == priorities


TELEMETRY = [
    ("GPU_QUOTA", {}, [("4", [])]),
    ("GPU_QUOTA", {"groupBy": "ParentId"}, [("0", ["default"]), ("4", ["research"])]),
    ("GPU_QUOTA", {"groupBy": "ParentId,NodepoolId"}, [("0", ["default", "default"]), ("4", ["research", "default"])]),
    ("GPU_QUOTA", {"departmentId": "3"}, [("4", [])]),
    ("GPU_QUOTA", {"departmentId": "4711"}, [("0", [])]),
    ("GPU_ALLOCATION", {}, [("0", [])]),
    ("CPU_QUOTA", {}, [("0", [])]),
]


@pytest.mark.parametrize("kind,query,want", TELEMETRY)
def test_projects_telemetry(module_server, kind, query, want):
    answer = module_server.get(PROJECTS + "/telemetry", telemetryType=kind, **query)
    assert answer.status == 200 and answer.json["type"] == kind, answer
    assert [(v["value"], [g["name"] for g in v.get("groups", [])]) for v in answer.json["values"]] == want


def test_projects_telemetry_refuses(module_server):
    assert module_server.get(PROJECTS + "/telemetry").status == 400
    assert module_server.get(PROJECTS + "/telemetry", telemetryType="GPU_COLOUR").status == 400
    assert module_server.get(PROJECTS + "/telemetry", telemetryType="GPU_QUOTA", groupBy="Colour").status == 400
