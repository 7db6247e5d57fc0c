"""Time series of clusters, node pools, nodes, projects and departments; and what is refused."""

import datetime
import re
import urllib.parse

import pytest
from metric_names import check_metrics, documented
from people import make_person
from servers import Client
from test_person_bounds import set_rules

PROJECTS = "/api/v1/org-unit/projects"


def at(seconds=0):
    """A time relative to now, as the API writes it."""
    time = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def series(server, path, kinds, start=-60, end=0, samples=5, **query):
    return server.get(path, metricType=kinds, start=at(start), end=at(end), numberOfSamples=samples, **query)


def last(measurement):
    return float(measurement["values"][-1]["value"])


def wait_last(server, path, kind, want, **query):
    def reached():
        answer = series(server, path, kind, **query)
        assert answer.status in (200, 207), answer
        found = [m for m in answer.json["measurements"] if m["values"]]
        return answer if found and last(found[0]) == want else None

    return server.wait_for(f"{kind} is {want}", reached)


def test_a_simulated_workload_uses_a_part_of_the_cpu_and_memory_that_it_asks_for(server):
    asked = server.submit("asks", "team-a", spec={"compute": {"cpuCoreRequest": 2, "cpuMemoryRequest": "1000Mi"}})
    silent = server.submit("silent", "team-a", gpus=0)
    for workload, cores, memory in ((asked, 1.2, 600 << 20), (silent, 0.2, 256 << 20)):
        server.wait_phase(workload, "Running")
        path = f"/api/v1/workloads/{workload}/metrics"
        wait_last(server, path, "CPU_USAGE_CORES", cores)
        wait_last(server, path, "CPU_MEMORY_USAGE_BYTES", memory)


def gauges(server, part="gpu_"):
    """What Prometheus is told, of GPUs alone if nothing else is said: name and labels -> value."""
    lines = server.request("GET", "/metrics").body.decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if part in line and not line.startswith("#"))
    return {key: float(value) for key, value in pairs}


def test_prometheus_is_told_what_gpus_do(server):
    spec = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "50"}]}
    workload = server.submit("half", "team-a", spec=spec)
    server.wait_phase(workload, "Running")
    (pod,) = server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
    node, gpu = f'node_pool="default",node="{pod["nodeName"]}"', pod["gpuIndices"][0]
    busy = f'prorata_gpu_utilization_ratio{{{node},gpu="{gpu}"}}'
    told = server.wait_for("the pod's GPU", lambda: (lambda all: all if all.get(busy) else None)(gauges(server)))
    assert told[busy] == 0.5 and told[f"prorata_node_gpu_utilization_ratio{{{node}}}"] == 0.25
    assert told['prorata_node_pool_gpu_utilization_ratio{node_pool="default"}'] == 0.125
    assert sum(key.startswith("prorata_gpu_utilization_ratio") for key in told) == 4
    used = told[f'prorata_gpu_memory_used_bytes{{{node},gpu="{gpu}"}}']
    assert used > 0 and told[f"prorata_node_gpu_memory_used_bytes{{{node}}}"] == used
    assert told['prorata_node_pool_gpu_memory_utilization_ratio{node_pool="default"}'] == 0.125


def test_prometheus_is_told_what_the_page_of_metrics_says(server):
    set_rules(server, "projects", "team-a", {"gpuHourBudget": 100})
    spec = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "50"}]}
    server.wait_phase(server.submit("half", "team-a", spec=spec), "Running")

    def page():
        text = server.request("GET", "/metrics").body.decode()
        with_series = set(re.findall(r"^(\w+)[{ ]", text, re.M))
        return text if {name for name in documented("simulated") if "gpu" in name} <= with_series else None

    check_metrics(server.wait_for("figures of GPUs", page), "simulated")


def test_prometheus_is_told_quotas_and_what_is_held_by_the_names_of_runai(server):
    cluster = f'clusterId="{server.cluster_id()}"'
    unit = server.get(f"{PROJECTS}/{server.project_id('team-a')}").json
    resources = [{**unit["resources"][0], "cpu": {"deserved": 3500, "limit": 8000}, "memory": {"deserved": 2048}}]
    resources[0]["memory"] |= {"limit": 4096, "units": "Mib"}
    assert server.request("PATCH", f"{PROJECTS}/{unit['id']}/resources", resources).status == 200
    compute = {"gpuRequestType": "portion", "gpuPortionRequest": 0.5, "cpuCoreRequest": 1.5, "cpuMemoryRequest": "1Gi"}
    workload = server.submit("half", "team-a", spec={"compute": compute})
    server.wait_phase(workload, "Running")
    (pod,) = server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
    (node,) = [n for n in server.get("/api/v1/nodes").json["nodes"] if n["name"] == pod["nodeName"]]
    told = gauges(server, "")
    queue = 'kind="project",queue="team-a",node_pool="default"'
    quotas = f'gpu_guaranteed_quota="2",cpu_quota="3.5",memory_quota="{2 << 30}",department="research"'
    of_node = f'{cluster},node="{node["name"]}"'
    state = f'modelName="{node["gpuInfo"]["gpuType"]}",ready="true",schedulable="true"'
    for series, value in {
        f"prorata_queue_deserved_cpu_cores{{{queue}}}": 3.5,
        f"prorata_queue_limit_cpu_cores{{{queue}}}": 8,
        f"prorata_queue_deserved_memory_bytes{{{queue}}}": 2 << 30,
        f"prorata_queue_limit_memory_bytes{{{queue}}}": 4 << 30,
        f'runai_allocated_gpu_count_per_project{{{cluster},project="team-a"}}': 0.5,
        f'runai_project_guaranteed_gpus{{{cluster},project="team-a"}}': 2,
        f'runai_project_info{{{cluster},project="team-a",{quotas}}}': 1,
        f'runai_queue_info{{{cluster},nodepool="default",queue_name="team-a",{quotas}}}': 1,
        f"runai_allocated_gpu_count_per_node{{{of_node}}}": 0.5,
        f"runai_gpu_count_per_node{{{of_node},{state}}}": 2,
        f"runai_node_cpu_requested_cores{{{of_node}}}": 1.5,
        f"runai_node_requested_memory_bytes{{{of_node}}}": 1 << 30,
        f"runai_gpu_memory_total_mebibytes_per_node{{{of_node}}}": 2 * node["prorata"]["gpuMemoryMib"],
        f'runai_gpu_memory_total_mebibytes_per_gpu{{{of_node},gpu="1"}}': node["prorata"]["gpuMemoryMib"],
    }.items():
        assert told.get(series) == value, (series, [key for key in told if key.startswith(series.split("{")[0])])
    assert told['prorata_queue_limit_gpus{kind="project",queue="team-b",node_pool="default"}'] == float("inf")
    assert 'prorata_queue_limit_cpu_cores{kind="project",queue="team-b",node_pool="default"}' not in told
    assert server.post(f"/api/v1/nodes/{node['id']}/cordon", {"reason": "test"}).status == 200
    cordoned = f"runai_gpu_count_per_node{{{of_node},{state}}}".replace('schedulable="true"', 'schedulable="false"')
    server.wait_for("the node takes nothing new", lambda: cordoned in gauges(server, "") or None)


def test_of_a_large_cluster_prometheus_is_told_nodes_and_no_devices(make_server, folder):
    (folder / "large.yaml").write_text("nodePools:\n- {name: default}\nnodes:\n- {name: n, count: 1001, gpus: 1}\n")
    server = make_server("--cluster", str(folder / "large.yaml"), "--quick-start")
    workload = server.submit("one", "team-a")
    server.wait_phase(workload, "Running")

    def nodes():
        return [key for key in gauges(server) if key.startswith("prorata_node_gpu_utilization_ratio{")]

    server.wait_for("the first thousand", lambda: len(nodes()) == 1000)
    assert not [key for key in gauges(server) if key.startswith("prorata_gpu_") or "_per_gpu" in key]
    assert sum(key.startswith("runai_gpu_count_per_node{") for key in gauges(server)) == 1000


def test_a_simulated_node_uses_what_its_pods_use(server, folder):
    first = server.submit("first", "team-a", gpus=2, spec={"compute": {"cpuCoreRequest": 2, "cpuMemoryRequest": "2Gi"}})
    server.wait_phase(first, "Running")
    name = server.get(f"/api/v1/workloads/{first}/pods").json["pods"][0]["nodeName"]
    nodes = {n["name"]: n for n in server.get("/api/v1/nodes").json["nodes"]}
    (other,) = set(nodes) - {name}
    path = f"/api/v1/nodes/{nodes[name]['id']}"
    wait_last(server, f"{path}/metrics", "CPU_USAGE_CORES", 1.2)
    wait_last(server, f"{path}/metrics", "CPU_MEMORY_USAGE_BYTES", int(2 * GIB / 100) * 60)
    wait_last(server, f"/api/v1/nodes/{nodes[other]['id']}/metrics", "CPU_USAGE_CORES", 0)
    nodes = {n["name"]: n["prorata"] for n in server.get("/api/v1/nodes").json["nodes"]}
    assert (nodes[name]["usedCpuCores"], nodes[other]["usedCpuCores"]) == (1.2, 0)
    cores = sum(node["cpuCores"] for node in nodes.values())
    wait_last(server, f"/api/v1/clusters/{server.cluster_id()}/metrics", "CPU_UTILIZATION", 1.2 / cores * 100)
    assert server.get("/api/v1/nodes/telemetry", telemetryType="USED_CPU_CORES").json["values"] == [{"value": "1.2"}]
    (pool,) = server.get("/api/v1/overview").json["nodePools"]
    assert pool["cpuCores"]["used"] == 1.2
    top = [line.split() for line in Client(server, folder / "home").sign_in().run("top").splitlines()]
    assert any(line[:2] == [name, "1.20"] for line in top), top

    server.kill()  # what runs goes on, and so does what it uses
    server.start()
    wait_last(server, f"{path}/metrics", "CPU_USAGE_CORES", 1.2)
    server.post(f"/api/v1/workloads/trainings/{first}/suspend")
    wait_last(server, f"{path}/metrics", "CPU_USAGE_CORES", 0)


GIB = 1 << 30


def test_a_simulated_workload_uses_memory_of_its_gpus(server):
    """A fifth of its part of each, and six tenths more at full utilization; sums are of what is held or there."""
    half = {"compute": {"gpuRequestType": "portion", "gpuPortionRequest": 0.5}}
    spec = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "50"}], **half}
    workload = server.submit("half", "team-a", spec=spec)
    server.wait_phase(workload, "Running")
    (pod,) = server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
    (node,) = [n for n in server.get("/api/v1/nodes").json["nodes"] if n["name"] == pod["nodeName"]]
    each = node["prorata"]["gpuMemoryMib"] << 20
    used, of_project = each * 0.25, f"{PROJECTS}/{server.project_id('team-a')}/metrics"
    of_pod, of_node = f"/api/v1/workloads/{workload}/pods/{pod['id']}/metrics", f"/api/v1/nodes/{node['id']}/metrics"
    wait_last(server, f"/api/v1/workloads/{workload}/metrics", "GPU_MEMORY_USAGE_BYTES", used)
    wait_last(server, f"/api/v1/workloads/{workload}/metrics", "GPU_MEMORY_REQUEST_BYTES", each / 2)
    for path, kind, want in (
        (of_pod, "GPU_MEMORY_USAGE_BYTES", used),
        (of_pod, "GPU_MEMORY_USAGE_BYTES_PER_GPU", used),
        (of_node, "GPU_MEMORY_USAGE_BYTES", used),
        (of_node, "GPU_MEMORY_UTILIZATION", 12.5),
        (of_project, "GPU_MEMORY_UTILIZATION", 50),
        (f"/api/v1/clusters/{server.cluster_id()}/metrics", "GPU_MEMORY_UTILIZATION", 6.25),
    ):
        wait_last(server, path, kind, want)

    def by_gpu(kind):
        measurements = series(server, of_node, kind).json["measurements"]
        return sorted(last(m) for m in measurements)

    assert by_gpu("GPU_MEMORY_USAGE_BYTES_PER_GPU") == [0, used]
    assert by_gpu("GPU_MEMORY_UTILIZATION_PER_GPU") == [0, 25]
    assert by_gpu("GPU_MEMORY_ALLOCATION_BYTES_PER_GPU") == [0, each / 2]
    (pod,) = server.get(f"/api/v1/workloads/{workload}/pods").json["pods"]
    assert (pod["used"]["gpuUtilization"], pod["used"]["gpuMemoryBytes"]) == (50, used)
    (read,) = server.get("/api/v1/devices", filterBy=f"name=={node['name']}").json["nodes"]
    assert read["readings"][pod["gpuIndices"][0]]["memoryUsedMib"] == used / (1 << 20)
    assert server.post(f"/api/v1/workloads/trainings/{workload}/suspend").status == 202
    server.wait_for("no figure", lambda: not by_project(server, "GPU_MEMORY_UTILIZATION"))


def by_project(server, kind):
    path = f"/api/v1/clusters/{server.cluster_id()}/metrics"
    measurements = series(server, path, kind, groupBy="Project").json["measurements"]
    return {m["groups"][0]["value"]: last(m) for m in measurements if m["values"] and m["values"][-1]["timestamp"]}


def test_project_and_department_metrics_follow_the_workloads(server):
    server.wait_phase(server.submit("a1", "team-a"), "Running")
    project = f"{PROJECTS}/{server.project_id('team-a')}/metrics"
    answer = wait_last(server, project, "GPU_ALLOCATION", 1)
    (measurement,) = answer.json["measurements"]
    assert measurement["type"] == "GPU_ALLOCATION" and isinstance(measurement["values"][-1]["value"], str)
    assert (
        measurement["values"] == sorted(measurement["values"], key=lambda v: v["timestamp"])
        and len(measurement["values"]) <= 5
    )
    answer = wait_last(server, project, "GPU_QUOTA", 2)
    assert answer.status == 200
    (department,) = server.get("/api/v1/org-unit/departments", filterBy="name==research").json["departments"]
    path = f"/api/v1/org-unit/departments/{department['id']}/metrics"
    wait_last(server, path, "GPU_ALLOCATION", 1)
    wait_last(server, path, "GPU_ALLOCATION", 1, nodepoolName="default")
    refused = series(server, path, "GPU_ALLOCATION", nodepoolName="h100")
    assert refused.status == 400 and "nodepoolName" in refused.json["message"]


def test_cluster_and_pool_metrics(server):
    server.wait_phase(server.submit("a1", "team-a"), "Running")
    cluster = f"/api/v1/clusters/{server.cluster_id()}"
    for path in (f"{cluster}/metrics", f"{cluster}/nodepools/default/metrics"):
        wait_last(server, path, "ALLOCATED_GPU", 1)
        answer = series(server, path, "TOTAL_GPU,UNALLOCATED_GPU,TOTAL_GPU_NODES")
        assert answer.status == 200 and [(m["type"], last(m)) for m in answer.json["measurements"]] == [
            ("TOTAL_GPU", 4),
            ("UNALLOCATED_GPU", 3),
            ("TOTAL_GPU_NODES", 2),
        ]
    assert series(server, f"{cluster}/metrics", "TOTAL_GPU", nodepoolName="default").status == 200


def test_cluster_metrics_by_group(server):
    server.wait_phase(server.submit("a1", "team-a"), "Running")
    path = f"/api/v1/clusters/{server.cluster_id()}/metrics"

    def groups(group_by):
        answer = series(server, path, "ALLOCATED_GPU", groupBy=group_by)
        assert answer.status == 200, answer
        return {
            m["groups"][0]["value"]: last(m)
            for m in answer.json["measurements"]
            if m["values"] and m["groups"][0]["key"] == group_by
        }

    server.wait_for("by project", lambda: groups("Project").get("team-a") == 1)
    assert (
        groups("Project")["team-b"] == 0
        and groups("Department")["research"] == 1
        and groups("Nodepool") == {"default": 1}
    )
    server.wait_phase(server.submit("w1", "team-b", kind="workspaces"), "Running")
    server.wait_for("by category", lambda: groups("Category") == {"Build": 1, "Train": 1, "Deploy": 0})
    refused = series(server, path, "CPU_UTILIZATION", groupBy="Project")
    assert refused.status == 422 and "CPU_UTILIZATION" in refused.json["message"], refused


def test_waiting_workloads_are_told_to_who_may_read_all(server):
    for name in ("a1", "a2"):
        server.submit(name, "team-a", gpus=3)
    path = f"/api/v1/clusters/{server.cluster_id()}/metrics"
    wait_last(server, path, "WAITING_WORKLOADS", 2)
    wait_last(server, path, "WAITING_WORKLOADS", 2, nodepoolName="default")
    of_pool = f"/api/v1/clusters/{server.cluster_id()}/nodepools/default/metrics"
    wait_last(server, of_pool, "WAITING_WORKLOADS", 2)
    server.token = make_person(server, "ann@lab.example", ("L1 researcher", "project", server.project_id("team-a")))
    answer = series(server, path, "WAITING_WORKLOADS,ALLOCATED_GPU")
    assert (answer.status, [m["type"] for m in answer.json["measurements"]]) == (207, ["ALLOCATED_GPU"]), answer


def test_utilization_is_of_what_is_held(server):
    """Of a project it is that of the GPUs it holds; the cluster's is that of all GPUs."""
    spec = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "60"}]}
    server.wait_phase(server.submit("a1", "team-a", spec=spec), "Running")
    path = f"/api/v1/clusters/{server.cluster_id()}/metrics"
    wait_last(server, path, "GPU_UTILIZATION", 15)

    def by_project():
        measurements = series(server, path, "GPU_UTILIZATION", groupBy="Project").json["measurements"]
        return {m["groups"][0]["value"]: last(m) for m in measurements if m["values"]}

    server.wait_for("team-a is at 60 %", lambda: by_project().get("team-a") == 60)
    assert "team-b" not in by_project(), "what holds nothing has no utilization"
    wait_last(server, f"{PROJECTS}/{server.project_id('team-a')}/metrics", "GPU_UTILIZATION", 60)
    wait_last(
        server, f"{PROJECTS}/{server.project_id('team-a')}/metrics", "GPU_UTILIZATION", 60, nodepoolName="default"
    )


def test_node_metrics_of_single_devices(server):
    spec = {"annotations": [{"name": "prorata.io/sim-gpu-utilization", "value": "75"}]}
    server.wait_phase(server.submit("a1", "team-a", spec=spec), "Running")
    busy = server.wait_for(
        "a node that is held",
        lambda: next((n for n in server.get("/api/v1/nodes").json["nodes"] if n["prorata"]["allocatedGpus"]), None),
    )
    path = f"/api/v1/nodes/{busy['id']}/metrics"

    def measured():
        answer = series(server, path, "GPU_ALLOCATION_PER_GPU,GPU_UTILIZATION_PER_GPU")
        rows = {(m["type"], m["labels"]["gpu"]): last(m) for m in answer.json["measurements"] if m["values"]}
        return rows == {
            ("GPU_ALLOCATION_PER_GPU", "0"): 1,
            ("GPU_ALLOCATION_PER_GPU", "1"): 0,
            ("GPU_UTILIZATION_PER_GPU", "0"): 75,
            ("GPU_UTILIZATION_PER_GPU", "1"): 0,
        }

    server.wait_for("figures of both devices", measured)
    shown = next(n for n in server.get("/api/v1/nodes").json["nodes"] if n["id"] == busy["id"])
    assert [d["utilization"] for d in shown["prorata"]["devices"]] == [75, None]


def test_what_is_never_measured_makes_the_answer_partial(server):
    node = server.get("/api/v1/nodes").json["nodes"][0]["id"]
    path = f"/api/v1/nodes/{node}/metrics"
    server.wait_for("samples", lambda: series(server, path, "GPU_UTILIZATION").status == 200)
    answer = series(server, path, "GPU_UTILIZATION,GPU_SM_ACTIVITY_PER_GPU")
    assert answer.status == 207 and [m["type"] for m in answer.json["measurements"]] == ["GPU_UTILIZATION"], answer


def test_samples_are_spread_evenly(server):
    path = f"/api/v1/clusters/{server.cluster_id()}/metrics"
    wait_last(server, path, "TOTAL_GPU", 4)
    server.wait_for(
        "three samples in the last second",
        lambda: len(series(server, path, "TOTAL_GPU", start=-1, samples=3).json["measurements"][0]["values"]) == 3,
    )
    answer = server.get(
        path, metricType="TOTAL_GPU", start="2020-01-01T00:00:00Z", end="2020-01-01T00:00:10Z", numberOfSamples=3
    )
    assert answer.status == 207, "nothing was known then"
    assert series(server, path, "TOTAL_GPU", samples=0).json["measurements"] == []
    ahead = series(server, path, "TOTAL_GPU", start=-1, end=100, samples=2).json["measurements"]
    assert all(len(m["values"]) <= 1 for m in ahead), "the future is not known"
    assert len(series(server, path, "TOTAL_GPU", start=-1, end=0, samples=1).json["measurements"][0]["values"]) == 1


def test_csv(server):
    path = f"/api/v1/clusters/{server.cluster_id()}/metrics"
    wait_last(server, path, "TOTAL_GPU", 4)
    query = urllib.parse.urlencode({"metricType": "TOTAL_GPU", "start": at(-60), "end": at(), "numberOfSamples": 5})
    answer = server.request("GET", f"{path}?{query}", headers={"Accept": "text/csv"})
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/csv")
    head, *rows = answer.body.decode().splitlines()
    assert head == "timestamp,type,label,group,value" and rows[-1].endswith(",TOTAL_GPU,,,4")


GOOD = {"metricType": "GPU_QUOTA", "start": "2026-01-01T00:00:00Z", "end": "2026-01-02T00:00:00Z"}
REFUSED = [
    ("no type", {"metricType": None}),
    ("an unknown type", {"metricType": "GPU_COLOUR"}),
    ("a type of another level", {"metricType": "POD_COUNT"}),
    ("an empty type", {"metricType": ""}),
    ("one unknown of two", {"metricType": "GPU_QUOTA,GPU_COLOUR"}),
    ("no start", {"start": None}),
    ("no end", {"end": None}),
    ("a start that is no time", {"start": "yesterday"}),
    ("a start in seconds", {"start": "1700000000"}),
    ("an end before the start", {"end": "2025-12-31T00:00:00Z"}),
    ("an end at the start", {"end": "2026-01-01T00:00:00Z"}),
    ("too many samples", {"numberOfSamples": "1001"}),
    ("less than none", {"numberOfSamples": "-1"}),
    ("half a sample", {"numberOfSamples": "1.5"}),
    ("a pool that is not there", {"nodepoolName": "h100"}),
]


@pytest.mark.parametrize("what,change", REFUSED, ids=[r[0] for r in REFUSED])
def test_metrics_refuse(module_server, what, change):
    query = {k: v for k, v in {**GOOD, **change}.items() if v is not None}
    answer = module_server.get(f"{PROJECTS}/{module_server.project_id('team-a')}/metrics", **query)
    assert answer.status == 400 and next(iter(change)) in answer.json["message"], answer


def test_metrics_of_what_is_not_there(module_server):
    nowhere = "7ff1b4de-0000-4000-8000-000000000000"
    for path, kind in (
        (f"{PROJECTS}/4711/metrics", "GPU_QUOTA"),
        ("/api/v1/org-unit/departments/4711/metrics", "GPU_QUOTA"),
        (f"/api/v1/nodes/{nowhere}/metrics", "GPU_UTILIZATION"),
        (f"/api/v1/clusters/{nowhere}/metrics", "TOTAL_GPU"),
        (f"/api/v1/clusters/{module_server.cluster_id()}/nodepools/h100/metrics", "TOTAL_GPU"),
    ):
        assert series(module_server, path, kind).status == 404, path


def test_averages_over_time_are_there(server):
    def averages():
        project = server.get(f"{PROJECTS}/{server.project_id('team-a')}").json
        return project["overtimeData"].get("range24hData")

    assert set(server.wait_for("averages", averages)) == {"averageGpuAllocation", "updatedAt"}, "nothing was measured"
