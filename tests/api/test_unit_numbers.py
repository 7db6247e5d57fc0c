"""How many workloads and people the lists of projects and departments tell, and to whom."""

import pytest
from test_access import department_id, make_caller

UNITS = "/api/v1/org-unit/"
RULES = "/api/v1/authorization/access-rules"


def numbers(server, kind, token="admin"):
    answer = server.request("GET", UNITS + kind, token=token)
    assert answer.status == 200, answer
    return {unit["name"]: unit.get("prorata") for unit in answer.json[kind.partition("?")[0]]}


@pytest.fixture(scope="module")
def peopled(module_server):
    """ann works in both projects, twice in team-a; bob administers the department, eve looks at team-b."""
    server = module_server
    a, b, research = server.project_id("team-a"), server.project_id("team-b"), department_id(server)
    server.tokens = {}
    for name, rules in {
        "ann": [("L1 researcher", "project", a), ("Viewer", "project", a), ("L1 researcher", "project", b)],
        "bob": [("Department administrator", "department", research)],
        "eve": [("Viewer", "project", b)],
        "ina": [("Editor", "cluster", server.cluster_id())],
    }.items():
        _, server.tokens[name] = make_caller(server, name, *rules)
    for name, project in (("a1", "team-a"), ("a2", "team-a"), ("b1", "team-b"), ("gone", "team-b")):
        server.submit(name, project)
    gone = server.get("/api/v1/workloads", filterBy="name==gone").json["workloads"][0]["id"]
    assert server.delete(f"/api/v1/workloads/trainings/{gone}").status == 202
    server.wait_for("its end", lambda: len(server.get("/api/v1/workloads").json["workloads"]) == 3)
    return server


# The administrator of the tenant has access everywhere, and so has ina; bob reads what is given in his department.
@pytest.mark.parametrize(
    "who, project, department",
    [
        ("admin", {"team-a": (2, 4), "team-b": (1, 5), "default": (0, 2)}, {"research": (3, 3), "default": (0, 2)}),
        ("bob", {"team-a": (2, 2), "team-b": (1, 3)}, {"research": (3, 1)}),
        ("ina", {"team-a": (2, None), "team-b": (1, None), "default": (0, None)}, {"research": (3, None)}),
        ("eve", {"team-b": (1, 2)}, None),
        ("ann", {"team-a": (2, 1), "team-b": (1, None)}, None),
    ],
)
def test_a_list_tells_what_its_reader_may_know(peopled, who, project, department):
    token = peopled.tokens.get(who, "admin")

    def told(kind):
        return {
            name: (found.get("workloads"), found.get("subjects"))
            for name, found in numbers(peopled, kind, token).items()
        }

    assert told("projects") == project
    if department:
        assert told("departments").items() >= department.items()


def test_the_list_of_rules_has_as_many_subjects(peopled):
    """The page asks by the ids of the project and of the places above it, and the tenant's is 1."""
    project, research = peopled.project_id("team-b"), department_id(peopled)
    ids = ["1", peopled.cluster_id(), research, project]
    rules = peopled.get(RULES, filterBy=",".join(f"scopeId=={i}" for i in ids)).json["accessRules"]
    places = {("tenant", "1"), ("cluster", ids[1]), ("department", research), ("project", project)}
    here = [r for r in rules if (r["scopeType"], r["scopeId"]) in places]
    assert len({r["subjectId"] for r in here}) == numbers(peopled, "projects")["team-b"]["subjects"] == 5


def test_a_brief_list_tells_no_numbers(peopled):
    assert set(numbers(peopled, "departments?verbosity=brief").values()) == {None}
