"""People for tests: accounts with a password of their own and access rules."""

import base64
import contextlib
import hashlib
import hmac
import sqlite3
import struct
import time

ROLES = {
    "System administrator": 1,
    "Department administrator": 2,
    "L1 researcher": 5,
    "Viewer": 7,
    "Editor": 3,
    "AI practitioner": 17,
    "Project administrator": 16,
    "Data source administrator": 11,
}
PEOPLES_PASSWORD = "a password of one's own"


def post_json(server, path, body, **headers):
    return server.request("POST", path, body, token=None, headers=headers)


def make_user(server, email="ann@example.org", **more):
    answer = server.post("/api/v1/users", {"email": email, **more})
    assert answer.status == 201, answer
    return answer.json


def code_of(secret, steps=0):
    """An app of another make: RFC 6238 in ten lines."""
    counter = struct.pack(">Q", int(time.time()) // 30 + steps)
    mac = hmac.new(base64.b32decode(secret), counter, hashlib.sha1).digest()
    part = mac[mac[-1] & 15 :][:4]
    return f"{(struct.unpack('>I', part)[0] & 0x7FFFFFFF) % 1000000:06}"


def reuse_code(server):
    """The present code works again, as if the last one used had been that of the step before. To confirm with the code
    of the step before is no way: it's two steps old where a step ends on its way to the server."""
    with contextlib.closing(sqlite3.connect(server.data / "prorata.db", timeout=60)) as database, database:
        assert database.execute("UPDATE second_factors SET last_step = last_step - 1").rowcount == 1


def sign_in(server, email, password=PEOPLES_PASSWORD, **more):
    body = {"grantType": "password", "username": email, "password": password, **more}
    return post_json(server, "/api/v1/token", body)


def try_until_refused(attempt):
    """Wrong tries until one is not looked at: five are free, and each one after waits twice as long as the one before,
    in the end for longer than a slow machine takes. The answers of those looked at, and the 429."""
    answers, begun = [], time.monotonic()
    while (answer := attempt()).status != 429:
        answers.append(answer)
        waited = 2 ** max(len(answers) - 5, 0) - 1
        assert time.monotonic() - begun > waited - 0.1, f"{len(answers)} tries were looked at"
    assert int(answer.headers["Retry-After"]) >= 1
    return answers, answer


def change_password(server, token, current, new=PEOPLES_PASSWORD):
    body = {"currentPassword": current, "newPassword": new}
    return server.request("POST", "/api/v1/me/password", body, token=token)


def make_person(server, email, *rules):
    """A user who has changed the temporary password and has these (role, scope type, scope id); the token."""
    temporary = make_user(server, email)["tempPassword"]
    for role, scope_type, scope_id in rules:
        rule = {
            "subjectId": email,
            "subjectType": "user",
            "roleId": ROLES[role],
            "scopeType": scope_type,
            "scopeId": str(scope_id),
        }
        assert server.post("/api/v1/authorization/access-rules", rule).status == 201
    token = sign_in(server, email, temporary).json["accessToken"]
    assert change_password(server, token, temporary).status == 200
    return token


def id_of(server, email):
    (user,) = server.get("/api/v1/users", filterBy=f"username=={email}").json
    return user["id"]
