"""The browser's session: its cookie, its refusals, its end, and passwords that must be changed."""

import calendar
import time

from people import make_user, post_json
from test_tokens import ADMIN, WRITE, sign_in_by_cookie, whoami


def test_browser_session(server):
    answer, cookie, headers = sign_in_by_cookie(server)
    parts = [part.strip() for part in cookie.split(";")]
    assert parts[0].startswith("prorata_session=") and set(parts[1:]) == {"Path=/", "HttpOnly", "SameSite=Strict"}
    # What scripts may see says that there is a session, and no more.
    assert answer.headers.get_all("Set-Cookie")[1] == "prorata_signed_in=1; Path=/; SameSite=Strict"
    assert server.request("GET", "/api/v1/session", token=None, headers={"Cookie": "prorata_signed_in=1"}).status == 401
    assert answer.json["name"] == ADMIN and answer.json["mustChangePassword"] is False
    assert [r["roleName"] for r in answer.json["roles"]] == ["System administrator"]
    assert {
        "resourceType": "project",
        "displayName": "Projects",
        "groupId": "organization",
        "actions": ["create", "read", "update", "delete"],
    } in answer.json["permissions"]
    assert server.request("GET", "/api/v1/session", token=None, headers=headers).status == 200
    # Writes need the header that a foreign page cannot send.
    body = {"name": "made-by-cookie"}
    assert server.request("POST", "/api/v1/service-accounts", body, token=None, headers=headers).status == 401
    assert (
        server.request(
            "POST", "/api/v1/service-accounts", body, token=None, headers={**headers, **WRITE, "X-Prorata-Request": "0"}
        ).status
        == 401
    )
    assert (
        server.request("POST", "/api/v1/service-accounts", body, token=None, headers={**headers, **WRITE}).status == 201
    )
    # A cookie's secret is no token, and a token no cookie.
    assert whoami(server, headers["Cookie"].split("=", 1)[1]).status == 401
    assert (
        server.request(
            "GET", "/api/v1/session", token=None, headers={"Cookie": "prorata_session=" + server.sign_in()}
        ).status
        == 401
    )
    answer = server.request("DELETE", "/api/v1/session", token=None, headers={**headers, **WRITE})
    assert answer.status == 204
    assert [cookie.split(";")[0] for cookie in answer.headers.get_all("Set-Cookie") if "Max-Age=0" in cookie] == [
        "prorata_session=",
        "prorata_signed_in=",
    ]
    assert server.request("GET", "/api/v1/session", token=None, headers=headers).status == 401


def test_cookie_is_secure_behind_tls(server):
    _, cookie, _ = sign_in_by_cookie(server, **{"X-Forwarded-Proto": "https"})
    assert "; Secure" in cookie


def test_session_refusals(server):
    for body, status in [
        ({}, 400),
        ({"username": ADMIN}, 400),
        ({"username": ADMIN, "password": 1}, 400),
        ({"username": ADMIN, "password": ""}, 400),
        ({"username": ADMIN, "password": "wrong password"}, 401),
        ({"username": "x", "password": "wrong password"}, 401),
    ]:
        answer = server.request("POST", "/api/v1/session", body, token=None)
        assert answer.status == status, body
        assert "Set-Cookie" not in answer.headers


def test_temporary_password_must_be_changed_first(server):
    user = make_user(server)
    temporary = user["tempPassword"]
    answer, _, headers = sign_in_by_cookie(server, "ann@example.org", temporary)
    assert answer.json["mustChangePassword"] is True
    refused = server.request("GET", "/api/v1/authorization/permissions", token=None, headers=headers)
    assert refused.status == 403 and "temporary password" in refused.json["message"]
    headers = {**headers, **WRITE}

    def change(current, new):
        return server.request(
            "POST", "/api/v1/me/password", {"currentPassword": current, "newPassword": new}, token=None, headers=headers
        )

    assert change(temporary, "short").status == 400
    assert change(temporary, temporary).status == 400
    assert change("not it at all", "a new password").status == 400
    other = post_json(
        server, "/api/v1/token", {"grantType": "password", "username": "ann@example.org", "password": temporary}
    ).json
    answer = change(temporary, "a new password")
    assert (answer.status, answer.json) == (200, {})
    assert server.request("GET", "/api/v1/authorization/permissions", token=None, headers=headers).status == 200
    assert whoami(server, other["accessToken"]).status == 401  # other sessions end
    assert (
        post_json(
            server, "/api/v1/token", {"grantType": "password", "username": "ann@example.org", "password": temporary}
        ).status
        == 400
    )


def test_reset_and_sign_out_by_an_administrator(server):
    user = make_user(server, resetPassword=False)
    token = server.sign_in("ann@example.org", user["tempPassword"])
    assert server.post(f"/api/v1/users/{user['id']}/logout").status == 200
    assert whoami(server, token).status == 401
    token = server.sign_in("ann@example.org", user["tempPassword"])
    fresh = server.post(f"/api/v1/users/{user['id']}/password")
    assert fresh.status == 200 and fresh.json["tempPassword"] != user["tempPassword"]
    assert whoami(server, token).status == 401
    token = server.sign_in("ann@example.org", fresh.json["tempPassword"])
    assert whoami(server, token).json["mustChangePassword"] is True
    assert server.delete(f"/api/v1/users/{user['id']}").status == 204
    assert whoami(server, token).status == 401


def test_idle_sessions_end(server):
    _, _, headers = sign_in_by_cookie(server)
    key = "/api/v1/security/settings/browserSessionTimeout"
    assert server.get(key).json == {"idleTimeout": 60}
    for value in (0, 0.5, -1, "1", 100000, True):
        assert server.request("PUT", key, {"idleTimeout": value}).status == 400, value
    assert server.request("PUT", key, {"idleTimeout": 1}).status == 200
    session = server.request("GET", "/api/v1/session", token=None, headers=headers).json
    left = calendar.timegm(time.strptime(session["expiresAt"][:19], "%Y-%m-%dT%H:%M:%S")) - time.time()
    assert 50 <= left <= 61
    assert set(server.get("/api/v1/security/settings").json) == {
        "autoRedirectSSO",
        "browserSessionTimeout",
        "logoutRedirectUri",
    }
    assert server.get("/api/v1/security/settings/magic").status == 400
