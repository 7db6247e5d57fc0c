"""The second factor: codes by time beside a password, recovery codes, and attacks on both."""

import base64
import concurrent.futures
import itertools
import re
import urllib.parse

import pytest
from contract import check_answer
from people import PEOPLES_PASSWORD, code_of, id_of, make_person, post_json, reuse_code, sign_in, try_until_refused
from servers import Server
from test_access_keys import make_key, sign_in_by_key
from test_tokens import ADMIN, post_form, whoami

ANN = "ann@example.org"
NO_CODE = "otp: required; the account has a second factor"
WRONG = "otp: wrong, or used before"


def begin(server, token, password=PEOPLES_PASSWORD):
    body = {"currentPassword": password}
    return server.request("POST", "/api/v1/me/second-factor", body, token=token)


def confirm(server, token, code):
    return server.request("POST", "/api/v1/me/second-factor/confirm", {"code": code}, token=token)


def disable(server, token, otp, password=PEOPLES_PASSWORD):
    body = {"currentPassword": password, "otp": otp}
    return server.request("POST", "/api/v1/me/second-factor/disable", body, token=token)


def state(server, token):
    answer = server.request("GET", "/api/v1/me/second-factor", token=token)
    check_answer("get_second_factor", answer)
    return answer.json


@pytest.fixture
def ann(server):
    return make_person(server, ANN, ("AI practitioner", "project", server.project_id("team-a")))


@pytest.fixture
def factor(server, ann):
    """Ann's secret and recovery codes; the present code is good, none of before is."""
    answer = begin(server, ann)
    assert answer.status == 200, answer
    check_answer("begin_second_factor", answer)
    secret = answer.json["secret"]
    confirmed = confirm(server, ann, code_of(secret))
    assert confirmed.status == 200, confirmed
    reuse_code(server)
    check_answer("confirm_second_factor", confirmed)
    return secret, confirmed.json["recoveryCodes"]


def test_the_address_is_what_apps_read(server, ann):
    answer = begin(server, ann).json
    uri = urllib.parse.urlsplit(answer["otpauthUri"])
    query = dict(urllib.parse.parse_qsl(uri.query))
    assert (uri.scheme, uri.netloc, urllib.parse.unquote(uri.path)) == ("otpauth", "totp", "/prorata:" + ANN)
    assert query == {
        "secret": answer["secret"],
        "issuer": "prorata",
        "algorithm": "SHA1",
        "digits": "6",
        "period": "30",
    }
    assert len(base64.b32decode(answer["secret"])) == 20


def test_a_secret_that_waits_changes_nothing(server, ann):
    first = begin(server, ann).json["secret"]
    assert state(server, ann) == {"enabled": False, "enabledAt": None, "recoveryCodes": 0}
    assert sign_in(server, ANN).status == 200
    second = begin(server, ann).json["secret"]
    assert first != second
    assert confirm(server, ann, code_of(first)).status == 400, "of the secret before"
    assert confirm(server, ann, "000000").status in (400, 200)
    assert begin(server, ann, "a wrong password").json["message"] == "currentPassword: wrong"


def test_a_password_needs_a_code_in_every_grant(server, ann, factor):
    secret, _ = factor
    assert state(server, ann)["enabled"] and state(server, ann)["recoveryCodes"] == 10
    answer = sign_in(server, ANN)
    assert (answer.status, answer.json["message"]) == (400, NO_CODE)
    answer = post_form(server, "/api/v2/token", grant_type="password", username=ANN, password=PEOPLES_PASSWORD)
    assert (answer.status, answer.json["error"], answer.json["error_description"]) == (400, "invalid_grant", NO_CODE)
    answer = post_json(server, "/api/v1/session", {"username": ANN, "password": PEOPLES_PASSWORD})
    assert (answer.status, answer.json["message"]) == (401, NO_CODE)
    assert sign_in(server, ANN, "a wrong password", otp=code_of(secret)).json["message"] == (
        "unknown user or wrong password"
    )
    answer = sign_in(server, ANN, otp=code_of(secret))
    assert answer.status == 200 and whoami(server, answer.json["accessToken"]).status == 200
    refreshed = post_json(
        server, "/api/v1/token", {"grantType": "refresh_token", "refreshToken": answer.json["refreshToken"]}
    )
    assert refreshed.status == 200, "a refresh asks for no code"
    body = {"username": ANN, "password": PEOPLES_PASSWORD, "otp": code_of(secret, 1)}
    assert post_json(server, "/api/v1/session", body).status == 200


@pytest.mark.parametrize("field", ["otp", "totp"])
def test_the_form_grant_takes_a_code(server, factor, field):
    fields = {"grant_type": "password", "username": ANN, "password": PEOPLES_PASSWORD, field: code_of(factor[0])}
    assert post_form(server, "/api/v2/token", **fields).status == 200


def test_a_code_works_once_also_after_a_kill(server, factor):
    code = code_of(factor[0])
    assert sign_in(server, ANN, otp=code).status == 200
    assert sign_in(server, ANN, otp=code).json["message"] == WRONG
    server.kill()
    server.start()
    assert sign_in(server, ANN, otp=code).json["message"] == WRONG
    assert sign_in(server, ANN, otp=code_of(factor[0], -1)).json["message"] == WRONG, "nor one of before"


def test_the_code_that_confirmed_is_used_up(server, ann):
    secret = begin(server, ann).json["secret"]
    code = code_of(secret)
    assert confirm(server, ann, code).status == 200
    assert sign_in(server, ANN, otp=code).json["message"] == WRONG


def test_the_same_code_by_many_at_once_lets_one_in(server, factor):
    code = code_of(factor[0])
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: sign_in(server, ANN, otp=code), range(4)))
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]


def test_recovery_codes_are_good_once_each(server, ann, factor):
    _, codes = factor
    assert len(set(codes)) == 10 and all(re.fullmatch("([a-z2-7]{4}-){3}[a-z2-7]{4}", code) for code in codes)
    assert sign_in(server, ANN, otp=codes[0]).status == 200
    assert sign_in(server, ANN, otp=codes[0]).json["message"] == WRONG
    assert sign_in(server, ANN, otp=codes[1].upper().replace("-", " ")).status == 200, "as people type it"
    assert state(server, ann)["recoveryCodes"] == 8
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: sign_in(server, ANN, otp=codes[2]), range(4)))
    assert sorted(answer.status for answer in answers) == [200, 400, 400, 400]
    server.kill()
    server.start()
    assert sign_in(server, ANN, otp=codes[2]).json["message"] == WRONG


def test_wrong_codes_count_as_wrong_passwords(server, factor):
    good = [code_of(factor[0], steps) for steps in (-1, 0, 1, 2)]
    wrong = itertools.cycle(code for code in ("000000", "000001", "000002", "000003", "000004") if code not in good)
    for right in (code_of(factor[0]), *factor[1]):
        answers, _ = try_until_refused(lambda: sign_in(server, ANN, otp=next(wrong)))
        assert len(answers) >= 5 and {(answer.status, answer.json["message"]) for answer in answers} == {(400, WRONG)}
        if sign_in(server, ANN, otp=right).status == 429:
            break  # else the wait was over before it came
    else:
        pytest.fail("a right one is never refused")


def test_wrong_codes_are_slowed_from_any_address(folder):
    """Who knows the password cannot try codes from many addresses."""
    server = Server(folder, "--trusted-proxy", "127.0.0.1").start()
    try:
        token = make_person(server, ANN)
        secret = begin(server, token).json["secret"]
        assert confirm(server, token, code_of(secret)).status == 200
        body = {"grantType": "password", "username": ANN, "password": PEOPLES_PASSWORD, "otp": "12345"}
        numbers = itertools.count()
        answers, _ = try_until_refused(
            lambda: post_json(server, "/api/v1/token", body, **{"X-Forwarded-For": f"10.0.{next(numbers)}.1"})
        )
        assert len(answers) >= 5 and {answer.status for answer in answers} == {400}
    finally:
        server.stop()


@pytest.mark.parametrize(
    "otp",
    ["", " ", "12345", "1234567", "١٢٣٤٥٦", "123456\n", "a" * 16, "-" * 60, "' OR 1=1 --", "\x00" * 6, "9" * 4000],
)
def test_codes_of_no_form_are_wrong(server, factor, otp):
    answer = sign_in(server, ANN, otp=otp)
    assert answer.status == 400, answer
    assert answer.json["message"] in (WRONG, NO_CODE) or "NUL" in answer.json["message"], answer


@pytest.mark.parametrize("otp", [123456, True, ["123456"], {"a": 1}, 1.5])
def test_codes_of_other_types_are_refused(server, factor, otp):
    assert sign_in(server, ANN, otp=otp).status == 400
    body = {"username": ANN, "password": PEOPLES_PASSWORD, "otp": otp}
    assert post_json(server, "/api/v1/session", body).status == 400


def test_a_code_given_twice_in_two_spellings_is_refused(server, factor):
    answer = sign_in(server, ANN, otp=code_of(factor[0]), OTP="000000")
    assert (answer.status, answer.json["message"]) == (400, "otp: given twice")


def test_enabling_ends_other_sessions_and_keys_need_no_code(server, ann):
    key = make_key(server, ann)
    other = sign_in(server, ANN).json["accessToken"]
    secret = begin(server, ann).json["secret"]
    assert confirm(server, ann, code_of(secret)).status == 200
    assert whoami(server, other).status == 401 and whoami(server, ann).status == 200
    token = sign_in_by_key(server, key)
    assert whoami(server, token).status == 200
    assert begin(server, token).status == 403 and disable(server, token, code_of(secret, 1)).status == 403


def test_disabling_needs_password_and_code(server, ann, factor):
    secret, codes = factor
    assert disable(server, ann, code_of(secret), "a wrong password").status == 400
    assert disable(server, ann, "000000").status == 400
    assert begin(server, ann).status == 409, "not a second one beside it"
    assert disable(server, ann, codes[3]).status == 204
    assert state(server, ann) == {"enabled": False, "enabledAt": None, "recoveryCodes": 0}
    assert sign_in(server, ANN).status == 200
    assert disable(server, ann, codes[4]).status == 404


def test_an_administrator_resets_it(server, ann, factor):
    path = f"/api/v1/users/{id_of(server, ANN)}/second-factor"
    having = server.get("/api/v1/users", filterBy="hasSecondFactor==true")
    check_answer("get_users", having)
    assert [user["username"] for user in having.json] == [ANN]
    assert server.get("/api/v1/session").json["isLocal"] is True
    bob = make_person(server, "bob@example.org", ("AI practitioner", "tenant", "1"))
    assert server.request("DELETE", path, token=bob).status == 403
    assert server.delete(path).status == 204
    assert whoami(server, ann).status == 401 and sign_in(server, ANN).status == 200
    assert server.delete(path).status == 404
    assert server.delete("/api/v1/users/nobody/second-factor").status == 404


def test_it_goes_with_the_account(server, factor):
    assert server.delete("/api/v1/users/" + id_of(server, ANN)).status == 204
    make_person(server, ANN)
    assert sign_in(server, ANN).status == 200


def test_the_secret_is_sealed_at_rest_and_never_told_again(server, ann, factor):
    secret, codes = factor
    shown = server.request("GET", "/api/v1/me/second-factor", token=ann).body
    server.kill()
    needles = [
        secret.encode(),
        base64.b32decode(secret),
        *(c.encode() for c in codes),
        codes[0].replace("-", "").encode(),
    ]
    for path in [*server.data.rglob("*"), server.log]:
        content = path.read_bytes() if path.is_file() else b""
        assert not any(needle in content + shown for needle in needles), path
    server.start()
    assert sign_in(server, ANN, otp=code_of(secret)).status == 200


def test_without_the_key_the_account_says_so(server, factor):
    server.stop()
    for key in (server.data / "keys").glob("sealing-*"):
        key.unlink()
    server.start()
    answer = sign_in(server, ANN, otp=code_of(factor[0]))
    assert answer.status == 503, answer
    assert sign_in(server, ANN, otp=factor[1][0]).status == 200, "a recovery code still works"
    assert sign_in(server, ADMIN, "correct horse battery").status == 200
