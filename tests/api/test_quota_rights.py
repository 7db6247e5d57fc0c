"""Quota, limit, weight and rank are given from above: by who has rights in the department, of departments in the
cluster."""

import sqlite3

import pytest
from test_access import department_id, make_caller

PROJECTS, DEPARTMENTS = "/api/v1/org-unit/projects", "/api/v1/org-unit/departments"


def lead(server, role="Project administrator", scope="project", place=None, name=None):
    return make_caller(
        server, name or f"{role} {scope}".lower().replace(" ", "-"), (role, scope, place or server.project_id("team-a"))
    )[1]


def say(server, token, **changes):
    """The whole project as it is, with these changes, by PUT."""
    path = f"{PROJECTS}/{server.project_id('team-a')}"
    project = server.get(path).json
    body = {"description": "", "resources": project["resources"], **changes}
    return server.request("PUT", path, body, token=token)


@pytest.mark.parametrize(
    "change",
    [
        {"gpu": {"deserved": 3}},
        {"gpu": {"deserved": 1, "limit": 1}},
        {"gpu": {"limit": 2}},
        {"gpu": {"overQuotaWeight": 3}},
        {"priority": "VeryHigh"},
        {"rank": "VeryHigh"},
        {"cpu": {"deserved": 1000}},
        {"memory": {"deserved": 1000, "units": "MB"}},
    ],
    ids=str,
)
def test_a_project_does_not_set_its_own(module_server, change, request):
    server = module_server
    path = f"{PROJECTS}/{server.project_id('team-a')}"
    token = lead(server, name=f"lead-{request.node.callspec.indices['change']}")
    before = server.get(path).json["resources"]
    for method in ("PATCH", "PUT"):
        answer = server.request(method, path + "/resources", [change], token=token)
        assert answer.status == 403 and answer.json["message"].startswith(
            "resources: quota, limit, weight and rank in node pool default"
        ), answer
        assert "administratorsSetOwnQuota" in answer.json["details"]
    assert say(server, token, resources=[change]).status == 403
    assert server.get(path).json["resources"] == before


def test_what_stays_as_it_is_may_be_said(server):
    token = lead(server)
    assert say(server, token, description="Said by its lead").json["description"] == "Said by its lead"
    same = server.get(f"{PROJECTS}/{server.project_id('team-a')}").json["resources"]
    assert (
        server.request("PATCH", f"{PROJECTS}/{server.project_id('team-a')}/resources", same, token=token).status == 200
    )
    assert server.request("PATCH", f"{PROJECTS}/{server.project_id('team-a')}/resources", [], token=token).status == 200


def test_who_has_rights_above_sets_it(server):
    department, project = department_id(server), server.project_id("team-a")
    token = lead(server, "Department administrator", "department", department)
    more = [{"gpu": {"deserved": 3}}]
    assert server.request("PATCH", f"{PROJECTS}/{project}/resources", more, token=token).status == 200
    assert (
        server.request("PATCH", f"{DEPARTMENTS}/{department}/resources", [{"gpu": {"deserved": 9}}], token=token).status
        == 403
    )
    owner = lead(server, "System administrator", "department", department)
    assert (
        server.request("PATCH", f"{DEPARTMENTS}/{department}/resources", [{"gpu": {"deserved": 9}}], token=owner).status
        == 403
    )
    above = lead(server, "System administrator", "cluster", server.cluster_id())
    assert (
        server.request("PATCH", f"{DEPARTMENTS}/{department}/resources", [{"gpu": {"deserved": 9}}], token=above).status
        == 200
    )


def test_a_setting_gives_the_old_way_back(server):
    token, path = lead(server), f"{PROJECTS}/{server.project_id('team-a')}/resources"
    assert server.request("PATCH", path, [{"gpu": {"deserved": 3}}], token=token).status == 403
    assert server.request("PUT", "/v1/k8s/setting", {"key": "administratorsSetOwnQuota", "value": True}).status == 200
    assert server.request("PATCH", path, [{"gpu": {"deserved": 3}}], token=token).status == 200


def test_the_first_start_names_the_rules_that_it_narrows(server):
    lead(server)
    lead(server, "L1 researcher")
    lead(server, "Editor", "department", department_id(server))
    assert server.stop() == 0
    word = "no longer lets its subject change quota"
    assert word not in server.log.read_text(), "a new installation has none"
    with sqlite3.connect(server.data / "prorata.db") as database:
        assert database.execute("DELETE FROM meta WHERE key = 'quota_rights_told'").rowcount == 1
    database.close()
    server.start()
    told = [line for line in server.log.read_text().splitlines() if word in line]
    assert (
        len(told) == 2
        and ' role="Project administrator" scope="team-a"' in told[0]
        and ' role="Editor" scope="research"' in told[1]
    ), told
    assert server.stop() == 0
    server.start()
    assert len([line for line in server.log.read_text().splitlines() if word in line]) == 2, "once"
