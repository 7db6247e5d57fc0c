"""Access keys: a user's keys for programs, which act as he does and end with him."""

import concurrent.futures

import pytest
from contract import check_answer
from people import id_of, make_person, post_json, sign_in, try_until_refused
from test_tokens import make_account, post_form, whoami


def make_key(server, token, name="laptop"):
    answer = server.request("POST", "/api/v1/access-keys", {"name": name}, token=token)
    assert answer.status == 201, answer
    check_answer("create_access_key1", answer)
    return answer.json


def grant(server, key, secret=None):
    return post_json(
        server,
        "/api/v1/token",
        {
            "grantType": "client_credentials",
            "clientID": key["clientId"],
            "clientSecret": secret or key["clientSecret"],
        },
    )


def sign_in_by_key(server, key):
    answer = grant(server, key)
    assert answer.status == 200, answer
    return answer.json["accessToken"]


def keys_of(server, token):
    answer = server.request("GET", "/api/v1/access-keys", token=token)
    check_answer("get_access_keys", answer)
    return answer.json["accessKeys"]


@pytest.fixture
def ann(server):
    return make_person(server, "ann@example.org", ("AI practitioner", "project", server.project_id("team-a")))


def test_a_key_acts_as_its_owner_and_shows_its_last_use(server, ann):
    key = make_key(server, ann)
    (shown,) = keys_of(server, ann)
    assert (shown["name"], shown["clientId"], shown["lastLogin"]) == ("laptop", key["clientId"], None)
    assert "clientSecret" not in shown, "the secret is shown once"
    token = sign_in_by_key(server, key)
    mine, its = whoami(server, ann).json, whoami(server, token).json
    assert (its["name"], its["subjectType"], its["roles"]) == ("ann@example.org", "user", mine["roles"])
    assert its["permissions"] == mine["permissions"]
    assert server.request("GET", "/api/v1/users", token=token).status == 403, "no more than its owner"
    one = server.request("GET", "/api/v1/access-keys/" + key["id"], token=ann)
    check_answer("get_access_key_by_id1", one)
    assert one.json["lastLogin"]
    for path in ("/api/v2/token", "/auth/realms/prorata/protocol/openid-connect/token"):
        answer = post_form(
            server, path, grant_type="client_credentials", client_id=key["clientId"], client_secret=key["clientSecret"]
        )
        assert answer.status == 200 and "refresh_token" not in answer.json, answer
    body = {"grantType": "app_token", "AppId": key["clientId"], "AppSecret": key["clientSecret"]}
    assert post_json(server, "/api/v1/token", body).status == 200, "as the Python client asks"


def test_rights_follow_the_owners_at_once(server, ann):
    token = sign_in_by_key(server, make_key(server, ann))
    assert server.request("GET", "/api/v1/workloads", token=token).json["workloads"] == []
    for rule in server.get("/api/v1/authorization/access-rules").json["accessRules"]:
        if rule["subjectId"] == "ann@example.org":
            server.delete(f"/api/v1/authorization/access-rules/{rule['id']}")
    assert server.request("GET", "/api/v1/workloads", token=token).status == 403


def test_a_new_secret_ends_the_old_one_and_its_sessions(server, ann):
    key = make_key(server, ann)
    token = sign_in_by_key(server, key)
    answer = server.request("POST", f"/api/v1/access-keys/{key['id']}/secret", token=ann)
    check_answer("regenerate_access_key_secret", answer)
    assert whoami(server, token).status == 401
    assert grant(server, key).status == 400
    assert grant(server, key, answer.json["clientSecret"]).status == 200
    assert whoami(server, ann).status == 200, "the person stays signed in"


def test_a_deleted_key_is_gone_with_its_sessions(server, ann):
    key = make_key(server, ann)
    token = sign_in_by_key(server, key)
    assert server.request("DELETE", "/api/v1/access-keys/" + key["id"], token=ann).status == 204
    assert whoami(server, token).status == 401 and grant(server, key).status == 400
    assert server.request("DELETE", "/api/v1/access-keys/" + key["id"], token=ann).status == 404
    assert server.request("POST", f"/api/v1/access-keys/{key['id']}/secret", token=ann).status == 404
    assert keys_of(server, ann) == []


def test_keys_end_with_the_account(server, ann):
    key = make_key(server, ann)
    token = sign_in_by_key(server, key)
    assert server.delete("/api/v1/users/" + id_of(server, "ann@example.org")).status == 204
    assert whoami(server, token).status == 401 and grant(server, key).status == 400
    make_person(server, "ann@example.org")
    assert grant(server, key).status == 400, "a new account of this name has none of the old keys"
    assert server.get("/api/v1/administration/access-keys").json["accessKeys"] == []


def test_a_key_makes_no_secrets(server, ann):
    key = make_key(server, ann)
    token = sign_in_by_key(server, key)
    assert server.request("POST", "/api/v1/access-keys", {"name": "another"}, token=token).status == 403
    assert server.request("POST", f"/api/v1/access-keys/{key['id']}/secret", token=token).status == 403
    assert server.request("DELETE", "/api/v1/access-keys/" + key["id"], token=token).status == 204, "it may end itself"


def test_others_see_nothing_of_a_key(server, ann):
    key = make_key(server, ann)
    for other in (make_person(server, "bob@example.org", ("AI practitioner", "tenant", "1")), server.sign_in()):
        path = "/api/v1/access-keys/" + key["id"]
        assert server.request("GET", path, token=other).status == 404
        assert server.request("POST", path + "/secret", token=other).status == 404
        assert server.request("DELETE", path, token=other).status == 404
    bob = sign_in(server, "bob@example.org").json["accessToken"]
    assert server.request("GET", "/api/v1/administration/access-keys", token=bob).status == 403
    assert server.request("DELETE", "/api/v1/administration/access-keys/" + key["id"], token=bob).status == 403
    assert grant(server, key).status == 200


def test_an_administrator_lists_and_deletes_keys(server, ann):
    key, other = make_key(server, ann), make_key(server, server.sign_in(), "robot")
    answer = server.get("/api/v1/administration/access-keys")
    check_answer("get_access_keys_administration", answer)
    assert [(k["createdBy"], k["name"]) for k in answer.json["accessKeys"]] == [
        ("admin@prorata.local", "robot"),
        ("ann@example.org", "laptop"),
    ]
    for query in ({"clientId": key["clientId"]}, {"createdBy": "ANN@example.org"}):
        (found,) = server.get("/api/v1/administration/access-keys", **query).json["accessKeys"]
        assert found["id"] == key["id"]
    assert server.get("/api/v1/administration/access-keys", clientId=key["clientId"], createdBy="x@y.zz").json == {
        "accessKeys": []
    }
    token = sign_in_by_key(server, key)
    assert server.delete("/api/v1/administration/access-keys/" + key["id"]).status == 204
    assert whoami(server, token).status == 401
    assert server.delete("/api/v1/administration/access-keys/" + key["id"]).status == 404
    assert grant(server, other).status == 200


def test_service_accounts_have_none(server):
    account = make_account(server)
    token = post_json(
        server,
        "/api/v1/token",
        {
            "grantType": "client_credentials",
            "clientID": account["clientId"],
            "clientSecret": account["clientSecret"],
        },
    ).json["accessToken"]
    assert server.request("GET", "/api/v1/access-keys", token=token).status == 403
    assert server.request("POST", "/api/v1/access-keys", {"name": "another"}, token=token).status == 403


def test_a_service_account_named_like_a_key_does_not_stand_in_its_way(server, ann):
    key = make_key(server, ann)
    while not key["clientId"][0].isalpha():  # a service account's name begins with a letter
        server.request("DELETE", "/api/v1/access-keys/" + key["id"], token=ann)
        key = make_key(server, ann)
    account = make_account(server, key["clientId"])
    assert whoami(server, sign_in_by_key(server, key)).json["name"] == "ann@example.org"
    assert grant(server, key, account["clientSecret"]).status == 400


@pytest.mark.parametrize("name", ["", "x", "Laptop", "-a", "a-", "a b", "a" * 256, "a\nb", "é1", None, 7, ["aa"]])
def test_names_that_are_refused(server, ann, name):
    assert server.request("POST", "/api/v1/access-keys", {"name": name}, token=ann).status == 400
    assert keys_of(server, ann) == []


def test_a_name_is_the_users_own(server, ann):
    make_key(server, ann)
    answer = server.request("POST", "/api/v1/access-keys", {"name": "laptop"}, token=ann)
    assert answer.status == 409 and "laptop" in answer.json["message"]
    make_key(server, server.sign_in())


def test_a_hundred_keys_and_no_more_also_at_once(server, ann):
    for number in range(95):
        make_key(server, ann, f"key-{number}")
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(
            pool.map(
                lambda number: server.request("POST", "/api/v1/access-keys", {"name": f"more-{number}"}, token=ann),
                range(12),
            )
        )
    assert sorted(answer.status for answer in answers) == [201] * 5 + [409] * 7
    assert len(keys_of(server, ann)) == 100
    assert any("100" in answer.json["message"] for answer in answers if answer.status == 409)


def test_wrong_secrets_are_slowed_and_name_nobody(server, ann):
    key = make_key(server, ann)
    answers, _ = try_until_refused(lambda: grant(server, key, "x" * 43))
    assert len(answers) >= 5 and {answer.status for answer in answers} == {400}
    assert {answer.json["message"] for answer in answers} == {"unknown client or wrong secret"}


def test_the_secret_is_nowhere_in_the_folder_and_a_key_outlives_a_kill(server, ann):
    key = make_key(server, ann)
    server.kill()
    for path in server.data.rglob("*"):
        assert not path.is_file() or key["clientSecret"].encode() not in path.read_bytes(), path
    assert key["clientSecret"].encode() not in server.log.read_bytes()
    server.start()
    assert whoami(server, sign_in_by_key(server, key)).status == 200


def test_a_reset_password_stops_the_keys_until_it_is_changed(server, ann):
    key = make_key(server, ann)
    server.post(f"/api/v1/users/{id_of(server, 'ann@example.org')}/password")
    token = sign_in_by_key(server, key)
    assert server.request("GET", "/api/v1/workloads", token=token).status == 403
