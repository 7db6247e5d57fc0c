"""`fields` of GET /api/v1/workloads: rows hold what is asked for, and always the id."""

import json

import pytest
from document import DOCUMENT, OPERATIONS
from people import make_person

PATH = "/api/v1/workloads"
(FIELDS,) = [p for p in OPERATIONS["get_workloads"][2]["parameters"] if p.get("name") == "fields"]
NAMES = FIELDS["schema"]["items"]["enum"]
BRIEF = {"id", "name", "type", "phase", "phaseUpdatedAt", "projectId", "projectName", "submittedBy", "createdAt"}
BRIEF |= {"priorityClassName", "distributedFramework", "requestedPods", "runningPods", "allocatedResources"}


@pytest.fixture(scope="module")
def site(module_server):
    server = module_server
    server.long = server.submit("long", "team-a", gpus=0, spec={"args": "x" * 6000, "command": 'a "b,}]{[ c"'})
    server.gang = server.submit(
        "gang", "team-b", gpus=0, kind="distributed", spec={"numWorkers": 2, "distributedFramework": "PyTorch"}
    )
    for workload in (server.long, server.gang):
        server.wait_phase(workload, "Running")
    return server


def rows(server, fields=None, **query):
    answer = server.get(PATH, **({"fields": fields} if fields is not None else {}), **query)
    assert answer.status == 200, answer
    return answer.json["workloads"]


def test_every_documented_name_can_be_asked_for(site):
    assert ["brief", *DOCUMENT["components"]["schemas"]["WorkloadPart"]["properties"]] == NAMES
    whole = {row["id"]: row for row in rows(site)}
    for name in NAMES[1:]:
        for row in rows(site, name):
            of = whole[row["id"]]
            wanted = {"id", name} | ({"truncated"} if name in ("arguments", "command", "images", "urls") else set())
            wanted |= {"truncated"} if name in ("externalConnections", "environmentVariables") else set()
            assert set(row) == wanted & set(of), name
            assert all(row[key] == of[key] for key in row if not key.startswith("total")), name
    assert set(rows(site, "truncated")[1]) == {"id", "truncated"}


def test_several_names_in_any_order_and_twice(site):
    (gang, long) = rows(site, "phase,name,phase,id", sortBy="name")
    assert gang == {"id": site.gang, "name": "gang", "phase": "Running"} and long["name"] == "long"
    assert set(rows(site, "brief,namespace", search="gang")[0]) == BRIEF | {"namespace"}


def test_a_brief_row_has_about_400_bytes(site):
    brief, whole = rows(site, "brief"), rows(site)
    for row, of in zip(brief, whole, strict=True):
        assert set(row) == BRIEF & set(of) and all(row[key] == of[key] for key in row)
        size = len(json.dumps(row, separators=(",", ":")))
        assert 350 < size < 520, (size, row)
    assert len(json.dumps(whole)) > 2.5 * len(json.dumps(brief))


def test_pages_filters_and_order_stay(site):
    first = site.get(PATH, fields="name", limit=1, sortBy="name").json
    assert [row["name"] for row in first["workloads"]] == ["gang"] and first["next"] == 1
    second = site.get(PATH, fields="phase", limit=1, sortBy="name", offset=first["next"]).json
    assert second == {"workloads": [{"id": site.long, "phase": "Running"}]}
    assert [row["name"] for row in rows(site, "name", filterBy="projectName==team-a")] == ["long"]
    assert rows(site, "name", deleted="true") == []


@pytest.mark.parametrize(
    "fields, named",
    [
        ("colour", "colour"),
        ("name,colour,phase", "colour"),
        ("name, phase", " phase"),
        ("Name", "Name"),
        ("*", "*"),
        ("name,,phase", '""'),
        ("allocatedResources.gpu", "allocatedResources.gpu"),
        ("podMessage", "podMessage"),
        ("x" * 3000, "x" * 20),
        (",".join(["name"] * 65), "64"),
    ],
    ids=lambda text: text[:20],
)
def test_what_is_no_field_is_refused_by_its_name(site, fields, named):
    answer = site.get(PATH, fields=fields)
    assert answer.status == 400 and answer.json["message"].startswith("fields: "), answer
    assert named in answer.json["message"]


def test_a_part_shows_nobody_more(site):
    ann = make_person(site, "ann@example.org", ("L1 researcher", "project", site.project_id("team-a")))
    (row,) = site.request("GET", PATH + "?fields=brief", token=ann).json["workloads"]
    assert row["id"] == site.long
    assert site.request("GET", PATH + "?fields=brief", token=None).status == 401
