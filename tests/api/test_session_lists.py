"""Sessions listed and ended, by their owner and by an administrator; a token of one that has ended fails at once."""

import http.client
import threading

import pytest
from contract import check_answer
from people import PEOPLES_PASSWORD, change_password, id_of, make_person, post_json, sign_in
from test_access_keys import make_key, sign_in_by_key
from test_tokens import ADMIN, make_account, sign_in_by_cookie, whoami


def sessions_of(server, token):
    answer = server.request("GET", "/api/v1/me/sessions", token=token)
    check_answer("list_my_sessions", answer)
    return answer.json["sessions"]


@pytest.fixture
def ann(server):
    return make_person(server, "ann@example.org", ("AI practitioner", "project", server.project_id("team-a")))


def test_each_way_in_is_a_session_of_its_kind(server, ann):
    body = {"grantType": "password", "username": "ann@example.org", "password": PEOPLES_PASSWORD}
    post_json(server, "/api/v1/token", body, **{"User-Agent": "robot 1.0 \xe4" + "x" * 300})
    sign_in_by_key(server, make_key(server, ann))
    found = sessions_of(server, ann)
    assert sorted(session["kind"] for session in found) == ["access-key", "token", "token"]
    (current,) = [session for session in found if session["current"]]
    (key,) = [session for session in found if session["kind"] == "access-key"]
    assert (key["accessKey"], key["address"]) == ("laptop", "127.0.0.1") and "accessKey" not in current
    (robot,) = [session for session in found if session["userAgent"].startswith("robot")]
    assert len(robot["userAgent"]) == 200 and robot["userAgent"].isascii()
    assert all(session["createdAt"] and session["lastUsedAt"] and session["expiresAt"] for session in found)


def test_a_browsers_session_is_listed_and_can_be_ended_from_elsewhere(server):
    _, _, headers = sign_in_by_cookie(server)
    token = server.sign_in()
    (browser,) = [session for session in sessions_of(server, token) if session["kind"] == "browser"]
    assert server.request("DELETE", "/api/v1/me/sessions/" + browser["id"], token=token).status == 204
    assert server.request("GET", "/api/v1/session", token=None, headers=headers).status == 401
    assert server.request("DELETE", "/api/v1/me/sessions/" + browser["id"], token=token).status == 404


def test_all_others_end_at_once(server, ann):
    tokens = [sign_in(server, "ann@example.org").json["accessToken"] for _ in range(3)]
    assert server.request("DELETE", "/api/v1/me/sessions", token=ann).status == 204
    assert [whoami(server, token).status for token in tokens] == [401] * 3
    assert len(sessions_of(server, ann)) == 1


def test_sessions_of_others_are_404(server, ann):
    (mine,) = sessions_of(server, ann)
    bob = make_person(server, "bob@example.org", ("AI practitioner", "tenant", "1"))
    for token in (bob, server.sign_in()):
        assert server.request("DELETE", "/api/v1/me/sessions/" + mine["id"], token=token).status == 404
    path = f"/api/v1/users/{id_of(server, 'ann@example.org')}/sessions"
    assert server.request("GET", path, token=bob).status == 403
    assert server.request("DELETE", f"{path}/{mine['id']}", token=bob).status == 403
    other = f"/api/v1/users/{id_of(server, 'bob@example.org')}/sessions/{mine['id']}"
    assert server.delete(other).status == 404, "a session of somebody else's under this user"
    assert whoami(server, ann).status == 200


def test_an_administrator_lists_and_ends_them(server, ann):
    path = f"/api/v1/users/{id_of(server, 'ann@example.org')}/sessions"
    answer = server.get(path)
    check_answer("list_user_sessions", answer)
    (session,) = answer.json["sessions"]
    assert session["current"] is False
    assert server.delete(f"{path}/{session['id']}").status == 204
    assert whoami(server, ann).status == 401 and server.get(path).json == {"sessions": []}
    assert server.get("/api/v1/users/nobody/sessions").status == 404


def test_a_service_account_has_its_own(server):
    account = make_account(server)
    body = {
        "grantType": "client_credentials",
        "clientID": account["clientId"],
        "clientSecret": account["clientSecret"],
    }
    first, second = (post_json(server, "/api/v1/token", body).json["accessToken"] for _ in range(2))
    assert len(sessions_of(server, first)) == 2
    assert server.request("DELETE", "/api/v1/me/sessions", token=first).status == 204
    assert whoami(server, second).status == 401


class Stream:
    """A stream of events that is read until it ends."""

    def __init__(self, server, token):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        self.connection.request("GET", "/api/v1/events/stream", headers={"Authorization": "Bearer " + token})
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        self.has_ended = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while self.answer.read1(4096):
            pass
        self.has_ended.set()


def log_out(server, token):
    assert server.request("DELETE", "/api/v1/session", token=token).status == 204


def change_own_password(server, _):
    other = sign_in(server, "ann@example.org").json["accessToken"]
    assert change_password(server, other, PEOPLES_PASSWORD, "another password of ann's").status == 200


def reset(server, _):
    assert server.post(f"/api/v1/users/{id_of(server, 'ann@example.org')}/password").status == 200


def log_out_by_administrator(server, _):
    assert server.post(f"/api/v1/users/{id_of(server, 'ann@example.org')}/logout").status == 200


def delete_account(server, _):
    assert server.delete(f"/api/v1/users/{id_of(server, 'ann@example.org')}").status == 204


def take_role(server, _):
    for rule in server.get("/api/v1/authorization/access-rules").json["accessRules"]:
        if rule["subjectId"] == "ann@example.org":
            server.delete(f"/api/v1/authorization/access-rules/{rule['id']}")


def end_session(server, token):
    (mine,) = [session for session in sessions_of(server, token) if session["current"]]
    path = f"/api/v1/users/{id_of(server, 'ann@example.org')}/sessions/{mine['id']}"
    assert server.delete(path).status == 204


ENDS = [log_out, change_own_password, reset, log_out_by_administrator, delete_account, take_role, end_session]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_a_token_that_is_played_again_fails_at_once_and_its_streams_end(server, ann, end):
    stream = Stream(server, ann)
    assert server.request("GET", "/api/v1/workloads", token=ann).status == 200
    server.sign_in(ADMIN)
    end(server, ann)
    expected = 403 if end is take_role else 401
    assert server.request("GET", "/api/v1/workloads", token=ann).status == expected
    assert stream.has_ended.wait(60)


def test_a_disabled_service_accounts_stream_ends(server):
    account = make_account(server)
    rule = {
        "subjectId": account["clientId"],
        "subjectType": "service-account",
        "roleId": 7,
        "scopeType": "tenant",
        "scopeId": "1",
    }
    assert server.post("/api/v1/authorization/access-rules", rule).status == 201
    body = {
        "grantType": "client_credentials",
        "clientID": account["clientId"],
        "clientSecret": account["clientSecret"],
    }
    token = post_json(server, "/api/v1/token", body).json["accessToken"]
    stream = Stream(server, token)
    assert server.request("PATCH", "/api/v1/service-accounts/" + account["id"], {"enabled": False}).status == 200
    assert whoami(server, token).status == 401
    assert stream.has_ended.wait(60)


def test_what_has_ended_stays_so_after_a_kill(server, ann):
    other = sign_in(server, "ann@example.org").json["accessToken"]
    assert server.request("DELETE", "/api/v1/me/sessions", token=ann).status == 204
    server.kill()
    server.start()
    assert whoami(server, other).status == 401 and whoami(server, ann).status == 200
