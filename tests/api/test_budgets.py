"""How many SQL statements a request may take to read, counted by /metrics; the same whether there is one of a thing or
hundreds. What writes take stands in tests/support/db_writes.c."""

import concurrent.futures
import pathlib
import re
import shutil
import tempfile

import pytest
from contract import OPERATIONS
from servers import Server
from test_access import make_caller

SPEC = {"image": "x", "compute": {"gpuDevicesRequest": 1}}
LAST_HOUR = "start=2026-01-01T00:00:00Z&end=2026-01-01T01:00:00Z&numberOfSamples=10"
# What, method, path, how many statements at most: what it took and one more. Two of each say who asks and what he may
# see.
REQUESTS = [
    ("get_workloads", "GET", "/api/v1/workloads?limit=50", 6),
    ("get_workloads, all", "GET", "/api/v1/workloads?limit=500", 6),
    ("count_workloads", "GET", "/api/v1/workloads/count", 4),
    ("get_workload", "GET", "/api/v1/workloads/{workload}", 8),
    ("get_training", "GET", "/api/v1/workloads/trainings/{workload}", 5),
    ("get_workload_pods", "GET", "/api/v1/workloads/{workload}/pods", 5),
    ("get_workload_events", "GET", "/api/v1/workloads/{workload}/events", 5),
    ("get_workload_history", "GET", "/api/v1/workloads/{workload}/history", 5),
    ("get_workload_explanation", "GET", "/api/v1/workloads/{workload}/explanation", 8),
    ("get_workload_metrics", "GET", "/api/v1/workloads/{workload}/metrics?metricType=GPU_ALLOCATION&" + LAST_HOUR, 6),
    ("list_pods", "GET", "/api/v1/workloads/pods?limit=500", 4),
    ("get_workloads_telemetry", "GET", "/api/v1/workloads/telemetry?telemetryType=WORKLOADS_COUNT", 4),
    ("list_events", "GET", "/api/v1/events", 4),
    ("get_projects", "GET", "/api/v1/org-unit/projects", 7),
    ("get_project", "GET", "/api/v1/org-unit/projects/{project}", 6),
    (
        "get_project_metrics",
        "GET",
        "/api/v1/org-unit/projects/{project}/metrics?metricType=GPU_ALLOCATION&" + LAST_HOUR,
        6,
    ),
    ("get_project_people", "GET", "/api/v1/org-unit/projects/{project}/people", 5),
    ("get_project_budget", "GET", "/api/v1/org-unit/projects/{project}/budget", 5),
    ("get_projects_telemetry", "GET", "/api/v1/org-unit/projects/telemetry?telemetryType=GPU_QUOTA", 4),
    ("get_departments", "GET", "/api/v1/org-unit/departments", 9),
    ("get_clusters", "GET", "/api/v1/clusters", 4),
    ("get_nodepools", "GET", "/api/v1/node-pools", 4),
    ("get_tenant_nodes", "GET", "/api/v1/nodes", 6),
    ("get_devices", "GET", "/api/v1/devices", 6),
    ("list_compute_assets", "GET", "/api/v1/asset/compute", 4),
    ("get_users", "GET", "/api/v1/users", 4),
    ("get_service_accounts", "GET", "/api/v1/service-accounts", 4),
    ("get_access_rules", "GET", "/api/v1/authorization/access-rules", 5),
    ("get_permissions", "GET", "/api/v1/authorization/permissions", 3),
    ("get_overview", "GET", "/api/v1/overview", 12),
    ("get_overview_nodes", "GET", "/api/v1/overview/nodes", 6),
    ("get_overview_counts", "GET", "/api/v1/overview/counts", 8),
    ("get_scheduler_fairshare", "GET", "/api/v1/scheduler/fairshare", 3),
    ("get_scheduler_queue", "GET", "/api/v1/scheduler/queue", 4),
    ("get_scheduler_waiting", "GET", "/api/v1/scheduler/waiting", 6),
    ("get_idle_workloads", "GET", "/api/v1/workloads/idle?minIdleSeconds=0", 5),
    ("get_scheduler_timeline", "GET", "/api/v1/scheduler/timeline", 11),
    ("get_scheduler_receipts", "GET", "/api/v1/scheduler/receipts", 4),
    ("ask_what_if", "POST", "/api/v1/scheduler/what-if", 9),
    ("ask_what_if_quota", "POST", "/api/v1/scheduler/what-if/quota", 6),
    ("create_training1", "POST", "/api/v1/workloads/trainings", 5),
    ("suspend_training", "POST", "/api/v1/workloads/trainings/{workload}/suspend", 4),
    ("resume_training", "POST", "/api/v1/workloads/trainings/{workload}/resume", 4),
    ("delete_training", "DELETE", "/api/v1/workloads/trainings/{made}", 4),
    ("refused: unknown", "GET", "/api/v1/workloads/00000000-0000-4000-8000-000000000000", 4),
]
# Every list of the contract, so also those to come.
LISTS = [
    (name, method, path)
    for name, (method, path, _) in OPERATIONS.items()
    if method == "GET" and "{" not in path and name != "stream_events"
]


class World:
    def __init__(self, server):
        self.server = server
        self.number = 0
        self.made = None
        self.project = server.project_id("team-a")
        self.cluster = server.cluster_id()
        self.workload = self.submit()

    def training(self):
        self.number += 1
        return {"name": f"w{self.number}", "projectId": self.project, "clusterId": self.cluster, "spec": SPEC}

    def submit(self):
        answer = self.server.post("/api/v1/workloads/trainings", self.training())
        assert answer.status == 202, answer
        return answer.json["workloadId"]

    def grow(self):
        """Three hundred workloads, twenty of what there are few of."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = pool.map(
                lambda body: self.server.post("/api/v1/workloads/trainings", body),
                [self.training() for _ in range(300)],
            )
            assert {answer.status for answer in answers} == {202}
        for i in range(20):
            department = self.server.post(
                "/api/v1/org-unit/departments", {"name": f"d{i}", "clusterId": self.cluster, "resources": []}
            )
            assert department.status == 201, department
            project = {"name": f"p{i}", "clusterId": self.cluster, "parentId": department.json["id"], "resources": []}
            user = {"email": f"u{i}@example.org"}
            asset = {"meta": {"name": f"a{i}", "scope": "tenant"}, "spec": {"gpuDevicesRequest": 1}}
            for path, body in (("org-unit/projects", project), ("users", user), ("asset/compute", asset)):
                answer = self.server.post("/api/v1/" + path, body)
                assert answer.status in (201, 202), answer
            make_caller(self.server, f"s{i}", ("Viewer", "department", department.json["id"]))
            answer = self.server.post("/api/v1/simulation/nodes", {"name": f"n{i}", "gpus": 1})
            assert answer.status == 201, answer

    def ask(self, method, path):
        body = None
        if path.endswith("/trainings"):
            body = self.training()
        elif path.endswith("/quota"):
            body = {"projects": [{"id": self.project, "resources": [{"gpu": {"deserved": 0}}]}]}
        elif path.endswith("/what-if"):
            body = {"type": "Training", "workload": self.training(), "fixes": True}
        elif "{made}" in path:
            self.made = self.submit()
        path = path.format(workload=self.workload, project=self.project, made=self.made)
        own = self.read()
        before = self.read()
        answer = self.server.request(method, path, body)
        count = self.read() - before - (before - own)
        return answer.status, count

    def read(self):
        """Statements on the connections that requests read by; those of /metrics itself are the same each time."""
        text = self.server.request("GET", "/metrics", token=None).body.decode()
        return sum(
            int(n) for n in re.findall(r'prorata_database_statements_total\{for="(?:requests|sign-in)"\} (\d+)', text)
        )

    def measure(self):
        """The least of three: an open dashboard or a token's renewal is nobody's fault here."""
        found = {}
        for name, method, path in [row[:3] for row in REQUESTS] + [("list: " + name, *rest) for name, *rest in LISTS]:
            answers = [self.ask(method, path) for _ in range(3)]
            found[name] = [status for status, _ in answers][0], min(count for _, count in answers)
        return found


@pytest.fixture(scope="module")
def counts():
    path = pathlib.Path(tempfile.mkdtemp(prefix="prorata-test-"))
    server = Server(path, "--quick-start", "--metrics-open").start()
    try:
        world = World(server)
        few = world.measure()
        world.grow()
        yield few, world.measure()
    finally:
        server.stop()
        shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize("name,budget", [(row[0], row[3]) for row in REQUESTS], ids=[row[0] for row in REQUESTS])
def test_statements_of_a_request(counts, name, budget):
    few, many = (found[name] for found in counts)
    wanted = 404 if name.startswith("refused") else 200
    assert few[0] // 100 == many[0] // 100 == wanted // 100, (few, many)
    assert 0 < few[1] <= budget and 0 < many[1] <= budget, f"{few[1]} with one, {many[1]} with 300, budget {budget}"


@pytest.mark.parametrize("name", [row[0] for row in LISTS])
def test_a_list_takes_no_statement_for_each_row(counts, name):
    few, many = (found["list: " + name] for found in counts)
    assert many[1] <= few[1] + 2, f"{few[1]} with few rows, {many[1]} with many"
