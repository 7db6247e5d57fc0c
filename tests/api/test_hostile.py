"""Hostile requests over raw sockets, each with its expected answer; the server must be there after every one."""

import json

import hostile
import pytest
from hostile_framing import FRAMING, PATHS
from hostile_requests import BODIES, CALLERS, PARAMETERS, SCOPES


@pytest.fixture(scope="module")
def target(module_server):
    server = module_server
    admin = server.sign_in()
    other = server.submit("theirs", "team-b")
    own = server.submit("ours", "team-a")
    account = server.post("/api/v1/service-accounts", {"name": "hostile"}).json
    rule = {
        "subjectId": account["clientId"],
        "subjectType": "service-account",
        "roleId": 5,
        "scopeType": "project",
        "scopeId": server.project_id("team-a"),
        "clusterId": server.cluster_id(),
    }
    assert server.post("/api/v1/authorization/access-rules", rule).status == 201
    grant = {
        "grantType": "client_credentials",
        "clientId": account["clientId"],
        "clientSecret": account["clientSecret"],
    }
    researcher = server.request("POST", "/api/v1/token", grant, token=None).json["accessToken"]
    keys = sorted((server.data / "keys").glob("[0-9]*.key"))  # those that sign
    server.context = hostile.Context(
        admin=admin,
        researcher=researcher,
        own_workload=own,
        other_workload=other,
        cluster=server.cluster_id(),
        own_project=server.project_id("team-a"),
        other_project=server.project_id("team-b"),
        department=server.get("/api/v1/org-unit/projects", filterBy="name==team-a").json["projects"][0]["parentId"],
        pool=server.get("/api/v1/node-pools").json["nodepools"][0]["id"],
    )
    server.forged = hostile.forgeries(admin, keys[-1].read_bytes())
    return server


def ask(server, data):
    reply = hostile.exchange(server.port, data)
    assert server.process.poll() is None, server.tail()
    alive = server.request("GET", "/healthz", token=None)
    assert alive.status == 200
    return reply


def check(reply, wanted, words):
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    if reply is None:
        assert None in wanted, "closed without an answer"
        return
    assert reply.status in wanted, (reply.status, reply.body[:400])
    assert words in reply.body.decode(), reply.body
    assert reply.headers.get("access-control-allow-origin") is None
    assert reply.rest == b"", "something answers after the answer"
    if reply.status >= 400:
        assert reply.headers["content-type"] == "application/json"
        body = json.loads(reply.body)
        assert "error" in body or (body["code"] == reply.status and body["message"]), body
        assert "sqlite" not in reply.body.decode().lower() and "/home" not in reply.body.decode()


def rows(table):
    return [pytest.param(*row[1:], id=row[0]) for row in table]


@pytest.mark.parametrize("build, wanted, words", rows(FRAMING))
def test_framing(target, build, wanted, words):
    reply = ask(target, build(target.context))
    check(reply, wanted, words)
    if reply is not None and reply.status in (400, 411, 413, 431, 505):
        assert reply.closes


@pytest.mark.parametrize("build, wanted, words", rows(PATHS))
def test_path(target, build, wanted, words):
    check(ask(target, build(target.context)), wanted, words)


@pytest.mark.parametrize("build, wanted, words", rows(CALLERS))
def test_caller(target, build, wanted, words):
    check(ask(target, build(target.context)), wanted, words)


@pytest.mark.parametrize("build, wanted, words", rows(SCOPES))
def test_scope(target, build, wanted, words):
    check(ask(target, build(target.context)), wanted, words)


@pytest.mark.parametrize("build, wanted, words", rows(PARAMETERS))
def test_parameter(target, build, wanted, words):
    check(ask(target, build(target.context)), wanted, words)


@pytest.mark.parametrize("build, wanted, words", rows(BODIES))
def test_body(target, build, wanted, words):
    check(ask(target, build(target.context)), wanted, words)


def test_a_token_signed_with_the_servers_own_key_is_good(target):
    """So that the forgeries below fail for what they change, and not for how they are made."""
    data = hostile.request("GET", "/api/v1/workloads", token=target.forged["good"])(target.context)
    assert ask(target, data).status == 200


@pytest.mark.parametrize("name", sorted(set(hostile.forgeries("e30.e30.AAAAAAAA", b"")) - {"good"}))
def test_forged_token(target, name):
    data = hostile.request("GET", "/api/v1/workloads", token=target.forged[name])(target.context)
    reply = ask(target, data)
    check(reply, 401, "no token, or one that is not valid")
    assert "reason" not in reply.body.decode()


SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (len(SMUGGLED) + 5),
        b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(SMUGGLED),
        b"X: y\r\n" * 64 + b"Content-Length: %d\r\n\r\n" % len(SMUGGLED),
        b"X: y\r\n folded\r\nContent-Length: %d\r\n\r\n" % len(SMUGGLED),
        b"Content-Length : %d\r\n\r\n" % len(SMUGGLED),
        b"Content-Length: 0, %d\r\n\r\n" % len(SMUGGLED),
        b"Content-Length: 2000000\r\n\r\n",
    ],
    ids=[
        "both lengths",
        "two codings",
        "two lengths",
        "behind 64 headers",
        "behind a fold",
        "blank before the colon",
        "a list of lengths",
        "too long",
    ],
)
def test_no_request_is_smuggled(target, head):
    data = b"POST /api/v1/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + head + SMUGGLED
    assert hostile.answers(target.port, data) == 1


def test_a_good_pipeline_is_answered_in_full(target):
    assert hostile.answers(target.port, SMUGGLED * 3) == 3


def test_a_body_is_invited(target):
    """Expect: 100-continue is answered only once the caller is known."""
    head = ["Expect: 100-continue"]
    known = hostile.request("POST", "/api/v1/workloads/batch", b"", [*head, "Content-Length: 2"])(target.context)
    assert hostile.exchange(target.port, known + b"").status == 100
    unknown = hostile.request("POST", "/api/v1/workloads/batch", b"", [*head, "Content-Length: 2"], token=None)(
        target.context
    )
    reply = hostile.exchange(target.port, unknown)
    assert reply.status == 401 and reply.closes


def test_cookie_alone_cannot_write(target):
    """A foreign page can make a browser send the cookie, but not the header."""
    signed_in = target.request(
        "POST", "/api/v1/session", {"username": "admin@prorata.local", "password": "correct horse battery"}, token=None
    )
    assert signed_in.status == 200, signed_in
    cookie = signed_in.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    pair = cookie.split(";")[0]
    path = f"/api/v1/workloads/trainings/{target.context.own_workload}/suspend"
    assert target.request("POST", path, token=None, headers={"Cookie": pair}).status == 401
    assert target.request("POST", path, token=None, headers={"Cookie": pair, "X-Prorata-Request": "1"}).status == 202
    assert target.request("GET", "/api/v1/workloads", token=None, headers={"Cookie": pair}).status == 200


def test_the_table_is_large_enough():
    assert sum(map(len, (FRAMING, PATHS, CALLERS, SCOPES, PARAMETERS, BODIES))) >= 150
