"""Node pools: made, changed, deleted; which node is in which; and what is refused."""

import pytest

POOLS = "/api/v1/node-pools"
PROJECTS = "/api/v1/org-unit/projects"


@pytest.fixture
def cluster(make_server, folder):
    """Two plain nodes and one with a label, all in the default pool."""
    path = folder / "cluster.yaml"
    path.write_text(
        "nodes:\n- {name: plain-1, gpus: 2, cpuCores: 16, memoryBytes: 68719476736}\n"
        "- {name: plain-2, gpus: 2, cpuCores: 16, memoryBytes: 68719476736}\n"
        "- {name: big-1, gpus: 8, cpuCores: 64, memoryBytes: 274877906944, labels: {team.io/kind: big}}\n"
    )
    return make_server("--cluster", str(path))


def create(server, **change):
    body = {"name": "big", "clusterId": server.cluster_id(), "labelKey": "team.io/kind", "labelValue": "big"}
    body.update(change)
    return server.post(POOLS, {k: v for k, v in body.items() if v is not None})


def pool(server, name):
    found = server.get(POOLS, filterBy=f"name=={name}").json["nodepools"]
    return found[0] if found else None


def pool_of(server, node):
    return server.get("/api/v1/nodes", filterBy=f"name=={node}").json["nodes"][0]["nodePool"]


def test_the_scheduler_sees_what_a_pool_is_told(cluster):
    """From the API to the scheduler's snapshot, setting by setting, and back to the defaults."""

    def seen():
        return next(
            (p for p in cluster.get("/api/v1/scheduler/snapshot").json["nodePools"] if p["name"] == "big"), None
        )

    plain = {
        "name": "big",
        "placementStrategy": {"gpu": "binpack", "cpu": "binpack"},
        "preemptMinRuntimeSeconds": 0,
        "reclaimMinRuntimeSeconds": 0,
        "timeBasedFairshare": {"kValue": 0},
        "reclaimByRank": True,
    }
    made = create(cluster).json
    cluster.wait_for("the pool", lambda: seen() == plain)
    path = f"{POOLS}/{made['id']}"
    share = {"enabled": True, "historicalUsageWeight": 2.5, "windowDuration": "3d"}
    for settings, change in [
        (
            {"placementStrategy": {"gpu": "fragmentation", "cpu": "spread"}},
            {"placementStrategy": {"gpu": "fragmentation", "cpu": "spread"}},
        ),
        ({"minGuaranteedRuntime": "90s"}, {"preemptMinRuntimeSeconds": 90, "reclaimMinRuntimeSeconds": 90}),
        ({"reservation": True}, {"reservation": True}),
        ({"reclaimByRank": True}, {}),
        ({"timeBasedFairShare": share}, {"timeBasedFairshare": {"kValue": 2.5}}),
        ({"timeBasedFairShare": {**share, "enabled": False}}, {}),
    ]:
        assert (
            cluster.request(
                "PUT", path, {"labelKey": "team.io/kind", "labelValue": "big", "schedulingConfiguration": settings}
            ).status
            == 200
        )
        cluster.wait_for(f"{settings} in {seen()}", lambda: seen() == {**plain, **change})
    without_rank = {key: value for key, value in plain.items() if key != "reclaimByRank"}
    assert cluster.request("PATCH", path, {"schedulingConfiguration": {"reclaimByRank": False}}).status == 200
    cluster.wait_for("rank does not decide", lambda: seen() == without_rank)


def test_create_nodepool_takes_the_nodes_with_its_label(cluster):
    answer = create(cluster)
    assert answer.status == 201, answer
    made = answer.json
    assert made["phase"] == "Ready" and made["status"]["nodes"] == ["big-1"] and made["isDefault"] is False
    assert (
        made["labelKey"] == "team.io/kind"
        and made["labelValue"] == "big"
        and made["createdBy"] == "admin@prorata.local"
    )
    assert (
        made["placementStrategy"]
        == made["schedulingConfiguration"]["placementStrategy"]
        == {"cpu": "binpack", "gpu": "binpack"}
    )
    assert made["overProvisioningRatio"] == 1 and made["schedulingConfiguration"]["minGuaranteedRuntime"] == "0"
    assert cluster.get(f"{POOLS}/{made['id']}").json == made
    assert pool_of(cluster, "big-1") == "big" and pool_of(cluster, "plain-1") == "default"
    assert pool(cluster, "default")["status"]["nodes"] == ["plain-1", "plain-2"]


def test_create_nodepool_without_nodes_is_empty(cluster):
    assert create(cluster, labelValue="small").json["phase"] == "Empty"


def test_create_nodepool_gives_everybody_a_queue(cluster):
    made = create(cluster).json
    for path, key in ((PROJECTS, "projects"), ("/api/v1/org-unit/departments", "departments")):
        for unit in cluster.get(path).json[key]:
            entry = next(r for r in unit["resources"] if r["nodePool"]["name"] == "big")
            assert entry["nodePool"]["id"] == made["id"]
            assert entry["gpu"] == {"deserved": 0, "limit": None, "overQuotaWeight": 2}
            assert entry["cpu"]["deserved"] is None and entry["memory"]["deserved"] is None


def test_update_nodepool_replaces_and_patch_keeps(cluster):
    made = create(
        cluster,
        placementStrategy={"gpu": "spread"},
        overProvisioningRatio=2,
        gpuNetworkAccelerationDetection="Use",
        gpuResourceOptimization={"swapEnabled": True},
        schedulingConfiguration={"minGuaranteedRuntime": "1h30m"},
    ).json
    path = f"{POOLS}/{made['id']}"
    assert (
        made["placementStrategy"]["gpu"] == "spread"
        and made["schedulingConfiguration"]["minGuaranteedRuntime"] == "1h30m"
    )
    assert made["gpuResourceOptimization"] == {"swapEnabled": True} and made["gpuNetworkAccelerationDetection"] == "Use"
    patched = cluster.request("PATCH", path, {"schedulingConfiguration": {"placementStrategy": {"cpu": "spread"}}})
    assert patched.status == 200, patched
    assert patched.json["placementStrategy"] == {"cpu": "spread", "gpu": "spread"}
    assert (
        patched.json["overProvisioningRatio"] == 2
        and patched.json["schedulingConfiguration"]["minGuaranteedRuntime"] == "1h30m"
    )
    put = cluster.request("PUT", path, {"labelValue": "small"})
    assert put.status == 200, put
    assert (
        put.json["placementStrategy"] == {"cpu": "binpack", "gpu": "binpack"} and put.json["overProvisioningRatio"] == 1
    )
    assert put.json["labelKey"] == "team.io/kind" and put.json["labelValue"] == "small" and put.json["name"] == "big"
    assert put.json["phase"] == "Empty" and pool_of(cluster, "big-1") == "default"


def test_delete_nodepool_gives_its_nodes_back(cluster):
    made = create(cluster).json
    assert cluster.delete(f"{POOLS}/{made['id']}").status == 204
    assert cluster.get(f"{POOLS}/{made['id']}").status == 404 and cluster.delete(f"{POOLS}/{made['id']}").status == 404
    assert pool_of(cluster, "big-1") == "default"
    assert all(len(p["resources"]) == 1 for p in cluster.get(PROJECTS).json["projects"])
    assert create(cluster).status == 201, "the name and the label are free again"


def test_delete_nodepool_forgets_it_as_a_default(cluster):
    made = create(cluster).json
    project = cluster.post(
        PROJECTS,
        {"name": "fond", "clusterId": cluster.cluster_id(), "resources": [], "defaultNodePools": ["big", "default"]},
    ).json
    assert project["defaultNodePools"] == ["big", "default"]
    cluster.delete(f"{POOLS}/{made['id']}")
    assert cluster.get(f"{PROJECTS}/{project['id']}").json["defaultNodePools"] == ["default"]


def resources(server, **quotas):
    """Quotas by node pool."""
    return [
        {"nodePool": {"id": pool(server, name)["id"]}, "gpu": {"deserved": quota}} for name, quota in quotas.items()
    ]


def make_project(server, name, parent=None, order=None, **quotas):
    body = {"name": name, "clusterId": server.cluster_id(), "resources": resources(server, **quotas)}
    made = server.post(
        PROJECTS,
        {**body, **({"parentId": parent} if parent else {}), **({"defaultNodePools": order} if order else {})},
    )
    assert made.status == 201, made
    return made.json["id"]


def order_of(server, project):
    return server.get(f"{PROJECTS}/{project}").json["effective"]["defaultNodePools"]


# What it is called, quotas by pool, the project's own order, the department's, where work goes that names no pool.
ORDERS = [
    ("no quota at all", {}, None, None, None),
    ("quota in the default pool", {"default": 1, "big": 4}, None, None, None),
    ("quota in another pool alone", {"big": 4}, None, None, ["big"]),
    ("most quota first, then by name", {"big": 2, "a": 2, "z": 3}, None, None, ["z", "a", "big"]),
    ("its own order before its quota", {"big": 4}, ["default", "z"], None, ["default", "z"]),
    ("its department's order before its quota", {"big": 4}, None, ["z"], ["z"]),
]


@pytest.mark.parametrize("quotas, own, above, want", [o[1:] for o in ORDERS], ids=[o[0] for o in ORDERS])
def test_work_that_names_no_pool_goes_where_its_project_has_quota(cluster, quotas, own, above, want):
    create(cluster)
    for name in ("a", "z"):
        assert create(cluster, name=name, labelValue=name).status == 201
    body = {"name": "above", "clusterId": cluster.cluster_id(), "resources": []}
    department = cluster.post(
        "/api/v1/org-unit/departments", {**body, **({"defaultNodePools": above} if above else {})}
    ).json["id"]
    project = make_project(cluster, "some", department, own, **quotas)
    assert order_of(cluster, project) == want
    assert cluster.get(PROJECTS, filterBy="name==some").json["projects"][0]["effective"]["defaultNodePools"] == want
    workload = cluster.submit("w", "some", gpus=1)
    assert cluster.workload(workload)["requestedNodePools"] == (want or ["default"])
    seen = cluster.wait_for(
        "the scheduler has it",
        lambda: [w for w in cluster.get("/api/v1/scheduler/snapshot").json["workloads"] if w["name"] == "w"],
    )
    assert seen[0].get("nodePools", ["default"]) == (want or ["default"])


def test_a_first_quota_sends_what_waits_to_its_pool(cluster):
    create(cluster)
    project = make_project(cluster, "some")
    workload = cluster.submit("w", "some", gpus=8)
    cluster.wait_for("why it waits", lambda: cluster.workload(workload).get("explanation"))
    (group,) = cluster.get("/api/v1/scheduler/waiting").json["groups"]
    assert group["nodePool"] == "default"
    question = {"projects": [{"id": project, "resources": resources(cluster, big=4)}]}
    asked = cluster.post("/api/v1/scheduler/what-if/quota", question).json
    assert [(w["workload"], w["outcome"]) for w in asked["workloads"]] == [("w", "Starts")], asked
    assert (
        cluster.request("PATCH", f"{PROJECTS}/{project}/resources", question["projects"][0]["resources"]).status == 200
    )
    cluster.wait_phase(workload, "Running")
    assert order_of(cluster, project) == ["big"]
    back = {"projects": [{"id": project, "resources": resources(cluster, big=0)}]}
    assert cluster.post("/api/v1/scheduler/what-if/quota", back).json["verdict"] == "NoEffect", "what runs stays"
    assert cluster.delete(f"/api/v1/workloads/trainings/{workload}").status == 202
    cluster.wait_for("it is gone", lambda: not cluster.get("/api/v1/workloads").json["workloads"])
    assert cluster.delete(f"{POOLS}/{pool(cluster, 'big')['id']}").status == 204
    assert order_of(cluster, project) is None


def test_delete_nodepool_refuses_while_pods_run_in_it(cluster):
    made = create(cluster).json
    cluster.wait_phase(cluster.submit("runs", "default", gpus=4, spec={"nodePools": ["big"]}), "Running")
    refused = cluster.delete(f"{POOLS}/{made['id']}")
    assert refused.status == 400 and "runs" in refused.json["message"], refused
    assert pool_of(cluster, "big-1") == "big"


def test_who_names_a_pool_that_is_gone_waits_for_it(cluster):
    """And goes nowhere else unasked; who names another one that is there goes to it."""
    made = create(cluster).json
    workloads = {
        name: cluster.submit(name, "default", spec={"nodePools": pools})
        for name, pools in (("alone", ["big"]), ("other", ["big", "default"]))
    }
    for workload in workloads.values():
        cluster.wait_phase(workload, "Running")
        assert cluster.post(f"/api/v1/workloads/trainings/{workload}/suspend").status == 202
        cluster.wait_phase(workload, "Stopped")
    assert cluster.delete(f"{POOLS}/{made['id']}").status == 204
    for workload in workloads.values():
        assert cluster.post(f"/api/v1/workloads/trainings/{workload}/resume").status == 202
    cluster.wait_phase(workloads["other"], "Running")

    def why():
        return (cluster.get(f"/api/v1/workloads/{workloads['alone']}").json["explanation"] or {}).get("sentence")

    cluster.wait_for("it says why", lambda: why())
    assert why() == "Waits for node pool big, which is gone; submit it to another one."
    assert cluster.get(f"/api/v1/workloads/{workloads['alone']}").json["phase"] == "Pending"
    assert create(cluster).status == 201
    cluster.wait_phase(workloads["alone"], "Running")


def test_default_nodepool_keeps_what_makes_it_so(cluster):
    default = pool(cluster, "default")
    assert default["isDefault"] is True
    assert cluster.delete(f"{POOLS}/{default['id']}").status == 400
    assert cluster.request("PATCH", f"{POOLS}/{default['id']}", {"labelKey": "a", "labelValue": "b"}).status == 400
    assert (
        cluster.request("PATCH", f"{POOLS}/{default['id']}", {"placementStrategy": {"gpu": "spread"}}).json[
            "placementStrategy"
        ]["gpu"]
        == "spread"
    )


REFUSED = [
    ("no name", {"name": None}, "name"),
    ("a capital", {"name": "Big"}, "name"),
    ("an empty name", {"name": ""}, "name"),
    ("a name too long", {"name": "b" * 64}, "name"),
    ("a name that is taken", {"name": "default"}, "default"),
    ("no label key", {"labelKey": None}, "labelKey"),
    ("a label key with a blank", {"labelKey": "a b"}, "labelKey"),
    ("a label key with two prefixes", {"labelKey": "a/b/c"}, "labelKey"),
    ("a label key that ends in a dash", {"labelKey": "team.io/kind-"}, "labelKey"),
    ("a label value with a slash", {"labelValue": "a/b"}, "labelValue"),
    ("a label value too long", {"labelValue": "a" * 64}, "labelValue"),
    ("an empty label value", {"labelValue": ""}, "labelValue"),
    ("a cluster that is not there", {"clusterId": "7ff1b4de-0000-4000-8000-000000000000"}, "clusterId"),
    ("a placement that is not there", {"placementStrategy": {"gpu": "random"}}, "placementStrategy"),
    ("a ratio beyond its bound", {"overProvisioningRatio": 6}, "overProvisioningRatio"),
    ("a runtime that is none", {"schedulingConfiguration": {"minGuaranteedRuntime": "soon"}}, "minGuaranteedRuntime"),
    (
        "a topology that is not there",
        {"networkTopologyId": "7ff1b4de-0000-4000-8000-000000000000"},
        "networkTopologyId",
    ),
]


@pytest.mark.parametrize("what,change,word", REFUSED, ids=[r[0] for r in REFUSED])
def test_create_nodepool_refuses(module_server, what, change, word):
    answer = create(module_server, **change)
    assert answer.status == 400 and word in answer.json["message"], answer
    assert module_server.get(POOLS + "/count").json == {"count": 1}


def test_label_belongs_to_one_pool(server):
    assert create(server).status == 201
    refused = create(server, name="again")
    assert refused.status == 400 and "labelValue" in refused.json["message"], refused
    other = create(server, name="again", labelValue="other").json
    refused = server.request("PATCH", f"{POOLS}/{other['id']}", {"labelValue": "big"})
    assert refused.status == 400 and "labelValue" in refused.json["message"], refused


LISTS = [
    ("all", {}, ["default", "big"]),
    ("sorted", {"sortBy": "name"}, ["big", "default"]),
    ("by phase", {"filterBy": "phase==Empty"}, ["big"]),
    ("by a setting", {"filterBy": "swapEnabled==true"}, ["big"]),
    ("by the lack of one", {"filterBy": "nodeLevelSchedulerEnabled==false"}, ["default", "big"]),
    ("by detection", {"filterBy": "gpuNetworkAccelerationDetection==Auto"}, ["default", "big"]),
    ("by topology", {"filterBy": "networkTopologyName==x"}, []),
    ("a page", {"limit": 1, "offset": 1}, ["big"]),
]


def test_list_nodepools(server):
    create(server, gpuResourceOptimization={"swapEnabled": True})
    for what, query, want in LISTS:
        answer = server.get(POOLS, **query)
        assert answer.status == 200 and [p["name"] for p in answer.json["nodepools"]] == want, (what, answer)
        if "limit" not in query:
            query.pop("sortBy", None)
            assert server.get(POOLS + "/count", **query).json == {"count": len(want)}, what


@pytest.mark.parametrize(
    "query", [{"filterBy": "nodes==1"}, {"sortBy": "nodes"}, {"filterBy": "swapEnabled==maybe"}, {"limit": "0"}]
)
def test_list_nodepools_refuses(module_server, query):
    assert module_server.get(POOLS, **query).status == 400


@pytest.mark.parametrize("name", ["4711", "default", "0", "99999999999999999999"])
def test_no_such_nodepool(module_server, name):
    for method, body in (("GET", None), ("DELETE", None), ("PUT", {}), ("PATCH", {})):
        assert module_server.request(method, f"{POOLS}/{name}", body).status == 404


def test_scheduling_settings_are_kept_with_their_defaults(cluster):
    made = create(
        cluster,
        schedulingConfiguration={
            "placementStrategy": {"gpu": "fragmentation"},
            "reservation": True,
            "timeBasedFairShare": {"enabled": True, "decayHalfLife": "12h"},
        },
    )
    assert made.status == 201, made
    settings = made.json["schedulingConfiguration"]
    assert (
        settings["placementStrategy"] == {"cpu": "binpack", "gpu": "fragmentation"} and settings["reservation"] is True
    )
    assert settings["timeBasedFairShare"] == {
        "enabled": True,
        "historicalUsageWeight": 1,
        "decayHalfLife": "12h",
        "windowType": "sliding",
        "windowDuration": "7d",
    }
    path = f"{POOLS}/{made.json['id']}"
    changed = cluster.request("PATCH", path, {"schedulingConfiguration": {"reservation": False}}).json[
        "schedulingConfiguration"
    ]
    assert (
        changed["reservation"] is False
        and changed["reclaimByRank"] is True
        and changed["timeBasedFairShare"] == settings["timeBasedFairShare"]
    )
    changed = cluster.request("PATCH", path, {"schedulingConfiguration": {"timeBasedFairShare": None}}).json[
        "schedulingConfiguration"
    ]
    assert "timeBasedFairShare" not in changed and changed["placementStrategy"]["gpu"] == "fragmentation"


BAD_SETTINGS = [
    (
        "a strategy that does not exist",
        {"placementStrategy": {"gpu": "best"}},
        "schedulingConfiguration.placementStrategy.gpu",
    ),
    (
        "fragmentation is of GPUs alone",
        {"placementStrategy": {"cpu": "fragmentation"}},
        "schedulingConfiguration.placementStrategy.cpu",
    ),
    ("rank decides or does not", {"reclaimByRank": 1}, "schedulingConfiguration.reclaimByRank"),
    ("a reservation is on or off", {"reservation": "yes"}, "schedulingConfiguration.reservation"),
    ("fair share is an object", {"timeBasedFairShare": True}, "schedulingConfiguration.timeBasedFairShare"),
    (
        "a weight below 0",
        {"timeBasedFairShare": {"historicalUsageWeight": -1}},
        "timeBasedFairShare.historicalUsageWeight",
    ),
    ("a half life without a unit", {"timeBasedFairShare": {"decayHalfLife": "12"}}, "timeBasedFairShare.decayHalfLife"),
    ("an empty window", {"timeBasedFairShare": {"windowDuration": "0"}}, "timeBasedFairShare.windowDuration"),
    ("a window of another kind", {"timeBasedFairShare": {"windowType": "hopping"}}, "timeBasedFairShare.windowType"),
    (
        "a tumbling window that never began",
        {"timeBasedFairShare": {"windowType": "tumbling"}},
        "timeBasedFairShare.tumblingWindowStartTime",
    ),
    (
        "a beginning that is no time",
        {"timeBasedFairShare": {"windowType": "tumbling", "tumblingWindowStartTime": "monday"}},
        "timeBasedFairShare.tumblingWindowStartTime",
    ),
]


def test_bad_scheduling_settings_name_their_field(cluster):
    for name, settings, field in BAD_SETTINGS:
        answer = create(cluster, schedulingConfiguration=settings)
        assert answer.status == 400 and field in answer.json["message"], (name, answer)
    assert pool(cluster, "big") is None
