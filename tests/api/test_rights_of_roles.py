"""Every predefined role in three scopes against what a person must not do, see or hold on to: a row says who may."""
import time

import pytest

from test_access import rule_for
from test_events_stream import Stream

SCOPES = ("tenant", "department", "project")
RULES = "/api/v1/authorization/access-rules"
BOUND = 5  # seconds; the promise is one
SLEEPS = {"annotations": [{"name": "prorata.io/sim-duration", "value": "1h"}]}


class Caller:
    def __init__(self, server, role, scope, places):
        self.role, self.scope, self.name = role["name"], scope, f"r{role['id']}-{scope}"
        self.held = {(p["resourceType"], action) for p in role["permissions"] for action in p["actions"]}
        self.account = server.post("/api/v1/service-accounts", {"name": self.name}).json
        rule = {"subjectId": self.account["clientId"], "subjectType": "service-account", "roleId": role["id"], "scopeType": scope, "scopeId": places[scope]}
        assert server.post(RULES, rule).status == 201
        grant = {"grantType": "client_credentials", "clientId": self.account["clientId"], "clientSecret": self.account["clientSecret"]}
        self.token = server.request("POST", "/api/v1/token", grant, token=None).json["accessToken"]

    def may(self, action, resource, *scopes):
        return (resource, action) in self.held and self.scope in (scopes or SCOPES)


@pytest.fixture(scope="module")
def place(module_server):
    """A server with what the rows speak of, and a caller for each role in each scope."""
    server = module_server
    server.places = {"tenant": "1", "department": next(d["id"] for d in server.get("/api/v1/org-unit/departments").json["departments"] if d["name"] == "research"),
                     "project": server.project_id("team-a")}
    server.runs = server.submit("runs", "team-a", gpus=0, spec=SLEEPS)
    server.wait_phase(server.runs, "Running")
    server.losers = [server.submit(f"loser-{i}", "team-a", spec=SLEEPS) for i in range(4)]  # two of them on team-b's quota
    for loser in server.losers:
        server.wait_phase(loser, "Running")
    server.submit("winner", "team-b", gpus=2)
    server.wait_for("a receipt", lambda: server.get("/api/v1/scheduler/receipts").json["receipts"])
    server.taker = server.post("/api/v1/service-accounts", {"name": "taker"}).json
    server.roles = {role["name"]: role for role in server.get("/api/v1/authorization/roles").json}
    server.callers = [Caller(server, role, scope, server.places) for role in server.roles.values() for scope in SCOPES]
    return server


def take_back(server):
    """What a row gave goes again."""
    for rule in server.get(RULES, subjectIdFilter=server.taker["clientId"]).json["accessRules"]:
        server.delete(f"{RULES}/{rule['id']}")


def editor_for_another(server, caller):
    answer = server.request("POST", RULES, rule_for(server.taker, "Editor", "project", server.places["project"]), token=caller.token)
    take_back(server)
    return answer


def odd_scope(server, caller):
    return server.request("POST", RULES, rule_for(server.taker, "L1 researcher", "project", f" {server.places['project']}"), token=caller.token)


def quota(server, caller):
    path = f"/api/v1/org-unit/projects/{server.places['project']}/resources"
    answer = server.request("PATCH", path, [{"gpu": {"deserved": 3}}], token=caller.token)
    if answer.status == 200:
        assert server.request("PATCH", path, [{"gpu": {"deserved": 2}}]).status == 200
    return answer


def departments_quota(server, caller):
    path = f"/api/v1/org-unit/departments/{server.places['department']}/resources"
    answer = server.request("PATCH", path, [{"gpu": {"deserved": 5}}], token=caller.token)
    if answer.status == 200:
        assert server.request("PATCH", path, [{"gpu": {"deserved": 4}}]).status == 200
    return answer


def get(path):
    return lambda server, caller: server.request("GET", path.format(runs=server.runs), token=caller.token)


def clock(server, caller):
    return server.request("PUT", "/api/v1/simulation/clock", {"speed": 1}, token=caller.token)


# What, by which request, who may.
ROWS = [
    ("sees the whole cluster's snapshot", get("/api/v1/scheduler/snapshot"), lambda c: c.may("read", "workloads", "tenant")),
    ("sees all decisions", get("/api/v1/scheduler/decisions"), lambda c: c.may("read", "workloads", "tenant")),
    ("gives the role Editor", editor_for_another, lambda c: c.role in ("System administrator", "Department administrator")),
    ("gives a role in a scope that is written oddly", odd_scope, lambda c: False),
    ("sets a project's quota", quota, lambda c: c.may("update", "project", "tenant", "department")),
    ("sets a department's quota", departments_quota, lambda c: c.may("update", "department", "tenant")),
    ("moves the simulated clock", clock, lambda c: c.may("update", "nodes", "tenant")),
    ("leaves a trace of its reading", get("/api/v1/workloads/{runs}/logs?attach=true"), lambda c: c.may("update", "trainings")),
]


@pytest.mark.parametrize("request_of, who_may", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_who_may(place, request_of, who_may):
    wrong = []
    for caller in place.callers:
        answer = request_of(place, caller)
        if (answer.status < 300) != bool(who_may(caller)) or (answer.status >= 300 and answer.status not in (400, 403, 404)):
            wrong.append((caller.role, caller.scope, answer.status, answer.body[:100]))
    assert not wrong, "\n".join(map(str, wrong))


def test_receipts_name_nobody_who_is_hidden(place):
    """A loser's owner learns what it cost, and not who the winner is."""
    for caller in place.callers:
        answer = place.request("GET", "/api/v1/scheduler/receipts", token=caller.token)
        assert answer.status in (200, 403), answer
        told = b"team-b" in answer.body or b"winner" in answer.body
        assert told == (answer.status == 200 and caller.may("read", "workloads", "tenant", "department")), (caller.name, answer)


def test_streams_end_for_every_role(place):
    """The last of this file: deletes the callers."""
    streams = [(caller, Stream(place, token=caller.token)) for caller in place.callers]
    assert [(caller.name, stream.status) for caller, stream in streams if stream.status != 200] == []
    for caller, _ in streams:
        assert place.delete(f"/api/v1/service-accounts/{caller.account['id']}").status == 204
    lost = time.monotonic()
    later = place.submit("later", "team-a", gpus=0)
    for caller, stream in streams:
        while (event := stream.event()) is not None:
            assert event[2].get("id") != later, caller.name
        stream.__exit__()
    assert time.monotonic() - lost < BOUND
