"""Consumption reports: what was held in a period, as a file that stays."""

import csv
import datetime
import io
import sqlite3

import pytest
from test_access import make_caller, rule_for

REPORTS = "/api/v1/org-unit/reports"
RULES = "/api/v1/authorization/access-rules"
# A midnight of which the allocations are still kept.
DAY = datetime.datetime.now(datetime.UTC).replace(hour=0, minute=0, second=0, microsecond=0) - datetime.timedelta(
    days=9
)
HOUR_MS = 3600_000


def iso(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def ask(server, token="admin", **more):
    body = {"name": "a week ago", "start": iso(DAY), "end": iso(DAY + datetime.timedelta(days=2)), **more}
    return server.request("POST", REPORTS, body, token=token)


def rows_of(server, report, token="admin"):
    answer = server.request("GET", f"{REPORTS}/{report['id']}/file", token=token)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/csv"), answer
    return list(csv.DictReader(io.StringIO(answer.body.decode(), newline="")))


def gpu_hours(server, **more):
    answer = ask(server, **more)
    assert answer.status == 202, answer
    rows = rows_of(server, answer.json)
    return {row.get(more.get("groupBy"), ""): float(row["GPU hours"]) for row in rows}


@pytest.fixture(scope="module")
def held(module_server):
    """Allocations of two projects then, written as the server keeps them; one is over and summed by day."""
    server = module_server
    server.stop()
    base = int(DAY.timestamp() * 1000)
    with sqlite3.connect(server.data / "prorata.db") as db:
        ids = dict(db.execute("SELECT name, id FROM projects"))
        unit = dict(db.execute("SELECT name, department_id FROM projects"))
        pool = db.execute("SELECT id FROM node_pools WHERE is_default").fetchone()[0]

        def hold(project, gpus, start, end):
            db.execute(
                "INSERT INTO allocations (pod_id, workload_id, workload_name, project_id, project_name, department_id, "
                "person, node_name, node_pool_id, gpu_indices_json, gpu_milli, cpu_milli, memory_bytes, started_ms, "
                "ended_ms) VALUES (0, 0, 'w', ?, ?, ?, 'p', 'n', ?, '[]', ?, 500, 1000000000, ?, ?)",
                (ids[project], project, unit[project], pool, int(gpus * 1000), base + start * HOUR_MS, end),
            )

        hold("team-a", 2, -1, base + 3 * HOUR_MS)  # begins an hour before the period: 3 of its 4 hours count
        hold("team-a", 0.5, 47, base + 60 * HOUR_MS)  # ends after it: 1 hour
        hold("team-b", 4, 10, base + 15 * HOUR_MS)
        hold("team-b", 8, 48, base + 50 * HOUR_MS)  # begins as it ends
        db.execute(
            "INSERT INTO usage_days VALUES (?, ?, ?, ?, 'p', 'team-b', ?, 0, 0)",
            (base + 24 * HOUR_MS, ids["team-b"], unit["team-b"], pool, 10 * 1000 * HOUR_MS),
        )
    server.start()
    return server


@pytest.mark.parametrize(
    ("more", "hours"),
    [
        ({"groupBy": "Project"}, {"team-a": 6.5, "team-b": 30}),
        ({}, {"": 36.5}),
        ({"groupBy": None}, {"": 36.5}),
        ({"groupBy": "Cluster"}, {"simulated": 36.5}),
        ({"groupBy": "Project", "filterBy": ["projectName==team-a"]}, {"team-a": 6.5}),
        ({"filterBy": ["projectName==team-a", "projectName==team-b"]}, {"": 36.5}),
        ({"groupBy": "Project", "filterBy": ["projectName==team-a", "departmentName==nobody"]}, {}),
        ({"groupBy": "Project", "end": iso(DAY + datetime.timedelta(hours=12))}, {"team-a": 6, "team-b": 8}),
        # Half of the day that is known by its sum alone.
        ({"groupBy": "Project", "start": iso(DAY + datetime.timedelta(hours=36))}, {"team-a": 0.5, "team-b": 5}),
    ],
)
def test_hours_of_a_period(held, more, hours):
    assert gpu_hours(held, **more) == pytest.approx(hours)


def test_what_a_row_says(held):
    rows = rows_of(held, ask(held, groupBy="Nodepool", filterBy=["projectName==team-a"]).json)
    assert rows == [
        {
            "Start": DAY.strftime("%Y-%m-%dT00:00:00.000Z"),
            "End": (DAY + datetime.timedelta(days=2)).strftime("%Y-%m-%dT00:00:00.000Z"),
            "Node pool": "default",
            "GPU hours": "6.500000",
            "CPU core hours": "2.000000",
            "Memory GB hours": rows[0]["Memory GB hours"],
        }
    ]
    assert float(rows[0]["Memory GB hours"]) == pytest.approx(4, rel=1e-3)


def test_a_report_stays_as_it_was_made(held):
    report = ask(held, name="stays", description="of last week", groupBy="Department").json
    assert (report["status"], report["tenantId"], report["createdBy"]) == ("Ready", 1, "admin@prorata.local")
    assert held.get(f"{REPORTS}/{report['id'].upper()}").json == report
    before = rows_of(held, report)
    held.kill()
    held.start()
    assert rows_of(held, report) == before
    found = held.get(REPORTS, filterBy="name==stays,status==Ready", sortBy="createdAt", sortOrder="desc").json
    assert found == {"reports": [report]}
    assert held.get(REPORTS + "/count", search="STAY").json == {"count": 1}
    assert held.get(REPORTS + "/availability").json == {"isAvailable": True}
    assert held.delete(f"{REPORTS}/{report['id']}").status == 204
    for path in ("", "/file"):
        assert held.get(f"{REPORTS}/{report['id']}{path}").status == 404
    assert held.delete(f"{REPORTS}/{report['id']}").status == 404


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"start": "yesterday"}, "start"),
        ({"end": iso(DAY)}, "end: expected a time after start"),
        ({"start": "2999-01-01T00:00:00Z", "end": "2999-01-02T00:00:00Z"}, "before now"),
        ({"groupBy": "Person"}, "groupBy"),
        ({"filterBy": ["projectName=@team"]}, "filterBy"),
    ],
)
def test_what_is_wrong_is_named(module_server, more, says):
    answer = ask(module_server, **more)
    assert answer.status == 400 and says in str(answer.json), answer


def test_a_name_is_no_formula(held):
    """What a workload's owner or a project is called comes from people."""
    with sqlite3.connect(held.data / "prorata.db") as db:
        db.execute(
            "INSERT INTO allocations SELECT NULL, pod_id, workload_id, workload_name, 999999, '=1+1', "
            "department_id, person, node_name, node_pool_id, gpu_indices_json, gpu_milli, cpu_milli, "
            "memory_bytes, started_ms, ended_ms, '' FROM allocations WHERE project_name = 'team-b' LIMIT 1"
        )
    names = gpu_hours(held, groupBy="Project").keys()
    assert "'=1+1" in names and "=1+1" not in names
    with sqlite3.connect(held.data / "prorata.db") as db:
        db.execute("DELETE FROM allocations WHERE project_id = 999999")


def test_a_report_covers_its_makers_scope_and_is_his(held):
    role = {
        "name": "Reporter",
        "description": "",
        "permissionSets": [{"name": "Basics"}],
        "permissions": [{"resourceType": "dashboards-consumption", "actions": ["create", "read"]}],
    }
    role = held.post("/api/v2/authorization/roles", role).json
    account, token = make_caller(held, "reporter")
    rule = {**rule_for(account, "Viewer", "project", held.project_id("team-a")), "roleId": role["id"]}
    assert held.post(RULES, rule).status == 201
    others = ask(held, name="of others").json
    mine = ask(held, token=token, name="mine", groupBy="Project")
    assert mine.status == 202, mine
    assert [(row["Project"], row["GPU hours"]) for row in rows_of(held, mine.json, token)] == [("team-a", "6.500000")]
    listed = held.request("GET", REPORTS, token=token).json["reports"]
    assert [report["name"] for report in listed] == ["mine"]
    assert held.request("GET", REPORTS + "/count", token=token).json == {"count": 1}
    for path in ("", "/file"):
        assert held.request("GET", f"{REPORTS}/{others['id']}{path}", token=token).status == 404
    assert held.request("DELETE", f"{REPORTS}/{mine.json['id']}", token=token).status == 403
    assert rows_of(held, mine.json)
