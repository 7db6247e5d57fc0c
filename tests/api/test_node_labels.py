"""Labels of a running node: set and removed; the pool follows at once, pods go on; what is refused, and who may."""

import pathlib
import shutil
import tempfile

import pytest
from servers import Server
from test_access import department_id, make_caller

CLUSTER = """
nodes:
- {name: n-0, gpus: 4, labels: {rack: r1, keep: "yes"}}
- {name: n-1, gpus: 4}
"""


@pytest.fixture
def cluster(make_server, folder):
    (folder / "cluster.yaml").write_text(CLUSTER)
    return make_server("--cluster", str(folder / "cluster.yaml"))


@pytest.fixture(scope="module")
def module_cluster():
    path = pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-"))
    (path / "cluster.yaml").write_text(CLUSTER)
    server = Server(path, "--cluster", str(path / "cluster.yaml")).start()
    yield server
    assert server.stop() == 0
    shutil.rmtree(path)


def own(node):
    return {key: value for key, value in node["prorata"]["labels"].items() if key != "kubernetes.io/hostname"}


def label(server, name, labels, token="admin"):
    return server.request("PATCH", f"/api/v1/nodes/{name}", {"labels": labels}, token=token)


def make_pool(server, name, key="kind", value=None):
    answer = server.post(
        "/api/v1/node-pools",
        {"name": name, "labelKey": key, "labelValue": value or name, "clusterId": server.cluster_id()},
    )
    assert answer.status == 201, answer
    return answer.json


def pool(server, name):
    return server.get("/api/v1/node-pools", filterBy=f"name=={name}").json["nodepools"][0]


def test_update_node_labels_sets_and_removes(cluster):
    answer = label(cluster, "n-0", {"rack": None, "example.com/zone": "z1", "empty": "", "gone": None})
    assert answer.status == 200, answer
    assert answer.json["name"] == "n-0" and own(answer.json) == {"keep": "yes", "example.com/zone": "z1", "empty": ""}
    listed = {n["name"]: n for n in cluster.get("/api/v1/nodes").json["nodes"]}
    assert listed["n-0"] == {**answer.json, "prorata": listed["n-0"]["prorata"]} and own(listed["n-1"]) == {}


def test_the_pool_follows_and_its_pods_go_on(cluster):
    made = make_pool(cluster, "fast")
    assert made["phase"] == "Empty" and "none has the label kind=fast" in made["phaseMessage"]
    job = cluster.submit("job", "default", 4)
    cluster.wait_phase(job, "Running")
    (pod,) = cluster.get(f"/api/v1/workloads/{job}/pods").json["pods"]
    assert label(cluster, pod["nodeName"], {"kind": "fast"}).json["nodePool"] == "fast"
    ready = pool(cluster, "fast")
    assert ready["phase"] == "Ready" and ready["phaseMessage"] == "" and ready["status"]["nodes"] == [pod["nodeName"]]
    after = cluster.submit("after", "default", 4)
    assert cluster.wait_phase(after, "Running")["phase"] == "Running"
    (later,) = cluster.get(f"/api/v1/workloads/{after}/pods").json["pods"]
    assert later["nodeName"] != pod["nodeName"]
    (same,) = cluster.get(f"/api/v1/workloads/{job}/pods").json["pods"]
    assert same["id"] == pod["id"] and same["k8sPhase"] == "Running" and same["currentNodePool"] == "fast"
    assert label(cluster, pod["nodeName"], {"kind": None}).json["nodePool"] == "default"
    assert pool(cluster, "fast")["phase"] == "Empty"
    assert cluster.workload(job)["phase"] == "Running"


def test_of_two_pools_the_older_has_the_node(cluster):
    make_pool(cluster, "zz-older", "a")
    make_pool(cluster, "aa-younger", "b")
    assert label(cluster, "n-1", {"b": "aa-younger"}).json["nodePool"] == "aa-younger"
    assert label(cluster, "n-1", {"a": "zz-older"}).json["nodePool"] == "zz-older"


def test_labels_stay_over_a_restart(cluster):
    assert label(cluster, "n-0", {"kind": "fast", "rack": None}).status == 200
    cluster.kill()
    cluster.start()
    labels = {n["name"]: own(n) for n in cluster.get("/api/v1/nodes").json["nodes"]}
    assert labels["n-0"] == {"keep": "yes", "kind": "fast"}


@pytest.mark.parametrize(
    "labels, named",
    [
        ({"": "x"}, "labels: not a label key"),
        ({"a b": "x"}, "labels: not a label key"),
        ({"/a": "x"}, "labels: the part before '/'"),
        ({"Example.com/a": "x"}, "labels: the part before '/'"),
        ({"example..com/a": "x"}, "labels: the part before '/'"),
        ({"a/b/c": "x"}, "labels: not a label key"),
        ({"x" * 64: "x"}, "labels: not a label key"),
        ({"-a": "x"}, "labels: not a label key"),
        ({"a": "x" * 64}, "labels.a: at most 63"),
        ({"a": "-x"}, "labels.a: at most 63"),
        ({"a": "x y"}, "labels.a: at most 63"),
        ({"a": 1}, "labels"),
        ({f"k{i}": "v" for i in range(200)}, "labels: at most 200"),
        ({f"k{i}": "v" for i in range(201)}, "labels"),
    ],
)
def test_update_node_labels_refuses(module_cluster, labels, named):
    refused = label(module_cluster, "n-0", labels)
    assert refused.status == 400 and refused.json["message"].startswith(named), refused
    assert own(module_cluster.get("/api/v1/nodes").json["nodes"][0]) == {"rack": "r1", "keep": "yes"}


def test_update_node_labels_of_whom_and_what(server):
    assert label(server, "nowhere", {"a": "b"}).status == 404
    assert server.request("PATCH", "/api/v1/nodes/node-0", {}).status == 400
    callers = [
        ("head", ("Department administrator", "department", department_id(server))),
        ("viewer", ("Viewer", "cluster", server.cluster_id())),
        ("researcher", ("L1 researcher", "project", server.project_id("team-a"))),
        ("nobody",),
    ]
    for name, *rules in callers:
        _, token = make_caller(server, name, *rules)
        assert label(server, "node-0", {"a": "b"}, token=token).status == 403, name
