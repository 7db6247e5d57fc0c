"""What happens to nodes and to the organisation, as events: once a change, with who and what, for who may know."""

import sqlite3

import pytest
from test_access import department_id, make_caller
from test_departments import DEPARTMENTS, PROJECTS, create, create_project
from test_events import ask
from test_events_stream import Stream
from test_node_cordon import cordon, node, uncordon
from test_node_drain import drain, running

ADMIN = "admin@prorata.local"
NODES = "/api/v1/simulation/nodes"
POOLS = "/api/v1/node-pools"


def told(server, token="admin", **query):
    """(reason, message), oldest first."""
    return [(e["reason"], e["message"]) for e in ask(server, token, sortOrder="asc", **query)]


def of_nodes(server, **query):
    return told(server, kind="nodes", **query)


def of_units(server, token="admin", **query):
    return told(server, token, kind="organisation", **query)


def test_a_node_comes_fails_is_ready_again_and_goes_once_each(server):
    assert told(server) == [], "what an installation begins with is not told"
    assert server.post(NODES, {"name": "gpu-7", "gpus": 4}).status == 201
    for _ in range(2):
        assert server.post(f"{NODES}/gpu-7/fail").status == 202
    for _ in range(2):
        assert server.post(f"{NODES}/gpu-7/recover").status == 202
    assert server.delete(f"{NODES}/gpu-7").status == 204
    expected = [
        ("RegisteredNode", "gpu-7 joined the cluster with 4 GPUs"),
        ("NodeNotReady", "gpu-7 is not ready: failed by request"),
        ("NodeReady", "gpu-7 is ready again"),
        ("RemovingNode", "gpu-7 left the cluster"),
    ]
    assert of_nodes(server, node="gpu-7") == expected
    assert [e["type"] for e in ask(server, kind="nodes")] == ["Normal", "Normal", "Warning", "Normal"]
    assert server.stop() == 0
    server.start()
    server.wait_for("a cycle", lambda: server.get("/api/v1/nodes").json["nodes"])
    assert told(server) == expected, "a start tells nothing again"


def test_cordon_drain_and_their_end_say_who_and_why(server):
    _, place = running(server, "loose")
    cordon(server, place, "a loud fan")
    cordon(server, place, "a loud fan")
    drain(server, place, "a new fan")
    server.wait_for("it is drained", lambda: any(reason == "NodeDrained" for reason, _ in of_nodes(server)))
    uncordon(server, place)
    assert uncordon(server, place).status == 200
    of_it = [told for told in of_nodes(server, node=place) if told[0].startswith("Node")]
    assert of_it == [
        ("NodeNotSchedulable", f"{ADMIN} cordoned {place}: a loud fan"),
        ("NodeDraining", f"{ADMIN} drains {place}: a new fan"),
        ("NodeDrained", f"{place} is drained: nothing that may be preempted runs there any more"),
        ("NodeSchedulable", f"{ADMIN} uncordoned {place}"),
    ]
    assert ask(server, kind="nodes", search="loud fan")[0]["objectId"] == node(server, place)["id"]


def quota(server, path, gpus, **more):
    body = [{"nodePool": {"id": "1"}, "gpu": {"deserved": gpus, **more}}]
    return server.request("PATCH", f"{path}/resources", body)


def test_a_unit_tells_what_changed_from_what_to_what_and_no_more(server):
    department = create(server).json["id"]
    project = create_project(server, department).json["id"]
    path = f"{PROJECTS}/{project}"
    for _ in range(2):
        assert quota(server, path, 2.5, limit=4).status == 200
    body = {
        "description": "reads genomes",
        "schedulingRules": {"preemptMinRuntimeSeconds": 600},
        "resources": [
            {"nodePool": {"id": "1"}, "gpu": {"deserved": 2.5, "limit": -1, "overQuotaWeight": 3}, "rank": "High"}
        ],
    }
    for _ in range(2):
        assert server.request("PUT", path, body).status == 200
    assert of_units(server, projectId=project) == [
        ("ProjectCreated", f"{ADMIN} created project genomes in department biology"),
        (
            "ProjectChanged",
            f"{ADMIN} changed project genomes: GPU quota from 1 to 2.5 GPUs; GPU limit from none to 4 GPUs",
        ),
        (
            "ProjectChanged",
            f"{ADMIN} changed project genomes: GPU limit from 4 GPUs to none; GPU over-quota weight from 2 to 3; "
            "rank from medium low to high; minimum run time within a project from none to 10 min; description",
        ),
    ]
    event = ask(server, kind="organisation", projectId=project)[0]
    assert (event["projectName"], event["objectId"], event["involvedObject"]["kind"]) == ("genomes", project, "Project")
    refused = quota(server, path, 2, limit=1)
    assert refused.status == 400 and len(of_units(server, projectId=project)) == 3, "no change, no event"
    assert server.delete(f"{DEPARTMENTS}/{department}").status == 204
    assert of_units(server, departmentId=department)[-2:] == [
        ("ProjectDeleted", f"{ADMIN} deleted project genomes"),
        ("DepartmentDeleted", f"{ADMIN} deleted department biology"),
    ], "what is gone is still told"


def clock(server, speed):
    assert server.request("PUT", "/api/v1/simulation/clock", {"speed": speed}).status == 200


def test_a_project_with_workloads_goes_with_the_last_of_them(server):
    running(server, "last", annotations=[{"name": "prorata.io/sim-stop-duration", "value": "5s"}])
    project = server.project_id("team-a")
    clock(server, 0.01)  # the pod is still stopping when the second deletion comes
    for _ in range(2):
        assert server.delete(f"{PROJECTS}/{project}").status == 202
    clock(server, 100)
    server.wait_for("it is gone", lambda: server.get(f"{PROJECTS}/{project}").status == 404)
    assert of_units(server, projectId=project) == [
        ("ProjectDeleting", f"{ADMIN} deletes project team-a, which goes with its last workload"),
        ("ProjectDeleted", f"{ADMIN} deleted project team-a"),
    ]


def test_pools_and_the_clusters_name(server):
    made = server.post(
        POOLS, {"name": "h100", "clusterId": server.cluster_id(), "labelKey": "gpu", "labelValue": "h100"}
    )
    assert made.status == 201, made
    path = f"{POOLS}/{made.json['id']}"
    change = {
        "schedulingConfiguration": {"minGuaranteedRuntime": "10m"},
        "placementStrategy": {"gpu": "spread", "cpu": "spread"},
    }
    for _ in range(2):
        assert server.request("PATCH", path, change).status == 200
    assert server.delete(path).status == 204
    cluster = f"/api/v1/clusters/{server.cluster_id()}"
    for _ in range(2):
        assert server.request("PUT", cluster, {"name": "lab"}).status < 300
    messages = of_units(server)
    assert messages[:-1] == [
        ("NodePoolCreated", f"{ADMIN} created node pool h100 of nodes with gpu=h100"),
        (
            "NodePoolChanged",
            f"{ADMIN} changed node pool h100: GPU placement from binpack to spread; CPU placement from binpack to "
            "spread; minimum run time from none to 10 min",
        ),
        ("NodePoolDeleted", f"{ADMIN} deleted node pool h100"),
    ]
    assert messages[-1][0] == "ClusterRenamed" and messages[-1][1].endswith(" to lab")


@pytest.fixture(scope="module")
def readers(module_server):
    """Two departments with a project each, both changed; who reads what of it."""
    server = module_server
    server.ids = {}
    for department, project in (("biology", "genomes"), ("physics", "quarks")):
        server.ids[department] = create(server, department).json["id"]
        server.ids[project] = create_project(server, server.ids[department], project).json["id"]
        quota(server, f"{DEPARTMENTS}/{server.ids[department]}", 5)
    server.post(f"{NODES}/node-1/fail")
    server.post(POOLS, {"name": "a100", "clusterId": server.cluster_id(), "labelKey": "gpu", "labelValue": "a100"})
    server.tokens = {
        name: make_caller(server, name, rule)[1]
        for name, rule in {
            "onlooker": ("Viewer", "project", server.ids["genomes"]),
            "researcher": ("L1 researcher", "project", server.ids["genomes"]),
            "head": ("Department administrator", "department", server.ids["biology"]),
            "viewer": ("Viewer", "cluster", server.cluster_id()),
        }.items()
    }
    return server


OF_GENOMES = {("Project", "genomes")}
OF_BIOLOGY = OF_GENOMES | {("Department", "biology")}
OF_ALL = OF_BIOLOGY | {("Project", "quarks"), ("Department", "physics")}
NODE, POOL = {("Node", "node-1")}, {("NodePool", "a100")}


@pytest.mark.parametrize(
    "who, expected, of_nodes, of_pools",
    [
        ("researcher", OF_GENOMES, set(), set()),  # his role reads no nodes
        ("onlooker", OF_GENOMES, NODE, POOL),
        ("head", OF_BIOLOGY, NODE, POOL),
        ("viewer", OF_ALL, NODE, POOL),
        (None, OF_ALL, NODE, POOL),
    ],
)
def test_each_reads_what_he_may_know(readers, who, expected, of_nodes, of_pools):
    token = readers.tokens.get(who, "admin")

    def objects(**query):
        return {(e["involvedObject"]["kind"], e["involvedObject"]["name"]) for e in ask(readers, token, **query)}

    assert objects() == expected | of_nodes | of_pools
    assert objects(kind="nodes") == of_nodes == objects(node="node-1")
    assert objects(kind="organisation") == expected | of_pools == objects(kind="organisation", search="o")
    known = objects(search="quarks") | objects(search="physics") | objects(projectId=readers.ids["quarks"])
    assert known == (expected & {("Project", "quarks"), ("Department", "physics")})
    of_department = objects(departmentId=readers.ids["biology"])
    assert of_department == expected & OF_BIOLOGY


def test_what_happened_to_a_deleted_project_is_its_departments(server):
    department = create(server).json["id"]
    project = create_project(server, department).json["id"]
    _, researcher = make_caller(server, "ann", ("L1 researcher", "project", project))
    _, head = make_caller(server, "bob", ("Department administrator", "department", department))
    _, other = make_caller(server, "eve", ("Department administrator", "department", department_id(server)))
    with Stream(server, token=head) as stream:
        stream.block()
        assert server.delete(f"{PROJECTS}/{project}").status in (202, 204)
        stream.until("event", department)
    last = ("ProjectDeleted", f"{ADMIN} deleted project genomes")
    assert of_units(server, head, projectId=project)[-1] == last
    assert of_units(server, other, projectId=project) == []
    assert server.request("GET", "/api/v1/events", token=researcher).status == 403, "his role went with the project"


def test_open_pages_hear_of_it(server):
    project = server.project_id("team-a")
    _, token = make_caller(server, "ann", ("Viewer", "project", project))
    with Stream(server, token=token) as stream:
        stream.block()
        quota(server, f"{PROJECTS}/{server.project_id('team-b')}", 0.5)
        quota(server, f"{PROJECTS}/{project}", 0.5)
        _, change = stream.until("event")
        assert change["id"] == project, "and not of what he may not know"
        server.post(f"{NODES}/node-0/fail")
        stream.until("event", node(server, "node-0")["id"])


def test_old_events_of_nodes_and_units_go_with_the_others(make_server):
    server = make_server("--quick-start", "--event-days", "1")
    server.post(f"{NODES}/node-0/fail")
    quota(server, f"{PROJECTS}/{server.project_id('team-a')}", 0.5)
    assert len(told(server)) == 2
    assert server.stop() == 0
    with sqlite3.connect(server.data / "prorata.db") as database:
        database.execute("UPDATE events SET time_ms = time_ms - 2 * 86400000")
    server.start()
    server.wait_for("they are gone", lambda: told(server) == [])
