"""Every predefined role in three scopes against what a person must not do, see or hold on to. Who may is written here
by hand, and not read from the server's roles: a role that gains a right fails this table."""

import contextlib

import pytest
from test_access import rule_for
from test_events_stream import Stream

SCOPES = ("tenant", "department", "project")
RULES = "/api/v1/authorization/access-rules"
SLEEPS = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1h"}]}

SYSTEM, DEPARTMENT, PROJECT = "System administrator", "Department administrator", "Project administrator"
EDITOR, MANAGER, VIEWER = "Editor", "Research manager", "Viewer"
PRACTITIONER, L1, L2 = "AI practitioner", "L1 researcher", "L2 researcher"
OTHERS = [
    "Department viewer",
    "Data and storage administrator",
    "ML engineer",
    "Compute resource administrator",
    "Environment administrator",
    "Data source administrator",
    "Credentials administrator",
    "Template administrator",
    "Data volume administrator",
]
ALL = [SYSTEM, DEPARTMENT, PROJECT, EDITOR, MANAGER, VIEWER, PRACTITIONER, L1, L2, *OTHERS]


def those(roles, *scopes):
    return {(role, scope) for role in roles for scope in scopes or SCOPES}


class Caller:
    def __init__(self, server, role, scope, places):
        self.role, self.scope, self.name = role["name"], scope, f"r{role['id']}-{scope}"
        self.account = server.post("/api/v1/service-accounts", {"name": self.name}).json
        rule = {
            "subjectId": self.account["clientId"],
            "subjectType": "service-account",
            "roleId": role["id"],
            "scopeType": scope,
            "scopeId": places[scope],
        }
        assert server.post(RULES, rule).status == 201
        grant = {
            "grantType": "client_credentials",
            "clientId": self.account["clientId"],
            "clientSecret": self.account["clientSecret"],
        }
        self.token = server.request("POST", "/api/v1/token", grant, token=None).json["accessToken"]

    def is_among(self, people):
        return (self.role, self.scope) in people


def make_callers(server):
    places = {
        "tenant": "1",
        "department": next(
            d["id"] for d in server.get("/api/v1/org-unit/departments").json["departments"] if d["name"] == "research"
        ),
        "project": server.project_id("team-a"),
    }
    roles = server.get("/api/v1/authorization/roles").json
    assert sorted(role["name"] for role in roles) == sorted(ALL)
    return places, [Caller(server, role, scope, places) for role in roles for scope in SCOPES]


@pytest.fixture(scope="module")
def place(module_server):
    """A server with what the rows speak of, and a caller for each role in each scope."""
    server = module_server
    server.runs = server.submit("runs", "team-a", gpus=0, spec=SLEEPS)
    server.wait_phase(server.runs, "Running")
    server.losers = [
        server.submit(f"loser-{i}", "team-a", spec=SLEEPS) for i in range(4)
    ]  # two of them on team-b's quota
    for loser in server.losers:
        server.wait_phase(loser, "Running")
    server.submit("winner", "team-b", gpus=2)
    server.wait_for("a receipt", lambda: server.get("/api/v1/scheduler/receipts").json["receipts"])
    server.taker = server.post("/api/v1/service-accounts", {"name": "taker"}).json
    server.people = server.post("/api/v1/users", {"email": "somebody@lab.example"}).json
    server.places, server.callers = make_callers(server)
    return server


def did(answer):
    assert answer.status < 300 or answer.status in (400, 403, 404), answer
    return answer.status < 300


def gives(role, scope):
    """To another, and it is taken back."""

    def act(server, caller):
        answer = server.request(
            "POST", RULES, rule_for(server.taker, role, scope, server.places[scope]), token=caller.token
        )
        for rule in server.get(RULES, subjectIdFilter=server.taker["clientId"]).json["accessRules"]:
            server.delete(f"{RULES}/{rule['id']}")
        return did(answer)

    return act


def writes_oddly(server, caller):
    project = server.places["project"]
    return any(
        did(server.request("POST", RULES, rule_for(server.taker, "L1 researcher", "project", odd), token=caller.token))
        for odd in (f" {project}", f"+{project}", f"00{project}")
    )


def sets(kind, scope, **change):
    """A quota, and back to what it was."""

    def act(server, caller):
        path = f"/api/v1/org-unit/{kind}/{server.places[scope]}/resources"
        before = server.get(path.removesuffix("/resources")).json["resources"]
        answer = server.request("PATCH", path, [change], token=caller.token)
        if did(answer):
            assert server.request("PATCH", path, before).status == 200
        return did(answer)

    return act


def reads(path):
    return lambda server, caller: did(server.request("GET", path.format(runs=server.runs), token=caller.token))


def moves_the_clock(server, caller):
    return did(server.request("PUT", "/api/v1/simulation/clock", {"speed": 1}, token=caller.token))


def adds_a_node(server, caller):
    answer = server.request("POST", "/api/v1/simulation/nodes", {"name": "extra", "gpus": 1}, token=caller.token)
    if did(answer):
        assert server.delete("/api/v1/simulation/nodes/extra").status == 204
    return did(answer)


def learns_an_email(server, caller):
    answer = server.request("GET", "/api/v1/users", token=caller.token)
    return did(answer) and b"somebody@lab.example" in answer.body


def looks_up_an_email(server, caller):
    answer = server.request("GET", "/api/v1/users?filterBy=username==somebody@lab.example", token=caller.token)
    return did(answer) and b"somebody@lab.example" in answer.body


def ends_a_session(server, caller):
    return did(server.request("POST", f"/api/v1/users/{server.people['id']}/logout", token=caller.token))


# Finding, what, how it is tried, who may: each role and scope that isn't named must not.
ROWS = [
    ("A2", "sees the whole cluster's snapshot", reads("/api/v1/scheduler/snapshot"), those(ALL, "tenant")),
    ("A2", "sees all decisions", reads("/api/v1/scheduler/decisions"), those(ALL, "tenant")),
    ("A3", "gives the role Editor in the project", gives("Editor", "project"), those([SYSTEM, DEPARTMENT])),
    (
        "A3",
        "gives the role Editor in the department",
        gives("Editor", "department"),
        those([SYSTEM, DEPARTMENT], "tenant", "department"),
    ),
    ("A3", "gives the first role in the project", gives("System administrator", "project"), those([SYSTEM])),
    ("A3", "gives the first role in the tenant", gives("System administrator", "tenant"), those([SYSTEM], "tenant")),
    (
        "A3",
        "gives a researcher's role in the project",
        gives("L1 researcher", "project"),
        those([SYSTEM, DEPARTMENT, PROJECT]),
    ),
    (
        "A3",
        "sets a project's quota",
        sets("projects", "project", gpu={"deserved": 3}),
        those([SYSTEM, DEPARTMENT, PROJECT, EDITOR, MANAGER], "tenant", "department"),
    ),
    (
        "A3",
        "sets a project's limit",
        sets("projects", "project", gpu={"limit": 3}),
        those([SYSTEM, DEPARTMENT, PROJECT, EDITOR, MANAGER], "tenant", "department"),
    ),
    (
        "A3",
        "sets a project's rank",
        sets("projects", "project", priority="VeryHigh"),
        those([SYSTEM, DEPARTMENT, PROJECT, EDITOR, MANAGER], "tenant", "department"),
    ),
    (
        "A3",
        "sets a department's quota",
        sets("departments", "department", gpu={"deserved": 5}),
        those([SYSTEM, DEPARTMENT, EDITOR], "tenant"),
    ),
    ("A4", "moves the simulated clock", moves_the_clock, those([SYSTEM], "tenant")),
    ("A4", "adds a simulated node", adds_a_node, those([SYSTEM], "tenant")),
    (
        "A12",
        "leaves a trace of its reading",
        reads("/api/v1/workloads/{runs}/logs?attach=true"),
        those([SYSTEM, PROJECT, PRACTITIONER, L1, L2]),
    ),
    ("A13", "writes a scope oddly", writes_oddly, set()),
    ("A14", "learns everybody's e-mail", learns_an_email, those([SYSTEM, DEPARTMENT, PROJECT, VIEWER], "tenant")),
    ("A14", "looks up an e-mail that it knows", looks_up_an_email, those([SYSTEM, DEPARTMENT, PROJECT, VIEWER])),
    ("A14", "ends somebody's session", ends_a_session, those([SYSTEM], "tenant")),
]


@pytest.mark.parametrize(
    "tries, people", [row[2:] for row in ROWS], ids=[f"{finding} {what}" for finding, what, _, _ in ROWS]
)
def test_who_may(place, tries, people):
    wrong = [
        ("may", caller.role, caller.scope) if may else ("may not", caller.role, caller.scope)
        for caller in place.callers
        if (may := tries(place, caller)) != caller.is_among(people)
    ]
    assert not wrong, "\n".join(map(str, wrong))


SEES_ALL = those(ALL, "tenant", "department")  # the loser's project and the winner's


def check_receipts(place, people):
    """A loser's owner learns what it cost, and not who the winner is."""
    for caller in place.callers:
        answer = place.request("GET", "/api/v1/scheduler/receipts", token=caller.token)
        assert answer.status in (200, 403), answer
        told = b"team-b" in answer.body or b"winner" in answer.body
        assert told == caller.is_among(people), (caller.name, answer)


def test_receipts_name_nobody_who_is_hidden(place):
    """A11."""
    check_receipts(place, SEES_ALL)


@pytest.fixture(scope="module")
def streams(place):
    opened = [(caller, Stream(place, token=caller.token)) for caller in place.callers]
    assert [(caller.name, stream.status) for caller, stream in opened if stream.status != 200] == []
    yield opened
    for _, stream in opened:
        stream.__exit__()


def test_streams_tell_of_what_may_be_seen(place, streams):
    """A9: a neighbour's asset, workload and access rule; the settings of all."""

    def environment(name, project):
        body = {
            "meta": {"name": name, "scope": "project", "projectId": place.project_id(project)},
            "spec": {"image": "x"},
        }
        return place.post("/api/v1/asset/environment", body).json["meta"]["id"]

    foreign = {
        "asset": environment("theirs", "team-b"),
        "workload": place.submit("theirs", "team-b", gpus=0),
        "rule": str(
            place.post(RULES, rule_for(place.taker, "L1 researcher", "project", place.project_id("team-b"))).json["id"]
        ),
    }
    place.wait_phase(foreign["workload"], "Running")  # of several changes to one thing a stream tells the latest
    last = place.submit("last", "team-a", gpus=0)
    told = {what: set() for what in foreign}
    for caller, stream in streams:
        seen = set()
        while last not in seen:
            seen.add(stream.event()[2].get("id"))
        for what, thing in foreign.items():
            if thing in seen:
                told[what].add((caller.role, caller.scope))
    above = {"tenant", "department"}
    assert {scope for _, scope in told["asset"] | told["workload"] | told["rule"]} <= above
    assert told["workload"] == SEES_ALL
    assert told["rule"] == those([SYSTEM, DEPARTMENT, PROJECT, VIEWER], *above)


def test_the_last_places_of_streams_are_kept(make_server):
    """A10: of eight places two are one account's, whatever its role, and the last is an administrator's of the
    tenant."""
    server = make_server(
        "--quick-start", "--http-threads", "32", "--trusted-proxy", "127.0.0.1"
    )  # an address has no share of connections
    _, callers = make_callers(server)
    callers.sort(key=lambda caller: caller.is_among(those([SYSTEM], "tenant")))
    with contextlib.ExitStack() as stack:

        def opens(caller):
            return stack.enter_context(Stream(server, token=caller.token)).status == 200

        assert [opens(caller) for caller in callers[:3] for _ in range(3)] == [True, True, False] * 3
        assert opens(callers[3])
        assert [caller.name for caller in callers[4:] if opens(caller)] == [callers[-1].name]


def test_receipts_of_a_project_that_is_gone_name_nobody(place):
    """A11: who reads the whole department or cluster is told; nobody learns from a deletion what was hidden before."""
    assert place.delete(f"/api/v1/org-unit/projects/{place.project_id('team-b')}").status == 202
    place.wait_for(
        "it is gone", lambda: not place.get("/api/v1/org-unit/projects", filterBy="name==team-b").json["projects"]
    )
    for caller in place.callers:
        answer = place.request("GET", "/api/v1/scheduler/receipts", token=caller.token)
        if not caller.is_among(SEES_ALL):
            assert b"team-b" not in answer.body and b"winner" not in answer.body, (caller.name, answer)


def test_streams_end_for_every_role(place, streams):
    """A9. The last of this file: deletes the callers."""
    for caller, _ in streams:
        assert place.delete(f"/api/v1/service-accounts/{caller.account['id']}").status == 204
    later = place.submit("later", "team-a", gpus=0)
    for caller, stream in streams:
        while (event := stream.event()) is not None:
            assert event[2].get("id") != later, caller.name
