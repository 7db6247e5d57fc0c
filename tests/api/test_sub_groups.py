"""Sub-groups and topology requirements of distributed workloads: what HTTP decides of a submission is what `simulate`
decides of the same snapshot; what is refused; what the client and what-if say; what a topology in use refuses."""

import json
import pathlib
import subprocess
import sys

import pytest
from servers import PRORATA, Client, Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "scheduler"))
from clusters import cluster, node, project, simulate

LEVELS = ["zone", "rack", "host"]
# Two zones; racks of 3, 4 and 4 GPUs.
NODES = {
    "h0": (1, "z0", "r0"),
    "h1": (2, "z0", "r0"),
    "h2": (4, "z0", "r1"),
    "h3": (2, "z1", "r2"),
    "h4": (2, "z1", "r2"),
}


def at(level, preferred=None):
    return {"name": "dc", "required": level, "preferred": preferred}


def leaf(name, workers=0, **more):
    return {"name": name, "workers": workers, **more}


# A sentence, GPUs of a pod, the shape, whether there is a master, and how many pods get a place.
SHAPES = [
    ("a whole in one rack", 1, {"topology": at("rack"), "numWorkers": 4}, False, 4),
    ("in no rack there is room for five", 1, {"topology": at("rack"), "numWorkers": 5}, False, 0),
    ("in a zone there is", 1, {"topology": at("zone", "host"), "numWorkers": 5}, False, 5),
    ("preferred, and not to be had", 1, {"topology": at(None, "rack"), "numWorkers": 6}, False, 6),
    (
        "each part in a rack of its own",
        1,
        {"subGroups": [leaf("b", 4, topology=at("rack")), leaf("a", 3, topology=at("rack"))]},
        False,
        7,
    ),
    (
        "one of the parts has no rack",
        1,
        {"subGroups": [leaf("b", 4, topology=at("rack")), leaf("a", 5, topology=at("rack"))]},
        False,
        0,
    ),
    ("one of them is enough", 1, {"minSubGroups": 1, "subGroups": [leaf("b", 9), leaf("a", 5)]}, False, 5),
    ("a part that is less than whole", 2, {"subGroups": [leaf("a", 4, minPods=2), leaf("b", 2)]}, False, 5),
    (
        "a master of its own",
        1,
        {"subGroups": [leaf("lead", master=True), leaf("work", 4, topology=at("rack"))]},
        True,
        5,
    ),
    (
        "a tree: two racks of one zone, each of two hosts or one",
        1,
        {
            "subGroups": [
                {"name": "top", "topology": at("zone")},
                {"name": "left", "parent": "top", "topology": at("rack")},
                leaf("left-0", 2, parent="left", topology=at("host")),
                leaf("left-1", 1, parent="left", topology=at("host")),
                leaf("right", 4, parent="top", topology=at("rack")),
            ]
        },
        False,
        7,
    ),
    (
        "the tree that finds no zone",
        1,
        {
            "subGroups": [
                {"name": "top", "topology": at("zone")},
                leaf("left", 4, parent="top", topology=at("rack")),
                leaf("right", 4, parent="top", topology=at("rack")),
            ]
        },
        False,
        0,
    ),
    (
        "of the set below one is enough, the first by name",
        2,
        {
            "subGroups": [
                {"name": "set", "minSubGroups": 1},
                leaf("second", 3, parent="set", topology=at("rack")),
                leaf("first", 2, parent="set", topology=at("rack")),
            ]
        },
        False,
        2,
    ),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sub-groups")
    nodes = [
        {"name": name, "gpus": gpus, "labels": {"host": name, "zone": zone, "rack": rack}}
        for name, (gpus, zone, rack) in NODES.items()
    ]
    (folder / "cluster.yaml").write_text(json.dumps({"nodes": nodes}))
    server = Server(folder, "--cluster", str(folder / "cluster.yaml")).start()
    made = server.post("/api/v1/network-topologies", {"name": "dc", "clusterId": server.cluster_id(), "levels": LEVELS})
    assert made.status == 201, made
    server.topology = made.json["id"]
    pool = server.get("/api/v1/node-pools").json["nodepools"][0]
    quota = [{"nodePool": {"id": pool["id"], "name": pool["name"]}, "gpu": {"deserved": 11}}]
    made = server.post("/api/v1/org-unit/projects", {"name": "p", "clusterId": server.cluster_id(), "resources": quota})
    assert made.status == 201, made
    server.wait_for(
        "the scheduler sees it",
        lambda: "p" in [project["name"] for project in server.get("/api/v1/scheduler/snapshot").json["projects"]],
    )
    yield server
    assert server.stop() == 0


def body(server, name, spec, gpus=1, master=False):
    workers = sum(group.get("workers", 0) for group in spec.get("subGroups", []) if isinstance(group, dict))
    return {
        "name": name,
        "projectId": server.project_id("p"),
        "clusterId": server.cluster_id(),
        "masterSpecSameAsWorker": master,
        "spec": {
            "image": "x",
            "numWorkers": workers,
            "compute": {"gpuDevicesRequest": gpus, "cpuCoreRequest": 0.1},
            **spec,
        },
    }


def snapshot_of(name, gpus, spec, master):
    """The same for simulate: pods and their sub-groups by hand."""
    pods, groups = [], []
    for group in spec.get("subGroups", []):
        size = group.get("workers", 0) + group.get("master", False)
        names = [f"{name}-worker-{len(pods) + i}" for i in range(group.get("workers", 0))]
        pods += [{"name": worker, "subGroup": group["name"], "gpuDevices": gpus} for worker in names]
        has_children = any(other.get("parent") == group["name"] for other in spec["subGroups"])
        minimum = {} if has_children else {"minPods": group.get("minPods", size)}
        groups.append(
            {
                **{
                    key: group[key]
                    for key in ("name", "parent", "minSubGroups", "topology")
                    if group.get(key) is not None
                },
                **minimum,
            }
        )
    pods += [{"name": f"{name}-worker-{i}", "gpuDevices": gpus} for i in range(0 if groups else spec["numWorkers"])]
    for group in spec.get("subGroups", []):
        if group.get("master"):
            pods.append({"name": f"{name}-master-0", "subGroup": group["name"], "gpuDevices": gpus, "role": "master"})
    workload = {"name": name, "project": "p", "minPods": len(pods), "pods": pods, "topology": spec.get("topology")}
    if groups:
        del workload["minPods"]
        workload |= {"subGroups": groups, "minSubGroups": spec.get("minSubGroups")}
    return cluster(
        [
            node(host, gpus_there, labels={"host": host, "zone": zone, "rack": rack})
            for host, (gpus_there, zone, rack) in NODES.items()
        ],
        [project("p", 11)],
        [workload],
        topologies=[{"name": "dc", "levels": LEVELS}],
    )


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape[0].replace(" ", "-"))
def test_http_decides_as_simulate_does(server, shape):
    _, gpus, spec, master, want = shape
    name = f"w{SHAPES.index(shape)}"
    cycle = simulate(snapshot_of(name, gpus, spec, master))["cycles"][0]
    expected = {pod["name"]: pod.get("node") for pod in cycle["pods"] if pod["status"] == "Binding"}
    assert len(expected) == want
    request = body(server, name, spec, gpus, master)
    verdict = server.post("/api/v1/scheduler/what-if", {"type": "Distributed", "workload": request})
    assert (verdict.json["verdict"] == "Starts") == (want > 0), verdict
    made = server.post("/api/v1/workloads/distributed", request)
    assert made.status == 202, made
    workload = made.json["workloadId"]
    server.wait_phase(workload, "Running" if want else "Pending")
    if not want:
        server.wait_for("why it waits", lambda: server.workload(workload)["explanation"])
    pods = server.get(f"/api/v1/workloads/{workload}/pods", limit=100).json["pods"]
    assert {pod["name"]: pod["nodeName"] for pod in pods if pod["nodeName"]} == expected
    server.delete(f"/api/v1/workloads/distributed/{workload}")
    server.wait_for(
        "its end",
        lambda: server.get(f"/api/v1/workloads/{workload}").status == 404 or server.workload(workload).get("deletedAt"),
    )


def test_fewer_pods_are_offered_only_where_the_shape_allows_it(server):
    """Fewer workers than the sub-groups name would be refused."""
    plain = {"numWorkers": 40}
    shaped = {"numWorkers": 40, "subGroups": [leaf("a", 20), leaf("b", 20)]}
    for spec, is_offered in ((plain, True), (shaped, False)):
        question = {"type": "Distributed", "workload": body(server, "wide", spec, 1, None), "fixes": True}
        answer = server.post("/api/v1/scheduler/what-if", question)
        fixes = {fix["kind"]: fix["change"] for fix in answer.json["fixes"]}
        assert answer.json["verdict"] == "Waits" and ("FewerPods" in fixes) == is_offered, answer
        if is_offered:
            request = body(server, "fewer", {"numWorkers": fixes["FewerPods"]["pods"]}, 1, None)
            made = server.post("/api/v1/workloads/distributed", request)
            assert made.status == 202, made
            server.wait_phase(made.json["workloadId"], "Running")
            server.delete(f"/api/v1/workloads/distributed/{made.json['workloadId']}")
            server.wait_for("its end", lambda: not server.get("/api/v1/workloads").json["workloads"])


A, B = leaf("a", 1), leaf("b", 1)
# What is wrong, the specification's part, the message.
REFUSALS = [
    (
        "a topology that is not there",
        {"topology": {"name": "x", "required": "rack"}},
        "spec.topology.name: the cluster has no network topology x",
    ),
    (
        "a level that it lacks",
        {"topology": at("row")},
        "spec.topology.required: expected a level of dc (zone, rack and host), got row",
    ),
    (
        "of a sub-group too",
        {"subGroups": [leaf("a", 2, topology=at(None, "row"))]},
        "spec.subGroups[0].topology.preferred: expected a level of dc (zone, rack and host), got row",
    ),
    ("no level", {"topology": {"name": "dc"}}, "spec.topology: a required level, a preferred one, or both"),
    ("no name", {"topology": {"required": "rack"}}, "spec.topology.name: required"),
    ("a minimum of nothing", {"minSubGroups": 1}, "spec.minSubGroups: only with subGroups"),
    ("more than there are", {"minSubGroups": 3, "subGroups": [A, B]}, "spec.minSubGroups: at most 2, got 3"),
    ("a name twice", {"subGroups": [A, A]}, "spec.subGroups[1].name: duplicate: a"),
    ("a name that is none", {"subGroups": [leaf("A", 2)]}, "spec.subGroups[0].name"),
    (
        "a parent that is not there",
        {"subGroups": [A, {**B, "parent": "x"}]},
        "spec.subGroups[1].parent: no sub-group x",
    ),
    (
        "its own parent",
        {"subGroups": [A, {"name": "b", "parent": "b"}]},
        "spec.subGroups[1].parent: at most 16 levels of sub-groups, none its own ancestor",
    ),
    (
        "a circle",
        {"subGroups": [leaf("a", 2), {"name": "b", "parent": "c"}, {"name": "c", "parent": "b"}]},
        "spec.subGroups[1].parent: at most 16 levels of sub-groups, none its own ancestor",
    ),
    (
        "seventeen levels",
        {
            "subGroups": [
                {"name": f"g{i}", **({"parent": f"g{i - 1}"} if i else {}), **({"workers": 2} if i == 16 else {})}
                for i in range(17)
            ]
        },
        "spec.subGroups[16].parent: at most 16 levels",
    ),
    (
        "a set with pods",
        {"subGroups": [A, {**B, "parent": "a"}]},
        "spec.subGroups[0].workers: not with sub-groups below it, which have the pods",
    ),
    (
        "a leaf that counts sub-groups",
        {"subGroups": [A, {**B, "minSubGroups": 1}]},
        "spec.subGroups[1].minSubGroups: only with sub-groups below it",
    ),
    (
        "a leaf without pods",
        {"subGroups": [leaf("a", 2), leaf("b")]},
        "spec.subGroups[1].workers: at least 1, or master: true",
    ),
    ("a minimum of too many", {"subGroups": [A, {**B, "minPods": 2}]}, "spec.subGroups[1].minPods: at most 1, got 2"),
    ("too few workers", {"subGroups": [A]}, "spec.subGroups: 1 workers in all, expected numWorkers, 2"),
    (
        "a master who is not there",
        {"subGroups": [A, {**B, "master": True}]},
        "spec.subGroups: master: true in 1 of them, expected none, as there is no master",
    ),
    (
        "elastic twice",
        {"minReplicas": 1, "subGroups": [A, B]},
        "spec.minReplicas: not with subGroups: their minPods and minSubGroups say it",
    ),
    ("no list", {"subGroups": {}}, "spec.subGroups"),
    ("no object", {"subGroups": [1]}, "spec.subGroups[0]"),
]


@pytest.mark.parametrize(
    ("spec", "message"), [row[1:] for row in REFUSALS], ids=[row[0].replace(" ", "-") for row in REFUSALS]
)
def test_what_is_wrong_is_named(server, spec, message):
    answer = server.post("/api/v1/workloads/distributed", body(server, "bad", {"numWorkers": 2, **spec}))
    assert answer.status == 400 and message in answer.json["message"], answer


def test_a_master_without_a_place_is_named(server):
    answer = server.post("/api/v1/workloads/distributed", body(server, "bad", {"subGroups": [A, B]}, master=True))
    assert answer.status == 400, answer
    assert answer.json["message"] == "spec.subGroups: master: true in 0 of them, expected one, as there is a master"


def test_the_client_submits_and_describes_them(server, tmp_path):
    client = Client(server, tmp_path / "home")
    client.sign_in()
    words = (
        "distributed",
        "submit",
        "tree",
        "-p",
        "p",
        "-i",
        "x",
        "-g",
        "1",
        "--workers",
        "3",
        "--min-sub-groups",
        "1",
    )
    groups = (
        "name=top,topology=dc,required=rack",
        "name=left,parent=top,workers=2,min-pods=1",
        "name=right,workers=1,master",
    )
    client.run(
        *words, "--topology", "name=dc,preferred=zone", *(word for group in groups for word in ("--sub-group", group))
    )
    (workload,) = server.get("/api/v1/workloads", filterBy="name==tree").json["workloads"]
    spec = server.get(f"/api/v1/workloads/distributed/{workload['id']}").json["spec"]
    assert spec["topology"] == {"name": "dc", "preferred": "zone"} and spec["minSubGroups"] == 1
    assert spec["subGroups"] == [
        {"name": "top", "minSubGroups": 1, "topology": {"name": "dc", "required": "rack"}},
        {"name": "left", "parent": "top", "workers": 2, "minPods": 1},
        {"name": "right", "workers": 1, "master": True, "minPods": 2},
    ]
    said = " ".join(client.run("distributed", "describe", "tree", "-p", "p").split())
    for part in (
        "Topology: preferred zone of dc",
        "(1 of those without a parent are needed)",
        "top - 1 sub-groups required rack of dc",
        "left top 1 of 2 pods -",
        "right - 2 of 2 pods -",
    ):
        assert part in said, said
    refused = client.run(*words, "--sub-group", "name=a,wrkers=3", status=1)
    assert '--sub-group: no part "wrkers"' in refused
    refused = server.delete(f"/api/v1/network-topologies/{server.topology}")
    assert refused.status == 400 and "workload tree uses it" in refused.json["message"]
    server.delete(f"/api/v1/workloads/distributed/{workload['id']}")


def test_they_outlive_a_restart(server):
    def shape():
        snapshot = server.get("/api/v1/scheduler/snapshot").json
        (found,) = [w for w in snapshot["workloads"] if w["name"] == "halves"]
        return found["minSubGroups"], found["subGroups"], [(pod["name"], pod["subGroup"]) for pod in found["pods"]]

    request = body(server, "halves", {"minSubGroups": 1, "subGroups": [leaf("b", 2), leaf("a", 2)]}, gpus=2)
    workload = server.post("/api/v1/workloads/distributed", request).json["workloadId"]
    server.wait_phase(workload, "Running")
    before = shape()
    assert before[0] == 1 and [(group["name"], group["minPods"]) for group in before[1]] == [("a", 2), ("b", 2)]
    assert before[2] == [(f"halves-worker-{i}", "bbaa"[i]) for i in range(4)]
    server.kill()
    server.start()
    server.wait_phase(workload, "Running")
    assert shape() == before
    snapshot = server.request("GET", "/api/v1/scheduler/snapshot").body
    done = subprocess.run([PRORATA, "simulate", "-"], input=snapshot, capture_output=True)
    assert done.returncode == 0, done.stderr
