"""Everything in the documents' form of a project, and of a department where it has it, is written and read back by the
API."""

import pytest

KINDS = ["projects", "departments"]
UNITS = "/api/v1/org-unit/"

# field, value at creation, another by PUT
FIELDS = [
    ("description", "vision models", "language models"),
    ("defaultNodePools", ["fast", "default"], ["default", "fast"]),
    ("nodeTypes", {"training": ["1", "v100"], "names": {"1": "a100"}}, {"workspace": ["h100"]}),
    *[
        ("schedulingRules", {rule: 3600}, {rule: 60})
        for rule in (
            "interactiveJobTimeLimitSeconds",
            "interactiveJobMaxIdleDurationSeconds",
            "interactiveJobPreemptIdleDurationSeconds",
            "trainingJobTimeLimitSeconds",
            "trainingJobMaxIdleDurationSeconds",
            "preemptMinRuntimeSeconds",
            "reclaimMinRuntimeSeconds",
            "maxWorkloadsPerPerson",
        )
    ],
    ("schedulingRules", {"fairAmongPeople": True, "fairHalfLifeSeconds": 86400}, {"fairAmongPeople": False}),
    *[
        ("schedulingRules", {rule: 0.5}, {rule: 60})
        for rule in ("maxGpusPerPerson", "maxWaitingGpusPerPerson", "gpuHourBudget", "gpuHourBudgetPerPerson")
    ],
    ("schedulingRules", {"budgetPeriod": "week", "budgetEnforcement": "refuse"}, {"budgetPeriod": "quarter"}),
]
# of one node pool's resources: as PATCH takes them, one after the other
AMOUNTS = [
    {"gpu": {"deserved": 2, "limit": 2, "overQuotaWeight": 3}},  # may not exceed its quota: the limit is the quota
    {"gpu": {"deserved": 2, "limit": None, "overQuotaWeight": 0}},
    {"gpu": {"deserved": 0.5, "limit": 3.25, "overQuotaWeight": 1}},
    {"cpu": {"deserved": 4000, "limit": 8000, "overQuotaWeight": 2}},
    {"cpu": {"deserved": None, "limit": None, "overQuotaWeight": 1}},
    {"memory": {"deserved": 1500, "limit": 2000, "overQuotaWeight": 2, "units": "MB"}},
    {"memory": {"deserved": 64, "limit": 128, "overQuotaWeight": 1, "units": "GB"}},
    {"memory": {"deserved": 1024, "limit": None, "overQuotaWeight": 1, "units": "Mib"}},
    {"rank": "VeryHigh", "priority": "VeryHigh"},
]


@pytest.fixture(scope="module")
def pools(module_server):
    fast = module_server.post(
        "/api/v1/node-pools",
        {"name": "fast", "labelKey": "kind", "labelValue": "fast", "clusterId": module_server.cluster_id()},
    )
    assert fast.status == 201, fast
    return {
        pool["name"]: {"id": pool["id"], "name": pool["name"]}
        for pool in module_server.get("/api/v1/node-pools").json["nodepools"]
    }


def make(server, kind, name, **fields):
    answer = server.post(UNITS + kind, {"name": name, "clusterId": server.cluster_id(), "resources": [], **fields})
    assert answer.status == 201, answer
    return answer.json


@pytest.fixture
def remove(module_server):
    """Deletes at the end what is handed to it."""
    made = []
    yield lambda kind, unit: made.append((kind, unit["id"])) or unit
    for kind, unit_id in made:
        assert module_server.delete(f"{UNITS}{kind}/{unit_id}").status == 204


def read(server, kind, unit):
    return server.get(f"{UNITS}{kind}/{unit['id']}").json


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("field, first, second", FIELDS)
def test_a_field_is_written_and_read_back(module_server, pools, remove, kind, field, first, second):
    unit = remove(kind, make(module_server, kind, "formed", **{field: first}))
    assert unit[field] == first and read(module_server, kind, unit)[field] == first
    changed = module_server.request(
        "PUT", f"{UNITS}{kind}/{unit['id']}", {"name": "formed", "resources": unit["resources"], field: second}
    )
    assert changed.status == 200, changed
    assert changed.json[field] == second and read(module_server, kind, unit)[field] == second
    if kind == "projects":
        effective = changed.json["effective"][field] if field != "description" else second
        assert effective == second


def resources_of(unit, pool):
    return next(r for r in unit["resources"] if r["nodePool"]["name"] == pool)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pool", ["default", "fast"])
def test_amounts_of_each_node_pool_are_written_and_read_back(module_server, pools, remove, kind, pool):
    made = remove(kind, make(module_server, kind, "formed", resources=[{"nodePool": pools[pool], **AMOUNTS[0]}]))
    want = resources_of(made, pool)
    assert want["gpu"] == AMOUNTS[0]["gpu"]
    path = f"{UNITS}{kind}/{made['id']}"
    for amounts in AMOUNTS:
        want = {**want, **amounts}
        changed = module_server.request("PATCH", path + "/resources", [{"nodePool": pools[pool], **amounts}])
        assert changed.status == 200, changed
        assert resources_of(read(module_server, kind, made), pool) == want, amounts
    whole = [{"nodePool": pools[pool], **AMOUNTS[0], **AMOUNTS[3]}]
    assert module_server.request("PUT", path + "/resources", whole).status == 200
    after = resources_of(read(module_server, kind, made), pool)
    assert after["gpu"] == AMOUNTS[0]["gpu"] and after["cpu"] == AMOUNTS[3]["cpu"] and after["rank"] == "MediumLow"
    other = next(name for name in pools if name != pool)
    assert resources_of(read(module_server, kind, made), other)["gpu"] == {
        "deserved": 0,
        "limit": None,
        "overQuotaWeight": 2,
    }
    put = module_server.request("PUT", path, {"name": "formed", "resources": [{"nodePool": pools[pool], **AMOUNTS[2]}]})
    assert put.status == 200 and resources_of(put.json, pool)["gpu"] == AMOUNTS[2]["gpu"], put


@pytest.mark.parametrize("asked, shown", [(None, "runai-formed"), ("their-own", "their-own")])
def test_a_namespace_of_its_own(module_server, remove, asked, shown):
    unit = remove("projects", make(module_server, "projects", "formed", requestedNamespace=asked))
    assert unit["requestedNamespace"] == asked and unit["status"]["namespace"] == shown


def test_a_department_is_chosen_and_else_the_default_one(module_server, remove):
    department = remove("departments", make(module_server, "departments", "chosen"))
    inside = make(module_server, "projects", "inside", parentId=department["id"])
    assert inside["parentId"] == department["id"]
    assert remove("projects", make(module_server, "projects", "formed"))["parent"]["name"] == "default"


def test_a_project_that_may_not_exceed_its_quota_stays_within_it(server):
    pool = server.get("/api/v1/node-pools").json["nodepools"][0]
    path = f"{UNITS}projects/{server.project_id('team-a')}"
    strict = [{"nodePool": {"id": pool["id"], "name": "default"}, "gpu": {"deserved": 2, "limit": 2}}]
    assert server.request("PATCH", path + "/resources", strict).status == 200
    server.wait_phase(server.submit("a1", "team-a", 2), "Running")
    over = server.submit("a2", "team-a", 1)

    def sentence():
        return server.get(f"/api/v1/workloads/{over}/explanation").json.get("sentence") or ""

    server.wait_for("the limit in the explanation", lambda: "team-a holds 2 of its limit of 2 GPUs" in sentence())
