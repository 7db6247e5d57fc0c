"""Signing in: tokens in all forms, refresh, revocation, limits, the browser's session, passwords."""

import base64
import hashlib
import hmac
import json
import threading
import time
import urllib.parse

import pytest
from people import make_user, post_json, try_until_refused

ADMIN = "admin@prorata.local"
PASSWORD = "correct horse battery"
WRITE = {"X-Prorata-Request": "1"}


def post_form(server, path, headers=None, **fields):
    return server.request(
        "POST",
        path,
        urllib.parse.urlencode(fields),
        token=None,
        headers={"Content-Type": "application/x-www-form-urlencoded", **(headers or {})},
    )


def make_account(server, name="ci-runner"):
    answer = server.post("/api/v1/service-accounts", {"name": name})
    assert answer.status == 201, answer
    return answer.json


def whoami(server, token):
    return server.request("GET", "/api/v1/session", token=token)


def decode_as_runapy_does(token):
    """The ordinary alphabet, as the Python client decodes it: - and _ would be dropped."""
    return json.loads(base64.b64decode(token.split(".")[1] + "=="))


def test_password_grant_and_claims(server):
    answer = post_json(server, "/api/v1/token", {"grantType": "password", "username": ADMIN, "password": PASSWORD})
    assert answer.status == 200, answer
    assert set(answer.json) == {"accessToken", "idToken", "refreshToken", "expiresIn"}
    assert answer.headers["Cache-Control"] == "no-store"
    claims = decode_as_runapy_does(answer.json["accessToken"])
    assert abs(claims["exp"] - time.time() - answer.json["expiresIn"]) < 60
    assert answer.json["expiresIn"] == 86400
    assert whoami(server, answer.json["accessToken"]).json["name"] == ADMIN


def test_username_is_compared_without_case(server):
    answer = post_json(
        server, "/api/v1/token", {"grantType": "password", "username": ADMIN.upper(), "password": PASSWORD}
    )
    assert answer.status == 200


@pytest.mark.parametrize(
    "keys",
    [
        ("grantType", "clientID", "clientSecret"),
        ("grantType", "clientId", "clientSecret"),
        ("GRANTTYPE", "CLIENTID", "CLIENTSECRET"),
    ],
)
def test_client_credentials_keys_in_any_case(server, keys):
    account = make_account(server)
    body = dict(zip(keys, ("client_credentials", account["clientId"], account["clientSecret"]), strict=True))
    answer = post_json(server, "/api/v1/token", body)
    assert answer.status == 200, answer
    session = whoami(server, answer.json["accessToken"]).json
    assert (session["subjectType"], session["name"]) == ("service-account", "ci-runner")


@pytest.mark.parametrize("keys", [("appID", "appSecret"), ("AppId", "AppSecret"), ("appId", "appSecret")])
def test_app_token_by_client_id_and_by_name(server, keys):
    account = make_account(server)
    for name in (account["clientId"], "ci-runner"):
        answer = post_json(
            server, "/api/v1/token", {"grantType": "app_token", keys[0]: name, keys[1]: account["clientSecret"]}
        )
        assert answer.status == 200, answer


def test_app_token_with_nothing_but_a_token_gives_it_back(server):
    body = {"grantType": "app_token", "AppId": None, "AppSecret": None}
    assert post_json(server, "/api/v1/token", body).status == 400
    token = server.sign_in()
    answer = post_json(server, "/api/v1/token", body, Authorization="Bearer " + token)
    assert answer.status == 200 and answer.json["accessToken"] == token
    assert 86000 < answer.json["expiresIn"] <= 86400
    assert post_json(server, "/api/v1/token", body, Authorization="Bearer " + token[:-1]).status == 400


V1_REFUSALS = [
    ("no grant type", {}, "grantType: required"),
    ("grant type null", {"grantType": None}, "grantType: required"),
    ("unknown grant type", {"grantType": "magic"}, "grantType: unknown"),
    ("grant type no text", {"grantType": 1}, "grantType: expected text"),
    ("no secret", {"grantType": "client_credentials", "clientId": "x"}, "clientSecret: required"),
    ("no client", {"grantType": "client_credentials", "clientSecret": "x"}, "clientID: required"),
    (
        "unknown client",
        {"grantType": "client_credentials", "clientId": "x", "clientSecret": "y"},
        "unknown client or wrong secret",
    ),
    (
        "secret no text",
        {"grantType": "client_credentials", "clientId": "x", "clientSecret": ["y"]},
        "clientSecret: expected text",
    ),
    (
        "a key in two spellings",
        {"grantType": "client_credentials", "clientId": "x", "clientID": "z", "clientSecret": "y"},
        "clientID: given twice",
    ),
    ("half an app", {"grantType": "app_token", "AppId": "x"}, "appSecret: required"),
    ("no password", {"grantType": "password", "username": ADMIN}, "password: required"),
    (
        "unknown user",
        {"grantType": "password", "username": "nobody@example.org", "password": "12345678"},
        "unknown user or wrong password",
    ),
    (
        "wrong password",
        {"grantType": "password", "username": ADMIN, "password": "12345678"},
        "unknown user or wrong password",
    ),
    (
        "an endless password",
        {"grantType": "password", "username": ADMIN, "password": "x" * 10000},
        "unknown user or wrong password",
    ),
    ("no refresh token", {"grantType": "refresh_token"}, "refreshToken: required"),
    (
        "unknown refresh token",
        {"grantType": "refresh_token", "refreshToken": "x" * 86},
        "the refresh token is unknown or has expired",
    ),
    (
        "refresh token of another length",
        {"grantType": "refresh_token", "refreshToken": "x"},
        "the refresh token is unknown or has expired",
    ),
    (
        "code from a provider",
        {"grantType": "exchange_token", "code": "x", "redirectUri": "y"},
        "codeVerifier: required",
    ),
    (
        "token from a provider",
        {"grantType": "external_token_exchange", "externalToken": "x"},
        "externalToken: no identity provider is set up",
    ),
    ("an array", [], "body: expected an object"),
    ("a text", "x", "body: expected an object"),
]


def test_v1_refusals(server):
    """v1 has no 401: everything that is wrong is a 400."""
    for name, body, message in V1_REFUSALS:
        answer = post_json(server, "/api/v1/token", json.dumps(body), **{"Content-Type": "application/json"})
        assert (answer.status, answer.json["message"]) == (400, message), name
        assert answer.json["code"] == 400, name


@pytest.mark.parametrize("path", ["/api/v2/token", "/auth/realms/prorata/protocol/openid-connect/token"])
def test_v2_grants(server, path):
    account = make_account(server)
    answer = post_form(
        server,
        path,
        grant_type="client_credentials",
        client_id=account["clientId"],
        client_secret=account["clientSecret"],
    )
    assert answer.status == 200, answer
    assert answer.json["token_type"] == "Bearer" and answer.json["expires_in"] == 86400
    assert "refresh_token" not in answer.json
    assert whoami(server, answer.json["access_token"]).status == 200
    basic = base64.b64encode(f"{account['clientId']}:{account['clientSecret']}".encode()).decode()
    assert post_form(server, path, {"Authorization": "Basic " + basic}, grant_type="client_credentials").status == 200
    answer = post_form(server, path, grant_type="password", username=ADMIN, password=PASSWORD)
    assert answer.status == 200, answer
    answer = post_form(server, path, grant_type="refresh_token", refresh_token=answer.json["refresh_token"])
    assert answer.status == 200 and whoami(server, answer.json["access_token"]).json["name"] == ADMIN


V2_REFUSALS = [
    ("nothing", {}, 400, "invalid_request"),
    ("grant type empty", {"grant_type": ""}, 400, "invalid_request"),
    ("unknown grant type", {"grant_type": "magic"}, 400, "unsupported_grant_type"),
    (
        "a code needs its verifier",
        {"grant_type": "authorization_code", "code": "x", "redirect_uri": "y"},
        400,
        "invalid_request",
    ),
    ("no client", {"grant_type": "client_credentials"}, 401, "invalid_client"),
    ("no secret", {"grant_type": "client_credentials", "client_id": "x"}, 401, "invalid_client"),
    (
        "unknown client",
        {"grant_type": "client_credentials", "client_id": "x", "client_secret": "y"},
        401,
        "invalid_client",
    ),
    ("no user", {"grant_type": "password", "password": "x"}, 400, "invalid_request"),
    ("wrong password", {"grant_type": "password", "username": ADMIN, "password": "12345678"}, 400, "invalid_grant"),
    ("no refresh token", {"grant_type": "refresh_token"}, 400, "invalid_request"),
    ("unknown refresh token", {"grant_type": "refresh_token", "refresh_token": "x" * 86}, 400, "invalid_grant"),
]


def test_v2_refusals(server):
    for name, fields, status, error in V2_REFUSALS:
        answer = (
            post_form(server, "/api/v2/token", **fields)
            if fields
            else server.request(
                "POST",
                "/api/v2/token",
                "x=y",
                token=None,
                headers={"Content-Type": "application/x-www-form-urlencoded"},
            )
        )
        assert (answer.status, answer.json["error"]) == (status, error), (name, answer)
        assert answer.json["error_description"], name
        assert ("WWW-Authenticate" in answer.headers) == (status == 401), name


def test_apptoken(server):
    account = make_account(server)
    path = "/v1/k8s/auth/oauth/apptoken"
    answer = post_json(
        server, path, {"id": account["clientId"], "name": "ci-runner", "secret": account["clientSecret"]}
    )
    assert answer.status == 200 and set(answer.json) == {"access_token", "id_token"}
    assert post_json(server, path, {"id": account["clientId"], "name": "ci-runner", "secret": "x"}).status == 400
    assert post_json(server, path, {"name": "ci-runner"}).status == 400


def test_refresh_tokens_rotate_and_an_old_one_ends_the_session(server):
    first = post_json(server, "/api/v1/token", {"grantType": "password", "username": ADMIN, "password": PASSWORD}).json
    second = post_json(
        server, "/api/v1/token", {"grantType": "refresh_token", "refreshToken": first["refreshToken"]}
    ).json
    third = post_json(
        server, "/api/v1/token", {"grantType": "refresh_token", "refreshToken": second["refreshToken"]}
    ).json
    assert len({t["refreshToken"] for t in (first, second, third)}) == 3
    assert whoami(server, third["accessToken"]).status == 200
    answer = post_json(server, "/api/v1/token", {"grantType": "refresh_token", "refreshToken": first["refreshToken"]})
    assert answer.status == 400 and "used before" in answer.json["message"]
    for token in (first, second, third):
        assert whoami(server, token["accessToken"]).status == 401
    assert (
        post_json(server, "/api/v1/token", {"grantType": "refresh_token", "refreshToken": third["refreshToken"]}).status
        == 400
    )


def test_signing_out_ends_the_token(server):
    token = server.sign_in()
    assert server.request("DELETE", "/api/v1/session", token=token).status == 204
    assert whoami(server, token).status == 401
    server.token = None


def test_tokens_survive_a_restart(server):
    token = server.sign_in()
    server.kill()
    server.start()
    assert whoami(server, token).status == 200
    keys = list((server.data / "keys").iterdir())
    assert keys and all(key.stat().st_mode & 0o777 == 0o600 for key in keys)
    assert (server.data / "keys").stat().st_mode & 0o777 == 0o700


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def test_forged_tokens(server):
    good = server.sign_in()
    header, payload, signature = good.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    kid = json.loads(base64.urlsafe_b64decode(header + "=="))["kid"]
    secret = (server.data / "keys" / f"{kid}.key").read_bytes()

    def sign(claims, key=secret, **head):
        text = (
            b64(json.dumps({"alg": "HS256", "typ": "JWT", "kid": kid, **head}).encode())
            + "."
            + b64(json.dumps(claims).encode())
        )
        return text + "." + b64(hmac.new(key, text.encode(), hashlib.sha256).digest())

    assert whoami(server, sign(claims)).status == 200  # so that the forgeries fail for the reason they name
    bad = {
        "no signature": f"{header}.{payload}.",
        "alg none": b64(json.dumps({"alg": "none", "typ": "JWT"}).encode()) + f".{payload}.",
        "alg none with a signature": sign(claims, alg="none"),
        "alg HS512": sign(claims, alg="HS512"),
        "alg RS256": sign(claims, alg="RS256"),
        "another key": sign(claims, key=b"\0" * 32),
        "another kid": sign(claims, kid="../keys/x"),
        "expired": sign({**claims, "exp": int(time.time()) - 100}),
        "no exp": sign({k: v for k, v in claims.items() if k != "exp"}),
        "not yet": sign({**claims, "nbf": int(time.time()) + 1000}),
        "another issuer": sign({**claims, "iss": "https://example.org"}),
        "another audience": sign({**claims, "aud": "other"}),
        "another subject": sign({**claims, "sub": "00000000-0000-4000-8000-000000000000"}),
        "another session": sign({**claims, "jti": "00000000-0000-4000-8000-000000000000"}),
        "four segments": good + ".e30",
        "a blank": good + " x",
        "long": "a" * 5000,
    }
    messages = set()
    for name, token in bad.items():
        answer = whoami(server, token)
        assert answer.status == 401 and answer.headers["WWW-Authenticate"] == "Bearer", (name, answer)
        messages.add(answer.json["message"])
    assert len(messages) == 1  # one wording for every failure
    assert server.request("GET", "/api/v1/session", token=None).status == 401
    assert (
        server.request("GET", "/api/v1/session", token=None, headers={"Authorization": "Basic " + b64(b"a:b")}).status
        == 401
    )


def test_guessing_is_slowed(server):
    make_user(server, "ann@example.org")
    guess = {"grantType": "password", "username": "ann@example.org", "password": "guess"}
    answers, _ = try_until_refused(lambda: post_json(server, "/api/v1/token", guess))
    assert len(answers) >= 5 and {answer.status for answer in answers} == {400}
    # Another account is not held up by it.
    assert (
        post_json(server, "/api/v1/token", {"grantType": "password", "username": ADMIN, "password": PASSWORD}).status
        == 200
    )
    form = {"grant_type": "password", "username": "ann@example.org", "password": "guess"}
    answers, refused = try_until_refused(lambda: post_form(server, "/api/v2/token", **form))
    assert len(answers) < 5 and refused.json["error"] == "temporarily_unavailable"


def test_guessing_from_elsewhere_keeps_nobody_out(make_server):
    """Forty addresses guess at the administrator's password and at names that are not there, all the time."""
    server = make_server("--quick-start", "--trusted-proxy", "127.0.0.1")
    server.sign_in()
    stop = threading.Event()

    def sign_in(address, username, password):
        return server.request(
            "POST",
            "/api/v1/token",
            {"grantType": "password", "username": username, "password": password},
            token=None,
            headers={"X-Forwarded-For": address},
        ).status

    def guess(number):
        for i in range(500):
            if stop.is_set():
                return
            sign_in(f"10.1.{number}.1", ADMIN if number % 2 else f"nobody-{number}-{i}@example.org", "guess")

    guessers = [threading.Thread(target=guess, args=(number,)) for number in range(40)]
    for guesser in guessers:
        guesser.start()
    try:
        statuses = [sign_in(f"10.2.0.{i}", ADMIN, PASSWORD) for i in range(8)] + [
            sign_in("10.3.0.1", ADMIN, PASSWORD) for _ in range(4)
        ]
    finally:
        stop.set()
        for guesser in guessers:
            guesser.join()
    assert statuses == [200] * 12


def sign_in_by_cookie(server, username=ADMIN, password=PASSWORD, **headers):
    answer = server.request(
        "POST", "/api/v1/session", {"username": username, "password": password}, token=None, headers=headers
    )
    assert answer.status == 200, answer
    cookie = answer.headers["Set-Cookie"]
    return answer, cookie, {"Cookie": cookie.split(";")[0]}


def test_service_account_life(server):
    account = make_account(server)
    listed = [a for a in server.get("/api/v1/service-accounts").json if a["name"] == "ci-runner"]
    assert (
        listed[0]["clientId"] == account["clientId"] and listed[0]["lastLogin"] is None and listed[0]["enabled"] is True
    )
    assert "clientSecret" not in listed[0]
    path = f"/api/v1/service-accounts/{account['id']}"

    def grant(secret):
        return post_json(
            server,
            "/api/v1/token",
            {"grantType": "client_credentials", "clientId": account["clientId"], "clientSecret": secret},
        )

    token = grant(account["clientSecret"]).json["accessToken"]
    assert server.get(path).json["lastLogin"] is not None
    assert server.request("PATCH", path, {"enabled": False}).status == 200
    assert whoami(server, token).status == 401 and grant(account["clientSecret"]).status == 400
    assert server.request("PATCH", path, {"enabled": True}).status == 200
    token = grant(account["clientSecret"]).json["accessToken"]
    fresh = server.post(path + "/secret").json["clientSecret"]
    assert whoami(server, token).status == 401
    assert grant(account["clientSecret"]).status == 400 and grant(fresh).status == 200
    assert server.post("/api/v1/service-accounts", {"name": "ci-runner"}).status == 409
    assert server.post("/api/v1/service-accounts", {"name": "prorata"}).status == 400, "it stands for the server itself"
    for name in ("x", "Upper", "-x", "a b", "x-", "x" * 256):
        assert server.post("/api/v1/service-accounts", {"name": name}).status == 400, name
    # The same under the old name.
    app = server.get(f"/api/v1/apps/{account['id']}")
    assert app.status == 200 and app.json["name"] == "ci-runner"
    made = server.post("/api/v1/apps", {"name": "old-style"}).json
    assert set(made) == {"id", "name", "secret", "clientId"}
    assert server.delete(path).status == 204
    assert server.get(path).status == 404 and server.delete(path).status == 404 and grant(fresh).status == 400


def test_secrets_are_not_logged(server):
    account = make_account(server)
    user = make_user(server)
    answer = post_json(server, "/api/v1/token", {"grantType": "password", "username": ADMIN, "password": PASSWORD}).json
    post_json(server, "/api/v1/token", {"grantType": "password", "username": ADMIN, "password": "a wrong guess"})
    post_json(server, "/api/v1/token", {"grantType": "password", "username": "a typed secret", "password": "x"})
    _, _, headers = sign_in_by_cookie(server)
    log = server.log.read_text()
    for secret in (
        PASSWORD,
        account["clientSecret"],
        user["tempPassword"],
        answer["accessToken"],
        answer["refreshToken"],
        headers["Cookie"].split("=", 1)[1],
        "a wrong guess",
        "a typed secret",
    ):
        assert secret not in log
    database = b"".join(path.read_bytes() for path in server.data.iterdir() if path.is_file())
    for secret in (PASSWORD, account["clientSecret"], user["tempPassword"], answer["refreshToken"]):
        assert secret.encode() not in database
