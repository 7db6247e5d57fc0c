"""A token that the issuer gave somebody for our client, exchanged for ours: checked as at a sign-in."""

import base64
import hashlib
import http.client
import json
import sqlite3
import urllib.parse

import pytest
from issuer import PROVIDER, SECRET
from people import try_until_refused

VERIFIER = "v" * 43
HOUR_S = 3600


def token_of(site, browser, client="prorata", **spoilt):
    """An id_token that a program of the same client gets by itself."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    asked = {"client_id": client, "response_type": "code", "redirect_uri": site.issuer.redirect_url, "nonce": "own",
             "scope": "openid email groups", "code_challenge": challenge, "code_challenge_method": "S256"}  # fmt: skip
    back = browser.follow(f"{site.issuer.url}/auth?{urllib.parse.urlencode(asked)}", site.issuer.redirect_url)
    (code,) = urllib.parse.parse_qs(urllib.parse.urlsplit(back).query)["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": site.issuer.redirect_url,
            "code_verifier": VERIFIER}  # fmt: skip
    pair = f"{urllib.parse.quote_plus(client)}:{urllib.parse.quote_plus(SECRET)}".encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
    site.issuer.trouble(token=spoilt or None)
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(site.issuer.url).netloc, timeout=60)
    connection.request("POST", "/token", urllib.parse.urlencode(form), headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    site.issuer.trouble(token=None)
    return answer["id_token"]


def exchange(site, token, address="10.0.0.1"):
    body = {"grantType": "external_token_exchange", "externalToken": token}
    return site.request("POST", "/api/v1/token", body, token=None, headers={"X-Forwarded-For": address})


def records(site, result):
    path = "/api/v1/audit/log?start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&numberOfSamples=1000"
    found = site.request("GET", f"{path}&filterBy=action==sign-in,result=={result}").json["audit_logs"]
    return {r["source_ip"]: r for r in found if r["metadata"].get("grant") == "external_token"}


@pytest.fixture
def site(make_site):
    return make_site("--trusted-proxy", "127.0.0.1")


def test_the_issuers_token_is_exchanged_for_ours(site, ann):
    rule = {"subjectId": "gpu-users", "subjectType": "group", "roleId": 5, "scopeType": "project"}
    rule |= {"scopeId": site.project_id("team-a"), "clusterId": site.cluster_id()}
    assert site.post("/api/v1/authorization/access-rules", rule).status == 201
    answer = exchange(site, token_of(site, ann))
    assert answer.status == 200 and "refreshToken" not in answer.json, answer
    assert answer.json["expiresIn"] <= HOUR_S, "the issuer cannot be asked about it again"
    who = site.request("GET", "/api/v1/session", token=answer.json["accessToken"]).json
    assert who["name"] == "ann@lab.example" and {role["scopeName"] for role in who["roles"]} == {"team-a"}
    ann.sign_in(site)
    assert ann.session(site)["subjectId"] == who["subjectId"], "the same account as at the page"
    record = records(site, "Succeeded")["10.0.0.1"]
    assert record["subject"] == "ann@lab.example" and record["metadata"]["subject"] == "ann", record
    with sqlite3.connect(site.data / "prorata.db") as database:
        ((life_ms,),) = database.execute(
            "SELECT expires_ms - created_ms FROM sessions WHERE kind = 'token' "
            "AND subject_id = (SELECT id FROM users WHERE email LIKE 'ann@%')"
        ).fetchall()
    database.close()
    assert life_ms == HOUR_S * 1000


def test_groups_are_those_of_the_token(site, ann):
    token = token_of(site, ann)
    exchange(site, token)
    body = exchange(site, token_of(site, ann, claims={"groups": []}))
    who = site.request("GET", "/api/v1/session", token=body.json["accessToken"]).json
    assert who["roles"] == []


# What is wrong with the token, and the words of the record.
BAD = [
    ({"claims": {"aud": "other"}}, "aud is another client"),
    ({"claims": {"aud": ["prorata", "other"]}, "drop": ["azp"]}, "no azp"),
    ({"claims": {"azp": "other"}}, "azp is another client"),
    ({"claims": {"iss": "https://other.example"}}, "iss is another issuer"),
    ({"claims": {"exp": 1700000000}}, "expired"),
    ({"drop": ["exp"]}, "expired, or without exp"),
    ({"claims": {"iat": 4000000000}}, "issued in the future"),
    ({"claims": {"nbf": 4000000000}}, "not valid yet"),
    ({"drop": ["sub"]}, "sub is missing"),
    ({"header": {"alg": "none"}, "with": "none"}, "alg is not the key's"),
    ({"header": {"alg": "HS256"}, "with": "public key as a MAC"}, "alg is not the key's"),
    ({"header": {"crit": ["exp"]}}, "critical extensions"),
    ({"with": "stranger"}, "the signature is wrong"),
    ({"with": "cut"}, "the signature is wrong"),
    ({"header": {"kid": "nobody's"}}, "no such key"),
]


def test_a_bad_token_is_refused_and_recorded_with_its_reason(site, ann):
    tokens = [(token_of(site, ann, **spoilt), reason) for spoilt, reason in BAD]
    tokens += [
        ("x", "not three base64url segments"),
        ("a.b.c", "not a JSON object"),
        ("." * 4000, "not three base64url segments"),
    ]
    ours = site.sign_in()
    tokens.append((ours, "no such key"))
    for number, (token, reason) in enumerate(tokens):
        answer = exchange(site, token, f"10.0.1.{number}")
        assert answer.status == 400 and answer.json["message"].startswith("externalToken: "), (reason, answer)
    found = site.wait_for("their records", lambda: len(r := records(site, "Failed")) == len(tokens) and r)
    for number, (token, reason) in enumerate(tokens):
        record = found[f"10.0.1.{number}"]
        assert reason in record["metadata"]["reason"] and record["subject"] == "", (reason, record)
        assert len(token) < 2 or token not in json.dumps(record), "no token is kept"
    users = [user["username"] for user in site.get("/api/v1/users").json]
    assert users == ["admin@prorata.local"], "nobody has an account of it"


def test_another_clients_token_is_refused(site, ann):
    answer = exchange(site, token_of(site, ann, client="points"))
    assert answer.status == 400 and "aud is another client" in answer.json["message"], answer


def test_bad_tokens_count_as_bad_sign_ins(site, ann):
    good = token_of(site, ann)
    answers, _ = try_until_refused(lambda: exchange(site, "x.y.z"))
    assert len(answers) >= 5 and {answer.status for answer in answers} == {400}
    assert exchange(site, good, "10.0.0.2").status == 200, "others do not"


def test_without_an_issuer_and_while_it_is_down(site, ann):
    good = token_of(site, ann)
    site.stop()
    site.start()  # nothing of the issuer is kept
    site.issuer.trouble(down=True)
    answers = [exchange(site, good) for _ in range(7)]
    assert {answer.status for answer in answers} == {503}, "not the token's fault: it does not count"
    site.issuer.trouble()
    assert exchange(site, good).status == 200
    assert site.delete(PROVIDER).status == 204
    answer = exchange(site, good)
    assert answer.status == 400 and "no identity provider" in answer.json["message"], answer
