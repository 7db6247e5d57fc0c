"""What a new password must be, temporary passwords, and whom an administrator of users reaches."""

import pytest
from people import PEOPLES_PASSWORD, change_password, id_of, make_person, make_user, sign_in
from servers import ADMIN, Server
from test_tokens import whoami

REFUSED = [
    ("too short", "seven77", "newPassword: 8 to 255 characters, got 7"),
    ("too long", "x" * 300, "newPassword: 8 to 255 characters, got 300"),
    ("tried first", "password", "newPassword: one of the passwords that are tried first; choose another"),
    ("with digits behind", "Password123!", "newPassword: one of the passwords that are tried first; choose another"),
    ("with signs for letters", "P@$$w0rd", "newPassword: one of the passwords that are tried first; choose another"),
    ("a run", "123456789", "newPassword: one of the passwords that are tried first; choose another"),
    ("a run that falls", "87654321", "newPassword: one of the passwords that are tried first; choose another"),
    ("one letter", "aaaaaaaaaaaa", "newPassword: one of the passwords that are tried first; choose another"),
    ("a keyboard's row", "qwertyuiop", "newPassword: one of the passwords that are tried first; choose another"),
    ("the e-mail", "Annabel@example.org", "newPassword: it is the account's name and little more; choose another"),
    ("the name and a year", "annabel2026", "newPassword: it is the account's name and little more; choose another"),
    ("the name in the middle", "xxAnnaBelxx", "newPassword: it is the account's name and little more; choose another"),
    ("the same", PEOPLES_PASSWORD, "newPassword: the same as the current one"),
]


@pytest.fixture
def annabel(server):
    return make_person(server, "annabel@example.org", ("AI practitioner", "project", server.project_id("team-a")))


def test_passwords_that_are_refused(server, annabel):
    for name, password, message in REFUSED:
        answer = change_password(server, annabel, PEOPLES_PASSWORD, password)
        assert answer.status == 400, (name, answer)
        if len(password) < 256:  # what is longer, the document refuses
            assert answer.json["message"] == message, name
    assert sign_in(server, "annabel@example.org").status == 200, "nothing has changed"


@pytest.mark.parametrize("password", ["all lower case letters", "ÄÖÜ äöü 12", "annabel and seven more", "zlz9-pq4"])
def test_no_kinds_of_characters_are_asked_for(server, annabel, password):
    assert change_password(server, annabel, PEOPLES_PASSWORD, password).status == 200
    assert sign_in(server, "annabel@example.org", password).status == 200


def test_the_last_passwords_do_not_come_again(server, annabel):
    before = PEOPLES_PASSWORD
    for number in range(3):
        assert change_password(server, annabel, before, f"the new one, number {number}").status == 200
        before = f"the new one, number {number}"
    answer = change_password(server, annabel, before, PEOPLES_PASSWORD)
    assert answer.status == 400 and answer.json["message"] == "newPassword: one of your last 3; choose another"
    assert change_password(server, annabel, before, "the new one, number 3").status == 200
    assert change_password(server, annabel, "the new one, number 3", PEOPLES_PASSWORD).status == 200, "long ago"


def test_the_rules_are_a_setting(folder):
    server = Server(folder, "--password-rules", "length=20,last=0").start()
    try:
        token = sign_in(server, ADMIN, "correct horse battery").json["accessToken"]
        answer = change_password(server, token, "correct horse battery", "nineteen characters")
        assert answer.json["message"] == "newPassword: 20 to 255 characters, got 19"
        assert change_password(server, token, "correct horse battery", "twenty characters ok").status == 200
        assert change_password(server, token, "twenty characters ok", "correct horse battery").status == 200
    finally:
        server.stop()


@pytest.mark.parametrize(
    "rules", ["length=7", "length=65", "last=25", "length", "length=x", "size=9", "length=9;last=1"]
)
def test_rules_that_are_wrong_stop_the_start(folder, rules):
    server = Server(folder, "--password-rules", rules)
    with pytest.raises(AssertionError):
        server.start()
    assert "password-rules: expected length=8..64,last=0..24" in server.tail()


def test_a_temporary_password_allows_its_own_change_alone(server):
    temporary = make_user(server, "bea@example.org")["tempPassword"]
    token = sign_in(server, "bea@example.org", temporary).json["accessToken"]
    assert whoami(server, token).json["mustChangePassword"] is True
    answer = server.request("GET", "/api/v1/workloads", token=token)
    assert answer.status == 403 and answer.json["message"] == "the temporary password must be changed first"
    for path in ("/api/v1/access-keys", "/api/v1/me/sessions", "/api/v1/me/second-factor"):
        assert server.request("GET", path, token=token).status == 403
    assert change_password(server, token, temporary).status == 200
    assert whoami(server, token).json["mustChangePassword"] is False
    assert sign_in(server, "bea@example.org", temporary).status == 400


def test_a_reset_ends_everything_and_gives_a_temporary_password(server, annabel):
    user = "/api/v1/users/" + id_of(server, "annabel@example.org")
    temporary = server.post(user + "/password").json["tempPassword"]
    assert whoami(server, annabel).status == 401
    assert sign_in(server, "annabel@example.org").status == 400
    token = sign_in(server, "annabel@example.org", temporary).json["accessToken"]
    answer = change_password(server, token, temporary, PEOPLES_PASSWORD)
    assert answer.status == 400, "the reset does not bring the old one back"


def make_user_administrator(server):
    role = server.post(
        "/api/v2/authorization/roles",
        {
            "name": "User administrator",
            "description": "",
            "enabled": True,
            "scopeType": "tenant",
            "permissions": [{"resourceType": "users", "actions": ["create", "read", "update", "delete"]}],
        },
    )
    assert role.status in (200, 201, 202), role
    token = make_person(server, "carl@example.org")
    rule = {
        "subjectId": "carl@example.org",
        "subjectType": "user",
        "roleId": role.json["id"],
        "scopeType": "tenant",
        "scopeId": "1",
    }
    assert server.post("/api/v1/authorization/access-rules", rule).status == 201
    return token


def test_a_user_administrator_reaches_nobody_who_has_more_rights(server, annabel):
    carl = make_user_administrator(server)
    dora = make_person(server, "dora@example.org", ("Department administrator", "department", department(server)))
    for email, status in ((ADMIN, 403), ("dora@example.org", 403), ("annabel@example.org", 200)):
        user = "/api/v1/users/" + id_of(server, email)
        for method, path in (("POST", user + "/password"), ("POST", user + "/logout")):
            assert server.request(method, path, token=carl).status == status, (email, path)
        if status == 403:
            assert server.request("DELETE", user, token=carl).status == 403
            assert server.request("DELETE", user + "/second-factor", token=carl).status == 403
    assert whoami(server, dora).status == 200 and whoami(server, server.sign_in()).status == 200
    key = server.request("POST", "/api/v1/access-keys", {"name": "hers"}, token=dora).json
    assert server.request("DELETE", "/api/v1/administration/access-keys/" + key["id"], token=carl).status == 403


def department(server):
    departments = server.get("/api/v1/org-unit/departments").json["departments"]
    return next(unit["id"] for unit in departments if unit["name"] == "research")
