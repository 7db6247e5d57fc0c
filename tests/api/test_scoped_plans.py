"""A caller with a small scope pays for what lies in it: the plans of his lists begin with his projects, and walk past
nobody's rows. Looked at with EXPLAIN QUERY PLAN, on the statements that the server itself prepares."""

import re
import sqlite3

import pytest
from servers import Server
from test_access import department_id, make_caller

LISTS = [
    "/workloads",
    "/workloads?limit=500&sortOrder=asc&sortBy=name",
    "/workloads?sortBy=priority",
    "/workloads?search=job",
    "/workloads?filterBy=name==job",
    "/workloads?filterBy=phase==Running",
    "/workloads/count",
    "/workloads/count?search=job",
    "/workloads/count?filterBy=phase==Running",
    "/workloads/telemetry?telemetryType=PENDING_TIME_DISTRIBUTION",
]
# Answered from sums that are kept, however many workloads there are.
OF_SUMS = [
    "/workloads/telemetry?telemetryType=WORKLOADS_COUNT",
    "/workloads/telemetry?telemetryType=GPU_ALLOCATION&groupBy=ProjectId,CurrentNodepools",
    "/overview/counts",
]
# Rows of what is gone may outlive the projects of a department.
OF_PROJECTS = [
    "/workloads?deleted=true",
    "/workloads/pods",
    "/workloads/pods?search=job",
    "/workloads/pods/count",
    "/events",
]
MANY = re.compile(r"SCAN (?:w|e|p|r|workloads|events|pods)\b")
BESIDE = re.compile(r"SEARCH (?:w|e|p) USING (?!INDEX projects_|.*\((?:project_id|workload_id|rowid)=)")


@pytest.fixture(scope="module")
def told_server(build_shim, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plans")
    log = folder / "sql"
    server = Server(folder, "--quick-start", environment={**build_shim("sql_log"), "SQL_LOG": str(log)}).start()
    yield server, log
    assert server.stop() == 0, server.tail()


@pytest.fixture(scope="module")
def plans(told_server):
    server, log = told_server
    callers = {
        "project": make_caller(server, "ann", ("Viewer", "project", server.project_id("team-b")))[1],
        "department": make_caller(server, "bob", ("Viewer", "department", department_id(server)))[1],
    }

    def plans_of(path, scope):
        log.write_bytes(b"")
        answer = server.request("GET", "/api/v1" + path, token=callers.get(scope, "admin"))
        assert answer.status == 200, answer
        statements = [
            text.decode()
            for text in log.read_bytes().split(b"\0")
            if re.search(rb" (?:workloads|workload_sums|events|audit_records) ", text)
        ]
        assert statements, "the server told what it prepared"
        with sqlite3.connect(f"file:{server.data}/prorata.db?mode=ro", uri=True) as database:
            for sql in statements:
                count = max(map(int, re.findall(r"\?(\d)", sql)), default=sql.count("?"))
                yield sql, [row[3] for row in database.execute("EXPLAIN QUERY PLAN " + sql, [None] * count)]

    return plans_of


@pytest.mark.parametrize(
    "path, scope", [(p, s) for p in LISTS for s in ("project", "department")] + [(p, "project") for p in OF_PROJECTS]
)
def test_a_small_scope_is_read_from_its_projects(plans, path, scope):
    for sql, plan in plans(path, scope):
        wrong = [line for line in plan if MANY.search(line) or BESIDE.search(line)]
        assert not wrong, f"{wrong}\n{sql}\n" + "\n".join(plan)


@pytest.mark.parametrize("path", OF_SUMS)
def test_sums_of_workloads_are_read_where_they_are_kept(plans, path):
    told = list(plans(path, "all"))
    assert any(" workload_sums " in sql for sql, _ in told)
    assert not any(re.search(r" workloads ", sql) for sql, _ in told), told


@pytest.mark.parametrize("scope", ["project", "department"])
def test_records_of_a_small_scope_are_found_before_they_are_read(plans, scope):
    path = "/audit/log?start=2026-01-01T00:00:00Z&end=2036-01-01T00:00:00Z"
    told = [(sql, plan) for sql, plan in plans(path, scope) if " json_each(" in sql and " audit_records " in sql]
    assert len(told) == 2, "the page and the count"
    index = f"SEARCH r USING COVERING INDEX audit_records_{scope} ({scope}_id=? AND time_ms>? AND time_ms<?)"
    for sql, plan in told:
        assert index in plan, f"{sql}\n" + "\n".join(plan)


def test_the_overview_pays_nothing_for_what_is_over(plans):
    told = list(plans("/overview", "all"))
    nodes = next(plan for sql, plan in told if " p.node_id IN " in sql)
    assert any("pods_on_node" in line for line in nodes), nodes
    assert any(" workload_sums " in sql for sql, _ in told)
    counted = [plan for sql, plan in told if re.search(r"count\(\*\).* workloads ", sql)]
    assert len(counted) == 1, "who waits"
    assert any("COVERING INDEX workloads_by_state" in line and "phase=?" in line for line in counted[0]), counted


BY_WORKLOAD = "events_workload (workload_id=?)"
RARE = {
    "kind=nodes": "events_of_nodes",
    "kind=people": "events_of_people",
    "kind=evictions": "events_of_evictions",
    "kind=failures": "events_of_failures",
    "type=Warning": "events_of_warnings",
}


@pytest.mark.parametrize("scope", ["all", "project", "department"])
@pytest.mark.parametrize("query", [*RARE, "kind=organisation", "projectId=1", "node=node-0"])
def test_few_among_many_events_are_found_by_an_index(plans, query, scope):
    index = RARE[query] if query in RARE and scope != "project" else BY_WORKLOAD
    (plan,) = [plan for sql, plan in plans("/events?" + query, scope) if "ORDER BY" in sql]
    walks = [line for line in plan if re.match(r"SCAN e\b", line) and index not in line]
    assert any(index in line for line in plan) and not walks, plan
