"""Nodes: what the backend reports, who holds which device, the present figures; and what is refused."""

import pytest

NODES = "/api/v1/nodes"


def nodes(answer):
    assert answer.status == 200, answer
    return answer.json["nodes"]


def node(server, name):
    (found,) = nodes(server.get(NODES, filterBy=f"name=={name}"))
    return found


def devices(server, name):
    return node(server, name)["prorata"]["devices"]


def holding(server):
    """{(node, index): (state, [workload, ...])} of every device that somebody holds."""
    return {
        (n["name"], d["index"]): (d["state"], [w["name"] for w in d["workloads"]])
        for n in nodes(server.get(NODES))
        for d in n["prorata"]["devices"]
        if d["workloads"]
    }


def figure(server, kind, **query):
    answer = server.get(NODES + "/telemetry", telemetryType=kind, **query)
    assert answer.status == 200, answer
    return answer.json


def test_node_tells_what_the_backend_reported(module_server):
    first, second = nodes(module_server.get(NODES))
    assert [first["name"], second["name"]] == ["node-0", "node-1"]
    assert (
        first["status"] == "Ready"
        and first["nodePool"] == "default"
        and first["clusterUuid"] == module_server.cluster_id()
    )
    assert first["gpuInfo"]["gpuCount"] == 2 and first["gpuInfo"]["gpuType"]
    assert first["taints"] == [] and first["conditions"][0]["type"] == "Ready" and first["nvLinkDomainUid"] is None
    assert first["prorata"]["devices"] == [
        {"index": i, "state": "free", "utilization": None, "workloads": []} for i in range(2)
    ]
    assert first["prorata"]["allocatedGpus"] == 0 and first["prorata"]["cordoned"] is False


def test_node_without_gpus_has_no_gpu_info(make_server, folder):
    path = folder / "cluster.yaml"
    path.write_text("nodes:\n- {name: plain, cpuCores: 4, memoryBytes: 8000000000}\n")
    plain = node(make_server("--cluster", str(path)), "plain")
    assert plain["gpuInfo"] is None and plain["prorata"]["devices"] == []
    assert plain["prorata"]["cpuCores"] == 4 and plain["prorata"]["cpuMemoryBytes"] == 8000000000


def test_devices_tell_who_holds_them(server):
    workload = server.submit("pair", "team-a", gpus=2)
    server.wait_phase(workload, "Running")
    held = holding(server)
    assert list(held.values()) == [("allocated", ["pair"])] * 2
    name, _ = next(iter(held))
    shown = node(server, name)
    assert shown["prorata"]["allocatedGpus"] == 2 and shown["prorata"]["podCount"] == 1
    (holder,) = shown["prorata"]["devices"][0]["workloads"]
    assert holder == {
        "id": workload,
        "name": "pair",
        "projectId": server.project_id("team-a"),
        "projectName": "team-a",
        "share": 1,
        "preemptible": True,
    }


def shares(server):
    """{(node, index): [(workload, share), ...]} of every device that somebody holds."""
    return {
        (n["name"], d["index"]): [(w["name"], w["share"]) for w in d["workloads"]]
        for n in nodes(server.get(NODES))
        for d in n["prorata"]["devices"]
        if d["workloads"]
    }


def held_by_pods(server):
    """The same by what the pods themselves say."""
    names = {w["id"]: w["name"] for w in server.get("/api/v1/workloads").json["workloads"]}
    found = {}
    for pod in server.get("/api/v1/workloads/pods", sortBy="createdAt").json["pods"]:
        for index in pod["gpuIndices"]:
            found.setdefault((pod["nodeName"], index), []).append(names[pod["workloadId"]])
    return found


PORTION = {"gpuRequestType": "portion", "gpuDevicesRequest": 1, "gpuPortionRequest": 0.5}


def test_parts_of_a_device_are_where_their_pods_run(server):
    server.wait_phase(server.submit("whole", "team-a", gpus=1), "Running")
    for name in ("half", "other-half"):
        server.wait_phase(server.submit(name, "team-a", spec={"compute": PORTION}), "Running")
    held = shares(server)
    assert sorted(held.values()) == [[("half", 0.5), ("other-half", 0.5)], [("whole", 1)]]
    assert {place: [name for name, _ in who] for place, who in held.items()} == held_by_pods(server)
    assert sum(n["prorata"]["allocatedGpus"] for n in nodes(server.get(NODES))) == 2
    assert figure(server, "FREE_GPUS")["values"] == [{"value": "2"}] and figure(server, "ALLOCATED_GPUS")["values"] == [
        {"value": "2"}
    ]


def test_device_is_releasing_while_its_pod_stops(server):
    slow = {"annotations": [{"name": "prorata.io/sim-stop-duration", "value": "20s"}]}
    workload = server.submit("slow", "team-a", spec=slow)
    server.wait_phase(workload, "Running")
    assert server.post(f"/api/v1/workloads/trainings/{workload}/suspend").status == 202
    server.wait_for("releasing", lambda: [state for state, _ in holding(server).values()] == ["releasing"])


def test_device_is_down_with_its_node(server):
    assert server.post("/api/v1/simulation/nodes/node-1/fail").status in (200, 202, 204)
    server.wait_for("down", lambda: [d["state"] for d in devices(server, "node-1")] == ["down", "down"])
    assert node(server, "node-1")["status"] == "NotReady"
    assert figure(server, "READY_GPUS")["values"] == [{"value": "2"}] and figure(server, "TOTAL_GPUS")["values"] == [
        {"value": "4"}
    ]
    assert figure(server, "READY_GPU_NODES")["values"] == [{"value": "1"}]
    assert server.post("/api/v1/simulation/nodes/node-1/recover").status in (200, 202, 204)
    server.wait_for("free", lambda: [d["state"] for d in devices(server, "node-1")] == ["free", "free"])


def test_names_of_workloads_that_one_may_not_read_stay_hidden(server):
    from test_access import make_caller

    server.wait_phase(server.submit("secret", "team-b"), "Running")
    server.wait_phase(server.submit("open", "team-a"), "Running")
    _, token = make_caller(server, "looker", ("Viewer", "project", server.project_id("team-a")))
    answer = server.request("GET", NODES, token=token)
    holders = [w for n in nodes(answer) for d in n["prorata"]["devices"] for w in d["workloads"]]
    (hidden,) = [w for w in holders if w["id"] is None]
    assert hidden == {
        "id": None,
        "name": "another project's workload",
        "projectId": None,
        "projectName": None,
        "share": 1,
        "preemptible": True,
    }
    assert [w["name"] for w in holders if w["id"]] == ["open"]
    assert b"secret" not in answer.body and b"team-b" not in answer.body


LISTS = [
    ("all by name", {}, ["node-0", "node-1"]),
    ("sorted", {"sortBy": "name", "sortOrder": "desc"}, ["node-1", "node-0"]),
    ("by status", {"filterBy": "status==Ready"}, ["node-0", "node-1"]),
    ("by pool", {"filterBy": "nodePool!=default"}, []),
    ("by what nobody has", {"filterBy": "nvLinkDomainUid==x"}, []),
    ("search", {"search": "E-1"}, ["node-1"]),
    ("search by type", {"search": "nvidia"}, ["node-0", "node-1"]),
    ("a page", {"limit": 1, "offset": 1}, ["node-1"]),
]


@pytest.mark.parametrize("what,query,want", LISTS, ids=[r[0] for r in LISTS])
def test_list_nodes(module_server, what, query, want):
    cluster = f"/api/v1/clusters/{module_server.cluster_id()}/nodes"
    for path in (NODES, cluster):
        assert [n["name"] for n in nodes(module_server.get(path, **query))] == want
        if "limit" not in query and "sortBy" not in query:
            assert module_server.get(path + "/count", **query).json == {"count": len(want)}


def test_nodes_come_in_the_order_in_which_people_count(make_server, folder):
    path = folder / "cluster.yaml"
    names = ["gpu", "gpu-1", "gpu-01", "gpu-1-a", "gpu-2", "gpu-9", "gpu-10", "gpu-11", "gpu-100", "gpu-a", "gpv-1"]
    path.write_text(
        "nodes:\n" + "".join(f"- {{name: {n}, gpus: 1, cpuCores: 4, memoryBytes: 8589934592}}\n" for n in sorted(names))
    )
    server = make_server("--cluster", str(path))
    wanted = ["gpu", "gpu-01", "gpu-1", *names[3:]]
    for query, want in (
        ({}, wanted),
        ({"sortBy": "name"}, wanted),
        ({"sortBy": "name", "sortOrder": "desc"}, wanted[::-1]),
    ):
        assert [n["name"] for n in nodes(server.get(NODES, **query))] == want
    assert [n["name"] for n in nodes(server.get(NODES, filterBy="name==gpu-1"))] == ["gpu-1"]


def test_nodes_of_a_cluster_by_name(module_server):
    cluster = f"/api/v1/clusters/{module_server.cluster_id()}/nodes"
    assert [n["name"] for n in nodes(module_server.get(cluster, nodeName="node-1"))] == ["node-1"]
    assert nodes(module_server.get(cluster, nodeName="node")) == []


@pytest.mark.parametrize(
    "query", [{"filterBy": "gpus==2"}, {"sortBy": "createdAt"}, {"limit": "501"}, {"filterBy": "status"}]
)
def test_list_nodes_refuses(module_server, query):
    assert module_server.get(NODES, **query).status == 400


@pytest.mark.parametrize("cluster", ["7ff1b4de-0000-4000-8000-000000000000", "default"])
def test_nodes_of_no_such_cluster(module_server, cluster):
    assert module_server.get(f"/api/v1/clusters/{cluster}/nodes").status in (400, 404)
    assert module_server.get(f"/api/v1/clusters/{cluster}/nodes/count").status in (400, 404)


FIGURES = [
    ("TOTAL_GPUS", "4"),
    ("READY_GPUS", "4"),
    ("FREE_GPUS", "3"),
    ("ALLOCATED_GPUS", "1"),
    ("TOTAL_GPU_NODES", "2"),
    ("READY_GPU_NODES", "2"),
    ("FULLY_FREE_GPU_NODES", "1"),
    ("USED_GPU_MEMORY_BYTES", None),  # a simulated node has no meter
]


def test_telemetry(server):
    server.wait_phase(server.submit("one", "team-a"), "Running")
    for kind, want in FIGURES:
        assert figure(server, kind)["values"] == ([{"value": want}] if want else []), kind
    for kind in ("TOTAL_CPU_CORES", "TOTAL_GPU_MEMORY_BYTES", "TOTAL_CPU_MEMORY_BYTES"):
        assert float(figure(server, kind)["values"][0]["value"]) > 0
    by_node = figure(server, "FREE_GPUS", groupBy="Node")["values"]
    assert sorted(v["value"] for v in by_node) == ["1", "2"]
    assert sorted(v["groups"][0]["name"] for v in by_node) == ["node-0", "node-1"]
    (value,) = figure(server, "FREE_GPUS", groupBy="ClusterId,Nodepool")["values"]
    assert [(g["key"], g["name"]) for g in value["groups"]][1] == ("Nodepool", "default") and value["value"] == "3"
    assert figure(server, "FREE_GPUS", nodepoolName="h100")["values"] == [{"value": "0"}]
    csv = server.request(
        "GET", NODES + "/telemetry?telemetryType=TOTAL_GPUS&groupBy=Nodepool", headers={"Accept": "text/csv"}
    )
    head, row = csv.body.decode().splitlines()
    assert (
        csv.headers["Content-Type"].startswith("text/csv")
        and head == "timestamp,type,Nodepool,value"
        and row.endswith(",TOTAL_GPUS,default,4")
    )


def test_idle_gpus_are_held_and_not_used(server):
    busy = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "80"}]}
    idle = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "0"}]}
    server.wait_phase(server.submit("busy", "team-a", spec=busy), "Running")
    lazy = server.submit("idle", "team-a", spec=idle)
    server.wait_phase(lazy, "Running")
    server.wait_for("one of two is idle", lambda: figure(server, "IDLE_ALLOCATED_GPUS")["values"] == [{"value": "1"}])
    seen = server.get("/api/v1/devices").json["nodes"]
    since = {d["workloads"][0]["name"]: d.get("idleSince") for n in seen for d in n["devices"] if d["workloads"]}
    (pod,) = server.get(f"/api/v1/workloads/{lazy}/pods").json["pods"]
    assert since.keys() == {"busy", "idle"} and since["busy"] is None
    assert since["idle"] >= pod["containers"][0]["startedAt"], "since it runs, and not since it is free"
    pods = [p for n in seen for p in n["pods"]]
    assert sorted((p["podName"], p["gpus"]) for p in pods) == [("busy-0-0", 1), ("idle-0-0", 1)]


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"telemetryType": "GPUS"},
        {"telemetryType": "TOTAL_GPUS", "groupBy": "Colour"},
        {"telemetryType": "TOTAL_GPUS", "groupBy": "Node,Nodepool,ClusterId"},
        {"telemetryType": "TOTAL_GPUS", "clusterId": "x"},
    ],
)
def test_telemetry_refuses(module_server, query):
    assert module_server.get(NODES + "/telemetry", **query).status == 400


def test_what_is_refused_of_a_simulated_node(server):
    for more, message in [
        ({"memoryBytes": 2**63 - 1}, "memoryBytes: at most 70368744177664"),
        ({"gpuMemoryMib": 16777216}, "gpuMemoryMib: at most 1048576"),
        ({"gpu": 4}, "gpu: unknown field"),
    ]:
        answer = server.post("/api/v1/simulation/nodes", {"name": "vast", **more})
        assert answer.status == 400 and answer.json["message"].startswith(message), answer
