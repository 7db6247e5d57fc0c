"""Tenant settings act from the next cycle on: in shares, decisions, explanations, the exported snapshot; what would
not act is refused."""

import json
import subprocess

import pytest
from servers import PRORATA

CLUSTER = """
nodes:
- {name: n, gpus: 12, cpuCores: 24, memoryBytes: 240Gi}
"""


@pytest.fixture
def cluster(make_server, folder):
    (folder / "cluster.yaml").write_text(CLUSTER)
    return make_server("--cluster", str(folder / "cluster.yaml")).give_default(12)


def put(server, key, value):
    answer = server.request("PUT", "/v1/k8s/setting", {"key": key, "value": value})
    assert answer.status == 200, answer


def unit(server, kind, name, parent=None, **amounts):
    pool = server.get("/api/v1/node-pools").json["nodepools"][0]
    resources = {
        "nodePool": {"id": pool["id"], "name": "default"},
        "gpu": {"deserved": amounts.pop("gpus", 0), **amounts.pop("gpu", {})},
        **amounts,
    }
    answer = server.post(
        f"/api/v1/org-unit/{kind}",
        {
            "name": name,
            "clusterId": server.cluster_id(),
            "resources": [resources],
            **({"parentId": parent["id"]} if parent else {}),
        },
    )
    assert answer.status == 201, answer
    return answer.json


def tree(server, resource="gpu"):
    answer = server.get("/api/v1/scheduler/fairshare", nodePool="default", resource=resource)
    return answer.json["root"] if answer.status == 200 else None


def leaves(node):
    return (
        {node["name"]: node}
        if node["kind"] == "project"
        else {name: leaf for child in node["children"] for name, leaf in leaves(child).items()}
    )


def wait_shares(server, want, resource="gpu"):
    def look():
        root = tree(server, resource)
        found = {name: leaf["fairShare"] for name, leaf in leaves(root).items()} if root else {}
        return all(found.get(name) == share for name, share in want.items()) and root

    return server.wait_for(f"shares {want}", look)


def test_over_quota_follows_the_quota_where_weights_are_off(cluster):
    for name, quota in (("one", 1), ("three", 3), ("none", 0)):
        unit(cluster, "projects", name, gpus=quota)
        cluster.submit(f"{name}-job", name, 1, spec={"parallelism": 12, "completions": 12})
    wait_shares(
        cluster, {"one": 4, "three": 6, "none": 2}
    )  # of the 8 over quota a third each, the odd ones to the older
    put(cluster, "overQuotaWeight", False)
    root = wait_shares(cluster, {"one": 3, "three": 9, "none": 0})
    assert {name: leaf["weight"] for name, leaf in leaves(root).items() if name != "default"} == {
        "one": 1,
        "three": 3,
        "none": 0,
    }

    def held():
        return {
            w["projectName"]: w["allocatedResources"]["gpu"] for w in cluster.get("/api/v1/workloads").json["workloads"]
        }

    cluster.wait_for("the new shares in force", lambda: held().get("three", 0) >= 9)
    snapshot = cluster.get("/api/v1/scheduler/snapshot").json
    weights = {p["name"]: p["resources"][0]["gpu"]["overQuotaWeight"] for p in snapshot["projects"]}
    assert (weights["one"], weights["three"], weights["none"]) == (1, 3, 0)
    assert (
        cluster.get("/api/v1/org-unit/projects", filterBy="name==one").json["projects"][0]["resources"][0]["gpu"][
            "overQuotaWeight"
        ]
        == 2
    )
    put(cluster, "overQuotaWeight", True)
    wait_shares(cluster, {"one": 4, "three": 6, "none": 2})


def test_over_quota_of_cpu_and_memory_follows_their_own_quotas(cluster):
    put(cluster, "overQuotaWeight", False)
    for name, quota in (("one", 1), ("three", 3)):
        unit(cluster, "projects", name, cpu={"deserved": 1000 * quota}, memory={"deserved": 20 * quota, "units": "GB"})
        cluster.submit(
            f"{name}-job",
            name,
            0,
            spec={"compute": {"cpuCoreRequest": 1, "cpuMemoryRequest": "10Gi"}, "parallelism": 24, "completions": 24},
        )
    wait_shares(cluster, {"one": 6, "three": 18}, "cpu")
    root = wait_shares(cluster, {}, "memory")
    shares = {name: leaf["fairShare"] for name, leaf in leaves(root).items()}
    assert abs(shares["three"] / shares["one"] - 3) < 1e-3, shares


def test_a_quota_of_zero_still_borrows_what_is_free(cluster):
    put(cluster, "overQuotaWeight", False)
    unit(cluster, "projects", "none")
    cluster.wait_phase(cluster.submit("a", "none", 3), "Running")


def test_departments_play_no_role_where_they_are_off(cluster, folder):
    small = unit(cluster, "departments", "small", gpus=2, gpu={"limit": 3})
    inside = unit(cluster, "projects", "inside", small, gpus=2)
    unit(cluster, "projects", "outside", gpus=2)
    job = cluster.submit("wide", "inside", 6)
    cluster.wait_phase(job, "Pending")

    def sentence():
        return (cluster.get(f"/api/v1/workloads/{job}/explanation").json or {}).get("sentence") or ""

    cluster.wait_for(
        "the department's limit", lambda: "the limit of department small in node pool default is 3 GPUs" in sentence()
    )
    put(cluster, "departments", False)
    cluster.wait_phase(job, "Running")
    root = wait_shares(cluster, {"inside": 6})
    (everybody,) = root["children"]
    assert everybody["id"] is None and {"inside", "outside", "default"} == {
        child["name"] for child in everybody["children"]
    }
    snapshot = cluster.get("/api/v1/scheduler/snapshot").json
    assert snapshot["settings"]["fullHierarchyFairness"] is False
    (folder / "s.json").write_text(json.dumps(snapshot))
    assert subprocess.run([PRORATA, "simulate", str(folder / "s.json")], capture_output=True).returncode == 0
    put(cluster, "limitProjectsToDepartmentQuota", True)
    more = [{"nodePool": inside["resources"][0]["nodePool"], "gpu": {"deserved": 5}}]
    assert cluster.request("PATCH", f"/api/v1/org-unit/projects/{inside['id']}/resources", more).status == 200
    put(cluster, "departments", True)
    refused = cluster.request(
        "PATCH", f"/api/v1/org-unit/projects/{inside['id']}/resources", [{**more[0], "gpu": {"deserved": 6}}]
    )
    assert refused.status == 400 and "more than the department's 2" in refused.json["message"], refused


def test_quotas_of_cpu_and_memory_play_no_role_where_they_are_off(cluster):
    unit(
        cluster,
        "projects",
        "tight",
        gpus=4,
        cpu={"deserved": 1000, "limit": 2000},
        memory={"deserved": 100, "limit": 200, "units": "MB"},
    )
    compute = {"compute": {"gpuDevicesRequest": 1, "cpuCoreRequest": 4, "cpuMemoryRequest": "1G"}}
    job = cluster.submit("job", "tight", 1, "workspaces", compute)
    cluster.wait_for(
        "the limit",
        lambda: (
            cluster.workload(job)["phase"] == "Pending" and cluster.get("/api/v1/scheduler/snapshot").json["workloads"]
        ),
    )
    asked = cluster.post(
        "/api/v1/scheduler/what-if",
        {
            "type": "Workspace",
            "workload": {
                "name": "asked",
                "projectId": cluster.project_id("tight"),
                "clusterId": cluster.cluster_id(),
                "spec": {"image": "x", **compute},
            },
        },
    )
    assert asked.json["verdict"] == "Waits", asked
    put(cluster, "cpuQuota", "false")
    cluster.wait_phase(job, "Running")


@pytest.mark.parametrize(
    "path, body, named",
    [
        ("/v1/k8s/setting", {"key": "magic", "value": True}, "key: there is no setting magic"),
        ("/api/v1/security/settings/autoRedirectSSO", {"enabled": True, "idpAlias": "x"}, "autoRedirectSSO.enabled: "),
        ("/api/v1/security/settings/logoutRedirectUri", {"uri": "https://example.org"}, "logoutRedirectUri.uri: "),
    ],
)
def test_what_would_not_act_is_refused_by_name(module_server, path, body, named):
    refused = module_server.request("PUT", path, body)
    assert refused.status == 400 and refused.json["message"].startswith(named), refused


@pytest.mark.parametrize(
    "path, body",
    [
        ("/api/v1/security/settings/autoRedirectSSO", {"enabled": False, "idpAlias": None}),
        ("/api/v1/security/settings/logoutRedirectUri", {"uri": None}),
    ],
)
def test_what_is_so_already_is_taken(module_server, path, body):
    assert module_server.request("PUT", path, body).status == 200


@pytest.mark.parametrize(
    ("body", "form"),
    [
        ({"cpuQuota": True}, '{"key": "cpuQuota", "value": true}'),
        ({"x": 1, "departments.enabled": "false"}, '{"key": "overQuotaWeight", "value": false}'),
        ({}, '{"key": "overQuotaWeight", "value": false}'),
    ],
)
def test_a_setting_as_a_member_is_told_its_form(server, body, form):
    answer = server.request("PUT", "/v1/k8s/setting", body)
    assert (answer.status, answer.json["message"]) == (400, f"key: required, as in {form}")
    assert server.request("PUT", "/v1/k8s/setting", json.loads(form)).status == 200
