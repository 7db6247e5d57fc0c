"""Ports of workloads by URL: one person signs in by a code, and nobody else gets anywhere."""

import hashlib
import json
import os
import socket

import pytest
from browsers import Browser, free_port, invite, listener_of, say, serve
from people import make_person
from pods import pods_of, processes_of, submit, wait_log

RESEARCHER = "L1 researcher"


def two_researchers(machine):
    """Tokens of two of one project."""
    place = (RESEARCHER, "project", machine.project_id("team-a"))
    return [make_person(machine, mail, place) for mail in ("ann@example.org", "bob@example.org")]


def owned(machine, token, name, port, **exposed):
    """A workload that this person submitted, and that serves."""
    kept, machine.token = machine.token, token
    try:
        return serve(machine, name, port, exposed=exposed)
    finally:
        machine.token = kept


def entered(machine, token, name):
    """Their browser, which has entered a workload of theirs."""
    port, browser = free_port(), Browser(machine)
    workload = owned(machine, token, name, port)
    answer = browser.enter(invite(machine, workload, token))
    assert answer.status == 303, answer.text
    browser.path, browser.workload, browser.token, browser.app = answer.headers["Location"], workload, token, port
    return browser


# For tests that leave nothing behind.


@pytest.fixture(scope="module")
def machine(start_machine):
    return start_machine("--apps-listen", "127.0.0.1:0")


@pytest.fixture(scope="module")
def people(machine):
    return two_researchers(machine)


@pytest.fixture(scope="module")
def ann(machine, people):
    return entered(machine, people[0], "anns")


@pytest.fixture(scope="module")
def bob(machine, people):
    return entered(machine, people[1], "bobs")


# For those that end a session, a right or a pod.


@pytest.fixture
def own_machine(start):
    return start("--apps-listen", "127.0.0.1:0")


@pytest.fixture
def own_ann(own_machine):
    return entered(own_machine, two_researchers(own_machine)[0], "anns")


def seen(answer):
    assert answer.status == 200, answer.text
    return json.loads(answer.text)


def test_the_pod_sees_who_asks_and_nothing_of_ours(ann):
    forged = {
        "X_Forwarded_User": "root@example.org",
        "X-Forwarded-Email": "root@example.org",
        "X_Forwarded_For": "10.0.0.1",
        "Remote_User": "root",
        "X_Prorata_User": "root",
        "Accept": "text/html",
    }
    cookie = f"a=b; {next(iter(ann.cookies.values()))}; prorata_session=secret; c=d"
    headers = seen(ann.request("GET", ann.path + "x?y=1", cookie=cookie, **forged))["headers"]
    named = {name: [value for other, value in headers if other == name] for name, _ in headers}
    assert named["x-forwarded-user"] == ["ann@example.org"]
    assert named["x-forwarded-for"] == ["127.0.0.1"] and named["accept"] == ["text/html"]
    assert named["connection"] == ["close"] and named["cookie"] == ["a=b; c=d"]
    assert not {"remote-user", "x-prorata-user", "x-forwarded-email"} & set(named)
    assert not [value for _, value in headers if "root" in value or "prorata_" in value]


def test_a_name_with_an_underscore_does_not_pass(ann):
    with socket.create_connection(("127.0.0.1", ann.port), timeout=60) as connection:
        cookie = next(iter(ann.cookies.values()))
        connection.sendall(
            f"GET {ann.path} HTTP/1.1\r\nHost: h\r\nCookie: {cookie}\r\nX_Forwarded_User: root\r\n\r\n".encode()
        )
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert b"ann@example.org" in answer and b"root" not in answer


def test_the_address_is_handed_on_unchanged(ann):
    assert seen(ann.request("GET", ann.path + "a%2Fb?c=%20"))["path"] == ann.path + "a%2Fb?c=%20"


def test_a_large_body_arrives_whole(ann):
    body = os.urandom(1 << 20) * 24
    answer = ann.request("POST", ann.path, body)
    assert answer.text.decode() == f"{len(body)} {hashlib.sha256(body).hexdigest()}"


def test_events_come_as_they_are_sent_and_end_with_the_session(own_machine, own_ann):
    with socket.create_connection(("127.0.0.1", own_ann.port), timeout=60) as connection:
        cookie = next(iter(own_ann.cookies.values()))
        connection.sendall(f"GET {own_ann.path}events HTTP/1.1\r\nHost: h\r\nCookie: {cookie}\r\n\r\n".encode())
        got = b""
        while got.count(b"data: ") < 3:
            got += connection.recv(65536)
        assert own_machine.request("DELETE", "/api/v1/session", token=own_ann.token).status < 300
        while connection.recv(65536):
            pass
    assert own_ann.request("GET", own_ann.path).status == 401


def test_a_websocket_goes_both_ways(ann):
    connection, head = ann.websocket(ann.path, origin=f"http://127.0.0.1:{ann.port}")
    assert head.startswith(b"HTTP/1.1 101"), head
    with connection:
        assert say(connection, b"hello") == b"hello"
        assert say(connection, b"again") == b"again"


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1"])
def test_a_websocket_of_another_origin_is_refused(ann, origin):
    connection, head = ann.websocket(ann.path, origin=origin)
    connection.close()
    assert head.startswith(b"HTTP/1.1 403"), head


def test_nothing_follows_a_request_to_the_pod(ann):
    """Neither behind a whole request, nor behind an upgrade that the pod does not take."""
    cookie = next(iter(ann.cookies.values()))
    second = f"GET {ann.path}second HTTP/1.1\r\nHost: h\r\nX-Forwarded-User: root@example.org\r\n\r\n".encode()
    for upgrade, name in (("", "first"), ("Upgrade: websocket\r\nConnection: Upgrade\r\n", "deaf")):
        with socket.create_connection(("127.0.0.1", ann.port), timeout=60) as connection:
            own = f"Host: 127.0.0.1:{ann.port}\r\nOrigin: http://127.0.0.1:{ann.port}\r\n"
            connection.sendall(
                f"GET {ann.path}{name} HTTP/1.1\r\n{own}Cookie: {cookie}\r\n{upgrade}\r\n".encode() + second
            )
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        assert name.encode() in answer and b"second" not in answer and answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "head, status",
    [
        ("POST {path} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n", b"411"),
        ("POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n", b"400"),
        ("GET {path} HTTP/1.1\r\nHost: h\r\nHost: i\r\n", b"400"),
        ("GET {path} HTTP/1.0\r\nHost: h\r\n", b"400"),
        ("GET http://h{path} HTTP/1.1\r\nHost: h\r\n", b"400"),
        ("GET {path} HTTP/1.1\r\nHost: h\r\n folded: x\r\n", b"400"),
        ("GET {path} HTTP/1.1\r\nHost: h\r\nA: " + "x" * 40000 + "\r\n", b"431"),
        ("GET {path} HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\n", b"400"),
    ],
    ids=["chunked", "two lengths", "two hosts", "1.0", "absolute", "folded", "large", "h2c"],
)
def test_a_head_that_may_be_read_in_two_ways_is_refused(ann, head, status):
    with socket.create_connection(("127.0.0.1", ann.port), timeout=60) as connection:
        connection.sendall(f"{head.format(path=ann.path)}Cookie: {next(iter(ann.cookies.values()))}\r\n\r\n".encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 " + status)


def test_neither_reaches_the_others(machine, ann, bob):
    theirs = next(iter(bob.cookies.values()))
    assert seen(bob.request("GET", bob.path))["path"] == bob.path
    assert ann.request("GET", bob.path, cookie="").status == 401
    assert ann.request("GET", bob.path, cookie=next(iter(ann.cookies.values()))).status == 401
    assert ann.request("GET", ann.path, cookie=theirs).status == 401
    invite(machine, bob.workload, ann.token, status=403)
    for port in (bob.app, 22, machine.port, ann.port):
        invite(machine, ann.workload, ann.token, status=404, port=port)
        guess = ann.path.replace(f"/{ann.app}/", f"/{port}/")
        assert ann.request("GET", guess, cookie=next(iter(ann.cookies.values()))).status == 401
    for target in ("/", "/w/", "/w/x/1/", f"/w/{ann.workload}/0/", f"/w/{ann.workload}/65536/", "/api/v1/session"):
        assert ann.request("GET", target).status == 404, target


def test_a_page_of_another_origin_gets_nothing(ann):
    own = {"Sec_Fetch_Site": "same-origin", "Sec_Fetch_Mode": "cors"}
    assert ann.request("GET", ann.path, **own).status == 200
    for site, mode in (("same-site", "no-cors"), ("cross-site", "cors"), ("same-site", "websocket")):
        assert ann.request("GET", ann.path, Sec_Fetch_Site=site, Sec_Fetch_Mode=mode).status == 403
    assert ann.request("GET", ann.path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate").status == 200
    assert ann.request("POST", ann.path, b"", Origin="http://evil.example").status == 403
    assert ann.request("GET", ann.path, Service_Worker="script").status == 403


def test_a_code_is_good_once_and_for_who_says_yes(machine, ann):
    url = invite(machine, ann.workload, ann.token)
    target = "/" + url.split("/", 3)[3]
    stranger = Browser(machine)
    question = stranger.request("GET", target)
    assert question.status == 200 and b"ann@example.org" in question.text and not stranger.cookies
    assert question.headers["Referrer-Policy"] == "strict-origin", "with no-referrer a browser posts Origin: null"
    assert "frame-ancestors 'none'" in question.headers["Content-Security-Policy"]
    for origin in ("http://evil.example", "null", None):
        headers = {"Origin": origin} if origin else {}
        assert stranger.request("POST", target, b"", **headers).status == 403 and not stranger.cookies
    entered = stranger.enter(url)
    assert entered.status == 303 and "code" not in entered.headers["Location"]
    kept = entered.headers["Set-Cookie"]
    assert f"Path={ann.path};" in kept and "HttpOnly" in kept and "SameSite=Lax" in kept
    late = Browser(machine)
    assert late.request("POST", target, b"", Origin=f"http://127.0.0.1:{late.port}").status == 401 and not late.cookies
    assert Browser(machine).request("GET", target).status == 401
    assert Browser(machine).request("GET", target[:-1] + "A").status == 401


def test_a_redirect_is_the_browsers(ann):
    assert ann.request("GET", ann.path + "away").headers["Location"] == "http://127.0.0.1:1/elsewhere"


def test_lists_say_who_may(machine, people):
    port = free_port()
    for index, (exposed, allowed) in enumerate(
        [
            ({"authorizedUsers": ["ANN@example.org"]}, True),
            ({"authorizedUsers": ["bob@example.org"]}, False),
            ({"authorizedGroups": ["nobody"]}, False),
            ({"authorizationType": "authenticatedUsers"}, True),
        ]
    ):
        workload = owned(machine, people[0], f"listed{index}", port, **exposed)
        invite(machine, workload, people[0], status=201 if allowed else 403)
        machine.delete(f"/api/v1/workloads/trainings/{workload}")


def test_who_lost_the_right_is_cut_off(own_machine, own_ann):
    connection, head = own_ann.websocket(own_ann.path, origin=f"http://127.0.0.1:{own_ann.port}")
    with connection:
        assert say(connection, b"hello") == b"hello"
        rules = own_machine.get("/api/v1/authorization/access-rules").json["accessRules"]
        mine = [rule["id"] for rule in rules if rule["subjectId"] == "ann@example.org"]
        assert mine and all(
            own_machine.delete(f"/api/v1/authorization/access-rules/{one}").status < 300 for one in mine
        )
        assert connection.recv(1) == b""
    assert own_ann.request("GET", own_ann.path).status == 401


def test_a_pod_that_does_not_listen_yet_says_so_and_its_page_reloads(machine, people):
    port = free_port()
    kept, machine.token = machine.token, people[0]
    workload = submit(
        machine, "late", "while true; do sleep 0.05; done", gpus=0, spec={"exposedUrls": [{"container": port}]}
    )
    machine.token = kept
    machine.wait_phase(workload, "Running")
    browser = Browser(machine)
    path = browser.enter(invite(machine, workload, people[0])).headers["Location"]
    answer = browser.request("GET", path)
    assert answer.status == 503 and answer.headers["Refresh"] == "3" and b"not answer yet" in answer.text
    with socket.create_server(("127.0.0.1", port)):  # somebody else's
        assert browser.request("GET", path).status == 503


def test_a_pod_that_died_says_so(own_machine, own_ann):
    for pod in pods_of(own_machine, own_ann.workload):
        for process in processes_of(pod["id"]):
            os.kill(process, 9)
    answer = own_ann.request("GET", own_ann.path)
    assert answer.status == 503 and answer.headers["Refresh"] == "3"


def test_without_the_listener_it_says_so(start):
    server = start()
    workload = submit(server, "job", "true", gpus=0, spec={"exposedUrls": [{"container": 1}]})
    assert "--apps-listen" in invite(server, workload, status=501)["details"]


def test_a_host_each(start):
    """A workload's pages are an origin of their own, so that others may be let in."""
    server = start("--apps-listen", "127.0.0.1:0", "--apps-domain", "*.localhost")
    place = (RESEARCHER, "project", server.project_id("team-a"))
    token = make_person(server, "ann@example.org", place)
    port = free_port()
    workload, browser = serve(server, "shared", port), Browser(server)
    url = invite(server, workload, token)
    host = f"w-{workload}-{port}.localhost:{listener_of(server)}"
    assert url.startswith(f"http://{host}/_prorata/open?code=")
    target = "/" + url.split("/", 3)[3]
    other = host.replace(workload, "0" * 8 + workload[8:])
    assert browser.request("GET", target, host=other).status == 401
    entered = browser.request("GET", target, host=host)
    assert entered.status == 303 and "Domain" not in entered.headers["Set-Cookie"]
    assert seen(browser.request("GET", "/x", host=host))["path"] == "/x"
    for wrong, status in ((other, 401), (f"127.0.0.1:{browser.port}", 421), (f"{host}.evil.example", 421)):
        assert browser.request("GET", "/x", host=wrong).status == status, wrong
    connection, head = browser.websocket("/", host=host, origin=f"http://{other}")
    connection.close()
    assert head.startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize(
    ("flags", "path"),
    [
        (["--apps-listen", "127.0.0.1:0"], "/w/{}/8888/"),
        (["--apps-listen", "127.0.0.1:0", "--apps-domain", "*.localhost"], "/"),
        ([], "/"),
    ],
)
def test_a_tool_reads_the_path_that_browsers_reach_it_by(start, flags, path):
    """Of the first exposed URL; a command may name it, as `jupyter lab --ServerApp.base_url=$(PRORATA_APP_PATH)`."""
    server = start(*flags)
    urls = {"exposedUrls": [{"container": 8888}, {"container": 8889}]}
    workload = submit(server, "job", "echo path=$PRORATA_APP_PATH words=$(PRORATA_APP_PATH).", gpus=0, spec=urls)
    own = path.format(workload)
    wait_log(server, workload, f"path={own} words={own}.")
