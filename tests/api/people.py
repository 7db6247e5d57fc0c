"""People for tests: accounts with a password of their own and access rules."""

from test_access import ROLES
from test_tokens import make_user, post_json

PEOPLES_PASSWORD = "a password of one's own"


def sign_in(server, email, password=PEOPLES_PASSWORD, **more):
    body = {"grantType": "password", "username": email, "password": password, **more}
    return post_json(server, "/api/v1/token", body)


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
