"""Signing in at an identity provider: the way there and back, everything that may be wrong with it, and what ends
it."""

import base64
import concurrent.futures
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import threading
import time
import urllib.parse

import pytest
from issuer import CALLBACK, PROVIDER, SECRET, SIGN_IN, Browser, where
from servers import PRORATA

HOUR_S = 3600
WAIT_FOR_THE_ISSUER = 16  # at one time; further ones are told to try again


def give_group(server, group, role=5, project="team-a"):
    """An access rule of a group; its id."""
    rule = {"subjectId": group, "subjectType": "group", "roleId": role, "scopeType": "project"}
    rule |= {"scopeId": server.project_id(project), "clusterId": server.cluster_id()}
    answer = server.post("/api/v1/authorization/access-rules", rule)
    assert answer.status == 201, answer
    return answer.json["id"]


def rights(browser, server):
    who = browser.session(server)
    return {(role["roleName"], role["scopeName"]) for role in who["roles"]} if who else None


def test_a_person_signs_in_and_has_the_rights_of_the_groups(site, ann):
    give_group(site, "gpu-users")
    answer = ann.sign_in(site, "?returnTo=/workloads%3Fsort%3Dname")
    assert answer.status == 303 and where(answer) == "/workloads?sort=name", (answer.status, answer.place, site.tail())
    assert ann.session(site)["name"] == "ann@lab.example"
    assert {scope for _, scope in rights(ann, site)} == {"team-a"}
    (user,) = [u for u in site.get("/api/v1/users").json if u["username"] == "ann@lab.example"]
    assert user["isLocal"] is False and user["groups"] == ["gpu-users"], user
    assert ann.session(site)["isLocal"] is False
    assert b'"enabled":true' in site.request("GET", "/api/v1/authentication/openid", token=None).body.replace(b" ", b"")


def test_the_way_there_has_pkce_state_and_nonce_and_the_way_back_a_strict_cookie(site, ann):
    begun = ann.get(site.url + SIGN_IN)
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(begun.place).query))
    assert query["code_challenge_method"] == "S256" and len(query["code_challenge"]) == 43
    assert len(query["state"]) == len(query["nonce"]) == 43 and query["redirect_uri"] == site.issuer.redirect_url
    cookie = begun.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Lax" in cookie and "Path=/api/v1/authentication/openid" in cookie
    assert query["nonce"] not in cookie
    done = ann.get(ann.follow(begun.place, site.url + CALLBACK))
    cookies = done.headers.get_all("Set-Cookie")
    assert any("prorata_session=" in c and "SameSite=Strict" in c and "HttpOnly" in c for c in cookies)
    assert "prorata_openid" not in ann.cookies[urllib.parse.urlsplit(site.url).netloc]


@pytest.mark.parametrize("client, more", [("points", {}), ("public", {"clientSecret": ""})])
def test_other_kinds_of_client(make_site, ann, client, more):
    site = make_site(clientId=client, **more)
    ann.sign_in(site)
    assert ann.session(site)["name"] == "ann@lab.example"


BAD_TOKENS = {
    "another nonce": {"claims": {"nonce": "x"}},
    "no nonce": {"drop": ["nonce"]},
    "another audience": {"claims": {"aud": "other"}},
    "two audiences and no azp": {"claims": {"aud": ["prorata", "other"]}, "drop": ["azp"]},
    "another azp": {"claims": {"azp": "other"}},
    "another issuer": {"claims": {"iss": "https://other.example"}},
    "expired": {"claims": {"exp": 1700000000}},
    "no exp": {"drop": ["exp"]},
    "issued in the future": {"claims": {"iat": 4000000000}},
    "not valid yet": {"claims": {"nbf": 4000000000}},
    "no subject": {"drop": ["sub"]},
    "a long subject": {"claims": {"sub": "x" * 256}},
    "alg none": {"header": {"alg": "none"}, "with": "none"},
    "a MAC with the public key": {"header": {"alg": "HS256"}, "with": "public key as a MAC"},
    "alg RS512": {"header": {"alg": "RS512"}},
    "a critical extension": {"header": {"crit": ["exp"]}},
    "another key of the same id": {"with": "stranger"},
    "a cut signature": {"with": "cut"},
    "an unknown key": {"header": {"kid": "nobody's"}},
}


def test_a_bad_id_token_signs_nobody_in(site):
    for name, token in BAD_TOKENS.items():
        browser = Browser()
        site.issuer.trouble(token=token)
        answer = browser.sign_in(site)
        assert where(answer) == "/?signIn=refused", (name, answer.place)
        assert browser.session(site) is None, name
    site.issuer.trouble(token={})  # signed again, and nothing changed
    browser = Browser()
    assert where(browser.sign_in(site)) == "/" and browser.session(site), site.tail()


def test_an_answer_that_this_browser_did_not_begin_is_refused(site, ann):
    back = ann.follow(site.url + SIGN_IN, site.url + CALLBACK)
    victim = Browser()
    assert where(victim.get(back)) == "/?signIn=expired", "login CSRF: no cookie"
    victim.get(site.url + SIGN_IN)
    assert where(victim.get(back)) == "/?signIn=expired", "login CSRF: another state"
    assert victim.session(site) is None
    assert where(ann.get(back.replace("state=", "state=x"))) == "/?signIn=expired"
    assert where(ann.get(back)) == "/?signIn=expired", "a refusal has used the cookie up"


def test_a_code_works_once(site, ann):
    back = ann.follow(site.url + SIGN_IN, site.url + CALLBACK)
    cookies = json.loads(json.dumps(ann.cookies))
    assert where(ann.get(back)) == "/"
    again = Browser()
    again.cookies = cookies
    assert where(again.get(back)) == "/?signIn=refused" and again.session(site) is None


def test_the_issuer_parameter_must_be_its_own(site, ann):
    back = ann.follow(site.url + SIGN_IN, site.url + CALLBACK)
    assert "iss=" in back
    answer = ann.get(back.replace(urllib.parse.quote(site.issuer.url, safe=""), "https%3A%2F%2Fother.example"))
    assert where(answer) == "/?signIn=refused" and ann.session(site) is None


@pytest.mark.parametrize(
    "place", ["//evil.example", "https://evil.example", "/\\evil.example", "/%09/evil", "evil", ""]
)
def test_nobody_is_led_to_another_host(site, ann, place):
    assert ann.get(f"{site.url}{SIGN_IN}?returnTo={urllib.parse.quote(place)}").status == (
        303 if place == "/%09/evil" else 400
    )


@pytest.mark.parametrize(
    "uri",
    ["http://evil.example:80/x", "http://127.0.0.1.evil.example:80/", "http://127.0.0.1:0/", "http://127.0.0.1:99999/",
     "https://127.0.0.1:80/", "http://127.0.0.1:80@evil.example/", "http://127.0.0.1:80/?x=1", "http://localhost:80/"],
)  # fmt: skip
def test_a_code_goes_to_this_machine_alone(site, ann, uri):
    query = urllib.parse.urlencode({"redirectUri": uri, "codeChallenge": "x" * 43})
    assert ann.get(f"{site.url}{SIGN_IN}?{query}").status == 400


def test_new_keys_of_the_issuer_are_learnt(site, ann):
    ann.sign_in(site)
    site.issuer.tell("keys")
    other = Browser()
    time.sleep(1.1)  # keys are asked for once a second at most
    other.sign_in(site)
    assert other.session(site), site.tail()


def test_groups_by_userinfo(site, ann):
    give_group(site, "gpu-users")
    site.issuer.trouble(userinfo=True)
    ann.sign_in(site)
    assert {scope for _, scope in rights(ann, site)} == {"team-a"}


def test_an_account_is_issuer_and_subject_and_never_a_local_one(site, ann):
    local = site.post("/api/v1/users", {"email": "ann@lab.example"}).json
    ann.sign_in(site)
    who = ann.session(site)
    assert who["subjectId"] != local["id"] and who["name"] != "ann@lab.example" and who["name"].endswith("@127.0.0.1")
    site.issuer.person("ann", email="someone.else@lab.example")
    again = Browser()
    again.sign_in(site)
    assert again.session(site)["subjectId"] == who["subjectId"], "another e-mail, the same person"
    site.issuer.person("eve", email="bob@lab.example")
    site.issuer.trouble(login="bob")
    bob = Browser()
    bob.sign_in(site)
    site.issuer.trouble(login="eve")
    eve = Browser()
    eve.sign_in(site)
    assert bob.session(site)["name"] == "bob@lab.example" != eve.session(site)["name"]
    site.issuer.person("fay", email="admin@prorata.local", email_verified=False)
    site.issuer.trouble(login="fay")
    fay = Browser()
    fay.sign_in(site)
    assert fay.session(site)["name"] != "admin@prorata.local" and rights(fay, site) == set()


def test_an_account_of_the_issuer_has_no_password(site, ann):
    ann.sign_in(site)
    body = {"grantType": "password", "username": "ann@lab.example", "password": "!"}
    assert site.request("POST", "/api/v1/token", body, token=None).status == 400
    answer = site.post(f"/api/v1/users/{ann.session(site)['subjectId']}/password")
    assert answer.status in (400, 409) and "signs in elsewhere" in answer.json["message"]


def test_groups_taken_away_end_rights_within_one_refresh(make_site, ann):
    site = make_site(refreshSeconds=1)
    give_group(site, "gpu-users")
    give_group(site, "others", project="team-b")
    ann.sign_in(site)
    assert {scope for _, scope in rights(ann, site)} == {"team-a"}
    site.issuer.person("ann", groups=["others"])
    site.wait_for("the other group", lambda: {scope for _, scope in rights(ann, site)} == {"team-b"})
    site.issuer.person("ann", groups=[])
    site.wait_for("no group", lambda: rights(ann, site) == set())
    assert [u["groups"] for u in site.get("/api/v1/users").json if u["username"] == "ann@lab.example"] == [[]]
    site.issuer.person("ann", gone=True)
    site.wait_for("the end of the session", lambda: ann.session(site) is None)


def test_a_session_goes_on_while_the_issuer_is_down(make_site, ann):
    site = make_site(refreshSeconds=1)
    ann.sign_in(site)
    site.issuer.trouble(down=True)
    site.wait_for("a try", lambda: "a session is not confirmed yet" in site.tail(20000))
    assert ann.session(site)


def test_an_issuer_that_is_down_or_slow_holds_nobody(site):
    site.issuer.trouble(down=True)
    site.stop()
    site.start()  # nothing of the issuer is kept
    browser = Browser()
    assert browser.get(site.url + SIGN_IN).status == 503
    assert site.sign_in()
    site.issuer.trouble(delay_ms=60000)
    for _ in range(5):
        seen = []
        threads = [
            threading.Thread(target=lambda seen=seen: seen.append(Browser().get(site.url + SIGN_IN).status))
            for _ in range(40)
        ]
        for thread in threads:
            thread.start()
        site.wait_for("those told at once", lambda seen=seen: len(seen) >= 40 - WAIT_FOR_THE_ISSUER)
        assert site.sign_in()
        waiting = 40 - len(seen)
        for thread in threads:
            thread.join()
        assert seen == [503] * 40
        if waiting:
            break  # else the server had given the issuer up before the sign-in came
    else:
        pytest.fail("a sign-in waits as long as those for the issuer")


def test_places_of_calls_to_the_issuer_are_shared_between_addresses(make_site):
    """A quarter for one address, while another's sign-in is let in."""
    site = make_site("--trusted-proxy", "127.0.0.1", "--metrics-open")
    site.stop()
    site.start()  # nothing of the issuer is kept
    site.issuer.trouble(delay_ms=60000)

    def begin(address):
        return site.request("GET", SIGN_IN, token=None, headers={"X-Forwarded-For": address})

    def taken():
        return int(
            re.search(rb'^prorata_places_taken{place="issuer-calls"} (\d+)$', site.get("/metrics").body, re.M)[1]
        )

    def lets_another_in():
        with concurrent.futures.ThreadPoolExecutor(9) as threads:
            greedy = [threads.submit(begin, "10.0.0.1") for _ in range(8)]
            site.wait_for("four are told at once", lambda: sum(answer.done() for answer in greedy) >= 4)
            other = threads.submit(begin, "10.0.0.2")
            site.wait_for("another's sign-in", lambda: taken() == 5 or other.done())
            was_let_in = not other.done()
        told = [answer.result().json["message"] for answer in greedy]
        refused = "issuer-calls: you hold 4, all that one address may have of 16"
        assert told.count(refused) <= 4 and refused not in other.result().json["message"]
        return was_let_in and told.count(refused) == 4

    site.wait_for("five at once", lets_another_in)


def test_a_session_without_refresh_token_ends_within_the_hour(site, ann):
    site.issuer.trouble(norefresh=True)
    ann.sign_in(site)
    with sqlite3.connect(site.data / "prorata.db") as database:
        ((life_ms,),) = database.execute(
            "SELECT expires_ms - created_ms FROM sessions WHERE kind = 'browser'"
        ).fetchall()
    database.close()
    assert life_ms == HOUR_S * 1000


def pkce():
    verifier = base64.urlsafe_b64encode(hashlib.sha256(str(time.time()).encode()).digest()).decode().rstrip("=")
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
    return verifier, challenge


def code_for(site, browser, uri="http://127.0.0.1:9/done"):
    verifier, challenge = pkce()
    query = urllib.parse.urlencode({"redirectUri": uri, "codeChallenge": challenge, "state": "a b&c"})
    answer = browser.sign_in(site, "?" + query)
    if answer.status == 200:
        return verifier, answer.text.split("\n\n")[1]
    assert answer.place.startswith(uri + "?"), answer.place
    back = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(answer.place).query))
    assert back["state"] == "a b&c"
    return verifier, back["code"]


def exchange(site, code, verifier, uri="http://127.0.0.1:9/done"):
    body = {"grantType": "exchange_token", "code": code, "redirectUri": uri, "codeVerifier": verifier}
    return site.request("POST", "/api/v1/token", body, token=None)


def test_a_command_line_exchanges_its_code(site, ann):
    verifier, code = code_for(site, ann)
    assert "prorata_session" not in ann.cookies[urllib.parse.urlsplit(site.url).netloc]
    answer = exchange(site, code, verifier)
    assert answer.status == 200, answer
    token = answer.json["accessToken"]
    assert site.request("GET", "/api/v1/session", token=token).json["name"] == "ann@lab.example"
    refresh = {"grantType": "refresh_token", "refreshToken": answer.json["refreshToken"]}
    assert site.request("POST", "/api/v1/token", refresh, token=None).status == 200
    assert exchange(site, code, verifier).status == 400, "a code works once"


def test_who_signed_in_has_a_record(site, ann):
    ann.sign_in(site)
    verifier, code = code_for(site, Browser())
    assert exchange(site, code, verifier).status == 200
    site.issuer.trouble(token={"claims": {"nonce": "x"}})
    Browser().sign_in(site)
    site.issuer.trouble(token={})

    def records(result):
        path = "/api/v1/audit/log?start=2020-01-01T00:00:00Z&end=2100-01-01T00:00:00Z&numberOfSamples=100"
        found = site.request("GET", f"{path}&filterBy=action==sign-in,result=={result}").json["audit_logs"]
        return [(r["subject"], r["metadata"]["operation"]) for r in found if r["metadata"].get("grant") == "openid"]

    assert records("Succeeded") == [
        ("ann@lab.example", "grant_token"),
        ("ann@lab.example", "finish_openid_sign_in"),
        ("ann@lab.example", "finish_openid_sign_in"),
    ]
    site.wait_for("the refused one", lambda: records("Failed") == [("", "finish_openid_sign_in")])


def test_a_code_is_for_who_has_the_verifier_and_the_address(site, ann):
    verifier, code = code_for(site, ann)
    assert exchange(site, code, pkce()[0]).status == 400
    assert exchange(site, code, verifier).status == 400, "a wrong try has used it up"
    verifier, code = code_for(site, ann)
    assert exchange(site, code, verifier, "http://127.0.0.1:10/done").status == 400
    form = urllib.parse.urlencode(
        {"grant_type": "authorization_code", "code": "x", "redirect_uri": "y", "code_verifier": "z" * 43}
    )
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    assert site.request("POST", "/api/v2/token", form, token=None, headers=kind).json["error"] == "invalid_grant"


def test_a_code_to_copy(site, ann):
    uri = "urn:ietf:wg:oauth:2.0:oob"
    verifier, code = code_for(site, ann, uri)
    assert exchange(site, code, verifier, uri).status == 200


def test_signing_out_leads_to_the_issuer(site, ann):
    ann.sign_in(site)
    answer = ann.get(
        site.url + "/api/v1/authentication/openid/sign-out", method="POST", headers={"X-Prorata-Request": "1"}
    )
    assert answer.status == 200 and ann.session(site) is None
    url = json.loads(answer.text)["url"]
    assert url.startswith(site.issuer.url + "/session/end?client_id=prorata") and ann.get(url).status == 200
    assert site.post("/api/v1/authentication/openid/sign-out").json == {"url": None}, "a local account"


def test_the_secret_is_nowhere_to_be_seen(site, ann):
    ann.sign_in(site)
    assert site.get(PROVIDER).json["hasClientSecret"] is True
    (listed,) = site.get("/api/v1/idps").json
    assert listed["type"] == "oidc" and listed["oidcData"]["clientId"] and not listed["oidcData"]["clientSecret"]
    assert SECRET not in site.get(PROVIDER).body.decode() and SECRET not in site.tail(1 << 20)
    site.stop()
    assert SECRET.encode() not in b"".join(p.read_bytes() for p in site.data.rglob("*") if p.is_file())


def test_taking_it_away_ends_its_sessions_and_groups(site, ann):
    give_group(site, "gpu-users")
    ann.sign_in(site)
    assert site.delete(PROVIDER).status == 204 and ann.session(site) is None
    assert site.get(PROVIDER).status == 404 and ann.get(site.url + SIGN_IN).status == 404
    assert site.request("GET", "/api/v1/authentication/openid", token=None).json == {"enabled": False, "name": None}
    assert site.delete(PROVIDER).status == 404


def test_a_local_administrator_always_remains(site, ann):
    ann.sign_in(site)
    admin = {"subjectId": "ann@lab.example", "subjectType": "user", "roleId": 1, "scopeType": "tenant", "scopeId": "1"}
    assert site.post("/api/v1/authorization/access-rules", admin).status == 201
    rules = site.get("/api/v1/authorization/access-rules").json["accessRules"]
    (own,) = [rule["id"] for rule in rules if rule["subjectId"] == "admin@prorata.local"]
    assert site.delete(f"/api/v1/authorization/access-rules/{own}").status in (400, 409)


def test_the_key_of_a_server_that_people_signed_in_at_is_replaced(make_site, ann):
    site = make_site(refreshSeconds=1)
    ann.sign_in(site)
    site.stop()
    done = subprocess.run([PRORATA, "keys", "rotate", "--data", site.data], capture_output=True, text=True)
    assert "2 secrets were sealed again" in done.stdout, done
    site.start()
    assert b"warning" not in site.get("/readyz").body
    site.issuer.person("ann", gone=True)
    site.wait_for("the end of the session, by the refresh token", lambda: ann.session(site) is None)
    site.issuer.person("ann", email="ann@lab.example")
    again = Browser()
    again.sign_in(site)
    assert again.session(site)


def command_line(server, folder, *words, **environment):
    """prorata, with a home of its own."""
    home = {**os.environ, "HOME": str(folder), **environment}
    home.pop("WAYLAND_DISPLAY", None)
    if "DISPLAY" not in environment:
        home.pop("DISPLAY", None)
    subprocess.run([PRORATA, "config", "set", "--cp-url", server.url], env=home, check=True, capture_output=True)
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([PRORATA, *words], env=home, text=True, **pipes)


def test_the_command_line_with_a_browser(site, ann, folder):
    opened = folder / "opened"
    (folder / "xdg-open").write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.part && mv {opened}.part {opened}\n')
    (folder / "xdg-open").chmod(0o755)
    process = command_line(site, folder, "login", "sso", DISPLAY=":0", PATH=f"{folder}:{os.environ['PATH']}")
    url = site.wait_for("the browser", lambda: opened.exists() and opened.read_text())
    back = ann.get(ann.follow(url, site.url + CALLBACK)).place
    assert back.startswith("http://127.0.0.1:")
    forged = back.replace("state=", "state=x")
    assert "Not the answer" in ann.get(forged).text
    assert "Signed in" in ann.get(back).text
    assert process.communicate(timeout=60)[0] == "Logged in as ann@lab.example\n" and process.returncode == 0


def test_the_command_line_without_a_browser(site, ann, folder):
    process = command_line(site, folder, "login", "sso")
    url = next(line.strip() for line in process.stderr if line.startswith("http"))
    text = ann.get(ann.follow(url, site.url + CALLBACK)).text
    assert process.communicate(text.split("\n\n")[1] + "\n", timeout=60)[0] == "Logged in as ann@lab.example\n"
    process = command_line(site, folder, "login", "sso")
    assert "code is unknown" in process.communicate("a wrong code\n", timeout=60)[1] and process.returncode == 1


def test_a_sign_in_is_in_the_audit_log(site, ann):
    ann.sign_in(site)
    log = site.get("/api/v1/audit/log", start="2020-01-01T00:00:00Z", end="2100-01-01T00:00:00Z").body.decode()
    assert "ann@lab.example" in log and site.issuer.url in log and SECRET not in log
